"""The viewer's pages: those of the report with a line of the viewer above, the list of a folder, and errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from urllib.parse import urlencode

from judged.blocks import format_value
from judged.figures import PALETTE
from judged.report.page import name_hash
from judged.web.live import Saved

LIGHT, DARK = ("".join(f"--{name}:{pair[theme]};" for name, pair in PALETTE.items()) for theme in (0, 1))
COLOURS = f":root{{color-scheme:light dark;{LIGHT}}}@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}"
LAYOUT = """
body{background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.45rem;font-weight:600;overflow-wrap:anywhere}
p,pre{color:var(--soft)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-family:inherit}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--line);padding:.4rem .8rem .4rem 0;text-align:left;font-weight:normal}
thead th{color:var(--soft);font-size:12.5px;border-color:var(--rest)}
tbody th{overflow-wrap:anywhere}
.number{text-align:right}
.choice{text-align:center;width:4rem}
a{color:var(--a)}
button{font:inherit;color:var(--ink);background:none;border:1px solid var(--rest);border-radius:5px;padding:.25rem .9rem;float:right}
:focus-visible{outline:2px solid var(--a);outline-offset:2px}
@media(max-width:40rem){.optional{display:none}}
"""
STYLE = f"{COLOURS}{LAYOUT}"
LINE_STYLE = """
.judged-viewer{font:13px/1.5 system-ui,sans-serif;padding:.5rem var(--edge,1rem);overflow-wrap:anywhere}
.judged-viewer p{margin:.2rem 0;padding:.3rem .6rem;background:#7a2e00;color:#fff;white-space:pre-wrap}
@media print{.judged-viewer{display:none}}
"""
SCRIPT = """
const { events, version } = document.currentScript.dataset;
new EventSource(events).onmessage = (message) => { if (message.data !== version) location.reload(); };
"""
META = re.compile(
    r"<meta\s+http-equiv=\"Content-Security-Policy\"\s+content=\"([^\"]*)\"\s*/?>", re.IGNORECASE
)
BODY = re.compile(r"(</head>\s*<body[^>]*>)", re.IGNORECASE)


@dataclass(frozen=True)
class Page:
    """A page, and the Content-Security-Policy it is sent with."""

    html: str
    policy: str


def address(path: str, **query: str) -> str:
    """Return an address of this server.

    >>> address("/result", name="a&b.json")
    '/result?name=a%26b.json'
    """
    return f"{path}?{urlencode(query)}" if query else path


def make_live(report: str, *, names: Sequence[str], version: str, folder: bool, warning: str = "") -> Page:
    """Return a report that reloads itself when `version` is no longer that of the inputs named.

    Its policy is sent as a header, which can also forbid other pages to frame it.
    """
    head, policy, rest = META.split(report, maxsplit=1)
    top, body, content = BODY.split(rest, maxsplit=1)
    content, _, end = content.rpartition("</body>")
    back = '<a href="/">All results</a>' if folder else ""
    note = f'<p role="alert">{escape(warning.strip())}</p>' if warning else ""
    line = f'<aside class="judged-viewer" aria-label="Viewer">{back}{note}</aside>' if back or note else ""
    style = f"<style>{LINE_STYLE}</style>"
    html = f"{head}{top}{style}{body}{line}{content}{_script(names, version)}</body>{end}"
    return Page(html, _extend(unescape(policy), script=SCRIPT, style=LINE_STYLE))


def render_folder(title: str, saved: Sequence[Saved], *, version: str) -> Page:
    """Return the list of the saved results of a folder, with a choice of two to compare."""
    several = len(saved) > 1
    columns = (
        '<th scope="col">result</th><th scope="col" class="optional">kind</th><th scope="col">saved (UTC)</th>'
        '<th scope="col" class="number optional">bytes</th>'
    )
    if several:
        columns += '<th scope="col" class="choice">first</th><th scope="col" class="choice">second</th>'
    rows = "".join(_row(one, place, several=several) for place, one in enumerate(saved))
    table = f"<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
    button = "<p><button>Compare first and second</button></p>" if several else ""
    empty = "<p>No result is saved in this folder yet; <code>-o result.json</code> saves one.</p>"
    body = f'<form action="/compare">{table}{button}</form>' if saved else empty
    return _render(title, body, names=(), version=version)


def render_error(message: str, *, names: Sequence[str], version: str, folder: bool) -> Page:
    """Return a page that says what is wrong, and reloads itself when the inputs named change."""
    back = '<p><a href="/">All results</a></p>' if folder else ""
    body = f"<pre>{escape(message)}</pre>{back}"
    return _render("Nothing to show", body, names=names, version=version)


def _row(saved: Saved, place: int, *, several: bool) -> str:
    """Return the row of a result; the newest is chosen to be compared with the one before it."""
    name = escape(format_value(saved.name))
    choices = "".join(
        f'<td class="choice"><input type="radio" name="{which}" value="{escape(saved.name)}" required'
        f' aria-label="{which}: {name}"{" checked" if place == checked else ""}></td>'
        for which, checked in (("first", 1), ("second", 0))
    )
    link = f'<a href="{escape(address("/result", name=saved.name))}">{name}</a>'
    return (
        f'<tr><th scope="row">{link}</th><td class="optional">{escape(saved.kind)}</td><td>{saved.time}</td>'
        f'<td class="number optional">{saved.size:,}</td>{choices if several else ""}</tr>'
    )


def _render(title: str, body: str, *, names: Sequence[str], version: str) -> Page:
    heading = escape(format_value(title))
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{heading}</title><link rel="icon" href="data:,"><style>{STYLE}</style>'
    )
    html = (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main><h1>{heading}</h1>\n{body}</main>'
        f"{_script(names, version)}</body></html>\n"
    )
    policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'self'"
    return Page(html, _extend(policy, script=SCRIPT, style=STYLE))


def _script(names: Sequence[str], version: str) -> str:
    events = "/events?" + urlencode([("name", name) for name in names])
    return f'<script data-events="{escape(events)}" data-version="{escape(version)}">{SCRIPT}</script>'


def _extend(policy: str, *, script: str, style: str) -> str:
    """Return the policy with a script and a style allowed, and the connection by which pages reload themselves."""
    parts = dict(part.strip().partition(" ")[::2] for part in policy.split(";") if part.strip())
    for name, source in (("script-src", script), ("style-src", style)):
        allowed = "" if parts.get(name) in {None, "'none'"} else parts[name] + " "
        parts[name] = f"{allowed}{name_hash(source)}"
    parts |= {"connect-src": "'self'", "frame-ancestors": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in parts.items())
