"""Gate: the verdict, and every measure with its difference, interval and margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.gates.result import find_worst
from judged.report.packing import to_plain
from judged.report.pages import Page, PageData

if TYPE_CHECKING:
    from judged.report.entry import Entry


def make_data(entry: Entry) -> PageData:
    """Return the outcome of each gate and measure, with the queries that changed most."""
    head = {
        "verdict": find_worst(gate.verdict for gate in entry.result.gates),
        "gates": [
            {
                "name": gate.name,
                "verdict": gate.verdict,
                "run": gate.run,
                "baseline": gate.baseline,
                "measures": [
                    {
                        **result.to_dict(),
                        "unit": result.unit,
                        "hurt": [list(change) for change in result.hurt],
                        "helped": [list(change) for change in result.helped],
                    }
                    for result in gate.results
                ],
            }
            for gate in entry.result.gates
        ],
    }
    return PageData(to_plain(head))


PAGE = Page("gate", "Gate", make_data, lambda entry: bool(entry.result.gates))
