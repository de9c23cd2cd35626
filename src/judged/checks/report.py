"""`LintReport`: what was found in which file, how often, and where first; as objects and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judged.checks.kinds import KINDS, Kind, Severity
from judged.io.sniff import Kind as Role

__all__ = ["FileReport", "Finding", "LintReport", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found, and what it is in words."""

    file: str
    what: str
    line: int | None = None
    """The line of a text, from 1."""
    row: int | None = None
    """The row of a table that has no lines, from 1."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"

    @property
    def where(self) -> str:
        """File and line, or file and row, or the file alone."""
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return self.file if self.row is None else f"{self.file}, row {self.row}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of thing found in one file: how often, and the first places."""

    kind: Kind
    count: int
    places: tuple[Place, ...]
    hint: str | None = None
    """What may be done about it, where that can be told."""

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return self.kind.severity


@dataclass(frozen=True, slots=True)
class FileReport:
    """All that was found in one file, the gravest first."""

    file: str
    role: Role
    rows: int
    """How many rows were read, sound or not."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class LintReport:
    """What is wrong or notable with judgments and runs, file by file.

    >>> import judged
    >>> report = judged.lint({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}})
    >>> report.count("tied-scores"), report.errors, report.ok
    (2, 0, True)
    """

    files: tuple[FileReport, ...]

    def __iter__(self) -> Iterator[tuple[FileReport, Finding]]:
        """Every finding with its file."""
        return ((file, finding) for file in self.files for finding in file.findings)

    def count(self, kind: str) -> int:
        """How often a kind was found, over all files."""
        return sum(finding.count for _, finding in self if finding.kind is KINDS[kind])

    @property
    def errors(self) -> int:
        """How many errors there are: things that `judged score` refuses."""
        return self._many("error")

    @property
    def warnings(self) -> int:
        """How many warnings there are."""
        return self._many("warning")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return self.errors == 0

    def to_dict(self) -> dict[str, Any]:
        """The report as it is written in JSON."""
        totals = {f"{severity}s": self._many(severity) for severity in ("error", "warning", "note")}
        return {**totals, "files": [_file(each) for each in self.files]}

    def _many(self, severity: str) -> int:
        return sum(finding.count for _, finding in self if finding.severity == severity)


def _file(report: FileReport) -> dict[str, Any]:
    found = [_finding(each) for each in report.findings]
    return {"file": report.file, "role": report.role, "rows": report.rows, "findings": found}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind.name,
        "severity": finding.severity,
        "count": finding.count,
        "counted": finding.kind.counted,
        "explanation": finding.kind.explanation,
        "hint": finding.hint,
        "places": [
            {"file": each.file, "line": each.line, "row": each.row, "what": each.what}
            for each in finding.places
        ],
    }
