"""`run_studies`: one study on several collections, in one table of systems and collections with a mean over these."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np

from judged.arrays import Floats
from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, Value, format_value, mark_best
from judged.comparison.blocks import BETTER, WORSE
from judged.comparison.settings import CORRECTIONS as CORRECTION_NAMES, choose_settings
from judged.errors import BadProtocol, UnknownName
from judged.problem import Note
from judged.progress import Progress
from judged.result import LazyTables, Provenance, Result, tabulate
from judged.scoring.evaluation import Evaluation
from judged.stats.corrections import CORRECTIONS
from judged.stats.outcome import stars
from judged.stats.paired import differences
from judged.stats.randomisation import randomise
from judged.stats.stratified import StratifiedMean, stratified_mean, weigh_strata
from judged.studies.collections.collection import check_collection
from judged.studies.result import Study
from judged.studies.running.permissions import check_variables
from judged.studies.running.run import run_study
from judged.studies.specification import CollectionSpec, StudySpec, read_study
from judged.wording import counted, join_words

if TYPE_CHECKING:
    import pyarrow as pa

MEAN = "mean"
TESTS = ("randomisation", "t")
"""The tests that can be stratified."""


@dataclass(frozen=True)
class StratifiedContrast:
    """One system against another in one measure, over all collections."""

    measure: str
    system: str
    baseline: str
    mean: StratifiedMean
    p: float
    corrected: float
    alpha: float
    higher_is_better: bool | None = True

    @property
    def stars(self) -> str:
        """Stars behind the mark of a better or a worse system; `ns` has no direction."""
        marks = stars(self.corrected, self.alpha)
        if self.corrected >= self.alpha or self.higher_is_better is None:
            return marks
        return f"{BETTER if (self.mean.mean > 0) == self.higher_is_better else WORSE}{marks}"

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        interval = self.mean.interval(1 - self.alpha)
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "difference": self.mean.mean,
            "low": None if np.isnan(interval.low) else interval.low,
            "high": None if np.isnan(interval.high) else interval.high,
            "p": self.p,
            "p_corrected": self.corrected,
            "stars": self.stars,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Studies(Result):
    """One study on several collections: systems by collections, with a mean that counts each collection the same.

    Differences are paired by query within each collection, and tested over all of them, stratified by collection.
    """

    kind: ClassVar[str] = "studies"

    name: str
    studies: tuple[Study, ...]
    """The study on each collection."""
    baseline: str | None = None
    test: str = "randomisation"
    correction: str = "maxT"
    level: float = 0.95
    seed: int = 0
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def __getitem__(self, collection: str) -> Study:
        """Return the study on one collection."""
        for study in self.studies:
            if study.collection == collection:
                return study
        raise UnknownName("collection of this study", collection, self.collections)

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluation of every system on every collection."""
        return [evaluation for study in self.studies for evaluation in study.evaluations()]

    @property
    def collections(self) -> list[str]:
        """The names of the collections."""
        return [study.collection for study in self.studies]

    @cached_property
    def systems(self) -> list[str]:
        """The systems that were scored on every collection, in the order of their means by the first measure."""
        shared = (
            [name for name in self._scored[0] if all(name in scored for scored in self._scored)]
            if self._scored
            else []
        )
        if not self.measures:
            return shared
        first = self.measures[0]
        sign = -1.0 if self._better[first] is False else 1.0
        return sorted(shared, key=lambda name: -sign * self.mean(name, first))

    @cached_property
    def measures(self) -> list[str]:
        """The labels of the measures."""
        scored = next((one for one in self._scored if one), {})
        return [measure.label for measure in next(iter(scored.values())).measures] if scored else []

    @cached_property
    def _better(self) -> dict[str, bool | None]:
        evaluation = next(evaluation for scored in self._scored for evaluation in scored.values())
        return {measure.label: measure.higher_is_better for measure in evaluation.measures}

    @cached_property
    def _scored(self) -> list[Mapping[str, Evaluation]]:
        return [{} if study.scored is None else dict(study.scored.items()) for study in self.studies]

    def values(self, system: str, measure: str) -> list[dict[str, float]]:
        """Return the value of every query, collection by collection."""
        return [scored[system].scores.by_query(measure) for scored in self._scored]

    def means(self, system: str, measure: str) -> list[float]:
        """Return the mean of a system on each collection."""
        return [scored[system].mean()[measure] for scored in self._scored]

    def mean(self, system: str, measure: str) -> float:
        """Return the mean over collections, each counting the same."""
        return float(np.mean(self.means(system, measure)))

    @cached_property
    def contrasts(self) -> tuple[StratifiedContrast, ...]:
        """Every system against the baseline, or every pair, in every measure."""
        baseline = self.baseline
        names = self.systems
        if baseline is not None and baseline in names:
            pairs = [(name, baseline) for name in names if name != baseline]
        else:
            pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
        return tuple(found for measure in self.measures for found in self._contrast(measure, pairs))

    def _contrast(self, measure: str, pairs: Sequence[tuple[str, str]]) -> Iterator[StratifiedContrast]:
        """Yield the contrasts of one measure, corrected together."""
        if not pairs:
            return
        alpha = round(1 - self.level, 12)
        strata = [self._pair(measure, scored) for scored in self._scored]
        means = [
            stratified_mean([differences(table[one], table[other]) for table in strata])
            for one, other in pairs
        ]
        ps, corrected = self._test(strata, pairs, means)
        for (one, other), mean, p, p_corrected in zip(pairs, means, ps, corrected, strict=True):
            better = self._better[measure]
            yield StratifiedContrast(measure, one, other, mean, p, p_corrected, alpha, better)

    def _pair(self, measure: str, scored: Mapping[str, Evaluation]) -> dict[str, Floats]:
        """Return the values of every system on the queries of a collection that all have a value for."""
        by_query = {name: scored[name].scores.by_query(measure) for name in self.systems}
        queries = [
            query
            for query in next(iter(by_query.values()))
            if all(np.isfinite(values.get(query, np.nan)) for values in by_query.values())
        ]
        return {name: np.array([values[query] for query in queries]) for name, values in by_query.items()}

    def _test(
        self,
        strata: Sequence[Mapping[str, Floats]],
        pairs: Sequence[tuple[str, str]],
        means: Sequence[StratifiedMean],
    ) -> tuple[list[float], list[float]]:
        """Return the p-value of each pair, and the corrected ones."""
        if self.test == "t":
            # without an error there is no test, and a difference that was not tested is not significant
            ps = [1.0 if np.isnan(mean.p) else mean.p for mean in means]
        else:
            # weighted so that the mean of all queries is that over collections; signs flip query by query
            weights = weigh_strata([len(next(iter(table.values()))) for table in strata])
            columns = [np.concatenate([table[name] for table in strata]) * weights for name in self.systems]
            places = [(self.systems.index(one), self.systems.index(other)) for one, other in pairs]
            flipped = randomise(np.stack(columns, axis=1), places, seed=self.seed)
            ps = flipped.p.tolist()
            by_flips = {"maxT": flipped.single_step, "maxT-step-down": flipped.step_down}
            if self.correction in by_flips:
                return ps, by_flips[self.correction].tolist()
        return ps, [1.0 if p is None else p for p in CORRECTIONS[self.correction](ps)]

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each system and collection, the mean over collections among them, and the differences."""
        return LazyTables(
            {
                "means": lambda: tabulate(list(self._mean_records())),
                "differences": lambda: tabulate([contrast.to_dict() for contrast in self.contrasts]),
            }
        )

    def _mean_records(self) -> Iterator[dict[str, Value]]:
        for system in self.systems:
            rows = {measure: self.means(system, measure) for measure in self.measures}
            for number, collection in enumerate(self.collections):
                yield {
                    "system": system,
                    "collection": collection,
                    **{measure: values[number] for measure, values in rows.items()},
                }
            yield {
                "system": system,
                "collection": MEAN,
                **{measure: float(np.mean(values)) for measure, values in rows.items()},
            }

    def summary(self) -> Mapping[str, object]:
        """Return the collections, the systems, and the best of these."""
        best = self.systems[0] if self.systems else None
        return {"name": self.name, "collections": self.collections, "systems": self.systems, "best": best}

    @property
    def failures(self) -> dict[str, str]:
        """Why systems failed, by collection and name."""
        return {
            f"{study.collection}: {name}": message
            for study in self.studies
            for name, message in study.failures.items()
        }

    def answer(self, digits: int = 4) -> str:
        """Return the best system, and whether the collections separate it from the next, in a sentence or two."""
        if not self.systems:
            return f"No system was scored on all of {join_words(self.collections)}."
        best, measure = self.systems[0], self.measures[0]
        said = f"{best}: {measure} {format_value(self.mean(best, measure), digits=digits)}, mean over {counted(len(self.studies), 'collection')}."
        against = [
            one for one in self.contrasts if one.measure == measure and best in {one.system, one.baseline}
        ]
        if len(self.systems) > 1 and against:
            open_ = [one for one in against if one.corrected >= one.alpha]
            names = [one.baseline if one.system == best else one.system for one in open_]
            said += (
                f" Not separated from {join_words(names)}."
                if names
                else " Better than all it was compared with."
            )
        return said

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, systems by collections in every measure, and the differences."""
        yield Sentence(self.answer(display.digits))
        for name, message in self.failures.items():
            yield Sentence(f"{name} failed: {message}")
        for measure in self.measures:
            yield self._tabulate(measure, display)
        if self.contrasts:
            yield self._tabulate_differences()
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _tabulate(self, measure: str, display: Display) -> Table:
        marks = {
            one.system: one.stars
            for one in self.contrasts
            if one.measure == measure and one.baseline == self.baseline
        }
        rows: list[tuple[Value | Estimate, ...]] = [
            (
                name,
                *self.means(name, measure),
                Estimate(self.mean(name, measure), marks=marks.get(name, "") if display.marks else ""),
            )
            for name in self.systems
        ]
        table = Table(("system", *self.collections, MEAN), tuple(rows), title=measure, corner="collection")
        return mark_best(
            table, dict.fromkeys((*self.collections, MEAN), self._better[measure]), digits=display.digits
        )

    def _tabulate_differences(self) -> Table:
        rows: list[tuple[Value | Estimate, ...]] = []
        for one in self.contrasts:
            interval = one.mean.interval(self.level)
            low, high = (None if np.isnan(bound) else bound for bound in (interval.low, interval.high))
            difference = Estimate(one.mean.mean, low, high, marks=one.stars)
            rows.append((one.measure, one.system, one.baseline, difference, f"{one.corrected:.4f}"))
        title = (
            f"Differences of the means over collections, stratified by collection; p by {self.test}, "
            f"{CORRECTION_NAMES[self.correction]} over the comparisons of a measure"
        )
        return Table(("measure", "system", "against", "difference", "p"), tuple(rows), title=title)


