"""Every profile by name, each imported only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.protocol import Protocol
from judged.registry import Registry

if TYPE_CHECKING:
    from judged.profiles.profile import Profile

__all__ = ["PROFILES", "as_profile"]

PROFILES: Registry[Profile] = Registry("profile")
"""Profiles by name; the first is the default."""

PROFILES.add("trec_eval-9", "judged.profiles.trec_eval:TREC_EVAL_9")
PROFILES.add("trec_eval-10", "judged.profiles.trec_eval:TREC_EVAL_10")
for _name in (
    "pytrec_eval",
    "ir_measures",
    "ranx",
    "beir",
    "mteb",
    "msmarco",
    "gdeval",
    "trectools",
    "sources",
):
    PROFILES.add(_name, f"judged.profiles.{_name}:PROFILE")


def as_profile(convention: Profile | Protocol | str) -> Profile:
    """Return the profile itself, the one of that name, or one with every measure under the given protocol."""
    if isinstance(convention, str):
        return PROFILES[convention]
    if isinstance(convention, Protocol):
        from judged.profiles.profile import Profile

        return Profile(convention.profile or "custom", protocol=convention)
    return convention
