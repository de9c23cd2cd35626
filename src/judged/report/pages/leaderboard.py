"""Leaderboard: who is best and what these queries cannot tell, then systems × measures with their doubts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judged.comparison.baselines import contrast_with_each
from judged.comparison.blocks import error_blocks
from judged.comparison.settings import TESTS
from judged.report.packing import Block, Json, to_plain
from judged.report.pages import Page, PageData
from judged.report.pages.result import to_json
from judged.scoring.evaluations import find_tie_range
from judged.stats.intervals import Interval

if TYPE_CHECKING:
    from judged.comparison.contrasts import Contrast
    from judged.comparison.result import Comparison
    from judged.report.entry import Entry

CONTRAST = (
    "difference",
    "low",
    "high",
    "hedges",
    "superiority",
    "wins",
    "ties",
    "losses",
    "p",
    "p_corrected",
    "detectable",
    "undefined",
)
"""Fields of a contrast on the page, in this order."""
MOST_BASELINES = 20
"""More baselines than this are not kept in the file."""
JUDGED_AT = 10
"""The cutoff of the share of judged results, for measures without one."""


def describe_scored(entry: Entry) -> dict[str, Json]:
    """Return what all pages of scored systems share: systems, measures with their direction, baselines, unit."""
    comparison = entry.comparison
    if comparison is not None:
        return {
            "systems": entry.systems,
            "measures": [
                {"name": scores.measure, "better": _direction(higher=scores.higher_is_better)}
                for scores in comparison.scores
            ],
            "queries": max(len(scores.queries) for scores in comparison.scores),
            "unit": entry.unit,
            "compared": True,
            "baselines": choose_baselines(comparison),
            "level": comparison.settings.level,
            "alpha": comparison.settings.alpha,
        }
    evaluations = entry.evaluations
    return {
        "systems": entry.systems,
        "measures": [
            {"name": measure.label, "better": _direction(higher=measure.higher_is_better)}
            for measure in evaluations.measures
            if not measure.text
        ],
        "queries": max(len(evaluation.scores.queries) for evaluation in evaluations.values()),
        "unit": entry.unit,
        "compared": False,
        "baselines": entry.systems,
        "level": 0.95,
        "alpha": 0.05,
    }


def _direction(*, higher: bool | None) -> int:
    return 0 if higher is None else 1 if higher else -1


def choose_baselines(comparison: Comparison) -> list[str]:
    """Return the systems that may be chosen as baseline: those named first, then all, or the best if they are many."""
    first = comparison.baselines or comparison.systems[:1]
    # every baseline is a family of contrasts in the file, which grows with the square of the systems
    most = len(comparison.systems) if len(comparison.systems) <= MOST_BASELINES else MOST_BASELINES // 2
    others = [name for name in comparison.ranked() if name not in first]
    return [*first, *others][: max(most, len(first))]


def make_data(entry: Entry) -> PageData:
    """Return means with intervals, answers, shares of judged results, ranges of ties, latency; contrasts as blocks."""
    scored = entry.comparison
    head = {"means": _means(entry), "judged": _judged_shares(entry), "ties": _tie_ranges(entry)}
    if scored is None:
        return PageData(head)
    answers = {
        answer.measure: {
            "text": scored.describe_answer(answer.measure),
            "best": list(answer.best),
            "open": list(answer.not_separated),
            "beaten": list(answer.separated),
            "against": [
                {"baseline": standing.baseline, "better": len(standing.better), "worse": len(standing.worse)}
                for standing in answer.standings
                if len(scored.systems) > 2 and answer.rivals  # else the answer is about the only pair
            ],
        }
        for answer in scored.answers
    }
    families = contrast_with_each(scored, choose_baselines(scored))
    blocks: dict[str, Block] = {
        f"contrasts:{number}": {
            "baseline": name,
            "family": family.describe(scored.settings.correction),
            "rows": tabulate_contrasts(family.contrasts, entry.systems, scored.measures),
        }
        for number, (name, family) in enumerate(families.items())
    }
    head |= {
        "answers": answers,
        "test": TESTS[scored.settings.test],
        "method": scored.method,
        "intervals": scored.settings.describe_intervals(len(scored.systems) - 1),
        "latency": _latency(scored, entry.systems),
        "errors": [to_json(part) for part in error_blocks(scored)],
        "trade_off": scored.draw_trade_off().spec if _has_trade_off(scored) else None,
        "left": len(scored.systems) - len(families),
    }
    return PageData(to_plain(head), blocks)


def tabulate_contrasts(
    contrasts: Sequence[Contrast], systems: Sequence[str], measures: Sequence[str]
) -> dict[str, list[Json]]:
    """Return, for each measure and system, the numbers of its contrast; None for the baseline itself."""
    table: dict[str, list[Json]] = {measure: [None] * len(systems) for measure in measures}
    place = {name: at for at, name in enumerate(systems)}
    for contrast in contrasts:
        row = contrast.to_dict()
        table[contrast.measure][place[contrast.system]] = [to_plain(row[name]) for name in CONTRAST]
    return table


def _means(entry: Entry) -> dict[str, list[Json]]:
    """Return, for each measure and system, the mean and the ends of its interval."""
    comparison = entry.comparison
    if comparison is not None:
        known = {(mean.measure, mean.system): mean for mean in comparison.means}
        return {
            measure: [
                [
                    known[measure, name].mean,
                    *(
                        (interval.low, interval.high)
                        if isinstance(interval := known[measure, name].interval, Interval)
                        else (None, None)
                    ),
                ]
                for name in entry.systems
            ]
            for measure in comparison.measures
        }
    evaluations = entry.evaluations
    return {
        measure.label: [
            [
                to_plain(evaluation[measure]),
                *evaluations.intervals.get(name, {}).get(str(measure), (None, None)),
            ]
            for name, evaluation in evaluations.items()
        ]
        for measure in evaluations.measures
        if not measure.text
    }


def _judged_shares(entry: Entry) -> Json:
    """Return, for each measure, its cutoff and the share of judged results of each system down to it."""
    sources = entry.sources
    if isinstance(sources, str):
        return None
    found: dict[str, Json] = {}
    for evaluations in sources.by_protocol.values():
        cutoffs = {measure.label: measure.parameters.get("cutoff") for measure in evaluations.measures}
        at = {name: cut if isinstance(cut, int) else JUDGED_AT for name, cut in cutoffs.items()}
        names = [f"Judged@{cut}" for cut in dict.fromkeys(at.values())]
        shares = {name: evaluations[name].measure(names).mean() for name in entry.systems}
        for measure, cut in at.items():
            found[measure] = {
                "at": cut,
                "shares": [shares[name][f"Judged@{cut}"] for name in entry.systems],
            }
    return found


def _tie_ranges(entry: Entry) -> Json:
    """Return, for each measure and system, the least and greatest mean over all orders of ties; None: no effect."""
    sources = entry.sources
    if isinstance(sources, str):
        return None
    found: dict[str, Json] = {}
    for evaluations in sources.by_protocol.values():
        for measure in evaluations.measures:
            ranges = [find_tie_range(evaluations[name], measure, thorough=False) for name in entry.systems]
            found[measure.label] = [
                None if span is None or span.high == span.low else list(span) for span in ranges
            ]
    return found


def _has_trade_off(comparison: Comparison) -> bool:
    return bool(comparison.latencies) and any(scores.has_direction for scores in comparison.scores)


def _latency(comparison: Comparison, systems: Sequence[str]) -> Json:
    if not comparison.latencies:
        return None
    known = {latency.system: latency for latency in comparison.latencies}
    optimal = comparison.pareto_optimal
    return [
        {**known[name].to_dict(), "pareto_optimal": name in optimal} if name in known else None
        for name in systems
    ]


PAGE = Page("leaderboard", "Leaderboard", make_data, lambda entry: bool(entry.systems))
