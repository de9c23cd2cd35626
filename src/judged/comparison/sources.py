"""Sources of scores: evaluations, saved results, judged's own files of every query, and the files of any other tool."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from glob import glob
from math import nan
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from judged.comparison.systems import (
    Named,
    Opened,
    ScoresLike,
    Sources,
    System,
    list_systems,
    name_system,
    share_measures,
    to_system,
)
from judged.errors import BadInput, BadProtocol, JudgedError, UnknownName, Unreadable, WrongKind
from judged.io.open import is_file, is_path, name_files, open_file
from judged.io.scores.long import is_own, restore_clusters, restore_written
from judged.io.scores.read import ScoreFile, list_names, read_file, set_directions
from judged.io.sniff import detect
from judged.io.systems import find_unlisted, natural_key
from judged.io.table import is_frame
from judged.measures.groups import SCOPES
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.measures.written import restore_spellings
from judged.problem import NAMED, Note, Problem
from judged.result import InputFile, Provenance, Result, find_kind, load, observe_files
from judged.scoring.evaluate import evaluate_with
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.scoring.family import Measures
from judged.scoring.foreign import SCORE, ScoreProtocol, describe_measure
from judged.stats.intervals import Interval, mean_interval
from judged.stats.outcome import Undefined
from judged.store.remote import has_pattern
from judged.tables.columns import to_strings
from judged.tables.mapping import keep_map
from judged.tables.schema import RUN, SCORES
from judged.tables.scores import ScoreKind, Scores
from judged.wording import name_some

AGAIN = "write it with `judged score QRELS RUN --per-query -o scores.parquet`"


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """Options of scores of other tools: their directions, missing values and format."""

    higher: tuple[str, ...] = ()
    """Measures of which more is better."""
    lower: tuple[str, ...] = ()
    """Measures of which less is better."""
    missing: Literal["skip", "zero"] = "skip"
    format: str | None = None
    cluster: str = ""
    """The column that names clusters, which is not a measure then."""

    @classmethod
    def of(
        cls,
        higher: str | Iterable[str] = (),
        lower: str | Iterable[str] = (),
        missing: Literal["skip", "zero"] = "skip",
        format: str | None = None,  # noqa: A002 - what users call it
        cluster: str | None = None,
    ) -> ScoreReading:
        """Return the reading that the arguments of a verb describe, checked."""
        ScoreProtocol(missing=missing)
        return cls(list_names("higher", higher), list_names("lower", lower), missing, format, cluster or "")

    def to_dict(self) -> dict[str, Any]:
        """Return every argument by name, as verbs take them."""
        return {name: value for name, value in asdict(self).items() if name != "cluster"}

    @property
    def protocol(self) -> ScoreProtocol:
        """The protocol of what is read."""
        return ScoreProtocol(missing=self.missing)

    def refuse(self, what: str) -> None:
        """Raise `BadProtocol` if anything was chosen, where `what` is scored and not read."""
        given = [name for name in ("higher", "lower") if getattr(self, name)]
        given += ["missing"] if self.missing != "skip" else []
        if given or self.format is not None:
            names = ", ".join(f"`{name}`" for name in given or ["format"])
            msg = f"{names} has no effect on {what}: it is for scores that other tools computed"
            raise BadProtocol(msg)


def refuse_join(*, join: bool) -> None:
    """Raise `BadProtocol` if files are to be joined where each of them holds scores."""
    if join:
        msg = "`join` has no effect on scores: it makes one run of several files"
        raise BadProtocol(msg)


def open_sources(sources: Sources, reading: ScoreReading = ScoreReading()) -> list[Named]:  # noqa: B008 - immutable
    """Return what sources hold, by the names given; one file may hold several systems."""
    named = list_sources(sources)
    paths = [str(source) for _, source in named if isinstance(source, str | os.PathLike)]
    by_path = dict(zip(paths, name_files(paths), strict=True))
    opened: list[Named] = []
    files: list[tuple[str, int]] = []
    for number, (name, source) in enumerate(named, 1):
        file = by_path[str(source)] if isinstance(source, str | os.PathLike) else None
        systems = open_source(source, reading, name=name or file or f"scores {number}")
        if file is not None and name is None and len(systems) == 1:
            files.append((file, len(opened)))
        for system in systems:
            own = name_system(system)
            opened.append((f"{name}: {own}" if name is not None and len(systems) > 1 else name, system))
    _set_apart(opened, files)
    return opened


def open_alone(source: ScoresLike, reading: ScoreReading) -> list[Opened]:
    """Return the systems that one source holds."""
    return [system for _, system in open_sources([source], reading)]


def _set_apart(opened: list[Named], files: Sequence[tuple[str, int]]) -> None:
    """Give systems that have the same name in several files the names of their files."""
    names = [name or name_system(system) for name, system in opened]
    times = Counter(names)
    for file, at in files:
        if times[names[at]] > 1:
            opened[at] = (file, opened[at][1])


def list_sources(sources: Sources) -> list[tuple[str | None, object]]:
    """Return every source with the name that it was given, if any."""
    if isinstance(sources, Mapping) and not isinstance(sources, Result):
        return [(str(name), source) for name, source in sources.items()]
    if is_path(sources):
        return [(None, path) for path in expand_path(sources)]
    alone = isinstance(sources, Result | Scores) or is_file(sources) or is_frame(sources)
    if alone or hasattr(sources, "to_pandas"):
        return [(None, sources)]
    if not isinstance(sources, Iterable):
        raise _wrong_kind(sources)
    return [
        (None, path) for source in sources for path in (expand_path(source) if is_path(source) else [source])
    ]


def expand_path(path: Any) -> list[Any]:
    """Return the files of a folder or of a pattern in natural order, each a system, or the path itself.

    Names that begin with `.` or `_` are those of other programs.
    """
    text = os.fspath(path)
    folder = Path(text)
    if folder.is_dir():
        inside = [file for file in folder.rglob("*") if not _is_hidden(file.relative_to(folder))]
    elif has_pattern(text) and not folder.exists():
        inside = [Path(file) for file in glob(text, recursive=True) if not _is_hidden(Path(Path(file).name))]  # noqa: PTH207
    else:
        return [path]
    files = sorted((str(file) for file in inside if file.is_file()), key=natural_key)
    if not files:
        msg = f"{text} holds no files, expected files of scores"
        raise Unreadable(msg)
    return [keep_map(file, path) if isinstance(path, str) else file for file in files]


def _is_hidden(path: Path) -> bool:
    return any(name.startswith((".", "_")) for name in path.parts)


def add_files(sources: Sources, wanted: Sequence[str]) -> Sources:
    """Return sources with the wanted files that are none of them."""
    files = find_unlisted(wanted, ())
    if not files:
        return sources
    named = list_sources(sources)
    paths = [str(source) for _, source in named if is_path(source)]
    others = find_unlisted(files, paths, [name for name, _ in named if name is not None])
    if isinstance(sources, Mapping) and not isinstance(sources, Result):
        return {**dict(sources), **dict(zip(name_files(others), others, strict=True))}
    return cast("Sources", [*(source for _, source in named), *others])


def open_source(source: object, reading: ScoreReading, *, name: str) -> list[Opened]:
    """Return the systems of a source; `name` is that of one that it does not name."""
    if isinstance(source, Scores):
        return [_evaluate(source, reading) if source.kinds else source]
    if isinstance(source, Evaluation):
        return [source]
    if isinstance(source, Result):
        if not (known := list_systems(source)):
            raise _wrong_kind(source)
        return list(known)
    if isinstance(source, str | os.PathLike) and str(source) != "-":
        if Path(source).is_file() and find_kind(Path(source)) is not None:
            return list(_read_result(Path(source), name))
        _refuse_run(Path(source))
    elif not (
        is_file(source) or is_frame(source) or isinstance(source, Iterable) or hasattr(source, "to_pandas")
    ):
        raise _wrong_kind(source)
    inputs = observe_files([("scores", source)])
    file = read_file(source, name=name, format=reading.format)
    return list(_to_own(file)) or [_evaluate(scores, reading, inputs) for scores in file.systems.values()]


def _evaluate(scores: Scores, reading: ScoreReading, inputs: Sequence[InputFile] = ()) -> Evaluation:
    higher, lower = (
        [name for name in names if name in scores.values] for names in (reading.higher, reading.lower)
    )
    (directed,) = set_directions([scores], higher, lower)
    evaluation = evaluate_with(SCORE, None, directed, protocol=reading.protocol, name=scores.run)
    files = tuple(replace(file, system=scores.run) for file in inputs)
    return replace(evaluation, provenance=replace(evaluation.provenance, inputs=files))


def check_directions(systems: Sequence[System], reading: ScoreReading) -> None:
    """Raise `UnknownName` for a direction of a measure that no system has, `BadMeasure` for one of judged's own."""
    known = dict.fromkeys(name for system in systems for name in system.values)
    for name in (*reading.higher, *reading.lower):
        if name not in known:
            raise UnknownName("measure of these scores", name, list(known))
    if (reading.higher or reading.lower or reading.missing != "skip") and all(
        system.family != "score" for system in systems
    ):
        reading.refuse("scores that judged computed")


