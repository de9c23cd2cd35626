"""trec_eval's measures G, ndcg_rel, Rndcg, yaap and utility from their definitions, in exact arithmetic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from decimal import localcontext
from fractions import Fraction
from itertools import accumulate

from conformance.exact.arithmetic import WORKING, Number, decimal, mean, ratio, root
from conformance.exact.lists import ZERO, List, best, exactly, ndcg, over, precision_sum, worth

Gains = Mapping[str, float] | None


def g(each: List, *, gains: Gains = None) -> Number:
    """G: a gain over log₂(2 + how far the gains so far have fallen behind the best order)."""
    ideal = [gain for gain in best(each, "linear", gains) if gain]
    got = [worth(grade, "linear", gains) for grade in each.found]
    pace = [max(gain, Fraction(1)) for gain in ideal] + [Fraction(1)] * len(got)
    behind = accumulate(wanted - gain for wanted, gain in zip(pace, got, strict=False))
    total: defaultdict[int | Fraction, Fraction] = defaultdict(Fraction)
    for gain, late in zip(got, behind, strict=True):
        whole = (2 + late).denominator == 1
        base, power = root(int(2 + late)) if whole else (2 + late, 1)
        total[base] += gain / power
    kept = {base: Fraction(part) for base, part in total.items() if part}
    return ratio(kept, {2: sum(ideal, ZERO)} if ideal else {})


def ndcg_rel(each: List, *, gains: Gains = None) -> Number:
    """NDCG at each result with a gain, and at the end for each one that is missed, averaged."""
    worthy = sum(gain > 0 for gain in best(each, "linear", gains))
    ranks = [rank for rank, grade in enumerate(each.found, 1) if worth(grade, "linear", gains) > 0]
    at = [ndcg(each, cutoff=rank, gains=gains) for rank in ranks]
    value = mean(at + [ndcg(each, gains=gains)] * (worthy - len(ranks)))
    return value if value > 0 else ZERO  # gains below 0 do not make it negative


def rndcg(each: List, *, gains: Gains = None, rel: float | None = None) -> Number:
    """NDCG where the best order goes down to the next gain, and at the end of a list that goes on, averaged."""
    ideal = [gain for gain in best(each, "linear", gains) if gain > 0]
    if not each.relevant(rel):
        return ZERO
    depths = [sum(gain >= level for gain in ideal) for level in sorted(set(ideal), reverse=True)]
    if len(each.found) > len(ideal) + 1:
        depths.append(len(each.found))
    return mean([ndcg(each, cutoff=depth, gains=gains) for depth in depths])


def yaap(each: List, *, rel: float | None = None) -> Number:
    """Return the natural logarithm of (1 + s)/(1 + R − s), where s is the sum of precisions that AP is made of."""
    total, relevant = precision_sum(each, None, rel), each.relevant(rel)
    odds = over(1 + total, 1 + relevant - total)
    if odds == 1:
        return ZERO
    with localcontext(prec=WORKING):
        return decimal(odds).ln()


def utility(
    each: List,
    *,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    collection: int = 0,
    rel: float | None = None,
) -> Number:
    """Return the prices of hits, of other results, of misses, and of everything else."""
    hits, relevant = sum(each.hits(rel)), each.relevant(rel)
    others, missed = len(each.found) - hits, relevant - hits
    rest = collection - len(each.found) - missed
    return exactly(a) * hits + exactly(b) * others + exactly(c) * missed + exactly(d) * rest


MEASURES: dict[str, Callable[..., Number]] = {
    "G": g,
    "nDCG_rel": ndcg_rel,
    "Rndcg": rndcg,
    "yaap": yaap,
    "Utility": utility,
}
