"""JSONPath: where something lies in a JSON value, as users write it in a mapping of tools."""

from __future__ import annotations

from typing import Any

from judged.errors import BadProtocol

__all__ = ["JsonPath"]


class JsonPath:
    """A path that gives the values it leads to; its library is imported when the first one is made."""

    def __init__(self, path: str) -> None:
        import jsonpath

        self.text = path
        try:
            self._compiled = jsonpath.compile(path)
        except jsonpath.JSONPathError as error:
            msg = f"`{path}` is no JSONPath: {str(error).splitlines()[0]}"
            raise BadProtocol(
                msg, hint="`$.results[*]` are the elements of `results`; RFC 9535 has the syntax"
            ) from None

    def __call__(self, value: Any) -> list[Any]:
        """The values that the path leads to, in their order."""
        if not isinstance(value, (dict, list)):
            return []
        return list(self._compiled.findall(value))
