"""`explain`: how one query came by its number, rank by rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.blocks import Table, Value
from judged.engine.align import RankedAlignment, align
from judged.engine.evaluate import evaluate
from judged.errors import BadInput, MissingQueries, UnknownName
from judged.explanation.cuts import cut_values, one_query, with_every_result
from judged.explanation.explanation import Explanation
from judged.explanation.listing import Listing, Results, grades_of, judgments_for
from judged.explanation.working import WORKINGS, Formula, Working, summed
from judged.io.read import read_run
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.problem import Problem
from judged.profiles.catalogue import as_profile
from judged.profiles.profile import Profile, Reading
from judged.protocol import Protocol
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["explain", "number_of"]

NAMED = 8
"""So many queries are named where one is not known."""
CLOSE = 1e-9
"""How far rounding may carry the sum of what ranks add from the value."""


def explain(
    qrels: Any,
    run: Any,
    measure: Measure | str,
    *,
    query: str,
    protocol: Protocol | Profile | str = "trec_eval-9",
    name: str | None = None,
) -> Explanation:
    """How one query came by its value: each rank with what it adds, what was missed, and the formula filled in.

    What a rank adds is the value of the list cut below it, less that of the list cut above it, with the same
    judgments; so it is known for every measure, and sums up to the value. Measures of the catalogue show their
    own arithmetic besides. `qrels`, `run`, `measure`, `protocol` and `name` are those of `judged.evaluate`.
    """
    reading = as_profile(protocol).read(measure)
    judgments = judgments_for(reading.measure, qrels)
    ranked = read_run(run) if name is None else read_run(run, name=name)
    every = reading.protocol.replace(missing="zero", no_relevant="zero", unjudged_queries="ignored")
    alignment = align(judgments, ranked, every)
    number = number_of(alignment, query)
    value = _value(judgments, ranked, query, reading, present=bool(alignment.present[number]))
    if not alignment.present[number]:
        return _without_results(reading, ranked.name, query, value, grades_of(judgments, query))
    cuts = None if reading.measure.text else cut_values(reading.measure, alignment.view, number)
    results = Results.of(judgments, ranked, query)
    view = one_query(alignment.view, number)
    return _explained(reading, ranked.name, query, value, view, cuts, results)


def number_of(alignment: RankedAlignment, query: str) -> int:
    """Where the query stands among the judged ones, or an error that says what may have been meant."""
    known = alignment.units.to_pylist()
    if query in known:
        return int(known.index(query))
    if query in alignment.counts.unjudged_queries:
        fault = Problem.error(
            "queries", f"query `{query}`", "has results and no judgments, so it has no value"
        )
        raise BadInput("the judgments", [fault])
    kind = "judged query"
    if len(known) > NAMED:
        from difflib import get_close_matches

        close = get_close_matches(query, known, n=1)
        hint = (
            f"did you mean `{close[0]}`?" if close else f"there are {len(known):,}, the first is `{known[0]}`"
        )
        raise UnknownName(kind, query, known, hint=hint)
    raise UnknownName(kind, query, known)


def _value(judgments: Judgments, run: Run, query: str, reading: Reading, *, present: bool) -> Any:
    """The value of the query, or an error where the protocol leaves it out."""
    scores = evaluate(judgments, run, [reading.measure], protocol=reading.protocol).scores
    values = scores.by_query(reading.measure)
    if query in values:
        return values[query]
    why, field = ("has no relevant document", "no_relevant") if present else ("has no results", "missing")
    msg = f"query `{query}` {why}, and is left out under this protocol"
    raise MissingQueries(msg, hint=f'with `{field}="zero"` it scores 0')


def _without_results(
    reading: Reading, run: str, query: str, value: Any, grades: dict[str, float]
) -> Explanation:
    """The explanation of a query that is missing from the run."""
    return Explanation(
        reading.measure,
        reading.protocol,
        run,
        query,
        value,
        Table(("rank", "document", "score", "grade", "note", "adds"), ()),
        _missed(reading, (), grades),
        notes=("the run has no results for this query (`missing` of the protocol is `zero`)",),
    )


def _explained(
    reading: Reading, run: str, query: str, value: Any, view: Ranking, cuts: Floats | None, results: Results
) -> Explanation:
    listing, measure = results.under(reading.protocol), reading.measure
    adds = np.zeros(len(listing)) if cuts is None else np.diff(cuts)
    working = _working(measure, view, listing)
    last = _last(measure, adds, listing)
    columns = dict(working.columns) if cuts is None else {**working.columns, "adds": adds}
    return Explanation(
        measure,
        reading.protocol,
        run,
        query,
        value,
        _ranking(listing, columns, last),
        _missed(reading, listing.documents, results.grades),
        _ideal(working, listing, results.grades),
        working.formula or (None if cuts is None else _sum(adds, cuts)),
        0.0 if cuts is None else float(cuts[0]),
        len(listing) - last,
        _notes(listing, last, value, cuts),
    )


def _working(measure: Measure, view: Ranking, listing: Listing) -> Working:
    """The columns of the measure's own arithmetic; none for measures that declare none."""
    if measure.name not in WORKINGS:
        return Working()
    return WORKINGS[measure.name](with_every_result(view, listing.grade), **measure.parameters)


