"""From inputs to ranked lists of grades, by a protocol; and on which of its conventions a result depends."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from conformance.exact.arithmetic import Number, mean
from conformance.exact.lists import List
from conformance.exact.measured import OF_JUDGMENTS, aggregate, measured

DEFAULT: dict[str, Any] = {
    "ties": "document-descending",
    "precision": "float32",
    "missing": "zero",
    "unjudged": "nonrelevant",
    "rel": 1,
    "depth": None,
    "recall_points": "truncated",
}
"""trec_eval 9 with `-c`."""

OTHERS: dict[str, list[Any]] = {
    "ties": ["document-descending", "document-ascending", "input-order"],
    "precision": ["float32", "float64"],
    "missing": ["zero", "skip"],
    "unjudged": ["nonrelevant", "removed"],
    "recall_points": ["truncated", "rounded"],
}
"""The conventions that are varied to see whether a result depends on them."""
BY_GRADE = {"pessimistic": 1, "optimistic": -1}
"""Rules that order tied documents by grade, with the sign of the key."""
SHARES = frozenset({"AP", "nDCG", "P", "R", "RR", "Success"})
"""Measures from 0 to 1 that a query without a relevant document may score 1 in."""

Grade = Fraction | dict[str, Fraction]
"""The grade of a document, or its grades by intent."""
Judgments = dict[str, dict[str, Grade]]
Results = dict[str, list[tuple[str, float]]]


class Refused(ValueError):
    """The input has no meaning that all readers would agree on."""


def judgments_of(text: str) -> Judgments:
    """Judgments from TREC lines: query, iteration, document, grade."""
    table: Judgments = {}
    for line in _lines(text):
        query, _, document, grade = _columns(line, 4)
        if document in table.setdefault(query, {}):
            msg = f"{document} is judged twice for {query}"
            raise Refused(msg)
        table[query][document] = Fraction(grade)
    return table


def results_of(text: str) -> Results:
    """Results from TREC lines: query, Q0, document, rank, score, tag."""
    table: Results = {}
    for line in _lines(text):
        query, _, document, _, score, _ = _columns(line, 6)
        table.setdefault(query, []).append((document, float(score)))
    return table


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.split("\n") if line.strip() and not line.startswith("#"))


def _columns(line: str, number: int) -> list[str]:
    parts = line.split()
    if len(parts) != number:
        msg = f"{len(parts)} columns instead of {number}"
        raise Refused(msg)
    return parts


def checked(results: Results) -> Results:
    """Return the results, unless a document is there twice or a score is no number."""
    for query, rows in results.items():
        if len({document for document, _ in rows}) < len(rows):
            msg = f"a document is retrieved twice for {query}"
            raise Refused(msg)
        if any(math.isnan(score) for _, score in rows):
            msg = f"a score of {query} is not a number"
            raise Refused(msg)
    return results


def as_single(score: float) -> float:
    """Return the nearest 32-bit float; beyond its range, infinity."""
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return math.copysign(math.inf, score)


def ordered(
    rows: list[tuple[str, float]], protocol: Mapping[str, Any], judged: Mapping[str, Grade] | None = None
) -> list[str]:
    """Return the documents by score, the highest first, and tied ones by the rule; unjudged ones have the lowest grade."""
    width = as_single if protocol["precision"] == "float32" else float
    names = list(rows)
    if protocol["ties"] in BY_GRADE:
        sign, known = BY_GRADE[protocol["ties"]], judged or {}
        worth = {name: highest_of(known[name]) if name in known else -math.inf for name, _ in rows}
        names.sort(key=lambda row: sign * worth[row[0]])
    elif protocol["ties"] != "input-order":
        down = protocol["ties"] == "document-descending"
        names.sort(key=lambda row: row[0].encode(), reverse=down)
    return [document for document, _ in sorted(names, key=lambda row: -width(row[1]))]


def orders(
    rows: list[tuple[str, float]], judged: dict[str, Grade], protocol: Mapping[str, Any]
) -> list[list[str]]:
    """Return the one order of the documents that the rule for ties gives, or all that are equally likely.

    Of tied documents with the same judgments one represents all, because no measure distinguishes them.
    """
    if protocol["ties"] != "expected":
        return [ordered(rows, protocol, judged)]
    width = as_single if protocol["precision"] == "float32" else float
    tied: dict[float, list[str]] = {}
    for document, score in rows:
        group = tied.setdefault(width(score), [])
        alike = (name for name in group if judged.get(name) == judged.get(document))
        group.append(next(alike, document))
    groups = [sorted(set(_arrangements(Counter(tied[score])))) for score in sorted(tied, reverse=True)]
    return [[name for group in chosen for name in group] for chosen in product(*groups)]


def _arrangements(left: Counter[str]) -> Iterator[tuple[str, ...]]:
    """Every order of things of which some are alike."""
    if not left.total():
        yield ()
    for name in [name for name in left if left[name]]:
        yield from ((name, *rest) for rest in _arrangements(left - Counter([name])))


def highest_of(grade: Grade) -> Fraction:
    """Return the grade, or the highest of those by intent."""
    return grade if isinstance(grade, Fraction) else max(grade.values())


def lists(judgments: Judgments, results: Results, protocol: Mapping[str, Any]) -> dict[str, list[List]]:
    """Each judged query's list, or all that it may be where ties are left open."""
    every = [highest_of(grade) for each in judgments.values() for grade in each.values()]
    highest = max(every, default=Fraction(1))
    return {
        query: [
            _list(judged, names, protocol, highest)
            for names in orders(results.get(query, []), judged, protocol)
        ]
        for query, judged in judgments.items()
        if query in results or protocol["missing"] != "skip"
    }


