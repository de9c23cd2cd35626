"""An estimate: what labelling a pool would take, before anything is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from judged.label.asking import Asking
from judged.label.cache import Cache
from judged.label.money import RULE, Prices
from judged.label.pool import Pool
from judged.label.question import questions_of

__all__ = ["Estimate", "estimate_pool"]

SECONDS = 2.0
"""How long an answer is taken to need, of a model that has answered nothing yet."""

TOKENS_A_FIELD = 8
"""How many tokens a field of an answer is taken to need."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens, cost and time that a labelling would take."""

    results: int
    different: int
    judged: int
    cached: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    """None: no prices were given."""
    seconds: float
    basis: str
    """What tokens written and time are reckoned from."""

    def sentences(self) -> list[str]:
        """The estimate, a sentence for each thing that somebody may ask about."""
        cost = "not known without prices" if self.cost is None else f"about {self.cost:.4f}"
        return [
            f"{self.results:,} results, {self.different:,} different, {self.judged:,} judged before",
            f"requests: {self.requests:,}; in the cache: {self.cached:,}",
            f"tokens: about {self.tokens_in:,} read ({RULE}), about {self.tokens_out:,} written",
            f"cost: {cost}",
            f"time: about {_words(self.seconds)} ({self.basis})",
        ]


def estimate_pool(
    pool: Pool,
    asking: Asking,
    *,
    cache: str | Path | None,
    retry_failed: bool = False,
    prices: Prices | None = None,
    concurrency: int = 8,
    rate: float | None = None,
) -> Estimate:
    """What labelling a pool would take; a cache that is not there is not made."""
    questions, _ = questions_of(pool.items, asking)
    there = cache if cache is not None and Path(cache).exists() else None
    with Cache(there) as kept:
        past = kept.find(questions)
        pace = kept.pace(asking.model)
    known = {key for key, each in past.items() if each.answer.grade is not None or not retry_failed}
    left = [question for key, question in questions.items() if key not in known]
    seconds, written = pace or (SECONDS, TOKENS_A_FIELD * len(asking.prompt.fields))
    tokens_in = sum(question.tokens for question in left)
    tokens_out = math.ceil(written * len(left))
    needed = seconds * math.ceil(len(left) / concurrency)
    return Estimate(
        results=pool.results,
        different=len(pool.items) + pool.judged,
        judged=pool.judged,
        cached=len(known),
        requests=len(left),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if prices is None else prices.cost(tokens_in, tokens_out),
        seconds=needed if rate is None else max(needed, 60 * len(left) / rate),
        basis=f"{seconds:.1f} s an answer, {concurrency} at once, {'as' if pace else 'not'} measured",
    )


def _words(seconds: float) -> str:
    """A time in the unit that people would choose."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
