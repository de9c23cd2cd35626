"""`evaluate`: judgments, a run and measures in; scores, with their protocol and what was noticed, out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judged.engine.align import align
from judged.engine.alignment import Meeting
from judged.engine.evaluation import Evaluation, Part
from judged.engine.inputs import judgments_demanded
from judged.io.read import read_run
from judged.kernels.scan.align import Progress
from judged.measures.measure import Measure
from judged.profiles.catalogue import as_profile
from judged.profiles.profile import Profile, Reading
from judged.protocol import Protocol
from judged.tables.columns import to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.scores import Scores

if TYPE_CHECKING:
    from judged.engine.align_preferences import Hearing
    from judged.tables.preferences import Preferences

__all__ = ["evaluate"]


def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[Measure | str] | Measure | str,
    *,
    protocol: Protocol | Profile | str = "trec_eval-9",
    name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score one run against judgments.

    `qrels` and `run` may be paths, dicts of dicts, data frames, Arrow tables, id matrices, or the tables
    that `judged.read_judgments` and `judged.read_run` return; `measures` names or values. Measures of preferences
    take what `judged.read_preferences` reads in place of `qrels`; where one looks at intents, the second column of
    TREC judgments is read as such. `protocol` may be the name of a profile: then
    `measures` are read as that tool means them. `threads` (by default as many as there are processors) and
    `progress`, called with work done and the whole, change no number.
    """
    profile = as_profile(protocol)
    readings = profile.read_all(measures)
    groups: dict[Protocol, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.protocol, []).append(reading)
    judgments = judgments_demanded(qrels, [each.measure for each in readings])
    ranked = read_run(run) if name is None else read_run(run, name=name)
    work: dict[str, Any] = {"threads": threads or _processors(), "progress": progress}
    met = {
        convention: _met(judgments, ranked, convention, [each.measure for each in group], work)
        for convention, group in groups.items()
    }
    made = {
        convention: {each.name: _values(each.measure, met[convention]) for each in group}
        for convention, group in groups.items()
    }
    return _assembled(profile, readings, met, made, ranked.name)


def _met(
    judgments: Judgments | Preferences,
    run: Run,
    protocol: Protocol,
    measures: list[Measure],
    work: dict[str, Any],
) -> Meeting | Hearing:
    if isinstance(judgments, Judgments):
        return align(judgments, run, protocol, **work)
    from judged.engine.align_preferences import hear  # few need it, and its modules take time to load

    return hear(judgments, run, protocol, measures, **work)


def _assembled(
    profile: Profile,
    readings: list[Reading],
    met: Mapping[Protocol, Meeting | Hearing],
    made: Mapping[Protocol, Mapping[str, Any]],
    run: str,
) -> Evaluation:
    """One evaluation of all groups; with one protocol, its meeting's queries and values as they are."""
    first = met[readings[0].protocol]
    queries = first.queries if len(met) == 1 else _every(met.values())
    parts = () if len(met) == 1 else tuple(_part(queries, readings, *each) for each in met.items())
    values = {name: each for group in made.values() for name, each in group.items()}
    for part in parts:
        if part.scored is not None:
            values |= {str(each): _spread(values[str(each)], part.scored) for each in part.measures}
    ordered = {each.name: values[each.name] for each in readings}
    return Evaluation(
        Scores(queries, ordered, run=run),
        tuple(each.measure for each in readings),
        readings[0].protocol,
        first.observations,
        run,
        profile=profile if profile.spellings else None,
        parts=parts,
        written={each.written: each.name for each in readings},
        met=met,
    )


def _every(meetings: Iterable[Meeting | Hearing]) -> pa.Array:
    """The queries of all meetings: judged ones in the order of their bytes, then those that nobody judged."""
    ids = {query for each in meetings for query in each.queries.to_pylist()}
    return pa.array(sorted(ids, key=str.encode), type=pa.large_string())


def _part(queries: pa.Array, readings: list[Reading], protocol: Protocol, meeting: Meeting | Hearing) -> Part:
    measures = tuple(each.measure for each in readings if each.protocol == protocol)
    scored = to_numpy(pc.is_in(queries, value_set=meeting.queries.cast(queries.type)))
    return Part(protocol, measures, meeting.observations, None if scored.all() else scored)


def _spread(values: Any, scored: NDArray[np.bool_]) -> Any:
    """The values at the queries that have one; NaN, or None where values are text, at the others."""
    out = np.full(len(scored), None if values.dtype == object else np.nan, dtype=values.dtype)
    out[scored] = values
    return out


def _processors() -> int:
    """How many processors this process may use, which in a container may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _values(measure: Measure, met: Meeting | Hearing) -> Any:
    """One value for each query; a query missing from the run scores 0 whatever its empty list would."""
    if not isinstance(met, Meeting):
        values = measure.per_query(met.opinions)
    elif met.protocol.ties == "expected" and met.observations.tied_documents:
        from judged.engine.ties import expected

        values = expected(measure, met)
    else:
        values = measure.per_query(met.ranking)
    return values if measure.text or not measure.zero_if_missing else np.where(met.present, values, 0.0)
