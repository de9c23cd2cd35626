"""Telling a file of preferences, which has five columns, from judgments."""

from __future__ import annotations

from judged.errors import JudgedError
from judged.io.open import is_number_text
from judged.kernels.scan.strings import Bytes

__all__ = ["Preferred", "refuse_preferences"]

COLUMNS = 5
HEAD = 1 << 16
"""Bytes whose lines have to look like preferences."""


class Preferred(JudgedError):
    """A file given as judgments holds preferences."""


def refuse_preferences(text: Bytes) -> None:
    """Raise `Preferred` if rows are `query group subgroup document level`, which as judgments have no grade.

    A fourth column of numbers may be grades, and a fifth one merely be ignored: then nothing can be told.
    """
    lines = text[:HEAD].tobytes().split(b"\n")
    fields = [line.split() for line in (lines[:-1] if len(text) > HEAD else lines)]
    rows = [row for row in fields if row and not row[0].startswith(b"#")]
    if rows and all(_is_preference(row) for row in rows):
        msg = "the lines are like `query group subgroup document level`, expected `query 0 document grade`"
        raise Preferred(msg)


def _is_preference(row: list[bytes]) -> bool:
    return len(row) == COLUMNS and is_number_text(row[4]) and not is_number_text(row[3])
