"""Variants: the conventions that someone may have had who computed the same measure elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from judged.errors import JudgedError
from judged.explanation.stance import Stance, differing, stance_of
from judged.measures.measure import Measure
from judged.profiles.catalogue import PROFILES
from judged.protocol import Protocol

__all__ = ["Change", "Variant", "axes_of", "profiles_of", "variants_of"]

NUMBERS: dict[str, tuple[float, ...]] = {
    "cutoff": (1, 3, 5, 10, 20, 30, 50, 100, 1000),
    "rel": (1, 2, 3),
    "max_grade": (1, 2, 3, 4),
    "p": (0.5, 0.8, 0.9, 0.95),
}
"""Values of numeric parameters that people publish; a cutoff's neighbours are tried as well."""


@dataclass(frozen=True, slots=True)
class Change:
    """One convention departed from."""

    name: str
    value: Any

    def __str__(self) -> str:
        shown = f"{self.value:g}" if isinstance(self.value, float) else self.value
        return f"{self.name}={'none' if self.value is None else shown}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A measure under a protocol, and what was changed to get there."""

    changes: tuple[Change, ...]
    measure: Measure
    protocol: Protocol
    detail: str = ""
    """What a profile changes, in words."""

    def __str__(self) -> str:
        told = ", ".join(map(str, self.changes)) or "nothing"
        return f"{told} ({self.detail})" if self.detail else told


def axes_of(base: Stance) -> list[list[Change]]:
    """For each convention that can be changed, the changes."""
    protocol = {name: list(each.alternatives) for name, each in Protocol.conventions().items()}
    if "rel" not in base.measure.defaults or base.measure.parameters["rel"] is not None:
        del protocol["rel"]
    for name in {"recall_points"} - set(base.measure.conventions):
        del protocol[name]
    here = {name: getattr(base.protocol, name) for name in protocol}
    own = {name: options for name in base.measure.defaults if (options := _options(base.measure, name))}
    parameters = base.measure.parameters
    axes = [
        [Change(name, each) for each in options if each != here[name]] for name, options in protocol.items()
    ]
    axes += [
        [Change(name, each) for each in some if each != parameters.get(name)] for name, some in own.items()
    ]
    return [axis for axis in axes if axis]


def profiles_of(base: Stance, measure: Measure | str) -> Iterator[Variant]:
    """The measure as each profile that has it means it, and in what that differs."""
    for name in PROFILES:
        try:
            stance = stance_of(name, measure)
        except JudgedError:
            continue
        told = ", ".join(f"{each.name}={each.words[1]}" for each in differing(base, stance))
        yield Variant((Change("profile", name),), stance.measure, stance.protocol, told)


def variants_of(base: Stance, axes: Sequence[Sequence[Change]], changes: int) -> Iterator[Variant]:
    """Every variant with so many changes, each of another convention."""
    for chosen in combinations(axes, changes):
        for some in product(*chosen):
            variant = _made(base, some)
            if variant is not None:
                yield variant


def _made(base: Stance, changes: tuple[Change, ...]) -> Variant | None:
    """The variant, or None where the changes contradict each other."""
    given = {each.name: each.value for each in changes}
    own = {name: value for name, value in given.items() if name in base.measure.defaults and name != "rel"}
    rest = {name: value for name, value in given.items() if name not in own}
    if base.measure.parameters.get("rel") is not None and "rel" in rest:
        own["rel"] = rest.pop("rel")
    try:
        return Variant(changes, base.measure(**own), base.protocol.replace(**rest))
    except JudgedError:
        return None


def _options(measure: Measure, name: str) -> list[Any]:
    """The values of a parameter that may have been meant: its words, or numbers that people publish."""
    own = measure.parameters.get(name)
    if name == "rel" and own is None:
        return []  # the protocol's is changed instead
    numbers: list[Any] = list(NUMBERS.get(name, ()))
    if name == "cutoff" and isinstance(own, int):
        numbers += [each for each in (own - 1, own + 1) if each > 0]
    optional = [None] if numbers and measure.defaults[name] is None else []
    return list(dict.fromkeys([*measure.words[name], *optional, *sorted(numbers)]))
