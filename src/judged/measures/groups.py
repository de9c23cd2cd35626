"""Every measure by name, group by group, each imported only when asked for; and the scopes in which names are read.

A group is a chapter of the list of measures. Several may be of one family of evaluation: measures of diversity and of
browsing score ranked runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from judged.errors import UnknownName
from judged.measures._index import MEASURE_INDEX, SCOPE_INDEX
from judged.measures.measure import Measure
from judged.plugins import list_announced, load_announced, refuse_announced
from judged.registry import Registry
from judged.subject import NOTHING, Subject

ENTRY_POINTS = "judged.measures"
"""The group of entry points under which installed packages announce measures: a name and a "module:attribute"."""


class Alias(NamedTuple):
    """Another name: the measure, the parameters it implies, and what a number after it sets."""

    measure: str
    parameters: Mapping[str, object] = NOTHING
    number: str | None = None
    """The parameter that a number sets; None: the one that `@` sets."""
    explicit: str | None = None
    """A parameter that must be written, because the other tool's default is not that of related names here."""


@dataclass(frozen=True, eq=False)
class Scope:
    """The groups of measures in which the names of a family are looked up, and how they are written there."""

    name: str
    """The family of evaluation."""
    subject: str
    """Plural noun of what the measures score: "sessions"."""
    example: str
    """Example of a measure, for hints."""
    kind: str = ""
    """Noun for a measure in errors; by default "measure of" and the subject."""
    form: str = ""
    """Notation of measures, for hints; by default that of the example."""
    takes: str = ""
    """Commands and functions that accept these measures, for hints."""
    groups: tuple[str, ...] = ()
    """The groups it holds; by default the one of its name."""
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    """Other names of its measures, of other tools for the most part; case does not matter."""
    unit: str = "queries"
    """The unit that has one value."""
    unknown: str = "unjudged"
    """The word for a result without a grade."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Introduction to the measures of each of its groups, for the page of all measures."""
    trec_spelling: bool = False
    """Whether trec_eval's sets of measures, `name.parameters` and `-l` are understood, and plugins looked up."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self.kind or f"measure of {self.subject}")
        object.__setattr__(self, "form", self.form or f"write it as `{self.example}`")
        object.__setattr__(self, "groups", self.groups or (self.name,))

    @property
    def registries(self) -> list[Registry[Measure]]:
        """The tables of its measures."""
        tables = {id(table): table for table in map(registry_for, self.groups)}
        return list(tables.values())

    def __iter__(self) -> Iterator[str]:
        return (name for table in self.registries for name in table)

    def __getitem__(self, name: str) -> Measure:
        """Return the measure of that canonical name."""
        for table in self.registries:
            if name in table:
                return table[name]
        raise UnknownName(self.kind, name, list(self))

    def find_alias(self, name: str) -> Alias | None:
        """Return what a canonical name or an alias means, ignoring case, `_` and `-`; None if unknown."""
        known = _known_names(self, tuple(self))
        return known.get(name.lower()) or known.get(_fold(name))


MEASURES: Registry[Measure] = Registry("measure")
"""Every measure of a ranked run against judgments, by its canonical name."""

PREFERENCE_MEASURES: Registry[Measure] = Registry("measure of preferences")
"""Every measure of a run against preferences or several judges' grades, by its canonical name."""

_REGISTRIES: dict[str, Registry[Measure]] = {
    **dict.fromkeys(("ranked", "diversity", "browsing", "custom"), MEASURES),
    "preference": PREFERENCE_MEASURES,
}

GROUPS: dict[str, tuple[str, ...]] = {}
"""The names of all measures by group, in the order in which they are listed; user-defined ones are `custom`."""

DESCRIPTIONS: dict[tuple[str, str], tuple[str, str, str]] = {}
"""Full name, range of values and meaning of every measure that an index lists, by group and name."""


