"""Dicts: query → document → number, or query → ids; told apart by what the first query holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["read_judgments", "read_run"]


def read_judgments(mapping: Mapping[Any, Any], *, name: str, intents: bool = False) -> Judgments:  # noqa: ARG001
    """Judgments of a dict of dicts, with intents inside or not, or of a dict of lists or sets of relevant ids."""
    make = Judgments.from_mapping if _is_nested(mapping) else Judgments.from_lists
    return make(mapping, name=name)


def read_run(mapping: Mapping[Any, Any], *, name: str) -> Run:
    """A run of a dict of dicts, or of a dict of lists of ids, best first."""
    make = Run.from_mapping if _is_nested(mapping) else Run.from_lists
    return make(mapping, name=name)


def _is_nested(mapping: Mapping[Any, Any]) -> bool:
    return any(isinstance(inner, Mapping) for inner in mapping.values()) or not mapping
