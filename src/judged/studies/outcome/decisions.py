"""Decisions of a study: what its routers, skip policies and rerankers were worth, by the first measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from judged.errors import JudgedError
from judged.problem import Note
from judged.scoring.evaluate import evaluate_many
from judged.scoring.evaluations import Evaluations
from judged.studies.outcome.answered import Answered
from judged.studies.routing import RoutingReport, evaluate_routing
from judged.studies.running.answers import make_run
from judged.studies.running.plan import StudyInputs
from judged.studies.tables import Choices, Reranking, SkipDecisions
from judged.wording import join_words


def score_decisions(
    inputs: StudyInputs, answered: Sequence[Answered], scored: Evaluations
) -> tuple[tuple[RoutingReport, ...], tuple[Note, ...]]:
    """Return what decisions were worth, and notes on those of which nothing can be said."""
    reports, notes = list[RoutingReport](), list[Note]()
    for system in answered:
        notes += _note_ties(system, answered, scored)
    for names, make in _list_reports(inputs, answered, scored):
        try:
            reports.append(make())
        except JudgedError as error:
            message = f"{join_words(names)}: its decisions are not scored: {error.message}"
            notes.append(Note("unscored-decisions", "warning", message))
    return tuple(reports), tuple(notes)


def _note_ties(system: Answered, answered: Sequence[Answered], scored: Evaluations) -> Iterator[Note]:
    """Yield how a router's accuracy counts where several experts are equally good."""
    if system.planned.spec.router is None:
        return
    shown = {other.planned.spec.name: other.name for other in answered}
    measure = scored.measures[0]
    values = [
        scored[shown[part]].scores.by_query(measure) for part in system.planned.spec.parts if part in shown
    ]
    sign = -1.0 if measure.higher_is_better is False else 1.0
    ties = 0
    for query in values[0] if values else ():
        qualities = [sign * by_query.get(query, 0.0) for by_query in values]
        ties += qualities.count(max(qualities)) > 1
    if ties:
        message = (
            f"{system.name}: several experts are the best on {ties:,} of {len(values[0]):,} queries; "
            "Accuracy counts each of them as right"
        )
        yield Note("tied-experts", "info", message)


def _list_reports(
    inputs: StudyInputs, answered: Sequence[Answered], scored: Evaluations
) -> Iterator[tuple[Sequence[str], Callable[[], RoutingReport]]]:
    """Yield how to make each report, with the systems that it is about."""
    level = inputs.spec.level
    shown = {system.planned.spec.name: system.name for system in answered}
    for system in answered:
        if system.planned.spec.router is not None:
            yield [system.name], lambda system=system: _score_router(inputs, system, scored, shown)  # type: ignore[misc]
    skipping = [system for system in answered if system.planned.spec.skip is not None]
    if skipping:
        names = [system.name for system in skipping]
        yield names, lambda: evaluate_routing(_collect_skips(inputs, skipping), level=level)
    reranked = [system for system in answered if system.planned.spec.rerank_specs()]
    if reranked:
        names = [system.name for system in reranked]
        yield names, lambda: evaluate_routing(_collect_reranking(inputs, reranked, scored), level=level)


def _score_router(
    inputs: StudyInputs, system: Answered, scored: Evaluations, shown: Mapping[str, str]
) -> RoutingReport:
    """Return accuracy, regret and balance of a router; the best expert of a query is that of the highest value."""
    asked = [reply for reply in system.first_pass if reply.experts]
    if not asked:
        raise JudgedError("every query was skipped, so it chose nothing")
    experts = {part: scored[shown[part]] for part in system.planned.spec.parts if part in shown}
    measure = scored.measures[0]
    choices = Choices.from_columns(
        [reply.query for reply in asked],
        [reply.experts[0] for reply in asked],
        ranked=[reply.experts for reply in asked],
        quality={
            part: [evaluation.scores.by_query(measure).get(reply.query) for reply in asked]
            for part, evaluation in experts.items()
        },
        name=system.name,
    )
    return evaluate_routing(choices, level=inputs.spec.level)


def _value_lists(
    inputs: StudyInputs, lists: Mapping[str, Mapping[str, tuple[Sequence[str], Sequence[float]]]]
) -> dict[str, dict[str, float]]:
    """Return the value of the first measure on every scored query, for other lists than those of the runs."""
    spec = inputs.spec
    runs = {
        name: make_run(name, ((query, *ranked) for query, ranked in by_query.items()))
        for name, by_query in lists.items()
    }
    evaluations = evaluate_many(
        inputs.judgments.select(inputs.scored),
        runs,
        spec.measure_names()[0],
        protocol=spec.protocol,
    )
    measure = evaluations.measures[0]
    return {name: evaluation.scores.by_query(measure) for name, evaluation in evaluations.items()}


def _collect_skips(inputs: StudyInputs, skipping: Sequence[Answered]) -> SkipDecisions:
    """Return what skip policies decided; retrieval is needed where it finds something by the first measure."""
    asked = {system.name: system.first_pass for system in skipping}
    lists = {
        name: {reply.query: reply.anyway or (reply.documents, reply.scores) for reply in replies}
        for name, replies in asked.items()
    }
    values = _value_lists(inputs, lists)
    rows = [(name, reply) for name, replies in asked.items() for reply in replies]
    return SkipDecisions.from_columns(
        [reply.query for _, reply in rows],
        [reply.retrieved for _, reply in rows],
        quality_retrieved=[values[name].get(reply.query, 0.0) for name, reply in rows],
        quality_skipped=[0.0] * len(rows),  # a skipped query has no results
        system=[name for name, _ in rows],
    )


def _collect_reranking(inputs: StudyInputs, reranked: Sequence[Answered], scored: Evaluations) -> Reranking:
    """Return the first measure before and after the rerankers, on the queries that were retrieved for."""
    lists = {
        system.name: {asked.query: asked.before for asked in system.first_pass if asked.before is not None}
        for system in reranked
    }
    lists = {name: by_query for name, by_query in lists.items() if by_query}
    if not lists:
        raise JudgedError("every query was skipped, so nothing was reranked")
    values = _value_lists(inputs, lists)
    rows = [(name, query) for name, by_query in lists.items() for query in by_query]
    after = {name: scored[name].scores.by_query(scored.measures[0]) for name in lists}
    return Reranking.from_columns(
        [query for _, query in rows],
        [values[name].get(query, 0.0) for name, query in rows],
        [after[name].get(query, 0.0) for name, query in rows],
        system=[name for name, _ in rows],
    )
