"""`judged agreement`: what it prints, what it writes, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cli.conftest import Execute, Invoke
from support.rag25_data import PUBLISHED, pairs


@pytest.fixture(autouse=True)
def labels(collection: Path) -> None:
    """`labels.jsonl` and `human.qrels` of the first tasks of the small collection, and all pairs as `*.rag25`."""
    rows = [
        ("q1", "d1", 2),
        ("q1", "d2", 2),
        ("q1", "d3", 0),
        ("q2", "d1", 1),
        ("q2", "d5", 0),
        ("q2", "d9", 3),
    ]
    lines = [
        json.dumps({"task": task, "id": key, "gain": gain, "labeller": "small"}) for task, key, gain in rows
    ]
    (collection / "labels.jsonl").write_text("\n".join(lines) + "\n")
    human, machine = pairs()
    for name, grades in (("human.rag25", human), ("umbrela.rag25", machine)):
        text = "".join(f"t{at % 22} 0 d{at} {grade}\n" for at, grade in enumerate(grades.tolist()))
        (collection / name).write_text(text)


def test_the_published_figures_are_printed(invoke: Invoke) -> None:
    """From two files of TREC judgments, to four digits."""
    done = invoke("agreement", "umbrela.rag25", "human.rag25", "--resamples", "100", "--quiet")

    assert done.exit_code == 0, done.output
    for name in (
        "exact",
        "κ",
        "κ linear",
        "κ quadratic",
        "κ ≥1",
        "κ ≥2",
        "κ ≥3",
        "κ ≥4",
        "α ordinal",
        "precision",
    ):
        assert f"{PUBLISHED[name]:.4f}" in done.stdout


def test_warnings_go_to_standard_error(execute: Execute) -> None:
    """Standard output has the tables alone."""
    done = execute("agreement", "labels.jsonl", "qrels.txt", "--resamples", "100")

    assert done.returncode == 0
    assert "Warning" not in done.stdout
    assert "Warning: 83.3% of the results that people graded have a label, below 95%" in done.stderr
    assert done.stdout.startswith("labels against qrels\n")


def test_files_are_written_in_the_format_of_their_names(invoke: Invoke, collection: Path) -> None:
    """A picture, a page, JSON, CSV, Markdown and LaTeX in one go."""
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    names = ("a.svg", "a.html", "a.json", "a.csv", "a.md", "a.tex", "a.jsonl")
    written = [part for name in names for part in ("-o", name)]
    done = invoke("agreement", "labels.jsonl", "qrels.txt", "--resamples", "100", *written)
    rows = list(csv.DictReader(io.StringIO((collection / "a.csv").read_text())))
    document = json.loads((collection / "a.json").read_text())

    assert done.exit_code == 0, done.output
    assert "labels against qrels" in (collection / "a.svg").read_text()
    assert ET.parse(collection / "a.svg").getroot().tag.endswith("svg")  # noqa: S314 - our own
    assert 'data-block="1/agreement/blocks"' in (collection / "a.html").read_text()
    assert document["tables"]["figures"][0]["name"] == "results with both"
    assert document["tables"]["figures"][0]["value"] == 5
    assert document["provenance"]["inputs"][0]["path"] == "labels.jsonl"
    assert {row["part"] for row in rows} == {
        "figures",
        "confusion",
        "bias",
        "task",
        "good rate (≥2)",
        "mean gain",
    }
    assert (collection / "a.md").read_text().count("\n\n| ") >= 4
    assert r"\toprule" in (collection / "a.tex").read_text()


def test_runs_are_ranked_under_both(invoke: Invoke) -> None:
    """A table of coefficients and one of systems."""
    done = invoke("agreement", "labels.jsonl", "qrels.txt", "bm25.run", "second=dense.run", "-m", "RR", "-q")

    assert done.exit_code == 0, done.output
    assert "Do labels rank systems as people do?" in done.stdout
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RR ")][-2:] == [
        "bm25",
        "second",
    ]


def test_tasks_and_judges_are_shown_when_asked_for(invoke: Invoke) -> None:
    """A row for each task, and one for every two judges."""
    done = invoke(
        "agreement", "labels.jsonl", "qrels.txt", "--by", "task", "--judge", "third=qrels.txt", "-q"
    )

    assert done.exit_code == 0, done.output
    assert "By task" in done.stdout
    assert "Pairs of judges" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("absent.jsonl", "qrels.txt"), "absent.jsonl"),
        (("labels.jsonl", "human.rag25"), "has no result in common with `human.rag25`"),
        (("labels.jsonl", "qrels.txt", "-o", "a.xlsx"), "known extensions"),
        (("labels.jsonl", "qrels.txt", "--level", "95"), "the confidence level is 95"),
        (("-", "-"), "only one input can be read from standard input"),
        (("bad.jsonl", "qrels.txt"), "gain is 7, expected a whole number from 0 to 4"),
    ],
)
def test_errors_are_explained(
    invoke: Invoke, collection: Path, arguments: tuple[str, ...], words: str
) -> None:
    """With exit code 2 and no traceback."""
    (collection / "bad.jsonl").write_text('{"task": "q1", "id": "d1", "gain": 7}\n')
    done = invoke("agreement", *arguments)

    assert done.exit_code == 2
    assert words in done.output
    assert "Traceback" not in done.output
