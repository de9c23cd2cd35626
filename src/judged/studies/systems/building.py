"""Building: systems with their models loaded and their indexes built, each once, however many consist of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TypeAlias, cast

import msgspec
from msgspec import json

from judged.studies.factors.settings import Scalar
from judged.studies.passages.chunking import Chunked, Judging, chunk_collection
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.retrievers.retriever import RetrieveSpec
from judged.studies.stages.routers import Router
from judged.studies.stages.searchers.searcher import SearchSpec
from judged.studies.stages.stage import Query, Ranked, Searcher, Workshop
from judged.studies.stages.vectors import VectorSpace
from judged.studies.systems.declared import FuseSpec, SystemSpec, change_settings, list_within
from judged.studies.systems.system import System, SystemFailed, SystemReply, TunedSystem, fuse_lists


@dataclass(frozen=True)
class Learned:
    """Parameters of one system that were learned from training queries."""

    weights: Mapping[str, float] = field(default_factory=dict)
    """The weights of a fusion, by system."""
    best_expert: Mapping[str, str] = field(default_factory=dict)
    """The best expert of each training query, by the query's id."""
    settings: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    """The settings that each query is answered with, by the query's id."""
    settings_of_others: Mapping[str, Scalar] = field(default_factory=dict)
    """The settings for all other queries."""


Build: TypeAlias = Callable[[Mapping[str, Scalar]], Callable[[Query], Ranked]]
"""Returns a system with some settings changed, as what it answers to a query."""


class _Remembering:
    """A system that is asked the same queries again and again, in trials that leave it as it is."""

    def __init__(self, system: System) -> None:
        # by the text too: a query that was rewritten comes in several
        self._system, self._replies = system, dict[tuple[str, str], SystemReply]()

    def __getattr__(self, name: str) -> object:
        return getattr(self._system, name)

    def find_passages(self, query: Query) -> SystemReply:
        """Return what the system found the first time."""
        key = query.id, query.text
        if key not in self._replies:
            self._replies[key] = self._system.find_passages(query)
        return self._replies[key]

    def find_documents(self, query: Query) -> Ranked:
        """Return the documents of what the system found the first time."""
        found = self.find_passages(query).ranked
        return self._system.to_documents(found)


