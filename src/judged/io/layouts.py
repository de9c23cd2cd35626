"""Layouts: JSON objects in which other tools keep judgments, runs and texts, as rows that schemas read.

A layout is known by its keys. Its rows list the documents of a query, so that `judged.io.question_sets` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from judged.errors import BadInput, Unreadable
from judged.io.answer_shapes import open_hits
from judged.problem import Problem
from judged.registry import Registry
from judged.tables.schema import Schema

Value: TypeAlias = Mapping[str, Any]
Row: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Layout:
    """One way in which a tool lays out an object: how it is known, and the rows of every table that it holds."""

    name: str
    title: str
    """Its name in messages, with an article."""
    keys: tuple[str, ...]
    """The keys of which an object in this layout has one."""
    recognises: Callable[[Value], bool]
    tables: Mapping[str, Callable[[Value, str], Iterator[Row]]]
    """For each table that it holds, the function that yields its rows; it receives the name of the file as well."""
    note: str = ""
    """A remark on how it is read."""


def find_layout(value: object, label: str) -> Layout | None:
    """Return the layout of an object; None if it has none; raise `Unreadable` if it may have several."""
    if not isinstance(value, Mapping) or value.keys().isdisjoint(_KEYS):
        return None
    known = [LAYOUTS[name] for name in LAYOUTS if LAYOUTS[name].recognises(value)]
    if len(known) > 1:
        titles = " or ".join(layout.title for layout in known)
        msg = f"{label} may be {titles}"
        raise Unreadable(msg, hint="remove the keys of the other one")
    return known[0] if known else None


def list_rows(layout: Layout, value: Value, schema: Schema, label: str, name: str) -> list[Row]:
    """Return the rows of a table; raise `Unreadable` if the layout does not hold it, or is not as it should be."""
    if schema.name not in layout.tables:
        held = " and ".join(layout.tables)
        msg = f"{label} is {layout.title}, which holds {held}, expected {schema.name}"
        raise Unreadable(msg)
    try:
        return list(layout.tables[schema.name](value, name))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        reason = f"the key `{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
        message = f"looks like {layout.title}, and cannot be read as one: {reason}"
        raise schema.error(label, [Problem.error("bad-layout", label, message)]) from None


def _is_mapping(value: Value, *keys: str) -> bool:
    return all(isinstance(value.get(key), Mapping) for key in keys)


def _has_list(value: Value, key: str, *inner: str) -> bool:
    """Return whether a key holds a list of objects that have one of the inner keys."""
    rows = value.get(key)
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, Mapping) and any(name in row for name in inner) for row in rows)
    )


def _list_expected(value: Value, _label: str) -> Iterator[Row]:
    """Yield each query of a QA dataset with the documents that answer it, and their texts."""
    texts = value.get("corpus") or {}
    for query, documents in value["relevant_docs"].items():
        grades = documents if isinstance(documents, Mapping) else dict.fromkeys(documents)
        listed = [
            {"id": document, "text": _to_text(texts.get(document)), "grade": grade}
            for document, grade in grades.items()
        ]
        yield {
            "query_id": query,
            "question": _to_text((value.get("queries") or {}).get(query)),
            "relevant": listed,
        }


def _list_queries(value: Value, _label: str) -> Iterator[Row]:
    for query, text in (value.get("queries") or {}).items():
        yield {"id": query, "text": _to_text(text)}


def _list_corpus(value: Value, _label: str) -> Iterator[Row]:
    for document, text in (value.get("corpus") or {}).items():
        title = text.get("title") if isinstance(text, Mapping) else None
        yield {"id": document, "title": title, "text": _to_text(text)}


def _to_text(text: object) -> object:
    return text.get("text") if isinstance(text, Mapping) else text


def _list_rated_requests(value: Value, _label: str) -> Iterator[Row]:
    """Yield the requests of `_rank_eval` with their rated documents."""
    for request in value["requests"]:
        yield {"query_id": request["id"], "relevant": request["ratings"]}


def _list_evaluated_hits(value: Value, _label: str) -> Iterator[Row]:
    """Yield the hits of each request in the response of `_rank_eval`."""
    for query, details in value["details"].items():
        yield {"query_id": query, "hits": [hit["hit"] for hit in details["hits"]]}


def _list_hits(value: Value, label: str) -> Iterator[Row]:
    yield {"query_id": label, "hits": open_hits(value)}


def _list_responses(value: Value, _label: str) -> Iterator[Row]:
    """Yield the hits of every response of `_msearch`, which are known by their positions only."""
    for number, response in enumerate(value["responses"]):
        if "hits" not in response:
            reason = f"response {number} holds an error, expected hits"
            raise ValueError(reason)
        yield {"query_id": str(number), "hits": open_hits(response)}


def _list_judgment_ratings(value: Value, _label: str) -> Iterator[Row]:
    """Yield the queries of a judgment list of OpenSearch, as it is imported or as it is stored."""
    stored = value["hits"]["hits"] if "hits" in value else [{"_source": value}]
    for hit in stored:
        for row in hit["_source"]["judgmentRatings"]:
            yield {"query": row["query"], "relevant": [_to_rated(rating) for rating in row["ratings"]]}


def _to_rated(rating: Value) -> Row:
    return {"id": rating["docId"], "rating": float(rating["rating"])}


def _list_case(value: Value, _label: str) -> Iterator[Row]:
    """Yield the queries of a Quepid case with their ratings by document."""
    for query in value["queries"]:
        rated = query["ratings"] or {}
        listed = [{"id": document, "rating": grade} for document, grade in rated.items() if grade is not None]
        yield {"query": query["query"] if "query" in query else query["query_text"], "relevant": listed}


def _list_rre(value: Value, _label: str) -> Iterator[Row]:
    """Yield the queries of a Rated Ranking Evaluator file: documents by grade, or grades by document."""
    for query in value["queries"]:
        (text,) = query["placeholders"].values()
        listed: list[Row] = []
        for key, inner in query["relevant_documents"].items():
            if isinstance(inner, Mapping):
                listed.append({"id": key, "rating": float(inner["gain"])})
            else:
                listed += [{"id": document, "rating": float(key)} for document in inner]
        yield {"query": text, "relevant": listed}


def _list_book(value: Value, label: str) -> Iterator[Row]:
    """Yield the rated pairs of a Quepid book; several judges must agree on a pair."""
    for pair in value["query_doc_pairs"]:
        ratings = {item["rating"] for item in pair["judgements"] if item.get("rating") is not None}
        if len(ratings) > 1:
            found = ", ".join(f"{rating:g}" for rating in sorted(ratings))
            message = f"document `{pair['doc_id']}` has the ratings {found}, expected one"
            hint = "several judges differ: `judged.read_preferences` reads grades by judge"
            where = f"query `{pair['query_text']}`"
            raise BadInput(label, [Problem.error("several-ratings", where, message)], hint=hint)
        listed = [{"id": pair["doc_id"], "rating": rating} for rating in ratings]
        yield {"query": pair["query_text"], "relevant": listed}


def _is_search(value: Value) -> bool:
    return (
        _is_mapping(value, "hits")
        and isinstance(value["hits"].get("hits"), list)
        and not _is_judgment_list(value)
    )


def _is_judgment_list(value: Value) -> bool:
    if isinstance(value.get("judgmentRatings"), list):
        return True
    hits = value["hits"].get("hits") if _is_mapping(value, "hits") else None
    return (
        bool(hits)
        and isinstance(hits, list)
        and all(isinstance(hit, Mapping) and "judgmentRatings" in (hit.get("_source") or {}) for hit in hits)
    )


LAYOUTS: Registry[Layout] = Registry("layout")
"""Every layout by name."""
for _layout in (
    Layout(
        "qa-dataset",
        "a QA dataset (`queries`, `corpus`, `relevant_docs`)",
        ("relevant_docs",),
        lambda value: _is_mapping(value, "relevant_docs"),
        {"judgments": _list_expected, "queries": _list_queries, "documents": _list_corpus},
    ),
    Layout(
        "rank-eval",
        "a request of `_rank_eval`",
        ("requests",),
        lambda value: _has_list(value, "requests", "ratings"),
        {"judgments": _list_rated_requests},
    ),
    Layout(
        "rank-eval-response",
        "a response of `_rank_eval`",
        ("metric_score",),
        lambda value: _is_mapping(value, "details") and "metric_score" in value,
        {"run": _list_evaluated_hits},
    ),
    Layout(
        "search-response",
        "a search response",
        ("hits",),
        _is_search,
        {"run": _list_hits},
        note="a search response does not name its query: it is called as the file",
    ),
    Layout(
        "msearch-response",
        "a response of `_msearch`",
        ("responses",),
        lambda value: _has_list(value, "responses", "hits", "error"),
        {"run": _list_responses},
        note="the responses of `_msearch` do not name their queries: these are called 0, 1, … by position",
    ),
    Layout(
        "judgment-list",
        "a judgment list of OpenSearch",
        ("judgmentRatings", "hits"),
        _is_judgment_list,
        {"judgments": _list_judgment_ratings},
    ),
    Layout(
        "quepid-case",
        "the ratings of a Quepid case",
        ("queries",),
        lambda value: _has_list(value, "queries", "ratings"),
        {"judgments": _list_case},
    ),
    Layout(
        "rre",
        "ratings of the Rated Ranking Evaluator",
        ("queries",),
        lambda value: _has_list(value, "queries", "relevant_documents"),
        {"judgments": _list_rre},
    ),
    Layout(
        "quepid-book",
        "a Quepid book",
        ("query_doc_pairs",),
        lambda value: _has_list(value, "query_doc_pairs", "judgements"),
        {"judgments": _list_book},
    ),
):
    LAYOUTS.add(_layout.name, _layout)
_KEYS = frozenset(key for name in LAYOUTS for key in LAYOUTS[name].keys)
"""Keys without which an object has no layout: a dict from queries to results is passed over at once."""
