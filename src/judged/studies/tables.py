"""Decisions of a pipeline, query by query: which expert it chose, whether it retrieved, what reranking changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats
from judged.errors import Unusable
from judged.io.table import Table, read_table
from judged.problem import Problem, Problems
from judged.tables.columns import Column, as_ids, as_values, check_lengths, to_numpy
from judged.tables.inputs import Frame
from judged.tables.schema import QUERY_COLUMNS, Field, Schema


class Keys(NamedTuple):
    """The query and the system of each row, with the name of the table and the problems found so far."""

    queries: tuple[str, ...]
    owners: tuple[str, ...]
    name: str
    problems: Problems


@dataclass(frozen=True, eq=False)
class _Rows:
    """Base of all tables of decisions: the system and the query of each row."""

    queries: tuple[str, ...]
    owners: tuple[str, ...]
    """The system that each row belongs to."""
    name: str = "decisions"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system, in the order in which they first occur."""
        return tuple(dict.fromkeys(self.owners))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}: {len(self):,} of {', '.join(self.systems)})"


@dataclass(frozen=True, eq=False, repr=False)
class Choices(_Rows):
    """A row for each query of a router: the expert it chose, the optimal one, and the quality of each if known.

    Make one with `from_columns`, or read one with `judged.evaluate_routing`.
    """

    family: ClassVar[str] = "routing"

    chosen: tuple[str, ...] = ()
    optimal: tuple[str | None, ...] = ()
    """The optimal expert; None where the qualities say it."""
    ranked: tuple[tuple[str, ...], ...] = ()
    """The experts in the router's order, best first; empty where it is not known."""
    quality: Mapping[str, Floats] = field(default_factory=dict)
    """For each expert the value of a measure on each query; NaN where it is not known."""

    @classmethod
    def from_columns(
        cls,
        query: Column,
        chosen: Column,
        *,
        optimal: Column = None,
        ranked: Sequence[Sequence[str]] | None = None,
        quality: Mapping[str, Column] | None = None,
        system: Column = None,
        name: str = "router",
    ) -> Choices:
        """Return choices of columns; the optimal expert is given, or is the one of the highest quality.

        >>> Choices.from_columns(["q1", "q2"], ["dense", "bm25"], optimal=["dense", "dense"])
        Choices(router: 2 of router)
        """
        keys = _read_keys(query, system, name, Problems(name))
        return cls.from_keys(keys, chosen, optimal=optimal, ranked=ranked, quality=quality)

    @classmethod
    def from_keys(
        cls,
        keys: Keys,
        chosen: Column,
        *,
        optimal: Column = None,
        ranked: Sequence[Sequence[str]] | None = None,
        quality: Mapping[str, Column] | None = None,
    ) -> Choices:
        """Return choices whose queries and systems were read before."""
        found = keys.problems
        picks = tuple(as_ids(chosen, name="chosen", problems=found)[0].to_pylist())
        known = {} if quality is None else quality
        values = {
            str(expert): to_numpy(as_values(column, name=f"quality of {expert}", problems=found))
            for expert, column in known.items()
        }
        best: tuple[str | None, ...] = (None,) * len(picks)
        if optimal is not None:
            best = tuple(as_ids(optimal, name="optimal", problems=found, nullable=True)[0].to_pylist())
        orders = tuple(() if not order else tuple(order) for order in ranked or [()] * len(picks))
        _check_choices(picks, best, values, found)
        check_lengths(
            {"query": keys.queries, "chosen": picks, "optimal": best, "ranked": orders, **values},
            found.subject,
        )
        found.raise_if_any(error=Unusable)
        return cls(keys.queries, keys.owners, keys.name, (), picks, best, orders, values)

    @property
    def experts(self) -> tuple[str, ...]:
        """Every expert that is chosen, optimal, ranked or has a quality, by name."""
        named = {one for order in self.ranked for one in order} | set(self.quality) | set(self.chosen)
        return tuple(sorted(named | {one for one in self.optimal if one is not None}))

    def with_quality(self, quality: Mapping[str, Mapping[str, float]]) -> Choices:
        """Return the choices with the value of each expert on each query, which then says what is optimal."""
        values = {
            expert: np.array([by_query.get(query, np.nan) for query in self.queries], dtype=np.float64)
            for expert, by_query in quality.items()
        }
        problems = Problems(self.name)
        nothing = (None,) * len(self)
        _check_choices(self.chosen, nothing, values, problems)
        problems.raise_if_any(error=Unusable)
        return Choices(
            self.queries, self.owners, self.name, self.notes, self.chosen, nothing, self.ranked, values
        )

    def best_quality(self) -> Floats:
        """Return the highest quality of each query; NaN where no expert has one."""
        if not self.quality:
            return np.full(len(self), np.nan)
        best: Floats = np.fmax.reduce(list(self.quality.values()))
        return best

    def chosen_quality(self) -> Floats:
        """Return the quality of the expert chosen for each query; NaN where it is not known."""
        if not self.quality:
            return np.full(len(self), np.nan)
        return np.array([self.quality[one][row] for row, one in enumerate(self.chosen)])

    def find_optimal(self) -> tuple[str | None, ...]:
        """Return the optimal expert of each query: the given one, else the best; of equally good ones the chosen."""
        best = self.best_quality()
        found = []
        for row, given in enumerate(self.optimal):
            good = [one for one, values in self.quality.items() if values[row] == best[row]]
            pick = self.chosen[row] if self.chosen[row] in good else next(iter(good), None)
            found.append(pick if given is None else given)
        return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class SkipDecisions(_Rows):
    """A row for each query of a skip policy: whether it retrieved, and whether it had to."""

    family: ClassVar[str] = "skipping"

    retrieved: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    needed: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """Whether the query needed retrieval."""
    quality_retrieved: Floats = field(default_factory=lambda: np.zeros(0))
    """The quality of the answer with retrieval; NaN where it is not known."""
    quality_skipped: Floats = field(default_factory=lambda: np.zeros(0))
    """The quality of the answer without retrieval; NaN where it is not known."""

    @classmethod
    def from_columns(
        cls,
        query: Column,
        retrieved: Sequence[object],
        *,
        needed: Sequence[object] | None = None,
        quality_retrieved: Column = None,
        quality_skipped: Column = None,
        system: Column = None,
        name: str = "policy",
    ) -> SkipDecisions:
        """Return decisions of columns; without `needed`, retrieval is needed where it raises the quality.

        >>> SkipDecisions.from_columns(["q1", "q2"], [True, False], needed=[True, False])
        SkipDecisions(policy: 2 of policy)
        """
        keys = _read_keys(query, system, name, Problems(name))
        return cls.from_keys(
            keys,
            retrieved,
            needed=needed,
            quality_retrieved=quality_retrieved,
            quality_skipped=quality_skipped,
        )

    @classmethod
    def from_keys(
        cls,
        keys: Keys,
        retrieved: Sequence[object],
        *,
        needed: Sequence[object] | None = None,
        quality_retrieved: Column = None,
        quality_skipped: Column = None,
    ) -> SkipDecisions:
        """Return decisions whose queries and systems were read before."""
        found = keys.problems
        did = _read_flags(retrieved, "retrieved", found)
        nothing = [None] * len(keys.queries)
        qualities = [
            to_numpy(as_values(nothing if column is None else column, name=field_name, problems=found))
            for field_name, column in (
                ("quality_retrieved", quality_retrieved),
                ("quality_skipped", quality_skipped),
            )
        ]
        if needed is None:
            unknown = np.flatnonzero(np.isnan(qualities[0]) | np.isnan(qualities[1]))
            words = "neither whether retrieval was needed nor both qualities, expected one of these"
            found.add_rows("no-truth", unknown, lambda _: f"has {words}")
            had = qualities[0] > qualities[1]
        else:
            had = _read_flags(needed, "needed", found)
        check_lengths({"query": keys.queries, "retrieved": did, "needed": had}, found.subject)
        found.raise_if_any(error=Unusable)
        return cls(keys.queries, keys.owners, keys.name, (), did, had, *qualities)


