"""Readers of answers and their labels: files of TREC, ALCE, nuggetizer and RAGChecker, and tables of any format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from judged.answers.sentences import split_sentences, take_citations
from judged.answers.tables import (
    ANSWERABLE,
    ASSIGNMENTS,
    CLAIM_LABELS,
    CLAIMS,
    IMPORTANCE,
    NUGGET_LABELS,
    NUGGETS,
    REFERENCES,
    RESPONSES,
    SUPPORT,
    SUPPORT_LABELS,
    Assignment,
    Claim,
    Labels,
    Nugget,
    Reference,
    Rows,
    Support,
)
from judged.errors import BadInput, WrongKind
from judged.io.read import read_judgments
from judged.io.scores.content import Content, Json, decode_cell, get, list_objects, open_content
from judged.problem import Place, Problem, Problems
from judged.tables.judgments import Judgments
from judged.tables.mapping import map_schema
from judged.tables.responses import Part, Responses
from judged.tables.schema import Schema
from judged.wording import name_some

LISTS = ("results", "data", "records", "responses", "answers")
"""Keys under which a document may hold its rows."""
SHAPES = "a list of rows, or one row as JSON on each line"

_OPENING = ("", "{", "[", " ", "\t", "\n")
"""First characters of cells that are empty or may hold JSON."""

T = TypeVar("T")
ResponsesLike: TypeAlias = Any
"""Responses, a file, rows, or a dict from systems to any of these, or to answers by query."""


def open_rows(source: object, what: str, name: str | None = None) -> Content:
    """Return the rows of a source: a path, a frame, or rows as dicts; a document holds them under a key."""
    if isinstance(source, Mapping):
        source = [source]
    content = open_content(source, name=name or (None if _is_file(source) else what))
    content.problems.raise_if_any()
    if content.document is not None:
        content.rows, content.document = [content.document], None
        content.problems = Problems(content.label)
    if len(content.rows) == 1 and not RESPONSES["query"].find(
        {name.lower(): name for name in content.columns}
    ):
        only = content.rows[0]
        content.rows = next((rows for key in LISTS if (rows := list_objects(only.get(key)))), [only])
        content.problems = Problems(content.label)
        content.__dict__.pop("columns", None)  # cached
        content.__dict__.pop("lower", None)
    content.rows = [
        # most cells are plain, and there may be millions
        {
            key: _decode(key, value) if value.__class__ is str and value[:1] in _OPENING else value
            for key, value in row.items()
        }
        for row in content.rows
    ]
    if not content.rows:
        raise BadInput(content.label, [Problem.error("empty", content.label, f"holds no {what}")])
    return content


def _decode(column: str, cell: str) -> Json:
    """Return what a cell holds as JSON; an answer that is JSON is a text all the same, unless it lists sentences."""
    value = decode_cell(cell)
    if column.lower() not in RESPONSES["text"].names or value is None:
        return value
    return value if list_objects(value) and len(list_objects(value)) == len(value) else cell


def _is_file(source: object) -> bool:
    return isinstance(source, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(source, "read")


@dataclass(frozen=True)
class Fields:
    """The columns of a content by the fields of a schema."""

    columns: Mapping[str, tuple[str, ...]]
    problems: Problems

    @classmethod
    def of(cls, content: Content, schema: Schema, source: object = None) -> Fields:
        """Return the columns of each field; raise `BadInput` if a required one is missing."""
        found = map_schema(schema, source).match(content.columns, subject=content.label)
        return cls(found.columns, content.problems)

    def raw(self, row: Mapping[str, Json], name: str) -> Json:
        """Return a value of a row; None if it has none."""
        for column in self.columns.get(name, ()):
            value = row.get(column)
            if value is not None:
                return value
        return None

    def text(self, row: Mapping[str, Json], number: int, name: str, *, required: bool = False) -> str | None:
        """Return a value as text; a problem is added for one that is neither text nor a number."""
        value = self.raw(row, name)
        if value is None and not required:
            return None
        if isinstance(value, str) and (value.strip() or not required):
            return value if name == "text" else value.strip()
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            return str(value).lower() if isinstance(value, bool) else str(int(value))
        if value is not None or required:
            self.problems.add("not-text", number, f"{name} is {_describe(value)}, expected text")
        return None

    def word(self, row: Mapping[str, Json], number: int, name: str, words: Mapping[str, T]) -> T | None:
        """Return what a value stands for on its scale; a problem is added for one that is not on it."""
        value = self.text(row, number, name)
        if value is None or value == "":
            return None
        found = words.get(value)
        if found is None:
            found = words.get("_".join(value.lower().replace("-", " ").split()))
        if found is None:
            scale = ", ".join(f"`{word}`" for word in dict.fromkeys(map(_name_word, words.values())) if word)
            self.problems.add("unknown-label", number, f"{name} is `{value}`, expected one of {scale}")
        return found


def _name_word(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _describe(value: Json) -> str:
    if value is None:
        return "missing"
    return (
        "a list"
        if isinstance(value, list | tuple)
        else "an object"
        if isinstance(value, Mapping)
        else f"`{value}`"
    )


def read_responses(source: ResponsesLike, *, name: str | None = None) -> Responses:
    """Return the answers of one or several systems, sentence by sentence.

    `source` is a file of the TREC RAG track or of ALCE, a table of any format with `query`, `answer` and perhaps `system`,
    `citations` and `references`, rows as dicts, a list of such files, or a dict from system to any of these, or to answers by
    query. An answer that comes as one text is split by the rule of `judged.answers.sentences`; marks such as `[1]` are taken
    out of it, and name the first of its `references`. `name` is the system of a source that names none.

    >>> [(part.text, part.citations) for part in read_responses({"bot": {"q1": "Cats purr [1]. Dogs bark."}})]
    [('Cats purr.', ('1',)), ('Dogs bark.', ())]
    """
    if isinstance(source, Responses):
        return source
    parts: list[Part] = []
    places: list[Place] = []
    notes: dict[str, None] = {}
    problems = Problems(_label(source), places.__getitem__)
    for system, given in _list_sources(source, name):
        content = open_rows(given, "responses", None if _is_file(given) else system)
        if traced := _read_traces(content, given, system, notes):
            places += [Place(content.label)] * len(traced)
            parts += traced
            continue
        for number, part in _read_parts(content, given, system, notes):
            place = content.place(number)
            places.append(place if place.file else Place(content.label, row=place.row, field=place.field))
            parts.append(part)
        content.problems.raise_if_any()
    found = Responses.from_rows(parts, name=_label(source), problems=problems)
    return Responses(found.table, found.name, tuple(notes))


def _read_traces(
    content: Content, given: object, system: str | None, notes: dict[str, None]
) -> list[Part] | None:
    """Return the final answers of a trace; None for a table of answers, and for what is neither."""
    first = {key.lower(): value for row in content.rows[:1] for key, value in _add_metadata(row).items()}
    texts = [first[name] for name in RESPONSES["text"].names if name in first]
    is_table = texts and not isinstance(texts[0], Mapping) and first.keys() & set(RESPONSES["query"].names)
    if is_table or map_schema(RESPONSES, given).mapped or not isinstance(given, str | os.PathLike):
        return None
    from judged.answers.traces import read_answers_of_traces

    try:
        return read_answers_of_traces(given, system, notes)
    except BadInput as error:
        if any(problem.code == "no-answers" for problem in error.problems):
            raise
        return None  # the error of a table says more


def _label(source: object) -> str:
    return os.fsdecode(source) if isinstance(source, str | os.PathLike) else "responses"


def _list_sources(source: ResponsesLike, name: str | None) -> Iterator[tuple[str | None, Any]]:
    """Yield the sources of answers, each with the name of its system if it was given."""
    if isinstance(source, Mapping):
        for system, given in source.items():
            if isinstance(given, Mapping):
                yield str(system), [_to_row(query, answer) for query, answer in given.items()]
            else:
                yield str(system), given
    elif isinstance(source, list | tuple) and source and all(_is_file(item) for item in source):
        yield from ((name, item) for item in source)
    elif isinstance(source, list | tuple) and source and all(is_named(item) for item in source):
        yield from source
    else:
        yield name, source


def is_named(item: object) -> bool:
    """Return whether an item is a pair of a name, or None, and a file."""
    return (
        isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str | None) and _is_file(item[1])
    )


def _to_row(query: object, answer: Json) -> dict[str, Json]:
    if isinstance(answer, Mapping):
        return {"query": query, **answer}
    if not isinstance(answer, str):
        msg = f"the answer to `{query}` is of type `{type(answer).__name__}`, expected a text"
        raise WrongKind(msg)
    return {"query": query, "answer": answer}


def _read_parts(
    content: Content, source: object, system: str | None, notes: dict[str, None]
) -> Iterator[tuple[int, Part]]:
    """Yield every part with the number of its row."""
    content.rows = [_add_metadata(row) for row in content.rows]
    content.__dict__.pop("columns", None)  # cached, and the metadata has columns too
    fields = Fields.of(content, RESPONSES, source)
    texts = fields.columns["text"]
    if len(texts) > 1:
        others = name_some([f"`{name}`" for name in texts[1:]], 3)
        notes[f"answers are read from the column `{texts[0]}`, not from {others}"] = None
    named = {fields.text(row, 0, "system") for row in content.rows if fields.raw(row, "system") is not None}
    if system is not None and len(named) > 1:
        message = f"holds answers of {len(named)} systems ({', '.join(sorted(map(str, named))[:3])}), expected one, to be called `{system}`"
        content.problems.add("several-systems", 0, message)
        return
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        own = system or fields.text(row, number, "system") or content.name
        if query is None:
            continue
        attempt = fields.text(row, number, "attempt")
        given = fields.text(row, number, "part")
        for place, (text, citations) in enumerate(
            _split_row(fields, row, number, whole=given is None, notes=notes), 1
        ):
            part = place if given is None else _to_number(given, number, fields.problems)
            yield (
                number,
                Part(query=query, system=own, part=part, text=text, citations=citations, attempt=attempt),
            )


def _add_metadata(row: Mapping[str, Json]) -> dict[str, Json]:
    """Return a row with the ids that TREC 2025 has under `metadata`."""
    metadata = row.get("metadata")
    if not isinstance(metadata, Mapping):
        return dict(row)
    ids = {*RESPONSES["query"].names, *RESPONSES["system"].names, *RESPONSES["attempt"].names}
    return {**{name: value for name, value in metadata.items() if name.lower() in ids}, **row}


def _to_number(text: str, row: int, problems: Problems) -> int:
    if text.isdecimal():
        return int(text)
    problems.add("not-a-number", row, f"part is `{text}`, expected a whole number from 1")
    return 1


def _split_row(
    fields: Fields, row: Mapping[str, Json], number: int, *, whole: bool, notes: dict[str, None]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences of a row with the documents that each cites."""
    references = _list_documents(fields.raw(row, "references"))
    # a null in the first column is an empty answer, and not the true one in the next
    column = next((name for name in fields.columns["text"] if name in row), None)
    answer, given = row.get(column) if column else None, fields.raw(row, "citations")
    cite = _Citing(references, fields.problems, number)
    if isinstance(answer, list | tuple):
        yield from _list_sentences(answer, cite, fields.problems, number)
        return
    text = Fields({"text": (column,) if column else ()}, fields.problems).text(row, number, "text") or ""
    listed = None if given is None else _split_list(given)
    if not whole:
        clean, marks = take_citations(text)
        yield (text.strip(), cite.by_position(listed)) if listed is not None else (clean, cite.by_mark(marks))
        return
    sentences = [take_citations(sentence) for sentence in split_sentences(text)]
    if listed is not None and not any(marks for _, marks in sentences):
        notes["answers with a list of citations and no marks in the text are one part each"] = None
        yield text.strip(), cite.by_position(listed)
        return
    if listed is not None and not references:  # the list is what the marks count
        cite = _Citing([str(item) for item in listed], fields.problems, number)
    for clean, marks in sentences:
        if clean or marks:
            yield clean, cite.by_mark(marks)
    if not sentences:
        yield "", ()


