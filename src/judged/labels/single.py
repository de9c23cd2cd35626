"""`label_pool`: a pool labelled by one labeller, every answer in the cache before the next request counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from judged.errors import JudgedError
from judged.labels.answer import Label
from judged.labels.batches import BatchJob, BatchOptions
from judged.labels.cache import Grading, LabelCache, Past, lock_cache
from judged.labels.prompt import Asked, Labeller, Question, make_questions
from judged.labels.result import Labelling
from judged.labels.run import Job
from judged.labels.task import Item, Pool
from judged.net.batches import BatchClient
from judged.net.budget import Budget
from judged.net.llm import Endpoint
from judged.problem import Note
from judged.progress import Progress
from judged.result import Provenance
from judged.tables.schema import GRADES

LABEL = ""
"""Stands for the column of the label, which the pool names."""
LOW_MASS = 0.5
"""Below this probability of any legal grade, a grade means little."""


class _Settings(TypedDict):
    cache: LabelCache
    budget: Budget
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of a job besides the answers, which are in the cache."""

    unanswered: Mapping[bytes, tuple[str, str]] = field(default_factory=dict)
    stopped: str | None = None
    notes: tuple[Note, ...] = ()


def label_pool(
    pool: Pool,
    labeller: Labeller,
    endpoint: Endpoint,
    *,
    cache: str | Path | None,
    budget: Budget | None = None,
    retry_failed: bool = False,
    batches: BatchOptions | None = None,
    progress: Progress | None = None,
    on_stop: Callable[[Labelling], None] | None = None,
) -> Labelling:
    """Label a pool; every answer is in the cache before the next request counts.

    Questions that the cache knows are not asked again, except, with `retry_failed`, those whose answer stated no grade.
    One job at a time uses a cache: another waits. If the job is interrupted or stopped by an error, `on_stop` receives
    what is finished.
    """
    questions, places = make_questions(pool.items, labeller)
    money = budget or Budget()

    def report_wait(holder: str) -> None:
        if progress is not None:
            progress(0, None, f"waiting for another job that uses {cache}: {holder}")

    with LabelCache(cache) as answers, lock_cache(cache, report_wait):
        before = answers.find(questions, labeller.prompt.form)
        known = {key for key, past in before.items() if past.answer.complete or not retry_failed}
        remaining = {key: question for key, question in questions.items() if key not in known}
        for past in before.values():
            money.pay(past.tokens_in, past.tokens_out)

        def collect(outcome: _Outcome) -> Labelling:
            now = answers.find(questions, labeller.prompt.form)
            asked = sum(key in outcome.unanswered or now.get(key) != before.get(key) for key in remaining)
            rows, failures, answered = _make_rows(pool, labeller, places, now, outcome.unanswered)
            tokens, tokens_before = _count_tokens(now), _count_tokens(before)
            return Labelling(
                labeller=labeller.name,
                labelled=tuple(rows),
                failures=tuple(failures),
                results=pool.results,
                distinct=len(pool.items) + pool.judged,
                judged=pool.judged,
                answered=answered,
                column=pool.column,
                cached=len(known),
                asked=asked,
                tokens_in=tokens[0] - tokens_before[0],
                tokens_out=tokens[1] - tokens_before[1],
                spent=money.prices.cost(*tokens),
                spent_before=money.prices.cost(*tokens_before),
                stopped=outcome.stopped,
                notes=(*pool.notes, *outcome.notes, *_make_notes(pool, labeller, rows)),
                provenance=Provenance(inputs=pool.inputs, settings=_list_settings(labeller)),
            )

        try:
            if not remaining:
                return collect(_Outcome())
            return collect(_run_job(remaining, labeller, endpoint, answers, money, progress, batches))
        except (KeyboardInterrupt, Exception) as error:
            reason = "interrupted" if isinstance(error, KeyboardInterrupt) else "an error, see below"
            with suppress(JudgedError):  # the first error is the one to report
                if on_stop is not None:
                    on_stop(collect(_Outcome(stopped=reason)))
            raise


