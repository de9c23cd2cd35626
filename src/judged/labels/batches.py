"""Run a labelling job through the Batch API: submit, wait, merge; a job that was killed finds its batches again.

A file next to the cache, `CACHE-batches`, has a line for every step. That a batch is about to start is written before it
does, with a tag that the endpoint keeps as well, so that no batch is ever paid for and forgotten.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from secrets import token_hex

import msgspec

from judged.errors import BadProtocol, EndpointFailed
from judged.labels.cache import Grading, LabelCache
from judged.labels.prompt import Labeller, Question
from judged.labels.run import NO_ANSWER, REJECTED, Job, grade_reply
from judged.net.batches import MOST_BYTES, MOST_REQUESTS, Batch, BatchClient, Line
from judged.net.budget import Budget
from judged.progress import Progress
from judged.store.log import Log
from judged.wording import counted

FIRST_POLL = 1.0
"""Seconds before a batch is looked at for the first time; small ones may take no longer."""
OVER_BUDGET = "the budget is reached"


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Options of waiting for batches."""

    poll: float = 30.0
    """Seconds between two looks at a batch."""
    wait: bool = True
    """Whether to wait for answers; else a later job collects them."""

    def __post_init__(self) -> None:
        if not self.poll > 0:
            msg = f"the interval between two looks at a batch is {self.poll} s, expected more than 0"
            raise BadProtocol(msg)


class _Step(msgspec.Struct, omit_defaults=True):
    """A line of the log: a batch that is about to start, has started, or is over."""

    tag: str
    labeller: str = ""
    """Model, prompt and settings, as a hash."""
    keys: dict[str, int] = {}
    """Questions by the hexadecimal form of their keys, with the number of units in each."""
    batch: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True)
class _Submission:
    """A batch that may still have answers."""

    tag: str
    keys: Mapping[str, int]
    batch: str
    reserved: float | None = None


