"""Options of every command that reads traces: how they are written, which tools search, and how strict to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["trace_options"]

F = TypeVar("F", bound=Callable[..., Any])


def trace_options(command: F) -> F:
    """The options `--trace-format`, `--tools`, `--turn` and `--lenient`, as the arguments the readers know them by."""
    for option in reversed(
        [
            click.option(
                "--trace-format",
                "format",
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
