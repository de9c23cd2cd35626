"""`Explanation`: the value of one query, rank by rank, with its formula; and what all explanations share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from judged.blocks import Block, Display, Notes, Sentence, Table, Value, format_value
from judged.kernels.ranked.terms import Formula
from judged.problem import Note
from judged.result import InputFile, Provenance, Result, observe_files, table_to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

MAX_FIRST, MAX_ROWS = 20, 50
"""The number of ranks shown even if they add nothing, and the number of rows shown in all."""
TITLES = {
    "ranking": "Ranking",
    "ideal": "Ideal order of the judged documents",
    "missed": "Relevant but not retrieved",
}
OMITTED = {
    "ranking": "ranks that add nothing",
    "ideal": "judged documents in the ideal order",
    "missed": "relevant documents that were not retrieved",
}


def observe_inputs(qrels: object, run: object) -> tuple[InputFile, ...]:
    """Return the inputs of an explanation that are files, before they are read."""
    return observe_files([("judgments", qrels), ("run", run)])


def name_measure(name: str, written: str) -> dict[str, str]:
    """Return the canonical name of a measure for a summary, and next to it the name that is shown if it is another."""
    return {"measure": name, **({"written": written} if written else {})}


def list_facts(lines: Iterable[str]) -> Iterator[Notes]:
    """Return lines below the tables as one block; none for no lines."""
    facts = tuple(Note("explanation", "info", line) for line in lines)
    if facts:
        yield Notes(facts)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """The value of one query: what every rank adds, what was missed, and the formula with its numbers.

    >>> import judged
    >>> explanation = judged.explain({"q1": {"a": 1, "b": 1}}, {"q1": {"a": 2.0, "x": 1.0}}, "AP", query="q1")
    >>> explanation.value, explanation.rows()[0]["adds"], explanation.formula.text()
    (0.5, 0.5, 'sum of the terms / relevant = 1.0000 / 2 = 0.5000')
    """

    kind: ClassVar[str] = "explanation"
    detail: ClassVar[str] = ""

    measure: str
    """The canonical name of the measure."""
    run: str
    query: str
    value: str | float
    """The value of the query, as in `judged.evaluate`; text for the few measures that are text."""
    ranking: Table
    """A row for every rank that matters: rank, document, score, grade, note, the measure's terms, and `adds`."""
    missed: Table
    """Relevant documents that were not retrieved."""
    ideal: Table | None = None
    """The best order of the judged documents, for measures that have one."""
    formula: Formula | None = None
    empty: float = 0.0
    """The value of an empty list; this and the column `adds` sum to the value."""
    beyond: int = 0
    """The number of results below the last row, which add nothing."""
    tied: int = 0
    """The number of results in the ranking that share their score with others."""
    unjudged: int = 0
    """The number of unjudged results in the ranking."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    written: str = ""
    """The name of the measure as the user wrote it; empty: the canonical one."""

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the ranking, the ideal order if there is one, and the missed documents."""
        return {name: table_to_arrow(table) for name, table in self._tables().items()}

    def summary(self) -> Mapping[str, object]:
        """Return the measure, the query, the run, the value and the formula."""
        return {
            **name_measure(self.measure, self.written),
            "query": self.query,
            "run": self.run,
            "value": self.value,
            "empty": self.empty,
            "formula": None if self.formula is None else self.formula.text(digits=17),
            "beyond": self.beyond,
            "tied": self.tied,
            "unjudged": self.unjudged,
        }

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return the value, its formula, the tables without rows that add nothing, and what was omitted."""
        value = format_value(self.value, digits=display.digits)
        text = f" ({display.texts[self.query]})" if self.query in display.texts else ""
        label = self.written or self.measure
        yield Sentence(f"{label} of query {self.query}{text} in {self.run}: {value}")
        if self.formula is not None:
            yield Sentence(f"{label} = {self.formula.text(digits=display.digits)}")
        tables = self._tables()
        shown = {name: replace(table, rows=self._choose_rows(name)) for name, table in tables.items()}
        yield from (replace(table, title=TITLES[name]) for name, table in shown.items() if table.rows)
        hidden = {name: len(tables[name].rows) - len(table.rows) for name, table in shown.items()}
        facts = [f"{count:,} more {OMITTED[name]}" for name, count in hidden.items() if count]
        if self.beyond:
            results = "result" if self.beyond == 1 else "results"
            facts.append(f"{self.beyond:,} more {results} below, which add nothing")
        if self.empty:
            facts.append(f"an empty list would score {format_value(self.empty, digits=display.digits)}")
        if self.tied:
            facts.append(
                f"{self.tied:,} of these results share their score with others; the tie rule decided their order"
            )
        if self.unjudged:
            facts.append(
                f"{self.unjudged:,} of these results {'is' if self.unjudged == 1 else 'are'} unjudged"
            )
        yield from list_facts([*facts, *(note.message for note in self.notes if display.notes)])

    def _tables(self) -> dict[str, Table]:
        tables = {"ranking": self.ranking, "ideal": self.ideal, "missed": self.missed}
        return {name: table for name, table in tables.items() if table is not None}

    def _choose_rows(self, name: str) -> tuple[tuple[Value, ...], ...]:
        """Return the first rows of a table; of the ranking, after the first ranks, those that add something."""
        table = self._tables()[name]
        rows = table.rows
        if name == "ranking" and "adds" in table.columns:
            adds = table.columns.index("adds")
            rows = tuple(row for at, row in enumerate(rows) if at < MAX_FIRST or row[adds])
        return rows[:MAX_ROWS]
