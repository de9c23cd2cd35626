"""Curves: precision by recall, measures by cutoff, slices compared, and the critical-difference diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.comparison.baselines import contrast_with_each
from judged.comparison.curves import RankedCurve, precision_by_recall, score_by_cutoff
from judged.comparison.result import Comparison
from judged.comparison.settings import Settings
from judged.errors import JudgedError
from judged.report.packing import Block, Json, to_plain
from judged.report.pages import Page, PageData
from judged.report.pages.leaderboard import choose_baselines, tabulate_contrasts
from judged.stats.intervals import Interval

if TYPE_CHECKING:
    from judged.report.entry import Entry

MOST_RANKED = 30
"""The critical-difference diagram of more systems than this cannot be read."""


def make_data(entry: Entry) -> PageData:
    """Return the curves, the slices and the average ranks that the result allows."""
    comparison = entry.comparison
    head: dict[str, Json] = {
        "why": entry.sources if isinstance(entry.sources, str) else "",
        "slices": [],
        "ranks": {} if comparison is None else _rank_systems(comparison),
        "interactions": []
        if comparison is None
        else [to_plain(interaction.to_dict()) for interaction in comparison.interactions],
    }
    blocks: dict[str, Block] = {}
    curves = _trace(entry)
    if curves:
        head["curves"] = [
            {"name": curve.name, "x": curve.x, "points": list(curve.points)} for curve in curves
        ]
        blocks["curves"] = [_pack_curve(curve, entry.systems) for curve in curves]
    if comparison is not None and comparison.slices:
        head["slices"] = [
            {"attribute": attribute, "value": value, "queries": len(part.scores[0].queries)}
            for attribute, value in comparison.slices
            for part in [comparison.slices[attribute, value]]
        ]
        blocks["slices"] = [_pack_slice(part, entry) for part in comparison.slices.values()]
    return PageData(head, blocks)


def _trace(entry: Entry) -> list[RankedCurve]:
    """Return precision by recall, and each different measure that has a cutoff by its cutoff."""
    sources = entry.sources
    if isinstance(sources, str):
        return []
    settings = entry.comparison.settings if entry.comparison is not None else Settings()
    found: dict[str, RankedCurve] = {}
    for evaluations in sources.by_protocol.values():
        try:
            found.setdefault("", precision_by_recall(evaluations, settings=settings))
        except JudgedError:  # judgments that precision by recall is not defined for
            continue
        for measure in evaluations.measures:
            curve = score_by_cutoff(evaluations, measure, settings=settings)
            if curve is not None:
                found.setdefault(curve.name, curve)
    return list(found.values())


def _pack_curve(curve: RankedCurve, systems: list[str]) -> Json:
    """Return, for each point and system, the mean and its interval."""
    packed = []
    for means in curve.means:
        known = {mean.system: mean for mean in means}
        packed.append(
            [[known[name].mean, *_ends(known[name].interval)] if name in known else None for name in systems]
        )
    return to_plain(packed)


def _ends(interval: object) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if isinstance(interval, Interval) else (None, None)


def _pack_slice(part: Comparison, entry: Entry) -> Json:
    """Return means with intervals, and contrasts with every baseline."""
    known = {(mean.measure, mean.system): mean for mean in part.means}
    families = contrast_with_each(part, choose_baselines(entry.comparison or part))
    return to_plain(
        {
            "means": {
                measure: [
                    [known[measure, name].mean, *_ends(known[measure, name].interval)]
                    for name in entry.systems
                ]
                for measure in part.measures
            },
            "contrasts": {
                name: tabulate_contrasts(family.contrasts, entry.systems, part.measures)
                for name, family in families.items()
            },
        }
    )


def _rank_systems(comparison: Comparison) -> dict[str, Json]:
    """Return the critical-difference diagram of each measure that has one, as a specification."""
    if not 2 < len(comparison.systems) <= MOST_RANKED:
        return {}
    found: dict[str, Json] = {}
    for scores in comparison.scores:
        if scores.has_direction:
            try:
                figure = comparison.draw_ranks(scores.measure)
            except JudgedError:  # too few queries, or no spread
                continue
            found[scores.measure] = {"spec": figure.spec, "note": figure.note}
    return found


def _applies(entry: Entry) -> bool:
    """Return whether there are inputs to draw curves from, slices, or enough systems to rank."""
    comparison = entry.comparison
    if comparison is not None and (comparison.slices or len(comparison.systems) > 2):
        return True
    return bool(entry.systems) and not isinstance(entry.sources, str)


PAGE = Page("curves", "Curves", make_data, _applies)
