"""Transformers that read texts: byte by byte (ByT5), character by character (CANINE), or in tokens of their own.

The vector of a text is pooled from the states of its tokens in the last layer. It is the one that the text gets
alone: no vector depends on the other texts of a batch, nor on their lengths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

import msgspec
import numpy as np

from judged._optional import need
from judged.store.machine import list_versions
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.encoders.models import (
    ModelFolder,
    find_model,
    load_quietly,
)
from judged.studies.stages.stage import Matrix, StageFailed, Vector

if TYPE_CHECKING:
    import torch

MAX_TOKENS = 512
"""Tokens that are read of a text if neither the study nor the model says how many."""
HEADROOM = 1 << 20
"""Tokenizers that know no limit state one above this."""
UNPADDED = frozenset({"canine"})
"""Kinds of models whose states depend on padding, though it is masked: their texts are never padded."""

Weights = Literal["trained", "random"]
Pooling = Literal["mean", "cls", "max"]


class Tokenizer(Protocol):
    """What is used of the tokenizers of `transformers`, which are of many classes."""

    model_max_length: int
    pad_token_id: int | None

    def __call__(
        self, text: str, *, truncation: bool, max_length: int, verbose: bool
    ) -> Mapping[str, list[int]]:
        """Return the tokens of a text as `input_ids`."""
        ...


class TransformersSpec(EncoderSpec, frozen=True, kw_only=True):
    """Base of encoders with a transformer."""

    extra: ClassVar[str] = "encoders"
    published: ClassVar[str] = ""
    """The hub id of the published model, used if no model is named."""
    architecture: ClassVar[Mapping[str, object]] = {}
    """The configuration of the published model, for random weights."""
    classes: ClassVar[tuple[str, str, str]] = ("AutoConfig", "AutoModel", "AutoTokenizer")
    """The classes of `transformers` for configuration, model and tokenizer."""

    model: str | None = None
    """A folder, a hub id, or `package:NAME/FOLDER`."""
    revision: str | None = None
    """Branch, tag or commit of the hub."""
    weights: Weights = "trained"
    """`random`: build the architecture without training."""
    seed: int = 0
    """Random seed of random weights."""
    config: dict[str, Any] = msgspec.field(default_factory=dict)
    """Fields of the configuration to replace, for random weights."""
    device: str = "cpu"
    max_length: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Tokens that are read of a text; what follows is cut off."""
    query_prefix: str = ""
    document_prefix: str = ""
    normalise: bool = False
    """Whether vectors are scaled to length 1."""

    def load(self, documents: Sequence[str]) -> TransformersEncoder:
        """Load the model, or build it untrained if random weights are asked for."""
        del documents
        self._check()
        need("torch", extra=self.extra, needed_by=f"the encoder `{self.type}`")
        library = need("transformers", extra=self.extra, needed_by=f"the encoder `{self.type}`")
        model = self.model or ("" if self.weights == "random" else self.published)
        trained = self.weights == "trained"
        folder = (
            find_model(model, revision=self.revision, extra=self.extra, weights=trained) if model else None
        )
        with load_quietly():
            network = self._load(library, folder) if folder and trained else self._build(library, folder)
            tokenizer = self._load_tokenizer(library, folder)
        return TransformersEncoder(self, network, tokenizer, folder)

    @property
    def pools(self) -> Pooling:
        """Pooling: how the states of tokens become one vector."""
        return "mean"

    def _check(self) -> None:
        if self.config and self.weights == "trained":
            msg = "`config` replaces fields of the configuration, which a trained model does not allow"
            raise StageFailed(msg, hint="write `weights: random` for an untrained model")
        if not (self.model or self.published):  # random weights need its configuration and its tokenizer
            raise StageFailed(
                "no `model` is named", hint="write a folder, a hub id, or `package:NAME/FOLDER`"
            )

    def _load(self, library: ModuleType, folder: ModelFolder) -> Any:
        torch = need("torch", extra=self.extra, needed_by=f"the encoder `{self.type}`")
        try:
            network, report = getattr(library, self.classes[1]).from_pretrained(
                folder.path, dtype=torch.float32, local_files_only=True, output_loading_info=True
            )
            network = network.to(self.device)
        except Exception as error:
            raise folder.fail(error) from error
        # transformers draws missing weights at random and only warns; the pooler is not used here
        missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
        if missing:
            msg = f"the model `{folder.name}` has no trained weights for {len(missing)} parts of {type(network).__name__}, such as `{missing[0]}`"
            raise StageFailed(msg, hint="the type of the encoder must suit the files of the model")
        return _take_encoder(network)

    def _build(self, library: ModuleType, folder: ModelFolder | None) -> Any:
        torch = need("torch", extra=self.extra, needed_by=f"the encoder `{self.type}`")
        try:
            config = self._read_config(library, folder)
            # a copy of the generator: the seed must not change the random numbers of the caller
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.seed)
                kind = getattr(library, self.classes[1])
                network = kind.from_config(config) if hasattr(kind, "from_config") else kind(config)
            return _take_encoder(network.to(self.device, torch.float32))
        except Exception as error:
            msg = f"no untrained model can be built of this configuration: {error}"
            raise StageFailed(msg) from error

    def _read_config(self, library: ModuleType, folder: ModelFolder | None) -> Any:
        """Return the configuration of the folder, or the published one, with fields replaced."""
        kind = getattr(library, self.classes[0])
        if folder is None:
            return kind(**{**self.architecture, **self.config})
        config = kind.from_pretrained(folder.path, local_files_only=True)
        unknown = sorted(name for name in self.config if not hasattr(config, name))
        if unknown:
            msg = f"`{type(config).__name__}` has no field `{unknown[0]}`"
            raise StageFailed(msg)
        for name, value in self.config.items():
            setattr(config, name, value)
        return config

    def _load_tokenizer(self, library: ModuleType, folder: ModelFolder | None) -> Tokenizer:
        kind = getattr(library, self.classes[2])
        tokenizer: Tokenizer
        if folder is None:
            tokenizer = kind()
            return tokenizer
        try:
            tokenizer = kind.from_pretrained(folder.path, local_files_only=True)
        except Exception as error:
            raise folder.fail(error) from error
        return tokenizer


