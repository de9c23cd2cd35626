"""Labels of a model against those of people: how far they agree, and means corrected by a human sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.answers.family import LabelledAnswers, Unit, align_answers, name_kind
from judged.answers.grades import LEVELS
from judged.answers.needs import (
    CITATIONS,
    FIRST,
    NUGGETS,
    SAID_FOUND,
    SAID_TRUE,
    SETS,
    TRUTH_FOUND,
    TRUTH_SAID,
    list_needs,
)
from judged.answers.protocol import AnswerProtocol
from judged.arrays import Floats
from judged.blocks import Estimate, Table, Value
from judged.errors import BadSample
from judged.measures.measure import Measure
from judged.problem import Note
from judged.scoring.evaluations import Evaluations
from judged.stats.outcome import Undefined
from judged.stats.prediction_powered import prediction_powered_mean
from judged.stats.rater_agreement import Weights, cohen_kappa, krippendorff_alpha

if TYPE_CHECKING:
    from judged.answers.evaluate import LabelledInputs

_WEIGHTS: tuple[Weights, ...] = ("equal", "quadratic")
FEWEST = 3
"""Queries with human labels that a corrected mean needs."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement of a model's labels with people's on the same pairs."""

    labels: str
    """`nuggets`, `citations` or `claims`."""
    pairs: int
    same: float
    kappa: float | None
    quadratic_kappa: float | None
    alpha: float | None
    """Krippendorff's α for ordered labels."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean of one system by the model's labels, and corrected by those of people."""

    system: str
    measure: str
    labels: float
    corrected: float | None
    low: float | None
    high: float | None
    queries: int
    """Queries all of whose pairs people labelled."""
    reason: str = ""
    """Why there is no corrected mean, or no interval."""


