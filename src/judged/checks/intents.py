"""What is notable about the intents of judgments: only one for each query, or nothing relevant to one."""

from __future__ import annotations

import numpy as np

from judged.checks.batch import Batch
from judged.checks.findings import Findings

__all__ = ["Intents"]


class Intents:
    """Every intent of every query, with the highest grade that a document has for it."""

    def __init__(self) -> None:
        self._found: dict[tuple[bytes, bytes], tuple[int, float]] = {}

    def add(self, batch: Batch) -> None:
        """Take in judgments whose grades are finite."""
        if batch.intent is None or len(batch) == 0:
            return
        pairs = batch.query.hashes ^ (batch.intent.hashes >> np.uint64(1))
        _, first, member = np.unique(pairs, return_index=True, return_inverse=True)
        highest = np.full(len(first), -np.inf)
        np.maximum.at(highest, member.reshape(-1), batch.value)
        for row, grade in zip(first.tolist(), highest.tolist(), strict=True):
            pair = (batch.query.at(row), batch.intent.at(row))
            number, before = self._found.get(pair, (int(batch.number[row]), -np.inf))
            self._found[pair] = (number, max(grade, before))

    def note(self, findings: Findings) -> None:
        """Note that no query has two intents, and each intent for which nothing is relevant."""
        if self._found and len({query for query, _ in self._found}) == len(self._found):
            findings.add_place("single-intent", findings.whole("no query has more than one intent"))
        barren = [(number, pair) for pair, (number, highest) in self._found.items() if highest <= 0]
        findings.add(
            "barren-intents",
            np.array([number for number, _ in barren], dtype=np.int64),
            lambda i: f"intent `{_text(barren[i][1][1])}` of query `{_text(barren[i][1][0])}`",
        )


def _text(name: bytes) -> str:
    return name[:200].decode(errors="backslashreplace")
