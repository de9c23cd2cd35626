"""Every measure equals its definition, written out slowly in plain Python, result by result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.measures.families import MEASURES
from judged.measures.parse import parse_measure
from strategies import Query, queries, variants, view

Parameters = dict[str, Any]
Going = Callable[[int, float, float], float]
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

    @property
    def aspects(self) -> dict[int, list[float | None]]:
        """For each intent that has a relevant document, the grades of all results for it."""
        intents = {name for each in self.query.by_intent for name, g in each.items() if self.relevant(g)}
        found = [each.get for each in self.documents]
        return {name: [get(name) for get in found] for name in sorted(intents)}

    @property
    def documents(self) -> list[dict[int, float]]:
        """Of every result its grades by intent; of one that was not judged, none."""
        judged = iter(self.query.by_intent)
        return [{} if grade is None else next(judged) for grade in self.query.found]

    def novelties(self, documents: list[dict[int, float]]) -> list[float]:
        """What each document in turn adds to what those before it said."""
        seen: dict[int, int] = {}
        gains = []
        for document in documents:
            told = [name for name, grade in document.items() if self.relevant(grade)]
            gains.append(sum((1 - self.given["alpha"]) ** seen.get(name, 0) for name in told))
            seen |= {name: seen.get(name, 0) + 1 for name in told}
        return gains

    def greedy(self) -> list[dict[int, float]]:
        """The judged documents, always the one that adds most next, of several the first."""
        left, order = list(self.query.by_intent), []
        while left:
            gains = [round(self.novelties([*order, each])[-1], 12) for each in left]
            order.append(left.pop(gains.index(max(gains))))
        return order

    def discounted(self, documents: list[dict[int, float]], discount: Callable[[int], float]) -> float:
        """Novelties down to the cutoff, discounted and added up."""
        gains = self.novelties(documents)[: self.given.get("cutoff")]
        return sum(gain * discount(i) for i, gain in enumerate(gains, 1))

    def bounded(self, discount: Callable[[int], float]) -> float:
        """The novelty of the results over that of results that answer everything."""
        k = self.given["cutoff"]
        bound = sum((1 - self.given["alpha"]) ** (i - 1) * discount(i) for i in range(1, k + 1))
        return over(self.discounted(self.documents, discount), bound * len(self.aspects))

    def beside_greedy(self, discount: Callable[[int], float]) -> float:
        """The novelty of the results over that of the greedy order."""
        return over(self.discounted(self.documents, discount), self.discounted(self.greedy(), discount))

    def mean_of_intents(self, name: str, given: Parameters) -> float:
        """A measure of each intent alone, averaged over those that have a relevant document."""
        rel = {} if given.get("rel") is None else {"rel": given["rel"]}
        names = Slow(self.query, self.highest, rel).aspects
        total = 0.0
        for intent in names:
            found = tuple(each.get(intent) for each in self.documents)
            every = [each[intent] for each in self.query.by_intent if intent in each]
            missed = list(every)
            for grade in found:
                if grade is not None:
                    missed.remove(grade)
            total += DEFINITIONS[name](Slow(Query(found, tuple(missed)), self.highest, given))
        return over(total, len(names))


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
        if kind == "grade":
            return float(grade) if grade is not None and q.relevant(grade) else 0.0
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
        if gained >= want or i >= patience:
            break
        want += q.given["hb"] * (gain - q.given["gain_med"])
        patience += q.given["hc"] * (gain - q.given["gain_med"])
    return gained / i


def _eu_residual(q: Slow) -> float:
    reader = _reader(q.given["model"], q.given)
    return q.rate(*reader, unknown=1.0) - q.rate(*reader)


def _ia(q: Slow) -> float:
    measure = parse_measure(q.given["of"])
    return q.mean_of_intents(measure.name, measure.parameters)


def _nrbp(q: Slow) -> float:
    alpha, beta = q.given["alpha"], q.given["beta"]
    got = q.discounted(q.documents, lambda i: beta ** (i - 1))
    return over(got * (1 - (1 - alpha) * beta), len(q.aspects))


def _logarithmic(i: int) -> float:
    return 1 / math.log2(i + 1)


def _reciprocal(i: int) -> float:
    return 1 / i


DEFINITIONS: dict[str, Callable[[Slow], Any]] = {
    "alpha_nDCG": lambda q: q.beside_greedy(_logarithmic),
    "alpha_DCG": lambda q: q.bounded(_logarithmic),
    "ERR_IA": lambda q: q.bounded(_reciprocal),
    "nERR_IA": lambda q: q.beside_greedy(_reciprocal),
    "NRBP": _nrbp,
    "nNRBP": lambda q: q.beside_greedy(lambda i: q.given["beta"] ** (i - 1)),
    "AP_IA": lambda q: q.mean_of_intents("AP", {**q.given, "over": "relevant"}),
    "P_IA": lambda q: q.mean_of_intents("P", {**q.given, "over": "cutoff"}),
    "StRecall": lambda q: q.mean_of_intents("Success", q.given),
    "IA": _ia,
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
