"""`align`: find the ranks of the judged documents in a run. The one operation on the hot path.

Text and columns are cut into stretches, which threads scan into blocks of one query each. A query whose rows
are in several blocks, because of a cut or because they are interleaved with others, is scanned again as one
block; so neither cuts nor threads can change a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import local
from types import ModuleType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, Unpack

import numpy as np

from judged.arrays import Bytes, Flags, Floats, Ints
from judged.kernels.scan import scanner
from judged.kernels.scan.compiled import load_compiled, load_scanner
from judged.kernels.scan.scanner import KEPT, KINDS, NAN, REPEATED, Part
from judged.kernels.scan.strings import distinct
from judged.kernels.scan.text import find_line_end
from judged.progress import Progress

TieRule: TypeAlias = Literal["document-descending", "document-ascending", "input-order"]
# the compiled scanner knows them by number
RULES: tuple[TieRule, ...] = ("document-descending", "document-ascending", "input-order")
_BLOCKS = ("query", "begin", "end", "count", "hits")
_HITS = ("row", "rank", "above", "tied")
STRETCH_BYTES, STRETCH_ROWS = 1 << 21, 1 << 18
SCATTERED = 8
"""Places far apart, rows of a query or names of queries, from which on a text is read whole."""
WHOLE = 1 << 30
"""Bytes of a text up to which that is done; larger files are read as streams unless that is refused."""


@dataclass(frozen=True, eq=False)
class JudgedIndex:
    """The judged documents of every query as flat bytes, rows grouped by query."""

    query_bytes: Bytes
    query_offset: Ints
    document_bytes: Bytes
    document_offset: Ints
    row_offset: Ints
    """Query `q` owns judgment rows `row_offset[q]` to `row_offset[q + 1]`."""

    _made: dict[str, object] = field(default_factory=dict)

    def for_scanner(self, implementation: ModuleType) -> object:
        """Return the index of a scanner, made once however many pieces of a run are scanned."""
        if implementation.__name__ not in self._made:
            self._made[implementation.__name__] = implementation.index_from(
                self.query_bytes,
                self.query_offset,
                self.document_bytes,
                self.document_offset,
                self.row_offset,
            )
        return self._made[implementation.__name__]

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self.row_offset) - 1


class RowProblem(NamedTuple):
    """A problem that the scanner found: its kind, its byte or row, and a detail that depends on the kind."""

    kind: str
    position: int
    detail: int


@dataclass(frozen=True, eq=False)
class Aligned:
    """The ranks of the judged documents that were retrieved, sorted by query, then rank."""

    row: Ints
    """Its judgment row."""
    rank: Ints
    """Its rank from 1 under the tie rule."""
    above: Ints
    """The number of documents with a higher score."""
    tied: Ints
    """The number of documents with the same score, itself included."""
    offset: Ints
    """Query `q` owns entries `offset[q]` to `offset[q + 1]`."""
    retrieved: Ints
    """The number of documents that every query retrieved."""
    present: Flags
    """Whether the run has the query, with results or, like an empty dict, without."""
    rows: int = 0
    """The number of rows read."""
    unjudged_queries: tuple[str, ...] = ()
    """In order of appearance."""
    infinite: int = 0
    interleaved: int = 0
    wide: int = 0
    """Lines with more columns than a run has."""
    problems: tuple[RowProblem, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """The number of problems by kind; `problems` holds the first ones."""


@dataclass(frozen=True, eq=False)
class Scanned:
    """Scan result of a run, or of a piece of one that has all rows of its queries."""

    blocks: Part = field(default_factory=Part)
    """A block for each judged query, with its hits."""
    rows: int = 0
    unjudged_queries: tuple[str, ...] = ()
    infinite: int = 0
    interleaved: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The judged queries whose rows are not consecutive."""
    wide: int = 0
    problems: tuple[RowProblem, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)

    def arrange(self, queries: int) -> Aligned:
        """Return the ranks by query, for that many judged queries."""
        blocks = self.blocks
        owner = np.repeat(blocks.query, blocks.hits)
        order = np.argsort(owner, kind="stable") if (np.diff(owner) < 0).any() else slice(None)
        retrieved, present = np.zeros(queries, dtype=np.int64), np.zeros(queries, dtype=bool)
        retrieved[blocks.query] = blocks.count
        present[blocks.query] = True
        return Aligned(
            row=blocks.row[order],
            rank=blocks.rank[order],
            above=blocks.above[order],
            tied=blocks.tied[order],
            offset=np.searchsorted(owner[order], np.arange(queries + 1)).astype(np.int64),
            retrieved=retrieved,
            present=present,
            rows=self.rows,
            unjudged_queries=self.unjudged_queries,
            infinite=self.infinite,
            interleaved=len(self.interleaved),
            wide=self.wide,
            problems=self.problems,
            counts=self.counts,
        )

    def add_empty(self, queries: Ints) -> Scanned:
        """Return the same with a block without results for each of the queries that has none yet."""
        more = np.setdiff1d(queries, self.blocks.query)
        nothing = np.zeros(len(more), dtype=np.int64)
        empty = Part(query=more, begin=nothing, end=nothing, count=nothing, hits=nothing)
        return replace(self, blocks=_concatenate([self.blocks, empty]))

    def without(self, queries: Ints) -> Scanned:
        """Return the same without the blocks of some queries."""
        kept = ~np.isin(self.blocks.query, queries)
        return replace(self, blocks=_select_blocks(self.blocks, kept, np.repeat(kept, self.blocks.hits)))