def _list_sentences(
    answer: Sequence[Json], cite: _Citing, problems: Problems, number: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences of an answer that comes as a list of them; an empty one is one empty sentence."""
    for sentence in answer:
        text = sentence if isinstance(sentence, str) else get(sentence, "text")
        if isinstance(text, str):
            yield text, cite.by_position(get(sentence, "citations"))
        else:
            message = f"a sentence is {_describe(sentence)}, expected an object with `text`"
            problems.add("not-text", number, message)
    if not answer:
        yield "", ()


@dataclass(frozen=True)
class _Citing:
    """Documents that citations of one answer name, by position or by id."""

    references: list[str]
    problems: Problems
    row: int

    def by_position(self, citations: Json) -> tuple[str, ...]:
        """Return the documents of citations that count from 0, or are ids."""
        listed = [] if citations is None else _split_list(citations)
        found = (self._find(citation, first=0) for citation in listed)
        return tuple(document for document in found if document is not None)

    def by_mark(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Return the documents of marks in a text, which count from 1."""
        found = (self._find(number, first=1) for number in numbers)
        return tuple(document for document in found if document is not None)

    def _find(self, citation: Json, *, first: int) -> str | None:
        if isinstance(citation, Mapping):
            citation = next((citation[key] for key in _ID if key in citation), None)
        if isinstance(citation, str) and (not self.references or citation in self.references):
            return citation
        number = _to_whole(citation)
        if number is not None and not self.references:
            return str(number)
        if number is not None and 0 <= number - first < len(self.references):
            return self.references[number - first]
        last = len(self.references) - 1 + first
        if number is None and self.references:
            message = (
                f"citation `{citation}` is not among the {len(self.references)} references of the answer"
            )
        else:
            expected = f"a reference of the answer, {first} to {last}" if self.references else "an id"
            message = f"citation `{citation}` is out of range, expected {expected}"
        self.problems.add("citation-out-of-range", self.row, message)
        return None


def _to_whole(citation: Json) -> int | None:
    """Return a whole number, written as one or as text; None for anything else."""
    if isinstance(citation, str) and citation.isdecimal():
        return int(citation)
    return citation if isinstance(citation, int) and not isinstance(citation, bool) else None


_ID = ("docid", "doc_id", "id", "document_id", "segment_id", "title")


def _list_documents(value: Json) -> list[str]:
    """Return the ids of the references of an answer; the position of one that has none, from 1."""
    if isinstance(value, Mapping):
        return [str(key) for key in value]
    documents = []
    for place, item in enumerate(_split_list(value) if value is not None else [], 1):
        if isinstance(item, Mapping):
            item = next((item[key] for key in _ID[:-1] if item.get(key) not in (None, "")), place)  # noqa: PLW2901
        documents.append(str(item))
    return documents


def _split_list(value: Json) -> Sequence[Json]:
    """Return the items of a list, or of a cell with items between blanks, commas, semicolons or bars."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, str):
        return value.replace(",", " ").replace(";", " ").replace("|", " ").split()
    return [] if value is None else [value]


def read_nuggets(source: object) -> Rows[Nugget]:
    """Return the nuggets of queries: a file of nuggetizer, or a table with `query`, `nugget` and perhaps `importance`."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Mapping):
        source = [{"query": query, "nuggets": nuggets} for query, nuggets in source.items()]
    content = open_rows(source, "nuggets")
    fields = Fields.of(content, NUGGETS, source)
    rows, owners = [], []
    listed: dict[tuple[str, None], None] = {}
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        if query is None:
            continue
        listed[query, None] = None
        for nugget in _read_row_of_nuggets(fields, row, number, query):
            owners.append(number)
            rows.append(nugget)
    _refuse_repeated([(row.query, row.nugget) for row in rows], owners, content.problems, "nugget")
    content.problems.raise_if_any()
    return _to_rows(content, rows, owners, listed=tuple(listed))


def _read_row_of_nuggets(
    fields: Fields, row: Mapping[str, Json], number: int, query: str
) -> Iterator[Nugget]:
    value = fields.raw(row, "nugget")
    if not isinstance(value, list | tuple):
        nugget = fields.text(row, number, "nugget", required=True)
        importance = fields.word(row, number, "importance", IMPORTANCE) or ""
        if nugget is not None:
            yield Nugget(query, nugget, importance, fields.text(row, number, "text") or nugget)
        return
    for item in value:
        found = _read_nugget(fields, item, number)
        if found is not None:
            yield Nugget(query, *found[:3])


def _read_nugget(fields: Fields, item: Json, number: int) -> tuple[str, str, str] | None:
    """Return the id, the importance and the text of a nugget in a list."""
    if isinstance(item, str):
        return item, "", item
    text = get(item, "text")
    known = next(
        (str(item[key]) for key in ("nugget_id", "id", "nugget") if get(item, key) is not None), text
    )
    if not isinstance(known, str):
        fields.problems.add(
            "not-text", number, f"a nugget is {_describe(item)}, expected a text or an object with `text`"
        )
        return None
    own = Fields({"importance": ("importance",)}, fields.problems)
    return (
        known,
        own.word(item, number, "importance", IMPORTANCE) or "",
        text if isinstance(text, str) else known,
    )


def _refuse_repeated(
    keys: Sequence[tuple[str, ...]], owners: Sequence[int], problems: Problems, what: str
) -> None:
    seen: set[tuple[str, ...]] = set()
    for key, owner in zip(keys, owners, strict=True):
        if key in seen:
            problems.add(f"repeated-{what}", owner, f"{what} `{key[-1]}` of query `{key[0]}` occurs twice")
        seen.add(key)


def _to_rows(content: Content, rows: Sequence[Any], owners: Sequence[int], **more: Any) -> Rows[Any]:
    """Return rows whose problems have the places of the rows of the file."""
    place = content.place

    def locate(row: int) -> Place:
        found = place(owners[row])
        return found if found.file else Place(content.label, row=found.row, field=found.field)

    return Rows(tuple(rows), Problems(content.label, locate), content.label, tuple(content.notes), **more)


def read_labels(source: object) -> list[Labels]:
    """Return the labels of a file, which its columns recognise: nuggets, citations or claims; several of a RAGChecker file."""
    if isinstance(source, Rows):
        return [source]
    content = open_rows(source, "labels")
    lower = content.lower
    if lower & {"answer2response", "response2answer", "retrieved2answer", "retrieved2response"}:
        return [_read_ragchecker(content)]
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
                nugget, importance, _ = _read_nugget(fields, item, number) or ("", "", "")
                own = Fields({"label": ("assignment", "label")}, fields.problems)
                label = own.word(item, number, "label", NUGGET_LABELS) if isinstance(item, Mapping) else None
            if label is not None and nugget:
                owners.append(number)
                rows.append(Assignment(query, system, nugget, label, importance, labeller, attempt))
    content.problems.raise_if_any()
    return _to_rows(content, rows, owners, listed=tuple(listed))


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
                    _to_number(part, number, fields.problems),
                    named,
                    label,
                    fields.text(row, number, "labeller") or "",
                    fields.text(row, number, "attempt"),
                )
            )
    content.problems.raise_if_any()
    return _to_rows(content, rows, owners)


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
    return _to_rows(
        content, rows, owners, listed=tuple(dict.fromkeys((row.query, row.system) for row in rows))
    )


