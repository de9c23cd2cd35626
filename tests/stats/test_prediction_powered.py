"""Means from few human labels and many of a machine: the ppi-python package, coverage, laws, outcomes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import BadSample, UnknownName
from judged.stats import Undefined, prediction_powered_mean, rogan_gladen_rate, stratified_mean
from support.rag25_data import pairs

HUMAN = [1, 0, 1, 1, 0, 0, 1, 0]
MACHINE = [1, 0, 1, 1, 1, 0, 1, 0]
OTHERS = [1, 0, 1, 0] * 25

# ppi-python 0.2.3: `ppi_mean_pointestimate(y, f, u, lam=lam)` and `ppi_mean_ci(y, f, u, alpha=0.05, lam=lam)` of NumPy arrays of
# float64, with `lam` None, 1 and 0. The package is not among the tests' dependencies: it brings numba, scikit-learn and gdown,
# and silences all warnings when imported.
PPI_PYTHON = [
    (HUMAN, MACHINE, OTHERS, "tuned", 0.41396869639794176, 0.18164821976432077, 0.6462891730315627),
    (HUMAN, MACHINE, OTHERS, "full", 0.375, 0.12575395315890603, 0.624246046841094),
    (HUMAN, MACHINE, OTHERS, "none", 0.5, 0.15352404391258057, 0.8464759560874194),
]

value = st.integers(0, 4)
samples = st.integers(2, 12).flatmap(
    lambda n: st.tuples(st.lists(value, min_size=n, max_size=n), st.lists(value, min_size=n, max_size=n))
)
rest = st.lists(value, min_size=1, max_size=20)


@pytest.mark.parametrize(("human", "machine", "others", "trust", "mean", "low", "high"), PPI_PYTHON)
def test_agrees_with_the_ppi_python_package(
    human: list[int], machine: list[int], others: list[int], trust: Any, mean: float, low: float, high: float
) -> None:
    """Point and interval of PPI++, PPI and the classical one, to the last digits."""
    found = prediction_powered_mean(human, machine, others, trust=trust)

    assert (found.mean, found.low, found.high) == pytest.approx((mean, low, high), abs=1e-12)


def test_the_weight_is_the_one_of_the_formula() -> None:
    """λ by hand: covariance 4/8 − 4/8 · 5/8 = 0.1875; of 108 labels 55 are 1, variance (55 − 55²/108) / 107."""
    spread = (55 - 55**2 / 108) / 107

    assert prediction_powered_mean(HUMAN, MACHINE, OTHERS).weight == pytest.approx(0.1875 / (1.08 * spread))


def test_intervals_cover_as_they_claim() -> None:
    """300 human labels of the 10,284 pairs, 500 times: the good rate of all of them lies in the interval as often as it should.

    Reported for these pairs: classical coverage .952 and width .1130, PPI++ .956 and .1021, the machine alone .000 and .0193.
    Of 500 repeats, coverage of .95 has a standard error of .010; widths hardly vary.
    """
    human, machine = (grades >= 2 for grades in pairs())
    truth, rng = human.mean(), np.random.default_rng(2025)
    found: dict[str, list[tuple[bool, float]]] = {"tuned": [], "none": [], "machine": []}
    for _ in range(500):
        seen = np.zeros(len(human), dtype=bool)
        seen[rng.choice(len(human), 300, replace=False)] = True
        for trust in ("tuned", "none"):
            one = prediction_powered_mean(
                human[seen] * 1.0, machine[seen] * 1.0, machine[~seen] * 1.0, trust=trust
            )
            found[trust].append((one.low <= truth <= one.high, one.high - one.low))
    alone = prediction_powered_mean(machine * 1.0, machine * 1.0, trust="none")
    coverage = {
        trust: np.mean([covered for covered, _ in trials]) for trust, trials in found.items() if trials
    }
    width = {trust: np.mean([wide for _, wide in trials]) for trust, trials in found.items() if trials}

    assert coverage["none"] == pytest.approx(0.952, abs=0.03)
    assert coverage["tuned"] == pytest.approx(0.956, abs=0.03)
    assert width["none"] == pytest.approx(0.1130, abs=0.0005)
    assert width["tuned"] == pytest.approx(0.1021, abs=0.0005)
    assert alone.high - alone.low == pytest.approx(0.0193, abs=0.0001)
    assert not alone.low <= truth <= alone.high


def test_clustered_intervals_cover_where_the_others_do_not() -> None:
    """Topics differ, and so does the machine's error on them: an interval of items is too narrow for further topics.

    25 topics of 8 items, people having seen half of each; the machine has 100 further topics. Values of an item: its
    topic's, plus noise; the machine's: the same plus an error that the topic has. True mean 0. Of 300 repeats, coverage
    of .95 has a standard error of .013.
    """
    rng, items, clustered = np.random.default_rng(5), 0, 0
    topics = np.repeat(np.arange(125), 8)
    seen = (topics < 25) & (np.arange(1000) % 2 == 0)
    for _ in range(300):
        y = rng.normal(size=125)[topics] + rng.normal(size=1000)
        f = y + rng.normal(size=125)[topics] + 1
        both = (topics[seen].tolist(), topics[~seen].tolist())
        one = prediction_powered_mean(y[seen], f[seen], f[~seen])
        other = prediction_powered_mean(y[seen], f[seen], f[~seen], clusters=both)
        items += one.low <= 0 <= one.high
        clustered += other.low <= 0 <= other.high

    assert items / 300 < 0.85
    assert clustered / 300 == pytest.approx(0.95, abs=0.04)


@given(sample=samples, others=rest)
def test_without_trust_it_is_the_mean_of_the_human_values(
    sample: tuple[list[int], list[int]], others: list[int]
) -> None:
    """The machine's values change nothing then."""
    found = prediction_powered_mean(*sample, others, trust="none")

    assert found.mean == pytest.approx(np.mean(sample[0]))
    assert found.error == pytest.approx(np.std(sample[0]) / math.sqrt(len(sample[0])))


