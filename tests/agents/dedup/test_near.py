"""Texts that are nearly the same count as the same where the rules say so."""

from __future__ import annotations

import random

import pytest

from judged.agents.dedup import near
from judged.agents.dedup.find import find_duplicates
from judged.agents.dedup.near import NearTexts
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit
from judged.errors import MissingExtra

pytest.importorskip("rensa", reason="near-duplicates need the extra `near`")

WORDS = [f"word{i}" for i in range(400)]
TEXT = " ".join(WORDS[:60])


def edited(text: str, *places: int) -> str:
    """The text with the words at some places replaced: each takes three of its sequences of three words away."""
    words = text.split()
    for place in places:
        words[place] = f"other{place}"
    return " ".join(words)


def duplicates(texts: list[str], rules: Rules) -> list[int]:
    """The clusters of results with one title and these texts."""
    return find_duplicates([(Hit(title="T", snippet=text), "t") for text in texts], rules).of.tolist()


def test_an_edited_text_is_the_same_only_where_near_is_asked_for() -> None:
    """One of sixty words edited: 55 of 61 sequences are shared, 0.90; ten edited: 28 of 88, 0.32."""
    texts = [TEXT, edited(TEXT, 30), edited(TEXT, *range(3, 60, 6))]

    assert duplicates(texts, Rules()) == [0, 1, 2]
    assert duplicates(texts, Rules(near=0.7)) == [0, 0, 1]


def test_another_passage_is_never_near() -> None:
    """Two texts without a sequence of words in common have nothing to do with each other, at the lowest threshold."""
    assert duplicates([TEXT, " ".join(WORDS[100:160])], Rules(near=0.3)) == [0, 1]


def test_near_texts_come_out_the_same_each_time() -> None:
    """The same texts have the same stand-ins in every process: the permutations have a fixed seed."""
    rng = random.Random(7)  # noqa: S311
    texts = [edited(TEXT, *rng.sample(range(60), rng.randrange(8))) for _ in range(60)]

    first, second = NearTexts(0.7), NearTexts(0.7)
    assert [first.represent(text) for text in texts] == [second.represent(text) for text in texts]


def test_a_text_represents_itself_and_those_near_it() -> None:
    """The stand-in of a stand-in is itself; every stand-in was seen before, or is the text."""
    texts, seen = NearTexts(0.7), set()
    for places in range(12):
        text = edited(TEXT, *range(0, 5 * places, 5))
        chosen = texts.represent(text)
        seen.add(text)

        assert chosen in seen
        assert texts.represent(chosen) == chosen


def test_a_text_that_is_not_kept_represents_no_other() -> None:
    """Matching asks what a text is near to, and leaves no trace."""
    texts = NearTexts(0.7)

    assert texts.represent(edited(TEXT, 30), keep=False) == edited(TEXT, 30)
    assert texts.represent(TEXT) == TEXT
    assert texts.represent(edited(TEXT, 30), keep=False) == TEXT


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""

    def missing(package: str, *, extra: str, needed_by: str) -> None:
        raise MissingExtra(package, extra=extra, needed_by=needed_by)

    monkeypatch.setattr(near, "need", missing)

    with pytest.raises(MissingExtra, match="install the extra `near`"):
        NearTexts(0.8)
