"""`compare`: which of several systems is better, by how much, and how certain that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from judged.comparison.answer import Conclusion, find_answer
from judged.comparison.blocks import is_shown
from judged.comparison.clusters import ClusterChoice, add_clusters, check_test, choose_clusters, note_clusters
from judged.comparison.contrasts import PairedScores, contrast_systems, estimate_means, pair_systems
from judged.comparison.extra_tests import ROPE
from judged.comparison.result import WILSON, Comparison, Latency
from judged.comparison.settings import Settings, choose_settings
from judged.comparison.slices import (
    Attributes,
    AttributesLike,
    find_interactions,
    match_queries,
    read_attributes,
)
from judged.comparison.sources import (
    ScoreReading,
    add_files,
    check_directions,
    open_sources,
    refuse_join,
)
from judged.comparison.systems import (
    ScoresLike,
    Sources,
    System,
    choose_systems,
    list_systems,
    pair_units,
    share_measures,
    to_system,
)
from judged.errors import BadMeasure, BadProtocol, BadSample, UnknownName, check_kind
from judged.io.read import read_timings
from judged.io.systems import add_unlisted, find_system
from judged.measures.written import SPELLINGS, list_names as list_written, note_spellings, restore_spellings
from judged.problem import NAMED, Note, merge_notes
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.result import Provenance, Result
from judged.scoring.evaluate import Runs, evaluate, evaluate_many
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Measures
from judged.stats.intervals import Interval
from judged.stats.randomisation import all_pairs
from judged.tables.timings import Timings
from judged.wording import counted, name_some, plural

if TYPE_CHECKING:
    from judged.tables.inputs import TimingsLike, TruthLike

LATENCIES = ("Latency", "Latency(p=50)", "Latency(p=95)", "Latency(p=99)")
"""The measures of timings, in the order of the fields of `Latency`."""


def compare(
    qrels: TruthLike | ScoresLike | Sequence[ScoresLike] | Mapping[str, ScoresLike],
    runs: Runs | None = None,
    measures: Measures | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "randomisation",
    correction: str | None = None,
    level: float = 0.95,
    slices: AttributesLike | None = None,
    clusters: ClusterChoice = None,
    timings: TimingsLike | None = None,
    also: str | Sequence[str] = (),
    rope: float = ROPE,
    protocol: Protocol | Profile | str = "trec_eval-9",
    join: bool = False,
    resamples: int = 10_000,
    seed: int = 0,
    id_field: str | None = None,
    threads: int | None = None,
    higher: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    missing: Literal["skip", "zero"] = "skip",
    format: str | None = None,  # noqa: A002 - what users call it
) -> Comparison:
    """Compare several runs on the same judgments, or several systems that have been scored already.

    `compare(qrels, runs, measures)` scores the runs first: `runs` maps the name of a system to its run, in any form that
    `judged.evaluate` takes (`id_field` as there), or is a list of files, a folder, or a pattern such as `"runs/*.run"`,
    whose files are a system each unless `join` makes one of them. `compare(systems)` takes
    evaluations and other results with scores of every query, `Scores`, or files of them, in a sequence or by name, or one
    file of several systems; `measures` then chooses some of theirs. They may be the scores of any other tool, as
    `judged.read_scores` takes them: names are then those of that tool, `higher` and `lower` name measures of which
    more, or less, is better, a `missing` value is left out (`skip`) or counts as 0 (`zero`), and `format` names the
    tool where the file does not show it. Systems of sessions are compared on the tasks that
    they share; one that did a task several times has the mean.

    Systems are compared with the `baseline`, or the baselines, given by name or by path, also of a file that is not among them;
    without one, every pair is compared. `test` is
    `randomisation` (sign flips), `t`, `wilcoxon`, `sign`, `bootstrap` or `welch`; `correction` is `maxT` (the default
    with randomisation: single-step, and intervals share its critical value), `maxT-step-down`, `holm` (the default with
    other tests), `bonferroni`, `bh` or `none`, over all comparisons of a measure.

    `clusters` names an attribute of the queries, in `slices` or in the scores, or is a dict from query to cluster: queries of
    one cluster, such as those written from one document, are not independent, and every interval and test is then by
    cluster. `slices` has attributes of queries (a file, or a dict of dicts) and adds a comparison for each slice;
    `timings` has raw times (a file, or a dict from system to seconds) and adds latency. `also` names extra tests of all
    systems: `anova`, `tukey`, `randomised-tukey`, `friedman`, `bayesian`, `equivalence`, `power`, `agreement` and
    `risk`; `rope` is the least difference that matters to some of them. One `seed` gives one result, with any
    number of `threads`.
    """
    settings = choose_settings(test=test, correction=correction, level=level, resamples=resamples, seed=seed)
    named = clusters if isinstance(clusters, str) else None
    attributes = None if slices is None else read_attributes(slices, clusters=named)
    samples = None if timings is None else read_timings(timings)
    reading = ScoreReading.of(higher, lower, missing, format, cluster=named)
    baselines = list_names("baseline", baseline or ())
    if runs is None:
        qrels = add_files(cast("Sources", qrels), baselines)
    else:
        runs = add_unlisted(runs, baselines, join=join)
    systems, pairing = open_systems(
        qrels,
        runs,
        measures,
        protocol=protocol,
        threads=threads,
        reading=reading,
        id_field=id_field,
        join=join,
    )
    if attributes is not None:
        known = list(
            dict.fromkeys(query for system in systems for name in system.values for query in system[name])
        )
        attributes = match_queries(attributes, known, clusters=named)
    chosen = choose_clusters(clusters, attributes, systems)
    whole = _compare_systems(systems, baselines, settings, chosen)
    whole = replace(whole, notes=(*whole.notes, *pairing))
    if attributes is not None:
        rest = {name: values for name, values in attributes.values.items() if name != named}
        attributes = Attributes(rest)
        whole = _add_slices(whole, attributes)
    if samples is not None:
        whole = _add_latencies(whole, samples)
    return whole.with_extra_tests(*list_names("also", also), rope=rope)


def open_systems(
    qrels: TruthLike | ScoresLike | Sequence[ScoresLike] | Mapping[str, ScoresLike],
    runs: Runs | None,
    measures: Measures | None,
    *,
    protocol: Protocol | Profile | str,
    threads: int | None,
    reading: ScoreReading,
    id_field: str | None = None,
    join: bool = False,
) -> tuple[list[System], list[Note]]:
    """Return the systems of runs that are scored now, or of scores, and notes on how their units are paired."""
    if runs is None:
        if id_field is not None:
            msg = "`id_field` has no effect on scores: it names the ids of search results"
            raise BadProtocol(msg)
        refuse_join(join=join)
        opened, unshared = share_measures(
            open_sources(cast("Sources", qrels), reading), measures, without=reading.cluster
        )
        opened, pairing = pair_units(opened)
        systems = choose_systems(opened, measures)
        check_directions(systems, reading)
        return systems, [*pairing, *unshared]
    reading.refuse("runs that are scored now")
    if measures is None:
        msg = "no measure was given to score the runs by"
        names = [runs] if isinstance(runs, str) else list(runs) if isinstance(runs, list | tuple) else []
        named = names and all(isinstance(name, str) and not Path(name).exists() for name in names)
        hint = "of scores, measures are chosen by name: `compare(scores, measures=…)`" if named else None
        raise BadMeasure(msg, hint=hint or 'name one or more, such as "nDCG@10"')
    evaluations = evaluate_many(
        cast("TruthLike", qrels),
        runs,
        measures,
        protocol=protocol,
        id_field=id_field,
        join=join,
        threads=threads,
    )
    return [to_system(evaluation) for evaluation in evaluations.values()], []


def list_names(argument: str, names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple; a text is one name, not its letters."""
    check_kind(argument, names, Iterable, "a name, or several")
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        check_kind(argument, name, str, "a name, or several")
    return listed


