"""Models of sentence-transformers, which define their own pooling, prompts and length limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from judged._optional import need
from judged.store.machine import list_versions
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.encoders.models import ModelFolder, find_model, load_quietly
from judged.studies.stages.stage import Matrix, StageFailed, Vector

LARGEST_DESCRIPTION = 1 << 20
"""Bytes beyond which a file of a model is a vocabulary, not a description."""
OWN_CODE = {
    "type": ("modules.json", "sentence_transformers."),
    "tokenizer_class": ("wordembedding_config.json", "sentence_transformers."),
    "activation_function": ("", "torch."),
}
"""Settings of models that name a class: the file in which they do, if not in any, and where the libraries have theirs."""


class SentenceTransformers(EncoderSpec, tag="sentence-transformers", frozen=True, kw_only=True):
    """A model of sentence-transformers."""

    extra: ClassVar[str] = "encoders"

    model: str
    """A folder, a hub id, or `package:NAME/FOLDER`."""
    revision: str | None = None
    """Branch, tag or commit of the hub."""
    device: str = "cpu"
    max_length: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Tokens that are read of a text, if other than the model says; what follows is cut off."""
    query_prefix: str | None = None
    """Written before a query; by default the model's own prompt for queries."""
    document_prefix: str | None = None
    """Written before a document; by default the model's own prompt for documents."""
    normalise: bool = False
    """Whether vectors are scaled to length 1, if the model does not do so itself."""
    allow_code: bool = False
    """Whether code that the files of the model name may be run."""

    def load(self, documents: Sequence[str]) -> SentenceTransformersEncoder:
        """Load the model."""
        del documents
        library = need("sentence_transformers", extra=self.extra, needed_by=f"the encoder `{self.type}`")
        folder = find_model(self.model, revision=self.revision, extra=self.extra)
        if not (folder.path / "modules.json").is_file():  # one would be made up, with mean pooling
            msg = f"the model `{self.model}` is not one of sentence-transformers: {folder.path} has no `modules.json`"
            raise StageFailed(msg, hint="the type `transformers` takes other models, with `pooling`")
        try:
            if not self.allow_code:
                _refuse_code(folder)
            with load_quietly():
                network = library.SentenceTransformer(
                    str(folder.path),
                    device=self.device,
                    local_files_only=True,
                    trust_remote_code=self.allow_code,
                )
        except StageFailed:
            raise
        except Exception as error:
            raise folder.fail(error) from error
        if self.max_length is not None:
            network.max_seq_length = self.max_length
        return SentenceTransformersEncoder(self, network.eval(), folder)


def _refuse_code(folder: ModelFolder) -> None:
    """Raise `StageFailed` if a file of the model names code other than the library's own: some releases would run it."""
    for path in sorted(folder.path.rglob("*.json")):
        if path.stat().st_size > LARGEST_DESCRIPTION:
            continue  # a vocabulary
        try:
            content = msgspec.json.decode(path.read_bytes())
        except msgspec.DecodeError:
            continue  # its reader says so
        for name, value in _list_code(content, path.name):
            msg = f"the model `{folder.name}` runs code of its own: `{name}` of {path} is `{value}`"
            raise StageFailed(msg, hint="if you trust it: `allow_code: true`")


def _list_code(content: object, file: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of a file that name a class outside the libraries, with what they name."""
    for part in content if isinstance(content, list) else [content]:
        for name, value in part.items() if isinstance(part, dict) else ():
            only, own = OWN_CODE.get(name, (None, ""))
            if isinstance(value, str) and "." in value and only in {"", file} and not value.startswith(own):
                yield name, value


@dataclass(eq=False)
class SentenceTransformersEncoder:
    """A loaded model."""

    spec: SentenceTransformers
    network: Any
    folder: ModelFolder

    untrained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.identity = {
            "model": self.folder.identity,
            **list_versions("torch", "transformers", "tokenizers", "sentence-transformers"),
        }

    @cached_property
    def dimensions(self) -> int:
        """The length of its vectors; not every model states it."""
        return len(self.encode_query("dimensions"))

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents."""
        return self._encode(self.network.encode_document, texts, self.spec.document_prefix)

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self._encode(self.network.encode_query, [text], self.spec.query_prefix)[0]
        return vector

    def _encode(self, encode: Callable[..., object], texts: Sequence[str], prefix: str | None) -> Matrix:
        vectors = encode(
            list(texts),
            prompt=prefix,
            batch_size=max(1, len(texts)),
            normalize_embeddings=self.spec.normalise,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)
