"""Random rankings, and measures with random parameters, for the property tests."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from judged.kernels.examples import make_ranking
from judged.kernels.ranked.ranking import Ranking
from judged.measures.groups import MEASURES
from judged.measures.measure import Measure

GRADES = (-2, -1, 0, 0, 1, 1, 2, 3, 4, 0.5, 2.5)


@dataclass(frozen=True)
class Query:
    """One query: the grades of its results, best first (None: unjudged), and of what was missed."""

    found: tuple[float | None, ...]
    missed: tuple[float, ...] = ()
    targets: tuple[int, ...] = ()
    """Of the judged documents, retrieved ones first; none: each document is its own."""
    intents: tuple[tuple[tuple[int, float], ...], ...] = ()
    """Of the judged documents, retrieved ones first, pairs of an intent and the grade for it; none: its target."""

    @property
    def judged(self) -> list[float]:
        """All grades, of retrieved documents first."""
        return [grade for grade in self.found if grade is not None] + list(self.missed)

    @property
    def by_intent(self) -> list[dict[int, float]]:
        """Of each judged document, retrieved ones first, its grade for each of its intents."""
        if self.intents:
            return [dict(pairs) for pairs in self.intents]
        names = self.targets or [-1 - i for i in range(len(self.judged))]
        return [{name: grade} for name, grade in zip(names, self.judged, strict=True)]


def view(queries: Sequence[Query], *, rel: float = 1.0) -> Ranking:
    """The view of these queries."""
    targets = [list(query.targets) or [-1 - i for i in range(len(query.judged))] for query in queries]
    made = make_ranking(
        *[query.found for query in queries],
        missed=[query.missed for query in queries],
        targets=targets,
        intents=[query.by_intent for query in queries],
        rel=rel,
    )
    return replace(made, highest=max((grade for query in queries for grade in query.judged), default=1.0))


@st.composite
def queries(draw: st.DrawFn, *, grades: Sequence[float] = GRADES, unjudged: bool = True) -> Query:
    """A query with any grades, some results unjudged, some documents missed, some sharing a target."""
    grade = st.sampled_from(grades)
    found = draw(st.lists(st.one_of(st.none(), grade) if unjudged else grade, max_size=12))
    missed = draw(st.lists(grade, max_size=5))
    judged = sum(grade is not None for grade in found) + len(missed)
    targets = draw(st.one_of(st.just([]), st.lists(st.integers(0, 3), min_size=judged, max_size=judged)))
    every = [grade for grade in found if grade is not None] + missed
    intents = [draw(graded_intents(grade)) for grade in every] if draw(st.booleans()) else []
    return Query(tuple(found), tuple(missed), tuple(targets), tuple(intents))


@st.composite
def graded_intents(draw: st.DrawFn, highest: float) -> tuple[tuple[int, float], ...]:
    """Some of four intents, the first with the highest grade of the document, the others with any up to it."""
    intents = draw(st.lists(st.integers(0, 3), min_size=1, unique=True))
    others = [(intent, min(highest, draw(st.sampled_from(GRADES)))) for intent in intents[1:]]
    return ((intents[0], highest), *others)


VALUES: dict[str, st.SearchStrategy[object]] = {
    "cutoff": st.integers(1, 15),
    "rel": st.sampled_from([0, 0.5, 1, 2, 3]),
    "gains": st.dictionaries(st.sampled_from([0, 1, 2, 3]), st.sampled_from([-1, 0, 0.5, 1, 7]), min_size=1),
    "max_grade": st.sampled_from([1, 2, 4.5]),
    "p": st.floats(0.05, 0.95),
    "beta": st.floats(0, 5),
    "weight": st.floats(0, 25),
    "multiple": st.floats(0.1, 4),
    "recall": st.one_of(st.sampled_from([0, 0.1, 0.2, 0.5, 0.9, 1]), st.floats(0, 1)),
    "points": st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 1]), min_size=1, unique=True),
    "collection": st.integers(100, 10_000),
    "stops": st.dictionaries(st.sampled_from([0, 1, 2, 3]), st.sampled_from([0, 0.5, 1, 7]), min_size=1),
    "gamma": st.one_of(st.just(1), st.floats(0.05, 0.95)),
    "base": st.sampled_from([1.5, 2, 2.718281828459045, 4]),
    "T": st.sampled_from([0.25, 0.5, 1, 1.5, 3]),
    "depth": st.integers(1, 15),
    "hb": st.sampled_from([-0.5, 0, 0.5, 1]),
    "hc": st.sampled_from([-0.5, 0, 0.5, 1, 4]),
    "gain_med": st.sampled_from([0, 0.25, 0.5, 1]),
    "alpha": st.one_of(st.sampled_from([0, 0.5, 1]), st.floats(0, 1)),
    "of": st.sampled_from(["nDCG@5", "RR", "P(rel=2)@3", 'nDCG(gain="exp")', "AP@10", "ERR", "Success@2"]),
    "a": st.floats(-5, 5),
    "b": st.floats(-5, 5),
    "c": st.floats(-5, 5),
    "d": st.floats(-5, 5),
}
"""Values of each parameter that is not one of a few words; the words are the measure's own."""
OWN = {(name, "beta"): st.floats(0, 1) for name in ("NRBP", "nNRBP")}
"""Values of parameters that mean something else in one measure."""


@st.composite
def variants(draw: st.DrawFn, measure: Measure | None = None) -> Measure:
    """A measure with any of its parameters set, and all that must be."""
    chosen = MEASURES[draw(st.sampled_from(list(MEASURES)))] if measure is None else measure
    for name, default in chosen.defaults.items():
        if default is inspect.Parameter.empty or draw(st.booleans()):
            options = [OWN.get((chosen.name, name), VALUES[name])] if name in VALUES else []
            options += [st.sampled_from(chosen.words[name])] if chosen.words[name] else []
            chosen = chosen(**{name: draw(st.one_of(*options))})
    return chosen
