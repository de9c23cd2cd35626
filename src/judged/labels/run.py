"""Run a labelling job: many questions to one endpoint, throttled and retried, each answer on disk at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias, TypeVar

from judged._optional import need
from judged.errors import EndpointFailed
from judged.labels.answer import Verdict, read_answer
from judged.labels.budget import Budget
from judged.labels.cache import Answer, LabelCache
from judged.labels.client import Client, RejectedError, Reply, RetryPolicy, TransientError
from judged.labels.prompt import Question, estimate_tokens

T = TypeVar("T")

FIRST_WAIT, LONGEST_BACKOFF = 0.5, 60.0
"""Upper bounds in seconds of the wait before the first retry, and before any."""
NO_ANSWER, REJECTED = "no answer", "refused by the endpoint"
"""Why a question has no answer: only failures came back, or the endpoint rejects it, such as a text too long."""
MAX_SILENT = 10
"""How many consecutive questions may go without an answer before the job stops."""
MAX_REJECTED = 5
"""How many requests may be rejected before any is accepted."""
RATE_LIMIT_FACTOR = 10
"""How many times more often a rate-limited request is repeated than one that fails otherwise."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a job."""

    done: int
    total: int
    failed: int
    spent: float
    retries: int = 0
    """How many requests had to be repeated."""
    problem: str | None = None
    """Why the last of them had to be; before the first one, what the job waits for."""

    @property
    def waiting(self) -> bool:
        """Whether the job has not started yet."""
        return self.problem is not None and not self.retries


ProgressCallback: TypeAlias = Callable[[Progress], None]


class _OverBudgetError(Exception):
    """The budget has no room for another request."""


