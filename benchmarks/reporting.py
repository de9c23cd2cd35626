"""Reports: printed line by line while they are made, and written to a file if asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_report(lines: Iterable[str], path: Path | None) -> list[str]:
    """Print every line as it is made, write all of them to `path` unless it is None, and return them."""
    written = []
    for line in lines:
        print(line, flush=True)
        written.append(line)
    if path:
        path.write_text("\n".join([*written, ""]), encoding="utf-8")
    return written
