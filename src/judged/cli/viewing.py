"""Interface of a subject whose files `judged view` can show before they are results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from judged.comparison.settings import Settings
from judged.profiles.profile import Profile
from judged.result import Result


@dataclass(frozen=True)
class ViewOptions:
    """Settings for evaluating runs and the files of subjects."""

    measures: tuple[str, ...]
    baselines: tuple[str, ...]
    labels: str | None
    settings: Settings
    profile: Profile
    join: bool = False
    """Whether the files of a folder or a pattern are parts of one run."""


Viewer: TypeAlias = Callable[[Sequence[tuple[str | None, str]], ViewOptions], Callable[[], Result] | None]
"""Takes the inputs, each with its name if one was given, and returns what evaluates them; None for other files."""