@dataclass(frozen=True, eq=False, repr=False)
class Reranking(_Rows):
    """A row for each query: the value of a measure before and after reranking."""

    family: ClassVar[str] = "reranking"

    before: Floats = field(default_factory=lambda: np.zeros(0))
    after: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def from_columns(
        cls,
        query: Column,
        before: Column,
        after: Column,
        *,
        system: Column = None,
        name: str = "reranker",
    ) -> Reranking:
        """Return values of columns; every query has both.

        >>> Reranking.from_columns(["q1", "q2"], [0.5, 0.25], [0.75, 0.25])
        Reranking(reranker: 2 of reranker)
        """
        return cls.from_keys(_read_keys(query, system, name, Problems(name)), before, after)

    @classmethod
    def from_keys(cls, keys: Keys, before: Column, after: Column) -> Reranking:
        """Return values whose queries and systems were read before."""
        found, values = keys.problems, []
        for field_name, column in (("before", before), ("after", after)):
            read = to_numpy(as_values(column, name=field_name, problems=found))
            for row in np.flatnonzero(np.isnan(read)).tolist():
                found.add("missing-value", row, f"{field_name} is missing, expected a number")
            values.append(read)
        check_lengths({"query": keys.queries, "before": values[0], "after": values[1]}, found.subject)
        found.raise_if_any(error=Unusable)
        return cls(keys.queries, keys.owners, keys.name, (), *values)


