"""Question sets: rows that list the documents of a query, and rows without ids, scores or grades, as plain rows.

People who build retrieval write `{"question": …, "expected_passages": […]}`, with ids, texts, or objects of both. Here
such rows become a row for each document: lists are unfolded, texts stand in for ids that are missing, a missing grade
is 1, and a list without scores is an order. What was assumed is said in notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from judged.errors import BadInput
from judged.problem import Problem, Problems
from judged.tables.columns import Column, holds_lists, is_list, shorten
from judged.tables.content import normalise_text
from judged.tables.nested import REPEATED, keep_order
from judged.tables.schema import ANSWERS, USUAL, Field, Match, Schema
from judged.wording import counted

Cell: TypeAlias = Any
"""A value in a row: a text, a number, a list of them, or an object with named values."""
WORDS = 5
"""Number of words from which on a value is surely a text."""
MOST_ID_WORDS = 2
"""Number of words up to which all values of a column are taken for ids."""
HIGHEST, MOST_DIGITS = 10, 2
"""The highest whole number that may be a grade in a column of an unknown name, and its digits."""
LISTS = "`['a' 'b']` is how NumPy prints a list, which cannot be read back with certainty"
"""Reason for refusing cells that `datasets` writes to CSV."""


@dataclass
class Plain:
    """Columns of plain rows, and what was assumed to make them."""

    columns: dict[str, Column]
    notes: tuple[str, ...] = ()
    by_text: bool = False
    """Whether documents are identified by their texts, normalised."""
    empty: tuple[object, ...] = ()
    """Queries that list no document."""


RESULT_NUMBERS = ("score", "_score", "sim", "similarity", "rank")
"""Names of columns of numbers that results have, and judgments do not."""
SCORED = re.compile("score|relevan|similar|distance")
"""What is part of the names of such columns, where they hold fractions."""
SEPARATORS = frozenset(";|,")
"""Characters that people put between ids in one cell."""
SEPARATED = 'expected a list as JSON writes it, such as ["a", "b"], or one id'


@dataclass
class _Items:
    """The documents that rows list, one after the other."""

    owner: list[int] = field(default_factory=list)
    """The row that each came from."""
    document: list[object] = field(default_factory=list)
    text: list[object] = field(default_factory=list)
    number: list[object] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    """Rows that list nothing."""

    def add(self, row: int, document: object, text: object, number: object) -> None:
        """Add a document of a row."""
        self.owner.append(row)
        self.document.append(document)
        self.text.append(text)
        self.number.append(number)

    def drop_repeats(self) -> int:
        """Leave out results that repeat an id of their list, and count them."""
        first: dict[tuple[int, object], int] = {}
        for row, (owner, document) in enumerate(zip(self.owner, self.document, strict=True)):
            first.setdefault((owner, row if document is None else str(document)), row)
        dropped = len(self.owner) - len(first)
        if dropped:
            self.owner = [self.owner[row] for row in first.values()]
            self.document = [self.document[row] for row in first.values()]
            self.text = [self.text[row] for row in first.values()]
            self.number = [self.number[row] for row in first.values()]
        return dropped


def to_plain(
    columns: Mapping[str, Column], match: Match, schema: Schema, problems: Problems, *, cells: bool = False
) -> Plain:
    """Return a row for each document, with a query, a document and a number; `cells` says that values are cells of text."""
    number = schema.number
    assert number is not None  # noqa: S101 - only judgments and runs come here
    taken = {name: column for name, column in columns.items() if not _is_absent(column, cells=cells)}
    names = {name: match.columns[name][0] for name in taken if name in match.columns}
    _need_identities(taken, schema, problems.subject)
    if cells:
        taken = {name: _parse_cells(column, names[name], schema, problems) for name, column in taken.items()}
    empty: tuple[object, ...] = ()
    notes: list[str] = []
    if _is_listed(taken, names, schema):
        taken, empty, repeated = _flatten_lists(taken, number, problems)
        notes += [f"{counted(repeated, 'result')} {REPEATED}"] if repeated else []
        if empty and number.name == "grade":
            notes.append(f"{counted(len(empty), 'query')} without a listed document: not judged")
    notes += _name_rows(taken, names, schema, problems, cells=cells)
    by_text = "document" not in taken
    if by_text:
        taken["document"] = _identify(taken["text"], problems)
    if number.name not in taken:
        taken[number.name] = [number.default] * len(taken["document"])
        notes.append(f"no column of grades: every listed document has grade {number.default:g}")
    if by_text:
        dropped = _drop_repeats(taken, number.name, problems)
        if dropped:
            verb = "result repeats" if dropped == 1 else "results repeat"
            notes.append(f"{dropped:,} {verb} a text of the same query: the first counts")
    return Plain(taken, tuple(notes), by_text, empty)


def _flatten_lists(
    taken: Mapping[str, Column], number: Field, problems: Problems
) -> tuple[dict[str, Column], tuple[object, ...], int]:
    """Return a row for each listed document, the queries that list none, and how many results were repeated."""
    items = _unfold(taken, number, problems)
    repeated = items.drop_repeats() if number.name == "score" else 0
    queries = _to_list(taken.get("query", taken.get("question")))
    listed = {"document": items.document, "text": items.text, number.name: items.number}
    flat: dict[str, Column] = {}
    for name, column in taken.items():
        if name not in listed:
            values = _to_list(column)
            flat[name] = [values[row] for row in items.owner]
    flat |= {name: values for name, values in listed.items() if any(value is not None for value in values)}
    if not items.owner:
        flat["document"] = []
    if number.name == "score":
        flat["score"] = _keep_orders(flat.get("score"), items.owner)
    problems.follow(items.owner)
    return flat, tuple(queries[row] for row in items.empty), repeated


def _name_rows(
    taken: dict[str, Column], names: Mapping[str, str], schema: Schema, problems: Problems, *, cells: bool
) -> Iterator[str]:
    """Let texts stand in for ids that are missing, and yield what was done."""
    if "document" in taken and "text" not in taken:
        column = names.get("document", "")
        if _read_either(taken["document"], column, schema, problems.subject) == "texts":
            taken["text"] = taken.pop("document")
            yield f"the values of `{column}` were taken as texts, not ids"
        elif cells and schema["document"].know(column) in schema["document"].either:
            _check_separators(taken["document"], column, problems)
    if "query" not in taken:
        taken["query"] = taken["question"]
        yield f"the text of a query (`{names['question']}`) is its id"
    if "document" not in taken:
        column = names.get("text", names.get("document", "text"))
        yield f"documents are identified by their texts (`{column}`), without case and punctuation"


def check_doubtful(match: Match, schema: Schema, take: Callable[[str], Column], subject: str) -> None:
    """Raise `BadInput` if the default of a missing column might hide one that is there under another name."""
    number = schema.number
    if not match.doubtful or number is None:
        return
    known = {name.strip().lower(): name for name in match.doubtful}
    named = [*RESULT_NUMBERS, *(name for name in known if SCORED.search(name))]
    listed = any(schema[name].is_list(columns[0]) for name, columns in match.columns.items())
    of_runs = [
        known[name]
        for name in dict.fromkeys(named)
        if name in known and (name in RESULT_NUMBERS or _has_fractions(take(known[name])))
    ]
    numeric = [name for name in match.doubtful if name not in of_runs and _may_be_grades(take(name))]
    if of_runs and not listed:
        verb = "belongs" if len(of_runs) == 1 else "belong"
        message = f"{_quote(of_runs)} {verb} to a run, and there is no column of grades"
        hint = (
            f"if it is the grade: {schema.name_columns({number.name: of_runs[0]})}; if every row is relevant: "
            f"{schema.name_columns({number.name: ''})}; in BEIR's layout, `score` is next to `corpus-id`"
        )
    elif numeric:
        message = f"there is no column of grades, and {_quote(numeric)} might be one"
        hint = (
            f"say which: {schema.name_columns({number.name: numeric[0]})}, or "
            f"{schema.name_columns({number.name: ''})} if every row is relevant"
        )
    else:
        return
    raise schema.error(subject, [Problem.error("no-grade", "columns", message)], hint=hint)


def check_whole(column: Column, name: str, problems: Problems) -> None:
    """Add every number with a fraction in a column of BEIR's grades, which are whole: a run's scores are not."""
    if isinstance(column, pa.Array | pa.ChunkedArray) and not pa.types.is_floating(column.type):
        return  # whole numbers, or nothing that is a number: said elsewhere
    values = _to_list(column)
    rows = [row for row, value in enumerate(values) if isinstance(value, float) and not value.is_integer()]
    expected = "expected a whole number, because next to `corpus-id` it is the grade in BEIR's layout"
    problems.add_rows("fraction", rows, lambda row: f"{name} is {values[row]:g}, {expected}")


def _need_identities(taken: Mapping[str, Column], schema: Schema, subject: str) -> None:
    """Raise `BadInput` if all ids are null, and so are the texts."""
    for name, other in (("query", "question"), ("document", "text")):
        if name not in taken and other not in taken:
            listed = ", ".join(schema[name].names[:USUAL])
            message = f"no {name} in any row"
            hint = (
                f"its column may be called {listed}, …, or be named: {schema.name_columns({name: 'COLUMN'})}"
            )
            raise schema.error(subject, [Problem.error("missing-column", "columns", message)], hint=hint)


def _is_listed(taken: Mapping[str, Column], names: Mapping[str, str], schema: Schema) -> bool:
    return any(holds_lists(taken[name]) for name in ("document", "text") if name in taken) or any(
        schema[name].is_list(names[name]) for name in taken if name in names
    )


def _unfold(taken: Mapping[str, Column], number: Field, problems: Problems) -> _Items:
    """Return the documents that every row lists."""
    items = _Items()
    columns = {name: _to_list(taken[name]) for name in ("document", "text", number.name) if name in taken}
    for row in range(len(next(iter(columns.values())))):
        values = {name: column[row] for name, column in columns.items()}
        before = len(items.owner)
        problem = _unfold_row(items, row, values, number)
        if problem:
            problems.add("bad-list", row, problem)
        elif len(items.owner) == before:
            items.empty.append(row)
    return items


def _unfold_row(items: _Items, row: int, values: Mapping[str, Cell], number: Field) -> str | None:
    """Add the documents of one row; return what is wrong with it, if anything is."""
    documents, texts, numbers = values.get("document"), values.get("text"), values.get(number.name)
    if isinstance(documents, Mapping) and not _is_object(documents):
        documents = [*documents.items()]
    lists = {
        name: _as_list(value)
        for name, value in (("document", documents), ("text", texts))
        if value is not None
    }
    if is_list(numbers):
        lists[number.name] = _as_list(numbers)
    lengths = {name: len(value) for name, value in lists.items()}
    if len(set(lengths.values())) > 1:
        got = " and ".join(f"{length:,} values of the {name}" for name, length in lengths.items())
        return f"lists {got}, expected as many"
    for at in range(max(lengths.values(), default=0)):
        inner = lists[number.name][at] if number.name in lists else numbers
        found = _read_item(
            lists["document"][at] if "document" in lists else None,
            lists["text"][at] if "text" in lists else None,
            inner,
            number,
        )
        if isinstance(found, str):
            return found
        items.add(row, *found)
    return None


def _read_item(document: Cell, text: Cell, number: Cell, field: Field) -> tuple[object, object, object] | str:
    """Return id, text and number of one listed document; or what is wrong with it."""
    thing = document if document is not None else text
    if isinstance(thing, Mapping):
        return _read_object(thing, number, field)
    if isinstance(thing, list | tuple) and len(thing) == 2 and not isinstance(thing[1], str | list | tuple):
        return (thing[0], None, thing[1]) if document is not None else (None, thing[0], thing[1])
    if thing is None or not isinstance(thing, str | int | np.integer):
        got = "null" if thing is None else f"a {type(thing).__name__}"
        return f"lists {got}, expected ids, texts or objects with them"
    return document, text, number


_ITEM_ID = (
    "id",
    "_id",
    "doc_id",
    "docid",
    "document_id",
    "passage_id",
    "chunk_id",
    "node_id",
    "pid",
    "docno",
    "document",
)
_ITEM_TEXT = ("text", "content", "page_content", "contents", "passage", "chunk", "context", "body")


def _is_object(value: Mapping[str, object]) -> bool:
    return any(name.lower() in {*_ITEM_ID, *_ITEM_TEXT} for name in value if isinstance(name, str))


def _read_object(
    thing: Mapping[Cell, Cell], number: Cell, field: Field
) -> tuple[object, object, object] | str:
    named = {key.lower(): value for key, value in thing.items() if isinstance(key, str) and value is not None}
    identity = next((named[name] for name in _ITEM_ID if name in named), None)
    text = next((named[name] for name in _ITEM_TEXT if name in named), None)
    if identity is None and text is None:
        keys = ", ".join(f"`{key}`" for key in thing) or "none"
        return f"lists an object with the keys {keys}, expected an id or a text"
    numbers = [name for name in field.names if name in named and name not in field.within]
    if len(numbers) > 1 and field.rival:
        return f"lists an object in which {_quote(numbers)} could each be the {field.name}, expected one"
    value = named[numbers[0]] if numbers else number
    return identity, text, float(value) if isinstance(value, str) and _is_number(value) else value


def _keep_orders(scores: Sequence[Cell] | None, owner: Sequence[int]) -> list[object]:
    """Return scores that keep the order of every list; values that are not numbers stay, and are reported later."""
    found: list[object] = []
    for _, rows in groupby(range(len(owner)), key=owner.__getitem__):
        own = [None if scores is None else scores[row] for row in rows]
        sound = all(
            value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in own
        )
        found += keep_order(own) if sound else own
    return found


def _read_either(column: Column, name: str, schema: Schema, subject: str) -> str:
    """Return whether the values of a column are ids or texts; raise `BadInput` if they look like both."""
    item = schema["document"]
    if item.column is not None or item.know(name) not in item.either:
        return "ids"
    counts = [len(value.split()) if isinstance(value, str) else 1 for value in _to_list(column)]
    if max(counts, default=0) <= MOST_ID_WORDS:
        return "ids"
    if 2 * sum(count >= WORDS for count in counts) >= len(counts):
        return "texts"
    example = next(
        value for value in _to_list(column) if isinstance(value, str) and len(value.split()) > MOST_ID_WORDS
    )
    message = f"`{name}` may hold ids or texts, such as {shorten(repr(example), 60)}"
    ids, texts = (schema.name_columns({field: name}) for field in ("document", "text"))
    hint = f"say which: {ids} for ids, {texts} for texts"
    raise BadInput(subject, [Problem.error("ids-or-texts", "columns", message)], hint=hint)


def _check_separators(column: Column, name: str, problems: Problems) -> None:
    """Add a problem for each id of a column of lists that may be several: the file does not say."""
    for row, value in enumerate(_to_list(column)):
        if isinstance(value, str) and _may_be_several(value):
            problems.add("bad-list", row, f"{name} is {shorten(repr(value), 60)}: {SEPARATED}")


def _identify(column: Column, problems: Problems) -> list[object]:
    """Return the normalised text of every document; one without words is a problem."""
    found: list[object] = []
    for row, text in enumerate(_to_list(column)):
        key = normalise_text(text) if isinstance(text, str) else ""
        if not key:
            got = "missing" if text is None else shorten(repr(text), 40)
            problems.add("no-words", row, f"text is {got}, expected words, because there is no id")
            key = f"\0{row}"  # unlike any other, so that it repeats none
        found.append(key)
    return found


def _drop_repeats(taken: dict[str, Column], number: str, problems: Problems) -> int:
    """Leave out rows that repeat a text of their query, and count them; one text with two grades stays, and is refused."""
    lists = {name: _to_list(column) for name, column in taken.items()}
    first: dict[tuple[object, ...], int] = {}
    for row, key in enumerate(zip(lists["query"], lists["document"], strict=True)):
        first.setdefault((*key, lists[number][row]) if number == "grade" else key, row)
    rows = sorted(first.values())
    dropped = len(lists["query"]) - len(rows)
    if dropped:
        problems.follow(rows)
        taken.update({name: [values[row] for row in rows] for name, values in lists.items()})
    return dropped


def _parse_cells(column: Column, name: str, schema: Schema, problems: Problems) -> Column:
    """Return the lists that cells hold as JSON or as Python prints them; other columns as they are."""
    listed = any(item.is_list(name) for item in schema.fields)
    values = _to_list(column)
    first = next((value for value in values if value), None)
    if not isinstance(first, str) or not (listed or (first.startswith("[") and first.endswith("]"))):
        return column
    ids = any(item.know(name) in item.lists and item.know(name) not in item.either for item in schema.fields)
    parsed: list[object] = []
    for row, value in enumerate(values):
        found = _parse_list(value, ids=ids) if isinstance(value, str) else value
        if isinstance(found, str):
            problems.add("bad-list", row, f"{name} is {shorten(repr(value), 60)}: {found}")
            found = ["\0"]
        parsed.append(found)
    return parsed


def _may_be_several(cell: str) -> bool:
    """Return whether a cell may hold several ids: with a separator between them, or blanks between words with digits."""
    words = cell.split()
    spaced = len(words) > 1 and all(any(map(str.isdigit, word)) for word in words)
    return spaced or bool(SEPARATORS.intersection(cell))


def _parse_list(cell: str, *, ids: bool = False) -> list[object] | str | None:
    """Return the list in a cell, which holds `ids` or texts; or what is wrong with it."""
    if not cell.strip():
        return None
    if not cell.lstrip().startswith("["):
        # one id with a separator in it, or several: the file does not say
        return SEPARATED if ids and _may_be_several(cell) else [cell]
    import ast
    import json
    import tokenize

    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            if _has_adjacent_texts(cell):
                return LISTS
            value = ast.literal_eval(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
            return "expected a list as JSON writes it"
    return value if isinstance(value, list) else "expected a list as JSON writes it"


def _has_adjacent_texts(cell: str) -> bool:
    """Return whether two texts have no comma between them, which Python would join to one."""
    import io
    import tokenize

    kinds = [
        token.type
        for token in tokenize.generate_tokens(io.StringIO(cell).readline)
        if token.type not in {tokenize.NL, tokenize.NEWLINE}
    ]
    return any(one == other == tokenize.STRING for one, other in pairwise(kinds))


def _is_absent(column: Column, *, cells: bool) -> bool:
    """Return whether there is no value in any row of a column that has rows."""
    if isinstance(column, pa.Array | pa.ChunkedArray) and not cells:
        return bool(len(column)) and column.null_count == len(column)
    values = _to_list(column)
    return bool(values) and all(value is None or (cells and value == "") for value in values)


def _may_be_grades(column: Column) -> bool:
    """Return whether a column holds small whole numbers, or words that say yes and no; but not 1 in every row."""
    values = {
        str(value).strip().lower().removesuffix(".0")
        for value in _to_list(column)
        if value is not None and not is_list(value)
    } - {""}
    numbers = all(
        len(value) <= MOST_DIGITS and value.isdecimal() and int(value) <= HIGHEST for value in values
    )
    return bool(values) and values != {"1"} and (numbers or values <= set(ANSWERS))


def _has_fractions(column: Column) -> bool:
    """Return whether a column holds numbers, of which some are not whole."""
    values = [str(value) for value in _to_list(column) if value is not None and not is_list(value)]
    filled = [value for value in values if value.strip()]
    return (
        bool(filled)
        and all(map(_is_number, filled))
        and any(not float(value).is_integer() for value in filled if isfinite(float(value)))
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_list(value: Cell) -> list[Cell]:
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    return [value] if isinstance(value, Mapping) or not is_list(value) else list(value)


def _to_list(column: Column) -> list[Cell]:
    return list(column) if isinstance(column, list | tuple) else list(column.to_pylist())


def _quote(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
