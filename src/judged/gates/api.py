"""`gate`: a run against a baseline, measure by measure: shown to be no worse than a margin, or worse, or neither."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import TypedDict, cast

import numpy as np

from judged.comparison.systems import ScoresLike, System, find_pairing, read_scores, read_systems, to_system
from judged.errors import (
    BadInput,
    BadMeasure,
    BadProtocol,
    BadSample,
    MissingQueries,
    UnknownName,
    Unreadable,
    check_kind,
)
from judged.gates.result import Delta, GateReport, MeasureGate, parse_delta
from judged.measures.measure import Measure
from judged.measures.parse import list_measures
from judged.problem import Note, Problem, merge_notes
from judged.profiles.profile import Profile, as_profile
from judged.protocol import Protocol
from judged.result import InputFile, observe_files
from judged.scoring.evaluate import evaluate, read_truth
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures, Pair
from judged.stats.margin import OneSidedTest, margin_test
from judged.stats.paired import differences, pair_by_query
from judged.tables.inputs import RunLike, TruthLike
from judged.tables.scores import Scores

SHOWN = 5
"""Maximum number of most hurt and most helped queries that are kept."""


class GateSettings(TypedDict, total=False):
    """The arguments of `gate` other than the inputs, the measures, `min_delta` and `alpha`."""

    test: OneSidedTest
    protocol: Protocol | Profile | str
    baseline_run: str | None
    allow_other_protocol: bool
    resamples: int
    seed: int
    name: str | None
    run_name: str | None
    baseline_name: str | None
    threads: int | None


def gate(
    qrels: TruthLike | ScoresLike,
    run: RunLike | None = None,
    measures: Measures | None = None,
    *,
    baseline: RunLike | ScoresLike,
    min_delta: float | str | Delta = -0.01,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    protocol: Protocol | Profile | str = "trec_eval-9",
    baseline_run: str | None = None,
    allow_other_protocol: bool = False,
    resamples: int = 10_000,
    seed: int = 0,
    name: str | None = None,
    run_name: str | None = None,
    baseline_name: str | None = None,
    threads: int | None = None,
) -> GateReport:
    """Test whether `run` is no worse than `baseline`, by more than `min_delta` at most, on every measure.

    `gate(qrels, run, measures, baseline=…)` scores the run first; the arguments are as in `judged.evaluate`, and
    `baseline` is another run, or scores made before: an `Evaluation`, `Scores`, or a file that `judged score --per-query`
    wrote (`baseline_run` names the run in it, if it holds several). `gate(system, baseline=…)` takes the scores of both,
    in the same forms; `measures` then chooses some of theirs.

    `min_delta` is a number, or a percentage of the baseline's mean such as `"-2%"`. `test` is `t` or `randomisation`.
    A baseline scored under another protocol is an error unless `allow_other_protocol` is set.
    """
    delta = parse_delta(min_delta)
    for argument, value in {"run_name": run_name, "baseline_name": baseline_name}.items():
        check_kind(argument, value, (str, NoneType), "a name, or None")
    pair = find_pairing([qrels, baseline])
    if run is None:
        scoring = None
        scored = [cast("ScoresLike", qrels)] if pair is None else pair([cast("Evaluation", qrels)])[0]
        systems = read_systems(scored, measures)
        several = len(systems) > 1
        ours = _choose_run(systems, str(qrels), run_name if several else None, option="run_name")
        ours = _rename(ours, run_name)
    elif measures is None:
        msg = "no measure was given to score the run by"
        raise BadMeasure(msg, hint='name one or more, such as "nDCG@10"')
    else:
        scoring = _Scoring.prepare(cast("TruthLike", qrels), measures, protocol, threads)
        ours = scoring.score(run, run_name)
    for measure in ours.measures:
        _check_measure(measure)
    theirs = _read_baseline(baseline, baseline_run, baseline_name, ours, scoring, pair)
    notes = list(merge_notes({ours.name: ours.notes, theirs.name: theirs.notes}))
    if theirs.saved:
        notes += _check_saved(theirs, ours, allow_other_protocol=allow_other_protocol)
    results = tuple(
        _gate_measure(measure, ours, theirs, delta, _TestSettings(alpha, test, resamples, seed))
        for measure in ours.measures
    )
    provenance = replace(
        ours.provenance,
        settings={
            "min_delta": str(delta),
            "alpha": alpha,
            "test": test,
            "resamples": resamples,
            "seed": seed,
        },
    )
    title = name or f"{ours.name} against {theirs.name}"
    return GateReport(title, ours.name, theirs.name, results, provenance, tuple(notes))


@dataclass(frozen=True, slots=True)
class _Scoring:
    """Everything that a run is scored with."""

    truth: TruthLike
    measures: Sequence[Measure | str] | Measure | str
    profile: Profile
    threads: int | None
    inputs: tuple[InputFile, ...]

    @classmethod
    def prepare(
        cls,
        qrels: TruthLike,
        measures: Measures,
        protocol: Protocol | Profile | str,
        threads: int | None,
    ) -> _Scoring:
        """Read the judgments for the measures, all of which can be tested."""
        profile = as_profile(protocol)
        named = list_measures(measures)
        chosen = [reading.measure for reading in profile.read_all(named)]
        for measure in chosen:
            _check_measure(measure)
        inputs = observe_files([("judgments", qrels)])
        return cls(read_truth(qrels, chosen), named, profile, threads, inputs)

    def score(self, run: RunLike, name: str | None, *, apart_from: str | None = None) -> System:
        """Return a run's scores under its name."""
        evaluation = evaluate(
            self.truth, run, self.measures, protocol=self.profile, threads=self.threads, name=name
        )
        system = to_system(replace(evaluation, system=_set_apart(evaluation.system, apart_from)))
        inputs = (*self.inputs, *system.provenance.inputs)
        return replace(system, provenance=replace(system.provenance, inputs=inputs))