class BatchJob:
    """Asks questions in batches until all are answered, the budget is spent, or a batch has no answers."""

    def __init__(
        self,
        client: BatchClient,
        labeller: Labeller,
        *,
        cache: LabelCache,
        budget: Budget,
        options: BatchOptions,
        progress: Progress | None = None,
    ) -> None:
        if cache.path is None:
            raise BadProtocol(
                "batches need a file that stores the answers", hint="give one: `cache`, `--cache`"
            )
        self.unanswered: dict[bytes, tuple[str, str]] = {}
        self.stopped: str | None = None
        self.uncounted = 0
        self._client, self._labeller = client, labeller
        self._cache, self._budget, self._options = cache, budget, options
        self._progress = progress
        self._steps = Log(Path(f"{cache.path}-batches"), msgspec.json.Decoder(_Step).decode)
        self._times_asked: Counter[bytes] = Counter()
        self._merged = 0
        self._questions: Mapping[bytes, Question] = {}

    async def run(self, questions: Mapping[bytes, Question]) -> None:
        """Collect the answers of earlier batches, then ask what is missing in new ones until all is answered."""
        self._questions = questions
        open_ones = await self._resume()
        while True:
            under_way = {bytes.fromhex(key) for submission in open_ones for key in submission.keys}
            new = self._list_open(under_way)
            if new and not self.stopped:
                open_ones += await self._submit(new)
            before = self._merged
            open_ones = await self._collect(open_ones)
            if open_ones:
                count = sum(len(submission.keys) for submission in open_ones)
                self.stopped = f"{counted(count, 'question')} in batches that are not finished: run the same command later"
                return
            if self.stopped or not self._list_open(set()):
                return
            if self._merged == before:  # asking again would return nothing either
                _, reason = next(iter(self.unanswered.values()), ("", "no reason given"))
                self.stopped = f"the batch brought no answers ({reason})"
                return

    def _list_open(self, under_way: set[bytes]) -> dict[bytes, Question]:
        """Return the questions to ask: without a complete answer, not refused, and not asked too often."""
        past = self._cache.find(self._questions, self._labeller.prompt.form)
        most = self._times_limit
        return {
            key: question
            for key, question in self._questions.items()
            if key not in under_way
            and self._times_asked[key] < most
            and not (key in past and past[key].answer.complete)
            and self.unanswered.get(key, ("", ""))[0] != REJECTED
        }

    async def _resume(self) -> list[_Submission]:
        """Return the batches of earlier jobs of this labeller that are not over."""
        steps: dict[str, _Step] = {}
        for step in self._steps.read():
            known = steps.setdefault(step.tag, step)
            known.batch, known.over = known.batch or step.batch, known.over or step.over
        mine = [step for step in steps.values() if step.labeller == self._labeller.identity and not step.over]
        found = []
        for step in mine:
            name = step.batch
            if (
                not name
            ):  # killed between the two lines: only the endpoint knows whether the batch was started
                batch = await self._client.find(step.tag)
                name = batch.id if batch is not None else ""
                self._steps.append(_Step(step.tag, batch=name, over=batch is None))
            if name:
                tokens = sum(
                    self._questions[key].tokens
                    for key in map(bytes.fromhex, step.keys)
                    if key in self._questions
                )
                reserved = self._budget.reserve(tokens, len(step.keys) * self._labeller.max_tokens)
                found.append(_Submission(step.tag, step.keys, name, reserved))
        return found

    async def _submit(self, questions: Mapping[bytes, Question]) -> list[_Submission]:
        """Start batches of questions, as many as the budget has room for."""
        if not self._client.settled and self._labeller.structure is None:
            questions = await self._probe(questions)
        waiting, started = list(questions.values()), []
        while waiting:
            some, content = self._write(waiting)
            fitting, reserved = self._reserve(some)
            if reserved is None:
                self.stopped = OVER_BUDGET
                break
            if fitting < len(some):
                some, content = self._write(waiting[:fitting])
            waiting = waiting[len(some) :]
            step = _Step(token_hex(8), self._labeller.identity, {q.key.hex(): q.count for q in some})
            self._steps.append(step)
            batch = await self._client.submit(content, step.tag)
            self._steps.append(_Step(step.tag, batch=batch.id))
            started.append(_Submission(step.tag, step.keys, batch.id, reserved))
        return started

    async def _probe(self, questions: Mapping[bytes, Question]) -> dict[bytes, Question]:
        """Ask one question directly, to find out what the endpoint supports; return the others."""
        job = Job(self._client, self._labeller, cache=self._cache, budget=self._budget)
        left = await job.probe(questions)
        self._times_asked.update({key: self._times_limit for key in questions if key not in left})
        self._merged += len(questions) - len(left)
        self.unanswered |= job.unanswered
        self.stopped, self.uncounted = job.stopped, self.uncounted + job.uncounted
        return {} if job.stopped else left

    @property
    def _times_limit(self) -> int:
        return 1 + self._client.endpoint.retries.reasks

    def _write(self, questions: list[Question]) -> tuple[list[Question], bytes]:
        """Return as many of the first questions as one batch may hold, and their file."""
        prompt = self._labeller.prompt
        lines: list[bytes] = []
        size = 0
        for question in questions[:MOST_REQUESTS]:
            asked = prompt.messages(question.texts, question.each), prompt.form.schema(question.count)
            line = self._client.write({question.key.hex(): asked})
            size += len(line)
            if lines and size > MOST_BYTES:
                break
            lines.append(line)
        return questions[: len(lines)], b"".join(lines)

    def _reserve(self, questions: list[Question]) -> tuple[int, float | None]:
        """Reserve the most that the first questions may cost, as many as the budget has room for."""
        totals = list(accumulate(question.tokens for question in questions))
        low, high = 0, len(questions)
        while low < high:
            middle = (low + high + 1) // 2
            amount = self._budget.reserve(totals[middle - 1], middle * self._labeller.max_tokens)
            if amount is None:
                high = middle - 1
            else:
                self._budget.release(amount)
                low = middle
        if not low:
            return 0, None
        return low, self._budget.reserve(totals[low - 1], low * self._labeller.max_tokens)

    async def _collect(self, submissions: list[_Submission]) -> list[_Submission]:
        """Merge the answers of batches as they finish; without waiting, return those that have not."""
        waiting, interval = submissions, min(FIRST_POLL, self._options.poll)
        while waiting:
            looked = [(submission, await self._client.look(submission.batch)) for submission in waiting]
            for submission, batch in looked:
                if not batch.running:
                    await self._merge(submission, batch)
            waiting = [submission for submission, batch in looked if batch.running]
            if not waiting or not self._options.wait:
                break
            self._report([batch for _, batch in looked if batch.running])
            await asyncio.sleep(interval)
            interval = min(self._options.poll, 2 * interval)
        return waiting

    async def _merge(self, submission: _Submission, batch: Batch) -> None:
        """Store the answers of a batch that is over, all at once, and record that it is."""
        lines = {line.name: line for line in await self._client.read(batch) if line.name in submission.keys}
        answers = list(self._grade(lines.values(), submission, batch.id))
        for _, answer in self._cache.merge(answers):
            self._budget.pay(answer.tokens_in, answer.tokens_out)
        for key, _ in answers:
            self._times_asked[key] += 1
            self.unanswered.pop(key, None)
        self._merged += len(answers)
        answered = {key for key, _ in answers}
        for name in submission.keys:
            key, line = bytes.fromhex(name), lines.get(name)
            if key not in answered and key in self._questions:
                kind = REJECTED if line is not None and line.rejected else NO_ANSWER
                self.unanswered[key] = kind, (line.reason if line else "") or f"the batch is {batch.status}"
        if submission.reserved is not None:
            self._budget.release(submission.reserved)
        self._steps.append(_Step(submission.tag, over=True))
        if batch.status == "failed":
            msg = f"{self._client.url} refuses the batch: {batch.problem or 'no reason given'}"
            raise EndpointFailed(
                msg, hint="all answers are kept; `--structure` and `--max-tokens` change requests"
            )
        if batch.status == "cancelled":
            self.stopped = "the batch was cancelled at the endpoint"

    def _grade(
        self, lines: Iterable[Line], submission: _Submission, batch: str
    ) -> Iterable[tuple[bytes, Grading]]:
        """Yield what the replies of a batch state; also those to questions that this job does not ask."""
        for line in lines:
            if line.reply is None:
                continue
            key = bytes.fromhex(line.name)
            units = ("",) * submission.keys[line.name] if self._labeller.prompt.each else ()
            question = self._questions.get(key) or Question(key, {}, units, 0)
            self.uncounted += line.reply.tokens_in is None
            answer = grade_reply(line.reply, question, self._labeller)
            yield key, replace(answer, structure=self._client.dialect.structure, batch=batch)

    def _report(self, batches: list[Batch]) -> None:
        if self._progress is not None:
            finished = self._merged + sum(batch.finished for batch in batches)
            states = ", ".join(sorted({batch.status for batch in batches}))
            cost = f", cost {self._budget.spent:.4f}" if self._budget.spent else ""
            total = len(self._questions)
            self._progress(min(finished, total), total, f"{counted(len(batches), 'batch')} {states}{cost}")
