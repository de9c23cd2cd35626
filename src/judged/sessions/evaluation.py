"""What an evaluation of sessions has to say: scores, their protocol, curves over iterations, and what was noticed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import UnknownName
from judged.kernels.segments import Floats
from judged.kernels.sessions.view import SessionView
from judged.measures.measure import Measure, pooled_value
from judged.measures.parse import parse_measures
from judged.sessions.gather import Named, Placed
from judged.sessions.observations import SessionObservations, Tally, observed
from judged.sessions.protocol import SessionProtocol
from judged.sessions.reference import Pool
from judged.tables.columns import to_strings
from judged.tables.scores import Scores
from judged.wording import counted

if TYPE_CHECKING:
    from judged.sessions.curve import Curve
    from judged.sessions.overlap import Overlap
    from judged.sessions.stopping import Stop

__all__ = ["SessionEvaluation", "asks_for_reference", "over_sessions"]


@dataclass(frozen=True, eq=False)
class SessionEvaluation:
    """The scores of sessions, with the protocol they were made under and what was noticed.

    `evaluation["CG@3"]` is the mean over sessions; `per_query()` has every session, `per_task()` every task,
    `systems` the same of each system alone.
    """

    scores: Scores
    """A row for each session; NaN where a measure has no value for it."""
    measures: tuple[Measure, ...]
    protocol: SessionProtocol
    observations: SessionObservations
    run: str
    """The system, or what the sessions of several systems are called together."""
    named: tuple[Named, ...]
    """What each session is called by."""
    view: SessionView
    """What the measures saw, for questions that come later."""
    tally: Tally
    pools: Mapping[str, Pool] = field(default_factory=dict)
    """For each task, what all systems found together, where that was the reference."""
    placed: tuple[Placed, ...] = ()
    """Why each result is new or a duplicate, where that was asked for."""

    def __getitem__(self, measure: Measure | str) -> float:
        """One measure over all sessions that it has a value for; NaN where it has none at all."""
        known = self._known(measure)
        return over_sessions(known, self.view, self.scores[known])

    def mean(self) -> dict[str, float]:
        """Every measure, as it is written, with its value over all sessions."""
        return {str(each): self[each] for each in self.measures}

    def per_query(self) -> Scores:
        """The table of scores, session by session."""
        return self.scores

    def measured(self, measures: Iterable[Measure | str] | Measure | str) -> SessionEvaluation:
        """The same sessions by other measures; nothing is read again."""
        chosen = parse_measures(measures, family="session")
        values = {str(each): each.per_query(self.view) for each in chosen}
        scores = Scores(self.scores.queries, values, run=self.run, unit=self.scores.unit)
        return replace(self, scores=scores, measures=tuple(chosen))

    def per_task(self) -> SessionEvaluation:
        """The same with a row for each task: the mean over its sessions, where a system tried it more than once."""
        tasks = sorted({each.task for each in self.named}, key=str.encode)
        place = {task: at for at, task in enumerate(tasks)}
        of = np.array([place[each.task] for each in self.named], dtype=np.int64)
        values = {name: _means(column, of, len(tasks)) for name, column in self.scores.values.items()}
        scores = Scores(to_strings(tasks), values, run=self.run, unit="task")
        return replace(self, scores=scores)

    def undefined(self, measure: Measure | str) -> int:
        """How many sessions the measure has no value for; they are left out of its mean."""
        return int(np.isnan(self.scores[self._known(measure)]).sum())

    def upper(self, measure: Measure | str) -> float:
        """The value over all sessions if every unlabelled result had the gain 4; NaN where the reference would change too."""
        known = self._known(measure)
        if self.pools and asks_for_reference(known):
            return nan
        return over_sessions(known, self._upper, known.per_query(self._upper))

    def curve(self, measure: Measure | str, *, iterations: int | None = None) -> Curve:
        """The measure at each iteration, with how many sessions still run there."""
        from judged.sessions.curve import curve

        return curve(self, measure, iterations=iterations)

    def stopping_points(self, *, good: int = 2) -> tuple[Stop, ...]:
        """What would have been lost and saved, had every agent stopped at an iteration."""
        from judged.sessions.stopping import stopping_points

        return stopping_points(self, good=good)

    def overlaps(self, *, good: int = 2) -> tuple[Overlap, ...]:
        """Each pair of systems, by the good results that they found on the same tasks."""
        from judged.sessions.overlap import overlaps

        return overlaps(self, good=good)

    @cached_property
    def _upper(self) -> SessionView:
        """The view with every unlabelled result at the gain 4."""
        return self.view.with_best_labels()

    @cached_property
    def systems(self) -> Mapping[str, SessionEvaluation]:
        """The same of each system alone, in the order in which they first occur."""
        names = dict.fromkeys(each.system for each in self.named)
        if len(names) == 1:
            return {next(iter(names)): self}
        return {name: self._of_system(name) for name in names}

    def _of_system(self, system: str) -> SessionEvaluation:
        chosen = [at for at, each in enumerate(self.named) if each.system == system]
        return self.of(chosen, run=system)

    def of(self, sessions: Sequence[int], *, run: str) -> SessionEvaluation:
        """The same of some sessions only."""
        at = np.array(sessions, dtype=np.int64)
        named = tuple(self.named[each] for each in sessions)
        view, tally = self.view.select(at), self.tally.of(at)
        ids = to_strings(each.conversation for each in named)
        values = {name: column[at] for name, column in self.scores.values.items()}
        return replace(
            self,
            scores=Scores(ids, values, run=run, unit="session"),
            run=run,
            named=named,
            view=view,
            tally=tally,
            observations=observed(view, tally),
        )

    def _known(self, measure: Measure | str) -> Measure:
        wanted = parse_measures([measure], family="session")[0]
        if wanted not in self.measures:
            raise UnknownName(
                "measure of this evaluation", str(measure), [str(each) for each in self.measures]
            )
        return wanted

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self.mean().items())
        return f"SessionEvaluation({self.run}: {shown}; {counted(len(self.named), 'session')})"


def asks_for_reference(measure: Measure) -> bool:
    """Whether a measure looks at what there was to find."""
    return measure.needs_reference


def over_sessions(measure: Measure, view: SessionView, values: Floats) -> float:
    """One number from the values of all sessions, those without a value left out; NaN where none has one."""
    if measure.aggregate == "pooled":
        return pooled_value(measure, view)
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else nan


def _means(values: Floats, of: np.ndarray[tuple[int], np.dtype[np.int64]], count: int) -> Floats:
    """The mean of each group's values, those that are NaN left out; NaN where a group has none."""
    there = ~np.isnan(values)
    total = np.bincount(of[there], weights=values[there], minlength=count)
    number = np.bincount(of[there], minlength=count)
    out = np.full(count, np.nan)
    np.divide(total, number, out=out, where=number > 0)
    return out
