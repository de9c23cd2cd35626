"""Answered systems: what a system of a study answered, read once, and what that says about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from judged.problem import Note
from judged.studies.running.answers import Asked, Built
from judged.studies.running.plan import PlannedSystem
from judged.wording import counted, say_when


@dataclass(frozen=True, eq=False)
class Answered:
    """A system that answered every query, the name under which it is shown, and its answers, read once."""

    name: str
    planned: PlannedSystem
    built: Built
    asked: tuple[Asked, ...]
    """Every answer to a scored query, in the order in which they were given."""

    @property
    def found(self) -> bool:
        """Whether it has a result for any query."""
        return any(asked.documents for asked in self.first_pass)

    @cached_property
    def first_pass(self) -> list[Asked]:
        """The answers of the first pass, each query once."""
        first: dict[str, Asked] = {}
        for asked in self.asked:
            if asked.sample == 0:
                first.setdefault(asked.query, asked)
        return list(first.values())

    def select(self, queries: Collection[str]) -> Answered:
        """Return it with its answers to these queries alone."""
        wanted = set(queries)
        return replace(self, asked=tuple(asked for asked in self.asked if asked.query in wanted))

    @property
    def failed(self) -> list[Asked]:
        """The queries that it failed on."""
        return [asked for asked in self.asked if asked.error]

    def date_kept(self, began: float) -> str:
        """Return when those answers were given that are older than the run, and how many they are if not all."""
        kept = [answer.at for answer in self.asked if answer.at < began]
        if not kept:
            return ""
        dates = dict.fromkeys((say_when(min(kept)), say_when(max(kept))))
        some = f" ({len(kept):,} of {len(self.asked):,})" if len(kept) < len(self.asked) else ""
        return f"{' to '.join(dates)}{some}"

    def note_changes(self) -> Iterator[Note]:
        """Yield a note if it returned different results for a query in a later pass."""
        first: dict[str, tuple[str, ...]] = {}
        changed = set()
        for asked in self.asked:
            if not asked.error and first.setdefault(asked.query, asked.documents) != asked.documents:
                changed.add(asked.query)
        if changed:
            message = f"{self.name} returned different results for {counted(len(changed), 'query')} in a later pass; the first pass is scored"
            yield Note("unsteady", "warning", message)
