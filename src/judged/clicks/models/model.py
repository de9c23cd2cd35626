"""A click model as a value: its name, its settings, what is fitted, and the probabilities that follow."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.clicks.models.data import Lists
from judged.errors import BadMeasure, UnknownName
from judged.registry import Registry

Prior: TypeAlias = tuple[float, float] | None
"""Clicks, and the number of times shown, that every share has before the log is looked at; None: none."""
RATE = "rate"
"""The prior of two showings with the rate of clicks of the first rank: it pulls what is seldom shown to what is usual."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The parameters of a model; NaN where the log says nothing."""

    attractiveness: Floats | None = None
    """Of each pair: the probability of a click if it is looked at."""
    satisfaction: Floats | None = None
    """Of each pair: the probability that its click is the last."""
    examination: Floats | None = None
    """Of each rank: the probability that it is looked at, as a share of that of rank 1."""
    rate: Floats | None = None
    """Of each rank, of each pair or of all: the rate of clicks."""
    continuation: float | None = None
    """The probability to look at the next rank, unless satisfied."""
    rounds: int = 0
    """Number of rounds of EM; 0 in closed form."""
    converged: bool = True


@dataclass(frozen=True)
class ClickModelSpec:
    """A model with its settings: `SDBN(prior=(1, 2))`."""

    name: str
    fit: Callable[..., Fitted]
    """`fit(lists, **settings)` returns the parameters."""
    full: Callable[[Fitted, Lists], Floats] | None
    """Returns the probability of a click at every place, before any is known; None: the model has none."""
    conditional: Callable[[Fitted, Lists], Floats] | None
    """Returns the probability of a click at every place, given those above."""
    defaults: Mapping[str, object]
    settings: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        changed = {key: value for key, value in self.settings.items() if self.defaults[key] != value}
        inside = ", ".join(f"{key}={value!r}" for key, value in changed.items())
        return f"{self.name}({inside})" if inside else self.name

    def fit_to(self, lists: Lists) -> Fitted:
        """Return the parameters of this model for some lists."""
        settings = dict(self.settings)
        if settings.get("prior") == RATE:
            rank = int(lists.rank[lists.shown].min())
            at = lists.shown & (lists.rank == rank)
            settings["prior"] = (
                2 * float(lists.count_ranks(lists.click & at).sum() / lists.count_ranks(at).sum()),
                2,
            )
        return self.fit(lists, **settings)

    def set(self, **settings: object) -> ClickModelSpec:
        """Return the model with other settings."""
        for key in settings:
            if key not in self.defaults:
                kind = f"setting of {self.name}"
                raise UnknownName(kind, key, list(self.defaults))
        merged = {**self.defaults, **self.settings, **settings}
        _check_settings(self.name, merged)
        return ClickModelSpec(self.name, self.fit, self.full, self.conditional, self.defaults, merged)


def _check_settings(name: str, settings: Mapping[str, object]) -> None:
    prior = settings.get("prior")
    if prior is not None and prior != RATE:
        sound = (
            isinstance(prior, tuple)
            and len(prior) == 2
            and all(isinstance(part, int | float) and part >= 0 for part in prior)
            and prior[0] <= prior[1]
        )
        if not sound:
            msg = f"`prior` of {name} is {prior}, expected clicks and times shown, such as (1, 2), `'rate'` or None"
            raise BadMeasure(msg)
    rounds = settings.get("rounds")
    if rounds is not None and not (isinstance(rounds, int) and rounds >= 1):
        msg = f"`rounds` of {name} is {rounds}, expected a whole number from 1"
        raise BadMeasure(msg)


_WRITTEN = re.compile(r"([A-Za-z]\w*)\s*(?:\((.*)\))?", re.DOTALL)


def parse_model(text: str, models: Registry[ClickModelSpec]) -> ClickModelSpec:
    """Return the model that a text names, such as `SDBN(prior=(1, 2))`; case does not matter."""
    found = _WRITTEN.fullmatch(text.strip())
    names = {name.lower(): name for name in models}
    if found is None or found[1].lower() not in names:
        raise UnknownName("click model", text if found is None else found[1], list(models))
    model = models[names[found[1].lower()]]
    if not found[2]:
        return model.set()
    try:
        call = ast.parse(f"f({found[2]})", mode="eval").body
        assert isinstance(call, ast.Call)  # noqa: S101 - written so
        if call.args:
            raise ValueError  # noqa: TRY301
        settings = {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        msg = f"`{text}` cannot be read as a click model"
        raise BadMeasure(msg, hint=f"settings are written as in `{model.name}(prior=(1, 2))`") from error
    return model.set(**settings)


def smooth(clicks: Floats, shown: Floats, prior: Prior) -> Floats:
    """Return shares with the clicks and showings of the prior added; NaN where nothing was shown."""
    first, second = (0.0, 0.0) if prior is None else prior
    total = shown + second
    shares: Floats = np.divide(clicks + first, total, out=np.full(len(clicks), np.nan), where=total > 0)
    return shares


def fill(values: Floats, prior: Prior) -> Floats:
    """Return parameters with those that the log says nothing about as the prior has them, else as the mean."""
    unknown = np.isnan(values)
    if not unknown.any():
        return values
    known = values[~unknown]
    guess = (
        prior[0] / prior[1]
        if prior is not None and prior[1] > 0
        else float(known.mean())
        if len(known)
        else 0.5
    )
    return np.where(unknown, guess, values)


def at_pairs(values: Floats, lists: Lists) -> Floats:
    """Return the parameter of the pair at each place; 0 beyond the end of a list."""
    found: Floats = np.where(lists.shown, values[lists.known], 0.0)
    return found


def at_ranks(values: Floats, lists: Lists) -> Floats:
    """Return the parameter of the rank of each place; 0 beyond the end of a list, and at ranks that are not known."""
    rank = np.clip(lists.rank, 0, len(values) - 1)
    known = lists.shown & (lists.rank < len(values))
    return np.where(known, values[rank], 0.0)
