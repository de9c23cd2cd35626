"""Grids: a list where a system has one setting is a factor, and the system becomes one for each combination of values.

    search: {type: bm25, k1: [0.9, 1.2], b: [0.4, 0.75]}    →    four systems

`{grid: [...]}` says the same where the setting is a list itself, or may be one. A system that consists of a grid is a grid
as well: a fusion of four systems and a fifth is four fusions. Each system is named by what differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import prod
from typing import Any, TypeAlias

from msgspec import inspect

from judged.errors import BadProtocol
from judged.studies.systems.declared import SystemSpec

GRID = "grid"
"""The only key of a dict whose list holds the values of a factor."""
MOST_SYSTEMS = 500
"""Systems that the grids of a study may have together."""
LONGEST_NAME = 80
_FORBIDDEN = re.compile(r"[^\w .+()=,@-]+")
_NOT_A_FACTOR = ("name", "factors", "grid", "tune")

Content: TypeAlias = Any
"""Content of YAML, before it is checked."""
Path: TypeAlias = tuple[str, ...]
Key: TypeAlias = tuple[str, Path]
"""A factor: the system that declares it, and its place in that system's settings."""


@dataclass(frozen=True)
class Variant:
    """One of the values that settings stand for."""

    value: Content
    chosen: Mapping[Path, object] = field(default_factory=dict)
    """The value of each factor in it, by its place."""


@dataclass(frozen=True)
class _Member:
    """A system of a grid."""

    name: str
    content: Mapping[str, Content]
    chosen: Mapping[Key, object]


def expand_grids(systems: Sequence[object], source: str) -> tuple[list[object], dict[str, tuple[str, ...]]]:
    """Return every system of a study, grids expanded, and the names of the systems of each grid.

    >>> expand_grids([{"name": "words", "search": {"type": "bm25", "k1": [0.9, 1.2]}}], "study")[1]
    {'words': ('words (k1=0.9)', 'words (k1=1.2)')}
    """
    named = {
        str(content["name"]): (number, content)
        for number, content in reversed(list(enumerate(systems)))
        if isinstance(content, Mapping) and isinstance(content.get("name"), str)
    }
    members: dict[str, list[_Member]] = {}
    expanded: list[list[object]] = [[content] for content in systems]
    for name in _order(named):
        number, content = named[name]
        place = f"{source}: `systems[{number}]`"
        found = list(_combine(name, content, members, place))
        if len(found) > 1:
            members[name] = _name_members(name, found)
            expanded[number] = [member.content for member in members[name]]
        elif found[0].content != content:
            expanded[number] = [found[0].content]
        # before the next: every system of a chain on a grid is a grid
        _check_count(sum(map(len, members.values())), f"{source}: `systems`, up to `{name}`,")
    grids = {name: tuple(member.name for member in some) for name, some in members.items()}
    return [content for some in expanded for content in some], grids


def list_parts(content: Mapping[str, Content]) -> list[str]:
    """Return the names of the systems that a system consists of, as far as its content is sound."""
    fuse, router, base = (content.get(way) for way in ("fuse", "router", "base"))
    names: list[object] = [base]
    if isinstance(fuse, Mapping) and isinstance(fuse.get("of"), list | tuple):
        names += fuse["of"]
    if isinstance(router, Mapping) and isinstance(router.get("experts"), list | tuple):
        names += [one.get("system") if isinstance(one, Mapping) else one for one in router["experts"]]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _order(named: Mapping[str, tuple[int, Mapping[str, Content]]]) -> list[str]:
    """Return names so that parts come first; systems in a circle come in any order, and are refused later."""
    parts = {
        name: [part for part in list_parts(content) if part in named] for name, (_, content) in named.items()
    }
    done: dict[str, None] = {}
    for first in parts:
        stack, path = [first], set()
        while stack:  # a chain may be longer than Python's stack is deep
            name = stack[-1]
            waiting = [part for part in parts[name] if part not in done and part not in path and part != name]
            path.add(name)
            if waiting:
                stack += waiting
            else:
                done.setdefault(stack.pop())
    return list(done)


def _combine(
    name: str, content: Mapping[str, Content], members: Mapping[str, Sequence[_Member]], place: str
) -> Iterator[_Member]:
    """Yield the system of every combination of its own factors and of those of its parts."""
    own = expand_settings({key: value for key, value in content.items() if key not in _NOT_A_FACTOR}, place)
    kept = {key: value for key, value in content.items() if key in _NOT_A_FACTOR}
    for variant in own:
        settings = {**kept, **variant.value}
        chosen: dict[Key, object] = {(name, path): value for path, value in variant.chosen.items()}
        for parts in _choose_parts(
            [part for part in list_parts(settings) if part in members], members, place
        ):
            names = {part: member.name for part, member in parts.items()}
            inherited = {key: value for member in parts.values() for key, value in member.chosen.items()}
            yield _Member(name, _rename_parts(settings, names), {**inherited, **chosen})