Decisions: TypeAlias = Choices | SkipDecisions | Reranking


def _read_keys(query: Column, system: Column, name: str, problems: Problems) -> Keys:
    """Return the query and the system of each row; a query that a system has twice is a problem."""
    queries = tuple(as_ids(query, name="query", problems=problems)[0].to_pylist())
    if not queries:
        raise Unusable(problems.subject, [Problem.error("empty", "rows", "none, expected decisions")])
    owners = (name,) * len(queries)
    if system is not None:
        owners = tuple(as_ids(system, name="system", problems=problems)[0].to_pylist())
    seen: dict[tuple[str, str], int] = {}
    for row, key in enumerate(zip(owners, queries, strict=False)):
        first = seen.setdefault(key, row)
        if first != row:
            message = f"query `{key[1]}` of {key[0]} has a row already, first at {problems.place(first)}"
            problems.add("repeated-query", row, message)
    return Keys(queries, owners, name, problems)


def _check_choices(
    chosen: Sequence[str], optimal: Sequence[str | None], quality: Mapping[str, Floats], problems: Problems
) -> None:
    """Add problems for rows without a truth, and for choices that have no quality."""
    for row, one in enumerate(chosen):
        if optimal[row] is None and all(np.isnan(values[row]) for values in quality.values()):
            problems.add("no-truth", row, "names no optimal expert and no quality, expected one of these")
        elif quality and one not in quality:
            known = ", ".join(quality)
            problems.add(
                "no-quality", row, f"expert `{one}` was chosen and has no quality, expected one of {known}"
            )


_TRUE = frozenset({"true", "yes", "1", "1.0", "retrieve", "retrieved", "t", "y"})
_FALSE = frozenset({"false", "no", "0", "0.0", "skip", "skipped", "f", "n"})


def _read_flags(values: Sequence[object], name: str, problems: Problems) -> Flags:
    """Return flags of booleans, 0 and 1, or words; anything else is a problem."""
    found = np.zeros(len(values), dtype=bool)
    for row, value in enumerate(values):
        word = str(value).strip().lower()
        found[row] = word in _TRUE
        if word not in _TRUE | _FALSE:
            got = "missing" if value is None or word == "" else f"`{value}`"
            problems.add("not-a-flag", row, f"{name} is {got}, expected true or false")
    return found


DECISIONS = Schema(
    "decisions",
    (
        Field("query", QUERY_COLUMNS),
        Field("system", ("system", "router", "policy", "gate", "reranker", "run", "variant"), required=False),
        Field("chosen", ("chosen", "choice", "route", "routed_to", "expert", "predicted"), required=False),
        Field("optimal", ("optimal", "optimal_expert", "best", "gold", "expected"), required=False),
        Field("before", ("before", "baseline", "original"), "value", required=False),
        Field("after", ("after", "reranked"), "value", required=False),
        Field("quality_retrieved", ("quality_retrieved", "quality_with"), "value", required=False),
        Field("quality_skipped", ("quality_skipped", "quality_without"), "value", required=False),
    ),
    nested=("query", "decision"),
    open=True,
    error=Unusable,
)
"""Decisions of a router, a skip policy or a reranker. Of a skip policy, `retrieved` (or `skipped`) and `needed` are flags; of a router,
`ranked` lists experts, and columns `quality:NAME` and `score:NAME` hold the quality and the score of an expert."""

SPANS = Schema(
    "spans",
    (
        Field("query", QUERY_COLUMNS),
        Field("document", ("document", "doc_id", "document_id", "corpus-id", "docno", "doc", "id")),
        Field("start", ("start", "start_index", "begin", "offset"), "value", required=False),
        Field("end", ("end", "end_index", "stop"), "value", required=False),
        Field("text", ("text", "passage", "span", "evidence", "content"), "text", required=False),
        Field(
            "grade", ("grade", "relevance", "rel", "label", "score"), "number", default=1.0, required=False
        ),
    ),
    nested=("query", "document", "text"),
    merge=True,
)
"""Judgments of passages: offsets in the text of a document, or the text of the passage."""

