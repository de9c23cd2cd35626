"""Writes `source/recorded.json`: what trec_eval prints for each case that it supports.

TREC_EVAL=path/of/9.0.4/trec_eval:path/of/10/trec_eval python -m conformance.record
"""

from __future__ import annotations

import json
import sys
from typing import Any

from conformance.cases import SUITE, read_suite
from conformance.drivers import find_tools
from conformance.examine import examine


def record() -> dict[str, Any]:
    """Return the tool, its version, the command and the values as printed, by case and measure."""
    table: dict[str, Any] = {}
    for tool in find_tools("trec_eval"):
        for verdict in examine(tool, read_suite()):
            if verdict.queries is None or verdict.all is None:
                continue
            entry: dict[str, Any] = {"tool": "trec_eval", "version": tool.version(), "command": verdict.call}
            form = ".0f" if verdict.measure.startswith("Num") else ".4f"
            values = {**verdict.queries, "all": verdict.all}
            entry["printed"] = {query: format(value, form) for query, value in values.items()}
            table.setdefault(verdict.case, {}).setdefault(verdict.measure, []).append(entry)
    return table


if __name__ == "__main__":
    recorded = record()
    if not recorded:
        sys.exit("no trec_eval was found: name it in TREC_EVAL")
    (SUITE / "source" / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
