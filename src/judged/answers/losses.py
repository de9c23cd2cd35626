"""`attribute_losses`: which nuggets retrieval lost, and which generation lost, by system and by query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
import pyarrow as pa

from judged.answers.reading.labels import read_nugget_judgments
from judged.arrays import Floats
from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value, query_table
from judged.errors import BadInput, BadMeasure, UnknownName
from judged.io.read import read_run
from judged.problem import Note, Problem
from judged.protocol import Protocol
from judged.result import Provenance, Result, observe_files, tabulate
from judged.scoring.locate import locate_judged
from judged.stats.intervals import Interval, mean_interval
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, Undefined
from judged.tables.inputs import RunLike
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.wording import counted

if TYPE_CHECKING:
    from judged.answers.evaluate import LabelledInputs
    from judged.answers.family import LabelledAnswers

SHARES = {
    "retrieved_said": "retrieved and said",
    "retrieved_unsaid": "retrieved, not said",
    "unretrieved_said": "said, not retrieved",
    "neither": "neither",
}
"""The four shares by name, in words."""
Importance = Literal["all", "vital"]


@dataclass(frozen=True, slots=True)
class QueryLosses:
    """The four shares of the nuggets of one query."""

    system: str
    query: str
    nuggets: int
    retrieved_said: float
    retrieved_unsaid: float
    unretrieved_said: float
    neither: float


@dataclass(frozen=True, slots=True)
class SystemLosses:
    """The four shares of one system: means over queries, with NaN for the ends of an interval that does not exist."""

    system: str
    queries: int
    nuggets: int
    retrieved_said: Interval
    retrieved_unsaid: Interval
    """Nuggets that generation lost: the most that better generation could add to recall."""
    unretrieved_said: Interval
    neither: Interval
    """Nuggets that retrieval lost: the most that better retrieval could add to recall."""
    use: float
    """Share of the retrieved nuggets that are said; NaN without any."""

    @property
    def recall(self) -> float:
        """The recall of nuggets: what is said, retrieved or not."""
        return self.retrieved_said.mean + self.unretrieved_said.mean


@dataclass(frozen=True, eq=False, repr=False)
class LossReport(Result):
    """Where nuggets were lost: `report["bot"].neither` is the share that retrieval lost."""

    kind: ClassVar[str] = "losses"

    systems: tuple[SystemLosses, ...]
    queries: tuple[QueryLosses, ...]
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def __getitem__(self, system: str) -> SystemLosses:
        """Return the shares of one system."""
        found = {row.system: row for row in self.systems}
        if system not in found:
            raise UnknownName("system", system, list(found))
        return found[system]

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the shares of every system with their intervals, and those of every query."""
        return {
            "losses": tabulate(list(self._list_shares())),
            "queries_lost": tabulate(list(map(_to_row, self.queries))),
        }

    def _list_shares(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system and share."""
        for row in self.systems:
            for name in SHARES:
                share: Interval = getattr(row, name)
                yield {
                    "system": row.system,
                    "share": name,
                    "mean": share.mean,
                    "low": None if isnan(share.low) else share.low,
                    "high": None if isnan(share.high) else share.high,
                    "level": share.level,
                    "queries": row.queries,
                    "nuggets": row.nuggets,
                    "use": row.use,
                }

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return which part loses more, the four shares, and those of every query if they are asked for."""
        for row in self.systems:
            retrieval, generation = row.neither.mean, row.retrieved_unsaid.mean
            yield Sentence(
                f"{row.system}: recall {row.recall:.{display.digits}f}; better retrieval could add at most "
                f"{retrieval:.{display.digits}f}, better generation {generation:.{display.digits}f}"
            )
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (row.system, *(_to_estimate(getattr(row, name), row.queries) for name in SHARES), row.use)
            for row in self.systems
        )
        yield Table(
            ("system", *SHARES.values(), "said of retrieved"), rows, title="Nuggets, by retrieval and answer"
        )
        if display.per_query:
            for row in self.systems:
                own = [one for one in self.queries if one.system == row.system]
                columns = {words: [getattr(one, name) for one in own] for name, words in SHARES.items()}
                yield query_table("query", [one.query for one in own], columns, display, title=row.system)
        if display.notes and self.notes:
            yield Notes(self.notes)


