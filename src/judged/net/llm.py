"""Language models behind OpenAI's protocol: chat in the dialect that the endpoint accepts, and embeddings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Literal, TypeAlias, get_args

from judged.errors import BadProtocol, EndpointFailed
from judged.net.http import Bounds, HttpClient, Response
from judged.net.retry import BadAnswerError, RejectedError, RequestError, RetryPolicy, TransientError
from judged.net.secrets import Key, is_exposed

Message: TypeAlias = dict[str, str]
Structure: TypeAlias = Literal["json_schema", "json_object", "text"]
"""Enforcement of the form of an answer: by a JSON schema, as any JSON object, or not at all."""

STRUCTURES: tuple[Structure, ...] = get_args(Structure)
"""All structures, the strictest first."""
URL_VARIABLE = "OPENAI_BASE_URL"
"""The environment variable with the address of the endpoint, if no other address is given."""
CHAT_BYTES = 4 << 20
"""The largest answer that is read, probabilities of tokens included; a grade takes a few hundred bytes."""
CHAT_WAIT = 600.0
"""Seconds that an endpoint may ask to wait; one that asks for more stops the job."""

_PATHS = "/chat/completions", "/embeddings"
_ACCOUNT_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers that say which account pays, with the environment variables that OpenAI's tools read them from."""
_FATAL = {
    401: "refuses the key",
    402: "asks for payment",
    403: "forbids the request",
    404: "has no such model or address",
    405: "does not accept such a request",
    410: "no longer has this model",
}
_FORMAT_WORDS = ("response_format", "json_schema", "grammar")
_OPTIONAL_SETTINGS = ("temperature", "seed", "logprobs")
"""Settings that can be left out of a request if the endpoint rejects them."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address of a server that speaks OpenAI's protocol, and how it may be used."""

    url: str = ""
    """Empty takes the address from the environment variable OPENAI_BASE_URL."""
    key_variable: str | None = None
    """The environment variable with the key; None takes OPENAI_API_KEY."""
    concurrency: int = 8
    """Maximum number of simultaneous requests."""
    rate: float | None = None
    """Maximum number of requests per minute."""
    timeout: float = 60.0
    """Seconds to wait for an answer."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        url = self.url or os.environ.get(URL_VARIABLE, "")
        if not url:
            msg = f"no endpoint is given, and the environment variable {URL_VARIABLE} is not set"
            raise BadProtocol(msg, hint="`--dry-run` needs none")
        if not url.startswith(("http://", "https://")):
            msg = f"the endpoint is `{url}`, expected an address that begins with http:// or https://"
            raise BadProtocol(msg)
        url = url.rstrip("/")
        for path in _PATHS:  # examples often show the address of the request itself
            url = url.removesuffix(path)
        object.__setattr__(self, "url", url)
        if not self.timeout > 0:
            msg = f"the timeout is {self.timeout}, expected more than 0 seconds"
            raise BadProtocol(msg)
        if self.concurrency < 1 or (self.rate is not None and not self.rate > 0):
            msg = f"the concurrency is {self.concurrency} and the rate {self.rate}, expected more than 0"
            raise BadProtocol(msg)


class ModelClient(HttpClient):
    """Client of one model behind an endpoint."""

    def __init__(self, endpoint: Endpoint, model: str, *, bounds: Bounds, extra: str, needed_by: str) -> None:
        self.key = Key(endpoint.key_variable)
        accounts = {name: os.environ.get(variable, "") for name, variable in _ACCOUNT_HEADERS.items()}
        super().__init__(
            endpoint.url,
            headers={
                "Authorization": f"Bearer {self.key.reveal()}",
                **{name: value for name, value in accounts.items() if value},
            },
            redact=self.key.redact,
            bounds=bounds,
            extra=extra,
            needed_by=needed_by,
        )
        self.endpoint, self.model = endpoint, model

    def notes(self) -> list[str]:
        """Return how many requests were repeated, and whether the key was sent in the clear."""
        exposed = f"the key in {self.key.variable} was sent to {self.url} without encryption"
        return [*super().notes(), *([exposed] if self.key and is_exposed(self.url) else [])]

    def classify(self, response: Response) -> EndpointFailed | RequestError:
        """Return the error for a status other than 2xx, with advice on keys and names of models."""
        status = response.status
        if status in _FATAL:
            msg = f"{self.url} {_FATAL[status]} ({status}): {self.describe(response.content)}"
            return EndpointFailed(msg, hint=self._advise(status))
        return super().classify(response)

    def _advise(self, status: int) -> str:
        if status not in {401, 402, 403}:
            return f"the requested model is `{self.model}`; most addresses end in /v1"
        if self.key:
            return f"the key was taken from the environment variable {self.key.variable}"
        return f"no key was sent: set the environment variable {self.key.variable}, or name another one"


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model and its settings: everything besides the messages that decides an answer."""

    name: str
    schema: Mapping[str, object]
    """JSON schema of an answer."""
    temperature: float | None = 0.0
    """None leaves it to the endpoint."""
    seed: int | None = None
    max_tokens: int = 512
    structure: Structure | None = None
    """None uses the strictest structure that the endpoint supports."""
    logprobs: bool = False
    """Whether to request the probabilities of the tokens of an answer."""


