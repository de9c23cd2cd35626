"""Streaming: runs larger than memory, reduced block by block to the ranks of their judged documents.

Everything that measures look at is in those ranks, so they are all that is kept: memory grows with the judgments and
the size of a block, not with the run. What follows is the usual computation, on the same ranks that it would have found.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Ints
from judged.errors import SHOWN, BadInput
from judged.io.stream import BLOCK_ROWS, RunStream, split_systems, to_run
from judged.kernels.scan.align import JudgedIndex, Scanned, join
from judged.kernels.scan.strings import distinct
from judged.problem import Problem
from judged.progress import Progress
from judged.protocol import BaseProtocol, Protocol
from judged.scoring.locate import ReducedRun, apply_run_conventions, raise_run_problems, scan_run, to_index
from judged.tables.columns import one_array, take, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Run
from judged.wording import counted

PARTITIONS = 256
"""Number of files that rows are spilled to at once."""
LEVELS = 3
"""Maximum depth of splits of spilled rows: each uses another byte of a 32-bit hash."""
INTERVAL = 0.2
"""Seconds between two reports of progress."""


@dataclass
class Reduction:
    """The reduced run of one system, as its blocks arrive."""

    seen: Flags
    """Mask of the judged queries that have had rows."""
    scans: list[list[Scanned]]
    """Scan result of each block, for each protocol."""
    self_matches: Ints
    """Rows that each protocol removed."""
    scattered: set[int] = field(default_factory=set)
    """Judged queries with rows in several blocks: their ranks are not known yet."""
    notes: dict[str, None] = field(default_factory=dict)

    @classmethod
    def empty(cls, queries: int, protocols: int) -> Reduction:
        """Return that of a run of which nothing was read yet."""
        scans: list[list[Scanned]] = [[] for _ in range(protocols)]
        return cls(np.zeros(queries, dtype=bool), scans, np.zeros(protocols, dtype=np.int64))

    def add(self, found: Sequence[Scanned], removed: Sequence[int], notes: Iterable[str]) -> None:
        """Add what was found in a block under each protocol."""
        queries = distinct(np.concatenate([scanned.blocks.query for scanned in found]))
        self.scattered.update(queries[self.seen[queries]].tolist())
        self.seen[queries] = True
        self.self_matches += np.array(removed, dtype=np.int64)
        self.notes |= dict.fromkeys(notes)
        for scans, scanned in zip(self.scans, found, strict=True):
            scans.append(scanned)
            if len(scans) >= 64:  # few large arrays take less memory than many small ones
                scans[:] = [join(scans)]

    def complete(self, found: Sequence[Sequence[Scanned]]) -> list[Scanned]:
        """Return what was found for each protocol, with `found` of the scattered queries, whose rows are together now."""
        again = np.array(sorted(self.scattered), dtype=np.int64)
        whole = []
        for scans, more in zip(self.scans, found, strict=True):
            first = join(scans).without(again)
            ranks = [Scanned(scanned.blocks) for scanned in more]  # rows were counted before
            whole.append(join([first, *ranks]))
        return whole


class Reducer:
    """Reduces blocks of runs to the ranks of judged documents, system by system; problems are collected."""

    def __init__(self, index: JudgedIndex, protocols: Sequence[Protocol], *, threads: int = 1) -> None:
        self.index = index
        self.protocols = protocols
        self.systems: dict[str | None, Reduction] = {}
        self.problems: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.hint: str | None = None
        self.rows = 0
        self._threads = threads

    def add(self, system: str | None, run: Run) -> None:
        """Add a block of a system's run."""
        found, removed, notes = self.scan(run)
        self.rows += found[0].rows
        self.reduction(system).add(found, removed, notes)

    def reduction(self, system: str | None) -> Reduction:
        """Return what is left of a system's run."""
        if system not in self.systems:
            self.systems[system] = Reduction.empty(len(self.index), len(self.protocols))
        return self.systems[system]

    def scan(self, run: Run) -> tuple[list[Scanned], list[int], tuple[str, ...]]:
        """Return what is found in a block under each protocol, how many rows were removed, and notes."""
        found, removed = [], []
        for number, protocol in enumerate(self.protocols):
            ready = apply_run_conventions(run, protocol)
            scanned = scan_run(self.index, ready, protocol, threads=self._threads)
            # once: rows that cannot be read are the same under every protocol
            if scanned.counts and number == 0:
                self._collect(scanned, ready)
            found.append(replace(scanned, problems=(), counts=Counter()))
            removed.append(ready.source.self_matches if isinstance(ready.source, Columns) else 0)
        return found, removed, run.notes

    def _collect(self, scanned: Scanned, run: Run) -> None:
        try:
            raise_run_problems(scanned, run)
        except BadInput as error:
            self.refuse(error)

    def refuse(self, error: BadInput) -> None:
        """Keep what is wrong with a block."""
        self.problems += error.problems[: SHOWN - len(self.problems)]
        self.counts += error.counts
        self.hint = self.hint or error.hint

    def raise_if_any(self, stream: RunStream) -> None:
        """Raise `BadInput` for everything that was wrong with the blocks."""
        if "repeated-document" in self.counts and len(stream.places.files) > 1:
            self.hint = (
                self.hint
                or "its files are read as parts of one run; without `--join` and a name, each is a run of its own"
            )
        if self.counts:
            raise BadInput(stream.label, self.problems, counts=self.counts, hint=self.hint)


