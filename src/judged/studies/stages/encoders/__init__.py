"""Encoders: what turns texts into vectors. `ENCODERS` lists the types that a study may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, get_args

from judged.studies.stages.encoders.bpe import BPE
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.encoders.endpoint import OpenAI
from judged.studies.stages.encoders.function import Function
from judged.studies.stages.encoders.lsa import LSA
from judged.studies.stages.encoders.sentence_transformers import SentenceTransformers
from judged.studies.stages.encoders.static import Model2Vec, WordLlama
from judged.studies.stages.encoders.transformers import ByT5, Canine, Transformers

Encoders: TypeAlias = (
    ByT5
    | Canine
    | BPE
    | Transformers
    | SentenceTransformers
    | Model2Vec
    | WordLlama
    | LSA
    | OpenAI
    | Function
)
"""Every type, for the readers of studies."""
ENCODERS: Mapping[str, type[EncoderSpec]] = {
    str(spec.__struct_config__.tag): spec for spec in get_args(Encoders)
}
"""Every type by the name that users write."""
