"""When a request is repeated, after how long, and what it may cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given, strategies as st

from judged.net.budget import Budget, Prices
from judged.net.retry import RejectedError, TransientError, backoff, parse_retry_after, retry


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds and dates; anything else is ignored."""
    assert parse_retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    """RFC 9110 allows an HTTP date: the time until then."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)

    assert parse_retry_after({"retry-after": date}) == pytest.approx(30, abs=2)


@given(st.integers(0, 30), st.none() | st.floats(0, 600))
def test_waits_are_as_asked_or_within_a_bound_that_doubles(repetition: int, asked: float | None) -> None:
    """Full jitter below 0.5 · 2^n seconds and a minute; never less than the endpoint asked for."""
    wait = backoff(repetition, asked)

    if asked is None:
        assert 0 <= wait <= min(60.0, 0.5 * 2**repetition)
    else:
        assert asked <= wait <= 1.1 * asked


def send_all(failures: Iterator[Exception], **options: int) -> tuple[object, list[str]]:
    """Return what comes of requests that fail in these ways, then succeed; and the reasons of the retries."""
    reasons: list[str] = []

    async def send() -> str:
        for failure in failures:
            raise failure
        return "answer"

    async def run() -> object:
        try:
            return await retry(send, on_retry=lambda error: reasons.append(error.reason), **options)  # type: ignore[arg-type]
        except (TransientError, RejectedError) as error:
            return error.reason

    return asyncio.run(run()), reasons


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.001)
    monkeypatch.setattr("judged.net.retry.LONGEST_BACKOFF", 0.001)


def test_a_request_is_sent_as_often_as_the_attempts_allow() -> None:
    """Three attempts are two retries; the last failure is the one that counts."""
    failures = [TransientError(f"failure {number}") for number in range(3)]

    assert send_all(iter(failures[:2]), attempts=3) == ("answer", ["failure 0", "failure 1"])
    assert send_all(iter(failures), attempts=3) == ("failure 2", ["failure 0", "failure 1"])


def test_rate_limits_count_apart_if_they_have_attempts_of_their_own() -> None:
    """A server that asks to slow down is well: four limits and a failure pass where two failures would not."""
    limits = [TransientError(f"limit {number}", rate_limited=True) for number in range(4)]
    mixed = [*limits, TransientError("failure")]

    assert send_all(iter(mixed), attempts=2, rate_limited_attempts=5)[0] == "answer"
    assert send_all(iter(mixed), attempts=2, rate_limited_attempts=4)[0] == "limit 3"
    assert send_all(iter(mixed), attempts=2)[0] == "limit 1"


def test_a_rejection_is_not_repeated() -> None:
    """It would be rejected again."""
    assert send_all(iter([RejectedError("no")]), attempts=9) == ("no", [])


def test_a_budget_reserves_what_pending_requests_may_cost() -> None:
    """Two requests of 1.5 × 100 × 0.01 + 100 × 0.01 = 2.5 fit into 5; a third does not until one is finished."""
    budget = Budget(Prices(10_000, 10_000), limit=5.0)
    first = budget.reserve(100, 100)
    second = budget.reserve(100, 100)

    assert (first, second) == (2.5, 2.5)
    assert budget.reserve(100, 100) is None
    budget.release(2.5)
    assert budget.reserve(100, 100) == 2.5


def test_a_budget_reserves_more_if_estimates_fall_short() -> None:
    """If three times the estimate was counted, 3.3 times are set aside: 330 × 0.01."""
    budget = Budget(Prices(10_000, 0), limit=100.0)
    budget.raise_margin(100, 300)

    assert budget.reserve(100, 0) == pytest.approx(3.3)
