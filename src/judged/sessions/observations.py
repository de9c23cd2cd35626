"""What was noticed in sessions: counted, and told in words beside the numbers."""

from __future__ import annotations

from dataclasses import dataclass

from judged.kernels.segments import Ints
from judged.kernels.sessions.view import UNLABELLED, SessionView
from judged.wording import counted

__all__ = ["SessionObservations", "Tally", "observed"]


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted of each session beside what its measures see."""

    idle: Ints
    conflicts: Ints
    overruled: Ints
    earlier_turns: Ints

    def of(self, sessions: Ints) -> Tally:
        """The same of some sessions only."""
        return Tally(
            self.idle[sessions],
            self.conflicts[sessions],
            self.overruled[sessions],
            self.earlier_turns[sessions],
        )


@dataclass(frozen=True, slots=True)
class SessionObservations:
    """Counts of everything notable; `sentences` tells only what happened."""

    sessions: int
    iterations: int = 0
    """Iterations that searched."""
    idle: int = 0
    """Steps of the agents that did not search, and are no iterations."""
    searches: int = 0
    results: int = 0
    unique: int = 0
    """Results that are no duplicate of an earlier one of their session."""
    labelled: int = 0
    """Unique results that have a gain."""
    conflicts: int = 0
    """Results whose gain differs from an earlier one's of the same thing."""
    overruled: int = 0
    """Gains of the trace that a label of the labels file replaced by another."""
    no_search: int = 0
    """Sessions that never searched."""
    no_results: int = 0
    """Sessions that searched and were given nothing."""
    earlier_turns: int = 0
    """Turns before the one that counts, over all sessions."""
    unused_labels: int = 0
    """Labels that no result was found for."""
    notes: tuple[str, ...] = ()
    """What the readers of the inputs noticed."""

    @property
    def coverage(self) -> float:
        """The share of unique results that have a gain; 1 where there are none."""
        return self.labelled / self.unique if self.unique else 1.0

    def sentences(self, *, conflict: str = "first") -> list[str]:
        """One sentence for each thing that happened, the gravest first."""
        told = []
        if self.unique and not self.labelled:
            told.append(
                "no result has a gain: give `labels`; until then only counts and repeats mean anything"
            )
        elif self.labelled < self.unique:
            missing = self.unique - self.labelled
            told.append(
                f"{missing:,} of {counted(self.unique, 'unique result')} have no label and count 0 "
                f"(coverage {self.coverage:.1%}; the upper bound takes them as 4)"
            )
        if self.no_search:
            told.append(
                f"{counted(self.no_search, 'session')} never searched: 0 in gains, left out of rates and shares"
            )
        if self.no_results:
            told.append(
                f"{counted(self.no_results, 'session')} found nothing: 0 in gains, left out of rates and shares"
            )
        if self.conflicts:
            told.append(
                f"{counted(self.conflicts, 'result')} labelled otherwise than before: the {conflict} label counts"
            )
        if self.overruled:
            told.append(f"{counted(self.overruled, 'gain')} of the trace replaced by the labels file")
        if self.earlier_turns:
            told.append(f"{counted(self.earlier_turns, 'earlier turn')} not looked at: the last one counts")
        if self.idle:
            told.append(f"{counted(self.idle, 'step')} of the agents made no search and no iteration")
        return told + self.of_inputs()

    def of_inputs(self) -> list[str]:
        """The sentences on what was read, whichever system it belongs to."""
        unused = f"{counted(self.unused_labels, 'label')} of no result of these sessions"
        return [*([unused] if self.unused_labels else []), *self.notes]


def observed(
    steps: SessionView, tally: Tally, *, unused_labels: int = 0, notes: tuple[str, ...] = ()
) -> SessionObservations:
    """What is notable of the sessions of a view."""
    searched = steps.iterations > 0
    return SessionObservations(
        sessions=len(steps),
        iterations=len(steps.results),
        idle=int(tally.idle.sum()),
        searches=int(steps.searches.sum()),
        results=int(steps.results.sum()),
        unique=len(steps.gains),
        labelled=int((steps.gains != UNLABELLED).sum()),
        conflicts=int(tally.conflicts.sum()),
        overruled=int(tally.overruled.sum()),
        no_search=int((~searched).sum()),
        no_results=int((searched & ~steps.found).sum()),
        earlier_turns=int(tally.earlier_turns.sum()),
        unused_labels=unused_labels,
        notes=notes,
    )
