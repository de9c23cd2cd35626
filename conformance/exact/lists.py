"""Every measure of the suite from its definition, in exact arithmetic: slow, plain, and no part of judged.

A `List` is one query's ranked results as grades (None: unjudged) together with all judged grades of the query.
A negative grade says that a document was pooled but not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction

from conformance.exact.arithmetic import (
    WORKING,
    Number,
    decimal,
    discounted,
    mean,
    ratio,
    value,
)

ZERO = Fraction(0)
ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class List:
    """One query: the grades of its results in rank order, and all its judged grades."""

    found: tuple[Fraction | None, ...]
    judged: tuple[Fraction, ...]
    rel: Fraction
    rounded: bool = False
    """Whether a share of the relevant documents is rounded (trec_eval 10) or cut after adding 0.9 (9)."""
    highest: Fraction = Fraction(1)
    answers: tuple[Mapping[str, Fraction], ...] = ()
    """Of each result, the grades that it has for the intents of the query."""
    documents: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    """The same of every judged document, by name."""

    def hits(self, rel: float | None, cutoff: int | None = None) -> list[bool]:
        """For each of the first results, whether it is relevant."""
        at = self.rel if rel is None else exactly(rel)
        return [grade is not None and grade >= max(at, ZERO) for grade in self.found[:cutoff]]

    def relevant(self, rel: float | None) -> int:
        """How many documents are relevant, retrieved or not."""
        at = self.rel if rel is None else exactly(rel)
        return sum(grade >= max(at, ZERO) for grade in self.judged)

    def refuted(self, rel: float | None) -> int:
        """How many documents were judged and are not relevant."""
        return sum(grade >= 0 for grade in self.judged) - self.relevant(rel)


def exactly(number: float | str) -> Fraction:
    """Return the number as it is written in decimals: 0.1 is a tenth."""
    return Fraction(str(number))


def over(above: int | Fraction, below: int | Fraction) -> Fraction:
    """Return a quotient; 0 over nothing."""
    return Fraction(above) / below if below else ZERO


def precision(each: List, *, cutoff: int, rel: float | None = None, over_: str = "cutoff") -> Number:
    """P@k."""
    length = cutoff if over_ == "cutoff" else min(cutoff, len(each.found))
    return over(sum(each.hits(rel, cutoff)), length)


def recall(each: List, *, cutoff: int, rel: float | None = None, over_: str = "relevant") -> Number:
    """R@k."""
    relevant = each.relevant(rel)
    return over(sum(each.hits(rel, cutoff)), relevant if over_ == "relevant" else min(relevant, cutoff))


def f1(each: List, *, cutoff: int, rel: float | None = None) -> Number:
    """F1@k, by its two parts."""
    p, r = precision(each, cutoff=cutoff, rel=rel), recall(each, cutoff=cutoff, rel=rel)
    assert isinstance(p, Fraction)
    assert isinstance(r, Fraction)
    return over(2 * p * r, p + r)


def success(each: List, *, cutoff: int, rel: float | None = None) -> Number:
    """Success@k."""
    return Fraction(any(each.hits(rel, cutoff)))


def reciprocal_rank(each: List, *, cutoff: int | None = None, rel: float | None = None) -> Number:
    """RR."""
    return next((Fraction(1, rank) for rank, hit in enumerate(each.hits(rel, cutoff), 1) if hit), ZERO)


def precision_sum(each: List, cutoff: int | None, rel: float | None) -> Fraction:
    """Return the precisions at the relevant results, summed."""
    hits = each.hits(rel, cutoff)
    return sum((Fraction(sum(hits[:rank]), rank) for rank, hit in enumerate(hits, 1) if hit), ZERO)


def trapezoid_sum(each: List, cutoff: int | None, rel: float | None) -> Fraction:
    """Return the precisions at the relevant results, each averaged with that above it, summed."""
    hits, total = each.hits(rel, cutoff), ZERO
    for rank, hit in enumerate(hits, 1):
        if hit:
            above = over(sum(hits[: rank - 1]), rank - 1) if rank > 1 else Fraction(1)
            total += (above + Fraction(sum(hits[:rank]), rank)) / 2
    return total


def average_precision(
    each: List,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    over_: str = "relevant",
    interpolation: str = "none",
) -> Number:
    """AP."""
    relevant = each.relevant(rel)
    divisor = min(relevant, cutoff) if over_ == "cutoff" and cutoff is not None else relevant
    add = trapezoid_sum if interpolation == "trapezoid" else precision_sum
    return over(add(each, cutoff, rel), divisor)


def average_precision_at_r(each: List, *, rel: float | None = None) -> Number:
    """AP_R."""
    relevant = each.relevant(rel)
    return over(precision_sum(each, relevant, rel), relevant)


def average_precision_found(each: List, *, cutoff: int | None = None, rel: float | None = None) -> Number:
    """AP_found."""
    return over(precision_sum(each, cutoff, rel), sum(each.hits(rel, cutoff)))


def r_precision(each: List, *, rel: float | None = None, multiple: float = 1.0) -> Number:
    """Rprec, and Rprec_mult."""
    depth = cut(multiple, each.relevant(rel))
    return over(sum(each.hits(rel, depth)), depth)


def cut(share: float, relevant: int) -> int:
    """⌊share · relevant + 0.9⌋; refuses what binary floating point would make of it otherwise."""
    exact = math.floor(exactly(share) * relevant + Fraction(9, 10))
    assert exact == math.floor(share * relevant + 0.9), "a case must not hang on the rounding of a double"
    return exact


def interpolated(each: List, *, recall: float, rel: float | None = None) -> Number:
    """IPrec."""
    relevant, hits = each.relevant(rel), each.hits(rel)
    if each.rounded:
        needed = math.floor(exactly(recall) * relevant + Fraction(1, 2))
    else:
        needed = cut(recall, relevant)
    at = [(sum(hits[:rank]), Fraction(sum(hits[:rank]), rank)) for rank in range(1, len(hits) + 1)]
    return max((share for found, share in at if found >= needed and found), default=ZERO)


def eleven_points(
    each: List,
    *,
    rel: float | None = None,
    points: Sequence[float] = ELEVEN,
) -> Number:
    """AP11."""
    return mean([interpolated(each, recall=point, rel=rel) for point in points])


def preference(each: List, *, rel: float | None = None) -> Number:
    """Bpref."""
    relevant, hits = each.relevant(rel), each.hits(rel)
    bound, total = min(relevant, each.refuted(rel)), ZERO
    for rank, hit in enumerate(hits):
        above = sum(g is not None and g >= 0 and not h for g, h in zip(each.found[:rank], hits, strict=False))
        if hit:
            total += 1 - over(min(above, relevant), bound)
    return over(total, relevant)


def inferred(each: List, *, rel: float | None = None) -> Number:
    """infAP, with trec_eval's epsilon of 0.00001."""
    epsilon, hits, total = Fraction(1, 100_000), each.hits(rel), ZERO
    for rank, hit in enumerate(hits, 1):
        above = list(zip(each.found[: rank - 1], hits, strict=False))
        pooled = sum(g is not None for g, _ in above)
        good = sum(h for _, h in above)
        bad = sum(g is not None and g >= 0 and not h for g, h in above)
        if hit and rank > 1:
            rate = (good + epsilon) / (good + bad + 2 * epsilon)
            total += Fraction(1, rank) + Fraction(rank - 1, rank) * Fraction(pooled, rank - 1) * rate
        elif hit:
            total += 1
    return over(total, each.relevant(rel))


