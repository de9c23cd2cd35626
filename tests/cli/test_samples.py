"""Files that list what each query expects and what was retrieved: each is a system, by the judgments of the first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import Result

Invoke = Callable[..., Result]

EXPECTED = {"q1": ["d1"], "q2": ["d3"], "q3": ["d5"]}
RETRIEVED = {
    "old.jsonl": {"q1": ["d2", "d1"], "q2": ["d3"], "q3": ["d9", "d5"]},
    "new.jsonl": {"q1": ["d1"], "q2": ["d3"], "q3": ["d9", "d5"]},
}
"""Reciprocal ranks of 1/2, 1, 1/2 and of 1, 1, 1/2."""


@pytest.fixture(autouse=True)
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the samples of two systems, and the run of a third."""
    monkeypatch.chdir(tmp_path)
    for name, retrieved in RETRIEVED.items():
        write(name, retrieved, EXPECTED)
    Path("plain.run").write_text("q1 Q0 d1 1 1 x\nq2 Q0 d3 1 1 x\nq3 Q0 d5 1 1 x\n")


def write(name: str, retrieved: Mapping[str, Sequence[str]], expected: Mapping[str, Sequence[str]]) -> None:
    """Write samples as ragas does."""
    rows = [
        {"user_input": query, "reference_context_ids": expected[query], "retrieved_context_ids": found}
        for query, found in retrieved.items()
    ]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_every_file_is_a_system(invoke: Invoke) -> None:
    """Under its name, or the one that is given."""
    result = invoke("score", "old.jsonl", "later=new.jsonl", "-m", "RR", "--format", "csv")

    assert result.stdout.splitlines() == ["system,RR", f"old,{2 / 3!r}", f"later,{5 / 6!r}"]
    assert "all 2 are scored, by the judgments of old.jsonl" in result.stderr
    assert invoke("score", "a=old.jsonl", "b=new.jsonl", "-m", "RR", "-q").stdout.split()[-4:] == [
        *("a", "0.6667", "b", "0.8333"),
    ]


def test_they_are_compared_and_gated(invoke: Invoke) -> None:
    """Without naming the judgments."""
    compared = invoke("compare", "old.jsonl", "new.jsonl", "-m", "RR", "--baseline", "old", "-q")
    gated = invoke("gate", "new.jsonl", "--baseline", "old.jsonl", "-m", "RR", "--min-delta", "-0.9", "-q")

    assert "0.1667 above old" in compared.stdout
    assert invoke("compare", "new.jsonl", "--baseline", "old.jsonl", "-m", "RR", "-q").exit_code == 0
    assert gated.stdout.startswith("Verdict: pass (new against old; 3 queries")
    assert "RR of query q1 in new" in invoke("explain", "new.jsonl", "-m", "RR", "--query", "q1").stdout
    assert invoke("power", "old.jsonl", "new.jsonl", "-m", "RR", "--difference", "0.1").exit_code == 0


def test_results_that_are_not_scored_are_noted(invoke: Invoke) -> None:
    """Next to a plain run, the file is the judgments, unless it is named as a run, too."""
    alone = invoke("score", "old.jsonl", "plain.run", "-m", "RR")
    both = invoke("score", "old.jsonl", "old.jsonl", "plain.run", "-m", "RR")

    assert "old.jsonl also lists what was retrieved, which is not scored" in alone.stderr
    assert alone.stdout.split()[-2:] == ["plain", "1.0000"]
    assert "also lists" not in both.stderr
    assert "old" in both.stdout


@pytest.mark.parametrize(
    "command", [("score", "old.jsonl", "other.jsonl"), ("gate", "old.jsonl", "--baseline", "other.jsonl")]
)
def test_other_judgments_are_refused(invoke: Invoke, command: tuple[str, ...]) -> None:
    """Which ones count is not known; a query that only one file has is no contradiction."""
    write("other.jsonl", RETRIEVED["new.jsonl"], {**EXPECTED, "q3": ["d7"]})
    write("fewer.jsonl", {"q1": ["d1"]}, EXPECTED)

    refused = invoke(*command, "-m", "RR")

    assert refused.exit_code == 2
    assert "query `q3`: old.jsonl and other.jsonl expect different documents of it" in refused.stderr
    assert invoke("score", "old.jsonl", "fewer.jsonl", "-m", "RR").exit_code == 0
