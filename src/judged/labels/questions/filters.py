"""What no question of a test set may be: about its source, copied from it, or asked before; no model is needed to see it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judged.labels.questions.sources import has_signs, list_words, share_of

COPIED_WORDS, COPIED_SIGNS = 7, 14
"""A question that shares this number of consecutive words with its source is copied from it; or signs, in scripts without spaces."""
SAME_QUESTION = 0.8
"""Questions that share more of their words are the same."""

# In English, German, French and Spanish; the check by a model sees the others.
_TEXT = r"(?:passage|text|document|article|excerpt|paragraph|abstract|context|author|study)s?"
_MENTIONS = re.compile(
    rf"\b(?:(?:this|these|given|above|provided|following|first|second) {_TEXT}|"
    rf"(?:does|do|did|according to|in|by|from) the {_TEXT}|the (?:passage|text|excerpt|paragraph)s?|"
    r"(?:im|in diesem|des|dem|laut) (?:text|dokument|abschnitt|artikel)s?|"
    r"(?:ce|le|du) (?:passage|texte|document)|(?:este|el|del) (?:pasaje|texto|documento))\b",
    re.IGNORECASE,
)


def mentions_source(question: str) -> bool:
    """Return whether a question speaks of a text that its reader does not see.

    >>> mentions_source("What does the author conclude?"), mentions_source("Who is the author of Emma?")
    (True, False)
    """
    found = _MENTIONS.search(question)
    return found is not None and not re.match(
        r"\s+(?:of|von|de|d')\s", question[found.end() :], re.IGNORECASE
    )


def is_copied(question: str, text: str) -> bool:
    """Return whether a question shares a long run of words with its source.

    >>> is_copied("When did the bridge over the river Elbe collapse?", "the bridge over the river Elbe collapsed in 2024")
    False
    >>> is_copied("Why is the bridge over the river Elbe closed?", "The bridge over the river Elbe closed today")
    True
    """
    asked, known = list_words(question), list_words(text)
    length = COPIED_SIGNS if has_signs(asked) else COPIED_WORDS
    return not _runs(asked, length).isdisjoint(_runs(known, length))


def _runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def is_repeated(question: str, others: Iterable[set[str]]) -> bool:
    """Return whether a question has nearly the same words as another one, given as sets of words.

    >>> is_repeated("Who wrote Emma?", [{"who", "wrote", "emma"}]), is_repeated("Who wrote it?", [{"who", "wrote", "emma"}])
    (True, False)
    """
    words = set(list_words(question))
    return any(share_of(words, other) > SAME_QUESTION for other in others)


def measure_overlap(question: str, text: str) -> float:
    """Return the share of a question's words that occur in a text.

    >>> measure_overlap("Who wrote Emma?", "Emma was written by Jane Austen")
    0.3333333333333333
    """
    words = set(list_words(question))
    return len(words & set(list_words(text))) / max(1, len(words))
