"""Readers of answers: files of the TREC RAG track, ALCE and traces, tables of any format, and dicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from judged.answers.reading.rows import (
    IDS,
    Fields,
    describe,
    is_file,
    list_documents,
    open_rows,
    split_list,
    to_number,
)
from judged.answers.sentences import split_sentences, take_citations
from judged.answers.tables import RESPONSES
from judged.errors import BadInput, WrongKind
from judged.io.scores.content import Content, Json, get
from judged.problem import Place, Problems
from judged.tables.mapping import map_schema
from judged.tables.responses import Part, Responses
from judged.wording import name_some

ResponsesLike: TypeAlias = Any
"""Responses, a file, rows, or a dict from systems to any of these, or to answers by query."""


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
        content = open_rows(given, "responses", None if is_file(given) else system)
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
    elif isinstance(source, list | tuple) and source and all(is_file(item) for item in source):
        yield from ((name, item) for item in source)
    elif isinstance(source, list | tuple) and source and all(is_named(item) for item in source):
        yield from source
    else:
        yield name, source


def is_named(item: object) -> bool:
    """Return whether an item is a pair of a name, or None, and a file."""
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str | None) and is_file(item[1])


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
            part = place if given is None else to_number(given, number, fields.problems)
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


def _split_row(
    fields: Fields, row: Mapping[str, Json], number: int, *, whole: bool, notes: dict[str, None]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences of a row with the documents that each cites."""
    references = list_documents(fields.raw(row, "references"))
    # a null in the first column is an empty answer, and not the true one in the next
    column = next((name for name in fields.columns["text"] if name in row), None)
    answer, given = row.get(column) if column else None, fields.raw(row, "citations")
    cite = _Citing(references, fields.problems, number)
    if isinstance(answer, list | tuple):
        yield from _list_sentences(answer, cite, fields.problems, number)
        return
    text = Fields({"text": (column,) if column else ()}, fields.problems).text(row, number, "text") or ""
    listed = None if given is None else split_list(given)
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
            message = f"a sentence is {describe(sentence)}, expected an object with `text`"
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
        listed = [] if citations is None else split_list(citations)
        found = (self._find(citation, first=0) for citation in listed)
        return tuple(document for document in found if document is not None)

    def by_mark(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Return the documents of marks in a text, which count from 1."""
        found = (self._find(number, first=1) for number in numbers)
        return tuple(document for document in found if document is not None)

    def _find(self, citation: Json, *, first: int) -> str | None:
        if isinstance(citation, Mapping):
            citation = next((citation[key] for key in IDS if key in citation), None)
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
