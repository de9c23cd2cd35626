"""Measures of sessions: equal to source document 001 done by hand, and the laws that they obey."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.agents.examples import make_sessions
from judged.agents.kernels import GAINS, UNLABELLED, SessionView
from judged.agents.measures import SESSION_MEASURES
from judged.measures.laws import Law
from judged.measures.measure import Measure, pooled_value
from judged.measures.parameters import HIGHEST_GAIN, SESSION_PARAMETERS
from judged.measures.parse import parse_measure
from support.session_oracle import NAMES, PARAMETERS, Case, Oracle, sessions, variants, view

QUICK = settings(max_examples=12, deadline=None)
EVERY = pytest.mark.parametrize("name", list(SESSION_MEASURES))
LOOKING_AHEAD = {"Lost", "nDCG"}
"""Their value at an iteration depends on what came later."""
PER_ITERATION = {"AvgGain", "MarginalGain"}
"""Their value at an iteration is that of this one alone."""

several = st.lists(sessions(), min_size=1, max_size=4)


CHECKED: set[Law] = set()
"""Laws that a test of this file checks."""


def having(law: Law) -> pytest.MarkDecorator:
    """Parametrise a test with the measures that declare a law."""
    CHECKED.add(law)
    return pytest.mark.parametrize(
        "name", [name for name in SESSION_MEASURES if law in SESSION_MEASURES[name].laws]
    )


def with_iteration(*, but: set[str] = frozenset()) -> pytest.MarkDecorator:  # type: ignore[assignment]
    """The measures that can be asked for at an iteration."""
    names = [name for name in SESSION_MEASURES if SESSION_MEASURES[name].at_parameter and name not in but]
    return pytest.mark.parametrize("name", names)


def one(measure: Measure, case: Case) -> float:
    """The value of the only session."""
    (value,) = measure.per_query(view(case)).tolist()
    return float(value)


def same(first: float, second: float) -> bool:
    """Whether two values are the same to the last bit, or both undefined."""
    return first == second or (math.isnan(first) and math.isnan(second))


def test_no_measure_and_no_parameter_is_forgotten() -> None:
    """Every measure is listed under a law, every law has a measure, and every parameter is described and drawn."""
    every = [SESSION_MEASURES[name] for name in SESSION_MEASURES]

    assert [measure for measure in every if not measure.laws] == []
    assert {law for measure in every for law in measure.laws} == CHECKED
    assert (
        {name for measure in every for name in measure.defaults} == set(SESSION_PARAMETERS) == set(PARAMETERS)
    )
    assert {measure.family for measure in every} == {"session"}
    assert GAINS[-1] == HIGHEST_GAIN


@EVERY
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_equals_the_document_done_by_hand(name: str, data: st.DataObject) -> None:
    """The vectors say what lists and sets say, whatever the parameters; nDCG by trying every order."""
    measure = data.draw(variants(SESSION_MEASURES[name]))
    case = data.draw(sessions(most=4 if name == "nDCG" else 6))
    if name == "nDCG":
        few = {name: case.labels[name] for name in NAMES[:5]}
        kept = [[[name for name in search if name in few] for search in step] for step in case.iterations]
        case = replace(case, labels=few, iterations=kept)

    assert one(measure, case) == pytest.approx(
        Oracle(case, measure.parameters).value(name), abs=1e-12, nan_ok=True
    )


@EVERY
@QUICK
@given(data=st.data())
def test_stays_within_its_bounds_or_is_undefined(name: str, data: st.DataObject) -> None:
    """No value falls outside the bounds that the measure declares."""
    measure = data.draw(variants(SESSION_MEASURES[name]))
    values = measure.per_query(view(*data.draw(several)))
    low, high = measure.bounds

    assert ((low <= values) & (values <= high + 1e-12) | np.isnan(values)).all()


@EVERY
@QUICK
@given(data=st.data())
def test_a_session_has_its_value_whatever_is_computed_with_it(name: str, data: st.DataObject) -> None:
    """Alone, among others and in another order, to the last bit; and after all other measures."""
    measure, case = data.draw(variants(SESSION_MEASURES[name])), data.draw(several)
    alone = [one(measure, session) for session in case]
    together = view(*case)
    for other in SESSION_MEASURES:
        SESSION_MEASURES[other].per_query(together)

    assert all(map(same, measure.per_query(together).tolist(), alone))
    assert all(map(same, measure.per_query(view(*case[::-1])).tolist(), alone[::-1]))


@EVERY
@QUICK
@given(data=st.data())
def test_the_order_of_results_within_an_iteration_does_not_matter(name: str, data: st.DataObject) -> None:
    """Iterations are sets, counted with their repetitions."""
    measure, case = data.draw(variants(SESSION_MEASURES[name])), data.draw(sessions())
    turned = [[search[::-1] for search in iteration[::-1]] for iteration in case.iterations]

    assert same(one(measure, replace(case, iterations=turned)), one(measure, case))


@with_iteration(but=LOOKING_AHEAD)
@QUICK
@given(data=st.data(), case=sessions(), at=st.integers(1, 6))
def test_the_value_at_an_iteration_is_that_of_a_session_that_stopped_there(
    name: str, data: st.DataObject, case: Case, at: int
) -> None:
    """What comes later does not matter, except that a session which found nothing until then is undefined."""
    measure = data.draw(variants(SESSION_MEASURES[name]))(iteration="last")
    stopped = case.until(at)
    if at > len(case.iterations) or not view(stopped).found.all():
        return

    assert same(one(measure @ at, case), one(measure, stopped))


@with_iteration()
@QUICK
@given(data=st.data(), case=sessions(), more=st.integers(0, 5))
def test_a_session_keeps_its_value_beyond_its_last_iteration(
    name: str, data: st.DataObject, case: Case, more: int
) -> None:
    """By default, and with `hold`."""
    measure = data.draw(variants(SESSION_MEASURES[name]))
    held = measure(beyond="hold") if "beyond" in measure.defaults else measure
    last = len(case.iterations)

    assert same(one(held @ (last + more + 1), case), one(held @ "last", case))
    assert last == 0 or same(one(held @ last, case), one(held @ "last", case))


@pytest.mark.parametrize("name", ["RG", "DRG", "RAG", "DRAG"])
@QUICK
@given(case=sessions(), more=st.integers(1, 5))
def test_padding_divides_by_the_iteration_asked_for(name: str, case: Case, more: int) -> None:
    """As if the session had gone on and found nothing."""
    measure, last = SESSION_MEASURES[name], len(case.iterations)
    padded = one(measure(beyond="pad") @ (last + more), case)
    gone_on = replace(case, iterations=case.iterations + [[[]]] * more)

    assert padded == pytest.approx(one(measure, case) * last / (last + more), nan_ok=True)
    assert same(padded, one(measure, gone_on))


@pytest.mark.parametrize("name", sorted(PER_ITERATION))
@QUICK
@given(case=sessions())
def test_there_is_nothing_at_an_iteration_that_is_padded(name: str, case: Case) -> None:
    """An iteration that never was brings 0 to every session that found anything; the last one still what it did."""
    padded, last = SESSION_MEASURES[name](beyond="pad"), len(case.iterations)
    value = one(padded @ (last + 1), case)

    assert value == 0 or math.isnan(value)
    assert last == 0 or same(one(padded @ last, case), one(SESSION_MEASURES[name], case))


@EVERY
@QUICK
@given(data=st.data())
def test_prints_as_it_is_read(name: str, data: st.DataObject) -> None:
    """A measure's text names the same measure, in any case."""
    measure = data.draw(variants(SESSION_MEASURES[name]))

    for text in (str(measure), str(measure).lower().replace("='", '="')):
        assert parse_measure(text, family="session") == measure
        assert str(parse_measure(text, family="session")) == str(measure)


