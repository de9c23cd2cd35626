"""`evaluate` and `evaluate_many`: truth, systems and measures in; scores, with their protocol and notes, out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from glob import glob
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from judged.errors import BadInput, UnknownName, WrongKind, check_kind
from judged.io.open import is_large, is_path, name_sources
from judged.measures.measure import Measure
from judged.measures.parse import list_measures
from judged.problem import Problem
from judged.profiles.profile import Profile, Reading, as_profile
from judged.progress import Progress
from judged.protocol import BaseProtocol, Protocol
from judged.result import InputFile, Provenance, observe_files
from judged.scoring.align import check_overlap
from judged.scoring.evaluation import Evaluation, score
from judged.scoring.evaluations import Evaluations
from judged.scoring.family import FAMILIES, Family, Measures, find_family
from judged.scoring.locate import ReducedRun

if TYPE_CHECKING:
    from judged.tables.inputs import SystemLike, TruthLike

Runs: TypeAlias = Mapping[str, Any] | Iterable[str | os.PathLike[str]] | str | os.PathLike[str]
"""Systems by name, a list of files, one file, or a pattern such as `runs/*.run`."""
Backend: TypeAlias = Literal["local", "streaming"]
"""Backends that read files: at once, or as streams. A Spark data frame selects its own."""
MOST_KEPT = 1 << 28
"""Bytes of files whose tables are kept in memory; larger ones are read again where they are needed."""


def evaluate(
    truth: TruthLike,
    system: SystemLike,
    measures: Measures | None = None,
    *,
    protocol: BaseProtocol | Profile | Mapping[str, object] | str | None = None,
    name: str | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score one system, usually a run against judgments.

    `truth` and `system` may be paths, dicts of dicts, data frames, Arrow tables, id matrices, or the tables that
    `judged.read_judgments` and `judged.read_run` return; `measures` names or values. Measures of preferences take
    what `judged.read_preferences` reads as `truth`; where a measure looks at intents, the second column of TREC
    judgments is read as such. A table of sessions is scored against labels, and timings and decisions against nothing (`None`).

    `protocol` may be the name of a profile, by default `trec_eval-9`: then `measures` are read as that tool means
    them. `name` is the name of the system, by default that of the table or the file.

    A Spark data frame is scored by Spark, and its rows stay there. Data sets of Arrow, folders of Parquet or TREC
    files, patterns, URIs and large files are read as streams, which need no more memory than a block; `backend` says
    `local` or `streaming` for files of any size. The backend, `threads` (by default one for each processor) and
    `progress`, called with the work done and the whole, change no number.
    """
    plan = _make_plan(system, measures, protocol)
    read = plan.read_truth(truth)
    evaluations = _evaluate_source(plan, read, system, name, backend, threads, progress)
    if len(evaluations) > 1:
        names = ", ".join(evaluation.system for evaluation in evaluations[:3])
        more = ", …" if len(evaluations) > 3 else ""
        message = f"holds {len(evaluations):,} systems ({names}{more}), expected one"
        hint = "`evaluate_many` scores all of them in one pass"
        raise BadInput("the run", [Problem.error("several-systems", "column `system`", message)], hint=hint)
    return evaluations[0]


def evaluate_many(
    truth: TruthLike,
    systems: Runs,
    measures: Measures | None = None,
    *,
    protocol: BaseProtocol | Profile | Mapping[str, object] | str | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    progress: Callable[[str], AbstractContextManager[Progress]] | None = None,
    keep_inputs: bool = False,
) -> Evaluations:
    """Score several systems by the same measures; the truth is read once.

    `systems` is a mapping from names to systems, a list of files, or a pattern such as `"runs/*.run"`; or a Spark
    data frame or a data set of Arrow with a column `system`, all of which are scored in one pass. The other
    arguments are as in `evaluate`. `progress` is called with the name of each system and returns a context manager
    that gives the callback for it. `keep_inputs` keeps the tables in memory, up to a quarter of a gigabyte of files, so
    that a report with ranked lists need not read them again.

    >>> qrels = {"q1": {"a": 1, "b": 0}}
    >>> runs = {"old": {"q1": {"b": 2.0, "a": 1.0}}, "new": {"q1": {"a": 1.0}}}
    >>> evaluate_many(qrels, runs, "RR").to_frame().to_pydict()
    {'system': ['old', 'new'], 'RR': [0.5, 1.0]}
    """
    evaluations: dict[str, Evaluation] = {}
    plan: _Plan | None = None
    for name, system in _name_systems(systems):
        if plan is None:
            plan = replace(_make_plan(system, measures, protocol), keep_inputs=keep_inputs)
            read = plan.read_truth(truth)
        with nullcontext() if progress is None else progress(name or "") as report:
            several = _evaluate_source(plan, read, system, name, backend, threads, report)
        for evaluation in several:
            if evaluation.system in evaluations:
                where, message = f"system `{evaluation.system}`", "appears twice; names must be unique"
                raise BadInput("the systems", [Problem.error("repeated-name", where, message)])
            evaluations[evaluation.system] = evaluation
        if plan.keep_inputs and _count_bytes(evaluations.values()) > MOST_KEPT:
            plan = replace(plan, keep_inputs=False)
            evaluations = {key: replace(known, inputs=None) for key, known in evaluations.items()}
    return Evaluations(evaluations)


