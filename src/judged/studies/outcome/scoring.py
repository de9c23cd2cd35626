"""From the answers of a study to its result: runs, scores, comparison, times, and what decisions were worth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

import msgspec
import numpy as np

from judged.comparison.api import compare
from judged.comparison.result import Comparison
from judged.errors import JudgedError, Unwritable
from judged.io.write import write_judgments, write_run
from judged.problem import Note
from judged.result import Provenance
from judged.scoring.evaluate import evaluate_many
from judged.scoring.evaluations import Evaluations
from judged.store.machine import list_versions
from judged.studies.outcome.answered import Answered
from judged.studies.outcome.costs import collect_costs
from judged.studies.outcome.decisions import score_decisions
from judged.studies.outcome.responses import collect_responses, score_responses
from judged.studies.passages.context import ChunkRecord, describe_chunks, score_context
from judged.studies.result import FailedQuery, Rewrite, StageTimes, Study, SystemRecord
from judged.studies.running.answers import Built, make_run
from judged.studies.running.asker import Limits
from judged.studies.running.learning import Learning
from judged.studies.running.permissions import read_configuration
from judged.studies.running.plan import PACKAGES, PlannedSystem, StudyInputs, describe_stages
from judged.studies.stages.clock import OTHER, TOTAL, sort_stages
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.scores import Scores
from judged.tables.timings import Timings
from judged.wording import counted, join_words, name_some, say_when

LONGEST = 200
"""Characters of an error in a note; the table `failures` has all of it."""
UNTRAINED = " (untrained)"
"""Suffix of the names of systems with random weights."""


def make_study(inputs: StudyInputs, failures: Mapping[str, str], learning: Learning, began: float) -> Study:
    """Return the result of a study that began at a moment, in seconds since 1970.

    `failures` has why systems failed, by name, `learning` what was tuned.
    """
    answered = _read_answers(inputs, failures)
    inputs, skipped = _leave_out(inputs, answered)
    if skipped:
        answered = [system.select(inputs.scored) for system in answered]
    shown = {system.planned.spec.name: system for system in answered}
    records = []
    for planned in inputs.plan:
        system = shown.get(planned.spec.name)
        record = _make_record(planned, planned.log.read_build(), failures)
        if system is not None:
            dates = system.date_kept(began)
            record = replace(record, answers_of=dates, failed_queries=len(system.failed))
        records.append(record)
    study = Study(
        name=str(inputs.spec.name),
        collection=inputs.collection.name,
        documents=len(inputs.collection.documents),
        queries=len(inputs.scored),
        training=len(inputs.training),
        repeats=inputs.spec.repeats,
        systems=tuple(records),
        failed_queries=tuple(
            FailedQuery(system.name, asked.query, asked.sample, asked.error)
            for system in answered
            for asked in system.failed
        ),
        notes=tuple(_list_notes(inputs, records, answered, skipped)),
        provenance=Provenance(inputs=inputs.files, settings=_list_settings(inputs)),
    )
    return _score(study, inputs, answered, learning) if answered else study


def _read_answers(inputs: StudyInputs, failures: Mapping[str, str]) -> list[Answered]:
    """Return the systems that did not fail, with their answers to the scored queries."""
    wanted = set(inputs.scored)
    answered = []
    for planned in inputs.plan:
        if planned.spec.name not in failures:
            built = planned.log.read_build()
            asked = tuple(one for one in planned.log.read_latest() if one.query in wanted)
            answered.append(Answered(_name(planned, built), planned, built, asked))
    return answered


def _leave_out(inputs: StudyInputs, answered: Sequence[Answered]) -> tuple[StudyInputs, dict[str, set[str]]]:
    """Return the study without the queries that some systems are to be excused from, and those by system.

    They are left out for all systems, so that every system is scored on the same queries.
    """
    skipped = {
        system.name: {asked.query for asked in system.failed if asked.sample == 0}
        for system in answered
        if Limits.choose(inputs.spec, system.planned.spec.name).on_error == "skip"
    }
    skipped = {name: queries for name, queries in skipped.items() if queries}
    some = set().union(*skipped.values())
    left = tuple(query for query in inputs.scored if query not in some)
    if not left:
        msg = f"every query failed in one of {join_words(list(skipped))}, so none is left to score"
        raise JudgedError(msg)
    return replace(inputs, scored=left), skipped


def _list_notes(
    inputs: StudyInputs,
    records: Sequence[SystemRecord],
    answered: Sequence[Answered],
    skipped: Mapping[str, set[str]],
) -> Iterator[Note]:
    """Yield what readers should know of how answers came about."""
    for note in inputs.collection.notes:
        yield Note("collection", "info", note)
    if inputs.spec.concurrency > 1:
        yield Note("concurrency", "info", f"times are those of {inputs.spec.concurrency} queries at a time")
    for record in records:
        if record.answers_of:
            message = f"{record.name}: answers of {record.answers_of} were kept: scores and times are of then"
            yield Note("kept-answers", "info", message)
        if record.failure:
            yield Note("failed-system", "warning", f"{record.name} failed: {record.failure}")
    for system in answered:
        yield from _note_system(system, skipped.get(system.name, set()))
        yield from _note_depth(system, inputs)


def _note_system(system: Answered, skipped: Collection[str]) -> Iterator[Note]:
    """Yield what readers should know of the answers of one system."""
    failed = system.failed
    if skipped:
        message = f"{system.name} failed on {counted(len(skipped), 'query')}, which no system is scored on"
        yield Note("failed-queries", "warning", message)
    elif failed:
        named = name_some([f"{asked.query}: {shorten(asked.error, LONGEST)}" for asked in failed], 2)
        message = f"{system.name} failed on {counted(len(failed), 'query')}, scored without results ({named})"
        yield Note("failed-queries", "warning", message)
    if not system.found:
        yield Note("no-results", "warning", f"{system.name} returned nothing for any query: it scores 0")
    for stated in system.built.notes:
        yield Note("stage", "info", f"{system.name}: {stated}")


def _note_depth(system: Answered, inputs: StudyInputs) -> Iterator[Note]:
    """Yield a note on an existing system that never returns as many results as a measure looks at."""
    longest = max((len(asked.documents) for asked in system.first_pass), default=0)
    wanted = min(
        system.planned.spec.depth or inputs.spec.depth, len(inputs.collection.documents) or longest + 1
    )
    if system.planned.spec.retriever is None or not 0 < longest < wanted:
        return
    deeper = [name for name in inputs.spec.measure_names() if longest < _read_cutoff(name)]
    if deeper:
        message = (
            f"{system.name} returned at most {counted(longest, 'result')} for any query, and was asked for {wanted:,}: "
            f"{join_words(deeper)} cannot be higher than with that many"
        )
        yield Note("shallow-system", "warning", message)


def _read_cutoff(measure: str) -> int:
    cutoff = measure.rpartition("@")[2]
    return int(cutoff) if cutoff.isdecimal() else 0


def _name(planned: PlannedSystem, built: Built) -> str:
    """Return the name under which a system is shown."""
    marked = built.untrained and "untrained" not in planned.spec.name
    return f"{planned.spec.name}{UNTRAINED}" if marked else planned.spec.name


def _make_record(planned: PlannedSystem, built: Built, failures: Mapping[str, str]) -> SystemRecord:
    spec = planned.spec
    return SystemRecord(
        name=_name(planned, built),
        stages=describe_stages(spec),
        untrained=built.untrained,
        dimensions=built.dimensions,
        build_seconds=built.build_seconds,
        encode_seconds=built.encode_seconds,
        vectors_of=say_when(built.vectors_of) if built.vectors_of else "",
        replies_of=say_when(built.replies_of) if built.replies_of else "",
        failure=failures.get(spec.name, ""),
        grid=spec.grid or "",
        factors={name: str(value) for name, value in spec.factors.items()},
    )


def _list_settings(inputs: StudyInputs) -> dict[str, object]:
    """Return what a study's numbers depend on."""
    spec = inputs.spec
    settings = {
        name: getattr(spec, name)
        for name in (
            "depth",
            "repeats",
            "warmup",
            "concurrency",
            "seed",
            "test",
            "correction",
            "level",
            "cutoffs",
        )
    }
    systems = {planned.spec.name: planned.spec.to_dict() for planned in inputs.plan}
    return {
        **settings,
        "train": list(spec.train) if isinstance(spec.train, tuple) else spec.train,
        "cutoffs": list(spec.cutoffs),
        "documents": inputs.collection.digest,
        "prices": msgspec.to_builtins({**read_configuration().prices, **spec.prices}),
        "systems": msgspec.to_builtins(systems),
        "versions": list_versions(*PACKAGES),
    }


