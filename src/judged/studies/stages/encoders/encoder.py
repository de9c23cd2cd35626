"""The seam of encoders: what turns texts into vectors, and how a study declares one.

An encoder is an `EncoderSpec` in a file of this folder, listed in `judged.studies.stages.encoders`. The vectors of documents
are encoded once and cached; they depend on the spec's settings and on `Encoder.identity`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Protocol

import msgspec

from judged.store.hashing import hash_folder
from judged.studies.stages.stage import Matrix, StageFailed, StageSpec, Vector


class Encoder(Protocol):
    """A stage that turns texts into vectors of one length."""

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        ...

    @property
    def untrained(self) -> bool:
        """Whether its weights are random: every table and chart says so."""
        ...

    @property
    def identity(self) -> Mapping[str, str]:
        """Dependencies of the vectors besides the settings: hashes of files, revisions, versions of packages."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return a row for each text; called with batches of `EncoderSpec.batch` texts."""
        ...

    def encode_query(self, text: str) -> Vector:
        """Return the vector of one query."""
        ...


class EncoderSpec(StageSpec, frozen=True, kw_only=True):
    """An encoder as a study declares it."""

    batch: Annotated[int, msgspec.Meta(ge=1)] = 32
    """Batch size in documents; no vector depends on it."""

    fitted: ClassVar[bool] = False
    """Whether it is fitted to the documents, so that its vectors depend on all of them."""

    steadiness: ClassVar[float] = 1e-3
    """The largest difference of two vectors of the same text, relative to their length, that is rounding alone."""

    def load(self, documents: Sequence[str]) -> Encoder:
        """Return the encoder; `documents` are the texts of the collection, for encoders that are fitted to them."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """Return every setting that vectors depend on."""
        return {name: value for name, value in super().to_dict().items() if name != "batch"}


def hash_files(folder: str | Path) -> str:
    """Return a hash of the files of a model's folder, by name and content."""
    digest = hash_folder(Path(folder))
    if not digest:
        msg = f"`{folder}` has no files, expected those of a model"
        raise StageFailed(msg)
    return digest