def join(scans: Sequence[Scanned]) -> Scanned:
    """Join what was found in pieces of a run; no query may be in two of them. Their problems are left out."""
    return Scanned(
        blocks=_concatenate([scanned.blocks for scanned in scans]),
        rows=sum(scanned.rows for scanned in scans),
        unjudged_queries=tuple(
            dict.fromkeys(query for scanned in scans for query in scanned.unjudged_queries)
        ),
        infinite=sum(scanned.infinite for scanned in scans),
        interleaved=distinct(np.concatenate([scanned.interleaved for scanned in (*scans, Scanned())])),
        wide=sum(scanned.wide for scanned in scans),
    )


class ScanOptions(TypedDict, total=False):
    """Options of scanning a run."""

    ties: TieRule
    single: bool
    threads: int
    progress: Progress | None


class TextSource(Protocol):
    """A text that is not in memory: it is read a stretch at a time."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: slice, /) -> Bytes: ...

    def read_into(self, buffer: Bytes, begin: int) -> None:
        """Fill the buffer with the bytes from `begin` on."""


def align_text(index: JudgedIndex, text: Bytes | TextSource, **options: Unpack[ScanOptions]) -> Aligned:
    """Find the ranks of the judged documents in the lines of a TREC run; `options` are those of `scan_text`."""
    return scan_text(index, text, **options).arrange(len(index))


def align_columns(
    index: JudgedIndex,
    query: tuple[Bytes, Ints],
    document: tuple[Bytes, Ints],
    score: Floats,
    **options: Unpack[ScanOptions],
) -> Aligned:
    """Find the ranks of the judged documents in three columns; `options` are those of `scan_columns`."""
    return scan_columns(index, query, document, score, **options).arrange(len(index))


def scan_text(
    index: JudgedIndex,
    text: Bytes | TextSource,
    *,
    ties: TieRule = "document-descending",
    single: bool = True,
    threads: int = 1,
    progress: Progress | None = None,
) -> Scanned:
    """Find the judged documents in the lines of a TREC run."""
    implementation = load_scanner()
    flat = index.for_scanner(implementation)
    options = {"rule": RULES.index(ties), "single": single}
    read = _views if isinstance(text, np.ndarray) else _Copies()

    def hold(places: int) -> None:
        """Read everything where many places are wanted: one system call for each of them would be much slower."""
        nonlocal text, read
        if places > SCATTERED and read is not _views and len(text) <= WHOLE:
            text, read = text[:], _views

    def scan(ranges: Ints, query: int | None) -> Part:
        hold(len(ranges))
        stretch, within = read(text, ranges)
        part = _to_part(implementation.scan_text(flat, stretch, within, query=query, **options))
        return part if within is ranges else _move(part, within, ranges)

    def names(begins: Ints) -> Iterator[str]:
        hold(len(begins))
        for begin in begins.tolist():
            head = bytes(text[begin : begin + 4096]).split(None, 1)
            yield head[0].decode(errors="replace") if head else ""

    stretches = _cut_lines(text) if len(text) else []
    return _scan(scan, names, stretches, threads=threads, progress=progress)


def scan_columns(
    index: JudgedIndex,
    query: tuple[Bytes, Ints],
    document: tuple[Bytes, Ints],
    score: Floats,
    *,
    ties: TieRule = "document-descending",
    single: bool = True,
    threads: int = 1,
    progress: Progress | None = None,
) -> Scanned:
    """Find the judged documents in three columns: queries and documents as bytes and offsets, scores."""
    implementation = load_scanner()
    flat = index.for_scanner(implementation)
    columns = (*_pad_empty(query), *_pad_empty(document), np.ascontiguousarray(score))
    options = {"rule": RULES.index(ties), "single": single}

    def scan(ranges: Ints, number: int | None) -> Part:
        return _to_part(implementation.scan_columns(flat, *columns, ranges, query=number, **options))

    def names(begins: Ints) -> Iterator[str]:
        data, offset = query
        return (bytes(data[offset[begin] : offset[begin + 1]]).decode(errors="replace") for begin in begins)

    cuts = [*range(0, len(score), STRETCH_ROWS), len(score)] if len(score) else []
    stretches = [np.array([cut]) for cut in pairwise(cuts)]
    return _scan(scan, names, stretches, threads=threads, progress=progress)


def _pad_empty(column: tuple[Bytes, Ints]) -> tuple[Bytes, Ints]:
    """Return the column with at least one byte, so that it can be pointed to."""
    data, offset = column
    return (data if len(data) else np.zeros(1, dtype=np.uint8)), np.ascontiguousarray(offset)


def _to_part(found: Part | dict[str, Any]) -> Part:
    return found if isinstance(found, Part) else Part(**found)


def _views(text: Any, ranges: Ints) -> tuple[Bytes, Ints]:
    """Return a text in memory as it is."""
    return text, ranges


class _Copies(local):
    """Copies of byte ranges, one after another, in a buffer that each thread uses again and again."""

    def __init__(self) -> None:
        self._buffer = np.empty(0, dtype=np.uint8)

    def __call__(self, text: Any, ranges: Ints) -> tuple[Bytes, Ints]:
        """Return the copies, and their ranges in the buffer."""
        cuts = np.concatenate(([0], np.cumsum(ranges[:, 1] - ranges[:, 0])))
        if len(self._buffer) < cuts[-1]:
            # an eighth more, since stretches end with a line and differ a little in length
            self._buffer = np.empty(cuts[-1] + cuts[-1] // 8, dtype=np.uint8)
        within = np.stack((cuts[:-1], cuts[1:]), axis=1)
        for (start, stop), begin in zip(within.tolist(), ranges[:, 0].tolist(), strict=True):
            text.read_into(self._buffer[start:stop], begin)
        return self._buffer[: cuts[-1]], within


def _move(part: Part, within: Ints, ranges: Ints) -> Part:
    """Return a part with positions in the text in place of those in a buffer of copies."""

    def place(position: Ints) -> Ints:
        at = np.searchsorted(within[:, 0], position, "right") - 1
        return position + (ranges[:, 0] - within[:, 0])[at]

    faults = part.faults.copy()
    faults[:, 1] = place(faults[:, 1])
    repeated = faults[:, 0] == REPEATED  # whose detail is a position, too
    faults[repeated, 2] = place(faults[repeated, 2])
    # by its last byte: the end itself may be where the next range begins
    return replace(part, begin=place(part.begin), end=place(part.end - 1) + 1, faults=faults)


def _cut_lines(text: Bytes | TextSource) -> list[Ints]:
    """Cut the text after line ends into stretches of similar size."""
    cuts = [3 if bytes(text[:3]) == b"\xef\xbb\xbf" else 0]
    while cuts[-1] < len(text):
        cuts.append(find_line_end(text, cuts[-1] + STRETCH_BYTES))
    return [np.array([cut]) for cut in pairwise(cuts)]


def _scan(
    scan: Callable[[Ints, int | None], Part],
    names: Callable[[Ints], Iterable[str]],
    stretches: Sequence[Ints],
    *,
    threads: int,
    progress: Progress | None,
) -> Scanned:
    """Scan all stretches and combine their blocks by query."""
    parts = list(_scan_stretches(scan, stretches, threads, progress))
    whole = _concatenate(parts)
    # Where every row is a block, blocks take as much memory as the text; one copy of them is enough.
    parts = [
        Part(faults=part.faults, counts=part.counts, infinite=part.infinite, wide=part.wide) for part in parts
    ]
    several, interleaved = _find_scattered(whole)
    again = [scan(ranges, query) for query, ranges in several.items()]
    # An unjudged query is −1, and reads the last.
    alone = np.append(np.bincount(whole.query[whole.query >= 0]) == 1, False)
    single = alone[whole.query]
    hits = np.repeat(single, whole.hits)
    problems, counts = _collect_problems(parts, again)
    unjudged = dict.fromkeys(names(whole.begin[whole.query < 0]))
    return Scanned(
        # The parts of a scattered query have no ranks worth keeping.
        blocks=_concatenate([_select_blocks(whole, single, hits), *again]),
        rows=int(whole.count.sum()),
        unjudged_queries=tuple(unjudged),
        infinite=sum(part.infinite for part in parts),
        interleaved=interleaved,
        wide=sum(part.wide for part in parts),
        problems=problems,
        counts=counts,
    )


def _scan_stretches(
    scan: Callable[[Ints, int | None], Part],
    stretches: Sequence[Ints],
    threads: int,
    progress: Progress | None,
) -> Iterator[Part]:
    """Scan stretches with the given number of threads, and yield their parts in order."""
    total = int(stretches[-1][-1, 1]) if stretches else 0
    for stretch, part in zip(stretches, _map_stretches(scan, stretches, threads), strict=True):
        if progress is not None:
            progress(int(stretch[-1, 1]), total)
        yield part


def _map_stretches(
    scan: Callable[[Ints, int | None], Part], stretches: Sequence[Ints], threads: int
) -> Iterator[Part]:
    if threads < 2 or len(stretches) < 2:
        yield from (scan(stretch, None) for stretch in stretches)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(lambda stretch: scan(stretch, None), stretches)


def _concatenate(parts: Sequence[Part]) -> Part:
    """Concatenate the blocks and hits of several parts."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Part()
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _BLOCKS + _HITS
    }
    return Part(**joined)


