"""`judged view` of traces: their sessions, scored again when a file changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from judged.agents.analysis import curve, curve_measures, session_totals
from judged.agents.commands.sessions import choose_measures
from judged.agents.evaluate import evaluate_sessions
from judged.agents.protocol import WITHOUT_GAINS
from judged.agents.result import SessionReport
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect
from judged.cli.viewing import ViewOptions
from judged.comparison.api import compare
from judged.errors import JudgedError
from judged.result import Result, observe_files


def view_traces(named: Sequence[tuple[str | None, str]], options: ViewOptions) -> Callable[[], Result] | None:
    """Return what scores the sessions of traces; None if the first input is not a trace."""
    return partial(_evaluate, named, options) if _is_trace(Path(named[0][1])) else None


def _is_trace(path: Path) -> bool:
    """Return whether a file, or the first file of a folder, has a known format of traces."""
    try:
        trace = next(iter(open_traces(path).traces), None)
        return trace is not None and not trace.is_empty() and bool(detect(trace))
    except (JudgedError, OSError):
        return False


def _evaluate(named: Sequence[tuple[str | None, str]], options: ViewOptions) -> Result:
    """Return the scores of sessions, with their curves, and the comparison with a baseline if one is named."""
    shared = dict.fromkeys(("good", "discount", "beyond"))
    measures = choose_measures({"measures": options.measures, **shared})
    files = [("trace", path) for _, path in named] + ([("labels", options.labels)] if options.labels else [])
    inputs = observe_files(files)
    evaluation = evaluate_sessions(named, measures, labels=options.labels, explain=True)
    if not session_totals(evaluation).labelled and not options.measures:
        evaluation = evaluation.measure(WITHOUT_GAINS)
    level, baselines = options.settings.level, options.baselines
    return SessionReport(
        evaluation,
        replace(evaluation.provenance, inputs=inputs),
        curves=tuple(
            curve(system, measure, level=level)
            for system in evaluation.systems.values()
            for measure in curve_measures(evaluation.measures)
        ),
        comparison=compare(evaluation, baseline=baselines, **options.settings.to_dict())
        if baselines
        else None,
    )
