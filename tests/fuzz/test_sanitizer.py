"""The compiled part under the address and undefined-behaviour sanitizers, on mutated runs and dicts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
WORK = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import judged.kernels.scan._scan as scanner
assert scanner.__file__.startswith(sys.argv[1]), scanner.__file__
from fuzz.mutate import QRELS, fuzz
import judged
for reader in ("runs, scored", "runs, as columns", "judgments", "preferences", "lint"):
    outcome = fuzz(reader, float(sys.argv[3]))
    assert not outcome.defects, outcome.defects[:3]
    assert outcome.tried > 20, outcome
judged.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0, "e": 2}, "r": {}}, "AP")
print("sound")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("gcc") is None or find_spec("Cython") is None,
    reason="needs gcc on Linux, and Cython",
)
def test_the_compiled_part_is_sound_under_sanitizers(tmp_path: Path) -> None:
    """Built from the sources with both sanitizers; the first report ends the process."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    flags = {"CFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined", "JUDGED_REQUIRE_COMPILED": "1"}
    subprocess.run(build, cwd=source, env={**os.environ, **flags}, check=True, capture_output=True)
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libstdc++.so.6")  # the second for the exceptions of Arrow
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WORK, str(source / "src"), str(ROOT / "tests"), "8"],
        env={
            **os.environ,
            "LD_PRELOAD": " ".join(libraries),
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "sound\n"), done.stderr[-4_000:]
