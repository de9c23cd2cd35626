"""Documents and tables as JSON and JSON Lines, every number in full."""

from __future__ import annotations

import json
from typing import Any

from judged.report.layout import Table

__all__ = ["to_json", "to_json_lines"]


def to_json(document: Any) -> str:
    """The document as indented JSON.

    >>> print(to_json({"AP": 0.5}))
    {
      "AP": 0.5
    }
    """
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def to_json_lines(table: Table) -> str:
    """One JSON object for each row; a value that is None is left out.

    >>> print(to_json_lines(Table(("run", "value", "text"), (("bm25", 0.5, None),))))
    {"run": "bm25", "value": 0.5}
    """
    rows = (zip(table.columns, row, strict=True) for row in table.rows)
    objects = ({name: value for name, value in row if value is not None} for row in rows)
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
