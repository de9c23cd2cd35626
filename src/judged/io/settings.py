"""Settings in YAML, checked against the Struct that declares them: what is wrong is named by its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from judged.errors import BadProtocol, UnknownName, Unreadable

T = TypeVar("T")

MOST_VALUES = 1_000_000
"""More values than any settings have: a few aliases of aliases unfold to billions."""


def read_yaml(path: Path, *, most: int = MOST_VALUES) -> Any:
    """Return the content of a YAML file; an error names its line. It may hold `most` values, aliases unfolded."""
    try:
        return parse_yaml(path.read_bytes(), path, most=most)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise Unreadable(msg) from None


def parse_yaml(content: bytes, source: object, *, words: bool = False, most: int = MOST_VALUES) -> Any:
    r"""Return the value of a YAML document; raise `BadProtocol` for anything else, however it fails.

    With `words`, `yes` and `no` are words, not Booleans.

    >>> parse_yaml(b"measures: [nDCG]\nmeasures: [AP]", "judged.yaml")
    Traceback (most recent call last):
    judged.errors.BadProtocol: judged.yaml, line 2: the key `measures` appears twice
    <BLANKLINE>
    hint: the file must be YAML, in UTF-8
    """
    import yaml

    place, problem = str(source), ""
    try:
        value = yaml.load(content.decode("utf-8-sig"), _make_loader(words=words))  # noqa: S506 - a safe loader
        if _count_values(value, {}) <= most:
            return value
        problem = f"its aliases unfold to more than {most:,} values"
    except yaml.MarkedYAMLError as error:
        place += f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = error.problem or str(error)
    except RecursionError:
        problem = "it is nested too deeply"
    except (
        yaml.YAMLError,
        ValueError,
    ) as error:  # an impossible date, a number of thousands of digits, no UTF-8
        problem = " ".join(str(error).split())
    msg = f"{place}: {problem}"
    raise BadProtocol(msg, hint="the file must be YAML, in UTF-8")


@cache
def _make_loader(*, words: bool) -> type:
    """Return PyYAML's safe loader, which keeps the last of two equal keys in silence, with an error for them."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        def __init__(self, stream: str) -> None:
            super().__init__(stream)
            self._checked: set[yaml.MappingNode] = set()

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            # Only the first call sees a mapping as written: this method puts merged keys among its own.
            if node not in self._checked:
                self._checked.add(node)
                _refuse_repeated_keys(node)
            super().flatten_mapping(node)

    if words:
        Loader.yaml_implicit_resolvers = {
            first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
            for first, resolvers in Loader.yaml_implicit_resolvers.items()
        }
    return Loader


def _refuse_repeated_keys(node: Any) -> None:
    import yaml

    seen = set()
    for key, _ in node.value:
        name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else key
        if name in seen:
            problem = f"the key `{key.value}` appears twice"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
        seen.add(name)


def _count_values(value: object, counts: dict[int, int]) -> int:
    """Return the number of values with all aliases unfolded; raise `ValueError` if a value contains itself."""
    if not isinstance(value, dict | list | tuple):
        return 1
    if counts.get(id(value)) == 0:
        raise ValueError("a part of it contains itself")
    if id(value) not in counts:
        counts[id(value)] = 0  # until its parts are counted
        parts = value.values() if isinstance(value, dict) else value
        counts[id(value)] = 1 + sum(_count_values(part, counts) for part in parts)
    return counts[id(value)]


def convert_settings(content: object, kind: type[T], source: object, *, hint: str | None = None) -> T:
    """Return the settings as that Struct; raise an error with the source and the place for the first that is wrong.

    >>> class Server(msgspec.Struct):
    ...     sizes: list[int]
    >>> convert_settings({"sizes": [1, "large"]}, Server, "server.yaml")
    Traceback (most recent call last):
    judged.errors.BadProtocol: server.yaml: `sizes[1]`: expected `int`, got `str`
    """
    try:
        # first, because its error suggests the name that was meant
        check_names(content, kind, source)
        return msgspec.convert(content, kind)
    except UnknownName as error:
        error.hint = hint or error.hint
        raise
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        key = place.strip("`").removeprefix("$").removeprefix(".") or "the file"
        msg = f"{source}: `{key}`: {message[:1].lower()}{message[1:]}"
        raise BadProtocol(msg, hint=hint) from None


def check_names(content: object, kind: type, source: object, place: str = "") -> None:
    """Raise `UnknownName` for the first key, or the first `type` of a stage, that is not declared."""
    for error in _find_unknown(content, inspect.type_info(kind), place, source):
        raise error


def _find_unknown(content: object, kind: inspect.Type, place: str, source: object) -> Iterator[UnknownName]:
    """Yield an error for every name that is not declared."""
    options = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if isinstance(content, Mapping):
        structs = [option for option in options if isinstance(option, inspect.StructType)]
        yield from _find_unknown_keys(content, structs, place, source)
    elif isinstance(content, list | tuple):
        for option in options:
            if isinstance(option, inspect.ListType | inspect.VarTupleType):
                for number, item in enumerate(content):
                    yield from _find_unknown(
                        item, option.item_type, f"{place.removesuffix('.')}[{number}].", source
                    )


def _find_unknown_keys(
    content: Mapping[Any, Any], structs: list[inspect.StructType], place: str, source: object
) -> Iterator[UnknownName]:
    tags = {struct.tag: struct for struct in structs if struct.tag_field is not None}
    if tags:
        field = str(structs[0].tag_field)
        tag = content.get(field)
        if not isinstance(tag, str):
            return  # `convert` has the better message
        if tag not in tags:
            yield UnknownName(f"`{place}{field}` of {source}", str(tag), [str(known) for known in tags])
            return
        structs = [tags[tag]]
    for struct in structs[:1]:
        fields = {member.encode_name: member.type for member in struct.fields}
        for key, value in content.items():
            if key in fields:
                yield from _find_unknown(value, fields[key], f"{place}{key}.", source)
            elif key != struct.tag_field:
                yield UnknownName(
                    f"setting of {source}", f"{place}{key}", [f"{place}{name}" for name in fields]
                )
