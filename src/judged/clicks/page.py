"""Clicks: the verdicts, the means and differences by user, click-through by rank, interleaving by day, and the checks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from judged.blocks import Display, Figure, Sentence
from judged.clicks.result import draw_credit, draw_rates
from judged.measures.cards import read_full_name
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData
from judged.report.pages.result import to_json

if TYPE_CHECKING:
    from judged.clicks.result import ClickReport
    from judged.report.entry import Entry


def make_data(entry: Entry) -> PageData:
    """Return means with intervals, differences, checks, outcomes and ranks; the charts as blocks."""
    report = cast("ClickReport", entry.result)
    systems = report.systems
    measures = [measure for measure in systems.measures if not measure.text]
    head = {
        "systems": list(systems),
        "impressions": [len(system.scores.queries) for system in systems.values()],
        "level": report.level,
        "failures": list(report.failures),
        "verdicts": [
            block.text for block in report.blocks(Display(notes=False)) if isinstance(block, Sentence)
        ],
        "measures": [
            {
                "name": measure.label,
                "words": read_full_name(measure),
                "better": 0 if measure.higher_is_better is None else 1 if measure.higher_is_better else -1,
                "unit": measure.unit,
            }
            for measure in measures
        ],
        "means": [
            {
                "system": name,
                "measure": measure.label,
                "mean": system[measure],
                "low": ends[0],
                "high": ends[1],
            }
            for name, system in systems.items()
            for measure in measures
            for ends in [systems.intervals.get(name, {}).get(str(measure), (None, None))]
        ],
        "differences": [row.to_dict() for row in report.differences],
        "ratio": None if report.ratio is None else {**asdict(report.ratio), "failed": report.ratio.failed},
        "splits": [{**asdict(check), "failed": check.failed} for check in report.splits],
        "ranks": [asdict(row) for row in report.curve],
        "outcomes": [asdict(row) for row in report.preferences],
    }
    days = [row for row in report.preferences if row.day]
    figures: list[Figure] = [draw_rates(report.curve)] if report.curve else []
    figures += [draw_credit(days)] if len(days) > 1 else []
    blocks: dict[str, Json] = {"figures": [to_json(figure) for figure in figures]}
    return PageData(to_plain(head), to_plain(blocks))


PAGE = Page("clicks", "Clicks", make_data, script="judged.clicks:page.js")