def _to_row(row: QueryLosses) -> dict[str, Value]:
    return {name: getattr(row, name) for name in QueryLosses.__dataclass_fields__}


def _to_estimate(share: Interval, queries: int) -> Estimate:
    if isnan(share.low):
        return Estimate(share.mean, reason=str(ONE_QUERY if queries == 1 else NO_SPREAD))
    return Estimate(share.mean, share.low, share.high)


def attribute_losses(
    responses: Any,
    *,
    labels: Any,
    run: RunLike | Mapping[str, RunLike],
    judgments: Any,
    nuggets: Any = None,
    importance: Importance = "all",
    strict: bool = False,
    depth: int | None = None,
    rel: float = 1,
    level: float = 0.95,
    name: str | None = None,
) -> LossReport:
    """Say for each nugget whether a retrieved document has it, and whether the answer does.

    `responses`, `nuggets` and `labels` are as in `judged.evaluate_answers`. `run` has what each system retrieved: one run for
    all, or a dict from system to its run. `judgments` says which document has which nugget: judgments by intent, the
    intents being nuggets (in TREC's format the second column), where a grade of at least `rel` says that it does. `depth`
    is the number of results that the systems passed on; by default all of the run. With `strict`, a nugget that is
    supported in part is not said; else it is half said. `importance` may limit the nuggets to the vital ones.

    >>> losses = attribute_losses(
    ...     {"bot": {"q1": "Cats purr."}},
    ...     labels=[{"query": "q1", "nugget": "n1", "label": "support"}, {"query": "q1", "nugget": "n2", "label": "not_support"}],
    ...     run={"q1": ["d1"]},
    ...     judgments=[{"query": "q1", "intent": nugget, "document": "d1", "grade": 1} for nugget in ("n1", "n2")],
    ... )
    >>> losses["bot"].retrieved_said.mean, losses["bot"].retrieved_unsaid.mean, losses["bot"].neither.mean
    (0.5, 0.5, 0.0)
    """
    from judged.answers.evaluate import LabelledInputs, list_label_sources

    given: Mapping[Any, Any] = cast("Mapping[Any, Any]", run) if _is_by_system(run) else {None: run}
    runs = [(None if key is None else str(key), source) for key, source in given.items()]
    inputs = observe_files(
        [
            ("responses", responses),
            ("nuggets", nuggets),
            *(("labels", source) for _, source in list_label_sources(labels)),
            *(("run", source) for _, source in runs),
            ("judgments", judgments),
        ]
    )
    answers = LabelledInputs.read(responses, nuggets=nuggets, labels=labels, references=None, name=name)
    judged = read_nugget_judgments(judgments)
    tables = {key: read_run(source) for key, source in runs}
    found = attribute(
        answers, tables, judged, importance=importance, strict=strict, depth=depth, rel=rel, level=level
    )
    return LossReport(
        found.systems,
        found.queries,
        found.notes,
        Provenance(inputs=inputs, settings=found.provenance.settings),
    )


def _is_by_system(run: object) -> bool:
    """Return whether a dict has runs by system: each is a file, a run or a dict of its own queries."""
    return isinstance(run, Mapping) and all(
        isinstance(value, str | Run)
        or (
            isinstance(value, Mapping)
            and all(isinstance(item, list | tuple | Mapping) for item in value.values())
        )
        for value in run.values()
    )


