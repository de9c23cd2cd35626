"""Options of every command that reads traces: their format, the search tools, and strictness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judged.cli.command import option

if TYPE_CHECKING:
    from judged.agents.traces import TurnChoice

TRACES = "Traces"
"""Heading of these options in help."""


@dataclass(frozen=True, kw_only=True)
class TraceOptions:
    """How traces are read."""

    trace_format: str | None = option(
        "--trace-format", metavar="NAME", help="Trace format; detected by default."
    )
    tools: str | None = option(
        "--tools",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="YAML or JSON file that names the search tools, and where their queries and results are.",
    )
    turn: TurnChoice = option(
        "--turn",
        type=click.Choice(["last", "last-with-search"]),
        default="last",
        show_default=True,
        help="Which turn of a conversation counts.",
    )
    lenient: bool = option("--lenient", is_flag=True, help="Leave out malformed parts, and count them.")

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments of the readers."""
        return {
            "format": self.trace_format,
            "tools": self.tools,
            "turn": self.turn,
            "lenient": self.lenient,
        }
