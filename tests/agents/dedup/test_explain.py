"""Every decision can be explained: what was found by which key, what agrees, what vetoes, and the outcome."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agents.dedup.drawn import found, rules
from judged.agents.dedup.find import explain_duplicates, find_duplicates
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit


@given(found, rules())
def test_explained_decisions_are_those_that_are_made(
    found: list[tuple[Hit, str | None]], rules: Rules
) -> None:
    """The clusters are the same, and a result is in the first candidate that is accepted, or is new if none is."""
    decisions = list(explain_duplicates(found, rules))

    assert [decision.group for decision in decisions] == find_duplicates(found, rules).of.tolist()
    for decision in decisions:
        accepted = [candidate for candidate in decision.candidates if candidate.accepted]
        assert decision.new is not bool(accepted)
        if accepted:
            surest = max(candidate.confidence for candidate in accepted)
            assert decision.candidates[0].group == decision.group
            assert decision.candidates[0].confidence == surest


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (Hit(), "result 1 is new: it has no id, URL, title or text"),
        (Hit(title="Paris"), "result 1 is new: no earlier result shares a key with it"),
        (
            Hit(url="http://e.org/p", title="Paris", snippet="Another part."),
            "result 1 is a duplicate: group 0 (same URL and title, different text, confidence 0.9)",
        ),
        (
            Hit(url="https://www.e.org/p/", title="Paris", snippet="Another part."),
            (
                "result 1 is a duplicate: group 0 (same loose URL and title, different URL and text, confidence 0.9)"
            ),
        ),
        (
            Hit(url="https://www.e.org/p/", title="Lyon", snippet="Another part."),
            (
                "result 1 is new: not group 0 (different URL, title and text, confidence 0, vetoed by the title of "
                "result 0); 0.6 and no veto needed"
            ),
        ),
        (
            Hit(id="8", url="https://e.org/p", title="Paris", snippet="Another part."),
            (
                "result 1 is new: not group 0 (same URL and title, different generic id and text, confidence 0.9, "
                "vetoed by the generic id of result 0); 0.6 and no veto needed"
            ),
        ),
    ],
)
def test_a_decision_reads_as_a_sentence(second: Hit, words: str) -> None:
    """In words of the domain, with the numbers of results and clusters."""
    first = Hit(id="7", url="https://e.org/p", title="Paris", snippet="The capital of France.")
    _, decision = explain_duplicates([(first, "t"), (second, "t")])

    assert str(decision) == words


def test_many_candidates_are_counted() -> None:
    """Three are shown; the others are counted."""
    found = [(Hit(id=str(i), url="https://e.org/", snippet=f"Part {i}"), "t") for i in range(6)]
    *_, last = explain_duplicates(found)

    assert len(last.candidates) == 5
    assert "; nor 2 more; 0.6" in str(last)


@given(st.integers(0, 3))
def test_a_candidate_names_the_keys_it_was_found_by(missing: int) -> None:
    """The names of all keys that it shares with the result."""
    fields = {"id": "1", "url": "https://e.org/", "snippet": "A text", "title": "T"}
    fields.pop(list(fields)[missing])
    _, decision = explain_duplicates([(Hit(**fields), "t")] * 2)  # type: ignore[arg-type]
    expected = [
        *["generic"] * ("id" in fields),
        *["url", "loose_url"] * ("url" in fields),
        *["text"] * ("snippet" in fields),
    ]

    assert list(decision.candidates[0].found_by) == expected
