"""Which turn of a conversation is its session."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["TurnChoice"]

TurnChoice: TypeAlias = Literal["last", "last-with-search"]
"""The last one, or the last one that searched."""
