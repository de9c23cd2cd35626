"""Families: what makes ranked runs, preferences, sessions, timings and decisions differ; everything else is shared.

A family says which tables it reads, under which protocol, how they become the view that its measures are computed on,
and which measures those are. `evaluate`, `compare`, `gate`, printing and saving work for every family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

from judged.errors import BadMeasure
from judged.measures.groups import SCOPES
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note
from judged.protocol import BaseProtocol
from judged.registry import Registry
from judged.scoring.alignment import Alignment
from judged.tables.judgments import Judgments

if TYPE_CHECKING:
    from judged.scoring.evaluation import Evaluation
    from judged.scoring.folds import CompiledFolds

Measures: TypeAlias = Iterable[Measure | str] | Measure | str
"""Measures as users name them: values, names, or one string with several names."""

Pair: TypeAlias = "Callable[[Sequence[Evaluation]], tuple[list[Evaluation], list[Note]]]"
"""Returns each system of some evaluations with a row for each unit by which systems are paired, and notes on that."""


@dataclass(frozen=True)
class Family:
    """One kind of evaluation, from its tables to its measures."""

    name: str
    unit: str
    """The unit of a value: a query, a session, a request."""
    protocol: type[BaseProtocol]
    """Its conventions; the class without arguments is the default protocol."""
    view: type
    """The view that its measures are computed on."""
    align: Callable[..., Alignment]
    """`align(truth, system, protocol, measures, **options)` returns the view, its units and its notes."""
    default_measures: tuple[str, ...] = ()
    parse: Callable[[Measures], Sequence[Measure]] | None = None
    """Reads the names of its measures; None: its name is that of the scope in which they are looked up."""
    read_truth: Callable[[Any, Sequence[Measure]], Any] = lambda source, _measures: source
    """Reads what systems are evaluated against, as the measures need it: judgments, preferences, labels."""
    read_system: Callable[[Any, str | None], Any] = lambda source, _name: source
    """Reads what a system returned; the name, if one is given, is for error messages."""
    read_systems: Callable[[Any, str | None], Mapping[Any, Any]] | None = None
    """Reads every system of a source that may hold several: one, under None, unless a column `system` names them."""
    of_runs: bool = False
    """Whether its systems are runs, which a folder or a pattern may hold several of."""
    documents: Callable[[Any], Judgments] | None = None
    """Returns the documents that the truth is about, where systems are runs: what a stream or a cluster looks for."""
    compile: Callable[..., CompiledFolds | None] | None = None
    """`compile(truth, protocol, measures)` returns compiled code for systems that are dicts; None: there is none."""
    input_roles: tuple[str, str] = ("judgments", "run")
    """Names of the two inputs in the provenance of a result."""
    threaded: bool = False
    """Whether `align` accepts `threads` and `progress`."""
    empty: float = nan
    """The aggregate of a measure over no units."""
    pair: Pair | None = None
    """Pairing of systems, unless by the units that measures have values for."""
    choose: Callable[[Sequence[Measure], Any], Sequence[Measure]] | None = None
    """Returns the measures of a table whose names are open: those named, or all of them; None: the family knows every name."""
    undirected: str = "Neither more nor less of {} is better"
    """Words for measures without a direction."""

    def read_each(self, source: object, label: str | None) -> Mapping[str | None, Any]:
        """Return the tables of a source by system; `label` is what errors call it."""
        if self.read_systems is not None:
            return self.read_systems(source, label)
        return {None: self.read_system(source, label)}

    def parse_measures(self, measures: Measures) -> list[Measure]:
        """Return the measures of this family that were named, each once."""
        if self.parse is not None:
            return list(self.parse(measures))
        return parse_measures(measures, family=self.name)

    def find_measures(self, measures: Measures, table: object) -> list[Measure]:
        """Return the measures that were named, as they are in a table; of a family with open names, none are all."""
        parsed = self.parse_measures(measures)
        return parsed if self.choose is None else list(self.choose(parsed, table))


FAMILIES: Registry[Family] = Registry("family", of_subject=lambda subject: subject.families)
"""Every family by name, imported when it is used."""
FAMILIES.add("ranked", "judged.scoring.align:RANKED")
FAMILIES.add("preference", "judged.scoring.align_preferences:PREFERENCE")
FAMILIES.add("exposure", "judged.scoring.align_exposure:EXPOSURE")
FAMILIES.add("timing", "judged.scoring.timing:TIMING")
FAMILIES.add("score", "judged.scoring.foreign:SCORE")


def find_family(measures: Sequence[Measure]) -> Family:
    """Return the family of the measures; raise `BadMeasure` if they belong to several."""
    names = [measure.family for measure in measures]
    if len(set(names)) > 1:
        first = next(place for place, name in enumerate(names) if name != "ranked")
        other = next(place for place, name in enumerate(names) if name != names[first])
        words = [_TRUTHS.get(names[place]) or SCOPES[names[place]].subject for place in (first, other)]
        msg = f"`{measures[first]}` is a measure of {words[0]} and `{measures[other]}` of {words[1]}"
        raise BadMeasure(msg, hint="score them one after the other, each against its own file")
    return FAMILIES[names[0]] if names else FAMILIES["ranked"]


_TRUTHS = {"ranked": "judgments", "preference": "preferences", "exposure": "exposure"}
"""The truth that measures of a family need, where messages name it instead of what is scored."""
