"""The history of a gate: looks at the same judgments are counted, and the error rate they lead to is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import judged
from gates.conftest import collection
from judged.blocks import Display
from judged.errors import BadInput, BadProtocol
from judged.gates.history import record_look
from judged.gates.result import GateReport, GateSummary
from judged.io.write import write_judgments, write_run
from judged.report.gate_summaries import render_junit, render_markdown, render_text


def decide(folder: Path, *, seed: int = 0, qrels: str = "qrels.txt") -> GateReport:
    """Return the gate of a run drawn with a seed, from files."""
    judgments, old, _ = collection()
    rng = np.random.default_rng(seed)
    new = {
        query: {document: score + rng.normal(0, 0.01) for document, score in scores.items()}
        for query, scores in old.items()
    }
    write_judgments(judged.read_judgments(judgments), folder / qrels, format="trec", force=True)
    for name, run in ("old", old), ("new", new):
        write_run(judged.read_run(run), folder / f"{name}.run", format="trec", force=True)
    return judged.gate(
        str(folder / qrels), str(folder / "new.run"), "AP", baseline=str(folder / "old.run"), min_delta=-0.05
    )


def test_different_runs_are_counted_and_repeated_ones_are_not(tmp_path: Path) -> None:
    """By the digests of judgments and run: a retried job is the same look, other judgments start at 1."""
    log = tmp_path / "log.jsonl"
    numbers = [record_look(decide(tmp_path, seed=seed), log).looks for seed in (1, 2, 2, 3, 1)]

    assert numbers == [1, 2, 2, 3, 1]
    with (tmp_path / "qrels.txt").open("a") as file:
        file.write("another 0 d1 1\n")
    report = judged.gate(
        str(tmp_path / "qrels.txt"), str(tmp_path / "new.run"), "AP", baseline=str(tmp_path / "old.run")
    )
    assert record_look(report, log).looks == 1
    assert len(log.read_text().splitlines()) == 6


def test_the_verdict_says_how_many_and_what_that_does(tmp_path: Path) -> None:
    """In every format; 1 − 0.95 to the power of 3 is 14.26 %, and 0.05 / 3 is 0.0167."""
    log = tmp_path / "log.jsonl"
    for seed in (1, 2):
        record_look(decide(tmp_path, seed=seed), log)
    report = record_look(decide(tmp_path, seed=3), log)
    display = Display()
    texts = [
        report.text,
        str(report),
        render_text(GateSummary((report,)), display),
        render_markdown(GateSummary((report,)), display),
        render_junit(GateSummary((report,)), inconclusive_passes=False),
        report._repr_html_(),
    ]

    for text in texts:
        shown = " ".join(text.replace("\\", "").replace("\xa0", " ").split())
        assert "These judgments have decided about 3 runs." in shown
        assert "5 % for one run and about 14 % for 3" in shown
        assert "--alpha 0.017" in shown
    assert report.to_dict()["looks"] == 3
    report.save(tmp_path / "gate.json")
    assert judged.load(tmp_path / "gate.json").looks == 3  # type: ignore[attr-defined]


def test_the_rate_that_is_said_is_the_rate_of_runs_at_the_margin() -> None:
    """Simulated: 20,000 series of 12 independent runs, each exactly as much worse as the margin allows."""
    rng = np.random.default_rng(7)
    count, queries, alpha, looks = 20_000, 30, 0.05, 12
    passed = np.zeros(count, dtype=bool)
    for _ in range(looks):
        values = rng.normal(0.0, 1.0, (count, queries))
        statistic = values.mean(axis=1) / (values.std(axis=1, ddof=1) / np.sqrt(queries))
        passed |= stats.t.sf(statistic, queries - 1) < alpha

    assert passed.mean() == pytest.approx(1 - (1 - alpha) ** looks, abs=4 * np.sqrt(0.25 / count))
    assert passed.mean() <= looks * alpha


def test_a_line_that_was_cut_is_passed_over(tmp_path: Path) -> None:
    """At any byte: the process died while it wrote, and the next decision is on a line of its own."""
    log = tmp_path / "log.jsonl"
    record_look(decide(tmp_path, seed=1), log)
    whole = log.read_bytes()
    report = decide(tmp_path, seed=2)
    for length in range(len(whole) + 1):
        log.write_bytes(whole + whole[:length])

        assert record_look(report, log).looks == 2
        assert record_look(report, log).looks == 2
        assert json.loads(log.read_bytes().splitlines()[-1])["verdict"] == report.verdict


def test_what_is_not_a_history_is_refused(tmp_path: Path) -> None:
    """With its line, and nothing is written into it."""
    log = tmp_path / "notes.txt"
    log.write_text("something\nelse\n")

    with pytest.raises(BadInput, match="line 1: is not a decision of a gate"):
        record_look(decide(tmp_path), log)
    assert log.read_text() == "something\nelse\n"


def test_judgments_without_a_file_cannot_be_counted(tmp_path: Path) -> None:
    """There is nothing to take a digest of."""
    qrels, old, new = collection()
    report = judged.gate(qrels, new, "AP", baseline=old)

    with pytest.raises(BadProtocol, match="the judgments cannot be counted"):
        record_look(report, tmp_path / "log.jsonl")
    assert not (tmp_path / "log.jsonl").exists()
