"""The session family: traces of agents, deduplicated and labelled, as the view that session measures use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack, cast

import numpy as np

from judged.agents.builder import (
    DedupDecision,
    Keep,
    SearchRecord,
    SessionCounts,
    SessionKey,
    SessionState,
    SessionViewBuilder,
)
from judged.agents.corrected import Corrected, correct_by_humans
from judged.agents.dedup.label_index import LabelIndex
from judged.agents.kernels import UNLABELLED, SessionView
from judged.agents.protocol import DEFAULT_MEASURES, SessionProtocol
from judged.agents.redundancy import SearchLog
from judged.agents.reference import Pool, make_judged_reference, make_pools, make_union_reference
from judged.agents.tables import Session
from judged.agents.tasks import pair_tasks
from judged.agents.traces.context import REPEATED, TraceProblems
from judged.agents.traces.read import ReadArguments, ReadOptions, stream_sessions
from judged.agents.use import UseRecord
from judged.arrays import Ints
from judged.errors import SHOWN, BadInput, BadMeasure, UnknownName, WrongKind
from judged.io.read import read_labels
from judged.measures.measure import Measure
from judged.problem import Note, Problem
from judged.progress import Progress
from judged.scoring.alignment import Alignment
from judged.scoring.counts import to_notes
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluator import is_spark_frame
from judged.scoring.family import Family
from judged.tables.columns import to_strings
from judged.tables.inputs import LabelsLike
from judged.tables.labels import Labels
from judged.wording import counted

UNION = "union"
"""The reference that consists of what all systems found on a task together."""


def _sum(counts: Ints | None) -> int:
    """Return the sum of counts; 0 of those that an older file does not have."""
    return 0 if counts is None else int(counts.sum())


@dataclass(frozen=True, slots=True)
class SessionTotals:
    """Counts over all sessions."""

    sessions: int
    iterations: int = 0
    """Iterations that searched."""
    idle: int = 0
    """Steps of the agents that did not search, and are not iterations."""
    searches: int = 0
    results: int = 0
    unique: int = 0
    """Results that are not duplicates of an earlier one of their session."""
    labelled: int = 0
    """Unique results that have a gain."""
    conflicts: int = 0
    """Results whose gain differs from an earlier one of the same thing."""
    overruled: int = 0
    """Gains of the trace that the labels file replaced."""
    no_search: int = 0
    """Sessions that never searched."""
    no_results: int = 0
    """Sessions whose searches returned nothing."""
    earlier_turns: int = 0
    """Turns before the one that counts, over all sessions."""
    by_id: int = 0
    """Copies of an earlier result of their session by their ids; then by their URLs, and by their texts."""
    by_url: int = 0
    by_text: int = 0
    bare: int = 0
    """Results without id, URL and title."""
    labels: int = 0
    """Labels that were given in addition to the trace."""
    unused_labels: int = 0
    """Those of them that match no result."""
    highest: int = 0
    """The highest gain of a result."""
    good: int = 2
    """The lowest gain that a measure calls good."""
    input_notes: tuple[Note, ...] = ()
    """Notes of the readers of the inputs."""

    @classmethod
    def of(cls, view: SessionView, counts: SessionCounts) -> SessionTotals:
        """Return the totals of a view, without those of its inputs."""
        searched = view.iterations > 0
        return cls(
            sessions=len(view),
            iterations=len(view.results),
            idle=int(counts.idle.sum()),
            searches=int(view.searches.sum()),
            results=int(view.results.sum()),
            unique=len(view.gains),
            labelled=int((view.gains != UNLABELLED).sum()),
            conflicts=int(counts.conflicts.sum()),
            overruled=int(counts.overruled.sum()),
            no_search=int((~searched).sum()),
            no_results=int((searched & ~view.found).sum()),
            earlier_turns=int(counts.earlier_turns.sum()),
            by_id=_sum(counts.by_id),
            by_url=_sum(counts.by_url),
            by_text=_sum(counts.by_text),
            bare=_sum(counts.bare),
            highest=int(view.gains.max(initial=0)),
        )

    @property
    def coverage(self) -> float:
        """The share of unique results that have a gain; 1 where there are none."""
        return self.labelled / self.unique if self.unique else 1.0

    def notes(self, protocol: SessionProtocol) -> tuple[Note, ...]:
        """Return a note for everything notable, most severe first."""
        found: list[Note] = []

        def add(code: str, fact: str, value: str, message: str, *, warning: bool = False) -> None:
            found.append(Note(code, "warning" if warning else "info", message, fact, value))

        found += self._notes_on_labels()
        if 2 * self.bare > self.results:
            bare = f"{self.bare:,} of {counted(self.results, 'result')}"
            message = f"{bare} have neither id nor URL nor title: only equal texts show that they repeat"
            fact = "results without id, URL and title, of which only equal texts show that they repeat"
            add("bare-results", fact, f"{self.bare:,}", message, warning=True)
        without = "0 in every mean but that of SRR, which leaves them out"
        for code, count, fate in (
            ("no-search", self.no_search, "never searched"),
            ("no-results", self.no_results, "found nothing"),
        ):
            if count:
                message = f"{counted(count, 'session')} {fate}: {without}"
                add(code, f"sessions that {fate} ({without})", f"{count:,}", message, warning=True)
        if self.conflicts:
            results, outcome = counted(self.conflicts, "result"), protocol.outcome("conflict")
            fact, message = (
                f"results labelled differently later ({outcome})",
                f"{results} labelled differently later: {outcome}",
            )
            add("label-conflicts", fact, f"{self.conflicts:,}", message, warning=True)
        if self.overruled:
            message = f"{counted(self.overruled, 'gain')} of the trace replaced by the labels file"
            fact = "gains of the trace replaced by the labels file"
            add("replaced-gains", fact, f"{self.overruled:,}", message)
        if self.earlier_turns:
            message = f"{counted(self.earlier_turns, 'earlier turn')} ignored: the last one counts"
            add(
                "earlier-turns",
                "earlier turns ignored (the last one counts)",
                f"{self.earlier_turns:,}",
                message,
            )
        if self.idle:
            fact = "steps of the agents without a search, which are not iterations"
            message = f"{counted(self.idle, 'step')} of the agents did not search: not an iteration"
            add("idle-steps", fact, f"{self.idle:,}", message)
        return (*found, *self.notes_on_inputs())

    def _notes_on_labels(self) -> Iterator[Note]:
        """Yield notes on results without a gain, and on gains that cannot be used."""
        if self.unique and not self.labelled and self.labels:
            message = f"no result has a gain: none of the {counted(self.labels, 'label')} matches a result; are `task` and `id`, `url` or `title` those of the trace?"
            yield Note("no-labels", "warning", message)
        elif self.unique and not self.labelled:
            message = "no result has a gain: name a file with `--labels` (`labels=`); until then only counts and repeats are meaningful"
            yield Note("no-labels", "warning", message)
        elif self.labelled < self.unique:
            missing = f"{self.unique - self.labelled:,} of {counted(self.unique, 'unique result')}"
            bounds = f"(coverage {100 * self.coverage:.1f} %; the upper bound counts them as 4)"
            fact = "results without a label, which count 0 (the upper bound counts them as 4)"
            message = f"{missing} have no label and count 0 {bounds}"
            share = f"{100 * (1 - self.coverage):.1f} %"
            yield Note("unlabelled-results", "warning", message, fact, share)
        if self.labelled and self.highest < self.good:
            message = f"nothing is good: the highest gain is {self.highest}, and a result is good from {self.good} on (`--good`)"
            yield Note("nothing-good", "warning", message)

    def notes_on_inputs(self) -> tuple[Note, ...]:
        """Return the notes on what was read, whichever system it belongs to."""
        if not self.unused_labels:
            return self.input_notes
        verb = "matches" if self.unused_labels == 1 else "match"
        most = 2 * self.unused_labels > self.labels
        message = f"{self.unused_labels:,} of {counted(self.labels, 'label')} {verb} no result"
        unused = Note("unused-labels", "warning" if most else "info", message)
        return (unused, *self.input_notes)


@dataclass(frozen=True, eq=False)
class SessionAlignment(Alignment):
    """Sessions with their labels, and what later questions need: who found what, and why results are duplicates."""

    view: SessionView
    protocol: SessionProtocol
    counts: SessionTotals
    keys: tuple[SessionKey, ...] = ()
    """Identity of each session."""
    per_session: SessionCounts | None = None
    pools: Mapping[str, Pool] = field(default_factory=dict)
    """For each task, what all systems found together, where that was the reference."""
    decisions: tuple[DedupDecision, ...] = ()
    """Why each result is new or a duplicate, where that was asked for."""
    search_log: SearchLog | None = field(default=None, metadata={"saved": False})
    """Repeats of each search, if requested."""
    corrected: Corrected | None = field(default=None, metadata={"saved": False})
    """CG and SRE corrected by human grades, where there are some."""
    searches: tuple[SearchRecord, ...] = ()
    """Every search, where decisions were asked for."""
    questions: tuple[str | None, ...] = ()
    """Question of each session, if decisions were requested."""
    uses: tuple[UseRecord, ...] = ()
    """Results that sessions opened and cited, if the trace records them."""

    def systems(self) -> dict[str, Ints]:
        """Return the sessions of each system, in the order in which they first occur."""
        numbers: dict[str, list[int]] = {}
        for number, key in enumerate(self.keys):
            numbers.setdefault(key.system, []).append(number)
        return {system: np.array(sessions, dtype=np.int64) for system, sessions in numbers.items()}

    def select(self, units: Ints) -> SessionAlignment:
        """Return the alignment of some sessions only."""
        keys = tuple(self.keys[number] for number in units.tolist())
        view, counts = self.view.select(units), cast("SessionCounts", self.per_session).select(units)
        totals = SessionTotals.of(view, counts)
        return replace(
            self,
            view=view,
            units=to_strings(key.conversation for key in keys),
            counts=replace(totals, labels=self.counts.labels, good=self.counts.good),
            present=self.present[units],
            keys=keys,
            per_session=counts,
            name=keys[0].system,
        )


class SessionOptions(ReadOptions, total=False):
    """Options for reading traces, and for the details kept for later questions."""

    conversations: Iterable[str]
    """The only conversations to read; none: all."""
    explain: bool
    """Whether to keep why each result is new or a duplicate."""
    searches: bool
    """Whether to keep what each search repeated."""
    human: LabelsLike | None
    """Human grades of a random sample of the results."""
    progress: Progress | None
    """Called with the number of sessions read so far."""


def align_sessions(
    labels: Labels | None,
    source: object,
    protocol: SessionProtocol,
    measures: Sequence[Measure] = (),
    *,
    reference: LabelsLike | None = None,
    **options: Unpack[SessionOptions],
) -> SessionAlignment:
    """Read sessions from traces, find duplicates, and look up gains; only counts and gains are kept in memory."""
    chosen = frozenset(map(str, options.get("conversations", ())))
    strict, explain = options.get("strict", False), options.get("explain", False)
    searches = options.get("searches", False)
    human, progress = options.get("human"), options.get("progress")
    index = None if labels is None else LabelIndex(labels, protocol.rules)
    keep = "all" if human is not None else _choose_keep(reference, measures)
    builder = SessionViewBuilder(protocol, labels=index, keep=keep, explain=explain, searches=searches)
    skipped = TraceProblems()
    how = ReadArguments(
        format=options.get("format"), tools=options.get("tools"), strict=strict, turn=protocol.turn
    )
    for name, traces in _name_sources(source):
        if is_spark_frame(traces):
            if explain or searches:
                msg = "decisions on single results are not kept on Spark"
                raise WrongKind(msg, hint="collect the sessions that matter, and give these")
            from judged.agents.spark import SessionJob, reduce_sessions

            job = SessionJob(protocol, labels, keep, chosen)
            for state in reduce_sessions(traces, name, job):
                _extend(builder, state)
            continue
        for session in _stream(name, traces, chosen, skipped, how):
            _add(builder, session, skipped, strict=strict)
            if progress is not None:
                progress(len(builder.keys))
    _check_conversations(chosen, builder)
    builder.keys = pair_tasks(builder.keys, skipped, strict=strict)
    view, pools = _add_reference(builder, reference)
    goods = [int(str(measure.parameters["good"])) for measure in measures if "good" in measure.parameters]
    good = min(goods, default=2)
    corrected = None if human is None else correct_by_humans(builder, view, human, good=good)
    aligned = _finish(builder, view, pools, index, skipped, good=good)
    if corrected is not None and corrected.warning:
        notes = (*aligned.counts.input_notes, Note("few-graded-tasks", "warning", corrected.warning))
        aligned = replace(aligned, counts=replace(aligned.counts, input_notes=notes))
    return replace(aligned, search_log=builder.search_log, corrected=corrected)


def _choose_keep(reference: object, measures: Sequence[Measure]) -> Keep:
    """Return which results must be kept for the reference."""
    if reference is None:
        needing = [measure for measure in measures if measure.needs_reference]
        if needing:
            msg = f"{needing[0]} needs to know what could have been found"
            raise BadMeasure(msg, hint='give `reference`: judgments, or "union" for what all systems found')
        return "none"
    return "good" if isinstance(reference, str) and reference == UNION else "all"


def _stream(
    name: str | None,
    traces: object,
    conversations: frozenset[str],
    problems: TraceProblems,
    how: ReadArguments,
) -> Iterator[Session]:
    """Read the sessions of a source; the name, if it has one, is that of their system."""
    for session in stream_sessions(traces, name=name, problems=problems, **how):
        if name is not None:
            session.system = name
        if not conversations or session.conversation in conversations:
            yield session


def _name_sources(source: object) -> Iterable[tuple[str | None, object]]:
    """Return every source with the name of its system, if it has one; an object with turns or messages is a trace."""
    if isinstance(source, Mapping):
        return [(None, [source])] if {"turns", "messages"} & source.keys() else source.items()
    if isinstance(source, list | tuple) and source and all(isinstance(item, tuple) for item in source):
        return source
    return [(None, source)]


def _add(builder: SessionViewBuilder, session: Session, skipped: TraceProblems, *, strict: bool) -> None:
    """Add a session; one that was added before is skipped and counted, or refused if `strict`."""
    fault = builder.check_new(session)
    if fault is None:
        builder.add(session)
    elif not strict:
        skipped.add([fault])
    else:
        raise BadInput(session.place or session.conversation, [fault], hint=REPEATED)


def _extend(builder: SessionViewBuilder, state: SessionState) -> None:
    """Add the sessions of a partition of Spark; one that was in another is an error."""
    faults = list(builder.check_apart(state))
    if faults:
        raise BadInput("the Spark data frame", faults[:SHOWN], hint=REPEATED)
    builder.extend(state)


def _check_conversations(wanted: frozenset[str], builder: SessionViewBuilder) -> None:
    """Raise `UnknownName` for a conversation that no trace has."""
    there = {key.conversation for key in builder.keys}
    if not wanted <= there:
        kind = "conversation of these traces"
        raise UnknownName(kind, min(wanted - there), there, hint="`judged sessions --per-session` lists them")


def _add_reference(
    builder: SessionViewBuilder, reference: LabelsLike | None
) -> tuple[SessionView, dict[str, Pool]]:
    """Return the view with its reference, and what the sessions of each task found together."""
    view = builder.build()
    if reference is None:
        return view, {}
    if isinstance(reference, str) and reference == UNION:
        pools = make_pools(builder)
        return replace(view, reference=make_union_reference(builder, view, pools)), pools
    judged = LabelIndex(read_labels(reference), builder.protocol.rules)
    return replace(view, reference=make_judged_reference(builder, view, judged)), {}


def _finish(
    builder: SessionViewBuilder,
    view: SessionView,
    pools: dict[str, Pool],
    index: LabelIndex | None,
    skipped: TraceProblems,
    *,
    good: int,
) -> SessionAlignment:
    keys, protocol, counts = builder.keys, builder.protocol, builder.counts()
    if not keys:
        why = "; ".join(skipped.sentences()) or None
        raise BadInput("the trace", [Problem.error("empty", "the trace", "holds no session")], hint=why)
    if protocol.unlabelled == "error":
        _raise_unlabelled(keys, view)
    messages = list(skipped.sentences())
    if index is not None and index.contradictions:
        labels = counted(index.contradictions, "label")
        messages.append(
            f"{labels} of the file differ from an earlier one of the same result: the first counts"
        )
    unused = 0 if index is None else index.unused
    totals = replace(
        SessionTotals.of(view, counts),
        labels=0 if index is None else len(index),
        unused_labels=unused,
        good=good,
        input_notes=to_notes(messages),
    )
    systems = list(dict.fromkeys(key.system for key in keys))
    alone = len(systems) == 1
    ids = [key.conversation if alone else f"{key.system}/{key.conversation}" for key in keys]
    return SessionAlignment(
        view,
        to_strings(ids),
        protocol,
        totals,
        np.ones(len(keys), dtype=bool),
        name=systems[0] if alone else f"{len(systems)} systems",
        keys=tuple(keys),
        per_session=counts,
        pools=pools,
        decisions=tuple(builder.decisions),
        searches=tuple(builder.searches),
        questions=tuple(builder.questions),
        uses=tuple(builder.use.records),
    )


def _raise_unlabelled(keys: Sequence[SessionKey], view: SessionView) -> None:
    """Raise `BadInput` for results without a gain, naming the first sessions that have some."""
    missing = view.gains == UNLABELLED
    if not missing.any():
        return
    faults = []
    for number, key in enumerate(keys):
        start, end = view.cut[view.offset[number]], view.cut[view.offset[number + 1]]
        count, total = int(missing[start:end].sum()), int(end - start)
        if count:
            message = f"{count:,} of {total:,} unique results have no gain"
            where = f"session `{key.conversation}` of `{key.system}`"
            faults.append(Problem.error("result-without-gain", where, message))
    hint = "give them with `labels`, or let them count 0 with `unlabelled` as `zero`"
    raise BadInput("the sessions", faults, hint=hint)


def _read_labels(source: LabelsLike | None, measures: Sequence[Measure]) -> Labels | None:  # noqa: ARG001 - all read the same
    return None if source is None else read_labels(source)


def _pair(evaluations: Sequence[Evaluation]) -> tuple[list[Evaluation], list[Note]]:
    from judged.agents.pairing import pair_systems  # it is made of analyses, which need this module

    return pair_systems(evaluations)


SESSION = Family(
    name="session",
    unit="session",
    protocol=SessionProtocol,
    view=SessionView,
    align=align_sessions,
    default_measures=DEFAULT_MEASURES,
    read_truth=_read_labels,
    input_roles=("labels", "trace"),
    pair=_pair,
)
"""Sessions of search by agents, scored by the gains of what they found."""


def align_of(evaluation: Evaluation) -> SessionAlignment:
    """Return the alignment of an evaluation of sessions; raise `BadMeasure` if it has none."""
    alignment = next(iter(evaluation.alignments.values()), None)
    if not isinstance(alignment, SessionAlignment):
        msg = f"{evaluation.system} is not an evaluation of sessions, or was loaded from a file"
        raise BadMeasure(msg, hint="`judged.evaluate_sessions` makes one")
    return alignment


def session_keys(evaluation: Evaluation) -> tuple[SessionKey, ...]:
    """Return what identifies each session: conversation, system and task."""
    return align_of(evaluation).keys


def session_totals(evaluation: Evaluation) -> SessionTotals:
    """Return what was counted over all sessions."""
    return align_of(evaluation).counts
