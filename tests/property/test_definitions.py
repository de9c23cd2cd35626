"""Every measure equals its definition, written out slowly in plain Python.

The definitions of the conformance suite, in exact arithmetic, are used where there is one; the others are here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st

from conformance.exact.lists import List, exactly
from conformance.exact.measured import MEASURES as EXACT, measured
from conformance.exact.novelty import intent_mean
from judged.measures.groups import MEASURES
from judged.measures.parse import parse_measure
from support.strategies import Query, queries, variants, view

Parameters = dict[str, Any]
Going = Callable[[int, float, float], float]


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

    def share(self, grade: float | None) -> float:
        """A gain as a share of the highest."""
        top = self.given.get("max_grade") or self.highest
        return over(self.gain(None if grade is None else min(grade, top)), self.gain(top))

    def browsed(self, goes_on: Going, depth: int, unknown: float = 0.0) -> tuple[float, float]:
        """Expected gain and number of looks of a reader, result by result."""
        reached, total, gained, looked = 1.0, 0.0, 0.0, 0.0
        for i in range(1, depth + 1):
            grade = self.query.found[i - 1] if i <= self.n else None
            gain = self.share(grade) if self.judged(grade) else unknown
            total += gain
            gained += reached * gain
            looked += reached
            reached *= goes_on(i, gain, total)
        return gained, looked

    def rate(self, goes_on: Going, depth: int, unknown: float = 0.0) -> float:
        """Expected gain for each look."""
        gained, looked = self.browsed(goes_on, depth, unknown)
        return gained / looked

    def relevant_gain(self, grade: float | None) -> float:
        """What a relevant grade is worth."""
        return self.gain(grade) if self.relevant(grade) else 0.0

    def blended(self, rank: int) -> float:
        """Precision and cumulated gain in one."""
        beta = self.given["beta"]
        top = self.query.found[:rank]
        ideal = sorted((max(self.relevant_gain(grade), 0) for grade in self.query.judged), reverse=True)
        count = sum(self.relevant(grade) for grade in top)
        return (count + beta * sum(map(self.relevant_gain, top))) / (rank + beta * sum(ideal[:rank]))

    @property
    def hit_ranks(self) -> list[int]:
        """The ranks of relevant documents above the cutoff."""
        return [i for i, grade in enumerate(self.top, 1) if self.relevant(grade)]

    @property
    def preferred_rank(self) -> int:
        """The rank of the first of the most relevant results; 0 if none is relevant."""
        grades = [grade if self.relevant(grade) else -1.0 for grade in self.query.found]
        best = max(grades, default=-1.0)  # type: ignore[type-var]
        return grades.index(best) + 1 if best is not None and best >= 0 else 0

    def targets(self, grades: list[float | None]) -> set[int]:
        """The targets that relevant documents answer."""
        names = iter(self.query.targets or range(len(self.query.judged)))
        pairs = [(grade, next(names)) for grade in grades if grade is not None]
        return {target for grade, target in pairs if self.relevant(grade)}


def over(numerator: float, denominator: float) -> float:
    """A quotient, 0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def _fallout(q: Slow) -> float:
    size = q.given["collection"]
    if size is not None:
        return over(len(q.top) - q.hits, size - q.R)
    return over(sum(q.judged(g) and not q.relevant(g) for g in q.top), q.N)


def _relstring(q: Slow) -> str:
    def character(grade: float | None) -> str:
        if grade is None:
            return "-"
        return "." if grade < 0 else ">" if grade >= 10 else str(int(grade))

    return "".join(character(grade) for grade in q.top)


def _q(q: Slow) -> float:
    short = q.given["over"] == "cutoff" and q.given["cutoff"] is not None
    return over(sum(map(q.blended, q.hit_ranks)), min(q.R, q.cutoff) if short else q.R)


def _o(q: Slow) -> float:
    return q.blended(q.hit_ranks[0]) if q.hit_ranks else 0.0


def _p_measure(q: Slow) -> float:
    return q.blended(q.preferred_rank) if q.preferred_rank else 0.0


