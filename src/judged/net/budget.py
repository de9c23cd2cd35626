"""Cost of a language model's answers: prices, and a budget that is never overdrawn."""

from __future__ import annotations

import math
from dataclasses import dataclass

from judged.errors import BadProtocol

MARGIN = 1.5
"""Factor by which more than the estimate is reserved for a request, until token counts ask for more."""


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
        # no margin on the answer: the request itself limits its tokens
        most = self.prices.cost(tokens_in * self._margin, tokens_out)
        if self.limit is not None and self.spent + sum(self._reserved) + most > self.limit:
            return None
        self._reserved.append(most)
        return most

    def release(self, amount: float) -> None:
        """Return the money reserved for a finished request."""
        self._reserved.remove(amount)
