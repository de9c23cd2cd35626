"""Rerankers: stages that reorder results. `RERANKERS` lists the types that a study may name."""

from __future__ import annotations

from typing import TypeAlias

from judged.studies.stages.rerankers.cross_encoder import CrossEncoder
from judged.studies.stages.rerankers.function import FunctionReranking
from judged.studies.stages.rerankers.llm import LanguageModel
from judged.studies.stages.rerankers.maxsim import MaxSim
from judged.studies.stages.rerankers.mmr import MaximalMarginalRelevance
from judged.studies.stages.rerankers.reranker import RerankSpec

Rerankers: TypeAlias = MaximalMarginalRelevance | CrossEncoder | MaxSim | LanguageModel | FunctionReranking
"""Any reranker, as a study declares it."""

RERANKERS: dict[str, type[RerankSpec]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (MaximalMarginalRelevance, CrossEncoder, MaxSim, LanguageModel, FunctionReranking)
}
"""The types that a study may name."""