def reduce_stream(
    judgments: Judgments,
    stream: RunStream,
    protocols: Sequence[Protocol],
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> dict[str | None, ReducedRun]:
    """Return the runs of a stream, reduced to the ranks of their judged documents."""
    reducer = Reducer(to_index(judgments), protocols, threads=threads)
    report = _Report(progress)
    for system, read in stream.blocks():
        try:
            reducer.add(system, read())
        except BadInput as error:
            reducer.refuse(error)
        report(reducer.rows, stream.share)
    # before the second pass, which a run that is refused does not need
    reducer.raise_if_any(stream)
    gathered = _reduce_scattered(reducer, judgments, stream)
    reducer.raise_if_any(stream)
    return {
        system: to_reduced_run(
            reduction,
            protocols,
            gathered.get(system, [[] for _ in protocols]),
            name=stream.name if system is None else system,
            notes=(*stream.notes, *_note_spilled(reduction)),
            interleaved=True,
        )
        for system, reduction in (reducer.systems or {None: reducer.reduction(None)}).items()
    }


def to_reduced_run(
    reduction: Reduction,
    protocols: Sequence[BaseProtocol],
    found: Sequence[Sequence[Scanned]],
    *,
    name: str,
    notes: tuple[str, ...],
    interleaved: bool,
) -> ReducedRun:
    """Return the run of a system; `interleaved` says that the rows of scattered queries are not consecutive."""
    scans = reduction.complete(found)
    if interleaved and reduction.scattered:
        apart = np.array(sorted(reduction.scattered), dtype=np.int64)
        scans = [replace(scanned, interleaved=np.union1d(scanned.interleaved, apart)) for scanned in scans]
    removed = dict(zip(protocols, reduction.self_matches.tolist(), strict=True))
    return ReducedRun(name, dict(zip(protocols, scans, strict=True)), removed, (*reduction.notes, *notes))


def _note_spilled(reduction: Reduction) -> Iterator[str]:
    if reduction.scattered:
        queries = counted(len(reduction.scattered), "query")
        yield f"the rows of {queries} are far apart: they were collected on disk, in a second pass"


def _reduce_scattered(
    reducer: Reducer, judgments: Judgments, stream: RunStream
) -> dict[str | None, list[list[Scanned]]]:
    """Return the results for queries whose rows are in several blocks, collected on disk."""
    wanted = {system: reduction.scattered for system, reduction in reducer.systems.items()}
    wanted = {system: queries for system, queries in wanted.items() if queries}
    found: dict[str | None, list[list[Scanned]]] = {
        system: [[] for _ in reducer.protocols] for system in wanted
    }
    if not wanted:
        return found
    names = {system: take(judgments.queries, np.array(sorted(queries))) for system, queries in wanted.items()}
    chosen = (_choose(table, names) for table in stream.tables())
    with TemporaryDirectory(prefix="judged-") as folder:
        for table in _spill(chosen, Path(folder), reducer.rows):
            for system, rows in split_systems(table):
                run = to_run(_group(rows), label=stream.label, locate=stream.places.locate)
                for scans, scanned in zip(found[system], reducer.scan(run)[0], strict=True):
                    scans.append(scanned)
    return found


def _spill(tables: Iterable[pa.Table], folder: Path, rows: int, *, level: int = 0) -> Iterator[pa.Table]:
    """Write rows to files by their query, then yield the rows of each file; files that are still large are split again.

    Each file has about a block of rows, unless that takes more files than a process may have open.
    """
    partitions = min(PARTITIONS, ceil(rows / BLOCK_ROWS))
    written: Counter[int] = Counter()
    with ExitStack() as stack:
        writers: dict[int, Any] = {}
        for table in tables:
            for number, part in _partition(table, partitions, level):
                if number not in writers:
                    sink = str(folder / f"{number}.arrow")
                    writers[number] = stack.enter_context(pa.ipc.new_stream(sink, part.schema))
                writers[number].write_table(part)
                written[number] += len(part)
    for number in sorted(written):
        path = folder / f"{number}.arrow"
        with pa.ipc.open_stream(str(path)) as reader:
            if partitions == PARTITIONS and level < LEVELS and written[number] > 2 * BLOCK_ROWS:
                inner = folder / str(number)
                inner.mkdir()
                again = (pa.Table.from_batches([batch]) for batch in reader)
                yield from _spill(again, inner, written[number], level=level + 1)
            else:
                yield reader.read_all()
        path.unlink()


def _choose(table: pa.Table, wanted: Mapping[str | None, pa.Array]) -> pa.Table:
    """Return the rows of some queries of each system."""
    import pyarrow.compute as pc

    parts = []
    for system, rows in split_systems(table):
        if system in wanted:
            query = rows["query"]
            ids = query if pa.types.is_large_string(query.type) else query.cast(pa.large_string())
            chosen = rows.filter(pc.is_in(ids, value_set=wanted[system]))
            if system is not None:
                names = pa.array([system] * len(chosen), pa.large_string())
                chosen = chosen.append_column("system", names)
            parts.append(chosen)
    return pa.concat_tables(parts) if parts else table.slice(0, 0)


def _partition(table: pa.Table, count: int, level: int) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows that belong in each file, by a hash of their query; each level uses other bits of it."""
    encoded = one_array(table["query"]).dictionary_encode()
    # not by `hash`, whose salt would change the order of the parts from run to run
    home = np.array(
        [
            zlib.crc32(str(name).encode()) // PARTITIONS**level % count
            for name in encoded.dictionary.to_pylist()
        ],
        dtype=np.int64,
    )
    number = home[to_numpy(encoded.indices)]
    for at in distinct(number).tolist():
        yield at, table.take(pa.array(np.flatnonzero(number == at)))


def _group(table: pa.Table) -> pa.Table:
    """Return the rows of each query one after the other, in their order."""
    codes = to_numpy(one_array(table["query"]).dictionary_encode().indices)
    return table.take(pa.array(np.argsort(codes, kind="stable")))


class _Report:
    """Reports rows, of as many as there are likely to be, now and then."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._last = monotonic()

    def __call__(self, rows: int, share: float) -> None:
        if self._progress is not None and monotonic() - self._last >= INTERVAL:
            self._last = monotonic()
            self._progress(rows, max(rows, round(rows / share) if share else rows))
