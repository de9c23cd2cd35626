"""Other projects' own tests, run against judged: `python tests/compat/own_tests.py FOLDER`, where FOLDER keeps their sources.

The source distribution of ir_measures is unpacked there; it lacks its `base.py` and two pairs of files, so what needs
these is left out. Its tests run four times: with judged's twin in the place of pytrec_eval, of ranx, with the provider
`judged_toolkit` in the place of the others, and with that provider merely registered.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

VERSION = "0.4.3"
BASE = """
import unittest

class BaseMeasureTest(unittest.TestCase):
    def assertMetrics(self, found, expected, places=4, not_equal=False):
        check = self.assertNotAlmostEqual if not_equal else self.assertAlmostEqual
        found, expected = sorted(found), sorted(expected)
        self.assertEqual([metric[:2] for metric in found], [metric[:2] for metric in expected])
        for one, other in zip(found, expected):
            check(one.value, other.value, places=7 if not_equal else places)
"""
"""The base class that two of the test files import, in our words."""
WITHOUT_FILES = ["test_compat.py", "test_cwl_eval.py"]
"""Tests of files that the source distribution lacks."""
SUBSTITUTES = {
    "pytrec_eval": "import judged.compat.pytrec_eval as twin; sys.modules['pytrec_eval'] = twin",
    "ranx": "import judged.compat.ranx as twin; sys.modules['ranx'] = twin",
    "provider": """
import ir_measures
from judged.compat.ir_measures import JudgedToolkitProvider, provider
ir_measures.pytrec_eval = ir_measures.judged = provider
ir_measures.providers.PytrecEvalProvider = JudgedToolkitProvider
ir_measures.DefaultPipeline.providers.insert(0, provider)
""",
    "import": "import judged.compat.ir_measures",
}
"""What takes the place of what, as code that runs before the tests."""
RUN = """
import sys, unittest
{substitute}
program = unittest.main(module=None, argv=["unittest", "discover", "-s", "tests", "-t", "."], exit=False)
sys.exit(not program.result.wasSuccessful() or not program.result.testsRun)
"""


def unpack(folder: Path) -> Path:
    """Download the source distribution of ir_measures, and return where its tests can be run."""
    package = f"ir-measures=={VERSION}"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-binary", ":all:", "--dest", str(folder), package], check=True)
    root = folder / f"ir_measures-{VERSION}"
    shutil.rmtree(root, ignore_errors=True)
    with tarfile.open(folder / f"{root.name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    for name in WITHOUT_FILES:
        (root / "tests" / name).unlink()
    (root / "tests" / "__init__.py").touch()
    (root / "tests" / "base.py").write_text(BASE)
    # else the sources, and not the installed package, would be tested
    (root / "ir_measures").rename(root / "sources")
    return root


def main(folder: Path) -> int:
    """Run the tests in every way; return the number of ways in which any failed."""
    folder.mkdir(parents=True, exist_ok=True)
    root = unpack(folder)
    failed = 0
    for name, substitute in SUBSTITUTES.items():
        print(f"The tests of ir_measures {VERSION}, with judged as `{name}`", file=sys.stderr, flush=True)
        code = RUN.format(substitute=substitute)
        failed += (
            subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=root, check=False).returncode
            != 0
        )
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