class ByT5(TransformersSpec, tag="byt5", frozen=True, kw_only=True):
    """The encoder of ByT5, which reads UTF-8 bytes; its states are averaged. The small model has 1472 dimensions.

    References:
        Xue et al. ByT5: Towards a token-free future with pre-trained byte-to-byte models. TACL 10, 2022.
        doi:10.1162/tacl_a_00461
    """

    published: ClassVar[str] = "google/byt5-small"
    architecture: ClassVar[Mapping[str, object]] = {
        "vocab_size": 384,
        "d_model": 1472,
        "d_kv": 64,
        "d_ff": 3584,
        "num_layers": 12,
        "num_heads": 6,
        "feed_forward_proj": "gated-gelu",
        "is_encoder_decoder": False,
    }
    classes: ClassVar[tuple[str, str, str]] = ("T5Config", "T5EncoderModel", "ByT5Tokenizer")

    max_length: Annotated[int, msgspec.Meta(ge=1)] | None = 1024
    """Bytes that are read of a text, with the sign for its end; what follows is cut off."""


class Canine(TransformersSpec, tag="canine", frozen=True, kw_only=True):
    """CANINE, which reads characters; its states are averaged. The published models have 768 dimensions.

    References:
        Clark et al. CANINE: Pre-training an efficient tokenization-free encoder for language representation.
        TACL 10, 2022. doi:10.1162/tacl_a_00448
    """

    published: ClassVar[str] = "google/canine-s"
    classes: ClassVar[tuple[str, str, str]] = ("CanineConfig", "CanineModel", "CanineTokenizer")

    max_length: Annotated[int, msgspec.Meta(ge=1)] | None = 2048
    """Characters that are read of a text, with the signs for its start and end; what follows is cut off."""