def _wrong_kind(source: object) -> WrongKind:
    msg = f"a system is of type `{type(source).__name__}`, expected an evaluation, scores, or a file of them"
    return WrongKind(msg, hint="`compare(qrels, runs, measures)` scores runs first")


def _refuse_run(path: Path) -> None:
    """Raise `Unreadable` for a run or judgments, which have no scores yet."""
    if not path.is_file():
        return
    file = open_file(path)
    if not file.head(4).startswith(b"PK") and detect(file, RUN).name == "trec":
        fields = file.head().partition(b"\n")[0].split()
        if len(fields) in {4, 6}:
            msg = f"{path} is a run or judgments, and there are no judgments to score it with"
            raise Unreadable(
                msg,
                hint="use `gate(qrels, run, measures, baseline=…)` or `compare(qrels, runs, measures)`, or give scores",
            )


def read_stored(path: Path, *, name: str | None = None) -> tuple[System, ...] | None:
    """Return the systems of a saved result or of judged's own table of scores; None if a file holds something else, such as a run.

    `name` is that of a system that the file does not name, by default the name of the file.
    """
    unnamed = name or name_files([str(path)])[0]
    if find_kind(path) is not None:
        return tuple(_read_result(path, unnamed)) or None
    if not _may_be_stored(path):
        return None
    file = read_file(path, name=unnamed)
    systems = _to_own(file)
    if systems or file.format.name != "long":
        return systems or None
    return tuple(_to_system(scores, file, "ranked") for scores in file.systems.values())


