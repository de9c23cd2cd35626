"""Sentences of an answer that comes as one text, and the citations in it: rule 1, the same for every system."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NUMBERS = r"\[ ?\d{1,6}(?: ?[,;] ?\d{1,6})*+ ?\]"
# a look behind and possessive repeats, so that no run of blanks or stops is read twice
_MARK = re.compile(rf"(?<![ \t])[ \t]*+{_NUMBERS}")
_END = re.compile(
    # marks may follow the full stop, with or without a blank
    rf"(?:(?<![.!?…])[.!?…]++[\"'”’»)]*+(?:[ \t]*+{_NUMBERS})*(?=\s|$)|[。！？]++[”’」』)]*+(?:[ \t]*+{_NUMBERS})*|\n++)"
)
_NEXT = re.compile(r"[ \t]*+(\S)")
LONGEST = 40
"""Characters before a full stop that are looked at."""
_ABBREVIATIONS = frozenset(
    (
        *("e.g", "i.e", "cf", "vs", "al", "approx", "ca", "dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr"),
        *("fig", "figs", "eq", "sec", "vol", "no", "pp", "inc", "ltd", "co", "corp", "u.s", "u.k"),
    )
)
_ITEM = re.compile(r"\s*+\d{1,3}")
"""Number of a list item before its full stop."""


def split_sentences(text: str) -> list[str]:
    r"""Return the sentences of a text, each with the marks of its citations.

    A sentence ends at a full stop, question or exclamation mark that is followed by white space, with closing quotes and
    marks such as `[1]` or `[2, 3]` before it; and at every line break. A full stop after a common abbreviation, an
    initial or the number of a list item, or before a lower-case letter, does not end one.

    >>> split_sentences("Cats purr [1]. Dogs bark.[2][3] Fish, e.g. carp, swim.\n- They do not sleep")
    ['Cats purr [1].', 'Dogs bark.[2][3]', 'Fish, e.g. carp, swim.', '- They do not sleep']
    """
    return [sentence for sentence in (part.strip() for part in _cut(text)) if sentence]


def _cut(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if "\n" not in end.group() and _goes_on(text, start, end):
            continue
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Return whether the sentence goes on after a full stop."""
    following = _NEXT.match(text, end.end())
    if following is not None and following[1].islower():
        return True
    if end.group() != ".":
        return False
    before = text[max(start, end.start() - LONGEST) : end.start()]
    word = before.rsplit(None, 1)[-1].lstrip("(\"'“‘[").lower() if before.strip() else ""
    initial = len(word) == 1 and word.isalpha() and word != "i"
    item = end.start() - start < LONGEST and bool(_ITEM.fullmatch(before))
    return word in _ABBREVIATIONS or initial or item


def take_citations(sentence: str) -> tuple[str, tuple[int, ...]]:
    """Return a sentence without the marks of its citations, and their numbers in order.

    >>> take_citations("Dogs bark [2, 3] at night.[1]")
    ('Dogs bark at night.', (2, 3, 1))
    """
    numbers = [int(number) for mark in _MARK.findall(sentence) for number in re.findall(r"\d+", mark)]
    return " ".join(_MARK.sub("", sentence).split()), tuple(numbers)


def count_words(text: str) -> int:
    """Return the number of words of a text: what white space separates."""
    return len(text.split())