class _UnansweredError(Exception):
    """No answer came, of which kind and why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind = kind
        self.reason = reason


class Throttle:
    """Limits requests: their number at once and per minute; none starts while the endpoint asks to wait.

    The limit is halved when the endpoint signals overload and grows back while it does not.
    """

    def __init__(self, concurrency: int = 8, per_minute: float | None = None) -> None:
        self.limit = float(concurrency)
        """How many requests may run at once now, rounded down."""
        self._concurrency = concurrency
        self._interval = 0.0 if per_minute is None else 60 / per_minute
        self._running = 0
        self._changed = asyncio.Condition()
        self._next_start = 0.0
        self._resume = 0.0
        self._last_cut = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a free slot and yield the time at which the request starts."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._running < int(self.limit))
            self._running += 1
        try:
            start = max(monotonic(), self._next_start)
            self._next_start = start + self._interval
            while (wait := max(start, self._resume) - monotonic()) > 0:  # noqa: ASYNC110 - a time, not an event
                await asyncio.sleep(wait)
            yield monotonic()
        finally:
            self._running -= 1
            async with self._changed:
                self._changed.notify_all()

    def speed_up(self) -> None:
        """Allow one more request at once for every round of successful ones."""
        self.limit = min(self._concurrency, self.limit + 1 / self.limit)

    def slow_down(self, started: float, wait: float | None) -> None:
        """Halve the limit, once for all requests that were already running, and pause for `wait` seconds."""
        now = monotonic()
        if started >= self._last_cut:
            self.limit = max(1.0, self.limit / 2)
            self._last_cut = now
        self._resume = max(self._resume, now + (wait or 0.0))


class Job:
    """Asks questions until all are answered, the budget is spent, or the endpoint stops answering."""

    def __init__(
        self,
        client: Client,
        *,
        cache: LabelCache,
        budget: Budget,
        throttle: Throttle,
        retries: RetryPolicy,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.unanswered: dict[bytes, tuple[str, str]] = {}
        """Kind and reason for each question without an answer; nothing was paid, and nothing is cached."""
        self.stopped: str | None = None
        """Why the job ended before its last question."""
        self.uncounted = 0
        """How many answers came without a token count."""
        self._client = client
        self._cache = cache
        self._budget = budget
        self._throttle = throttle
        self._retry_policy = retries
        self._progress = progress
        self._random = random.Random()  # noqa: S311 - waiting times are no secrets
        self._released = asyncio.Event()
        self._silent_in_a_row = 0
        self._rate_limited = False
        self._total = self._done = self._failed = self._retries = 0
        self._problem: str | None = None

    async def run(self, questions: Mapping[bytes, Question], *, concurrency: int) -> None:
        """Ask all questions, `concurrency` at a time; the first alone, to find out what the endpoint accepts."""
        self._total = len(questions)
        queue = iter(questions.values())
        try:
            await self._start(queue)
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(concurrency, self._total)):
                    workers.create_task(self._work(queue))
        except BaseExceptionGroup as group:  # the first error stops everything; the others follow from it
            raise group.exceptions[0] from None
        finally:
            await self._client.close()

    async def _start(self, queue: Iterator[Question]) -> None:
        """Ask one question after the other until a request is accepted."""
        for question in queue:
            await self._label(question)
            if self._client.settled or self.stopped:
                return
            kind, reason = self.unanswered[question.key]
            if kind == NO_ANSWER and self._rate_limited:
                msg = f"{self._client.url} keeps asking to slow down: {reason}"
                hint = "is a quota or a rate limit exhausted? run the same command later"
                raise EndpointFailed(msg, hint=hint)
            if kind == NO_ANSWER:
                msg = f"{self._client.url} does not answer: {reason}"
                raise EndpointFailed(msg, hint="is the address right, and the server running?")
            if len(self.unanswered) == MAX_REJECTED:
                msg = f"{self._client.url} refuses every request: {reason}"
                raise EndpointFailed(msg)

    async def _work(self, queue: Iterator[Question]) -> None:
        for question in queue:
            if self.stopped:
                return
            await self._label(question)

    async def _label(self, question: Question) -> None:
        """Ask one question and record the outcome."""
        answer = None
        try:
            answer = await self._ask(question)
        except _OverBudgetError:
            self.stopped = self.stopped or "the budget is reached"
            return
        except _UnansweredError as error:
            self.unanswered[question.key] = error.kind, error.reason
            self._silent_in_a_row = self._silent_in_a_row + 1 if error.kind == NO_ANSWER else 0
            if self._silent_in_a_row >= MAX_SILENT:
                self.stopped = f"the endpoint no longer answers ({error.reason})"
        self._done += 1
        self._failed += answer is None or answer.grade is None
        self._report()

    async def _ask(self, question: Question) -> Answer:
        """Ask until an answer states a grade or no reask is left; cache and pay every answer."""
        for _ in range(1 + self._retry_policy.reasks):
            answer = self._to_answer(question, await self._send_with_retries(question))
            self._cache.add(question.key, answer)
            self._budget.pay(answer.tokens_in, answer.tokens_out)
            self._silent_in_a_row = 0
            if answer.grade is not None:
                break
        return answer

    def _to_answer(self, question: Question, reply: Reply) -> Answer:
        """Read the grade of a reply and count its tokens."""
        labeller = self._client.labeller
        verdict = self._read_grade(reply)
        if reply.tokens_in is None:
            self.uncounted += 1
        else:
            self._budget.raise_margin(question.tokens, reply.tokens_in)
        text = reply.text or reply.refusal or ""
        return Answer(
            verdict.grade,
            verdict.reason,
            text,
            labeller.model,
            labeller.prompt.identity,
            settings=labeller.settings,
            structure=self._client.dialect.structure,
            tokens_in=question.tokens if reply.tokens_in is None else reply.tokens_in,
            tokens_out=estimate_tokens([{"content": text}]) if reply.tokens_out is None else reply.tokens_out,
            finish=reply.finish,
            mass=reply.mass,
            seconds=round(reply.seconds, 4),
        )

    def _read_grade(self, reply: Reply) -> Verdict:
        if reply.refusal or reply.finish == "content_filter":
            return Verdict(None, "refusal")
        prompt = self._client.labeller.prompt
        complete = reply.finish != "length"
        return read_answer(reply.text, scale=prompt.scale, field=prompt.fields[-1], complete=complete)

    async def _send_with_retries(self, question: Question) -> Reply:
        """Send a question, and repeat it after failures as often as the policy allows."""
        attempts = self._retry_policy.attempts
        failures = rate_limits = 0
        while True:
            try:
                return await self._send(question)
            except RejectedError as error:
                raise _UnansweredError(REJECTED, error.reason) from None
            except TransientError as error:
                failures += not error.rate_limited
                rate_limits += error.rate_limited
                self._rate_limited = error.rate_limited
                if failures >= attempts or rate_limits >= RATE_LIMIT_FACTOR * attempts:
                    raise _UnansweredError(NO_ANSWER, error.reason) from None
                wait = backoff(failures + rate_limits - 1, error.wait, self._random)
                self._retries += 1
                self._problem = error.reason
                self._report()
            await asyncio.sleep(wait)

    async def _send(self, question: Question) -> Reply:
        """Send one request when there is a slot and money for it."""
        reserved = await self._reserve(question)
        started = 0.0
        try:
            async with self._throttle.slot() as started:
                reply = await self._client.ask(question.messages(self._client.labeller.prompt))
        except TransientError as error:
            if error.rate_limited:
                self._throttle.slow_down(started, error.wait)
            raise
        finally:
            self._budget.release(reserved)
            self._released.set()
        self._throttle.speed_up()
        return reply

    async def _reserve(self, question: Question) -> float:
        """Reserve the most a request may cost; wait for pending requests if they leave no room."""
        max_tokens = self._client.labeller.max_tokens
        while (reserved := self._budget.reserve(question.tokens, max_tokens)) is None:
            if not self._budget.has_pending or self.stopped:
                raise _OverBudgetError
            self._released.clear()
            await self._released.wait()
        return reserved

    def _report(self) -> None:
        if self._progress is not None:
            counts = self._done, self._total, self._failed
            self._progress(Progress(*counts, self._budget.spent, self._retries, self._problem))


def backoff(retry: int, requested: float | None, rng: random.Random) -> float:
    """Return how many seconds to wait before a retry, counted from 0.

    Full jitter: a random time below a bound that doubles with every retry. If the endpoint requested a time, wait
    for that and up to a tenth more, so that requests do not return all at once.
    """
    if requested is not None:
        return requested + rng.uniform(0, requested / 10)
    return rng.uniform(0, min(LONGEST_BACKOFF, FIRST_WAIT * 2**retry))


def run_sync(work: Callable[[], Awaitable[T]]) -> T:
    """Run asynchronous work to its end in a thread with its own event loop, so that it works in notebooks, too.

    An interruption of the calling thread cancels the work.
    """
    portal = need("anyio.from_thread", extra="label", needed_by="labelling by a language model")
    with portal.start_blocking_portal() as thread:
        result: T = thread.call(work)
        return result
