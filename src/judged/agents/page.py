"""Agentic search: gain and efficiency by iteration, where redundancy comes from, cost, and sessions as they happened."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from judged.agents.analysis import Curve, count_by_iteration, curve, curve_measures, find_costs, use
from judged.agents.family import align_of, session_totals
from judged.agents.tables import Hit
from judged.agents.timeline import SOURCES, Timeline, count_redundancy, make_timelines
from judged.comparison.blocks import find_pareto_optimal
from judged.errors import JudgedError
from judged.measures.parse import parse_measures
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData
from judged.scoring.evaluation import Evaluation

if TYPE_CHECKING:
    from judged.agents.result import SessionReport
    from judged.report.entry import Entry

ALWAYS = ("CG@last", "SRE@last")
"""Measures whose curves are always drawn, if results have gains."""
UNITS = ("tokens", "seconds", "cost")
"""Quantities that gain is set against; `cost` is money."""
MOST_ITERATIONS = 60
"""Later iterations are not drawn."""
MOST_SESSIONS = 200
"""More sessions than this are not kept: those with the most duplicates and iterations come first."""
MOST_RESULTS = 400
"""More results of one session than this are not kept."""
LONGEST = 200
"""Longer texts are cut."""


def make_data(entry: Entry) -> PageData:
    """Return means, curves and counts; sessions and costs as blocks."""
    report = cast("SessionReport", entry.result)
    evaluation, systems = report.evaluation, report.evaluation.systems
    labelled = bool(session_totals(evaluation).labelled)
    head = {
        "systems": list(systems),
        "measures": [
            {
                "name": measure.label,
                "better": 0 if measure.higher_is_better is None else 1 if measure.higher_is_better else -1,
            }
            for measure in evaluation.measures
        ],
        "means": {m.label: [to_plain(system[m]) for system in systems.values()] for m in evaluation.measures},
        "sessions": [len(system.scores.queries) for system in systems.values()],
        "labelled": labelled,
        "good": report.good,
        "curves": [_pack_curve(drawn) for drawn in _trace(evaluation, labelled=labelled)],
        "counts": {
            name: [asdict(row) for row in count_by_iteration(system, good=report.good)[:MOST_ITERATIONS]]
            for name, system in systems.items()
        },
        "stops": {
            name: [to_plain(asdict(stop)) for stop in stops] for name, stops in (report.stops or {}).items()
        },
        "overlaps": [{**asdict(row), "jaccard": row.jaccard} for row in report.pairs],
        "alone": [asdict(row) for row in report.single],
        "contrasts": [] if report.comparison is None else report.comparison.list_rows("differences"),
        "cost": _summarise_costs(evaluation, report.good),
    }
    blocks: dict[str, Json] = {"costs": _pack_costs(evaluation, report.good)}
    alignment = align_of(evaluation)
    try:
        timelines = list(make_timelines(evaluation))
    except JudgedError as error:
        head["why"] = error.message
        return PageData(to_plain(head), blocks)
    head["redundancy"] = _pack_redundancy(evaluation)
    head["use"] = [asdict(row) for row in use(evaluation, good=report.good).systems] if alignment.uses else []
    chosen = sorted(timelines, key=lambda line: (-line.duplicates, -line.iterations))[:MOST_SESSIONS]
    head |= {"kept": len(chosen), "total": len(timelines)}
    blocks["timelines"] = [_pack_timeline(line) for line in chosen]
    return PageData(to_plain(head), blocks)


def _trace(evaluation: Evaluation, *, labelled: bool) -> list[Curve]:
    wanted = parse_measures(
        [*(ALWAYS if labelled else ()), *curve_measures(evaluation.measures)], family="session"
    )
    return [
        curve(system, measure, iterations=None)
        for measure in curve_measures(wanted)
        if not measure.needs_reference or measure in evaluation.measures
        for system in evaluation.systems.values()
    ]


def _pack_curve(drawn: Curve) -> Json:
    return {
        "system": drawn.system,
        "measure": drawn.measure,
        "points": [
            [
                point.iteration,
                point.running,
                point.value,
                *((None, None) if point.interval is None else (point.interval.low, point.interval.high)),
            ]
            for point in drawn.points[:MOST_ITERATIONS]
        ],
    }


def _summarise_costs(evaluation: Evaluation, good: int) -> Json:
    """Return, for each unit, the mean gain and cost of each system, the gain per unit, and which are Pareto-optimal.

    Gain per unit is that of all sessions together, so that sessions without gain count in both directions.
    """
    costs: dict[str, Json] = {}
    for unit in UNITS:
        means: dict[str, list[float]] = {}
        for name, system in evaluation.systems.items():
            known = [
                cost for cost in find_costs(system, good=good) if getattr(cost, unit) == getattr(cost, unit)
            ]
            if known:
                gain = sum(cost.gain for cost in known) / len(known)
                means[name] = [gain, -sum(getattr(cost, unit) for cost in known) / len(known)]
        if means and any(cost for _, cost in means.values()):
            optimal = find_pareto_optimal(means)
            costs[unit] = [
                {
                    "system": name,
                    "gain": gain,
                    "cost": -cost,
                    "pareto_optimal": name in optimal,
                    "gain_per_unit": gain / -cost if cost else None,
                    "units_per_gain": -cost / gain if gain else None,
                }
                for name, (gain, cost) in means.items()
            ]
    return costs


def _pack_costs(evaluation: Evaluation, good: int) -> Json:
    return to_plain(
        {
            name: [
                [cost.session, cost.gain, *(getattr(cost, unit) for unit in UNITS)]
                for cost in find_costs(system, good=good)
            ]
            for name, system in evaluation.systems.items()
        }
    )


def _pack_redundancy(evaluation: Evaluation) -> Json:
    """Return, for each system, the number of duplicates, and the number and share of each source."""
    by_system = {}
    for name, counts in count_redundancy(evaluation).items():
        total = sum(counts.values())
        shares = {source: count / total if total else None for source, count in counts.items()}
        totals = session_totals(evaluation.systems[name])
        copies = {"id": totals.by_id, "URL": totals.by_url, "text": totals.by_text}
        by_system[name] = {"all": total, "counts": counts, "shares": shares, "copies": copies}
    return {"words": SOURCES, "systems": by_system}


def _pack_timeline(line: Timeline) -> Json:
    room = MOST_RESULTS
    searches = []
    for search in line.searches:
        results = search.results[: max(room, 0)]
        room -= len(results)
        searches.append(
            {
                "i": search.iteration,
                "q": _cut(search.query),
                "t": search.tool,
                "a": search.asked,
                "new": search.new,
                "again": len(search.results) - search.new,
                "left": len(search.results) - len(results),
                "r": [
                    {
                        "n": _cut(_name(shown.result)),
                        "s": _cut(shown.result.snippet if shown.result.title or shown.result.url else None),
                        "g": shown.gain,
                        "new": shown.new,
                        "f": shown.first,
                        "w": shown.source,
                        "y": _cut(shown.why),
                        "u": [name for name in ("opened", "cited") if getattr(shown, name)],
                    }
                    for shown in results
                ],
            }
        )
    return {
        "id": f"{line.key.system}/{line.key.conversation}",
        "system": line.key.system,
        "session": line.key.conversation,
        "task": line.key.task,
        "question": _cut(line.question, 1000),
        "duplicates": line.duplicates,
        "iterations": line.iterations,
        "searches": searches,
    }


def _name(result: Hit) -> str:
    known = (result.title, result.url, result.domain_id, result.id, result.snippet)
    return next((name for name in known if name), "")


def _cut(text: str | None, longest: int = LONGEST) -> str | None:
    if text is None:
        return None
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


PAGE = Page("sessions", "Agentic search", make_data, script="judged.agents:page.js")
