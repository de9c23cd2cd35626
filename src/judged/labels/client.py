"""One request to an OpenAI-compatible endpoint and its outcome: a reply, or an error that says what to do next."""

from __future__ import annotations

import asyncio
import math
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from ipaddress import ip_address
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from judged._optional import need
from judged.errors import BadProtocol, EndpointFailed
from judged.labels.prompt import STRUCTURES, Labeller, Message, Structure

URL_VARIABLE = "OPENAI_BASE_URL"
"""The environment variable with the address of the endpoint, if no other address is given."""
KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable with the key, if no other variable is named."""
SHORTEST_SECRET = 8
"""Shorter keys are words such as `none`, used with local endpoints, which may occur in any text."""
LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to wait; one that asks for more stops the job."""

ANSWER_BYTES = 4 << 20
"""The largest answer that is read, probabilities of tokens included; a grade takes a few hundred bytes."""

_RETRYABLE = {408, 409, 425, 429}
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
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")
_MESSAGE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to repeat requests that fail, and questions whose answer states no grade."""

    attempts: int = 6
    reasks: int = 1

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.reasks < 0:
            msg = f"attempts are {self.attempts} and reasks {self.reasks}, expected at least 1 and 0"
            raise BadProtocol(msg)


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
        # Examples often show the address of the request itself.
        object.__setattr__(self, "url", url.rstrip("/").removesuffix("/chat/completions"))
        if not self.timeout > 0:
            msg = f"the timeout is {self.timeout}, expected more than 0 seconds"
            raise BadProtocol(msg)
        if self.concurrency < 1 or (self.rate is not None and not self.rate > 0):
            msg = f"the concurrency is {self.concurrency} and the rate {self.rate}, expected more than 0"
            raise BadProtocol(msg)


class Key:
    """Secret key, read from the environment and removed from everything that is stored or shown."""

    def __init__(self, variable: str | None = None) -> None:
        self.variable = variable or KEY_VARIABLE
        self._secret = os.environ.get(self.variable, "").strip()
        if variable is not None and not self._secret:
            msg = f"the environment variable {variable}, named as the one with the key, is not set"
            raise BadProtocol(msg)

    def __repr__(self) -> str:
        return f"Key({self.variable}: {'set' if self._secret else 'not set'})"

    def __bool__(self) -> bool:
        return bool(self._secret)

    def reveal(self) -> str:
        """Return the secret, or a placeholder for endpoints that need none; for the HTTP client only."""
        return self._secret or "none"

    def redact(self, text: str) -> str:
        """Return the text without the secret and without passwords in addresses."""
        redacted = text.replace(self._secret, "[key]") if len(self._secret) >= SHORTEST_SECRET else text
        return _USER_IN_URL.sub("", redacted)


class TransientError(Exception):
    """A failed request that may succeed when it is repeated."""

    def __init__(self, reason: str, *, wait: float | None = None, rate_limited: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait
        """Seconds that the endpoint asked to wait."""
        self.rate_limited = rate_limited


class RejectedError(Exception):
    """A request that the endpoint does not accept in this form."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Dialect:
    """Which parameters an endpoint accepts."""

    structure: Structure = "json_schema"
    limit_name: str = "max_tokens"
    """Name of the parameter that limits the tokens of an answer."""
    omitted: frozenset[str] = frozenset()
    """Settings that the endpoint does not accept."""

    def parameters(self, labeller: Labeller) -> dict[str, object]:
        """Return the parameters of a request besides its messages."""
        settings: dict[str, object] = {"temperature": labeller.temperature, "seed": labeller.seed}
        if labeller.logprobs and "logprobs" not in self.omitted:
            settings |= {"logprobs": True, "top_logprobs": 20}
        sent = {k: value for k, value in settings.items() if value is not None and k not in self.omitted}
        sent |= {"model": labeller.model, self.limit_name: labeller.max_tokens}
        if self.structure == "json_object":
            sent["response_format"] = {"type": "json_object"}
        elif self.structure == "json_schema":
            schema = {"name": "grade", "strict": True, "schema": labeller.prompt.schema}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        return sent

    def simplify(self, complaint: str, labeller: Labeller) -> Iterator[Dialect]:
        """Yield dialects to try after a rejection: without what the complaint names, then with less structure."""
        text = complaint.lower()
        if "max_completion_tokens" in text and self.limit_name == "max_tokens":
            yield replace(self, limit_name="max_completion_tokens")
        named = frozenset(name for name in _OPTIONAL_SETTINGS if name in text) - self.omitted
        if named:
            yield replace(self, omitted=self.omitted | named)
        if labeller.structure is None:
            for structure in STRUCTURES[STRUCTURES.index(self.structure) + 1 :]:
                yield replace(self, structure=structure)

    def notes(self, labeller: Labeller) -> list[str]:
        """Return what readers of the labels should know about the parameters used."""
        notes = [f"the endpoint accepts no `{name}`: its default was used" for name in sorted(self.omitted)]
        if self.structure != (labeller.structure or STRUCTURES[0]):
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
    """Why the model stopped, such as `stop` or `length`."""
    tokens_in: int | None = None
    """None if the endpoint counts no tokens."""
    tokens_out: int | None = None
    mass: float | None = None
    """Probability of all legal grades at the position of the digit; None if the endpoint reports none."""
    seconds: float = 0.0


