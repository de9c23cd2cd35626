"""Declarations of systems: what a study says of one, checked before anything is loaded or built."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

import msgspec

from judged.errors import BadProtocol, UnknownName
from judged.index.engine import ENGINES
from judged.io.settings import convert_settings
from judged.studies.factors.settings import Scalar, TuneSettings, find_owner, put_setting
from judged.studies.fusion.methods import Fusion
from judged.studies.stages.chunkers import CHUNKERS, Chunkers, ChunkSpec, WordChunks
from judged.studies.stages.encoders import ENCODERS, Encoders
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.generators import Generators
from judged.studies.stages.rerankers import RERANKERS, Rerankers
from judged.studies.stages.rerankers.reranker import RerankSpec
from judged.studies.stages.retrievers import RETRIEVERS, Retrievers
from judged.studies.stages.retrievers.objects import PythonObject
from judged.studies.stages.retrievers.retriever import RetrieveSpec
from judged.studies.stages.rewriters import Rewriters
from judged.studies.stages.routers import Routers
from judged.studies.stages.searchers import SEARCHERS, Searchers
from judged.studies.stages.searchers.index import VectorIndex
from judged.studies.stages.searchers.searcher import SearchSpec
from judged.studies.stages.skip_policies import SKIP_POLICIES, SkipPolicies, SkipSpec
from judged.studies.stages.stage import StageSpec

S = TypeVar("S", bound=StageSpec)

FUSION = "fusion"
"""The stage in which the results of systems are fused."""
WAYS = ("search", "retriever", "fuse", "router", "base")
"""The settings of which a system has exactly one."""
_NAME = re.compile(r"\w[\w .+()=,@-]{0,79}")


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
            self.chunk_spec(),
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
