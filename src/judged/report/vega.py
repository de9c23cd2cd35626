"""The program that draws figures in the page: Vega-Lite, as the installed vl-convert bundles it.

It is never kept on disk: anyone who can write to a copy there could put a script into reports that travel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from judged._optional import need
from judged.report.packing import squeeze

HOW_TO_DRAW = "`pip install vl-convert-python` (part of the extra `report`) adds figures"


@dataclass(frozen=True, slots=True)
class ChartRuntime:
    """The script, and the same packed."""

    script: str
    packed: str


def can_draw() -> bool:
    """Return whether the package that draws is installed."""
    return find_spec("vl_convert") is not None


def load_chart_runtime() -> ChartRuntime | None:
    """Return the script that draws figures; None without the extra `report`."""
    return _bundle() if can_draw() else None


@cache
def _bundle() -> ChartRuntime:
    """Return vega-embed with Vega's interpreter, which needs no `eval`; its names are kept to itself.

    Bundling and packing take about a second, once for all reports of a process.
    """
    converter = need("vl_convert", extra="report", needed_by="figures of the report")
    script = f"(()=>{{{converter.javascript_bundle()}}})();"
    return ChartRuntime(script, squeeze(script.encode()))
