"""Chunkers: what cuts documents into the passages that are searched. `CHUNKERS` lists the types that a study may name.

A chunk is a span of the document's text, from one character to before another, so that chunks of any kind can be compared
with passages that are judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import msgspec

from judged._optional import need
from judged.studies.stages.functions import call, load_callable
from judged.studies.stages.stage import StageFailed, StageSpec

Span: TypeAlias = tuple[int, int]
"""The first character of a part of a text, and the one after its last."""

WORDS = "words"
"""The tokeniser that needs nothing: words, and marks that are not part of any."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\S+")
_HEADING = re.compile(r"^(#{1,6})[ \t]+\S.*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
# a mark of the end with the quotes and brackets that close with it, before white space and anything but a small letter
_END = re.compile(r"(?<![.!?。！？…])[.!?。！？…]+[\"'”’»)\]]*(?=\s+(?![a-z])|$)|(?<=[。！？])|\n\s*\n")
_SHORT = re.compile(r"(?:\b(?:[A-Z]|e\.g|i\.e|cf|vs|Dr|Mr|Mrs|Ms|Prof|Fig|No|St|al|approx)\.)$")


class ChunkSpec(StageSpec, frozen=True, kw_only=True):
    """A chunker as a study declares it."""

    def split(self, text: str) -> list[Span]:
        """Return the spans of the chunks of a text, in order, without white space at their ends."""
        spans = (strip(text, span) for span in self.cut(text))
        return [span for span in spans if span[0] < span[1]]

    def cut(self, text: str) -> Iterable[Span]:
        """Yield the spans of the chunks of a text."""
        raise NotImplementedError


class WindowSpec(ChunkSpec, frozen=True, kw_only=True):
    """Base of chunkers that slide over units of the text."""

    size: Annotated[int, msgspec.Meta(ge=1)]
    """Number of units in a chunk."""
    overlap: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Number of units that a chunk shares with the one before it."""

    def __post_init__(self) -> None:
        if self.overlap >= self.size:
            msg = f"`overlap` is {self.overlap} and `size` {self.size}, expected a smaller overlap"
            raise ValueError(msg)

    def cut(self, text: str) -> Iterable[Span]:
        """Yield windows of units; the last one ends with the text."""
        units = self.list_units(text)
        for start in range(0, len(units), self.size - self.overlap):
            window = units[start : start + self.size]
            yield window[0][0], window[-1][1]
            if start + self.size >= len(units):
                return

    def list_units(self, text: str) -> Sequence[Span]:
        """Return the spans of the units of a text."""
        raise NotImplementedError


class WordChunks(WindowSpec, frozen=True, kw_only=True, tag="words"):
    """A fixed number of words, which white space separates."""

    size: Annotated[int, msgspec.Meta(ge=1)] = 200
    """Number of words in a chunk."""

    def list_units(self, text: str) -> Sequence[Span]:
        """Return the spans of words."""
        return [match.span() for match in _WORD.finditer(text)]


class TokenChunks(WindowSpec, frozen=True, kw_only=True, tag="tokens"):
    """A fixed number of tokens."""

    size: Annotated[int, msgspec.Meta(ge=1)] = 256
    """Number of tokens in a chunk."""
    tokeniser: str = WORDS
    """`words` takes words and marks; else a `tokenizer.json`, or the folder that has it."""

    def list_units(self, text: str) -> Sequence[Span]:
        """Return the spans of tokens."""
        return load_tokeniser(self.tokeniser).list_tokens(text)


class SentenceChunks(WindowSpec, frozen=True, kw_only=True, tag="sentences"):
    """A fixed number of sentences; blank lines end one too."""

    size: Annotated[int, msgspec.Meta(ge=1)] = 5
    """Number of sentences in a chunk."""

    def list_units(self, text: str) -> Sequence[Span]:
        """Return the spans of sentences."""
        return list_sentences(text)


class HeadingChunks(ChunkSpec, frozen=True, kw_only=True, tag="headings"):
    """The sections of Markdown: from one heading to the next; headings within code are none."""

    level: Annotated[int, msgspec.Meta(ge=1, le=6)] = 6
    """The deepest level of headings that begin a chunk; 1 is `#`."""
    size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Words beyond which a section is cut into several chunks; None: never."""

    def cut(self, text: str) -> Iterable[Span]:
        """Yield the sections, long ones in pieces."""
        fences = [match.start() for match in _FENCE.finditer(text)]
        starts = [
            match.start()
            for match in _HEADING.finditer(text)
            if len(match[1]) <= self.level and sum(fence < match.start() for fence in fences) % 2 == 0
        ]
        cuts = sorted({0, *starts, len(text)})
        for start, end in pairwise(cuts):
            if self.size is None:
                yield start, end
            else:
                inner = WordChunks(size=self.size).cut(text[start:end])
                yield from ((start + first, start + last) for first, last in inner)


class PageChunks(ChunkSpec, frozen=True, kw_only=True, tag="pages"):
    """The pages of a text in which form feeds separate them, as `pdftotext` writes it."""

    def cut(self, text: str) -> Iterable[Span]:
        """Yield the pages."""
        start = 0
        for page in text.split("\f"):
            yield start, start + len(page)
            start += len(page) + 1


class FunctionChunks(ChunkSpec, frozen=True, kw_only=True, tag="function"):
    """A function of one's own from a text to its chunks: texts that occur in it in this order, or pairs of offsets."""

    function: str
    """`module:attribute`, or the name that a package announces."""
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    """Parameters of a factory: if there are any, the function is what it returns."""

    def cut(self, text: str) -> Iterable[Span]:
        """Yield the chunks that the function returns; raise `StageFailed` for one that the text does not have."""
        found = call(load_callable(self.function, self.parameters, kind="chunker"), self.function, text)
        if not isinstance(found, Iterable):
            msg = f"`{self.function}` returned {type(found).__name__}, expected the chunks of a text"
            raise StageFailed(msg)
        after = 0
        for chunk in found:
            if isinstance(chunk, str):
                start = text.find(chunk, after)
                start = text.find(chunk) if start < 0 else start
                span = (start, start + len(chunk))
                after = start + 1
            else:
                span = _to_span(chunk)
            if not 0 <= span[0] <= span[1] <= len(text):
                shown = f"`{chunk[:60]}`" if isinstance(chunk, str) else f"{chunk!r}"
                msg = f"`{self.function}` returned {shown}, which is not part of the text of {len(text):,} characters"
                raise StageFailed(msg, hint="return parts of the text as they are, or pairs (start, end)")
            yield span


def _to_span(chunk: Any) -> Span:
    """Return the offsets of a chunk; (−1, −1), which no text has, for anything else."""
    try:
        start, end = chunk
        return int(start), int(end)
    except (TypeError, ValueError):
        return -1, -1


Chunkers: TypeAlias = WordChunks | TokenChunks | SentenceChunks | HeadingChunks | PageChunks | FunctionChunks
"""Every type, for the readers of studies."""
CHUNKERS: Mapping[str, type[ChunkSpec]] = {
    str(spec.__struct_config__.tag): spec for spec in get_args(Chunkers)
}
"""Every type by the name that users write."""


def strip(text: str, span: Span) -> Span:
    """Return a span without the white space at its ends.

    >>> strip("a  b ", (1, 5))
    (3, 4)
    """
    part = text[span[0] : span[1]]
    start = span[0] + len(part) - len(part.lstrip())
    return start, max(start, span[1] - len(part) + len(part.rstrip()))


def list_sentences(text: str) -> list[Span]:
    """Return the spans of sentences, without the white space between them.

    An abbreviation, or an initial, does not end one, nor does a full stop before a small letter.

    >>> text = "Dr. Smith paid 3.50. Did she? Yes."
    >>> [text[start:end] for start, end in list_sentences(text)]
    ['Dr. Smith paid 3.50.', 'Did she?', 'Yes.']
    """
    cuts = [0]
    for match in _END.finditer(text):
        if not _SHORT.search(text, cuts[-1], match.end()):
            cuts.append(match.end())
    spans = (strip(text, span) for span in pairwise([*cuts, len(text)]))
    return [span for span in spans if span[0] < span[1]]


class Tokeniser:
    """Cuts texts into tokens: words and marks, or those of a model."""

    def __init__(self, name: str = WORDS) -> None:
        self.name = name
        self._model: Any = None if name == WORDS else _load_model(name)

    def list_tokens(self, text: str) -> list[Span]:
        """Return the spans of tokens; those of a model that stand for no character are left out."""
        if self._model is None:
            return [match.span() for match in _TOKEN.finditer(text)]
        found = self._model.encode(text, add_special_tokens=False).offsets
        return [(int(start), int(end)) for start, end in found if start < end]

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        if self._model is None:
            return sum(1 for _ in _TOKEN.finditer(text))
        return len(self._model.encode(text, add_special_tokens=False).ids)


@cache
def load_tokeniser(name: str) -> Tokeniser:
    """Return the tokeniser of a name; raise `StageFailed` for one that cannot be read."""
    return Tokeniser(name)


def _load_model(name: str) -> Any:
    path = Path(name) / "tokenizer.json" if Path(name).is_dir() else Path(name)
    library = need("tokenizers", extra="encoders", needed_by="a tokeniser")
    try:
        return library.Tokenizer.from_file(str(path))
    except Exception as error:  # those of tokenizers are of no narrower kind
        msg = f"the tokeniser `{name}` cannot be read: {error}"
        raise StageFailed(msg, hint=f"`{WORDS}`, a `tokenizer.json`, or the folder that has it") from error