@given(sample=samples, others=rest)
def test_clusters_of_one_item_are_as_none_but_for_the_small_sample(
    sample: tuple[list[int], list[int]], others: list[int]
) -> None:
    """The variance is the same times C / (C − 1) of C clusters."""
    n, more = len(sample[0]), len(others)
    alone = prediction_powered_mean(*sample, others, trust="full")
    one_each = prediction_powered_mean(*sample, others, trust="full", clusters=(range(n), range(n, n + more)))

    assert one_each.mean == alone.mean
    assert one_each.error**2 == pytest.approx((n + more) / (n + more - 1) * alone.error**2)


@given(sample=samples, others=rest, trust=st.sampled_from(["tuned", "full", "none"]))
def test_nothing_is_ever_nan(sample: tuple[list[int], list[int]], others: list[int], trust: Any) -> None:
    """Whatever the values, there is a number in every field, and the mean lies in its interval."""
    found = prediction_powered_mean(*sample, others, trust=trust)

    assert all(
        math.isfinite(value) for value in (found.mean, found.error, found.low, found.high, found.weight)
    )
    assert found.low <= found.mean <= found.high


def test_a_machine_that_says_one_thing_is_not_relied_on() -> None:
    """λ is 0, and the interval the classical one."""
    found = prediction_powered_mean([0, 1, 1, 0], [1, 1, 1, 1], [1] * 50)
    classical = prediction_powered_mean([0, 1, 1, 0], [1, 1, 1, 1], [1] * 50, trust="none")

    assert found.weight == 0
    assert (found.low, found.high) == (classical.low, classical.high)


def test_a_machine_that_is_always_right_makes_its_items_count() -> None:
    """With λ = 1 given, what is left is the spread of the machine's values alone."""
    found = prediction_powered_mean([0, 1, 1, 0], [0, 1, 1, 0], OTHERS, trust=1.0)

    assert found.mean == pytest.approx(0.5)
    assert found.error == pytest.approx(0.5 / math.sqrt(100))


def test_without_other_items_only_people_count() -> None:
    """PPI++ of no further items is the classical interval."""
    assert prediction_powered_mean(HUMAN, MACHINE).weight == 0


