"""Traces of agents as they are written by others, one file for each format."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["TurnChoice"]

TurnChoice: TypeAlias = Literal["last", "last-with-search"]
"""Which turn of a conversation is its session: the last one, or the last one that searched."""
