"""One of a tool's names for a measure: what it stands for here, and what may be written after it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judged.measures.families import MEASURES
from judged.measures.measure import Measure
from judged.measures.parse import ParsedName

__all__ = ["Spelling", "from_grade"]


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def from_grade(measure: Measure, level: int) -> Measure:
    """The measure with that grade as the least that is relevant."""
    return measure(rel=level)


@dataclass(frozen=True)
class Spelling:
    """A name of a tool with the measure, the parameters that it implies, and the conventions it departs in."""

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
    convert: Callable[[str], float] = _number
    level: Callable[[Measure, int], Measure] | None = None
    """What a number after `-l` does to the measure; None: it may not follow."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Parameters that the tool calls otherwise, with our names."""
    words: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    """Parameters of the tool with a value, and the parameters of ours that they make."""
    switches: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    """Parameters of the tool with a value, and the conventions of the protocol that they change."""
    zero_if_missing: bool = False
    """A query without results scores 0, whatever the measure says of it otherwise."""
    digits: int | None = None
    """How many decimals the tool gives, where that differs from its other measures."""
    shown: str = ""
    """How it is written, for listings; by default the name, with `@k` where a number follows."""

    @property
    def example(self) -> str:
        """How it is written: `recall@k`, or `ndcg[@k]` where it may have a cutoff."""
        may, must = self._number_is(there=True), not self._number_is(there=False)
        return self.shown or self.name + ("@k" if must else "[@k]" if may else "")

    @property
    def kind(self) -> Measure:
        """The measure with the parameters implied."""
        return MEASURES[self.measure](**self.given)

    @property
    def parameter(self) -> str | None:
        """The parameter that a number sets."""
        return self.at or self.kind.at_parameter

    def is_called(self, name: str) -> bool:
        """Whether the tool's name is this one, without regard to case."""
        return name.lower() == self.name.lower()

    def fits(self, words: ParsedName) -> bool:
        """Whether the numbers and parameters written are among those that it takes."""
        return (
            self._number_is(there=bool(words.numbers))
            and (words.level is None or self.level is not None)
            and all(self._takes(name, value) for name, value in words.inside.items())
        )

    def made(self, words: ParsedName) -> tuple[Measure, Mapping[str, Any]]:
        """The measure that was written, and the conventions that its parameters switch."""
        measure = self.kind
        switched: dict[str, Any] = {}
        for name, value in words.inside.items():
            if name in self._named(self.switches):
                switched.update(self.switches[name, value])
            elif name in self._named(self.words):
                measure = measure(**self.words[name, value])
            else:
                measure = measure(**{self.renamed.get(name, name): value})
        if words.numbers and self.parameter is not None:
            measure = measure(**{self.parameter: self.convert(words.numbers[0])})
        if words.level is not None and self.level is not None:
            measure = self.level(measure, words.level)
        return self._scored_if_missing(measure), switched

    def holds(self, measure: Measure) -> bool:
        """Whether the tool can be asked for this measure of ours, with the parameters that were set."""
        own, defaults = self.kind.parameters, MEASURES[self.measure].parameters
        known = (
            measure.parameters if self.at else dict(measure.set_parameters)
        )  # `RBP` has a persistence unasked
        return self._number_is(there=known.get(self.parameter or "") is not None) and all(
            own[name] == value if name in self.given else name in self._free or defaults.get(name) == value
            for name, value in measure.set_parameters
        )

    def completed(self, measure: Measure) -> Measure:
        """The measure with the parameters that the tool implies."""
        return self._scored_if_missing(measure(**self.given))

    def _scored_if_missing(self, measure: Measure) -> Measure:
        return replace(measure, zero_if_missing=True) if self.zero_if_missing else measure

    def _takes(self, name: str, value: object) -> bool:
        """Whether a parameter may be written with this value."""
        choices = {**self.words, **self.switches}
        if name in self._named(choices):
            return any(name == each and value == choice for each, choice in choices)
        return name in self.takes or name in self.renamed

    @staticmethod
    def _named(choices: Mapping[tuple[str, Any], Mapping[str, Any]]) -> set[str]:
        return {name for name, _ in choices}

    @property
    def _free(self) -> tuple[str | None, ...]:
        return (*self.takes, *self.renamed.values(), self.parameter)

    def _number_is(self, *, there: bool) -> bool:
        """Whether it may be written with a number, or without."""
        if self.number is not None:
            return there == self.number
        if self.parameter is None:
            return not there
        needed = self.kind.defaults[self.parameter] is inspect.Parameter.empty
        return there or not (needed and self.parameter not in self.given)
