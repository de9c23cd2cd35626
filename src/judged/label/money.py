"""Money: prices, tokens by a stated rule before they are counted, and a purse that is never overdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judged.errors import BadProtocol

__all__ = ["RULE", "Prices", "Purse", "tokens_of"]

RULE = "a token for every four ASCII characters and for every other character, and 10 a request"
"""How tokens are estimated before an endpoint counts them."""

MARGIN = 1.5
"""How much more than estimated is set aside for a request, until counts say that more is needed."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency."""

    read: float = 0.0
    written: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.read < float("inf") and 0 <= self.written < float("inf")):
            msg = f"prices are {self.read} and {self.written}, expected numbers from 0"
            raise BadProtocol(msg)

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """The cost of tokens read and written."""
        return (tokens_in * self.read + tokens_out * self.written) / 1e6


def tokens_of(messages: Sequence[Mapping[str, str]]) -> int:
    """How many tokens a request is estimated to hold, by `RULE`.

    >>> tokens_of([{"role": "user", "content": "eight ch"}]), tokens_of([{"role": "user", "content": "日本"}])
    (12, 12)
    """
    text = "".join(message["content"] for message in messages)
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain + 10


class Purse:
    """What was spent, what is set aside for requests under way, and whether one more can be paid for."""

    def __init__(self, prices: Prices | None = None, budget: float | None = None) -> None:
        if budget is not None and (prices is None or prices == Prices()):
            msg = "a budget needs prices to be reckoned with"
            raise BadProtocol(msg, hint="give `--price-in` and `--price-out`, per million tokens")
        if budget is not None and not budget > 0:
            msg = f"the budget is {budget}, expected more than 0"
            raise BadProtocol(msg)
        self.prices = prices or Prices()
        self.budget = budget
        self.spent = 0.0
        self.tokens_in = 0
        self.tokens_out = 0
        self._aside: list[float] = []
        self._margin = MARGIN

    @property
    def busy(self) -> bool:
        """Whether anything is set aside."""
        return bool(self._aside)

    def pay(self, tokens_in: int, tokens_out: int) -> None:
        """Count tokens that an endpoint has counted."""
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.spent += self.prices.cost(tokens_in, tokens_out)

    def learn(self, estimated: int, counted: int) -> None:
        """Set more aside from now on, if the estimate fell short by more than the margin."""
        self._margin = max(self._margin, 1.1 * counted / estimated)

    def set_aside(self, tokens_in: int, tokens_out: int) -> float | None:
        """The most that a request may cost, put aside for it; None if the budget has no room for that."""
        most = self.prices.cost(tokens_in * self._margin, tokens_out)
        if self.budget is not None and self.spent + sum(self._aside) + most > self.budget:
            return None
        self._aside.append(most)
        return most

    def release(self, amount: float) -> None:
        """Give back what was set aside for a request that is over."""
        self._aside.remove(amount)
