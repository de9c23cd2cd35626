"""`Evaluator`: a truth and measures, read once, and the ways from a system to its scores.

Dicts and lists under common measures go a short way through compiled code; everything else goes the long way, by tables and
views, and what is wrong is said there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from judged.errors import UnknownName, WrongKind, check_kind
from judged.io.open import is_large, is_path
from judged.io.read import read_run
from judged.io.systems import System, is_collection, name_systems, refuse_several
from judged.measures.measure import Measure
from judged.measures.parse import list_measures
from judged.profiles.profile import PROFILES, Profile, Reading, as_profile
from judged.progress import Progress
from judged.protocol import BaseProtocol, Protocol
from judged.result import InputFile, ProtocolRecord, Provenance, observe_files
from judged.scoring.align import check_overlap
from judged.scoring.evaluation import Evaluation, make_records, score
from judged.scoring.family import FAMILIES, Family, Measures, find_family
from judged.scoring.locate import ReducedRun
from judged.store.machine import count_processors
from judged.tables.nested import is_plain_dict

if TYPE_CHECKING:
    from judged.scoring.folds import CompiledFolds
    from judged.tables.inputs import SystemLike, TruthLike

Convention: TypeAlias = BaseProtocol | Profile | Mapping[str, object] | str | None
"""A protocol, a profile or its name, or the conventions that differ from the default; None: the default."""
SEVERAL = "`evaluate_many` scores all of them; `join=True` reads the files of a folder as parts of one run"
"""The hint where one system is expected."""
NOTHING: Mapping[BaseProtocol, CompiledFolds] = MappingProxyType({})
Backend: TypeAlias = Literal["local", "streaming"]
"""Backends that read files: at once, or as streams. A Spark data frame selects its own."""


@dataclass(frozen=True)
class Plan:
    """Plan of an evaluation: measures of a family, each under its protocol."""

    family: Family
    groups: Mapping[BaseProtocol, list[Measure]]
    """The measures by protocol."""
    order: tuple[str, ...]
    """The names of the measures, in the order in which they were named."""
    profile: Profile | None = None

    @classmethod
    def of_family(cls, family: Family, measures: Sequence[Measure], protocol: BaseProtocol) -> Plan:
        """Return the plan of measures that share one protocol."""
        return cls(family, {protocol: list(measures)}, tuple(map(str, measures)))

    @classmethod
    def of_profile(cls, profile: Profile, readings: Sequence[Reading]) -> Plan:
        """Return the plan of the measures of a profile, each under the protocol of its reading."""
        groups: dict[BaseProtocol, list[Measure]] = {}
        for reading in readings:
            groups.setdefault(reading.protocol, []).append(reading.measure)
        family = find_family([reading.measure for reading in readings])
        return cls(family, groups, tuple(reading.name for reading in readings), profile)

    def read_truth(self, source: object) -> Truth:
        """Read what systems are evaluated against, as the measures need it."""
        measures = [measure for group in self.groups.values() for measure in group]
        inputs = observe_files([(self.family.input_roles[0], source)])
        return Truth(self.family.read_truth(source, measures), inputs)

    def read_each(self, source: Any, label: str | None, id_field: str | None) -> Mapping[str | None, Any]:
        """Return the tables of a source by system; `label` is what errors call it."""
        if id_field is None:
            return self.family.read_each(source, label)
        if not self.family.of_runs:
            msg = f"`id_field` is for runs, and measures of the family {self.family.name} were asked for"
            raise WrongKind(msg)
        return {None: read_run(source, name=label, id_field=id_field)}

    @property
    def named_profile(self) -> Profile | None:
        """The profile, if it has names of its own."""
        return self.profile if self.profile is not None and self.profile.spellings else None

    @cached_property
    def records(self) -> tuple[ProtocolRecord, ...]:
        """The protocols as results record them."""
        return make_records(self.groups)

    @property
    def is_custom(self) -> bool:
        """Whether a measure is the user's own, whose name may come to mean another."""
        return any(measure.group == "custom" for group in self.groups.values() for measure in group)


