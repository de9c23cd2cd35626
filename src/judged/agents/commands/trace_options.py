"""Options of every command that reads traces: their format, the search tools, and strictness."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])


def trace_options(command: F) -> F:
    """Add the options `--trace-format`, `--tools`, `--turn` and `--lenient`, named as the arguments of the readers."""
    for option in reversed(
        [
            click.option(
                "--trace-format",
                "format",
                metavar="NAME",
                help="Trace format; detected by default.",
            ),
            click.option(
                "--tools",
                metavar="FILE",
                type=click.Path(dir_okay=False),
                help="YAML or JSON file that names the search tools, and where their queries and results are.",
            ),
            click.option(
                "--turn",
                type=click.Choice(["last", "last-with-search"]),
                default="last",
                show_default=True,
                help="Which turn of a conversation counts.",
            ),
            click.option("--lenient", is_flag=True, help="Leave out malformed parts, and count them."),
        ]
    ):
        command = option(command)
    return command
