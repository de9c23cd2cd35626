"""`gate`: a run against a baseline, measure by measure; each is shown to be no worse than a margin, or worse, or neither."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judged.engine.evaluate import evaluate
from judged.engine.evaluation import Evaluation
from judged.engine.inputs import judgments_demanded
from judged.engine.system_scores import SystemScores
from judged.errors import BadMeasure, BadProtocol, BadSample, MissingQueries
from judged.gates.delta import Delta, as_delta
from judged.gates.report import GateReport, MeasureGate
from judged.gates.stored import Stored, digest_of, read_stored
from judged.measures.measure import Measure
from judged.profiles.catalogue import as_profile
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.stats.margin import OneSidedTest, margin_test

__all__ = ["gate", "gate_scores"]

SHOWN = 5
"""How many of the most hurt and most helped queries are kept."""


def gate(
    qrels: Any,
    run: Any,
    measures: Iterable[Measure | str] | Measure | str,
    *,
    baseline: Any,
    min_delta: float | str | Delta = -0.01,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    protocol: Protocol | Profile | str = "trec_eval-9",
    baseline_run: str | None = None,
    allow_other_protocol: bool = False,
    seed: int = 0,
    name: str | None = None,
    run_name: str | None = None,
    baseline_name: str | None = None,
    threads: int | None = None,
) -> GateReport:
    """Whether `run` is shown to be no worse than `baseline`, by more than `min_delta` at most, on every measure.

    `qrels`, `run` and `measures` are as in `judged.evaluate`. `baseline` is another run, or scores made before: an
    `Evaluation`, `Scores`, or a file that `judged score --per-query` wrote (`baseline_run` names the run in it, if it
    holds several). `min_delta` is a number, or a percentage of the baseline's mean such as `"-2%"`. `test` is `t` or
    `randomisation`. Scores that were made under another protocol are refused unless `allow_other_protocol` is set.
    """
    delta, profile = as_delta(min_delta), as_profile(protocol)
    named = measures if isinstance(measures, str | Measure) else list(measures)
    chosen = [reading.measure for reading in profile.read_all(named)]
    for measure in chosen:
        _refuse(measure)
    judgments = judgments_demanded(qrels, chosen)
    settings: dict[str, Any] = {"protocol": profile, "threads": threads}
    ours = _scored(judgments, run, named, run_name, settings)
    before, notes = _stored(baseline, baseline_run, baseline_name, ours, qrels, allowed=allow_other_protocol)
    if before is None:
        theirs = _scored(judgments, baseline, named, baseline_name, settings)
        values = {str(each): theirs.scores.by_query(each) for each in theirs.measures}
        before = Stored(_apart(theirs.run, ours.run), values)
        notes = _noticed(theirs, before.name)
    work: dict[str, Any] = {"alpha": alpha, "test": test, "seed": seed}
    results = tuple(
        _gated(each, ours, before, delta, work, strict=ours.part(each).protocol.missing == "error")
        for each in ours.measures
    )
    told = (*_noticed(ours, ours.run), *notes)
    name = name or f"{ours.run} against {before.name}"
    return GateReport(name, ours.run, before.name, results, _protocols(ours), told)


def _stored(
    baseline: Any, run: str | None, name: str | None, ours: Evaluation, qrels: Any, *, allowed: bool
) -> tuple[Stored | None, list[str]]:
    """The baseline's stored scores, checked, and what is to be told of them; none where it is a run."""
    stored = read_stored(baseline, run=run)
    if stored is None:
        _refuse_run_name(run)
        return None, []
    named = replace(stored, name=_apart(name or stored.name, ours.run))
    return named, _checked(named, ours, digest_of(qrels), allowed=allowed)


def _protocols(evaluation: Evaluation) -> str:
    """The protocol; each with its measures where a profile has several."""
    if not evaluation.parts:
        return str(evaluation.protocol)
    return "; ".join(f"{', '.join(map(str, part.measures))}: {part.protocol}" for part in evaluation.parts)


def _scored(
    judgments: Any, run: Any, measures: Any, name: str | None, settings: dict[str, Any]
) -> Evaluation:
    """The scores of a run, under the name that it is given; an error names the file all the same."""
    if name is None or not isinstance(run, str | os.PathLike):
        return evaluate(judgments, run, measures, name=name, **settings)
    return replace(evaluate(judgments, run, measures, name=str(run), **settings), run=name)


def _refuse(measure: Measure) -> None:
    """Refuse a measure of which neither more nor less is better, or whose values are not averaged."""
    if measure.text or measure.higher_is_better is None:
        told = "its values are text" if measure.text else "neither more nor less of it is better"
        msg = f"{measure} cannot be a gate: {told}"
        raise BadMeasure(msg, hint="`judged measures NAME` says which way a measure is better")
    if measure.aggregate in {"geometric", "pooled"}:
        kind = "a geometric mean" if measure.aggregate == "geometric" else "pooled"
        msg = f"{measure} cannot be a gate: it is {kind}, and the test is of a mean"
        raise BadMeasure(msg, hint=f"take {measure.compare_by}, whose values are the same")


