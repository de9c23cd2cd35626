"""Clusters do not depend on batches, are numbered as they occur, and cost the same for each result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.agents.dedup.find import Deduplicator, find_duplicates
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit
from tests.support.growth import Job, assert_growth

Found = list[tuple[Hit, str | None]]

results = st.builds(
    Hit,
    id=st.sampled_from([None, "1", "2"]),
    url=st.sampled_from([None, "https://a.org/x", "http://a.org/x?utm_source=b", "https://a.org/y"]),
    title=st.sampled_from([None, "One", "one!", "Two"]),
    snippet=st.sampled_from(
        [None, "a text of some length, more than thirty", "A text of some length, more than …"]
    ),
)
found = st.lists(st.tuples(results, st.sampled_from(["web", "files"])), max_size=30)
units = st.sampled_from(["document", "passage", "strict"]).map(lambda unit: Rules(unit=unit))  # type: ignore[arg-type]


@given(found, units)
def test_clusters_are_numbered_as_they_first_occur(found: Found, rules: Rules) -> None:
    """Every result has a cluster; the first of each has the next number."""
    clusters = find_duplicates(found, rules)

    assert len(clusters) == len(found)
    assert clusters.of[clusters.first].tolist() == list(range(int(clusters.first.sum())))


@given(found, units, st.integers(0, 30))
def test_batches_change_nothing(found: Found, rules: Rules, cut: int) -> None:
    """One by one, in two parts or all at once: what comes later does not change what came before."""
    one_by_one = Deduplicator(rules)
    placed = [one_by_one.place(result, scope) for result, scope in found]

    assert placed == find_duplicates(found, rules).of.tolist()
    assert placed[:cut] == find_duplicates(found[:cut], rules).of.tolist()
    assert len(one_by_one) == len(set(placed))


@given(found, units, st.randoms(use_true_random=False))
def test_repeats_of_equal_results_may_come_in_any_order(
    found: Found, rules: Rules, chance: st.DataObject
) -> None:
    """Equal results are interchangeable: in any order they give the same clusters."""
    copies = [(Hit(**{name: getattr(r, name) for name in r.__struct_fields__}), scope) for r, scope in found]
    mixed = [chance.choice(pair) for pair in zip(found, copies, strict=True)]  # type: ignore[attr-defined]

    assert find_duplicates(mixed, rules).of.tolist() == find_duplicates(found, rules).of.tolist()


@given(found)
def test_a_result_given_twice_in_a_row_is_a_duplicate(found: Found) -> None:
    """Unless nothing but a title, or nothing at all, is known of it."""
    identifiable = [
        item for item in found if item[0].id or item[0].url or (item[0].title and item[0].snippet)
    ]
    doubled = [item for item in identifiable for _ in range(2)]
    clusters = find_duplicates(doubled)

    assert (clusters.of[::2] == clusters.of[1::2]).all()


@given(found, results, units)
def test_a_match_is_where_a_result_would_be_placed(found: Found, result: Hit, rules: Rules) -> None:
    """The cluster it would join, or None where it would begin one; asking twice, before or after, changes nothing."""
    deduplicator, untouched = Deduplicator(rules), Deduplicator(rules)
    placed = [deduplicator.place(*item) for item in found]
    matched = deduplicator.match(result, "web")

    assert deduplicator.match(result, "web") == matched
    assert [untouched.place(*item) for item in found] == placed
    assert deduplicator.place(result, "web") == (len(untouched) if matched is None else matched)


def test_results_without_any_key_are_never_the_same() -> None:
    """Nothing is known of them, so nothing is reported."""
    assert find_duplicates([(Hit(), "web"), (Hit(), "web")]).of.tolist() == [0, 1]


def test_no_results_have_no_clusters() -> None:
    """An empty session is no error."""
    assert find_duplicates([]).of.tolist() == []


OPENING = "The first thirty characters are those of all the others"
ADVERSARIES: dict[str, tuple[str, Callable[[int], Hit]]] = {
    "one URL, ids differ": (
        "document",
        lambda i: Hit(id=f"{i}", url="https://e.org/", snippet=f"{OPENING} {i}"),
    ),
    "one URL and title, ids differ": (
        "document",
        lambda i: Hit(id=f"{i}", url="https://e.org/", title="T", snippet=f"{OPENING} {i}"),
    ),
    "one DOI, titles differ": ("document", lambda i: Hit(domain="doi", domain_id="1", title=f"{i}")),
    "one id, titles differ": ("document", lambda i: Hit(id="1", title=f"{i}", url=f"https://e.org/{i}")),
    "one title and text, DOIs differ": (
        "document",
        lambda i: Hit(domain="doi", domain_id=f"{i}", title="T", snippet=OPENING),
    ),
    "one title, one beginning, texts differ": (
        "document",
        lambda i: Hit(title="T", snippet=f"{OPENING} {i:06}"),
    ),
    "one URL, texts differ, passages": (
        "passage",
        lambda i: Hit(url="https://e.org/", snippet=f"{OPENING} {i:06}"),
    ),
    "one title and text, URLs differ, strict": (
        "strict",
        lambda i: Hit(url=f"https://e.org/{i}", title="T", snippet=OPENING),
    ),
}
"""Inputs in which all results share a key and all are different things."""


@pytest.mark.parametrize("name", ADVERSARIES)
def test_results_that_share_a_key_and_all_differ_are_not_compared_with_each_other(name: str) -> None:
    """A few groups are looked at before they are indexed, none after: counted, not timed."""
    unit, make = ADVERSARIES[name]
    deduplicator = Deduplicator(Rules(unit=unit))  # type: ignore[arg-type]
    placed = [deduplicator.place(make(i), "tool") for i in range(3_000)]

    assert placed == list(range(3_000))
    assert deduplicator.verified <= 100


GROWING: dict[str, Callable[[int], Hit]] = {
    "texts differ": lambda i: Hit(url="https://e.org/", title="T", snippet=f"{OPENING} {i}"),
    "titles differ": lambda i: Hit(url="https://e.org/", title=f"T{i}", snippet=OPENING),
    "URLs differ": lambda i: Hit(url=f"https://e.org/{i}", title="T", snippet=OPENING),
    "ids differ": lambda i: Hit(id=f"{i}", title="T", snippet=OPENING),
    "ever longer texts": lambda i: Hit(url="https://e.org/", title="T", snippet=OPENING + "x" * (i % 300)),
}
"""Inputs in which all results are one thing and differ in a field that does not matter."""


@pytest.mark.parametrize("name", [*GROWING, *ADVERSARIES])
def test_results_under_one_key_cost_little_more_each_the_more_they_are(name: str) -> None:
    """Eight times as many results take less than sixteen times the time; quadratic work would take sixty-four."""
    unit, make = ADVERSARIES.get(name) or ("document", GROWING[name])
    rules = Rules(unit=unit)  # type: ignore[arg-type]

    def prepare(count: int) -> Job:
        found = [(make(i), "tool") for i in range(count)]
        return lambda: find_duplicates(found, rules)

    assert_growth(prepare, (1_000, 8_000), allowed=16)


@pytest.mark.parametrize("name", ["one URL, ids differ", "one title, one beginning, texts differ"])
def test_twenty_thousand_results_that_share_a_key_and_differ_are_done_at_once(name: str) -> None:
    """Comparing every pair would be two hundred million comparisons; a hundred are made."""
    deduplicator = Deduplicator()
    for i in range(20_000):
        deduplicator.place(ADVERSARIES[name][1](i), "tool")

    assert len(deduplicator) == 20_000
    assert deduplicator.verified <= 100


def test_results_of_a_second_tool_find_the_oldest_group_without_looking_at_all() -> None:
    """Two tools give one URL with ids of their own: the second tool's results pair with the first's, in their order."""
    deduplicator = Deduplicator()
    found = [
        (Hit(id=str(i), url="https://e.org/", snippet=f"{i}"), tool) for tool in "ab" for i in range(2_000)
    ]
    placed = [deduplicator.place(result, tool) for result, tool in found]

    assert placed == [*range(2_000), *range(2_000)]
    assert deduplicator.verified <= 2_000 + 200


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING)
def test_a_group_of_many_members_is_one_cluster(make: Callable[[int], Hit]) -> None:
    """However many they become, each result is compared with one group."""
    deduplicator = Deduplicator()
    placed = [deduplicator.place(make(i), "tool") for i in range(2_000)]

    assert not np.any(placed)
    assert deduplicator.verified == len({str(make(i)) for i in range(2_000)}) - 1
