"""An engine that searches exactly and then lies about what it found, as the environment says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from judged.index.engine import Engine, IndexSpec, Search

LIES: Mapping[str, Callable[[list[int], int], Any]] = {
    "an id beyond the last vector": lambda good, size: [size, *good[1:]],
    "a negative id": lambda good, _: [-7, *good[1:]],
    "an id of 70 bits": lambda good, _: [1 << 70, *good[1:]],
    "text": lambda good, _: ["first", *good[1:]],
    "no ids": lambda good, _: [None] * len(good),
    "NaN": lambda good, _: [float("nan")] * len(good),
    "distances for ids": lambda good, _: [one + 0.5 for one in good],
    "flags": lambda good, _: [True] * len(good),
    "a list in a list": lambda good, _: [good],
    "one number": lambda good, _: good[0],
    "rows of unequal length": lambda good, _: [[1], good],
}
"""Answers that are none: each must fail in words."""
SHORT: Mapping[str, Callable[[list[int], int], Any]] = {
    "too few": lambda good, _: good[:3],
    "nothing": lambda _, __: [],
    "too many": lambda good, size: [*good, *range(size)],
    "one id again and again": lambda good, _: [good[0]] * len(good),
    "fillers": lambda good, _: [*good[:3], *[-1] * (len(good) - 3)],
}
"""Answers that are wrong and count as what they are."""


class Lying(Engine):
    """Exact search, then the lie that the environment variable LIE names."""

    name = "lying"
    title = "lies"

    def create(self, spec: IndexSpec, settings: object) -> None:
        """Keep nothing yet."""
        del spec, settings
        self._parts: list[Any] = []

    def insert(self, ids: object, vectors: Any, attributes: object) -> None:
        """Keep the vectors."""
        del ids, attributes
        self._parts.append(np.array(vectors))

    def searcher(self, k: int, settings: object, filter: object = None) -> Search:  # noqa: A002 - as in `Engine`
        """Return the search that lies."""
        del settings, filter
        matrix, lie = np.concatenate(self._parts), {**LIES, **SHORT}[os.environ["LIE"]]

        def search(query: Any) -> Any:
            good = np.argsort(((matrix - query) ** 2).sum(axis=1), kind="stable")[:k].tolist()
            return lie(good, len(matrix))

        return search

    def effective_config(self) -> Mapping[str, Any]:
        """Return that there are no settings."""
        return {}

    def close(self) -> None:
        """Do nothing."""
