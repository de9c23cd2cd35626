"""Terms of ranked measures: the numbers that a measure computes on its way to the value of one query.

A measure names its function here in the field `terms`; `judged.explain` calls it with the view of a single query in
which every result has a row, and with the parameters of the measure. All columns come from the functions that also
compute the value, so that there is one arithmetic; a formula only says in words how the value follows from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.blocks import format_value
from judged.kernels.ranked import browsing
from judged.kernels.ranked.blended import blended_ratio, ideal_gain_down_to, is_top_document, relevant_gains
from judged.kernels.ranked.gains import (
    Discount,
    Gain,
    Gains,
    Ideal,
    best_gains,
    dcg_discount,
    found_gains,
    grade_gains,
    is_in_ideal,
    jk_discount,
)
from judged.kernels.ranked.precision import (
    nonrelevant_above,
    precision_at_hits,
    precision_from_above,
    preferences_kept,
)
from judged.kernels.ranked.ranking import Ranking

MAX_WRITTEN = 8
"""The number of terms up to which a sum is written out."""

Column: TypeAlias = NDArray[np.number]
Columns: TypeAlias = dict[str, Column]


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in words, the same with `{}` for every number, the numbers, and the value.

    >>> Formula("found / k", "{} / {}", (3, 4), 0.75).text()
    'found / k = 3 / 4 = 0.7500'
    """

    words: str
    filled: str
    numbers: tuple[int | float, ...]
    value: float = float("nan")
    """The value of the measure."""

    def text(self, *, digits: int = 4) -> str:
        """Return the formula with its numbers and its value."""
        value = format_value(self.value, digits=digits)
        if self.filled == "{}":
            return f"{self.words} = {value}"
        shown = self.filled.format(*(format_value(number, digits=digits) for number in self.numbers))
        return f"{self.words} = {shown} = {value}"


