"""Measures of judgments by intent, from their definitions, in exact arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from conformance.exact.arithmetic import Discounted, Number, discounted, mean, ratio
from conformance.exact.lists import MEASURES as OF_LISTS, ZERO, List, exactly, over

Discount = Callable[[Iterable[Fraction]], Discounted]
"""Gains, first to last, as a discounted sum; where that is rational, it is all under the base 2."""


def answered(each: List, grades: Mapping[str, Fraction], rel: float | None) -> list[str]:
    """Return the intents that a document with these grades is relevant to."""
    at = max(each.rel if rel is None else exactly(rel), ZERO)
    return [intent for intent, grade in grades.items() if grade >= at]


def intents(each: List, rel: float | None) -> list[str]:
    """Return the intents of the query that have a relevant document."""
    return sorted({intent for grades in each.documents.values() for intent in answered(each, grades, rel)})


def gains(
    each: List, order: Iterable[Mapping[str, Fraction]], alpha: float, rel: float | None
) -> list[Fraction]:
    """Return the new gain of each document: 1 − α less to an intent for each before that answered it."""
    seen: Counter[str] = Counter()
    brought = []
    for grades in order:
        answers = answered(each, grades, rel)
        brought.append(sum(((1 - exactly(alpha)) ** seen[intent] for intent in answers), ZERO))
        seen.update(answers)
    return brought


def greedy(each: List, alpha: float, rel: float | None) -> list[Fraction]:
    """Return the gains of the order that takes the most novel document next, of several the one of the greatest id."""
    left, taken = dict(each.documents), list[Any]()
    best: list[Fraction] = []
    while left:
        worth = {name: gains(each, [*taken, left[name]], alpha, rel)[-1] for name in left}
        name = max(left, key=lambda name: (round(worth[name], 12), name.encode()))
        best.append(worth[name])
        taken.append(left.pop(name))
    return best


def by_rank(values: Iterable[Fraction]) -> Discounted:
    """Each gain over its rank."""
    return {2: sum((gain / rank for rank, gain in enumerate(values, 1)), ZERO)}


def by_patience(beta: float) -> Discount:
    """Each gain less by β for every rank before."""
    return lambda values: {2: sum((gain * exactly(beta) ** place for place, gain in enumerate(values)), ZERO)}


def over_bound(each: List, discount: Discount, cutoff: int, alpha: float, rel: float | None) -> Number:
    """Return the novelty of the first results over that of results which all answer every intent."""
    number = len(intents(each, rel))
    bound = discount([number * (1 - exactly(alpha)) ** place for place in range(cutoff)] if number else [])
    return _ratio(discount(gains(each, each.answers[:cutoff], alpha, rel)), bound)


def over_greedy(
    each: List, discount: Discount, cutoff: int | None, alpha: float, rel: float | None
) -> Number:
    """Return the novelty of the first results over that of the greedy order of all judged documents."""
    got = discount(gains(each, each.answers[:cutoff], alpha, rel))
    return _ratio(got, discount(greedy(each, alpha, rel)[:cutoff]))


def _ratio(above: Discounted, below: Discounted) -> Number:
    kept = [{base: part for base, part in each.items() if part} for each in (above, below)]
    return ratio(*kept)


def alpha_dcg(each: List, *, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Number:
    """α-DCG."""
    return over_bound(each, discounted, cutoff, alpha, rel)


def alpha_ndcg(
    each: List, *, cutoff: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> Number:
    """α-nDCG."""
    return over_greedy(each, discounted, cutoff, alpha, rel)


def err_ia(each: List, *, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Number:
    """ERR-IA, as ndeval has it."""
    return over_bound(each, by_rank, cutoff, alpha, rel)


def nerr_ia(each: List, *, cutoff: int | None = None, alpha: float = 0.5, rel: float | None = None) -> Number:
    """nERR-IA."""
    return over_greedy(each, by_rank, cutoff, alpha, rel)


def nrbp(each: List, *, alpha: float = 0.5, beta: float = 0.5, rel: float | None = None) -> Number:
    """NRBP: over results without end that all answer every intent."""
    got = by_patience(beta)(gains(each, each.answers, alpha, rel))[2]
    return over(got * (1 - (1 - exactly(alpha)) * exactly(beta)), len(intents(each, rel)))


def nnrbp(each: List, *, alpha: float = 0.5, beta: float = 0.5, rel: float | None = None) -> Number:
    """NNRBP."""
    return over_greedy(each, by_patience(beta), None, alpha, rel)


def subtopic_recall(each: List, *, cutoff: int, rel: float | None = None) -> Number:
    """StRecall@k; of targets, which are the one intent of their document, DR@k."""
    found = {intent for grades in each.answers[:cutoff] for intent in answered(each, grades, rel)}
    return over(len(found), len(intents(each, rel)))


def of_intent(each: List, intent: str) -> List:
    """Return the query as those see it who mean this by it."""
    return replace(
        each,
        found=tuple(grades.get(intent) for grades in each.answers),
        judged=tuple(grades[intent] for grades in each.documents.values() if intent in grades),
    )


def intent_mean(each: List, name: str, rel: float | None, **parameters: Any) -> Number:
    """Return the mean over the intents of what a measure is for each."""
    level = {} if rel is None else {"rel": rel}
    return mean(
        [OF_LISTS[name](of_intent(each, intent), **level, **parameters) for intent in intents(each, rel)]
    )


def ap_ia(each: List, *, cutoff: int | None = None, rel: float | None = None) -> Number:
    """AP-IA."""
    return intent_mean(each, "AP", rel, cutoff=cutoff)


def p_ia(each: List, *, cutoff: int, rel: float | None = None) -> Number:
    """P-IA."""
    return intent_mean(each, "P", rel, cutoff=cutoff)


def ia(each: List, *, of: str) -> Number:
    """Return the mean over intents of a measure that is named, such as `nDCG@10`."""
    name, _, cutoff = of.partition("@")
    return intent_mean(each, name, None, **({"cutoff": int(cutoff)} if cutoff else {}))


MEASURES: dict[str, Callable[..., Number]] = {
    "alpha_DCG": alpha_dcg,
    "alpha_nDCG": alpha_ndcg,
    "ERR_IA": err_ia,
    "nERR_IA": nerr_ia,
    "NRBP": nrbp,
    "nNRBP": nnrbp,
    "AP_IA": ap_ia,
    "P_IA": p_ia,
    "StRecall": subtopic_recall,
    "DR": subtopic_recall,
    "IA": ia,
}
