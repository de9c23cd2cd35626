"""`evaluate_sessions`: traces and measures in; scores of sessions, with their protocol and what was noticed, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judged.dedup.rules import Rules, Unit
from judged.errors import BadInput, BadMeasure, UnknownName
from judged.io.read import read_labels
from judged.kernels.sessions.view import UNLABELLED, SessionView
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Problem
from judged.sessions.book import Book
from judged.sessions.defaults import DEFAULT_MEASURES
from judged.sessions.evaluation import SessionEvaluation, asks_for_reference
from judged.sessions.gather import Gathering, Keep
from judged.sessions.observations import observed
from judged.sessions.protocol import Conflict, SessionProtocol, Unlabelled
from judged.sessions.reference import Pool, by_judgments, by_union, pools
from judged.tables.columns import to_strings
from judged.tables.scores import Scores
from judged.tables.sessions import Session
from judged.traces.context import TraceProblems
from judged.traces.conversation import TurnChoice
from judged.traces.read import stream_sessions
from judged.traces.results.tools import Tools
from judged.wording import counted

__all__ = ["UNION", "evaluate_sessions"]

UNION = "union"
"""The reference that is made of what all systems found on a task together."""

Told = Callable[[int], None]
"""Is told, after each session, how many there were so far."""


@dataclass(frozen=True, slots=True)
class _How:
    """How traces are read: their format, which tools search, and whether what is at fault is skipped and counted."""

    format: str | None = None
    tools: Tools | str | Path | None = None
    lenient: bool = False
    only: frozenset[str] = frozenset()
    """The conversations that are looked at; empty: all."""


def evaluate_sessions(
    source: Any,
    measures: Iterable[Measure | str] | Measure | str = DEFAULT_MEASURES,
    *,
    labels: Any = None,
    reference: Any = None,
    unit: Unit = "document",
    rules: Rules | None = None,
    conflict: Conflict = "first",
    unlabelled: Unlabelled = "zero",
    turn: TurnChoice = "last",
    format: str | None = None,  # noqa: A002 - what users call it
    tools: Tools | str | Path | None = None,
    lenient: bool = False,
    only: Iterable[str] = (),
    explain: bool = False,
    told: Told | None = None,
) -> SessionEvaluation:
    """Score sessions of search: what each iteration brought that was new and good, how soon, and how much was repeated.

    `source` is a trace in any format that `judged.read_sessions` knows, the table that it returns, or a dict from the
    names of systems to either. Gains stand in the trace, or in `labels` (a file that `judged.read_labels` reads).
    `reference` says what there was to find, for measures that ask: judgments, or `"union"` for what all systems found
    on the same task. `unit` says what is the same thing (`rules` says it in detail), `conflict` which of several gains
    of one thing counts, `unlabelled` whether a result without a gain counts 0 or is an error; `only` names conversations.
    `explain` keeps why each result is new or a duplicate, in `placed`.
    """
    chosen = parse_measures(measures, family="session")
    protocol = SessionProtocol(rules or Rules(unit=unit), conflict, unlabelled, turn)
    how = _How(format, tools, lenient, frozenset(only))
    book = None if labels is None else Book(read_labels(labels), protocol.rules)
    gathering = Gathering(protocol, book=book, keep=_keep(reference, chosen), explain=explain)
    skipped = TraceProblems()
    for count, session in enumerate(_sessions(source, how, protocol, skipped), start=1):
        if _new(session, gathering, how, skipped):
            gathering.add(session)
        if told is not None:
            told(count)
    _refuse_absent(how.only, gathering)
    steps, pooled = _with_reference(gathering, reference)
    return _evaluated(gathering, steps, chosen, book, skipped, pooled)


def _keep(reference: Any, measures: list[Measure]) -> Keep:
    """Which results must be remembered to tell what there was to find."""
    if reference is None:
        asking = [each for each in measures if asks_for_reference(each)]
        if asking:
            msg = f"{asking[0]} needs to know what there was to find"
            raise BadMeasure(msg, hint='give `reference`: judgments, or "union" for what all systems found')
        return "none"
    return "good" if isinstance(reference, str) and reference == UNION else "all"


def _sessions(source: Any, how: _How, protocol: SessionProtocol, skipped: TraceProblems) -> Iterator[Session]:
    """The sessions of every source; a dict, or pairs of names and sources, name the systems."""
    given: dict[str, Any] = {"format": how.format, "tools": how.tools, "lenient": how.lenient}
    for name, each in _named(source):
        for session in stream_sessions(each, **given, turn=protocol.turn, problems=skipped, name=name):
            if name is not None:
                session.system = name
            if not how.only or session.conversation in how.only:
                yield session


def _new(session: Session, gathering: Gathering, how: _How, skipped: TraceProblems) -> bool:
    """Whether a session has not been there before; one that has is refused, or left out and counted."""
    fault = gathering.again(session)
    if fault is None:
        return True
    if not how.lenient:
        hint = "give each its own `conversation`, or a `system` that tells them apart"
        raise BadInput(session.place or session.conversation, [fault], hint=hint)
    skipped.add([fault])
    return False


def _refuse_absent(only: frozenset[str], gathering: Gathering) -> None:
    """Refuse the name of a conversation that no trace has."""
    there = {each.conversation for each in gathering.named}
    if not only <= there:
        kind = "conversation of these traces"
        raise UnknownName(kind, min(only - there), there, hint="`judged sessions --per-session` lists them")


def _named(source: Any) -> Iterable[tuple[str | None, Any]]:
    """Every source with the name of its system, if it is given one; an object with turns or messages is a trace."""
    if isinstance(source, Mapping):
        return [(None, [source])] if {"turns", "messages"} & source.keys() else source.items()
    if isinstance(source, list | tuple) and source and all(isinstance(each, tuple) for each in source):
        return source
    return [(None, source)]


def _with_reference(gathering: Gathering, reference: Any) -> tuple[SessionView, dict[str, Pool]]:
    """The view with what there was to find, and what the sessions of each task found together."""
    steps = gathering.steps()
    if reference is None:
        return steps, {}
    if isinstance(reference, str) and reference == UNION:
        pooled = pools(gathering)
        return replace(steps, reference=by_union(gathering, steps, pooled)), pooled
    book = Book(read_labels(reference), gathering.protocol.rules)
    return replace(steps, reference=by_judgments(gathering, steps, book)), {}


def _evaluated(
    gathering: Gathering,
    steps: SessionView,
    measures: list[Measure],
    book: Book | None,
    skipped: TraceProblems,
    pooled: dict[str, Pool],
) -> SessionEvaluation:
    if not gathering.named:
        why = "; ".join(skipped.sentences()) or None
        raise BadInput("the trace", [Problem.error("empty", "the trace", "holds no session")], hint=why)
    if gathering.protocol.unlabelled == "error":
        _refuse_unlabelled(gathering, steps)
    notes = list(skipped.sentences())
    if book is not None and book.contradictions:
        told = counted(book.contradictions, "label")
        notes.append(f"{told} of the file not as an earlier one of the same result: the first counts")
    tally = gathering.tally()
    unused = 0 if book is None else book.unused
    systems = list(dict.fromkeys(each.system for each in gathering.named))
    run = systems[0] if len(systems) == 1 else f"{len(systems)} systems"
    ids = [
        each.conversation if len(systems) == 1 else f"{each.system}/{each.conversation}"
        for each in gathering.named
    ]
    values = {str(each): each.per_query(steps) for each in measures}
    return SessionEvaluation(
        Scores(to_strings(ids), values, run=run, unit="session"),
        tuple(measures),
        gathering.protocol,
        observed(steps, tally, unused_labels=unused, notes=tuple(notes)),
        run,
        tuple(gathering.named),
        steps,
        tally,
        pooled,
        tuple(gathering.placed),
    )


def _refuse_unlabelled(gathering: Gathering, steps: SessionView) -> None:
    """Refuse results without a gain, naming the first sessions that have some."""
    missing = steps.gains == UNLABELLED
    if not missing.any():
        return
    faults = []
    for at, named in enumerate(gathering.named):
        start, end = steps.cut[steps.offset[at]], steps.cut[steps.offset[at + 1]]
        count, total = int(missing[start:end].sum()), int(end - start)
        if count:
            what = f"{count:,} of {total:,} unique results have no gain"
            faults.append(
                Problem.error(
                    "result-without-gain", f"session `{named.conversation}` of `{named.system}`", what
                )
            )
    hint = "give them with `labels`, or let them count 0 with `unlabelled` as `zero`"
    raise BadInput("the sessions", faults, hint=hint)
