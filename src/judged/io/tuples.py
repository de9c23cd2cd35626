"""Iterables of named tuples (those of ir_measures and ir_datasets) or of dicts, read once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from judged.errors import WrongKind
from judged.io import records
from judged.io.columns import Roles, find_columns
from judged.io.format import Kind
from judged.problem import Problems
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["read_judgments", "read_run"]


def read_judgments(source: Iterable[Any], *, name: str, intents: bool = False) -> Judgments:
    """Judgments of named tuples such as `Qrel(query_id, doc_id, relevance)`, or of dicts."""
    items = list(source)
    if not items or isinstance(items[0], Mapping):
        return records.judgments_of(items, name=name, faults=Problems(name), intents=intents)
    roles = _roles(items, "judgments", name, intents=intents)
    return Judgments.from_columns(**roles.judged(_columns(items, roles)), name=name, notes=roles.notes)


def read_run(source: Iterable[Any], *, name: str) -> Run:
    """A run of named tuples such as `ScoredDoc(query_id, doc_id, score)`, or of dicts."""
    items = list(source)
    if not items or isinstance(items[0], Mapping):
        return records.run_of(items, name=name, faults=Problems(name))
    roles = _roles(items, "run", name)
    return Run.from_columns(*_columns(items, roles), name=name, notes=roles.notes)


def _roles(items: list[Any], kind: Kind, name: str, *, intents: bool = False) -> Roles:
    """Which field plays which role; all items must be of one kind, and name their fields."""
    kinds = set(map(type, items))
    fields = _fields(items[0])
    if fields is None or len(kinds) > 1:
        told = ", ".join(sorted(each.__name__ for each in kinds))
        msg = f"{name} cannot be read from an iterable of {told}, expected named tuples or dicts of one kind"
        raise WrongKind(msg, hint=_hint(kind))
    return find_columns(fields, kind, subject=name, intents=intents)


def _fields(item: Any) -> list[str] | None:
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return list(item._fields)
    if dataclasses.is_dataclass(item):
        return [field.name for field in dataclasses.fields(item)]
    return None


def _columns(items: list[Any], roles: Roles) -> list[list[Any]]:
    return [[getattr(item, field) for item in items] for field in roles.all()]


def _hint(kind: Kind) -> str:
    number = "score" if kind == "run" else "relevance"
    return f"for example dicts {{'query_id': …, 'doc_id': …, '{number}': …}}, or a dict of dicts"
