"""Errors, tests and intervals by cluster: the definitions by matrices, other tools, brute force, laws and simulations."""

from __future__ import annotations

from dataclasses import astuple
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import linalg, stats as scipy_stats

from judged.errors import BadSample
from judged.stats import (
    Undefined,
    difference_test,
    equivalence_test,
    margin_test,
    randomise,
    student_interval,
)
from judged.stats.clusters import ONE_CLUSTER, Clusters, estimate_error, find_clusters
from judged.stats.effects import detectable_difference, queries_needed, t_test_power
from judged.stats.intervals import Interval, critical_interval, defined_student_interval
from judged.stats.outcome import NO_SPREAD, Outcome
from judged.stats.randomisation import all_pairs, interaction_test
from stats.clustered import (
    COUNTS,
    POPULATIONS,
    TESTS,
    Population,
    find_false_alarms,
    find_misses,
    find_wrong_verdicts,
    make_table,
    make_unequal,
)

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "statistics.md"
RNG = np.random.default_rng(24)
START = RNG.bit_generator.state
LABELS = ["a", "b", "a", "c", "c", "c", "d", "b", "c", "e"]
VALUES = RNG.normal(0.1, 0.3, size=len(LABELS)).round(3)
BY_CLUSTER = list(TESTS)

samples = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(-4, 4)), min_size=2, max_size=14).filter(
    lambda rows: len({cluster for cluster, _ in rows}) > 1
)


@pytest.fixture(autouse=True)
def _draw_the_same_numbers() -> None:
    """In whatever order tests run."""
    RNG.bit_generator.state = START


def split(rows: list[tuple[str, int]]) -> tuple[np.ndarray, list[str]]:
    """Values and their clusters."""
    return np.array([value / 4 for _, value in rows]), [cluster for cluster, _ in rows]


def cr2(values: np.ndarray, labels: list[str]) -> tuple[float, float]:
    """The bias-reduced error of a mean and Bell and McCaffrey's degrees of freedom, by their matrices."""
    n = len(values)
    x = np.ones((n, 1))
    hat = np.eye(n) - x @ x.T / n
    terms = []
    for name in sorted(set(labels)):
        at = np.array([label == name for label in labels])
        adjust = linalg.fractional_matrix_power(np.eye(int(at.sum())) - (x @ x.T / n)[np.ix_(at, at)], -0.5)
        terms.append((hat[:, at] @ adjust.real @ x[at] / n).ravel())
    columns = np.column_stack(terms)
    error = np.sqrt(sum(float(values @ term) ** 2 for term in terms))
    gram = columns.T @ columns
    return float(error), float(np.trace(gram) ** 2 / (gram**2).sum())


def test_the_error_and_its_freedom_are_those_of_the_matrices() -> None:
    """CR2 with an identity as the working covariance, for five clusters of one to four values."""
    error, freedom = cr2(VALUES, LABELS)
    of = estimate_error(VALUES, LABELS)

    assert (of.error, of.freedom) == pytest.approx((error, freedom), rel=1e-9)
    assert of.mean == pytest.approx(VALUES.mean())
    assert of.draws == 5


def test_clusters_of_one_size_are_as_statsmodels_has_them() -> None:
    """Where sizes are equal, CR2 is the usual robust error with the factor G / (G − 1)."""
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    labels = np.repeat(np.arange(8), 4)
    values = RNG.normal(size=32) + RNG.normal(size=8)[labels]
    fit = sm.OLS(values, np.ones(32)).fit(cov_type="cluster", cov_kwds={"groups": labels}, use_t=True)
    of = estimate_error(values, labels.tolist())
    test = difference_test(values, np.zeros(32), "t", clusters=labels.tolist())

    assert of.error == pytest.approx(float(fit.bse[0]))
    assert isinstance(test, Outcome)
    assert test.p == pytest.approx(float(fit.pvalues[0]))
    assert student_interval(values, clusters=labels.tolist()).low == pytest.approx(
        float(fit.conf_int()[0][0])
    )


