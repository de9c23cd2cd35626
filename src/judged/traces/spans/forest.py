"""The spans of one trace as trees: what lies beneath what, with no cycles and nothing lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property

from judged.traces.spans.span import Span

__all__ = ["Forest"]


class Forest:
    """The spans of one trace in the order of their start, with their parents and children."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = sorted(spans, key=lambda span: span.rank)
        self.id = self.spans[0].trace
        self.parent = _parents(self.spans)
        self.children: dict[str | None, list[Span]] = defaultdict(list)
        for span in self.spans:
            above = self.parent[span.id]
            self.children[above.id if above else None].append(span)

    @property
    def roots(self) -> list[Span]:
        """The spans without a parent in the trace."""
        return self.children[None]

    @property
    def rank(self) -> tuple[int, str]:
        """What traces are sorted by: the first start in them that is known, then their id."""
        return next((span.start for span in self.spans if span.start is not None), -1), self.id

    @cached_property
    def session(self) -> str | None:
        """The conversation that the trace is a turn of, as its outermost span that names one says."""
        return next((span.session for span in self.outward() if span.session), None)

    @cached_property
    def system(self) -> str | None:
        """The system that acts in it, if a span names it."""
        return next((span.system for span in self.outward() if span.system), None)

    @property
    def task(self) -> str | None:
        """The task that it works on, if a span names it."""
        return next((span.task for span in self.outward() if span.task), None)

    @property
    def place(self) -> str:
        """Where its first root stands."""
        return self.roots[0].place

    def outward(self) -> Iterator[Span]:
        """All spans, those nearer to a root first."""
        level = self.roots
        while level:
            yield from level
            level = [child for span in level for child in self.children[span.id]]

    def ancestors(self, span: Span) -> Iterator[Span]:
        """The spans above a span, the nearest first."""
        above = self.parent[span.id]
        while above is not None:
            yield above
            above = self.parent[above.id]

    def below(self, span: Span) -> Iterator[Span]:
        """The spans beneath a span, each before its own."""
        waiting = self.children[span.id][::-1]
        while waiting:
            each = waiting.pop()
            yield each
            waiting += self.children[each.id][::-1]

    def nearest(self, span: Span, wanted: Callable[[Span], bool]) -> list[Span]:
        """The wanted spans beneath a span that have no wanted span between."""
        found, waiting = [], self.children[span.id][::-1]
        while waiting:
            each = waiting.pop()
            if wanted(each):
                found.append(each)
            else:
                waiting += self.children[each.id][::-1]
        return found


def _parents(spans: list[Span]) -> dict[str, Span | None]:
    """The parent of each span; None where it is not in the trace, and for the first span of a cycle."""
    known = {span.id: span for span in spans}
    parents = {span.id: known.get(span.parent) if span.parent else None for span in spans}
    sound: set[str] = set()
    for span in spans:
        path: dict[str, None] = {}
        at: Span | None = span
        while at is not None and at.id not in sound and at.id not in path:
            path[at.id] = None
            at = parents[at.id]
        if at is not None and at.id in path:  # the earliest span of the circle becomes a root
            names = list(path)
            circle = names[names.index(at.id) :]
            parents[min(circle, key=lambda name: known[name].rank)] = None
        sound.update(path)
    return parents
