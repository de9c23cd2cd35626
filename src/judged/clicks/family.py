"""The click family: a log of one system, as the view that measures of clicks use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.clicks.kernels import ClickView
from judged.clicks.logs.read import check_form, read_clicks
from judged.clicks.protocol import ClickProtocol
from judged.clicks.tables import Clicks, Names
from judged.errors import BadMeasure, BadSample
from judged.measures.groups import registry_for
from judged.measures.measure import Measure
from judged.problem import Note
from judged.protocol import BaseProtocol
from judged.scoring.alignment import Alignment
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Family
from judged.tables.scores import Scores
from judged.wording import counted, join_words

NEEDS: Mapping[str, tuple[str, str]] = {
    "ranks": ("rank", "ranks"),
    "times of clicks": ("click_time", "times of clicks (`click_time`) and of impressions (`time`)"),
    "teams": ("team", "teams: which system placed a document (`team`)"),
    "sessions or dwell": ("session", "dwell or sessions"),
}
"""What a measure may need, with the column and the words for it."""


def find_needs(measure: Measure) -> tuple[str, ...]:
    """Return what a measure needs of a log, by the keys of `NEEDS`."""
    if measure.name == "CTR":
        return ("ranks",) if {"cutoff", "rank"} & dict(measure.set_parameters).keys() else ()
    return {
        "ClickRR": ("ranks",),
        "TimeToClick": ("times of clicks",),
        "Interleaving": ("teams",),
        "Satisfied": ("sessions or dwell",),
    }.get(measure.name, ())


def list_lacks(clicks: Clicks) -> tuple[str, ...]:
    """Return which of `NEEDS` a log lacks."""
    there = {
        "ranks": clicks.rank is not None,
        "times of clicks": clicks.click_time is not None and clicks.time is not None,
        "teams": clicks.team is not None,
        "sessions or dwell": clicks.dwell is not None or clicks.session is not None,
    }
    return tuple(name for name, present in there.items() if not present)


def check_needs(clicks: Clicks, measures: Sequence[Measure]) -> None:
    """Raise `BadMeasure` for measures that need what the log lacks."""
    lacks = list_lacks(clicks)
    for measure in measures:
        missing = [need for need in find_needs(measure) if need in lacks]
        if missing:
            form = check_form(clicks.form)
            whose = f"logs of {form.title}" if clicks.form != "columns" else f"`{clicks.name}`"
            verb = "have" if clicks.form != "columns" else "has"
            msg = f"{measure} needs {NEEDS[missing[0]][1]}, which {whose} {verb} not"
            msg = msg.replace("have not", "do not have").replace("has not", "does not have")
            possible = [name for name in MEASURES if name not in _ruled_out(lacks)]
            raise BadMeasure(msg, hint=f"this log allows {join_words(possible)}")


def _ruled_out(lacks: Sequence[str]) -> list[str]:
    return [name for name in MEASURES if any(need in lacks for need in find_needs(MEASURES[name]))]


def note_lacks(clicks: Clicks) -> Iterator[Note]:
    """Yield what the log lacks, with the measures that this rules out."""
    lacks = [lack for lack in list_lacks(clicks) if lack != "teams"]
    ruled = {
        "ranks": "CTR@k, CTR(rank=), ClickRR, click models and interleaving cannot be computed",
        "times of clicks": "TimeToClick cannot be computed",
        "sessions or dwell": "Satisfied cannot be computed",
    }
    for lack in lacks:
        yield Note("lacking", "info", f"no {NEEDS[lack][1]}: {ruled[lack]}")
    if clicks.missing_queries:
        yield Note(
            "no-queries",
            "info",
            "no queries: all impressions count as one, and models are of documents alone",
        )
    if clicks.clusters is None:
        message = "neither users nor sessions are known: impressions are taken as independent, and errors are too small if they are not"
        yield Note("no-users", "warning", message)


@dataclass(frozen=True, slots=True)
class ClickCounts:
    """Counts taken while aligning a log."""

    impressions: int
    clicks: int
    clusters: int
    """Number of users, or of sessions; 0 if neither is known."""
    unit: str
    """`user` or `session`."""
    unknown_dwell: int
    """Clicks of unknown dwell."""
    common: int
    """Clicks in the common prefix of interleaved lists."""
    teams: tuple[str, ...] = ()
    input_notes: tuple[Note, ...] = ()

    def notes(self, protocol: ClickProtocol) -> tuple[Note, ...]:
        """Return a note for everything notable."""
        return tuple(self._list_notes(protocol))

    def _list_notes(self, protocol: ClickProtocol) -> Iterator[Note]:
        yield from self.input_notes
        if self.clusters:
            message = f"{counted(self.impressions, 'impression')} of {counted(self.clusters, self.unit)}, which are the independent draws"
            yield Note("clusters", "info", message)
        if self.teams:
            message = f"1 is for `{self.teams[0]}`, −1 for `{self.teams[1]}`"
            yield Note("teams", "info", message)
        if self.common:
            message = f"{counted(self.common, 'click')} in the part with which both lists begin: {protocol.outcome('prefix')}"
            yield Note("common-prefix", "info", message)

    def select(self, view: ClickView) -> ClickCounts:
        """Return the counts of some impressions."""
        return replace(self, impressions=len(view), clicks=int(view.click.sum()))


@dataclass(frozen=True, eq=False)
class ClickAlignment(Alignment):
    """The impressions of one system, with the user of each."""

    clusters: Names | None = None
    log: Clicks | None = None

    def complete(self, scores: Scores) -> Scores:
        """Return the scores with the user of each impression as its cluster."""
        if self.clusters is None:
            return scores
        return replace(scores, clusters=name_clusters(self.clusters))

    def notes_on(self, measures: Sequence[Measure]) -> tuple[Note, ...]:
        """Return the notes, with what clicks of unknown dwell count where that matters."""
        notes = list(self.notes)
        assert isinstance(self.counts, ClickCounts)  # noqa: S101 - made here
        if self.counts.unknown_dwell and any(measure.name == "Satisfied" for measure in measures):
            outcome = self.protocol.outcome("last_click")
            share = f"{self.counts.unknown_dwell:,} of {counted(self.counts.clicks, 'click')}"
            notes.append(Note("unknown-dwell", "info", f"the dwell of {share} is not known: {outcome}"))
        return tuple(notes)

    def select(self, units: Ints) -> ClickAlignment:
        """Return the alignment of some impressions."""
        assert self.log is not None  # noqa: S101 - made here
        assert isinstance(self.protocol, ClickProtocol)  # noqa: S101 - made here
        return align_clicks(None, self.log.select(units), self.protocol)


def name_clusters(names: Names) -> pa.Array:
    """Return the user of each impression; one without a user is a cluster of its own."""
    array = names.to_array()
    if not array.null_count:
        return array
    import pyarrow.compute as pc

    own = pa.array([f"\0{number}" for number in range(len(array))], pa.large_string())
    return pc.coalesce(array, own)


def align_clicks(
    truth: None,  # noqa: ARG001 - clicks are compared with nothing
    clicks: Clicks,
    protocol: ClickProtocol,
    measures: Sequence[Measure] = (),
) -> ClickAlignment:
    """Return the impressions of a log; raise `BadMeasure` for measures that need what it lacks."""
    check_needs(clicks, measures)
    count = len(clicks.click)
    nothing = np.full(count, np.nan)
    team, teams = _number_teams(clicks, protocol)
    shown = np.zeros(0) if clicks.time is None else clicks.time[clicks.owner]
    delay = nothing if clicks.click_time is None or clicks.time is None else clicks.click_time - shown
    notes = list(clicks.notes)
    early = int((delay < 0).sum())
    if early:
        notes.append(
            Note(
                "early-clicks",
                "warning",
                f"{counted(early, 'click')} before the impression: without a time to click",
            )
        )
        delay = np.where(delay < 0, np.nan, delay)
    view = ClickView(
        offset=clicks.offset,
        click=clicks.click,
        rank=np.zeros(count, dtype=np.int64) if clicks.rank is None else clicks.rank,
        dwell=nothing if clicks.dwell is None else np.where(clicks.click, clicks.dwell, np.nan),
        delay=delay,
        last=find_last_clicks(clicks),
        team=team,
        unknown_dwell=protocol.last_click == "satisfied",
    )
    clusters = clicks.clusters
    counts = ClickCounts(
        impressions=len(clicks),
        clicks=int(clicks.click.sum()),
        clusters=0 if clusters is None else len(np.unique(clusters.codes)),
        unit="user" if clicks.user is not None else "session",
        unknown_dwell=int((clicks.click & np.isnan(view.dwell)).sum()),
        common=0
        if clicks.common is None or clicks.team is None
        else int((clicks.click & clicks.common).sum()),
        teams=teams,
        input_notes=(*notes, *note_lacks(clicks)),
    )
    present = np.ones(len(clicks), dtype=bool)
    return ClickAlignment(
        view, clicks.impressions, protocol, counts, present, clicks.name, clusters=clusters, log=clicks
    )


def _number_teams(clicks: Clicks, protocol: ClickProtocol) -> tuple[Ints, tuple[str, ...]]:
    """Return the team of each row by number, and the two names; of more or fewer, raise `BadSample`."""
    if clicks.team is None:
        return np.full(len(clicks.click), -1, dtype=np.int64), ()
    names = clicks.team.names.to_pylist()
    used = sorted(names[code] for code in np.unique(clicks.team.codes).tolist() if code >= 0)
    if len(used) != 2:
        msg = f"interleaved lists have the {counted(len(used), 'team')} {join_words([f'`{n}`' for n in used])}, expected two"
        raise BadSample(msg, hint="outcomes of several pairs of systems are judged pair by pair")
    place = np.array([*(used.index(name) if name in used else -1 for name in names), -1])
    team = place[clicks.team.codes]
    if protocol.prefix == "ignored":
        if clicks.common is None:
            msg = "clicks in the common prefix cannot be ignored: the log does not say which documents are in it"
            raise BadMeasure(
                msg, hint="give the lists that `judged interleave` wrote, whose column `common` says it"
            )
        team = np.where(clicks.common, -1, team)
    return team, tuple(used)


def find_last_clicks(clicks: Clicks) -> Flags:
    """Return which rows are the last click of their session; none where sessions are not known.

    The order is that of the times of clicks, else of impressions, else of the log; within an impression without times, the
    lowest ranked click is the last.
    """
    last = np.zeros(len(clicks.click), dtype=bool)
    rows = np.flatnonzero(clicks.click)
    if not len(rows) or clicks.session is None:
        return last
    owner = clicks.owner[rows]
    session = np.where(clicks.session.codes[owner] < 0, -1 - owner, clicks.session.codes[owner])
    moment = np.zeros(len(rows)) if clicks.time is None else np.nan_to_num(clicks.time[owner])
    if clicks.click_time is not None:
        own: Floats = clicks.click_time[rows]
        moment = np.where(np.isnan(own), moment, own)
    order = np.lexsort((rows, moment, session))
    ends = np.concatenate((session[order][1:] != session[order][:-1], [True]))
    last[rows[order[ends]]] = True
    return last


def _read(source: object, name: str | None) -> Clicks:
    return read_clicks(source, name=name)


def _read_systems(source: object, name: str | None) -> Mapping[Any, Any]:
    clicks = read_clicks(source, name=name)
    return {None: clicks} if clicks.system is None else clicks.split()


def _refuse_pairs(evaluations: Sequence[Evaluation]) -> tuple[list[Evaluation], list[Note]]:
    """Raise `BadSample`: impressions of two systems are different, even if they have one id."""
    names = ", ".join(evaluation.system for evaluation in evaluations[:3])
    msg = f"{names}: impressions of two systems are not pairs, so they are not compared as queries are"
    raise BadSample(msg, hint="`judged.evaluate_clicks` or `judged clicks` compares them, by user")


MEASURES = registry_for("click")
"""Every measure of clicks, by its canonical name."""

CLICK = Family(
    name="click",
    unit="impression",
    protocol=ClickProtocol,
    view=ClickView,
    align=align_clicks,
    default_measures=("CTR",),
    read_system=_read,
    read_systems=_read_systems,
    input_roles=("truth", "clicks"),
    pair=_refuse_pairs,
    undirected="{} says which system, not how good",
)
"""Impressions of a log, scored by what was clicked."""


def default_measures(clicks: Clicks) -> list[str]:
    """Return the measures that a log allows, without those that say one thing twice."""
    lacks = list_lacks(clicks)
    if "teams" not in lacks:
        return ["Interleaving", "CTR"]
    names = ["CTR", "CTR@1", "ClickRR", "Satisfied", "TimeToClick"]
    chosen = CLICK.parse_measures(names)
    return [str(m) for m in chosen if not set(find_needs(m)) & set(lacks)]


def to_protocol(protocol: BaseProtocol | None) -> ClickProtocol:
    """Return the protocol of clicks, by default the usual one."""
    if protocol is None:
        return ClickProtocol()
    if not isinstance(protocol, ClickProtocol):
        msg = f"the protocol is of type `{type(protocol).__name__}`, expected `ClickProtocol`"
        raise BadMeasure(msg)
    return protocol
