"""Laws that measures obey: some all of them, some those that are listed under the law's name."""

from __future__ import annotations

import ast
import inspect
import math
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.agents.measures import SESSION_MEASURES
from judged.errors import BadMeasure, JudgedError
from judged.kernels.examples import make_ranking
from judged.kernels.ranked.ranking import Ranking
from judged.measures.groups import MEASURES, PREFERENCE_MEASURES
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.parameters import PARAMETERS
from judged.measures.parse import parse_measure
from support.strategies import VALUES, Query, queries, variants, view

QUICK = settings(max_examples=15, deadline=None)
EVERY = pytest.mark.parametrize("name", list(MEASURES))


CHECKED_ELSEWHERE = {
    *(Law.RELEVANCE_ONLY, Law.GAIN_ONLY, Law.JUDGMENT_ONLY, Law.LINEAR, Law.STEPWISE, Law.BY_GRADE),
    *(Law.GROWS, Law.IN_ORDER, Law.ONE_WAY, Law.PARTED, Law.DISCOUNTED_RATIO),
}
"""Laws that say how values over tie orders and judgments still to be made are found: `test_ties.py` and
`test_holes.py` check them against all orders and judgments."""
CHECKED: set[Law] = set()
"""Laws that a test of this file checks."""


def having(law: Law) -> pytest.MarkDecorator:
    """Parametrise a test with the measures that declare a law."""
    CHECKED.add(law)
    return pytest.mark.parametrize("name", [name for name in MEASURES if law in MEASURES[name].laws])


def usable(name: str, cutoff: int = 5) -> Measure:
    """The measure with its defaults, and with what must be given."""
    measure = MEASURES[name]
    required = [
        parameter for parameter, default in measure.defaults.items() if default is inspect.Parameter.empty
    ]
    values = {"cutoff": cutoff, "recall": 0.5, "of": "nDCG@5"}
    return measure(**{parameter: values[parameter] for parameter in required})


def values(measure: Measure, ranking: Ranking) -> list[object]:
    """The values of all queries, to be compared exactly."""
    return measure.per_query(ranking).tolist()


def test_no_measure_is_forgotten() -> None:
    """Every measure declares one law or more, and every law that a measure declares is checked by a test."""
    assert [name for name in MEASURES if not MEASURES[name].laws] == []
    assert {law for name in MEASURES for law in MEASURES[name].laws} == CHECKED | CHECKED_ELSEWHERE


def test_no_law_is_forgotten() -> None:
    """Every law is declared by a measure of some family."""
    every = [table[name] for table in (MEASURES, PREFERENCE_MEASURES, SESSION_MEASURES) for name in table]

    assert {law for measure in every for law in measure.laws} == set(Law)


def test_no_parameter_is_forgotten() -> None:
    """Every parameter of every measure is described, and every description is of a parameter."""
    used = {name for measure in MEASURES for name in MEASURES[measure].defaults}
    worded = {name for measure in MEASURES for name, words in MEASURES[measure].words.items() if words}

    assert used == set(PARAMETERS)
    assert used == set(VALUES) | worded


def _keeps_to_a_scale(measure: Measure) -> bool:
    """Whether nothing is set that takes the measure beyond its bounds: gains, or grades that nothing divides."""
    return "gains" not in dict(measure.set_parameters) and dict(measure.set_parameters).get("gain") != "grade"


@EVERY
@QUICK
@given(data=st.data())
def test_stays_within_its_bounds(name: str, data: st.DataObject) -> None:
    """No value falls outside the bounds that the measure declares."""
    measure = data.draw(variants(MEASURES[name]).filter(_keeps_to_a_scale))
    if measure.text:
        return
    low, high = measure.bounds
    scores = measure.per_query(view(data.draw(st.lists(queries(), min_size=1, max_size=4))))

    assert ((low <= scores) & (scores <= high + 1e-12)).all()
    assert np.isfinite(scores).all()


