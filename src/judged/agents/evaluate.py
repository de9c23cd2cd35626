"""`evaluate_sessions`: traces in; scores of sessions, with their protocol and notes, out."""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Any, TypedDict, Unpack

from judged.agents.dedup.rules import Rules, Unit
from judged.agents.family import SESSION, SessionOptions
from judged.agents.protocol import DEFAULT_MEASURES, Conflict, SessionProtocol, Unlabelled
from judged.agents.traces import TurnChoice
from judged.errors import UnknownName, check_kind
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.scoring.evaluate import evaluate_with
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures
from judged.tables.inputs import LabelsLike


class Conventions(TypedDict, total=False):
    """Conventions of the protocol that may be given one by one."""

    unit: Unit | None
    """Unit of deduplication: what counts as the same result; `rules` says it in detail."""
    rules: Rules | None
    conflict: Conflict | None
    unlabelled: Unlabelled | None
    turn: TurnChoice | None


class SessionArguments(Conventions, SessionOptions, total=False):
    """The keyword arguments of `evaluate_sessions` besides its inputs and its protocol."""


def evaluate_sessions(
    source: object,
    measures: Measures = DEFAULT_MEASURES,
    *,
    labels: LabelsLike | None = None,
    reference: LabelsLike | None = None,
    protocol: SessionProtocol | None = None,
    **arguments: Unpack[SessionArguments],
) -> Evaluation:
    """Score search sessions: what each iteration found that was new and good, how soon, and how much was repeated.

    `source` is a trace in any format that `judged.read_sessions` reads, the table that it returns, or a dict from the
    names of systems to either. `format` names the format of the trace, `tools` says which tools search, and `strict`
    refuses malformed parts, which are otherwise left out and counted. Gains are part of the trace, or of `labels` (a file that `judged.read_labels` reads).
    `reference` says what could have been found: judgments, or `"union"` for what all systems found on the same task;
    measures that can use it do. `conversations` limits the evaluation to those named. `explain` keeps why each
    result is new or a duplicate, for `judged.agents.analysis.decisions`; `searches` what each search repeated, for
    `judged.agents.analysis.redundancy`. `human` has grades of a random sample of the results, for
    `judged.agents.analysis.corrected`. `progress` is called with the number of sessions read so far.

    `protocol` has all conventions; single ones may be given instead: `unit` says what is the same result (`rules` says
    it in detail), `conflict` which of several gains of one result counts, `unlabelled` whether a result without a gain
    counts 0 or is an error, `turn` which turn of a conversation counts.
    """
    options: dict[str, Any] = dict(arguments)
    for name in options.keys() - SessionArguments.__annotations__.keys():
        kind = "argument of `evaluate_sessions`"
        raise UnknownName(kind, name, SessionArguments.__annotations__)
    check_kind("protocol", protocol, (SessionProtocol, NoneType), "a `SessionProtocol`, or None")
    check_kind("rules", options.get("rules"), (Rules, NoneType), "`Rules`, or None")
    check_kind("conversations", options.get("conversations", ()), Iterable, "names of conversations")
    conventions = {name: options.pop(name, None) for name in Conventions.__annotations__}
    return evaluate_with(
        SESSION,
        labels,
        source,
        _prefer_reference(measures) if reference is not None else measures,
        protocol=_change_protocol(protocol or SessionProtocol(), **conventions),
        reference=reference,
        **options,
    )


def _change_protocol(protocol: SessionProtocol, *, unit: object, **conventions: object) -> SessionProtocol:
    """Return the protocol with the conventions that were given."""
    if unit is not None and conventions["rules"] is None:
        conventions["rules"] = protocol.rules.replace(unit=unit)
    return protocol.replace(**{name: value for name, value in conventions.items() if value is not None})


def _prefer_reference(measures: Measures) -> list[Measure]:
    """Return the measures, those that may use a reference or what the session found itself with the reference."""
    return [
        measure(reference="given") if _is_open(measure) else measure
        for measure in parse_measures(measures, family="session")
    ]


def _is_open(measure: Measure) -> bool:
    """Return whether a measure may use a reference, and does not say whether it does."""
    return "reference" in measure.defaults and "reference" not in dict(measure.set_parameters)