def worth(grade: Fraction | None, gain: str, gains: Mapping[str, float] | None) -> Fraction:
    """Return the gain of a grade: itself, 2^g − 1, or what the table says; nothing if negative or unjudged."""
    if grade is None:
        return ZERO
    for level, other in (gains or {}).items():
        if exactly(level) == grade:
            return exactly(other)
    if grade <= 0:
        return ZERO
    return Fraction(2**grade - 1) if gain == "exp" else grade


def dcg(
    each: List,
    *,
    cutoff: int | None = None,
    gain: str = "linear",
    gains: Mapping[str, float] | None = None,
    discount: str = "log2",
) -> Number:
    """DCG."""
    worths = [worth(grade, gain, gains) for grade in each.found[:cutoff]]
    return value(discounted(worths)) if discount == "log2" else by_position(worths)


def ideal(
    each: List,
    *,
    cutoff: int | None = None,
    gain: str = "linear",
    gains: Mapping[str, float] | None = None,
    discount: str = "log2",
) -> Number:
    """IDCG."""
    worths = best(each, gain, gains)[:cutoff]
    return value(discounted(worths)) if discount == "log2" else by_position(worths)


def by_position(gains: Iterable[Fraction]) -> Fraction:
    """Each gain, first to last, over its rank."""
    return sum((gain / rank for rank, gain in enumerate(gains, 1)), ZERO)


def best(each: List, gain: str, gains: Mapping[str, float] | None) -> list[Fraction]:
    """Return the gains of everything judged, highest first."""
    return sorted((max(worth(grade, gain, gains), ZERO) for grade in each.judged), reverse=True)


def ndcg(
    each: List,
    *,
    cutoff: int | None = None,
    gain: str = "linear",
    gains: Mapping[str, float] | None = None,
    discount: str = "log2",
    ideal: str = "judged",
) -> Number:
    """Discounted gain as a share of that of the best order."""
    got = [worth(grade, gain, gains) for grade in each.found[:cutoff]]
    wanted = best(each, gain, gains)[:cutoff]
    if ideal == "retrieved":
        wanted = wanted[: len(each.found)]
    if discount == "position":
        return over(by_position(got), by_position(wanted))
    return ratio(discounted(got), discounted(wanted))


def cascade(grades: list[Fraction], highest: Fraction) -> Fraction:
    """One over the rank at which a reader stops, in expectation."""
    total, going = ZERO, Fraction(1)
    for rank, grade in enumerate(grades, 1):
        stop = Fraction(2 ** min(grade, highest) - 1) / Fraction(2**highest)
        total += going * stop / rank
        going *= 1 - stop
    return total


