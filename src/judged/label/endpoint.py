"""An OpenAI-compatible endpoint: one request, and what came of it, in words of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from judged._optional import need
from judged.errors import EndpointFailed
from judged.label.asking import Asking
from judged.label.dialect import Dialect
from judged.label.key import Key
from judged.label.reply import Reply, read_reply
from judged.label.waiting import PATIENCE, asked_to_wait

__all__ = ["Endpoint", "Refused", "Transient"]

_AGAIN = {408, 409, 425, 429}
_CLOSED = {
    401: "refuses the key",
    402: "asks for payment",
    403: "forbids the request",
    404: "has no such model or address",
    405: "takes no such request",
    410: "has this model no more",
}
_FORMATS = ("response_format", "json_schema", "grammar")
_SHOWN = 300


class Transient(Exception):
    """A request that may succeed if it is made again."""

    def __init__(self, reason: str, *, wait: float | None = None, pushed_back: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait
        self.pushed_back = pushed_back


class Refused(Exception):
    """A request that the endpoint does not take as it is."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Endpoint:
    """Where a model answers; the dialect that it understands is found on the first request."""

    def __init__(self, address: str, asking: Asking, *, key: Key, timeout: float = 60.0) -> None:
        self.address = key.hide(address)
        self.asking = asking
        self.dialect = Dialect.of(asking)
        self.settled = False
        """Whether a request has been taken, so that the dialect is known to be understood."""
        self._key = key
        self._library = need("openai", extra="label", needed_by="labelling by a language model")
        self._client = self._library.AsyncOpenAI(
            base_url=address, api_key=key.reveal(), timeout=timeout, max_retries=0
        )

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def ask(self, messages: Sequence[Mapping[str, str]]) -> Reply:
        """The reply to one request; before the first is taken, simpler ones are tried."""
        try:
            return await self._taken(messages, self.dialect)
        except Refused as refused:
            if self.settled:
                raise
            return await self._simplified(messages, refused)

    async def _simplified(self, messages: Sequence[Mapping[str, str]], refused: Refused) -> Reply:
        """The reply in the first dialect that is understood; if none is, the fault lies with the messages."""
        tried = {self.dialect}
        left = list(self.dialect.simpler(refused.reason, self.asking))
        while left:
            dialect = left.pop(0)
            if dialect in tried:
                continue
            tried.add(dialect)
            try:
                return await self._taken(messages, dialect)
            except Refused as again:
                left = [*dialect.simpler(again.reason, self.asking), *left]
        raise refused

    async def _taken(self, messages: Sequence[Mapping[str, str]], dialect: Dialect) -> Reply:
        reply = await self._sent(messages, dialect)
        self.dialect, self.settled = dialect, True
        return reply

    async def _sent(self, messages: Sequence[Mapping[str, str]], dialect: Dialect) -> Reply:
        began = monotonic()
        try:
            completion = await self._client.chat.completions.create(
                messages=list(messages), **dialect.arguments(self.asking)
            )
        except self._library.APIStatusError as error:
            raise self._of_status(error) from None
        except self._library.APITimeoutError:
            raise Transient("timeout") from None
        except self._library.APIConnectionError as error:
            reason = f"no connection ({self._told(error.__cause__ or error)})"
            raise Transient(reason) from None
        except (self._library.APIError, ValueError) as error:  # a body that is no JSON
            raise self._garbage(str(error)) from None
        reply = read_reply(completion, scale=self.asking.prompt.scale, hide=self._key.hide)
        if reply is None:
            raise self._garbage(str(completion))
        return replace(reply, seconds=monotonic() - began)

    def _garbage(self, content: str) -> Transient:
        """What some gateway said in place of an answer of the protocol."""
        return Transient(f"garbage ({self._key.hide(' '.join(content.split()))[:80]})")

    def _of_status(self, error: Any) -> Exception:
        """What an answer other than 200 means: try again, this request is refused, or stop everything."""
        status, told = error.status_code, self._told(error)
        if status in _CLOSED:
            msg = f"{self.address} {_CLOSED[status]} ({status}): {told}"
            return EndpointFailed(msg, hint=self._advice(status))
        if getattr(error, "code", None) == "insufficient_quota":
            msg = f"{self.address} says that the quota is used up: {told}"
            return EndpointFailed(msg, hint="what was answered is kept; run the same command again later")
        if status in _AGAIN or (status >= 500 and not self._complains_of_format(told)):
            return self._again(error, f"status {status}")
        return Refused(f"status {status}: {told}")

    def _again(self, error: Any, reason: str) -> Exception:
        wait = asked_to_wait(error.response.headers)
        if wait is not None and wait > PATIENCE:
            msg = f"{self.address} asks to wait for {wait:,.0f} s"
            return EndpointFailed(msg, hint="what was answered is kept; run the same command again then")
        return Transient(reason, wait=wait, pushed_back=error.status_code == 429 or wait is not None)

    def _complains_of_format(self, told: str) -> bool:
        """Whether a fault of the server's is that it does not know how answers are to be structured."""
        return not self.settled and any(word in told.lower() for word in _FORMATS)

    def _advice(self, status: int) -> str:
        if status not in {401, 402, 403}:
            return f"the model asked for is `{self.asking.model}`; addresses mostly end in /v1"
        if self._key:
            return f"the key is the one in the environment variable {self._key.variable}"
        return f"no key was sent: set the environment variable {self._key.variable}, or name another"

    def _told(self, error: BaseException) -> str:
        """What an error says, in one line, without the key."""
        body = getattr(error, "body", None)
        inner = body.get("error", body) if isinstance(body, dict) else body
        message = inner.get("message") if isinstance(inner, dict) else inner
        text = " ".join(str(message or error).split()) or type(error).__name__
        return self._key.hide(text)[:_SHOWN]
