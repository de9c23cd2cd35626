"""Results as rows of a table: plain words and numbers under the names of the fields."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeAlias

from judged.stats.undefined import Undefined

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Cell", "as_cell", "as_row"]

Cell: TypeAlias = str | int | float | None


def as_row(result: DataclassInstance) -> dict[str, Cell]:
    """The fields of a result by name; what is undefined as its words."""
    found = {field.name: getattr(result, field.name) for field in fields(result)}
    return {name: as_cell(value) for name, value in found.items()}


def as_cell(value: Cell | Undefined) -> Cell:
    """A value as it stands in a table; what is undefined as its words."""
    return str(value) if isinstance(value, Undefined) else value
