"""Lines of three columns without a header: what `trec_eval -q` and `ir_measures -q` print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from judged.errors import BadInput
from judged.io.open import is_number_text
from judged.io.scores.assemble import SUMMARY
from judged.io.scores.content import Content, Row
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.io.scores.names import may_be_measures
from judged.problem import Problem
from judged.tables.scores import ScoreKind

FIELDS = ("first", "second", "third")
"""The columns of a line, which has no names for them."""
COUNTS = ("num_", "runid", "relstring", "utility")
"""The beginnings of the names of trec_eval's measures that are not better where they are higher."""
TEXTS = ("runid", "relstring")
"""What trec_eval prints with a text."""
OPEN = ("G_", "binG", "Rndcg", "gm_")
"""Those of measures whose values may lie beyond 0 and 1."""
_NEWLINE = re.compile(r"\r\n?|\n")


def split_lines(text: str) -> dict[int, Row] | None:
    """Return lines of three values by their numbers; None if the first is not one of a name, a name and a number.

    >>> split_lines("map  q1  0.25")
    {1: {'first': 'map', 'second': 'q1', 'third': '0.25'}}
    """
    lines = {number: line.split() for number, line in enumerate(_NEWLINE.split(text), 1)}
    filled = {number: line for number, line in lines.items() if line}
    first = next(iter(filled.values()), [])
    if len(first) != len(FIELDS) or not (first[0] in TEXTS or is_number_text(first[2].encode())):
        return None
    return {number: dict(zip(FIELDS, line, strict=False)) for number, line in filled.items()}


def _recognises(content: Content) -> bool:
    return content.columns == FIELDS


def _read(content: Content) -> Iterator[Record]:
    measure, query = _orient(content)
    left: dict[str, None] = {}
    for number, row in enumerate(content.rows):
        if len(row) != len(FIELDS):
            content.problems.add("malformed-line", number, f"{len(row)} values, expected three")
        elif is_number_text(row["third"].encode()):
            yield Record(content.place(number), {row[measure]: row["third"]}, row[query])
        else:
            left.setdefault(row[measure])  # `runid` and `relstring` are text
    content.note_unread([name for name in left if name != "runid"], "is text")


def _orient(content: Content) -> tuple[str, str]:
    """Return which column is the measure and which the query; raise `BadInput` if it may be either."""
    first, second = ([str(row.get(name, "")) for row in content.rows] for name in FIELDS[:2])
    ways = [("first", "second", first, second), ("second", "first", second, first)]
    known = [way[:2] for way in ways if may_be_measures(way[2]) and not may_be_measures(way[3])]
    known = known or [way[:2] for way in ways if SUMMARY in way[3] and SUMMARY not in way[2]]
    if len(known) == 1:
        return known[0]
    message = (
        f"`{first[0]}` and `{second[0]}` could each be the measure, expected lines of which one is known"
    )
    hint = "name the columns in a first line: `query measure value`, separated by tabs or commas"
    raise BadInput(content.label, [Problem.error("two-fields", "columns", message)], hint=hint)


def _kinds(_content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:
    names = list_measures(records)
    known = [name for name in names if may_be_measures([name]) and not name.startswith(COUNTS)]
    shares = [name for name in known if not name.startswith(OPEN)]
    return {
        **know_directions(known, higher=known),
        **know_directions(shares, higher=shares, bounds=(0.0, 1.0)),
    }


FORMAT = ScoreFormat(
    "lines",
    "lines of a measure, a query and a value",
    "what `trec_eval -q` and `ir_measures -q` print; the line of `all` is left out",
    _recognises,
    _read,
    _kinds,
    "higher for measures of retrieval, none for counts",
)
