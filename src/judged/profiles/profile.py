"""A profile: how another tool writes its measures, and under which conventions it computes each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judged.errors import BadMeasure, JudgedError, UnknownName
from judged.measures.measure import Measure
from judged.measures.parse import ParsedName, parse_measure, parse_measures, parse_name, split_measures
from judged.profiles.spelling import Spelling
from judged.protocol import Protocol

__all__ = ["Profile", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a tool means by a name: the measure, and the protocol under which that tool computes it."""

    measure: Measure
    protocol: Protocol
    written: str
    """As the user wrote it."""
    digits: int | None = None
    """How many decimals the tool gives; None: all it has."""

    @property
    def name(self) -> str:
        """The measure as judged writes it."""
        return str(self.measure)


def _itself(text: str) -> Sequence[str]:
    return [text]


@dataclass(frozen=True)
class Profile:
    """The conventions of one tool. With no spellings it reads every measure that judged has, as judged does."""

    name: str
    tool: str = ""
    version: str = ""
    """The version that was compared, number for number."""
    about: str = ""
    """What is imitated: the call or the command, in one sentence."""
    protocol: Protocol = field(default_factory=Protocol)
    """The conventions of most of its measures; a spelling may depart from them."""
    spellings: tuple[Spelling, ...] = ()
    """The names of its measures, in the order in which they are tried."""
    caveats: tuple[str, ...] = ()
    """What the tool does that is not imitated, each in a sentence."""
    default_measures: tuple[str, ...] = ()
    """What it computes when nothing is asked for; empty: judged's own choice."""
    digits: int | None = None
    """How many decimals the tool gives; None: all it has."""
    expand: Callable[[str], Sequence[str]] = _itself
    """The names that a name such as `official` stands for."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Conventions in which the user departs from the tool, for every measure."""

    def read(self, text: Measure | str) -> Reading:
        """What the tool means by `text`, which is one of its own names, or one of judged's for what it has.

        >>> from judged.profiles.catalogue import PROFILES
        >>> PROFILES["ranx"].read("ndcg_burges@10").measure
        nDCG(gain="exp")@10
        """
        if not self.spellings:
            return Reading(parse_measure(text), self._under({}), str(text), self.digits)
        words = None if isinstance(text, Measure) else parse_name(text.replace(" @", "@"))
        found = None if words is None else self._in_its_words(words)
        return self._reading(text, found or self._in_ours(text))

    def read_all(self, measures: Iterable[Measure | str] | Measure | str) -> list[Reading]:
        """Every measure named, once, in the order first named; a string may name several."""
        if not self.spellings:
            return [
                Reading(each, self._under({}), str(each), self.digits) for each in parse_measures(measures)
            ]
        named: Iterable[Measure | str]
        named = [measures] if isinstance(measures, Measure) else measures
        named = split_measures(measures) if isinstance(measures, str) else named
        several = [part for each in named for part in self._parts(each)]
        readings = {(reading.name, reading.protocol): reading for reading in map(self.read, several)}
        _refuse_namesakes(list(readings.values()))
        return list(readings.values())

    def replace(self, **changes: Any) -> Profile:
        """This profile with some conventions changed, for every measure."""
        self.protocol.replace(**changes)  # raises where one makes no sense
        return replace(self, changes={**self.changes, **changes})

    @property
    def protocols(self) -> dict[Protocol, list[str]]:
        """Each protocol that the tool has, with the names of the measures that it holds for."""
        found: dict[Protocol, list[str]] = {self._under({}): []}
        for spelling in self.spellings:
            names = found.setdefault(self._under(spelling.conventions), [])
            names += [spelling.example] if spelling.example not in names else []
        return found

    def __str__(self) -> str:
        tool = f" ({self.tool} {self.version})".replace(" )", ")") if self.tool else ""
        changed = "".join(f", {name}={value}" for name, value in self.changes.items())
        return f"{self.name}{tool}{changed}"

    def _under(self, conventions: Mapping[str, Any]) -> Protocol:
        return self.protocol.replace(**{**conventions, **self.changes})

    def _reading(self, text: Measure | str, found: tuple[Spelling, Measure, Mapping[str, Any]]) -> Reading:
        spelling, measure, switched = found
        digits = self.digits if spelling.digits is None else spelling.digits
        return Reading(measure, self._under({**spelling.conventions, **switched}), str(text), digits)

    def _in_its_words(self, words: ParsedName) -> tuple[Spelling, Measure, Mapping[str, Any]] | None:
        """The first of its spellings that fits, with the measure made."""
        named = [each for each in self.spellings if each.is_called(words.name)]
        fitting = [each for each in named if each.fits(words)]
        if fitting:
            return (fitting[0], *fitting[0].made(words))
        return None

    def _in_ours(self, text: Measure | str) -> tuple[Spelling, Measure, Mapping[str, Any]]:
        """The first of its spellings for the measure that we call so."""
        try:
            measure = parse_measure(text)
        except UnknownName:
            raise self._refused(text) from None
        for each in self.spellings:
            if each.measure == measure.name and each.holds(measure):
                return each, each.completed(measure), {}
        raise self._refused(text)

    def _parts(self, text: Measure | str) -> Sequence[Measure | str]:
        """The texts of `P_5,10`, which names two measures, or of a name for many."""
        if isinstance(text, Measure):
            return [text]
        words = parse_name(text)
        if words is None or len(words.numbers) < 2:
            return self.expand(text)
        head, _, tail = text.partition(words.mark + ",".join(words.numbers))
        return [f"{head}{words.mark}{number}{tail}" for number in words.numbers]

    def _refused(self, text: Measure | str) -> JudgedError:
        known = ", ".join(dict.fromkeys(each.example for each in self.spellings))
        return BadMeasure(f"the profile `{self.name}` has no measure `{text}`", hint=f"it has {known}")


def _refuse_namesakes(readings: list[Reading]) -> None:
    """Two readings that one name would stand for are refused: scores are looked up by name."""
    seen: dict[str, Reading] = {}
    for each in readings:
        if each.name in seen:
            first = seen[each.name]
            msg = f"`{first.written}` and `{each.written}` are both {each.name}, under different conventions"
            raise BadMeasure(msg, hint="ask for one at a time")
        seen[each.name] = each
