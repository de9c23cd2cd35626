"""A job: all questions to one endpoint, some at a time, each answer on disk before the next request counts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from judged.errors import EndpointFailed
from judged.label.answer import read_answer
from judged.label.cache import Answer, Cache
from judged.label.endpoint import Endpoint, Refused, Transient
from judged.label.money import Purse, tokens_of
from judged.label.question import Question
from judged.label.reply import Reply
from judged.label.service import Patience
from judged.label.throttle import Throttle
from judged.label.waiting import seconds_to_wait

__all__ = ["Job", "Standing", "Tell"]

SILENT, NOT_TAKEN = "no answer", "refused by the endpoint"
"""Why a question has no answer: nothing but faults came back, or it is not taken, as where it is too long."""
LOST = 10
"""How many questions in a row may go without any answer before the job stops."""
REFUSED = 5
"""How many requests may be refused before one is ever taken."""
PUSHES = 10
"""How often the endpoint may push back, for each attempt that any other fault is given."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a job is."""

    done: int
    total: int
    failed: int
    spent: float
    faults: int = 0
    """How many requests had to be made again."""
    trouble: str | None = None
    """Why the last of them had to; or, while there are none, what the job waits for before it begins."""

    @property
    def waits(self) -> bool:
        """Whether the job has not begun."""
        return self.trouble is not None and not self.faults


Tell: TypeAlias = Callable[[Standing], None]


class _OverBudgetError(Exception):
    """The budget has no room for another request."""


