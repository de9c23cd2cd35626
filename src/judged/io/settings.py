"""Settings in YAML, checked against the Struct that declares them: what is wrong is named by its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from judged.errors import BadProtocol, UnknownName, Unreadable
from judged.store.files import parse_yaml

T = TypeVar("T")


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; a syntax error names its line."""
    import yaml

    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        msg = f"{path}{line}: {error.problem}"
        raise BadProtocol(msg, hint="the file must be YAML") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        msg = f"{path}: {error}"
        raise BadProtocol(msg, hint="the file must be YAML, in UTF-8") from None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise Unreadable(msg) from None


def convert_settings(content: Any, kind: type[T], source: object) -> T:
    """Return the settings as that Struct; raise an error with the source and the place for the first that is wrong.

    >>> class Server(msgspec.Struct):
    ...     sizes: list[int]
    >>> convert_settings({"sizes": [1, "large"]}, Server, "server.yaml")
    Traceback (most recent call last):
    judged.errors.BadProtocol: server.yaml: `sizes[1]`: expected `int`, got `str`
    """
    check_names(content, kind, source)
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at ")
        key = place.strip("`").removeprefix("$").removeprefix(".") or "the file"
        msg = f"{source}: `{key}`: {what[:1].lower()}{what[1:]}"
        raise BadProtocol(msg) from None


def check_names(content: Any, kind: type, source: object, place: str = "") -> None:
    """Raise `UnknownName` for the first key, or the first `type` of a stage, that is not declared."""
    for error in _find_unknown(content, inspect.type_info(kind), place, source):
        raise error


def _find_unknown(content: Any, kind: inspect.Type, place: str, source: object) -> Iterator[UnknownName]:
    """Yield an error for every name that is not declared."""
    options = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if isinstance(content, Mapping):
        structs = [one for one in options if isinstance(one, inspect.StructType)]
        yield from _find_unknown_keys(content, structs, place, source)
    elif isinstance(content, list | tuple):
        for one in options:
            if isinstance(one, inspect.ListType | inspect.VarTupleType):
                for number, item in enumerate(content):
                    yield from _find_unknown(
                        item, one.item_type, f"{place.removesuffix('.')}[{number}].", source
                    )


def _find_unknown_keys(
    content: Mapping[Any, Any], structs: list[inspect.StructType], place: str, source: object
) -> Iterator[UnknownName]:
    tags = {one.tag: one for one in structs if one.tag_field is not None}
    if tags:
        field = str(structs[0].tag_field)
        tag = content.get(field)
        if not isinstance(tag, str):
            return  # `convert` has the better message
        if tag not in tags:
            yield UnknownName(f"`{place}{field}` of {source}", str(tag), [str(one) for one in tags])
            return
        structs = [tags[tag]]
    for one in structs[:1]:
        fields = {found.encode_name: found.type for found in one.fields}
        for key, value in content.items():
            if key in fields:
                yield from _find_unknown(value, fields[key], f"{place}{key}.", source)
            elif key != one.tag_field:
                yield UnknownName(
                    f"setting of {source}", f"{place}{key}", [f"{place}{name}" for name in fields]
                )
