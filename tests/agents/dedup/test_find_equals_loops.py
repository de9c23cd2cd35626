"""The indexed deduplication gives what plain loops over all members give."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from agents.dedup.drawn import alike_of_one_tool, found, rules
from agents.dedup.reference import clusters_by_loops
from judged.agents.dedup import match
from judged.agents.dedup.find import Deduplicator
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit


@pytest.mark.parametrize("few", [1, 2, 8])
@given(found=found | alike_of_one_tool, rules=rules())
@settings(max_examples=300)
def test_an_index_finds_what_loops_find(few: int, found: list[tuple[Hit, str | None]], rules: Rules) -> None:
    """Whatever is indexed and summed up, from how many members on, and by whatever rules, nothing else comes out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "FEW", few)
        indexed = Deduplicator(rules)
        placed = [indexed.place(result, scope) for result, scope in found]
    fresh = Deduplicator(rules)
    keys = [fresh.make_keys(result, scope) for result, scope in found]

    assert placed == clusters_by_loops(found, keys, rules)
