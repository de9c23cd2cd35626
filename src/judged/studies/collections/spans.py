"""Spans: judgments of passages, by their offsets in the texts of documents or by their own texts."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, nan

from judged.io.table import read_table
from judged.io.texts import Text, TextSource
from judged.studies.stages.stage import Passage
from judged.studies.tables import SPANS
from judged.tables.judgments import Judgments


def join_text(text: Text) -> str:
    """Return title and text of a document as one text."""
    return "\n".join(part for part in (text.title.strip(), text.text.strip()) if part)


def read_spans(source: TextSource, documents: Mapping[str, Text]) -> tuple[Judgments, tuple[Passage, ...]]:
    """Return the judgments of passages, and the passages, with offsets in the whole texts of documents.

    A passage is given by its offsets in the text of its document, without the title, or by its own text.
    """
    table = read_table(source, SPANS)
    rows = {name: column.to_pylist() for name, column in table.columns.items()}
    found: list[Passage] = []
    for row, document in enumerate(rows["document"]):
        start, end = (rows[name][row] if name in rows else nan for name in ("start", "end"))
        text = rows["text"][row] if "text" in rows else None
        passage, message = _find_span(documents.get(document), document, start, end, text)
        if message:
            table.problems.add("bad-span", row, f"document `{document}`: {message}")
        found.append(passage)
    grades = rows.get("grade", [1.0] * len(found))
    judged = Judgments.from_columns(
        rows["query"], [passage.id for passage in found], grades, name=table.name, problems=table.problems
    )
    return judged, tuple(dict.fromkeys(found))


def _find_span(
    document: Text | None, name: str, start: float, end: float, text: str | None
) -> tuple[Passage, str]:
    """Return a judged passage, and what is wrong with it; empty: nothing."""
    whole = "" if document is None else join_text(document)
    body = "" if document is None else document.text.strip()
    title = len(whole) - len(body)
    nothing = Passage(name, 0, 0)
    if document is None:
        return nothing, "the collection does not have it"
    if not (isnan(start) or isnan(end)):
        # offsets count from the text as it is written, white space at its beginning included
        shift = title - (len(document.text) - len(document.text.lstrip()))
        if not 0 <= start < end <= len(document.text) or start % 1 or end % 1:
            return (
                nothing,
                f"`{start:g}` to `{end:g}` is not part of a text of {len(document.text):,} characters",
            )
        first, last = max(int(start) + shift, title), min(int(end) + shift, len(whole))
        return (Passage(name, first, last), "") if first < last else (nothing, "the passage is white space")
    if not text or not text.strip():
        return nothing, "has neither `start` and `end` nor `text`, expected one of them"
    place = whole.find(text.strip(), title)
    place = whole.find(text.strip()) if place < 0 else place
    if place < 0:
        return nothing, f"its text does not have the passage `{text.strip()[:60]}`"
    return Passage(name, place, place + len(text.strip())), ""
