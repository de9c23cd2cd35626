"""A question to a model: one need, one result, and the key that its answer is kept under."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judged.label.asking import Asking
from judged.label.money import tokens_of
from judged.label.pool import Item

__all__ = ["Question", "questions_of"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about one item, or about several that read the same."""

    key: bytes
    query: str
    title: str
    text: str
    tokens: int
    """How many tokens it is estimated to hold."""

    def messages(self, asking: Asking) -> list[dict[str, str]]:
        """The messages that ask it."""
        return asking.prompt.messages(query=self.query, title=self.title, text=self.text)


def questions_of(items: Iterable[Item], asking: Asking) -> tuple[dict[bytes, Question], list[bytes]]:
    """Every question once, in order, and for each item the key of its question."""
    questions: dict[bytes, Question] = {}
    keys = []
    for item in items:
        content = {"query": item.query, "title": item.title, "text": item.text[: asking.text_limit]}
        key = asking.key(**content)
        keys.append(key)
        if key not in questions:
            questions[key] = Question(key, **content, tokens=tokens_of(asking.prompt.messages(**content)))
    return questions, keys