class _TooLargeError(ValueError):
    """An answer has more bytes than any grade needs."""


class Client:
    """Sends questions to an endpoint; finds out on the first request which parameters it accepts."""

    def __init__(self, endpoint: Endpoint, labeller: Labeller) -> None:
        self._key = Key(endpoint.key_variable)
        self.url = self._key.redact(endpoint.url)
        self.labeller = labeller
        self.dialect = Dialect(labeller.structure or STRUCTURES[0])
        self.settled = False
        """Whether a request has been accepted, so that the dialect is known to be right."""
        self._openai = need("openai", extra="label", needed_by="labelling by a language model")
        self._timeout = endpoint.timeout
        self._http = self._openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=self._key.reveal(),
            timeout=endpoint.timeout,
            max_retries=0,
            default_headers={"Accept-Encoding": "identity"},
            http_client=self._openai.DefaultAsyncHttpxClient(
                follow_redirects=False,  # questions and documents go to the named address only
                event_hooks={"response": [limit_answer(ANSWER_BYTES)]},
            ),
        )

    def notes(self) -> list[str]:
        """Return what readers of the labels should know about the connection and the parameters used."""
        notes = self.dialect.notes(self.labeller)
        if self._key and self.url.startswith("http://") and not _is_local(self.url):
            notes.append(f"the key in {self._key.variable} was sent to {self.url} without encryption")
        return notes

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def ask(self, messages: Sequence[Message]) -> Reply:
        """Send one request; until the first one is accepted, also try simpler dialects."""
        try:
            return await self._ask_in(self.dialect, messages)
        except RejectedError as rejected:
            if self.settled:
                raise
            return await self._ask_simpler(messages, rejected)

    async def _ask_simpler(self, messages: Sequence[Message], rejected: RejectedError) -> Reply:
        """Return the reply in the first dialect that is accepted; if there is none, blame the messages."""
        tried = {self.dialect}
        candidates = list(self.dialect.simplify(rejected.reason, self.labeller))
        while candidates:
            dialect = candidates.pop(0)
            if dialect in tried:
                continue
            tried.add(dialect)
            try:
                return await self._ask_in(dialect, messages)
            except RejectedError as error:
                candidates = [*dialect.simplify(error.reason, self.labeller), *candidates]
        raise rejected

    async def _ask_in(self, dialect: Dialect, messages: Sequence[Message]) -> Reply:
        started = monotonic()
        try:
            async with asyncio.timeout(self._timeout):  # that of the HTTP client starts anew with every byte
                completion = await self._http.chat.completions.create(
                    messages=list(messages), **dialect.parameters(self.labeller)
                )
        except self._openai.APIStatusError as error:
            raise self._classify(error) from None
        except (self._openai.APITimeoutError, TimeoutError):
            raise TransientError("timeout") from None
        except _TooLargeError as error:
            raise TransientError(str(error)) from None
        except self._openai.APIConnectionError as error:
            if isinstance(error.__cause__, _TooLargeError):  # older versions of the package wrap it
                raise TransientError(str(error.__cause__)) from None
            reason = f"no connection ({self._describe(error.__cause__ or error)})"
            raise TransientError(reason) from None
        except (self._openai.APIError, ValueError, RecursionError) as error:  # the body is no JSON
            raise self._garbage(str(error)) from None
        try:  # the client does not check that fields have the types that it declares
            reply = _read_reply(completion, scale=self.labeller.prompt.scale, redact=self._key.redact)
        except (AttributeError, TypeError, LookupError, ArithmeticError):
            reply = None
        if reply is None:
            raise self._garbage(str(completion))
        self.dialect, self.settled = dialect, True
        return replace(reply, seconds=monotonic() - started)

    def _garbage(self, content: str) -> TransientError:
        """Return the error for a body outside the protocol, such as the page of a gateway."""
        return TransientError(f"garbage ({self._key.redact(' '.join(content.split()))[:80]})")

    def _classify(self, error: Any) -> Exception:
        """Return what a status other than 200 means: repeat, reject this request, or stop the job."""
        status, message = error.status_code, self._describe(error)
        if 300 <= status < 400:
            target = self._key.redact(error.response.headers.get("location", "nowhere"))[:_MESSAGE_LENGTH]
            msg = f"{self.url} redirects to `{target}` ({status}), which is not followed"
            return EndpointFailed(msg, hint="if you trust that address, give it as the endpoint")
        if status in _FATAL:
            msg = f"{self.url} {_FATAL[status]} ({status}): {message}"
            return EndpointFailed(msg, hint=self._advise(status))
        if getattr(error, "code", None) == "insufficient_quota":
            msg = f"{self.url} says that the quota is used up: {message}"
            return EndpointFailed(msg, hint="all answers are kept; run the same command again later")
        rejects_format = not self.settled and any(word in message.lower() for word in _FORMAT_WORDS)
        if status not in _RETRYABLE and (status < 500 or rejects_format):
            return RejectedError(f"status {status}: {message}")
        wait = parse_retry_after(error.response.headers)
        if wait is not None and wait > LONGEST_WAIT:
            msg = f"{self.url} asks to wait for {wait:,.0f} s"
            return EndpointFailed(msg, hint="all answers are kept; run the same command again then")
        return TransientError(f"status {status}", wait=wait, rate_limited=status == 429 or wait is not None)

    def _advise(self, status: int) -> str:
        if status not in {401, 402, 403}:
            return f"the requested model is `{self.labeller.model}`; most addresses end in /v1"
        if self._key:
            return f"the key was taken from the environment variable {self._key.variable}"
        return f"no key was sent: set the environment variable {self._key.variable}, or name another one"

    def _describe(self, error: BaseException) -> str:
        """Return the message of an error on one line, without the key."""
        body = getattr(error, "body", None)
        inner = body.get("error", body) if isinstance(body, dict) else body
        message = inner.get("message") if isinstance(inner, dict) else inner
        text = " ".join(str(message or error).split()) or type(error).__name__
        return self._key.redact(text)[:_MESSAGE_LENGTH]


