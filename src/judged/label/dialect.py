"""What an endpoint understands: found out on the first request, remembered for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from judged.label.asking import STRUCTURES, Asking, Structure

__all__ = ["Dialect"]

_SETTINGS = ("temperature", "seed", "logprobs")
"""What a request can do without, if the endpoint does not take it."""


@dataclass(frozen=True)
class Dialect:
    """How a request is put to an endpoint."""

    structure: Structure = "json_schema"
    limit: str = "max_tokens"
    """What the endpoint calls the most tokens of an answer."""
    without: frozenset[str] = frozenset()
    """Settings that it does not take."""

    @classmethod
    def of(cls, asking: Asking) -> Dialect:
        """The one to begin with: the structure asked for, or the strictest there is."""
        return cls(asking.structure or STRUCTURES[0])

    def arguments(self, asking: Asking) -> dict[str, Any]:
        """The arguments of a request beside its messages."""
        settings = {"temperature": asking.temperature, "seed": asking.seed}
        sent = {name: value for name, value in settings.items() if value is not None}
        if asking.logprobs:
            sent |= {"logprobs": True, "top_logprobs": 20}
        if "logprobs" in self.without:
            sent.pop("top_logprobs", None)
        kept = {name: value for name, value in sent.items() if name not in self.without}
        return {"model": asking.model, self.limit: asking.max_tokens, **kept, **self._format(asking)}

    def simpler(self, complaint: str, asking: Asking) -> Iterator[Dialect]:
        """What to try after a request was refused: without what the complaint names, then less structure."""
        text = complaint.lower()
        if "max_completion_tokens" in text and self.limit == "max_tokens":
            yield replace(self, limit="max_completion_tokens")
        named = frozenset(name for name in _SETTINGS if name in text) - self.without
        if named:
            yield replace(self, without=self.without | named)
        if asking.structure is None:
            for structure in STRUCTURES[STRUCTURES.index(self.structure) + 1 :]:
                yield replace(self, structure=structure)

    def notes(self, asking: Asking) -> list[str]:
        """What a reader of the labels should know of it."""
        told = [f"the endpoint takes no `{name}`: its own was used" for name in sorted(self.without)]
        if self.structure != (asking.structure or STRUCTURES[0]):
            told.append(
                f"the endpoint has no `{STRUCTURES[0]}` output: answers were read as {self.structure}"
            )
        return told

    def _format(self, asking: Asking) -> dict[str, Any]:
        if self.structure == "text":
            return {}
        if self.structure == "json_object":
            return {"response_format": {"type": "json_object"}}
        schema = {"name": "grade", "strict": True, "schema": asking.prompt.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
