"""Text files: UTF-8 with or without its mark, and numbers as they are written in text."""

from __future__ import annotations

import re
from typing import Any

from judged.errors import Unreadable
from judged.io.format import File

__all__ = ["BOM", "is_number_text", "text_of"]

BOM = b"\xef\xbb\xbf"
"""The mark that some editors put at the start of UTF-8."""

_NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE)


def text_of(file: File, *, quoted: bool = False) -> Any:
    """The bytes of a text, past its mark; UTF-16 and files that are no text are refused.

    A zero byte tells that a file is no text; in a format that has quotes (`quoted`) only on the first line.
    """
    head = file.head()
    if _is_utf16(head):
        msg = f"{file.label} is UTF-16 text, expected UTF-8"
        raise Unreadable(msg, hint="convert it: `iconv -f UTF-16 -t UTF-8 FILE`")
    if b"\0" in (head.partition(b"\n")[0] if quoted else head):
        msg = f"{file.label} is not text: byte {head.index(0) + 1:,} is zero"
        raise Unreadable(msg, hint="known formats are TREC, JSONL, JSON, CSV, TSV, Parquet and Arrow")
    return memoryview(file.data)[len(BOM) :] if head.startswith(BOM) else file.data


def is_number_text(text: bytes) -> bool:
    """Whether `float` reads this, underscores apart, which are a habit of Python's alone."""
    return _NUMBER.fullmatch(text) is not None


def _is_utf16(head: bytes) -> bool:
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    every_other = len(head) >= 4 and (
        head[1:8:2].count(0) == len(head[1:8:2]) or head[:8:2].strip(b"\0") == b""
    )
    return marked or (every_other and head[:8].strip(b"\0") != b"")
