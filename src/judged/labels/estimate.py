"""Estimate what labelling a pool would take, before anything is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from judged.labels.cache import LabelCache
from judged.labels.prompt import TOKEN_RULE, Labeller, make_questions
from judged.labels.task import Pool
from judged.net.budget import Prices

SECONDS_PER_ANSWER = 2.0
"""Assumed duration of an answer from a model that has not answered yet."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens, cost and time that labelling a pool would take."""

    results: int
    distinct: int
    judged: int
    cached: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    """None if no prices were given."""
    seconds: float
    basis: str
    """Basis of the time estimate."""

    def sentences(self) -> list[str]:
        """Return the estimate, one sentence for each aspect."""
        cost = "unknown without prices" if self.cost is None else f"about {self.cost:.4f}"
        return [
            f"{self.results:,} results, {self.distinct:,} distinct, {self.judged:,} judged before",
            f"requests: {self.requests:,}; in the cache: {self.cached:,}",
            f"tokens: about {self.tokens_in:,} read ({TOKEN_RULE}), about {self.tokens_out:,} written",
            f"cost: {cost}",
            f"time: about {_format_duration(self.seconds)} ({self.basis})",
        ]


def estimate_pool(
    pool: Pool,
    labeller: Labeller,
    *,
    cache: str | Path | None,
    retry_failed: bool = False,
    prices: Prices | None = None,
    concurrency: int = 8,
    rate: float | None = None,
) -> Estimate:
    """Estimate what labelling a pool would take; a cache that does not exist is not created."""
    questions, _ = make_questions(pool.items, labeller)
    existing = cache if cache is not None and Path(cache).exists() else None
    with LabelCache(existing) as answers:
        past = answers.find(questions, labeller.prompt.form)
        pace = answers.pace(labeller.model)
    known = {key for key, entry in past.items() if entry.answer.complete or not retry_failed}
    remaining = [question for key, question in questions.items() if key not in known]
    form = labeller.prompt.form
    assumed = sum(form.tokens(question.count) for question in remaining)
    seconds, tokens_each = pace or (SECONDS_PER_ANSWER, assumed / max(1, len(remaining)))
    tokens_in = sum(question.tokens for question in remaining)
    tokens_out = math.ceil(tokens_each * len(remaining) - 1e-9)  # a mean of whole numbers, rounded
    duration = seconds * math.ceil(len(remaining) / concurrency)
    return Estimate(
        results=pool.results,
        distinct=len(pool.items) + pool.judged,
        judged=pool.judged,
        cached=len(known),
        requests=len(remaining),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if prices is None else prices.cost(tokens_in, tokens_out),
        seconds=duration if rate is None else max(duration, 60 * len(remaining) / rate),
        basis=f"{seconds:.1f} s per answer ({'measured' if pace else 'assumed'}), {concurrency} at once",
    )


def _format_duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
