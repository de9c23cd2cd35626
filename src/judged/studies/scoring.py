"""From the answers of a study to its result: runs, scores, comparison, times, and what decisions were worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.io.write import write_judgments, write_run
from judged.problem import Note
from judged.result import Provenance
from judged.scoring.evaluate import evaluate_many
from judged.scoring.evaluations import Evaluations
from judged.store.machine import list_versions
from judged.studies.answers import Asked, Built, make_run
from judged.studies.learning import Learning
from judged.studies.plan import PACKAGES, PlannedSystem, StudyInputs, describe_stages
from judged.studies.result import StageTimes, Study, SystemRecord
from judged.studies.routing import RoutingReport, evaluate_routing
from judged.studies.stages.clock import TOTAL
from judged.studies.tables import Choices, Reranking, SkipDecisions
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.timings import Timings
from judged.wording import counted, say_when

UNTRAINED = " (untrained)"
"""Suffix of the names of systems with random weights."""


@dataclass(frozen=True, eq=False)
class _Answered:
    """A system that answered every query, the name under which it is shown, and its answers, read once."""

    name: str
    planned: PlannedSystem
    built: Built
    asked: tuple[Asked, ...]
    """Every answer to a scored query, in the order in which they were given."""

    @cached_property
    def first_pass(self) -> list[Asked]:
        """The answers of the first pass, each query once."""
        first: dict[str, Asked] = {}
        for asked in self.asked:
            if asked.sample == 0:
                first.setdefault(asked.query, asked)
        return list(first.values())


def make_study(inputs: StudyInputs, failures: Mapping[str, str], learning: Learning, began: float) -> Study:
    """Return the result of a study that began at a moment, in seconds since 1970.

    `failures` has why systems failed, by name, `learning` what was tuned.
    """
    built = [planned.log.read_build() for planned in inputs.plan]
    records = [_make_record(*pair, failures) for pair in zip(inputs.plan, built, strict=True)]
    wanted = set(inputs.scored)
    answered = [
        _Answered(
            record.name,
            planned,
            made,
            tuple(asked for asked in planned.log.read() if asked.query in wanted),
        )
        for record, planned, made in zip(records, inputs.plan, built, strict=True)
        if not record.failure
    ]
    dates = {system.name: _date_kept(system.asked, began) for system in answered}
    records = [replace(record, answers_of=dates.get(record.name, "")) for record in records]
    notes = [Note("collection", "info", note) for note in inputs.collection.notes]
    notes += [
        Note("kept-answers", "info", f"{name}: answers of {date} were kept: scores and times are of then")
        for name, date in dates.items()
        if date
    ]
    notes += [
        Note("failed-system", "warning", f"{record.name} failed: {record.failure}")
        for record in records
        if record.failure
    ]
    stated = ((system.name, note) for system in answered for note in system.built.notes)
    notes += [Note("stage", "info", f"{name}: {note}") for name, note in stated]
    study = Study(
        name=str(inputs.spec.name),
        collection=inputs.collection.name,
        documents=len(inputs.collection.documents),
        queries=len(inputs.scored),
        training=len(inputs.training),
        repeats=inputs.spec.repeats,
        systems=tuple(records),
        notes=tuple(notes),
        provenance=Provenance(inputs=inputs.files, settings=_list_settings(inputs)),
    )
    return _score(study, inputs, answered, learning) if answered else study


def _make_record(planned: PlannedSystem, built: Built, failures: Mapping[str, str]) -> SystemRecord:
    spec = planned.spec
    marked = built.untrained and "untrained" not in spec.name
    return SystemRecord(
        name=f"{spec.name}{UNTRAINED}" if marked else spec.name,
        stages=describe_stages(spec),
        untrained=built.untrained,
        dimensions=built.dimensions,
        build_seconds=built.build_seconds,
        encode_seconds=built.encode_seconds,
        vectors_of=say_when(built.vectors_of) if built.vectors_of else "",
        failure=failures.get(spec.name, ""),
    )


def _date_kept(asked: Sequence[Asked], began: float) -> str:
    """Return when those answers were given that are older than the run, and how many they are if not all."""
    kept = [answer.at for answer in asked if answer.at < began]
    if not kept:
        return ""
    dates = dict.fromkeys((say_when(min(kept)), say_when(max(kept))))
    some = f" ({len(kept):,} of {len(asked):,})" if len(kept) < len(asked) else ""
    return f"{' to '.join(dates)}{some}"


def _list_settings(inputs: StudyInputs) -> dict[str, object]:
    """Return what a study's numbers depend on."""
    spec = inputs.spec
    settings = {
        name: getattr(spec, name)
        for name in ("depth", "repeats", "warmup", "seed", "test", "correction", "level", "cutoffs")
    }
    systems = {planned.spec.name: planned.spec.to_dict() for planned in inputs.plan}
    return {
        **settings,
        "train": list(spec.train) if isinstance(spec.train, tuple) else spec.train,
        "cutoffs": list(spec.cutoffs),
        "documents": inputs.collection.digest,
        "systems": msgspec.to_builtins(systems),
        "versions": list_versions(*PACKAGES),
    }


