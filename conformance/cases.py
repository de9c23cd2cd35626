"""The cases of the suite, in the forms that the drivers need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judged.errors import Unreadable

__all__ = ["DEFAULT", "SUITE", "Case", "Crashed", "Failed", "Measured", "NotSupported", "read_suite"]

SUITE = Path(__file__).parent
"""The folder of the cases."""

DEFAULT: dict[str, Any] = {
    "ties": "document-descending",
    "precision": "float32",
    "missing": "zero",
    "unjudged": "nonrelevant",
    "rel": 1,
    "depth": None,
    "recall_points": "truncated",
    "no_relevant": "zero",
}
"""The protocol that a tool is held to where a case says nothing else."""
BY_INTENT = "has no judgments by intent"


class Crashed(Exception):
    """A tool that is a program was ended by a signal."""


class Failed(Exception):
    """A tool that is a program ended with an error; the message is its own."""


class NotSupported(Exception):
    """A tool has no such measure, or no way to follow the protocol of the case."""

    def __init__(self, reason: str = "has no such measure") -> None:
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a case, with the values it must have."""

    measure: str
    name: str
    parameters: dict[str, Any]
    trec_eval: str | None
    queries: dict[str, Fraction]
    all: Fraction | None
    depends_on: tuple[str, ...]

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Measured:
        """Read a measure of a file of the suite."""
        return cls(
            measure=raw["measure"],
            name=raw["name"],
            parameters=raw["parameters"],
            trec_eval=raw["trec_eval"],
            queries={query: Fraction(value) for query, value in raw.get("queries", {}).items()},
            all=Fraction(raw["all"]) if "all" in raw else None,
            depends_on=tuple(raw.get("depends_on", ())),
        )


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs, protocol and measures of one case."""

    id: str
    title: str
    refused: bool
    protocol: dict[str, Any]
    measures: tuple[Measured, ...]
    raw: dict[str, Any]

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Case:
        """Read a case of a file of the suite."""
        return cls(
            id=raw["id"],
            title=raw["title"],
            refused=raw["outcome"] == "refused",
            protocol=raw["protocol"],
            measures=tuple(Measured.read(measure) for measure in raw["measures"]),
            raw=raw,
        )

    @property
    def is_text(self) -> bool:
        """Whether the layout matters, so that tools are given files."""
        return "run_text" in self.raw

    @property
    def by_intent(self) -> bool:
        """Whether documents have grades for intents of their query."""
        judged = (grade for grades in self.raw.get("qrels", {}).values() for grade in grades.values())
        return any(isinstance(grade, dict) for grade in judged)

    def rows(self) -> list[tuple[str, str, str, float]]:
        """Return the judgments by intent: query, intent, document and grade."""
        return [
            (query, intent, document, grade)
            for query, judged in self.raw["qrels"].items()
            for document, grades in judged.items()
            for intent, grade in grades.items()
        ]

    def qrels(self) -> dict[str, dict[str, float]]:
        """Return the judgments as nested dicts; a document judged twice has its last grade."""
        if self.by_intent:
            raise NotSupported(BY_INTENT)
        if "qrels" in self.raw:
            return {query: dict(grades) for query, grades in self.raw["qrels"].items()}
        table: dict[str, dict[str, float]] = {}
        for query, _, document, grade in _rows(self.raw["qrels_text"], 4):
            table.setdefault(query, {})[document] = float(grade) if "." in grade else int(grade)
        return table

    def run(self) -> dict[str, dict[str, float]]:
        """Return the results as nested dicts, infinite and NaN scores as floats."""
        if "run" in self.raw:
            return {
                query: {document: float(score) for document, score in results.items()}
                for query, results in self.raw["run"].items()
            }
        table: dict[str, dict[str, float]] = {}
        for query, _, document, _, score, _ in _rows(self.raw["run_text"], 6):
            table.setdefault(query, {})[document] = float(score)
        return table

    @contextmanager
    def files(self) -> Iterator[tuple[str, str]]:
        """Write judgments and run as TREC files, which last as long as the block."""
        if self.by_intent:
            raise NotSupported(BY_INTENT)
        with TemporaryDirectory() as folder:
            qrels, run = Path(folder) / "qrels.txt", Path(folder) / "run.txt"
            qrels.write_bytes((self.raw.get("qrels_text") or _qrels_text(self.raw)).encode())
            run.write_bytes((self.raw.get("run_text") or _run_text(self.raw)).encode())
            yield str(qrels), str(run)

    def must_follow(self, measure: Measured, **able: set[Any]) -> None:
        """Raise `NotSupported` if the value depends on a convention that is neither the default nor in `able`.

        Under the default protocol a tool is judged by its result.
        """
        for name, usual in DEFAULT.items():
            wanted = self.protocol.get(name, usual)
            if wanted != usual and name in measure.depends_on and wanted not in able.get(name, set()):
                msg = f"cannot be asked for `{name}`: {wanted}"
                raise NotSupported(msg)


def read_suite(folder: Path = SUITE) -> list[Case]:
    """Read every case, in the order of files and of cases in a file."""
    files = [path for path in folder.glob("*.json") if not path.name.endswith(".schema.json")]
    if not files:
        msg = f"there are no conformance cases in `{folder}`"
        raise Unreadable(msg, hint="--cases names the folder `conformance` of a checkout of judged")
    return [Case.read(raw) for path in sorted(files) for raw in _read_cases(path)]


def _read_cases(path: Path) -> list[dict[str, Any]]:
    try:
        cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path} is not a file of conformance cases: {error}"
        raise Unreadable(msg, hint="conformance/README.md describes the format") from error
    return cases


def _rows(text: str, columns: int) -> list[list[str]]:
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    rows = [line.split() for line in lines]
    if any(len(row) != columns for row in rows):
        msg = "the layout of the case has no form as dicts"
        raise NotSupported(msg)
    return rows


def _qrels_text(raw: dict[str, Any]) -> str:
    rows = [(q, d, grade) for q, grades in raw["qrels"].items() for d, grade in grades.items()]
    _check_ids(rows)
    return "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in rows)


def _run_text(raw: dict[str, Any]) -> str:
    rows = [(q, d, score) for q, results in raw["run"].items() for d, score in results.items()]
    _check_ids(rows)
    return "".join(f"{query} Q0 {document} 1 {score} case\n" for query, document, score in rows)


def _check_ids(rows: list[tuple[str, str, Any]]) -> None:
    if any(re.search(r"[\s\0]", query + document) for query, document, _ in rows):
        msg = "ids with white space or NUL have no form as TREC lines"
        raise NotSupported(msg)
