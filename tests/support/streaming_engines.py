"""Engines whose vectors come and go: one that forgets to delete, and one that is killed in the middle of a runbook."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judged.index.engine import Filter, Search, Settings, VectorArray
from judged.index.engines.exact import Exact


class Hoarding(Exact):
    """Exact search that deletes nothing."""

    name = "hoarding"

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Forget about it; what is inserted again replaces what is there."""

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: object) -> None:
        """Insert what is not there."""
        new = ~np.isin(ids, self._ids)
        if new.any():
            super().insert(ids[new], vectors[new], attributes)  # type: ignore[arg-type]


class Fragile(Exact):
    """Exact search that notes every query of a runbook, and is killed at the first query on 400 vectors."""

    name = "fragile"

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return the search."""
        search, size = super().searcher(k, settings, filter), len(self._ids)
        notes = Path(os.environ["FRAGILE"])

        def ask(query: VectorArray) -> object:
            if size == 400 and not (notes / "killed").exists():
                (notes / "killed").touch()
                os.kill(os.getpid(), 9)
            with (notes / str(size)).open("a") as file:
                file.write(".")
            return search(query)

        return ask  # type: ignore[return-value]
