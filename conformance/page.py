"""The results as a table for the terminal, a page in Markdown, or JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from itertools import groupby

from conformance.cases import Case
from conformance.rankers import RANKERS, Record, read_record
from conformance.verdict import Results, describe_faults, summarise

__all__ = ["render_json", "render_markdown", "render_table"]

SUMMARY = ("equal", "refused", "different", "accepted", "error", "crash", "not supported")

PREFACE = """\
# Compatibility

Results of {number} tools on the [conformance suite](concepts/conformance.md), case by case. This page is written by

    python -m conformance --all --format markdown > docs/compatibility.md

Run on {date} with Python {python}: {tools}.

## Summary

Cases by outcome; a case counts under the most serious outcome of its measures.

"""

PROFILES_PREFACE = """\
## Profiles

Libraries for training and for retrieval-augmented generation, each compared with judged under the profile of its name, on random
groups of one to nine documents with equal scores, groups without a relevant document, and single documents. Grades are 0 and 1 where a
metric takes no others; scores are distinct where a tool has no order for equal ones. Elasticsearch is a server: its profile follows its
published source. What is not imitated is in [Profiles](reference/profiles.md). Recorded by

    python -m conformance.rankers --record
"""

LEGEND = """\
- **equal**: every value is within 1e-9 of the exact one, or equal in the printed digits (trec_eval). Under a
  convention that is not the usual one, only tools that can be asked for it are held to it.
- **refused**: the input means nothing, and the tool said so.
- **different**, by how much at most; **accepted**: a number came out of input that should be refused.
- **error**: the tool raised an error or ended with one. **crash**: it ended by a signal, and with it the program that
  called it, or did not answer in time.
- A share such as 2/7 says how many of the measures had that outcome; the others are equal or not supported.
- **–**: the tool has none of the measures, or cannot be asked for the protocol.

A difference is not always a fault: a tool may have another convention on purpose. The suite says which one it holds
tools to, and the [protocol](concepts/protocol.md) what each convention is.
"""


def render_json(cases: Sequence[Case], results: Sequence[Results]) -> str:
    """Return every verdict, by tool."""
    verdicts = [
        {"tool": result.tool, "verdicts": [verdict.to_dict() for verdict in result.verdicts]}
        for result in results
    ]
    return json.dumps({"cases": len(cases), "results": verdicts}, indent=1, allow_nan=False)


def render_table(cases: Sequence[Case], results: Sequence[Results]) -> str:
    """Return a row for each case and a column for each tool, then what differed."""
    rows = [["case", *(result.tool for result in results)]]
    rows += [[case.id, *(summarise(result.of(case)) for result in results)] for case in cases]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.insert(1, "─" * (sum(widths) + 2 * (len(widths) - 1)))
    sentences = [f"{case.id} · {sentence}" for case in cases for sentence in describe_faults(results, case)]
    return "\n".join([*lines, *([""] if sentences else []), *sentences])


def render_markdown(cases: Sequence[Case], results: Sequence[Results], date: str) -> str:
    """Return the page of the documentation."""
    tools = ", ".join(result.tool for result in results)
    preface = PREFACE.format(number=len(results), date=date, python=platform.python_version(), tools=tools)
    parts = [preface + summary(cases, results), LEGEND]
    for theme, members in groupby(cases, key=lambda case: case.id.partition("/")[0]):
        parts.append(_section(theme, list(members), results))
    return "\n".join([*parts, render_profiles(read_record()), CLICKS.lstrip("\n")])


CLICKS = """
## Clicks

judged beside other tools on the logs of `tests/clicks`: six impressions for click models, four rounds and Open Bandit's random policy for values.

| tool | what | equal | largest difference |
|---|---|---:|---:|
| PyClick, published figures | attractiveness and perplexity of SDBN and PBM (`SDBN`, `PBM(prior=(1, 2), rounds=50, anchor=False)`), log-likelihood | 15/15 | 5e-05, as printed |
| obp 0.5.7 | `IPS`, `SNIPS`, `DM`, `DR`, clipped `IPS` on 10,000 impressions | 5/5 | 1e-17 |
"""
"""The section on click models and values; tests hold judged to these numbers."""


def render_profiles(records: Sequence[Record]) -> str:
    """Return the section on libraries that score arrays or lists: how often each metric agreed with its profile."""
    lines = [
        PROFILES_PREFACE,
        "| profile | tool | metric | equal | largest difference |",
        "|---|---|---|---:|---:|",
    ]
    for record in records:
        tool = f"{RANKERS[record.profile].distribution} {record.version}"
        share, apart = (
            f"{record.equal}/{record.cases}",
            f"{record.difference:.0e}" if record.difference else "0",
        )
        lines.append(f"| `{record.profile}` | {tool} | `{_escape(record.metric)}` | {share} | {apart} |")
    return "\n".join([*lines, ""])


def summary(cases: Sequence[Case], results: Sequence[Results]) -> str:
    """Return a row of counts for each tool."""
    head = f"| tool | {' | '.join(SUMMARY)} |\n|---|{'---:|' * len(SUMMARY)}\n"
    rows = []
    for result in results:
        counts: Mapping[str, int] = {str(name): count for name, count in result.counts(cases).items()}
        numbers = " | ".join(str(counts.get(outcome, 0)) for outcome in SUMMARY)
        rows.append(f"| {result.tool} | {numbers} |")
    return head + "\n".join(rows) + "\n"


def _section(theme: str, cases: list[Case], results: Sequence[Results]) -> str:
    lines = [f"## {theme.capitalize()}", "", f"| case | {' | '.join(result.tool for result in results)} |"]
    lines.append(f"|---|{'---|' * len(results)}")
    for case in cases:
        name = case.id.partition("/")[2]
        lines.append(
            f"| {name}: {case.title} | {' | '.join(summarise(result.of(case)) for result in results)} |"
        )
    sentences = [
        f"- {case.id.partition('/')[2]} · {_escape(sentence)}"
        for case in cases
        for sentence in describe_faults(results, case)
    ]
    return "\n".join([*lines, "", *sentences, *([""] if sentences else [])])


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
