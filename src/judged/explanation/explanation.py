"""`Explanation`: one number of one query, rank by rank, with its formula filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from judged.blocks import Table, format_value
from judged.explanation import explained
from judged.explanation.working import Formula
from judged.measures.measure import Measure
from judged.protocol import Protocol

__all__ = ["Explanation"]

FIRST, MOST = 20, 50
"""So many ranks are shown whatever they hold, and so many rows in all."""
_TITLES = {
    "ranking": "The ranking",
    "ideal": "The best order of the judged documents",
    "missed": "Relevant, and not in the ranking",
}
_COUNTED = {
    "ranking": "ranks above the last that matters",
    "ideal": "judged documents in the best order",
    "missed": "relevant documents that are not in the ranking",
}


@dataclass(frozen=True, eq=False)
class Explanation:
    """How one query came by its value: what every rank adds, what was missed, and the formula filled in.

    >>> import judged
    >>> told = judged.explain({"q1": {"a": 1, "b": 1}}, {"q1": {"a": 2.0, "x": 1.0}}, "AP", query="q1")
    >>> told.value, told.rows[0]["adds"], told.formula.text()
    (0.5, 0.5, 'sum of the terms / relevant = 1.0000 / 2 = 0.5000')
    """

    measure: Measure
    protocol: Protocol
    run: str
    query: str
    value: float | str
    """The value of the query, as `judged.evaluate` gives it; text for the few measures that are."""
    ranking: Table
    """A row for each rank that matters: rank, document, score, grade, note, the working, and `adds`."""
    missed: Table
    """Relevant documents that stand nowhere in the ranking."""
    ideal: Table | None = None
    """The best order, for measures that know one."""
    formula: Formula | None = None
    empty: float = 0.0
    """What a list without results would score: `adds` and this sum up to the value."""
    beyond: int = 0
    """How many results stand below the last row, adding nothing."""
    notes: tuple[str, ...] = ()
    tables: Mapping[str, Table] = field(init=False)
    """Every table by name."""

    def __post_init__(self) -> None:
        every = {"ranking": self.ranking, "ideal": self.ideal, "missed": self.missed}
        known = {name: table for name, table in every.items() if table is not None}
        object.__setattr__(self, "tables", known)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the ranking, each as a dict from column to value."""
        return explained.plain(self.ranking)

    def headline(self, *, digits: int = 4) -> str:
        """The measure, the query, the run and the value."""
        return (
            f"{self.measure} of query {self.query} in {self.run}: {format_value(self.value, digits=digits)}"
        )

    def shown(self, *, digits: int = 4) -> list[Table]:  # noqa: ARG002 - every explanation is asked so
        """The tables without the rows that add nothing, where they are long."""
        return list(self._short().values())

    def sentences(self, *, digits: int = 4) -> list[str]:
        """What is left out above, what was noticed, and the formula filled in."""
        short = self._short()
        hidden = {name: len(self.tables[name].rows) - len(table.rows) for name, table in short.items()}
        told = [f"{count:,} more {_COUNTED[name]}" for name, count in hidden.items() if count]
        if self.beyond:
            told.append(
                f"{self.beyond:,} more {'result' if self.beyond == 1 else 'results'} below, adding nothing"
            )
        told += self.notes
        if self.empty:
            told.append(f"a list without results would score {format_value(self.empty, digits=digits)}")
        return [*told, *([f"{self.measure} = {self.formula.text(digits=digits)}"] if self.formula else [])]

    def _short(self) -> dict[str, Table]:
        """The tables that hold something, with the first rows, and of the ranking those that add something."""
        adds = self.ranking.columns.index("adds") if "adds" in self.ranking.columns else None
        short = {}
        for name, table in self.tables.items():
            rows = table.rows
            if name == "ranking" and adds is not None:
                rows = tuple(row for at, row in enumerate(rows) if at < FIRST or row[adds])
            if rows:
                short[name] = replace(table, rows=rows[:MOST], title=_TITLES[name])
        return short

    def to_dict(self) -> dict[str, Any]:
        """The explanation as it is format_value in JSON."""
        formula = self.formula
        return {
            "measure": str(self.measure),
            "query": self.query,
            "run": self.run,
            "protocol": {"fingerprint": self.protocol.fingerprint, **self.protocol.to_dict()},
            "value": self.value,
            "empty": self.empty,
            "formula": None if formula is None else formula.text(digits=17),
            "notes": list(self.notes),
            "beyond": self.beyond,
            **{name: explained.records(table) for name, table in self.tables.items()},
        }

    def to_arrow(self, table: Literal["ranking", "ideal", "missed"] = "ranking") -> Any:
        """One of the tables as an Arrow table."""
        return explained.to_arrow(self.tables[table])

    def to_polars(self, table: Literal["ranking", "ideal", "missed"] = "ranking") -> Any:
        """One of the tables as a Polars data frame."""
        return explained.to_polars(self.tables[table])

    def to_pandas(self, table: Literal["ranking", "ideal", "missed"] = "ranking") -> Any:
        """One of the tables as a pandas data frame."""
        return explained.to_pandas(self.tables[table])

    def __str__(self) -> str:
        return explained.as_text(self)

    __repr__ = __str__