@dataclass(frozen=True, eq=False)
class Terms:
    """The columns of a measure's arithmetic for one query, and its formula."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    """A value for every result, by name, from left to right."""
    formula: Formula | None = None
    """None if the value does not follow from the columns by a short formula, or if a denominator is 0."""
    ideal: Mapping[str, Column] = field(default_factory=dict)
    """A value for every judged document in the best order; empty if the measure knows no best order."""
    ideal_order: Ints | None = None
    """The best order as places in the order of grades, where a table of gains makes them differ."""


TermsFunction: TypeAlias = Callable[..., Terms]


def sum_formula(words: str, terms: Iterable[float]) -> Formula:
    """Return the formula of a sum, with its non-zero terms written out if they are few."""
    parts = tuple(term for term in terms if term)
    if not 1 < len(parts) <= MAX_WRITTEN:
        return Formula(words, "{}", (sum(parts),))
    return Formula(words, " + ".join(["{}"] * len(parts)), parts)


def _quotient(words: str, above: float, below: float) -> Formula | None:
    return Formula(words, "{} / {}", (above, below)) if below else None


def _with_total(columns: Columns) -> Columns:
    """Return the columns and the running total of the last one."""
    return {**columns, "total": np.cumsum(list(columns.values())[-1])}


def _last(columns: Columns) -> float:
    total = columns["total"]
    return float(total[-1]) if len(total) else 0.0


# Discounted gain


def _gain_columns(gain: Floats, discount: Floats, near: Flags) -> Columns:
    return _with_total({"gain": gain, "discount": discount, "term": np.where(near, gain / discount, 0.0)})


def _ideal_order(view: Ranking, gain: Gain, gains: Gains | None) -> Ints | None:
    if gains is None:
        return None
    return np.argsort(-np.maximum(grade_gains(view.best, gain, gains), 0.0), kind="stable")


def _normalised_gain(
    view: Ranking,
    discount: Callable[[Ints], Floats],
    cutoff: int | None,
    gain: Gain,
    gains: Gains | None,
    ideal: Ideal = "judged",
) -> Terms:
    columns = _gain_columns(found_gains(view, gain, gains), discount(view.rank), view.within(cutoff))
    near = is_in_ideal(view, cutoff, ideal)
    best = _gain_columns(best_gains(view, gain, gains), discount(view.best_rank), near)
    at = "" if cutoff is None else f"@{cutoff}"
    formula = _quotient(f"DCG{at} / ideal DCG{at}", _last(columns), _last(best))
    return Terms(columns, formula, best, _ideal_order(view, gain, gains))


def dcg_terms(
    view: Ranking, *, cutoff: int | None, gain: Gain, gains: Gains | None, discount: Discount
) -> Terms:
    """Return the discounted gain of every result."""
    divisor = dcg_discount(view.rank, discount)
    columns = _gain_columns(found_gains(view, gain, gains), divisor, view.within(cutoff))
    return Terms(columns, sum_formula("the sum of the terms", columns["term"].tolist()))


def idcg_terms(
    view: Ranking, *, cutoff: int | None, gain: Gain, gains: Gains | None, discount: Discount
) -> Terms:
    """Return the discounted gain of every judged document in the best order."""
    divisor = dcg_discount(view.best_rank, discount)
    best = _gain_columns(best_gains(view, gain, gains), divisor, is_in_ideal(view, cutoff))
    formula = sum_formula("the sum of the terms of the best order", best["term"].tolist())
    return Terms({}, formula, best, _ideal_order(view, gain, gains))


def ndcg_terms(
    view: Ranking, *, cutoff: int | None, gain: Gain, gains: Gains | None, discount: Discount, ideal: Ideal
) -> Terms:
    """Return the terms of DCG, of the results and of the best order."""
    return _normalised_gain(view, lambda rank: dcg_discount(rank, discount), cutoff, gain, gains, ideal)


def ndcg_jk_terms(
    view: Ranking, *, cutoff: int | None, base: float, gain: Gain, gains: Gains | None
) -> Terms:
    """Return the same with the discount of Järvelin and Kekäläinen."""
    return _normalised_gain(view, lambda rank: jk_discount(rank, base), cutoff, gain, gains)


# Counts of relevant results


def _hit_columns(view: Ranking, rel: float | None) -> Columns:
    found = view.found(rel)
    return {"found": found, "precision": found / view.rank}


def _hit_terms(view: Ranking, rel: float | None, formula: Formula | None) -> Terms:
    return Terms(_hit_columns(view, rel), formula)


def _found(view: Ranking, cutoff: int | None, rel: float | None) -> int:
    return int(view.hits_within(cutoff, rel)[0])


def _relevant(view: Ranking, rel: float | None, cutoff: int | None = None) -> tuple[int, str]:
    """Return the number of relevant documents, at most the cutoff if there is one, and how it is called."""
    relevant = int(view.relevant(rel)[0])
    return (relevant, "relevant") if cutoff is None else (min(cutoff, relevant), f"min({cutoff}, relevant)")


def precision_terms(view: Ranking, *, cutoff: int, rel: float | None, over: str) -> Terms:
    """Return the relevant results found, over the cutoff or the number of results."""
    length, name = cutoff, str(cutoff)
    if over == "retrieved":
        length, name = min(cutoff, int(view.retrieved[0])), f"min({cutoff}, retrieved)"
    return _hit_terms(view, rel, _quotient(f"found / {name}", _found(view, cutoff, rel), length))


def recall_terms(view: Ranking, *, cutoff: int, rel: float | None, over: str) -> Terms:
    """Return the relevant results found, over all relevant documents, or at most the cutoff of them."""
    relevant, name = _relevant(view, rel, cutoff if over == "cutoff" else None)
    return _hit_terms(view, rel, _quotient(f"found / {name}", _found(view, cutoff, rel), relevant))


def f1_terms(view: Ranking, *, cutoff: int, rel: float | None) -> Terms:
    """Return the relevant results found, over the cutoff and all relevant documents together."""
    numbers = (_found(view, cutoff, rel), cutoff, _relevant(view, rel)[0])
    return _hit_terms(view, rel, Formula("2 × found / (k + relevant)", "2 × {} / ({} + {})", numbers))


def success_terms(view: Ranking, *, cutoff: int, rel: float | None) -> Terms:
    """Return the relevant results found, of which one is enough."""
    return _hit_terms(view, rel, Formula("min(1, found)", "min(1, {})", (_found(view, cutoff, rel),)))


def reciprocal_rank_terms(view: Ranking, *, cutoff: int | None, rel: float | None) -> Terms:
    """Return the rank of the first relevant result."""
    ranks = view.rank[view.hits(rel) & view.within(cutoff)].tolist()
    formula = Formula("1 / rank of the first relevant result", "1 / {}", (ranks[0],)) if ranks else None
    return Terms({"found": view.found(rel), "1 / rank": 1 / view.rank}, formula)


def average_precision_terms(
    view: Ranking,
    *,
    rel: float | None,
    cutoff: int | None = None,
    over: str = "relevant",
    interpolation: str = "none",
) -> Terms:
    """Return the precision at every relevant result."""
    terms = precision_from_above if interpolation == "trapezoid" else precision_at_hits
    term = np.where(view.within(cutoff), terms(view, rel), 0.0)
    columns = _with_total({**_hit_columns(view, rel), "term": term})
    relevant, name = _relevant(view, rel, cutoff if over == "cutoff" else None)
    return Terms(columns, _quotient(f"sum of the terms / {name}", _last(columns), relevant))


def r_precision_terms(view: Ranking, *, rel: float | None, multiple: float) -> Terms:
    """Return the relevant results found among as many results as there are relevant documents."""
    length = int(np.floor(multiple * _relevant(view, rel)[0] + 0.9))
    words = f"found among the first {length} / {length}"
    return _hit_terms(view, rel, _quotient(words, _found(view, length, rel), length))


def hits_terms(view: Ranking, *, rel: float | None) -> Terms:
    """Return the number of relevant results."""
    return _hit_terms(view, rel, Formula("found", "{}", (_found(view, None, rel),)))


def interpolated_terms(view: Ranking, *, rel: float | None, **_points: object) -> Terms:
    """Return precision and recall at every rank."""
    columns, (relevant, _) = _hit_columns(view, rel), _relevant(view, rel)
    recall = columns["found"] / relevant if relevant else np.zeros(len(view.rank))
    return Terms({**columns, "recall": recall})


# All results as a set


def _set_terms(words: str, below: Callable[[int, int], int]) -> TermsFunction:
    """Return the function of a measure that divides the relevant results by a count of all results or documents."""

    def terms(view: Ranking, *, rel: float | None) -> Terms:
        """Return the relevant results found."""
        count = below(int(view.retrieved[0]), _relevant(view, rel)[0])
        return Terms(
            {"found": view.found(rel)}, _quotient(f"found / {words}", _found(view, None, rel), count)
        )

    return terms


set_precision_terms = _set_terms("retrieved", lambda retrieved, _: retrieved)
set_recall_terms = _set_terms("relevant", lambda _, relevant: relevant)
set_relative_precision_terms = _set_terms("min(retrieved, relevant)", min)


def set_average_precision_terms(view: Ranking, *, rel: float | None) -> Terms:
    """Return precision times recall of all results."""
    found, retrieved, relevant = _found(view, None, rel), int(view.retrieved[0]), _relevant(view, rel)[0]
    words, filled = "found × found / (retrieved × relevant)", "{} × {} / ({} × {})"
    formula = Formula(words, filled, (found, found, retrieved, relevant)) if retrieved * relevant else None
    return Terms({"found": view.found(rel)}, formula)


def judged_terms(view: Ranking, *, cutoff: int | None) -> Terms:
    """Return the judged results over the results considered."""
    known = (view.grade >= 0) & view.within(cutoff)
    retrieved = int(view.retrieved[0])
    shown = retrieved if cutoff is None else min(retrieved, cutoff)
    return Terms(
        {"judged": np.cumsum(known)}, _quotient("judged / results considered", int(known.sum()), shown)
    )


# User models


def _cascade_columns(stop: Floats, rank: Ints, offset: Ints, cutoff: int | None) -> Columns:
    reached = browsing.cascade_reach(stop, offset)
    near = True if cutoff is None else rank <= cutoff
    return _with_total(
        {"reached": reached, "stops": stop, "term": np.where(near, reached * stop / rank, 0.0)}
    )


def err_terms(view: Ranking, *, cutoff: int | None, max_grade: float | None) -> Terms:
    """Return the probability of stopping at every result, over its rank."""
    stop = browsing.stop_probability(view.grade, view.highest if max_grade is None else max_grade)
    columns = _cascade_columns(stop, view.rank, view.offset, cutoff)
    return Terms(columns, sum_formula("the sum of the terms", columns["term"].tolist()))


def nerr_terms(view: Ranking, *, cutoff: int | None, max_grade: float | None) -> Terms:
    """Return the terms of ERR, of the results and of the best order."""
    found = err_terms(view, cutoff=cutoff, max_grade=max_grade).columns
    stop = browsing.stop_probability(view.best, view.highest if max_grade is None else max_grade)
    best = _cascade_columns(stop, view.best_rank, view.best_offset, cutoff)
    return Terms(found, _quotient("ERR / ideal ERR", _last(dict(found)), _last(best)), best)


def rbp_terms(
    view: Ranking,
    *,
    cutoff: int | None,
    p: float,
    rel: float | None,
    gain: Literal["linear", "exp", "grade"] | None,
    max_grade: float | Literal["query"] | None,
) -> Terms:
    """Return the gain of every result times the probability of reaching it."""
    share, weight = browsing.rbp_gain(view, rel, gain, max_grade), browsing.reach_probability(view, p)
    term = np.where(view.within(cutoff), share * weight, 0.0)
    columns = _with_total({"gain": share, "weight": weight, "term": term})
    formula = Formula("(1 − p) × the sum of the terms", "(1 − {}) × {}", (p, _last(columns)))
    return Terms(columns, formula)


def browsing_terms(make_reader: Callable[..., browsing.Reader]) -> TermsFunction:
    """Return the function of a measure whose other parameters are those of its reader."""

    def terms(view: Ranking, *, gain: Gain, max_grade: float | None, **parameters: object) -> Terms:
        """Return the gain of every result times the probability that the reader reaches it."""
        share, reader = browsing.gain_share(view, gain, max_grade), make_reader(**parameters)
        reached = np.zeros(max(len(view.rank), reader.depth))
        reached[: reader.depth] = browsing.reader_reach(view, share, reader, 0, 1)[1][0]
        outcome, reached = browsing.browse(view, share, reader), reached[: len(view.rank)]
        columns = _with_total({"gain": share, "reached": reached, "term": reached * share})
        words = "expected gain / expected results viewed"
        return Terms(columns, _quotient(words, float(outcome.gain[0]), float(outcome.viewed[0])))

    return terms


# The blended ratio


class Blend(TypedDict):
    """The parameters of the blended ratio."""

    beta: float
    gain: Gain
    gains: Gains | None


def _ratio_columns(view: Ranking, rel: float | None, **blend: Unpack[Blend]) -> Columns:
    beta, gain, gains = blend["beta"], blend["gain"], blend["gains"]
    return {
        "found": view.found(rel),
        "gained": np.cumsum(relevant_gains(view, rel, gain, gains)),
        "ideal": ideal_gain_down_to(view, rel, gain, gains),
        "ratio": blended_ratio(view, beta, rel, gain, gains),
    }


def _only(words: str, values: Column) -> Formula | None:
    return Formula(words, "{}", (float(values[0]),)) if len(values) else None


def q_terms(
    view: Ranking, *, cutoff: int | None, over: str, rel: float | None, **blend: Unpack[Blend]
) -> Terms:
    """Return the blended ratio at every relevant result."""
    columns = _ratio_columns(view, rel, **blend)
    total = np.cumsum(np.where(view.within(cutoff), columns["ratio"], 0.0))
    columns = {**columns, "total": total}
    relevant, name = _relevant(view, rel, cutoff if over == "cutoff" else None)
    return Terms(columns, _quotient(f"sum of the ratios / {name}", _last(columns), relevant))


def top_ratio_terms(view: Ranking, *, rel: float | None, **blend: Unpack[Blend]) -> Terms:
    """Return the blended ratio at the first of the most relevant results."""
    columns = _ratio_columns(view, rel, **blend)
    words = "the ratio at the first of the most relevant results"
    return Terms(columns, _only(words, columns["ratio"][is_top_document(view, rel)]))


def top_mean_terms(view: Ranking, *, rel: float | None, **blend: Unpack[Blend]) -> Terms:
    """Return the blended ratios down to the first of the most relevant results."""
    columns, last = _ratio_columns(view, rel, **blend), view.rank[is_top_document(view, rel)]
    if len(last) == 0:
        return Terms(columns)
    above = view.hits(rel) & (view.rank <= last[0])
    words = "sum of the ratios down to the first of the most relevant results / how many they are"
    return Terms(columns, _quotient(words, float(columns["ratio"][above].sum()), int(above.sum())))


def first_ratio_terms(view: Ranking, *, rel: float | None, **blend: Unpack[Blend]) -> Terms:
    """Return the blended ratio at the first relevant result."""
    columns = _ratio_columns(view, rel, **blend)
    first = view.hits(rel) & (columns["found"] == 1)
    return Terms(columns, _only("the ratio at the first relevant result", columns["ratio"][first]))


def blended_terms(
    view: Ranking, *, rel: float | None, beta: float, gain: Gain, gains: Gains | None, **_stops: object
) -> Terms:
    """Return the blended ratios, from which every reader of NCU takes one."""
    return Terms(_ratio_columns(view, rel, beta=beta, gain=gain, gains=gains))


def bpref_terms(view: Ranking, *, rel: float | None) -> Terms:
    """Return the share of preferences that every relevant result keeps."""
    columns = _with_total(
        {"non-relevant above": nonrelevant_above(view, rel), "kept": preferences_kept(view, rel)}
    )
    formula = _quotient("sum of what is kept / relevant", _last(columns), _relevant(view, rel)[0])
    return Terms(columns, formula)
