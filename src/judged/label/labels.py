"""Labels of a pool: from the cache as far as they are there, and else asked of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judged.errors import JudgedError
from judged.label.anywhere import run_anywhere
from judged.label.asking import Asking
from judged.label.cache import Answer, Cache, Past
from judged.label.endpoint import Endpoint
from judged.label.job import Job, Standing, Tell
from judged.label.key import Key
from judged.label.labelling import Labelling
from judged.label.money import Prices, Purse
from judged.label.pool import Item, Pool
from judged.label.question import Question, questions_of
from judged.label.service import Service
from judged.label.throttle import Throttle
from judged.label.turn import turn_at
from judged.tables.sessions import GRADES

__all__ = ["label_pool"]


@dataclass(frozen=True)
class _Asked:
    """What came of asking, beside the answers, which are in the cache."""

    cached: int = 0
    asked: int = 0
    unanswered: Mapping[bytes, tuple[str, str]] = field(default_factory=dict)
    stopped: str | None = None
    notes: tuple[str, ...] = ()


def label_pool(
    pool: Pool,
    asking: Asking,
    service: Service,
    *,
    cache: str | Path | None,
    retry_failed: bool = False,
    tell: Tell | None = None,
    rescue: Callable[[Labelling], None] | None = None,
) -> Labelling:
    """The labels of a pool; every answer is in the cache before the next request counts.

    Questions that the cache knows are not asked again; those whose answer stated no grade are, if `retry_failed`.
    Without a cache (None), nothing outlives the call. One job at a time works with a cache: another waits. `rescue` is
    given what was finished if the job is interrupted or stopped by an error.
    """
    questions, keys = questions_of(pool.items, asking)
    purse = Purse(service.prices, service.budget)
    waiting = Standing(0, len(questions), 0, 0.0, trouble=f"waiting for another job that uses {cache}")
    with Cache(cache) as kept, turn_at(cache, lambda: tell(waiting) if tell else None):
        before = kept.find(questions)
        known = {key for key, past in before.items() if past.answer.grade is not None or not retry_failed}
        left = {key: question for key, question in questions.items() if key not in known}
        for past in before.values():
            purse.pay(past.tokens_in, past.tokens_out)

        def gathered(asked: _Asked) -> Labelling:
            now = kept.find(questions)
            new = sum(key in asked.unanswered or now.get(key) != before.get(key) for key in left)
            counted = replace(asked, cached=len(known), asked=new)
            return _gathered(pool, asking, keys, before, now, counted, purse.prices)

        try:
            return gathered(_ask(left, asking, service, kept, purse, tell) if left else _Asked())
        except (KeyboardInterrupt, JudgedError) as error:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else "an error, told below"
            with suppress(JudgedError):  # the first error is the one to tell
                if rescue is not None:
                    rescue(gathered(_Asked(stopped=why)))
            raise


def _ask(
    questions: Mapping[bytes, Question],
    asking: Asking,
    service: Service,
    cache: Cache,
    purse: Purse,
    tell: Tell | None,
) -> _Asked:
    """Put questions to the endpoint until all are answered or the job stops."""
    key = Key(service.key_variable)
    endpoint = Endpoint(service.endpoint, asking, key=key, timeout=service.timeout)
    throttle = Throttle(service.concurrency, service.rate)
    job = Job(endpoint, cache=cache, purse=purse, throttle=throttle, patience=service.patience, tell=tell)
    run_anywhere(lambda: job.run(questions, at_once=service.concurrency))
    notes = endpoint.dialect.notes(asking)
    if job.uncounted:
        notes.append(f"the endpoint counted no tokens of {job.uncounted:,} answers: they are estimated")
    return _Asked(
        unanswered=job.unanswered,
        stopped=job.stopped,
        notes=tuple(notes),
    )


def _gathered(
    pool: Pool,
    asking: Asking,
    keys: list[bytes],
    before: Mapping[bytes, Past],
    now: Mapping[bytes, Past],
    asked: _Asked,
    prices: Prices,
) -> Labelling:
    """The labels and failures of all items, in their order."""
    rows, failures = [], []
    for item, key in zip(pool.items, keys, strict=True):
        past = now.get(key)
        if past is not None and past.answer.grade is not None:
            rows.append(_row(pool, item, asking, past.answer))
        elif past is not None:
            failures.append(_failure(item, past.answer.failure, past.answer.answer))
        elif key in asked.unanswered:
            failures.append(_failure(item, *asked.unanswered[key]))
    tokens = [sum(getattr(past, name) for past in now.values()) for name in ("tokens_in", "tokens_out")]
    earlier = [sum(getattr(past, name) for past in before.values()) for name in ("tokens_in", "tokens_out")]
    return Labelling(
        labeller=asking.labeller,
        rows=tuple(rows),
        failures=tuple(failures),
        results=pool.results,
        different=len(pool.items) + pool.judged,
        judged=pool.judged,
        cached=asked.cached,
        asked=asked.asked,
        tokens_in=tokens[0] - earlier[0],
        tokens_out=tokens[1] - earlier[1],
        spent=prices.cost(*tokens),
        spent_before=prices.cost(*earlier),
        stopped=asked.stopped,
        notes=(*pool.notes, *asked.notes, *_cut(pool, asking)),
    )


def _row(pool: Pool, item: Item, asking: Asking, answer: Answer) -> dict[str, Any]:
    """A line of the output: of a run as judgments have it, of a trace with all keys of the result."""
    scale = asking.prompt.scale
    told = {
        **item.row,
        "grade" if pool.kind == "run" else "gain": answer.grade,
        "labeller": asking.labeller,
        "prompt": asking.prompt.identity,
        "scale": None if scale == tuple(GRADES) else list(scale),
        "tokens": answer.tokens_in + answer.tokens_out,
        "mass": None if answer.mass is None else round(answer.mass, 4),
    }
    return {name: value for name, value in told.items() if value is not None}


def _failure(item: Item, why: str | None, answer: str | None) -> dict[str, Any]:
    return {**item.row, "failure": why, "answer": answer}


def _cut(pool: Pool, asking: Asking) -> list[str]:
    long = sum(len(item.text) > asking.text_limit for item in pool.items)
    texts = "text was" if long == 1 else "texts were"
    return [f"{long:,} {texts} cut at {asking.text_limit:,} characters"] if long else []