def compare_results(results: Mapping[str, Result], **settings: Any) -> Comparison:
    """Compare the systems of several results, such as those saved on different days, in the measures they share.

    `results` has a name for each; systems of the same name carry that of their result too. `settings` are test,
    correction, level, resamples and seed, as `compare` takes them.
    """
    check_kind("results", results, Mapping, "results by name")
    named = [(name, system) for name, result in results.items() for system in list_systems(result)]
    empty = [name for name in results if name not in {name for name, _ in named}]
    if empty:
        msg = f"`{empty[0]}` has no values of single queries to compare"
        raise BadSample(msg, hint="evaluations and comparisons have them")
    times = Counter(system.name for _, system in named)
    systems = [
        system.rename(f"{system.name} ({name})") if times[system.name] > 1 else system
        for name, system in named
    ]
    shared = [name for name in systems[0].values if all(name in system.values for system in systems)]
    if not shared:
        listed = "; ".join(f"{system.name}: {', '.join(system.values)}" for system in systems)
        msg = f"no measure is shared by all systems ({listed})"
        raise BadMeasure(msg)
    chosen = choose_systems([(None, system) for system in systems], shared)
    written = {**systems[0].written, **list_written(systems[0].measures)}
    measures = restore_spellings(chosen[0].measures, written)
    chosen = [replace(system, measures=measures) for system in chosen]
    own = choose_clusters(None, None, chosen)
    whole = _compare_systems(chosen, (), choose_settings(**settings), own)
    return replace(whole, notes=(*_note_origins(chosen, shared), *whole.notes))


