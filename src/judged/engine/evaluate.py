"""`evaluate`: judgments, a run and measures in; scores, with their protocol and what was noticed, out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judged.engine.align import Meeting, align
from judged.engine.observations import Observations
from judged.engine.profiles.catalogue import as_profile
from judged.engine.profiles.profile import Profile, Reading
from judged.engine.protocol import Protocol
from judged.formats.read import read_judgments, read_run
from judged.kernels.align import Progress
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.names import parse_measures
from judged.tables.arrays import numpy_of
from judged.tables.scores import Scores

__all__ = ["Evaluation", "Part", "evaluate"]

FLOOR = 1e-5
"""What a geometric mean takes in place of a smaller value, as trec_eval does."""


@dataclass(frozen=True, eq=False)
class Part:
    """The measures of an evaluation that were made under one protocol, and what was noticed under it."""

    protocol: Protocol
    measures: tuple[Measure, ...]
    observations: Observations
    scored: NDArray[np.bool_] | None = None
    """Which of the evaluation's queries these measures have a value for; None: all."""

    def sentences(self) -> list[str]:
        """What was noticed, in words that tell what the protocol made of it."""
        rule = self.protocol
        return self.observations.sentences(
            missing=rule.missing, ties=rule.ties, extra=rule.extra, barren=rule.barren
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of one run, with the protocol they were made under and what was noticed."""

    scores: Scores
    measures: tuple[Measure, ...]
    protocol: Protocol
    """That of all measures; where a profile has several, that of the first measure: see `parts`."""
    observations: Observations
    run: str
    profile: Profile | None = None
    """The profile that was asked for by name."""
    parts: tuple[Part, ...] = ()
    """The measures by protocol, where a profile has several for them; empty: `protocol` holds for all."""
    written: Mapping[str, str] = field(default_factory=dict)
    """What the user wrote, where that is not a name of ours, with our name for it."""

    def __getitem__(self, measure: Measure | str) -> float:
        """The aggregate of one measure over all queries: its mean, sum or geometric mean."""
        wanted = parse_measures([self.written.get(str(measure), measure)])[0]
        known = {each: each for each in self.measures}
        if wanted not in known:
            self.scores[measure]  # raises, naming what there is
        return self._aggregate(known[wanted])

    def mean(self) -> dict[str, float]:
        """Every measure, as it is written, with its aggregate; string-valued ones have none."""
        return {str(each): self._aggregate(each) for each in self.measures if not each.text}

    def per_query(self) -> Scores:
        """The table of scores, query by query; NaN where the tool of the profile leaves a query out."""
        return self.scores

    @property
    def every_part(self) -> tuple[Part, ...]:
        """The parts; one of all measures where they have one protocol."""
        return self.parts or (Part(self.protocol, self.measures, self.observations),)

    def part(self, measure: Measure) -> Part:
        """The part that the measure belongs to: its protocol, and what was noticed under it."""
        return next(each for each in self.every_part if measure in each.measures)

    def values(self, measure: Measure) -> Any:
        """The values of one measure, of those queries only that it has a value for."""
        scored = self.part(measure).scored
        return self.scores[measure] if scored is None else self.scores[measure][scored]

    def _aggregate(self, measure: Measure) -> float:
        return aggregate(measure, self.values(measure))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self.mean().items())
        return f"Evaluation({self.run}: {shown}; {self.observations.queries} queries)"


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
    that `judged.read_judgments` and `judged.read_run` return; `measures` names or values. `protocol` may be the
    name of a profile: then `measures` are read as that tool means them. `threads` (by default
    as many as there are processors) and `progress`, called with work done and the whole, change no number.
    """
    profile = as_profile(protocol)
    readings = profile.read_all(measures)
    judgments = read_judgments(qrels)
    ranked = read_run(run) if name is None else read_run(run, name=name)
    workers = threads or _processors()
    groups: dict[Protocol, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.protocol, []).append(reading)
    met = {
        convention: align(judgments, ranked, convention, threads=workers, progress=progress)
        for convention in groups
    }
    made = {
        convention: {each.name: _values(each.measure, met[convention]) for each in group}
        for convention, group in groups.items()
    }
    return _assembled(profile, readings, met, made, ranked.name)


def _assembled(
    profile: Profile,
    readings: list[Reading],
    met: Mapping[Protocol, Meeting],
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
    )


def _every(meetings: Iterable[Meeting]) -> pa.Array:
    """The queries of all meetings: judged ones in the order of their bytes, then those that nobody judged."""
    ids = {query for each in meetings for query in each.queries.to_pylist()}
    return pa.array(sorted(ids, key=str.encode), type=pa.large_string())


def _part(queries: pa.Array, readings: list[Reading], protocol: Protocol, meeting: Meeting) -> Part:
    measures = tuple(each.measure for each in readings if each.protocol == protocol)
    scored = numpy_of(pc.is_in(queries, value_set=meeting.queries.cast(queries.type)))
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


def aggregate(measure: Measure, values: Floats) -> float:
    """One number from the values of all queries, in the way the measure says; 0 of no queries."""
    if len(values) == 0:
        return 0.0
    if measure.aggregate == "sum":
        return float(values.sum())
    if measure.aggregate == "geometric":
        return float(np.exp(np.log(np.maximum(values, FLOOR)).mean()))
    return float(values.mean())


def _values(measure: Measure, meeting: Meeting) -> Any:
    """One value for each query; a query missing from the run scores 0 whatever its empty list would."""
    values = measure.per_query(meeting.ranking)
    if not measure.text and measure.of_run:
        values = np.where(meeting.present, values, 0.0)
    return values
