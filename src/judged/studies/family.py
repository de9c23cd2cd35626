"""The families of decisions: routers that choose an expert, skip policies that skip retrieval, rerankers that change a ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from judged.arrays import Floats
from judged.errors import WrongKind
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note
from judged.protocol import BaseProtocol
from judged.scoring.alignment import OwnedAlignment, align_owned
from judged.scoring.counts import to_notes
from judged.scoring.family import Family, Measures
from judged.studies.measures import RerankingView, RoutingView, SkipView
from judged.studies.tables import Choices, DecisionsLike, Reranking, SkipDecisions, read_decisions
from judged.wording import counted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DecisionProtocol(BaseProtocol):
    """The protocol of decisions, which have no conventions to set; its line begins with its family."""

    @property
    def heading(self) -> str:
        """Beginning of its line."""
        return self.family


@dataclass(frozen=True, slots=True)
class RoutingProtocol(DecisionProtocol):
    """The protocol of choices of experts."""

    family: ClassVar[str] = "routing"
    subject: ClassVar[str] = "a routing protocol"


@dataclass(frozen=True, slots=True)
class SkippingProtocol(DecisionProtocol):
    """The protocol of decisions of skip policies."""

    family: ClassVar[str] = "skipping"
    subject: ClassVar[str] = "a skipping protocol"


@dataclass(frozen=True, slots=True)
class RerankingProtocol(DecisionProtocol):
    """The protocol of values before and after reranking."""

    family: ClassVar[str] = "reranking"
    subject: ClassVar[str] = "a reranking protocol"


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Counts made while reading decisions."""

    queries: int
    unknown: int = 0
    """Queries for which the quality of the decision is not known."""
    undefined: bool = False
    """Whether the mean before reranking is 0, so that there is no relative change."""
    input_notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, view: RoutingView | SkipView | RerankingView, notes: tuple[str, ...] = ()) -> DecisionCounts:
        """Count what a view lacks."""
        if isinstance(view, RerankingView):
            return cls(len(view), undefined=bool((view.base <= 0).all()), input_notes=to_notes(notes))
        quality = (
            view.best - view.chosen
            if isinstance(view, RoutingView)
            else (np.where(view.skipped & view.needed, view.retrieved_quality - view.skipped_quality, 0.0))
        )
        return cls(len(view), int(np.isnan(quality).sum()), input_notes=to_notes(notes))

    def notes(self, protocol: BaseProtocol) -> tuple[Note, ...]:  # noqa: ARG002 - the same under every protocol
        """Return what is not known, and the notes on the inputs."""
        notes = []
        if self.unknown:
            message = f"{counted(self.unknown, 'query')} without the quality of the decision: left out of it"
            notes.append(Note("no-quality", "info", message, "queries without quality", f"{self.unknown:,}"))
        if self.undefined:
            message = "the mean before reranking is 0: the improvement is undefined"
            notes.append(Note("undefined-improvement", "warning", message))
        return (*notes, *self.input_notes)

    def select(self, view: RoutingView | SkipView | RerankingView) -> DecisionCounts:
        """Return the counts of some queries."""
        return replace(DecisionCounts.of(view), input_notes=self.input_notes)


def align_choices(
    truth: None,  # noqa: ARG001 - the table has the truth
    choices: Choices,
    protocol: RoutingProtocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
) -> OwnedAlignment:
    """Return what each choice was worth; the share of an expert is of the queries of the same system."""
    best, chosen = choices.best_quality(), choices.chosen_quality()
    given = np.array([optimal is not None for optimal in choices.optimal])
    named = np.array([optimal == pick for optimal, pick in zip(choices.optimal, choices.chosen, strict=True)])
    many = Counter(zip(choices.owners, choices.chosen, strict=True))
    total = Counter(choices.owners)
    share = np.array([many[key] / total[key[0]] for key in zip(choices.owners, choices.chosen, strict=True)])
    view = RoutingView(
        np.where(given, named, chosen == best),
        _rank_optimal(choices, best),
        chosen,
        best,
        share,
        np.full(len(choices), len(choices.experts), dtype=np.int64),
    )
    return align_owned(
        view, choices.queries, choices.owners, protocol, DecisionCounts.of(view, choices.notes)
    )


