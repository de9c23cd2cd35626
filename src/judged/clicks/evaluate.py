"""`evaluate_clicks`: a log of one or several systems in; means, differences by user and the checks before them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.clicks.contrast import check_ratio, contrast_systems, label_clusters, split_randomly
from judged.clicks.family import CLICK, check_needs, default_measures, to_protocol
from judged.clicks.logs.read import list_texts, read_clicks
from judged.clicks.protocol import ClickProtocol
from judged.clicks.result import ClickReport, Preference, RankRate
from judged.clicks.tables import Clicks
from judged.comparison.sources import add_intervals
from judged.errors import UnknownName, check_kind
from judged.measures.measure import Measure
from judged.problem import Note
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.scoring.evaluator import Plan, Truth, evaluate_table
from judged.scoring.family import Measures
from judged.stats.clusters import estimate_error
from judged.stats.corrections import CORRECTIONS
from judged.stats.outcome import Undefined
from judged.stats.paired import check_level
from judged.stats.unpaired import p_of, student_of

MOST_RANKS = 20
"""Ranks that the curve of click-through shows."""
DAY = 86_400


def evaluate_clicks(
    clicks: object,
    measures: Measures | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    protocol: ClickProtocol | None = None,
    ratio: Mapping[str, float] | None = None,
    level: float = 0.95,
    correction: str = "holm",
    seed: int = 0,
) -> ClickReport:
    """Score a log of clicks, and compare the systems that it names by user.

    `clicks` is what `judged.read_clicks` reads: a file, a table, or a dict from systems to logs. Means are over
    impressions; intervals and tests are by user, else by session. Impressions of two systems are different ones, so the
    tests are of two samples; users who saw both systems are one draw. Systems are compared with the `baseline`, else
    every pair, with p-values corrected for the comparisons of a measure (`holm`, `bonferroni`, `bh` or `none`).

    Two checks come first: whether the numbers of users are those of the plan (`ratio`, from system to share; by default
    equal), and whether the test calls random halves of one system different as often as its level says. If one fails,
    there is no verdict.

    >>> rows = [
    ...     {"impression": i, "user": i % 50, "query": "q", "document": "a", "rank": 1, "system": "ab"[i % 2], "click": i % 7 == 0}
    ...     for i in range(200)
    ... ]
    >>> report = evaluate_clicks(rows, "CTR")
    >>> report["a"].mean()
    {'CTR': 0.15}
    """
    check_level(level)
    check_kind("correction", correction, str, "the name of a correction")
    check_kind("seed", seed, int, "a whole number")
    check_kind("ratio", ratio, (Mapping, NoneType), "shares by system, such as {'old': 0.5, 'new': 0.5}")
    if correction not in CORRECTIONS:
        raise UnknownName("correction", correction, list(CORRECTIONS))
    log = read_clicks(clicks)
    convention = to_protocol(protocol)
    chosen = CLICK.parse_measures(default_measures(log) if measures is None else measures)
    check_needs(log, chosen)
    logs = log.split()
    baselines = [] if baseline is None else list_texts("baseline", baseline)
    for name in baselines:
        if name not in logs:
            raise UnknownName("system of this log", name, list(logs))
    plan = Plan.of_family(CLICK, chosen, convention)
    evaluations = {
        name: _with_inputs(
            evaluate_table(plan, Truth(None, ()), own, name, (), {}), log, level, correction, seed
        )
        for name, own in logs.items()
    }
    systems, notes = add_intervals(Evaluations(evaluations), level=level)
    tested = [measure for measure in chosen if measure.name != "Interleaving" and not measure.text]
    first = baselines[0] if baselines else next(iter(logs))
    return ClickReport(
        systems,
        differences=tuple(
            contrast_systems(evaluations, logs, tested, baselines, level=level, correction=correction)
        )
        if len(logs) > 1
        else (),
        ratio=check_ratio(logs, ratio) if len(logs) > 1 else None,
        splits=tuple(split_randomly(evaluations[first], logs[first], tested, level=level, seed=seed))
        if len(logs) > 1
        else (),
        curve=tuple(row for name, own in logs.items() for row in _list_rates(name, own, level)),
        preferences=tuple(
            row
            for name, own in logs.items()
            for row in _list_preferences(evaluations[name], own, chosen, level)
        ),
        more_notes=tuple(notes),
        level=level,
    )


def _with_inputs(evaluation: Evaluation, log: Clicks, level: float, correction: str, seed: int) -> Evaluation:
    settings = {"level": level, "correction": correction, "seed": seed, "format": log.form}
    provenance = replace(evaluation.provenance, inputs=log.input_files, settings=settings)
    return replace(evaluation, provenance=provenance)


def _list_rates(system: str, clicks: Clicks, level: float) -> list[RankRate]:
    """Return the share of documents clicked at each rank, with intervals by user."""
    if clicks.rank is None:
        return []
    label = label_clusters(clicks)
    rows = []
    for rank in np.unique(clicks.rank)[:MOST_RANKS].tolist():
        at = clicks.rank == rank
        rows.append(
            _rate(
                system,
                int(rank),
                clicks.click[at].astype(np.float64),
                None if label is None else label[clicks.owner[at]].tolist(),
                level,
            )
        )
    return rows


def _rate(system: str, rank: int, values: Floats, clusters: list[int] | None, level: float) -> RankRate:
    interval = student_of(estimate_error(values, clusters), level=level)
    low, high = (
        (None, None) if isinstance(interval, Undefined) else (max(interval.low, 0.0), min(interval.high, 1.0))
    )
    return RankRate(system, rank, len(values), int(values.sum()), float(values.mean()), low, high)


def _list_preferences(
    evaluation: Evaluation, clicks: Clicks, measures: Sequence[Measure], level: float
) -> list[Preference]:
    """Return which team interleaved lists speak for, over all impressions and day by day."""
    measure = next((measure for measure in measures if measure.name == "Interleaving"), None)
    if measure is None or clicks.team is None:
        return []
    credit = evaluation.scores[measure]
    label = label_clusters(clicks)
    names = clicks.team.names.to_pylist()
    first, second = sorted(names[code] for code in np.unique(clicks.team.codes).tolist() if code >= 0)
    rows = [_prefer(evaluation.system, (first, second), "", credit, label, level)]
    if clicks.time is not None and not np.isnan(clicks.time).any():
        days = (clicks.time // DAY).astype(np.int64)
        for day in np.unique(days).tolist():
            at = days == day
            shown = str(np.datetime64(day, "D"))
            own = None if label is None else label[at]
            rows.append(_prefer(evaluation.system, (first, second), shown, credit[at], own, level))
    return rows


def _prefer(
    system: str, teams: tuple[str, str], day: str, credit: Floats, label: Any, level: float
) -> Preference:
    of = estimate_error(credit, None if label is None else label.tolist())
    interval, p = student_of(of, level=level), p_of(of)
    return Preference(
        system,
        *teams,
        day,
        len(credit),
        int((credit > 0).sum()),
        int((credit < 0).sum()),
        float(credit.mean()),
        None if isinstance(interval, Undefined) else max(interval.low, -1.0),
        None if isinstance(interval, Undefined) else min(interval.high, 1.0),
        None if isinstance(p, Undefined) else p,
        of.draws,
    )


def note_split(log: Clicks) -> Note | None:
    """Return a note for a log of one system, which nothing is compared with; None for others."""
    if log.system is not None:
        return None
    return Note("one-system", "info", "the log names one system: there is nothing to compare")
