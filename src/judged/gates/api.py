"""`gate`: a run against a baseline, measure by measure: shown to be no worse than a margin, or worse, or neither."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Literal, TypedDict, cast

import numpy as np

from judged.comparison.clusters import ClusterChoice, choose_clusters, list_clusters, note_clusters
from judged.comparison.sources import (
    ScoreReading,
    check_directions,
    open_alone,
    read_stored,
    refuse_join,
)
from judged.comparison.systems import (
    Opened,
    ScoresLike,
    System,
    choose_systems,
    name_system,
    pair_units,
    share_measures,
    to_system,
)
from judged.errors import (
    BadInput,
    BadMeasure,
    BadProtocol,
    BadSample,
    MissingQueries,
    UnknownName,
    check_kind,
)
from judged.gates.result import Delta, GateReport, MeasureGate, choose_deltas, parse_delta
from judged.measures.measure import Measure
from judged.measures.parse import list_measures
from judged.measures.written import SPELLINGS, find_written, note_spellings
from judged.problem import Note, Problem, merge_notes
from judged.profiles.profile import Profile, as_profile
from judged.protocol import Protocol
from judged.result import InputFile, observe_files
from judged.scoring.evaluate import evaluate, read_truth
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures
from judged.stats.margin import OneSidedTest, margin_test
from judged.stats.paired import differences, pair_by_query
from judged.tables.scores import Scores

if TYPE_CHECKING:
    from judged.tables.inputs import RunLike, TruthLike

SHOWN = 5
"""Maximum number of most hurt and most helped queries that are kept."""


class GateSettings(TypedDict, total=False):
    """The arguments of `gate` other than the inputs, the measures, `min_delta` and `alpha`."""

    test: OneSidedTest
    protocol: Protocol | Profile | str
    baseline_run: str | None
    allow_other_protocol: bool
    clusters: ClusterChoice
    resamples: int
    seed: int
    name: str | None
    run_name: str | None
    baseline_name: str | None
    threads: int | None
    join: bool
    higher: str | Sequence[str]
    lower: str | Sequence[str]
    missing: Literal["skip", "zero"]
    format: str | None


def gate(
    qrels: TruthLike | ScoresLike,
    run: RunLike | None = None,
    measures: Measures | None = None,
    *,
    baseline: RunLike | ScoresLike,
    min_delta: float | str | Delta | None = None,
    alpha: float = 0.05,
    test: OneSidedTest = "t",
    protocol: Protocol | Profile | str = "trec_eval-9",
    baseline_run: str | None = None,
    allow_other_protocol: bool = False,
    clusters: ClusterChoice = None,
    resamples: int = 10_000,
    seed: int = 0,
    name: str | None = None,
    run_name: str | None = None,
    baseline_name: str | None = None,
    threads: int | None = None,
    join: bool = False,
    higher: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    missing: Literal["skip", "zero"] = "skip",
    format: str | None = None,  # noqa: A002 - what users call it
) -> GateReport:
    """Test, for every measure, whether the difference of `run` from `baseline` is above `min_delta`.

    `gate(qrels, run, measures, baseline=…)` scores the run first; the arguments are as in `judged.evaluate`, and
    `baseline` is another run, or scores made before: an `Evaluation`, `Scores`, or a file that `judged score --per-query`
    wrote (`baseline_run` names the run in it, if it holds several). `gate(system, baseline=…)` takes the scores of both,
    in the same forms, or in that of any other tool; `measures` then chooses some of theirs, and `higher`, `lower`,
    `missing` and `format` are those of `judged.compare`.

    `min_delta` is a number, or a percentage of the baseline's mean such as `"-2%"`; without it, a loss of a hundredth of the
    measure's scale passes (-0.01 of what lies between 0 and 1), and a measure without a scale is refused. `test` is `t` or `randomisation`.
    `clusters` is a dict from query to cluster, or names an attribute of the scores: queries of one cluster are not
    independent, and both tests are then by cluster.
    Of a folder or a pattern, `join` reads the files as parts of one run.
    A baseline scored under another protocol is an error unless `allow_other_protocol` is set.
    """
    delta = None if min_delta is None else parse_delta(min_delta)
    names = _Names(run_name, baseline_run, baseline_name)
    for argument, value in {"run_name": run_name, "baseline_name": baseline_name}.items():
        check_kind(argument, value, (str, NoneType), "a name, or None")
    reading = ScoreReading.of(
        higher, lower, missing, format, cluster=clusters if isinstance(clusters, str) else None
    )
    notes: list[Note] = []
    if run is None:
        refuse_join(join=join)
        ours, theirs, notes = _open_both(
            cast("ScoresLike", qrels), cast("ScoresLike", baseline), measures, reading, names
        )
    elif measures is None:
        msg = "no measure was given to score the run by"
        raise BadMeasure(msg, hint='name one or more, such as "nDCG@10"')
    else:
        reading.refuse("runs that are scored now")
        scoring = _Scoring.prepare(cast("TruthLike", qrels), measures, protocol, threads, join=join)
        ours = scoring.score(run, run_name)
        theirs = _read_baseline(baseline, names, ours, scoring)
    for measure in ours.measures:
        _check_measure(measure)
    deltas = choose_deltas(ours.measures, delta)
    known = {
        system.name: [note for note in system.notes if note.code != SPELLINGS] for system in (ours, theirs)
    }
    notes += [*merge_notes(known), *note_spellings(ours.measures)]
    if theirs.saved:
        notes += _check_saved(theirs, ours, allow_other_protocol=allow_other_protocol)
    cluster, by_query = choose_clusters(clusters, None, [ours, theirs])
    settings = _TestSettings(alpha, test, resamples, seed, cluster, by_query)
    gated = [
        _gate_measure(measure, ours, theirs, deltas[str(measure)], settings) for measure in ours.measures
    ]
    results = tuple(result for result, _ in gated)
    if by_query:
        notes += note_clusters(gated[0][1], cluster, test, ours.unit)
    margins = ", ".join(dict.fromkeys(map(str, deltas.values())))
    if delta is None and ours.family == "score":
        message = f"no `min_delta` was given: {margins}, a hundredth of the scale"
        notes.append(Note("margin", "info", message))
    provenance = replace(
        ours.provenance,
        settings={
            "min_delta": margins,
            "alpha": alpha,
            "test": test,
            "resamples": resamples,
            "seed": seed,
            **({"cluster": cluster} if by_query else {}),
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
    join: bool
    inputs: tuple[InputFile, ...]

    @classmethod
    def prepare(
        cls,
        qrels: TruthLike,
        measures: Measures,
        protocol: Protocol | Profile | str,
        threads: int | None,
        *,
        join: bool,
    ) -> _Scoring:
        """Read the judgments for the measures, all of which can be tested."""
        profile = as_profile(protocol)
        named = list_measures(measures)
        chosen = [reading.measure for reading in profile.read_all(named)]
        for measure in chosen:
            _check_measure(measure)
        inputs = observe_files([("judgments", qrels)])
        return cls(read_truth(qrels, chosen), named, profile, threads, join, inputs)

    def score(self, run: RunLike, name: str | None, *, apart_from: str | None = None) -> System:
        """Return a run's scores under its name."""
        evaluation = evaluate(
            self.truth,
            run,
            self.measures,
            protocol=self.profile,
            threads=self.threads,
            name=name,
            join=self.join,
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
    cluster: str
    clusters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that the user chose."""

    run: str | None
    baseline_run: str | None
    """The system in the baseline's file."""
    baseline: str | None


def _open_both(
    run: ScoresLike, baseline: ScoresLike, measures: Measures | None, reading: ScoreReading, names: _Names
) -> tuple[System, System, list[Note]]:
    """Return the systems of two sources of scores, paired, with notes on that."""
    ours, theirs = _split(open_alone(run, reading)), _split(open_alone(baseline, reading))
    new = _choose_run(ours, str(run), names.run if len(ours) > 1 else None, option="run_name")
    old = _choose_run(theirs, str(baseline), names.baseline_run)
    both, unshared = share_measures([(None, new), (None, old)], measures, without=reading.cluster)
    both, notes = pair_units(both)
    first, second = choose_systems(both, measures)
    check_directions([first, second], reading)
    if measures is None:
        first, undirected = _leave_undirected(first)
        notes = [*notes, *undirected]
    first = first if names.run is None else replace(first, name=names.run)
    kept = (
        second.notes if second.family == "score" else ()
    )  # of a stored evaluation, its own report said them
    called = _set_apart(names.baseline or second.name, first.name)
    return first, replace(second, name=called, saved=True, notes=kept), [*notes, *unshared]


def _leave_undirected(system: System) -> tuple[System, list[Note]]:
    """Return a system without the measures that praise nothing, such as lengths, which nobody named; and a note on them.

    Scores of other tools keep theirs, whose direction is to be given.
    """
    left = [
        measure
        for measure in system.measures
        if measure.family != "score" and (measure.text or measure.higher_is_better is None)
    ]
    if not left or len(left) == len(system.measures):
        return system, []
    message = (
        f"not gated, because neither more nor less is better: {', '.join(measure.label for measure in left)}"
    )
    kept = tuple(measure for measure in system.measures if measure not in left)
    return replace(system, measures=kept), [Note("undirected", "info", message)]


def _split(opened: Sequence[Opened]) -> list[Opened]:
    """Return every system alone, where several were evaluated together."""
    return [
        system
        for source in opened
        for system in (source.systems.values() if isinstance(source, Evaluation) else [source])
    ]


def _read_baseline(baseline: RunLike | ScoresLike, names: _Names, ours: System, scoring: _Scoring) -> System:
    """Return the baseline's scores: those made before, or those of a run that is scored now."""
    saved: Sequence[System] | None = None
    if isinstance(baseline, Evaluation | Scores):
        saved = [replace(to_system(baseline), saved=True, notes=())]
    elif isinstance(baseline, str | os.PathLike) and str(baseline) != "-" and Path(baseline).is_file():
        saved = read_stored(Path(baseline))
    if saved is not None:
        chosen = cast("System", _choose_run(saved, str(baseline), names.baseline_run))
        return replace(chosen, name=_set_apart(names.baseline or chosen.name, ours.name))
    if names.baseline_run is not None:
        msg = f"`{names.baseline_run}` names a run among stored scores, but the baseline is itself a run"
        raise BadProtocol(msg, hint="leave `--baseline-run` out")
    return scoring.score(cast("RunLike", baseline), names.baseline, apart_from=ours.name)


def _choose_run(
    systems: Sequence[Opened], path: str, wanted: str | None, *, option: str = "--baseline-run"
) -> Opened:
    """Return the system that was named by the option, or the only one."""
    names = [name_system(system) for system in systems]
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


def _set_apart(baseline: str, run: str | None) -> str:
    """Return the name of the baseline, changed if it is also the run's: old and new copies of a file often share one."""
    return f"{baseline} (baseline)" if baseline == run else baseline


def _check_reach(measure: Measure, delta: Delta) -> None:
    """Raise `BadProtocol` for a difference that the measure cannot have: 2 where 2 % was meant."""
    low, high = measure.bounds
    if not delta.relative and abs(delta.value) >= high - low:
        always = "fail" if delta.value > 0 else "pass"
        msg = f"`min_delta` is {delta}, and {measure.label} lies between {low:g} and {high:g}, so every run would {always}"
        raise BadProtocol(msg, hint=f"{delta.value:g} % of the baseline's mean is written `{delta.value:g}%`")


def _check_measure(measure: Measure) -> None:
    """Raise BadMeasure if neither direction of a measure is better, or if its values are not averaged."""
    if measure.family == "score" and measure.higher_is_better is None:
        from judged.scoring.foreign import name_directions

        msg = f"{measure} cannot be a gate: whether more or less of it is better is not known"
        raise BadMeasure(msg, hint=f"say {name_directions(str(measure))}")
    if measure.text or measure.higher_is_better is None:
        why = "its values are text" if measure.text else "neither more nor less of it is better"
        msg = f"{measure.label} cannot be a gate: {why}"
        raise BadMeasure(msg, hint="`judged measures NAME` says which way a measure is better")
    if measure.aggregate in {"geometric", "percentile", "pooled"}:
        kind = {"geometric": "a geometric mean", "percentile": "a percentile"}.get(
            measure.aggregate, "pooled"
        )
        msg = f"{measure.label} cannot be a gate: it is {kind}, and the test is of a mean"
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
) -> tuple[MeasureGate, tuple[str, ...]]:
    """Return the outcome of one measure, over the queries that both have a value for, and their clusters."""
    name = str(measure)
    queries, values, (only_ours, only_theirs), neither = pair_by_query([ours[name], theirs[name]])
    record = ours.protocol(name)
    unpaired = [*only_ours, *only_theirs]
    if unpaired and record is not None and record.conventions.get("missing") == "error":
        msg = f"{measure.label}: {len(unpaired):,} queries have a value on one side only: {', '.join(unpaired[:3])}"
        raise MissingQueries(msg, hint="the protocol says `missing` is an `error`")
    if not queries:
        msg = f"{measure.label}: `{ours.name}` and `{theirs.name}` have no {ours.unit} in common, expected the same"
        raise BadSample(msg)
    _check_reach(measure, delta)
    new, old = values.T
    gained = differences(new, old) if measure.higher_is_better else differences(old, new)
    clusters = list_clusters(queries, settings.cluster, settings.clusters, ours.unit)
    tested = margin_test(
        gained,
        margin=delta.margin(old, measure=measure.label),
        alpha=settings.alpha,
        test=settings.test,
        clusters=clusters or None,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    order = np.argsort(gained, kind="stable").tolist()
    changes = [(queries[at], float(gained[at])) for at in order]
    gate = MeasureGate(
        measure.label,
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
        canonical=name if find_written(measure) else "",
        family=measure.family,
    )
    return gate, clusters
