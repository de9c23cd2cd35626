"""Columns that the user names: `query=frage,run:score=wert` as a mapping, and paths that carry one to their readers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self, TypeAlias

from judged.errors import JudgedError, UnknownName, Unreadable, check_kind
from judged.tables.schema import SCHEMAS, Schema
from judged.wording import name_setting

Columns: TypeAlias = Mapping[str, str]
"""Columns by field; in front of a field may be the table that is meant: `run:score`."""

_PARTS = re.compile(r",(?=(?:[a-z_-]+:)?[a-z_]+=)")


@dataclass(frozen=True)
class ColumnMap:
    """The columns that the user names, for every table or for one.

    >>> named = ColumnMap.parse(["judgments:query=frage,grade=note", "run:score=wert"])
    >>> named.columns
    {'judgments:query': 'frage', 'judgments:grade': 'note', 'run:score': 'wert'}
    """

    columns: Columns
    used: set[str] = field(default_factory=set, compare=False)
    """The entries that a reader has used."""

    @classmethod
    def parse(cls, texts: Iterable[str]) -> ColumnMap:
        """Return the map of `FIELD=COLUMN` pairs separated by commas; a table's name holds up to the next."""
        columns: dict[str, str] = {}
        for text in texts:
            table = ""
            for pair in _PARTS.split(text):
                name, equals, column = pair.partition("=")
                if not equals or not name.strip():
                    msg = f"`{pair}` does not name a column, expected FIELD=COLUMN"
                    raise JudgedError(msg, hint="for example `--map query=question,run:score=similarity`")
                given, _, own = name.strip().rpartition(":")
                table = given or table
                key = f"{table}:{own}" if table else own
                if columns.setdefault(key, column) != column:
                    msg = f"`{key}` is mapped to `{columns[key]}` and to `{column}`, expected one column"
                    raise JudgedError(msg)
        return cls.check(columns)

    @classmethod
    def check(cls, columns: Columns) -> ColumnMap:
        """Return the map; raise `UnknownName` for a table or a field that is not known."""
        check_kind("map", columns, Mapping, "a dict from fields to columns, such as {'query': 'frage'}")
        for key, column in columns.items():
            check_kind(f"map[{key!r}]", column, str, "the name of a column; '' says that there is none")
            table, _, name = str(key).rpartition(":")
            if table and table not in SCHEMAS:
                raise UnknownName("table", table, list(SCHEMAS))
            known = [item.name for item in SCHEMAS[table].fields] if table else _list_fields()
            if name not in known:
                of = f"field of {table}" if table else "field"
                raise UnknownName(of, name, known, hint=f"known: {', '.join(known)}")
        return cls(dict(columns))

    def apply(self, schema: Schema) -> Schema:
        """Return the schema with the columns that are named for its table, or for every table with that field."""
        chosen: dict[str, str] = {}
        fields = {item.name for item in schema.fields}
        for key, column in self.columns.items():
            table, _, name = key.rpartition(":")
            if table == schema.name or (not table and name in fields):
                chosen[name] = column
                self.used.add(key)
        return schema.map(chosen) if chosen else schema

    @property
    def unused(self) -> list[str]:
        """The entries that no reader has used."""
        return [f"{key}={column}" for key, column in self.columns.items() if key not in self.used]


class MappedPath(str):
    """The path of a file whose columns the user names; it can be given wherever a path can.

    >>> MappedPath("runs.csv", {"run:score": "wert"}).map.columns
    {'run:score': 'wert'}
    """

    __slots__ = ("map",)
    map: ColumnMap

    def __new__(cls, path: str | os.PathLike[str], columns: Columns | ColumnMap) -> Self:
        """Return the path with its map."""
        made = super().__new__(cls, os.fspath(path))
        made.map = columns if isinstance(columns, ColumnMap) else ColumnMap.check(columns)
        return made

    @property
    def columns(self) -> Columns:
        """The columns that the user names."""
        return self.map.columns


def map_schema(schema: Schema, source: object, columns: Columns | None = None) -> Schema:
    """Return the schema as it is read from a source: with the columns that its path, or an argument, names."""
    if isinstance(source, MappedPath):
        schema = source.map.apply(schema)
    return schema if columns is None else ColumnMap.check(columns).apply(schema)


def keep_map(path: str, original: str) -> str:
    """Return a path with the map of another, if that has one."""
    return MappedPath(path, original.map) if isinstance(original, MappedPath) else path


def refuse_map(schema: Schema, label: str, held: str) -> None:
    """Raise `Unreadable` if the user named columns of something that has none."""
    if not schema.mapped:
        return
    pairs = ",".join(f"{name}={column}" for name, column in schema.mapped.items())
    msg = f"{label} is {held}, whose columns have no names: `{pairs}` cannot be applied"
    others = "run" if schema.name == "judgments" else "judgments"
    named = {f"{others}:{name}": column for name, column in schema.mapped.items()}
    which = name_setting(f"--map {others}:{pairs}", f"map={named}")
    raise Unreadable(msg, hint=f"if it is meant for another file, say for which: {which}")


def _list_fields() -> list[str]:
    return list(dict.fromkeys(item.name for name in SCHEMAS for item in SCHEMAS[name].fields))