@dataclass(frozen=True, slots=True)
class _TestSettings:
    alpha: float
    test: OneSidedTest
    resamples: int
    seed: int


def _read_baseline(
    baseline: RunLike | ScoresLike,
    run: str | None,
    name: str | None,
    ours: System,
    scoring: _Scoring | None,
    pair: Pair | None,
) -> System:
    """Return the baseline's scores: those made before, or those of a run that is scored now."""
    saved: Sequence[System] | None = None
    if isinstance(baseline, Evaluation | Scores):
        scored = [baseline] if pair is None else pair([cast("Evaluation", baseline)])[0]
        saved = [replace(to_system(evaluation), saved=True, notes=()) for evaluation in scored]
    elif isinstance(baseline, str | os.PathLike) and str(baseline) != "-" and Path(baseline).is_file():
        saved = read_scores(Path(baseline))
    if saved is not None:
        chosen = _choose_run(saved, str(baseline), run)
        return replace(chosen, name=_set_apart(name or chosen.name, ours.name))
    if run is not None:
        msg = f"`{run}` names a run among stored scores, but the baseline is itself a run"
        raise BadProtocol(msg, hint="leave `--baseline-run` out")
    if scoring is None:
        msg = "the baseline is a run, and there are no judgments to score it with"
        raise Unreadable(msg, hint="use `gate(qrels, run, measures, baseline=…)`, or scores as the baseline")
    return scoring.score(cast("RunLike", baseline), name, apart_from=ours.name)


def _choose_run(
    systems: Sequence[System], path: str, wanted: str | None, *, option: str = "--baseline-run"
) -> System:
    """Return the system that was named by the option, or the only one."""
    names = [system.name for system in systems]
    if wanted is not None:
        if wanted not in names:
            kind = f"run in {path}"
            raise UnknownName(kind, wanted, names)
        return systems[names.index(wanted)]
    if len(systems) != 1:
        message = f"holds scores of {len(systems)} runs ({', '.join(names[:5])}), expected one"
        first = next(iter(names), "NAME")
        hint = (
            f"choose one with `{option} {first}`"
            if option.startswith("-")
            else f"choose one with `{option}={first!r}`"
        )
        raise BadInput(path, [Problem.error("several-runs", path, message)], hint=hint)
    return systems[0]


def _rename(system: System, name: str | None) -> System:
    return system if name is None else replace(system, name=name)


def _set_apart(baseline: str, run: str | None) -> str:
    """Return the name of the baseline, changed if it is also the run's: old and new copies of a file often share one."""
    return f"{baseline} (baseline)" if baseline == run else baseline