def test_values_without_spread_have_an_interval_of_width_0() -> None:
    """As Student's has."""
    found = prediction_powered_mean([0.1] * 3, [0.1] * 3, [0.1] * 7)

    assert (found.mean, found.low, found.high) == (0.1, 0.1, 0.1)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1], [1], [0]), {}, "there is 1 human value, expected two or more"),
        (([], [], [0]), {}, "`human` holds no values"),
        (([1, 0], [1], [0]), {}, "2 human values and 1 of the machine"),
        (([1, math.nan], [1, 0], [0]), {}, "`human` holds nan"),
        (([1, 0], [1, 0], [0]), {"level": 95}, "the confidence level is 95"),
        (
            ([1, 0], [1, 0], [0]),
            {"trust": 2.0},
            "the trust in the machine is 2.0, expected a number from 0 to 1",
        ),
        (
            ([1, 0], [1, 0], [0]),
            {"clusters": (["a"], ["a"])},
            "`clusters` names those of 1 and 1 items, expected 2 and 1",
        ),
        (([1, 0], [1, 0], [0]), {"clusters": (["a", "a"], ["a"])}, "all items are of one cluster"),
    ],
)
def test_what_has_no_interval_is_refused(arguments: Any, options: dict[str, Any], message: str) -> None:
    """In words."""
    with pytest.raises(BadSample, match=message):
        prediction_powered_mean(*arguments, **options)


def test_an_unknown_kind_of_trust_is_named() -> None:
    """With what was meant."""
    with pytest.raises(UnknownName, match="did you mean `tuned`"):
        prediction_powered_mean([1, 0], [1, 0], [0], trust="tune")  # type: ignore[arg-type]


def test_rogan_and_gladen_give_the_human_rate_of_their_own_sample() -> None:
    """Sensitivity and specificity known from all pairs undo the machine's bias exactly: .5023 from .5213."""
    human, machine = (1.0 * (grades >= 2) for grades in pairs())
    found = rogan_gladen_rate(human, machine)

    assert found.apparent == pytest.approx(0.5213, abs=5e-5)
    assert found.value == pytest.approx(human.mean())
    assert found.sensitivity == pytest.approx(0.7358, abs=5e-5)


@pytest.mark.parametrize(
    ("human", "machine", "message"),
    [
        ([0, 0], [0, 1], "no item of the sample is good"),
        ([1, 1], [0, 1], "every item of the sample is good"),
        ([1, 0, 1, 0], [1, 1, 0, 0], "the machine calls good items good as often as others"),
    ],
)
def test_a_rate_that_cannot_be_corrected_says_why(human: list[int], machine: list[int], message: str) -> None:
    """Never nan, never a division by 0."""
    assert rogan_gladen_rate(human, machine).value == Undefined(message)


def test_a_rate_is_of_zeros_and_ones() -> None:
    """Grades are refused."""
    with pytest.raises(BadSample, match="`machine` holds other values than 0 and 1"):
        rogan_gladen_rate([0, 1], [0, 2])


def test_a_sample_of_each_label_is_weighed_by_label() -> None:
    """60 human grades of each label of the 10,284 pairs, 300 times: the stratified interval covers, PPI++ does not.

    Labels 3 and 4, which people seldom give, are far more in the sample than in the whole, and bias what takes it for a
    random one. Of 300 repeats, coverage of .95 has a standard error of .013.
    """
    human, machine = pairs()
    truth, rng = human.mean(), np.random.default_rng(11)
    stratified = powered = 0
    for _ in range(300):
        seen = np.zeros(len(human), dtype=bool)
        for label in range(5):
            seen[rng.choice(np.flatnonzero(machine == label), 60, replace=False)] = True
        one = stratified_mean(human[seen], machine[seen].tolist(), machine[~seen].tolist())
        other = prediction_powered_mean(human[seen], machine[seen], machine[~seen])
        stratified += one.low <= truth <= one.high
        powered += other.low <= truth <= other.high

    assert stratified / 300 == pytest.approx(0.95, abs=0.04)
    assert powered / 300 < 0.75


def test_a_stratified_mean_by_hand() -> None:
    """Shares 0.75 and 0.25, means 1/3 and 1: 0.5.

    The variance within the first stratum adds 0.75² · (1/3) / 3 = 0.0625, the second has none; that between them
    (0.75 · (1/6)² + 0.25 · (1/2)²) / 20 = 1/240.
    """
    found = stratified_mean([0, 0, 1, 1, 1], ["a", "a", "a", "b", "b"], ["a"] * 12 + ["b"] * 3)

    assert found.mean == pytest.approx(0.5)
    assert found.error == pytest.approx(math.sqrt(0.0625 + 1 / 240))


def test_a_label_that_people_hardly_saw_leaves_it_undefined() -> None:
    """One value has no spread to know of."""
    found = stratified_mean([0, 1, 1], [0, 0, 3], [0, 3])

    assert found == Undefined("`3` has 1 human values, expected two or more of each label")
