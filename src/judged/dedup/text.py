"""Texts as keys: the words of a title or a snippet, without regard to how they are set."""

from __future__ import annotations

import hashlib
from unicodedata import category, normalize

__all__ = ["SHORTEST_PREFIX", "comparable", "normalised", "related", "stem", "text_hash"]

SHORTEST_PREFIX = 30
"""How many characters, normalised, the beginning of a text must have to stand for the whole."""
_HEAD = 48
"""How much of a long text is mostly enough for its first characters; some are lost to marks and blanks."""
_CLOSING = " \t\n\r\"')]”’»"


class _Signs(dict[int, int | str | None]):
    """What becomes of each character: punctuation, symbols and blanks are blanks, invisible marks are nothing."""

    def __missing__(self, code: int) -> int | str | None:
        kind = category(chr(code))
        self[code] = None if kind == "Cf" else " " if kind[0] in "PSZC" else code
        return self[code]


_SIGNS = _Signs()
_ASCII = bytes(ord(str(chr(code).translate(_SIGNS)).lower()) for code in range(128)) + bytes(range(128, 256))


def normalised(text: str) -> str:
    r"""The words of a text in lower case, one blank between them; compatible letters and marks are the same (NFKC).

    >>> normalised("  Ｇood-gain:\tthe “Measure”… ")
    'good gain the measure'
    """
    if text.isascii():
        return " ".join(text.encode("ascii").translate(_ASCII).decode("ascii").split())
    text = normalize("NFKC", normalize("NFKC", text).casefold()).translate(_SIGNS)
    return " ".join(normalize("NFKC", text).split())


def stem(text: str) -> str:
    """The first characters of the normalised text: texts of which one is a beginning of the other share them."""
    if len(text) > _HEAD:
        # What follows a blank never changes what stands before it; in ASCII, nothing does.
        cut = _HEAD if text.isascii() else text.rfind(" ", 0, 3 * _HEAD)
        head = normalised(text[: max(cut, 0)])
        if len(head) >= SHORTEST_PREFIX:
            return head[:SHORTEST_PREFIX]
    return normalised(text)[:SHORTEST_PREFIX]


def comparable(text: str) -> str | None:
    """The normalised text with an end that says what it may be a beginning of; None if it has no words.

    A short text ends with a line, and so begins no other. A long one ends with a blank, after a whole word; one that
    was cut short, and says so, with its last letter: `capi…` may have been `capital`, and `page 1` is not `page 10`.
    """
    words = normalised(text)
    if len(words) < SHORTEST_PREFIX:
        return words + "\n" if words else None
    cut_short = text.rstrip(_CLOSING).endswith(("…", "..."))
    return words if cut_short else words + " "


def related(one: str, other: str) -> bool:
    """Whether two comparable texts are equal, or one is a beginning of the other."""
    return one.startswith(other) or other.startswith(one)


def text_hash(text: str) -> str:
    """Thirty-two hexadecimal digits that texts share if and only if they are normalised to the same words."""
    return hashlib.blake2b(normalised(text).encode(), digest_size=16).hexdigest()