def _choose_parts(
    parts: Sequence[str], members: Mapping[str, Sequence[_Member]], place: str
) -> Iterator[dict[str, _Member]]:
    """Yield one member of each grid, so that all agree on the factors that they share."""
    agreeing: list[tuple[dict[str, _Member], dict[Key, object]]] = [({}, {})]
    for part in parts:
        agreeing = [
            ({**some, part: member}, {**chosen, **member.chosen})
            for some, chosen in agreeing
            for member in members[part]
            if all(chosen.get(key, value) == value for key, value in member.chosen.items())
        ]
        _check_count(len(agreeing), place)
    yield from (some for some, _ in agreeing)


def _rename_parts(content: Mapping[str, Content], names: Mapping[str, str]) -> dict[str, Content]:
    """Return the settings of a system with the names of its parts replaced."""
    renamed = dict(content)
    if not names:
        return renamed
    if isinstance(renamed.get("base"), str):
        renamed["base"] = names.get(renamed["base"], renamed["base"])
    if isinstance(renamed.get("fuse"), Mapping):
        fuse = dict(renamed["fuse"])
        fuse["of"] = [names.get(part, part) for part in fuse["of"]]
        if isinstance(fuse.get("weights"), Mapping):
            fuse["weights"] = {names.get(part, part): weight for part, weight in fuse["weights"].items()}
        renamed["fuse"] = fuse
    if isinstance(renamed.get("router"), Mapping):
        experts = []
        for one in renamed["router"]["experts"]:
            if isinstance(one, Mapping):
                experts.append({**one, "system": names.get(str(one.get("system")), one.get("system"))})
            else:
                experts.append(names.get(one, one))
        renamed["router"] = {**renamed["router"], "experts": experts}
    return renamed


def expand_settings(settings: Mapping[str, Content], place: str) -> list[Variant]:
    """Return the settings of a system with every combination of the values of its factors."""
    return _expand(settings, (_describe_system(),), (), place)


@cache
def _describe_system() -> inspect.Type:
    """Return the types of the settings of a system; finding them out takes milliseconds."""
    return inspect.type_info(SystemSpec)


def _expand(value: Content, kinds: Sequence[inspect.Type], path: Path, place: str) -> list[Variant]:
    """Return the variants of a value at a place of that type."""
    kinds = [option for kind in kinds for option in getattr(kind, "types", (kind,))]
    listed = _find_factor(value, kinds)
    if listed is not None:
        where = f"{place}: `{'.'.join(path)}`" if path else place
        if not listed:
            msg = f"{where}: the list of values is empty, expected one or more"
            raise BadProtocol(msg)
        _check_count(len(listed), place)
        inner = [_expand(item, kinds, path, place) for item in listed]
        variants = [variant for some in inner for variant in some]
        if any(
            variant.value == other.value for at, variant in enumerate(variants) for other in variants[:at]
        ):
            msg = f"{where}: a value occurs twice in the list, expected each once"
            raise BadProtocol(msg)
        _check_count(len(variants), place)
        items = [item for item, some in zip(listed, inner, strict=True) for _ in some]
        return [
            Variant(variant.value, {path: item, **variant.chosen})
            if len(listed) > 1
            else Variant(variant.value, variant.chosen)
            for item, variant in zip(items, variants, strict=True)
        ]
    if isinstance(value, Mapping):
        return _expand_each(list(value.items()), _types_of_keys(value, kinds), path, place, dict)
    if isinstance(value, list | tuple):
        items = [getattr(kind, "item_type", None) for kind in kinds]
        kinds_of_items = [kind for kind in items if kind is not None]
        pairs = list(enumerate(value))
        return _expand_each(pairs, dict.fromkeys(range(len(value)), kinds_of_items), path, place, _values)
    return [Variant(value)]


def _values(pairs: Sequence[tuple[object, object]]) -> list[object]:
    return [value for _, value in pairs]


def _expand_each(
    pairs: Sequence[tuple[Content, Content]],
    kinds: Mapping[Content, Sequence[inspect.Type]],
    path: Path,
    place: str,
    make: Content,
) -> list[Variant]:
    """Return every combination of the variants of several settings."""
    expanded = [_expand(value, kinds.get(key, ()), (*path, str(key)), place) for key, value in pairs]
    _check_count(prod(map(len, expanded)), place)
    keys = [key for key, _ in pairs]
    return [
        Variant(
            make(list(zip(keys, (variant.value for variant in some), strict=True))),
            {place: value for variant in some for place, value in variant.chosen.items()},
        )
        for some in product(*expanded)
    ]


