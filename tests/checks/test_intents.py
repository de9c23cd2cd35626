"""Judgments by intent are linted as they are scored: a document may stand once for each query and intent."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st

import judged
from checks.cases import QRELS, RUN
from judged.checks.fix import fix
from judged.errors import JudgedError

WEB = b"1 1 a 1\n1 2 a 1\n1 2 b 1\n1 3 c 2\n1 1 d 0\n2 1 x 1\n2 5 y 1\n"
WEB_RUN = b"1 Q0 a 1 2 t\n2 Q0 x 1 1 t\n"
ROWS = [("1", "1", "a", 1), ("1", "2", "a", 2), ("1", "1", "b", 0), ("2", "1", "x", 1)]


def kinds(qrels: Any, *, intents: bool = False) -> dict[str, int]:
    """What is found in judgments, with its count."""
    report = judged.lint(qrels, WEB_RUN, intents=intents)
    return {finding.code: finding.count for finding in report.files[0].findings}


@pytest.mark.usefixtures("implementation")
def test_with_intents_a_document_may_occur_once_for_each() -> None:
    """Twice for one intent is an error as ever, and the message names the intent."""
    report = judged.lint(WEB + b"2 5 y 2\n", WEB_RUN, intents=True)
    (finding,) = report.files[0].findings

    assert kinds(WEB, intents=True) == {}
    assert str(finding.problems[0]) == (
        "judgments:8: document `y` of query `2` and intent `5` has grade 2, and 1 at judgments:7"
    )
    assert finding.hint is None


@pytest.mark.usefixtures("implementation")
def test_without_intents_the_finding_says_what_the_file_looks_like() -> None:
    """The second column distinguishes the rows, and `--intents` would read it."""
    (finding,) = judged.lint(WEB, WEB_RUN).files[0].findings

    assert (finding.code, finding.count) == ("repeated-document", 1)
    assert finding.hint is not None
    assert "`--intents`" in finding.hint


@pytest.mark.usefixtures("implementation")
def test_there_is_no_hint_where_the_second_column_distinguishes_few_rows() -> None:
    """Two repeats of three have the same second column."""
    (finding,) = judged.lint(b"q 0 a 1\nq 0 a 1\nq 0 a 1\nq 1 a 1\n", b"q Q0 a 1 1 t\n").files[0].findings

    assert (finding.count, finding.hint) == (3, None)


@pytest.mark.usefixtures("implementation")
def test_intents_of_interleaved_queries_are_reported_apart() -> None:
    """Rows that are put together first keep their second column, read as intents or not."""
    scattered = b"1 1 a 1\n2 1 x 1\n1  2\ta 2\n2 2 x 1\n1 2 a 0\n"
    plain = {finding.code: finding for finding in judged.lint(scattered, WEB_RUN).files[0].findings}

    assert kinds(scattered, intents=True) == {"conflicting-grades": 1, "interleaved-queries": 2}
    assert {name: finding.count for name, finding in plain.items()} == {
        "repeated-document": 1,
        "conflicting-grades": 2,
        "interleaved-queries": 2,
    }
    assert plain["conflicting-grades"].hint is not None


def _parquet(names: list[str]) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(_table(names), sink)
    return sink.getvalue()


def _table(names: list[str]) -> pa.Table:
    columns = [list(column) for column in zip(*ROWS, strict=True)]
    return pa.table(dict(zip(names, columns, strict=True)))


def _jsonl(names: list[str]) -> bytes:
    rows = (", ".join(f'"{n}": "{v}"' if n != "grade" else f'"{n}": {v}' for n, v in zip(names, row, strict=True)) for row in ROWS)  # fmt: skip
    return "".join(f"{{{row}}}\n" for row in rows).encode()


def _csv(names: list[str]) -> bytes:
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in ROWS)]).encode()


@pytest.mark.parametrize("form", [_table, _parquet, _jsonl, _csv])
@pytest.mark.parametrize(
    ("column", "asked", "twice"),
    [
        ("intent", False, {}),
        ("subtopic_id", False, {}),
        ("iteration", False, {"conflicting-grades": 1}),
        ("iteration", True, {}),
    ],
)
def test_a_column_of_intents_is_known_by_its_name(
    form: Any, column: str, twice: dict[str, int], *, asked: bool
) -> None:
    """`iteration` only where intents are asked for, as `judged score` has it."""
    assert kinds(form(["query", column, "document", "grade"]), intents=asked) == twice


def test_dicts_and_tables_of_judged_keep_their_intents() -> None:
    """A dict that goes from query to document to intent has no document twice."""
    nested = {"1": {"a": {"1": 1, "2": 2}}, "2": {"x": {"1": 1}}}

    assert kinds(nested) == kinds(judged.read_judgments(nested)) == {}


def test_intents_and_targets_together_are_refused() -> None:
    """As `judged.evaluate` refuses them."""
    sheet = b"query,intent,document,grade,target\n1,1,a,1,t\n"

    assert kinds(sheet) == {"unreadable": 1}
    with pytest.raises(JudgedError, match="both `intent` and `target`"):
        judged.read_judgments(sheet)


def test_a_second_column_that_distinguishes_nothing_is_doubted() -> None:
    """Ordinary judgments read as intents have one for each query."""
    report = judged.lint(QRELS, RUN, intents=True)

    assert [(finding.code, finding.severity) for _, finding in report.findings] == [
        ("single-intent", "warning")
    ]


def test_the_highest_grade_of_a_document_counts_for_the_order_of_grades() -> None:
    """Intents with low grades do not make a run look inverted that follows the highest."""
    lines = (f"q{q} {i} d{d} {d * (i == 2)}\n" for q in range(9) for d in range(8) for i in (1, 2, 3))
    run = "".join(f"q{q} Q0 d{d} {8 - d} {d} t\n" for q in range(9) for d in range(7, -1, -1)).encode()
    upside_down = "".join(f"q{q} Q0 d{d} {d + 1} {9 - d} t\n" for q in range(9) for d in range(8)).encode()
    qrels = "".join(lines).encode()

    assert judged.lint(qrels, run, intents=True).count("inverted-grades") == 0
    assert judged.lint(qrels, upside_down, intents=True).count("inverted-grades") == 9


def test_a_fixed_copy_keeps_every_intent(tmp_path: Path) -> None:
    """Of rows with one query, intent and document one stays."""
    fix(WEB + b"2 5 y 2\n", str(tmp_path / "q"), role="judgments", policy="best", intents=True)

    assert (tmp_path / "q").read_bytes() == WEB.replace(b"2 5 y 1", b"2 5 y 2")


def test_an_intent_that_is_not_text_is_an_error_for_both() -> None:
    """The readers and lint agree on bytes that are not UTF-8."""
    bad = WEB + b"2 \xff x 1\n"

    assert kinds(bad, intents=True) == {"not-utf-8": 1}
    with pytest.raises(JudgedError, match="intent is b'\\\\xff'"):
        judged.read_judgments(bad, intents=True)


lines = st.builds(
    "{}{}{} {} {}\n".format,
    st.sampled_from(["q1", "q2"]),
    st.sampled_from([" ", "\t", "  "]),
    st.sampled_from(["0", "1", "2", "a"]),
    st.sampled_from(["d1", "d2"]),
    st.sampled_from(["0", "1", "-1", "nan", "x"]),
)


@settings(deadline=None, max_examples=150)
@given(qrels=st.lists(lines, min_size=1, max_size=5).map(lambda chosen: "".join(chosen).encode()))
def test_an_error_is_what_reading_with_intents_refuses(qrels: bytes) -> None:
    """Lint has an error in judgments by intent if and only if they cannot be read."""
    try:
        judged.read_judgments(qrels, intents=True)
        refused = False
    except JudgedError:
        refused = True

    assert judged.lint(qrels, intents=True).ok != refused


PREFERENCES = b"# levels\nq1 ann 1 d1 2\nq1 ann 1 d2 1\nq2 bob 1 d1 3\n"


@pytest.mark.parametrize("ended", [True, False])
def test_preferences_are_reported_in_one_finding(*, ended: bool) -> None:
    """No flood of grades that are not numbers, and nothing about queries without judgments."""
    report = judged.lint(PREFERENCES if ended else PREFERENCES.rstrip(), b"q1 Q0 d1 1 1 t\n")

    assert [(file.role, finding.code, finding.count) for file, finding in report.findings] == [
        ("judgments", "preferences", 1)
    ]


def test_a_fifth_column_alone_makes_no_preferences() -> None:
    """A fourth column of numbers may be grades; what follows is ignored as ever."""
    assert kinds(b"1 0 a 1 0.5\n2 0 x 1 2\n") == {"many-columns": 2}


def test_judges_in_the_second_column_are_named_in_the_hint() -> None:
    """Four columns with judges look like intents; the hint says what reads them."""
    (finding,) = judged.lint(b"1 ann a 2\n1 bob a 1\n2 ann x 1\n", WEB_RUN).files[0].findings

    assert finding.hint is not None
    assert "`judged.read_preferences`" in finding.hint
