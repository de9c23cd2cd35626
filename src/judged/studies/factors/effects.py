"""Effects of factors: what each value of a grid changes, averaged over the values of the other factors.

Systems are matched: a value of a factor counts with those of the other factors for which every value was run, so that a
system that failed takes its counterparts with it. The scores of a query are averaged over the matched systems of a value,
and values are compared with the first one on the same queries; p-values are corrected for all comparisons of a grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.blocks import Block, Estimate, Figure, Sentence, Table, Value
from judged.comparison.blocks import make_estimate
from judged.comparison.contrasts import Contrast, Mean, PairedScores, contrast_systems, estimate_means
from judged.comparison.settings import Settings
from judged.figures import Record, draw_bars


@dataclass(frozen=True)
class Effect:
    """One value of a factor in one measure: its mean, and its difference from the first value."""

    grid: str
    factor: str
    value: str
    systems: int
    """Number of systems that are averaged."""
    mean: Mean
    contrast: Contrast | None
    """Against the first value; None for the first one itself."""

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        found = {} if self.contrast is None else self.contrast.to_dict()
        kept = ("baseline_mean", "difference", "low", "high", "effect", "p", "p_corrected", "stars")
        return {
            "grid": self.grid,
            "factor": self.factor,
            "value": self.value,
            "measure": self.mean.measure,
            "systems": self.systems,
            "mean": self.mean.mean,
            **{name: found.get(name) for name in kept},
        }


def find_effects(
    grids: Mapping[str, Mapping[str, Mapping[str, str]]], scores: Sequence[PairedScores], settings: Settings
) -> list[Effect]:
    """Return the effects of every factor; `grids` has the factors of each system by grid and name of the system."""
    return [
        effect
        for grid, systems in grids.items()
        for measured in scores
        for effect in _find_effects(grid, systems, measured, settings)
    ]


def match_systems(systems: Mapping[str, Mapping[str, str]], factor: str) -> dict[str, list[str]]:
    """Return the systems of each value of a factor, those alone whose other factors occur with every value.

    >>> grid = {"a": {"k": "1", "b": "2"}, "b": {"k": "2", "b": "2"}, "c": {"k": "1", "b": "3"}}
    >>> match_systems(grid, "k")
    {'1': ['a'], '2': ['b']}
    """
    by_rest: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    values: dict[str, list[str]] = {}
    for name, factors in systems.items():
        if factor in factors:
            rest = tuple(sorted((other, value) for other, value in factors.items() if other != factor))
            by_rest.setdefault(rest, {})[factors[factor]] = name
            values.setdefault(factors[factor], [])
    for matched in by_rest.values():
        if len(matched) == len(values):
            for value, names in values.items():
                names.append(matched[value])
    return values if all(values.values()) else {}


def _find_effects(
    grid: str, systems: Mapping[str, Mapping[str, str]], scores: PairedScores, settings: Settings
) -> Iterator[Effect]:
    """Yield the effects of one grid in one measure, corrected together."""
    known = {name: factors for name, factors in systems.items() if name in scores.systems}
    factors = list(dict.fromkeys(factor for values in known.values() for factor in values))
    groups = [
        (factor, value, names) for factor in factors for value, names in match_systems(known, factor).items()
    ]
    first: dict[str, int] = {}
    for number, (factor, _, _) in enumerate(groups):
        first.setdefault(factor, number)
    pairs = [(at, first[factor]) for at, (factor, _, _) in enumerate(groups) if at != first[factor]]
    if not pairs:
        return
    columns = [np.mean([scores.column(name) for name in names], axis=0) for _, _, names in groups]
    averaged = replace(
        scores,
        systems=tuple(f"{factor}={value}" for factor, value, _ in groups),
        values=np.stack(columns, axis=1),
        left_out=(),
        unpaired=np.zeros((0, 0)),
        repeats={},
        binary=False,
    )
    contrasts = dict(zip((at for at, _ in pairs), contrast_systems(averaged, pairs, settings), strict=True))
    means = estimate_means(averaged, settings)
    for at, (factor, value, names) in enumerate(groups):
        yield Effect(grid, factor, value, len(names), means[at], contrasts.get(at))


def show_effects(effects: Sequence[Effect], *, full: bool, intervals: bool) -> Iterator[Block]:
    """Yield a table and a chart for each grid: of its first measure, or of all."""
    for grid in dict.fromkeys(effect.grid for effect in effects):
        measures = list(dict.fromkeys(effect.mean.measure for effect in effects if effect.grid == grid))
        for measure in measures if full else measures[:1]:
            some = [one for one in effects if one.grid == grid and one.mean.measure == measure]
            yield _tabulate(grid, measure, some, intervals=intervals)
            yield draw_effects(grid, measure, some)
        if len(measures) > 1 and not full:
            yield Sentence("Effects in the other measures: `--full`, or the file effects.csv.")


def _tabulate(grid: str, measure: str, effects: Sequence[Effect], *, intervals: bool) -> Table:
    rows: list[tuple[Value | Estimate, ...]] = []
    for effect in effects:
        mean = make_estimate(effect.mean.mean, effect.mean.interval, bounds=intervals)
        found = effect.contrast
        if found is None:
            rows.append((effect.factor, effect.value, effect.systems, mean, None, None))
        else:
            difference = make_estimate(found.difference, found.interval, found.stars, bounds=intervals)
            p = None if found.corrected is None else f"{found.corrected:.4f}"
            rows.append((effect.factor, effect.value, effect.systems, mean, difference, p))
    count = sum(effect.contrast is not None for effect in effects)
    title = (
        f"Effects of the factors of {grid}: means over the other factors, differences from the first value, "
        f"p corrected over {count:,} comparisons"
    )
    columns = ("factor", "value", "systems", measure, "difference", "p")
    return Table(columns, tuple(rows), title=title)


def draw_effects(grid: str, measure: str, effects: Sequence[Effect]) -> Figure:
    """Draw the mean of every value, factor by factor."""
    bars: list[Record] = [
        {"group": f"{effect.factor} = {effect.value}", "name": effect.factor, "value": effect.mean.mean}
        for effect in effects
    ]
    title = f"What each factor of {grid} changes"
    return draw_bars(
        bars, name=f"effects-{grid}", title=title, value=f"{measure}, mean over the other factors"
    )
