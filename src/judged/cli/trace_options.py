"""Options of every command that reads traces: how they are written, which tools search, and how strict to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

__all__ = ["read_options", "trace_options"]

F = TypeVar("F", bound=Callable[..., Any])


def trace_options(command: F) -> F:
    """The options `--trace-format`, `--tools`, `--turn` and `--lenient`."""
    for option in reversed(
        [
            click.option(
                "--trace-format",
                metavar="NAME",
                help="How the traces are written, where their content does not tell.",
            ),
            click.option(
                "--tools",
                metavar="FILE",
                type=click.Path(dir_okay=False),
                help="A YAML or JSON file that says which tools are searches, and where queries and results lie.",
            ),
            click.option(
                "--turn",
                type=click.Choice(["last", "last-with-search"]),
                default="last",
                show_default=True,
                help="Which turn of a conversation counts.",
            ),
            click.option("--lenient", is_flag=True, help="Leave out what is faulty, and count it."),
        ]
    ):
        command = option(command)
    return command


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """What those options ask of the reader, by the names it knows them by."""
    from judged.formats.traces.tools import read_tools

    return {
        "format": given["trace_format"],
        "tools": None if given["tools"] is None else read_tools(given["tools"]),
        "turn": given["turn"],
        "lenient": given["lenient"],
    }
