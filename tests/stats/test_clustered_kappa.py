"""The interval of κ over clusters: draws by hand, coverage, laws, outcomes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import BadSample
from judged.stats import Undefined, cohen_kappa, kappa_interval

grade = st.integers(0, 3)
panels = st.lists(st.tuples(grade, grade, st.sampled_from("abcde")), min_size=1, max_size=30)


def drawn(rng: np.random.Generator, clusters: int, size: int) -> tuple[list[int], list[int], list[int]]:
    """Two judges of good and bad; the second errs more on some clusters than on others."""
    cluster = np.repeat(np.arange(clusters), size)
    truth = rng.random(len(cluster)) < 0.5
    wrong = rng.random(len(cluster)) < rng.choice([0.0, 0.5], size=clusters)[cluster]
    return truth.astype(int).tolist(), (truth ^ wrong).astype(int).tolist(), cluster.tolist()


def test_it_covers_where_an_interval_of_items_would_not() -> None:
    """40 clusters of 10 items; half of them are judged at random. The true κ is 0.5: a quarter of all items is wrong.

    Of 200 repeats, coverage of .95 has a standard error of .015. Items alone, as if they were independent, cover less.
    """
    rng, covered, alone = np.random.default_rng(3), 0, 0
    for seed in range(200):
        first, second, cluster = drawn(rng, 40, 10)
        found = kappa_interval(first, second, cluster, resamples=400, seed=seed)
        items = kappa_interval(first, second, range(len(first)), resamples=400, seed=seed)
        covered += found.low <= 0.5 <= found.high
        alone += items.low <= 0.5 <= items.high

    assert covered / 200 == pytest.approx(0.95, abs=0.05)
    assert alone / 200 < 0.85


def test_bounds_are_the_quantiles_over_resampled_clusters() -> None:
    """The same as κ of the items put together, cluster by cluster, with the same draws."""
    first, second, cluster = drawn(np.random.default_rng(8), 6, 5)
    found = kappa_interval(first, second, cluster, weights="quadratic", resamples=50, seed=4)
    from judged.stats.bootstrap import draw_resamples

    kappas = []
    for block in draw_resamples(6, resamples=50, seed=4):
        for places in block:
            rows = [at for place in places for at in range(30) if cluster[at] == place]
            kappas.append(
                cohen_kappa([first[r] for r in rows], [second[r] for r in rows], weights="quadratic").value
            )

    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(kappas, [0.025, 0.975])))


@given(panel=panels, weights=st.sampled_from(["equal", "linear", "quadratic"]))
def test_it_is_an_interval_or_says_why_not(panel: list[tuple[int, int, str]], weights: Any) -> None:
    """The mean is κ itself; nothing is ever nan."""
    first, second, cluster = (list(column) for column in zip(*panel, strict=True))
    found = kappa_interval(first, second, cluster, weights=weights, resamples=20)

    if isinstance(found, Undefined):
        assert found.reason
    else:
        assert found.mean == cohen_kappa(first, second, weights=weights).value
        assert -1 <= found.low <= found.high <= 1


@pytest.mark.parametrize(
    ("first", "second", "clusters", "message"),
    [
        ([0, 1], [0, 1], ["a", "a"], "one cluster"),
        ([1, 1], [1, 1], ["a", "b"], "no spread: both judges gave only `1`"),
        ([None, 1], [1, None], ["a", "b"], "no item has labels from two judges"),
    ],
)
def test_what_has_no_interval_says_why(first: Any, second: Any, clusters: Any, message: str) -> None:
    """In words."""
    assert kappa_interval(first, second, clusters, resamples=16) == Undefined(message)


def test_a_resample_of_one_label_leaves_it_undefined() -> None:
    """One of two clusters, drawn twice, is of one label."""
    found = kappa_interval([0, 1], [0, 1], ["a", "b"], resamples=16)

    assert isinstance(found, Undefined)
    assert re.fullmatch(r"\d+ of 16 resamples have one label only", found.reason)


def test_every_item_has_a_cluster() -> None:
    """Lengths that differ are refused."""
    with pytest.raises(BadSample, match="2 and 2 labels of 1 items"):
        kappa_interval([0, 1], [0, 1], ["a"])
