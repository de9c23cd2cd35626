"""Schemas: what each table's columns may be called, what they hold, and how they are laid out without names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from judged.errors import BadInput, UnknownName, Unusable
from judged.problem import Problem
from judged.registry import Registry
from judged.subject import NOTHING
from judged.wording import name_setting

FieldKind: TypeAlias = Literal["id", "number", "value", "grade", "text"]
"""An id is text or a whole number; a value is a finite number or missing; a grade is a whole number from 0 to 4."""

USUAL = 3
"""Number of names of a column that is missing that an error suggests."""

GRADES = range(5)
"""The gains that a result may have: 0 (unrelated) to 4 (dedicated and complete)."""


class Field(NamedTuple):
    """One column of a table."""

    name: str
    aliases: tuple[str, ...] = ()
    """Every name the column may have, in any of the spellings of `list_spellings`; the first one present is taken."""
    kind: FieldKind = "id"
    required: bool = True
    """Whether the column is required; an optional one may hold nulls."""
    ambiguous: bool = False
    """Whether a second column under another alias is worth a note."""
    needs: str | None = None
    """The field without which this one is ignored."""
    unless: tuple[str, ...] = ()
    """Fields whose presence makes this one ignored."""
    divisors: Mapping[str, float] = NOTHING
    """Divisor of the values, for aliases that name another unit."""
    codes: Mapping[str, Mapping[str, float]] = NOTHING
    """Numbers that the words of a column stand for, for aliases that hold words."""
    words: Mapping[str, float] = NOTHING
    """Numbers that words stand for, in a column that holds nothing else."""
    lists: tuple[str, ...] = ()
    """Further names, of columns that hold all values of a query: a list in each row."""
    either: tuple[str, ...] = ()
    """Of the names those whose values may be ids or texts."""
    bare: tuple[str, ...] = ()
    """Names that many tables use for their own rows: taken if no other name is there."""
    instead: str | None = None
    """The field that can take the place of this one if it is missing."""
    default: float | None = None
    """The value in every row if the column is missing."""
    within: Mapping[str, tuple[str, ...]] = NOTHING
    """For aliases that mean this field in one layout only, the columns of that layout, of which one must be there."""
    rival: bool = False
    """Whether a second column under another alias is refused."""
    spare: bool = False
    """Whether only columns are taken that no field before this one uses."""
    column: str | None = None
    """The column that the user names, in place of all aliases; empty: none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names the column may have."""
        return self.aliases or (self.name,)

    def find(self, columns: Mapping[str, str]) -> list[str]:
        """Return the columns that may be this field, the likeliest first; `columns` maps spellings to names."""
        if self.column is not None:
            return [self.column] if self.column in columns.values() else []
        names = (*self.names, *self.lists)
        found = dict.fromkeys(
            columns[name] for name in names if name in columns and self._is_within(name, columns)
        )
        return list(found)

    def know(self, column: str) -> str:
        """Return the alias that the name of a column is; its lower case if it is none."""
        spelt = list_spellings(column)
        return next((name for name in spelt if name in self.names or name in self.lists), spelt[0])

    def is_list(self, column: str) -> bool:
        """Return whether the name of a column says that each row holds a list."""
        return self.column is None and self.know(column) in self.lists

    def _is_within(self, name: str, columns: Mapping[str, str]) -> bool:
        return name not in self.within or any(other in columns for other in self.within[name])


class Match(NamedTuple):
    """Mapping from the columns of a source to fields."""

    columns: Mapping[str, tuple[str, ...]]
    """For each field that was found its column, followed by those under its other aliases."""
    others: tuple[str, ...] = ()
    """Columns that are not a field."""
    notes: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    """Columns that are not a field and might be one that has a default: to be looked at."""

    def first(self) -> dict[str, str]:
        """Return the one column of each field."""
        return {name: columns[0] for name, columns in self.columns.items()}


@dataclass(frozen=True)
class Schema:
    """The columns of one kind of table.

    >>> JUDGMENTS.match(["qid", "docno", "rel"], subject="qrels.csv").first()
    {'query': 'qid', 'document': 'docno', 'grade': 'rel'}
    """

    name: str
    fields: tuple[Field, ...]
    lines: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The fields of a line without a header, by its number of columns; "" is a column that is ignored."""
    exact: bool = False
    """Whether a line with more columns is an error, because the number of columns decides what they are."""
    tabs: bool = False
    """Whether lines without a header are separated by tabs; else by any white space, as TREC text is."""
    nested: tuple[str, ...] = ()
    """The fields of a dict of dicts, from the outermost keys to the values."""
    merge: bool = False
    """Whether rows may use different aliases of a field, as records written by hand do."""
    open: bool = False
    """Whether columns that are not a field are kept."""
    error: type[BadInput] = BadInput

    def __getitem__(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)

    @property
    def number(self) -> Field | None:
        """The grade of judgments, the score of a run."""
        return next((field for field in self.fields if field.kind == "number"), None)

    def is_plain(self, match: Match) -> bool:
        """Return whether the columns of a match need only be taken: none lists documents, none is missing."""
        if not self.has("question") or self.number is None:
            return True
        names = match.columns
        known = "query" in names and "document" in names and self.number.name in names
        return known and not any(
            self[name].is_list(columns[0]) or self[name].know(columns[0]) in self[name].either
            for name, columns in names.items()
        )

    def has(self, name: str) -> bool:
        """Return whether the table has a field of that name."""
        return any(field.name == name for field in self.fields)

    def match(self, columns: Sequence[str], *, subject: str) -> Match:
        """Return which column is which field; raise `BadInput` if a required one is missing."""
        columns_of = self.assign(columns, subject)
        missing = [field for field in self.fields if self._is_missing(field, columns_of)]
        if missing:
            raise self._missing(columns, missing, subject)
        for candidate in self.fields:
            lacking = candidate.needs is not None and not columns_of[candidate.needs]
            if lacking or any(columns_of[other] for other in candidate.unless):
                columns_of[candidate.name] = []
        matched = {name: tuple(names) for name, names in columns_of.items() if names}
        for name, names in matched.items():
            if sum(column == names[0] for column in columns) > 1:
                message = (
                    f"two columns are called `{names[0]}`, which is the {name}, expected different names"
                )
                raise self.error(subject, [Problem.error("repeated-column", "columns", message)])
        used = {names[0] for names in matched.values()}
        others = tuple(name for name in columns if name not in used)
        doubtful = any(
            field.default is not None and field.column is None and field.name not in matched
            for field in self.fields
        )
        return Match(matched, others, self._notes(matched), others if doubtful else ())

    def map(self, columns: Mapping[str, str]) -> Schema:
        """Return the schema with the columns that the user names in place of all aliases; "" says that there is none.

        >>> named = JUDGMENTS.map({"query": "frage", "document": "stelle"})
        >>> named.match(["stelle", "frage", "rel"], subject="qrels.csv").first()
        {'query': 'frage', 'document': 'stelle', 'grade': 'rel'}
        """
        known = [field.name for field in self.fields]
        for name in columns:
            if name not in known:
                kind, hint = f"field of {self.name}", f"known: {', '.join(known)}"
                raise UnknownName(kind, name, known, hint=hint)
        fields = tuple(
            field._replace(column=columns[field.name]) if field.name in columns else field
            for field in self.fields
        )
        return replace(self, fields=fields)

    @property
    def mapped(self) -> Mapping[str, str]:
        """The columns that the user named, by field."""
        return {field.name: field.column for field in self.fields if field.column is not None}

    def assign(self, columns: Sequence[str], subject: str) -> dict[str, list[str]]:
        """Return the columns of each field; raise `BadInput` for a named one that is not there, and for rivals."""
        by_name = by_spelling(columns)
        self._check_mapped(columns, subject)
        named = set(self.mapped.values())
        taken: set[str] = set()
        columns_of: dict[str, list[str]] = {}
        for item in self.fields:
            if item.column is not None:
                found = [item.column] if item.column else []
            else:
                found = [name for name in item.find(by_name) if name not in named]
            if item.spare and item.column is None:
                found = [name for name in found if name not in taken]
            if item.name == "question" and found and _is_topic(columns_of):
                raise self._rivals(self["query"], [*columns_of["query"][:1], *found[:1]], subject)
            if item.rival and len(found) > 1:
                raise self._rivals(item, found, subject)
            taken.update(found[:1])
            columns_of[item.name] = found
        return self._assign_bare(
            columns_of, {key: name for key, name in by_name.items() if name not in named}, subject
        )

    def _assign_bare(
        self, columns_of: dict[str, list[str]], by_name: Mapping[str, str], subject: str
    ) -> dict[str, list[str]]:
        """Add columns whose names many tables have for their own rows, such as `id`.

        Where a row lists the documents of its query, it is the query's; elsewhere it is the document's, unless a row
        without a grade, with the text of a question, may as well be a question.
        """
        listed = any(item.is_list(name) for item in self.fields for name in columns_of[item.name][:1])
        for item in self.fields:
            found = [by_name[name] for name in item.bare if name in by_name] if item.column is None else []
            if not found:
                continue
            first = columns_of[item.name][:1]
            if item.instead == "question" and listed and not _names_id(first):
                columns_of[item.name] = [*found, *first]
                columns_of["question"] = columns_of["question"] or first
            elif item.instead != "question" and not listed and not first:
                if self._may_be_asked(found[0], columns_of):
                    raise self._refuse_bare(found[0], subject)
                columns_of[item.name] = found
        return columns_of

    def _may_be_asked(self, column: str, columns_of: Mapping[str, Sequence[str]]) -> bool:
        """Return whether an id may be that of a question: in data sets that have no other one, and no grade."""
        graded = self.number is not None and columns_of[self.number.name]
        if (
            graded
            or _names_id(columns_of["query"][:1])
            or not (columns_of["query"] or columns_of["question"])
        ):
            return False
        return bool(columns_of["text"]) or column.strip().lower() == "id"

    def _refuse_bare(self, column: str, subject: str) -> BadInput:
        message = (
            f"`{column}` could be the id of the query or of the document, expected a name that says which"
        )
        query, document = (self.name_columns({name: column}) for name in ("query", "document"))
        hint = f"say which: {query}, or {document}"
        return self.error(subject, [Problem.error("two-fields", "columns", message)], hint=hint)

    def _is_missing(self, item: Field, columns_of: Mapping[str, list[str]]) -> bool:
        if not item.required or columns_of[item.name] or item.default is not None:
            return False
        if item.kind == "number" and any(
            other.is_list(name) for other in self.fields for name in columns_of[other.name][:1]
        ):
            return False  # a list is an order
        return item.instead is None or not columns_of[item.instead]

    def _check_mapped(self, columns: Sequence[str], subject: str) -> None:
        """Raise `BadInput` if a column that the user named is not there."""
        for item in self.fields:
            if item.column and item.column not in columns:
                message = (
                    f"`{item.column}` for the {item.name} is not there; there: {_quote(columns) or 'none'}"
                )
                problem = Problem.error("missing-column", "columns", message)
                only = name_setting(
                    f"--map {self.name}:{item.name}=…", f"map={{'{self.name}:{item.name}': …}}"
                )
                hint = f"names are compared exactly; {only} names columns of {self.name} only"
                raise self.error(subject, [problem], hint=hint)

    def _rivals(self, item: Field, found: Sequence[str], subject: str) -> BadInput:
        message = f"{_quote(found, ' and ')} could each be the {item.name}, expected one of them"
        hint = f"say which: {self.name_columns({item.name: found[0]})}"
        return self.error(subject, [Problem.error("two-columns", "columns", message)], hint=hint)

    def name_columns(self, columns: Mapping[str, str]) -> str:
        """Return how the caller names columns of this table."""
        option = ",".join(f"{name}={column}" for name, column in columns.items())
        argument = f"map={dict(columns)}"
        reader = f"judged.read_{self.name}(…, {argument})" if self.name in _READ else argument
        return name_setting(f"--map {option}", reader)

    def recognises(self, columns: Iterable[str], *, enough: int = 2) -> bool:
        """Return whether names look like those of this table: two of its fields, or its only one."""
        by_name = by_spelling(columns)
        enough = min(enough, len(self.fields))
        return sum(bool(field.find(by_name)) for field in self.fields) >= enough

    def _notes(self, matched: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        number = matched.get("" if self.number is None else self.number.name, ())[:1]
        others = {
            name: [other for other in names[1:] if other not in number] for name, names in matched.items()
        }
        return tuple(
            f"column `{names[0]}` was taken as the {name}, not {_quote(others[name])}"
            for name, names in matched.items()
            if others[name] and self[name].ambiguous
        )

    def _missing(self, columns: Sequence[str], missing: Sequence[Field], subject: str) -> BadInput:
        absent = " and no ".join(field.name for field in missing)
        message = f"{_quote(columns) or 'none'}; no {absent} among them"
        chosen = {field.name: _nearest(field, columns) or "COLUMN" for field in missing}
        usual = "; ".join(f"{field.name}: {_list_usual(field)}" for field in missing)
        which = "column it is" if len(missing) == 1 else "columns they are"
        hint = f"say which {which}: {self.name_columns(chosen)}; usual names are known ({usual})"
        if not self.recognises(columns, enough=1):
            hint += "; names of columns are expected in the first line"
        graded = self.number is not None and self.number.find(by_spelling(columns))
        if self.has("document") and not graded and not {"query", "document"}.isdisjoint(chosen):
            scores = name_setting("--scores", "judged.read_scores")
            hint += f"; values of measures by query, which a tool computed, are read with {scores}"
        if any(field.name == "score" for field in missing) and "rank" in by_spelling(columns):
            hint = "a rank is not a score: add a `score` column that decreases with rank, e.g. −rank"
        return self.error(subject, [Problem.error("missing-column", "columns", message)], hint=hint)


def _list_usual(item: Field) -> str:
    """Return the first names that a field may have; all of them where they say the unit."""
    names = ", ".join(item.names if item.divisors else item.names[:USUAL])
    return f"{names}, …" if len(item.names) > USUAL and not item.divisors else names


def _nearest(item: Field, columns: Sequence[str]) -> str:
    """Return the column whose name is nearest to one that a field may have; empty: none is near, or the name says a unit."""
    if item.divisors:
        return ""
    from difflib import get_close_matches

    names = (*item.names, *item.lists)
    near = [
        column for column in columns if get_close_matches(column.strip().lower(), names, n=1, cutoff=0.75)
    ]
    return near[0] if near else ""


_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[ -]+")
"""Where a name in camel case, or with blanks or hyphens, has underscores in another spelling."""


@lru_cache(maxsize=1024)
def list_spellings(column: str) -> tuple[str, ...]:
    """Return the ways to spell the name of a column: in lower case, and with underscores between its words.

    >>> list_spellings("docno"), list_spellings("Query ID"), list_spellings("expectedPassages")
    (('docno',), ('query id', 'query_id'), ('expectedpassages', 'expected_passages'))
    """
    bare = column.strip()
    return tuple(dict.fromkeys((bare.lower(), _WORD_ENDS.sub("_", bare).lower())))


def by_spelling(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns by the spellings of their names; of several that are equal, the first."""
    spelt = [(list_spellings(column), column) for column in columns]
    by_name: dict[str, str] = {}
    for names, column in spelt:
        by_name.setdefault(names[0], column)
    for names, column in spelt:  # a name in lower case is nearer than one with other words
        by_name.setdefault(names[-1], column)
    return by_name


def _quote(names: Iterable[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)


def _is_topic(columns_of: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the query is a column `topic`, which next to a question may be its category."""
    return [name.strip().lower() for name in columns_of.get("query", ())[:1]] == ["topic"]


def _names_id(columns: Sequence[str]) -> bool:
    """Return whether the name of the first column says that it is an id."""
    return bool(columns) and columns[0].strip().lower() not in _QUESTION


_READ = frozenset({"judgments", "run", "preferences", "labels", "timings"})
"""Tables that a function `judged.read_…` reads, which takes `map`."""
# Names that say "id" come first: next to them, a column `query` or `document` holds the text itself, and a column
# `docid` a number of PyTerrier's index.
QUERY_COLUMNS = ("query_id", "query-id", "qid", "q_id", "queryid", "question_id", "topic", "query")
_QUESTION = ("question", "query_text", "query text", "question_text", "user_input", "query")
"""Names of the text of a query; `query` is its id where no other column is."""
_DOCUMENT = (
    *("docno", "doc_id", "doc id", "document_id", "corpus-id", "corpus_id", "passage_id", "pid"),
    *("product_id", "chunk_id", "node_id", "docid", "did", "document", "doc"),
)
_EXPECTED = ("expected", "relevant", "reference", "gold", "positive")
_THINGS = ("passage", "document", "doc", "chunk", "source", "context")
_EXPECTED_ID = tuple(f"{word}_{thing}_id" for word in _EXPECTED for thing in _THINGS)
_EXPECTED_IDS = (
    *(f"{name}s" for name in _EXPECTED_ID),
    *(f"{word}_ids" for word in _EXPECTED),
    *(f"{thing}_ids" for thing in ("document", "doc", "passage", "chunk")),
    *("ratings", "judgments", "relevant", "relevant_docs", "expected"),
)
_EXPECTED_EITHER = tuple(
    f"{word}_{thing}s"
    for word in _EXPECTED
    for thing in _THINGS[:-1]
    if f"{word}_{thing}s" != "relevant_docs"
)
"""Names of lists of ids, of texts, or of objects with either."""
_RETRIEVED_IDS = (
    *(f"retrieved_{thing}_ids" for thing in _THINGS),
    *("retrieved_ids", "retrieved", "retrieved_docs", "ctxs", "hits"),
)
_RETRIEVED_EITHER = ("retrieved_passages", "retrieved_documents", "retrieved_chunks", "retrieved_sources")
_TEXT = ("text", "passage", "contents", "content", "context", "chunk", "page_content")
BEIR_COLUMNS = ("corpus-id", "corpus_id")
"""Names of the document in BEIR's judgments, whose grade is called `score`."""
_ESCI = {
    "e": 1.0,
    "s": 0.1,
    "c": 0.01,
    "i": 0.0,
    "exact": 1.0,
    "substitute": 0.1,
    "complement": 0.01,
    "irrelevant": 0.0,
}
"""The gains of the labels of Amazon's shopping queries, as their authors compute nDCG."""
ANSWERS = {
    **dict.fromkeys(("true", "yes", "y", "t", "relevant"), 1.0),
    **dict.fromkeys(("false", "no", "n", "f", "irrelevant", "not relevant", "non-relevant"), 0.0),
}
"""The grades of the words by which people say whether a document is relevant."""
# `score` last: BEIR calls grades so, and other tables have both
_GRADE = ("grade", "relevance", "rel", "label", "judgment", "judgement", "rating", "score")
_QUERY_FIELD = Field("query", QUERY_COLUMNS, ambiguous=True)
_ASKED_FIELD = _QUERY_FIELD._replace(bare=("_id", "id"), instead="question")
_DOCUMENT_FIELD = Field("document", _DOCUMENT, ambiguous=True)
_QUESTION_FIELD = Field("question", _QUESTION, "text", required=False, spare=True)
_TEXT_FIELD = Field("text", _TEXT, "text", required=False, spare=True)
_LISTED = _DOCUMENT_FIELD._replace(bare=("_id", "id"), instead="text")
ITERATION = "iteration"
"""Name in ir_measures and ir_datasets of the second column of TREC judgments, which may hold intents."""

JUDGMENTS = Schema(
    "judgments",
    (
        _ASKED_FIELD,
        _LISTED._replace(
            aliases=(
                *_DOCUMENT,
                *_EXPECTED_ID,
                "expected_id",
                *(name.removesuffix("s") for name in _EXPECTED_EITHER),
            ),
            lists=(*_EXPECTED_IDS, *_EXPECTED_EITHER),
            either=(
                *_EXPECTED_EITHER,
                *(name.removesuffix("s") for name in _EXPECTED_EITHER),
                "relevant",
                "expected",
            ),
        ),
        Field(
            "grade",
            (*_GRADE[:-1], "gain", "is_relevant", "relevant", "esci_label", "score"),
            "number",
            default=1.0,
            within={"score": BEIR_COLUMNS},
            codes={"esci_label": _ESCI},
            words=ANSWERS,
            rival=True,
            spare=True,
        ),
        Field("target", required=False),
        Field("intent", ("intent", "intent_id", "subtopic", "subtopic_id"), required=False),
        Field("weight", ("intent_weight", "intent_probability"), "number", required=False, needs="intent"),
        _QUESTION_FIELD,
        _TEXT_FIELD._replace(
            aliases=(*_TEXT, *(f"{word}_{name}" for word in _EXPECTED for name in ("context", "text"))),
            lists=tuple(f"{word}_{name}s" for word in _EXPECTED for name in ("context", "text")),
        ),
    ),
    lines={4: ("query", "", "document", "grade")},
    nested=("query", "document", "grade"),
)
JUDGMENTS_BY_ITERATION = replace(
    JUDGMENTS,
    fields=(*JUDGMENTS.fields, Field(ITERATION, required=False, unless=("target", "intent"))),
    lines={4: ("query", "intent", "document", "grade")},
)
"""Judgments whose column `iteration`, or the second one of TREC text, holds intents."""
RUN = Schema(
    "run",
    (
        _ASKED_FIELD,
        _LISTED._replace(
            lists=(*_RETRIEVED_IDS, *_RETRIEVED_EITHER),
            either=(*_RETRIEVED_EITHER, "retrieved", "retrieved_docs"),
        ),
        Field("score", ("score", "_score", "sim", "similarity"), "number", ambiguous=True),
        _QUESTION_FIELD,
        _TEXT_FIELD._replace(lists=("retrieved_contexts", "retrieved_texts", "contexts")),
    ),
    lines={6: ("query", "", "document", "", "score", "")},
    nested=("query", "document", "score"),
)
RUNS = replace(
    RUN,
    fields=(*RUN.fields, Field("system", ("system", "run", "run_id"), required=False)),
)
"""Runs of several systems in one table; without the column it is one run."""
PREFERENCES = Schema(
    "preferences",
    (
        _QUERY_FIELD,
        Field("group", ("group", "judge", "assessor", "annotator", "user", "ujg")),
        _DOCUMENT_FIELD,
        Field("level", ("level", "rel_level", *_GRADE), "number"),
        Field("subgroup", ("subgroup", "sub_group", "ujsubg"), required=False),
    ),
    exact=True,
    lines={
        4: ("query", "group", "document", "level"),
        5: ("query", "group", "subgroup", "document", "level"),
    },
    nested=("query", "group", "document", "level"),
)
LABELS = Schema(
    "labels",
    (
        Field("gain", ("gain", *_GRADE), "grade"),
        Field("task", ("task", *QUERY_COLUMNS), required=False),
        Field("id", ("id", *_DOCUMENT), required=False),
        Field("tool", kind="text", required=False),
        Field("domain", kind="text", required=False),
        Field("domain_id", required=False),
        Field("url", ("url", "link", "href"), "text", required=False),
        Field("title", kind="text", required=False),
        Field("snippet", ("snippet", "text"), "text", required=False),
        Field(
            "labeller", ("labeller", "labeler", "annotator", "judge", "model"), kind="text", required=False
        ),
    ),
    lines={4: ("task", "", "id", "gain")},
    nested=("task", "id", "gain"),
    merge=True,
)
TIMINGS = Schema(
    "timings",
    (
        Field("system", ("system", "run", "model", "variant", "name")),
        Field(
            "seconds",
            (
                *("milliseconds", "latency_ms", "time_ms", "total_ms", "ms"),
                *("seconds", "latency_s", "time_s", "total_s", "s"),
            ),
            kind="number",
            divisors=dict.fromkeys(("milliseconds", "latency_ms", "time_ms", "total_ms", "ms"), 1000.0),
        ),
        Field("query", QUERY_COLUMNS, required=False),
        Field("stage", ("stage", "step", "component"), required=False),
    ),
    nested=("system", "seconds"),
    error=Unusable,
)
GROUPS = Schema(
    "groups",
    (
        Field("document", _DOCUMENT),
        Field("group", ("group", "category", "class", "provider"), required=False),
        Field("share", ("share", "weight", "fraction"), "value", required=False),
    ),
)
TARGETS = Schema(
    "targets",
    (
        Field("group", ("group", "category", "class", "provider")),
        Field("share", ("share", "target", "weight"), "value"),
    ),
)
ATTRIBUTES = Schema(
    "attributes",
    (Field("query", ("query_id", "query-id", "qid", "q_id", "query", "topic")),),
    nested=("query", "attributes"),
    open=True,
    error=Unusable,
)
"""Attributes of queries, by which they are sliced; a `topic` next to another name of the query is an attribute."""
QUERIES = Schema(
    "queries",
    (
        # `query` is the text here, unless there is a question
        Field(
            "id",
            ("id", "_id", "task", *QUERY_COLUMNS),
            instead="text",
            within={"query": ("question", "query_text", "user_input")},
        ),
        Field("text", ("text", "query", *_QUESTION[:-1], "title"), "text", spare=True),
    ),
    lines={2: ("id", "text")},
    tabs=True,
    nested=("id", "text"),
    merge=True,
    error=Unusable,
)
DOCUMENTS = Schema(
    "documents",
    (
        # without `document` and `doc`, which may be the text
        Field("id", ("id", "_id", *_DOCUMENT[:-2])),
        Field("title", kind="text", required=False),
        Field(
            "text",
            ("text", "contents", "content", "body", "passage", "snippet", "abstract"),
            "text",
            required=False,
        ),
    ),
    lines={2: ("id", "text"), 3: ("id", "title", "text"), 4: ("id", "", "title", "text")},
    tabs=True,
    nested=("id", "text"),
    merge=True,
    error=Unusable,
)
"""Texts of documents; four columns without a header are the documents of MS MARCO."""
SCORES = Schema(
    "scores",
    (
        Field("query", (*QUERY_COLUMNS, "session", "task", "request")),
        Field("measure", ("measure", "metric")),
        Field("value", kind="value"),
        Field("run", ("run", "system"), required=False),
        Field("text", kind="text", required=False),
        Field("left_out", kind="value", required=False),
        Field("written", kind="text", required=False),
    ),
    nested=("query", "measure", "value"),
)
"""Values of measures for every query (or session); a measure that is text has `text` and no value.

`left_out` is 1 for a value that does not count in the mean and in comparisons; `written` is the name of the measure to show.
"""
UNIT_COLUMNS = ("topic", "session", "task", "request")
"""Names of the query of scores where no other column names it: next to one, several queries may share a topic."""
ATTEMPT_COLUMNS = ("attempt", "epoch", "seed", "trial", "repetition", "repetition_number")
_ATTEMPT = Field("attempt", ATTEMPT_COLUMNS, required=False)
_SCORED_QUESTION = Field(
    "text", ("question", "user_input", "query_text", "input", "prompt", "query"), "text", required=False
)
_SYSTEM = Field("system", ("system", "run"), required=False)
LONG_SCORES = Schema(
    "long-scores",
    (
        Field(
            "query",
            (
                *("query_id", "query-id", "qid", "q_id", "question_id", "example_id", "sample_id"),
                *("id", "_id", "task_id", "instance_id", "item_id", "prompt_id", "case_id", "test_id"),
                "query",
            ),
            required=False,
        ),
        _SCORED_QUESTION,
        Field("measure", ("measure", "metric")),
        Field("value", ("value", "score"), "value", ambiguous=True),
        _SYSTEM,
        _ATTEMPT,
        Field("left_out", kind="value", required=False),
    ),
    open=True,
)
"""Scores of any tool, a row for each value; a query is known by its id, or by its text."""
WIDE_SCORES = Schema(
    "wide-scores",
    (LONG_SCORES["query"], _SCORED_QUESTION, _SYSTEM, _ATTEMPT),
    nested=("query", "scores"),
    open=True,
)
"""Scores of any tool, a row for each query; columns of numbers are measures."""
SCHEMAS: Registry[Schema] = Registry("table", of_subject=lambda subject: subject.tables)
"""Every schema by name."""
for _schema in (
    JUDGMENTS,
    RUN,
    PREFERENCES,
    LABELS,
    TIMINGS,
    ATTRIBUTES,
    QUERIES,
    DOCUMENTS,
    SCORES,
    LONG_SCORES,
    WIDE_SCORES,
):
    SCHEMAS.add(_schema.name, _schema)
