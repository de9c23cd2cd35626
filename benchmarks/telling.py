"""A report, told line by line as it is made, and written whole where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def tell(lines: Iterable[str], path: Path | None) -> list[str]:
    """Every line, printed as it came, and written to the path, if there is one."""
    told = []
    for line in lines:
        print(line, flush=True)
        told.append(line)
    if path:
        path.write_text("\n".join([*told, ""]), encoding="utf-8")
    return told
