"""Check an installed judged in an environment that has nothing else: `python smoke.py [--compiled | --no-compiled]`.

It needs no test framework, so that it runs wherever a wheel is built.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

QRELS = "q1 0 d1 3\nq1 0 d2 1\nq2 0 d3 2\n"
RUN = "q1 Q0 d2 1 9.5 bm25\nq1 Q0 d1 2 7.25 bm25\nq2 Q0 d4 1 3 bm25\nq2 Q0 d3 2 1 bm25\n"
EXPECTED = ((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)) + 1 / math.log2(3)) / 2
"""nDCG of that run, by its definition."""
COMPILED = [
    f"judged.kernels.scan.{name}" for name in ("_index", "_blocks", "_scan", "_dicts", "_folds", "_rows")
]


def main(arguments: list[str]) -> str | None:
    """Score a run by Python and by the command; return what is wrong, or None."""
    missing = [name for name in COMPILED if find_spec(name) is None]
    if "--compiled" in arguments and missing:
        return f"not compiled: {', '.join(missing)}"
    if "--no-compiled" in arguments and len(missing) < len(COMPILED):
        return "compiled, although there was no compiler"

    import judged

    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels.txt"), Path(folder, "bm25.run")
        qrels.write_text(QRELS, encoding="utf-8")
        run.write_text(RUN, encoding="utf-8")
        value = judged.evaluate(str(qrels), str(run), "nDCG")["nDCG"]
        if not math.isclose(value, EXPECTED, abs_tol=1e-12):
            return f"nDCG is {value}, expected {EXPECTED}"
        command = [
            sys.executable,
            "-m",
            "judged",
            "score",
            str(qrels),
            str(run),
            "-m",
            "nDCG",
            "--format",
            "csv",
        ]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
        if not math.isclose(float(printed.split(",")[-1]), EXPECTED, abs_tol=1e-12):
            return f"the command printed {printed!r}, expected {EXPECTED}"
    print(f"judged {judged.__version__} works, {'without the' if missing else 'with its'} compiled part")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