def _p_plus(q: Slow) -> float:
    ranks = [rank for rank in q.hit_ranks if rank <= q.preferred_rank]
    return over(sum(map(q.blended, ranks)), len(ranks))


def _ncu(q: Slow) -> float:
    table = dict(q.given["gains"] or ()) if q.given["stops"] is None else dict(q.given["stops"])
    plain = q.given | {"gains": tuple(table.items())}

    def weight(grade: float | None) -> float:
        return max(Slow(q.query, q.highest, plain).relevant_gain(grade), 0.0)

    if q.given["stop"] == "graded":
        total = sum(map(weight, q.query.judged))
        return over(sum(weight(q.query.found[i - 1]) * q.blended(i) for i in q.hit_ranks), total)
    step = q.given["gamma"] if q.given["stop"] == "biased" else 1.0
    total = sum(step**j for j in range(q.R))
    return over(sum(step**j * q.blended(i) for j, i in enumerate(q.hit_ranks)), total)


def _ndcg_jk(q: Slow) -> float:
    def dcg(gains: list[float]) -> float:
        base = q.given["base"]
        return sum(v if i < base else v / math.log(i, base) for i, v in enumerate(gains[: q.cutoff], 1))

    return over(dcg([q.gain(grade) for grade in q.query.found]), dcg(q.ideal))


def _compat(q: Slow) -> float:
    """Lists of names, cut at each depth, as the paper has it."""
    found = [(f"f{i}", grade) for i, grade in enumerate(q.query.found)]
    missed = [(f"m{i}", grade) for i, grade in enumerate(q.query.missed)]
    wanted = [pair for pair in found + missed if pair[1] is not None and pair[1] > 0]
    ideal = [name for name, _ in sorted(wanted, key=lambda pair: -(pair[1] or 0))]
    results = [name for name, _ in found]

    def overlap(one: list[str], other: list[str]) -> float:
        longer = max(len(results), len(ideal), 1)
        deep = longer if q.given["depth"] == "longer" else q.given["depth"]
        depths, p = range(1, deep + 1), q.given["p"]
        shared = sum(p ** (d - 1) * len({*one[:d]} & {*other[:d]}) / d for d in depths)
        return shared / sum(p ** (d - 1) for d in depths)

    best = overlap(ideal, ideal) if q.given["over"] == "ideal" else 1.0
    return over(overlap(results, ideal), best)


def _reader(model: str, given: Parameters) -> tuple[Going, int]:
    """When the reader of a model goes on, and how far at most."""
    p, T, k, depth = (given.get(name) for name in ("p", "T", "cutoff", "depth"))

    def inst(i: int, _gain: float, total: float) -> float:
        missing = T - total
        return (max(i + T + missing - 1, 0) / (i + T + missing)) ** 2

    def insq(i: int, _gain: float, _total: float) -> float:
        return ((i + 2 * T - 1) / (i + 2 * T)) ** 2

    readers: dict[str, tuple[Going, int]] = {
        "rbp": (lambda _i, _g, _t: p, depth),
        "insq": (insq, depth),
        "inst": (inst, depth),
        "sdcg": (lambda i, _g, _t: math.log(i + 1) / math.log(i + 2), k),
        "nerr8": (lambda _i, g, _t: 1 - g, k),
        "nerr9": (lambda i, g, _t: i / (i + 1) * (1 - g), k),
        "nerr10": (lambda _i, g, _t: p * (1 - g), depth),
        "nerr11": (lambda i, g, t: insq(i, g, t) * (1 - g), depth),
        "bpm": (lambda i, _g, t: float(t < T and i < k), depth),
    }
    return readers[model]


def _rate_of(model: str) -> Callable[[Slow], float]:
    return lambda q: q.rate(*_reader(model, q.given))


def _bpm(q: Slow) -> float:
    """Wants and patience are moved after each result, as the paper has it."""
    want, patience, gained = q.given["T"], q.given["cutoff"], 0.0
    for i in range(1, q.given["depth"] + 1):
        gain = q.share(q.query.found[i - 1]) if i <= q.n else 0.0
        gained += gain
        slack = 1e-9 if q.given["hb"] or q.given["hc"] else 0.0  # the limits are sums that round
        if gained >= want - slack or i >= patience - slack:
            break
        want += q.given["hb"] * (gain - q.given["gain_med"])
        patience += q.given["hc"] * (gain - q.given["gain_med"])
    return gained / i


