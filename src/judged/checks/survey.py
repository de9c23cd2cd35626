"""One look through a file, batch by batch: everything that can be found in it without the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from judged.checks.batch import Batch, Source, joined
from judged.checks.findings import Findings
from judged.checks.ids import Documents
from judged.checks.intents import Intents
from judged.checks.queries import note_queries
from judged.checks.rows import Tags, note_rows, shown
from judged.kernels.scan.strings import Words
from judged.kernels.segments import Flags, Ints

__all__ = ["Survey", "survey"]

Watch = Callable[[Batch], None]
"""Called with the sound rows of every batch."""


@dataclass
class Survey:
    """What a look through a file brought, beside its findings."""

    source: Source
    rows: int = 0
    queries: dict[bytes, int] = field(default_factory=dict)
    """Every query that has a sound row, with the line or row of the first."""
    documents: Documents = field(default_factory=Documents)


def survey(source: Source, watch: Watch) -> Survey:
    """Look through a file; a second time if queries are interleaved, whose rows are then set aside first."""
    seen, blocks, tags, intents = Survey(source), _Blocks(), Tags(), Intents()
    within = Findings(source.file, lines=source.findings.lines)
    for batch in source.batches():
        seen.rows += len(batch)
        note_rows(batch, source.findings, source.role)
        tags.note(batch, source.findings, _tag_of(source, batch))
        seen.documents.add(batch)
        sound = _sound(batch, source)
        blocks.add(sound, seen.queries)
        note_queries(sound, within, source.role)
        intents.add(sound)
        watch(sound)
    intents.note(source.findings)
    scattered = blocks.note(source)
    source.findings.take(_apart(source, scattered) if len(scattered) else within)
    return seen


def _apart(source: Source, scattered: Words) -> Findings:
    """What is found within queries when the rows of interleaved ones are put together."""
    within, aside = Findings(source.file, lines=source.findings.lines), []
    for batch in source.batches():
        sound = _sound(batch, source)
        there: Flags = np.isin(sound.query.hashes, scattered)
        note_queries(sound[np.flatnonzero(~there)], within, source.role)
        aside.append(sound[np.flatnonzero(there)])
    note_queries(joined(aside), within, source.role)
    return within


def _sound(batch: Batch, source: Source) -> Batch:
    """The rows whose number can be used."""
    finite = ~np.isnan(batch.value) if source.role == "run" else np.isfinite(batch.value)
    good: Flags = batch.sound & finite
    return batch if good.all() else batch[np.flatnonzero(good)]


def _tag_of(source: Source, batch: Batch) -> Callable[[int], str]:
    """Reads the tag of a row: what follows its score on the line."""

    def tag_of(row: int) -> str:
        if batch.token is None:
            return ""
        after = batch.origin + int(batch.token.start[row] + batch.token.length[row])
        return source.data[after : after + 4096].tobytes().split(None, 1)[0].decode(errors="backslashreplace")

    return tag_of


class _Blocks:
    """Where the rows of each query begin, again and again if they are interleaved with others."""

    def __init__(self) -> None:
        self._hashes: list[Words] = []
        self._numbers: list[Ints] = []
        self._known: set[int] = set()
        self._names: dict[int, str] = {}

    def add(self, batch: Batch, queries: dict[bytes, int]) -> None:
        """Take in a batch, and name the queries that are new."""
        hashes = batch.query.hashes[batch.starts]
        self._hashes.append(hashes)
        self._numbers.append(batch.number[batch.starts])
        _, first = np.unique(hashes, return_index=True)
        for i in np.sort(first).tolist():
            key = int(hashes[i])
            if key not in self._known:
                self._known.add(key)
                row = int(batch.starts[i])
                queries[batch.query.at(row)] = int(batch.number[row])
                self._names[key] = shown(batch.query, row)

    def note(self, source: Source) -> Words:
        """Note queries that come again after others; returns their hashes."""
        hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *self._hashes])
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])
        order = np.argsort(hashes, kind="stable")
        again = np.concatenate(([False], hashes[order][1:] == hashes[order][:-1]))[: len(order)]
        _, first = np.unique(hashes[order][again], return_index=True)
        rows = np.sort(order[again][first])
        source.findings.add(
            "interleaved-queries",
            numbers[rows],
            lambda i: f"query `{self._names[int(hashes[rows[i]])]}` comes again, after rows of others",
        )
        return np.unique(hashes[rows])