def run_studies(
    study: str | os.PathLike[str] | Mapping[str, object] | StudySpec,
    *,
    output: str | Path | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    reuse: bool = False,
    fresh: bool | Collection[str] = False,
    only: Collection[str] = (),
    force: bool = False,
    allow_env: Collection[str] = (),
) -> Studies:
    """Run a study on each of its `collections`, and compare its systems over all of them.

    `output` is a folder: each collection has one within it. The other options are those of `run_study`.
    """
    spec = study if isinstance(study, StudySpec) else read_study(study)
    if isinstance(study, str | os.PathLike):  # what is written in Python is the user's own
        check_variables(spec.systems, allow_env)
    singles = split_study(spec)
    for single in singles.values():
        check_collection(single.collection)
    run = partial(run_study, cache=cache, progress=progress, reuse=reuse, fresh=fresh, only=only, force=force)
    found = [
        run(single, output=None if output is None else Path(output) / name)
        for name, single in singles.items()
    ]
    return join_studies(spec, found)


def split_study(spec: StudySpec) -> dict[str, StudySpec]:
    """Return a study for each collection, by the name of its folder."""
    if spec.test not in TESTS:
        msg = f"the test is `{spec.test}`, and over several collections it is {' or '.join(f'`{test}`' for test in TESTS)}"
        raise BadProtocol(msg)
    singles: dict[str, StudySpec] = {}
    for collection in spec.collections:
        name = _name_collection(collection)
        folder = re.sub(r"[^\w.=-]+", "-", name).strip("-.") or "collection"
        if folder in singles:
            msg = f"two collections are called `{folder}`"
            raise BadProtocol(msg, hint="give one of them a `name`")
        named = collection
        if isinstance(collection, CollectionSpec) and collection.name is None:
            named = msgspec.structs.replace(collection, name=name)
        singles[folder] = msgspec.structs.replace(
            spec, collection=named, collections=(), name=f"{spec.name}, {name}"
        )
    return singles


