"""`lint`: judgments and runs in; everything that is wrong or notable about them, counted and located, out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from judged.arrays import Flags, Words
from judged.checks.batch import Batch, join_batches
from judged.checks.ids import Documents, check_documents, check_query_ids
from judged.checks.kinds import declare
from judged.checks.queries import Grades, Inversion, check_queries
from judged.checks.result import FileReport, Findings, LintReport
from judged.checks.rows import Blocks, Intents, Tags, check_rows
from judged.checks.sources import HoldsPreferences, Source, open_source
from judged.errors import BadInput, JudgedError
from judged.io.open import is_path
from judged.io.read import read_runs
from judged.io.sniff import Kind as Role
from judged.io.systems import System, may_hold_several, name_systems
from judged.problem import Place
from judged.progress import Progress
from judged.result import Provenance, observe_files
from judged.tables.inputs import JudgmentsLike, RunLike

UNREADABLE = declare(
    "unreadable", "error", "files", "The file cannot be read at all, or lacks a column that is needed."
)
EMPTY = declare("empty", "error", "files", "The judgments hold no row, so nothing can be scored.")
PREFERENCES = declare(
    "preferences",
    "error",
    "files",
    "The file holds preferences, not judgments: `judged.read_preferences` reads them.",
)
RUN_AS_JUDGMENTS = declare(
    "run-as-judgments",
    "error",
    "files",
    "The file looks like a run, whose ranks would be taken for grades: six columns with a rank and a score.",
)
NO_SHARED_QUERY = declare(
    "no-shared-query", "error", "files", "The run has results for no judged query, so nothing can be scored."
)
MISSING_QUERIES = declare(
    "missing-queries", "warning", "queries", "The query is judged but has no results; it scores 0."
)
UNJUDGED_QUERIES = declare(
    "unjudged-queries", "warning", "queries", "The query has results but no judgments; it is not scored."
)


def lint(
    qrels: JudgmentsLike | None,
    *runs: RunLike | System | Sequence[str | os.PathLike[str]],
    intents: bool = False,
    join: bool = False,
    progress: Progress | None = None,
) -> LintReport:
    r"""Return what is wrong or notable with judgments and runs: each kind with its count and first places.

    `qrels` and `runs` may be anything `judged.evaluate` accepts; without judgments (None), runs are checked by themselves; a folder or a pattern is several runs, unless `join` makes one
    of its files. Nothing is raised for what the files hold: a
    file that cannot be read at all is a finding too. Errors are what `judged.evaluate` refuses. `intents` reads
    the second column of TREC judgments as intents, or a column `iteration`, as `judged.read_judgments` does.
    `progress` is called with the number of files that were read, and of all.

    >>> report = lint(b"q1 0 d1 1\nq1 0 d1 2\n", b"q1 Q0 d1 1 0.5 t\n")
    >>> [(finding.code, str(finding.problems[0])) for _, finding in report.findings]
    [('conflicting-grades', 'judgments:2: document `d1` of query `q1` has grade 2, and 1 at judgments:1')]
    """
    sources = _list_sources(runs, join=join)
    given = [] if qrels is None else [("judgments", qrels)]
    inputs = observe_files([*given, *(("run", source.source) for source in sources)])
    grades = Grades()
    judgments = None if qrels is None else _survey(qrels, "judgments", "judgments", grades, intents=intents)
    grades.close()
    if isinstance(judgments, Survey):
        _check_ids(judgments, None)
        if judgments.rows == 0 and not judgments.findings.counts[EMPTY]:
            place = Place(judgments.findings.file)
            judgments.findings.add_at(EMPTY, place, "holds no judgments")
    files = [] if judgments is None else [_report(judgments)]
    for number, source in enumerate(sources, 1):
        if progress is not None:
            progress(number, len(sources) + 1)
        files += _survey_runs(source, f"run {number}" if len(sources) > 1 else "run", grades, judgments)
    notes = dict.fromkeys(note for source in sources for note in source.notes)
    return LintReport(tuple(files), Provenance(inputs=inputs), tuple(notes))


def _survey_runs(
    source: System, name: str, grades: Grades, judgments: Survey | FileReport | None
) -> Iterator[FileReport]:
    """Yield a report of each run of a source: one, unless it is a table of several systems."""
    for label, run in _split_systems(source, name):
        inversion = Inversion(grades)
        seen = _survey(run, "run", label, inversion)
        if isinstance(seen, Survey):
            inversion.check(seen.findings)
            other = judgments if isinstance(judgments, Survey) else None
            _check_ids(seen, other)
            if other is not None:
                _check_queries_of_one_file(seen, other)
        yield _report(seen)


def _split_systems(source: System, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the systems of a table that names several, each under the file and its name; else the source itself."""
    given = source.source
    several: dict[str | None, Any] = {}
    if is_path(given) and may_hold_several(given):
        try:
            several = {system: run for system, run in read_runs(given).items() if system is not None}
        except (JudgedError, OSError):
            several = {}  # what is wrong with the table is found by reading it as one
    if len(several) < 2:
        yield name, given
        return
    for system, run in source.select(several).items():
        yield f"{source.path} ({system})", run