def _note_origins(systems: Sequence[System], measures: Sequence[str]) -> Iterator[Note]:
    """Yield warnings where systems were scored on different judgments or under different protocols."""
    if len({system.judgments for system in systems} - {None}) > 1:
        yield Note("judgments", "warning", "the systems were scored on different judgments")
    for name in measures:
        records = [system.protocol(name) for system in systems]
        if len({record.fingerprint for record in records if record is not None}) > 1:
            yield Note("protocol", "warning", f"{name} was computed under different protocols")


def _compare_systems(
    systems: Sequence[System],
    baselines: tuple[str, ...],
    settings: Settings,
    named_clusters: tuple[str, Mapping[str, str]],
) -> Comparison:
    cluster, clusters = named_clusters
    names = tuple(system.name for system in systems)
    baselines = tuple(find_system(name, _list_paths(systems)) or name for name in baselines)
    pairs = choose_pairs(names, baselines)
    unit = systems[0].unit
    if clusters:
        check_test(settings.test, cluster)
    scores = add_clusters(pair_systems(systems), cluster, clusters, unit)
    inputs = dict.fromkeys(file for system in systems for file in system.provenance.inputs)
    provenance = Provenance(
        protocols=systems[0].provenance.protocols,
        inputs=tuple(inputs),
        settings={
            **settings.to_dict(),
            "alpha": settings.alpha,
            **({"cluster": cluster} if clusters else {}),
        },
    )
    whole = _contrast_all(names, baselines, pairs, scores, settings)
    left_out = (note for paired in scores for note in note_left_out(paired, unit))
    of_clusters = note_clusters(scores[0].clusters, cluster, settings.test, unit) if clusters else ()
    return replace(
        whole,
        unit=unit,
        cluster=cluster if clusters else "",
        provenance=provenance,
        scored=_list_evaluations(systems),
        notes=(
            *merge_notes({system.name: _keep_notes(system) for system in systems}),
            *note_spellings(systems[0].measures),
            *_note_display(whole),
            *of_clusters,
            *left_out,
        ),
    )


def _list_paths(systems: Sequence[System]) -> dict[str, str]:
    """Return the path of each system, by which a baseline may be named; empty where it was not read from a file."""
    paths = {file.system: file.path for system in systems for file in system.provenance.inputs}
    return {system.name: paths.get(system.name, "") for system in systems}


def _keep_notes(system: System) -> list[Note]:
    """Return the notes of a system without that on names of measures, which the comparison may have under others."""
    return [note for note in system.notes if note.code != SPELLINGS]


def _list_evaluations(systems: Sequence[System]) -> tuple[Evaluation, ...]:
    """Return the evaluation of each system under its name; none if one has none."""
    known = [(system.name, system.evaluation) for system in systems]
    renamed = [
        evaluation if evaluation.system == name else replace(evaluation, system=name)
        for name, evaluation in known
        if evaluation is not None
    ]
    return tuple(renamed) if len(renamed) == len(known) else ()


def _find_answers(whole: Comparison) -> tuple[Conclusion, ...]:
    answers = []
    for scores in whole.scores:
        means = [mean for mean in whole.means if mean.measure == scores.measure]
        contrasts = [contrast for contrast in whole.contrasts if contrast.measure == scores.measure]
        answers.append(find_answer(scores, means, contrasts, whole.settings, whole.baselines))
    return tuple(answer for answer in answers if answer is not None)