@EVERY
def test_takes_no_sessions_at_all(name: str) -> None:
    """Of no sessions there are no values."""
    assert len(SESSION_MEASURES[name].per_query(make_sessions(reference=[]))) == 0


@having(Law.WHOLE)
@QUICK
@given(data=st.data(), case=sessions())
def test_whole_numbers_stay_whole(name: str, data: st.DataObject, case: Case) -> None:
    """Counts and gains have no fractions."""
    value = one(data.draw(variants(SESSION_MEASURES[name])), case)

    assert math.isnan(value) or value == int(value)


@having(Law.ACCUMULATES)
@QUICK
@given(data=st.data(), case=sessions())
def test_what_accumulates_never_falls(name: str, data: st.DataObject, case: Case) -> None:
    """From one iteration to the next the value stays or rises."""
    measure = data.draw(variants(SESSION_MEASURES[name]))
    values = [one(measure @ at, case) for at in range(1, len(case.iterations) + 1)]

    assert all(first <= second for first, second in pairwise(values) if not math.isnan(first))


@having(Law.GROWS)
@QUICK
@given(data=st.data(), case=sessions())
def test_what_grows_never_falls_when_a_label_is_raised(name: str, data: st.DataObject, case: Case) -> None:
    """A better label for one result leaves the value or raises it; so does every label still to come."""
    measure = data.draw(variants(SESSION_MEASURES[name]))
    label = data.draw(st.sampled_from(NAMES))
    raised = replace(case, labels=case.labels | {label: min((case.labels[label] or 0) + 1, 4)})
    before, after, most = (
        one(measure, case),
        one(measure, raised),
        measure.per_query(view(case).with_best_labels())[0],
    )

    assert (before <= after + 1e-12 and before <= most + 1e-12) or math.isnan(before)
    assert math.isnan(before) == math.isnan(after) == math.isnan(most)


