"""ScaNN: a tree of partitions, anisotropic quantisation, and exact re-ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.index.engine import (
    Attributes,
    Capabilities,
    Engine,
    Filter,
    IndexSpec,
    Search,
    Setting,
    Settings,
    SettingValue,
    VectorArray,
)


class Scann(Engine):
    """Partitions around centroids with 4-bit codes; the best candidates are re-ranked by their true distance."""

    name = "scann"
    title = "ScaNN, partitions with anisotropic quantisation"
    extra = "scann"
    packages = ("scann",)
    capabilities = Capabilities(unverified=frozenset({"leaves_to_search", "reorder"}))
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "leaves": Setting(1000, "partitions; about the square root of the number of vectors"),
        "dimensions_per_block": Setting(2, "numbers of a vector that share a code"),
        "threshold": Setting(0.2, "threshold of anisotropic quantisation"),
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        "leaves_to_search": Setting(
            32, "partitions that a search looks into", (1, 2, 4, 8, 16, 32, 64, 128), effort=True
        ),
        "reorder": Setting(100, "candidates that are re-ranked by their true distance"),
    }

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Keep the settings: the index is built from all vectors at once."""
        self._library = need("scann", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._spec, self._settings = spec, settings
        self._parts: list[VectorArray] = []

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Keep the vectors; their order is their id."""
        del ids, attributes
        self._parts.append(vectors)

    def finish(self) -> None:
        """Train the partitions and the codes, on at most 100,000 vectors."""
        vectors, asked = np.concatenate(self._parts), self._settings
        kind = "squared_l2" if self._spec.metric == "l2" else "dot_product"
        builder = self._library.scann_ops_pybind.builder(vectors, 10, kind)
        builder = builder.set_n_training_threads(self._spec.threads)
        builder = builder.tree(
            num_leaves=asked["leaves"],
            num_leaves_to_search=1,
            training_sample_size=min(len(vectors), 100_000),
        )
        builder = builder.score_ah(
            asked["dimensions_per_block"], anisotropic_quantization_threshold=asked["threshold"]
        )
        self._index = builder.reorder(100).build()
        self._parts = []

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search; ScaNN answers one query on one thread."""
        del filter
        search = self._index.search
        leaves, candidates = settings["leaves_to_search"], max(k, int(settings["reorder"]))
        return lambda query: search(query, k, candidates, leaves)[0]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the configuration of the index holds; settings of a search are arguments of its call."""
        return {
            "leaves": int(self._read("num_children")),
            "dimensions_per_block": int(self._read("num_dims_per_block")),
            "threshold": self._read(r"asymmetric_hash \{(?:.|\n)*?noise_shaping_threshold"),
        }

    def _read(self, name: str) -> float:
        found = re.search(rf"{name}: (\S+)", self._index.config())
        return float(found[1]) if found else float("nan")