def _select_blocks(part: Part, blocks: Flags, hits: Flags) -> Part:
    """Return some of the blocks of a part, with their hits."""
    if blocks.all():
        return part
    kept: dict[str, Any] = {name: getattr(part, name)[blocks] for name in _BLOCKS}
    return Part(**kept, **{name: getattr(part, name)[hits] for name in _HITS})


def _find_scattered(whole: Part) -> tuple[dict[int, Ints], Ints]:
    """Return the judged queries in several blocks, with their ranges, and those of which these are not adjacent."""
    order = _sort_blocks(whole.query)
    ranges = np.stack((whole.begin[order], whole.end[order]), axis=1)
    last = np.cumsum(np.bincount(whole.query[whole.query >= 0]))
    first = np.concatenate(([0], last))[: len(last)]
    several = np.flatnonzero(last - first > 1)
    cuts = list(zip(several.tolist(), first[several].tolist(), last[several].tolist(), strict=True))
    apart = [query for query, i, j in cuts if (ranges[i + 1 : j, 0] != ranges[i : j - 1, 1]).any()]
    return {query: ranges[i:j] for query, i, j in cuts}, np.array(apart, dtype=np.int64)


def _sort_blocks(query: Ints) -> Ints:
    """Return the blocks of judged queries, by query and then in the order of the run."""
    judged = np.flatnonzero(query >= 0)
    small = (
        np.uint16 if query.max(initial=0) < 1 << 16 else np.int64
    )  # of which NumPy's sort is ten times as fast
    return judged[np.argsort(query[judged].astype(small), kind="stable")]


