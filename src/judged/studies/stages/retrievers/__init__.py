"""Systems that already exist, as searchers. `RETRIEVERS` lists the types that a study may name."""

from __future__ import annotations

from typing import TypeAlias

from judged.studies.stages.retrievers.http import Elasticsearch, Http
from judged.studies.stages.retrievers.objects import PythonObject
from judged.studies.stages.retrievers.retriever import RetrieveSpec

Retrievers: TypeAlias = PythonObject | Http | Elasticsearch
"""Any existing system, as a study declares it."""

RETRIEVERS: dict[str, type[RetrieveSpec]] = {
    str(kind.__struct_config__.tag): kind for kind in (PythonObject, Http, Elasticsearch)
}
"""The types that a study may name."""
