r"""The studentized range: how far apart the greatest and least of several equal means lie by chance.

$$P(Q > q) = \int_0^\infty f_\nu(s) \; R_k(q s) \, ds, \qquad
  R_k(w) = k \int \varphi(z) \left(\Phi(z)^{k-1} - (\Phi(z) - \Phi(z - w))^{k-1}\right) dz$$

where $f_\nu$ is the density of $\sqrt{\chi^2_\nu / \nu}$. Both integrands are smooth and vanish at both ends (the outer
one over $\ln s$), so the trapezoid rule converges faster than any power of its step. The upper tail is summed up
directly, not subtracted from 1, so that small probabilities keep their digits.
"""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats

STEP, WIDEST = 0.125, 0.08
"""The steps over z, and the largest over ln s: finer ones change no result by more than 1e-12, for 2 to 1,000 groups."""
NEGLIGIBLE = 60.0
"""Densities below exp(−60) of their maximum are left out."""
BLOCK = 64


def range_tail(q: Floats | float, *, groups: int, freedom: float) -> Floats:
    """Return the probability that the studentized range of `groups` means exceeds each `q`.

    `freedom` may be infinite. Agrees with `scipy.stats.studentized_range.sf` where that is accurate.

    >>> range_tail(3.578, groups=3, freedom=20).round(4).tolist()  # tables say 3.578 for 5 %
    [0.05]
    """
    wanted = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if math.isinf(freedom):
        return _range_of_normals(wanted, groups)
    s, weight = _spread_nodes(freedom)
    parts = [wanted[at : at + BLOCK] for at in range(0, len(wanted), BLOCK)]
    tails = [_range_of_normals((part[:, None] * s).ravel(), groups).reshape(-1, len(s)) for part in parts]
    probability: Floats = np.minimum(np.concatenate([(tail * weight).sum(axis=1) for tail in tails]), 1.0)
    return probability


def range_quantile(tail: float, *, groups: int, freedom: float) -> float:
    """Return the studentized range that is exceeded with the probability `tail`.

    >>> round(range_quantile(0.05, groups=3, freedom=20), 3)
    3.578
    """
    low, high = 0.0, 4.0
    while range_tail(high, groups=groups, freedom=freedom)[0] > tail:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if range_tail(middle, groups=groups, freedom=freedom)[0] > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _range_of_normals(width: Floats, groups: int) -> Floats:
    """Return the probability that the range of standard normal numbers exceeds each width."""
    from scipy.special import ndtr

    z = np.arange(-9.0, 9.0 + STEP / 2, STEP)
    below = ndtr(z)
    weight = STEP * groups * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * below ** (groups - 1)
    share = np.minimum(ndtr(z - width[:, None]) / below, 1.0)
    with np.errstate(divide="ignore"):  # a width of 0 makes the share 1 and the logarithm −∞, rightly
        lost = -np.expm1((groups - 1) * np.log1p(-share))
    tail: Floats = np.minimum((lost * weight).sum(axis=1), 1.0)
    return tail


def _spread_nodes(freedom: float) -> tuple[Floats, Floats]:
    """Return nodes of the estimated standard deviation, in true ones, and the probability of each."""
    step = min(1 / (3 * math.sqrt(2 * freedom)), WIDEST)
    x = np.arange(_find_end(freedom, -1), _find_end(freedom, 1) + step, step)
    density = np.exp(freedom * (x - np.expm1(2 * x) / 2))
    return np.exp(x), density / density.sum()


def _find_end(freedom: float, side: int) -> float:
    """Return where, left (−1) or right (1) of its mode at 0, the density of ln s becomes negligible."""
    near, far = 0.0, 2.0 * side * (NEGLIGIBLE / freedom + 1)
    for _ in range(60):
        middle = (near + far) / 2
        if freedom * (middle - math.expm1(min(2 * middle, 700)) / 2) < -NEGLIGIBLE:
            far = middle
        else:
            near = middle
    return far