def _last(measure: Measure, adds: Floats, listing: Listing) -> int:
    """The last rank that matters: the cutoff, or else the last judged document; and every rank that adds."""
    cutoff = measure.parameters.get("cutoff")
    judged = [at for at, grade in enumerate(listing.grade, 1) if grade is not None]
    until = cutoff if isinstance(cutoff, int) else max(judged, default=0)
    adding = np.flatnonzero(adds)
    return min(max(until, int(adding[-1]) + 1 if len(adding) else 0), len(listing))


def _ranking(listing: Listing, columns: dict[str, Any], last: int) -> Table:
    """A row for each of the first `last` results."""
    fixed = (
        listing.rank.tolist(),
        listing.documents,
        listing.score.tolist(),
        [_plain(grade) for grade in listing.grade],
        [_note(grade, tied) for grade, tied in zip(listing.grade, listing.tied.tolist(), strict=True)],
    )
    own = [each.tolist() for each in columns.values()]
    rows = list(zip(*fixed, *own, strict=True))[:last]
    return Table(("rank", "document", "score", "grade", "note", *columns), tuple(rows))


def _note(grade: float | None, tied: int) -> str | None:
    """What is to be known of a result: that nobody judged it, that others share its score."""
    told = ["unjudged"] * (grade is None) + ["not assessed"] * (grade is not None and grade < 0)
    told += [f"tied with {tied - 1}"] * (tied > 1)
    return ", ".join(told) or None


def _ideal(working: Working, listing: Listing, grades: dict[str, float]) -> Table | None:
    """The best order of the judged documents, each with the rank that it really has."""
    if not working.ideal:
        return None
    names, values = list(grades), list(grades.values())
    order = np.argsort(-np.array(values), kind="stable")
    if working.order is not None:
        order = order[working.order]
    at = dict(zip(listing.documents, listing.rank.tolist(), strict=True))
    own = [each.tolist() for each in working.ideal.values()]
    total = np.asarray(working.ideal["total"])
    rows: list[tuple[Value, ...]] = []
    for place, i in enumerate(order.tolist()):
        figures = (each[place] for each in own)
        rows.append((place + 1, names[i], _plain(values[i]), *figures, at.get(names[i])))
    useful = int(np.count_nonzero(np.diff(total, prepend=0.0)))  # below, the best order brings nothing
    return Table(("rank", "document", "grade", *working.ideal, "really at"), tuple(rows[:useful]))


def _missed(reading: Reading, documents: tuple[str, ...], grades: dict[str, float]) -> Table:
    """Relevant documents that are not among the results, the highest grades first."""
    graded = "rel" not in reading.measure.defaults
    own = reading.measure.parameters.get("rel")
    least = reading.protocol.rel if own is None or not isinstance(own, (int, float)) else float(own)
    there = set(documents)
    lost = [
        (name, _plain(grade))
        for name, grade in grades.items()
        if name not in there and (grade > 0 if graded else grade >= max(least, 0))
    ]
    lost.sort(key=lambda each: -(each[1] or 0))
    return Table(("document", "grade"), tuple(lost))


def _plain(grade: float | None) -> float | None:
    """A grade as people write it: without a point where it is whole."""
    return int(grade) if grade is not None and grade == int(grade) else grade


def _sum(adds: Floats, cuts: Floats) -> Formula:
    """The value as the sum of what the ranks add to that of a list without results."""
    words = "the sum of what the ranks add"
    if cuts[0]:
        words = "the value of a list without results, and what the ranks add"
    return summed(words, [float(cuts[0]), *adds.tolist()], float(cuts[-1]))


def _notes(listing: Listing, last: int, value: Any, cuts: Floats | None) -> tuple[str, ...]:
    """What a reader of the table should know: how many are tied or unjudged among the rows shown."""
    told = []
    tied = int((listing.tied[:last] > 1).sum())
    if tied:
        told.append(f"{tied:,} of these results share a score with others: the tie rule ordered them")
    unknown = sum(grade is None for grade in listing.grade[:last])
    if unknown:
        told.append(f"{unknown:,} of these results {'is' if unknown == 1 else 'are'} unjudged")
    if cuts is not None and abs(float(cuts[-1]) - float(value)) > CLOSE:
        told.append(f"this order of the results alone would score {float(cuts[-1]):g}")
    return tuple(told)