def _count_bytes(evaluations: Iterable[Evaluation]) -> int:
    """Return the size of the files that evaluations were made from, each counted once."""
    files = {file.path: file.stamp for evaluation in evaluations for file in evaluation.provenance.inputs}
    return sum(stamp.size for stamp in files.values() if stamp is not None)


def evaluate_with(
    family: Family,
    truth: Any,
    system: Any,
    measures: Measures | None = None,
    *,
    protocol: BaseProtocol | None = None,
    name: str | None = None,
    **options: Any,
) -> Evaluation:
    """Score one system by measures of a family; `options` go to the family's `align`."""
    chosen = family.parse_measures(family.default_measures if measures is None else measures)
    plan = _Plan.of_family(family, chosen, protocol or family.protocol())
    inputs = observe_files([(family.input_roles[1], system)])
    read = family.read_system(system, _error_label(system, name))
    return _evaluate(plan, plan.read_truth(truth), read, name, inputs, options)


def read_truth(source: Any, measures: Sequence[Measure]) -> Any:
    """Read what systems are evaluated against, as the measures need it: judgments or preferences."""
    return find_family(measures).read_truth(source, measures)


@dataclass(frozen=True)
class _Plan:
    """Plan of an evaluation: measures of a family, each under its protocol."""

    family: Family
    groups: Mapping[BaseProtocol, list[Measure]]
    """The measures by protocol."""
    written: Mapping[str, str]
    """The user's text of each measure, with its name, in the order in which they were named."""
    profile: Profile | None = None
    keep_inputs: bool = False
    """Whether evaluations keep the tables that were read."""

    @classmethod
    def of_family(cls, family: Family, measures: Sequence[Measure], protocol: BaseProtocol) -> _Plan:
        return cls(family, {protocol: list(measures)}, {str(measure): str(measure) for measure in measures})

    @classmethod
    def of_profile(cls, profile: Profile, readings: Sequence[Reading]) -> _Plan:
        groups: dict[BaseProtocol, list[Measure]] = {}
        for reading in readings:
            groups.setdefault(reading.protocol, []).append(reading.measure)
        family = find_family([reading.measure for reading in readings])
        return cls(family, groups, {reading.written: reading.name for reading in readings}, profile)

    def read_truth(self, source: Any) -> _Truth:
        measures = [measure for group in self.groups.values() for measure in group]
        inputs = observe_files([(self.family.input_roles[0], source)])
        return _Truth(self.family.read_truth(source, measures), inputs)


class _Truth(NamedTuple):
    """Reference that systems are evaluated against, and the file that it was read from."""

    table: Any
    inputs: tuple[InputFile, ...]


def _make_plan(
    system: Any,
    measures: Measures | None,
    protocol: BaseProtocol | Profile | Mapping[str, object] | str | None,
) -> _Plan:
    """Choose the family by the protocol, the table or the measures, and read the measures."""
    named = None if measures is None else list_measures(measures)
    family = _find_family(system, named, protocol)
    if family is not None:
        chosen = family.parse_measures(family.default_measures if named is None else named)
        if not (protocol is None or isinstance(protocol, BaseProtocol)):
            msg = (
                f"the protocol is of type `{type(protocol).__name__}`, expected `{family.protocol.__name__}`"
            )
            raise WrongKind(msg)
        return _Plan.of_family(family, chosen, protocol or family.protocol())
    profile = as_profile(
        "trec_eval-9" if protocol is None else cast("Protocol | Mapping[str, object]", protocol)
    )
    default = profile.default_measures or FAMILIES["ranked"].default_measures
    return _Plan.of_profile(profile, profile.read_all(default if named is None else named))


def _find_family(
    system: Any, measures: list[Measure | str] | Measure | str | None, protocol: object
) -> Family | None:
    """Return the family of the protocol, of the table, or of the measures; None: one of rankings."""
    if isinstance(protocol, BaseProtocol) and not isinstance(protocol, Protocol):
        return FAMILIES[protocol.family]
    name = getattr(type(system), "family", None)
    if name is None and measures is not None:
        values = [measure for measure in _as_list(measures) if isinstance(measure, Measure)]
        name = next((value.family for value in values if value.family in FAMILIES), None)
    if name in {None, "ranked", "preference"}:
        return None
    return FAMILIES[str(name)]


