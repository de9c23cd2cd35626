# ruff: noqa: D102 - the oracle has a method for each measure; the cards say what they are
"""Sessions drawn at random, and source document 001 written down once more: in plain Python, on lists and sets.

The arithmetic here follows the document's text and shares nothing with the package, so that both must be wrong in
the same way to agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from hypothesis import strategies as st

from judged.agents.examples import make_sessions
from judged.agents.kernels import SessionView
from judged.measures.measure import Measure

NAMES = "abcdefgh"
NAN = math.nan

gains = st.sampled_from([None, 0, 1, 2, 3, 4])
searches = st.lists(st.sampled_from(NAMES), max_size=4)
costs = st.sampled_from([NAN, 0.0, 1.0, 2.5, 800.0])


@dataclass(frozen=True)
class Case:
    """A session: the label of each name, and for each iteration its searches, each a list of names."""

    labels: dict[str, int | None]
    iterations: list[list[list[str]]]
    tokens: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    reference: dict[str, int] = field(default_factory=dict)

    @property
    def written(self) -> list[str]:
        """The iterations as `make_sessions` reads them."""
        return [
            " | ".join(" ".join(self._result(name) for name in search) for search in iteration)
            for iteration in self.iterations
        ]

    def _result(self, name: str) -> str:
        label = self.labels[name]
        return f"{name}{'?' if label is None else label}"

    def until(self, iteration: int) -> Case:
        """The session, had it stopped there."""
        parts = self.iterations, self.tokens, self.seconds, self.cost
        return Case(self.labels, *(part[:iteration] for part in parts), self.reference)  # type: ignore[arg-type]


@st.composite
def sessions(draw: st.DrawFn, most: int = 6) -> Case:
    """A session of up to that number of iterations, some without results, with and without labels, tokens, seconds."""
    labels = {name: draw(gains) for name in NAMES}
    iterations = draw(st.lists(st.lists(searches, min_size=1, max_size=3), max_size=most))
    tokens, seconds, cost = ([draw(costs) for _ in iterations] for _ in range(3))
    reference = draw(st.dictionaries(st.sampled_from(NAMES + "yz"), st.integers(0, 4), max_size=5))
    return Case(labels, iterations, tokens, seconds, cost, reference)


def view(*case: Case) -> SessionView:
    """The view that measures get of sessions."""
    return make_sessions(
        *(session.written for session in case),
        tokens=[session.tokens for session in case],
        seconds=[session.seconds for session in case],
        cost=[session.cost for session in case],
        reference=[" ".join(f"{name}{gain}" for name, gain in session.reference.items()) for session in case],
    )


PARAMETERS: dict[str, st.SearchStrategy[Any]] = {
    "iteration": st.sampled_from(["last", 1, 2, 3, 5, 8]),
    "good": st.integers(1, 4),
    "gain": st.sampled_from(["graded", "binary"]),
    "discount": st.sampled_from(["log2", "zipf", "none", 0.5, 0.9]),
    "beyond": st.sampled_from(["hold", "pad"]),
    "reference": st.sampled_from(["own", "given"]),
}


def variants(measure: Measure) -> st.SearchStrategy[Measure]:
    """The measure with any of its parameters set."""
    return st.fixed_dictionaries({}, optional={name: PARAMETERS[name] for name in measure.defaults}).map(
        lambda given: measure(**given)
    )


class Oracle:
    """The values of one session, each a method named for the measure; NaN where it is undefined."""

    def __init__(self, case: Case, settings: dict[str, Any]) -> None:
        self.case, self.good = case, settings.get("good", 2)
        self.binary = settings.get("gain") == "binary"
        self.discount, self.reference = settings.get("discount", "log2"), settings.get("reference", "own")
        self.total = len(case.iterations)
        asked = settings.get("iteration", "last")
        self.i = self.total if asked == "last" else min(asked, self.total)
        padded = settings.get("beyond") == "pad" and asked != "last"
        self.divisor = asked if padded else self.i
        self.outside = self.total == 0 or (padded and asked > self.total)
        self.returned = [[name for search in iteration for name in search] for iteration in case.iterations]
        self.fresh: list[list[str]] = []
        seen: set[str] = set()
        for names in self.returned:
            self.fresh.append([])
            for name in names:
                if name not in seen:
                    self.fresh[-1].append(name)
                seen.add(name)

    def gain(self, name: str) -> int:
        """What a result adds: nothing unless it is good."""
        return self._worth(self.case.labels[name] or 0)

    def _worth(self, label: int) -> int:
        return 0 if label < self.good else 1 if self.binary else label

    def weight(self, k: int) -> float:
        """The weight of iteration k."""
        named = {"log2": 1 / math.log2(k + 1), "zipf": 1 / k, "none": 1.0}
        return named[self.discount] if self.discount in named else self.discount ** (k - 1)

    def yields(self) -> list[float]:
        """The average gain of each iteration."""
        pairs = zip(self.returned, self.fresh, strict=True)
        return [sum(map(self.gain, new)) / len(every) if every else 0.0 for every, new in pairs]

    def value(self, name: str) -> float:
        """The value of the measure of that name."""
        return float(getattr(self, name)())

    def R(self) -> float:
        return sum(map(len, self.returned[: self.i]))

    def UR(self) -> float:
        return len({name for names in self.returned[: self.i] for name in names})

    def Dup(self) -> float:
        return self.R() - self.UR()

    def GR(self) -> float:
        found = {name for names in self.returned[: self.i] for name in names}
        return sum((self.case.labels[name] or 0) >= self.good for name in found)

    def N(self) -> float:
        return self.total

    def Searches(self) -> float:
        return sum(map(len, self.case.iterations[: self.i]))

    def CG(self) -> float:
        return sum(self.gain(name) for new in self.fresh[: self.i] for name in new)

    def RG(self) -> float:
        return self.CG() / self.divisor if self.divisor else 0.0

    def DCG(self) -> float:
        return self._discounted(self.fresh)

    def _discounted(self, dealt: list[list[str]]) -> float:
        return sum(self.weight(k) * sum(map(self.gain, new)) for k, new in enumerate(dealt[: self.i], 1))

    def DRG(self) -> float:
        return self.DCG() / self.divisor if self.divisor else 0.0

    def AvgGain(self) -> float:
        return 0.0 if self.outside else self.yields()[self.i - 1]

    def RAG(self) -> float:
        return sum(self.yields()[: self.i]) / self.divisor if self.divisor else 0.0

    def DRAG(self) -> float:
        return self._weighted_yield() / self.divisor if self.divisor else 0.0

    def _weighted_yield(self) -> float:
        return sum(self.weight(k) * gained for k, gained in enumerate(self.yields()[: self.i], 1))

    def nDRAG(self) -> float:
        if not self.divisor:
            return 0.0
        return self._weighted_yield() / sum(self.weight(k) for k in range(1, self.divisor + 1))

    def SRE(self) -> float:
        return self.GR() / self.R() if self.R() else 0.0

    def SRR(self) -> float:
        return self.Dup() / self.R() if self.R() else 0.0

    SRR_micro = SRR

    SRE_micro = SRE

    def _wanted(self) -> set[str]:
        own = {name for new in self.fresh for name in new if (self.case.labels[name] or 0) >= self.good}
        given = {name for name, gain in self.case.reference.items() if gain >= self.good}
        return own if self.reference == "own" else given

    def IterationsForAllGoodResults(self) -> float:
        wanted, found = self._wanted(), set[str]()
        for k, new in enumerate(self.fresh, 1):
            found |= set(new)
            if wanted and wanted <= found:
                return min(k, 100)
        return 100 if wanted else NAN

    def AllGoodReached(self) -> float:
        found = {name for new in self.fresh for name in new}
        return float(self._wanted() <= found) if self._wanted() else NAN

    def MarginalGain(self) -> float:
        return 0.0 if self.outside else sum(map(self.gain, self.fresh[self.i - 1]))

    def Lost(self) -> float:
        every = sum(self.gain(name) for new in self.fresh for name in new)
        return (every - self.CG()) / every if every else NAN

    def nDCG(self) -> float:
        """Over every order of the session's new results, dealt out in the numbers that came."""
        names = [name for new in self.fresh for name in new]
        best = max(self._discounted(self._dealt(order)) for order in permutations(names))
        return self.DCG() / best if best else NAN

    def _dealt(self, order: tuple[str, ...]) -> list[list[str]]:
        rest = iter(order)
        return [[next(rest) for _ in new] for new in self.fresh]

    def Recall(self) -> float:
        wanted = {name: self._worth(gain) for name, gain in self.case.reference.items()}
        found = {name for new in self.fresh[: self.i] for name in new}
        every = sum(wanted.values())
        return sum(worth for name, worth in wanted.items() if name in found) / every if every else NAN

    def Coverage(self) -> float:
        found = {name for new in self.fresh[: self.i] for name in new}
        return sum(self.case.labels[name] is not None for name in found) / len(found) if found else NAN

    def _for_each(self, spent: float) -> float:
        return self.CG() / spent if spent > 0 else NAN

    def GainPerSearch(self) -> float:
        return self._for_each(self.Searches())

    def GainPerKiloToken(self) -> float:
        return self._for_each(sum(self.case.tokens[: self.i]) / 1000)

    def GainPerSecond(self) -> float:
        return self._for_each(sum(self.case.seconds[: self.i]))

    def GainPerCost(self) -> float:
        return self._for_each(sum(self.case.cost[: self.i]))
