"""Costs: tokens of each stage that asks a model, a query on average, and what they cost by the prices that are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from judged.blocks import Table, Value
from judged.studies.outcome.answered import Answered
from judged.studies.stages.tokens import PriceSpec, Spent, find_price, sum_spent

DOCUMENTS = "encoding documents"
"""The stage, before any query, in which documents are encoded."""


@dataclass(frozen=True)
class StageCost:
    """What one stage of a system asked one model: sums over queries; or over documents, before any query."""

    system: str
    stage: str
    model: str
    queries: int
    """Number of queries that were answered, over all passes; 0: this is not about queries."""
    requests: int
    tokens_in: int | None
    """None if the endpoint counted no tokens of one of the requests."""
    tokens_out: int | None
    cost: float | None
    """In the currency of the prices; None without a price, or without a count of tokens."""

    @property
    def cost_per_1000(self) -> float | None:
        """The cost of a thousand queries."""
        return None if self.cost is None or not self.queries else 1000 * self.cost / self.queries

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        return {**asdict(self), "cost_per_1000": self.cost_per_1000}


def collect_costs(answered: Sequence[Answered], prices: Mapping[str, PriceSpec]) -> Iterator[StageCost]:
    """Yield what every stage of every system spent on tokens."""
    for system in answered:
        taken = [asked for asked in system.asked if not asked.error]
        for stage in dict.fromkeys(stage for asked in taken for stage in asked.spent):
            for spent in sum_spent(one for asked in taken for one in asked.spent.get(stage, ())):
                yield _make_cost(system.name, stage, spent, len(taken), prices)
        for spent in system.built.encode_spent:
            yield _make_cost(system.name, DOCUMENTS, spent, 0, prices)


def _make_cost(
    system: str, stage: str, spent: Spent, queries: int, prices: Mapping[str, PriceSpec]
) -> StageCost:
    cost = find_price(spent, prices)
    return StageCost(
        system, stage, spent.model, queries, spent.requests, spent.tokens_in, spent.tokens_out, cost
    )


def sum_costs(costs: Sequence[StageCost], system: str) -> float | None:
    """Return the cost of a thousand queries of a system; None if that of any stage is not known, or there is none."""
    own = [cost for cost in costs if cost.system == system and cost.queries]
    known = [cost.cost_per_1000 for cost in own if cost.cost_per_1000 is not None]
    return sum(known) if own and len(known) == len(own) else None


def tabulate_costs(costs: Sequence[StageCost]) -> Table:
    """Return tokens and money of each stage: of a query on average, and of all documents."""
    rows: list[tuple[Value, ...]] = []
    for cost in costs:
        count = cost.queries or 1
        tokens = (cost.tokens_in, cost.tokens_out)
        shown = [None if one is None else f"{one / count:,.4g}" for one in (cost.requests, *tokens)]
        money = cost.cost_per_1000 if cost.queries else cost.cost
        rows.append((cost.system, cost.stage, cost.model, *shown, None if money is None else f"{money:.4g}"))
    columns = ("system", "stage", "model", "requests", "tokens in", "tokens out", "cost per 1,000")
    title = "Tokens of a query, and the cost of 1,000 queries; of documents, all of them together"
    return Table(columns, tuple(rows), title=title)