def _score(study: Study, inputs: StudyInputs, answered: Sequence[Answered], learning: Learning) -> Study:
    """Return the study with scores, comparison, times and decisions."""
    scored, failures = _evaluate(inputs, answered)
    records = tuple(
        replace(record, failure=failures.get(record.name, record.failure)) for record in study.systems
    )
    failed = [
        Note("failed-system", "warning", f"{name} failed: {reason}") for name, reason in failures.items()
    ]
    answered = [system for system in answered if system.name not in failures]
    times = tuple(_collect_times(answered, inputs.spec.repeats))
    comparison = _compare(inputs, answered, scored, times)
    routing, unscored = score_decisions(inputs, answered, scored)
    context = _score_context(inputs, answered)
    responses = collect_responses(answered)
    specs = {system.name: system.planned.spec for system in answered}
    tuned = {name: system for name, system in specs.items() if system.fuse is not None and system.fuse.tune}
    notes = scored.notes if comparison is None else comparison.notes
    changes = [note for system in answered for note in system.note_changes()]
    return replace(
        study,
        systems=records,
        scored=scored,
        comparison=None if comparison is None else replace(comparison, notes=()),
        times=times,
        context=context,
        context_comparison=_compare_context(inputs, answered, context),
        chunks=_describe_chunks(inputs, answered),
        costs=tuple(collect_costs(answered, {**read_configuration().prices, **inputs.spec.prices})),
        responses=responses,
        answers=score_responses(inputs, answered, responses),
        rewrites=tuple(
            Rewrite(system.name, asked.query, number, text)
            for system in answered
            for asked in system.first_pass
            for number, text in enumerate(asked.rewritten, start=1)
        ),
        settings={
            name: learning.tune_settings(system) for name, system in specs.items() if system.tune is not None
        },
        routing=routing,
        tunings={name: learning.tune(system) for name, system in tuned.items()},
        notes=tuple(dict.fromkeys((*study.notes, *failed, *notes, *unscored, *changes))),
        provenance=replace(
            study.provenance,
            protocols=scored.provenance.protocols,
            inputs=tuple(dict.fromkeys((*scored.provenance.inputs, *study.provenance.inputs))),
        ),
    )


