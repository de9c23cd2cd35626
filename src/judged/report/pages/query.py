"""One query: ranked lists side by side, with grades, texts, and what each document adds to a measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from judged.explanation.lists import RankedLists, first_contributions, list_results
from judged.io.read import read_run
from judged.io.texts import Text, read_documents
from judged.report.packing import Json
from judged.report.pages import Page, PageData
from judged.report.pages.queries import list_queries
from judged.scoring.align import RankedAlignment

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.measures.measure import Measure
    from judged.report.entry import Entry, Sources

DEPTHS = (20, 10, 5, 3)
"""Number of results of each list that are kept: the first that the number of lists allows."""
MOST_RESULTS = 1_500_000
"""More results than this are not kept, over all systems and queries."""
MOST_CONTRIBUTIONS = 2_000_000
"""More numbers than this are not kept of what documents add, over all measures."""
SNIPPET = 160
"""Characters of a document's text that are kept."""
MOST_TEXT = 12_000_000
"""More characters of documents than this are not kept."""
CHUNK = 100
"""Queries in a block."""
SCALE = 1_000_000
"""Resolution of the contributions of documents, which are kept as whole numbers."""


def make_data(entry: Entry) -> PageData:
    """Return the first results of every query and system; the reason if they are not known."""
    sources = entry.sources
    queries = list_queries(entry)
    if isinstance(sources, str):
        return PageData({"why": sources, "texts": bool(entry.queries)})
    depth = _choose_depth(len(queries) * len(entry.systems))
    lists = {name: _list_system(sources, name, queries, depth) for name in entry.systems}
    adds, kept = _find_contributions(entry, sources, queries, depth)
    texts, left = _read_snippets(entry, lists)
    judged = _count_judged(sources, queries)
    pack = _Packer(lists, texts, adds, judged)
    blocks = {
        f"lists:{start // CHUNK}": [
            pack.pack_query(at) for at in range(start, min(start + CHUNK, len(queries)))
        ]
        for start in range(0, len(queries), CHUNK)
    }
    head = {
        "depth": depth,
        "chunk": CHUNK,
        "scale": SCALE,
        "adds": kept,
        "texts": bool(texts),
        "left": left,
        "unjudged": sources.first[0].unjudged,
        "rel": sources.first[0].rel,
    }
    return PageData(head, blocks)


def _choose_depth(lists: int) -> int:
    return next((depth for depth in DEPTHS if depth * lists <= MOST_RESULTS), DEPTHS[-1])


def _list_system(sources: Sources, name: str, queries: list[str], depth: int) -> RankedLists:
    run = read_run(sources.runs[name], name=name)
    return list_results(sources.judgments, run, sources.first[0], queries=queries, depth=depth)


def _find_contributions(
    entry: Entry, sources: Sources, queries: list[str], depth: int
) -> tuple[dict[str, dict[str, Floats]], list[str]]:
    """Return what the first documents add, by measure and system, for as many measures as the file has room for."""
    protocol, evaluations = sources.first
    room = MOST_CONTRIBUTIONS // max(len(queries) * len(entry.systems) * depth, 1)
    chosen: list[Measure] = [measure for measure in evaluations.measures if not measure.text][: max(room, 0)]
    found: dict[str, dict[str, Floats]] = {measure.label: {} for measure in chosen}
    for name in entry.systems if chosen else ():
        alignment = evaluations[name].alignments[protocol]
        if not isinstance(alignment, RankedAlignment):
            return {}, []
        rows = {query: row for row, query in enumerate(alignment.units.to_pylist())}
        at = np.array([rows.get(query, -1) for query in queries], dtype=np.int64)
        for measure, table in first_contributions(alignment, chosen, depth=depth).items():
            found[measure][name] = np.where((at >= 0)[:, None], table[at], 0.0)
    return found, list(found)


def _read_snippets(entry: Entry, lists: Mapping[str, RankedLists]) -> tuple[dict[str, str], str]:
    """Return the beginning of every listed document's text, and what was left out."""
    if entry.documents is None:
        return {}, ""
    wanted = {document for ranked in lists.values() for document in ranked.documents}
    documents = read_documents(entry.documents, wanted, lenient=True)
    length = min(SNIPPET, MOST_TEXT // max(len(documents), 1))
    if length < 40:
        return {}, f"the texts of {len(documents):,} documents are too many for this file"
    return {name: _shorten(text, length) for name, text in documents.items()}, ""


def _shorten(text: Text, length: int) -> str:
    whole = " ".join(f"{text.title}. {text.text}".split() if text.title else text.text.split())
    return whole if len(whole) <= length else f"{whole[: length - 1]}…"


def _count_judged(sources: Sources, queries: list[str]) -> list[tuple[int, int]]:
    """Return the numbers of relevant and of judged documents of each query."""
    judgments, rel = sources.judgments, sources.first[0].rel
    row = {query: at for at, query in enumerate(judgments.queries.to_pylist())}
    counts = []
    for query in queries:
        at = row.get(query)
        if at is None:
            counts.append((0, 0))
            continue
        grades = judgments.grades[int(judgments.offset[at]) : int(judgments.offset[at + 1])]
        counts.append((int((grades >= rel).sum()), len(grades)))
    return counts


class _Packer:
    """Packs the lists of one query: each document once, each list as places among the documents."""

    def __init__(
        self,
        lists: Mapping[str, RankedLists],
        texts: Mapping[str, str],
        adds: Mapping[str, Mapping[str, Floats]],
        judged: list[tuple[int, int]],
    ) -> None:
        self._lists, self._texts, self._judged = lists, texts, judged
        self._adds = {
            measure: {name: np.rint(table * SCALE).astype(np.int64) for name, table in by_system.items()}
            for measure, by_system in adds.items()
        }

    def pack_query(self, query: int) -> Json:
        """Return documents, grades, lists and texts of one query."""
        place: dict[str, int] = {}
        grades: list[float | None] = []
        lists = []
        for ranked in self._lists.values():
            own = []
            for document, grade in ranked.results(query):
                if document not in place:
                    place[document] = len(place)
                    grades.append(None if grade is None else int(grade) if grade == int(grade) else grade)
                own.append(place[document])
            lists.append(own)
        relevant, judged = self._judged[query]
        packed: dict[str, Json] = {
            "d": list(place),
            "g": grades,
            "l": lists,
            "of": [int(ranked.retrieved[query]) for ranked in self._lists.values()],
            "rel": relevant,
            "jud": judged,
        }
        if self._texts:
            packed["t"] = [self._texts.get(document, "") for document in place]
        if self._adds:
            packed["a"] = [
                [
                    by_system[name][query, : len(own)].tolist()
                    for name, own in zip(self._lists, lists, strict=True)
                ]
                for by_system in self._adds.values()
            ]
        return packed


PAGE = Page("query", "One query", make_data, lambda entry: "query" in entry.unit)