@EVERY
@QUICK
@given(data=st.data())
def test_does_not_depend_on_what_is_computed_with_it(name: str, data: st.DataObject) -> None:
    """A query scores the same alone, among others and in another order, to the last bit."""
    drawn = data.draw(st.lists(queries(), min_size=2, max_size=6))
    measure = data.draw(variants(MEASURES[name]))
    together = view(drawn)
    alone = [
        value
        for query in drawn
        for value in values(measure, replace(view([query]), highest=together.highest))
    ]

    assert values(measure, together) == alone
    assert values(measure, view(drawn[::-1])) == alone[::-1]


@EVERY
@QUICK
@given(data=st.data())
def test_leaves_the_view_as_it_was(name: str, data: st.DataObject) -> None:
    """A measure computed after all others is the one computed on a fresh view."""
    drawn = data.draw(st.lists(queries(), min_size=1, max_size=3))
    measure, ranking = usable(name), view(drawn)
    for other in MEASURES:
        usable(other).per_query(ranking)

    assert values(measure, ranking) == values(measure, view(drawn))


@EVERY
def test_takes_no_queries_at_all(name: str) -> None:
    """Of no queries there are no values."""
    assert len(usable(name).per_query(make_ranking())) == 0


@having(Law.SWAP)
@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    found=st.lists(st.sampled_from([0, 0, 1, 2, 4, 9]), min_size=2, max_size=6),
    missed=st.lists(st.sampled_from([0, 1, 2, 4]), max_size=2),
)
def test_moving_a_better_result_up_never_hurts(
    name: str, data: st.DataObject, found: list[int], missed: list[int]
) -> None:
    """Exchanging any two results into descending grade cannot make a score worse, whatever the parameters."""
    measure = data.draw(variants(MEASURES[name]).filter(lambda measure: not measure.has_gain_table))
    pairs = [(i, j) for i, j in combinations(range(len(found)), 2) if found[i] < found[j]]

    def score(grades: list[int]) -> float:
        return float(measure.per_query(view([Query(tuple(grades), tuple(missed))]))[0])

    before = score(found)
    for i, j in pairs:
        better = [*found]
        better[i], better[j] = better[j], better[i]
        if measure.higher_is_better is False:
            assert score(better) <= before + 1e-9
        else:
            assert score(better) >= before - 1e-9


@pytest.mark.parametrize(("name", "found"), [("Q", [0, 4, 1]), ("nDCG_rel", [0, 4, 1]), ("O", [0, 0, 2, 1])])
def test_some_measures_lose_by_a_better_result_further_up(name: str, found: list[int]) -> None:
    """They compare with the best order at the ranks of relevant results, so the law of exchange is not theirs."""
    last = found.index(0) if name != "O" else 1
    better = [*found]
    better[last], better[-1] = better[-1], better[last]
    before, after = (usable(name).per_query(view([Query(tuple(grades))]))[0] for grades in (found, better))

    assert after < before
    assert Law.SWAP not in MEASURES[name].laws


@having(Law.ZERO_IF_NOTHING_FOUND)
@QUICK
@given(
    found=st.lists(st.sampled_from([None, -1, 0]), max_size=8),
    missed=st.lists(st.integers(-1, 4), max_size=5),
)
def test_is_zero_if_nothing_is_found(name: str, found: list[int | None], missed: list[int]) -> None:
    """Whatever there was to find, results that are all not relevant or unjudged score 0."""
    assert values(usable(name), view([Query(tuple(found), tuple(missed))])) == [0.0]


@having(Law.ONE_IF_IDEAL)
@QUICK
@given(grades=st.lists(st.integers(1, 4), min_size=1, max_size=10))
def test_is_one_if_ideal(name: str, grades: list[int]) -> None:
    """Exactly the relevant documents in the best order, down to the last of them, score 1."""
    best = view([Query(tuple(sorted(grades, reverse=True)))])

    assert values(usable(name, cutoff=len(grades)), best) == [pytest.approx(1.0, abs=1e-12)]


@having(Law.ORDER_FREE)
@QUICK
@given(data=st.data(), query=queries(grades=(-1, 0, 1, 2)))
def test_does_not_depend_on_the_order_of_results(name: str, data: st.DataObject, query: Query) -> None:
    """The set of results decides, in whatever order."""
    shuffled = Query(tuple(data.draw(st.permutations(query.found))), query.missed)
    plain = Query(query.found, query.missed)

    assert values(usable(name), view([shuffled])) == values(usable(name), view([plain]))


