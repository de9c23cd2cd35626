"""Cosines: vectors of length 1, centroids of examples, and the space that a stage compares texts in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.studies.stages.stage import Matrix, StageFailed, Workshop

if TYPE_CHECKING:
    from judged.studies.stages.encoders.encoder import EncoderSpec
    from judged.studies.stages.vectors import VectorSpace


def normalise(vectors: NDArray[np.float32]) -> Floats:
    """Return vectors of length 1, in float64; a vector of zeros stays one, and its cosine with any other is 0.

    >>> normalise(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    wide = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(wide, axis=-1, keepdims=True)
    unit: Floats = np.divide(wide, length, out=np.zeros_like(wide), where=length > 0)
    return unit


def normalise_rows(vectors: Matrix) -> Matrix:
    """Return vectors of length 1 in float32, whose squares float32 need not hold."""
    return normalise(vectors).astype(np.float32)


def find_space(
    name: str, encoder: EncoderSpec | None, workshop: Workshop, space: VectorSpace | None
) -> VectorSpace:
    """Return the space of a stage's encoder, or else that of the system; raise `StageFailed` if it has neither."""
    if encoder is not None:
        return workshop.encode(encoder)
    if space is None:
        msg = f"`{name}` compares vectors, and neither it nor the system has an encoder"
        raise StageFailed(msg, hint="add `encoder:` to the stage, or to the system")
    return space


def find_centroid(space: VectorSpace, texts: Sequence[str]) -> Floats:
    """Return the mean of the normalised vectors of queries, normalised; raise `StageFailed` if they cancel out."""
    vectors = np.stack([space.encode(text) for text in texts])
    mean = normalise(normalise(vectors).mean(axis=0))
    if not mean.any():
        msg = f"the vectors of {len(texts):,} examples, such as `{texts[0][:60]}`, have no mean direction"
        raise StageFailed(msg, hint="give other examples, or another encoder")
    return mean