class Truth(NamedTuple):
    """Reference that systems are evaluated against, and the file that it was read from."""

    table: Any
    inputs: tuple[InputFile, ...]


_PLANS: dict[tuple[object, ...], tuple[object, Plan]] = {}
"""Plans of names, by these and the profile, or the identity of the protocol, each with that object itself."""
MOST_PLANS = 256
"""Number of plans that are remembered; those of a program that makes up more are made each time."""


def make_plan(system: object, measures: Measures | None, protocol: Convention) -> Plan:
    """Choose the family by the protocol, the table or the measures, and read the measures; names are read only once."""
    named = None if measures is None else list_measures(measures)
    names = tuple(named) if isinstance(named, list) else (named,)
    convention = PROFILES[cast("str", protocol or "trec_eval-9")] if _is_name(protocol) else protocol
    is_kept = isinstance(convention, Profile | BaseProtocol) and all(map(_is_name, names))
    if hasattr(type(system), "family") or not is_kept:
        return _make_plan(system, named, protocol)
    key = names, isinstance(named, list), protocol if _is_name(protocol) else id(protocol)
    known = _PLANS.get(key)
    # a name may have come to mean another profile since
    if known is None or known[0] is not convention:
        known = convention, _make_plan(system, named, protocol)
        if len(_PLANS) < MOST_PLANS and not known[1].is_custom:
            _PLANS[key] = known
    return known[1]


def _is_name(value: object) -> bool:
    return value is None or type(value) is str


def _make_plan(
    system: object, named: list[Measure | str] | Measure | str | None, protocol: Convention
) -> Plan:
    family = _find_family(system, named, protocol)
    if family is not None:
        chosen = family.parse_measures(family.default_measures if named is None else named)
        if not (protocol is None or isinstance(protocol, BaseProtocol)):
            msg = (
                f"the protocol is of type `{type(protocol).__name__}`, expected `{family.protocol.__name__}`"
            )
            raise WrongKind(msg)
        return Plan.of_family(family, chosen, protocol or family.protocol())
    return plan_ranked(named, cast("Protocol | Mapping[str, object] | None", protocol))


def plan_ranked(
    measures: Measures | None, protocol: Protocol | Profile | Mapping[str, object] | str | None
) -> Plan:
    """Return the plan of measures under a protocol of ranked runs, or as the tool of a profile means them."""
    named = None if measures is None else list_measures(measures)
    profile = as_profile("trec_eval-9" if protocol is None else protocol)
    default = profile.default_measures or FAMILIES["ranked"].default_measures
    return Plan.of_profile(profile, profile.read_all(default if named is None else named))


def _find_family(
    system: object, measures: list[Measure | str] | Measure | str | None, protocol: object
) -> Family | None:
    """Return the family of the protocol, of the table, or of the measures; None: one of rankings."""
    if isinstance(protocol, BaseProtocol) and not isinstance(protocol, Protocol):
        return FAMILIES[protocol.family]
    name = getattr(type(system), "family", None)
    if name is None and measures is not None:
        values = [measure for measure in _as_list(measures) if isinstance(measure, Measure)]
        name = next((value.family for value in values if value.family in FAMILIES), None)
    if name in {None, "ranked", "preference", "exposure"}:
        return None
    return FAMILIES[str(name)]


def _as_list(measures: list[Measure | str] | Measure | str) -> list[Measure | str]:
    return measures if isinstance(measures, list) else [measures]