class _UnansweredError(Exception):
    """No answer came: of what kind that is, and why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind = kind
        self.reason = reason


class Job:
    """Asks questions until all are answered, the budget is reached, or the endpoint is lost."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cache: Cache,
        purse: Purse,
        throttle: Throttle,
        patience: Patience | None = None,
        tell: Tell | None = None,
    ) -> None:
        self.answers: dict[bytes, Answer] = {}
        """The answer to every question that was answered, with or without a grade."""
        self.unanswered: dict[bytes, tuple[str, str]] = {}
        """Of what kind it is that a question has no answer, and why; nothing was paid, and nothing is kept."""
        self.stopped: str | None = None
        """Why the job ended before its last question."""
        self.uncounted = 0
        """How many answers came without a count of tokens."""
        self._endpoint = endpoint
        self._cache = cache
        self._purse = purse
        self._throttle = throttle
        self._patience = patience or Patience()
        self._tell = tell
        self._chance = random.Random()  # noqa: S311 - waiting times are no secrets
        self._freed = asyncio.Event()
        self._in_a_row = 0
        self._pushed = False
        self._done = 0
        self._failed = 0
        self._faults = 0
        self._trouble: str | None = None
        self._total = 0

    async def run(self, questions: Mapping[bytes, Question], *, at_once: int) -> None:
        """Ask all questions, `at_once` of them at a time; the first alone, to find what the endpoint understands."""
        self._total = len(questions)
        left = iter(questions.values())
        try:
            await self._begin(left)
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(at_once, self._total)):
                    workers.create_task(self._work(left))
        except BaseExceptionGroup as group:  # the first fault stops everything; the rest follow from it
            raise group.exceptions[0] from None
        finally:
            await self._endpoint.close()

    async def _begin(self, left: Iterator[Question]) -> None:
        """Ask one question after the other until a request is taken."""
        for question in left:
            await self._label(question)
            if self._endpoint.settled or self.stopped:
                return
            kind, reason = self.unanswered[question.key]
            if kind == SILENT and self._pushed:
                msg = f"{self._endpoint.address} keeps asking to slow down: {reason}"
                raise EndpointFailed(
                    msg, hint="is a quota or a rate limit used up? run the same command later"
                )
            if kind == SILENT:
                msg = f"{self._endpoint.address} does not answer: {reason}"
                raise EndpointFailed(msg, hint="is the address right, and the server running?")
            if len(self.unanswered) == REFUSED:
                msg = f"{self._endpoint.address} refuses every request: {reason}"
                raise EndpointFailed(msg)

    async def _work(self, left: Iterator[Question]) -> None:
        for question in left:
            if self.stopped:
                return
            await self._label(question)

    async def _label(self, question: Question) -> None:
        """Ask until an answer states a grade; whatever comes of it is known afterwards."""
        try:
            await self._ask(question)
        except _OverBudgetError:
            self.stopped = self.stopped or "the budget is reached"
            return
        except _UnansweredError as error:
            self.unanswered[question.key] = error.kind, error.reason
            self._in_a_row = self._in_a_row + 1 if error.kind == SILENT else 0
            if self._in_a_row >= LOST:
                self.stopped = f"the endpoint no longer answers ({error.reason})"
        answer = self.answers.get(question.key)
        self._done += 1
        self._failed += answer is None or answer.grade is None
        self._report()

    async def _ask(self, question: Question) -> None:
        """Ask as often as it takes, or as is allowed, until an answer states a grade; each answer is kept."""
        for _ in range(1 + self._patience.reasks):
            answer = self._answer(question, await self._reply(question))
            self._cache.add(question.key, answer)
            self._purse.pay(answer.tokens_in, answer.tokens_out)
            self.answers[question.key] = answer
            self._in_a_row = 0
            if answer.grade is not None:
                return

    def _answer(self, question: Question, reply: Reply) -> Answer:
        """A reply as it is kept."""
        asking = self._endpoint.asking
        grade, failure = self._read(reply)
        counted = reply.tokens_in
        if counted is None:
            self.uncounted += 1
        else:
            self._purse.learn(question.tokens, counted)
        written = reply.text or reply.refusal or ""
        return Answer(
            grade,
            failure,
            written,
            asking.model,
            asking.prompt.identity,
            settings=asking.settings,
            structure=self._endpoint.dialect.structure,
            tokens_in=question.tokens if counted is None else counted,
            tokens_out=tokens_of([{"content": written}]) if reply.tokens_out is None else reply.tokens_out,
            finish=reply.finish,
            mass=reply.mass,
            seconds=round(reply.seconds, 4),
        )

    def _read(self, reply: Reply) -> tuple[int | None, str | None]:
        """The grade that a reply states, or why it states none."""
        if reply.refusal or reply.finish == "content_filter":
            return None, "refusal"
        prompt = self._endpoint.asking.prompt
        whole = reply.finish != "length"
        verdict = read_answer(reply.text, scale=prompt.scale, field=prompt.fields[-1], whole=whole)
        return verdict.grade, verdict.reason

    async def _reply(self, question: Question) -> Reply:
        """The reply to a question, after as many attempts as it takes or as are allowed."""
        faults = pushes = 0
        while True:
            try:
                return await self._attempt(question)
            except Refused as refused:
                raise _UnansweredError(NOT_TAKEN, refused.reason) from None
            except Transient as fault:
                faults, pushes = faults + (not fault.pushed_back), pushes + fault.pushed_back
                allowed = self._patience.attempts
                self._pushed = fault.pushed_back
                if faults >= allowed or pushes >= PUSHES * allowed:
                    raise _UnansweredError(SILENT, fault.reason) from None
                wait = seconds_to_wait(faults + pushes - 1, fault.wait, self._chance)
                self._faults += 1
                self._trouble = fault.reason
                self._report()
            await asyncio.sleep(wait)

    async def _attempt(self, question: Question) -> Reply:
        """One request, when there is room for it; what it may cost is set aside meanwhile."""
        aside = await self._set_aside(question)
        began = 0.0
        try:
            async with self._throttle.turn() as began:
                reply = await self._endpoint.ask(question.messages(self._endpoint.asking))
        except Transient as fault:
            if fault.pushed_back:
                self._throttle.pushed_back(began, fault.wait)
            raise
        finally:
            self._purse.release(aside)
            self._freed.set()
        self._throttle.eased()
        return reply

    async def _set_aside(self, question: Question) -> float:
        """The most that a request may cost; if requests under way leave no room for it, after them."""
        most = self._endpoint.asking.max_tokens
        while (aside := self._purse.set_aside(question.tokens, most)) is None:
            if not self._purse.busy or self.stopped:
                raise _OverBudgetError
            self._freed.clear()
            await self._freed.wait()
        return aside

    def _report(self) -> None:
        """Tell how far the job is."""
        if self._tell is not None:
            state = self._done, self._total, self._failed, self._purse.spent, self._faults, self._trouble
            self._tell(Standing(*state))