@having(Law.GRADE_FREE)
@QUICK
@given(data=st.data(), query=queries())
def test_does_not_depend_on_grades(name: str, data: st.DataObject, query: Query) -> None:
    """Whether a result was judged decides, not how."""
    change = st.integers(0, 4)
    other = [g if g is None or g < 0 else data.draw(change) for g in query.found]

    assert values(usable(name), view([Query(tuple(other))])) == values(
        usable(name), view([Query(query.found)])
    )


@having(Law.RUN_FREE)
@QUICK
@given(query=queries())
def test_does_not_depend_on_the_run(name: str, query: Query) -> None:
    """The judgments decide: with nothing retrieved the value is the same."""
    nothing = Query((), tuple(query.judged))

    assert values(usable(name), view([nothing])) == values(usable(name), view([query]))
    assert not MEASURES[name].zero_if_missing


@having(Law.WHOLE)
@QUICK
@given(query=queries())
def test_is_a_whole_number(name: str, query: Query) -> None:
    """A count is a whole number from 0."""
    value = usable(name).per_query(view([query]))[0]

    assert value >= 0
    assert value == math.floor(value)


@having(Law.ONE_OR_MORE)
@QUICK
@given(query=queries())
def test_is_one_or_more(name: str, query: Query) -> None:
    """Every reader views the first result."""
    assert usable(name).per_query(view([query]))[0] >= 1.0


@having(Law.ZERO_IF_ALL_IS_KNOWN)
@QUICK
@given(grades=st.lists(st.integers(0, 4), min_size=1, max_size=10))
def test_is_zero_if_all_is_known(name: str, grades: list[int]) -> None:
    """Where every result that can be looked at was judged, nothing is left open."""
    measure = usable(name)(depth=len(grades), cutoff=len(grades))

    assert values(measure, view([Query(tuple(grades))])) == [0.0]


@having(Law.TEXT)
@QUICK
@given(query=queries(), cutoff=st.integers(1, 15))
def test_has_a_character_for_each_result(name: str, query: Query, cutoff: int) -> None:
    """A string is as long as the results looked at."""
    text = (MEASURES[name] @ cutoff).per_query(view([query]))[0]

    assert isinstance(text, str)
    assert len(text) == min(cutoff, len(query.found))


@settings(max_examples=300, deadline=None)
@given(measure=variants())
def test_parses_back_from_what_it_prints(measure: Measure) -> None:
    """A measure with any parameters is the one its own text names, in either case."""
    again = parse_measure(str(measure))

    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)
    assert parse_measure(str(measure).swapcase()) == measure


@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(st.text(max_size=20), st.from_regex(r"[nDCGPR_]{1,4}[(@._]?[a-z0-9=,.@(){}'\" -]{0,12}"))
)
def test_any_text_is_a_measure_or_a_worded_error(text: str) -> None:
    """Parsing never fails in any other way than with an error that says what is wrong."""
    with suppress(JudgedError):
        measure = parse_measure(text)

        assert parse_measure(str(measure)) == measure


@EVERY
def test_refuses_what_no_parameter_may_be(name: str) -> None:
    """A value that makes no sense is refused for every parameter, with what it must be."""
    for parameter in MEASURES[name].defaults:
        with pytest.raises(BadMeasure, match=f"`{parameter}` of {name} must be "):
            MEASURES[name](**{parameter: object()})


@EVERY
def test_is_documented_where_it_is_computed(name: str) -> None:
    """The kernel is a plain function with its own docstring, so that its example is run."""
    function = MEASURES[name].function
    source = ast.parse(inspect.getsource(inspect.getmodule(function)))  # type: ignore[arg-type]
    documented = {node.name for node in source.body if isinstance(node, ast.FunctionDef)}

    assert inspect.isfunction(function)
    assert function.__name__ in documented
    assert ">>>" in (function.__doc__ or "")
