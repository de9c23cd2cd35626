"""Routers: what decides which of several systems, the experts, answers a query.

A router orders the experts for a query, the best first. `ROUTERS` lists the types that a study may name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, SupportsFloat, TypeAlias

import msgspec
import numpy as np

from judged.arrays import Floats
from judged.errors import UnknownName
from judged.studies.stages.cosine import find_centroid, find_space, normalise
from judged.studies.stages.encoders import Encoders
from judged.studies.stages.functions import call, load_callable
from judged.studies.stages.stage import Query, StageFailed, StageSpec, Workshop
from judged.studies.stages.vectors import VectorSpace

ROUTING = "routing"
"""The stage in which experts are chosen."""


class Router(Protocol):
    """A stage that orders experts for a query."""

    def route(self, query: Query) -> tuple[str, ...]:
        """Return names of experts, best first, at least one."""
        ...


class Expert(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A system that a router may choose, with queries that it is good at."""

    system: str
    examples: tuple[str, ...] = ()


class RouteSpec(StageSpec, frozen=True, kw_only=True):
    """A router as a study declares it."""

    stage: str = ROUTING
    """The name under which it is timed."""

    @property
    def names(self) -> tuple[str, ...]:
        """The systems that it chooses from."""
        raise NotImplementedError

    @property
    def needs_training(self) -> bool:
        """Whether it has to learn from queries for which the best expert is known."""
        return False

    def build(
        self,
        workshop: Workshop,
        space: VectorSpace | None = None,
        training: Mapping[str, str] | None = None,
    ) -> Router:
        """Return the router, ready for queries.

        `training` has the best expert by the id of a query; those are queries of the training split, never ones
        that the router is measured on.
        """
        raise NotImplementedError


class CentroidRouting(RouteSpec, frozen=True, kw_only=True, tag="centroids"):
    """Choose the experts whose examples the query is most similar to: by the cosine with their centroid.

    The centroid is the mean of the normalised vectors of an expert's examples; without examples, of the training
    queries on which the expert is the best.
    """

    experts: tuple[str | Expert, ...]
    """Names of systems, or each with `system` and `examples`."""
    encoder: Encoders | None = None
    """None takes the encoder of the system."""

    needs_vectors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_names(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The systems that it chooses from."""
        return tuple(expert.system for expert in self._experts)

    @property
    def needs_training(self) -> bool:
        """Whether an expert has no examples."""
        return any(not expert.examples for expert in self._experts)

    @property
    def _experts(self) -> list[Expert]:
        return [Expert(system=expert) if isinstance(expert, str) else expert for expert in self.experts]

    def build(
        self,
        workshop: Workshop,
        space: VectorSpace | None = None,
        training: Mapping[str, str] | None = None,
    ) -> Router:
        """Return the router, with the centroid of every expert."""
        known = find_space(self.type, self.encoder, workshop, space)
        learned = _collect_examples(training or {}, self.names, workshop)
        examples = {expert.system: expert.examples or learned[expert.system] for expert in self._experts}
        missing = [name for name, texts in examples.items() if not texts]
        if missing and not training:
            msg = (
                f"the expert `{missing[0]}` has no examples, and there are no training queries to learn from"
            )
            raise StageFailed(msg, hint="add `examples:` to the expert, or a training split to the study")
        return _CentroidRouter(
            known, {name: find_centroid(known, texts) for name, texts in examples.items() if texts}, missing
        )


def _collect_examples(
    training: Mapping[str, str], names: Sequence[str], workshop: Workshop
) -> dict[str, tuple[str, ...]]:
    """Return the texts of the training queries by the expert that is the best on them."""
    examples: dict[str, list[str]] = {name: [] for name in names}
    for query, expert in training.items():
        if expert not in examples:
            raise UnknownName("expert", expert, names)
        if query not in workshop.collection.queries:
            raise UnknownName(
                "query of the collection", query, (), hint="training queries belong to the collection"
            )
        examples[expert].append(workshop.collection.queries[query])
    return {name: tuple(texts) for name, texts in examples.items()}


class _CentroidRouter:
    def __init__(self, space: VectorSpace, centroids: Mapping[str, Floats], never: Sequence[str]) -> None:
        self._space, self._names, self._never = space, list(centroids), tuple(never)
        self._centroids = np.stack(list(centroids.values())) if centroids else np.zeros((0, space.dimensions))

    def route(self, query: Query) -> tuple[str, ...]:
        """Return the experts by the cosine of their centroid with the query; those without one come last."""
        similarity = self._centroids @ normalise(query.embed(self._space))
        order = np.argsort(-similarity, kind="stable")
        return (*(self._names[at] for at in order), *self._never)

    def notes(self) -> list[str]:
        """Return which experts are never the first."""
        return [
            f"the expert `{name}` is the best on no training query: it comes last" for name in self._never
        ]


class FunctionRouting(RouteSpec, frozen=True, kw_only=True, tag="function"):
    """Any callable from the text of a query to a name, to names with the best first, or to scores by name."""

    function: str
    """`module:attribute`, or a name announced under the entry points `judged.routers`."""
    experts: tuple[str, ...]
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """If there are any, the callable is called with them first, and returns the router."""

    def __post_init__(self) -> None:
        _check_names(self.experts)

    @property
    def names(self) -> tuple[str, ...]:
        """The systems that it chooses from."""
        return self.experts

    def build(
        self,
        workshop: Workshop,  # noqa: ARG002 - the callable has what it needs
        space: VectorSpace | None = None,  # noqa: ARG002
        training: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Router:
        """Return the router that calls the function."""
        return _FunctionRouter(load_callable(self.function, self.settings, kind="router"), self)


class _FunctionRouter:
    def __init__(self, function: Callable[..., object], spec: FunctionRouting) -> None:
        self._function, self._spec = function, spec

    def route(self, query: Query) -> tuple[str, ...]:
        """Return the experts that the function names."""
        names = self._read(call(self._function, self._spec.function, query.text))
        for name in names:
            if name not in self._spec.experts:
                raise UnknownName("expert", str(name), self._spec.experts)
        if not names or len(set(names)) < len(names):
            msg = f"`{self._spec.function}` returned the experts {list(names)}, expected at least one, each once"
            raise StageFailed(msg)
        return names

    def _read(self, answer: object) -> tuple[str, ...]:
        if isinstance(answer, str):
            return (answer,)
        if isinstance(answer, Mapping):
            scores = {name: _read_score(score, self._spec.function) for name, score in answer.items()}
            return tuple(sorted(scores, key=lambda name: -scores[name]))
        if isinstance(answer, Sequence):
            return tuple(answer)
        msg = f"`{self._spec.function}` returned {type(answer).__name__}, expected a name, a list of names or scores by name"
        raise StageFailed(msg)


def _read_score(score: SupportsFloat | str, function: str) -> float:
    try:
        number = float(score)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        msg = f"`{function}` returned {score!r} as the score of an expert, expected a number"
        raise StageFailed(msg)
    return number


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        msg = f"a router needs at least two experts, got {len(names)}"
        raise ValueError(msg)
    for name, count in Counter(names).items():
        if count > 1:
            msg = f"the expert `{name}` is listed {count} times"
            raise ValueError(msg)


Routers: TypeAlias = CentroidRouting | FunctionRouting
"""Any router, as a study declares it."""

ROUTERS: dict[str, type[RouteSpec]] = {
    str(kind.__struct_config__.tag): kind for kind in (CentroidRouting, FunctionRouting)
}
"""The types that a study may name."""