def limit_answer(most: int) -> Callable[[Any], Awaitable[None]]:
    """Return a hook that lets a response end with an error once its body is too large, before all of it is read."""

    async def limit(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _TooLargeError("a compressed answer, which was not asked for")  # its size is not known
        library = import_module(
            type(response).__module__.partition(".")[0]
        )  # httpx, or what the package has since
        stream = response.stream

        class Limited(library.AsyncByteStream):  # type: ignore[misc, name-defined]
            async def __aiter__(self) -> AsyncIterator[bytes]:
                count = 0
                async for chunk in stream:
                    count += len(chunk)
                    if count > most:
                        msg = f"an answer of more than {most:,} bytes"
                        raise _TooLargeError(msg)
                    yield chunk

            async def aclose(self) -> None:
                await stream.aclose()

        response.stream = Limited()

    return limit


def _is_local(url: str) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _read_reply(completion: object, *, scale: Sequence[int], redact: Callable[[str], str]) -> Reply | None:
    """Extract the reply of a completion, all texts redacted; None if it has none."""
    choices = getattr(completion, "choices", None) or []
    message = getattr(choices[0], "message", None) if choices else None
    if message is None:
        return None

    def text(holder: object, name: str) -> str | None:
        value = getattr(holder, name, None)
        return redact(value) if isinstance(value, str) and value else None

    def count(name: str) -> int | None:
        value = getattr(getattr(completion, "usage", None), name, None)
        return value if isinstance(value, int) and value >= 0 else None

    return Reply(
        text=text(message, "content"),
        refusal=text(message, "refusal"),
        finish=text(choices[0], "finish_reason"),
        tokens_in=count("prompt_tokens"),
        tokens_out=count("completion_tokens"),
        mass=_grade_mass(getattr(choices[0], "logprobs", None), scale),
    )


def _grade_mass(logprobs: object, scale: Sequence[int]) -> float | None:
    """Return the probability of all legal grades at the last digit of the answer."""
    legal = {str(grade) for grade in scale}
    for token in reversed(getattr(logprobs, "content", None) or []):
        if token.token.strip() in legal and token.top_logprobs:
            return sum(
                math.exp(option.logprob) for option in token.top_logprobs if option.token.strip() in legal
            )
    return None


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer's headers ask to wait, given as a number or a date; None if they do not."""
    milliseconds = _parse_seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _parse_seconds(text)
    return seconds if seconds is not None else _seconds_until(text)


def _parse_seconds(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < math.inf else None


def _seconds_until(text: str | None) -> float | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (TypeError, ValueError, IndexError):
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
