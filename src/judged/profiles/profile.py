"""A profile: another tool's names for measures, and the conventions under which it computes each of them.

A profile is one two-way table: `read` turns a name of the tool into a measure and its protocol, `names` has the tool's
name for each measure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from judged.errors import BadMeasure, JudgedError, UnknownName, WrongKind
from judged.measures.groups import MEASURES
from judged.measures.measure import Measure
from judged.measures.parse import (
    ParsedName,
    parse_measure,
    parse_measures,
    parse_name,
    refuse_measure,
    split_measures,
    split_numbers,
)
from judged.measures.written import merge_spellings, spell
from judged.protocol import Protocol
from judged.registry import Registry

Choices: TypeAlias = Mapping[tuple[str, Any], Mapping[str, Any]]
"""Parameters of a tool with a value, and what each of them sets here."""
Values: TypeAlias = Mapping[str, Any]
"""Values by name: parameters, or conventions."""


def _parse_number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def set_relevance(measure: Measure, level: int) -> Measure:
    """Return the measure with that grade as the least that is relevant."""
    return measure(rel=level)


@dataclass(frozen=True)
class Spelling:
    """A tool's name for a measure, with the parameters that it implies and the conventions in which it departs."""

    name: str
    measure: str
    given: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of ours that have these values whenever the tool computes it."""
    takes: tuple[str, ...] = ("rel",)
    """Parameters of ours that may be set as well, apart from the one that a number sets."""
    conventions: Mapping[str, Any] = field(default_factory=dict)
    """Conventions in which the tool departs from those of its other measures."""
    number: bool | None = None
    """Whether a number must follow, or must not; None: as the measure has it."""
    at: str | None = None
    """The parameter that a number sets; None: the one that `@` sets."""
    convert: Callable[[str], float] = _parse_number
    level: Callable[[Measure, int], Measure] | None = None
    """Effect of a number after `-l` on the measure; None: it may not follow."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Parameters that have another name in the tool, with our names."""
    words: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    """Parameters of the tool with a value, and the parameters of ours that they set."""
    switches: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    """Parameters of the tool with a value, and the conventions of the protocol that they change."""
    zero_if_missing: bool = False
    """Whether a query without results scores 0, overriding the measure."""
    digits: int | None = None
    """The number of decimals that the tool gives, where that differs from its other measures."""
    shown: str = ""
    """Notation in listings; by default the name, with `@k` where a number follows."""

    @property
    def example(self) -> str:
        """Notation: `recall@k`, or `ndcg[@k]` where it may have a cutoff."""
        optional, required = self._allows_number(there=True), not self._allows_number(there=False)
        return self.shown or self.name + ("@k" if required else "[@k]" if optional else "")

    @property
    def kind(self) -> Measure:
        """The measure with the parameters implied."""
        return MEASURES[self.measure](**self.given)

    @property
    def parameter(self) -> str | None:
        """The parameter that a number sets."""
        return self.at or self.kind.at_parameter

    def matches(self, parsed: ParsedName) -> bool:
        """Return whether the name is this one, in any case, and takes the numbers and parameters written."""
        # a tool may write the number as a parameter of its own, such as `top_k=10`
        own = self.parameter
        numbered = parsed.numbers or any(own and self.renamed.get(name) == own for name in parsed.inside)
        return (
            parsed.name.lower() == self.name.lower()
            and self._allows_number(there=bool(numbered))
            and (parsed.level is None or self.level is not None)
            and all(self._allows(name, value) for name, value in parsed.inside.items())
        )

    def make_measure(self, parsed: ParsedName) -> tuple[Measure, Mapping[str, Any]]:
        """Return the measure that was written, and the conventions that its parameters change."""
        measure = self.kind
        switched: dict[str, Any] = {}
        for name, value in parsed.inside.items():
            if name in _names(self.switches):
                switched.update(self.switches[name, value])
            elif name in _names(self.words):
                measure = measure(**self.words[name, value])
            else:
                measure = measure(**{self.renamed.get(name, name): value})
        if parsed.numbers and self.parameter is not None:
            measure = measure(**{self.parameter: self.convert(parsed.numbers[0])})
        if parsed.level is not None and self.level is not None:
            measure = self.level(measure, parsed.level)
        return self._score_missing(measure), switched

    def can_compute(self, measure: Measure) -> bool:
        """Return whether the tool can compute this measure of ours, with the parameters that were set."""
        if measure.name != self.measure:
            return False
        own, defaults = self.kind.parameters, MEASURES[self.measure].parameters
        # Where a number sets another parameter than `@`, its default counts as well: `RBP` has a persistence.
        known = measure.parameters if self.at else dict(measure.set_parameters)
        free = (*self.takes, *self.renamed.values(), self.parameter)
        return self._allows_number(there=known.get(self.parameter or "") is not None) and all(
            own[name] == value if name in self.given else name in free or defaults.get(name) == value
            for name, value in measure.set_parameters
        )

    def complete(self, measure: Measure) -> Measure:
        """Return the measure with the parameters that the tool implies."""
        return self._score_missing(measure(**self.given))

    def _score_missing(self, measure: Measure) -> Measure:
        return replace(measure, zero_if_missing=True) if self.zero_if_missing else measure

    def _allows(self, name: str, value: object) -> bool:
        """Return whether a parameter may be written with this value."""
        choices = {**self.words, **self.switches}
        if name in _names(choices):
            return any(name == known and value == choice for known, choice in choices)
        return name in self.takes or name in self.renamed

    def _allows_number(self, *, there: bool) -> bool:
        """Return whether it may be written with a number, or without."""
        if self.number is not None:
            return there == self.number
        if self.parameter is None:
            return not there
        needed = self.kind.defaults[self.parameter] is inspect.Parameter.empty
        return there or not (needed and self.parameter not in self.given)


