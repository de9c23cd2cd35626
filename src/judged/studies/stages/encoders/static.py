"""Static embeddings: every token has one vector, and that of a text is their mean; fast, without a network."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np

from judged._optional import need
from judged.store.machine import list_versions
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.encoder import EncoderSpec, hash_files
from judged.studies.stages.encoders.models import find_model
from judged.studies.stages.stage import Matrix, StageFailed, Vector


class Model2Vec(EncoderSpec, tag="model2vec", frozen=True, kw_only=True):
    """A model of model2vec, such as the potion models."""

    extra: ClassVar[str] = "static"

    model: str
    """A folder, a hub id, or `package:NAME/FOLDER`."""
    revision: str | None = None
    """Branch, tag or commit of the hub."""
    dimensions: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Keep the first dimensions only, for models that were trained for that."""
    max_length: Annotated[int, msgspec.Meta(ge=1)] | None = 512
    """Tokens that are read of a text; null reads all."""
    normalise: bool = False
    """Whether vectors are scaled to length 1."""

    def load(self, documents: Sequence[str]) -> StaticEncoder:
        """Load the model."""
        del documents
        library = need("model2vec", extra=self.extra, needed_by=f"the encoder `{self.type}`")
        folder = find_model(self.model, revision=self.revision, extra=self.extra)
        try:
            network = library.StaticModel.from_pretrained(folder.path, dimensionality=self.dimensions)
        except Exception as error:
            raise folder.fail(error) from error

        def encode(texts: list[str]) -> Matrix:
            vectors = network.encode(
                texts, max_length=self.max_length, normalize=False, use_multiprocessing=False
            )
            return np.asarray(vectors, dtype=np.float32)

        identity = {"model": folder.identity, **list_versions("model2vec", "tokenizers")}
        return StaticEncoder(encode, network.dim, identity, normalise=self.normalise)


class WordLlama(EncoderSpec, tag="wordllama", frozen=True, kw_only=True):
    """The embeddings included in the package `wordllama`; nothing is downloaded."""

    extra: ClassVar[str] = "static"

    dimensions: Literal[64, 128, 256] = 256
    """Keep the first dimensions only, for which the model was trained."""
    normalise: bool = False
    """Whether vectors are scaled to length 1."""

    def load(self, documents: Sequence[str]) -> StaticEncoder:
        """Load the weights and the tokenizer from the folder of the package."""
        del documents
        library = _import_wordllama(self)
        folder = Path(library.__file__).parent
        try:
            # The package looks for its tokenizer where it keeps downloads: that is its own folder here.
            network = library.WordLlama.load(
                dim=256, trunc_dim=self.dimensions, cache_dir=folder, disable_download=True
            )
        except (OSError, ValueError) as error:
            msg = f"the package `wordllama` has no weights of 256 dimensions in {folder}: {error}"
            raise StageFailed(msg) from error
        identity = {"model": hash_files(folder / "weights"), **list_versions("wordllama", "tokenizers")}
        return StaticEncoder(network.embed, self.dimensions, identity, normalise=self.normalise)


@dataclass(frozen=True, eq=False)
class StaticEncoder:
    """A table of vectors by token; queries and documents are encoded alike."""

    encode: Callable[[list[str]], Matrix]
    dimensions: int
    identity: Mapping[str, str]
    normalise: bool
    untrained: ClassVar[bool] = False

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents; a text without known tokens has the vector 0."""
        vectors = self.encode(list(texts))
        return normalise_rows(vectors) if self.normalise else vectors

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self.encode_documents([text])[0]
        return vector


def _import_wordllama(spec: WordLlama) -> Any:
    """Import the package, which sets up logging for the whole program, and undo that."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return need("wordllama", extra=spec.extra, needed_by=f"the encoder `{spec.type}`")
    finally:
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
        root.setLevel(level)
