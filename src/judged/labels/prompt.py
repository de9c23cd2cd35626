"""Prompts for a language model, the labeller that sends them, and one question for each text."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import msgspec

from judged.errors import BadProtocol, Unreadable
from judged.io.settings import convert_settings, parse_yaml
from judged.labels.pool import Item
from judged.net.llm import ChatModel, Message, Structure
from judged.store.hashing import hash_short
from judged.tables.schema import GRADES

TOKEN_RULE = "a token per four ASCII characters, one per other character, and 10 per request"  # noqa: S105 - no secret
"""Estimate of tokens before an endpoint counts them."""

_PLACEHOLDER = re.compile("{(query|title|text)}")
_CLOSING_TAG = re.compile(r"</(\w+)>")
_CONTROL = re.compile(r"[<\[](?=\||/?INST\]|/?s>|</?SYS>|(?:start|end)_of_turn>)", re.IGNORECASE)
"""The start of what servers with raw templates read as the end of a message."""
_NO_TITLE = "(none)"


class _PromptFile(msgspec.Struct, forbid_unknown_fields=True):
    """The keys of a prompt file."""

    name: str
    version: int
    template: str
    scale: list[int] = msgspec.field(default_factory=lambda: list(GRADES))
    fields: list[str] = msgspec.field(default_factory=lambda: ["score"])
    system: str = ""


@dataclass(frozen=True)
class Prompt:
    """A question to a model about one query and one result, and the grades it may answer."""

    name: str
    version: int
    template: str
    """The text of the question; `{query}` and `{text}` are required in it, `{title}` is optional."""
    scale: tuple[int, ...] = tuple(GRADES)
    fields: tuple[str, ...] = ("score",)
    """The integer fields of the answer in order; the last one is the grade."""
    system: str = ""

    @property
    def label(self) -> str:
        """Name and version, as written into labels: `relevance/1`."""
        return f"{self.name}/{self.version}"

    @cached_property
    def identity(self) -> str:
        """Hash of everything the model reads; prompts that differ in a comma have different hashes."""
        content = msgspec.json.encode([self.system, self.template, self.scale, self.fields])
        return hash_short(content, 8).hex()

    @cached_property
    def schema(self) -> dict[str, object]:
        """JSON schema of an answer."""
        grade = {"type": "integer", "enum": list(self.scale)}
        return {
            "type": "object",
            "properties": dict.fromkeys(self.fields, grade),
            "required": list(self.fields),
            "additionalProperties": False,
        }

    def messages(self, *, query: str, title: str, text: str) -> list[Message]:
        """Return the messages that ask for the grade of one result; braces in texts are kept.

        A text cannot close the tags that enclose it: each request has its own random ones, `<result-5f3a9c1e>`.
        """
        given = {"query": query, "title": title or _NO_TITLE, "text": text}
        values = {name: disarm(value) for name, value in given.items()}
        mark = secrets.token_hex(4)
        question = _PLACEHOLDER.sub(lambda match: values[match[1]], self._mark_tags(self.template, mark))
        instructions = self._mark_tags(self.system, mark)
        system = [{"role": "system", "content": instructions}] if self.system else []
        return [*system, {"role": "user", "content": question}]

    def _mark_tags(self, text: str, mark: str) -> str:
        """Return a text of the prompt with the mark in every tag that the template closes."""
        return text if self._tags is None else self._tags.sub(rf"\1-{mark}>", text)

    @cached_property
    def _tags(self) -> re.Pattern[str] | None:
        """Pattern of the tags that the template closes, without their end; None if it has none."""
        names = "|".join(sorted(set(_CLOSING_TAG.findall(self.template))))
        return re.compile(rf"(</?(?:{names}))>") if names else None


def disarm(text: str) -> str:
    """Return a text without what servers with raw templates read as the end of a message."""
    return _CONTROL.sub("‹", text)


def read_prompt(path: str | Path | None = None) -> Prompt:
    """Read a prompt from a YAML file; without a path, return the built-in one.

    >>> read_prompt().label, read_prompt().scale
    ('relevance/1', (0, 1, 2, 3, 4))
    """
    if path is None:
        built_in = files("judged.labels").joinpath("prompts/relevance.yaml")
        return _parse_prompt(built_in.read_bytes(), "relevance.yaml")
    try:
        return _parse_prompt(Path(path).read_bytes(), str(path))
    except OSError as error:
        msg = f"the prompt {path} cannot be read: {(error.strerror or str(error)).lower()}"
        raise Unreadable(msg) from None


def _parse_prompt(content: bytes, source: str) -> Prompt:
    hint = "a prompt has name, version and template, and optionally scale, fields and system"
    parsed = convert_settings(parse_yaml(content, source), _PromptFile, source, hint=hint)
    problem = _find_problem(parsed)
    if problem is not None:
        msg = f"{source}: {problem}"
        raise BadProtocol(msg, hint=hint)
    return Prompt(
        parsed.name,
        parsed.version,
        parsed.template,
        tuple(parsed.scale),
        tuple(parsed.fields),
        parsed.system,
    )


def _find_problem(parsed: _PromptFile) -> str | None:
    missing = [name for name in ("query", "text") if f"{{{name}}}" not in parsed.template]
    if missing:
        return f"the template has no {{{missing[0]}}}"
    if len(set(parsed.scale)) < 2 or not set(parsed.scale) <= set(GRADES):
        return f"the scale is {parsed.scale}, expected whole numbers from 0 to {GRADES[-1]}"
    if not parsed.fields or any(not name.isidentifier() for name in parsed.fields):
        return f"the fields are {parsed.fields}, expected names, the last of them that of the grade"
    return None


@dataclass(frozen=True)
class Labeller:
    """A model with its prompt and settings: everything besides the result itself that decides the answer."""

    model: str
    prompt: Prompt = field(default_factory=read_prompt)
    temperature: float | None = 0.0
    """None leaves it to the endpoint."""
    seed: int | None = None
    max_tokens: int = 512
    """Maximum length of an answer."""
    structure: Structure | None = None
    """None uses the strictest structure that the endpoint supports."""
    text_limit: int = 20_000
    """Maximum number of characters of a text that the model reads."""
    logprobs: bool = False
    """Whether to request the probability of the answered digit; this changes no answer."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise BadProtocol("the model has no name")
        for name in ("max_tokens", "text_limit"):
            if getattr(self, name) < 1:
                msg = f"`{name}` is {getattr(self, name)}, expected 1 or more"
                raise BadProtocol(msg)

    @property
    def name(self) -> str:
        """Model and prompt, as written into labels."""
        return f"{self.model} {self.prompt.label}"

    @property
    def chat(self) -> ChatModel:
        """Model and settings as the client sends them."""
        return ChatModel(
            self.model,
            self.prompt.schema,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            structure=self.structure,
            logprobs=self.logprobs,
        )

    @property
    def settings(self) -> str:
        """Scale and settings as JSON, as recorded in the cache."""
        names = ("temperature", "seed", "max_tokens")
        values = {"scale": self.prompt.scale, **{name: getattr(self, name) for name in names}}
        return msgspec.json.encode(values).decode()

    def key(self, *, query: str, title: str, text: str) -> bytes:
        """Return the cache key of an answer: model, prompt, settings and content, but not the endpoint."""
        settings = [self.temperature, self.seed, self.max_tokens, self.structure]
        content = msgspec.json.encode([self.model, self.prompt.identity, settings, query, title, text])
        return hash_short(content, 20)


