"""Judgment holes: bounds held to every way of judging the unjudged results."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged import Protocol, evaluate
from judged.errors import BadMeasure
from judged.io.read import read_judgments, read_run
from judged.measures.groups import MEASURES
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.scoring.align import align
from judged.scoring.unjudged import unjudged_bounds
from support.strategies import variants

NUMBERS = [name for name in MEASURES if not MEASURES[name].text and MEASURES[name].needs != "intents"]
QUICK = settings(max_examples=12, deadline=None)


@st.composite
def query_with_holes(draw: st.DrawFn, levels: tuple[int, int] = (1, 2)) -> tuple[dict[str, int], list[str]]:
    """Judgments, and results of which up to five are unjudged; 0 and the two levels are the grades."""
    results = list("abcdefgh")[: draw(st.integers(1, 8))]
    low, high = levels
    grade = st.sampled_from([-1, 0, 0, low, low, high])
    unjudged = draw(st.sets(st.sampled_from(results), max_size=5))
    judged = {name: draw(grade) for name in results if name not in unjudged}
    missed = {f"m{i}": draw(grade) for i in range(draw(st.integers(0, 2)))}
    return judged | missed | {"one": low, "two": high}, results  # so that there are these grades


def every_completion(
    measure: Measure, judged: dict[str, int], results: list[str], depth: int | None
) -> np.ndarray:
    """The value with each way of judging the results that nobody has judged, scored one by one."""
    seen, levels = results[:depth], sorted({0, judged["one"], judged["two"]})
    holes = [name for name in seen if judged.get(name, -1) < 0]
    ways = [judged | dict(zip(holes, grades, strict=True)) for grades in product(levels, repeat=len(holes))]
    run = {name: float(-place) for place, name in enumerate(results)}
    queries = {f"q{i}": way for i, way in enumerate(ways)}
    scored = evaluate(queries, dict.fromkeys(queries, run), [measure], protocol=Protocol(depth=depth))
    return scored.per_query()[measure]


@pytest.mark.parametrize("few", [5_000, 0], ids=["one by one", "too many"])
@pytest.mark.parametrize("name", NUMBERS)
@QUICK
@given(
    data=st.data(),
    query=st.sampled_from([(1, 2), (1, 4), (3, 4), (1, 9)]).flatmap(query_with_holes),
    depth=st.sampled_from([None, None, 3]),
)
def test_bounds_contain_every_completion(
    name: str, few: int, data: st.DataObject, query: tuple[dict[str, int], list[str]], depth: int | None
) -> None:
    """For every measure: no way of judging lies outside, and where the bounds are exact, some reach them."""
    measure = data.draw(variants(MEASURES[name]))
    judged, results = query
    run = {name: float(-place) for place, name in enumerate(results)}
    alignment = align(read_judgments({"q": judged}), read_run({"q": run}), Protocol(depth=depth))
    try:
        with patch("judged.scoring.unjudged.COMPLETIONS", few):
            bounds = unjudged_bounds(measure, alignment)
    except BadMeasure:
        assert {"gains", "stops"} & dict(measure.set_parameters).keys()
        return
    values = every_completion(measure, judged, results, depth)

    assert bounds.low[0] <= values.min() + 1e-9
    assert bounds.high[0] >= values.max() - 1e-9
    if bounds.exact[0]:
        assert bounds.low[0] == pytest.approx(values.min(), abs=1e-9)
        assert bounds.high[0] == pytest.approx(values.max(), abs=1e-9)


@pytest.mark.parametrize(
    ("measure", "judged", "grades"),
    [
        ("Q", {"d4": 3, "d5": 3, "d7": 1}, {"d1": 0, "d2": 0, "d3": 1, "d6": 0}),
        ("nDCG_rel", {"d3": 3, "m0": 1}, {"d1": 0, "d2": 1, "d4": 0, "d5": 0}),
        ("O", {"d3": 2, "m0": 1}, {"d1": 0, "d2": 1, "d4": 0, "d5": 0}),
    ],
)
def test_bounds_contain_a_judgment_that_moves_a_better_result_up(
    measure: str, judged: dict[str, int], grades: dict[str, int]
) -> None:
    """Of judgments with the same grades, those in order are not the extreme ones of these measures."""
    run = {"q": {f"d{place}": float(-place) for place in range(1, 8 if "d7" in judged else 6)}}
    low, high = evaluate({"q": judged}, run, [measure]).unjudged_range(measure)

    assert low <= evaluate({"q": judged | grades}, run, [measure])[measure] <= high


@settings(max_examples=150, deadline=None)
@given(
    gain=st.sampled_from(["nDCG", 'nDCG(gain="exp")', "nDCG@2", 'nDCG(gain="exp")@3']),
    query=query_with_holes(),
)
def test_the_best_completion_of_ndcg_is_found_among_all(
    gain: str, query: tuple[dict[str, int], list[str]]
) -> None:
    """Its highest value may need any of the grades, so that it is searched for by level."""
    measure, (judged, results) = parse_measure(gain), query
    run = {name: float(-place) for place, name in enumerate(results)}
    high = evaluate({"q": judged}, {"q": run}, [measure]).unjudged_range(measure).high

    assert high == pytest.approx(every_completion(measure, judged, results, None).max(), abs=1e-12)


def test_bounds_of_measures_of_intents_are_those_of_the_measure() -> None:
    """What an unjudged result would be worth to each intent is open, so that anything the measure allows is."""
    judged = {"q": {"a": {"1": 1, "2": 0}, "b": {"1": 0, "2": 1}}}
    scored = evaluate(judged, {"q": {"a": 2.0, "x": 1.0}}, ["StRecall@2"])

    assert scored.unjudged_range("StRecall@2") == (0.0, 1.0)


def is_searched_in_order(measure: Measure) -> bool:
    """Whether its bounds over relevant and not relevant are at completions with the first or the last n relevant."""
    return bool(measure.laws & {Law.IN_ORDER, Law.DISCOUNTED_RATIO}) or {Law.SWAP, Law.PARTED} <= measure.laws


SEARCHED = [name for name in NUMBERS if is_searched_in_order(MEASURES[name])]


def completions_in_order(judged: dict[str, int], results: list[str], near: int) -> list[dict[str, int]]:
    """The judgments with the first n or the last n of the unjudged results relevant, those below `near` all or none."""
    unjudged = [name for name in results if name not in judged]
    seen = [name for name in results[:near] if name not in judged]
    below = unjudged[len(seen) :]
    chosen = [seen[:n] for n in range(len(seen) + 1)]
    chosen += [[*seen[len(seen) - n :], *below] for n in range(len(seen) + 1)]
    return [judged | dict.fromkeys(unjudged, 0) | dict.fromkeys(relevant, 1) for relevant in chosen]


@pytest.mark.parametrize("name", SEARCHED)
def test_bounds_of_long_lists_are_the_extremes_of_all_completions_in_order(name: str) -> None:
    """To the last bit, although few of them are evaluated; also where nothing is judged relevant."""
    measure = MEASURES[name]
    missing = {"cutoff": 7, "recall": 0.4}
    measure = measure(**{key: missing[key] for key in measure.defaults if key not in measure.parameters})
    rng = np.random.default_rng(22)
    for size in (1, 2, 9, 25, 60, 60, 60):
        results = [f"d{place}" for place in range(size)]
        known = rng.permutation(results)[: rng.integers(0, min(size, 12))].tolist()
        relevant = rng.choice([0.0, 0.3, 0.8])
        judged = {document: int(rng.random() < relevant) for document in known}
        judged |= {f"m{place}": int(rng.random() < relevant) for place in range(3)}
        cutoff = measure.parameters.get("cutoff")
        ways = completions_in_order(judged, results, cutoff if isinstance(cutoff, int) else size)
        run = {document: float(-place) for place, document in enumerate(results)}
        other = {"z": {"x": 1}}  # so that there is a grade above 0
        queries = {f"q{i}": way for i, way in enumerate(ways)}
        values = evaluate(queries | other, dict.fromkeys(queries, run), [measure]).per_query()[measure][:-1]

        low, high = evaluate({"q": judged} | other, {"q": run}, [measure]).unjudged_ranges(measure)["q"]

        assert (low, high) == (values.min(), values.max())


@pytest.mark.parametrize("name", [name for name in NUMBERS if Law.PARTED in MEASURES[name].laws])
def test_bounds_contain_what_is_relevant_where_nothing_was(name: str) -> None:
    """With many completions the upper bound is not the 0 of a query with nothing to find."""
    measure = MEASURES[name]
    measure = measure(recall=0.4) if "recall" in measure.defaults else measure
    results = {f"d{place}": float(-place) for place in range(40)}
    judged = {"q": {"d9": 0}, "z": {"x": 1, "y": 2}}
    high = evaluate(judged, {"q": results}, [measure]).unjudged_ranges(measure)["q"].high
    possible = evaluate(judged | {"q": {"d0": 2, "d9": 0}}, {"q": results}, [measure])

    assert high >= possible.per_query()[measure][0] > 0
