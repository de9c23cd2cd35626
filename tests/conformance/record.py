"""Writes `recorded.json`: what trec_eval prints for each case it can be asked for.

TREC_EVAL=path/of/9.0.4/trec_eval:path/of/10/trec_eval python tests/conformance/record.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from judged.conformance.cases import read_suite
from judged.conformance.drivers.catalogue import tools
from judged.conformance.examine import examine

HERE = Path(__file__).parent


def recorded() -> dict[str, Any]:
    """By case and measure, the tool, its version, the command, and the values as printed."""
    table: dict[str, Any] = {}
    for tool in tools("trec_eval"):
        for verdict in examine(tool, read_suite(HERE.parents[1] / "conformance")):
            if verdict.queries is None or verdict.all is None:
                continue
            entry = {"tool": "trec_eval", "version": tool.version(), "command": verdict.call}
            form = ".0f" if verdict.measure.startswith("Num") else ".4f"
            values = {**verdict.queries, "all": verdict.all}
            entry["printed"] = {query: format(value, form) for query, value in values.items()}
            table.setdefault(verdict.case, {}).setdefault(verdict.measure, []).append(entry)
    return table


if __name__ == "__main__":
    made = recorded()
    if not made:
        sys.exit("no trec_eval was found: name it in TREC_EVAL")
    (HERE / "recorded.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
