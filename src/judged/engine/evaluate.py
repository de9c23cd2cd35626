"""`evaluate`: judgments, a run and measures in; scores, with their protocol and what was noticed, out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.engine.align import Meeting, align
from judged.engine.intents import refuse_without_intents
from judged.engine.observations import Observations
from judged.engine.protocol import Protocol, as_protocol
from judged.formats.read import read_judgments, read_run
from judged.kernels.align import Progress
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.names import parse_measures
from judged.tables.scores import Scores

__all__ = ["Evaluation", "evaluate"]

FLOOR = 1e-5
"""What a geometric mean takes in place of a smaller value, as trec_eval does."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of one run, with the protocol they were made under and what was noticed."""

    scores: Scores
    measures: tuple[Measure, ...]
    protocol: Protocol
    observations: Observations
    run: str

    def __getitem__(self, measure: Measure | str) -> float:
        """The aggregate of one measure over all queries: its mean, sum or geometric mean."""
        wanted = parse_measures([measure])[0]
        known = {each: each for each in self.measures}
        if wanted not in known:
            self.scores[measure]  # raises, naming what there is
        return self._aggregate(known[wanted])

    def mean(self) -> dict[str, float]:
        """Every measure, as it is written, with its aggregate; string-valued ones have none."""
        return {str(each): self._aggregate(each) for each in self.measures if not each.text}

    def per_query(self) -> Scores:
        """The table of scores, query by query."""
        return self.scores

    def _aggregate(self, measure: Measure) -> float:
        return aggregate(measure, self.scores[measure])

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self.mean().items())
        return f"Evaluation({self.run}: {shown}; {self.observations.queries} queries)"


def evaluate(
    qrels: Any,
    run: Any,
    measures: Iterable[Measure | str] | Measure | str,
    *,
    protocol: Protocol | str = "trec_eval-9",
    name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score one run against judgments.

    `qrels` and `run` may be paths, dicts of dicts, data frames, Arrow tables, id matrices, or the tables
    that `judged.read_judgments` and `judged.read_run` return; `measures` names or values. Where one of them looks
    at intents, the second column of TREC judgments is read as such. `threads` (by default as many as there are
    processors) and `progress`, called with work done and the whole, change no number.
    """
    chosen = parse_measures(measures)
    convention = as_protocol(protocol)
    judgments = read_judgments(qrels, intents=any(measure.intents for measure in chosen))
    refuse_without_intents(judgments, chosen)
    ranked = read_run(run) if name is None else read_run(run, name=name)
    workers = threads or _processors()
    meeting = align(judgments, ranked, convention, threads=workers, progress=progress)
    values = {str(measure): _values(measure, meeting) for measure in chosen}
    scores = Scores(meeting.queries, values, run=ranked.name)
    return Evaluation(scores, tuple(chosen), convention, meeting.observations, ranked.name)


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
