"""What a model replied, taken from an answer of the OpenAI protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Reply", "read_reply"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what the endpoint told of it."""

    text: str | None
    refusal: str | None = None
    finish: str | None = None
    tokens_in: int | None = None
    """None: the endpoint counts no tokens."""
    tokens_out: int | None = None
    mass: float | None = None
    """How much probability lay on legal grades where the digit was said; None: the endpoint does not tell."""
    seconds: float = 0.0


def read_reply(completion: Any, *, scale: Sequence[int], hide: Callable[[str], str]) -> Reply | None:
    """The reply that an answer of the protocol holds, all texts through `hide`; None if it holds none."""
    choices = getattr(completion, "choices", None) or []
    message = getattr(choices[0], "message", None) if choices else None
    if message is None:
        return None
    usage = getattr(completion, "usage", None)
    return Reply(
        text=_text(getattr(message, "content", None), hide),
        refusal=_text(getattr(message, "refusal", None), hide),
        finish=_text(getattr(choices[0], "finish_reason", None), hide),
        tokens_in=_count(usage, "prompt_tokens"),
        tokens_out=_count(usage, "completion_tokens"),
        mass=_mass(getattr(choices[0], "logprobs", None), scale),
    )


def _text(value: Any, hide: Callable[[str], str]) -> str | None:
    return hide(value) if isinstance(value, str) and value else None


def _count(usage: Any, name: str) -> int | None:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value >= 0 else None


def _mass(logprobs: Any, scale: Sequence[int]) -> float | None:
    """The probability of all legal grades where the last digit was said."""
    legal = {str(grade) for grade in scale}
    for token in reversed(getattr(logprobs, "content", None) or []):
        if token.token.strip() in legal and token.top_logprobs:
            return sum(math.exp(each.logprob) for each in token.top_logprobs if each.token.strip() in legal)
    return None
