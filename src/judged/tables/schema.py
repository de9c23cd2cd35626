"""Schemas: what each table's columns may be called, what they hold, and how they are laid out without names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from judged.errors import BadInput, Unusable
from judged.problem import Problem
from judged.registry import Registry

FieldKind: TypeAlias = Literal["id", "number", "value", "grade", "text"]
"""An id is text or a whole number; a value is a finite number or missing; a grade is a whole number from 0 to 4."""


GRADES = range(5)
"""The gains that a result may have: 0 (unrelated) to 4 (dedicated and complete)."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a table."""

    name: str
    aliases: tuple[str, ...] = ()
    """Every name the column may have, without regard to case; the first one present is taken."""
    kind: FieldKind = "id"
    required: bool = True
    """Whether the column is required; an optional one may hold nulls."""
    ambiguous: bool = False
    """Whether a second column under another alias is worth a note."""
    needs: str | None = None
    """The field without which this one is ignored."""
    unless: tuple[str, ...] = ()
    """Fields whose presence makes this one ignored."""
    divisors: Mapping[str, float] = field(default_factory=dict)
    """Divisor of the values, for aliases that name another unit."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names the column may have."""
        return self.aliases or (self.name,)

    def find(self, columns: Mapping[str, str]) -> list[str]:
        """Return the columns that may be this field, the likeliest first; `columns` maps lower case to names."""
        return [columns[name] for name in self.names if name in columns]


@dataclass(frozen=True, slots=True)
class Match:
    """Mapping from the columns of a source to fields."""

    columns: Mapping[str, tuple[str, ...]]
    """For each field that was found its column, followed by those under its other aliases."""
    others: tuple[str, ...] = ()
    """Columns that are not a field."""
    notes: tuple[str, ...] = ()

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

    def match(self, columns: Sequence[str], *, subject: str) -> Match:
        """Return which column is which field; raise `BadInput` if a required one is missing."""
        by_name = _by_lower_case(columns)
        columns_of = {field.name: field.find(by_name) for field in self.fields}
        missing = [field for field in self.fields if field.required and not columns_of[field.name]]
        if missing:
            raise self._missing(columns, missing, subject)
        for candidate in self.fields:
            lacking = candidate.needs is not None and not columns_of[candidate.needs]
            if lacking or any(columns_of[other] for other in candidate.unless):
                columns_of[candidate.name] = []
        matched = {name: tuple(names) for name, names in columns_of.items() if names}
        used = {names[0] for names in matched.values()}
        return Match(matched, tuple(name for name in columns if name not in used), self._notes(matched))

    def recognises(self, columns: Iterable[str], *, enough: int = 2) -> bool:
        """Return whether names look like those of this table: two of its fields, or its only one."""
        by_name = _by_lower_case(columns)
        enough = min(enough, len(self.fields))
        return sum(bool(field.find(by_name)) for field in self.fields) >= enough

    def _notes(self, matched: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(
            f"column `{names[0]}` was taken as the {name}, not {_quote(names[1:])}"
            for name, names in matched.items()
            if len(names) > 1 and self[name].ambiguous
        )

    def _missing(self, columns: Sequence[str], missing: Sequence[Field], subject: str) -> BadInput:
        absent = " and no ".join(field.name for field in missing)
        message = f"{_quote(columns) or 'none'}; no {absent} among them"
        hint = "; ".join(f"name the {field.name} one of {', '.join(field.names)}" for field in missing)
        if any(field.name == "score" for field in missing) and "rank" in _by_lower_case(columns):
            hint = "a rank is not a score: add a `score` column that decreases with rank, e.g. −rank"
        return self.error(subject, [Problem.error("missing-column", "columns", message)], hint=hint)


def _by_lower_case(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns by their names in lower case; of several that are equal, the first."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(column.strip().lower(), column)
    return by_name


def _quote(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# Names that say "id" come first: next to them, a column `query` or `document` holds the text itself, and a column
# `docid` a number of PyTerrier's index.
QUERY_COLUMNS = ("query_id", "query-id", "qid", "q_id", "topic", "query")
_DOCUMENT = (
    *("docno", "doc_id", "document_id", "corpus-id", "corpus_id", "passage_id", "pid"),
    *("docid", "did", "document", "doc"),
)
# `score` last: BEIR calls grades so, and other tables have both
_GRADE = ("grade", "relevance", "rel", "label", "judgment", "score")
_QUERY_FIELD = Field("query", QUERY_COLUMNS, ambiguous=True)
_DOCUMENT_FIELD = Field("document", _DOCUMENT, ambiguous=True)
ITERATION = "iteration"
"""Name in ir_measures and ir_datasets of the second column of TREC judgments, which may hold intents."""

JUDGMENTS = Schema(
    "judgments",
    (
        _QUERY_FIELD,
        _DOCUMENT_FIELD,
        Field("grade", _GRADE, "number"),
        Field("target", required=False),
        Field("intent", ("intent", "intent_id", "subtopic", "subtopic_id"), required=False),
        Field("weight", ("intent_weight", "intent_probability"), "number", required=False, needs="intent"),
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
        _QUERY_FIELD,
        _DOCUMENT_FIELD,
        Field("score", ("score", "sim", "similarity"), "number", ambiguous=True),
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
        # without `query`, which is the text here
        Field("id", ("id", "_id", "task", *QUERY_COLUMNS[:-1])),
        Field("text", ("text", "query", "question", "title"), "text"),
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
    ),
    nested=("query", "measure", "value"),
)
"""Values of measures for every query (or session); a measure that is text has `text` and no value.

`left_out` is 1 for a value that does not count in the mean and in comparisons.
"""
SCHEMAS: Registry[Schema] = Registry("table", of_subject=lambda subject: subject.tables)
"""Every schema by name."""
for _schema in (JUDGMENTS, RUN, PREFERENCES, LABELS, TIMINGS, ATTRIBUTES, QUERIES, DOCUMENTS, SCORES):
    SCHEMAS.add(_schema.name, _schema)
