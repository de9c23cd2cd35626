"""The report: one HTML file of one or several results that opens from a disk or a mail, with no network.

    policy      what may run: the style and the scripts of this file, by their hashes, and nothing else
    noscript    the tables, for readers without JavaScript
    head        plain JSON, for the first screen
    blocks      the rest of the data, each compressed and opened when a page needs it
    script      `assets/*.js` and `assets/pages/*.js`, joined

Every number is made by the library; see `judged.report.pages`.
"""

from __future__ import annotations

import base64
import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from judged._version import __version__
from judged.blocks import Display, format_value
from judged.errors import BadInput, MissingExtra
from judged.figures import CONFIG, PALETTE
from judged.problem import group_notes, split_doubts
from judged.report.charts import CHARTS
from judged.report.entry import Entry, make_entries
from judged.report.html import render_html
from judged.report.packing import Json, escape_script, pack, to_plain
from judged.report.pages import CORE_PAGES, PAGES, list_pages
from judged.report.pages.leaderboard import CONTRAST, describe_scored
from judged.report.vega import load_chart_runtime
from judged.result import refuse_damage
from judged.store.hashing import hash_bytes
from judged.store.machine import list_versions

if TYPE_CHECKING:
    from judged.io.texts import TextSource
    from judged.result import Result
    from judged.tables.inputs import TruthLike

SCRIPTS = ("dom", "data", "copies", "state", "table", "chart", "blocks")
"""The scripts that pages build on, in the order in which they are joined."""

DOUBTFUL = {"tied-scores", "unjudged-results"}
"""Codes of notes that are not warnings, and still belong on the first screen."""


def render_report(
    results: Sequence[Result],
    *,
    title: str = "Retrieval report",
    titles: Sequence[str] = (),
    queries: TextSource | None = None,
    documents: TextSource | None = None,
    qrels: TruthLike | None = None,
    runs: Mapping[str, Any] | None = None,
    verified: bool = False,
    command: str = "",
) -> str:
    """Return one HTML file of one or several results.

    `titles` names the results where there are several. `queries` and `documents` have texts by id, as
    `judged.io.texts` reads them. Ranked lists and curves need the judgments and runs: they are read again from the
    files that the results name, if these have not changed; `qrels` and `runs` (by system) give them where there are
    no files; with `verified`, only files whose hash is recorded are read. What cannot be shown is said on the page. `command` is the command line to record.
    """
    inputs = None if qrels is None or runs is None else (qrels, runs)
    entries = make_entries(
        results, titles=titles, queries=queries, documents=documents, inputs=inputs, verified=verified
    )
    heads: list[dict[str, Json]] = []
    blocks: dict[str, str] = {}
    fallbacks = []
    for entry in entries:
        # the file of documents may be at fault too
        unless = MissingExtra if documents is None else BadInput
        with refuse_damage(entry.result.loaded_from, unless=unless):
            head, own = _collect(entry)
            fallbacks.append(_render_fallback(entry))
        heads.append(head)
        blocks |= own
    runtime = load_chart_runtime()
    shown = dict.fromkeys(name for head in heads for name in head["pages"] if name != "provenance")
    page = {
        "title": title,
        "command": command,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": _list_versions(),
        "pages": [{"id": name, "title": PAGES[name].title} for name in (*shown, "provenance")],
        "subjects": heads,
        "contrast": list(CONTRAST),
        "palette": {name: list(pair) for name, pair in PALETTE.items()},
        "config": {**CONFIG, "background": None, "padding": {"left": 4, "right": 12, "top": 6, "bottom": 4}},
        "charts": CHARTS,
        "figures": runtime is not None,
    }
    style, script = read_style(), read_script(tuple(shown))
    scripts = [script] if runtime is None else [script, runtime.script]
    if runtime is not None:
        blocks["runtime"] = runtime.packed
    return Template(_read("page.html")).substitute(
        policy=escape(make_policy(style, scripts)),
        title=escape(format_value(title)),
        style=style,
        fallback="\n".join(fallbacks),
        head=escape_script(json.dumps(page, ensure_ascii=False, separators=(",", ":"), allow_nan=False)),
        blocks="\n".join(
            f'<script type="text/plain" data-block="{escape(name)}">{data}</script>'
            for name, data in blocks.items()
        ),
        script=script,
    )


def _collect(entry: Entry) -> tuple[dict[str, Json], dict[str, str]]:
    """Return what the first screen needs of a result, and the packed blocks of its pages."""
    pages: dict[str, Json] = {}
    blocks: dict[str, str] = {}
    for page in list_pages(entry):
        data = page.data(entry)
        pages[page.id] = to_plain(dict(data.head))
        blocks |= {f"{entry.key}/{page.id}/{block}": pack(content) for block, content in data.blocks.items()}
    head = {
        "key": entry.key,
        "title": format_value(entry.title),
        "kind": entry.result.kind,
        "scored": to_plain(describe_scored(entry)) if entry.systems else None,
        "protocols": [
            {"text": record.text, "fingerprint": record.fingerprint, "measures": list(record.labels)}
            for record in entry.result.provenance.protocols
        ],
        **_list_notes(entry),
        "pages": pages,
    }
    return head, blocks


def _list_notes(entry: Entry) -> dict[str, Json]:
    """Return what puts all numbers in doubt, which is shown before them, and the other warnings, shown after them."""
    doubts, others = split_doubts(entry.notes)
    grave = [note for note in others if note.severity == "warning" or note.code in DOUBTFUL]
    return {
        name: [format_value(text) for _, text in group_notes(notes)]
        for name, notes in (("doubts", doubts), ("warnings", grave))
    }


def make_policy(style: str, scripts: Sequence[str]) -> str:
    """Return the Content-Security-Policy: these scripts and this style may run, nothing is loaded from anywhere."""
    allowed = " ".join(map(name_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {name_hash(style)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def name_hash(text: str) -> str:
    """Return a script or a style as a Content-Security-Policy names it."""
    return f"'sha256-{base64.b64encode(hash_bytes(text.encode())).decode()}'"


@cache
def read_script(pages: tuple[str, ...] | None = None) -> str:
    """Return the scripts of a report with these pages (by default all), joined into one that keeps its names to itself.

    Pages of the core are always there, since those of subjects use parts of them.
    """
    shown = dict.fromkeys((*CORE_PAGES, *(PAGES if pages is None else pages)))
    parts = [_read(f"{name}.js") for name in SCRIPTS] + [PAGES[name].read_script() for name in shown]
    body = "\n".join([*parts, _read("start.js")])
    return f'"use strict";\n(() => {{\n{body}}})();\n'


@cache
def read_style() -> str:
    """Return the style of the page, with the palette that charts use."""
    light, dark = ("".join(f"--{name}:{pair[which]};" for name, pair in PALETTE.items()) for which in (0, 1))
    return _read("page.css").replace("/*LIGHT*/", light).replace("/*DARK*/", dark)


def _read(name: str) -> str:
    return files("judged.report").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")


def _render_fallback(entry: Entry) -> str:
    """Return the tables of a result as plain HTML, for readers without JavaScript."""
    content = render_html(entry.result, Display())
    for side in ("left", "right"):  # the policy refuses styles in attributes; quotes in names are escaped
        content = content.replace(f' style="text-align:{side}"', "")
    return f"<h1>{escape(format_value(entry.title))}</h1>\n{content}"


def _list_versions() -> dict[str, str]:
    packages = list_versions("numpy", "scipy", "pyarrow")
    return {"judged": __version__, "Python": platform.python_version(), **packages}
