"""Ties: means and extremes over all orders of tied results, held to the orders themselves."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged import Protocol, evaluate
from judged.io.read import read_judgments, read_run
from judged.measures.groups import MEASURES
from judged.measures.measure import Measure
from judged.scoring.align import align
from judged.scoring.ties import average_over_ties, tie_range
from support.strategies import variants

NUMBERS = [name for name in MEASURES if not MEASURES[name].text]
QUICK = settings(max_examples=20, deadline=None)


@st.composite
def tied_query(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, float]]:
    """Judgments and results of one query: up to six results with few different scores, some unjudged."""
    names = draw(st.permutations("abcdef"))[: draw(st.integers(1, 6))]
    run = {name: float(draw(st.integers(0, 2))) for name in names}
    grade = st.sampled_from([-1, 0, 0, 1, 1, 2, 3])
    judged = {name: draw(grade) for name in names if draw(st.integers(0, 3))}
    missed = {f"m{i}": draw(grade) for i in range(draw(st.integers(0, 2)))}
    return judged | missed or {"m": 1}, run


def needed(measure: Measure, judged: dict[str, int]) -> dict[str, object]:
    """The judgments as the measure needs them: for two intents, where it looks at intents."""
    if measure.needs != "intents":
        return dict(judged)
    return {name: {"1": grade, "2": (grade + ord(name[-1])) % 3} for name, grade in judged.items()}


def orders(run: dict[str, float]) -> list[list[str]]:
    """Every order of the results in which a higher score stands before a lower one."""
    levels = sorted(set(run.values()), reverse=True)
    groups = [permutations([name for name in run if run[name] == level]) for level in levels]
    return [[name for group in order for name in group] for order in product(*groups)]


def over_all_orders(
    measure: Measure, judged: dict[str, int], run: dict[str, float], protocol: Protocol
) -> np.ndarray:
    """The value in each of those orders, by scoring runs without ties."""
    runs = [{name: float(-place) for place, name in enumerate(order)} for order in orders(run)]
    queries = {f"q{i}": run for i, run in enumerate(runs)}
    return evaluate(
        dict.fromkeys(queries, needed(measure, judged)), queries, [measure], protocol=protocol
    ).per_query()[measure]


@pytest.mark.parametrize("name", NUMBERS)
@QUICK
@given(data=st.data(), query=tied_query(), depth=st.sampled_from([None, None, 1, 3]), condensed=st.booleans())
def test_mean_and_extremes_over_tie_orders_are_those_of_the_orders(
    name: str,
    data: st.DataObject,
    query: tuple[dict[str, int], dict[str, float]],
    depth: int | None,
    condensed: bool,
) -> None:
    """For every measure, with any parameters: what all orders, scored one by one, have as mean, least and greatest."""
    measure = data.draw(variants(MEASURES[name]))
    judged, run = query
    protocol = Protocol(depth=depth, unjudged="removed" if condensed and depth is None else "nonrelevant")
    every = over_all_orders(measure, judged, run, protocol)
    alignment = align(read_judgments({"q": needed(measure, judged)}), read_run({"q": run}), protocol)

    low, high = tie_range(measure, alignment)
    assert average_over_ties(measure, alignment)[0] == pytest.approx(every.mean(), abs=1e-9)
    assert low[0] == pytest.approx(every.min(), abs=1e-9)
    assert high[0] == pytest.approx(every.max(), abs=1e-9)


@pytest.mark.parametrize("name", NUMBERS)
@QUICK
@given(data=st.data(), query=tied_query(), names=st.permutations("abcdefuvwxyz"))
def test_expected_values_do_not_depend_on_what_documents_are_called(
    name: str, data: st.DataObject, query: tuple[dict[str, int], dict[str, float]], names: list[str]
) -> None:
    """Renaming documents, and giving them in another order, changes no value."""
    measure = data.draw(variants(MEASURES[name]))
    judged, run = query
    new = dict(zip("abcdef", names, strict=False))
    graded = needed(measure, judged)
    renamed = {new.get(name, name): grade for name, grade in reversed(graded.items())}
    values = [
        evaluate({"q": grades}, {"q": scores}, [measure], protocol=Protocol(ties="expected"))[measure]
        for grades, scores in [(graded, run), (renamed, {new[name]: run[name] for name in reversed(run)})]
    ]

    assert values[0] == pytest.approx(values[1], abs=1e-12)


@pytest.mark.parametrize("name", [name for name in NUMBERS if not MEASURES[name].needs])
@QUICK
@given(data=st.data(), query=tied_query(), depth=st.sampled_from([None, None, 1, 3]), best=st.booleans())
def test_ties_by_grade_are_one_of_the_orders(
    name: str,
    data: st.DataObject,
    query: tuple[dict[str, int], dict[str, float]],
    depth: int | None,
    best: bool,
) -> None:
    """The order by grade, written out as scores without ties, has the same value, and the same ranges."""
    measure, (judged, run) = data.draw(variants(MEASURES[name])), query
    grades = {document: judged.get(document, -9) for document in run}
    ordered = sorted(run, key=lambda each: (-run[each], -grades[each] if best else grades[each]))
    plain = {document: float(-place) for place, document in enumerate(ordered)}
    by_grade = Protocol(ties="optimistic" if best else "pessimistic", depth=depth)

    mine = evaluate({"q": judged}, {"q": run}, [measure], protocol=by_grade)
    other = evaluate({"q": judged}, {"q": plain}, [measure], protocol=Protocol(depth=depth))

    assert mine[measure] == pytest.approx(other[measure], abs=1e-12)


@QUICK
@given(
    query=tied_query(),
    depth=st.sampled_from([None, 1, 3]),
    name=st.sampled_from(["nDCG@3", "AP", "RR", "IPrec@0.5"]),
)
def test_ranges_over_ties_do_not_depend_on_the_rule_for_them(
    query: tuple[dict[str, int], dict[str, float]], depth: int | None, name: str
) -> None:
    """Every rule has the same least and greatest value, and by grade they are those two."""
    judged, run = query
    rules = ("document-descending", "pessimistic", "optimistic")
    scored = [
        evaluate({"q": judged}, {"q": run}, [name], protocol=Protocol(ties=rule, depth=depth))
        for rule in rules
    ]
    low, high = scored[0].tie_range(name)

    assert all(each.tie_range(name) == pytest.approx((low, high), abs=1e-12) for each in scored)
    if name != "IPrec@0.5":
        assert (scored[1][name], scored[2][name]) == pytest.approx((low, high), abs=1e-12)
