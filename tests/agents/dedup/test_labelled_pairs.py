"""Precision and recall of deduplication on labelled pairs of results (see pairs.md)."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judged.agents.dedup.find import Deduplicator
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit

FOLDER = Path(__file__).parent
PAIRS: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
]
PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "deduplication.md").read_text(encoding="utf-8")


def _joins(pair: dict[str, Any], unit: str) -> bool:
    """Whether the second result joins the group of the first, after what the turn showed between them."""
    seen = Deduplicator(Rules(unit=unit))  # type: ignore[arg-type]
    first, *_, last = [
        seen.place(Hit(**hit), "web") for hit in (pair["first"], *pair.get("seen", ()), pair["second"])
    ]
    return first == last


def test_there_are_enough_pairs_of_every_kind_and_half_is_held_out() -> None:
    """At least 300 in all; the half is the one that the stated seed draws."""
    draw = random.Random("labelled pairs, 2026-11-19")  # noqa: S311 - a draw that anyone can repeat
    kinds: dict[str, list[dict[str, Any]]] = {}
    for pair in PAIRS:
        kinds.setdefault(pair["kind"], []).append(pair)
    for pairs in kinds.values():
        held = set(draw.sample(range(len(pairs)), len(pairs) // 2))

        assert [pair["held_out"] for pair in pairs] == [number in held for number in range(len(pairs))]
        assert len(pairs) >= 10
    assert len(PAIRS) >= 300
    assert all(pair["document"] or not pair["passage"] for pair in PAIRS)


@pytest.mark.parametrize("unit", ["document", "passage"])
@pytest.mark.parametrize(("held_out", "half"), [(False, "for tuning"), (True, "held out")])
def test_precision_and_recall_are_those_of_the_page(unit: str, held_out: bool, half: str) -> None:
    """For `document`, at least 0.95 and 0.80 on the half that no rule was tuned on."""
    counts = Counter((_joins(pair, unit), pair[unit]) for pair in PAIRS if pair["held_out"] == held_out)
    precision = counts[True, True] / (counts[True, True] + counts[True, False])
    recall = counts[True, True] / (counts[True, True] + counts[False, True])

    assert f"| {unit} | {half} | {precision:.3f} | {recall:.3f} |" in PAGE
    if unit == "document" and held_out:
        assert precision >= 0.95
        assert recall >= 0.80