def _check_reach(measure: Measure, delta: Delta) -> None:
    """Raise `BadProtocol` for a difference that the measure cannot have: 2 where 2 % was meant."""
    low, high = measure.bounds
    if not delta.relative and abs(delta.value) >= high - low:
        always = "fail" if delta.value > 0 else "pass"
        msg = f"`min_delta` is {delta}, and {measure} lies between {low:g} and {high:g}, so every run would {always}"
        raise BadProtocol(msg, hint=f"{delta.value:g} % of the baseline's mean is written `{delta.value:g}%`")


def _check_measure(measure: Measure) -> None:
    """Raise BadMeasure if neither direction of a measure is better, or if its values are not averaged."""
    if measure.text or measure.higher_is_better is None:
        why = "its values are text" if measure.text else "neither more nor less of it is better"
        msg = f"{measure} cannot be a gate: {why}"
        raise BadMeasure(msg, hint="`judged measures NAME` says which way a measure is better")
    if measure.aggregate in {"geometric", "percentile", "pooled"}:
        kind = {"geometric": "a geometric mean", "percentile": "a percentile"}.get(
            measure.aggregate, "pooled"
        )
        msg = f"{measure} cannot be a gate: it is {kind}, and the test is of a mean"
        raise BadMeasure(msg, hint=f"take {measure.compare_by or measure.name}, whose values are the same")


def _check_saved(saved: System, ours: System, *, allow_other_protocol: bool) -> list[Note]:
    """Return notes on how the saved scores were made; raise BadProtocol for another protocol unless it is allowed."""
    notes: list[Note] = []
    for measure in map(str, ours.measures):
        now, then = ours.protocol(measure), saved.protocol(measure)
        if now is None or then is None:
            whose = saved.name if then is None else ours.name
            message = "the stored scores do not say their protocol; taken to be the same"
            notes.append(Note("unknown-protocol", "warning", message, subject=whose))
        elif then.fingerprint != now.fingerprint:
            message = f"the stored scores of {measure} were made under protocol #{then.fingerprint}, this run under {now.text}"
            if not allow_other_protocol:
                msg = f"`{saved.name}`: {message}"
                raise BadProtocol(
                    msg, hint="score the baseline again, or go on with `--allow-other-protocol`"
                )
            notes.append(Note("other-protocol", "warning", message, subject=saved.name))
    if saved.judgments and ours.judgments and saved.judgments != ours.judgments:
        message = "the stored scores were made with other judgments, or an older copy of them"
        notes.append(Note("other-judgments", "warning", message, subject=saved.name))
    return list(dict.fromkeys(notes))


def _gate_measure(
    measure: Measure, ours: System, theirs: System, delta: Delta, settings: _TestSettings
) -> MeasureGate:
    """Return the outcome of one measure, over the queries that both have a value for."""
    name = str(measure)
    queries, values, (only_ours, only_theirs), neither = pair_by_query([ours[name], theirs[name]])
    record = ours.protocol(name)
    unpaired = [*only_ours, *only_theirs]
    if unpaired and record is not None and record.conventions.get("missing") == "error":
        msg = f"{name}: {len(unpaired):,} queries have a value on one side only: {', '.join(unpaired[:3])}"
        raise MissingQueries(msg, hint="the protocol says `missing` is an `error`")
    if not queries:
        msg = f"{name}: `{ours.name}` and `{theirs.name}` have no {ours.unit} in common, expected the same"
        raise BadSample(msg)
    _check_reach(measure, delta)
    new, old = values.T
    gained = differences(new, old) if measure.higher_is_better else differences(old, new)
    tested = margin_test(
        gained,
        margin=delta.margin(old, measure=name),
        alpha=settings.alpha,
        test=settings.test,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    order = np.argsort(gained, kind="stable").tolist()
    changes = [(queries[at], float(gained[at])) for at in order]
    return MeasureGate(
        name,
        ours.name,
        theirs.name,
        float(new.mean()),
        float(old.mean()),
        delta,
        tested,
        higher_is_better=bool(measure.higher_is_better),
        better=int((gained > 0).sum()),
        worse=int((gained < 0).sum()),
        hurt=tuple(change for change in changes[:SHOWN] if change[1] < 0),
        helped=tuple(change for change in changes[: -SHOWN - 1 : -1] if change[1] > 0),
        only_in_run=tuple(only_ours),
        only_in_baseline=tuple(only_theirs),
        in_neither=tuple(neither),
        unit=ours.unit,
    )
