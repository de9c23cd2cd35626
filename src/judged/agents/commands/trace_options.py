"""Options of every command that reads traces: their format, the search tools, and strictness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from judged.cli.command import flag, option

if TYPE_CHECKING:
    from judged.agents.traces import TurnChoice
    from judged.agents.traces.read import ReadArguments

TRACES = "Traces"
"""Heading of these options in help."""


@dataclass(frozen=True, kw_only=True)
class TraceOptions:
    """Options for reading traces."""

    trace_format: str | None = option("--trace-format NAME", "Trace format; detected by default.")
    tools: str | None = option(
        "--tools FILE",
        "YAML or JSON file that names the search tools, and where their queries and results are.",
        type=click.Path(dir_okay=False),
    )
    turn: TurnChoice = option(
        "--turn [last|last-with-search]", "Turn of a conversation that counts.", default="last"
    )
    strict: bool = flag("--strict", "Refuse traces with malformed parts, instead of leaving these out.")

    def to_dict(self) -> ReadArguments:
        """Return the arguments of the readers."""
        return {
            "format": self.trace_format,
            "tools": self.tools,
            "turn": self.turn,
            "strict": self.strict,
        }
