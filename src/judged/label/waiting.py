"""Waiting before a request is made again: as long as the endpoint asks for, else ever longer, by chance."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["PATIENCE", "asked_to_wait", "seconds_to_wait"]

FIRST, LONGEST = 0.5, 60.0
"""Within how many seconds the first repetition comes, and any."""

PATIENCE = 600.0
"""Seconds that an endpoint may ask to be left alone; one that asks for more stops the job."""


def seconds_to_wait(repetition: int, asked: float | None, chance: random.Random) -> float:
    """How long to wait before a repetition, counted from 0.

    Full jitter: anything from nothing to a bound that doubles each time. If the endpoint asked for a time, that
    and up to a tenth more, so that not all come back at once.
    """
    if asked is not None:
        return asked + chance.uniform(0, asked / 10)
    return chance.uniform(0, min(LONGEST, FIRST * 2**repetition))


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that the headers of an answer ask to wait, given in seconds or as a date; None if they do not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after")
    seconds = _number(told)
    return seconds if seconds is not None else _until(told)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(text: str | None) -> float | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (TypeError, ValueError, IndexError):
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