@dataclass(frozen=True, slots=True)
class Question:
    """Question to a model about one item, or about several items with the same texts."""

    key: bytes
    query: str
    title: str
    text: str
    tokens: int
    """Estimated number of tokens of the request."""

    def messages(self, prompt: Prompt) -> list[Message]:
        """Return the messages of the request."""
        return prompt.messages(query=self.query, title=self.title, text=self.text)


def make_questions(items: Iterable[Item], labeller: Labeller) -> tuple[dict[bytes, Question], list[bytes]]:
    """Return every distinct question by its key, and the key of each item's question."""
    questions: dict[bytes, Question] = {}
    keys = []
    for item in items:
        texts = {"query": item.query, "title": item.title, "text": item.text[: labeller.text_limit]}
        key = labeller.key(**texts)
        keys.append(key)
        if key not in questions:
            tokens = estimate_tokens(labeller.prompt.messages(**texts))
            questions[key] = Question(key, **texts, tokens=tokens)
    return questions, keys


def estimate_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """Estimate the number of tokens of a request by `TOKEN_RULE`.

    >>> estimate_tokens([{"role": "user", "content": "eight ch"}])
    12
    >>> estimate_tokens([{"role": "user", "content": "日本"}])
    12
    """
    text = "".join(message["content"] for message in messages)
    ascii_length = len(text.encode("ascii", "ignore"))
    return -(-ascii_length // 4) + len(text) - ascii_length + 10
