"""Run a labelling job: many questions to one endpoint, throttled and retried, each answer on disk at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from time import monotonic
from typing import TypeVar

from judged.errors import EndpointFailed
from judged.labels.answer import Verdict, find_grade_mass
from judged.labels.cache import Grading, LabelCache
from judged.labels.prompt import Labeller, Question, estimate_tokens
from judged.net.budget import Budget
from judged.net.llm import ChatClient, Reply
from judged.net.retry import RejectedError, TransientError, retry
from judged.progress import Progress

T = TypeVar("T")

NO_ANSWER, REJECTED = "no answer", "refused by the endpoint"
"""Why a question has no answer: only failures came back, or the endpoint rejects it, such as a text too long."""
MAX_SILENT = 10
"""Maximum number of consecutive questions without an answer before the job stops."""
MAX_REJECTED = 5
"""Maximum number of rejected requests before any is accepted."""
# a rate limit ends by itself
RATE_LIMIT_FACTOR = 10
"""Factor by which a rate-limited request is repeated more often than one that fails otherwise."""


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
        """Number of requests that may run at once now, rounded down."""
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
            # taken before waiting, so that requests that wait have different starts
            self._next_start = start + self._interval
            # in a loop, because `slow_down` may move the pause while this one sleeps
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


def grade_reply(reply: Reply, question: Question, labeller: Labeller) -> Grading:
    """Return what a reply states, with its tokens: as the endpoint counted them, else as estimated."""
    prompt, text = labeller.prompt, reply.text or reply.refusal or ""
    if reply.refusal or reply.finish == "content_filter":
        verdict = Verdict(None, "refusal")
    else:
        verdict = prompt.form.read(reply.text, question.count, complete=reply.finish != "length")
    return Grading(
        verdict.grade,
        verdict.reason,
        text,
        labeller.model,
        prompt.identity,
        settings=labeller.settings,
        tokens_in=question.tokens if reply.tokens_in is None else reply.tokens_in,
        tokens_out=estimate_tokens([{"content": text}]) if reply.tokens_out is None else reply.tokens_out,
        finish=reply.finish,
        mass=find_grade_mass(reply.logprobs, prompt.scale),
    )


class Job:
    """Asks questions until all are answered, the budget is spent, or the endpoint stops answering."""

    def __init__(
        self,
        client: ChatClient,
        labeller: Labeller,
        *,
        cache: LabelCache,
        budget: Budget,
        progress: Progress | None = None,
    ) -> None:
        self.unanswered: dict[bytes, tuple[str, str]] = {}
        """Kind and reason for each question without an answer; nothing was paid, and nothing is cached."""
        self.stopped: str | None = None
        """Why the job ended before its last question."""
        self.uncounted = 0
        """Number of answers without a token count."""
        self._client, self._labeller = client, labeller
        self._cache, self._budget = cache, budget
        self._throttle = Throttle(client.endpoint.concurrency, client.endpoint.rate)
        self._retry_policy = client.endpoint.retries
        self._progress = progress
        self._released = asyncio.Event()
        self._silent_in_a_row = 0
        self._rate_limited = False
        self._total = self._done = self._failed = self._retries = 0
        self._problem = ""
        self._started = monotonic()

    async def run(self, questions: Mapping[bytes, Question]) -> None:
        """Ask all questions, several at a time; the first alone, to find out what the endpoint accepts."""
        self._total = len(questions)
        queue = iter(questions.values())
        try:
            await self._start(queue)
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(self._client.endpoint.concurrency, self._total)):
                    workers.create_task(self._work(queue))
        except BaseExceptionGroup as group:  # the first error stops everything; the others follow from it
            raise group.exceptions[0] from None

    async def probe(self, questions: Mapping[bytes, Question]) -> dict[bytes, Question]:
        """Ask until one request is accepted, which shows what the endpoint supports; return the questions that are left."""
        self._total, self._started = len(questions), monotonic()
        queue = iter(questions.values())
        await self._start(queue)
        return {question.key: question for question in queue}

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
        self._failed += answer is None or not answer.complete
        self._report()

    async def _ask(self, question: Question) -> Grading:
        """Ask until an answer states a grade or no reask is left; cache and pay every answer."""
        for _ in range(1 + self._retry_policy.reasks):
            answer = self._to_answer(question, await self._send_with_retries(question))
            # first of all: an answer that was paid for is kept, even one without a grade
            self._cache.add(question.key, answer)
            self._budget.pay(answer.tokens_in, answer.tokens_out)
            self._silent_in_a_row = 0
            if answer.complete:
                break
        return answer

    def _to_answer(self, question: Question, reply: Reply) -> Grading:
        """Read the grade of a reply and count its tokens."""
        if reply.tokens_in is None:
            self.uncounted += 1
        else:
            self._budget.raise_margin(question.tokens, reply.tokens_in)
        answer = grade_reply(reply, question, self._labeller)
        return replace(answer, structure=self._client.dialect.structure, seconds=round(reply.seconds, 4))

    async def _send_with_retries(self, question: Question) -> Reply:
        """Send a question, and repeat it after failures as often as the policy allows."""
        attempts = self._retry_policy.attempts
        try:
            return await retry(
                lambda: self._send(question),
                attempts=attempts,
                rate_limited_attempts=RATE_LIMIT_FACTOR * attempts,
                on_retry=self._count_retry,
            )
        except RejectedError as error:
            raise _UnansweredError(REJECTED, error.reason) from None
        except TransientError as error:
            self._rate_limited = error.rate_limited
            raise _UnansweredError(NO_ANSWER, error.reason) from None

    def _count_retry(self, error: TransientError) -> None:
        self._retries += 1
        self._problem = error.reason
        self._report()

    async def _send(self, question: Question) -> Reply:
        """Send one request when there is a slot and money for it."""
        reserved = await self._reserve(question)
        started = 0.0
        try:
            async with self._throttle.slot() as started:
                prompt = self._labeller.prompt
                messages = prompt.messages(question.texts, question.each)
                reply = await self._client.complete(messages, prompt.form.schema(question.count))
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
        max_tokens = self._labeller.max_tokens
        while (reserved := self._budget.reserve(question.tokens, max_tokens)) is None:
            if not self._budget.has_pending or self.stopped:
                raise _OverBudgetError
            self._released.clear()
            await self._released.wait()
        return reserved

    def _report(self) -> None:
        """Report how far the job is: rate, cost, failures and retries."""
        if self._progress is None:
            return
        rate = 60 * self._done / max(monotonic() - self._started, 1e-9)
        parts = [f"{rate:,.0f} a minute"]
        parts += [f"cost {self._budget.spent:.4f}"] if self._budget.spent else []
        parts += [f"{self._failed:,} failed"] if self._failed else []
        parts += [f"{self._retries:,} retries (last: {self._problem})"] if self._retries else []
        self._progress(self._done, self._total, ", ".join(parts))
