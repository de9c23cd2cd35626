"""Files and objects that are no TREC text are linted row by row, and read on past what is wrong."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import judged
from checks.cases import QRELS

SHEET = b"query,document,score\nq1,d1,high\nq1,d2,2\nq1,d2,2\nq1\nq2, d3,1\n"


def found(run: Any) -> dict[str, tuple[int, str]]:
    """Each kind found in a run, with its count and first place."""
    file = judged.lint(QRELS, run).files[1]
    return {finding.code: (finding.count, str(finding.problems[0].place)) for finding in file.findings}


def test_a_sheet_is_read_on_past_its_faults() -> None:
    """A bad number and a short row do not hide the repeat and the white space after them."""
    assert found(SHEET) == {
        "malformed-line": (1, "run:5"),
        "not-a-number": (1, "run:2"),
        "repeated-document": (1, "run:4"),
        "ids-white-space": (1, "run:6"),
        "tied-scores": (2, "run:3"),
    }


@pytest.mark.parametrize("as_file", [True, False])
def test_a_table_with_nulls_is_read_on(*, as_file: bool) -> None:
    """Rows with a null are reported, and the others are looked at; in memory and as Parquet."""
    table = pa.table(
        {
            "qid": ["q1", None, "q1", "q2"],
            "docno": ["d1", "d2", "d1", "d3"],
            "score": [2.0, 1.0, float("nan"), 1.0],
        }
    )
    given: Any = table
    if as_file:
        sink = io.BytesIO()
        pa.parquet.write_table(table, sink)
        given = sink.getvalue()

    assert found(given) == {"missing-value": (1, "run, row 2"), "score-nan": (1, "run, row 3")}


def test_dicts_and_tables_of_judged_are_linted() -> None:
    """Whatever `evaluate` takes, `lint` takes."""
    run = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"D3": 1.0}}
    read = judged.read_run(run)

    assert found(run) == found(read) == {"tied-scores": (2, "run, row 1"), "ids-case": (1, "run, row 3")}


def test_json_lines_are_read_on() -> None:
    """A line that is no JSON, and a value that is no number, are reported beside the rest."""
    lines = b'{"query": "q1", "document": "d1", "score": 1}\nno\n{"query": "q2", "document": "d3", "score": "x"}\n'

    assert found(lines) == {
        "malformed-line": (1, "run:2"),
        "not-a-number": (1, "run:3"),
        "missing-queries": (1, "judgments:3"),
    }


def test_a_file_that_is_not_there_is_a_finding() -> None:
    """One unreadable file does not keep the others from being looked at."""
    report = judged.lint("nowhere.qrels", b"q1 Q0 d1 1 nan t\n")

    assert [str(finding.problems[0]) for _, finding in report.findings] == [
        "nowhere.qrels: nowhere.qrels does not exist",
        "run:1: score is `nan`",
    ]
