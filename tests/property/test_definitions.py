"""Every measure equals its definition, written out slowly in plain Python, result by result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.measures.catalogue import MEASURES
from strategies import Query, queries, variants, view

Parameters = dict[str, Any]
EPSILON = 1e-5


class Slow:
    """One query under the parameters of a measure, with the words that definitions use."""

    def __init__(self, query: Query, highest: float, given: Parameters) -> None:
        self.query, self.given, self.highest = query, given, highest
        self.rel = 1.0 if given.get("rel") is None else given["rel"]
        self.cutoff = given.get("cutoff") or max(len(query.found), len(query.judged), 1)
        self.top = query.found[: self.cutoff]

    def relevant(self, grade: float | None) -> bool:
        """Whether a grade makes a document relevant."""
        return grade is not None and grade >= 0 and grade >= self.rel

    def judged(self, grade: float | None) -> bool:
        """Whether a grade is a judgment."""
        return grade is not None and grade >= 0

    def gain(self, grade: float | None) -> float:
        """What a grade is worth."""
        if grade is None or grade < 0:
            return 0.0
        table = dict(self.given.get("gains") or ())
        if grade in table:
            return table[grade]
        return 2.0**grade - 1 if self.given.get("gain") == "exp" else float(grade)

    @property
    def n(self) -> int:
        """How many documents are retrieved."""
        return len(self.query.found)

    @property
    def R(self) -> int:
        """How many documents are relevant."""
        return sum(self.relevant(grade) for grade in self.query.judged)

    @property
    def N(self) -> int:
        """How many documents are judged and not relevant."""
        return sum(self.judged(grade) for grade in self.query.judged) - self.R

    @property
    def hits(self) -> int:
        """How many relevant documents stand above the cutoff."""
        return sum(self.relevant(grade) for grade in self.top)

    @property
    def ideal(self) -> list[float]:
        """The positive gains, highest first."""
        return sorted((g for g in map(self.gain, self.query.judged) if g > 0), reverse=True)

    def precision(self, rank: int) -> float:
        """The share of relevant documents down to a rank."""
        return sum(self.relevant(grade) for grade in self.query.found[:rank]) / rank

    def dcg(self, gains: list[float], cutoff: int) -> float:
        """Gains over the logarithms of their ranks, added up."""
        return sum(gain / math.log2(i + 1) for i, gain in enumerate(gains[:cutoff], 1))

    def ndcg(self, cutoff: int) -> float:
        """DCG over that of the best order."""
        best = self.dcg(self.ideal, cutoff)
        return over(self.dcg([self.gain(g) for g in self.query.found], cutoff), best)

    def precision_sum(self) -> float:
        """The precisions at relevant documents, added up."""
        return sum(self.precision(i) for i, grade in enumerate(self.top, 1) if self.relevant(grade))

    def interpolated(self, recall: float) -> float:
        """The highest precision where recall is reached or passed."""
        need = math.floor(recall * self.R + 0.9)
        reached = [
            self.precision(i)
            for i in range(1, self.n + 1)
            if sum(self.relevant(grade) for grade in self.query.found[:i]) >= need
        ]
        return max(reached, default=0.0)

    def cascade(self, grades: list[float | None]) -> float:
        """Expected reciprocal rank of a list of grades."""
        top = self.given.get("max_grade") or self.highest
        going_on, total = 1.0, 0.0
        for i, grade in enumerate(grades[: self.cutoff], 1):
            stop = (2 ** min(max(grade or 0, 0), top) - 1) / 2**top if top > 0 else 0.0
            total += going_on * stop / i
            going_on *= 1 - stop
        return total

    def targets(self, grades: list[float | None]) -> set[int]:
        """The targets that relevant documents answer."""
        names = iter(self.query.targets or range(len(self.query.judged)))
        pairs = [(grade, next(names)) for grade in grades if grade is not None]
        return {target for grade, target in pairs if self.relevant(grade)}


def over(numerator: float, denominator: float) -> float:
    """A quotient, 0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def _precision(q: Slow) -> float:
    return over(q.hits, q.cutoff if q.given["over"] == "cutoff" else min(q.cutoff, q.n))


def _recall(q: Slow) -> float:
    return over(q.hits, q.R if q.given["over"] == "relevant" else min(q.cutoff, q.R))


