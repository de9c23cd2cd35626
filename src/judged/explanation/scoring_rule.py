"""A scoring rule: a measure under a protocol. Two rules differ in conventions, and can be blended one by one."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from judged.errors import BadMeasure, BadProtocol, UnknownName
from judged.measures.measure import Measure
from judged.measures.parameters import format_value
from judged.profiles.profile import PROFILES, Profile, as_profile
from judged.protocol import BaseProtocol, Protocol
from judged.result import ProtocolRecord

Conventions: TypeAlias = Protocol | Profile | str
"""A protocol, a profile, the name of one, or changes such as `ties=input-order`."""
FIELDS = tuple(Protocol.conventions())
P_co = TypeVar("P_co", bound=BaseProtocol, covariant=True)


@dataclass(frozen=True)
class NamedRule(Generic[P_co]):
    """A measure under a protocol of any family, with the name of both for people."""

    name: str
    measure: Measure
    protocol: P_co
    digits: int | None = None
    """The number of decimals that the tool prints; None for all."""
    caveats: tuple[str, ...] = ()
    """Behaviour of the tool that is not reproduced."""

    @property
    def record(self) -> ProtocolRecord:
        """The protocol for the provenance of a result."""
        protocol = self.protocol
        return ProtocolRecord(
            str(protocol),
            protocol.fingerprint,
            protocol.to_dict(),
            self.name,
            (str(self.measure),),
            protocol.short,
        )


ScoringRule: TypeAlias = NamedRule[Protocol]
"""A measure of runs, or of preferences, under a protocol."""


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A convention in which two rules differ, with its value in both."""

    name: str
    kind: Literal["protocol", "parameter", "measure"]
    first: Any
    second: Any

    @property
    def words(self) -> tuple[str, str]:
        """Both values as people write them."""
        return _format(self.first), _format(self.second)


def parse_rule(
    conventions: Conventions, measure: Measure | str, *, base: Conventions = "trec_eval-9"
) -> ScoringRule:
    """Return the measure under the given conventions; changes alone are changes to `base`.

    >>> parse_rule("ties=input-order,gain=exp", "nDCG@10").measure
    nDCG(gain="exp")@10
    """
    profile, changes, name = _resolve(conventions, base)
    reading = profile.replace(**{key: value for key, value in changes.items() if key in FIELDS}).read(measure)
    own = {key: value for key, value in changes.items() if key not in FIELDS}
    unknown = [key for key in own if key not in reading.measure.defaults]
    if unknown:
        kind = f"convention of a protocol or parameter of {reading.measure.name}"
        raise UnknownName(kind, unknown[0], [*FIELDS, *reading.measure.defaults])
    chosen = reading.measure(**own)
    if chosen.text:
        msg = f"{chosen} is text, and has no number that could differ"
        raise BadMeasure(msg, hint="explain it for a single query")
    return ScoringRule(name, chosen, reading.protocol, reading.digits, profile.caveats)


def diff(first: NamedRule[BaseProtocol], second: NamedRule[BaseProtocol]) -> tuple[RuleDifference, ...]:
    """Return every convention in which two rules differ, of the protocol and of the measure."""
    fields = first.protocol.conventions()
    pairs = ((name, getattr(first.protocol, name), getattr(second.protocol, name)) for name in fields)
    changes = [
        RuleDifference(name, "protocol", ours, theirs) for name, ours, theirs in pairs if ours != theirs
    ]
    if first.measure.name != second.measure.name:
        return (*changes, RuleDifference("measure", "measure", first.measure, second.measure))
    here, there = first.measure.parameters, second.measure.parameters
    names = [name for name in first.measure.defaults if here.get(name) != there.get(name)]
    return (*changes, *(RuleDifference(name, "parameter", here.get(name), there.get(name)) for name in names))


def blend(first: NamedRule[P_co], taken: Collection[RuleDifference]) -> tuple[Measure, P_co]:
    """Return the measure and protocol of the first rule with some conventions taken from the second."""
    values = {
        kind: {change.name: change.second for change in taken if change.kind == kind}
        for kind in ("protocol", "parameter", "measure")
    }
    protocol = first.protocol.replace(**values["protocol"])
    return values["measure"].get("measure") or first.measure(**values["parameter"]), protocol


def are_conventions(against: object) -> bool:
    """Return whether this is a profile, a protocol or changed conventions, and not the values of another tool.

    >>> are_conventions("lightgbm"), are_conventions("ties=input-order"), are_conventions("theirs.csv")
    (True, True, False)
    """
    if not isinstance(against, str):
        return isinstance(against, Profile | Protocol)
    head, path = against.partition(",")[0], Path(against)
    if head in PROFILES or "=" in head:
        return True
    return not (path.is_file() or path.parent != Path() or path.suffix)


def _resolve(conventions: Conventions, base: Conventions) -> tuple[Profile, dict[str, object], str]:
    """Return the profile, the changes to it, and the name of both."""
    if not isinstance(conventions, str):
        profile = as_profile(conventions)
        changed = "".join(f",{name}={_format(value)}" for name, value in profile.changes.items())
        return profile, {}, f"{profile.name}{changed}"
    head, *tail = conventions.split(",")
    if "=" in head:
        profile, changes, _ = _resolve(base, "trec_eval-9")
        return profile, changes | _parse_changes([head, *tail]), conventions
    if head not in PROFILES:
        raise UnknownName("profile", head, [*PROFILES, *(f"{name}=…" for name in FIELDS)])
    return PROFILES[head], _parse_changes(tail), conventions


def _parse_changes(parts: list[str]) -> dict[str, object]:
    """Parse changes such as `ties=input-order`, `depth=10`, `gain=exp`."""
    changes = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or not name or not value:
            msg = f"`{part}` changes no convention, expected one such as `ties=input-order`"
            raise BadProtocol(msg, hint="a profile may come first: `ranx,missing=skip`")
        changes[name.strip().replace("-", "_")] = _parse_value(value.strip())
    return changes


def _parse_value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _format(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, (str, Measure)) else format_value(value)
