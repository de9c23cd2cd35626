"""Every measure by name, family by family, each imported only when asked for; and the scopes in which names are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    """The families of measures in which a name is looked up, and how names are written there."""

    name: str
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
    families: tuple[str, ...] = ()
    """The families it holds; by default the one of its name."""
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    """Other names of its measures, of other tools for the most part; case does not matter."""
    unit: str = "queries"
    """The unit that has one value."""
    unknown: str = "unjudged"
    """The word for a result without a grade."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Introduction to the measures of each of its families, for the page of all measures."""
    trec_spelling: bool = False
    """Whether trec_eval's sets of measures, `name.parameters` and `-l` are understood, and plugins looked up."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self.kind or f"measure of {self.subject}")
        object.__setattr__(self, "form", self.form or f"write it as `{self.example}`")
        object.__setattr__(self, "families", self.families or (self.name,))

    @property
    def registries(self) -> list[Registry[Measure]]:
        """The tables of its measures."""
        tables = {id(table): table for table in map(registry_for, self.families)}
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

FAMILIES: dict[str, tuple[str, ...]] = {}
"""The names of all measures by family, in the order in which they are listed; user-defined ones are `custom`."""

DESCRIPTIONS: dict[tuple[str, str], tuple[str, str, str]] = {}
"""Full name, range of values and meaning of every measure that an index lists, by family and name."""


def _load_subject(subject: Subject) -> Mapping[str, Scope | str]:
    """Add the measures of a subject, and return its scopes."""
    if not subject.measures:
        return {}
    index = import_module(subject.measures)
    load_index(index.MEASURE_INDEX, {})
    scopes: Mapping[str, str] = index.SCOPE_INDEX
    return scopes


SCOPES: Registry[Scope] = Registry("family of measures", of_subject=_load_subject)
"""The scopes in which names of measures are looked up, by the family they are named for."""


def load_index(
    measures: Mapping[str, Mapping[str, tuple[str, str, str, str]]], scopes: Mapping[str, str]
) -> None:
    """Add the measures and scopes of an index to the tables, without importing them; known ones are left alone."""
    for family, entries in measures.items():
        table = _REGISTRIES.setdefault(family, Registry(f"measure of the family {family}"))
        new = {name: module for name, (module, *_) in entries.items() if name not in table}
        for name, module in new.items():
            table.add(name, f"{module}:{name}")
        FAMILIES[family] = (*FAMILIES.get(family, ()), *new)
        DESCRIPTIONS.update(
            {
                (family, name): (title, values, meaning)
                for name, (_, title, values, meaning) in entries.items()
            }
        )
    SCOPES.add_missing(scopes)


load_index(MEASURE_INDEX, SCOPE_INDEX)


def registry_for(family: str) -> Registry[Measure]:
    """Return the table that holds the measures of a family."""
    if family not in _REGISTRIES and family not in SCOPES:  # looking for it reads the lists of the subjects
        raise UnknownName(SCOPES.kind, family, list(SCOPES))
    return _REGISTRIES[family]


def list_families() -> Mapping[str, tuple[str, ...]]:
    """Return the names of all measures by family, those of subjects among them."""
    SCOPES.read_subjects()
    return FAMILIES


def find_measure(name: str, family: str = "ranked") -> Measure:
    """Return the measure of that canonical name in a scope."""
    return SCOPES[family][name]


def register(measure: Measure) -> None:
    """Add a user-defined measure."""
    MEASURES.add(measure.name, measure)
    FAMILIES["custom"] = (*FAMILIES.get("custom", ()), measure.name)


def unregister(name: str) -> None:
    """Remove a user-defined measure."""
    MEASURES.remove(name)
    left = tuple(known for known in FAMILIES.pop("custom") if known != name)
    if left:
        FAMILIES["custom"] = left


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