class Evaluator:
    """A truth and measures, read once, that many systems are evaluated by.

    A training loop, a web request or a test scores few results many times; reading judgments and measures again would
    cost more than all else. `truth`, `measures` and `protocol` are as in `judged.evaluate`, and so is every number. The
    truth is that of the time when the evaluator was made: changing a dict later changes nothing. Threads may share it.

    Names of measures are those of ranked runs, unless `protocol` is that of another family (sessions, timings, …), or
    `like` is a table of such systems.

    >>> evaluator = Evaluator({"q1": {"a": 1, "b": 0}}, ["RR", "P@1"])
    >>> evaluator.means({"q1": {"a": 0.5, "b": 0.25}})
    {'RR': 1.0, 'P@1': 1.0}
    >>> evaluator.per_query({"q1": ["b", "a"]})
    {'RR': {'q1': 0.5}, 'P@1': {'q1': 0.0}}
    >>> evaluator.evaluate({"q1": ["b", "c"]}).notes[0].message
    '50.0 % of the first ten results are unjudged'
    """

    def __init__(
        self,
        truth: TruthLike,
        measures: Measures | None = None,
        *,
        protocol: Convention = None,
        like: object = None,
    ) -> None:
        self._plan = make_plan(like, measures, protocol)
        self._truth = self._plan.read_truth(truth)

    def __repr__(self) -> str:
        return f"Evaluator({', '.join(measure.label for measure in self.measures)})"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order in which they were named."""
        by_name = {str(measure): measure for group in self._plan.groups.values() for measure in group}
        return tuple(by_name[name] for name in self._plan.order)

    def evaluate(
        self,
        system: SystemLike,
        *,
        name: str | None = None,
        id_field: str | None = None,
        join: bool = False,
        backend: Backend | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Score one system; the arguments are as in `judged.evaluate`."""
        found = self._find_system(system, name, join=join)
        evaluations = self.evaluate_all(
            found, id_field=id_field, backend=backend, threads=threads, progress=progress
        )
        if len(evaluations) > 1:
            raise refuse_several("the run", [evaluation.system for evaluation in evaluations], hint=SEVERAL)
        return evaluations[0]

    def means(self, run: SystemLike) -> dict[str, float]:
        """Return every measure of a run, as it was named, with its aggregate, which usually is the mean.

        For dicts of scores, lists of ids and the common measures, this costs a few microseconds.
        """
        found = None if self._folds is None else self._folds.means(run)
        return self.evaluate(run).mean() if found is None else found

    def per_query(self, run: SystemLike) -> dict[str, dict[str, Any]]:
        """Return, for every measure of a run, as it was named, the value of each query; as cheap as `means`."""
        found = None if self._folds is None else self._folds.by_query(run)
        if found is not None:
            return found
        evaluation = self.evaluate(run)
        return {measure.label: evaluation.scores.by_query(str(measure)) for measure in evaluation.measures}

    def evaluate_all(
        self,
        found: System,
        *,
        id_field: str | None = None,
        backend: Backend | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        keep_inputs: bool = False,
    ) -> list[Evaluation]:
        """Score what a source holds: one system, or as many as its column `system` names.

        `keep_inputs` keeps the tables that were read in the evaluations.
        """
        plan, truth, family, source = self._plan, self._truth, self._plan.family, found.source
        self._check_family(source)
        options = _options(family, threads, progress)
        inputs = observe_files([(family.input_roles[1], source)])
        reduced = _reduce(plan, truth.table, source, backend, options)
        tables = (
            plan.read_each(source, error_label(source, found.name), id_field) if reduced is None else reduced
        )
        compiled = self._compiled if is_plain_dict(source) else NOTHING
        evaluations = []
        for name, table in found.select(tables).items():
            evaluation = evaluate_table(plan, truth, table, name, inputs, options, compiled)
            if keep_inputs and reduced is None:
                evaluation = replace(evaluation, inputs=(truth.table, table))
            if found.notes:
                evaluation = replace(evaluation, notes=(*evaluation.notes, *found.notes))
            evaluations.append(evaluation)
        return evaluations

    def _find_system(self, source: object, name: str | None, *, join: bool) -> System:
        """Return the one system of a source: all files of a folder or a pattern if it is joined, or has a name."""
        check_kind("name", name, (str, NoneType), "the name of the system")
        if not is_path(source) or not self._plan.family.of_runs:
            return System(name, source, named=name is not None)
        if name is not None:
            (system,) = name_systems({name: source})
            return system
        systems = list(name_systems([source], join=join))
        if len(systems) > 1:
            raise refuse_several(str(source), [str(system.name) for system in systems], hint=SEVERAL)
        return replace(systems[0], name=systems[0].name if is_collection(source) else None)

    def _check_family(self, system: object) -> None:
        """Raise `WrongKind` for a table of another family where runs are read; other families read their tables alone."""
        if not self._plan.family.of_runs:
            return
        name, own = getattr(type(system), "family", None), self._plan.family.name
        if isinstance(name, str) and name in FAMILIES and name != own:
            msg = f"the system is of the family `{name}`, and the measures of this evaluator of `{own}`"
            protocol = FAMILIES[name].protocol.__name__
            raise WrongKind(
                msg, hint=f"make an evaluator with `like=` that table, or with `protocol={protocol}()`"
            )

    @cached_property
    def _compiled(self) -> Mapping[BaseProtocol, CompiledFolds]:
        """Compiled code for dicts under each protocol, where there is any."""
        compile_measures = self._plan.family.compile
        if compile_measures is None:
            return NOTHING
        groups = self._plan.groups.items()
        made = {
            protocol: compile_measures(self._truth.table, protocol, measures) for protocol, measures in groups
        }
        return {protocol: folds for protocol, folds in made.items() if folds is not None}

    @cached_property
    def _folds(self) -> CompiledFolds | None:
        """The compiled code for dicts, if all measures share one protocol."""
        several = len(self._plan.groups) > 1
        return None if several else next(iter(self._compiled.values()), None)


