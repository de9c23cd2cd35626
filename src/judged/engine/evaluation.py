"""What an evaluation has to say: scores, with the protocol they were made under and what was noticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.engine.alignment import Meeting
from judged.engine.observations import Observations
from judged.errors import BadMeasure
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.tables.scores import Scores

if TYPE_CHECKING:
    from judged.engine.align_preferences import Hearing

__all__ = ["Evaluation", "Part", "Range", "aggregate"]

FLOOR = 1e-5
"""What a geometric mean takes in place of a smaller value, as trec_eval does."""


Ends: TypeAlias = Callable[[Measure, Meeting], tuple[Floats, Floats]]
"""The least and the greatest value of each query."""


class Range(NamedTuple):
    """Between which two values a number lies."""

    low: float
    high: float


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
        return self.observations.sentences(self.protocol)


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
    met: Mapping[Protocol, Meeting | Hearing] = field(default_factory=dict, repr=False)
    """How the run met the judgments under each protocol, for questions that come later."""
    _ends: dict[tuple[Ends, Measure], tuple[Floats, Floats]] = field(default_factory=dict, repr=False)
    """Ranges that were asked for, which may have taken long to find."""

    def __getitem__(self, measure: Measure | str) -> float:
        """The aggregate of one measure over all queries: its mean, sum or geometric mean."""
        return self._aggregate(self._named(measure))

    def tie_range(self, measure: Measure | str) -> Range:
        """The least and the greatest aggregate over all orders of tied results."""
        from judged.engine.ties import tie_range

        return self._over_queries(measure, tie_range)

    @property
    def has_ties(self) -> bool:
        """Whether the order of tied results can have changed a number; where they are averaged, it cannot."""
        return any(
            part.observations.tied_documents and part.protocol.ties != "expected" for part in self.every_part
        )

    def judged_share(self, measure: Measure | str) -> float:
        """The mean share of judged documents among the results that the measure looks at."""
        from judged.engine.unjudged import judged_shares

        known = self._named(measure)
        cutoff = known.parameters.get("cutoff")
        return float(judged_shares(self._met(known), cutoff if isinstance(cutoff, int) else None).mean())

    def tie_ranges(self, measure: Measure | str) -> dict[str, Range]:
        """For each query, the least and the greatest value over all orders of its tied results."""
        from judged.engine.ties import tie_range

        return self._by_query(measure, tie_range)

    def hole_range(self, measure: Measure | str) -> Range:
        """The least and the greatest aggregate over all grades that unjudged results could be given."""
        from judged.engine.unjudged import hole_range

        return self._over_queries(measure, hole_range)

    def hole_ranges(self, measure: Measure | str) -> dict[str, Range]:
        """For each query, the least and the greatest value over all grades of its unjudged results."""
        from judged.engine.unjudged import hole_range

        return self._by_query(measure, hole_range)

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

    def _named(self, measure: Measure | str) -> Measure:
        """The measure of this evaluation that is meant."""
        wanted = parse_measures([self.written.get(str(measure), measure)])[0]
        if wanted not in self.measures:
            self.scores[measure]  # raises, naming what there is
        return next(each for each in self.measures if each == wanted)

    def _met(self, measure: Measure) -> Meeting:
        met = self.met.get(self.part(measure).protocol)
        if not isinstance(met, Meeting):
            msg = f"{measure} has no range over ties or judgments still to be made"
            raise BadMeasure(msg, hint="only measures of judgments have")
        return met

    def _over_queries(self, measure: Measure | str, ends: Ends) -> Range:
        known = self._named(measure)
        low, high = (aggregate(known, each) for each in self._found(known, ends))
        return Range(low, high)

    def _by_query(self, measure: Measure | str, ends: Ends) -> dict[str, Range]:
        known = self._named(measure)
        low, high = self._found(known, ends)
        ranges = map(Range, low.tolist(), high.tolist())
        return dict(zip(self._met(known).queries.to_pylist(), ranges, strict=True))

    def _found(self, measure: Measure, ends: Ends) -> tuple[Floats, Floats]:
        """The ends of every query, found once."""
        if (ends, measure) not in self._ends:
            self._ends[ends, measure] = ends(measure, self._met(measure))
        return self._ends[ends, measure]

    def _aggregate(self, measure: Measure) -> float:
        return aggregate(measure, self.values(measure))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.4f}" for name, value in self.mean().items())
        return f"Evaluation({self.run}: {shown}; {self.observations.queries} queries)"


def aggregate(measure: Measure, values: Floats) -> float:
    """One number from the values of all queries, in the way the measure says; 0 of no queries."""
    if len(values) == 0:
        return 0.0
    if measure.aggregate == "sum":
        return float(values.sum())
    if measure.aggregate == "geometric":
        return float(np.exp(np.log(np.maximum(values, FLOOR)).mean()))
    return float(values.mean())
