"""Ctrl-C is quiet: no traceback and exit code 130, in the midst of imports and of work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise on Windows")

PROGRAM = """
import os, signal, sys
import judged.__main__

class Interrupt:
    count = 0

    def find_spec(self, name, path=None, target=None):
        Interrupt.count += 1
        if Interrupt.count == int(os.environ["AT"]):
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
judged.__main__.main()
"""
"""Runs `judged`, and interrupts it when it imports the module of that number."""
COMMANDS = (
    ["measures", "nDCG"],
    ["score", "qrels.txt", "bm25.run", "dense.run"],
    ["compare", "qrels.txt", "bm25.run", "dense.run"],
)


@pytest.mark.parametrize("at", [1, 2, 5, 10, 20, 40, 60, 80, 110, 140])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_an_interrupt_while_importing_is_quiet(collection: Path, command: list[str], at: int) -> None:
    """Whichever module it falls into, those of the command line or those of NumPy and Arrow."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=collection,
        env={**os.environ, "AT": str(at)},
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() in {"", "interrupted"}


@pytest.mark.parametrize("after", [0.0, 0.1, 0.3, 0.6])
def test_an_interrupt_while_working_is_quiet(collection: Path, after: float) -> None:
    """At several moments of a search that takes seconds, on both of its streams."""
    rows = [(query, rank) for query in range(300) for rank in range(100)]
    (collection / "long.qrels").write_text("".join(f"{q} 0 d{r} {r % 3}\n" for q, r in rows))
    (collection / "long.run").write_text("".join(f"{q} Q0 d{r} {r} {r // 3} t\n" for q, r in rows))
    program = "import judged.__main__; print('ready', flush=True); judged.__main__.main()"
    arguments = ["explain", "long.qrels", "long.run", "-m", "nDCG@10", "--published", "0.1234"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=collection,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + after)
        process.send_signal(2)
        printed, errors = process.communicate(timeout=60)

    assert (process.returncode, printed) == (130, "")
    assert errors.strip() in {"", "interrupted"}
