"""Prompts for a language model, the labeller that sends them, and one question for each text."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from judged.errors import BadProtocol, Unreadable, check_kind
from judged.io.settings import convert_settings, parse_yaml
from judged.labels.answer import Label, fold_word
from judged.labels.form import Form, NumberedLabels, OneLabel, Records
from judged.labels.task import RELEVANCE, TASKS, Item, Task
from judged.net.llm import ChatModel, Message, Structure
from judged.store.hashing import hash_short
from judged.tables.schema import GRADES

TOKEN_RULE = "a token per four ASCII characters, one per other character, and 10 per request"  # noqa: S105 - no secret
"""Estimate of tokens before an endpoint counts them."""
MOST_UNITS = 100
"""The largest batch: answers about more units are rarely complete."""

_PLACEHOLDER = re.compile(r"{(\w+)}")
_CLOSING_TAG = re.compile(r"</(\w+)>")
_CONTROL = re.compile(r"[<\[](?=\||/?INST\]|/?s>|</?SYS>|(?:start|end)_of_turn>)", re.IGNORECASE)
"""The start of what servers with raw templates read as the end of a message."""
_MISSING = "(none)"
_HINT = "a prompt has name, version and template, and optionally scale, fields, system, unit, table, each, batch and records"


class _RecordsSettings(msgspec.Struct, forbid_unknown_fields=True):
    """The key `records` of a prompt file."""

    field: str
    columns: dict[str, list[Label] | str]
    """The scale of each column, or `text`."""
    most: int = 30


class _PromptFile(msgspec.Struct, forbid_unknown_fields=True):
    """The keys of a prompt file."""

    name: str
    version: int
    template: str
    scale: list[Label] | dict[str, int] = msgspec.field(default_factory=lambda: [*GRADES])
    fields: list[str] = msgspec.field(default_factory=lambda: ["score"])
    system: str = ""
    unit: str | None = None
    table: str | None = None
    each: str | None = None
    batch: int = 1
    records: _RecordsSettings | None = None


@dataclass(frozen=True)
class Prompt:
    """A question to a model about one unit, such as a query and a result, and the labels that it may answer."""

    name: str
    version: int
    template: str
    """The text of the question, with the texts of the unit in braces: `{query}`, `{title}`, `{text}`."""
    scale: tuple[Label, ...] = tuple(GRADES)
    """The labels, lowest first: whole numbers or words."""
    fields: tuple[str, ...] = ("score",)
    """The fields of the answer in order, each a value on the scale; the last one is the label."""
    system: str = ""
    grades: Mapping[str, int] | None = None
    """The number that is written for each word of the scale; None writes labels as they are."""
    task: Task = RELEVANCE
    """The task that the prompt is for, with the unit, its texts and the table of the labels."""
    each: str = ""
    """The text that differs within a batch: its units are numbered in one question; empty: a question for each unit."""
    batch: int = 1
    """Number of units in a question."""
    records: Records | None = None
    """The records that an answer lists, in place of labels on a scale."""

    @property
    def label(self) -> str:
        """Name and version, as written into labels: `relevance/1`."""
        return f"{self.name}/{self.version}"

    @cached_property
    def identity(self) -> str:
        """Hash of everything the model reads; prompts that differ in a comma have different hashes."""
        content: list[object] = [self.system, self.template, self.scale, self.fields]
        # only where they are used, so that the answers of earlier releases stay valid
        if self.each or self.records:
            records = self.records and [self.records.field, list(self.records.columns.items())]
            content += [self.each, records]
        return hash_short(msgspec.json.encode(content), 8).hex()

    @cached_property
    def form(self) -> Form:
        """Form of an answer."""
        if self.records is not None:
            return self.records
        return NumberedLabels(self.scale) if self.each else OneLabel(self.scale, self.fields)

    def value_of(self, label: Label) -> Label:
        """Return what is written for a label."""
        return label if self.grades is None else self.grades[str(label)]

    @property
    def values(self) -> tuple[Label, ...]:
        """What can be written, lowest first."""
        return tuple(map(self.value_of, self.scale))

    def messages(self, texts: Mapping[str, str], each: Sequence[str] = ()) -> list[Message]:
        """Return the messages that ask about one unit, or about a batch; braces in texts are kept.

        A text cannot close the tags that enclose it: each request has its own random ones, `<result-5f3a9c1e>`.
        """
        given = {
            name: text or (_MISSING if name in self.task.optional else "") for name, text in texts.items()
        }
        if self.each:
            # one line for each, so that no text can begin the next number
            lines = (f"{number}. {' '.join(text.split())}" for number, text in enumerate(each, 1))
            given[self.each] = "\n".join(lines)
        values = {name: disarm(value) for name, value in given.items()}
        mark = secrets.token_hex(4)
        marked = self._mark_tags(self.template, mark)
        question = _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), marked)
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


def read_prompt(path: str | Path | None = None, *, task: Task | str = RELEVANCE) -> Prompt:
    """Read a prompt from a YAML file; without a path, return the built-in one of the task.

    >>> read_prompt().label, read_prompt().scale
    ('relevance/1', (0, 1, 2, 3, 4))
    >>> read_prompt(task="umbrela").scale
    (0, 1, 2, 3)
    """
    chosen = TASKS[task] if isinstance(task, str) else task
    if path is None:
        return _parse_prompt(*chosen.read_prompt_file(), task=chosen)
    try:
        return _parse_prompt(Path(path).read_bytes(), str(path), task=chosen)
    except OSError as error:
        msg = f"the prompt {path} cannot be read: {(error.strerror or str(error)).lower()}"
        raise Unreadable(msg) from None


def _parse_prompt(content: bytes, source: str, *, task: Task = RELEVANCE) -> Prompt:
    # `yes` and `no` are words of scales, and a prompt has no setting that is true or false
    parsed = convert_settings(parse_yaml(content, source, words=True), _PromptFile, source, hint=_HINT)
    problem = _find_problem(parsed, task)
    if problem is not None:
        msg = f"{source}: {problem}"
        raise BadProtocol(msg, hint=_HINT)
    records = parsed.records
    return Prompt(
        parsed.name,
        parsed.version,
        parsed.template,
        tuple(parsed.scale),
        tuple(parsed.fields),
        parsed.system,
        grades=parsed.scale if isinstance(parsed.scale, dict) else None,
        task=task,
        each=parsed.each or "",
        batch=parsed.batch,
        records=None if records is None else _to_records(records),
    )


def _to_records(settings: _RecordsSettings) -> Records:
    columns = {
        name: None if isinstance(scale, str) else tuple(scale) for name, scale in settings.columns.items()
    }
    return Records(settings.field, columns, settings.most)


def _find_problem(parsed: _PromptFile, task: Task) -> str | None:
    """Return the first thing that is wrong with a prompt file; None if it can be used for the task."""
    for name, declared, own in (("unit", parsed.unit, task.unit), ("table", parsed.table, task.table)):
        if declared not in {None, own}:
            return f"its {name} is `{declared}`, and that of the task `{task.name}` is `{own}`"
    required = [name for name in task.texts if name not in task.optional]
    missing = [name for name in required if f"{{{name}}}" not in parsed.template]
    if missing:
        return f"the template has no {{{missing[0]}}}"
    if not parsed.fields or any(not name.isidentifier() for name in parsed.fields):
        return f"the fields are {parsed.fields}, expected names, the last of them that of the label"
    if parsed.records is not None:
        return _find_batch_problem(parsed, required) or _find_record_problem(parsed.records)
    return _find_batch_problem(parsed, required) or _find_scale_problem(parsed.scale, task)


def _find_batch_problem(parsed: _PromptFile, required: Sequence[str]) -> str | None:
    if parsed.each is not None and parsed.each not in required:
        return f"`each` is `{parsed.each}`, expected one of {', '.join(required)}"
    if not 1 <= parsed.batch <= MOST_UNITS or (parsed.batch > 1 and not parsed.each):
        return f"`batch` is {parsed.batch}, expected 1 to {MOST_UNITS}, with the text that differs in `each`"
    if parsed.each is not None and parsed.records is not None:
        return "`records` are asked for one unit at a time, so `each` has no effect"
    return None


def _find_record_problem(records: _RecordsSettings) -> str | None:
    if not records.columns or records.most < 1:
        return "`records` has no columns, or allows none"
    for name, scale in records.columns.items():
        if isinstance(scale, str) and scale != "text":
            return f"the column `{name}` is `{scale}`, expected `text` or a scale"
        if isinstance(scale, list) and not _is_scale(scale):
            return f"the scale of `{name}` is {scale}, expected two or more different numbers or words"
    return None


def _find_scale_problem(scale: list[Label] | dict[str, int], task: Task) -> str | None:
    """Return what is wrong with a scale; labels of results are grades, which are numbers from 0 to 4."""
    if not _is_scale(list(scale)):
        return f"the scale is {scale}, expected two or more different numbers, or as many words"
    values = list(scale.values()) if isinstance(scale, dict) else scale
    if task.table != RELEVANCE.table:
        return None
    if any(isinstance(value, str) for value in values):
        example = ", ".join(f"{word}: {grade}" for grade, word in enumerate(scale))
        return (
            f"the scale is {scale}, and labels are numbers: give each word its grade, `scale: {{{example}}}`"
        )
    if len(set(values)) < 2 or not set(values) <= set(GRADES):
        return f"the scale is {scale}, expected whole numbers from 0 to {GRADES[-1]}"
    return None


def _is_scale(labels: Sequence[Label]) -> bool:
    """Return whether labels are two or more different numbers, or words that differ in more than case and spaces."""
    words = [label for label in labels if isinstance(label, str)]
    if words and len(words) < len(labels):
        return False
    folded = {fold_word(word) for word in words} if words else set(labels)
    return len(folded) == len(labels) >= 2 and "" not in folded


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
    batch: int | None = None
    """Number of units in a question; None takes that of the prompt."""

    def __post_init__(self) -> None:
        check_kind("model", self.model, str, "the name of a model")
        if not self.model.strip():
            raise BadProtocol("the model has no name")
        for name in ("max_tokens", "text_limit"):
            if getattr(self, name) < 1:
                msg = f"`{name}` is {getattr(self, name)}, expected 1 or more"
                raise BadProtocol(msg)
        if self.batch is not None and (not self.prompt.each or not 1 <= self.batch <= MOST_UNITS):
            what = (
                f"expected 1 to {MOST_UNITS}"
                if self.prompt.each
                else "and its prompt asks about one unit at a time"
            )
            msg = f"`batch` is {self.batch}, {what}"
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
            self.prompt.form.schema(1),
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

    @property
    def identity(self) -> str:
        """Hash of the model, the prompt and all settings that decide an answer."""
        settings = [self.temperature, self.seed, self.max_tokens, self.structure]
        return hash_short(msgspec.json.encode([self.model, self.prompt.identity, settings]), 8).hex()

    def key(self, texts: Mapping[str, str], each: Sequence[str] = ()) -> bytes:
        """Return the cache key of an answer: model, prompt, settings and content, but not the endpoint."""
        settings = [self.temperature, self.seed, self.max_tokens, self.structure]
        shared = [texts.get(name, "") for name in self.prompt.task.texts if name != self.prompt.each]
        batch = [each] if self.prompt.each else []
        content = msgspec.json.encode([self.model, self.prompt.identity, settings, *shared, *batch])
        return hash_short(content, 20)

    def cut(self, item: Item) -> dict[str, str]:
        """Return the texts of a unit as the model reads them: all but the query are cut at the limit."""
        return {
            name: text if name == "query" else text[: self.text_limit] for name, text in item.texts.items()
        }


@dataclass(frozen=True, slots=True)
class Question:
    """Question to a model about one unit or a batch of units, or about several items with the same texts."""

    key: bytes
    texts: Mapping[str, str]
    each: tuple[str, ...]
    """The texts that differ within a batch; empty if the question is about one unit."""
    tokens: int
    """Estimated number of tokens of the request."""

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.each) or 1


class Asked(NamedTuple):
    """Place where an item is asked about: a question, and the position in its batch."""

    key: bytes
    position: int


def make_questions(items: Iterable[Item], labeller: Labeller) -> tuple[dict[bytes, Question], list[Asked]]:
    """Return every distinct question by its key, and where each item is asked about."""
    prompt = labeller.prompt
    questions: dict[bytes, Question] = {}

    def ask(texts: Mapping[str, str], each: tuple[str, ...] = ()) -> bytes:
        key = labeller.key(texts, each)
        if key not in questions:
            tokens = estimate_tokens(prompt.messages(texts, each))
            questions[key] = Question(key, texts, each, tokens)
        return key

    cut = [labeller.cut(item) for item in items]
    if lacking := [
        name for name in prompt.task.texts if cut and name not in cut[0] and name not in prompt.task.optional
    ]:
        msg = f"the prompt {prompt.label} is about a {prompt.task.unit}, and what is to be labelled has no {lacking[0]}"
        raise BadProtocol(msg)
    if not prompt.each:
        return questions, [Asked(ask(texts), 0) for texts in cut]
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for number, texts in enumerate(cut):
        shared = tuple(texts.get(name, "") for name in prompt.task.texts if name != prompt.each)
        groups.setdefault(shared, {}).setdefault(texts[prompt.each], []).append(number)
    places: dict[int, Asked] = {}
    for units in groups.values():
        listed, size = list(units), labeller.batch or prompt.batch
        for batch in (tuple(listed[start : start + size]) for start in range(0, len(listed), size)):
            first = cut[units[batch[0]][0]]
            key = ask({name: text for name, text in first.items() if name != prompt.each}, batch)
            places |= {number: Asked(key, at) for at, text in enumerate(batch) for number in units[text]}
    return questions, [places[number] for number in range(len(cut))]


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