DecisionsLike: TypeAlias = Decisions | Frame


def read_decisions(source: DecisionsLike, *, name: str | None = None) -> Decisions:
    r"""Return the decisions of a router, a skip policy or a reranker, by the columns of a file, a data frame or rows.

    A router has `query`, `chosen` and `optimal` or a quality of each expert (`quality:NAME`); a skip policy `query`,
    `retrieved` and `needed`; a reranker `query`, `before` and `after`.

    >>> read_decisions(b"query,chosen,optimal\nq1,dense,bm25\n", name="router")
    Choices(router: 1 of router)
    """
    if isinstance(source, Choices | SkipDecisions | Reranking):
        return source if name is None else replace(source, name=name)
    table = read_table(source, DECISIONS, name=name)
    query, system = table.columns["query"], table.columns.get("system")
    read_keys = partial(_read_keys, query, system, table.name, table.problems)
    columns = {column.strip().lower(): values for column, values in table.others.items()}
    if "chosen" in table.columns:
        return Choices.from_keys(
            read_keys(),
            table.columns["chosen"],
            optimal=table.columns.get("optimal"),
            ranked=_read_ranked(table, columns),
            quality=_read_prefixed(table, "quality"),
        )
    if "before" in table.columns and "after" in table.columns:
        return Reranking.from_keys(read_keys(), table.columns["before"], table.columns["after"])
    retrieved = _find_flags(columns, ("retrieved", "retrieve", "decision"), ("skipped", "skip"))
    if retrieved is None:
        message = "neither `chosen`, nor `retrieved`, nor `before` and `after` among them"
        hint = "a router has query, chosen, optimal; a skip policy query, retrieved, needed; a reranker query, before, after"
        problem = Problem.error("missing-column", "columns", message)
        raise Unusable(table.problems.subject, [problem], hint=hint)
    needed = _find_flags(
        columns, ("needed", "should_retrieve", "needs_retrieval", "retrieval_needed"), ("unneeded",)
    )
    return SkipDecisions.from_keys(
        read_keys(),
        retrieved,
        needed=needed,
        quality_retrieved=table.columns.get("quality_retrieved"),
        quality_skipped=table.columns.get("quality_skipped"),
    )


def _find_flags(
    columns: Mapping[str, list[object]], names: tuple[str, ...], opposites: tuple[str, ...]
) -> list[object] | None:
    """Return the first of the columns that is there; one of the opposites is turned round."""
    for name in names:
        if name in columns:
            return columns[name]
    turned = {"true": "false", "false": "true", "1": "0", "0": "1", "yes": "no", "no": "yes"}
    for name in opposites:
        if name in columns:
            return [turned.get(str(value).strip().lower(), value) for value in columns[name]]
    return None


def _read_prefixed(table: Table, prefix: str) -> dict[str, list[object]]:
    """Return the columns `prefix:NAME`, `prefix.NAME` or `prefix_NAME`, by name."""
    return {
        column.strip()[len(prefix) + 1 :]: values
        for column, values in table.others.items()
        if column.strip().lower().startswith((f"{prefix}:", f"{prefix}.", f"{prefix}_"))
    }


def _read_ranked(table: Table, columns: Mapping[str, list[object]]) -> list[list[str]] | None:
    """Return the experts of each row, best first: of a list, of text with `|` or spaces, or by their scores."""
    given = columns.get("ranked", columns.get("ranking"))
    if given is not None:
        return [
            [str(one) for one in row] if isinstance(row, list) else str(row or "").replace("|", " ").split()
            for row in given
        ]
    scores = {
        name: as_values(column, name=f"score of {name}", problems=table.problems).to_pylist()
        for name, column in _read_prefixed(table, "score").items()
    }
    if not scores:
        return None
    return [
        _sort_experts({name: values[row] for name, values in scores.items()}) for row in range(len(table))
    ]


def _sort_experts(scores: Mapping[str, float]) -> list[str]:
    """Return experts from the highest score down, equal ones by name; those without a score are left out."""
    known = [name for name, score in scores.items() if not np.isnan(score)]
    return sorted(known, key=lambda name: (-scores[name], name))