def _f1(q: Slow) -> float:
    precision, recall = q.hits / q.cutoff, over(q.hits, q.R)
    return over(2 * precision * recall, precision + recall)


def _rr(q: Slow) -> float:
    return next((1 / i for i, grade in enumerate(q.top, 1) if q.relevant(grade)), 0.0)


def _ap(q: Slow) -> float:
    short = q.given["over"] == "cutoff" and q.given["cutoff"] is not None
    return over(q.precision_sum(), min(q.R, q.cutoff) if short else q.R)


def _infap(q: Slow) -> float:
    total = 0.0
    for i, grade in enumerate(q.query.found, 1):
        if not q.relevant(grade):
            continue
        above = q.query.found[: i - 1]
        pooled = sum(g is not None for g in above)
        judged = sum(q.judged(g) for g in above)
        relevant = sum(q.relevant(g) for g in above)
        rate = (relevant + EPSILON) / (judged + 2 * EPSILON)
        total += 1.0 if i == 1 else 1 / i + (i - 1) / i * (pooled / (i - 1)) * rate
    return over(total, q.R)


def _rprec(q: Slow) -> float:
    cutoff = math.floor(q.given["multiple"] * q.R + 0.9)
    return over(sum(q.relevant(grade) for grade in q.query.found[:cutoff]), cutoff)


def _rndcg(q: Slow) -> float:
    if not q.R or not q.ideal:
        return 0.0
    points = [sum(gain >= level for gain in q.ideal) for level in sorted(set(q.ideal), reverse=True)]
    values = [q.ndcg(point) for point in points]
    if q.n > len(q.ideal) + 1:
        values.append(q.ndcg(q.n))
    return sum(values) / len(values)


def _ndcg_rel(q: Slow) -> float:
    at = [q.ndcg(i) for i, grade in enumerate(q.query.found, 1) if q.gain(grade) > 0]
    missed = len(q.ideal) - len(at)
    everything = over(q.dcg([q.gain(g) for g in q.query.found], q.n), q.dcg(q.ideal, len(q.ideal)))
    return over(max(sum(at) + missed * everything, 0.0), len(q.ideal))


def _g(q: Slow) -> float:
    cost, got, total = 0.0, 0.0, 0.0
    for i, grade in enumerate(q.query.found):
        cost += max(q.ideal[i], 1.0) if i < len(q.ideal) else 1.0
        got += q.gain(grade)
        total += q.gain(grade) / math.log2(2 + cost - got)
    return over(total, sum(q.ideal))


def _bing(q: Slow) -> float:
    total = 0.0
    for i, grade in enumerate(q.query.found):
        if q.relevant(grade):
            total += 1 / math.log2(2 + sum(not q.relevant(g) for g in q.query.found[:i]))
    return over(total, q.R)


def _bpref(q: Slow) -> float:
    total = 0.0
    for i, grade in enumerate(q.query.found):
        if q.relevant(grade):
            above = sum(q.judged(g) and not q.relevant(g) for g in q.query.found[:i])
            total += 1 - over(min(above, q.R), min(q.N, q.R))
    return over(total, q.R)


def _rbp(q: Slow) -> float:
    kind, top = q.given["gain"], q.given["max_grade"] or q.highest
    if top == "query":
        top = max([1.0, *q.query.judged])

    def use(grade: float | None) -> float:
        if kind is None:
            return float(q.relevant(grade))
        return over(q.gain(None if grade is None else min(grade, top)), q.gain(top))

    p = q.given["p"]
    return (1 - p) * sum(use(grade) * p ** (i - 1) for i, grade in enumerate(q.top, 1))


def _residual(q: Slow) -> float:
    p = q.given["p"]
    unknown = [p ** (i - 1) for i, grade in enumerate(q.query.found, 1) if not q.judged(grade)]
    if q.given["tail"] == "unjudged" and not unknown:
        return 0.0
    return (1 - p) * sum(unknown) + p**q.n


def _fallout(q: Slow) -> float:
    size = q.given["collection"]
    if size is not None:
        return over(len(q.top) - q.hits, size - q.R)
    return over(sum(q.judged(g) and not q.relevant(g) for g in q.top), q.N)