def _eu_residual(q: Slow) -> float:
    reader = _reader(q.given["model"], q.given)
    return q.rate(*reader, unknown=1.0) - q.rate(*reader)


DEFINITIONS: dict[str, Callable[[Slow], Any]] = {
    "FallOut": _fallout,
    "NumQ": lambda _: 1.0,
    "NumNonrelJudgedRet": lambda q: float(sum(q.judged(g) and not q.relevant(g) for g in q.query.found)),
    "relstring": _relstring,
    "DiversityCount": lambda q: float(len(q.targets(list(q.top)))),
    "Q": _q,
    "O": _o,
    "P_measure": _p_measure,
    "P_plus": _p_plus,
    "NCU": _ncu,
    "nDCG_JK": _ndcg_jk,
    "Compat": _compat,
    "BPM": _bpm,
    **{
        name: _rate_of(name.lower())
        for name in ("INST", "INSQ", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11")
    },
    "ETU": lambda q: q.browsed(*_reader(q.given["model"], q.given))[0],
    "ED": lambda q: q.browsed(*_reader(q.given["model"], q.given))[1],
    "EU_residual": _eu_residual,
}
"""The measures that the conformance suite does not have."""


def define(name: str, query: Query, highest: float, parameters: Parameters) -> Any:
    """Return the value of a measure by its definition: exact where the conformance suite has one, else from here."""
    if name in DEFINITIONS:
        return DEFINITIONS[name](Slow(query, highest, parameters))
    given = dict(parameters)
    if given.get("gains"):
        given["gains"] = {str(grade): gain for grade, gain in given["gains"]}
    exact = to_list(query, highest, by_target=name == "DR")
    if name == "IA":
        inner = parse_measure(given["of"])
        settings = {key: value for key, value in inner.parameters.items() if key not in {"rel", "over"}}
        return float(intent_mean(exact, inner.name, inner.parameters.get("rel"), **settings))  # type: ignore[arg-type]
    try:
        return float(measured(exact, name, given))
    except AssertionError:  # exact arithmetic and doubles round a share of the documents differently
        reject()


def to_list(query: Query, highest: float, *, by_target: bool) -> List:
    """Return a query as the exact definitions read it; of equally novel documents the first has the greatest id."""
    intents = query.by_intent
    if by_target:
        names = query.targets or range(len(query.judged))
        intents = [{name: grade} for name, grade in zip(names, query.judged, strict=True)]
    graded = [{str(name): exactly(grade) for name, grade in grades.items()} for grades in intents]
    judged = iter(graded)
    return List(
        found=tuple(None if grade is None else exactly(grade) for grade in query.found),
        judged=tuple(map(exactly, query.judged)),
        rel=Fraction(1),
        highest=exactly(highest),
        answers=tuple({} if grade is None else next(judged) for grade in query.found),
        documents={f"{9999 - number}": document for number, document in enumerate(graded)},
    )


def test_no_measure_lacks_a_definition() -> None:
    """Every measure has one, exact or here, and none has two."""
    assert set(DEFINITIONS) | set(EXACT) == set(MEASURES)
    assert not set(DEFINITIONS) & set(EXACT)


@pytest.mark.parametrize("name", list(MEASURES))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_equals_its_definition(name: str, data: st.DataObject) -> None:
    """The vectorised value of every query is the one that the formula gives, whatever the parameters."""
    drawn = data.draw(st.lists(queries(), min_size=1, max_size=4))
    measure = data.draw(variants(MEASURES[name]))
    ranking = view(drawn)
    slow = [define(name, query, max(ranking.highest, 0.0), measure.parameters) for query in drawn]

    if measure.text:
        assert measure.per_query(ranking).tolist() == slow
    else:
        np.testing.assert_allclose(measure.per_query(ranking), slow, rtol=1e-9, atol=1e-9)
