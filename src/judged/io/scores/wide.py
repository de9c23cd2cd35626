"""Wide tables: a row for each query and a column for each measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from judged.errors import BadInput
from judged.io.scores.assemble import parse_value
from judged.io.scores.content import NESTED, Content, decode_cell, is_nested
from judged.io.scores.format import Record, ScoreFormat
from judged.problem import Problem
from judged.tables.columns import shorten
from judged.tables.schema import WIDE_SCORES
from judged.wording import name_setting

ROW_NUMBERS = frozenset({"", "index", "unnamed: 0", "__index_level_0__", "level_0", "row", "line"})
"""Columns that number the rows, in lower case."""
TEXTS = frozenset(
    {
        *(
            "answer",
            "answers",
            "response",
            "output",
            "prediction",
            "completion",
            "actual_output",
            "generated",
        ),
        *(
            "reference",
            "references",
            "expected",
            "expected_output",
            "ground_truth",
            "ground_truths",
            "target",
            "gold",
        ),
        *(
            "context",
            "contexts",
            "retrieved_contexts",
            "reference_contexts",
            "retrieval_context",
            "document",
            "title",
        ),
        *(
            "timestamp",
            "time",
            "date",
            "created",
            "created_at",
            "start_time",
            "end_time",
            "model",
            "name",
            "url",
        ),
    }
)
"""Columns, in lower case, that are not measures even where they hold numbers, as the answers to sums do."""
MOSTLY = 0.5
"""Share of numbers from which a column of numbers and texts is a measure with faults."""
SHOWN = 3
"""Number of cells of a column that a message shows."""


def _recognises(content: Content) -> bool:
    return bool(content.columns)


def _read(content: Content) -> Iterator[Record]:
    content = _unnest(content)
    columns = content.match(WIDE_SCORES)
    if "query" not in columns and "text" not in columns:
        raise content.refuse_unnamed()
    keys = set(columns.values())
    others = [name for name in content.columns if name not in keys]
    measures = [name for name in others if _is_measure(content, name)]
    left = [name for name in content.columns if name not in keys and name not in measures]
    if not measures and not content.problems.counts:
        raise _refuse_cells(content, left)
    content.note_measures(measures, left)
    # whole numbers may be of what queries share: `--cluster` can choose them
    shared = [name for name in measures if all(_is_whole(row.get(name)) for row in content.rows)]
    yield from take_columns(content, columns, measures, [*left, *shared])


def _unnest(content: Content) -> Content:
    """Return the rows with the values of nested objects as columns of their own."""
    for name in content.columns:
        cells = [decode_cell(row.get(name)) for row in content.rows] if name.strip().lower() in NESTED else []
        if not any(cells) or not all(cell is None or is_nested(name, cell) for cell in cells):
            continue
        rows = []
        for row, cell in zip(content.rows, cells, strict=True):
            inner = {f"{name}.{key}" if key in row else key: value for key, value in (cell or {}).items()}
            rows.append({**{key: value for key, value in row.items() if key != name}, **inner})
        content = replace(content, rows=rows)
    return content


def _refuse_cells(content: Content, left: Sequence[str]) -> BadInput:
    """Return the error of a table without a column of numbers, which shows what its columns hold."""
    problems = [
        Problem.error("no-measures", f"column `{name}`", f"holds {describe_cells(cells)}, expected numbers")
        for name in left
        if name.strip().lower() not in ROW_NUMBERS
        and (cells := [row[name] for row in content.rows if row.get(name) is not None])
    ]
    others = f"holds no values of measures: {content.describe()}"
    option = name_setting(
        "--map query=COLUMN,system=COLUMN",
        "judged.read_scores(…, map={'query': 'COLUMN', 'system': 'COLUMN'})",
    )
    hint = (
        "a measure is a column of numbers with a decimal point: 80 % is 0.8 or 80, and a missing value is empty; "
        f"columns of the query and of the system have other names with {option}"
    )
    return BadInput(
        content.label, problems or [Problem.error("no-measures", content.label, others)], hint=hint
    )


def describe_cells(cells: Iterable[object]) -> str:
    """Return the first different cells of a column, for a message.

    >>> describe_cells(["80 %", "0,5", "80 %", "-", "x"])
    '`80 %`, `0,5`, `-`, …'
    """
    distinct = list(dict.fromkeys(shorten(str(cell), 40) for cell in cells))
    shown = ", ".join(f"`{cell}`" for cell in distinct[:SHOWN])
    return f"{shown}, …" if len(distinct) > SHOWN else shown


def take_columns(
    content: Content, columns: dict[str, str], measures: Sequence[str], left: Sequence[str]
) -> Iterator[Record]:
    """Yield the rows of a table whose columns are known: those that name the query and the system, measures, others."""
    query, text = columns.get("query"), columns.get("text")
    system, attempt = columns.get("system"), columns.get("attempt")
    for number, row in enumerate(content.rows):
        yield Record(
            content.place(number),
            {name: row.get(name) for name in measures},
            None if query is None else row.get(query),
            None if text is None else row.get(text),
            content.name_system(None if system is None else row.get(system)),
            None if attempt is None else row.get(attempt),
            {name: row.get(name) for name in left},
        )


def _is_measure(content: Content, name: str) -> bool:
    """Return whether a column holds numbers that are values; add the problems of a column that mostly does."""
    lower = name.strip().lower()
    if lower in ROW_NUMBERS or lower in TEXTS or lower == "id" or lower.endswith(("_id", "-id", "ids")):
        return False
    cells = [(number, row.get(name)) for number, row in enumerate(content.rows)]
    parsed = [(number, cell, parse_value(cell)[0]) for number, cell in cells]
    filled = [(number, cell, value) for number, cell, value in parsed if value is None or value == value]  # noqa: PLR0124 - not NaN
    numbers = sum(value is not None for _, _, value in filled)
    if numbers < len(filled) * MOSTLY or not numbers:
        return False
    for number, cell, value in filled:
        if value is None:
            got = shorten(str(cell), 40)
            comma = "; a decimal comma is not a decimal point" if _has_decimal_comma(cell) else ""
            message = f"{name} is `{got}`, expected a finite number{comma}"
            content.problems.add("not-a-number", number, message)
    return numbers == len(filled)


def _is_whole(cell: object) -> bool:
    if isinstance(cell, int | str) and not isinstance(cell, bool):
        return str(cell).strip().lstrip("-").isdecimal()
    return isinstance(cell, float) and cell.is_integer()


def _has_decimal_comma(cell: object) -> bool:
    return isinstance(cell, str) and cell.count(",") == 1 and cell.replace(",", "").strip().isdecimal()


FORMAT = ScoreFormat(
    "wide",
    "a table with a column for each measure",
    "CSV, TSV, JSONL, JSON, Parquet, a data frame or a dict with a row for each query: its id or its text, and a column of numbers for each measure",
    _recognises,
    _read,
)