def attribute(
    answers: LabelledInputs,
    runs: Mapping[str | None, Run],
    judgments: Judgments,
    *,
    importance: Importance = "all",
    strict: bool = False,
    depth: int | None = None,
    rel: float = 1,
    level: float = 0.95,
) -> LossReport:
    """Return the four shares of answers that were read."""
    _check(answers, runs, judgments, importance)
    systems: list[SystemLosses] = []
    queries: list[QueryLosses] = []
    notes: list[Note] = []
    names = {
        query: {**{nugget.text: key for key, nugget in known.items()}, **{key: key for key in known}}
        for query, known in answers.truth.nuggets.items()
    }
    holders = _find_holders(judgments, names, rel)
    notes += _note_holders(answers, holders, importance)
    for system in answers.systems:
        run = runs.get(system.name, runs.get(None))
        assert run is not None  # noqa: S101 - `_check` has seen to it
        found, judged = _find_retrieved(judgments, run, holders, depth)
        notes += _note_system(answers, system, run, judged, depth)
        own = list(_list_queries(answers, system, found, importance, strict=strict))
        if not own:
            msg = f"no query of {system.name} has nuggets to attribute"
            raise BadMeasure(msg)
        queries += own
        systems.append(_summarise(system.name, own, level))
    settings = {"importance": importance, "strict": strict, "depth": depth, "rel": rel, "level": level}
    return LossReport(tuple(systems), tuple(queries), tuple(notes), Provenance(settings=settings))


def _check(
    answers: LabelledInputs, runs: Mapping[str | None, Run], judgments: Judgments, importance: Importance
) -> None:
    problems = []
    if judgments.intents is None:
        message = (
            "says nothing of nuggets, expected an intent in each row that is the id or the text of a nugget"
        )
        problems.append(Problem.error("no-intents", judgments.name, message))
    if not any(answers.truth.nuggets.values()):
        problems.append(Problem.error("no-nuggets", "labels", "hold no nuggets, expected labels of nuggets"))
    if None not in runs:
        problems += [
            Problem.error(
                "no-run",
                f"system `{system.name}`",
                f"has no run, there are {', '.join(f'`{name}`' for name in runs)}",
            )
            for system in answers.systems
            if system.name not in runs
        ]
    if problems:
        raise BadInput("retrieval and answers", problems)
    if importance == "vital" and not any(
        nugget.importance == "vital" for known in answers.truth.nuggets.values() for nugget in known.values()
    ):
        msg = "no nugget is vital, and `importance` is `vital`"
        raise BadMeasure(msg)


Holders = dict[int, list[tuple[str, str]]]
"""For each row of the judgments, the queries and nuggets that the document has."""


def _find_holders(judgments: Judgments, names: Mapping[str, Mapping[str, str]], rel: float) -> Holders:
    """Return the nuggets that each judged document has; raise `BadInput` for one that no list has."""
    assert judgments.intents is not None  # noqa: S101 - `_check` has seen to it
    intents = judgments.intents
    queries = judgments.table["query"].to_pylist()
    holders: Holders = {}
    unknown: dict[tuple[str, str], None] = {}
    for row, intent, grade in zip(
        *(intents[name].to_pylist() for name in ("row", "intent", "grade")), strict=True
    ):
        query = queries[row]
        if query not in names:
            continue
        nugget = names[query].get(intent)
        if nugget is None:
            unknown[query, intent] = None
        elif grade >= rel:
            holders.setdefault(row, []).append((query, nugget))
    if unknown:
        problems = [
            Problem.error("unknown-nugget", f"query `{query}`", f"`{intent}` is not in the list of nuggets")
            for query, intent in unknown
        ]
        raise BadInput(
            judgments.name, problems, hint="the intent of a judgment is the id or the text of a nugget"
        )
    return holders


def _note_holders(answers: LabelledInputs, holders: Holders, importance: Importance) -> Iterator[Note]:
    known = {pair for pairs in holders.values() for pair in pairs}
    every = {
        (query, key)
        for query, nuggets in answers.truth.nuggets.items()
        for key, nugget in nuggets.items()
        if importance == "all" or nugget.importance == "vital"
    }
    without = len(every - known)
    if without:
        message = f"{without:,} of {counted(len(every), 'nugget')} are in no judged document: they count as not retrieved"
        yield Note("nuggets-nowhere", "warning", message)


def _find_retrieved(
    judgments: Judgments, run: Run, holders: Holders, depth: int | None
) -> tuple[set[tuple[str, str]], Counter[str]]:
    """Return the queries and nuggets that the retrieved documents have, and the number of judged ones of each query."""
    ranks = locate_judged(judgments, run, Protocol(), threads=1).ranks
    within = ranks.rank > 0 if depth is None else (ranks.rank > 0) & (ranks.rank <= depth)
    rows = ranks.row[within].tolist()
    queries = judgments.table["query"]
    judged = Counter(queries.take(pa.array(rows, type=pa.int64())).to_pylist())
    return {pair for row in rows for pair in holders.get(row, ())}, judged


