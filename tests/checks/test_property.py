"""Whatever the bytes: lint answers, agrees with `judged.evaluate` on what is refused, and what it fixes is sound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

import judged
from checks.cases import CASES, QRELS, RUN
from judged.checks import batch
from judged.checks.fix import Changes, Policy, clean
from judged.errors import JudgedError
from judged.io.sniff import Kind as Role
from judged.kernels.scan import rows
from judged.kernels.scan.compiled import load_compiled

unhurried = settings(deadline=None, max_examples=150)
POLICIES: tuple[Policy, ...] = ("first", "last", "best")
pieces = st.sampled_from(
    [
        *(b"q1", b"q2", b"Q1", b"d1", b"D1", b"d2", b"\xc3\xa9", b"\xff", b"\xef\xbb\xbf", b"Q0", b"#"),
        *(b"0", b"1", b"-1", b"0.5", b"nan", b"inf", b"1e400", b"1_0", b"x", b"{", b"query,document,score\n"),
        *(b" ", b" ", b" ", b" ", b"\t", b"\n", b"\n", b"\r\n", b"\r", b"\v", b"\0", b"\x1c"),
        *(b"q1 Q0 d1 1 0.5 t\n", b"q1 0 d1 1\n", b'{"query": "q", "document": "d", "score": 1}\n'),
    ]
)
soup = st.lists(pieces, max_size=30).map(b"".join) | st.binary(max_size=100)


@unhurried
@example(qrels=b"", run=b"")
@example(qrels=b"query,document,grade\nq,,1\n", run=b"query,document,score\n")
@given(qrels=soup, run=soup)
def test_no_content_is_worse_than_a_finding(qrels: bytes, run: bytes) -> None:
    """Arbitrary bytes become a report, never an exception."""
    report = judged.lint(qrels, run)

    assert [file.role for file in report.files] == ["judgments", "run"]
    assert all(finding.count >= len(finding.problems) for _, finding in report.findings)


ids = st.sampled_from(["d1", "d2", "d3", "D1", "caf\u00e9", "cafe\u0301"])
queries = st.sampled_from(["q1", "q2", "q3"])
grade = st.sampled_from(["0", "1", "2", "-1", "0.5", "nan", "inf", "good", "1e0", "+1"])
score = st.sampled_from(["1", "2", "2.0", "0.5", "-3e2", "inf", "1e39", "nan", "high", "1_0", ".5"])
ends = st.sampled_from(["\n", "\n", "\n", "\r\n"])
judgment_lines = st.builds(
    "{} 0 {} {}{}{}".format, queries, ids, grade, st.sampled_from(["", "", " x"]), ends
)
run_lines = st.builds(
    "{} Q0 {} {} {} {}{}".format, queries, ids, st.sampled_from("0123x"), score, st.sampled_from("tu"), ends
)
odd_lines = st.sampled_from(["\n", "# note\n", "q1 0 d1\n", "q1\n", " \t\n"])


def texts(lines: Any) -> st.SearchStrategy[bytes]:
    """Texts of some lines, now and then with an odd one among them."""
    mostly = st.lists(st.one_of(lines, lines, lines, lines, odd_lines), max_size=7)
    return st.one_of(st.lists(lines, max_size=4), mostly).map(lambda chosen: "".join(chosen).encode())


def refused(qrels: bytes, run: bytes) -> bool:
    """Whether `judged.evaluate` refuses these."""
    try:
        judged.evaluate(qrels, run, "AP", threads=1)
    except JudgedError:
        return True
    return False


@unhurried
@given(qrels=texts(judgment_lines), run=texts(run_lines))
def test_an_error_is_what_evaluate_refuses(qrels: bytes, run: bytes) -> None:
    """Lint has an error if and only if the two files cannot be scored."""
    assume(not _repeats_unseen(qrels, run))

    assert judged.lint(qrels, run).ok != refused(qrels, run)


def _repeats_unseen(qrels: bytes, run: bytes) -> bool:
    """Whether a document is listed twice for a query without judgments, which no number depends on."""
    known = {line.split()[0] for line in qrels.split(b"\n") if len(line.split()) >= 4}
    rows = [tuple(line.split()[:3:2]) for line in run.split(b"\n") if len(line.split()) >= 6]
    strange = [row for row in rows if row[0] not in known]
    return len(set(strange)) < len(strange)


def cleaned(content: bytes, role: Role, policy: Policy) -> tuple[bytes, Changes]:
    """A cleaned copy, and what was changed."""
    changes = Changes()
    parts = clean(np.frombuffer(content, dtype=np.uint8), role=role, policy=policy, changes=changes)
    return b"".join(parts), changes


@unhurried
@pytest.mark.parametrize("policy", POLICIES)
@given(qrels=texts(judgment_lines), run=texts(run_lines))
def test_a_fixed_file_lints_clean_of_errors_and_scores(policy: Policy, qrels: bytes, run: bytes) -> None:
    """After a fix there is no error, ranks agree with the scores, and fixing again changes nothing."""
    # a query that both files have, for no fix of one file can add it
    judgments, _ = cleaned(qrels + b"q1 0 shared 1\n", "judgments", policy)
    ranked, changes = cleaned(run + b"q1 Q0 shared 9 0.25 t\n", "run", policy)
    report = judged.lint(judgments, ranked)
    wrong = (
        "rank-contradicts-score",
        "ranks-from-zero",
        "interleaved-queries",
        "comments",
        "carriage-returns",
    )

    assert report.ok
    assert [kind for kind in wrong if report.count(kind)] == []
    assert not refused(judgments, ranked)
    assert cleaned(ranked, "run", policy)[0] == ranked
    assert changes.lines_out == ranked.count(b"\n")


@unhurried
@given(content=st.one_of(soup, texts(run_lines)), columns=st.sampled_from([4, 6]))
def test_both_readers_of_lines_agree(content: bytes, columns: int) -> None:
    """The compiled reader says what the one in NumPy says."""
    if load_compiled("_rows") is None:
        pytest.skip("the compiled reader was not built here")
    data = np.frombuffer(content, dtype=np.uint8)
    one, other = rows.cut_rows(data, columns=columns), rows.read_rows(data, columns=columns)
    for name in rows.Rows.__dataclass_fields__:
        mine, its = getattr(one, name), getattr(other, name)
        if name in {"query", "document", "token"}:
            assert (mine.tolist(), mine.hashes.tolist()) == (its.tolist(), its.hashes.tolist())
        else:
            assert np.array_equal(mine, its, equal_nan=mine.dtype.kind == "f")


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("size", [1, 20, 64])
def test_findings_do_not_depend_on_where_the_text_is_cut(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches of a few bytes find what one stretch finds."""
    whole = [judged.lint(case.qrels, case.run) for case in CASES]
    monkeypatch.setattr(batch, "STRETCH", size)

    assert [judged.lint(case.qrels, case.run) for case in CASES] == whole


def test_a_sound_file_is_not_changed() -> None:
    """Every byte of a file without problems is that of its copy."""
    assert cleaned(RUN, "run", "best") == (RUN, Changes(lines_in=3, lines_out=3))
    assert cleaned(QRELS, "judgments", "first") == (QRELS, Changes(lines_in=3, lines_out=3))