def test_clusters_of_one_size_are_students_t_of_their_means() -> None:
    """As SciPy computes it."""
    labels = np.repeat(np.arange(6), 3)
    values = RNG.normal(size=18)
    expected = scipy_stats.ttest_1samp(values.reshape(6, 3).mean(axis=1), 0.0)
    found = difference_test(values, np.zeros(18), "t", clusters=labels.tolist())

    assert isinstance(found, Outcome)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


@given(rows=samples)
def test_every_value_a_cluster_is_as_if_there_were_none(rows: list[tuple[str, int]]) -> None:
    """Errors, intervals, gates and every test."""
    values, _ = split(rows)
    alone: Any = list(range(len(values)))
    zero = np.zeros_like(values)

    assert estimate_error(values, alone).error == pytest.approx(estimate_error(values).error, abs=1e-12)
    assert estimate_error(values, alone).freedom == pytest.approx(len(values) - 1)
    for test in BY_CLUSTER:
        by = difference_test(values, zero, test, clusters=alone, resamples=99)
        plain = difference_test(values, zero, test, resamples=99)
        if isinstance(plain, Outcome):
            assert isinstance(by, Outcome)
            assert by.p == pytest.approx(plain.p, abs=1e-9), test
        else:
            assert by == plain, test
    for kind in ("t", "randomisation"):
        by_cluster = margin_test(values, margin=-0.1, test=kind, clusters=alone)
        assert by_cluster.verdict == margin_test(values, margin=-0.1, test=kind).verdict
        assert by_cluster.low == pytest.approx(margin_test(values, margin=-0.1, test=kind).low, abs=1e-9)


@given(rows=samples, seed=st.integers(0, 3))
def test_names_and_order_of_clusters_do_not_matter(rows: list[tuple[str, int]], seed: int) -> None:
    """Nor does the order of queries, but for what is drawn at random."""
    values, labels = split(rows)
    order = np.random.default_rng(seed).permutation(len(values))
    renamed = [f"cluster {ord(labels[at])}" for at in order]
    zero = np.zeros_like(values)

    assert estimate_error(values, labels).error == pytest.approx(
        estimate_error(values[order], renamed).error, abs=1e-12
    )
    for test in ("randomisation", "t", "wilcoxon", "sign"):
        first = difference_test(values, zero, test, clusters=labels)
        second = difference_test(values[order], zero, test, clusters=renamed)
        assert type(first) is type(second)
        if isinstance(first, Outcome) and isinstance(second, Outcome):
            assert first.p == pytest.approx(second.p, abs=1e-9)


@given(rows=samples)
def test_a_copy_of_every_query_is_no_evidence(rows: list[tuple[str, int]]) -> None:
    """Each query twice, in one cluster with its copy: the same as the queries alone, but for ranks, of which copies have two."""
    values, _ = split(rows)
    twice, labels = np.repeat(values, 2), np.repeat(np.arange(len(values)), 2).tolist()
    zero = np.zeros_like(values)

    assert estimate_error(twice, labels).error == pytest.approx(estimate_error(values).error, abs=1e-12)
    for test in ("randomisation", "t", "sign"):
        copied = difference_test(twice, np.zeros_like(twice), test, clusters=labels)
        alone = difference_test(values, zero, test)
        assert type(copied) is type(alone)
        if isinstance(copied, Outcome) and isinstance(alone, Outcome):
            assert copied.p == pytest.approx(alone.p, abs=1e-9), test


def flip_by_hand(labels: list[str], terms: np.ndarray) -> float:
    """The share of assignments of signs to whole clusters whose sum of terms is as far from 0."""
    names = sorted(set(labels))
    sums = [sum(term for term, label in zip(terms, labels, strict=True) if label == name) for name in names]
    all_sums = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True)))
        for signs in product([1, -1], repeat=len(sums))
    ]
    return float(np.mean(np.array(all_sums) >= abs(sum(sums)) - 1e-9))