def _evaluate(inputs: StudyInputs, answered: Sequence[Answered]) -> tuple[Evaluations, dict[str, str]]:
    """Return the evaluation of every system that can be scored, and why others cannot, by name."""
    spec = inputs.spec
    judgments, runs = _make_runs(inputs, answered)

    def evaluate(some: Mapping[str, Run | str]) -> Evaluations:
        return evaluate_many(
            judgments, some, list(spec.measure_names()), protocol=spec.protocol, keep_inputs=True
        )

    try:
        return evaluate(runs), {}
    except JudgedError:
        failures = {}
        for name, run in runs.items():
            try:
                evaluate({name: run})
            except JudgedError as error:
                failures[name] = f"its results cannot be scored: {error.message}"
        if len(failures) in {0, len(runs)}:
            raise
        return evaluate({name: run for name, run in runs.items() if name not in failures}), failures


def _make_runs(
    inputs: StudyInputs, answered: Sequence[Answered]
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
        path = folder / f"{system.planned.spec.name}.parquet"
        write_run(runs[system.name], path, force=True)
        text = path.with_name(f"{system.planned.spec.name}.run")
        try:
            write_run(runs[system.name], text, format="trec", force=True)
        except (
            Unwritable
        ):  # an id with a blank in it, as names of files have: TREC's text has no place for it
            text.unlink(missing_ok=True)
            text = path
        # a file without a row is refused as the wrong one; here it is known to be right
        paths[system.name] = str(text) if system.found else runs[system.name]
    return str(inputs.folder / "judgments.csv"), paths


def _collect_times(answered: Sequence[Answered], repeats: int) -> Iterator[StageTimes]:
    """Yield every time of every stage, on the scored queries, in the order in which they were asked.

    A stage that a query did not come to took it no time, and what no stage took is the stage `other`: so the stages of a
    system add up to its total, query by query and in their means.
    """
    for system in answered:
        asked = {
            (one.query, one.sample): one
            for one in reversed(system.asked)
            if one.sample < repeats and not one.error
        }
        queries, taken = tuple(query for query, _ in reversed(asked)), [*reversed(asked.values())]
        stages = dict.fromkeys(stage for one in taken for stage in one.nanoseconds if stage != TOTAL)
        seconds = {
            stage: np.array([one.nanoseconds.get(stage, 0) for one in taken]) / 1e9
            for stage in (*stages, TOTAL)
        }
        if stages:
            rest = seconds[TOTAL] - sum(seconds[stage] for stage in stages)
            seconds[OTHER] = np.maximum(rest + seconds.get(OTHER, 0.0), 0.0)
        for stage in sort_stages(seconds):
            yield StageTimes(system.name, stage, queries, seconds[stage])


def _compare(
    inputs: StudyInputs, answered: Sequence[Answered], scored: Evaluations, times: Sequence[StageTimes]
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


def _score_context(inputs: StudyInputs, answered: Sequence[Answered]) -> tuple[Scores, ...]:
    """Return the scores of what fits into a number of tokens, if such measures are wanted."""
    spec, measures = inputs.spec, inputs.spec.context_measures()
    if not measures:
        return ()
    return score_context(
        inputs.collection,
        inputs.judgments.select(set(inputs.scored)),
        {system.name: system.first_pass for system in answered},
        measures,
        tokeniser=spec.tokeniser,
        protocol=spec.protocol,
    )


def _compare_context(
    inputs: StudyInputs, answered: Sequence[Answered], context: Sequence[Scores]
) -> Comparison | None:
    spec = inputs.spec
    if len(context) < 2:
        return None
    baseline = next((system.name for system in answered if system.planned.spec.name == spec.baseline), None)
    return compare(
        {scores.run: scores for scores in context},
        baseline=baseline,
        test=spec.test,
        correction=spec.correction,
        level=spec.level,
        seed=spec.seed,
    )


def _describe_chunks(inputs: StudyInputs, answered: Sequence[Answered]) -> tuple[ChunkRecord, ...]:
    """Return how long passages are, where any are searched or counted."""
    searching = [
        (system.name, system.planned.spec.chunk_spec(), system.built)
        for system in answered
        if system.planned.spec.search is not None
    ]
    if all(spec is None for _, spec, _ in searching) and not inputs.spec.context_measures():
        return ()
    return describe_chunks(inputs.collection, searching, inputs.spec.tokeniser)