def err(each: List, *, cutoff: int | None = None, max_grade: float | None = None) -> Number:
    """ERR."""
    highest = each.highest if max_grade is None else exactly(max_grade)
    return cascade([max(grade or ZERO, ZERO) for grade in each.found[:cutoff]], highest)


def nerr(each: List, *, cutoff: int | None = None, max_grade: float | None = None) -> Number:
    """ERR over that of the best order of everything judged."""
    highest = each.highest if max_grade is None else exactly(max_grade)
    order = sorted((max(grade, ZERO) for grade in each.judged), reverse=True)
    got = err(each, cutoff=cutoff, max_grade=max_grade)
    assert isinstance(got, Fraction)
    return over(got, cascade(order[:cutoff], highest))


def rbp(
    each: List,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    gain: str | None = None,
    max_grade: float | str | None = None,
) -> Number:
    """RBP, binary or graded."""
    stay, hits, total = exactly(p), each.hits(rel, cutoff), ZERO
    if max_grade == "query":
        highest = max([*each.judged, Fraction(1)])
    else:
        highest = each.highest if max_grade is None else exactly(max_grade)
    for rank, (grade, hit) in enumerate(zip(each.found[:cutoff], hits, strict=True)):
        use = Fraction(hit)
        if gain == "grade":
            use = (grade or ZERO) if hit else ZERO
        elif gain is not None:
            level = None if grade is None else min(grade, highest)
            use = over(worth(level, gain, None), worth(highest, gain, None))
        total += use * stay**rank
    return (1 - stay) * total


def residual(each: List, *, p: float = 0.8, tail: str = "always") -> Number:
    """Return the weight of what is not known: unjudged results, and everything beyond the list."""
    stay = exactly(p)
    unknown = [rank for rank, grade in enumerate(each.found) if grade is None or grade < 0]
    if tail == "unjudged" and not unknown:
        return ZERO
    return (1 - stay) * sum((stay**rank for rank in unknown), ZERO) + stay ** len(each.found)


def judged_share(each: List, *, cutoff: int | None = None) -> Number:
    """Judged@k."""
    shown = each.found[:cutoff]
    return over(sum(grade is not None and grade >= 0 for grade in shown), len(shown))


def unjudged_share(each: List, *, cutoff: int) -> Number:
    """Unjudged@k."""
    return Fraction(sum(grade is None or grade < 0 for grade in each.found[:cutoff]), cutoff)


def set_f(each: List, *, rel: float | None = None, beta: float = 1.0, weight: float | None = None) -> Number:
    """SetF."""
    hits = sum(each.hits(rel))
    p, r = over(hits, len(each.found)), over(hits, each.relevant(rel))
    square = exactly(beta) ** 2 if weight is None else exactly(weight)
    return over((1 + square) * p * r, square * p + r)


def binary_gain(each: List, *, rel: float | None = None) -> Number:
    """binG: one over log₂(2 + the others above), averaged over the relevant documents."""
    hits, relevant = each.hits(rel), each.relevant(rel)
    others = [rank - sum(hits[:rank]) for rank, hit in enumerate(hits) if hit]
    if not relevant:
        return ZERO
    if not any(others):
        return Fraction(len(others), relevant)
    total = Decimal(0)
    with localcontext(prec=WORKING):
        for above in others:
            total += decimal(value(discounted([ZERO] * above + [Fraction(1)])))
        return total / relevant


Measured = Callable[..., Number]
MEASURES: dict[str, Measured] = {
    "P": precision,
    "R": recall,
    "F1": f1,
    "Success": success,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "AP_R": average_precision_at_r,
    "AP_found": average_precision_found,
    "gm_AP": average_precision,
    "Rprec": r_precision,
    "IPrec": interpolated,
    "AP11": eleven_points,
    "Bpref": preference,
    "gm_Bpref": preference,
    "infAP": inferred,
    "DCG": dcg,
    "IDCG": ideal,
    "nDCG": ndcg,
    "binG": binary_gain,
    "ERR": err,
    "nERR": nerr,
    "RBP": rbp,
    "RBP_residual": residual,
    "Judged": judged_share,
    "Unjudged": unjudged_share,
    "SetP": lambda each, *, rel=None: over(sum(each.hits(rel)), len(each.found)),
    "SetR": lambda each, *, rel=None: over(sum(each.hits(rel)), each.relevant(rel)),
    "SetRelP": lambda each, *, rel=None: over(sum(each.hits(rel)), min(len(each.found), each.relevant(rel))),
    "SetAP": lambda each, *, rel=None: over(sum(each.hits(rel)) ** 2, len(each.found) * each.relevant(rel)),
    "SetF": set_f,
    "NumRet": lambda each: Fraction(len(each.found)),
    "NumRel": lambda each, *, rel=None: Fraction(each.relevant(rel)),
    "NumRelRet": lambda each, *, rel=None: Fraction(sum(each.hits(rel))),
}
"""Each measure's definition; `over` is written `over_` here, for there it is a function."""