def _may_be_stored(path: Path) -> bool:
    """Return whether a file is a table of scores by its columns; raise `BadInput` for means, which cannot be tested."""
    file = open_file(path)
    columns = detect(file, SCORES).columns
    if columns is None:
        return False
    found = columns(file)
    names = {name.strip().lower() for name in found}
    units = names & set(SCORES["query"].names)
    if {"measure", "value"} <= names and units:
        return True
    if list(found[:1]) in (["run"], ["system"]) and not units and not any("doc" in name for name in names):
        raise _only_means(path)
    return False


def _to_own(file: ScoreFile) -> tuple[System, ...]:
    """Return the systems of a table that judged wrote, with judged's measures; none of any other table.

    Its provenance says so, or its columns and the spelling of all its measures do.
    """
    if file.format.name != "long" or not is_own(file.content):
        return ()
    names = list(dict.fromkeys(name for scores in file.systems.values() for name in scores.values))
    family = find_own_family(names)
    if family is None:
        return ()
    return tuple(_to_system(scores, file, family) for scores in file.systems.values())


def find_own_family(names: Sequence[str]) -> str | None:
    """Return the family in which all names are those of judged's measures, as it writes them; None if there is none.

    >>> find_own_family(["nDCG@10", "AP"]), find_own_family(["map", "faithfulness"])
    ('ranked', None)
    """
    return next((family for family in SCOPES if _knows_all(family, names)), None)


def _knows_all(family: str, names: Sequence[str]) -> bool:
    try:
        return [str(measure) for name in names for measure in parse_measures([name], family=family)] == list(
            names
        )
    except JudgedError:
        return False


def _to_system(scores: Scores, file: ScoreFile, family: str) -> System:
    measures: tuple[Measure, ...] = ()
    # absent from tables of other tools, which need no decoder
    text = file.content.metadata.get("judged.provenance")
    provenance = Provenance() if text is None else _decode_provenance(text)
    system = to_system(restore_written(restore_clusters(scores), file.content))
    if find_own_family(list(scores.values)) is not None:
        measures = restore_spellings(parse_measures(list(scores.values), family=family), system.written)
    return replace(system, measures=measures, provenance=provenance, family=family)


def _decode_provenance(text: str) -> Provenance:
    from judged.comparison.stored import decode_provenance

    return decode_provenance(text)


def _read_result(path: Path, unnamed: str) -> list[System]:
    """Return the systems of a saved result, or of the table of scores that one has in JSON."""
    from judged.comparison.stored import Document

    document = Document.decode(bytes(open_file(path).data), path)
    if bytes(document.state):
        return [replace(system, saved=True) for system in list_systems(load(path))]
    if "scores" not in document.tables:
        raise _only_means(path)
    rows = document.read_scores(path)
    table = read_file(rows, name=unnamed)
    own = _to_own(table) or tuple(_to_system(scores, table, "ranked") for scores in table.systems.values())
    provenance = document.provenance.restore()
    return [replace(system, provenance=provenance) for system in own]


def _only_means(path: Path) -> BadInput:
    message = "holds means of whole runs, expected the scores of every query"
    return BadInput(str(path), [Problem.error("only-means", str(path), message)], hint=AGAIN)


