"""Means from few human labels and many of a machine: the ppi-python package, coverage, laws, outcomes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import BadSample, UnknownName
from judged.stats import Undefined, prediction_powered_mean, rogan_gladen_rate, stratified_mean
from judged.stats.intervals import defined_student_interval
from judged.stats.outcome import NO_SPREAD
from support.rag25_data import pairs

HUMAN = [1, 0, 1, 1, 0, 0, 1, 0]
MACHINE = [1, 0, 1, 1, 1, 0, 1, 0]
OTHERS = [1, 0, 1, 0] * 25

# ppi-python 0.2.3: `ppi_mean_pointestimate(y, f, u, lam=lam)` of NumPy arrays of float64, with `lam` None, 1 and 0. The package is
# not among the tests' dependencies: it brings numba, scikit-learn and gdown, and silences all warnings when imported. Its
# intervals have the normal quantile and variances that divide by n. The bounds are scipy 1.17.1's `t.ppf(0.975, df)` with df 6, 7
# and 7 times the root of `(y - lam * f).var(ddof=1) / 8 + lam**2 * u.var(ddof=1) / 100`.
PPI_PYTHON = [
    (HUMAN, MACHINE, OTHERS, "tuned", 0.41396869639794176, 0.1054246420094338, 0.7225127507864496),
    (HUMAN, MACHINE, OTHERS, "full", 0.375, 0.05643102712059833, 0.6935689728794017),
    (HUMAN, MACHINE, OTHERS, "none", 0.5, 0.053128020440947554, 0.9468719795590524),
]

value = st.integers(0, 4)
samples = st.integers(2, 12).flatmap(
    lambda n: st.tuples(st.lists(value, min_size=n, max_size=n), st.lists(value, min_size=n, max_size=n))
)
rest = st.lists(value, min_size=1, max_size=20)


@pytest.mark.parametrize(("human", "machine", "others", "trust", "mean", "low", "high"), PPI_PYTHON)
def test_agrees_with_the_ppi_python_package_and_students_t(
    human: list[int], machine: list[int], others: list[int], trust: Any, mean: float, low: float, high: float
) -> None:
    """Point of PPI++, PPI and the classical one as in the package, to the last digits; bounds as in the formula."""
    found = prediction_powered_mean(human, machine, others, trust=trust)

    assert (found.mean, found.low, found.high) == pytest.approx((mean, low, high), abs=1e-12)


def test_the_weight_is_the_one_of_the_formula() -> None:
    """λ by hand: covariance 4/8 − 4/8 · 5/8 = 0.1875; of 108 labels 55 are 1, variance (55 − 55²/108) / 107."""
    spread = (55 - 55**2 / 108) / 107

    assert prediction_powered_mean(HUMAN, MACHINE, OTHERS).weight == pytest.approx(0.1875 / (1.08 * spread))


def test_intervals_cover_as_they_claim() -> None:
    """300 human labels of the 10,284 pairs, 500 times: the good rate of all of them lies in the interval as often as it should.

    Reported for these pairs, with the normal quantile: classical coverage .952 and width .1130, PPI++ .956 and .1021, the machine
    alone .000 and .0193. Student's t of 299 and 298 degrees of freedom, and variances over n − 1, widen them by a factor of 1.0058.
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
    assert width["none"] == pytest.approx(0.1130 * 1.0058, abs=0.0005)
    assert width["tuned"] == pytest.approx(0.1021 * 1.0058, abs=0.0005)
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
def test_without_trust_it_is_students_interval_of_the_human_values(
    sample: tuple[list[int], list[int]], others: list[int]
) -> None:
    """The machine's values change nothing then, by item or by cluster of one item."""
    n, more = len(sample[0]), len(others)
    classical = defined_student_interval(sample[0])
    for clusters in (None, (range(n), range(n, n + more))):
        found = prediction_powered_mean(*sample, others, trust="none", clusters=clusters)

        assert found.mean == pytest.approx(np.mean(sample[0]))
        if isinstance(classical, Undefined):
            assert (found.low, found.high) == (classical, classical)
        else:
            assert (found.low, found.high) == pytest.approx((classical.low, classical.high))


def test_other_clusters_do_not_make_six_human_ones_more() -> None:
    """Three of six ones, in six clusters: 0.5 ± t of 5 degrees of freedom, 2.5706 (scipy 1.17.1), times sqrt(0.3 / 6)."""
    human = [0, 0, 1, 1, 0, 1]
    found = prediction_powered_mean(
        human, human, [0, 1] * 50, trust="none", clusters=(list("abcdef"), range(100))
    )

    assert (round(found.low, 4), round(found.high, 4)) == (-0.0748, 1.0748)
    assert (found.freedom, found.clusters) == (5, 6)


@given(sample=samples, others=rest.filter(lambda values: len(values) > 1))
def test_clusters_of_one_item_have_the_error_of_items(
    sample: tuple[list[int], list[int]], others: list[int]
) -> None:
    """The degrees of freedom alone may be more: those of both parts."""
    n, more = len(sample[0]), len(others)
    items = prediction_powered_mean(*sample, others, trust="full")
    clusters = prediction_powered_mean(*sample, others, trust="full", clusters=(range(n), range(n, n + more)))

    assert (clusters.mean, clusters.error) == (items.mean, items.error)
    assert clusters.freedom >= items.freedom


