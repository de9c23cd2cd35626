"""Each kind is found where it is, with its line and its count, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from checks.cases import CASES, QRELS, RUN, Case
from judged.checks.kinds import MODULES, declare, list_kinds

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_each_kind_is_found_with_its_count_and_places(case: Case) -> None:
    """Count and first places are those of the file, by either reader."""
    found = {finding.code: finding for _, finding in judged.lint(case.qrels, case.run).findings}

    assert case.kind in found
    assert found[case.kind].count == case.count
    assert tuple(str(problem.place) for problem in found[case.kind].problems) == case.places


@pytest.mark.usefixtures("implementation")
def test_sound_files_have_no_finding_of_any_kind() -> None:
    """A clean file has no findings."""
    report = judged.lint(QRELS, RUN)

    assert list(report) == []
    assert report.ok
    assert [(file.role, file.rows) for file in report.files] == [("judgments", 3), ("run", 3)]


def test_no_kind_is_forgotten() -> None:
    """Every kind has a case, and every kind is on the generated page of findings."""
    page = (ROOT / "docs" / "reference" / "lint.md").read_text(encoding="utf-8")
    rows = [
        f"| `{kind.code}` | {kind.severity} | {kind.counted} | {kind.explanation} |"
        for kind in list_kinds().values()
    ]

    assert {case.kind for case in CASES} == set(list_kinds())
    assert [row for row in rows if row not in page] == []


def test_every_module_that_declares_a_kind_is_listed() -> None:
    """A kind in a module that is not listed would be missing from a saved report that is loaded again."""
    folder = ROOT / "src" / "judged" / "checks"
    declaring = {path.stem for path in folder.glob("*.py") if "= declare(" in path.read_text("utf-8")}

    assert declaring == set(MODULES)


def test_a_code_is_declared_once() -> None:
    """Two checks with one code would be counted together."""
    with pytest.raises(ValueError, match="two kinds of findings have the code `tied-scores`"):
        declare("tied-scores", "warning", "rows", "The document shares its score.")


def test_a_document_judged_twice_is_reported_apart_by_its_grades() -> None:
    """The same grade again is one kind, another grade another."""
    report = judged.lint(b"q 0 a 1\nq 0 a 1\nq 0 a 2\nq 0 a 1.0\n", b"q Q0 a 1 1 t\n")

    assert (report.count("repeated-document"), report.count("conflicting-grades")) == (2, 1)


def graded(queries: int) -> bytes:
    """Judgments in which document `d7` is the best of eight."""
    return "".join(f"q{q} 0 d{d} {d}\n" for q in range(queries) for d in range(8)).encode()


@pytest.mark.parametrize(("queries", "best", "count"), [(9, "d0", 9), (9, "d7", 0), (4, "d0", 0)])
def test_grades_look_inverted_only_on_much_evidence(queries: int, best: str, count: int) -> None:
    """A run that follows the grades, or one of four queries, is not doubted."""
    order = range(8) if best == "d0" else range(7, -1, -1)
    lines = (f"q{q} Q0 d{d} {i} {9 - i} t\n" for q in range(queries) for i, d in enumerate(order, 1))

    assert judged.lint(graded(queries), "".join(lines).encode()).count("inverted-grades") == count


@pytest.mark.usefixtures("implementation")
def test_rows_of_interleaved_queries_are_looked_at_together() -> None:
    """A tie, a repeat and a rank that rises across the rows of another query are seen."""
    run = b"q1 Q0 d1 1 3 t\nq2 Q0 d3 1 1 t\nq1 Q0 d2 2 4 t\nq2 Q0 d4 2 1 t\nq1 Q0 d1 3 1 t\n"
    found = {finding.code: finding for _, finding in judged.lint(QRELS, run).findings}

    assert [str(problem.place) for problem in found["repeated-document"].problems] == ["run:5"]
    assert [str(problem.place) for problem in found["tied-scores"].problems] == ["run:2", "run:4"]
    assert [str(problem.place) for problem in found["rank-contradicts-score"].problems] == ["run:3"]


def test_first_places_are_shown_and_all_are_counted() -> None:
    """Of many only the first five are worded."""
    run = b"".join(b"q1 Q0 d%d 1 nan t\n" % i for i in range(100))
    (finding,) = [found for _, found in judged.lint(QRELS, run).findings if found.code == "score-nan"]

    assert finding.count == 100
    assert [problem.place.line for problem in finding.problems] == [1, 2, 3, 4, 5]