def choose_pairs(systems: tuple[str, ...], baselines: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the pairs (system, baseline) to compare, by their places; two baselines are compared once."""
    for name in baselines:
        if name not in systems:
            raise UnknownName("system", name, systems)
    if len(set(systems)) < len(systems):
        twice = next(name for name in systems if systems.count(name) > 1)
        msg = f"{counted(systems.count(twice), 'system')} are called `{twice}`, expected different names"
        hint = 'give them by name: {"first": …, "second": …}, or on the command line `first=FILE second=FILE`'
        raise BadSample(msg, hint=hint)
    if len(systems) < 2:
        verb = "was" if len(systems) == 1 else "were"
        listed = name_some(systems, NAMED) or "none"
        msg = f"{counted(len(systems), 'system')} {verb} given ({listed}), expected two or more of different names"
        hint = (
            "a file of scores of several systems has a column `system`, and a row for each of them; several files are a list,"
            " or a dict by name"
        )
        raise BadSample(msg, hint=hint)
    if not baselines:
        return [(second, first) for first, second in all_pairs(len(systems))]
    pairs: dict[frozenset[int], tuple[int, int]] = {}
    for at in map(systems.index, baselines):
        for other in range(len(systems)):
            if other != at:
                pairs.setdefault(frozenset({at, other}), (other, at))
    return list(pairs.values())


def _contrast_all(
    systems: tuple[str, ...],
    baselines: tuple[str, ...],
    pairs: list[tuple[int, int]],
    scores: tuple[PairedScores, ...],
    settings: Settings,
) -> Comparison:
    means = tuple(mean for paired in scores for mean in estimate_means(paired, settings))
    contrasts = tuple(contrast for paired in scores for contrast in contrast_systems(paired, pairs, settings))
    whole = Comparison(systems, baselines, settings, scores, means, contrasts)
    return replace(whole, answers=_find_answers(whole))


def _note_display(comparison: Comparison) -> Iterator[Note]:
    """Yield notes on intervals of binary measures, and on differences that are too many to show."""
    binary = dict.fromkeys(
        mean.measure
        for mean in comparison.means
        if isinstance(mean.interval, Interval) and mean.interval.method == "wilson"
    )
    for name in binary:
        message = "the interval of a mean is Wilson's, since all values are 0 or 1"
        yield Note(WILSON, "info", message, subject=name)
    if not is_shown(comparison):
        message = f"{len(comparison.contrasts):,} differences are not shown; `--format csv` or `to_arrow()` has them"
        yield Note("not-shown", "info", message)


def note_left_out(scores: PairedScores, unit: str) -> list[Note]:
    """Return the note on queries that were left out, if any were."""
    count = len(scores.left_out)
    if not count:
        return []
    some = ", ".join(scores.left_out[:3]) + (", …" if count > 3 else "")
    noun, verb = (unit, "was") if count == 1 else (plural(unit), "were")
    message = f"{count:,} {noun} ({some}) without a value in every system {verb} left out"
    return [Note("left-out", "warning", message, subject=scores.measure)]


def _add_slices(whole: Comparison, attributes: Attributes) -> Comparison:
    """Return the comparison with that of each slice, and whether differences depend on the attributes."""
    pairs = choose_pairs(whole.systems, whole.baselines)
    known = list(dict.fromkeys(query for scores in whole.scores for query in scores.queries))
    notes: list[Note] = []
    parts: dict[tuple[str, str], Comparison] = {}
    for name, values in attributes.values.items():
        without = sum(query not in values for query in known)
        if without:
            message = f"{without:,} of {len(known):,} queries have no `{name}` and are in none of its slices"
            notes.append(Note("no-slice", "warning", message))
        for value in sorted({values[query] for query in known if query in values}):
            members = [query for query in known if values.get(query) == value]
            scores = tuple(paired.select(members) for paired in whole.scores)
            if all(paired.queries for paired in scores):
                part = _contrast_all(whole.systems, whole.baselines, pairs, scores, whole.settings)
                # in the order of the whole, so that slices can be read side by side
                parts[name, value] = replace(
                    part, order=tuple(whole.ranked()), unit=whole.unit, cluster=whole.cluster
                )
    interactions = tuple(
        interaction
        for paired in whole.scores
        for interaction in find_interactions(
            paired,
            attributes,
            [contrast for contrast in whole.contrasts if contrast.measure == paired.measure],
            whole.settings,
        )
    )
    return replace(whole, slices=parts, interactions=interactions, notes=(*whole.notes, *notes))


def _add_latencies(whole: Comparison, timings: Timings) -> Comparison:
    """Return the comparison with the latency of every system that has timings."""
    timed = evaluate(None, timings, LATENCIES).systems
    absent = [name for name in whole.systems if name not in timed]
    notes = [
        Note("unknown-timings", "warning", "has timings, and is not a system compared here", subject=name)
        for name in timed
        if name not in whole.systems
    ]
    notes += [Note("no-timings", "warning", "no timings", subject=name) for name in absent]
    if len(absent) == len(whole.systems):
        raise UnknownName("compared system", next(iter(timed)), whole.systems)
    latencies = tuple(
        Latency(name, len(timed[name].scores.queries), *timed[name].mean().values())
        for name in whole.systems
        if name in timed
    )
    return replace(whole, latencies=latencies, notes=(*whole.notes, *notes))