@given(rows=samples)
def test_flips_ranks_and_signs_are_those_of_every_assignment(rows: list[tuple[str, int]]) -> None:
    """Gone through one by one: differences, signed ranks (SciPy's ranks), and wins less losses."""
    values, labels = split(rows)
    ranks = np.zeros_like(values)
    if (values != 0).any():
        ranks[values != 0] = scipy_stats.rankdata(np.abs(values[values != 0]))
    for test, terms in (
        ("randomisation", values),
        ("wilcoxon", np.sign(values) * ranks),
        ("sign", np.sign(values)),
    ):
        found = difference_test(values, np.zeros_like(values), test, clusters=labels)
        if isinstance(found, Outcome):
            assert found.p == pytest.approx(flip_by_hand(labels, terms), abs=1e-9), test


@pytest.mark.parametrize("seed", range(20))
def test_marks_agree_with_intervals_by_cluster(seed: int) -> None:
    """A difference is significant exactly where the interval of the same flips does not hold 0, with very unequal clusters too."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(9), rng.integers(1, 9, size=9)).tolist()
    values = rng.normal(0.4, 1, size=len(labels))
    result = randomise(np.column_stack([values, np.zeros_like(values)]), clusters=labels)
    interval = critical_interval(values, result.critical_t(0.05), clusters=labels)

    holds = isinstance(interval, Undefined) or interval.low <= 0 <= interval.high
    assert (result.p[0] < 0.05) == (not holds)


def test_the_bounds_of_flips_are_where_the_test_turns() -> None:
    """A little inside, the shifted differences reach fewer flips than the critical value; a little outside, more."""
    labels = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).tolist()
    found = find_clusters(labels, 55)
    values = RNG.normal(0.2, 1, size=55)
    critical = randomise(np.column_stack([values, np.zeros(55)]), clusters=labels).critical_t(0.05)
    interval = critical_interval(values, critical, clusters=labels)
    assert isinstance(interval, Interval)
    limit = 10 * critical**2 / (9 + critical**2)

    for end, inside in ((interval.low, 1), (interval.high, -1)):
        for step in (1e-6, -1e-6):
            sums = found.sum(values - (end + inside * step))
            assert (sums.sum() ** 2 / (sums**2).sum() < limit) == (step > 0)


def test_equal_clusters_have_symmetric_bounds() -> None:
    """Those of t with the critical value of the flips."""
    labels = np.repeat(np.arange(12), 3).tolist()
    values = RNG.normal(size=36)
    interval = critical_interval(values, 2.3, clusters=labels)
    error = estimate_error(values, labels).error

    assert isinstance(interval, Interval)
    assert (interval.high - interval.mean, interval.mean - interval.low) == pytest.approx((2.3 * error,) * 2)


def test_gates_by_cluster_bound_what_their_flips_bound() -> None:
    """The lower bound of ten clusters is the mean of a set of clusters, gone through one by one."""
    labels = np.repeat(np.arange(10), [1, 2, 3, 1, 2, 3, 1, 2, 3, 4]).tolist()
    values = RNG.normal(0.3, 1, size=22)
    found = margin_test(values, test="randomisation", clusters=labels)
    clusters = find_clusters(labels, 22)
    sums = clusters.sum(values)
    sets = [np.array(chosen, dtype=bool) for chosen in product([False, True], repeat=10) if any(chosen)]
    means = np.sort([sums[chosen].sum() / clusters.sizes[chosen].sum() for chosen in sets])

    assert found.clusters == 10
    assert found.exact
    # the empty set counts as below every mean: 51 of the 1,024 sets may be
    assert found.low == pytest.approx(means[int(0.05 * 1024) - 1])


def test_the_interaction_of_slices_is_of_whole_clusters() -> None:
    """Twelve clusters in two slices, each as a whole; a cluster in both has no such test."""
    labels = np.repeat(np.arange(12), 3)
    slices = labels % 2
    d = (RNG.normal(size=12)[labels] + slices)[:, None]
    by_cluster = interaction_test(d, slices, clusters=labels.tolist(), resamples=2_000)[0]
    means = interaction_test(d.reshape(12, 3).mean(axis=1)[:, None], slices[::3], resamples=2_000)[0]

    assert isinstance(by_cluster, Outcome)
    assert isinstance(means, Outcome)
    assert by_cluster.p == pytest.approx(means.p, abs=0.03)
    mixed = slices.copy()
    mixed[0] = 1
    assert interaction_test(d, mixed, clusters=labels.tolist())[0] == Undefined(
        "clusters with queries of several slices"
    )


def test_power_is_of_clusters() -> None:
    """With clusters of one size it is that of Student's t of their means."""
    labels = np.repeat(np.arange(15), 4).tolist()
    values = RNG.normal(size=60) + RNG.normal(size=15)[labels]
    means = values.reshape(15, 4).mean(axis=1)
    least = detectable_difference(values, clusters=labels)

    assert least == pytest.approx(detectable_difference(means))
    assert isinstance(least, float)
    assert t_test_power(least / means.std(ddof=1), 15) == pytest.approx(0.8)
    assert queries_needed(values, 0.3, clusters=labels) == queries_needed(means, 0.3)
    both = equivalence_test(values, margin=0.5, clusters=labels), equivalence_test(means, margin=0.5)
    assert astuple(both[0]) == pytest.approx(astuple(both[1]))


