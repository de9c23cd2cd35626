"""Rerankers: what puts results into another order. `RERANKERS` lists the types that a study may name."""

from __future__ import annotations

from typing import TypeAlias

from judged.retrieve.rerankers.cross_encoder import CrossEncoder
from judged.retrieve.rerankers.function import FunctionReranking
from judged.retrieve.rerankers.llm import LanguageModel
from judged.retrieve.rerankers.maxsim import MaxSim
from judged.retrieve.rerankers.mmr import MaximalMarginalRelevance
from judged.retrieve.rerankers.reranker import RerankSpec

__all__ = ["RERANKERS", "Rerankers"]

Rerankers: TypeAlias = MaximalMarginalRelevance | CrossEncoder | MaxSim | LanguageModel | FunctionReranking
"""Any reranker, as a study declares it."""

RERANKERS: dict[str, type[RerankSpec]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (MaximalMarginalRelevance, CrossEncoder, MaxSim, LanguageModel, FunctionReranking)
}
"""The types that a study may name."""