def _list_sources(
    runs: Iterable[RunLike | System | Sequence[str | os.PathLike[str]]], *, join: bool
) -> list[System]:
    """Return every system: of a list, a folder or a pattern there may be several."""
    sources: list[Any] = []
    for run in runs:
        several = isinstance(run, list | tuple) and all(isinstance(file, str | os.PathLike) for file in run)
        sources += cast("list[Any]", run) if several else [run]
    return [
        system
        for source in sources
        for system in (name_systems([source], join=join) if is_path(source) else [_as_system(source)])
    ]


def _as_system(source: object) -> System:
    return source if isinstance(source, System) else System(None, source)


@dataclass
class Survey:
    """Data collected in one pass over a file, in addition to its findings."""

    source: Source
    rows: int = 0
    blocks: Blocks = field(default_factory=Blocks)
    documents: Documents = field(default_factory=Documents)

    @property
    def findings(self) -> Findings:
        """The findings of the file."""
        return self.source.findings


def _survey(
    given: object, role: Role, name: str, judged: Grades | Inversion, *, intents: bool = False
) -> Survey | FileReport:
    """Read a file and check everything that can be found in it without the others."""
    try:
        return _check_file(open_source(given, role, name=name, intents=intents), judged)
    except JudgedError as error:
        findings = Findings(given if isinstance(given, str) else name, role)
        kind = PREFERENCES if isinstance(error, HoldsPreferences) else UNREADABLE
        if isinstance(error, BadInput) and RUN_AS_JUDGMENTS.code in error.counts:
            kind = RUN_AS_JUDGMENTS
        message = " ".join(str(error).partition("\n\nhint:")[0].split())
        findings.add_at(kind, Place(findings.file), message)
        return findings.report(0)


def _check_file(source: Source, judged: Grades | Inversion) -> Survey:
    """Check a file batch by batch; if queries are interleaved, their rows are put together in a second pass."""
    seen, tags, intents, findings = Survey(source), Tags(source), Intents(), source.findings
    within = Findings(findings.file, findings.role, findings.locate)
    for batch in source.batches():
        seen.rows += len(batch)
        check_rows(batch, findings)
        tags.add(batch)
        seen.documents.add(batch)
        sound = _keep_sound(batch, findings.role)
        seen.blocks.add(sound)
        check_queries(sound, within)
        intents.add(sound)
        judged.add(sound)
    intents.check(findings)
    scattered = seen.blocks.check(findings)
    # what was found within queries is void where their rows were not together
    findings.merge(_check_interleaved(source, scattered) if len(scattered) else within)
    return seen


def _check_interleaved(source: Source, scattered: Words) -> Findings:
    """Return what is found within queries once the rows of interleaved ones are put together."""
    findings = source.findings
    within, aside = Findings(findings.file, findings.role, findings.locate), []
    for batch in source.batches():
        sound = _keep_sound(batch, findings.role)
        apart: Flags = np.isin(sound.query.hashes, scattered)
        check_queries(sound[np.flatnonzero(~apart)], within)
        aside.append(sound[np.flatnonzero(apart)])
    check_queries(join_batches(aside), within)
    return within


def _keep_sound(batch: Batch, role: Role) -> Batch:
    """Return the rows whose number can be used."""
    usable = ~np.isnan(batch.value) if role == "run" else np.isfinite(batch.value)
    good: Flags = batch.sound & usable
    return batch if good.all() else batch[np.flatnonzero(good)]


def _check_ids(own: Survey, other: Survey | None) -> None:
    """Add ids of one file that are like others of the same file, or of the judgments."""
    both = [own] if other is None else [own, other]
    check_query_ids(own.source, [(side.source, side.blocks.queries) for side in both])
    check_documents(own.source, [(side.source, side.documents) for side in both])


def _check_queries_of_one_file(run: Survey, judgments: Survey) -> None:
    """Add judged queries that the run lacks, and queries of the run that are not judged."""
    judged, retrieved = judgments.blocks.queries, run.blocks.queries
    if judged and judged.keys().isdisjoint(retrieved):
        message = f"none of the {len(judged):,} judged queries has results"
        run.findings.add_at(NO_SHARED_QUERY, Place(run.findings.file), message)
    for name, number in judged.items():
        if name not in retrieved:
            message = f"query `{name.decode(errors='backslashreplace')}` is judged and has no results"
            place = judgments.findings.locate(number)
            file = place.file or judgments.findings.file
            run.findings.add_at(MISSING_QUERIES, Place(file, place.line, place.row), message)
    extra = [(name, number) for name, number in retrieved.items() if name not in judged]
    run.findings.add(
        UNJUDGED_QUERIES,
        np.array([number for _, number in extra], dtype=np.int64),
        lambda i: f"query `{extra[i][0].decode(errors='backslashreplace')}` is not judged",
    )


def _report(seen: Survey | FileReport) -> FileReport:
    return seen if isinstance(seen, FileReport) else seen.findings.report(seen.rows)