def _find_factor(value: Content, kinds: Sequence[inspect.Type]) -> list[Content] | None:
    """Return the values of a factor; None if the value is an ordinary setting."""
    if isinstance(value, Mapping) and list(value) == [GRID] and isinstance(value[GRID], list | tuple):
        return list(value[GRID])
    takes_lists = (
        inspect.ListType | inspect.VarTupleType | inspect.TupleType | inspect.SetType | inspect.AnyType
    )
    if isinstance(value, list | tuple) and kinds and not any(isinstance(kind, takes_lists) for kind in kinds):
        return list(value)
    return None


def _types_of_keys(
    value: Mapping[str, Content], kinds: Sequence[inspect.Type]
) -> dict[str, Sequence[inspect.Type]]:
    """Return the types that the settings of a dict may have; nothing for those that are not declared."""
    for kind in kinds:
        if isinstance(kind, inspect.StructType) and (
            kind.tag_field is None or value.get(kind.tag_field) == kind.tag
        ):
            return {member.encode_name: (member.type,) for member in kind.fields}
        if isinstance(kind, inspect.DictType):
            return dict.fromkeys(value, (kind.value_type,))
    return {}


def _check_count(count: int, place: str) -> None:
    if count > MOST_SYSTEMS:
        msg = f"{place} is a grid of {count:,} systems, expected {MOST_SYSTEMS:,} or fewer"
        raise BadProtocol(msg, hint="leave out values, or let `tune` choose among them")


def _name_members(name: str, found: Sequence[_Member]) -> list[_Member]:
    """Return the systems of a grid, each named by the values in which it differs from the others."""
    keys = list(dict.fromkeys(key for member in found for key in member.chosen))
    titles = _name_factors(keys)
    labels = {
        key: _label_values([member.chosen[key] for member in found if key in member.chosen]) for key in keys
    }
    named = []
    for number, member in enumerate(found, 1):
        factors = {
            titles[key]: labels[key][_freeze(member.chosen[key])] for key in keys if key in member.chosen
        }
        shown = _FORBIDDEN.sub("-", ", ".join(f"{title}={label}" for title, label in factors.items()))
        full = f"{name} ({shown})"
        full = full if len(full) <= LONGEST_NAME else f"{name} ({number} of {len(found)})"
        content = {**member.content, "name": full, "grid": name, "factors": factors}
        named.append(_Member(full, content, member.chosen))
    return named


def _name_factors(keys: Sequence[Key]) -> dict[Key, str]:
    """Return the shortest name of each factor that no other one has: its last word, its place, or with its system."""
    titles: dict[Key, str] = {}
    for owner, path in keys:
        words = [word for word in path if not word.isdecimal()]
        choices = (words[-1], ".".join(words), ".".join(path), f"{owner} {'.'.join(path)}")
        rivals = [
            (
                [word for word in other[1] if not word.isdecimal()][-1],
                ".".join(word for word in other[1] if not word.isdecimal()),
                ".".join(other[1]),
                "",
            )
            for other in keys
            if other != (owner, path)
        ]
        level = next(at for at, choice in enumerate(choices) if all(choice != rival[at] for rival in rivals))
        titles[owner, path] = choices[level]
    return titles


def _label_values(values: Sequence[object]) -> dict[str, str]:
    """Return a short label for each value of a factor, all different."""
    unique = {_freeze(value): value for value in values}
    for shorten in (_shorten, _label, _freeze):
        labels = {key: shorten(value) for key, value in unique.items()}
        if len(set(labels.values())) == len(labels):
            return labels
    return {key: str(number) for number, key in enumerate(unique, 1)}


def _shorten(value: object) -> str:
    """Return the type of a stage, or the last part of a path, a model or a module."""
    if isinstance(value, Mapping):
        return str(value.get("type", _label(value)))
    return re.split(r"[/:\\]", value.rstrip("/"))[-1] if isinstance(value, str) else _label(value)


def _label(value: object) -> str:
    """Return a value in a few words."""
    if isinstance(value, Mapping):
        return " ".join(
            _shorten(item) if key == "type" else f"{key}={_shorten(item)}" for key, item in value.items()
        )
    if isinstance(value, list | tuple):
        return "+".join(map(_label, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _freeze(value: object) -> str:
    return repr(value)
