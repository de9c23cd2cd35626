"""The position-based model, and the rates that ignore one or both of its parts: by rank, by document, over all; COEC."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats
from judged.clicks.kernels import add_up
from judged.clicks.models.data import Cells, Lists
from judged.clicks.models.model import ClickModelSpec, Fitted, Prior, at_pairs, at_ranks, fill, smooth

TOLERANCE = 1e-6
"""The largest change of a parameter below which EM ends."""


def fit_position_based(
    lists: Lists, *, prior: Prior = None, rounds: int = 500, anchor: bool = True
) -> Fitted:
    r"""Fit $P(c = 1) = \gamma_r \alpha_{qd}$ by EM.

    A click adds 1 to both; no click adds $\alpha (1 - \gamma) / (1 - \alpha \gamma)$ to $\alpha$ and
    $\gamma (1 - \alpha) / (1 - \alpha \gamma)$ to $\gamma$. Only products are determined, so with `anchor`
    $\gamma_1 = 1$, and the prior is of attractiveness alone. Without it, with the prior (1, 2) and 50 rounds, numbers are
    those of PyClick.
    """
    cells = Cells.of(lists)
    alpha, gamma = np.full(lists.pairs, 0.5), np.full(lists.ranks, 0.5)
    fixed = np.zeros(lists.ranks, dtype=bool)
    if anchor:
        fixed[_first_rank(cells)] = True
        gamma[fixed] = 1.0
    first, second = (0.0, 0.0) if prior is None else prior
    by_pair = add_up(cells.pair, cells.shown, lists.pairs) + second
    by_rank = add_up(cells.rank, cells.shown, lists.ranks)
    # a prior of examination would change how it relates to rank 1
    rank_prior = (0.0, 0.0) if anchor else (first, second)
    by_rank += rank_prior[1]
    missed = cells.shown - cells.clicks
    change, done = np.inf, 0
    while done < rounds and change > TOLERANCE:
        a, g = alpha[cells.pair], gamma[cells.rank]
        rest = 1 - a * g
        # a product of 1 was never missed, so what is divided by 0 has weight 0
        share = np.divide(missed, rest, out=np.zeros_like(missed), where=rest > 0)
        up = cells.clicks + share * a * (1 - g)
        down = cells.clicks + share * g * (1 - a)
        new_alpha = _divide(add_up(cells.pair, up, lists.pairs) + first, by_pair)
        new_gamma = _divide(add_up(cells.rank, down, lists.ranks) + rank_prior[0], by_rank)
        new_gamma[fixed] = 1.0
        change = max(_largest(new_alpha - alpha), _largest(new_gamma - gamma))
        alpha, gamma = new_alpha, new_gamma
        done += 1
    return Fitted(attractiveness=alpha, examination=gamma, rounds=done, converged=bool(change <= TOLERANCE))


def _first_rank(cells: Cells) -> int:
    return int(cells.rank.min()) if len(cells.rank) else 0


def _divide(above: Floats, below: Floats) -> Floats:
    shares: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return shares


def _largest(change: Floats) -> float:
    known = np.abs(change[~np.isnan(change)])
    return float(known.max(initial=0.0))


def position_probabilities(fitted: Fitted, lists: Lists) -> Floats:
    """Return the product of both parts at every place."""
    assert fitted.attractiveness is not None  # noqa: S101 - fitted above
    assert fitted.examination is not None  # noqa: S101 - fitted above
    gamma = fill(fitted.examination, None)
    return at_pairs(fill(fitted.attractiveness, None), lists) * at_ranks(gamma, lists)


def fit_global_rate(lists: Lists, *, prior: Prior = (1, 2)) -> Fitted:
    """Return one rate of clicks for all places."""
    shown = np.array([lists.count_ranks(lists.shown).sum()])
    clicks = np.array([lists.count_ranks(lists.click).sum()])
    return Fitted(rate=smooth(clicks, shown, prior))


def global_probabilities(fitted: Fitted, lists: Lists) -> Floats:
    """Return that rate everywhere."""
    assert fitted.rate is not None  # noqa: S101 - fitted above
    return np.where(lists.shown, fitted.rate[0], 0.0)


def fit_rank_rate(lists: Lists, *, prior: Prior = (1, 2)) -> Fitted:
    """Return the rate of clicks of each rank."""
    return Fitted(rate=smooth(lists.count_ranks(lists.click), lists.count_ranks(lists.shown), prior))


def rank_probabilities(fitted: Fitted, lists: Lists) -> Floats:
    """Return the rate of the rank of each place."""
    assert fitted.rate is not None  # noqa: S101 - fitted above
    return at_ranks(fill(fitted.rate, None), lists)


def fit_document_rate(lists: Lists, *, prior: Prior = (1, 2)) -> Fitted:
    """Return the rate of clicks of each pair of query and document, wherever it stood."""
    rate = smooth(lists.count_pairs(lists.click), lists.count_pairs(lists.shown), prior)
    return Fitted(attractiveness=rate)


def document_probabilities(fitted: Fitted, lists: Lists) -> Floats:
    """Return the rate of the pair at each place."""
    assert fitted.attractiveness is not None  # noqa: S101 - fitted above
    return at_pairs(fill(fitted.attractiveness, None), lists)


def fit_coec(lists: Lists) -> Fitted:
    """Return clicks over expected clicks: those of each pair over the sum of the rates of the ranks where it stood."""
    rate = smooth(lists.count_ranks(lists.click), lists.count_ranks(lists.shown), None)
    expected = lists.sum_pairs(at_ranks(fill(rate, None), lists), lists.shown)
    clicks = lists.count_pairs(lists.click)
    ratio = np.divide(clicks, expected, out=np.full(lists.pairs, np.nan), where=expected > 0)
    return Fitted(attractiveness=ratio, rate=rate)


_SMOOTHED = {"prior": (1, 2)}
PBM = ClickModelSpec(
    "PBM",
    fit_position_based,
    position_probabilities,
    position_probabilities,
    {"prior": "rate", "rounds": 500, "anchor": True},
)
GCTR = ClickModelSpec("GCTR", fit_global_rate, global_probabilities, global_probabilities, _SMOOTHED)
RCTR = ClickModelSpec("RCTR", fit_rank_rate, rank_probabilities, rank_probabilities, _SMOOTHED)
DCTR = ClickModelSpec("DCTR", fit_document_rate, document_probabilities, document_probabilities, _SMOOTHED)
COEC = ClickModelSpec("COEC", fit_coec, None, None, {})
