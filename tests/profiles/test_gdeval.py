"""The profile `gdeval` says what gdeval.pl prints, topic by topic and in its mean."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

from profiles.inputs import Case, agrees, cases

pytest.importorskip("ir_measures", reason="gdeval.pl comes with ir_measures, which is not installed")
if shutil.which("perl") is None:
    pytest.skip("gdeval.pl needs perl", allow_module_level=True)


def printed(case: Case, cutoff: int) -> dict[str, dict[str, float]]:
    """What the program prints: for each of its two measures, the value of each topic."""
    import ir_measures

    program = Path(ir_measures.__file__).parent / "bin" / "gdeval.pl"
    with TemporaryDirectory() as folder:
        qrels, run = case.write(Path(folder))
        process = subprocess.run(
            ["perl", program, qrels, run, str(cutoff)], capture_output=True, text=True, check=True
        )
    rows = [line.split(",") for line in process.stdout.splitlines()[1:]]
    return {
        f"ndcg@{cutoff}": {topic: float(ndcg) for _, topic, ndcg, _ in rows},
        f"err@{cutoff}": {topic: float(err) for _, topic, _, err in rows},
    }


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(grades=(-1, 0, 0, 1, 2, 3, 4)))
def test_says_what_the_program_prints(case: Case) -> None:
    """Only topics of the run that have a relevant document are printed."""
    for name, queries in printed(case, 3).items():
        mean = sum(queries.values()) / len(queries) if queries else 0.0
        agrees(case, "gdeval", name, queries, mean)
