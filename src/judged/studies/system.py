"""Systems: stages put together, from a query's text to ranked documents.

A system finds documents in one of five ways, and what follows is the same for all:

    search      the collection, by words or by the vectors of `encoder`
    retriever   a system that exists already: an object, or an endpoint
    fuse        the results of other systems, fused
    router      chooses among other systems, the experts
    base        the results of another system

    skip policy ──▶ rewrite ──▶ search | retriever | fuse | router | base ──▶ rerank, rerank, … ──▶ the first `depth` ──▶ generate

Systems that are part of others are run live, so that times are those of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import json

from judged.errors import BadProtocol, JudgedError, UnknownName
from judged.index.engine import ENGINES
from judged.io.settings import convert_settings
from judged.studies.factors.settings import Scalar, TuneSettings, find_owner, put_setting
from judged.studies.fusion.candidates import collect_ranked, sort_names
from judged.studies.fusion.methods import Fusion
from judged.studies.passages.chunking import Chunked, Judging, chunk_collection, whole_passages
from judged.studies.stages.chunkers import CHUNKERS, Chunkers, ChunkSpec, WordChunks
from judged.studies.stages.encoders import ENCODERS, Encoders
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.generators import Generator, Generators, Source
from judged.studies.stages.rerankers import RERANKERS, Rerankers
from judged.studies.stages.rerankers.reranker import RerankSpec
from judged.studies.stages.retrievers import RETRIEVERS, Retrievers
from judged.studies.stages.retrievers.objects import PythonObject
from judged.studies.stages.retrievers.retriever import RetrieveSpec
from judged.studies.stages.rewriters import Rewriter, Rewriters
from judged.studies.stages.routers import Router, Routers
from judged.studies.stages.searchers import SEARCHERS, Searchers
from judged.studies.stages.searchers.index import VectorIndex
from judged.studies.stages.searchers.searcher import SearchSpec
from judged.studies.stages.skip_policies import SKIP_POLICIES, SkipPolicies, SkipPolicy, SkipSpec
from judged.studies.stages.stage import (
    Passage,
    Query,
    Ranked,
    Reranker,
    Searcher,
    StageFailed,
    StageSpec,
    Workshop,
)
from judged.studies.stages.tokens import count_tokens
from judged.studies.stages.vectors import VectorSpace
from judged.tables.nested import keep_order

if TYPE_CHECKING:
    from judged.studies.collections.collection import Collection

T = TypeVar("T")
S = TypeVar("S", bound=StageSpec)

FUSION = "fusion"
"""The stage in which the results of systems are fused."""
DOCUMENTS = "documents"
"""The stage in which passages become documents, each at the rank of its best one."""
WAYS = ("search", "retriever", "fuse", "router", "base")
"""The settings of which a system has exactly one."""
_NAME = re.compile(r"\w[\w .+()=,@-]{0,79}")


class SystemFailed(StageFailed):
    """A system that failed: the error names it, the stage and the query."""

    def __init__(self, system: str, stage: str, error: Exception, query: str | None = None) -> None:
        asked = "" if query is None else f", query `{query}`"
        known = isinstance(error, JudgedError)
        message = error.message if isinstance(error, JudgedError) else f"{type(error).__name__}: {error}"
        super().__init__(
            f"system `{system}`, stage `{stage}`{asked}: {message}",
            hint=error.hint if known else None,  # type: ignore[attr-defined]
        )
        self.system, self.stage, self.query = system, stage, query


class TuneSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options for tuning the weights of a fusion on the training queries of the study."""

    measure: str | None = None
    """By default the first measure of the study."""
    search: Literal["grid", "swarm"] = "grid"
    step: float = 0.1
    particles: int = 16
    iterations: int = 20


class FuseSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fusion of other systems."""

    of: tuple[str, ...]
    """The names of the systems."""
    method: str = "rrf"
    normalisation: str | None = None
    weights: dict[str, float] | None = None
    parameters: dict[str, float] = {}
    """Those of the method, such as `k` of `rrf`."""
    tune: TuneSpec | None = None
    stage: str = FUSION

    def choose(self) -> Fusion:
        """Return the fusion; raise an error for a method, normalisation or parameter that does not exist."""
        return Fusion.choose(self.method, normalisation=self.normalisation, **self.parameters)


class SystemSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A system as a study declares it; a stage without settings may be given by its type alone."""

    name: str
    chunk: int | str | Chunkers | None = None
    """Passages that are searched in place of documents; a number alone is one of words."""
    encoder: str | Encoders | None = None
    search: str | Searchers | None = None
    retriever: str | Retrievers | None = None
    """An existing system; `module:function`, or another object, may stand for `{type: object, object: …}`."""
    fuse: FuseSpec | None = None
    router: Routers | None = None
    base: str | None = None
    skip: str | SkipPolicies | None = None
    rewrite: Rewriters | None = None
    rerank: str | Rerankers | tuple[str | Rerankers, ...] | None = None
    generate: Generators | None = None
    depth: int | None = None
    """Number of documents that it returns; by default the depth of the study."""
    grid: str | None = None
    """The grid that it belongs to; systems of a list of values have the name that was written."""
    factors: dict[str, str | int | float | bool] = {}
    """The values in which it differs from the other systems of its grid, by name of the factor."""
    tune: TuneSettings | None = None
    """Settings that are chosen on training queries, its own and those of the systems that it consists of."""
    on_error: Literal["fail", "empty", "skip"] | None = None
    """What a failed query is; this and the next three are by default those of the study."""
    max_failures: Annotated[int, msgspec.Meta(ge=0)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the systems that it consists of."""
        if self.fuse is not None:
            return self.fuse.of
        if self.router is not None:
            return self.router.names
        return () if self.base is None else (self.base,)

    @property
    def learns(self) -> bool:
        """Whether something in it is learned from training queries."""
        return self.tune is not None or self.needs_training

    @property
    def needs_training(self) -> bool:
        """Whether something in it is learned from training queries that are not scored."""
        return (self.fuse is not None and self.fuse.tune is not None) or (
            self.router is not None and self.router.needs_training
        )

    def encoder_spec(self) -> EncoderSpec | None:
        """Return the declaration of its encoder."""
        return None if self.encoder is None else _expand(self.encoder, ENCODERS, "encoder")

    def chunk_spec(self) -> ChunkSpec | None:
        """Return the declaration of its chunker; a number alone is one of words."""
        if isinstance(self.chunk, int):
            if self.chunk < 1:
                msg = f"`chunk` is {self.chunk}, expected a number of words from 1"
                raise BadProtocol(msg)
            return WordChunks(size=self.chunk)
        return None if self.chunk is None else _expand(self.chunk, CHUNKERS, "chunker")

    def search_spec(self) -> SearchSpec | None:
        """Return the declaration of its searcher; the name of an engine is that of a vector index."""
        if isinstance(self.search, str) and (self.search in ENGINES or ":" in self.search):
            return VectorIndex(engine=self.search)
        if isinstance(self.search, str) and self.search not in SEARCHERS:
            raise UnknownName("searcher", self.search, [*SEARCHERS, *ENGINES])
        return None if self.search is None else _expand(self.search, SEARCHERS, "searcher")

    def retriever_spec(self) -> RetrieveSpec | None:
        """Return the declaration of the existing system that it asks; a text alone is the place of a Python object."""
        if isinstance(self.retriever, str) and self.retriever in RETRIEVERS:
            msg = f"`{self.retriever}` needs settings"
            raise BadProtocol(msg, hint=f"write `{{type: {self.retriever}, …}}`")
        return PythonObject(object=self.retriever) if isinstance(self.retriever, str) else self.retriever

    def skip_spec(self) -> SkipSpec | None:
        """Return the declaration of its skip policy."""
        return None if self.skip is None else _expand(self.skip, SKIP_POLICIES, "skip policy")

    def rerank_specs(self) -> tuple[RerankSpec, ...]:
        """Return the declarations of its rerankers, in order."""
        some = self.rerank if isinstance(self.rerank, tuple) else (self.rerank,)
        return tuple(_expand(reranker, RERANKERS, "reranker") for reranker in some if reranker is not None)

    def list_stages(self) -> list[StageSpec]:
        """Return the declarations of its stages, without those of the systems that it consists of."""
        stages: list[StageSpec | None] = [
            self.encoder_spec(),
            self.search_spec(),
            self.retriever_spec(),
            self.router,
            self.skip_spec(),
            self.rewrite,
            *self.rerank_specs(),
            self.generate,
        ]
        return [stage for stage in stages if stage is not None]

    def list_encoders(self) -> list[EncoderSpec]:
        """Return the declarations of its encoders, those that other stages have for themselves included."""
        stages = self.list_stages()
        found = (
            stage if isinstance(stage, EncoderSpec) else getattr(stage, "encoder", None) for stage in stages
        )
        return [encoder for encoder in found if isinstance(encoder, EncoderSpec)]

    def to_dict(self) -> dict[str, object]:
        """Return every setting that results depend on, defaults included, without the name."""
        stages: dict[str, StageSpec | None] = {
            "chunk": self.chunk_spec(),
            "encoder": self.encoder_spec(),
            "search": self.search_spec(),
            "retriever": self.retriever_spec(),
            "router": self.router,
            "skip": self.skip_spec(),
            "rewrite": self.rewrite,
            "generate": self.generate,
        }
        return {
            **{name: stage.to_dict() for name, stage in stages.items() if stage is not None},
            "rerank": [stage.to_dict() for stage in self.rerank_specs()],
            "fuse": msgspec.to_builtins(self.fuse),
            "base": self.base,
            "depth": self.depth,
            **({} if self.tune is None else {"tune": msgspec.to_builtins(self.tune)}),
        }

    def need_documents(self) -> str | None:
        """Return the first setting that needs the texts of documents; None if ids and scores are enough."""
        names = ("chunk", "search", "encoder", "rerank", "generate")
        needs = {name: getattr(self, name) for name in names}
        return next((name for name, setting in needs.items() if setting is not None), None)

    def check(self) -> None:
        """Raise an error for settings that contradict each other; nothing is loaded or built."""
        if not _NAME.fullmatch(self.name):
            msg = f"`name` is `{self.name}`, expected up to 80 letters, digits, blanks and . + ( ) = , @ -"
            raise BadProtocol(msg)
        ways = [way for way in WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            got = " and ".join(f"`{way}`" for way in ways) or "none"
            hint = f"a system has one of {', '.join(f'`{way}`' for way in WAYS)}"
            msg = f"it has {got} of the ways to find documents, expected one"
            raise BadProtocol(msg, hint=hint)
        self.encoder_spec()
        self.retriever_spec()
        if self.chunk_spec() is not None and self.search is None:
            msg = f"`chunk` is for systems that `search`, and this one has `{ways[0]}`"
            raise BadProtocol(msg, hint="give the systems that it consists of the same `chunk`")
        stages: list[tuple[str, StageSpec | None]] = [
            ("search", self.search_spec()),
            ("router", self.router),
            ("skip", self.skip_spec()),
            *(("rerank", stage) for stage in self.rerank_specs()),
        ]
        for way, stage in stages:
            if stage is not None and stage.needs_vectors and not (self.encoder or _own_encoder(stage)):
                msg = f"`{way}` is `{stage.type}`, which compares vectors, and there is no `encoder`"
                raise BadProtocol(msg)
        if self.fuse is not None:
            self._check_fusion(self.fuse)
        if self.rewrite is not None:
            self.rewrite.choose_fusion()
        if self.depth is not None and self.depth < 1:
            msg = f"`depth` is {self.depth}, expected a whole number from 1"
            raise BadProtocol(msg)

    def _check_fusion(self, fuse: FuseSpec) -> None:
        fusion = fuse.choose()
        if len(set(fuse.of)) != len(fuse.of) or len(fuse.of) < 2:
            msg = f"`fuse.of` has {', '.join(fuse.of) or 'nothing'}, expected two or more different systems"
            raise BadProtocol(msg)
        if fuse.tune is None:
            fusion.check_weights(fuse.weights, fuse.of)
        elif fuse.weights is not None:
            msg = "`fuse` has both `weights` and `tune`, expected one of them"
            raise BadProtocol(msg)


def _own_encoder(stage: StageSpec) -> EncoderSpec | None:
    """Return the encoder that a stage has for itself."""
    encoder: EncoderSpec | None = getattr(stage, "encoder", None)
    return encoder


def _expand(stage: str | S, known: Mapping[str, type[S]], kind: str) -> S:
    """Return the stage of a type's name, with its defaults."""
    if not isinstance(stage, str):
        return stage
    if stage not in known:
        raise UnknownName(kind, stage, list(known))
    try:
        return known[stage]()
    except TypeError as error:
        msg = f"`{stage}` needs settings: {error}"
        raise BadProtocol(msg, hint=f"write `{{type: {stage}, …}}`") from None


@dataclass(frozen=True, slots=True)
class SystemReply:
    """A system's results for a query, and its decisions on the way."""

    ranked: Ranked
    before: Ranked | None = None
    """The ranking before the rerankers; None if there are none."""
    experts: tuple[str, ...] = ()
    """The experts in the router's order, best first: the first one answered."""
    retrieved: bool = True
    """False if the skip policy skipped the query."""
    passages: tuple[Passage, ...] | None = None
    """The passages that were found, best first; None if whole documents were."""
    rewritten: tuple[str, ...] = ()
    """What was searched for in place of the query, if it was rewritten."""
    response: str | None = None
    """The answer that was written from the results; None if none was to be."""
    references: tuple[str, ...] = ()
    """The documents of the passages that the answer may cite, by their numbers."""


def change_settings(
    specs: Mapping[str, SystemSpec], name: str, settings: Mapping[str, Scalar]
) -> dict[str, SystemSpec]:
    """Return systems with some settings of one of them, or of systems that it consists of, changed.

    >>> specs = {"words": SystemSpec(name="words", search="bm25")}
    >>> change_settings(specs, "words", {"search.k1": 0.9})["words"].search_spec().k1
    0.9
    """
    parts = {part: part for part in list_within(specs, name)[1:]}
    # by the name that was written, unless several systems of that grid are parts
    grids = [specs[part].grid for part in parts]
    called = {str(specs[part].grid): part for part in parts if grids.count(specs[part].grid) == 1}
    own = [
        field for field in SystemSpec.__struct_fields__ if field not in {"name", "grid", "factors", "tune"}
    ]
    changed: dict[str, dict[str, object]] = {}
    for place, value in settings.items():
        owner, within = find_owner(place, {**called, **parts}, own)
        system = owner or name
        if system not in changed:
            changed[system] = {
                key: setting
                for key, setting in msgspec.to_builtins(
                    msgspec.structs.replace(specs[system], tune=None)
                ).items()
                if setting is not None
            }
        put_setting(changed[system], within, value)
    return {
        **specs,
        **{
            system: convert_settings(content, SystemSpec, f"`tune` of `{name}`")
            for system, content in changed.items()
        },
    }


def list_within(specs: Mapping[str, SystemSpec], name: str) -> list[str]:
    """Return a system and all those that it consists of, each once."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        system = waiting.pop()
        if system not in found and system in specs:
            found[system] = None
            waiting += specs[system].parts
    return list(found)


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


@dataclass(eq=False)
class System:
    """A system that is ready for queries."""

    name: str
    spec: SystemSpec
    depth: int
    find: Callable[[Query], tuple[Ranked, tuple[str, ...]]] = lambda _query: (Ranked(), ())
    """Returns documents, and the experts if a router chose them."""
    source: Searcher | Router | None = None
    """The stage that finds documents or chooses experts; a fusion and a base have none of their own."""
    parts: Sequence[System] = ()
    """The systems that it consists of."""
    rerankers: Sequence[tuple[str, Reranker]] = ()
    """The stage under which each is timed, and the reranker."""
    skip: tuple[str, SkipPolicy] | None = None
    """The stage under which it is timed, and the skip policy."""
    rewriter: Rewriter | None = None
    generator: Generator | None = None
    spaces: tuple[VectorSpace, ...] = ()
    """The vectors that its stages compare, its parts included."""
    untrained: bool = False
    """Whether an encoder or a reranker in it has random weights."""
    seconds: float = 0.0
    """Build time, parts included, without the encoding of documents."""
    chunked: Chunked | None = None
    """The passages that it searches, fuses and reranks; None: whole documents."""
    judging: Judging = field(default_factory=Judging)
    """What is judged: documents, or spans of them."""
    collection: Collection | None = None
    """The documents."""

    def answer(self, query: Query, *, skipping: bool = True, generating: bool = True) -> SystemReply:
        """Return what the system finds for a query, timing every stage; without `skipping`, the skip policy is passed over.

        Passages are given back as what is judged, documents or spans of them. Without `generating`, no answer is written.
        """
        reply = self.find_passages(query, skipping=skipping)
        response, references = (
            self._generate(self.generator, query, reply)
            if self.generator is not None and generating
            else (None, ())
        )
        if self.chunked is None and not self.judging.spans:
            reply = replace(
                reply,
                ranked=reply.ranked.cut(self.depth),
                before=None if reply.before is None else reply.before.cut(self.depth),
            )
        else:
            reply = self.time(DOCUMENTS, query, lambda: self._convert(reply))
        return replace(reply, response=response, references=references)

    def _generate(
        self, generator: Generator, query: Query, reply: SystemReply
    ) -> tuple[str, tuple[str, ...]]:
        """Return an answer from the first passages, and the documents that these are of."""
        spec = self.spec.generate
        assert spec is not None  # noqa: S101 - else there is no generator
        assert self.collection is not None  # noqa: S101 - systems are built with one
        passages = self._list_passages(reply.ranked.cut(spec.passages))
        texts, row = self.collection.texts, self.collection.row

        def read(passage: Passage) -> Source:
            try:
                return Source(passage.document, texts[row(passage.document)][passage.start : passage.end])
            except KeyError:
                msg = f"document `{passage.document}` is not in the collection, so there is no text to answer from"
                raise StageFailed(msg) from None

        def generate() -> tuple[str, tuple[str, ...]]:
            sources = [read(passage) for passage in passages]
            return generator.generate(query, sources), tuple(source.id for source in sources)

        return self.time(spec.stage, query, generate)

    def find_documents(self, query: Query) -> Ranked:
        """Return the documents that the system finds, each at the rank of its best passage."""
        return self.to_documents(self.find_passages(query).ranked)

    def to_documents(self, ranked: Ranked) -> Ranked:
        """Return the documents of what was found."""
        if self.chunked is not None:
            ranked = Judging().convert(ranked, self.chunked.find(ranked))
        return ranked.cut(self.depth)

    def _convert(self, reply: SystemReply) -> SystemReply:
        """Return a reply with rankings of what is judged in place of those of passages, or of whole documents."""
        passages = self._list_passages(reply.ranked)
        before = None
        if reply.before is not None:
            before = self.judging.convert(reply.before, self._list_passages(reply.before)).cut(self.depth)
        ranked = self.judging.convert(reply.ranked, passages).cut(self.depth)
        return replace(reply, ranked=ranked, before=before, passages=tuple(passages))

    def _list_passages(self, ranked: Ranked) -> list[Passage]:
        """Return the passages of a ranking; documents as whole ones."""
        if self.chunked is not None:
            return self.chunked.find(ranked)
        assert self.collection is not None  # noqa: S101 - without one, there are no spans
        return whole_passages(self.collection, ranked.documents)

    def find_passages(self, query: Query, *, skipping: bool = True) -> SystemReply:
        """Return what the system finds in its own units: passages if it searches such, with none cut off.

        A system that several others consist of is asked once for a query.
        """
        known = query.replies.get(self.name)
        if known is None or not skipping:
            known = query.replies[self.name] = self._find_passages(query, skipping=skipping)
        assert isinstance(known, SystemReply)  # noqa: S101 - nothing else is kept there
        return known

    def _find_passages(self, query: Query, *, skipping: bool) -> SystemReply:
        if skipping and self.skip is not None:
            stage, policy = self.skip
            if not self.time(stage, query, lambda: policy.decide(query)):
                return SystemReply(Ranked(), retrieved=False)
        before, experts, rewritten = self._find(query)
        ranked = before
        for stage, reranker in self.rerankers:
            ranked = self.time(stage, query, partial(reranker.rerank, query, ranked))
        return SystemReply(ranked, before if self.rerankers else None, experts, rewritten=rewritten)

    def _find(self, query: Query) -> tuple[Ranked, tuple[str, ...], tuple[str, ...]]:
        """Return documents, experts, and what was searched for if that is not the query as it was asked."""
        spec, rewriter = self.spec.rewrite, self.rewriter
        if spec is None or rewriter is None:
            return *self.find(query), ()
        found = self.time(spec.stage, query, lambda: rewriter.rewrite(query))
        lists = [self.find(rewriting.apply(query)) for rewriting in found]
        texts = tuple(rewriting.text for rewriting in found)
        ranked, experts = lists[0]
        if len(lists) > 1:
            names = [f"query {number}" for number in range(1, len(lists) + 1)]
            fusion = spec.choose_fusion()
            weights = fusion.check_weights(None, names)
            ranked = self.time(
                FUSION, query, lambda: _fuse(fusion, weights, [one for one, _ in lists], names)
            )
        return ranked, experts, texts

    def notes(self) -> list[str]:
        """Return what its stages say to readers of the results; systems that it consists of speak for themselves."""
        found = [getattr(stage, "notes", None) for stage in self._list_stages()]
        return [note for notes in found if notes is not None for note in notes()]

    def forget(self) -> None:
        """Forget what was counted for notes: neither a warm-up nor the requests of another system are part of the results."""
        for stage in self._list_stages():
            getattr(stage, "forget", lambda: None)()

    def versions(self) -> tuple[str, ...]:
        """Return the versions that its servers report, those of its parts included."""
        found = [getattr(stage, "version", None) for stage in self._list_stages()]
        # a model that was not asked yet has none
        own = [said for version in found if version is not None and (said := version())]
        return (*own, *(version for part in self.parts for version in part.versions()))

    def date_replies(self) -> float:
        """Return when the oldest kept reply of a language model came, in seconds since 1970; 0: none was kept."""
        chats = [getattr(stage, "chat", None) for stage in self._list_stages()]
        found = [chat.oldest for chat in chats if chat is not None and chat.oldest]
        return min([*found, *(date for part in self.parts if (date := part.date_replies()))], default=0.0)

    def _list_stages(self) -> list[object]:
        reranking = (reranker for _, reranker in self.rerankers)
        skip = None if self.skip is None else self.skip[1]
        return [*self.spaces, self.source, skip, self.rewriter, *reranking, self.generator]

    def time(self, stage: str, query: Query, call: Callable[[], T]) -> T:
        """Return what the call returns, its time given to the stage; an error names system, stage and query."""
        try:
            with query.clock.stage(stage), count_tokens() as spent:
                found = call()
        except SystemFailed:  # of a part, which has named itself already
            raise
        except Exception as error:
            inner = error.stage if isinstance(error, StageFailed) else None
            raise SystemFailed(self.name, inner or stage, error, query.id) from error
        query.clock.spend(stage, spent)
        return found


@dataclass(eq=False)
class TunedSystem(System):
    """A system whose settings depend on the query: those that were chosen on other queries."""

    choose: Callable[[str], System] = field(kw_only=True)
    """Returns the system that answers a query, by the query's id."""

    def answer(self, query: Query, *, skipping: bool = True, generating: bool = True) -> SystemReply:
        """Return what the system with the settings of this query finds."""
        return self.choose(query.id).answer(query, skipping=skipping, generating=generating)

    def find_documents(self, query: Query) -> Ranked:
        """Return the documents that the system with the settings of this query finds."""
        return self.choose(query.id).find_documents(query)

    def find_passages(self, query: Query, *, skipping: bool = True) -> SystemReply:
        """Return what the system with the settings of this query finds, in its own units."""
        return self.choose(query.id).find_passages(query, skipping=skipping)


class _Remembering:
    """A system that is asked the same queries again and again, in trials that leave it as it is."""

    def __init__(self, system: System) -> None:
        self._system, self._replies = system, dict[str, SystemReply]()

    def __getattr__(self, name: str) -> object:
        return getattr(self._system, name)

    def find_passages(self, query: Query) -> SystemReply:
        """Return what the system found the first time."""
        if query.id not in self._replies:
            self._replies[query.id] = self._system.find_passages(query)
        return self._replies[query.id]

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
            return system.time(spec.stage, query, lambda: _fuse(fusion, weights, lists, spec.of)), ()

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


def _fuse(fusion: Fusion, weights: Sequence[float], lists: Sequence[Ranked], names: Sequence[str]) -> Ranked:
    """Return the lists of one query, fused by the arithmetic of `judged.fuse`."""
    if not any(len(ranked) for ranked in lists):
        return Ranked()
    candidates, documents = collect_ranked([(ranked.documents, ranked.scores) for ranked in lists], names)
    scores = fusion.score(candidates, weights)
    order = sort_names(scores, documents)
    if order is not None:
        documents, scores = [documents[row] for row in order], scores[order]
    return Ranked(tuple(documents), tuple(keep_order(scores)))


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
