"""Preferences by a model: which of two documents is better, asked in both orders, as a table that measures score.

A model often favours the result that it reads first. So every pair is asked about twice, and only a preference that both
orders agree on counts; what changes with the order is counted, and is not a preference.

References:
    Qin et al. Large language models are effective text rankers with pairwise ranking prompting. Findings of NAACL 2024.
    doi:10.18653/v1/2024.findings-naacl.97
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from judged.errors import BadProtocol
from judged.labels.result import Labelling
from judged.labels.task import Item, Pool
from judged.tables.preferences import Preferences
from judged.wording import counted

FIRST, EQUAL, SECOND = "first", "equal", "second"
WINNER, LOSER = 2, 1
"""Levels of the documents of a pair; 0 would say that one is not relevant, which nobody was asked."""


def pair_results(pool: Pool, *, most: int | None = None, seed: int = 0) -> Pool:
    """Return the pairs of documents of each query, each in both orders; at most `most` of a query, drawn at random."""
    if pool.column != "grade":
        raise BadProtocol("preferences are between the documents of runs, not between results of traces")
    by_query: dict[str, list[Item]] = {}
    for item in pool.items:
        by_query.setdefault(str(item.row["query"]), []).append(item)
    draw = random.Random(seed)  # noqa: S311 - a sample, not a secret
    items: list[Item] = []
    for query, results in by_query.items():
        pairs = list(combinations(results, 2))
        if most is not None and len(pairs) > most:
            pairs = draw.sample(pairs, most)
        for one, other in pairs:
            items += (_ask(query, one, other), _ask(query, other, one))
    return replace(pool, items=tuple(items), results=len(items), judged=0, column="label")


def _ask(query: str, first: Item, second: Item) -> Item:
    texts = {
        name: "\n".join(part for part in (item.title, item.text) if part)
        for name, item in ((FIRST, first), (SECOND, second))
    }
    row = {"query": query, FIRST: first.row["document"], SECOND: second.row["document"]}
    return Item({"query": first.query, **texts}, row)


@dataclass(frozen=True)
class PairedPreferences:
    """Preferences that a labelling states, and the pairs without one."""

    rows: tuple[Mapping[str, Any], ...]
    """Columns of the table of preferences: each pair is a group of its own, so that pairs may contradict each other."""
    pairs: int
    equal: int
    """Number of pairs of which both orders say that neither document is better."""
    changed: int
    """Number of pairs whose answer changes with the order."""
    unanswered: int
    """Number of pairs that lack the label of one order or both."""
    first: int
    """Number of answers that prefer the result which was read first, of pairs with both labels."""

    @property
    def preferences(self) -> Preferences:
        """The table of preferences."""
        columns = [[row[name] for row in self.rows] for name in ("query", "group", "document", "level")]
        return Preferences.from_columns(*columns)

    def sentences(self) -> list[str]:
        """Return how many pairs have a preference, and how far the answers depend on the order."""
        asked = self.pairs - self.unanswered
        share = 100 * self.first / (2 * asked) if asked else 0.0
        kinds = {
            "with a preference": len(self.rows) // 2,
            "equal": self.equal,
            "changed with the order": self.changed,
            "without both answers": self.unanswered,
        }
        parts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        return [
            f"{counted(self.pairs, 'pair')}: {parts}",
            f"the result that was read first was preferred in {share:.1f} % of the answers",
        ]


def read_preferences_of(labelling: Labelling) -> PairedPreferences:
    """Combine the answers to both orders of each pair: a preference is what both of them state."""
    labels = {(row["query"], row[FIRST], row[SECOND]): row["label"] for row in labelling.labelled}
    asked = [*labels, *((row["query"], row[FIRST], row[SECOND]) for row in labelling.failures)]
    pairs = list(dict.fromkeys((query, *sorted((one, other))) for query, one, other in asked))
    rows: list[dict[str, Any]] = []
    equal = changed = unanswered = first = 0
    for query, one, other in pairs:
        forth, back = labels.get((query, one, other)), labels.get((query, other, one))
        if forth is None or back is None:
            unanswered += 1
            continue
        first += (forth == FIRST) + (back == FIRST)
        if (forth, back) in {(FIRST, SECOND), (SECOND, FIRST)}:
            winner, loser = (one, other) if forth == FIRST else (other, one)
            rows += _rank(query, winner, loser, labelling.labeller)
        elif forth == back == EQUAL:
            equal += 1
        else:
            changed += 1
    return PairedPreferences(tuple(rows), len(pairs), equal, changed, unanswered, first)


def _rank(query: str, winner: str, loser: str, labeller: str) -> Iterator[dict[str, Any]]:
    group = "|".join(sorted((winner, loser)))
    for document, level in ((winner, WINNER), (loser, LOSER)):
        row = {"query": query, "group": group, "document": document, "level": level, "labeller": labeller}
        yield row
