"""A page for every command, with an anchor for each of its options."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from typing import cast

import click

from judged.cli.main import COMMANDS, EXIT_CODES, judged
from page import Page


def make_command_pages() -> list[Page]:
    """Return the index of commands, then the page of each."""
    root = click.Context(judged, info_name="judged")
    commands = {name: cast("click.Command", judged.get_command(root, name)) for name in COMMANDS}
    pages = [Page(_place(name), _render(command, name)) for name, command in commands.items()]
    return [_make_index(commands), *pages]


def _place(name: str) -> str:
    return f"commands/judged-{name}.md"


def _make_index(commands: Mapping[str, click.Command]) -> Page:
    rows = [
        f"| [`judged {name}`](judged-{name}.md) | {command.get_short_help_str(200)} |"
        for name, command in commands.items()
    ]
    codes = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    lines = [
        *("# Commands", "", "| command | does |", "|---|---|", *rows, ""),
        *("## Exit codes", "", "| code | meaning |", "|---:|---|", *codes, ""),
    ]
    return Page("commands/index.md", "\n".join(lines))


def _render(command: click.Command, name: str) -> str:
    ctx = click.Context(command, info_name=f"judged {name}")
    usage = " ".join(command.collect_usage_pieces(ctx))
    parts = [
        f"# judged {name}",
        f"```console\n$ judged {name} {usage}\n```",
        _to_markdown(inspect.cleandoc(command.help or "")),
    ]
    section = None
    for option in command.get_params(ctx):
        record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
        if record is None:
            continue
        heading = getattr(option, "section", "") or "Options"
        if heading != section:
            section = heading
            parts.append(f"## {section}")
        flag = max(option.opts, key=len)
        parts.append(
            f"### `{record[0]}` {{ #{flag.lstrip('-')} data-toc-label='{flag}' }}\n\n{_escape(record[1])}"
        )
    return "\n\n".join(parts) + "\n"


def _to_markdown(text: str) -> str:
    """Return a help text as Markdown; paragraphs that click leaves as they are become code."""
    return "\n\n".join(_convert(part) for part in text.split("\n\n"))


def _convert(paragraph: str) -> str:
    lines = paragraph.splitlines()
    if lines[:1] == ["\b"]:
        return "```console\n" + textwrap.dedent("\n".join(lines[1:])) + "\n```"
    return _escape(" ".join(lines))


def _escape(text: str) -> str:
    """Return text in which no sign outside backticks is Markdown."""
    return "".join(_escape_outside(text))


def _escape_outside(text: str) -> Iterator[str]:
    for number, part in enumerate(text.split("`")):
        yield f"`{part}`" if number % 2 else part.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