@dataclass(frozen=True, slots=True)
class HumanSample:
    """What a human sample says about the labels of a model."""

    agreement: tuple[LabelAgreement, ...] = ()
    means: tuple[CorrectedMean, ...] = ()
    notes: tuple[Note, ...] = ()

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each corrected mean."""
        for row in self.means:
            yield {name: getattr(row, name) for name in CorrectedMean.__dataclass_fields__}

    def tables(self) -> Iterator[Table]:
        """Yield the agreement, and the means by labels and corrected."""
        if self.agreement:
            agreed = tuple(
                (row.labels, row.pairs, row.same, row.kappa, row.quadratic_kappa, row.alpha)
                for row in self.agreement
            )
            names = ("labels", "pairs", "same", "κ", "quadratic κ", "ordinal α")
            yield Table(names, agreed, title="Agreement of the labels with people's")
        if self.means:
            means = tuple(
                (row.system, row.measure, row.labels, _estimate(row), row.queries) for row in self.means
            )
            columns = ("system", "measure", "by labels", "corrected", "queries by people")
            yield Table(columns, means, title="Means corrected by people's labels")


def _estimate(row: CorrectedMean) -> Estimate | str:
    if row.corrected is None:
        return row.reason
    return Estimate(row.corrected, row.low, row.high, "" if row.low is not None else row.reason)


def compare_with_people(
    answers: LabelledInputs, people: LabelledInputs, systems: Evaluations, *, level: float = 0.95
) -> HumanSample:
    """Return how far labels agree with those of people, and the means that people would have given.

    A query counts for a measure if people labelled all of its pairs; these queries must be a random sample of all.
    """
    agreement = tuple(_compare_labels(answers, people))
    means = tuple(_correct_means(answers, people, systems, level))
    if not means:
        return HumanSample(agreement)
    message = (
        "corrected means hold if the queries that people labelled are a random sample of all (prediction-powered"
        " inference); in the support study of TREC 2024 people agreed with a model on 56 % of labels made from scratch,"
        " and on 72 % after editing the model's"
    )
    return HumanSample(agreement, means, (Note("human-sample", "info", message),))


def _compare_labels(answers: LabelledInputs, people: LabelledInputs) -> Iterator[LabelAgreement]:
    for kind, levels in LEVELS.items():
        ours, theirs = (
            {key: label for system in inputs.systems for key, label in _list_labels(system, kind)}
            for inputs in (answers, people)
        )
        shared = [key for key in theirs if key in ours]
        if not shared:
            continue
        first, second = ([levels[table[key]] for key in shared] for table in (ours, theirs))
        plain, squared = (cohen_kappa(first, second, weights=weights) for weights in _WEIGHTS)
        alpha = krippendorff_alpha([first, second], distance="ordinal")
        yield LabelAgreement(
            kind,
            len(shared),
            float(np.mean(np.array(first) == np.array(second))),
            *(
                None if isinstance(value, Undefined) else value
                for value in (plain.value, squared.value, alpha.value)
            ),
        )


def _list_labels(system: LabelledAnswers, kind: str) -> Iterator[tuple[tuple[object, ...], str]]:
    """Yield the first label of each pair of a kind."""
    if kind == "claims":
        seen: set[tuple[object, ...]] = set()
        for unit, claims in system.claims.items():
            for row in claims:
                key = (system.name, unit, row.side, row.claim, row.source)
                if row.source and key not in seen:
                    seen.add(key)
                    yield key, row.label
        return
    table: Mapping[Unit, Mapping[Any, Sequence[str]]] = (
        system.nuggets if kind == "nuggets" else system.support
    )
    for unit, labels in table.items():
        for pair, listed in labels.items():
            yield (system.name, unit, pair), listed[0]


def _correct_means(
    answers: LabelledInputs, people: LabelledInputs, systems: Evaluations, level: float
) -> Iterator[CorrectedMean]:
    for labelled, system in zip(answers.systems, people.systems, strict=True):
        evaluation = systems[system.name]
        protocol = evaluation.protocol
        assert isinstance(protocol, AnswerProtocol)  # noqa: S101 - of answers
        for measure in evaluation.measures:
            if measure.higher_is_better is None or not people.given.issuperset(list_needs(measure)):
                continue
            alignment = align_answers(people.truth, system, protocol, [measure])
            values: dict[str, list[float]] = {}
            for unit, value in zip(alignment.keys, alignment.values(measure).tolist(), strict=True):
                whole = unit in system.answers and _is_complete(people, labelled, system, unit, measure)
                values.setdefault(unit[0], []).append(value if whole else nan)
            # the mean of its attempts, as of the labels, if people labelled all of them
            by_people = {query: sum(own) / len(own) for query, own in values.items()}
            known = {query: value for query, value in by_people.items() if not isnan(value)}
            by_labels = evaluation.scores.by_query(str(measure), averaged=True)
            yield _correct(system.name, measure, known, by_labels, evaluation[measure], level)


def _correct(
    system: str,
    measure: Measure,
    people: Mapping[str, float],
    labels: Mapping[str, float],
    mean: float,
    level: float,
) -> CorrectedMean:
    """Return the mean of one measure, corrected; without one if people labelled too few queries."""
    shared = [query for query in people if query in labels and not isnan(labels[query])]
    others = [value for query, value in labels.items() if query not in people and not isnan(value)]
    human, machine = (np.array([table[query] for query in shared]) for table in (people, labels))
    if len(shared) < FEWEST:
        reason = f"{len(shared)} of {FEWEST} queries"
        return CorrectedMean(system, measure.label, mean, None, None, None, len(shared), reason)
    try:
        found = prediction_powered_mean(human, machine, _enough(others), level=level)
    except BadSample as error:
        return CorrectedMean(system, measure.label, mean, None, None, None, len(shared), error.message)
    lowest, highest = measure.scale or (-inf, inf)
    corrected, low, high = (
        None if isinstance(value, Undefined) else min(max(value, lowest), highest)
        for value in (found.mean, found.low, found.high)
    )
    reason = str(found.low) if isinstance(found.low, Undefined) else ""
    return CorrectedMean(system, measure.label, mean, corrected, low, high, len(shared), reason)


def _enough(others: Sequence[float]) -> Floats:
    """Return the values of queries without labels by people; a single one has no spread, and is not used."""
    return np.array(others if len(others) > 1 else [], dtype=float)


def _is_complete(
    people: LabelledInputs, labelled: LabelledAnswers, system: LabelledAnswers, unit: Unit, measure: Measure
) -> bool:
    """Return whether people labelled all pairs of an answer that a measure reads; of claims, those that have a label."""
    needs = set(list_needs(measure))
    if NUGGETS in needs:
        listed, known = people.truth.nuggets.get(unit[0], {}), system.nuggets.get(unit, {})
        if not listed or not all(name in known for name in listed):
            return False
    if needs & {CITATIONS, FIRST}:
        cited = 1 if CITATIONS not in needs else None
        pairs = {(part.part, (name,)) for part in system.answers[unit] for name in part.citations[:cited]}
        sets = labelled.support.get(unit, {}).keys() if SETS in needs else set()
        if not pairs | sets <= system.support.get(unit, {}).keys():
            return False
    claims = {SAID_TRUE, SAID_FOUND, TRUTH_SAID, TRUTH_FOUND} & needs
    ours, theirs = (_list_claims(table, unit, claims) for table in (labelled, system))
    return not claims or (unit in system.claims and ours <= theirs)


def _list_claims(system: LabelledAnswers, unit: Unit, kinds: set[str]) -> set[tuple[str, str, str]]:
    """Return the claims and sources of some kinds that have a label."""
    return {
        (row.side, row.claim, row.source)
        for row in system.claims.get(unit, ())
        if row.source and name_kind(row) in kinds
    }