@having(Law.GAIN_FREE)
@QUICK
@given(data=st.data(), case=sessions(), labels=st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(0, 4))))
def test_what_is_gain_free_does_not_look_at_labels(
    name: str, data: st.DataObject, case: Case, labels: dict[str, int]
) -> None:
    """Any other labels, the same value."""
    measure = data.draw(variants(SESSION_MEASURES[name]))

    assert same(one(measure, replace(case, labels=dict(labels))), one(measure, case))


@having(Law.RATE)
@QUICK
@given(data=st.data(), case=sessions(), again=st.lists(st.sampled_from(NAMES), max_size=3))
def test_a_rate_never_rises_by_going_on_in_vain(
    name: str, data: st.DataObject, case: Case, again: list[str]
) -> None:
    """One more iteration that brings nothing new and good; so a rate alone would reward agents for stopping early."""
    measure = data.draw(variants(SESSION_MEASURES[name]))(iteration="last")
    seen = {name for iteration in case.iterations for search in iteration for name in search}
    more = replace(
        case,
        iterations=[*case.iterations, [[name for name in again if name in seen]]],
        tokens=[*case.tokens, 5.0],
        seconds=[*case.seconds, 5.0],
        cost=[*case.cost, 5.0],
    )
    before, after = one(measure, case), one(measure, more)

    assert math.isnan(before) or after <= before + 1e-12


NOTHING = [[], [""], ["", "|"]]


@having(Law.ZERO_IF_NOTHING_FOUND)
@pytest.mark.parametrize("session", NOTHING)
def test_gains_and_counts_are_0_without_results(name: str, session: list[str]) -> None:
    """Never searched, or searched in vain: the session stays in the mean."""
    values = [SESSION_MEASURES[name] @ at for at in (1, 2, 3)] + [SESSION_MEASURES[name]]

    assert [value.per_query(make_sessions(session)).tolist() for value in values] == [[0.0]] * 4


