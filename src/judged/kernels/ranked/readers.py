"""Readers that measures are named for: when each goes on from a result to the next."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from judged.kernels.ranked.browsing import Reader
from judged.kernels.segments import Floats

__all__ = [
    "Model",
    "bejewelled",
    "goal_minded",
    "goal_settled",
    "logarithmic",
    "modelled",
    "nearly_reciprocal",
    "patient",
    "satisfied_by_goal",
    "satisfied_by_patience",
    "satisfied_only",
]

Model: TypeAlias = Literal["rbp", "insq", "inst", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"]
"""The measures whose readers are known here."""


def patient(p: float, depth: int) -> Reader:
    """Goes on with the same chance everywhere (RBP)."""
    return Reader(lambda _rank, _gain, _total: np.array(p), depth)


def goal_settled(T: float, depth: int) -> Reader:
    """Goes on the more readily the more results have been looked at (INSQ)."""
    return Reader(lambda rank, _gain, _total: _inverse_square(rank + 2.0 * T), depth)


def goal_minded(T: float, depth: int) -> Reader:
    """The same, and the less readily the more has been gained (INST)."""
    return Reader(lambda rank, _gain, total: _inverse_square(rank + 2.0 * T - total), depth)


def bejewelled(
    T: float, cutoff: int, hb: float = 0.0, hc: float = 0.0, gain_med: float = 0.5, depth: int = 1000
) -> Reader:
    """Stops with the gain `T` or after `cutoff` results; both move with what is found, if told to (BPM)."""

    def goes_on(rank: Floats, gain: Floats, total: Floats) -> Floats:
        surplus = (total - gain) - gain_med * (rank - 1.0)
        wanting, able = total < T + hb * surplus, rank < cutoff + hc * surplus
        return np.where(wanting & able, 1.0, 0.0)

    return Reader(goes_on, depth if hc else min(cutoff, depth))


def logarithmic(cutoff: int) -> Reader:
    """Reaches each of the first `cutoff` results with the chance that is its discount in DCG (SDCG)."""
    return Reader(lambda rank, _gain, _total: np.log2(rank + 1.0) / np.log2(rank + 2.0), cutoff)


def satisfied_only(cutoff: int) -> Reader:
    """Goes on unless satisfied, for `cutoff` results (NERR8)."""
    return Reader(lambda _rank, gain, _total: 1.0 - gain, cutoff)


def nearly_reciprocal(cutoff: int) -> Reader:
    """Goes on unless satisfied, the more readily the further down (NERR9)."""
    return Reader(lambda rank, gain, _total: rank / (rank + 1.0) * (1.0 - gain), cutoff)


def satisfied_by_patience(p: float, depth: int) -> Reader:
    """Goes on unless satisfied, and then with a fixed chance (NERR10)."""
    return Reader(lambda _rank, gain, _total: p * (1.0 - gain), depth)


def satisfied_by_goal(T: float, depth: int) -> Reader:
    """Goes on unless satisfied, and then as the reader of INSQ (NERR11)."""
    return Reader(lambda rank, gain, _total: _inverse_square(rank + 2.0 * T) * (1.0 - gain), depth)


def modelled(model: Model, *, p: float, T: float, cutoff: int, depth: int) -> Reader:
    """The reader of the measure of that name; each takes what it needs of the parameters."""
    readers = {
        "rbp": lambda: patient(p, depth),
        "insq": lambda: goal_settled(T, depth),
        "inst": lambda: goal_minded(T, depth),
        "bpm": lambda: bejewelled(T, cutoff, depth=depth),
        "sdcg": lambda: logarithmic(cutoff),
        "nerr8": lambda: satisfied_only(cutoff),
        "nerr9": lambda: nearly_reciprocal(cutoff),
        "nerr10": lambda: satisfied_by_patience(p, depth),
        "nerr11": lambda: satisfied_by_goal(T, depth),
    }
    return readers[model]()


def _inverse_square(place: Floats) -> Floats:
    """The chance of going on that makes the chance of being reached fall with the square of the place.

    Below 1, where a modest reader of INST has more than was wanted, there is no chance left.
    """
    chance: Floats = (np.maximum(place - 1.0, 0.0) / place) ** 2
    return chance
