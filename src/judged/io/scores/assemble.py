"""Assembling: the values of single queries, as formats yield them, into the scores of each system."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import pyarrow as pa

from judged.arrays import Floats
from judged.errors import BadInput
from judged.io.scores.content import Content
from judged.io.scores.format import Record
from judged.problem import Note, Problem
from judged.tables.columns import can_encode, shorten, to_strings
from judged.tables.scores import ScoreKind, Scores
from judged.wording import name_some

MISSING = frozenset({"", "nan", "null", "none", "n/a", "na", "-nan", "<na>"})
"""Texts, in lower case, of a value that is not there."""
SUMMARY = "all"
"""What trec_eval and ir_measures write in place of a query for the whole run."""
SUMMARIES = (SUMMARY, "amean")
"""Names in place of a query that are always those of a summary; gdeval and ndeval write the second."""
MEANS = ("mean", "average", "avg", "avg.", "overall", "total")
"""Names that are those of a summary where their values are the means of all others."""
ROUNDED, PRINTED = 0.005, 0.001
"""The largest relative or absolute difference of a mean that people rounded, and of one that a tool printed."""
GEOMETRIC = ("gm_", "num_q")
"""The beginnings of names of measures that are not means of those of queries."""
FEW = 3
"""Number of measures that a message names."""
TRUTH = {"true": 1.0, "false": 0.0}
REPEATED = (
    "name attempts in a column `attempt` (or `epoch`, `seed`, `trial`), and systems in a column `system`"
)
UNNAMED = "expected the id of the query or the text of the question in each row; rows are never paired by their order"


@dataclass
class _Query:
    """The values of one query of one system."""

    text: str | None
    attempts: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each attempt, the values by measure."""
    attributes: dict[str, str | None] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    """Attributes whose values differ between attempts."""


