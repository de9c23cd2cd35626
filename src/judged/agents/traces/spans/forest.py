"""The spans of one trace as trees, and the role of each: model, search, tool, or part of another."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property

from msgspec.structs import replace

from judged.agents.traces.results.tools import Tools
from judged.agents.traces.spans.span import Span, SpanKind


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
        """The sort key of traces: the first known start, then the id."""
        return next((span.start for span in self.spans if span.start is not None), -1), self.id

    @cached_property
    def session(self) -> str | None:
        """The conversation that the trace is a turn of, from the outermost span that names one."""
        return next((span.session for span in self.outward() if span.session), None)

    @cached_property
    def system(self) -> str | None:
        """The system, if a span names it."""
        return next((span.system for span in self.outward() if span.system), None)

    @property
    def task(self) -> str | None:
        """The task, if a span names it."""
        return next((span.task for span in self.outward() if span.task), None)

    @property
    def place(self) -> str:
        """The place of its first root."""
        return self.roots[0].place

    def outward(self) -> Iterator[Span]:
        """Yield all spans, those nearer to a root first."""
        level = self.roots
        while level:
            yield from level
            level = [child for span in level for child in self.children[span.id]]

    def ancestors(self, span: Span) -> Iterator[Span]:
        """Yield the spans above a span, the nearest first."""
        above = self.parent[span.id]
        while above is not None:
            yield above
            above = self.parent[above.id]

    def below(self, span: Span) -> Iterator[Span]:
        """Yield the spans beneath a span, parents before children."""
        waiting = self.children[span.id][::-1]
        while waiting:
            item = waiting.pop()
            yield item
            waiting += self.children[item.id][::-1]

    def nearest(self, span: Span, wanted: Callable[[Span], bool]) -> list[Span]:
        """Return the wanted spans beneath a span, without those beneath another wanted span."""
        spans, waiting = [], self.children[span.id][::-1]
        while waiting:
            item = waiting.pop()
            if wanted(item):
                spans.append(item)
            else:
                waiting += self.children[item.id][::-1]
        return spans


def _parents(spans: list[Span]) -> dict[str, Span | None]:
    """Return the parent of each span; None where it is not in the trace, and for the first span of a cycle."""
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


class Roles:
    """The calls of models and tools in a trace, without those that are part of another."""

    def __init__(self, forest: Forest, tools: Tools) -> None:
        self.forest = forest
        self.known = tools
        self._roles = {span.id: self._role(span) for span in forest.spans}
        self._roles |= dict.fromkeys(self._agents(), "other")
        self._within = self._ancestor_roles()
        self.models = [self._complete(span) for span in forest.spans if self._is_model(span)]
        """Model calls in order of time; a nested call is the same one, recorded twice."""
        self.tools = [span for span in forest.spans if self._is_outermost(span)]
        """The outermost searches, and the outermost of the other tools."""
        self._requests: dict[str, list[Span]] = defaultdict(list)
        self._visible: dict[str | None, list[Span]] = defaultdict(list)
        for model in sorted(self.models, key=_moment):
            for call in model.calls:
                self._requests[call].append(model)
            for scope in self._scopes(model):
                self._visible[scope].append(model)

    def role(self, span: Span) -> SpanKind:
        """Return the role of a span, which for tools depends on their names."""
        return self._roles[span.id]

    def is_step(self, model: Span) -> bool:
        """Return whether a call of a model is a step of the agent itself, not of something that a tool does."""
        return "tool" not in self._within[model.id]

    def requester(self, span: Span) -> tuple[Span | None, int | None]:
        """Return the model call that requested a tool, and the tool's position among those requested.

        The id of the tool call decides, or else time: the last model call before it, beneath the nearest common span.
        """
        if span.call in self._requests:
            return self._requester_by_id(span.call, span)
        for above in self.forest.ancestors(span):
            model = self._last_before(span, above.id)
            if model is not None:
                return model, None
            if above.call in self._requests:
                return self._requester_by_id(above.call, span)
        return self._last_before(span, None), None

    def _requester_by_id(self, call: str, span: Span) -> tuple[Span, int]:
        """Return the last model call before the span that used this id; ids may be reused."""
        models = self._requests[call]
        model = models[max(bisect_right(models, _latest(span), key=_moment) - 1, 0)]
        return model, model.calls.index(call)

    def _last_before(self, span: Span, scope: str | None) -> Span | None:
        models = self._visible[scope]
        place = bisect_right(models, _latest(span), key=_moment)
        return models[place - 1] if place else None

    def _scopes(self, model: Span) -> list[str | None]:
        """Return the spans in which a model call is a step: itself, and its ancestors up to the first tool."""
        scopes: list[str | None] = [model.id]
        for above in self.forest.ancestors(model):
            scopes.append(above.id)
            if self.role(above) == "tool":
                return scopes
        return [*scopes, None]

    def _role(self, span: Span) -> SpanKind:
        """Return the kind of a span; for tools and retrievers by the mapping, else by the tool's name."""
        if span.kind not in {"tool", "search"}:
            return span.kind
        mapped = self.known.get(span.name)
        if mapped is not None:
            return "search" if mapped.search else "tool"
        return "search" if span.kind == "search" or self.known.is_search(span.name) else "tool"

    def _agents(self) -> Iterator[str]:
        """Yield spans recorded as models with tools beneath: a model requests tools, an agent calls them."""
        for span in self.forest.spans:
            if self.role(span) in {"tool", "search"}:
                yield from (above.id for above in self.forest.ancestors(span) if self.role(above) == "llm")

    def _ancestor_roles(self) -> dict[str, frozenset[SpanKind]]:
        """Return the roles of the ancestors of each span."""
        within: dict[str, frozenset[SpanKind]] = {}
        for span in self.forest.outward():
            above = self.forest.parent[span.id]
            within[span.id] = within[above.id] | {self.role(above)} if above else frozenset()
        return within

    def _is_model(self, span: Span) -> bool:
        return self.role(span) == "llm" and not self._within[span.id] & {"llm", "search"}

    def _is_outermost(self, span: Span) -> bool:
        within = self._within[span.id]
        if self.role(span) == "tool":
            return not within & {"tool", "search"}
        return self.role(span) == "search" and "search" not in within

    def _complete(self, model: Span) -> Span:
        """Return a model call completed from a nested recording of it."""
        inner = [span for span in self.forest.below(model) if self.role(span) == "llm"]
        copies = (model, *inner)
        return replace(
            model,
            calls=next((copy.calls for copy in copies if copy.calls), ()),
            tokens=next((copy.tokens for copy in copies if copy.tokens is not None), None),
            cost=next((copy.cost for copy in copies if copy.cost is not None), None),
        )


def _moment(model: Span) -> tuple[int, int]:
    return (-1 if model.start is None else model.start, -1 if model.end is None else model.end)


def _latest(span: Span) -> tuple[int, int]:
    """Return the latest moment of a model call that precedes a span: it began earlier, or was over by then."""
    start = -1 if span.start is None else span.start
    return start, start
