"""Byte-pair encoding trained on the collection, and an LSTM over its tokens: a tokenisation without a published model.

The tokens are fitted to the documents. The LSTM has random weights, or weights that were trained elsewhere:

    encoder = BPE(weights="random").load(texts)
    ...                      # train `encoder.network`, a `torch.nn.Module`
    encoder.save("trained")  # then: BPE(model="trained")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
import numpy as np

from judged._optional import need
from judged.store.machine import list_versions
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.encoders.models import ModelFolder, find_model
from judged.studies.stages.stage import Matrix, StageFailed, Vector

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

TOKENISER, WEIGHTS = "tokenizer.json", "model.safetensors"


class BPE(EncoderSpec, tag="bpe", frozen=True, kw_only=True):
    """Byte-pair encoding trained on the documents, an embedding of its tokens, and an LSTM of one layer.

    The vector of a text is the mean of the LSTM's states, or the last one.
    """

    extra: ClassVar[str] = "encoders"
    fitted: ClassVar[bool] = True

    weights: Literal["trained", "random"] = "trained"
    """`random`: build the LSTM without training."""
    model: str | None = None
    """The folder of a tokenizer and weights, written by `BPEEncoder.save`."""
    vocabulary: Annotated[int, msgspec.Meta(ge=1)] = 8000
    """Tokens, those of single bytes included; a small collection has fewer."""
    dimensions: Annotated[int, msgspec.Meta(ge=1)] = 768
    """The length of the LSTM's states."""
    embedding: Annotated[int, msgspec.Meta(ge=1)] = 256
    """The length of the embeddings that the LSTM reads."""
    pooling: Literal["mean", "last"] = "mean"
    max_length: Annotated[int, msgspec.Meta(ge=1)] = 512
    """Tokens that are read of a text; what follows is cut off."""
    seed: int = 0
    """Random seed of random weights."""
    device: str = "cpu"
    normalise: bool = False
    """Whether vectors are scaled to length 1."""

    def load(self, documents: Sequence[str]) -> BPEEncoder:
        """Train the tokenizer on the documents and build the LSTM, or load both."""
        if (self.model is None) == (self.weights == "trained"):
            given = (
                "no `model` is named"
                if self.model is None
                else "a `model` is named, and random weights asked for"
            )
            msg = f"{given}: there are no published weights for byte-pair encoding trained on a collection"
            raise StageFailed(
                msg,
                hint="write `weights: random` for an untrained LSTM, or `model: FOLDER` for a trained one",
            )
        return self._build(documents) if self.model is None else self._load_trained(self.model)

    def _build(self, documents: Sequence[str]) -> BPEEncoder:
        tokenizer = train_tokenizer(documents, self.vocabulary, needed_by="the encoder `bpe`")
        torch = need("torch", extra=self.extra, needed_by="the encoder `bpe`")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = _make_network(tokenizer.get_vocab_size(), self.embedding, self.dimensions)
        return BPEEncoder(self, tokenizer, network)

    def _load_trained(self, model: str) -> BPEEncoder:
        folder = find_model(model, extra=self.extra)
        library = need("tokenizers", extra=self.extra, needed_by="the encoder `bpe`")
        need("torch", extra=self.extra, needed_by="the encoder `bpe`")
        safetensors = need("safetensors.torch", extra=self.extra, needed_by="the encoder `bpe`")
        try:
            tokenizer = library.Tokenizer.from_file(str(folder.path / TOKENISER))
            weights = safetensors.load_file(folder.path / WEIGHTS)
            vocabulary, embedding = weights["embedding.weight"].shape
            network = _make_network(vocabulary, embedding, weights["lstm.weight_hh_l0"].shape[1])
            network.load_state_dict(weights)
        except Exception as error:  # those of tokenizers are of no narrower kind
            raise folder.fail(error) from error
        return BPEEncoder(self, tokenizer, network, folder)


@dataclass(eq=False)
class BPEEncoder:
    """A tokenizer and an LSTM; `network` is a module of torch that can be trained."""

    spec: BPE
    tokenizer: Tokenizer
    network: torch.nn.ModuleDict
    folder: ModelFolder | None = None

    def __post_init__(self) -> None:
        self.network.eval().to(self.spec.device)
        self.tokenizer.enable_truncation(self.spec.max_length)
        self.dimensions = int(self.network.state_dict()["lstm.weight_hh_l0"].shape[1])
        self.untrained = self.folder is None
        self.identity = list_versions("torch", "tokenizers")
        if self.folder is not None:
            self.identity["model"] = self.folder.identity

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents; a text without tokens has the vector 0."""
        torch = need("torch", extra=self.spec.extra, needed_by="the encoder `bpe`")
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        vectors = np.zeros((len(tokens), self.dimensions), dtype=np.float32)
        rows = [row for row, ids in enumerate(tokens) if ids]
        if rows:
            with torch.inference_mode():
                vectors[rows] = self.compute([tokens[row] for row in rows]).cpu().numpy()
        return normalise_rows(vectors) if self.spec.normalise else vectors

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self.encode_documents([text])[0]
        return vector

    def compute(self, tokens: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the vectors of texts as a tensor, through which gradients flow; each needs a token at least."""
        import torch

        padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in tokens], batch_first=True)
        lengths = torch.tensor([len(ids) for ids in tokens], device=self.spec.device).unsqueeze(1)
        # States see what comes before them alone, so the padding at the end changes none that is used.
        states: torch.Tensor
        states, _ = self.network["lstm"](self.network["embedding"](padded.to(self.spec.device)))
        if self.spec.pooling == "last":
            return states[torch.arange(len(tokens)), lengths.squeeze(1) - 1]
        read = torch.arange(states.shape[1], device=self.spec.device) < lengths
        return (states * read.unsqueeze(-1)).sum(dim=1) / lengths

    def save(self, folder: str | Path) -> None:
        """Write the tokenizer and the weights to a folder, which `BPE(model=folder)` loads."""
        safetensors = need("safetensors.torch", extra=self.spec.extra, needed_by="the encoder `bpe`")
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.tokenizer.save(str(Path(folder, TOKENISER)))
        safetensors.save_file(self.network.state_dict(), Path(folder, WEIGHTS))


def train_tokenizer(documents: Sequence[str], vocabulary: int, *, needed_by: str) -> Tokenizer:
    """Return byte-level byte-pair encoding trained on documents; texts of any language have tokens."""
    library = need("tokenizers", extra=BPE.extra, needed_by=needed_by)
    tokenizer: Tokenizer = library.Tokenizer(library.models.BPE())
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = library.trainers.BpeTrainer(
        vocab_size=vocabulary,
        # every byte gets a token, so that queries may have characters that no document has
        initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


def _make_network(vocabulary: int, embedding: int, dimensions: int) -> torch.nn.ModuleDict:
    import torch

    return torch.nn.ModuleDict(
        {
            "embedding": torch.nn.Embedding(vocabulary, embedding),
            "lstm": torch.nn.LSTM(embedding, dimensions, batch_first=True),
        }
    )
