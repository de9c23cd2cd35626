"""`lint`: judgments and runs in; everything that is wrong or notable about them, counted and placed, out."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.checks.findings import Findings
from judged.checks.grades import Graded, Inversion
from judged.checks.ids import meeting_documents, note_alike, side_of_queries, sides_of_documents
from judged.checks.preferences import Preferred
from judged.checks.report import FileReport, LintReport, Place
from judged.checks.sources import open_source
from judged.checks.survey import Survey, survey
from judged.errors import JudgedError

__all__ = ["lint"]


def lint(qrels: Any, *runs: Any, intents: bool = False) -> LintReport:
    r"""What is wrong or notable with judgments and runs: each kind with its count and its first places.

    `qrels` and `runs` may be whatever `judged.evaluate` takes. Nothing is raised for what the files hold: a
    file that cannot be read at all is a finding too. Errors are what `judged.evaluate` refuses. `intents` takes
    the second column of TREC judgments as intents, or a column `iteration`, as `judged.read_judgments` does.

    >>> report = lint(b"q1 0 d1 1\nq1 0 d1 2\n", b"q1 Q0 d1 1 0.5 t\n")
    >>> [(finding.kind.name, str(finding.places[0])) for _, finding in report]
    [('judged-differently', 'judgments:2: document `d1` of query `q1` has grade 2, and 1 at judgments:1')]
    """
    graded = Graded()
    judgments = _surveyed(qrels, "judgments", 0, graded, intents=intents)
    graded.close()
    files = [_report(judgments)]
    if isinstance(judgments, Survey):
        _note_ids(judgments, None)
        files = [_finished_judgments(judgments)]
    for number, run in enumerate(runs, 1):
        inversion = Inversion(graded)
        seen = _surveyed(run, "run", number if len(runs) > 1 else 0, inversion)
        if isinstance(seen, Survey):
            inversion.note(seen.source.findings)
            other = judgments if isinstance(judgments, Survey) else None
            _note_ids(seen, other)
            if other is not None:
                _note_queries_of_one_side(seen, other)
        files.append(_report(seen))
    return LintReport(tuple(files))


def _surveyed(
    given: Any, role: Any, number: int, watcher: Graded | Inversion, *, intents: bool = False
) -> Survey | FileReport:
    """A file looked through; one that cannot be read is reported as such."""
    findings = Findings(f"{role} {number}" if number else role)
    try:
        source = open_source(given, role, name=findings.file, intents=intents)
        return survey(source, watcher.add)
    except JudgedError as error:
        label = given if isinstance(given, str) else findings.file
        kind = "preferences" if isinstance(error, Preferred) else "unreadable"
        findings.add_place(kind, Place(label, _first_line(error)))
        return FileReport(label, role, 0, findings.all())


def _report(seen: Survey | FileReport) -> FileReport:
    if isinstance(seen, FileReport):
        return seen
    return FileReport(seen.source.file, seen.source.role, seen.rows, seen.source.findings.all())


def _finished_judgments(seen: Survey) -> FileReport:
    if seen.rows == 0:
        seen.source.findings.add_place("no-judgments", Place(seen.source.file, "holds no judgments"))
    return _report(seen)


def _note_ids(own: Survey, other: Survey | None) -> None:
    """Note ids of one file that are like others of the same file, or of the judgments."""
    both = [own] if other is None else [own, other]
    note_alike(own.source, [side_of_queries(each.source, each.queries) for each in both], what="query")
    files = meeting_documents([(each.source, each.documents) for each in both])
    if files:
        note_alike(own.source, sides_of_documents(files), what="document")


def _note_queries_of_one_side(run: Survey, judgments: Survey) -> None:
    """Note judged queries that the run lacks, and queries of the run that nobody judged."""
    for name, number in judgments.queries.items():
        if name not in run.queries:
            what = f"query `{name.decode(errors='backslashreplace')}` is judged and has no results"
            run.source.findings.add_place("missing-queries", judgments.source.findings.place(number, what))
    extra = [(name, number) for name, number in run.queries.items() if name not in judgments.queries]
    run.source.findings.add(
        "unjudged-queries",
        np.array([number for _, number in extra], dtype=np.int64),
        lambda i: f"query `{extra[i][0].decode(errors='backslashreplace')}` is not judged",
    )


def _first_line(error: Exception) -> str:
    return " ".join(str(error).partition("\n\nhint:")[0].split())
