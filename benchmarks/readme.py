"""The tables of README.md, taken from the lines of reports."""

from __future__ import annotations

import re
from pathlib import Path

RATIOS, CALLS = "ratios", "calls"
"""Names of the marks between which the tables are."""
SECTION = "## Files: "


def fill(page: Path, report: list[str]) -> None:
    """Put the ratios of every file of the report between the marks of the page."""
    insert(page, RATIOS, _table(_ratios(report)))


def insert(page: Path, name: str, table: list[str]) -> None:
    """Put a table between the marks of that name of the page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text, lines = page.read_text(encoding="utf-8"), "\n".join([begin, *table, end])
    page.write_text(
        re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: lines, text, flags=re.DOTALL),
        encoding="utf-8",
    )


def _ratios(report: list[str]) -> dict[str, dict[str, str]]:
    """For each file, the ratio of each tool; a second call of a tool goes by another label."""
    found: dict[str, dict[str, str]] = {}
    variant = None
    for line in report:
        if line.startswith("## "):
            variant = line.removeprefix(SECTION) if line.startswith(SECTION) else None
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if variant is None or len(cells) != 6 or cells[0] in {"tool", "---"}:
            continue
        label = f"{cells[0]}, second call" if cells[5].startswith("second call") else cells[0]
        found.setdefault(variant, {})[label] = cells[4]
    return found


def _table(ratios: dict[str, dict[str, str]]) -> list[str]:
    tools = list(dict.fromkeys(tool for each in ratios.values() for tool in each))
    rows = [
        f"| {tool} | " + " | ".join(each.get(tool, "–") for each in ratios.values()) + " |" for tool in tools
    ]
    return [f"| tool | {' | '.join(ratios)} |", "|---|" + "---:|" * len(ratios), *rows]