def _run_job(
    questions: Mapping[bytes, Question],
    labeller: Labeller,
    endpoint: Endpoint,
    cache: LabelCache,
    budget: Budget,
    progress: Progress | None,
    batches: BatchOptions | None,
) -> _Outcome:
    """Send questions to the endpoint until all are answered or the job stops."""
    client = BatchClient(endpoint, labeller.chat, needed_by="labelling by a language model")
    settings: _Settings = {"cache": cache, "budget": budget, "progress": progress}
    try:
        job = (
            Job(client, labeller, **settings)
            if batches is None
            else BatchJob(client, labeller, options=batches, **settings)
        )
        client.run(job.run(questions))
    finally:
        client.close()
    notes = [Note("simpler-request", "info", message) for message in client.notes()]
    if job.uncounted:
        message = f"the endpoint counted no tokens of {job.uncounted:,} answers: they are estimated"
        notes.append(Note("estimated-tokens", "info", message))
    return _Outcome(job.unanswered, job.stopped, tuple(notes))


def _make_rows(
    pool: Pool,
    labeller: Labeller,
    places: Sequence[Asked],
    answers: Mapping[bytes, Past],
    unanswered: Mapping[bytes, tuple[str, str]],
) -> tuple[list[dict[str, object]], list[dict[str, object]], int]:
    """Return the labels and the failures of all items, in their order, and the number of items with a label."""
    rows: list[dict[str, object]] = []
    failures: list[dict[str, object]] = []
    answered = 0
    for item, (key, position) in zip(pool.items, places, strict=True):
        past = answers.get(key)
        stated = None if past is None else _find_stated(past.answer, position, labeller)
        if past is not None and stated is not None:
            answered += 1
            rows += (_make_row(pool, item, labeller, past.answer, columns) for columns in stated)
        elif past is not None:
            failures.append({**item.row, "failure": past.answer.failure, "answer": past.answer.answer})
        elif key in unanswered:
            kind, reason = unanswered[key]
            failures.append({**item.row, "failure": kind, "answer": reason})
    return rows, failures, answered


def _find_stated(answer: Grading, position: int, labeller: Labeller) -> list[Mapping[str, Label]] | None:
    """Return the columns that an answer states about one item, a dict for each row; None if it states nothing."""
    prompt, stated = labeller.prompt, answer.grade
    if isinstance(stated, list) and prompt.records is not None:
        return stated
    label = stated[position] if isinstance(stated, list) else stated
    return None if label is None else [{LABEL: prompt.value_of(label)}]


def _make_row(
    pool: Pool, item: Item, labeller: Labeller, answer: Grading, columns: Mapping[str, Label]
) -> dict[str, object]:
    """Return a row of the output: the keys of the item, what the answer states, and who said so."""
    prompt = labeller.prompt
    usual = prompt.records is not None or prompt.values == tuple(GRADES)
    row = {
        **item.row,
        **{pool.column if name is LABEL else name: value for name, value in columns.items()},
        "labeller": labeller.name,
        "prompt": prompt.identity,
        "scale": None if usual else list(prompt.values),
        # those of a batch, or of an answer with several records, are not those of a row
        "tokens": None if prompt.each or prompt.records else answer.tokens_in + answer.tokens_out,
        "mass": None if answer.mass is None else round(answer.mass, 4),
    }
    return {name: value for name, value in row.items() if value is not None}


def _count_tokens(answers: Mapping[bytes, Past]) -> tuple[int, int]:
    return sum(past.tokens_in for past in answers.values()), sum(past.tokens_out for past in answers.values())


def _make_notes(pool: Pool, labeller: Labeller, rows: Sequence[Mapping[str, object]]) -> Iterator[Note]:
    """Yield notes on texts that were cut, and on grades that the model found improbable."""
    limit = labeller.text_limit
    cut = sum(
        any(len(text) > limit for name, text in item.texts.items() if name != "query") for item in pool.items
    )
    if cut:
        texts = "text was" if cut == 1 else "texts were"
        yield Note("cut-text", "info", f"{cut:,} {texts} cut at {limit:,} characters")
    masses = [mass for row in rows if isinstance(mass := row.get("mass"), int | float)]
    low = sum(mass < LOW_MASS for mass in masses)
    if low:
        message = (
            f"{low:,} of {len(masses):,} grades had less than half of the probability on any grade: the prompt,"
            " or the form of its answer, may not suit this model"
        )
        yield Note("low-probability", "warning", message)


def _list_settings(labeller: Labeller) -> dict[str, object]:
    """Return everything besides the results that decides the answers."""
    names = ("model", "temperature", "seed", "max_tokens", "structure", "text_limit")
    settings = {name: getattr(labeller, name) for name in names}
    prompt = labeller.prompt
    return {
        **settings,
        "prompt": prompt.label,
        "prompt_identity": prompt.identity,
        **({} if prompt.records else {"scale": list(prompt.scale)}),
        **({"batch": labeller.batch or prompt.batch} if prompt.each else {}),
    }
