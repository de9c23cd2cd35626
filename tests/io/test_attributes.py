"""Rows of named values: attributes of queries, and timings."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from judged.comparison.slices import read_attributes
from judged.errors import Unreadable, Unusable
from judged.io.read import read_timings


def test_attributes_are_read_from_every_format(tmp_path: Path) -> None:
    """CSV, TSV, JSONL, compressed or not; empty cells and missing keys are no attribute."""
    (tmp_path / "a.csv").write_text("qid,kind,length\nq1,name,short\nq2,,long\n")
    (tmp_path / "a.tsv").write_text("qid\tkind\tlength\nq1\tname\tshort\nq2\t\tlong\n")
    (tmp_path / "a.jsonl").write_text(
        '{"qid": "q1", "kind": "name", "length": "short"}\n{"qid": "q2", "length": "long"}\n'
    )
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    expected = {"kind": {"q1": "name"}, "length": {"q1": "short", "q2": "long"}}

    for name in ("a.csv", "a.tsv", "a.jsonl", "b.csv.gz"):
        assert read_attributes(tmp_path / name).values == expected


def test_a_topic_beside_a_query_is_an_attribute(tmp_path: Path) -> None:
    """It may be what a query is about; alone it is the query."""
    (tmp_path / "both.csv").write_text("query,topic\nq1,sport\n")
    (tmp_path / "alone.csv").write_text("topic,kind\n301,hard\n")

    assert read_attributes(tmp_path / "both.csv").values == {"topic": {"q1": "sport"}}
    assert read_attributes(tmp_path / "alone.csv").values == {"kind": {"301": "hard"}}


@pytest.mark.parametrize("column", ["seconds", "latency_s", "S"])
def test_units_are_taken_from_the_name_of_the_column(tmp_path: Path, column: str) -> None:
    """Seconds stay; milliseconds become seconds."""
    (tmp_path / "s.csv").write_text(f"run,{column}\nbm25,0.25\n")
    (tmp_path / "ms.csv").write_text("run,ms\nbm25,250\n")

    for name in ("s.csv", "ms.csv"):
        assert read_timings(tmp_path / name).samples("bm25").tolist() == [0.25]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"query": "q1", "kind": "a"}\n[1]\n', "x.jsonl:2: holds list, expected an object"),
        ('{"query": "q1", "kind": \n', "x.jsonl:1: is not valid JSON"),
        ('{"kind": "a"}\n', "no query among them"),
        ('{"query": "q1"}\n', "expected an attribute"),
    ],
)
def test_what_says_nothing_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, message: str
) -> None:
    """One error, in words, for all that is wrong."""
    monkeypatch.chdir(tmp_path)
    Path("x.jsonl").write_text(content)

    with pytest.raises(Unusable, match=r"x\.jsonl cannot be used") as caught:
        read_attributes("x.jsonl")

    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """As everywhere."""
    with pytest.raises(Unreadable, match="does not exist"):
        read_attributes(tmp_path / "none.csv")