class Systems:
    """Builds systems by name, each once; systems that others consist of are shared."""

    def __init__(
        self,
        specs: Mapping[str, SystemSpec],
        workshop: Workshop,
        *,
        depth: int,
        learned: Callable[[SystemSpec, Build], Learned] = lambda _spec, _build: Learned(),
    ) -> None:
        self._specs, self._workshop, self._depth, self._learned = specs, workshop, depth, learned
        self._built: dict[str, System] = {}
        self._searchers: dict[str, Searcher] = {}
        self._variants: list[Systems] = []
        self._chunks: dict[bytes, Chunked] = {}
        self._shared: Mapping[str, Searcher] = {}
        """Searchers of other systems, which close them."""

    def build(self, name: str) -> System:
        """Return the system, ready for queries; raise `SystemFailed` if a stage cannot be built."""
        if name not in self._built:
            self._built[name] = self._build(self._specs[name])
        return self._built[name]

    def close(self) -> None:
        """Release every index and connection, those too that come after one that cannot be released."""
        with ExitStack() as stack:
            for searcher in self._searchers.values():
                stack.callback(getattr(searcher, "close", lambda: None))
            for variant in self._variants:
                stack.callback(variant.close)
        self._searchers, self._built, self._variants = {}, {}, []

    def _build(self, spec: SystemSpec) -> System:
        if spec.tune is not None:
            return self._build_tuned(spec)
        parts = [self.build(part) for part in spec.parts]
        chunked = self._find_chunks(spec, parts)
        collection = self._workshop.collection
        judging = Judging(collection.spans, collection.coverage)
        system = System(
            spec.name,
            spec,
            spec.depth or self._depth,
            parts=parts,
            chunked=chunked,
            judging=judging,
            collection=collection,
        )
        workshop, spaces = _record_spaces(
            self._workshop if chunked is None else self._workshop.on(chunked.collection)
        )
        encoder = spec.encoder_spec()
        with _naming(spec.name, "encoder"):
            space = None if encoder is None else workshop.encode(encoder)
        started = perf_counter()  # after the encoding of documents, which has a time of its own
        policy = spec.skip_spec()
        if policy is not None:
            with _naming(spec.name, policy.stage):
                system.skip = (policy.stage, policy.build(workshop, space))
        if spec.rewrite is not None:
            with _naming(spec.name, spec.rewrite.stage):
                system.rewriter = spec.rewrite.build(self._workshop)
        if spec.generate is not None:
            with _naming(spec.name, spec.generate.stage):
                system.generator = spec.generate.build(self._workshop)
        for stage in spec.rerank_specs():
            with _naming(spec.name, stage.stage):
                system.rerankers = (*system.rerankers, (stage.stage, stage.build(workshop, space)))
        system.find = self._make_find(system, workshop, space, parts)
        system.seconds = perf_counter() - started + sum(part.seconds for part in parts)
        spaces += (vectors for part in parts for vectors in part.spaces)
        system.spaces = tuple({id(vectors): vectors for vectors in spaces}.values())
        system.untrained = (
            any(vectors.encoder.untrained for vectors in system.spaces)
            or any(part.untrained for part in parts)
            or any(getattr(reranker, "untrained", False) for _, reranker in system.rerankers)
        )
        return system

    def _find_chunks(self, spec: SystemSpec, parts: Sequence[System]) -> Chunked | None:
        """Return the passages that a system works on: its own, or those that all its parts share."""
        chunker = spec.chunk_spec()
        if chunker is None:
            shared = parts[0].chunked if parts else None
            return shared if all(part.chunked is shared for part in parts) else None
        key = json.encode(chunker)
        if key not in self._chunks:
            with _naming(spec.name, "chunk"):
                self._chunks[key] = chunk_collection(self._workshop.collection, chunker)
        return self._chunks[key]

    def _build_tuned(self, spec: SystemSpec) -> System:
        """Return a system with the settings that are chosen for each query; each combination is built once."""
        remembered: dict[str, System] = {}
        trial: Systems | None = None

        def build(settings: Mapping[str, Scalar]) -> Callable[[Query], Ranked]:
            nonlocal trial
            if trial is not None:
                trial.close()  # one at a time: a search may try thousands
            trial = self._vary(spec.name, settings, remembered)
            system = trial.build(spec.name)
            return lambda query: system.answer(query, generating=False).ranked

        try:
            learned = self._learned(spec, build)
        finally:
            if trial is not None:
                trial.close()
        chosen = {
            json.encode(some): some for some in (*learned.settings.values(), learned.settings_of_others)
        }
        variants: dict[bytes, System] = {}
        for key, settings in chosen.items():
            self._variants.append(self._vary(spec.name, settings))
            variants[key] = self._variants[-1].build(spec.name)
        by_query = {query: variants[json.encode(some)] for query, some in learned.settings.items()}
        others = variants[json.encode(learned.settings_of_others)]
        spaces = {id(space): space for system in variants.values() for space in system.spaces}
        return TunedSystem(
            spec.name,
            spec,
            others.depth,
            rerankers=others.rerankers,
            rewriter=others.rewriter,
            generator=others.generator,
            spaces=tuple(spaces.values()),
            untrained=any(system.untrained for system in variants.values()),
            seconds=sum(system.seconds for system in variants.values()),
            chunked=others.chunked
            if all(system.chunked is others.chunked for system in variants.values())
            else None,
            judging=others.judging,
            collection=others.collection,
            choose=lambda query: by_query.get(query, others),
        )

    def _vary(
        self, name: str, settings: Mapping[str, Scalar], remembered: dict[str, System] | None = None
    ) -> Systems:
        """Return systems of which one has other settings; what these leave as it is, is shared with this one.

        `remembered` collects the systems that stay as they are and remember their answers.
        """
        specs = change_settings(self._specs, name, settings)
        specs[name] = msgspec.structs.replace(specs[name], tune=None)
        varied = Systems(specs, self._workshop, depth=self._depth, learned=self._learned)
        for part in list_within(specs, name)[1:]:
            if all(specs[inner] is self._specs[inner] for inner in list_within(specs, part)):
                varied._built[part] = self.build(part)
                if remembered is not None:
                    kept = remembered.setdefault(part, cast("System", _Remembering(varied._built[part])))
                    varied._built[part] = kept
        varied._chunks = self._chunks
        varied._shared = {**self._shared, **self._searchers}
        return varied

    def _make_find(
        self, system: System, workshop: Workshop, space: VectorSpace | None, parts: Sequence[System]
    ) -> Callable[[Query], tuple[Ranked, tuple[str, ...]]]:
        """Return the way in which a system finds documents."""
        spec = system.spec
        if spec.fuse is not None:
            return self._make_fusion(system, spec.fuse, parts)
        if spec.router is not None:
            with _naming(spec.name, spec.router.stage):
                router = spec.router.build(workshop, space, self._learned(spec, _refuse).best_expert)
            system.source = router
            return _make_routing(system, spec.router.stage, router, {part.name: part for part in parts})
        if spec.base is not None:
            return lambda query: (_ask_part(system, parts[0], query), ())
        stage = spec.search_spec() or spec.retriever_spec()
        assert stage is not None  # noqa: S101 - `check` says so
        with _naming(spec.name, stage.stage):
            system.source = searcher = self._share_searcher(stage, space, system.chunked)
        # rerankers may take documents from below the depth of the system
        deep = max([system.depth, *(reranker.depth for reranker in spec.rerank_specs())])
        name = stage.stage
        if system.chunked is not None:
            search = partial(_search_chunks, searcher, system.chunked, deep)
            return lambda query: (system.time(name, query, lambda: search(query).in_order()), ())
        # scores are made strictly decreasing: readers of the run break ties by id, and would score another order
        return lambda query: (system.time(name, query, lambda: searcher.search(query, deep).in_order()), ())

    def _share_searcher(
        self, stage: SearchSpec | RetrieveSpec, space: VectorSpace | None, chunked: Chunked | None
    ) -> Searcher:
        """Return the searcher of a declaration over some vectors and passages, built once for all systems that have it."""
        # by the identity of the vectors: the same declaration over others is another index
        key = f"{msgspec.json.encode(stage).decode()} {id(space)} {id(chunked)}"
        if key in self._shared:
            return self._shared[key]
        if key not in self._searchers:
            workshop = self._workshop if chunked is None else self._workshop.on(chunked.collection)
            self._searchers[key] = stage.build(workshop, space)
        return self._searchers[key]

    def _make_fusion(
        self, system: System, spec: FuseSpec, parts: Sequence[System]
    ) -> Callable[[Query], tuple[Ranked, tuple[str, ...]]]:
        fusion = spec.choose()
        with _naming(system.name, spec.stage):
            given = self._learned(system.spec, _refuse).weights if spec.tune is not None else spec.weights
            weights = fusion.check_weights(given, spec.of)

        def fuse(query: Query) -> tuple[Ranked, tuple[str, ...]]:
            lists = [_ask_part(system, part, query) for part in parts]
            return system.time(spec.stage, query, lambda: fuse_lists(fusion, weights, lists, spec.of)), ()

        return fuse