def _list(judged: dict[str, Grade], names: list[str], protocol: Mapping[str, Any], highest: Fraction) -> List:
    grades = {name: highest_of(grade) for name, grade in judged.items()}
    by_intent = {name: grade for name, grade in judged.items() if isinstance(grade, dict)}
    if protocol["unjudged"] == "removed":
        names = [name for name in names if grades.get(name, Fraction(-1)) >= 0]
    names = names[: protocol["depth"]]
    return List(
        found=tuple(grades.get(name) for name in names),
        judged=tuple(grades.values()),
        rel=Fraction(str(protocol["rel"])),
        rounded=protocol["recall_points"] == "rounded",
        highest=highest,
        answers=tuple(by_intent.get(name, {}) for name in names),
        documents=by_intent,
    )


def is_hopeless(
    judged: dict[str, Grade], protocol: Mapping[str, Any], name: str, parameters: Mapping[str, Any]
) -> bool:
    """Return whether even the best order of the judged documents scores 0."""
    if name not in SHARES:
        msg = f"whether {name} is a share is not stated"
        raise NotImplementedError(msg)
    best = sorted(judged, key=lambda document: -highest_of(judged[document]))
    return measured(_list(judged, best, protocol, Fraction(1)), name, parameters) == 0


def expected(
    judgments: Judgments,
    results: Results,
    protocol: Mapping[str, Any],
    name: str,
    parameters: Mapping[str, Any],
) -> tuple[dict[str, Number], Number]:
    """Return the value of each query, and their aggregate."""
    values: dict[str, Number] = {}
    for query, each in lists(judgments, results, protocol).items():
        absent = query not in results and name not in OF_JUDGMENTS
        values[query] = Fraction(0) if absent else mean([measured(one, name, parameters) for one in each])
        if protocol.get("no_relevant") == "one" and is_hopeless(judgments[query], protocol, name, parameters):
            values[query] = Fraction(1)
    return values, aggregate(name, list(values.values()))


def depends_on(
    judgments: Judgments,
    results: Results,
    protocol: Mapping[str, Any],
    name: str,
    parameters: Mapping[str, Any],
) -> list[str]:
    """Return the conventions whose change would change a value."""
    stated = expected(judgments, results, protocol, name, parameters)
    found = []
    # a case that does not state it is the same under the usual convention
    others = {**OTHERS, **({"no_relevant": ["zero"]} if "no_relevant" in protocol else {})}
    for convention, options in others.items():
        changed = [{**protocol, convention: option} for option in options]
        if any(expected(judgments, results, each, name, parameters) != stated for each in changed):
            found.append(convention)
    if protocol["depth"] is not None:
        whole = {**protocol, "depth": None}
        found += ["depth"] * (expected(judgments, results, whole, name, parameters) != stated)
    if protocol["rel"] != 1:
        usual = {**protocol, "rel": 1}
        found += ["rel"] * (expected(judgments, results, usual, name, parameters) != stated)
    return found