def _read_ragchecker(content: Content) -> Rows[Claim]:
    """Return the claims of a file of RAGChecker, known by their places in its lists."""
    rows: list[Claim] = []
    owners: list[int] = []
    listed: list[tuple[str, str | None]] = []
    texts: dict[str, str] = {}
    fields = Fields.of(content, Schema("claims", (CLAIMS["query"], CLAIMS["system"])))
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        if query is None:
            continue
        system = fields.text(row, number, "system")
        listed.append((query, system))
        documents = _list_documents(row.get("retrieved_context"))
        for document, item in zip(documents, list_objects(row.get("retrieved_context")), strict=False):
            texts.setdefault(document, str(item.get("text") or ""))
        for claim in _read_matrices(row, query, system, documents, fields, number):
            owners.append(number)
            rows.append(claim)
    content.problems.raise_if_any()
    return _to_rows(content, rows, owners, listed=tuple(listed), texts=texts)


_RAGCHECKER = (
    ("response", "response_claims", "answer2response", "retrieved2response", "answer"),
    ("truth", "gt_answer_claims", "response2answer", "retrieved2answer", "response"),
)


def _read_matrices(
    row: Mapping[str, Json],
    query: str,
    system: str | None,
    documents: Sequence[str],
    fields: Fields,
    number: int,
) -> Iterator[Claim]:
    """Yield the labels of one answer; every claim has a row, even without labels."""
    for side, texts, alone, matrix, source in _RAGCHECKER:
        lists = {key: row.get(key) or [] for key in (texts, alone, matrix)}
        wrong = [key for key, value in lists.items() if not isinstance(value, list | tuple)]
        if wrong:
            fields.problems.add(
                "not-a-list", number, f"`{wrong[0]}` is {_describe(row[wrong[0]])}, expected a list"
            )
            continue
        claims, direct, by_passage = lists.values()
        if any(not isinstance(labels, list | tuple) for labels in by_passage):
            message = f"`{matrix}` has a row that is no list, expected a list of labels for each claim"
            fields.problems.add("not-a-list", number, message)
            continue
        count = max(len(claims), len(direct), len(by_passage))
        if any(len(labels) not in {0, count} for labels in (direct, by_passage)):
            message = (
                f"`{alone}` and `{matrix}` have {len(direct)} and {len(by_passage)} labels for {count} claims"
            )
            fields.problems.add("unequal-lists", number, message)
            continue
        for place in range(count):
            text = (
                " ".join(map(str, claims[place]))
                if place < len(claims) and isinstance(claims[place], list)
                else str(claims[place])
                if place < len(claims)
                else ""
            )
            name = str(place + 1)
            yield Claim(query, system, side, name, "", "", text)
            labels = [(source, direct[place])] if direct else []
            passages = by_passage[place] if by_passage else []
            if len(passages) > len(documents):
                documents = [*documents, *(str(extra + 1) for extra in range(len(documents), len(passages)))]
            labels += list(zip(documents, passages, strict=False))
            for named, label in labels:
                own = Fields({"label": ("label",)}, fields.problems)
                word = own.word({"label": label}, number, "label", CLAIM_LABELS)
                if word is not None:
                    yield Claim(query, system, side, name, named, word, text)