def score_files(sources: Sources, measures: Measures | None, reading: ScoreReading) -> Evaluations:
    """Return the evaluation of each system that sources hold."""
    opened = [(name, _to_evaluation(source)) for name, source in open_sources(sources, reading)]
    shared, unshared = share_measures(opened, measures)
    evaluations: dict[str, Evaluation] = {}
    for name, source in shared:
        called = name or name_system(source)
        if called in evaluations:
            message = "appears twice; names must be unique"
            raise BadInput("the systems", [Problem.error("repeated-name", f"system `{called}`", message)])
        evaluation = cast("Evaluation", source)
        evaluations[called] = replace(evaluation, system=called, notes=(*evaluation.notes, *unshared))
    check_directions([to_system(evaluation) for evaluation in evaluations.values()], reading)
    return Evaluations(evaluations)


def _to_evaluation(source: Opened) -> Evaluation:
    """Return a system as an evaluation; of judged's own measures, those that are means of single values."""
    if isinstance(source, Evaluation):
        return source
    system = source if isinstance(source, System) else to_system(source)
    if system.evaluation is not None:
        return system.evaluation
    known = {str(measure): measure for measure in system.measures}
    averaged = [name for name in system.values if name not in known or known[name].aggregate == "mean"]
    others = [name for name in system.values if name not in averaged]
    queries = sorted({query for name in averaged for query in system.values[name]}, key=str.encode)
    message = f"not shown, because they are not means over queries: {name_some(others, NAMED)}"
    scores = Scores(
        to_strings(queries),
        {name: np.array([system.values[name].get(query, nan) for query in queries]) for name in averaged},
        run=system.name,
        kinds={name: describe_measure(known[name]) if name in known else ScoreKind() for name in averaged},
        notes=(Note("not-means", "warning", message),) if others else (),
    )
    return evaluate_with(SCORE, None, scores, name=system.name)


def add_intervals(evaluations: Evaluations, *, level: float) -> tuple[Evaluations, list[Note]]:
    """Return evaluations with the confidence interval of every mean that has one, and notes on what these are."""
    found = {
        (name, measure): _find_interval(evaluation, measure, level)
        for name, evaluation in evaluations.items()
        for measure in evaluation.measures
        if measure.aggregate == "mean" and not measure.text and len(evaluation.values(measure))
    }
    intervals: dict[str, dict[str, tuple[float, float]]] = {name: {} for name in evaluations}
    for (name, measure), interval in found.items():
        if isinstance(interval, Interval):
            intervals[name][str(measure)] = (interval.low, interval.high)
    return replace(evaluations, intervals=intervals), list(_describe_intervals(found, level))


def _find_interval(evaluation: Evaluation, measure: Measure, level: float) -> Interval | Undefined:
    values, clusters = evaluation.scores.averaged(measure), evaluation.scores.clusters
    there = ~np.isnan(values)
    return mean_interval(
        values[there],
        level=level,
        clusters=None if clusters is None else clusters.filter(there).to_pylist(),
        binary=measure.binary,
        scale=measure.scale,
    )


def _is_cut(of: tuple[str, Measure], interval: Interval | Undefined) -> bool:
    """Return whether Student's interval would go beyond the scale of the measure."""
    scale = of[1].scale
    if scale is None or isinstance(interval, Undefined) or interval.method == "wilson":
        return False
    return interval.low == scale[0] or interval.high == scale[1]


def _describe_intervals(
    intervals: Mapping[tuple[str, Measure], Interval | Undefined], level: float
) -> Iterator[Note]:
    """Yield the note on how intervals were made, then those on means that have none."""
    methods: dict[str, list[str]] = {}
    lacking: dict[tuple[str, str], list[str]] = {}
    for (name, measure), interval in intervals.items():
        if isinstance(interval, Undefined):
            lacking.setdefault((measure.label, interval.reason), []).append(name)
        elif measure.label not in methods.setdefault(interval.method, []):
            methods[interval.method].append(measure.label)
    if methods:
        wilson = methods.pop("wilson", [])
        made = ["Student's t"] if methods else []
        # named only where there are both
        of = (
            f" for {name_some(wilson, NAMED)}, values of 0 and 1 only"
            if methods
            else ", values of 0 and 1 only"
        )
        made += [f"Wilson's score{of}"] if wilson else []
        made += ["cut at the ends of the scale"] if any(map(_is_cut, intervals, intervals.values())) else []
        message = (
            f"brackets hold the {100 * level:.4g} % confidence interval of each mean ({'; '.join(made)})"
        )
        yield Note("intervals", "info", message)
    for (label, reason), names in lacking.items():
        whose = (
            "any system" if len(names) == len({name for name, _ in intervals}) else name_some(names, NAMED)
        )
        yield Note("no-interval", "info", f"no interval of {label} for {whose}: {reason}")
