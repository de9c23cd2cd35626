"""Models in which people read from the top: the cascade model, the simplified and the full dynamic Bayesian network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats
from judged.clicks.models.data import Lists
from judged.clicks.models.model import ClickModelSpec, Fitted, Prior, at_pairs, fill, smooth

TOLERANCE = 1e-3
"""The largest change of a parameter below which EM ends; a round looks at every place of every list."""
START = 0.9
"""The probability to continue before the first round of EM; the other parameters begin as those of the simplified network."""


def fit_cascade(lists: Lists, *, prior: Prior = (1, 2)) -> Fitted:
    """Return clicks over examinations, where people stop at their first click; later clicks are not looked at."""
    examined = lists.shown & (np.cumsum(lists.click, axis=0) - lists.click == 0)
    alpha = smooth(lists.count_pairs(lists.click & examined), lists.count_pairs(examined), prior)
    return Fitted(attractiveness=alpha, satisfaction=np.ones(lists.pairs), continuation=1.0)


def fit_simplified(lists: Lists, *, prior: Prior = (1, 2)) -> Fitted:
    """Return the simplified dynamic Bayesian network in closed form.

    A list is examined down to its last click, or to the end without one; attractiveness is clicks over examinations,
    satisfaction is last clicks over clicks.
    """
    places = np.arange(lists.width)[:, None]
    examined = lists.shown & ((lists.last < 0) | (places <= lists.last))
    ends = lists.click & (places == lists.last)
    clicks = lists.count_pairs(lists.click)
    return Fitted(
        attractiveness=smooth(clicks, lists.count_pairs(examined), prior),
        satisfaction=smooth(lists.count_pairs(ends), clicks, prior),
        continuation=1.0,
    )


def fit_network(lists: Lists, *, prior: Prior = (1, 2), rounds: int = 100) -> Fitted:
    r"""Fit the dynamic Bayesian network by EM: attractiveness, satisfaction, and one probability to continue.

    Who examines a document clicks it with $\alpha$; after a click they are satisfied with $\sigma$ and stop, else they
    examine the next one with $\gamma$. Whether a place was examined follows from the clicks by the forward-backward rule.
    """
    first, second = (0.0, 0.0) if prior is None else prior
    simple = fit_simplified(lists, prior=prior)  # near the end of EM already
    assert simple.attractiveness is not None  # noqa: S101 - fitted above
    assert simple.satisfaction is not None  # noqa: S101 - fitted above
    alpha, sigma, gamma = fill(simple.attractiveness, prior), fill(simple.satisfaction, prior), START
    shown = lists.count_pairs(lists.shown) + second
    clicks = lists.count_pairs(lists.click)
    change, done = np.inf, 0
    while done < rounds and change > TOLERANCE:
        attract, please = fill(alpha, prior), fill(sigma, prior)
        found = _expect(lists, attract, please, gamma)
        hidden = lists.sum_pairs(found.hidden, lists.shown)
        new_alpha = _share(clicks + hidden + first, shown)
        new_sigma = _share(lists.sum_pairs(found.satisfied, lists.click) + first, clicks + second)
        total = found.chances + second
        new_gamma = (found.onward + first) / total if total > 0 else gamma
        change = max(_largest(new_alpha - alpha), _largest(new_sigma - sigma), abs(new_gamma - gamma))
        alpha, sigma, gamma = new_alpha, new_sigma, new_gamma
        done += 1
    return Fitted(
        attractiveness=alpha,
        satisfaction=sigma,
        continuation=float(gamma),
        rounds=done,
        converged=bool(change <= TOLERANCE),
    )


def _share(above: Floats, below: Floats) -> Floats:
    shares: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return shares


def _largest(change: Floats) -> float:
    return float(np.abs(change[~np.isnan(change)]).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class _Expected:
    """What the clicks say of the reader, on average."""

    hidden: Floats
    """Of each place without a click: the probability that its document is attractive and was not looked at."""
    satisfied: Floats
    """Of each click: the probability that it satisfied."""
    onward: float
    """How often readers went on to the next place."""
    chances: float
    """How often they could have."""


def _expect(lists: Lists, alpha: Floats, sigma: Floats, gamma: float) -> _Expected:
    """Return what the clicks say of every place, by the forward-backward rule.

    Up to the last click everything was examined, and nothing before it satisfied: what is not known is where the reader
    stopped below it.
    """
    width, count = lists.pair.shape
    attract, please = at_pairs(alpha, lists), at_pairs(sigma, lists)
    # below[p]: probability of no click from place p on, if it is examined
    below = np.ones((width + 1, count))
    for place in range(width - 1, -1, -1):
        ways = np.where(lists.follows(place), 1 - gamma + gamma * below[place + 1], 1.0)
        below[place] = np.where(lists.shown[place], (1 - attract[place]) * ways, 1.0)
    hidden, satisfied = np.zeros((width, count)), np.zeros((width, count))
    onward = chances = 0.0
    # whether a place below the last click was examined; lists without a click begin with an examined place
    reached = (lists.last < 0).astype(np.float64)
    for place in range(width):
        follows, nothing = lists.follows(place), below[place + 1]
        inside, at_end, down = (
            place < lists.last,
            place == lists.last,
            lists.shown[place] & (place > lists.last),
        )
        hidden[place] = np.where(down, (1 - reached) * attract[place], 0.0)
        content, go = please[place], (1 - please[place]) * gamma * nothing
        total = np.where(follows, content + (1 - content) * (1 - gamma) + go, 1.0)
        total = np.maximum(total, np.finfo(np.float64).tiny)
        satisfied[place] = np.where(at_end, content / total, 0.0)
        ways = np.maximum(1 - gamma + gamma * nothing, np.finfo(np.float64).tiny)
        coming = np.where(at_end, go / total, reached * gamma * nothing / ways) * (follows & (at_end | down))
        could = np.where(at_end, 1 - satisfied[place], reached) * (follows & (at_end | down))
        further = (inside & follows) * lists.weight
        onward += float(further.sum() + (coming * lists.weight).sum())
        chances += float(further.sum() + (could * lists.weight).sum())
        reached = np.where(place + 1 > lists.last, np.where(at_end | down, coming, reached), reached)
    return _Expected(hidden, satisfied, onward, chances)


def full_probabilities(fitted: Fitted, lists: Lists) -> Floats:
    """Return the probability of a click at every place, before any click is known."""
    attract, please, gamma = _parameters(fitted, lists)
    out, examined = np.zeros(lists.pair.shape), np.ones(len(lists))
    for place, (a, s) in enumerate(zip(attract, please, strict=True)):
        out[place] = np.where(lists.shown[place], examined * a, 0.0)
        examined = examined * gamma * (a * (1 - s) + 1 - a)
    return out


def conditional_probabilities(fitted: Fitted, lists: Lists) -> Floats:
    """Return the probability of a click at every place, given the clicks above it."""
    attract, please, gamma = _parameters(fitted, lists)
    out, examined = np.zeros(lists.pair.shape), np.ones(len(lists))
    for place, (a, s) in enumerate(zip(attract, please, strict=True)):
        out[place] = np.where(lists.shown[place], examined * a, 0.0)
        rest = 1 - a * examined
        missed = np.divide((1 - a) * examined, rest, out=np.zeros(len(a)), where=rest > 0)
        examined = gamma * np.where(lists.click[place], 1 - s, missed)
    return out


def _parameters(fitted: Fitted, lists: Lists) -> tuple[Floats, Floats, float]:
    assert fitted.attractiveness is not None  # noqa: S101 - fitted above
    assert fitted.satisfaction is not None  # noqa: S101 - fitted above
    assert fitted.continuation is not None  # noqa: S101 - fitted above
    attract = at_pairs(fill(fitted.attractiveness, None), lists)
    return attract, at_pairs(fill(fitted.satisfaction, None), lists), fitted.continuation


CASCADE = ClickModelSpec(
    "Cascade", fit_cascade, full_probabilities, conditional_probabilities, {"prior": (1, 2)}
)
SDBN = ClickModelSpec(
    "SDBN", fit_simplified, full_probabilities, conditional_probabilities, {"prior": (1, 2)}
)
DBN = ClickModelSpec(
    "DBN", fit_network, full_probabilities, conditional_probabilities, {"prior": (1, 2), "rounds": 100}
)