def _refuse(_settings: Mapping[str, Scalar]) -> Callable[[Query], Ranked]:
    raise AssertionError("weights and experts are learned from answers that are there")


def _ask_part(system: System, part: System, query: Query) -> Ranked:
    """Return what a part finds, in the units of the whole: passages that all parts share, or documents."""
    if system.chunked is None or part.chunked is not system.chunked:
        return part.find_documents(query)
    return part.find_passages(query).ranked


def _search_chunks(searcher: Searcher, chunked: Chunked, depth: int, query: Query) -> Ranked:
    """Return the best passages, until they come from `depth` documents, or all that the searcher finds."""
    total = len(chunked.passages)
    count = min(round(depth * max(chunked.per_document, 1.0)), total)
    while True:
        found = searcher.search(query, count)
        documents = {passage.document for passage in chunked.find(found)}
        if (
            len(documents) >= min(depth, len(chunked.source.documents))
            or len(found) < count
            or count == total
        ):
            return found
        count = min(2 * count, total)


def _record_spaces(workshop: Workshop) -> tuple[Workshop, list[VectorSpace]]:
    """Return a workshop like this one, and a list of the spaces that stages ask it for."""
    spaces: list[VectorSpace] = []

    def encode(spec: EncoderSpec) -> VectorSpace:
        spaces.append(workshop.encode(spec))
        return spaces[-1]

    return replace(workshop, encode=encode), spaces


def _make_routing(
    system: System, stage: str, router: Router, experts: Mapping[str, System]
) -> Callable[[Query], tuple[Ranked, tuple[str, ...]]]:
    def find(query: Query) -> tuple[Ranked, tuple[str, ...]]:
        order = system.time(stage, query, lambda: router.route(query))
        return _ask_part(system, experts[order[0]], query), order

    return find


@contextmanager
def _naming(system: str, stage: str) -> Iterator[None]:
    """Raise what goes wrong in building a stage as an error that names the system and the stage."""
    try:
        yield
    except SystemFailed:
        raise
    except Exception as error:
        raise SystemFailed(system, stage, error) from error