def _rank_optimal(choices: Choices, best: Floats) -> Floats:
    """Return the rank of the first optimal expert in the router's order; infinite if it is not there."""
    rank = np.full(len(choices), np.nan)
    for row, order in enumerate(choices.ranked):
        good = {choices.optimal[row]} - {None} or {
            expert for expert, values in choices.quality.items() if values[row] == best[row]
        }
        if order:
            rank[row] = next((at for at, expert in enumerate(order, start=1) if expert in good), np.inf)
    return rank


def align_skips(
    truth: None,  # noqa: ARG001 - the table has the truth
    decisions: SkipDecisions,
    protocol: SkippingProtocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
) -> OwnedAlignment:
    """Return what a skip policy skipped, and what that cost."""
    view = SkipView(
        ~decisions.retrieved, decisions.needed, decisions.quality_retrieved, decisions.quality_skipped
    )
    return align_owned(
        view, decisions.queries, decisions.owners, protocol, DecisionCounts.of(view, decisions.notes)
    )


def align_reranking(
    truth: None,  # noqa: ARG001 - the table has both values
    values: Reranking,
    protocol: RerankingProtocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
) -> OwnedAlignment:
    """Return the values before and after, and the mean before of each system."""
    owners = np.array(values.owners)
    base = np.zeros(len(values))
    for system in values.systems:
        base[owners == system] = values.before[owners == system].mean()
    view = RerankingView(values.before, values.after, base)
    return align_owned(view, values.queries, values.owners, protocol, DecisionCounts.of(view, values.notes))


def _reader(kind: type[T], words: str) -> Callable[[DecisionsLike, str | None], T]:
    def read(source: DecisionsLike, name: str | None) -> T:
        decisions = read_decisions(source, name=name)
        if not isinstance(decisions, kind):
            msg = f"{decisions.name} holds {type(decisions).__name__}, expected {words}"
            raise WrongKind(msg)
        return decisions

    return read


def _parser(family: str) -> Callable[[Measures], list[Measure]]:
    """Return a reader of names that adds the measures that others must be shown with."""

    def parse(measures: Measures) -> list[Measure]:
        named = parse_measures(measures, family=family)
        with_companions: list[Measure | str] = []
        for measure in named:
            with_companions += [measure, *measure.companions]
        return parse_measures(with_companions, family=family)

    return parse


ROUTING = Family(
    name="routing",
    unit="query",
    protocol=RoutingProtocol,
    view=RoutingView,
    align=align_choices,
    default_measures=("Accuracy", "Regret", "Balance"),
    parse=_parser("routing"),
    read_system=_reader(Choices, "choices: query, chosen, optimal"),
    input_roles=("truth", "choices"),
)
"""Choices of a router, scored by accuracy, regret and balance."""
SKIPPING = Family(
    name="skipping",
    unit="query",
    protocol=SkippingProtocol,
    view=SkipView,
    align=align_skips,
    default_measures=("SkipEfficiency",),
    parse=_parser("skipping"),
    read_system=_reader(SkipDecisions, "skip decisions: query, retrieved, needed"),
    input_roles=("truth", "decisions"),
)
"""Decisions of a skip policy, scored by efficiency, precision, recall and what wrong skips cost."""
RERANKING = Family(
    name="reranking",
    unit="query",
    protocol=RerankingProtocol,
    view=RerankingView,
    align=align_reranking,
    default_measures=("Improvement",),
    parse=_parser("reranking"),
    read_system=_reader(Reranking, "values: query, before, after"),
    input_roles=("truth", "values"),
)
"""Values before and after reranking, scored by the relative change of their means."""
