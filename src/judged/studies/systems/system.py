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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from judged.errors import JudgedError
from judged.studies.fusion.candidates import collect_ranked, sort_names
from judged.studies.fusion.methods import Fusion
from judged.studies.passages.chunking import Chunked, Judging, whole_passages
from judged.studies.stages.generators import Generator, Source
from judged.studies.stages.rewriters import Rewriter
from judged.studies.stages.routers import Router
from judged.studies.stages.skip_policies import SkipPolicy
from judged.studies.stages.stage import Passage, Query, Ranked, Reranker, Searcher, StageFailed
from judged.studies.stages.tokens import count_tokens
from judged.studies.stages.vectors import VectorSpace
from judged.studies.systems.declared import FUSION, SystemSpec
from judged.tables.nested import keep_order

if TYPE_CHECKING:
    from judged.studies.collections.collection import Collection

T = TypeVar("T")
DOCUMENTS = "documents"
"""The stage in which passages become documents, each at the rank of its best one."""


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
                FUSION, query, lambda: fuse_lists(fusion, weights, [one for one, _ in lists], names)
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


def fuse_lists(
    fusion: Fusion, weights: Sequence[float], lists: Sequence[Ranked], names: Sequence[str]
) -> Ranked:
    """Return the lists of one query, fused by the arithmetic of `judged.fuse`."""
    if not any(len(ranked) for ranked in lists):
        return Ranked()
    candidates, documents = collect_ranked([(ranked.documents, ranked.scores) for ranked in lists], names)
    scores = fusion.score(candidates, weights)
    order = sort_names(scores, documents)
    if order is not None:
        documents, scores = [documents[row] for row in order], scores[order]
    return Ranked(tuple(documents), tuple(keep_order(scores)))
