"""What a comparison of systems has to say, as values and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from judged._optional import need
from judged.arrays import Floats
from judged.blocks import Table, Value
from judged.comparison.contrasts import Contrast, Mean
from judged.comparison.latency import Latency
from judged.comparison.settings import Settings
from judged.comparison.shared import Shared
from judged.comparison.slices import Interaction
from judged.engine.system_scores import Conventions
from judged.errors import UnknownName
from judged.stats.effects import queries_needed
from judged.stats.margin import Equivalence, equivalence_test
from judged.stats.outcome import Undefined
from judged.stats.paired import differences
from judged.stats.randomisation import EXACT_UP_TO

__all__ = ["Change", "Comparison", "Part"]

Part: TypeAlias = Literal["differences", "means", "queries", "interactions", "latency"]


class Change(NamedTuple):
    """What a query gained or lost."""

    query: str
    difference: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several systems on the same queries: means, differences, and how sure both are.

    It prints as a leaderboard; `to_arrow`, `to_polars` and `to_pandas` give its tables.
    """

    systems: tuple[str, ...]
    baselines: tuple[str, ...]
    """What the systems were compared with; empty: each with each."""
    settings: Settings
    scores: tuple[Shared, ...]
    """For each measure, the values of every system on the queries they share."""
    means: tuple[Mean, ...]
    contrasts: tuple[Contrast, ...]
    protocol: Conventions | None = None
    unit: str = "query"
    """What systems are compared on: queries, or tasks."""
    slices: Mapping[tuple[str, str], Comparison] = field(default_factory=dict)
    """The same by attribute and value."""
    interactions: tuple[Interaction, ...] = ()
    latencies: tuple[Latency, ...] = ()
    notes: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    """The systems as tables show them; empty: the best in the first measure first."""

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, as they are written."""
        return tuple(str(each.measure) for each in self.scores)

    @property
    def method(self) -> str:
        """How the comparison was made, in words."""
        queries = [len(each.queries) for each in self.scores]
        return self.settings.told(exact=max(queries) <= EXACT_UP_TO)

    def mean(self, system: str, measure: object = None) -> Mean:
        """The mean of one system, with its interval."""
        self._known(system)
        name = self._measure(measure)
        return next(each for each in self.means if (each.system, each.measure) == (system, name))

    def contrast(self, system: str, baseline: str | None = None, measure: object = None) -> Contrast:
        """What is to be said of one system against another; `baseline` may be left out where there is one."""
        name, other = self._measure(measure), baseline or self._baseline()
        for each in self.contrasts:
            if (each.system, each.baseline, each.measure) == (system, other, name):
                return each
        known = [f"{each.system} against {each.baseline}" for each in self.contrasts if each.measure == name]
        raise UnknownName("contrast", f"{system} against {other}", known)

    def differences(
        self, system: str, baseline: str | None = None, measure: object = None
    ) -> dict[str, float]:
        """The difference of every query, system minus baseline."""
        shared, d = self._differences(system, baseline, measure)
        return dict(zip(shared.queries, d.tolist(), strict=True))

    def most_helped(
        self, system: str, baseline: str | None = None, measure: object = None, *, count: int = 5
    ) -> list[Change]:
        """The queries that gained most, the greatest gain first."""
        return self._extremes(system, baseline, measure, count, 1)

    def most_hurt(
        self, system: str, baseline: str | None = None, measure: object = None, *, count: int = 5
    ) -> list[Change]:
        """The queries that lost most, the greatest loss first."""
        return self._extremes(system, baseline, measure, count, -1)

    def equivalence(
        self, system: str, baseline: str | None = None, measure: object = None, *, margin: float
    ) -> Equivalence | Undefined:
        """The two one-sided tests of whether the difference lies within the margin; small p speaks for that."""
        return equivalence_test(self._differences(system, baseline, measure)[1], margin=margin)

    def queries_needed(
        self,
        wanted: float,
        system: str,
        baseline: str | None = None,
        measure: object = None,
        *,
        power: float = 0.8,
    ) -> int | Undefined:
        """How many queries like these would show a mean difference of `wanted` with the given power."""
        d = self._differences(system, baseline, measure)[1]
        return queries_needed(d, wanted, power=power, alpha=self.settings.alpha)

    def table(self, part: Part = "differences") -> Table:
        """One of the tables, long, every number in full; slices follow the whole, with their attribute and value."""
        if part == "queries":
            by_column = self._query_columns()
            return Table(tuple(by_column), tuple(zip(*by_column.values(), strict=True)))
        rows = self._rows(part)
        if part in {"differences", "means"}:
            for (attribute, value), each in self.slices.items():
                inner = each.table(part)
                named = (dict(zip(inner.columns, row, strict=True)) for row in inner.rows)
                rows += [{**row, "attribute": attribute, "slice": value} for row in named]
        columns = tuple(dict.fromkeys(name for row in rows for name in row))
        return Table(columns, tuple(tuple(row.get(name) for name in columns) for row in rows))

    def to_arrow(self, part: Part = "differences") -> Any:
        """A table as an Arrow table."""
        import pyarrow as pa

        if part == "queries":
            return pa.table(self._query_columns())
        table = self.table(part)
        columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
        return pa.table(dict(zip(table.columns, map(_column, columns), strict=True)))

    def to_polars(self, part: Part = "differences") -> Any:
        """A table as a Polars data frame."""
        return need("polars", extra="polars", needed_by="`to_polars`").from_arrow(self.to_arrow(part))

    def to_pandas(self, part: Part = "differences") -> Any:
        """A table as a pandas data frame."""
        need("pandas", extra="pandas", needed_by="`to_pandas`")
        return self.to_arrow(part).to_pandas()

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything as plain data, as it is written in JSON."""
        told: dict[str, Any] = {
            "settings": {**self.settings.to_dict(), "alpha": self.settings.alpha},
            "systems": list(self.systems),
            "baselines": list(self.baselines),
            "measures": [
                {
                    "name": str(s.measure),
                    "higher_is_better": s.measure.higher_is_better,
                    "queries": len(s.queries),
                }
                for s in self.scores
            ],
            "means": [each.to_dict() for each in self.means],
            "differences": [each.to_dict() for each in self.contrasts],
        }
        if self.latencies:
            told["latency"] = [each.to_dict() for each in self.latencies]
        if self.slices:
            told["slices"] = [
                {"attribute": attribute, "value": value, **each.to_dict()}
                for (attribute, value), each in self.slices.items()
            ]
            told["interactions"] = [each.to_dict() for each in self.interactions]
        if self.notes:
            told["notes"] = list(self.notes)
        if per_query:
            queries = self.table("queries")
            told["per_query"] = [dict(zip(queries.columns, row, strict=True)) for row in queries.rows]
        return told

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for each system, in the order of the first measure: a to z, then aa, ab and so on."""
        return {system: letter(place) for place, system in enumerate(self.ranked())}

    def ranked(self) -> list[str]:
        """The systems in the order of tables: the best in the first measure first, in slices as in the whole."""
        if self.order:
            return list(self.order)
        first = self.scores[0]
        means = {each.system: each.mean for each in self.means if each.measure == str(first.measure)}
        return sorted(self.systems, key=lambda system: -first.sign * means[system])

    def beaten(self, system: str, measure: str) -> list[str]:
        """The systems that this one is significantly better than, by the corrected p-values."""
        sign = next(each.sign for each in self.scores if str(each.measure) == measure)
        found = []
        for each in self.contrasts:
            if each.measure == measure and each.significant(self.settings.alpha):
                better, worse = (each.system, each.baseline)[:: 1 if sign * each.difference > 0 else -1]
                found += [worse] if better == system else []
        return [other for other in self.letters if other in found]

    def picture(self) -> str:
        """The trade-off of accuracy, diversity and latency as an SVG; there must be timings."""
        from judged.comparison.trade_off import trade_off_picture

        return trade_off_picture(self)

    def __repr__(self) -> str:
        from judged.comparison.show import shown_as_text

        return shown_as_text(self)

    def _repr_html_(self) -> str:
        from judged.comparison.show import shown_as_html

        return shown_as_html(self)

    def _rows(self, part: str) -> list[dict[str, Value]]:
        """The rows of one of the tables, each as a dict."""
        if part == "differences":
            return self._difference_rows()
        if part == "interactions":
            return [{**each.to_dict(), "slices": each.written} for each in self.interactions]
        if part == "latency":
            return [each.to_dict() for each in self.latencies]
        if part != "means":
            raise UnknownName("table of a comparison", part, get_args(Part))
        return [each.to_dict() for each in self.means]

    def _difference_rows(self) -> list[dict[str, Value]]:
        means = {(each.measure, each.system): each for each in self.means}
        rows = []
        for each in self.contrasts:
            row = each.to_dict()
            head = {name: row.pop(name) for name in ("measure", "system", "baseline", "queries")}
            for role, system in (("mean", each.system), ("baseline_mean", each.baseline)):
                head[role] = means[each.measure, system].mean
            rows.append({**head, **row, "test": self.settings.test, "correction": self.settings.correction})
        return rows

    def _query_columns(self) -> dict[str, list[Any]]:
        """The table of queries by column; it may have millions of rows, which are never held as dicts."""
        names = ("measure", "query", "system", "baseline", "value", "baseline_value", "difference")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for each in self.contrasts:
            shared, d = self._differences(each.system, each.baseline, each.measure)
            first, second = (shared.systems.index(name) for name in (each.system, each.baseline))
            texts = [[name] * len(d) for name in (each.system, each.baseline)]
            numbers = [each.tolist() for each in (shared.values[:, first], shared.values[:, second], d)]
            parts = ([each.measure] * len(d), shared.queries, *texts, *numbers)
            for name, part in zip(names, parts, strict=True):
                columns[name] += part
        return columns

    def _extremes(
        self, system: str, baseline: str | None, measure: object, count: int, sign: int
    ) -> list[Change]:
        """The queries that changed most in one direction; those that did not change are none of them."""
        shared, d = self._differences(system, baseline, measure)
        better = sign * shared.sign * d
        order = np.argsort(-better, kind="stable")[:count].tolist()
        return [Change(shared.queries[at], float(d[at])) for at in order if better[at] > 0]

    def _differences(self, system: str, baseline: str | None, measure: object) -> tuple[Shared, Floats]:
        other = baseline or self._baseline()
        self._known(system)
        self._known(other)
        name = self._measure(measure)
        shared = next(each for each in self.scores if str(each.measure) == name)
        first, second = (shared.values[:, self.systems.index(each)] for each in (system, other))
        return shared, differences(first, second)

    def _known(self, system: str) -> None:
        if system not in self.systems:
            raise UnknownName("system", system, self.systems)

    def _baseline(self) -> str:
        if len(self.baselines) != 1:
            told = "say which with `baseline=…`"
            raise UnknownName("single baseline", ", ".join(self.baselines) or "none", self.systems, hint=told)
        return self.baselines[0]

    def _measure(self, measure: object) -> str:
        name = self.measures[0] if measure is None else str(measure)
        if name not in self.measures:
            raise UnknownName("measure of this comparison", name, self.measures)
        return name


def letter(place: int) -> str:
    """The letters of a place, from 0.

    >>> letter(0), letter(25), letter(26), letter(27), letter(52)
    ('a', 'z', 'aa', 'ab', 'ba')
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def _column(values: Sequence[Any]) -> Any:
    """The values of a column in one type: whole numbers beside others become floats."""
    import pyarrow as pa

    if any(isinstance(value, float) for value in values):
        return pa.array([float(value) if isinstance(value, int) else value for value in values])
    return pa.array(list(values))