def _note_system(
    answers: LabelledInputs, system: LabelledAnswers, run: Run, judged: Counter[str], depth: int | None
) -> Iterator[Note]:
    """Yield notes on what counts as not retrieved, or as not said, because it has no judgment or label."""
    asked = {query for query, nuggets in answers.truth.nuggets.items() if nuggets}
    retrieved = Counter(run.to_arrow()["query"].to_pylist())
    known = {query: min(count, depth or count) for query, count in retrieved.items() if query in asked}
    total = sum(known.values())
    without = total - sum(count for query, count in judged.items() if query in known)
    if without:
        message = (
            f"{system.name}: {without:,} of {counted(total, 'retrieved document')} ({100 * without / total:.1f} %) have no"
            " judgment by nugget: they count as having none, so that retrieval may seem to lose more than it does"
        )
        yield Note("unjudged-documents", "warning", message)
    if asked - known.keys():
        message = f"{system.name}: the run has no results for {counted(len(asked - known.keys()), 'query')} with nuggets"
        yield Note("queries-without-results", "warning", message)
    pairs = [(unit, key) for unit in system.answers for key in answers.truth.nuggets.get(unit[0], ())]
    unlabelled = sum(1 for unit, key in pairs if not system.nuggets.get(unit, {}).get(key))
    if unlabelled:
        share = f"{100 * unlabelled / len(pairs):.1f} %"
        message = f"{system.name}: {unlabelled:,} of {counted(len(pairs), 'nugget')} unlabelled ({share}): counted as not said"
        yield Note("unlabelled", "warning", message)


_WORTH = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def _list_queries(
    answers: LabelledInputs,
    system: LabelledAnswers,
    found: set[tuple[str, str]],
    importance: Importance,
    *,
    strict: bool,
) -> Iterator[QueryLosses]:
    """Yield the shares of every query with nuggets; one that was not answered says nothing."""
    units: dict[str, list[tuple[str, str | None]]] = {}
    for unit in system.answers:
        units.setdefault(unit[0], []).append(unit)
    for query, nuggets in answers.truth.nuggets.items():
        keys = [key for key, nugget in nuggets.items() if importance == "all" or nugget.importance == "vital"]
        if not keys:
            continue
        retrieved = np.array([(query, key) in found for key in keys])
        own = units.get(query, [])
        labels = [
            [next(iter(system.nuggets.get(unit, {}).get(key, ())), None) for key in keys] for unit in own
        ]
        said = np.mean(
            [[_WORTH.get(str(label), 0.0) for label in row] for row in labels or [[None] * len(keys)]], axis=0
        )
        said = np.where(said == 1.0, 1.0, 0.0) if strict else said
        shares = (retrieved * said, retrieved * (1 - said), ~retrieved * said, ~retrieved * (1 - said))
        yield QueryLosses(system.name, query, len(keys), *(float(share.mean()) for share in shares))


def _find_interval(values: Floats, level: float) -> Interval:
    """Return the mean of shares with its interval, which lies between 0 and 1; one query, or equal ones, have none."""
    found = mean_interval(values, level=level, scale=(0.0, 1.0))
    return Interval(float(values.mean()), nan, nan, level) if isinstance(found, Undefined) else found


def _summarise(system: str, queries: Sequence[QueryLosses], level: float) -> SystemLosses:
    columns: dict[str, Floats] = {name: np.array([getattr(row, name) for row in queries]) for name in SHARES}
    shares = [_find_interval(values, level) for values in columns.values()]
    retrieved = columns["retrieved_said"].sum() + columns["retrieved_unsaid"].sum()
    use = float(columns["retrieved_said"].sum() / retrieved) if retrieved else float("nan")
    nuggets = sum(row.nuggets for row in queries)
    return SystemLosses(system, len(queries), nuggets, **dict(zip(columns, shares, strict=True)), use=use)