def _as_list(measures: list[Measure | str] | Measure | str) -> list[Measure | str]:
    return measures if isinstance(measures, list) else [measures]


def _evaluate_source(
    plan: _Plan,
    truth: _Truth,
    source: Any,
    name: str | None,
    backend: Backend | None,
    threads: int | None,
    progress: Progress | None,
) -> list[Evaluation]:
    """Score what a source holds: one system, or as many as its column `system` names."""
    family, options = plan.family, _options(plan.family, threads, progress)
    inputs = observe_files([(family.input_roles[1], source)])
    reduced = _reduce(plan, truth.table, source, backend, options)
    if reduced is None:
        system = family.read_system(source, _error_label(source, name))
        evaluation = _evaluate(plan, truth, system, name, inputs, options)
        return [replace(evaluation, inputs=(truth.table, system)) if plan.keep_inputs else evaluation]
    return [
        _evaluate(plan, truth, run, name if system is None else system, inputs, options)
        for system, run in reduced.items()
    ]


def _reduce(
    plan: _Plan, truth: Any, source: Any, backend: Backend | None, options: Mapping[str, Any]
) -> Mapping[str | None, ReducedRun] | None:
    """Return the runs of a source that is too large to be read at once, reduced by system; None: read it."""
    spark = is_spark_frame(source)
    if backend not in (None, "local", "streaming"):
        raise UnknownName("backend", str(backend), ["local", "streaming"])
    if backend == "local" and not spark:
        return None
    if plan.family.documents is None:
        if spark or backend == "streaming":
            msg = f"measures of the family {plan.family.name} are not computed on {'Spark' if spark else 'streams'}"
            raise WrongKind(msg, hint="read the table first, and give that")
        return None
    judgments, protocols = plan.family.documents(truth), cast("list[Protocol]", list(plan.groups))
    if spark:
        from judged.scoring.spark import reduce_frame

        return reduce_frame(judgments, source, protocols)
    if backend is None and not is_large(source):
        return None
    from judged.io.stream import open_run_stream

    stream = open_run_stream(source, wanted=backend == "streaming")
    if stream is None:
        return None
    from judged.scoring.streaming import reduce_stream

    return reduce_stream(judgments, stream, protocols, **options)


def is_spark_frame(source: Any) -> bool:
    """Return whether an object is a data frame of Spark, classic or Connect, without importing Spark."""
    return type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "mapInArrow")


def _evaluate(
    plan: _Plan,
    truth: _Truth,
    system: Any,
    name: str | None,
    inputs: tuple[InputFile, ...],
    options: Mapping[str, Any],
) -> Evaluation:
    family = plan.family
    alignments = {
        protocol: family.align(truth.table, system, protocol, measures, **options)
        for protocol, measures in plan.groups.items()
    }
    for alignment in alignments.values():
        check_overlap(alignment, getattr(system, "name", None) or name or family.input_roles[1])
    own_name = next(iter(alignments.values())).name or getattr(system, "name", None) or family.input_roles[1]
    files = (replace(file, system=name or own_name) for file in inputs)
    return score(
        family,
        alignments,
        plan.groups,
        name or own_name,
        Provenance(inputs=(*truth.inputs, *files)),
        profile=plan.profile if plan.profile is not None and plan.profile.spellings else None,
        written=plan.written,
        order=list(dict.fromkeys(plan.written.values())),
    )


def _error_label(source: Any, name: str | None) -> str | None:
    """Return what errors call the system: its file, as the user wrote it, rather than its name."""
    return str(source) if name is not None and is_path(source) else name


def _options(family: Family, threads: int | None, progress: Progress | None) -> dict[str, Any]:
    if not family.threaded:
        return {}
    return {"threads": threads or _count_processors(), "progress": progress}


def _name_systems(systems: Runs) -> Iterable[tuple[str | None, Any]]:
    if is_spark_frame(systems) or hasattr(systems, "get_fragments"):
        return [(None, systems)]
    check_kind("systems", systems, (Iterable, os.PathLike), "runs by name, a list of files, or a pattern")
    if isinstance(systems, str):
        paths = sorted(glob(systems))  # noqa: PTH207 - the pattern may be absolute or relative
        if not paths:
            raise BadInput("the systems", [Problem.error("no-file", f"`{systems}`", "matches no file")])
        return name_sources(paths)
    return name_sources([systems] if isinstance(systems, os.PathLike) else systems)


def _count_processors() -> int:
    """Return how many processors this process may use, which in a container may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
