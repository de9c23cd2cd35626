"""Chat: stages ask a language model, and its replies are kept on disk with the time and the tokens that they took.

A reply is kept under everything that was sent. Once in a run, every model is asked in any case: if its server reports another
version than that of a kept reply, the reply is not used. Kept replies are dated in the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter_ns, time
from typing import Any, TypeVar

import msgspec

from judged.errors import BadProtocol, EndpointFailed
from judged.net.llm import ChatClient, ChatModel, Endpoint, Message, Reply
from judged.store.cache import Cache
from judged.store.hashing import hash_value
from judged.studies.stages.spares import Spares
from judged.studies.stages.stage import Query, StageFailed, StageSpec
from judged.studies.stages.tokens import spend
from judged.wording import counted, say_when

T = TypeVar("T")

VERSION = 1
"""Part of every key; raised when requests are made in another way."""
REASKS = 1
"""Number of times that a question is asked again if the reply is of no use."""
LONGEST = 10_000
"""Characters of a reply, or of a text of a list in one, that are searched for."""
UNDER_LOAD = -2
"""The pass over the queries of a load test: no reply is kept, and none is looked up."""


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A reply, and what it took."""

    text: str
    finish: str
    version: str
    """The model as its server names it."""
    nanoseconds: int
    tokens_in: int | None
    tokens_out: int | None
    at: float
    """When it came, in seconds since 1970."""


