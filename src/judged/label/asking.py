"""What is asked of a model and how: model, prompt and settings, and the key that an answer is kept under."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import msgspec

from judged.errors import BadProtocol
from judged.label.prompt import Prompt, read_prompt

__all__ = ["STRUCTURES", "Asking", "Structure"]

Structure: TypeAlias = Literal["json_schema", "json_object", "text"]
"""How an answer is held to its form: by a schema, to be some JSON, or not at all."""

STRUCTURES: tuple[Structure, ...] = get_args(Structure)


@dataclass(frozen=True)
class Asking:
    """Everything beside the result itself that decides what a model answers."""

    model: str
    prompt: Prompt = field(default_factory=read_prompt)
    temperature: float | None = 0.0
    """None: whatever the endpoint does by itself."""
    seed: int | None = None
    max_tokens: int = 512
    structure: Structure | None = None
    """None: the strictest that the endpoint is found to have."""
    text_limit: int = 20_000
    """How many characters of a text are shown to the model."""
    logprobs: bool = False
    """Whether to ask how probable the answered digit was; this changes no answer."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise BadProtocol("no model is named")
        for name in ("max_tokens", "text_limit"):
            if getattr(self, name) < 1:
                msg = f"`{name}` is {getattr(self, name)}, expected 1 or more"
                raise BadProtocol(msg)

    @property
    def labeller(self) -> str:
        """Who the labels are by: the model and its prompt."""
        return f"{self.model} {self.prompt.label}"

    @property
    def settings(self) -> str:
        """What the model was asked with beside the prompt's words, as JSON, for whoever looks into the cache."""
        names = ("temperature", "seed", "max_tokens")
        told = {"scale": self.prompt.scale, **{name: getattr(self, name) for name in names}}
        return msgspec.json.encode(told).decode()

    def key(self, *, query: str, title: str, text: str) -> bytes:
        """What an answer is kept under: model, prompt, settings and content, and not where the model runs."""
        settings = [self.temperature, self.seed, self.max_tokens, self.structure]
        content = msgspec.json.encode([self.model, self.prompt.identity, settings, query, title, text])
        return hashlib.blake2b(content, digest_size=20).digest()
