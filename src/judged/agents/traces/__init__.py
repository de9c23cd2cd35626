"""Agents' traces → sessions; one small file per format."""

from __future__ import annotations

from typing import Literal, TypeAlias

TurnChoice: TypeAlias = Literal["last", "last-with-search"]
"""Which turn of a conversation counts: the last one, or the last one that searched."""
