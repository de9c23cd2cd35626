"""TREC text, a stretch of a few megabytes at a time, and what is notable about its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from judged.checks.batch import Batch, between
from judged.checks.findings import Findings
from judged.io.sniff import Kind as Role
from judged.kernels.scan.rows import BLANK, COMMENT, JUDGMENTS, RETURN, ROW, RUN, SHORT, Rows, read_rows
from judged.kernels.scan.strings import Bytes
from judged.kernels.scan.text import find_line_end
from judged.kernels.segments import Ints

__all__ = ["COLUMNS", "STRETCH", "Stretch", "note_lines", "stretches"]

COLUMNS: dict[Role, int] = {"run": RUN, "judgments": JUDGMENTS}
STRETCH = 1 << 22
"""Bytes taken at once; more only where a single query has more."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Some lines of a text: which, where they begin, and what is in them."""

    rows: Rows
    line: int
    """The lines before."""
    at: int
    """The bytes before."""
    size: int
    """The bytes of these lines."""
    intents: bool = False
    """Whether the second column tells judgments apart."""

    @property
    def batch(self) -> Batch:
        """The rows for the checks."""
        rows = self.rows
        run = len(rows.rank) == len(rows.line)
        return Batch(
            number=rows.line + (self.line + 1),
            query=rows.query,
            document=rows.document,
            value=rows.value,
            sound=rows.sound,
            folded=rows.folded,
            fate=rows.fate,
            token=rows.token,
            intent=between(rows.query, rows.document) if self.intents else None,
            rank=rows.rank if run else None,
            tag=rows.tag if run else None,
            origin=self.at,
        )


def stretches(text: Bytes, *, columns: int, intents: bool = False) -> Iterator[Stretch]:
    """The lines of a text, cut so that rows of one query that stand together stay together."""
    at, line, size = 0, 0, STRETCH
    while at < len(text):
        end = find_line_end(text, at + size)
        rows = read_rows(text[at:end], columns=columns)
        if end < len(text) and len(rows.line):
            row = _last_block(rows)
            if row == 0:  # the stretch holds one query, which may go on
                size *= 2
                continue
            last = int(rows.line[row])
            end, rows = at + int(rows.begins[last]), _head(rows, row, last)
        yield Stretch(rows, line, at, end - at, intents)
        at, line, size = end, line + len(rows.kinds), STRETCH


def note_lines(stretch: Stretch, findings: Findings, *, columns: int) -> None:
    """Note the lines that are no rows, and those that are unlike others."""
    rows, kinds = stretch.rows, stretch.rows.kinds & (RETURN - 1)
    found = {
        "malformed": kinds == SHORT,
        "many-columns": (kinds == ROW) & (rows.counts > columns),
        "comments": kinds == COMMENT,
        "blank-lines": kinds == BLANK,
        "carriage-returns": rows.kinds >= RETURN,
    }
    for kind, flags in found.items():
        which = np.flatnonzero(flags)
        findings.add(kind, which + (stretch.line + 1), _telling(kind, rows.counts[which], columns))


def _last_block(rows: Rows) -> int:
    """The first row of the last query."""
    hashes = rows.query.hashes
    other = np.flatnonzero(hashes != hashes[-1])
    return int(other[-1]) + 1 if len(other) else 0


def _head(rows: Rows, row: int, line: int) -> Rows:
    """The first rows and lines."""
    by_line = {name: getattr(rows, name)[:line] for name in ("kinds", "counts", "begins")}
    names = ("line", "query", "document", "token", "value", "sound", "rank", "tag", "folded", "fate")
    return replace(rows, **by_line, **{name: getattr(rows, name)[:row] for name in names})


def _telling(kind: str, counts: Ints, columns: int) -> Callable[[int], str]:
    """Words for a line of a kind."""
    if kind in {"malformed", "many-columns"}:
        return lambda i: f"{counts[i]} column{'s' if counts[i] != 1 else ''}, expected {columns}"
    told = {"comments": "a comment", "blank-lines": "a blank line", "carriage-returns": "ends with CR LF"}[
        kind
    ]
    return lambda _: told
