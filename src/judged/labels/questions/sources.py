"""Sources of questions: documents drawn at random, and for questions of two documents a partner that shares rare words."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judged.io.texts import Text

MIN_WORDS = 20
"""Shorter documents hold little to ask about."""
CANDIDATES = 5000
"""Number of documents, drawn at random, among which partners are looked for."""
COMMON = 0.05
"""Words in a larger share of the documents connect nothing."""
NEAR_DUPLICATE = 0.8
"""Documents that share more of their words tell the same."""

_ASIAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_ASIAN}]|[^\W{_ASIAN}]+")
"""A word, or one sign of the scripts that put no spaces between words."""
_SIGN = re.compile(rf"[{_ASIAN}]")


@dataclass(frozen=True, slots=True)
class Source:
    """The one or two documents of a question."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of the texts."""
        return "\n\n".join(self.texts)


def list_words(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> list_words("Which Cat-5 cable?")
    ['which', 'cat', '5', 'cable']
    """
    return _WORD.findall(text.casefold())


def has_signs(words: Sequence[str]) -> bool:
    """Return whether most words are single signs of a script without spaces."""
    return 2 * sum(_SIGN.fullmatch(word) is not None for word in words) > len(words)


def share_of(words: set[str], others: set[str]) -> float:
    """Return the share of both sets' words that are in both."""
    return len(words & others) / max(1, len(words | others))


class Sources:
    """Documents in random order, and partners for them; the same seed gives the same order."""

    def __init__(self, documents: Mapping[str, Text], seed: int) -> None:
        texts = {name: "\n".join(filter(None, (text.title, text.text))) for name, text in documents.items()}
        self.texts = {name: text for name, text in texts.items() if len(list_words(text)) >= MIN_WORDS}
        self.short = len(texts) - len(self.texts)
        """Number of documents that are too short to ask about."""
        self.order = list(self.texts)
        random.Random(seed).shuffle(self.order)  # noqa: S311 - a sample, not a secret

    def singles(self) -> Iterator[Source]:
        """Yield documents one by one."""
        for name in self.order:
            yield Source((name,), (self.texts[name],))

    def pairs(self) -> Iterator[Source]:
        """Yield documents with their partners, from the other end, so that few documents have questions of both kinds."""
        used: set[frozenset[str]] = set()
        for name in reversed(self.order):
            partner = self._find_partner(name)
            if partner is not None and frozenset((name, partner)) not in used:
                used.add(frozenset((name, partner)))
                yield Source((name, partner), (self.texts[name], self.texts[partner]))

    def _find_partner(self, name: str) -> str | None:
        """Return the candidate with the largest weight of shared rare words; None if no word is shared."""
        words = set(list_words(self.texts[name]))
        scores: Counter[str] = Counter()
        for word in words:
            holders = self._postings.get(word, ())
            for other in holders:
                scores[other] += math.log(1 + len(self._words) / len(holders))  # type: ignore[assignment]
        for other, _ in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])):
            if other != name and share_of(words, self._words[other]) < NEAR_DUPLICATE:
                return other
        return None

    @cached_property
    def _words(self) -> dict[str, set[str]]:
        return {name: set(list_words(self.texts[name])) for name in self.order[-CANDIDATES:]}

    @cached_property
    def _postings(self) -> dict[str, Sequence[str]]:
        """The candidates that have each word, without words that many have."""
        holders: dict[str, list[str]] = defaultdict(list)
        for name, words in self._words.items():
            for word in words:
                holders[word].append(name)
        most = max(3, COMMON * len(self._words))
        return {word: names for word, names in holders.items() if 1 < len(names) <= most}