def read_references(source: object) -> Rows[Reference]:
    """Return the true answers of queries: `query` and `answer`, several rows a query; a list in a row has spellings of one."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Mapping):
        source = [
            {"query": query, "answer": answer}
            for query, answers in source.items()
            for answer in (answers if isinstance(answers, list | tuple) else [answers])
        ]
    content = open_rows(source, "references")
    fields = Fields.of(content, REFERENCES, source)
    if not fields.columns.keys() & {"answer", "answerable"} and "qa_pairs" not in content.columns:
        message = f"has neither `answer` nor `answerable`: {content.describe()}"
        raise BadInput(content.label, [Problem.error("missing-column", content.label, message)])
    rows, owners = [], []
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        if query is None:
            continue
        answerable = fields.word(row, number, "answerable", ANSWERABLE)
        group = fields.text(row, number, "group") or f"row {number + 1}"
        pairs = [(group, fields.raw(row, "answer"))]
        if list_objects(row.get("qa_pairs")):  # ALCE: short answers, each with its spellings
            pairs = [
                (f"{group}.{place}", get(pair, "short_answers")) for place, pair in enumerate(row["qa_pairs"])
            ]
        found = [
            (name, answer)
            for name, answers in pairs
            for answer in (answers if isinstance(answers, list | tuple) else [answers])
            if answer is not None
        ]
        for name, answer in found or [(group, None)]:
            owners.append(number)
            rows.append(Reference(query, None if answer is None else str(answer), answerable, name))
    content.problems.raise_if_any()
    return _to_rows(content, rows, owners)


def list_texts(sources: Iterable[Labels]) -> dict[str, str]:
    """Return the texts of documents that labels came with."""
    return {document: text for source in sources for document, text in source.texts.items()}


def merge(kind: type[T], sources: Iterable[Rows[Any]]) -> Iterator[tuple[Rows[Any], int, T]]:
    """Yield every row of one kind, with its source and its number there; the rows of a source are of one kind."""
    for source in sources:
        if source.rows and isinstance(source.rows[0], kind):
            for number, row in enumerate(source.rows):
                yield source, number, row
