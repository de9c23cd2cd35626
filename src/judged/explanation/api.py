"""`explain`: how one query came by its value, rank by rank; or why another tool reports another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypedDict, cast, overload

import numpy as np

from judged.arrays import Floats
from judged.blocks import Table, Value
from judged.errors import BadInput, MissingQueries, UnknownName, WrongKind
from judged.explanation.lists import (
    QueryResults,
    RankedList,
    cut_values,
    query_grades,
    read_graded_judgments,
    select_query,
    with_every_result,
)
from judged.explanation.result import Explanation, observe_inputs
from judged.explanation.scoring_rule import Conventions, are_conventions
from judged.io.read import read_run
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import Column, Formula, Terms, sum_formula
from judged.measures.measure import Measure
from judged.measures.written import find_written, note_spellings
from judged.problem import Note, Problem
from judged.profiles.profile import Profile, Reading, as_profile
from judged.protocol import Protocol
from judged.result import ProtocolRecord, Provenance
from judged.scoring.align import RankedAlignment, align
from judged.scoring.evaluate import evaluate

if TYPE_CHECKING:
    from judged.explanation.difference import Difference
    from judged.explanation.reported import Reported
    from judged.tables.inputs import JudgmentsLike, RunLike

MAX_NAMED = 8
"""The number of queries named in the error for an unknown one."""
_HOPELESS = Note(
    "no-relevant",
    "warning",
    "the query has no relevant document, and scores 1 (`no_relevant` of the protocol is `one`)",
)
ROUNDING = 1e-9
"""Rounding tolerance between a value and the sum of its per-rank contributions."""


class _Head(TypedDict):
    """The fields that every explanation has."""

    measure: str
    written: str
    run: str
    query: str
    value: float
    provenance: Provenance


@overload
def explain(
    qrels: JudgmentsLike,
    run: RunLike,
    measure: Measure | str,
    *,
    query: str | int,
    protocol: Protocol | Profile | str = ...,
    name: str | None = ...,
    join: bool = ...,
) -> Explanation: ...
@overload
def explain(
    qrels: JudgmentsLike,
    run: RunLike,
    measure: Measure | str,
    *,
    against: object,
    protocol: Protocol | Profile | str = ...,
    name: str | None = ...,
    join: bool = ...,
) -> Difference | Reported: ...
def explain(
    qrels: JudgmentsLike,
    run: RunLike,
    measure: Measure | str,
    *,
    query: str | int | None = None,
    against: object = None,
    protocol: Protocol | Profile | str = "trec_eval-9",
    name: str | None = None,
    join: bool = False,
) -> Explanation | Difference | Reported:
    """Explain the value of one query, or why another tool has other values.

    With `query`: what every rank adds, what was missed, and the formula with its numbers. A rank adds the value of the
    list cut below it, minus that of the list cut above it, with the same judgments. That is defined for every measure,
    and sums to the value. Measures with `terms` also show their own arithmetic.

    With `against`, a file or table of query, measure and value: which queries differ, by how much, and which
    conventions explain each. With `against` a profile, a protocol or changed conventions (`"lightgbm"`,
    `"ties=input-order"`): what each convention changes, as `judged.explain_difference` has it. `qrels`, `run`, `measure`,
    `protocol`, `name` and `join` are those of `judged.evaluate`.
    """
    if (query is None) == (against is None):
        got = "neither" if query is None else "both"
        msg = f"{got} of `query` and `against` is given, expected one of them"
        raise WrongKind(msg, hint='for example `query="q1"`, or `against="lightgbm"`')
    if are_conventions(against):
        from judged.explanation.difference import explain_difference

        conventions = cast("Conventions", against)
        return explain_difference(qrels, run, measure, against=conventions, protocol=protocol, name=name)
    if against is not None:
        from judged.explanation.reported import explain_reported

        return explain_reported(qrels, run, measure, against, protocol=protocol, name=name, join=join)
    query = str(query)
    reading = as_profile(protocol).read(measure)
    inputs = observe_inputs(qrels, run)
    judgments = read_graded_judgments(qrels, reading.measure)
    ranked = read_run(run, name=name, join=join)
    every = reading.protocol.replace(missing="zero", no_relevant="zero", unjudged_queries="ignored")
    alignment = align(judgments, ranked, every)
    number = _find_query(alignment, query)
    present = bool(alignment.present[number])
    values = evaluate(judgments, ranked, [reading.measure], protocol=reading.protocol).scores.by_query(
        reading.measure
    )
    if query not in values:
        why, field = ("has no relevant document", "no_relevant") if present else ("has no results", "missing")
        msg = f"query `{query}` {why}, and is left out under this protocol"
        raise MissingQueries(msg, hint=f'with `{field}="zero"` it scores 0')
    used = reading.protocol
    record = ProtocolRecord(
        str(used), used.fingerprint, used.to_dict(), used.profile, (str(reading.measure),), used.short
    )
    head: _Head = {
        "measure": str(reading.measure),
        "written": find_written(reading.measure),
        "run": ranked.name,
        "query": query,
        "value": values[query],
        "provenance": Provenance(protocols=(record,), inputs=inputs),
    }
    if not present:
        return _explain_missing(reading, query_grades(judgments, query), head)
    cuts = None if reading.measure.text else cut_values(reading.measure, alignment.view, number)
    results = QueryResults.find(judgments, ranked, query)
    return _explain_results(reading, results, select_query(alignment.view, number), cuts, head)


def _find_query(alignment: RankedAlignment, query: str) -> int:
    """Return the number of the query among the judged ones; raise an error that suggests what was meant."""
    known = alignment.units.to_pylist()
    if query in known:
        return int(known.index(query))
    if query in alignment.counts.unjudged_queries:
        message = "has results and no judgments, so it has no value"
        raise BadInput("the judgments", [Problem.error("unjudged-query", f"query `{query}`", message)])
    if len(known) <= MAX_NAMED:
        raise UnknownName("judged query", query, known)
    close = get_close_matches(query, known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"there are {len(known):,}, the first is `{known[0]}`"
    raise UnknownName("judged query", query, known, hint=hint)


def _explain_missing(reading: Reading, grades: dict[str, float], head: _Head) -> Explanation:
    """Explain a query that is missing from the run."""
    message = "the run has no results for this query (`missing` of the protocol is `zero`)"
    hopeless = (_HOPELESS,) if reading.protocol.no_relevant == "one" and head["value"] == 1 else ()
    return Explanation(
        **head,
        ranking=Table(("rank", "document", "score", "grade", "note", "adds"), ()),
        missed=_tabulate_missed(reading, (), grades),
        notes=(*hopeless, Note("missing-query", "warning", message), *note_spellings([reading.measure])),
    )


def _explain_results(
    reading: Reading, results: QueryResults, view: Ranking, cuts: Floats | None, head: _Head
) -> Explanation:
    ranked, measure = results.rank(reading.protocol), reading.measure
    terms = Terms()
    if measure.terms is not None:
        terms = measure.terms(with_every_result(view, ranked.grade), **measure.parameters)
    columns, adds, formula = dict(terms.columns), np.zeros(len(ranked)), None
    if cuts is not None:
        columns["adds"] = adds = np.diff(cuts)
        formula = replace(terms.formula or _sum_of_ranks(cuts), value=float(cuts[-1]))
    last, notes = _last_rank(measure, adds, ranked), tuple[Note, ...]()
    if reading.protocol.no_relevant == "one" and cuts is not None and (cuts[-1], head["value"]) == (0, 1):
        formula, notes = None, (_HOPELESS,)
    elif cuts is not None and abs(float(cuts[-1]) - head["value"]) > ROUNDING:
        message = f"this order of the results alone would score {float(cuts[-1]):g}"
        notes = (Note("one-of-many-orders", "info", message),)
    notes += tuple(note_spellings([measure]))
    return Explanation(
        **head,
        ranking=_tabulate_ranking(ranked, columns, last),
        missed=_tabulate_missed(reading, ranked.documents, results.grades),
        ideal=_tabulate_ideal(terms, ranked, results.grades),
        formula=formula,
        empty=0.0 if cuts is None else float(cuts[0]),
        beyond=len(ranked) - last,
        tied=int((ranked.tied[:last] > 1).sum()),
        unjudged=sum(grade is None for grade in ranked.grade[:last]),
        notes=notes,
    )


def _sum_of_ranks(cuts: Floats) -> Formula:
    """Return the formula for a measure without terms: the value as the sum of what the ranks add."""
    words = (
        "the value of an empty list, plus what the ranks add" if cuts[0] else "the sum of what the ranks add"
    )
    return sum_formula(words, [float(cuts[0]), *np.diff(cuts).tolist()])


def _last_rank(measure: Measure, adds: Floats, ranked: RankedList) -> int:
    """Return the last rank that matters: the cutoff or the last judged document, and no rank that adds is below."""
    cutoff = measure.parameters.get("cutoff")
    judged = [rank for rank, grade in enumerate(ranked.grade, 1) if grade is not None]
    until = cutoff if isinstance(cutoff, int) else max(judged, default=0)
    adding = np.flatnonzero(adds)
    return min(max(until, int(adding[-1]) + 1 if len(adding) else 0), len(ranked))


def _tabulate_ranking(ranked: RankedList, columns: Mapping[str, Column], last: int) -> Table:
    """Return a row for each of the first `last` results."""
    fixed = (
        ranked.rank.tolist(),
        ranked.documents,
        ranked.score.tolist(),
        [_simplify(grade) for grade in ranked.grade],
        [_describe(grade, tied) for grade, tied in zip(ranked.grade, ranked.tied.tolist(), strict=True)],
    )
    own = [column.tolist() for column in columns.values()]
    rows = list(zip(*fixed, *own, strict=True))[:last]
    return Table(("rank", "document", "score", "grade", "note", *columns), tuple(rows))


def _describe(grade: float | None, tied: int) -> str | None:
    """Say that a result is unjudged, that it was not assessed, or that others share its score."""
    words = ["unjudged"] * (grade is None) + ["not assessed"] * (grade is not None and grade < 0)
    words += [f"tied with {tied - 1}"] * (tied > 1)
    return ", ".join(words) or None


def _tabulate_ideal(terms: Terms, ranked: RankedList, grades: dict[str, float]) -> Table | None:
    """Return the best order of the judged documents, down to the last that adds something, with their ranks."""
    if not terms.ideal:
        return None
    names, values = list(grades), list(grades.values())
    order = np.argsort(-np.array(values), kind="stable")
    if terms.ideal_order is not None:
        order = order[terms.ideal_order]
    rank = dict(zip(ranked.documents, ranked.rank.tolist(), strict=True))
    own = [column.tolist() for column in terms.ideal.values()]
    rows: list[tuple[Value, ...]] = []
    for place, i in enumerate(order.tolist()):
        figures = (column[place] for column in own)
        rows.append((place + 1, names[i], _simplify(values[i]), *figures, rank.get(names[i])))
    useful = int(np.count_nonzero(np.diff(terms.ideal["total"], prepend=0.0)))
    return Table(("rank", "document", "grade", *terms.ideal, "actual rank"), tuple(rows[:useful]))


def _tabulate_missed(reading: Reading, documents: tuple[str, ...], grades: dict[str, float]) -> Table:
    """Return the relevant documents that are not among the results, the highest grades first."""
    graded = "rel" not in reading.measure.defaults
    own = reading.measure.parameters.get("rel")
    least = reading.protocol.rel if own is None or not isinstance(own, (int, float)) else float(own)
    retrieved = set(documents)
    missed = [
        (name, _simplify(grade))
        for name, grade in grades.items()
        if name not in retrieved and (grade > 0 if graded else grade >= max(least, 0))
    ]
    missed.sort(key=lambda row: -(row[1] or 0))
    return Table(("document", "grade"), tuple(missed))


def _simplify(grade: float | None) -> float | None:
    """Return a whole grade as an integer."""
    return int(grade) if grade is not None and grade == int(grade) else grade
