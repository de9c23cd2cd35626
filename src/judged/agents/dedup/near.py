"""Near-duplicate texts: each is represented by the first similar one."""

from __future__ import annotations

from judged._optional import need

_PERMUTATIONS, _SEED, _WORDS = 128, 1, 3


class NearTexts:
    """Texts that represent similar ones, found by MinHash over sequences of three words."""

    def __init__(self, threshold: float) -> None:
        self._rensa = need("rensa", extra="near", needed_by="finding texts that are nearly the same")
        self._threshold = threshold
        self._index = self._rensa.RMinHashLSH(threshold, _PERMUTATIONS, _bands(threshold))
        self._texts: list[str] = []
        self._sketches: list[object] = []
        self._known: dict[str, str] = {}

    def represent(self, text: str, *, keep: bool = True) -> str:
        """Return the text that represents a comparable one: the most similar one so far, the oldest of several, or itself.

        With `keep`, a text that represents itself may represent later ones.
        """
        known = self._known.get(text)
        if known is None:
            known = self._find(text, keep=keep)
            if keep:
                self._known[text] = known
        return known

    def _find(self, text: str, *, keep: bool) -> str:
        sketch = self._rensa.RMinHash(_PERMUTATIONS, _SEED)
        sketch.update(_sequences(text))
        near: dict[int, float] = {
            number: sketch.jaccard(self._sketches[number]) for number in self._index.query(sketch)
        }
        best = min(near, key=lambda number: (-near[number], number), default=None)
        if best is not None and near[best] >= self._threshold:
            return self._texts[best]
        if keep:
            self._index.insert(len(self._texts), sketch)
            self._texts.append(text)
            self._sketches.append(sketch)
        return text


def _sequences(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[at : at + _WORDS]) for at in range(max(1, len(words) - _WORDS + 1))]


def _bands(threshold: float) -> int:
    """Return the fewest bands that miss no text near the threshold, so that texts well below it are seldom compared."""
    fitting = [
        bands for bands in (4, 8, 16, 32, 64) if (1 / bands) ** (bands / _PERMUTATIONS) <= threshold - 0.15
    ]
    return min(fitting, default=128)