def test_what_cannot_be_estimated_says_why() -> None:
    """One cluster; clusters with equal means; clusters of other values; a test that is not by cluster."""
    values = np.array([-1.0, 1.0, -1.0, 1.0])

    assert defined_student_interval(values, clusters=["a"] * 4) == ONE_CLUSTER
    assert defined_student_interval(values + 1, clusters=["a", "a", "b", "b"]) == NO_SPREAD
    assert difference_test(values + 1, np.zeros(4), "t", clusters=["a", "a", "b", "b"]) == NO_SPREAD
    assert difference_test(values, np.zeros(4), "t", clusters=["a", "a", "b", "b"]) == Outcome("t", 0.0, 1.0)
    assert margin_test(values, clusters=["a"] * 4).undefined == ONE_CLUSTER
    with pytest.raises(BadSample, match="there are 2 clusters of 4 values"):
        estimate_error(values, ["a", "b"])
    with pytest.raises(BadSample, match="Welch's test takes the queries of both systems as independent"):
        difference_test(values, values[::-1], "welch", clusters=["a", "a", "b", "b"])


@given(rows=samples)
def test_sums_are_those_of_each_cluster(rows: list[tuple[str, int]]) -> None:
    """In the order in which clusters first occur."""
    values, labels = split(rows)
    found: Clusters = find_clusters(labels, len(labels))
    names = list(dict.fromkeys(labels))

    assert found.sum(values) == pytest.approx(
        [sum(v for v, label in zip(values, labels, strict=True) if label == name) for name in names]
    )


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_false_alarms_of_queries_that_are_taken_as_independent(test: str) -> None:
    """What clusters are for: with 30 % of the variance in common, a test of queries alone finds three times too much."""
    alone = find_false_alarms(Population(), 30, [test], draws=400, by_query=True)

    assert alone[test] > 0.12


@pytest.mark.parametrize("population", POPULATIONS[:4], ids=lambda population: population.name)
def test_false_alarms_by_cluster_are_as_nominal(population: Population) -> None:
    """400 draws of ten clusters: 5 % have a binomial error of 1.1 %, and three of them are allowed."""
    found = find_false_alarms(population, 10, ["t", "wilcoxon", "sign", "randomisation"], draws=400)

    assert max(found.values()) <= 0.05 + 3 * 0.011


