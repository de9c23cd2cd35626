"""Texts are compared by their words, and found by how they begin."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from judged.agents.dedup.keys import SHORTEST_PREFIX, cut_prefix, related, to_comparable
from judged.agents.dedup.match import PrefixIndex
from judged.tables.content import normalise_text as normalise

words = st.text(alphabet="ab …é.\n ", max_size=80) | st.text(max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good  Gain", "good gain"),
        ("  Good\tgain\n", "good gain"),
        ("good-gain: “measures”!", "good gain measures"),
        ("Ｇｏｏｄ ｇａｉｎ", "good gain"),
        ("STRASSE Straße", "strasse strasse"),
        ("cafe\u0301", "caf\u00e9"),
        ("so\u00adft\u200b ware", "soft ware"),
        ("ﬁnd 10²", "find 102"),
        ("क्षत्रिय", "क्षत्रिय"),
        ("3.5 and 35", "3 5 and 35"),
        ("…", ""),
        ("", ""),
    ],
)
def test_words_count_and_how_they_are_set_does_not(text: str, expected: str) -> None:
    """White space, case, punctuation, compatible letters and invisible marks say nothing; vowel signs and digits do."""
    assert normalise(text) == expected


@given(words)
def test_normalising_twice_changes_nothing(text: str) -> None:
    """What is normalised stays as it is."""
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_short_cut_for_ascii_agrees_with_the_long_way(text: str) -> None:
    """A letter outside ASCII at the end leads round the short cut."""
    assert " ".join([normalise(text), "é"]).strip() == normalise(text + " é")


@given(words, st.sampled_from(["", " ", "a", "é", "\u0301", "a " * 40, "é " * 100, "字" * 200]))
def test_a_stem_is_how_the_normalised_text_begins(text: str, more: str) -> None:
    """However long the text, its stem is what normalising all of it would give."""
    for item in (text, text + more, more + text, (text + " ") * 9 + more):
        assert cut_prefix(item) == normalise(item)[:SHORTEST_PREFIX]


@pytest.mark.parametrize(
    ("begun", "whole", "expected"),
    [
        ("Paris is the capital and largest ci…", "Paris is the capital and largest city of France.", True),
        (
            "Paris is the capital and largest ci ...\n",
            "Paris is the capital and largest city of France.",
            True,
        ),
        ("“Paris is the capital and largest ci…”", "Paris is the capital and largest city of France.", True),
        ("Paris is the capital and largest city", "Paris is the capital and largest city of France.", True),
        ("Paris is the capital and largest ci", "Paris is the capital and largest city of France.", False),
        ("Paris is the capital, and larges...", "Paris is the capital and largest city of France.", True),
        ("Paris is the capital, and larg…", "Paris is the capital and largest city of France.", False),
        (
            "All pages of the archive begin alike: page 1",
            "All pages of the archive begin alike: page 10",
            False,
        ),
        (
            "All pages of the archive begin alike: page 1…",
            "All pages of the archive begin alike: page 10",
            True,
        ),
        (
            "largest city of France, and its capital",
            "Paris is the largest city of France, and its capital",
            False,
        ),
        ("Short…", "short", True),
        ("short!", "Short", True),
        ("short", "short and more", False),
    ],
)
def test_a_beginning_is_related_to_the_whole(begun: str, whole: str, expected: bool) -> None:
    """From thirty characters on: at the end of a word, or anywhere if it says that it was cut short."""
    one, other = to_comparable(begun), to_comparable(whole)

    assert one is not None
    assert other is not None
    assert related(one, other) is related(other, one) is expected


@given(words, words)
def test_related_texts_share_their_stem(one: str, other: str) -> None:
    """So that looking up the stem finds every text that is related."""
    mine, theirs = to_comparable(one), to_comparable(other)

    assert (mine is None) == (not cut_prefix(one))
    if mine is not None and theirs is not None and related(mine, theirs):
        assert cut_prefix(one) == cut_prefix(other)


FAMILY = [
    "x\n",
    "x" * 29 + "\n",
    "x" * 30 + " ",
    "x" * 31,
    "x" * 30 + " a ",
    "x" * 30 + " a b ",
    "x" * 30 + " a c",
]
FAMILY += ["x" * 30, "x" * 30 + " a b c ", "y" * 40]


@given(st.lists(st.sampled_from(FAMILY)), st.sampled_from(FAMILY))
def test_ordered_texts_are_found_as_by_comparing_with_each(texts: list[str], text: str) -> None:
    """Equal ones, beginnings and continuations, and no others."""
    ordered = PrefixIndex()
    for number, item in enumerate(texts):
        ordered.add(item, number)
    found = sorted(number for numbers in ordered.related(text) for number in numbers)

    assert found == [number for number, item in enumerate(texts) if related(item, text)]