def _refuse_run_name(name: str | None) -> None:
    if name is not None:
        msg = f"`{name}` is to be the run among stored scores, and the baseline is a run itself"
        raise BadProtocol(msg, hint="leave `--baseline-run` out")


def _apart(baseline: str, run: str) -> str:
    """The name of the baseline, told apart from the run's, as old and new copies of a file often share one."""
    return f"{baseline} (baseline)" if baseline == run else baseline


def _noticed(evaluation: Evaluation, name: str) -> list[str]:
    """What the engine noticed of a run, with the name that it goes by."""
    told = dict.fromkeys(sentence for part in evaluation.every_part for sentence in part.sentences())
    return [f"{name}: {sentence}" for sentence in told]


def _checked(stored: Stored, ours: Evaluation, judgments: str | None, *, allowed: bool) -> list[str]:
    """Notes on how the stored scores were made; another protocol is refused unless it is allowed."""
    notes = []
    for measure in map(str, ours.measures):
        now = _protocol(ours, measure)
        then = stored.fingerprint(measure)
        if then is None:
            notes.append(f"{stored.name}: the stored scores do not say their protocol; taken to be the same")
        elif then != now.fingerprint:
            told = f"the stored scores of {measure} were made under protocol #{then}, this run under {now}"
            if not allowed:
                hint = "score the baseline again, or go on with `--allow-other-protocol`"
                msg = f"`{stored.name}`: {told}"
                raise BadProtocol(msg, hint=hint)
            notes.append(f"{stored.name}: {told}")
    if stored.judgments and judgments and stored.judgments != judgments:
        notes.append(
            f"{stored.name}: the stored scores were made with other judgments, or an older copy of them"
        )
    return list(dict.fromkeys(notes))


def _protocol(evaluation: Evaluation, measure: str) -> Protocol:
    return next(part.protocol for part in evaluation.every_part if measure in map(str, part.measures))


def gate_scores(
    ours: SystemScores,
    baseline: SystemScores,
    *,
    min_delta: float | str | Delta = -0.01,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    seed: int = 0,
    notes: Sequence[str] = (),
) -> GateReport:
    """The same of two systems that have been scored already, under one protocol and in the same measures."""
    for measure in ours.measures:
        _refuse(measure)
    delta = as_delta(min_delta)
    values = {str(each): baseline.scores.by_query(each) for each in baseline.measures}
    before = Stored(_apart(baseline.run, ours.run), values)
    work: dict[str, Any] = {"alpha": alpha, "test": test, "seed": seed}
    results = tuple(_gated(each, ours, before, delta, work) for each in ours.measures)
    name = f"{ours.run} against {before.name}"
    return GateReport(name, ours.run, before.name, results, str(ours.protocol), tuple(notes))


def _gated(
    measure: Measure,
    ours: SystemScores,
    before: Stored,
    delta: Delta,
    work: Mapping[str, Any],
    *,
    strict: bool = False,
) -> MeasureGate:
    """The outcome of one measure, over the queries that both have a value for; `strict` if none may lack one."""
    name = str(measure)
    mine, theirs = _valued(ours.scores.by_query(measure)), _valued(before[name])
    shared = [query for query in mine if query in theirs]
    strange = [query for query in (*mine, *theirs) if query not in mine or query not in theirs]
    if strange and strict:
        msg = f"{name}: {len(strange):,} queries have a value on one side only: {', '.join(strange[:3])}"
        raise MissingQueries(msg, hint="the protocol says `missing` is an `error`")
    if not shared:
        msg = f"{name}: `{ours.run}` and `{before.name}` have no {ours.scores.unit} in common, expected the same"
        raise BadSample(msg)
    way = 1.0 if measure.higher_is_better else -1.0
    new, old = np.array([mine[q] for q in shared]), np.array([theirs[q] for q in shared])
    differences = way * (new - old)
    order = np.argsort(differences, kind="stable")
    return MeasureGate(
        name,
        ours.run,
        before.name,
        float(new.mean()),
        float(old.mean()),
        delta,
        margin_test(differences, margin=delta.margin(old, measure=name), **work),
        higher_is_better=bool(measure.higher_is_better),
        better=int((differences > 0).sum()),
        worse=int((differences < 0).sum()),
        hurt=tuple((shared[i], float(differences[i])) for i in order[:SHOWN] if differences[i] < 0),
        helped=tuple(
            (shared[i], float(differences[i])) for i in order[: -SHOWN - 1 : -1] if differences[i] > 0
        ),
        only_in_run=tuple(query for query in mine if query not in theirs),
        only_in_baseline=tuple(query for query in theirs if query not in mine),
        unit=ours.scores.unit,
    )


def _valued(values: Mapping[str, float]) -> dict[str, float]:
    """The queries that have a value; NaN stands where a tool leaves one out."""
    return {query: value for query, value in values.items() if not math.isnan(value)}
