"""Systems that return nothing, lie or fail: what happens to them leaves the others' tables, files and report."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.studies.folder import write_study
from judged.studies.result import Study
from judged.studies.run import open_study, run_study

pytest.importorskip("bm25s")
WORDS = {"name": "words", "search": "bm25"}
CODE = """
def nothing(text): return []
def never(text): return False
def blanks(text): return ["d1", "annual report 2.pdf", "a\\tb"]
def half(text): return ["d1", "a\\ud800"]
def leave(text): raise SystemExit(3)
def choose(text): return "words"
"""


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a folder of its own, without pictures, which take seconds."""
    monkeypatch.setattr("judged.studies.folder.find_spec", lambda _name: None)
    (desk / "failing.py").write_text(CODE)


def run(*systems: dict[str, Any], **settings: Any) -> Study:
    """Run a study of BM25 and the systems, and write its folder, all but charts."""
    whole = {"collection": "pets", "systems": [WORDS, *systems], "measures": ["nDCG@5", "RR"], **settings}
    inputs = open_study(whole, "out")
    study = run_study(inputs, output="out")
    write_study(study, inputs)
    return study


SKIPPING = {"type": "function", "function": "failing:never"}
EMPTY: list[tuple[str, dict[str, Any]]] = [
    ("a retriever", {"retriever": "failing:nothing"}),
    ("a skip policy", {"search": "bm25", "skip": SKIPPING}),
    (
        "a skip policy, reranked",
        {"search": "bm25", "skip": SKIPPING, "rerank": {"type": "function", "function": "parts:backwards"}},
    ),
    (
        "a skip policy, routed",
        {
            "skip": SKIPPING,
            "router": {"type": "function", "function": "failing:choose", "experts": ["words", "again"]},
        },
    ),
]


@pytest.mark.parametrize("stages", [case[1] for case in EMPTY], ids=[case[0] for case in EMPTY])
def test_a_system_without_a_result_scores_zero(stages: dict[str, Any]) -> None:
    """With a warning; the others are what they are, and everything is written."""
    alone = run()["words"].mean()
    study = run({"name": "none", **stages}, {"name": "again", "search": "bm25"}, baseline="words")

    assert study["none"].mean() == {"nDCG@5": 0.0, "RR": 0.0}
    assert study["words"].mean() == alone
    assert not study.failures
    assert any(note.code == "no-results" and "none" in note.message for note in study.notes)
    assert {row["system"] for row in csv.DictReader(Path("out/systems.csv").read_text().splitlines())} >= {
        "none",
        "words",
    }
    assert Path("out/report.html").stat().st_size > 10_000


def test_a_fusion_with_a_part_without_a_result_is_tuned() -> None:
    """Its weights are learned from what the other part finds."""
    none = {"name": "none", "retriever": "failing:nothing"}
    tuned = {"name": "tuned", "fuse": {"of": ["words", "none"], "method": "wsum", "tune": {"step": 0.5}}}
    study = run(none, tuned, train=["q1", "q3"])

    assert not study.failures
    assert study["tuned"].mean() == study["words"].mean()


def test_ids_with_blanks_are_scored_and_written() -> None:
    """Names of files have them; the text of TREC has no place for them, Parquet has."""
    study = run({"name": "files", "retriever": "failing:blanks"})
    found = judged.read_run(Path("out/runs/files.parquet")).to_arrow()["document"].to_pylist()

    assert not study.failures
    assert "annual report 2.pdf" in found
    assert not Path("out/runs/files.run").exists()
    assert Path("out/runs/words.run").exists()


@pytest.mark.parametrize(("function", "words"), [("half", "not text"), ("leave", "SystemExit: 3")])
def test_what_no_file_holds_and_who_leaves_is_a_failure(function: str, words: str) -> None:
    """Of that system alone."""
    study = run({"name": "bad", "retriever": f"failing:{function}"})

    assert words in study.failures["bad"]
    assert study["words"].mean()["RR"] == 1.0