@pytest.mark.slow
@pytest.mark.parametrize("count", [8, 15, 30, 50])
@pytest.mark.parametrize("population", POPULATIONS[:4], ids=lambda population: population.name)
def test_false_alarms_by_cluster_over_many_draws(population: Population, count: int) -> None:
    """2,000 draws have an error of 0.5 %; t of few unequal clusters and the bootstrap have more, as the guide says."""
    found = find_false_alarms(population, count, TESTS, draws=2_000)

    assert max(found[test] for test in ("randomisation", "wilcoxon", "sign")) <= 0.065
    assert found["t"] <= 0.08
    if count >= 30:
        assert found["bootstrap"] <= 0.09


@pytest.mark.slow
@pytest.mark.parametrize("count", [8, 15, 30, 50])
@pytest.mark.parametrize("population", POPULATIONS[:4], ids=lambda population: population.name)
def test_intervals_and_gates_by_cluster_over_many_draws(population: Population, count: int) -> None:
    """95 % intervals miss 5 % of means, and gates pass 5 % of systems at the margin, whatever the sizes of clusters."""
    missed = find_misses(population, count, draws=1_000)
    passed = find_wrong_verdicts(population, count, draws=1_000)

    assert missed["t"] <= 0.085
    assert missed["flips"] <= 0.08
    assert max(passed.values()) <= 0.08


def test_intervals_and_gates_by_cluster_in_few_draws() -> None:
    """300 draws of ten very unequal clusters; their error is 1.3 %."""
    missed = find_misses(Population("unequal"), 10, draws=300)
    passed = find_wrong_verdicts(Population("unequal"), 10, draws=300)

    assert max(*missed.values(), *passed.values()) <= 0.05 + 3 * 0.013
    assert find_misses(Population("unequal"), 10, draws=300, by_query=True)["t"] > 0.15


def test_simultaneous_intervals_by_cluster_hold_together() -> None:
    """Five systems far apart, 25 very unequal clusters, 300 draws: all ten intervals at once, whose error is 1.3 %.

    Intervals of queries that are taken as independent miss some difference far more often.
    """
    rng, truth = np.random.default_rng(5), np.array([0.0, 0.0, 1.0, 2.0, 4.0])
    sizes = make_unequal(25)
    label, missed = np.repeat(np.arange(25), sizes), {True: 0, False: 0}
    for seed in range(300):
        scores = truth + rng.normal(size=(25, 5))[label] + rng.normal(size=(len(label), 5))
        for by_cluster in missed:
            clusters = label.tolist() if by_cluster else None
            critical = randomise(scores, clusters=clusters, resamples=499, seed=seed).critical_t(0.05)
            bounds = [
                (
                    critical_interval(scores[:, i] - scores[:, j], critical, clusters=clusters),
                    truth[i] - truth[j],
                )
                for i, j in all_pairs(5)
            ]
            missed[by_cluster] += any(
                isinstance(interval, Interval) and not interval.low <= value <= interval.high
                for interval, value in bounds
            )

    assert missed[True] / 300 <= 0.05 + 3 * 0.013
    assert missed[False] / 300 > 0.3


@pytest.mark.slow
def test_the_guide_prints_what_is_simulated() -> None:
    """The whole table, to the last digit."""
    assert "\n".join(make_table()) in GUIDE.read_text()


@pytest.mark.parametrize("population", POPULATIONS[:2], ids=lambda population: population.name)
def test_the_guide_prints_about_what_few_draws_find(population: Population) -> None:
    """300 draws of 10 clusters, whose error is at most 2.7 %."""
    cells = [
        line.strip("| ").split(" | ") for line in GUIDE.read_text().splitlines() if line.startswith("| ")
    ]
    printed = {
        row[1]: dict(zip(COUNTS, map(float, row[2:]), strict=True))
        for row in cells
        if row[0] == population.name
    }
    found = find_false_alarms(population, 10, ["t", "sign", "bootstrap"], draws=300)
    found["t, by query"] = find_false_alarms(population, 10, ["t"], draws=300, by_query=True)["t"]

    assert printed.keys() == {*TESTS, "t, by query"}
    for test, share in found.items():
        assert share == pytest.approx(printed[test][10], abs=0.07), test
