"""Cleaned copies: the policy for duplicates, ranks by trec_eval's rule, and everything else byte for byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from judged.checks.fix import Policy, fix
from judged.errors import JudgedError

TWICE = b"q1\tQ0  d1 1 1.0 t\nq1 Q0 d2 2 0.50 t \nq1 Q0 d1 3 3.0 t\nq1 Q0 d1 4 2.0 t\n"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("first", b"q1\tQ0  d1 1 1.0 t\nq1 Q0 d2 2 0.50 t \n"),
        ("last", b"q1 Q0 d2 2 0.50 t \nq1 Q0 d1 1 2.0 t\n"),
        ("best", b"q1 Q0 d2 2 0.50 t \nq1 Q0 d1 1 3.0 t\n"),
    ],
)
def test_of_repeated_documents_one_stays(tmp_path: Path, policy: Policy, expected: bytes) -> None:
    """The first, the last or the best, where it stands; other bytes of a line stay."""
    fix(TWICE, str(tmp_path / "clean.run"), role="run", policy=policy)

    assert (tmp_path / "clean.run").read_bytes() == expected


def test_the_highest_grade_stays_under_best(tmp_path: Path) -> None:
    """Of judgments too, best is the greatest number."""
    changes = fix(b"q 0 a 0\nq 0 a 2\nq 0 b 1\n", str(tmp_path / "q"), role="judgments", policy="best")

    assert (tmp_path / "q").read_bytes() == b"q 0 a 2\nq 0 b 1\n"
    assert changes.sentences() == ["3 lines in, 2 out", "1 duplicate dropped"]


def test_ranks_follow_score_and_then_document_from_the_greatest(tmp_path: Path) -> None:
    """As trec_eval 9 orders: by score as a 32-bit float, equal ones by document id, descending."""
    run = b"q Q0 a 0 1.0 t\nq Q0 b 1 1.00000001 t\nq Q0 c 2 5 t\n"
    fix(run, str(tmp_path / "r"), role="run", policy="first")

    assert (tmp_path / "r").read_bytes() == b"q Q0 a 3 1.0 t\nq Q0 b 2 1.00000001 t\nq Q0 c 1 5 t\n"


def test_everything_that_is_dropped_or_moved_is_reported(tmp_path: Path) -> None:
    """Lines in and out, and each kind of change with its count."""
    run = b"\xef\xbb\xbf# hi\nq1 Q0 a 1 2 t\r\nq2 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n\nq1 x\nq1 Q0 c 3 nan t"
    changes = fix(run, str(tmp_path / "r"), role="run", policy="first")

    assert (tmp_path / "r").read_bytes() == b"q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\n"
    assert changes.sentences() == [
        "7 lines in, 3 out",
        "2 lines dropped (malformed, or without a usable number)",
        "2 comment or blank lines dropped",
        "2 lines moved next to others of the same query",
        "1 carriage return removed",
        "1 byte order mark removed",
    ]


def test_a_copy_is_compressed_as_its_name_says(tmp_path: Path) -> None:
    """Both sides may be compressed."""
    (tmp_path / "in.run.gz").write_bytes(gzip.compress(TWICE))
    fix(str(tmp_path / "in.run.gz"), str(tmp_path / "out.run.gz"), role="run", policy="first")

    assert gzip.decompress((tmp_path / "out.run.gz").read_bytes()).startswith(b"q1\tQ0  d1 1 1.0 t\n")


def test_nothing_is_written_in_place_or_over_another_file(tmp_path: Path) -> None:
    """The original stays even by force; another file stays unless forced."""
    source, other = tmp_path / "a.run", tmp_path / "b.run"
    source.write_bytes(TWICE)
    other.write_bytes(b"precious")
    with pytest.raises(JudgedError, match="never written in its place"):
        fix(str(source), str(source), role="run", policy="first", force=True)
    with pytest.raises(JudgedError, match="exists already"):
        fix(str(source), str(other), role="run", policy="first")

    assert (source.read_bytes(), other.read_bytes()) == (TWICE, b"precious")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"query,document,grade\nq,d,1\n", "not TREC text"), (b"q 0 d x\n", "nothing to write")],
)
def test_what_cannot_be_fixed_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """Other formats, and judgments of which nothing would be left."""
    with pytest.raises(JudgedError, match=message):
        fix(content, str(tmp_path / "out"), role="judgments", policy="first")

    assert not (tmp_path / "out").exists()
