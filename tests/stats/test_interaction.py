"""Whether differences depend on the group of a query."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from judged.stats.outcome import NO_SPREAD, Outcome, Undefined
from judged.stats.randomisation import interaction_test

GROUP = np.array([0, 0, 0, 1, 1, 1, 1])
DIFFERENCES = np.array([0.5, 0.2, 0.4, 0.1, -0.3, 0.3, -0.1])


def p_of(outcome: Outcome | Undefined) -> float:
    """The p-value, where there is one."""
    assert isinstance(outcome, Outcome)
    return outcome.p


def test_it_is_the_share_of_all_assignments() -> None:
    """Of the 35 ways to choose three of seven queries, drawn 10,000 times: within four standard errors."""
    observed = abs(DIFFERENCES[:3].mean() - DIFFERENCES[3:].mean())
    ways = []
    for chosen in combinations(range(7), 3):
        inside = np.isin(np.arange(7), chosen)
        ways.append(abs(DIFFERENCES[inside].mean() - DIFFERENCES[~inside].mean()) >= observed - 1e-12)
    share = float(np.mean(ways))

    p = p_of(interaction_test(DIFFERENCES[:, None], GROUP)[0])

    assert p == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 10_000) + 1e-4)


def test_groups_of_different_sizes_weigh_by_them() -> None:
    """Of the 105 ways to part seven queries into groups of one, two and four, by the definition."""
    group = np.array([0, 1, 1, 2, 2, 2, 2])

    def between(labels: np.ndarray) -> float:
        means = [DIFFERENCES[labels == g].mean() for g in range(3)]
        sizes = [(labels == g).sum() for g in range(3)]
        return float(sum(n * (m - DIFFERENCES.mean()) ** 2 for n, m in zip(sizes, means, strict=True)))

    ways = {tuple(order) for order in permutations(group.tolist())}
    observed = between(group)
    share = float(np.mean([between(np.array(order)) >= observed - 1e-12 for order in ways]))

    outcome = interaction_test(DIFFERENCES[:, None], group)[0]

    assert len(ways) == 105
    assert p_of(outcome) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 10_000) + 1e-4)


def test_p_is_uniform_where_nothing_depends() -> None:
    """400 columns of normal differences in three groups: shares below a level are that level, four standard errors."""
    draws = np.random.default_rng(3).normal(size=(30, 400))
    ps = np.array([p_of(result) for result in interaction_test(draws, np.arange(30) % 3, resamples=999)])

    for level in (0.05, 0.2, 0.5):
        assert (ps <= level).mean() == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 400))


def test_columns_do_not_know_of_each_other() -> None:
    """A column has the same p alone and beside others, and one seed gives one result."""
    both = np.column_stack([DIFFERENCES, DIFFERENCES[::-1]])

    assert (
        interaction_test(both, GROUP, seed=2)[0] == interaction_test(DIFFERENCES[:, None], GROUP, seed=2)[0]
    )


@pytest.mark.parametrize(
    ("differences", "group", "expected"),
    [
        ([0.1, 0.2], [0, 0], Undefined("one slice")),
        ([0.1, 0.2], [0, 1], Undefined("one query in each slice")),
        ([0.1, 0.1, 0.1], [0, 1, 1], NO_SPREAD),
    ],
)
def test_an_undefined_interaction_says_why(
    differences: list[float], group: list[int], expected: Undefined
) -> None:
    """Never a NaN."""
    assert interaction_test(np.array(differences)[:, None], np.array(group)) == [expected]