def _name_collection(collection: str | CollectionSpec) -> str:
    if isinstance(collection, str):
        return collection
    source = collection.name or collection.dataset
    return source or Path(collection.folder or collection.judgments or collection.spans or "").stem


def join_studies(spec: StudySpec, studies: Sequence[Study]) -> Studies:
    """Return the result of a study on several collections."""
    settings = choose_settings(test=spec.test, correction=spec.correction, level=spec.level, seed=spec.seed)
    notes = [
        Note(note.code, note.severity, f"{study.collection}: {note.message}")
        for study in studies
        for note in study.notes
    ]
    shared: list[set[str]] = [
        set() if study.scored is None else set(study.scored.keys()) for study in studies
    ]
    left = sorted({name for some in shared for name in some if any(name not in other for other in shared)})
    lonely = [study.collection for study in studies if study.queries == 1]
    if lonely:
        message = f"{join_words(lonely)} has a single query, so differences over collections have no interval"
        notes.insert(0, Note("single-query", "warning", message))
    if left:
        message = f"{join_words(left)} were not scored on every collection, and are not in the tables"
        notes.insert(0, Note("unshared-system", "warning", message))
    return Studies(
        name=str(spec.name),
        studies=tuple(studies),
        baseline=spec.baseline,
        test=settings.test,
        correction=settings.correction,
        level=spec.level,
        seed=spec.seed,
        notes=tuple(notes),
    )