def _names(choices: Mapping[tuple[str, Any], Mapping[str, Any]]) -> set[str]:
    return {name for name, _ in choices}


class Reading(NamedTuple):
    """Meaning of a tool's name: the measure, and the protocol under which that tool computes it."""

    measure: Measure
    """It is shown as the user wrote it."""
    protocol: Protocol
    digits: int | None = None
    """The number of decimals that the tool gives; None: all it has."""

    @property
    def name(self) -> str:
        """The measure as judged writes it."""
        return str(self.measure)


@dataclass(frozen=True)
class Profile:
    """The names and conventions of one tool. Without spellings it has every measure of judged, by its own names."""

    name: str
    tool: str = ""
    version: str = ""
    """The version that was compared, number for number."""
    about: str = ""
    """The call or the command that is reproduced, in one sentence."""
    protocol: Protocol = field(default_factory=Protocol)
    """The conventions of most of its measures; a spelling may depart from them."""
    spellings: tuple[Spelling, ...] = ()
    """The names of its measures, in the order in which they are tried."""
    caveats: tuple[str, ...] = ()
    """Behaviour of the tool that is not reproduced, a sentence each."""
    default_measures: tuple[str, ...] = ()
    """Default measures; empty: judged's own choice."""
    digits: int | None = None
    """The number of decimals that the tool gives; None: all it has."""
    expand: Callable[[str], Sequence[str]] = lambda text: [text]
    """Returns the names that a name such as `official` means."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Conventions in which the user departs from the tool, for every measure."""

    @property
    def names(self) -> dict[str, str]:
        """The tool's name for each measure: ours, if the tool knows it, else its first."""
        found: dict[str, str] = {}
        for spelling in self.spellings:
            if spelling.measure not in found or spelling.name == spelling.measure:
                found[spelling.measure] = spelling.name
        return found

    def read(self, text: Measure | str) -> Reading:
        """Return what the tool means by `text`: one of its own names, or one of judged's for what it has.

        >>> PROFILES["ranx"].read("ndcg_burges@10").measure
        nDCG(gain="exp")@10
        """
        if not self.spellings:
            return Reading(parse_measure(text), self._make_protocol({}), self.digits)
        if not isinstance(text, Measure | str):
            raise refuse_measure(text)
        written = text if isinstance(text, Measure) else self._respell(text)
        parsed = None if isinstance(written, Measure) else parse_name(written.replace(" @", "@"))
        spelling = next((known for known in self.spellings if parsed and known.matches(parsed)), None)
        if spelling is not None and parsed is not None:
            measure, switched = spelling.make_measure(parsed)
            measure = _spell(measure, str(text), exact=parsed.name == spelling.name)
        else:
            spelling, measure = self._find_ours(written, text)
            switched = {}
        digits = self.digits if spelling.digits is None else spelling.digits
        protocol = self._make_protocol({**spelling.conventions, **switched})
        return Reading(measure, protocol, digits)

    def read_all(self, measures: Iterable[Measure | str] | Measure | str) -> list[Reading]:
        """Return every measure named, once, in the order first named; a string may name several."""
        if not self.spellings:
            protocol = self._make_protocol({})
            parsed = parse_measures(measures)
            return [Reading(measure, protocol, self.digits) for measure in parsed]
        named: Iterable[Measure | str]
        named = [measures] if isinstance(measures, Measure) else measures
        named = split_measures(measures) if isinstance(measures, str) else named
        parts = [part for text in named for part in self._split(text)]
        readings = [self.read(part) for part in parts]
        _check_names(readings)
        first = {reading.name: reading for reading in reversed(readings)}
        merged = merge_spellings(reading.measure for reading in readings)
        return [first[str(measure)]._replace(measure=measure) for measure in merged]

    def replace(self, **changes: object) -> Profile:
        """Return this profile with some conventions changed, for every measure."""
        self.protocol.replace(**changes)  # raises if one is not allowed
        return replace(self, changes={**self.changes, **changes})

    @property
    def protocols(self) -> dict[Protocol, list[str]]:
        """Each protocol of the tool, with the names of the measures that it applies to."""
        found: dict[Protocol, list[str]] = {self._make_protocol({}): []}
        for spelling in self.spellings:
            names = found.setdefault(self._make_protocol(spelling.conventions), [])
            names += [spelling.example] if spelling.example not in names else []
        return found

    def __str__(self) -> str:
        tool = f" ({self.tool} {self.version})".replace(" )", ")") if self.tool else ""
        changed = "".join(f", {name}={value}" for name, value in self.changes.items())
        return f"{self.name}{tool}{changed}"

    def _make_protocol(self, conventions: Mapping[str, Any]) -> Protocol:
        return self.protocol.replace(**{**conventions, **self.changes})

    def _find_ours(self, text: Measure | str, written: Measure | str) -> tuple[Spelling, Measure]:
        """Return the first spelling for a measure that is written as judged writes it; errors say what the user wrote."""
        try:
            measure = parse_measure(text)
        except UnknownName:
            raise self._unknown(written) from None
        for spelling in self.spellings:
            if spelling.can_compute(measure):
                return spelling, replace(spelling.complete(measure), written=measure.written)
        raise self._unknown(written)

    def _split(self, text: Measure | str) -> Sequence[Measure | str]:
        """Split `P_5,10`, which names two measures, and a name for many."""
        if isinstance(text, Measure):
            return [text]
        if not isinstance(text, str):
            raise refuse_measure(text)
        parsed = parse_name(text)
        if parsed is None or len(parsed.numbers) < 2:
            several = self.expand(text)
            return several if len(several) > 1 else [text]  # one is respelled where it is read
        return split_numbers(text, parsed)

    def _respell(self, text: str) -> str:
        """Return the form of a name that can be parsed, where the tool writes it in another."""
        named = self.expand(text)
        return named[0] if len(named) == 1 else text

    def _unknown(self, text: Measure | str) -> JudgedError:
        known = list(dict.fromkeys(spelling.example for spelling in self.spellings))
        needs = next((example for example in known if example == f"{text}@k".lower()), None)
        cutoff = f"it needs a cutoff there: `{needs.replace('@k', '@10')}`; " if needs else ""
        hint = f"{cutoff}it has {', '.join(known)}"
        return BadMeasure(f"the profile `{self.name}` has no measure `{text}`", hint=hint)


