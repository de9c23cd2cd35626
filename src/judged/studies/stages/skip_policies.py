"""Skip policies: what decides whether a query needs retrieval. `SKIP_POLICIES` lists the types that a study may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Protocol, TypeAlias

import msgspec
import numpy as np

from judged.arrays import Floats
from judged.studies.stages.cosine import find_centroid, find_space, normalise
from judged.studies.stages.encoders import Encoders
from judged.studies.stages.functions import call, load_callable
from judged.studies.stages.stage import Query, StageFailed, StageSpec, Workshop
from judged.studies.stages.vectors import VectorSpace

SKIPPING = "skipping"
"""The stage in which a skip policy decides."""


class SkipPolicy(Protocol):
    """A stage that decides whether a query needs retrieval."""

    def decide(self, query: Query) -> bool:
        """Return True to retrieve, False to skip retrieval."""
        ...


class SkipSpec(StageSpec, frozen=True, kw_only=True):
    """A skip policy as a study declares it."""

    stage: str = SKIPPING
    """The name under which it is timed."""

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> SkipPolicy:
        """Return the skip policy, ready for queries."""
        raise NotImplementedError


class PatternPolicy(SkipSpec, frozen=True, kw_only=True, tag="pattern"):
    """Skip queries that match a regular expression anywhere.

    Patterns are those of RE2, as part of Arrow: matching takes time in proportion to the query, for any pattern.
    RE2 has neither backreferences nor lookaround.
    """

    skip: str
    """The pattern of queries that need no retrieval, such as `^(hi|hello|thanks)\\b`."""
    ignore_case: bool = True

    def __post_init__(self) -> None:
        try:
            self.matches("")
        except ValueError as error:
            reason = str(error).removeprefix("Invalid regular expression: ")
            msg = f"`skip` is not a regular expression of RE2: {reason}"
            raise ValueError(msg) from None

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> SkipPolicy:  # noqa: ARG002 - words alone
        """Return the skip policy."""
        return _TextPolicy(lambda text: not self.matches(text))

    def matches(self, text: str) -> bool:
        """Return whether a text matches."""
        import pyarrow as pa
        import pyarrow.compute as pc

        plain = text.encode("utf-8", "replace").decode()
        match = pc.match_substring_regex(pa.scalar(plain), self.skip, ignore_case=self.ignore_case)
        return bool(match.as_py())


class WordPolicy(SkipSpec, frozen=True, kw_only=True, tag="words"):
    """Skip queries with few words."""

    fewest: Annotated[int, msgspec.Meta(ge=1)] = 2
    """The fewest words, separated by white space, for which anything is retrieved."""

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> SkipPolicy:  # noqa: ARG002 - words alone
        """Return the skip policy."""
        return _TextPolicy(lambda text: len(text.split()) >= self.fewest)


class SimilarityPolicy(SkipSpec, frozen=True, kw_only=True, tag="similarity"):
    """Skip queries that are more similar to those that need no retrieval: by the cosine with the centroid of each kind."""

    retrieve: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    """Examples of queries that need retrieval."""
    skip: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    """Examples of queries that need none."""
    margin: float = 0.0
    """By how much the cosine with `skip` must exceed that with `retrieve`."""
    encoder: Encoders | None = None
    """None takes the encoder of the system."""

    needs_vectors: ClassVar[bool] = True

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> SkipPolicy:
        """Return the skip policy, with the centroid of each kind."""
        vectors = find_space(self.type, self.encoder, workshop, space)
        centroids = np.stack([find_centroid(vectors, self.retrieve), find_centroid(vectors, self.skip)])
        return _SimilarityPolicy(vectors, centroids, self.margin)


class FunctionPolicy(SkipSpec, frozen=True, kw_only=True, tag="function"):
    """Any callable from the text of a query to True, which retrieves, or False."""

    function: str
    """`module:attribute`, or a name announced under the entry points `judged.stages`."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """If there are any, the callable is called with them first, and returns the skip policy."""

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> SkipPolicy:  # noqa: ARG002 - has what it needs
        """Return the skip policy that calls the function."""
        function = load_callable(self.function, self.settings, kind="skip policy")

        def decide(text: str) -> bool:
            answer = call(function, self.function, text)
            if not isinstance(answer, bool | np.bool_):
                msg = f"`{self.function}` returned {answer!r}, expected True (retrieve) or False (skip)"
                raise StageFailed(msg)
            return bool(answer)

        return _TextPolicy(decide)


class _TextPolicy:
    def __init__(self, needs_retrieval: Callable[[str], bool]) -> None:
        self._needs_retrieval = needs_retrieval

    def decide(self, query: Query) -> bool:
        """Return what the text decides."""
        return self._needs_retrieval(query.text)


class _SimilarityPolicy:
    def __init__(self, space: VectorSpace, centroids: Floats, margin: float) -> None:
        self._space, self._centroids, self._margin = space, centroids, margin

    def decide(self, query: Query) -> bool:
        """Return whether the query is about as similar to those that need retrieval, or more."""
        needed, unneeded = self._centroids @ normalise(query.embed(self._space))
        return bool(unneeded - needed <= self._margin)


SkipPolicies: TypeAlias = PatternPolicy | WordPolicy | SimilarityPolicy | FunctionPolicy
"""Any skip policy, as a study declares it."""

SKIP_POLICIES: dict[str, type[SkipSpec]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (PatternPolicy, WordPolicy, SimilarityPolicy, FunctionPolicy)
}
"""The types that a study may name."""
