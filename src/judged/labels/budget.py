"""What labelling costs: prices, a budget that is never overdrawn, and an estimate before anything is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from judged.errors import BadProtocol
from judged.labels.cache import LabelCache
from judged.labels.pool import Pool
from judged.labels.prompt import TOKEN_RULE, Labeller, make_questions

MARGIN = 1.5
"""Factor by which more than the estimate is reserved for a request, until token counts ask for more."""
SECONDS_PER_ANSWER = 2.0
"""Assumed duration of an answer from a model that has not answered yet."""
TOKENS_PER_FIELD = 8
"""Assumed length of one field of an answer."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens, in any currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.tokens_in < math.inf and 0 <= self.tokens_out < math.inf):
            msg = f"the prices are {self.tokens_in} and {self.tokens_out}, expected numbers of 0 or more"
            raise BadProtocol(msg)

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return the cost of tokens read and written."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


class Budget:
    """Money spent and reserved for pending requests, with an optional limit."""

    def __init__(self, prices: Prices | None = None, limit: float | None = None) -> None:
        if limit is not None and (prices is None or prices == Prices()):
            msg = "a budget needs prices"
            raise BadProtocol(msg, hint="give `--price-in` and `--price-out`, per million tokens")
        if limit is not None and not limit > 0:
            msg = f"the budget is {limit}, expected more than 0"
            raise BadProtocol(msg)
        self.prices = prices or Prices()
        self.limit = limit
        self.spent = 0.0
        self._reserved: list[float] = []
        self._margin = MARGIN

    @property
    def has_pending(self) -> bool:
        """Whether money is reserved for any request."""
        return bool(self._reserved)

    def pay(self, tokens_in: int, tokens_out: int) -> None:
        """Add the cost of tokens that an endpoint has counted."""
        self.spent += self.prices.cost(tokens_in, tokens_out)

    def raise_margin(self, estimated: int, counted: int) -> None:
        """Reserve more from now on if an estimate fell short by more than the margin."""
        self._margin = max(self._margin, 1.1 * counted / estimated)

    def reserve(self, tokens_in: int, tokens_out: int) -> float | None:
        """Reserve the most that a request may cost and return it; None if the budget has no room for it."""
        most = self.prices.cost(tokens_in * self._margin, tokens_out)
        if self.limit is not None and self.spent + sum(self._reserved) + most > self.limit:
            return None
        self._reserved.append(most)
        return most

    def release(self, amount: float) -> None:
        """Return the money reserved for a finished request."""
        self._reserved.remove(amount)


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
    """What the time is estimated from."""

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
        past = answers.find(questions, labeller.prompt.scale)
        pace = answers.pace(labeller.model)
    known = {key for key, entry in past.items() if entry.answer.grade is not None or not retry_failed}
    remaining = [question for key, question in questions.items() if key not in known]
    seconds, tokens_each = pace or (SECONDS_PER_ANSWER, TOKENS_PER_FIELD * len(labeller.prompt.fields))
    tokens_in = sum(question.tokens for question in remaining)
    tokens_out = math.ceil(tokens_each * len(remaining))
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