def _score(study: Study, inputs: StudyInputs, answered: Sequence[_Answered], learning: Learning) -> Study:
    """Return the study with scores, comparison, times and decisions."""
    spec = inputs.spec
    judgments, runs = _make_runs(inputs, answered)
    scored = evaluate_many(
        judgments, runs, list(spec.measure_names()), protocol=spec.protocol, keep_inputs=True
    )
    times = tuple(_collect_times(answered, spec.repeats))
    comparison = _compare(inputs, answered, scored, times)
    specs = {system.name: system.planned.spec for system in answered}
    tuned = {name: system for name, system in specs.items() if system.fuse is not None and system.fuse.tune}
    notes = scored.notes if comparison is None else comparison.notes
    return replace(
        study,
        scored=scored,
        comparison=None if comparison is None else replace(comparison, notes=()),
        times=times,
        routing=tuple(_score_decisions(inputs, answered, scored)),
        tunings={name: learning.tune(system) for name, system in tuned.items()},
        notes=tuple(dict.fromkeys((*study.notes, *notes, *_note_changes(answered)))),
        provenance=replace(
            study.provenance,
            protocols=scored.provenance.protocols,
            inputs=tuple(dict.fromkeys((*scored.provenance.inputs, *study.provenance.inputs))),
        ),
    )


def _make_runs(
    inputs: StudyInputs, answered: Sequence[_Answered]
) -> tuple[Judgments | str, dict[str, Run | str]]:
    """Return the judgments of the scored queries and the run of each system on them, or the files they are written to."""
    judgments = inputs.judgments.select(set(inputs.scored))
    runs = {
        system.name: make_run(
            system.name, ((asked.query, asked.documents, asked.scores) for asked in system.first_pass)
        )
        for system in answered
    }
    if inputs.temporary:
        return judgments, dict(runs)
    folder = inputs.folder / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    write_judgments(judgments, inputs.folder / "judgments.csv", force=True)
    paths: dict[str, Run | str] = {}
    for system in answered:
        path = folder / f"{system.planned.spec.name}.run"
        write_run(runs[system.name], path, format="trec", force=True)
        write_run(runs[system.name], folder / f"{system.planned.spec.name}.parquet", force=True)
        paths[system.name] = str(path)
    return str(inputs.folder / "judgments.csv"), paths


def _collect_times(answered: Sequence[_Answered], repeats: int) -> Iterator[StageTimes]:
    """Yield every time of every stage, on the scored queries, in the order in which they were asked."""
    for system in answered:
        queries: dict[str, list[str]] = defaultdict(list)
        seconds: dict[str, list[float]] = defaultdict(list)
        seen: set[tuple[str, int]] = set()
        for asked in system.asked:
            key = (asked.query, asked.sample)
            if asked.sample >= repeats or key in seen:
                continue
            seen.add(key)
            for stage, nanoseconds in asked.nanoseconds.items():
                queries[stage].append(asked.query)
                seconds[stage].append(nanoseconds / 1e9)
        for stage in sorted(seconds, key=lambda stage: stage == TOTAL):
            yield StageTimes(system.name, stage, tuple(queries[stage]), np.array(seconds[stage]))


def _compare(
    inputs: StudyInputs, answered: Sequence[_Answered], scored: Evaluations, times: Sequence[StageTimes]
) -> Comparison | None:
    if len(answered) < 2:
        return None
    spec = inputs.spec
    baseline = next((system.name for system in answered if system.planned.spec.name == spec.baseline), None)
    totals = {stage.system: stage.seconds for stage in times if stage.stage == TOTAL}
    return compare(
        list(scored.values()),
        baseline=baseline,
        test=spec.test,
        correction=spec.correction,
        level=spec.level,
        seed=spec.seed,
        timings=Timings.from_mapping({name: seconds.tolist() for name, seconds in totals.items()}),
    )


def _score_decisions(
    inputs: StudyInputs, answered: Sequence[_Answered], scored: Evaluations
) -> Iterator[RoutingReport]:
    """Yield what routers, skip policies and rerankers were worth, by the first measure."""
    shown = {system.planned.spec.name: system.name for system in answered}
    for system in answered:
        if system.planned.spec.router is not None:
            yield _score_router(inputs, system, scored, shown)
    skipping = [system for system in answered if system.planned.spec.skip is not None]
    if skipping:
        yield evaluate_routing(_collect_skips(inputs, skipping), level=inputs.spec.level)
    reranked = [system for system in answered if system.planned.spec.rerank_specs()]
    if reranked:
        yield evaluate_routing(_collect_reranking(inputs, reranked, scored), level=inputs.spec.level)


def _score_router(
    inputs: StudyInputs, system: _Answered, scored: Evaluations, shown: Mapping[str, str]
) -> RoutingReport:
    """Return accuracy, regret and balance of a router; the best expert of a query is that of the highest value."""
    asked = [reply for reply in system.first_pass if reply.experts]
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


def _collect_skips(inputs: StudyInputs, skipping: Sequence[_Answered]) -> SkipDecisions:
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


def _collect_reranking(inputs: StudyInputs, reranked: Sequence[_Answered], scored: Evaluations) -> Reranking:
    """Return the first measure before and after the rerankers, on the queries that were retrieved for."""
    lists = {
        system.name: {asked.query: asked.before for asked in system.first_pass if asked.before is not None}
        for system in reranked
    }
    values = _value_lists(inputs, lists)
    rows = [(name, query) for name, by_query in lists.items() for query in by_query]
    after = {name: scored[name].scores.by_query(scored.measures[0]) for name in lists}
    return Reranking.from_columns(
        [query for _, query in rows],
        [values[name].get(query, 0.0) for name, query in rows],
        [after[name].get(query, 0.0) for name, query in rows],
        system=[name for name, _ in rows],
    )


def _note_changes(answered: Sequence[_Answered]) -> Iterator[Note]:
    """Yield a note for each system that returned different results for a query in a later pass."""
    for system in answered:
        first: dict[str, tuple[str, ...]] = {}
        changed = set()
        for asked in system.asked:
            if first.setdefault(asked.query, asked.documents) != asked.documents:
                changed.add(asked.query)
        if changed:
            message = f"{system.name} returned different results for {counted(len(changed), 'query')} in a later pass; the first pass is scored"
            yield Note("unsteady", "warning", message)