class Transformers(TransformersSpec, tag="transformers", frozen=True, kw_only=True):
    """Any encoder of `transformers`, with the pooling that it was trained with."""

    pooling: Pooling = "mean"
    """`mean` or `max` over the tokens of the text, or the first one (`cls`)."""

    @property
    def pools(self) -> Pooling:
        """Pooling: how the states of tokens become one vector."""
        return self.pooling


@dataclass(eq=False)
class TransformersEncoder:
    """A transformer with its tokenizer."""

    spec: TransformersSpec
    network: Any
    tokenizer: Tokenizer
    folder: ModelFolder | None

    def __post_init__(self) -> None:
        self.network.eval()
        self.dimensions = int(self.network.config.hidden_size)
        self.untrained = self.spec.weights == "random"
        kind = self.network.config.model_type
        self._padded = kind not in UNPADDED
        # CANINE merges this many characters into one position, and cannot read fewer
        self._least = int(getattr(self.network.config, "downsampling_rate", 1))
        stated = self.spec.max_length or min(self.tokenizer.model_max_length, MAX_TOKENS)
        self.max_length = min(stated, _find_positions(self.network.config) or stated)
        self.identity = list_versions("torch", "transformers", "tokenizers")
        if self.folder is not None:
            self.identity["model"] = self.folder.identity

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents."""
        return self._encode([self.spec.document_prefix + text for text in texts])

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self._encode([self.spec.query_prefix + text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Matrix:
        tokens = [self._tokenise(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for rows in self._group([len(ids) for ids in tokens]):
            vectors[rows] = self._pool([tokens[row] for row in rows])
        return normalise_rows(vectors) if self.spec.normalise else vectors

    def _tokenise(self, text: str) -> list[int]:
        tokens = self.tokenizer(text, truncation=True, max_length=self.max_length, verbose=False)
        return tokens["input_ids"]

    def _group(self, lengths: Sequence[int]) -> list[list[int]]:
        """Return rows that may share a batch: all of them, or those of one length where padding shows."""
        if self._padded:
            return [list(range(len(lengths)))] if lengths else []
        order = sorted(range(len(lengths)), key=lambda row: lengths[row])
        return [list(rows) for _, rows in groupby(order, key=lambda row: lengths[row])]

    def _pool(self, tokens: Sequence[Sequence[int]]) -> Matrix:
        """Return the vectors of texts that share a batch; texts are padded at the end, and the padding masked."""
        torch = need("torch", extra=self.spec.extra, needed_by=f"the encoder `{self.spec.type}`")
        width = max(self._least, *map(len, tokens))
        ids = np.full((len(tokens), width), self.tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros((len(tokens), width), dtype=np.int64)
        for row, text_ids in enumerate(tokens):
            ids[row, : len(text_ids)], mask[row, : len(text_ids)] = text_ids, 1
        with torch.inference_mode():
            attention = torch.from_numpy(mask).to(self.spec.device)
            given = torch.from_numpy(ids).to(self.spec.device)
            states = self.network(input_ids=given, attention_mask=attention).last_hidden_state.float()
            pooled = pool_states(states, attention, self.spec.pools)
        vectors: Matrix = pooled.cpu().numpy()
        return vectors


def pool_states(states: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """Return one vector for each text from the states of its tokens; a text without tokens has the vector 0."""
    read = mask.bool().unsqueeze(-1)
    if pooling == "cls":
        return states[:, 0].masked_fill(~read[:, 0], 0)
    if pooling == "max":
        return states.masked_fill(~read, -float("inf")).amax(dim=1).masked_fill(~read.any(dim=1), 0)
    return states.masked_fill(~read, 0).sum(dim=1) / read.sum(dim=1).clamp(min=1)


def _take_encoder(network: Any) -> Any:
    """Return the half of an encoder-decoder that reads."""
    return network.get_encoder() if getattr(network.config, "is_encoder_decoder", False) else network


def _find_positions(config: Any) -> int | None:
    """Return how many tokens a model has positions for, if it has learned ones."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions > HEADROOM:
        return None
    # RoBERTa and its kin count positions from the one after the padding token.
    reserved = config.pad_token_id + 1 if config.model_type in {"roberta", "xlm-roberta", "camembert"} else 0
    return int(positions) - int(reserved)
