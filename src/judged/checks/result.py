"""`LintReport`: what was found in which file, how often, and where first; and how findings are collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from judged.arrays import Ints
from judged.blocks import Block, Display, Notes, Sentence, Table, Value
from judged.checks.kinds import Kind, list_kinds
from judged.errors import BadInput
from judged.io.sniff import Kind as Role
from judged.problem import Locate, Note, Place, Problem, Problems, Severity
from judged.result import Provenance, Result, tabulate
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 5
"""Maximum number of problems of each kind that are kept with their places."""
REPEATED = ("repeated-document", "conflicting-grades")
BY_INTENT = (
    "these look like judgments by intent, which the second column distinguishes: `--intents` reads them (in "
    "Python `intents=True`); if that column holds judges, `judged.read_preferences` reads the file"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of thing found in one file: how often, and the first problems with their places."""

    code: str
    severity: Severity
    count: int
    problems: tuple[Problem, ...]
    hint: str | None = None
    """A hint at the fix, if there is one."""

    @property
    def kind(self) -> Kind:
        """The kind, with its explanation."""
        return list_kinds()[self.code]


@dataclass(frozen=True, slots=True)
class FileReport:
    """Everything found in one file, the most severe first."""

    file: str
    role: Role
    rows: int
    """Number of rows read, valid or not."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, repr=False)
class LintReport(Result):
    """Findings of a lint of judgments and runs, file by file.

    >>> import judged
    >>> report = judged.lint({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}})
    >>> report.count("tied-scores"), report.errors, report.ok
    (2, 0, True)
    """

    kind: ClassVar[str] = "lint"
    files: tuple[FileReport, ...]
    provenance: Provenance = field(default_factory=Provenance, compare=False)
    notes: tuple[Note, ...] = ()

    @property
    def findings(self) -> list[tuple[FileReport, Finding]]:
        """Every finding with its file."""
        return [(file, finding) for file in self.files for finding in file.findings]

    def count(self, code: str) -> int:
        """Return how often a kind was found, over all files."""
        kind = list_kinds()[code]
        return sum(finding.count for _, finding in self.findings if finding.code == kind.code)

    @property
    def errors(self) -> int:
        """The number of errors: problems that `judged score` refuses."""
        return self._count_severity("error")

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return self._count_severity("warning")

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return self.errors == 0

    def summary(self) -> Mapping[str, int]:
        """Return the number of findings of each severity."""
        return {"errors": self.errors, "warnings": self.warnings, "infos": self._count_severity("info")}

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the findings, the places of the first ones, and the files."""
        findings: list[dict[str, Value]] = [
            {
                "file": file.file,
                "role": file.role,
                "severity": finding.severity,
                "kind": finding.code,
                "count": finding.count,
                "counted": finding.kind.counted,
                "explanation": finding.kind.explanation,
                "hint": finding.hint,
            }
            for file, finding in self.findings
        ]
        places: list[dict[str, Value]] = [
            {
                "kind": finding.code,
                "file": problem.place.file,
                "line": problem.place.line,
                "row": problem.place.row,
                "message": problem.message,
            }
            for _, finding in self.findings
            for problem in finding.problems
        ]
        files: list[dict[str, Value]] = [
            {"file": file.file, "role": file.role, "rows": file.rows} for file in self.files
        ]
        return {"findings": tabulate(findings), "places": tabulate(places), "files": tabulate(files)}

    def blocks(self, display: Display) -> Iterable[Block]:  # noqa: ARG002 - one seam for all results
        """Return a table of all findings, their first places, and what each kind means."""
        if not any(file.findings for file in self.files):
            yield Sentence(f"nothing found in {counted(len(self.files), 'file')}")
            yield Notes(self.notes)
            return
        rows = tuple(
            (file.file, finding.severity, finding.code, finding.count, finding.kind.counted)
            for file, finding in self.findings
        )
        yield Table(("file", "severity", "kind", "count", "of"), rows)
        places = tuple(
            (finding.code, str(problem.place), problem.message)
            for _, finding in self.findings
            for problem in finding.problems
        )
        yield Table(("kind", "place", "problem"), places)
        explained = {finding.code: finding.kind for _, finding in self.findings}
        hints = {finding.hint: finding for _, finding in self.findings if finding.hint is not None}
        yield Notes(
            (
                *(
                    Note(code, kind.severity, f"{code}: {kind.explanation}")
                    for code, kind in explained.items()
                ),
                *(Note(found.code, found.severity, f"hint: {hint}") for hint, found in hints.items()),
                *self.notes,
            )
        )

    def _count_severity(self, severity: Severity) -> int:
        return sum(finding.count for _, finding in self.findings if finding.severity == severity)


