"""Search results: the ids and scores in the answers of RAG frameworks, vector stores and search engines.

Where an answer keeps its results is known by its shape (`judged.io.answer_shapes`), and what a result holds by its fields.
The order of an answer is that of the system; its scores are made to keep it (`keep_order`), whether they fall, rise as
distances do, or are absent.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from judged.errors import BadInput, WrongKind
from judged.io.answer_shapes import (
    BadAnswer,
    get_field,
    is_id,
    is_marked,
    is_nested,
    is_plain,
    open_answer,
    refuse_several,
)
from judged.problem import Place, Problems
from judged.tables.content import normalise_text
from judged.tables.judgments import NUMBERED
from judged.tables.nested import REPEATED, Flat, describe_type, keep_order
from judged.tables.run import Run
from judged.tables.schema import DOCUMENTS
from judged.wording import counted, name_some

IDS = ("id", "doc_id", "docno", "document_id", "_id", "node_id", "id_", "uuid", "pk")
"""Fields of ids, if none is named: the first of these that a result has, else its document, else its metadata."""
SCORES = ("score", "relevance_score", "_score", "rerank_score", "certainty", "similarity")
DISTANCES = ("distance", "_distance", "vector_distance")
"""Fields with a number in place of a score."""
TEXTS = ("page_content", *DOCUMENTS["text"].names, "document")
ABOUT = ("node", "document", "metadata", "meta", "_additional")
"""Fields of a result that describe it: they may have its id and its score."""
CONTENT = ("payload", "properties", "entity", "fields", "_source")
"""Fields of a result that hold what was stored: an id among it must be named."""
MOST_FIELDS = 12
"""Maximum number of fields that a message lists."""


@dataclass(frozen=True)
class Fields:
    """Names of fields, with dots between the steps of a path; None takes the usual ones."""

    id: str | None = None
    score: str | None = None


USUAL = Fields()


class Found(NamedTuple):
    """One result: a document, its score if the system gives one, and its text if it is there."""

    document: str
    score: float | None = None
    text: str = ""


class SearchReply(NamedTuple):
    """The results of one query, best first."""

    found: list[Found]


class AnswerReader:
    """Reads the answers of one system, and counts what it changes in them."""

    def __init__(self, fields: Fields = USUAL, *, by_text: bool = False, lenient: bool = False) -> None:
        self.fields = fields
        self.lenient = lenient
        """Whether results without an id are known by their texts, and kept in `unnamed`."""
        self.by_text = by_text
        """Whether documents are identified by their texts, as the judged ones are."""
        self.unnamed: list[BadAnswer] = []
        """What is wrong with results that have a text and no id, each of which is known by its text."""
        self.named = 0
        """Number of results with an id."""
        self.counts: Counter[str] = Counter()
        """Number of results that were repeated, of rankings without usable scores, and of ids that are numbers."""
        self.texts: dict[str, str] = {}
        """The text of each document, where results have it: that of the first."""
        self._example: object = None

    def read(self, answer: object) -> SearchReply:
        """Return the results of one query; raise `BadAnswer` for what is not a list of results."""
        _check_ready(answer)
        if self.fields.id is None and isinstance(answer, Mapping) and is_plain(answer):
            return SearchReply(self._sort_scores(answer))
        items, distances = _open(answer)
        kinds = list(dict.fromkeys(map(_name_kind, items)))
        if len(kinds) > 1:
            message = f"mixes {name_some(kinds, 3)}, expected results of one kind"
            raise BadAnswer("mixed-results", message)
        found = [
            self._read_item(item, f"result {number}", distances=distances)
            for number, item in enumerate(items, 1)
        ]
        return SearchReply(found)

    def rank(self, answer: SearchReply, depth: int | None = None) -> tuple[list[str], list[float]]:
        """Return at most `depth` documents, each once, with scores that keep their order."""
        first: dict[str, float | None] = {}
        for found in answer.found:
            if found.document in first:
                self.counts["repeated"] += 1
            first.setdefault(found.document, found.score)
            if found.text:
                self.texts.setdefault(found.document, found.text)
        scores = list(first.values())[:depth]
        return list(first)[:depth], self.keep_order(scores)

    def keep_order(self, scores: Sequence[float | None]) -> list[float]:
        """Return scores that keep their order, and count a ranking that they did not describe."""
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            self.counts["partly scored" if known else "unscored"] += 1
        elif any(after > before for before, after in pairwise(known)):
            steady = all(after >= before for before, after in pairwise(known))
            self.counts["rising" if steady else "unsorted"] += 1
        return keep_order(scores)

    def suggest_field(self) -> str | None:
        """Return the hint to name the field of ids, with those of a result that was read; None for bare ids."""
        fields = list_fields(self._example)
        return f"{_suggest_field(fields)}; results have {name_some(fields, MOST_FIELDS)}" if fields else None

    def notes(self) -> list[str]:
        """Return what was changed, as readers of the numbers should know."""
        notes = [
            f"{counted(self.counts[code], noun)} {text}"
            for code, (noun, text) in _CHANGES.items()
            if self.counts[code]
        ]
        return [*notes, NUMBERED] if self.counts["numbered"] else notes

    def read_id(self, value: object, place: str) -> str:
        """Return an id as text; raise `BadAnswer` for what identifies no document."""
        if not is_id(value) or value == "":
            message = f"{place} has {_shorten(value)} as its id, expected text or a whole number"
            raise BadAnswer("bad-id", message)
        self.counts["numbered"] += hasattr(value, "__index__")
        return str(value)

    def _read_item(self, item: object, place: str, *, distances: bool) -> Found:
        if is_id(item):
            if self.fields.id is not None:
                message = f"{place} is {_shorten(item)}, which has no field `{self.fields.id}`"
                raise BadAnswer("no-id", message)
            if self.by_text:
                message = f"{place} is {_shorten(item)}, and the judged documents are texts without ids"
                raise BadAnswer("no-text", message)
            self.named += 1
            return Found(self.read_id(item, place))
        if _is_pair(item):
            inner = self._read_item(item[0], place, distances=False)
            return inner._replace(score=read_score(item[1], place))
        bare = isinstance(item, float | bool) or item is None
        if bare or (isinstance(item, list | tuple) and not hasattr(item, "_fields")):
            message = f"{place} is {_shorten(item)}, expected an id, a pair of id and score, or an object with an id"
            raise BadAnswer("not-results", message)
        self._example = item
        text = _find_text(item)
        document = self._find_key(item, text, place)
        return Found(document, self._find_score(item, place, distances=distances), text)

    def _find_key(self, item: object, text: str, place: str) -> str:
        """Return the id of a result; its text, normalised, if that is what is judged, or if it has no id."""
        if self.by_text:
            key = normalise_text(text)
            if not key:
                message = f"{place} has no text, and the judged documents are texts without ids"
                raise BadAnswer("no-text", message)
            return key
        try:
            document = self._find_id(item, place)
        except BadAnswer as error:
            usable = self.lenient and self.fields.id is None and error.code == "no-id"
            key = normalise_text(text) if usable else ""
            if not key:
                raise
            self.unnamed.append(error)
            return key
        self.named += 1
        return document

    def _find_id(self, item: object, place: str) -> str:
        named = self.fields.id
        value = _first(_list_holders(item, ABOUT), IDS) if named is None else find_path(item, named)
        if value is None:
            fields = list_fields(item)
            listed = name_some(fields, MOST_FIELDS) or "none"
            wanted = "no id" if named is None else f"nothing at `{named}`"
            message = f"{place} has {wanted}; its fields are {listed}"
            raise BadAnswer("no-id", message, hint=_suggest_field(fields))
        return self.read_id(value, place)

    def _find_score(self, item: object, place: str, *, distances: bool) -> float | None:
        if self.fields.score is not None:
            return read_score(find_path(item, self.fields.score), place)
        score = read_score(_first(_list_holders(item, ABOUT), SCORES), place)
        if score is not None:
            return score
        distance = read_score(_first(_list_holders(item, ABOUT), DISTANCES), place)
        return 0.0 - distance if distance is not None and distances else distance

    def _sort_scores(self, scores: Mapping[object, object]) -> list[Found]:
        """Return the results in a dict from documents to scores, highest first."""
        found = [
            Found(self.read_id(document, "a result"), read_score(score, f"document `{document}`"))
            for document, score in scores.items()
        ]
        return sorted(found, key=lambda result: -(result.score or 0.0))


_CHANGES = {
    "repeated": ("result", REPEATED),
    "partly scored": ("ranking", "had scores for some results only: ranks take their place"),
    "rising": ("ranking", "had numbers that rise along the list, as distances do: ranks take their place"),
    "unsorted": (
        "ranking",
        "had scores that do not fall along the list: ranks take their place; sort the lists if scores should decide",
    ),
}


def read_score(value: object, place: str) -> float | None:
    """Return a score, None if absent; raise `BadAnswer` unless it is a finite number."""
    if value is None:
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str | bool) or not math.isfinite(number):
        message = f"{place} has {_shorten(value)} as its score, expected a finite number"
        raise BadAnswer("bad-score", message)
    return number


# --- Runs


def make_run(answers: Mapping[object, object], *, name: str, fields: Fields = USUAL) -> Run:
    """Return the run of the answers to each query; raise `BadInput` with what is wrong with each.

    A document that is repeated counts where it comes first, and a note says so. Where no result has an id, and each a
    text, documents are identified by their texts: what is wrong then is for judgments that have ids.
    """
    reader, flat = AnswerReader(fields, lenient=True), Flat()
    queries = list(answers)
    problems = Problems(name, lambda row: Place(f"query `{queries[row]}`"))
    hints: list[str] = []
    unnamed: list[tuple[int, BadAnswer]] = []
    for row, (query, given) in enumerate(answers.items()):
        before = len(reader.unnamed)
        try:
            documents, scores = _read_query(reader, given)
        except BadAnswer as error:
            problems.add(error.code, row, error.message)
            hints += [] if error.hint is None else [error.hint]
            continue
        flat.query += [query] * len(documents)
        flat.document += documents
        flat.number += scores
        flat.empty += [] if documents else [query]
        unnamed += [(row, reason) for reason in reader.unnamed[before : before + 1]]
    hints += [reason.hint for _, reason in unnamed if reason.hint is not None]
    hint = next(iter(hints), None)
    lacking = problems if reader.named or len(problems) else Problems(name, problems.place)
    for row, reason in unnamed:
        lacking.add(reason.code, row, reason.message)
    problems.raise_if_any(hint=hint)
    flat.notes = tuple(reader.notes())
    run = replace(Run.from_flat(flat, name), texts=reader.texts)
    if not unnamed:
        return run
    note = "results have no ids: documents are identified by their texts, without case and punctuation"
    refusal = BadInput(name, list(lacking), counts=lacking.counts, hint=hint)
    return replace(run, texts={}, by_text=True, unnamed=refusal, notes=(*run.notes, note))


def _read_query(reader: AnswerReader, answer: object) -> tuple[Sequence[object], Sequence[object]]:
    """Return the documents and the scores of one query of a run."""
    if reader.fields.id is None and isinstance(answer, Mapping) and is_plain(answer):
        return list(answer), list(answer.values())  # its ties are for the protocol
    return reader.rank(reader.read(answer))


def split_batch(answers: object, queries: Iterable[object]) -> dict[object, object]:
    """Return answers by query that a batch has in the order of the queries, as those of Chroma, Milvus and Qdrant."""
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        message = f"`queries` is of type `{type(queries).__name__}`, expected a list of the ids of queries"
        raise WrongKind(message)
    names = list(queries)
    ids, responses = get_field(answers, "ids"), get_field(answers, "responses")
    split: list[object]
    if isinstance(answers, Mapping) and isinstance(ids, list) and is_nested(ids):
        columns = {
            name: column
            for name, column in answers.items()
            if isinstance(column, list) and len(column) == len(ids) and is_nested(column)
        }
        split = [{name: [column[row]] for name, column in columns.items()} for row in range(len(ids))]
    elif isinstance(responses, list):  # of `_msearch`
        split = responses
    elif isinstance(answers, list | tuple) and all(map(_is_answer, answers)):
        split = list(answers)
    else:
        split = [answers]
    if len(split) != len(names):
        message = (
            f"`queries` names {counted(len(names), 'query')}, and there are the results of {len(split):,}"
        )
        raise WrongKind(message)
    return dict(zip(names, split, strict=True))


def refuse_alone(answer: object, name: str) -> None:
    """Raise `WrongKind` for the answer to a single query where a run is expected."""
    if hasattr(type(answer), "columns") or (isinstance(answer, Mapping) and not is_marked(answer)):
        return  # a data frame names the query of each row, and a dict may be by query
    try:
        what = _name_answer(answer)
    except BadAnswer as error:
        what = f"an answer that {error.message}"
    if what:
        message = f"{name} is {what}, and does not say its query"
        hint = "give results by query: `{query: results, …}`; `judged.read_run(results, queries=ids)` takes a batch"
        raise WrongKind(message, hint=hint)


def _name_answer(answer: object) -> str:
    """Return what an answer is called that holds more than ids; empty for anything else."""
    if isinstance(answer, list | tuple):
        first = next(iter(answer), None)
        marks = ("page_content", "node", "content", "payload")
        wrapped = _is_answer(first) or any(get_field(first, mark) is not None for mark in marks)
        return f"a list of {type(first).__name__}" if wrapped and not isinstance(first, list) else ""
    opened = open_answer(answer)
    first = None if opened is None else next(iter(opened[1]), None)
    return "" if opened is None or is_id(first) else opened[0].name


# --- Lists of results


def _check_ready(answer: object) -> None:
    """Raise `BadAnswer` for nothing, for a coroutine, and for a generator that was consumed."""
    if answer is None:
        message = "is None, expected a list of results, which is empty if there are none"
        raise BadAnswer("not-results", message)
    if inspect.isawaitable(answer) or isinstance(answer, AsyncIterator):
        getattr(answer, "close", lambda: None)()  # else Python warns that it was never awaited
        message = f"is {describe_type(answer)} that was not awaited, expected the results"
        raise BadAnswer("not-awaited", message, hint="`await` it first")
    if inspect.isgenerator(answer) and inspect.getgeneratorstate(answer) == inspect.GEN_CLOSED:
        message = "is a generator that was consumed already, expected the results"
        raise BadAnswer("consumed", message, hint="keep results in a list: `list(…)`")


def _open(answer: object) -> tuple[list[object], bool]:
    """Return the results in an answer, and whether its distances are known to be such."""
    opened = open_answer(answer)
    if opened is not None:
        return list(opened[1]), opened[0].distances
    items = _list_items(answer)
    if not items or not all(map(_is_answer, items)):
        return items, False
    if len(items) > 1:
        raise refuse_several(len(items))
    return _open(items[0])  # a batch of one query, as Milvus and Qdrant return it


def _list_items(answer: object) -> list[object]:
    if isinstance(answer, AbstractSet):
        message = "is a set, which has no order, expected a list of results, best first"
        raise BadAnswer("not-results", message)
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        message = f"is {describe_type(answer)}, expected a list of results, best first"
        raise BadAnswer("not-results", message)
    items = list(answer.tolist() if isinstance(answer, np.ndarray) else answer)
    if not items and isinstance(answer, Iterator) and not inspect.isgenerator(answer):
        message = f"is {describe_type(answer)} that yields nothing, and may have been consumed"
        raise BadAnswer("consumed", message, hint="keep results in a list: `list(…)`")
    return items


def _is_answer(item: object) -> bool:
    """Return whether an item of a list is a list of results itself."""
    if isinstance(item, list):
        return not _is_pair(item) and not any(map(is_id, item))
    return not (is_id(item) or isinstance(item, tuple)) and open_answer(item) is not None


def _is_pair(item: object) -> TypeGuard[Sequence[Any]]:
    """Return whether an item is a document, or its id, with a score."""
    if not isinstance(item, tuple | list) or len(item) != 2 or hasattr(item, "_fields"):
        return False
    document, score = item
    numeric = score is None or isinstance(score, str) or hasattr(score, "__float__")
    return numeric and not isinstance(document, list | tuple | float)


def _name_kind(item: object) -> str:
    """Return what kind of result an item is, for comparison with the others."""
    if is_id(item):
        return "ids"
    if _is_pair(item):
        return "pairs of id and score" if is_id(item[0]) else f"pairs of {type(item[0]).__name__} and score"
    return type(item).__name__


# --- Fields of a result


def find_path(item: object, path: str) -> Any:
    """Return the value at a path such as `metadata.source`, of a result or of what it wraps; None if there is none.

    Metadata come first, because their names are the user's own.
    """
    for holder in reversed(list(_list_holders(item, (*ABOUT, *CONTENT)))):
        value = get_field(holder, path)
        if value is None and "." in path:
            value = holder
            for name in path.split("."):
                value = get_field(value, name)
        if value is not None:
            return value
    return None


def list_fields(item: object) -> list[str]:
    """Return the fields of a result, those of its metadata as paths; one that has no value says so."""
    names = []
    for name in _list_names(item):
        value = get_field(item, name)
        if name in {*ABOUT, *CONTENT} and not isinstance(value, str) and _list_names(value):
            names += [f"{name}.{inner}" for inner in list_fields(value)]
        else:
            names.append(f"{name} (None)" if value is None else name)
    return names


def _list_names(item: object) -> list[str]:
    if isinstance(item, Mapping):
        return [str(name) for name in item]
    declared = ("model_fields", "__dataclass_fields__", "__struct_fields__", "_fields")
    for fields in (getattr(type(item), name, None) for name in declared):
        if fields:
            return list(fields)
    return [name for name in getattr(item, "__dict__", ()) if not name.startswith("_")]


def _list_holders(item: object, names: Sequence[str]) -> Iterator[object]:
    """Yield what may hold a value: a result, the node or document that it wraps, and their metadata."""
    yield item
    for name in names:
        inner = get_field(item, name)
        if inner is None or isinstance(inner, str | list | tuple):
            continue
        if name in {"node", "document"}:
            yield from _list_holders(inner, names)
        else:
            yield inner


def _first(holders: Iterable[object], names: Sequence[str]) -> Any:
    values = (get_field(holder, name) for holder in holders for name in names)
    return next((value for value in values if value is not None), None)


def _find_text(item: object) -> str:
    holders = _list_holders(item, ("node", "document", *CONTENT))
    values = (get_field(holder, name) for holder in holders for name in TEXTS)
    return next((value for value in values if isinstance(value, str) and value), "")


def _suggest_field(fields: Sequence[str]) -> str:
    """Return the hint to name a field, with one of these that may hold ids."""
    usable = [name for name in fields if " " not in name]
    ends = ("source", "url", "path", "file_name", "file_path")
    likely = [name for name in usable if name.rpartition(".")[2] in ends]
    likely += [name for name in usable if name.endswith("id") and name != "id"]
    example = next(iter(likely), "metadata.source")
    return f"`id_field` names the field that has the ids of the judged documents, such as `{example}`"


def _shorten(value: object) -> str:
    shown = repr(value)
    return f"`{shown}`" if len(shown) <= 60 else f"`{shown[:59]}…`"
