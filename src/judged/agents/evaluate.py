"""`evaluate_sessions`: traces in; scores of sessions, with their protocol and notes, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import NoneType
from typing import Any

from judged.agents.dedup.rules import Rules, Unit
from judged.agents.family import SESSION
from judged.agents.protocol import DEFAULT_MEASURES, Conflict, SessionProtocol, Unlabelled
from judged.agents.traces import TurnChoice
from judged.agents.traces.results.tools import Tools
from judged.errors import check_kind
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.scoring.evaluate import evaluate_with
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures


def evaluate_sessions(
    source: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    labels: Any = None,
    reference: Any = None,
    protocol: SessionProtocol | None = None,
    unit: Unit | None = None,
    rules: Rules | None = None,
    conflict: Conflict | None = None,
    unlabelled: Unlabelled | None = None,
    turn: TurnChoice | None = None,
    format: str | None = None,  # noqa: A002 - what users call it
    tools: Tools | str | Path | None = None,
    lenient: bool = False,
    conversations: Iterable[str] = (),
    explain: bool = False,
    searches: bool = False,
    human: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Score search sessions: what each iteration found that was new and good, how soon, and how much was repeated.

    `source` is a trace in any format that `judged.read_sessions` reads, the table that it returns, or a dict from the
    names of systems to either. Gains are part of the trace, or of `labels` (a file that `judged.read_labels` reads).
    `reference` says what could have been found: judgments, or `"union"` for what all systems found on the same task;
    measures that can use it do. `conversations` limits the evaluation to those named. `explain` keeps why each
    result is new or a duplicate, for `judged.agents.analysis.decisions`; `searches` what each search repeated, for
    `judged.agents.analysis.redundancy`. `human` has grades of a random sample of the results, for
    `judged.agents.analysis.corrected`.

    `protocol` has all conventions; single ones may be given instead: `unit` says what is the same result (`rules` says
    it in detail), `conflict` which of several gains of one result counts, `unlabelled` whether a result without a gain
    counts 0 or is an error, `turn` which turn of a conversation counts.
    """
    check_kind("protocol", protocol, (SessionProtocol, NoneType), "a `SessionProtocol`, or None")
    check_kind("rules", rules, (Rules, NoneType), "`Rules`, or None")
    check_kind("conversations", conversations, Iterable, "names of conversations")
    given = {"rules": rules, "conflict": conflict, "unlabelled": unlabelled, "turn": turn}
    if unit is not None and rules is None:
        given["rules"] = (protocol or SessionProtocol()).rules.replace(unit=unit)
    changes = {name: value for name, value in given.items() if value is not None}
    return evaluate_with(
        SESSION,
        labels,
        source,
        _prefer_reference(measures) if reference is not None else measures,
        protocol=(protocol or SessionProtocol()).replace(**changes),
        reference=reference,
        format=format,
        tools=tools,
        lenient=lenient,
        conversations=conversations,
        explain=explain,
        searches=searches,
        human=human,
        progress=progress,
    )


def _prefer_reference(measures: Measures) -> list[Measure]:
    """Return the measures, those that may use a reference or what the session found itself with the reference."""
    return [
        measure(reference="given") if _is_open(measure) else measure
        for measure in parse_measures(measures, family="session")
    ]


def _is_open(measure: Measure) -> bool:
    """Return whether a measure may use a reference, and does not say whether it does."""
    return "reference" in measure.defaults and "reference" not in dict(measure.set_parameters)