class Findings:
    """Collector of the findings in one file: all are counted, the first of each kind are described.

    `locate` returns the place of a line or row by its number, from 1.
    """

    def __init__(self, file: str, role: Role, locate: Locate | None = None) -> None:
        self.file = file
        self.role = role
        self.locate = locate or (lambda number: Place(file, line=number))
        self.counts: Counter[Kind] = Counter()
        self.distinguished = 0
        """Rows judged again that differ in the second column."""
        self._kept: dict[Kind, list[tuple[int, Problem]]] = {}

    def add(self, kind: Kind, numbers: Ints, describe: Callable[[int], str]) -> None:
        """Add one kind at lines or rows of these numbers; `describe` words the element at an index."""
        if len(numbers) == 0:
            return
        self.counts[kind] += len(numbers)
        first = np.argsort(numbers, kind="stable")[:SHOWN]
        self._keep(
            kind,
            [
                (int(numbers[i]), self._problem(kind, self.locate(int(numbers[i])), describe(i)))
                for i in first.tolist()
                if self.wants(kind, int(numbers[i]))
            ],
        )

    def add_at(self, kind: Kind, place: Place, message: str, *, count: int = 1) -> None:
        """Add something at a place of another file, or of the file as a whole."""
        self.counts[kind] += count
        if len(self._kept.get(kind, ())) < SHOWN:
            self._keep(kind, [(0, self._problem(kind, place, message))])

    def add_problems(self, problems: Problems | BadInput) -> None:
        """Add what a reader has found, or refused."""
        found, kinds = list(problems.problems if isinstance(problems, BadInput) else problems), list_kinds()
        for code, count in problems.counts.items():
            kind = kinds.get(code, kinds["unreadable"])
            self.counts[kind] += count
            first = [problem for problem in found if problem.code == code][:SHOWN]
            self._keep(
                kind,
                [
                    (at, self._problem(kind, problem.place, problem.message))
                    for at, problem in enumerate(first)
                ],
            )

    def wants(self, kind: Kind, number: int) -> bool:
        """Return whether a place at this line or later could still be one of the first."""
        kept = self._kept.get(kind, [])
        return len(kept) < SHOWN or number < max(at for at, _ in kept)

    def merge(self, other: Findings) -> None:
        """Add everything that was found elsewhere."""
        self.counts.update(other.counts)
        self.distinguished += other.distinguished
        for kind, kept in other._kept.items():
            self._keep(kind, kept)

    def report(self, rows: int) -> FileReport:
        """Return the findings as a report on the file."""
        findings = []
        for kind in list_kinds().values():
            if self.counts[kind]:
                first = nsmallest(SHOWN, self._kept.get(kind, []), key=lambda entry: entry[0])
                problems = tuple(problem for _, problem in first)
                count, hint = self.counts[kind], self._hint(kind)
                findings.append(Finding(kind.code, self._severity(kind), count, problems, hint))
        return FileReport(self.file, self.role, rows, tuple(findings))

    def _keep(self, kind: Kind, entries: Iterable[tuple[int, Problem]]) -> None:
        self._kept.setdefault(kind, []).extend(entries)

    def _problem(self, kind: Kind, place: Place, message: str) -> Problem:
        at = place if place.file else Place(self.file, place.line, place.row, place.field)
        return Problem(kind.code, self._severity(kind), at, message)

    def _severity(self, kind: Kind) -> Severity:
        if kind.code == "not-utf-8" and self.role == "run":
            return "warning"  # such an id matches no judgment, and is scored as unjudged
        return kind.severity

    def _hint(self, kind: Kind) -> str | None:
        """Return a hint where most documents judged again differ in the second column."""
        repeated = sum(count for other, count in self.counts.items() if other.code in REPEATED)
        return BY_INTENT if kind.code in REPEATED and 2 * self.distinguished > repeated else None
