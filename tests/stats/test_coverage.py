"""Intervals of means cover as they claim, from the smallest samples on: simulations with the real functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judged.stats import Undefined, stratified_mean
from stats.coverage import POPULATIONS, SIZES, Population, find_coverage, make_table, normal

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "statistics.md"
TRUSTS = ("none", "tuned", "full")
CORRELATIONS = (0.3, 0.8, 0.95)


def _find_lowest(samples: dict[Population, tuple[int, ...]], draws: int) -> float:
    """The lowest coverage of these populations and sizes, with each kind of trust."""
    return min(
        coverage
        for population, sizes in samples.items()
        for size in sizes
        for coverage in find_coverage(population, size, TRUSTS, draws=draws).values()
    )


@pytest.mark.slow
@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_intervals_of_normal_values_cover_at_least_93_percent(correlation: float) -> None:
    """Of items and of clusters, few and many, however far the machine is relied on; 10,000 draws have an error of 0.0025."""
    samples = {
        normal(correlation): (3, 5, 8, 15, 30),
        normal(correlation, items=4): (6, 10, 30),
    }

    assert _find_lowest(samples, 10_000) >= 0.93


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_the_smallest_samples_cover_too(correlation: float) -> None:
    """The same with 2,000 draws, whose error is 0.005; the normal quantile covers 0.80 of 5 items, 0.87 of 8."""
    samples = {normal(correlation): (5, 8), normal(correlation, items=4): (6, 10)}

    assert _find_lowest(samples, 2_000) >= 0.92


def test_few_other_items_cost_degrees_of_freedom_too() -> None:
    """30 human values and 5 others: with the 29 degrees of freedom of the sample alone, 0.89 would be covered."""
    found = find_coverage(normal(0.95), 30, ("full",), draws=2_000, others=5)

    assert found["full"] == pytest.approx(0.95, abs=0.015)


@pytest.mark.slow
def test_the_guide_prints_what_is_simulated() -> None:
    """The whole table, to the last digit."""
    assert "\n".join(make_table()) in GUIDE.read_text()


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_the_guide_prints_about_what_few_draws_find(population: Population) -> None:
    """500 draws of 8 and 15, whose error is at most 0.022."""
    rows = [
        line.split(" | ")
        for line in GUIDE.read_text().splitlines()
        if line.startswith(f"| {population.name} |")
    ]
    printed = {
        row[1]: dict(zip(SIZES, map(float, (cell.strip(" |") for cell in row[2:])), strict=True))
        for row in rows
    }

    for size in (8, 15):
        found = find_coverage(population, size, ("none", "tuned"), draws=500)
        assert found["none"] == pytest.approx(printed["classical"][size], abs=0.06)
        assert found["tuned"] == pytest.approx(printed["PPI++"][size], abs=0.06)


@pytest.mark.parametrize("each", [2, 3, 5])
def test_stratified_intervals_cover_with_few_values_of_each_label(each: int) -> None:
    """Normal values around five labels: 2, 3 and 5 of each have 0.86, 0.89 and 0.93 with the normal quantile."""
    rng, shares, covered = np.random.default_rng(each), np.array([0.4, 0.2, 0.2, 0.1, 0.1]), 0
    for _ in range(1_000):
        labels = np.sort(rng.choice(5, 300, p=shares))
        seen = np.zeros(300, dtype=bool)
        for label in range(5):
            seen[rng.choice(np.flatnonzero(labels == label), each, replace=False)] = True
        found = stratified_mean(
            (labels + rng.normal(size=300))[seen], labels[seen].tolist(), labels[~seen].tolist()
        )
        assert not isinstance(found, Undefined)
        covered += found.low <= shares @ np.arange(5) <= found.high

    assert covered / 1_000 == pytest.approx(0.95, abs=0.025)