@having(Law.UNDEFINED_IF_NOTHING_FOUND)
@pytest.mark.parametrize("session", NOTHING)
def test_rates_and_shares_are_undefined_without_results(name: str, session: list[str]) -> None:
    """So that nobody has the lowest redundancy by not searching."""
    values = [SESSION_MEASURES[name] @ at for at in (1, 2, 3)] + [SESSION_MEASURES[name]]
    case = [
        value.per_query(make_sessions(session, tokens=[[1.0] * len(session)])).tolist() for value in values
    ]

    assert all(math.isnan(value) for (value,) in case)


def values(text: str, steps: SessionView) -> np.ndarray:
    """The values of the measure that a text names."""
    return np.asarray(parse_measure(text, family="session").per_query(steps))


@settings(max_examples=40, deadline=None)
@given(case=several, at=st.sampled_from(["1", "2", "4", "last"]), good=st.integers(1, 4))
def test_the_identities_of_the_document_hold(case: list[Case], at: str, good: int) -> None:
    """|R^i| = |UR^i| + |Dup^i|, R@i = UR@i + DupR@i, SRE + SRR ≤ 1, DCG ≤ CG, and what follows from definitions."""
    steps = view(*case)
    get = {
        name: values(
            f"{name}(good={good})@{at}" if name in {"CG", "DCG", "GR", "SRE"} else f"{name}@{at}", steps
        )
        for name in ("R", "UR", "Dup", "GR", "CG", "DCG", "SRE", "SRR")
    }

    assert (steps.results == steps.new + steps.duplicates).all()
    assert (get["R"] == get["UR"] + get["Dup"]).all()
    assert (get["GR"] <= get["UR"]).all()
    assert ((get["SRE"] + get["SRR"] <= 1 + 1e-12) | (get["R"] == 0)).all()
    assert (get["DCG"] <= get["CG"] + 1e-12).all()
    assert (get["GR"] == values(f'CG(good={good}, gain="binary")@{at}', steps)).all()
    assert (good * get["GR"] <= get["CG"]).all()
    assert (get["CG"] <= 4 * get["GR"]).all()
    assert np.array_equal(
        values(f"CG(good={good})@{at}", steps), values(f'DCG(good={good}, discount="none")@{at}', steps)
    )


@given(case=sessions())
def test_marginal_gains_add_up_to_all_gain(case: Case) -> None:
    """And what is lost by stopping is what the later ones bring."""
    steps, last = view(case), len(case.iterations)
    gains = [float(values(f"MarginalGain@{at}", steps)[0]) for at in range(1, last + 1)]
    (every,) = values("CG", steps)

    assert sum(gains) == every
    for at in range(1, last + 1):
        assert every == 0 or values(f"Lost@{at}", steps)[0] == pytest.approx(sum(gains[at:]) / every)


@settings(max_examples=40, deadline=None)
@given(case=several)
def test_pooled_values_are_those_of_one_long_list(case: list[Case]) -> None:
    """The sums of numerators over the sum of denominators; for one session with results, its own value."""
    steps = view(*case)
    good, again, every = (values(name, steps).sum() for name in ("GR", "Dup", "R"))

    for name, part in (("SRE_micro", good), ("SRR_micro", again)):
        measure = SESSION_MEASURES[name]
        assert pooled_value(measure, steps) == pytest.approx(part / every if every else math.nan, nan_ok=True)
        if steps.found[0]:
            assert same(pooled_value(measure, view(case[0])), one(measure, case[0]))


@settings(max_examples=40, deadline=None)
@given(case=several)
def test_the_upper_view_has_nothing_unlabelled(case: list[Case]) -> None:
    """Unlabelled results have gain 4 there; all others keep theirs, and everything else is the same."""
    steps = view(*case)
    most = steps.with_best_labels()

    assert (most.gains == np.where(steps.gains == UNLABELLED, 4, steps.gains)).all()
    assert values("Coverage", most)[steps.found].tolist() == [1.0] * int(steps.found.sum())
    assert (values("R", most) == values("R", steps)).all()
