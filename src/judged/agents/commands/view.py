"""`judged view` of traces: their sessions, scored again when a file changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from judged.agents.commands.sessions import SessionOptions, make_report
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect
from judged.cli.viewing import ViewOptions
from judged.errors import JudgedError
from judged.result import Result


def view_traces(named: Sequence[tuple[str | None, str]], options: ViewOptions) -> Callable[[], Result] | None:
    """Return what scores the sessions of traces, with their curves; None if the first input is not a trace."""
    if not _is_trace(Path(named[0][1])):
        return None
    shown = SessionOptions(
        measures=options.measures,
        labels=options.labels,
        baselines=options.baselines,
        curve=True,
        explain=True,
    )
    return partial(make_report, list(named), options.settings, shown, {"explain": True}, quiet=True)


def _is_trace(path: Path) -> bool:
    """Return whether a file, or the first file of a folder, has a known format of traces."""
    try:
        trace = next(iter(open_traces(path).traces), None)
        return trace is not None and not trace.is_empty() and bool(detect(trace))
    except (JudgedError, OSError):
        return False
