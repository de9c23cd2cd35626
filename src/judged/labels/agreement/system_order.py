"""Agreement of labels and human grades on the order of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judged.agents.evaluate import evaluate_sessions
from judged.errors import BadSample, Unusable
from judged.io.read import read_labels, read_run
from judged.labels.agreement.grades import GradedResult, describe_result, read_grades
from judged.measures.measure import Measure
from judged.measures.written import find_written
from judged.problem import Problem
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.scoring.evaluate import evaluate
from judged.scoring.family import Measures
from judged.stats.outcome import Undefined
from judged.stats.rank_correlation import RankAgreement, kendall_tau, tau_ap, tau_ap_b
from judged.tables.inputs import LabelsLike, RunLike
from judged.tables.judgments import Judgments
from judged.tables.labels import Labels

TOP = 5
"""Number of the best systems, by human grades, that are also compared alone."""


@dataclass(frozen=True, slots=True)
class RankedSystems:
    """Systems ranked by one measure under human grades and under labels, with rank correlations."""

    measure: str
    human: Mapping[str, float]
    """Score of each system under human grades, the best first."""
    labels: Mapping[str, float]
    """Score of each system under labels, in the same order."""
    tau: RankAgreement
    tau_ap: RankAgreement
    """τ_AP, which weighs the top more; its symmetric variant if human grades tie systems."""
    top_tau: RankAgreement | Undefined
    """τ_b of the best five systems alone."""
    higher_is_better: bool = True
    canonical: str = ""
    """The canonical name of the measure; empty: that which is shown."""

    def rows(self) -> list[dict[str, str | int | float]]:
        """Return a row for each system: its scores and places under both."""
        return [
            {
                "measure": self.measure,
                "system": name,
                "human": score,
                "labels": self.labels[name],
                "human_place": self._place(self.human, name),
                "labels_place": self._place(self.labels, name),
            }
            for name, score in self.human.items()
        ]

    def coefficients(self) -> Iterator[tuple[str, int | float | Undefined]]:
        """Yield the number of systems and every rank correlation, with their names."""
        yield "systems", len(self.human)
        yield "τ_b", self.tau.value
        yield self.tau_ap.name, self.tau_ap.value
        top = self.top_tau
        yield f"τ_b of the top {TOP}", top if isinstance(top, Undefined) else top.value

    def _place(self, scores: Mapping[str, float], name: str) -> int:
        """Return one more than the number of better systems."""
        sign = 1 if self.higher_is_better else -1
        return 1 + sum(sign * other > sign * scores[name] for other in scores.values())


def rank_systems(
    measure: str,
    human: Mapping[str, float],
    labels: Mapping[str, float],
    *,
    higher_is_better: bool = True,
    canonical: str = "",
) -> RankedSystems:
    """Compare how two sets of scores rank the same systems; `human` is the truth.

    >>> found = rank_systems("nDCG@10", {"a": 0.7, "b": 0.5, "c": 0.4}, {"a": 0.8, "b": 0.5, "c": 0.6})
    >>> round(found.tau.value, 4), found.tau_ap.value
    (0.3333, 0.5)
    """
    if set(human) != set(labels):
        unshared = ", ".join(sorted(set(human) ^ set(labels))[:3])
        msg = f"human grades and labels score different systems, expected the same: {unshared} in only one of them"
        raise BadSample(msg)
    sign = 1 if higher_is_better else -1
    order = sorted(human, key=lambda name: -sign * human[name])
    truth, given = ({name: sign * scores[name] for name in order} for scores in (human, labels))
    top = order[:TOP]
    weighted = tau_ap(truth, given)
    return RankedSystems(
        measure,
        {name: human[name] for name in order},
        {name: labels[name] for name in order},
        kendall_tau(truth, given),
        tau_ap_b(truth, given) if isinstance(weighted.value, Undefined) else weighted,
        kendall_tau({name: truth[name] for name in top}, {name: given[name] for name in top})
        if len(order) > TOP
        else Undefined(f"there are only {len(order)} systems"),
        higher_is_better,
        canonical,
    )


def rank_runs(
    pairs: Sequence[tuple[GradedResult, GradedResult]],
    runs: Mapping[str, RunLike],
    measures: Iterable[Measure | str] | Measure | str,
    *,
    protocol: Protocol | Profile | str,
) -> tuple[RankedSystems, ...]:
    """Score runs by each measure under both; `pairs` are a human grade and a label of the same results.

    Only these pairs count: a result that one side lacks would count as bad there and say nothing about its grades.
    """
    chosen = measures if isinstance(measures, str | Measure) else list(measures)
    tables = {name: read_run(run, name=name) for name, run in runs.items()}
    scored = [
        {name: evaluate(judgments, run, chosen, protocol=protocol) for name, run in tables.items()}
        for judgments in _to_judgments(pairs)
    ]
    first = next(iter(scored[0].values()))
    return tuple(
        rank_systems(
            measure.label,
            *({name: result[measure] for name, result in evaluations.items()} for evaluations in scored),
            higher_is_better=measure.higher_is_better is not False,
            canonical=str(measure) if find_written(measure) else "",
        )
        for measure in first.measures
        if not measure.text
    )


def _to_judgments(pairs: Sequence[tuple[GradedResult, GradedResult]]) -> tuple[Judgments, Judgments]:
    """Return human grades and labels as judgments of the same documents, by the most reliable key of either."""
    both = {
        (item.task, max(item.keys, label.keys, key=len)[0]): (item.grade, label.grade)
        for item, label in pairs
        if item.task is not None
    }
    if not both:
        problem = "has no task, expected tasks that are queries of the runs"
        raise Unusable("the human grades", [Problem.error("too-few-tasks", "every grade", problem)])
    query, document = zip(*both, strict=True)
    human, labels = zip(*both.values(), strict=True)
    return (
        Judgments.from_columns(query, document, human, name="human grades"),
        Judgments.from_columns(query, document, labels, name="labels"),
    )


def rank_sessions(
    traces: object,
    labels: LabelsLike,
    human: LabelsLike,
    measures: Measures = ("CG@last", "SRE@last"),
    **options: Any,
) -> tuple[RankedSystems, ...]:
    """Rank the systems of traces by labels and by human grades, over the results that both graded.

    `options` are those of `judged.evaluate_sessions`. Gains in the traces count for results that neither graded.
    """
    people, machine = read_labels(human), read_labels(labels)
    shared = _keep_shared(people, machine), _keep_shared(machine, people)
    by_people, by_labels = (evaluate_sessions(traces, measures, labels=some, **options) for some in shared)
    return tuple(
        rank_systems(
            measure.label,
            {name: system[measure] for name, system in by_people.systems.items()},
            {name: system[measure] for name, system in by_labels.systems.items()},
            higher_is_better=measure.higher_is_better is not False,
            canonical=str(measure) if find_written(measure) else "",
        )
        for measure in by_people.measures
    )


def _keep_shared(labels: Labels, others: Labels) -> Labels:
    """Return the labels of results that the others have too."""
    there = read_grades(others)
    rows = tuple(label for label in labels if there.find(describe_result(label)) is not None)
    return Labels.from_rows(rows, name=labels.name)