def _reduce(
    plan: Plan, truth: object, source: object, backend: Backend | None, options: Mapping[str, Any]
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


def is_spark_frame(source: object) -> bool:
    """Return whether an object is a data frame of Spark, classic or Connect, without importing Spark."""
    return type(source).__module__.startswith("pyspark.sql.") and hasattr(source, "mapInArrow")


def evaluate_table(
    plan: Plan,
    truth: Truth,
    system: object,
    name: str | None,
    inputs: tuple[InputFile, ...],
    options: Mapping[str, Any],
    compiled: Mapping[BaseProtocol, CompiledFolds] = NOTHING,
) -> Evaluation:
    """Score a system that was read, by the measures of the plan; `compiled` code computes those of some protocols."""
    family, groups, order, records = plan.family, plan.groups, plan.order, None
    if family.choose is None:
        records = plan.records
    else:
        groups = {protocol: list(family.choose(named, system)) for protocol, named in groups.items()}
        order = tuple(str(measure) for named in groups.values() for measure in named)
    alignments = {}
    for protocol, measures in groups.items():
        folds = {"folds": compiled[protocol]} if protocol in compiled else {}
        alignments[protocol] = family.align(truth.table, system, protocol, measures, **options, **folds)
    for alignment in alignments.values():
        check_overlap(alignment, getattr(system, "name", None) or name or family.input_roles[1])
    own_name = next(iter(alignments.values())).name or getattr(system, "name", None) or family.input_roles[1]
    files = (replace(file, system=name or own_name) for file in inputs)
    return score(
        family,
        alignments,
        groups,
        name or own_name,
        Provenance(inputs=(*truth.inputs, *files)),
        profile=plan.named_profile,
        order=order,
        records=records,
    )


def error_label(source: object, name: str | None) -> str | None:
    """Return what errors call the system: its file, as the user wrote it, rather than its name."""
    return str(source) if name is not None and is_path(source) else name


def _options(family: Family, threads: int | None, progress: Progress | None) -> dict[str, Any]:
    if not family.threaded:
        return {}
    return {"threads": threads or count_processors(), "progress": progress}