def _load_subject(subject: Subject) -> Mapping[str, Scope | str]:
    """Add the measures of a subject, and return its scopes."""
    if not subject.measures:
        return {}
    index = import_module(subject.measures)
    load_index(index.MEASURE_INDEX, {})
    scopes: Mapping[str, str] = index.SCOPE_INDEX
    return scopes


SCOPES: Registry[Scope] = Registry("family of measures", of_subject=_load_subject)
"""The scopes in which names of measures are looked up, by family."""


def load_index(
    measures: Mapping[str, Mapping[str, tuple[str, str, str, str]]], scopes: Mapping[str, str]
) -> None:
    """Add the measures and scopes of an index to the tables, without importing them; known ones are left alone."""
    for group, entries in measures.items():
        table = _REGISTRIES.setdefault(group, Registry(f"measure of the group {group}"))
        new = {name: module for name, (module, *_) in entries.items() if name not in table}
        for name, module in new.items():
            table.add(name, f"{module}:{name}")
        GROUPS[group] = (*GROUPS.get(group, ()), *new)
        DESCRIPTIONS.update(
            {(group, name): (title, values, meaning) for name, (_, title, values, meaning) in entries.items()}
        )
    SCOPES.add_missing(scopes)


load_index(MEASURE_INDEX, SCOPE_INDEX)


def registry_for(group: str) -> Registry[Measure]:
    """Return the table that holds the measures of a group."""
    if group not in _REGISTRIES and group not in SCOPES:  # looking for it reads the lists of the subjects
        raise UnknownName("group of measures", group, list(GROUPS))
    return _REGISTRIES[group]


def expose_measures(
    module: str, measures: Registry[Measure], own: Mapping[str, object]
) -> tuple[Callable[[str], Measure], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a module by which measures are imported as its attributes."""

    def get_measure(name: str) -> Measure:
        if name not in measures:
            msg = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return measures[name]

    return get_measure, lambda: sorted([*own, *measures])


def list_groups() -> Mapping[str, tuple[str, ...]]:
    """Return the names of all measures by group, those of subjects among them."""
    SCOPES.read_subjects()
    return GROUPS


def find_measure(name: str, family: str = "ranked") -> Measure:
    """Return the measure of that canonical name in the scope of a family."""
    return SCOPES[family][name]


def register(measure: Measure) -> None:
    """Add a user-defined measure."""
    MEASURES.add(measure.name, measure)
    GROUPS["custom"] = (*GROUPS.get("custom", ()), measure.name)


def unregister(name: str) -> None:
    """Remove a user-defined measure."""
    MEASURES.remove(name)
    left = tuple(known for known in GROUPS.pop("custom") if known != name)
    if left:
        GROUPS["custom"] = left


def list_plugins() -> list[str]:
    """Return the names of all measures that installed packages announce, without importing any."""
    return list_announced(ENTRY_POINTS)


def load_plugin(name: str) -> Measure | None:
    """Load and register the announced measure of that name, in any case; return None if there is none."""
    plugin = load_announced(ENTRY_POINTS, name, "measure")
    if plugin is None:
        return None
    if not isinstance(plugin, Measure) or plugin.name.lower() != name.lower():
        got = f"the measure {plugin.name}" if isinstance(plugin, Measure) else f"a {type(plugin).__name__}"
        hint = f'make it with `judged.define("{name}", function)`'
        expected = f"a measure called `{name}`"
        refuse_announced(ENTRY_POINTS, name, "measure", got=got, expected=expected, hint=hint)
    if plugin.name not in MEASURES:
        register(plugin)
    return plugin


@lru_cache(maxsize=32)
def _known_names(scope: Scope, canonical: tuple[str, ...]) -> dict[str, Alias]:
    """Return every name of a scope in lower case, then without `_` and `-`; of equal ones the first is kept."""
    named = {name: Alias(name) for name in canonical}
    known: dict[str, Alias] = {}
    # exact spellings before folded ones, and canonical names before aliases: the first is kept
    for fold in (str.lower, _fold):
        for names in (named, scope.aliases):
            for name, alias in names.items():
                known.setdefault(fold(name), alias)
    return known


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