def test_both_kinds_of_clusters_are_weighed_by_their_variances() -> None:
    """Satterthwaite by hand: residuals 0, 0, 1, 1 have the variance (1/3) / 4 with 3 degrees, others 0 and 3 (9/2) / 2 with 1."""
    found = prediction_powered_mean(
        [1, 2, 4, 5], [1, 2, 3, 4], [0, 3], trust="full", clusters=(list("abcd"), list("ef"))
    )
    sample, others = 1 / 12, 9 / 4

    assert found.error == pytest.approx(math.sqrt(sample + others))
    assert found.freedom == pytest.approx((sample + others) ** 2 / (sample**2 / 3 + others**2 / 1))


def test_what_a_cluster_has_on_both_sides_varies_together() -> None:
    """All items graded: whether half of each cluster counts as the others' or not, the mean has the variance of cluster means.

    Every cluster has the same value four times, two of them graded. With λ = 1 and a machine that says 0, the error is
    that of the three values; with one that is right, it is that of the others: both times sqrt(7/3 / 3).
    """
    values, clusters = np.repeat([1.0, 2, 4], 2), np.repeat(list("abc"), 2).tolist()
    for machine, others in ((values * 0, values * 0), (values, values)):
        found = prediction_powered_mean(values, machine, others, trust=1.0, clusters=(clusters, clusters))

        assert found.mean == pytest.approx(7 / 3)
        assert found.error == pytest.approx(math.sqrt(7 / 9))
        assert found.freedom == pytest.approx(2)


@given(sample=samples, others=rest, trust=st.sampled_from(["tuned", "full", "none"]))
def test_nothing_is_ever_nan_or_of_width_0(
    sample: tuple[list[int], list[int]], others: list[int], trust: Any
) -> None:
    """Whatever the values, the mean lies within bounds that differ, or the reason stands in their place."""
    try:
        found = prediction_powered_mean(*sample, others, trust=trust)
    except BadSample as error:
        assert (trust, len(others)) == ("full", 1) or (trust, len(sample[0])) == ("tuned", 2), error
        return

    assert math.isfinite(found.mean)
    assert math.isfinite(found.weight)
    if isinstance(found.error, Undefined):
        assert (found.error, found.low, found.high) == (NO_SPREAD,) * 3
    else:
        assert found.low < found.mean < found.high


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
    assert found.error == pytest.approx(0.5 / math.sqrt(99))


def test_without_other_items_only_people_count() -> None:
    """PPI++ of no further items is the classical interval."""
    assert prediction_powered_mean(HUMAN, MACHINE).weight == 0


@pytest.mark.parametrize("clusters", [None, (list("abc"), list("abcdefg"))])
def test_values_without_spread_have_a_mean_and_no_interval(clusters: Any) -> None:
    """A width of 0 would claim certainty; the warning says why there is none."""
    found = prediction_powered_mean([0.1] * 3, [0.1] * 3, [0.1] * 7, clusters=clusters)

    assert (found.mean, found.error, found.low, found.high) == (0.1, NO_SPREAD, NO_SPREAD, NO_SPREAD)
    assert found.warning == "all human values are equal: their spread is unknown"


def test_clusters_with_equal_means_have_no_interval() -> None:
    """Rounding of 0.1, 0.2 and 0.3 is not spread."""
    found = prediction_powered_mean(
        [0.1, 0.2, 0.3] * 5, [0] * 15, clusters=([at // 3 for at in range(15)], [])
    )

    assert (found.low, found.high) == (NO_SPREAD, NO_SPREAD)


@pytest.mark.parametrize(
    ("human", "clusters", "warning"),
    [
        ([0, 1] * 14 + [0], None, "29 human values of 0 or 1, fewer than 30"),
        ([0, 1] * 15, None, ""),
        ([0, 1, 2] * 4 + [3, 4], None, "14 human values, fewer than 15"),
        ([0, 1, 2] * 5, None, ""),
        ([0, 1, 2] * 14, 14, "human values of 14 clusters, fewer than 15"),
        ([0, 1, 2] * 15, 15, ""),
    ],
)
def test_few_human_values_are_warned_of(human: list[int], clusters: int | None, warning: str) -> None:
    """Below 15 values or clusters, 30 where they are 0 or 1."""
    names = None if clusters is None else ([at // 3 for at in range(len(human))], [])
    found = prediction_powered_mean(human, human, clusters=names)

    assert found.warning.split(":")[0] == warning


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1], [1], [0]), {}, "the number of human values is 1, expected two or more"),
        (([1, 0], [1, 0], [0, 1]), {}, "the number of human values is 2, expected three or more to tune λ"),
        (([1, 0], [1, 0], [0]), {"trust": "full"}, "the number of other items is 1, expected two or more"),
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
        (
            ([1, 0], [1, 0], [0]),
            {"clusters": (["a", "a"], ["b"])},
            "the number of clusters of human values is 1, expected two or more",
        ),
        (
            ([1, 0, 1], [1, 0, 0], [0, 1]),
            {"clusters": (["a", "b", "b"], ["a", "c"])},
            "the number of clusters of human values is 2, expected three or more to tune λ",
        ),
        (
            ([1, 0], [1, 0], [0, 1]),
            {"clusters": (["a", "b"], ["c", "c"]), "trust": "full"},
            "the number of other clusters is 1, expected two or more",
        ),
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