def _spell(measure: Measure, text: str, *, exact: bool) -> Measure:
    """Return the measure as it was written: with a tool's own name, exactly so, in its case."""
    spelt = spell(measure, text)
    return replace(measure, written=(text,)) if exact and text != str(measure) else spelt


def _check_names(readings: list[Reading]) -> None:
    """Raise `BadMeasure` for two readings with one name and two protocols: scores are looked up by name."""
    seen: dict[str, Reading] = {}
    for reading in readings:
        first = seen.setdefault(reading.name, reading)
        if first.protocol != reading.protocol:
            texts = f"`{first.measure.label}` and `{reading.measure.label}`"
            msg = f"{texts} are both {reading.name}, under different conventions"
            raise BadMeasure(msg, hint="ask for one at a time")


PROFILES: Registry[Profile] = Registry("profile")
"""Every profile by name, imported only when asked for; the first is the default."""

PROFILES.add("trec_eval-9", "judged.profiles.trec_eval:TREC_EVAL_9")
PROFILES.add("trec_eval-10", "judged.profiles.trec_eval:TREC_EVAL_10")
for _name in (
    "pytrec_eval",
    "ir_measures",
    "ranx",
    "beir",
    "mteb",
    "msmarco",
    "gdeval",
    "trectools",
    "lightgbm",
    "xgboost",
    "catboost",
    "sklearn",
    "torchmetrics",
    "sentence-transformers",
    "elasticsearch",
    "llama-index",
    "ragas",
    "cross-modal",
    "sources",
):
    PROFILES.add(_name, f"judged.profiles.{_name.replace('-', '_')}:PROFILE")


def as_profile(convention: Profile | Protocol | Mapping[str, object] | str) -> Profile:
    """Return the profile itself, the one of that name, or one with every measure under the given protocol.

    A mapping has the conventions that differ from the default: `{"missing": "skip"}`.
    """
    if isinstance(convention, Mapping):
        convention = Protocol().replace(**{str(name): value for name, value in convention.items()})
    if not isinstance(convention, Profile | Protocol | str):
        msg = f"the protocol is of type `{type(convention).__name__}`, expected a `Protocol`, or the name of a profile"
        raise WrongKind(msg, hint='for example `"trec_eval-9"`, or `{"missing": "skip"}`')
    if isinstance(convention, str):
        return PROFILES[convention]
    if isinstance(convention, Protocol):
        return Profile(convention.profile or "custom", protocol=convention)
    return convention
