"""The seam of the formats: a file that has been opened, and what a format can do with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, TypeAlias

from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["File", "Format", "Kind"]

Kind: TypeAlias = Literal["judgments", "run"]


@dataclass(frozen=True, eq=False)
class File:
    """The content of one file, decompressed, and what to call it."""

    data: Any
    """Bytes, or a read-only memory map."""
    label: str
    """What messages call it: the path as the user wrote it, or `standard input`."""
    name: str
    """What the table is called: the file's name without folder and known extensions."""
    extension: str = ""
    """The last extension that does not stand for a compression, in lower case, with its dot."""
    intents: bool = False
    """Whether the second column of TREC judgments, or a column `iteration`, is to be read as intents."""

    def head(self, size: int = 65_536) -> bytes:
        """The first bytes."""
        return bytes(self.data[:size])


@dataclass(frozen=True)
class Format:
    """One way to hold judgments and runs in a file; what a format cannot do is None."""

    name: str
    title: str
    extensions: tuple[str, ...] = ()
    read_judgments: Callable[[File], Judgments] | None = None
    read_run: Callable[[File], Run] | None = None
    kind: Callable[[File], Kind | None] | None = None
    """What the file holds, as far as its first lines or its columns tell."""
    write_judgments: Callable[[Judgments, BinaryIO], None] | None = None
    write_run: Callable[[Run, BinaryIO, str], None] | None = None
    """The last argument is the tag that TREC runs carry in every line."""
