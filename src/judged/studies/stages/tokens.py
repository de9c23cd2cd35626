"""Tokens: what a stage sends to language models and other endpoints that count tokens, and what comes back.

The caller of a stage collects with `count_tokens`; whichever client sends a request, however deep within the stage, says
`spend`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated

import msgspec

from judged.net.budget import Prices


class Spent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Requests to a model, and their tokens."""

    model: str
    requests: int = 0
    tokens_in: int | None = None
    """None if the endpoint counted no tokens of one of the requests."""
    tokens_out: int | None = None

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.model,
            self.requests + other.requests,
            _add(self.tokens_in, other.tokens_in),
            _add(self.tokens_out, other.tokens_out),
        )


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def sum_spent(spent: Iterable[Spent]) -> tuple[Spent, ...]:
    """Return what was spent, once for each model.

    >>> sum_spent([Spent("m", 1, 10, 2), Spent("m", 1, 5, 3)])
    (Spent(model='m', requests=2, tokens_in=15, tokens_out=5),)
    """
    found: dict[str, Spent] = {}
    for one in spent:
        found[one.model] = found[one.model] + one if one.model in found else one
    return tuple(found.values())


_OPEN: ContextVar[list[Spent] | None] = ContextVar("judged-tokens", default=None)


@contextmanager
def count_tokens() -> Iterator[list[Spent]]:
    """Collect what is spent within the block, apart from what blocks within it collect."""
    found: list[Spent] = []
    token = _OPEN.set(found)
    try:
        yield found
    finally:
        _OPEN.reset(token)


def spend(model: str, tokens_in: int | None, tokens_out: int | None, *, requests: int = 1) -> None:
    """Count the tokens of a request, if anybody collects them."""
    found = _OPEN.get()
    if found is not None:
        found.append(Spent(model, requests, tokens_in, tokens_out))


class PriceSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a million tokens of a model, in any currency."""

    tokens_in: Annotated[float, msgspec.Meta(ge=0)] = msgspec.field(default=0.0, name="in")
    tokens_out: Annotated[float, msgspec.Meta(ge=0)] = msgspec.field(default=0.0, name="out")


def find_price(spent: Spent, prices: Mapping[str, PriceSpec]) -> float | None:
    """Return what tokens cost; None without a price of the model or a count of the tokens.

    >>> find_price(Spent("m", 2, 1_000_000, 500_000), {"m": PriceSpec(tokens_in=0.1, tokens_out=0.4)})
    0.3
    """
    price = prices.get(spent.model)
    if price is None or spent.tokens_in is None or spent.tokens_out is None:
        return None
    return Prices(price.tokens_in, price.tokens_out).cost(spent.tokens_in, spent.tokens_out)
