"""A stance: a measure under a protocol. Two of them differ in conventions, and can be mixed one by one."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from judged.errors import BadMeasure, BadProtocol, UnknownName
from judged.measures.measure import Measure
from judged.measures.parameters import format_value as written_value
from judged.profiles.catalogue import PROFILES, as_profile
from judged.profiles.profile import Profile
from judged.protocol import Protocol

__all__ = ["Convention", "Conventions", "Stance", "differing", "mixed", "stance_of"]

Conventions: TypeAlias = Protocol | Profile | str
"""A protocol, a profile, the name of one, or changes such as `ties=input-order`."""
FIELDS = tuple(each.name for each in fields(Protocol))


@dataclass(frozen=True, slots=True)
class Stance:
    """What one side means by a measure, and how it is called."""

    name: str
    measure: Measure
    protocol: Protocol
    digits: int | None = None
    """How many decimals that side prints; None: all it has."""
    left_out: tuple[str, ...] = ()
    """What the tool of that side does that is not imitated."""


@dataclass(frozen=True, slots=True)
class Convention:
    """Something in which two stances differ, with the value that each has."""

    name: str
    kind: Literal["protocol", "parameter", "measure"]
    first: Any
    second: Any

    @property
    def words(self) -> tuple[str, str]:
        """Both values as people write them."""
        return _word(self.first), _word(self.second)


def stance_of(
    conventions: Conventions, measure: Measure | str, *, base: Conventions = "trec_eval-9"
) -> Stance:
    """What is meant by a measure under conventions; changes alone are changes to `base`.

    >>> stance_of("ties=input-order,gain=exp", "nDCG@10").measure
    nDCG(gain="exp")@10
    """
    return _read(*_resolved(conventions, base), measure)


def differing(first: Stance, second: Stance) -> tuple[Convention, ...]:
    """Every convention in which two stances differ: of the protocol, and of the measure."""
    pairs = ((name, getattr(first.protocol, name), getattr(second.protocol, name)) for name in FIELDS)
    found = [Convention(name, "protocol", ours, theirs) for name, ours, theirs in pairs if ours != theirs]
    if first.measure.name != second.measure.name:
        return (*found, Convention("measure", "measure", first.measure, second.measure))
    here, there = first.measure.parameters, second.measure.parameters
    names = [name for name in first.measure.defaults if here.get(name) != there.get(name)]
    return (*found, *(Convention(name, "parameter", here.get(name), there.get(name)) for name in names))


def mixed(first: Stance, taken: Collection[Convention]) -> tuple[Measure, Protocol]:
    """The first stance's measure and protocol with some conventions taken from the second."""
    protocol = first.protocol.replace(**{each.name: each.second for each in taken if each.kind == "protocol"})
    whole = next((each.second for each in taken if each.kind == "measure"), None)
    if whole is not None:
        return whole, protocol
    return first.measure(**{each.name: each.second for each in taken if each.kind == "parameter"}), protocol


def _resolved(conventions: Conventions, base: Conventions) -> tuple[Profile, dict[str, Any], str]:
    """The profile that is meant, the changes to it, and what both are called."""
    if not isinstance(conventions, str):
        profile = as_profile(conventions)
        changed = "".join(f",{name}={_word(value)}" for name, value in profile.changes.items())
        return profile, {}, f"{profile.name}{changed}"
    head, *tail = conventions.split(",")
    if "=" in head:
        profile, changes, _ = _resolved(base, "trec_eval-9")
        return profile, changes | _changes([head, *tail]), conventions
    if head not in PROFILES:
        raise UnknownName("profile", head, [*PROFILES, *(f"{name}=…" for name in FIELDS)])
    return PROFILES[head], _changes(tail), conventions


def _read(profile: Profile, changes: dict[str, Any], name: str, measure: Measure | str) -> Stance:
    """The measure as the profile reads it, with changes to its protocol and to its parameters."""
    reading = profile.replace(**{key: value for key, value in changes.items() if key in FIELDS}).read(measure)
    own = {key: value for key, value in changes.items() if key not in FIELDS}
    unknown = [key for key in own if key not in reading.measure.defaults]
    if unknown:
        kind = f"convention of a protocol or parameter of {reading.measure.name}"
        raise UnknownName(kind, unknown[0], [*FIELDS, *reading.measure.defaults])
    made = reading.measure(**own)
    if made.text:
        msg = f"{made} is text, and has no number that could differ"
        raise BadMeasure(msg, hint="explain it for a single query")
    return Stance(name, made, reading.protocol, reading.digits, profile.caveats)


def _changes(parts: list[str]) -> dict[str, Any]:
    """The changes of `ties=input-order`, `depth=10`, `gain=exp`, each with its value."""
    changes = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or not name or not value:
            msg = f"`{part}` changes no convention, expected one such as `ties=input-order`"
            raise BadProtocol(msg, hint="a profile may come first: `ranx,missing=skip`")
        changes[name.strip().replace("-", "_")] = _value(value.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _word(value: Any) -> str:
    if isinstance(value, Measure):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value) if isinstance(value, str) else written_value(value)
