"""`compare`: judgments, several runs and measures in; who is better, by how much, and how sure, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judged.comparison.comparison import Comparison
from judged.comparison.contrasts import contrasts_of, means_of
from judged.comparison.latency import Latency, latency_of, read_latencies
from judged.comparison.settings import Settings, chosen_settings
from judged.comparison.shared import Shared, shared_scores
from judged.comparison.slices import Attributes, interactions_of, read_attributes
from judged.engine.evaluate import evaluate
from judged.engine.inputs import judgments_demanded
from judged.engine.system_scores import SystemScores
from judged.errors import BadSample, UnknownName
from judged.measures.measure import Measure
from judged.profiles.catalogue import as_profile
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.stats.randomisation import all_pairs
from judged.wording import plural

__all__ = ["compare", "compare_evaluations"]


def compare(
    qrels: Any,
    runs: Mapping[str, Any],
    measures: Iterable[Measure | str] | Measure | str,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "randomisation",
    correction: str | None = None,
    level: float = 0.95,
    slices: Any = None,
    timings: Any = None,
    protocol: Protocol | Profile | str = "trec_eval-9",
    resamples: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
) -> Comparison:
    """Compare several runs on the same judgments.

    `runs` goes from the name of a system to its run, in any of the ways `judged.evaluate` takes. Systems are compared
    with the `baseline`, or the baselines, named; without one, each with each. `test` is `randomisation` (sign flips),
    `t`, `wilcoxon`, `sign`, `bootstrap` or `welch`; `correction` `maxT` (the default with randomisation), `holm` (with
    others), `bonferroni`, `bh` or `none`, over all comparisons of a measure.

    `slices` has attributes of queries (a file, or a dict of dicts by query) and gives the same by slice; `timings` raw
    times (a file, or a dict from system to seconds). One `seed` gives one result, whatever the `threads`.
    """
    settings = chosen_settings(test=test, correction=correction, level=level, resamples=resamples, seed=seed)
    attributes = None if slices is None else read_attributes(slices)
    samples = None if timings is None else read_latencies(timings)
    profile = as_profile(protocol)
    wanted = measures if isinstance(measures, Measure | str) else list(measures)
    judgments = judgments_demanded(qrels, [each.measure for each in profile.read_all(wanted)])
    work: dict[str, Any] = {"protocol": profile, "threads": threads}
    evaluations = [
        replace(evaluate(judgments, run, wanted, **work), run=str(name)) for name, run in runs.items()
    ]
    return compare_evaluations(
        evaluations, baseline=baseline, settings=settings, attributes=attributes, samples=samples
    )


def compare_evaluations(
    evaluations: Sequence[SystemScores],
    *,
    baseline: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    attributes: Attributes | None = None,
    samples: Mapping[str, Sequence[float]] | None = None,
) -> Comparison:
    """Compare systems that have been scored already, under one protocol and in the same measures.

    `attributes` and `samples` are what `read_attributes` and `read_latencies` return.
    """
    how = settings or Settings()
    systems = tuple(evaluation.run for evaluation in evaluations)
    baselines = (baseline,) if isinstance(baseline, str) else tuple(baseline or ())
    pairs = _pairs(systems, baselines)
    scores = shared_scores(evaluations)
    whole = _compared(systems, baselines, pairs, scores, how)
    unit = evaluations[0].scores.unit
    notes = [note for each in scores for note in _left_out(each, unit)]
    whole = replace(whole, protocol=evaluations[0].protocol, unit=unit)
    if attributes is not None:
        whole = _sliced(whole, pairs, attributes, notes)
    if samples is not None:
        whole = replace(whole, latencies=_latencies(systems, samples, notes))
    return replace(whole, notes=tuple(notes))


def _pairs(systems: tuple[str, ...], baselines: tuple[str, ...]) -> list[tuple[int, int]]:
    """The pairs (system, baseline) that are compared, by their places; two baselines meet once."""
    if len(set(systems)) < len(systems) or len(systems) < 2:
        msg = f"{len(systems)} systems were given ({', '.join(systems)}), expected two or more of different names"
        raise BadSample(msg)
    for name in baselines:
        if name not in systems:
            kind = "system"
            raise UnknownName(kind, name, systems)
    if not baselines:
        return [(second, first) for first, second in all_pairs(len(systems))]
    found: dict[frozenset[int], tuple[int, int]] = {}
    for name in baselines:
        at = systems.index(name)
        for other in range(len(systems)):
            if other != at:
                found.setdefault(frozenset({at, other}), (other, at))
    return list(found.values())


def _compared(
    systems: tuple[str, ...],
    baselines: tuple[str, ...],
    pairs: list[tuple[int, int]],
    scores: tuple[Shared, ...],
    settings: Settings,
) -> Comparison:
    means = tuple(mean for each in scores for mean in means_of(each, settings))
    contrasts = tuple(contrast for each in scores for contrast in contrasts_of(each, pairs, settings))
    return Comparison(systems, baselines, settings, scores, means, contrasts)


def _left_out(shared: Shared, unit: str) -> list[str]:
    count = len(shared.left_out)
    if not count:
        return []
    some = ", ".join(shared.left_out[:3]) + (", …" if count > 3 else "")
    noun, verb = (unit, "was") if count == 1 else (plural(unit), "were")
    return [f"{shared.measure}: {count:,} {noun} ({some}) without a value in every system {verb} left out"]


def _sliced(
    whole: Comparison, pairs: list[tuple[int, int]], attributes: Attributes, notes: list[str]
) -> Comparison:
    """The comparison with the same of each slice, and whether differences depend on the attributes."""
    known = list(dict.fromkeys(query for each in whole.scores for query in each.queries))
    found: dict[tuple[str, str], Comparison] = {}
    for name, values in attributes.items():
        without = sum(query not in values for query in known)
        if without:
            notes.append(
                f"{without:,} of {len(known):,} queries have no `{name}` and are in none of its slices"
            )
        for value in sorted({values[query] for query in known if query in values}):
            members = [query for query in known if values.get(query) == value]
            scores = tuple(each.of(members) for each in whole.scores)
            if all(each.queries for each in scores):
                part = _compared(whole.systems, whole.baselines, pairs, scores, whole.settings)
                found[name, value] = replace(part, order=tuple(whole.ranked()))
    told = tuple(
        interaction
        for each in whole.scores
        for interaction in interactions_of(
            each, attributes, [c for c in whole.contrasts if c.measure == str(each.measure)], whole.settings
        )
    )
    return replace(whole, slices=found, interactions=told)


def _latencies(
    systems: tuple[str, ...], samples: Mapping[str, Sequence[float]], notes: list[str]
) -> tuple[Latency, ...]:
    strange = [name for name in samples if name not in systems]
    if strange:
        notes.append(f"timings of {', '.join(strange)} belong to no system compared here")
    absent = [name for name in systems if not samples.get(name)]
    if absent:
        notes.append(f"no timings of {', '.join(absent)}")
    if len(absent) == len(systems):
        kind = "compared system"
        raise UnknownName(kind, next(iter(samples), ""), systems)
    return tuple(latency_of(name, samples[name]) for name in systems if samples.get(name))