class Replies:
    """Kept replies in a file that several processes may use; without a path, in memory."""

    def __init__(self, path: Path | None = None, *, fresh: frozenset[bytes] = frozenset()) -> None:
        hint = "remove the file, or name another one with `--cache`"
        self._entries = Cache(path, holds="replies of language models", hint=hint)
        self._lock, self.began, self._fresh = Lock(), time(), fresh
        self._trials: dict[bytes, Kept] = {}
        self.versions: dict[str, str] = {}
        """The version of each model that was asked in this run, by address and name."""

    def find(self, key: bytes, spec: msgspec.Struct, model: str) -> Kept | None:
        """Return a reply, unless the model is another one by now, or the stage is to be computed again."""
        with self._lock:
            found = [value for _, value in self._entries.find([key])]
        if not found:
            return None
        try:
            kept = msgspec.msgpack.decode(found[-1], type=Kept)
        except msgspec.DecodeError:  # damaged: asked again
            return None
        if kept.at < self.began and msgspec.json.encode(spec) in self._fresh:
            return None
        return kept if self.versions.get(model, kept.version) == kept.version else None

    def add(self, key: bytes, kept: Kept) -> None:
        """Keep a reply."""
        with self._lock:
            self._entries.add([(key, msgspec.msgpack.encode(kept))], replace=True)

    def find_trial(self, key: bytes) -> Kept | None:
        """Return a reply to a warm-up or a trial of this run."""
        return self._trials.get(key)

    def add_trial(self, key: bytes, kept: Kept) -> None:
        """Keep a reply to a warm-up or a trial, for other ones alone."""
        self._trials[key] = kept

    def close(self) -> None:
        """Close the file."""
        self._entries.close()


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that every stage has which asks a language model."""

    model: str
    url: str
    key_variable: str | None
    temperature: float | None
    seed: int | None
    max_tokens: int
    timeout: float
    attempts: int
    stage: str
    type: str


class Chat:
    """A model that a stage asks."""

    def __init__(
        self, stage: StageSpec, replies: Replies, *, schema: Mapping[str, object] | None = None
    ) -> None:
        spec = msgspec.convert(msgspec.to_builtins(stage), ChatSettings)
        self._stage, self._spec, self._replies = stage, spec, replies
        self._sent = {"temperature": spec.temperature, "max_tokens": spec.max_tokens, "schema": schema}
        try:
            endpoint = Endpoint(spec.url, spec.key_variable, concurrency=1, timeout=spec.timeout)
        except BadProtocol as error:
            raise StageFailed(error.message, hint="set `url` and `key_variable`") from None
        self._clients = Spares(partial(self._connect, endpoint, schema))
        self._model = f"{endpoint.url} {spec.model}"
        self.read = 0
        """Replies that were of use."""
        self.unread = 0
        self.cut = 0
        """Replies that ended at the limit of their length."""
        self.oldest = 0.0
        """When the oldest kept reply came, in seconds since 1970; 0: none was kept."""
        self._used = 0

    def _connect(self, endpoint: Endpoint, schema: Mapping[str, object] | None) -> ChatClient:
        chat = ChatModel(
            self._spec.model,
            schema or {},
            temperature=self._spec.temperature,
            max_tokens=self._spec.max_tokens,
            structure=None if schema else "text",
        )
        return ChatClient(endpoint, chat, needed_by=f"the stage `{self._spec.type}`")

    def ask(
        self, query: Query, messages: Sequence[Message], read: Callable[[str], T | None], number: int = 0
    ) -> T | None:
        """Return what is read from the reply; None if the model was asked again and no reply was of use.

        `number` tells several replies to the same messages apart.
        """
        text = ""
        for attempt in range(1 + REASKS):
            kept = self._find_or_send(query, messages, number, attempt)
            text, found = kept.text, read(kept.text)
            self.cut += kept.finish == "length"
            if found is not None:
                self.read += 1
                return found
            self.unread += 1
        if not self.read:
            msg = f"`{self._spec.model}` gave no reply that can be used: `{' '.join(text.split())[:80]}`"
            raise StageFailed(msg)
        return None

    def _find_or_send(self, query: Query, messages: Sequence[Message], number: int, attempt: int) -> Kept:
        """Return a kept reply, its time added to that of the stage; or else a new one."""
        sample = max(query.sample, 0)
        seed = None if self._spec.seed is None else self._spec.seed + number
        sent = {**self._sent, "seed": seed, "messages": list(messages)}
        subject = {"version": VERSION, "model": self._model, **sent, "turn": [number, attempt, sample]}
        key = bytes.fromhex(hash_value(subject))
        kept = None if query.sample <= UNDER_LOAD else self._replies.find(key, self._stage, self._model)
        if query.sample == -1 and kept is None:
            kept = self._replies.find_trial(key)
        known = self._model in self._replies.versions
        if kept is not None and known:
            return self._use(query, kept)
        new = self._send(messages, seed)
        if not known:
            self._replies.versions[self._model] = new.version
        if kept is not None and query.sample == -1 and kept.version == new.version:
            return self._use(query, kept)  # the model was asked for its version alone
        if query.sample >= 0:
            self._replies.add(key, new)
        elif query.sample == -1:
            self._replies.add_trial(key, new)
        spend(self._spec.model, new.tokens_in, new.tokens_out)
        return new

    def _use(self, query: Query, kept: Kept) -> Kept:
        query.clock.add(self._spec.stage, kept.nanoseconds)
        spend(self._spec.model, kept.tokens_in, kept.tokens_out)
        if query.sample >= 0 and kept.at < self._replies.began:
            self._used += 1
            self.oldest = min(self.oldest or kept.at, kept.at)
        return kept

    def _send(self, messages: Sequence[Message], seed: int | None) -> Kept:
        """Return the reply of the server; raise `StageFailed` if there is none."""
        started = perf_counter_ns()
        try:
            with self._clients.borrow() as client:
                send = partial(client.complete, messages, seed=seed)
                reply: Reply = client.run(client.repeat(send, attempts=self._spec.attempts))
        except EndpointFailed as error:
            raise StageFailed(error.message, hint=error.hint) from None
        return Kept(
            reply.text or reply.refusal or "",
            reply.finish or "",
            reply.version,
            perf_counter_ns() - started,
            reply.tokens_in,
            reply.tokens_out,
            time(),
        )

    def notes(self) -> list[str]:
        """Return what readers of the results should know of the replies."""
        model = self._spec.model
        found = list(dict.fromkeys(note for client in self._clients.all for note in client.notes()))
        if self.unread:
            found.append(f"{counted(self.unread, 'reply')} of `{model}` could not be used")
        if self.cut:
            found.append(f"{counted(self.cut, 'reply')} of `{model}` ended at `max_tokens`")
        if self._used:
            said = counted(self._used, "reply")
            found.append(
                f"{said} of `{model}` are kept ones, the oldest of {say_when(self.oldest)}: times and tokens are of then"
            )
        return found

    def forget(self) -> None:
        """Forget what was counted for notes; that the model can answer is remembered."""
        self.unread = self.cut = self._used = 0
        self.oldest = 0.0
        for client in self._clients.all:
            client.forget()

    def version(self) -> str:
        """Return the model as its server names it; empty if it was not asked."""
        return self._replies.versions.get(self._model, "")


def read_list(value: Any) -> list[str]:
    """Return the texts of a list, without empty ones and repetitions."""
    if not isinstance(value, list):
        return []
    texts = (" ".join(item[:LONGEST].split()) for item in value if isinstance(item, str))
    return list(dict.fromkeys(text for text in texts if text))