def _set_f(q: Slow) -> float:
    precision, recall = over(q.hits, q.n), over(q.hits, q.R)
    weight = q.given["beta"] ** 2 if q.given["weight"] is None else q.given["weight"]
    return over((1 + weight) * precision * recall, weight * precision + recall)


def _utility(q: Slow) -> float:
    cells = (q.hits, q.n - q.hits, q.R - q.hits, q.given["collection"] - q.n - q.R + q.hits)
    return sum(q.given[price] * cell for price, cell in zip("abcd", cells, strict=True))


def _relstring(q: Slow) -> str:
    def character(grade: float | None) -> str:
        if grade is None:
            return "-"
        return "." if grade < 0 else ">" if grade >= 10 else str(int(grade))

    return "".join(character(grade) for grade in q.top)


DEFINITIONS: dict[str, Callable[[Slow], Any]] = {
    "P": _precision,
    "R": _recall,
    "F1": _f1,
    "Success": lambda q: float(q.hits > 0),
    "RR": _rr,
    "AP": _ap,
    "gm_AP": lambda q: over(q.precision_sum(), q.R),
    "infAP": _infap,
    "yaap": lambda q: math.log((1 + q.precision_sum()) / (1 + q.R - q.precision_sum())),
    "Rprec": _rprec,
    "IPrec": lambda q: q.interpolated(q.given["recall"]),
    "AP11": lambda q: sum(map(q.interpolated, q.given["points"])) / len(q.given["points"]),
    "nDCG": lambda q: q.ndcg(q.cutoff),
    "DCG": lambda q: q.dcg([q.gain(g) for g in q.query.found], q.cutoff),
    "IDCG": lambda q: q.dcg(q.ideal, q.cutoff),
    "Rndcg": _rndcg,
    "nDCG_rel": _ndcg_rel,
    "G": _g,
    "binG": _bing,
    "ERR": lambda q: q.cascade(list(q.query.found)),
    "nERR": lambda q: over(q.cascade(list(q.query.found)), q.cascade(sorted(q.query.judged, reverse=True))),
    "RBP": _rbp,
    "RBP_residual": _residual,
    "Bpref": _bpref,
    "gm_Bpref": _bpref,
    "Judged": lambda q: over(sum(map(q.judged, q.top)), len(q.top)),
    "Unjudged": lambda q: sum(not q.judged(grade) for grade in q.top) / q.cutoff,
    "FallOut": _fallout,
    "SetP": lambda q: over(q.hits, q.n),
    "SetR": lambda q: over(q.hits, q.R),
    "SetF": _set_f,
    "SetAP": lambda q: over(q.hits**2, q.n * q.R),
    "SetRelP": lambda q: over(q.hits, min(q.n, q.R)),
    "Utility": _utility,
    "NumQ": lambda _: 1.0,
    "NumRet": lambda q: float(q.n),
    "NumRel": lambda q: float(q.R),
    "NumRelRet": lambda q: float(q.hits),
    "NumNonrelJudgedRet": lambda q: float(sum(q.judged(g) and not q.relevant(g) for g in q.query.found)),
    "relstring": _relstring,
    "DR": lambda q: over(len(q.targets(list(q.top))), len(q.targets([*q.query.found, *q.query.missed]))),
    "DiversityCount": lambda q: float(len(q.targets(list(q.top)))),
}


def test_no_measure_lacks_a_definition() -> None:
    """Every measure of the catalogue is written out here."""
    assert set(DEFINITIONS) == set(MEASURES)


@pytest.mark.parametrize("name", list(MEASURES))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_equals_its_definition(name: str, data: st.DataObject) -> None:
    """The vectorised value of every query is the one that the formula gives, whatever the parameters."""
    drawn = data.draw(st.lists(queries(), min_size=1, max_size=4))
    measure = data.draw(variants(MEASURES[name]))
    ranking = view(drawn)
    slow = [DEFINITIONS[name](Slow(query, max(ranking.highest, 0.0), measure.parameters)) for query in drawn]

    if measure.text:
        assert measure.per_query(ranking).tolist() == slow
    else:
        np.testing.assert_allclose(measure.per_query(ranking), slow, rtol=1e-9, atol=1e-9)
