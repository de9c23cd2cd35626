"""The indexed deduplication gives what plain loops over all members give."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from dedup.reference import clusters_by_loops
from judged.dedup import find, group
from judged.dedup.find import Deduplicator
from judged.dedup.rules import Rules, Weights
from judged.tables.session import Result

STEM = "thirty characters and some more"
TREE = [STEM, STEM + " a", STEM + " a b", STEM + " a b c", STEM + " d", STEM + " d e", STEM + " d…"]
TEXTS = ["", "short", "quite another " * 3, *TREE]
results = st.builds(
    Result,
    id=st.sampled_from([None, None, "1", "2", "3"]),
    url=st.sampled_from(
        [None, "https://a.org/x", "https://www.a.org/x/", "https://a.org/y", "https://b.org/"]
    ),
    title=st.sampled_from([None, "One", "Two", "Three"]),
    snippet=st.sampled_from(TEXTS),
) | st.builds(
    Result,
    domain=st.sampled_from(["doi", "mail"]),
    domain_id=st.sampled_from(["1", "2"]),
    url=st.sampled_from([None, "https://a.org/x", "https://b.org/"]),
    title=st.sampled_from([None, "One", "Two"]),
    snippet=st.sampled_from(TEXTS),
)
found = st.lists(st.tuples(results, st.sampled_from([None, "web", "files"])), max_size=40)
alike = st.builds(
    Result,
    id=st.sampled_from(["1", "2", "3", "4"]),
    url=st.sampled_from([None, None, "https://a.org/x"]),
    title=st.sampled_from(["One", "One", "One", None]),
    snippet=st.sampled_from(TREE),
)
alike_of_one_tool = st.lists(st.tuples(alike, st.just("files")), max_size=25)
tenths = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.6, 1.0])


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Rules of any unit, with the default weights or any others that make sense."""
    unit = draw(st.sampled_from(["document", "passage", "strict"]))
    if draw(st.booleans()):
        return Rules(unit=unit)
    threshold = draw(st.sampled_from([0.2, 0.6, 0.8, 1.0]))
    url = draw(tenths)
    weights = Weights(
        domain=1.0,
        generic=draw(tenths),
        url=url,
        loose_url=draw(tenths.filter(lambda weight: weight <= url)),
        text=draw(tenths),
        title=draw(tenths.filter(lambda weight: weight < threshold)),
    )
    return Rules(unit=unit, weights=weights, threshold=threshold)


@pytest.mark.parametrize("few", [1, 2, 8])
@given(found=found | alike_of_one_tool, rules=rules())
@settings(max_examples=500)
def test_an_index_finds_what_loops_find(
    few: int, found: list[tuple[Result, str | None]], rules: Rules
) -> None:
    """Whatever is indexed and summed up, from how many members on, and by whatever rules, nothing else comes out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "FEW", few)
        patch.setattr(find, "FEW", few)
        indexed = Deduplicator(rules)
        keys = [indexed.keys_of(result, scope) for result, scope in found]
        placed = [indexed.place_keys(each) for each in keys]

    assert placed == clusters_by_loops(keys, rules)
