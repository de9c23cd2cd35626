"""Sessions written by hand for tests: each result a name and its gain, such as `a3`, or `a?` without one."""

from __future__ import annotations

from typing import Any

__all__ = ["conversation", "result"]


def result(text: str) -> dict[str, Any]:
    """A result with a generic id, and a gain unless it is `?`."""
    gain = {} if text[-1] == "?" else {"gain": int(text[-1])}
    return {"id": text[:-1], **gain}


def conversation(
    name: str, *iterations: str, system: str = "a", task: str | None = None, **more: Any
) -> dict[str, Any]:
    """A conversation of one turn; a bar parts the searches of an iteration, and an empty text is a search in vain."""
    steps = [
        {
            "searches": [
                {"results": [result(written) for written in search.split()]} for search in text.split("|")
            ]
        }
        for text in iterations
    ]
    return {
        "conversation": name,
        "system": system,
        "task": task or name,
        "turns": [{"iterations": steps}],
        **more,
    }