def _collect_problems(
    parts: Sequence[Part], again: Sequence[Part]
) -> tuple[tuple[RowProblem, ...], Counter[str]]:
    """Return all problems once, by position; a second scan of a query finds the same ones again."""
    details: dict[tuple[int, int], int] = {}
    for part in (*parts, *again):
        for kind, position, detail in part.faults.tolist():
            # The detail of a repetition is where the document occurs first.
            details[kind, position] = min(detail, details.get((kind, position), detail))
    counts = Counter(dict(zip(KINDS, _count_problems(parts), strict=True)))
    # Only a scan of all rows of a query sees all repetitions.
    repeated = _count_problems([*parts, *again])[REPEATED]
    recorded = sum(kind == REPEATED for kind, _ in details)
    counts[KINDS[REPEATED]] = recorded if recorded < KEPT else repeated
    problems = (RowProblem(KINDS[kind], position, detail) for (kind, position), detail in details.items())
    return tuple(sorted(problems, key=lambda problem: problem.position)), +counts


def _count_problems(parts: Sequence[Part]) -> list[int]:
    """Count the problems of every kind in the parts."""
    return [sum(int(part.counts[kind]) for part in parts) for kind in range(len(KINDS))]


def align_mapping(
    queries: list[str],
    documents: list[str],
    row_offset: Ints,
    run: Mapping[str, Mapping[str, float]],
    *,
    ties: TieRule = "document-descending",
    single: bool = True,
) -> Aligned:
    """Find the ranks of the judged documents in a dict of dicts, without sorting or copying its names.

    Query `q` owns `documents[row_offset[q]:row_offset[q + 1]]`.
    """
    rule = RULES.index(ties)
    implementation = load_compiled("_dicts") or scanner
    count, hits, found, infinite, nan, left = implementation.scan_mapping(
        queries, documents, row_offset, run, rule=rule, single=single
    )
    if left:
        more = {}
        for q in left:
            first, last = row_offset[q : q + 2].tolist()
            scores = run.get(queries[q]) or {}
            every, places = scanner.scan_query(scores, documents[first:last], rule=rule, single=single)
            count[q] = len(every)
            infinite += int(np.count_nonzero(np.isinf(every)))
            nan += int(np.count_nonzero(np.isnan(every)))
            more[q] = places + np.array([first, 0, 0, 0])
        found = _insert(found, hits, more)
    present = count > 0
    for q in np.flatnonzero(~present).tolist():
        present[q] = queries[q] in run
    others: Iterable[object] = ()
    if type(run) is not dict or np.count_nonzero(present) < len(run):
        known = set(queries)
        others = (query for query in run if query not in known)
    return Aligned(
        row=found[:, 0],
        rank=found[:, 1],
        above=found[:, 2],
        tied=found[:, 3],
        offset=np.concatenate(([0], np.cumsum(hits))),
        retrieved=count,
        present=present,
        rows=int(count.sum()),
        unjudged_queries=tuple(map(str, others)),
        infinite=infinite,
        counts=Counter({KINDS[NAN]: nan} if nan else ()),
    )


def _insert(found: Ints, hits: Ints, more: Mapping[int, Ints]) -> Ints:
    """Return the hits of all queries, with those of some queries inserted and counted in `hits`."""
    cuts = np.concatenate(([0], np.cumsum(hits))).tolist()
    parts = [more.get(q, found[cuts[q] : cuts[q + 1]]) for q in range(len(hits))]
    hits[list(more)] = [len(places) for places in more.values()]
    return np.concatenate(parts)
