"""Sakai's example: 20 topics, three systems, with what the book says of them.

Tetsuya Sakai, Laboratory Experiments in Information Retrieval (Springer, 2018), table 5.1; the numbers are those of
the test data of the library elinor (github.com/kampersanda/elinor, MIT or Apache-2.0).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from judged.stats.effects import standardised_difference
from judged.stats.intervals import student_interval
from judged.stats.outcome import Outcome
from judged.stats.paired import differences, wins_ties_losses
from judged.stats.paired_tests import difference_test

X = [0.7, 0.3, 0.2, 0.6, 0.4, 0.4, 0.0, 0.7, 0.1, 0.3, 0.5, 0.4, 0.0, 0.6, 0.5, 0.3, 0.1, 0.5, 0.2, 0.1]
Y = [0.5, 0.1, 0.0, 0.2, 0.4, 0.3, 0.0, 0.5, 0.3, 0.3, 0.4, 0.4, 0.1, 0.4, 0.2, 0.1, 0.1, 0.6, 0.3, 0.2]


def test_the_paired_t_test_is_as_published() -> None:
    """X − Y: t 2.116, p 0.048."""
    outcome = difference_test(X, Y, "t")

    assert isinstance(outcome, Outcome)
    assert outcome.statistic == pytest.approx(2.116, abs=5e-4)
    assert outcome.p == pytest.approx(0.048, abs=5e-4)


def test_mean_variance_and_effect_are_as_published() -> None:
    """X − Y: mean difference 0.0750, variance 0.0251, effect size 0.473."""
    d = differences(X, Y)

    assert d.mean() == pytest.approx(0.0750, abs=5e-5)
    assert d.var(ddof=1) == pytest.approx(0.0251, abs=5e-5)
    assert standardised_difference(d) == pytest.approx(0.473, abs=5e-4)


def test_the_interval_is_as_published() -> None:
    """The 95 % margin of X − Y is 0.0742."""
    interval = student_interval(differences(X, Y))

    assert (interval.high - interval.low) / 2 == pytest.approx(0.0742, abs=5e-5)


def test_rounding_makes_no_differences() -> None:
    """Counted by hand: 10 wins, 5 ties, 5 losses, and as few sizes of difference as the table has, 0.1 to 0.4."""
    d = differences(X, Y)
    count = wins_ties_losses(d)

    assert (count.wins, count.ties, count.losses) == (10, 5, 5)
    assert np.unique(np.abs(d)) == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


def test_all_assignments_of_signs_are_counted() -> None:
    """The exact p-value is the share of the 2^16 signs of the differing topics, in whole tenths, that reach 15."""
    tenths = [round(10 * (x - y)) for x, y in zip(X, Y, strict=True) if x != y]
    sums = np.array([0])
    for size in tenths:
        sums = np.concatenate([sums + size, sums - size])
    expected = float((np.abs(sums) >= abs(sum(tenths))).mean())

    outcome = difference_test(X, Y, "randomisation")

    assert isinstance(outcome, Outcome)
    assert outcome.p == expected


def test_wilcoxon_counts_all_assignments_too() -> None:
    """The exact p-value of the first nine topics, whose differences tie, is that of all 2^7 signs of the seven that differ."""
    d = differences(X[:9], Y[:9])
    kept = d[d != 0]
    ranks = np.array([(np.abs(kept) < s).sum() + ((np.abs(kept) == s).sum() + 1) / 2 for s in np.abs(kept)])
    observed = ranks[kept > 0].sum() - ranks.sum() / 2
    sums = [
        ranks[np.array(signs)].sum() - ranks.sum() / 2 for signs in product([False, True], repeat=len(kept))
    ]

    outcome = difference_test(X[:9], Y[:9], "wilcoxon")

    assert isinstance(outcome, Outcome)
    assert outcome.p == np.mean(np.abs(sums) >= abs(observed))
