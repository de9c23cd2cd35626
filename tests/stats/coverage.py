"""How often prediction-powered intervals contain the true mean: simulated, and the table of the guide on statistics.

`python tests/stats/coverage.py` prints the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.stats import Undefined, prediction_powered_mean

Values = tuple[Any, Any]
"""The human values and the machine's, with a row for every cluster."""
Draw = Callable[[np.random.Generator, int, int], Values]

DRAWS = 10_000
SIZES = (5, 8, 15, 30, 100)
"""The numbers of human values, or of tasks with human values, in the guide's table."""
OTHERS = 200
"""Items, or tasks, that only the machine labelled."""
GRADES = np.array([0.55, 0.2, 0.12, 0.08, 0.05])
"""The shares of the grades 0 to 4: most results are bad, few are very good."""


@dataclass(frozen=True)
class Population:
    """Where values are drawn from, and their true mean."""

    name: str
    truth: float
    draw: Draw
    items: int = 1
    """The number of items of each cluster; 1: items are independent."""


def normal(correlation: float, items: int = 1) -> Population:
    """Return normal values; those of a cluster share half of their variance. The machine is biased by 0.5."""

    def draw(rng: np.random.Generator, clusters: int, items: int) -> Values:
        own, share = rng.normal(size=(2, clusters, items)), rng.normal(size=(2, clusters, 1))
        y, noise = (own + share) / np.sqrt(2) if items > 1 else own
        return y, correlation * y + np.sqrt(1 - correlation**2) * noise + 0.5

    return Population("normal", 0.0, draw, items)


def _draw_grades(rng: np.random.Generator, clusters: int, items: int) -> Values:
    """Return skewed grades; the machine is off by one for two in five, and lenient."""
    y = rng.choice(5, size=(clusters, items), p=GRADES)
    return y, np.clip(y + rng.choice([-1, 0, 0, 0, 1], size=y.shape), 0, 4)


def rate(good: float, items: int = 1) -> Population:
    """Return values of 0 or 1, of which the machine gets 85 % right; the rate of a cluster varies (beta, 3 in all)."""

    def draw(rng: np.random.Generator, clusters: int, items: int) -> Values:
        rates = rng.beta(3 * good, 3 * (1 - good), size=(clusters, 1)) if items > 1 else good
        y = rng.random((clusters, items)) < rates
        return y, y ^ (rng.random(y.shape) < 0.15)

    name = f"rate of {good:.0%}"
    return Population(f"{name}, {items} results a task, by task" if items > 1 else name, good, draw, items)


POPULATIONS = (
    normal(0.8),
    Population("skewed grades 0–4", float(GRADES @ np.arange(5)), _draw_grades),
    rate(0.5),
    rate(0.2),
    rate(0.05),
    rate(0.2, items=5),
)


def find_coverage(
    population: Population, size: int, trusts: tuple[Any, ...], *, draws: int, others: int = OTHERS
) -> dict[Any, float]:
    """Return the share of 95 % intervals with the true mean, by trust; an interval that is undefined has nothing in it."""
    rng, covered = np.random.default_rng(size), dict.fromkeys(trusts, 0)
    names = np.repeat(np.arange(size + others), population.items)
    people = size * population.items
    clusters = (names[:people].tolist(), names[people:].tolist()) if population.items > 1 else None
    for _ in range(draws):
        y, f = (
            values.ravel().astype(float) for values in population.draw(rng, size + others, population.items)
        )
        for trust in trusts:
            found = prediction_powered_mean(
                y[:people], f[:people], f[people:], trust=trust, clusters=clusters
            )
            if not isinstance(found.low, Undefined) and not isinstance(found.high, Undefined):
                covered[trust] += found.low <= population.truth <= found.high
    return {trust: count / draws for trust, count in covered.items()}


def make_table(*, draws: int = DRAWS, sizes: tuple[int, ...] = SIZES) -> Iterator[str]:
    """Yield the lines of the guide's table."""
    yield f"| values | interval | {' | '.join(map(str, sizes))} |"
    yield f"|---|---|{'---:|' * len(sizes)}"
    for population in POPULATIONS:
        found = [find_coverage(population, size, ("none", "tuned"), draws=draws) for size in sizes]
        for trust, name in (("none", "classical"), ("tuned", "PPI++")):
            cells = " | ".join(f"{coverage[trust]:.3f}" for coverage in found)
            yield f"| {population.name} | {name} | {cells} |"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in make_table())
