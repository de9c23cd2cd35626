"""Readers of labels of answers: of nuggets, citations and claims, and of nuggets in documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from judged.answers.reading.ragchecker import read_ragchecker
from judged.answers.reading.rows import Fields, open_rows, to_number, to_rows
from judged.answers.reading.truth import read_nugget
from judged.answers.tables import (
    ASSIGNMENTS,
    CLAIM_LABELS,
    CLAIMS,
    IMPORTANCE,
    NUGGET_LABELS,
    SUPPORT,
    SUPPORT_LABELS,
    Assignment,
    Claim,
    Labels,
    Rows,
    Support,
)
from judged.errors import BadInput
from judged.io.read import read_judgments
from judged.io.scores.content import Content, list_objects
from judged.problem import Problem
from judged.tables.judgments import Judgments
from judged.tables.mapping import map_schema

T = TypeVar("T")


def read_labels(source: object) -> list[Labels]:
    """Return the labels of a file, which its columns recognise: nuggets, citations or claims; several of a RAGChecker file."""
    if isinstance(source, Rows):
        return [source]
    content = open_rows(source, "labels")
    lower = content.lower
    if lower & {"answer2response", "response2answer", "retrieved2answer", "retrieved2response"}:
        return [read_ragchecker(content)]
    if {"claim", "side"} <= lower:
        return [_read_claims(content, source)]
    if holds_documents(content):
        message = (
            "has labels of nuggets and documents (`candidate_text`), expected labels of nuggets and answers"
        )
        hint = "give them as judgments (`judgments=`, `--judgments FILE`), which say where nuggets are lost"
        raise BadInput(content.label, [Problem.error("document-labels", content.label, message)], hint=hint)
    mapped = map_schema(ASSIGNMENTS, source).mapped
    if "nugget" in mapped or lower & {"nugget", "nugget_id", "nuggets"}:
        return [_read_assignments(content, source)]
    if lower & {"part", "sentence", "sentence_id"} or "part" in map_schema(SUPPORT, source).mapped:
        return [_read_support(content, source)]
    message = f"holds no labels of answers: {content.describe()}"
    hint = "labels of nuggets have a column `nugget`, those of citations `part` and `document`, those of claims `side`, `claim` and `source`"
    raise BadInput(content.label, [Problem.error("unknown-labels", content.label, message)], hint=hint)


def holds_documents(content: Content) -> bool:
    """Return whether a file has the nuggets of retrieved documents, as nuggetizer assigns them, not those of answers."""
    return {"candidate_text", "docid", "nuggets"} <= content.lower


def read_nugget_judgments(source: Any) -> Judgments:
    """Return which document has which nugget: judgments by intent, or what nuggetizer assigns to retrieved documents.

    A nugget that nuggetizer finds supported is of grade 2, in part of grade 1.
    """
    name = os.fsdecode(source) if isinstance(source, str | os.PathLike) else None
    if not (name and name.endswith((".jsonl", ".json"))) or not holds_documents(
        content := open_rows(source, "judgments")
    ):
        return read_judgments(source, intents=True)
    grades = {"support": 2, "partial_support": 1, "not_support": 0}
    rows = []
    for number, row in enumerate(content.rows):
        fields = Fields({"query": ("qid",), "document": ("docid",)}, content.problems)
        query, document = (fields.text(row, number, field, required=True) for field in ("query", "document"))
        for item in list_objects(row.get("nuggets")):
            own = Fields({"label": ("assignment",)}, content.problems)
            label = own.word(item, number, "label", NUGGET_LABELS)
            if label:
                intent = str(item.get("text"))
                rows.append({"query": query, "document": document, "intent": intent, "grade": grades[label]})
    content.problems.raise_if_any()
    return read_judgments(rows, name=content.label)


def _read_assignments(content: Content, source: object) -> Rows[Assignment]:
    fields = Fields.of(_with_label(content), ASSIGNMENTS, source)
    rows, owners = [], []
    listed: dict[tuple[str, str | None], None] = {}
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        system, attempt = fields.text(row, number, "system"), fields.text(row, number, "attempt")
        labeller = fields.text(row, number, "labeller") or ""
        if query is None:
            continue
        listed[query, system] = None
        value = fields.raw(row, "nugget")
        for item in value if isinstance(value, list | tuple) else [None]:
            if item is None:
                nugget = fields.text(row, number, "nugget", required=True) or ""
                label = fields.word(row, number, "label", NUGGET_LABELS)
                importance = fields.word(row, number, "importance", IMPORTANCE) or ""
            else:
                nugget, importance, _ = read_nugget(fields, item, number) or ("", "", "")
                own = Fields({"label": ("assignment", "label")}, fields.problems)
                label = own.word(item, number, "label", NUGGET_LABELS) if isinstance(item, Mapping) else None
            if label is not None and nugget:
                owners.append(number)
                rows.append(Assignment(query, system, nugget, label, importance, labeller, attempt))
    content.problems.raise_if_any()
    return to_rows(content, rows, owners, listed=tuple(listed))


def _with_label(content: Content) -> Content:
    """Return the content with a column for the label, which lists of nuggets have inside."""
    if not content.lower & {"label", "assignment"} and any(
        isinstance(row.get("nuggets"), list) for row in content.rows
    ):
        content.rows = [{**row, "label": None} for row in content.rows]
        content.__dict__.pop("columns", None)
    return content


def _read_support(content: Content, source: object) -> Rows[Support]:
    fields = Fields.of(content, SUPPORT, source)
    rows, owners = [], []
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        part = fields.text(row, number, "part", required=True)
        label = fields.word(row, number, "label", SUPPORT_LABELS)
        documents = fields.raw(row, "document")
        if isinstance(documents, list | tuple):
            named: tuple[str, ...] = tuple(sorted(map(str, documents)))
        else:
            document = fields.text(row, number, "document", required=True)
            named = () if document is None else (document,)
        if query is not None and part is not None and label is not None and named:
            owners.append(number)
            rows.append(
                Support(
                    query,
                    fields.text(row, number, "system"),
                    to_number(part, number, fields.problems),
                    named,
                    label,
                    fields.text(row, number, "labeller") or "",
                    fields.text(row, number, "attempt"),
                )
            )
    content.problems.raise_if_any()
    return to_rows(content, rows, owners)


def _read_claims(content: Content, source: object) -> Rows[Claim]:
    fields = Fields.of(content, CLAIMS, source)
    rows, owners = [], []
    for number, row in enumerate(content.rows):
        query, claim, named = (
            fields.text(row, number, name, required=True) for name in ("query", "claim", "source")
        )
        side = fields.word(row, number, "side", {"response": "response", "truth": "truth"})
        label = fields.word(row, number, "label", CLAIM_LABELS)
        if query is None or claim is None or named is None or side is None or label is None:
            continue
        if (side, named) in {("response", "response"), ("truth", "answer")}:
            message = f"a claim of the {side} is labelled against itself (`{named}`), expected another source"
            fields.problems.add("same-source", number, message)
        owners.append(number)
        rows.append(
            Claim(
                query,
                fields.text(row, number, "system"),
                side,
                claim,
                named,
                label,
                fields.text(row, number, "text") or "",
                fields.text(row, number, "labeller") or "",
                fields.text(row, number, "attempt"),
            )
        )
    content.problems.raise_if_any()
    return to_rows(
        content, rows, owners, listed=tuple(dict.fromkeys((row.query, row.system) for row in rows))
    )


def list_texts(sources: Iterable[Labels]) -> dict[str, str]:
    """Return the texts of documents that labels came with."""
    return {document: text for source in sources for document, text in source.texts.items()}


def merge(kind: type[T], sources: Iterable[Rows[Any]]) -> Iterator[tuple[Rows[Any], int, T]]:
    """Yield every row of one kind, with its source and its number there; the rows of a source are of one kind."""
    for source in sources:
        if source.rows and isinstance(source.rows[0], kind):
            for number, row in enumerate(source.rows):
                yield source, number, row
