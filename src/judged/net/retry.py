"""Requests that fail: which are worth repeating, how often, and after how long."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from judged.errors import BadProtocol

T = TypeVar("T")

FIRST_WAIT, LONGEST_BACKOFF = 0.5, 60.0
"""Upper bounds in seconds of the wait before the first retry, and before any."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits on retries of requests that fail, and of questions whose answer states no grade."""

    attempts: int = 6
    reasks: int = 1

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.reasks < 0:
            msg = f"attempts are {self.attempts} and reasks {self.reasks}, expected at least 1 and 0"
            raise BadProtocol(msg)


class RequestError(Exception):
    """A request without a usable answer, and why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TransientError(RequestError):
    """A failed request that may succeed when it is repeated."""

    def __init__(self, reason: str, *, wait: float | None = None, rate_limited: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        """Seconds that the server asked to wait."""
        self.rate_limited = rate_limited


class RejectedError(RequestError):
    """A request that the server does not accept in this form."""


class BadAnswerError(RequestError):
    """An answer that cannot be used: too large, compressed, or not JSON."""


async def retry(
    send: Callable[[], Awaitable[T]],
    *,
    attempts: int,
    rate_limited_attempts: int | None = None,
    on_retry: Callable[[TransientError], None],
) -> T:
    """Send a request until it succeeds; raise the last `TransientError` once the attempts are used up.

    Rate-limited requests have attempts of their own if `rate_limited_attempts` says so: the server is well, and the
    request is accepted later.
    """
    failures = limited = 0
    while True:
        try:
            return await send()
        except TransientError as error:
            counts_apart = error.rate_limited and rate_limited_attempts is not None
            limited += counts_apart
            failures += not counts_apart
            if failures >= attempts or limited >= (rate_limited_attempts or math.inf):
                raise
            wait = backoff(failures + limited - 1, error.wait)
            on_retry(error)
        await asyncio.sleep(wait)


def backoff(retries: int, requested: float | None) -> float:
    """Return how many seconds to wait before a retry, counted from 0.

    Full jitter: a random time below a bound that doubles with every retry. If the server requested a time, wait for
    that and up to a tenth more, so that requests do not return all at once.
    """
    if requested is not None:
        return requested + random.uniform(0, requested / 10)  # noqa: S311 - waiting times are not secrets
    return random.uniform(0, min(LONGEST_BACKOFF, FIRST_WAIT * 2**retries))  # noqa: S311


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer's headers ask to wait, given as a number or a date; None if they do not."""
    # first, as the finer of the two where a server sends both
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
