"""How often tests and intervals by cluster are wrong: simulated with the real functions, and the table of the guide on statistics.

`python tests/stats/clustered.py` prints the table; a number of clusters after it, only those.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judged.stats import difference_test, margin_test
from judged.stats.intervals import critical_interval, defined_student_interval
from judged.stats.outcome import Outcome, Undefined
from judged.stats.randomisation import randomise

TESTS = ("randomisation", "t", "wilcoxon", "sign", "bootstrap")
"""The tests that are by cluster."""
DRAWS = 1000
RESAMPLES = 499
ALPHA = 0.05
COUNTS = (5, 8, 10, 15, 30, 50)
"""The numbers of clusters in the guide's table."""


def make_equal(count: int) -> np.ndarray:
    """Clusters of five queries."""
    return np.full(count, 5)


def make_unequal(count: int) -> np.ndarray:
    """Clusters from one query to about 25 times as many, by equal ratios; five on average."""
    sizes = np.geomspace(0.2, 5, count)
    return np.maximum(1, np.round(5 * sizes / sizes.mean())).astype(int)


SIZES: dict[str, Callable[[int], np.ndarray]] = {"equal": make_equal, "unequal": make_unequal}


def draw_normal(rng: np.random.Generator, size: int) -> np.ndarray:
    """Normal values."""
    return rng.normal(size=size)


def draw_heavy(rng: np.random.Generator, size: int) -> np.ndarray:
    """Values with heavy tails (Student's t with three degrees of freedom)."""
    return rng.standard_t(3, size=size)


def draw_skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    """Exponential values, whose mean is 0."""
    return rng.exponential(size=size) - 1


NOISE: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": draw_normal,
    "heavy": draw_heavy,
    "skewed": draw_skewed,
}


@dataclass(frozen=True)
class Population:
    """Where differences are drawn from: their mean is 0."""

    sizes: str = "equal"
    noise: str = "normal"
    shared: float = 0.3
    """The share of the variance that a cluster's queries have in common."""

    def draw(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences of the queries in `count` clusters, and the cluster of each."""
        sizes = SIZES[self.sizes](count)
        label = np.repeat(np.arange(count), sizes)
        noise = NOISE[self.noise]
        common, own = noise(rng, count)[label], noise(rng, len(label))
        return np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own, label

    @property
    def name(self) -> str:
        """The population in words."""
        return f"{self.noise}, {self.sizes} clusters"


def find_false_alarms(
    population: Population, count: int, tests: Sequence[str], *, draws: int, by_query: bool = False
) -> dict[str, float]:
    """Return how often each test finds a difference where there is none, at 5 %."""
    rng, found = np.random.default_rng(count), dict.fromkeys(tests, 0)
    for seed in range(draws):
        d, label = population.draw(rng, count)
        clusters = None if by_query else label.tolist()
        for test in tests:
            outcome = difference_test(
                d, np.zeros_like(d), test, clusters=clusters, resamples=RESAMPLES, seed=seed
            )
            found[test] += isinstance(outcome, Outcome) and outcome.p < ALPHA
    return {test: number / draws for test, number in found.items()}


def find_misses(
    population: Population, count: int, *, draws: int, by_query: bool = False
) -> dict[str, float]:
    """Return how often 95 % intervals of the mean miss it: Student's, and that of sign flips where there is one."""
    rng, missed, there = np.random.default_rng(count + 1), {"t": 0, "flips": 0}, {"t": 0, "flips": 0}
    for seed in range(draws):
        d, label = population.draw(rng, count)
        clusters = None if by_query else label.tolist()
        both = np.column_stack([d + 0.7, np.zeros_like(d)])
        critical = randomise(both, clusters=clusters, resamples=RESAMPLES, seed=seed).critical_t(ALPHA)
        for name, interval in (
            ("t", defined_student_interval(d + 0.7, clusters=clusters)),
            ("flips", critical_interval(d + 0.7, critical, clusters=clusters)),
        ):
            if not isinstance(interval, Undefined):
                there[name] += 1
                missed[name] += not interval.low <= 0.7 <= interval.high
    return {name: missed[name] / max(there[name], 1) for name in missed}


def find_wrong_verdicts(population: Population, count: int, *, draws: int) -> dict[str, float]:
    """Return how often a gate passes a system that is exactly at the margin, by each of its tests."""
    rng, passed = np.random.default_rng(count + 2), {"t": 0, "randomisation": 0}
    for seed in range(draws):
        d, label = population.draw(rng, count)
        for test in passed:
            found = margin_test(
                d - 0.2, margin=-0.2, test=test, clusters=label.tolist(), resamples=RESAMPLES, seed=seed
            )
            passed[test] += found.verdict == "pass"
    return {test: number / draws for test, number in passed.items()}


POPULATIONS = (
    Population(),
    Population("unequal"),
    Population("equal", "heavy"),
    Population("unequal", "heavy"),
    Population("equal", "skewed"),
    Population("unequal", "skewed"),
)


def make_table(counts: Sequence[int] = COUNTS, *, draws: int = DRAWS) -> Iterator[str]:
    """Yield the lines of the table: false alarms by population, test and number of clusters."""
    yield f"| differences | test | {' | '.join(map(str, counts))} |"
    yield f"|---|---|{'---:|' * len(counts)}"
    for population in POPULATIONS:
        # ranks and signs test symmetry, which skewed differences do not have
        tests = ("randomisation", "t", "bootstrap") if population.noise == "skewed" else TESTS
        found = {count: find_false_alarms(population, count, tests, draws=draws) for count in counts}
        for test in tests:
            yield f"| {population.name} | {test} | {' | '.join(f'{found[count][test]:.3f}' for count in counts)} |"
        alone = [
            find_false_alarms(population, count, ["t"], draws=draws, by_query=True)["t"] for count in counts
        ]
        yield f"| {population.name} | t, by query | {' | '.join(f'{share:.3f}' for share in alone)} |"


if __name__ == "__main__":
    chosen = tuple(map(int, sys.argv[1:])) or COUNTS
    for line in make_table(chosen):
        print(line, flush=True)  # noqa: T201 - the table
