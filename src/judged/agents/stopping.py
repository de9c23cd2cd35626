"""Stopping rules: what agents would have saved and lost, had they stopped by a rule that they could follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from judged.agents.kernels import SessionView, good_results, iteration_gain
from judged.arrays import Flags, Floats, Ints
from judged.blocks import Estimate, Table, Value
from judged.errors import BadProtocol
from judged.kernels.segments import divide
from judged.stats.intervals import Interval, student_interval

BUDGETS = ("searches", "tokens", "seconds", "cost")
"""Quantities that a budget may limit; `cost` is money."""
OFTEN_UNKNOWN = frozenset(["seconds", "cost"])
"""Quantities that are shown only where a trace has them."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """The effect of one rule on the sessions of one system."""

    system: str
    rule: str
    stopped: int
    """Number of sessions it would have ended early."""
    gain: Interval | float
    """The mean good gain up to there."""
    lost: Interval | float
    """The mean share of its own good gain that a session would have lost; NaN where none found anything good."""
    searches: Interval | float
    """The mean share of its searches that a session would have saved."""
    tokens: Interval | float
    """The same of tokens; NaN where those of some iteration are unknown."""
    seconds: Interval | float = nan
    """The same of seconds."""
    cost: Interval | float = nan
    """The same of money."""


@dataclass(frozen=True, slots=True)
class StoppingRules:
    """The effect of every rule on every system."""

    effects: tuple[Stopping, ...]

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system and rule."""
        for effect in self.effects:
            row: dict[str, Value] = {"system": effect.system, "rule": effect.rule, "stopped": effect.stopped}
            for name in ("gain", "lost", *BUDGETS):
                row |= _spread(name, getattr(effect, name))
            yield row

    def tables(self) -> Iterator[Table]:
        """Yield a table of all rules."""
        known = [name for name in BUDGETS if name not in OFTEN_UNKNOWN or self._knows(name)]
        saved = (f"{'money' if name == 'cost' else name} saved" for name in known)
        columns = ("system", "stop", "stopped early", "CG", "gain lost", *saved)
        rows = tuple(
            (
                *(effect.system, effect.rule, effect.stopped, _estimate(effect.gain)),
                *(_share(getattr(effect, name)) for name in ("lost", *known)),
            )
            for effect in self.effects
        )
        yield Table(columns, rows, title="Had the agents stopped by a rule", keys=2)

    def _knows(self, name: str) -> bool:
        """Return whether some sessions say how much of something they spent."""
        values = (getattr(effect, name) for effect in self.effects)
        return any(isinstance(value, Interval) or not isnan(value) for value in values)


def _spread(name: str, value: Interval | float) -> dict[str, Value]:
    if isinstance(value, Interval):
        return {name: value.mean, f"{name}_low": value.low, f"{name}_high": value.high}
    return {name: None if isnan(value) else value, f"{name}_low": None, f"{name}_high": None}


def _estimate(value: Interval | float) -> Value:
    if isinstance(value, Interval):
        return Estimate(value.mean, value.low, value.high)
    return None if isnan(value) else value


def _share(value: Interval | float) -> str:
    if not isinstance(value, Interval):
        return "unknown" if isnan(value) else f"{value:.1%}"
    return f"{value.mean:.1%} [{max(value.low, 0):.1%}, {min(value.high, 1):.1%}]"


def apply_rules(
    views: Mapping[str, SessionView],
    *,
    budgets: Sequence[tuple[str, float]] = (),
    good: int = 2,
    level: float = 0.95,
) -> StoppingRules:
    """Return the effect of stopping after one or two iterations that returned nothing new, or nothing good, and of budgets.

    A budget stops after the iteration that reaches it. Whether a result is good, an agent may not know: those rules
    are what the best judge of results would allow.
    """
    effects = []
    for system, view in views.items():
        good_new = good_results(view, good)
        rules: list[tuple[str, Ints]] = [
            (f"after {count} {word}", _stop_after(view, marks == 0, count))
            for kind, marks in (("new", view.new), ("good", good_new))
            for count, word in ((1, f"iteration with nothing {kind}"), (2, f"iterations with nothing {kind}"))
        ]
        rules += [(_name_budget(name, amount), _stop_at(view, name, amount)) for name, amount in budgets]
        effects += [_measure(system, rule, view, ends, good, level) for rule, ends in rules]
    return StoppingRules(tuple(effects))


def _name_budget(name: str, amount: float) -> str:
    return f"at a cost of {amount:g}" if name == "cost" else f"at {amount:g} {name}"


def _stop_after(view: SessionView, dry: Flags, count: int) -> Ints:
    """Return for each session the iteration at which it would have ended: after `count` dry ones in a row."""

    def find(start: int, end: int) -> int:
        run = 0
        for at in range(start, end):
            run = run + 1 if dry[at] else 0
            if run == count:
                return at - start + 1
        return end - start

    return _each(view, find)


def _stop_at(view: SessionView, name: str, amount: float) -> Ints:
    """Return for each session the iteration at which it would have reached a budget."""
    if name not in BUDGETS:
        msg = f"there is no budget of `{name}`, expected one of {', '.join(BUDGETS)}"
        raise BadProtocol(msg)
    spent: Floats = np.asarray(getattr(view, name), dtype=np.float64)

    def find(start: int, end: int) -> int:
        reached = np.flatnonzero(np.cumsum(spent[start:end]) >= amount)
        return int(reached[0]) + 1 if len(reached) else end - start

    return _each(view, find)


def _each(view: SessionView, find: Callable[[int, int], int]) -> Ints:
    pairs = zip(view.offset[:-1].tolist(), view.offset[1:].tolist(), strict=True)
    return np.array([find(start, end) for start, end in pairs], dtype=np.int64)


def _measure(system: str, rule: str, view: SessionView, ends: Ints, good: int, level: float) -> Stopping:
    inside = view.number <= ends[view.session]
    kept, whole = (_sum(view, iteration_gain(view, good, "graded"), mask) for mask in (inside, None))
    searches, all_searches = (_sum(view, view.searches, mask) for mask in (inside, None))
    return Stopping(
        system,
        rule,
        stopped=int((ends < view.iterations).sum()),
        gain=_interval(kept, level),
        lost=_interval(1 - divide(kept, whole)[whole > 0], level),
        searches=_interval(1 - divide(searches, all_searches)[all_searches > 0], level),
        tokens=_find_savings(view, view.tokens, inside, level),
        seconds=_find_savings(view, view.seconds, inside, level),
        cost=_find_savings(view, view.cost, inside, level),
    )


def _find_savings(view: SessionView, spent: Floats, inside: Flags, level: float) -> Interval | float:
    """Return the mean share of what sessions spent that they would have saved; NaN if some iteration does not say."""
    kept, whole = (_sum(view, spent, mask) for mask in (inside, None))
    return _interval(1 - divide(kept, whole)[whole > 0], level) if whole.sum() > 0 else nan


def _sum(view: SessionView, values: Ints | Floats, mask: Flags | None) -> Floats:
    chosen = values if mask is None else np.where(mask, values, 0)
    return np.bincount(view.session, weights=chosen, minlength=len(view)).astype(np.float64)


def _interval(values: Floats, level: float) -> Interval | float:
    if not len(values):
        return nan
    return student_interval(values, level=level) if len(values) > 1 else float(values[0])