@dataclass(frozen=True)
class Dialect:
    """Parameters that an endpoint accepts."""

    structure: Structure = "json_schema"
    limit_name: str = "max_tokens"
    """Name of the parameter that limits the tokens of an answer."""
    omitted: frozenset[str] = frozenset()
    """Settings that the endpoint does not accept."""

    def parameters(self, model: ChatModel, schema: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the parameters of a request besides its messages."""
        settings: dict[str, object] = {"temperature": model.temperature, "seed": model.seed}
        if model.logprobs and "logprobs" not in self.omitted:
            settings |= {"logprobs": True, "top_logprobs": 20}
        sent = {k: value for k, value in settings.items() if value is not None and k not in self.omitted}
        sent |= {"model": model.name, self.limit_name: model.max_tokens}
        if self.structure == "json_object":
            sent["response_format"] = {"type": "json_object"}
        elif self.structure == "json_schema":
            form = {"name": "grade", "strict": True, "schema": schema or model.schema}
            sent["response_format"] = {"type": "json_schema", "json_schema": form}
        return sent

    def simplify(self, complaint: str, model: ChatModel) -> Iterator[Dialect]:
        """Yield dialects to try after a rejection: without what the complaint names, then with less structure."""
        text = complaint.lower()
        if "max_completion_tokens" in text and self.limit_name == "max_tokens":
            yield replace(self, limit_name="max_completion_tokens")
        named = frozenset(name for name in _OPTIONAL_SETTINGS if name in text) - self.omitted
        if named:
            yield replace(self, omitted=self.omitted | named)
        if model.structure is None:
            for structure in STRUCTURES[STRUCTURES.index(self.structure) + 1 :]:
                yield replace(self, structure=structure)

    def notes(self, model: ChatModel) -> list[str]:
        """Return what readers of the answers should know about the parameters used."""
        notes = [f"the endpoint accepts no `{name}`: its default was used" for name in sorted(self.omitted)]
        if self.structure != (model.structure or STRUCTURES[0]):
            notes.append(
                f"the endpoint has no `{STRUCTURES[0]}` output: answers were read as {self.structure}"
            )
        return notes


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model, with what the endpoint reports about it."""

    text: str | None
    refusal: str | None = None
    finish: str | None = None
    """Reason for which the model stopped, such as `stop` or `length`."""
    tokens_in: int | None = None
    """None if the endpoint counts no tokens."""
    tokens_out: int | None = None
    logprobs: object = None
    """Probabilities of tokens as the endpoint states them, unchecked; None if it reports none."""
    seconds: float = 0.0
    version: str = ""
    """The model as the server names it, and the configuration that it ran with, if it says so."""


class ChatClient(ModelClient):
    """Sends messages to a model; finds out on the first request which parameters its endpoint accepts."""

    def __init__(self, endpoint: Endpoint, chat: ChatModel, *, needed_by: str) -> None:
        bounds = Bounds(endpoint.timeout, CHAT_BYTES, CHAT_WAIT)
        super().__init__(endpoint, chat.name, bounds=bounds, extra="label", needed_by=needed_by)
        self.chat = chat
        self.dialect = Dialect(chat.structure or STRUCTURES[0])
        self.settled = False
        """Whether a request has been accepted, so that the dialect is known to be right."""

    def notes(self) -> list[str]:
        """Return what readers of the answers should know about the connection and the parameters used."""
        return [*super().notes(), *self.dialect.notes(self.chat)]

    async def complete(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, object] | None = None,
        *,
        seed: int | None = None,
    ) -> Reply:
        """Send one request; until the first one is accepted, also try simpler dialects.

        `schema` and `seed` are those of this answer, if they differ from those of the model's settings.
        """
        chat = self.chat if seed is None else replace(self.chat, seed=seed)
        try:
            return await self._complete_in(self.dialect, chat, messages, schema)
        except RejectedError as rejected:
            if self.settled:
                raise
            return await self._complete_simpler(chat, messages, schema, rejected)

    async def _complete_simpler(
        self,
        chat: ChatModel,
        messages: Sequence[Message],
        schema: Mapping[str, object] | None,
        rejected: RejectedError,
    ) -> Reply:
        """Return the reply in the first dialect that is accepted; if there is none, blame the messages."""
        tried = {self.dialect}
        candidates = list(self.dialect.simplify(rejected.reason, self.chat))
        while candidates:
            dialect = candidates.pop(0)
            if dialect in tried:
                continue
            tried.add(dialect)
            try:
                return await self._complete_in(dialect, chat, messages, schema)
            except RejectedError as error:
                # depth first: parameters refused one after the other are dropped before structure is
                candidates = [*dialect.simplify(error.reason, self.chat), *candidates]
        raise rejected

    async def _complete_in(
        self,
        dialect: Dialect,
        chat: ChatModel,
        messages: Sequence[Message],
        schema: Mapping[str, object] | None,
    ) -> Reply:
        started = monotonic()
        request = {"messages": list(messages), **dialect.parameters(chat, schema)}
        try:
            completion = await self.ask_once("POST", f"{self.endpoint.url}/chat/completions", request)
        except BadAnswerError as error:  # such as the page of a gateway
            raise TransientError(error.reason) from None
        reply = parse_reply(completion, self.key.redact)
        if reply is None:
            msg = f"an answer outside the protocol: `{self.show(str(completion), 80)}`"
            raise TransientError(msg)
        self.dialect, self.settled = dialect, True
        return replace(reply, seconds=monotonic() - started)

    def classify(self, response: Response) -> EndpointFailed | RequestError:
        """Return the error for a status other than 2xx; some servers answer a schema that they cannot use with 500."""
        if b'"insufficient_quota"' in response.content:  # with status 429, but no retry helps
            msg = f"{self.url} says that the quota is used up: {self.describe(response.content)}"
            return EndpointFailed(msg, hint="all answers are kept; run the same command again later")
        error = super().classify(response)
        if not self.settled and response.status >= 500 and isinstance(error, TransientError):
            rejects_format = any(word in error.reason.lower() for word in _FORMAT_WORDS)
            return RejectedError(error.reason) if rejects_format else error
        return error


def parse_reply(completion: Any, redact: Callable[[str], str]) -> Reply | None:
    """Extract the reply of a completion, all texts redacted; None if it has none."""
    try:
        choice = completion["choices"][0]
        message, usage = choice["message"], completion.get("usage")
    except (TypeError, LookupError, AttributeError):
        return None
    if not isinstance(message, dict):
        return None

    def text(holder: dict[str, object], name: str) -> str | None:
        value = holder.get(name)
        return redact(value) if isinstance(value, str) and value else None

    def count(name: str) -> int | None:
        value = usage.get(name) if isinstance(usage, dict) else None
        return value if isinstance(value, int) and value >= 0 else None

    return Reply(
        text=text(message, "content"),
        refusal=text(message, "refusal"),
        finish=text(choice, "finish_reason"),
        tokens_in=count("prompt_tokens"),
        tokens_out=count("completion_tokens"),
        logprobs=choice.get("logprobs"),
        version=" ".join(filter(None, (text(completion, "model"), text(completion, "system_fingerprint")))),
    )