class _Builder:
    """Collects the records of one content, by system and query."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.systems: dict[str, dict[str, _Query]] = {}
        self.measures: dict[str, None] = {}
        self.flags: dict[str, bool] = {}
        """For each measure, whether all its values so far are true or false."""
        self.shares: dict[str, bool] = {}
        """For each measure, whether all its values so far are 0 or 1."""
        self.ends: dict[str, tuple[float, float]] = {}
        """For each measure, the lowest and the highest value so far."""

    def add(self, row: int, record: Record) -> None:
        """Add a record, or the problem with it."""
        query, text = _to_id(record.query), _to_text(record.text)
        key = query if query is not None else text
        if query is None and not _is_missing(record.query):
            got = f"{shorten(repr(record.query), 40)} ({type(record.query).__name__})"
            message = f"the id of the query is {got}, expected text or a whole number"
            self.content.problems.add("bad-id", row, message)
            return
        if key is None or not can_encode(key):
            self.content.problems.add("no-query", row, f"names no query: {UNNAMED}")
            return
        system = record.system or self.content.name
        found = self.systems.setdefault(system, {}).setdefault(key, _Query(text))
        found.text = found.text or text
        values = found.attempts.setdefault(str(record.attempt if record.attempt is not None else ""), {})
        again = [name for name in record.values if name in values]
        if again:
            message = f"query `{shorten(key, 80)}` has a value of {name_some(again, FEW)} already"
            self.content.problems.add("repeated-query", row, message)
        for name, raw in record.values.items():
            self.measures.setdefault(name)
            values[name] = self._read(row, name, raw)
        self._add_attributes(found, record.attributes)

    def _read(self, row: int, name: str, raw: object) -> float:
        """Return a value as a number; NaN if it is missing, or if it is a problem."""
        value, flag = parse_value(raw)
        if value is None:
            message = f"value is `{shorten(str(raw), 40)}`, expected a finite number"
            self.content.problems.add("not-a-number", row, message if name == "" else f"{message} for {name}")
            return nan
        if not math.isnan(value):
            self.flags[name] = self.flags.get(name, True) and flag
            low, high = self.ends.get(name, (value, value))
            self.ends[name] = min(low, value), max(high, value)
            self.shares[name] = self.shares.get(name, True) and value in {0.0, 1.0}
        return value

    def _add_attributes(self, found: _Query, attributes: Mapping[str, object]) -> None:
        for name, raw in attributes.items():
            value = _to_text(raw)
            if found.attributes.setdefault(name, value) != value:
                found.varying.add(name)

    def build(self, kinds: Mapping[str, ScoreKind]) -> dict[str, Scores]:
        """Return the scores of each system."""
        return {name: self._build(name, queries, kinds) for name, queries in self.systems.items()}

    def _build(self, system: str, queries: Mapping[str, _Query], kinds: Mapping[str, ScoreKind]) -> Scores:
        keys = sorted(queries, key=str.encode)  # in the order of their bytes, as judgments sort queries
        rows = [queries[key] for key in keys]
        attempts = sorted({label for row in rows for label in row.attempts}, key=_attempt_order)
        place = {label: number for number, label in enumerate(attempts)}
        names = [
            name
            for name in self.measures
            if any(name in values for row in rows for values in row.attempts.values())
        ]
        grids = {name: np.full((len(rows), len(attempts)), nan) for name in names}
        for number, row in enumerate(rows):
            for label, values in row.attempts.items():
                for name, value in values.items():
                    grids[name][number, place[label]] = value
        repeated = len(attempts) > 1
        varying = {name for row in rows for name in row.varying}
        columns = dict.fromkeys(name for row in rows for name in row.attributes if name not in varying)
        return Scores(
            to_strings(keys),
            {name: mean_of_attempts(grid) for name, grid in grids.items()},
            run=system,
            repeats=grids if repeated else {},
            kinds={name: self._describe(name, kinds) for name in names},
            texts=_to_array([row.text for row in rows]),
            attributes={name: _to_array([row.attributes.get(name) for row in rows]) for name in columns},
        )

    def _describe(self, name: str, kinds: Mapping[str, ScoreKind]) -> ScoreKind:
        known = kinds.get(name, ScoreKind())
        low, high = self.ends.get(name, known.bounds)
        if low < known.bounds[0] or high > known.bounds[1]:
            known = replace(
                known, bounds=ScoreKind().bounds
            )  # the tool's documentation is not a law of its metrics
        if self.flags.get(name, False):
            return ScoreKind(known.higher_is_better, (0.0, 1.0), binary=True)
        # a count of errors may be 0 or 1 wherever it was taken: its scale stays open
        return replace(known, binary=self.shares.get(name, False))


def assemble(
    content: Content, records: Sequence[Record], kinds: Mapping[str, ScoreKind]
) -> dict[str, Scores]:
    """Return the scores of each system; raise `BadInput` with every row that cannot be read.

    A query is known by its id, or by its text where there is no id.
    """
    builder = _Builder(content)
    records = _drop_summaries(content, records)
    for row, record in enumerate(records):
        builder.add(row, record)
    problems = content.problems
    problems.raise_if_any(hint=_choose_hint(problems.counts))
    numbered = _are_row_numbers(records)
    found = builder.build(kinds)
    return {name: replace(scores, numbered=numbered) for name, scores in found.items()}


def _drop_summaries(content: Content, records: Sequence[Record]) -> Sequence[Record]:
    """Return records without those of a whole run, such as `all`, and note them; raise `BadInput` if there are no others."""
    named = [
        str(record.query if record.query is not None else record.text).strip().lower() for record in records
    ]
    if {*SUMMARIES, *MEANS}.isdisjoint(named):
        return records
    sums = _sum_values(
        record for record, name in zip(records, named, strict=True) if name not in MEANS + SUMMARIES
    )
    left = [
        record
        for record, name in zip(records, named, strict=True)
        if name in SUMMARIES or (name in MEANS and not list(_find_others(record, sums, ROUNDED)))
    ]
    if len(left) == len(records):
        message = "holds a summary of all queries, expected the scores of every query"
        hint = "`trec_eval -q` and `ir_measures -q` print them"
        raise BadInput(content.label, [Problem.error("only-means", content.label, message)], hint=hint)
    if left:
        names = list(dict.fromkeys(str(record.query or record.text) for record in left))
        message = f"rows of `{name_some(names, FEW)}` are left out: they sum up the queries"
        content.notes.append(Note("summary", "info", message))
    for record in left:
        for name, value, mean in _find_others(record, sums, PRINTED):
            message = f"{name} is {value:g} in the row of `{record.query or record.text}`, and the mean of the queries is {mean:.4g}"
            content.notes.append(
                Note("other-mean", "warning", f"{message}: queries that are not there may count as 0")
            )
    dropped = set(map(id, left))
    return [record for record in records if id(record) not in dropped]


def _sum_values(records: Iterable[Record]) -> dict[tuple[object, ...], tuple[float, int]]:
    """Return the sum and the number of the values of each measure, by system and attempt."""
    sums: dict[tuple[object, ...], tuple[float, int]] = {}
    for record in records:
        for name, raw in record.values.items():
            value = parse_value(raw)[0]
            if value is not None and not math.isnan(value):
                total, count = sums.get((record.system, record.attempt, name), (0.0, 0))
                sums[record.system, record.attempt, name] = total + value, count + 1
    return sums


def _find_others(
    record: Record, sums: Mapping[tuple[object, ...], tuple[float, int]], tolerance: float
) -> Iterator[tuple[str, float, float]]:
    """Yield the values of a summary that are neither the sum nor the mean of those of queries, and the mean."""
    for name, raw in record.values.items():
        value = parse_value(raw)[0]
        total, count = sums.get((record.system, record.attempt, name), (nan, 1))
        if value is None or math.isnan(value) or name.startswith(GEOMETRIC):
            continue
        near = (
            math.isclose(value, other, rel_tol=tolerance, abs_tol=tolerance)
            for other in (total, total / count)
        )
        if not any(near):
            yield name, value, total / count


def _choose_hint(counts: Mapping[str, int]) -> str | None:
    if "repeated-query" in counts:
        return REPEATED
    if "not-a-number" in counts:
        return "a value that is missing is empty, `null` or `NaN`; decimals have a point"
    return None


def mean_of_attempts(grid: Floats) -> Floats:
    """Return the mean of the attempts of each query that have a value; NaN if none has.

    >>> mean_of_attempts(np.array([[1.0, nan], [0.25, 0.75], [nan, nan]])).tolist()
    [1.0, 0.5, nan]
    """
    there = ~np.isnan(grid)
    total, many = np.where(there, grid, 0.0).sum(axis=1), there.sum(axis=1)
    means: Floats = np.divide(total, many, out=np.full(len(grid), nan), where=many > 0)
    return means


def parse_value(raw: object) -> tuple[float | None, bool]:
    """Return a value as a number, and whether it is true or false; NaN if it is missing, None if it is not a number.

    >>> parse_value("0.5"), parse_value(True), parse_value("high"), parse_value("NaN")
    ((0.5, False), (1.0, True), (None, False), (nan, False))
    """
    if isinstance(raw, bool | np.bool_):
        return float(raw), True
    if raw is None:
        return nan, False
    if isinstance(raw, str):
        return _parse_text(raw.strip().lower())
    return (_to_float(raw) if hasattr(type(raw), "__float__") else None), False


def _parse_text(text: str) -> tuple[float | None, bool]:
    if text in MISSING:
        return nan, False
    if text in TRUTH:
        return TRUTH[text], True
    return (None if "_" in text else _to_float(text)), False  # only Python reads `1_000`


def _to_float(raw: object) -> float | None:
    """Return a number as a float; None if it is infinite or not a number."""
    try:
        value = float(raw)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(value) else value


def _are_row_numbers(records: Sequence[Record]) -> bool:
    """Return whether the ids are the numbers of rows, from 0 or 1, in their order."""
    ids = [_to_id(record.query) for record in records]
    return len(ids) > 0 and (
        all(text == str(at) for at, text in enumerate(ids))
        or all(text == str(at) for at, text in enumerate(ids, 1))
    )


def _attempt_order(label: str) -> tuple[int, float, str]:
    """Return the key by which attempts are sorted: numbers as numbers, before other labels."""
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label


def _is_missing(value: object) -> bool:
    """Return whether there is no id: nothing, blanks, or the NaN that data frames write for it."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
    )


def _to_id(value: object) -> str | None:
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    return None


def _to_text(value: object) -> str | None:
    if value is None or isinstance(value, Mapping | list | tuple):
        return None
    text = value if isinstance(value, str) else str(value)
    return text if text.strip() and can_encode(text) else None


def _to_array(texts: Iterable[str | None]) -> pa.Array:
    return pa.array(list(texts), type=pa.large_string())
