"""Ids that a person would take for the same: they differ by case, white space or Unicode form only.

Every id has a *folded* form: without white space at its ends, in NFKC, without regard to case. Two ids of one
folded form are reported. Of most files no id changes when folded, and nothing needs to be kept; else the
distinct ones that do are, as hashes, and only where two meet does a second look find out which and where.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judged.checks.batch import Batch, Source
from judged.kernels.scan.folding import LEFT, PLAIN
from judged.kernels.scan.keys import Keys, distinct
from judged.kernels.scan.strings import Strings, Words
from judged.kernels.segments import Ints

__all__ = [
    "Documents",
    "Named",
    "folded_text",
    "meeting_documents",
    "note_alike",
    "side_of_queries",
    "sides_of_documents",
    "step",
]

_INVISIBLE = "\u200b\u2060\ufeff"


def folded_text(text: str) -> str:
    """The form in which ids are compared.

    >>> folded_text(" Straße") == folded_text("STRASSE")
    True
    """
    return unicodedata.normalize("NFKC", _stripped(text)).strip().casefold()


def step(one: str, other: str) -> str:
    """The kind of difference between two ids of one folded form: the last step that makes them equal."""
    if _stripped(one) == _stripped(other):
        return "ids-white-space"
    forms = [unicodedata.normalize("NFKC", _stripped(each)).strip() for each in (one, other)]
    return "ids-unicode" if forms[0] == forms[1] else "ids-case"


def _stripped(text: str) -> str:
    return text.strip().strip(_INVISIBLE).strip()


@dataclass(frozen=True, eq=False)
class Named:
    """Distinct ids of one file: hashes as they are and folded, line or row, and where their bytes lie."""

    plain: Words
    folded: Words
    number: Ints
    start: Ints
    length: Ints

    def __len__(self) -> int:
        return len(self.plain)

    def pick(self, which: Ints) -> Named:
        """Some of them."""
        return Named(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


class Documents:
    """The distinct documents of a source that folding changes, as hashes, gathered batch by batch."""

    def __init__(self) -> None:
        self._plain, self._folded = Distinct(), Distinct()
        self.unchanged = False
        """Whether there are also documents that folding leaves as they are."""

    def add(self, batch: Batch) -> None:
        """Take in the documents of a batch."""
        changed = np.flatnonzero(batch.fate != PLAIN)
        self.unchanged |= len(changed) < len(batch)
        if len(changed):
            self._plain.add(batch.document.hashes[changed])
            self._folded.add(_folded(batch, changed))

    @property
    def plain(self) -> Words:
        """The hashes of those that folding changes, sorted."""
        return self._plain.all()

    @property
    def folded(self) -> Words:
        """The hashes of what it makes of them, sorted."""
        return self._folded.all()


class Distinct:
    """Distinct numbers, put together now and then, so that memory grows with them and not with the file."""

    def __init__(self) -> None:
        self._whole: Words = np.zeros(0, dtype=np.uint64)
        self._parts: list[Words] = []
        self._waiting = 0

    def add(self, numbers: Words) -> None:
        """Take in some."""
        self._parts.append(numbers)
        self._waiting += len(numbers)
        if self._waiting > max(2 * len(self._whole), 1 << 20):
            self.all()

    def all(self) -> Words:
        """All of them, sorted."""
        if self._parts:
            self._whole = distinct(np.concatenate([self._whole, *self._parts]))
            self._parts, self._waiting = [], 0
        return self._whole


def meeting_documents(files: Sequence[tuple[Source, Documents]]) -> list[tuple[Source, Named]]:
    """The documents of files that may be like others, each where it comes first; none if that cannot be.

    As many distinct folded forms as ids: then no two of these ids share one. Only ids that folding leaves as they
    are can still meet them, or else the files are looked through again for all of both kinds.
    """
    plain = distinct(np.concatenate([documents.plain for _, documents in files]))
    folded = distinct(np.concatenate([documents.folded for _, documents in files]))
    if len(folded) == 0:
        return []
    keys = Keys(folded)
    met = [_unchanged(source, keys) if documents.unchanged else _nothing() for source, documents in files]
    if len(plain) == len(folded) and not any(map(len, met)):
        return []
    return [
        (source, _together([_changed(source), others]))
        for (source, _), others in zip(files, met, strict=True)
    ]


def _unchanged(source: Source, folded: Keys) -> Named:
    """The distinct documents that folding leaves as they are and that are folded forms of others."""
    found = [_nothing()]
    for batch in source.batches():
        plain = np.flatnonzero(batch.fate == PLAIN)
        which = plain[folded.find(batch.document.hashes[plain])[0]]
        found.append(_distinct(_named(batch, which)))
    return _distinct(_together(found))


def _changed(source: Source) -> Named:
    """The distinct documents that folding changes."""
    found = [_distinct(_named(batch, np.flatnonzero(batch.fate != PLAIN))) for batch in source.batches()]
    return _distinct(_together([_nothing(), *found]))


@dataclass(frozen=True, eq=False)
class Side:
    """Ids of one file that may be like others: their folded form, line or row, and text."""

    source: Source
    keys: Sequence[Hashable]
    numbers: Sequence[int]
    texts: Sequence[str]


def side_of_queries(source: Source, queries: Mapping[bytes, int]) -> Side:
    """The queries of a file, each with the line or row where it comes first."""
    texts = [name.decode(errors="replace") for name in queries]
    return Side(source, [folded_text(text) for text in texts], list(queries.values()), texts)


def sides_of_documents(files: Sequence[tuple[Source, Named]]) -> list[Side]:
    """The documents of files whose folded form another of them shares."""
    whole = _together([ids for _, ids in files])
    order = np.lexsort((whole.plain, whole.folded))
    plain, folded = whole.plain[order], whole.folded[order]
    shared = distinct(folded[1:][(folded[1:] == folded[:-1]) & (plain[1:] != plain[:-1])])
    return [_side(source, ids.pick(np.flatnonzero(np.isin(ids.folded, shared)))) for source, ids in files]


def note_alike(source: Source, sides: Sequence[Side], *, what: str) -> None:
    """Note each id of `source` that is like another of the sides: its own, and maybe that of another file."""
    groups: dict[Hashable, list[tuple[Side, int]]] = {}
    for side in sides:
        for i, key in enumerate(side.keys):
            groups.setdefault(key, []).append((side, i))
    for group in groups.values():
        for side, i in group if len(group) > 1 else ():
            if side.source is source:
                _note_one(side, i, group, what)


def _side(source: Source, ids: Named) -> Side:
    cuts = zip(ids.start.tolist(), ids.length.tolist(), strict=True)
    texts = [source.data[at : at + size].tobytes().decode(errors="replace") for at, size in cuts]
    return Side(source, ids.folded.tolist(), ids.number.tolist(), texts)


def _note_one(side: Side, i: int, group: Sequence[tuple[Side, int]], what: str) -> None:
    """Note one id with the first other that it is like."""
    mine = side.texts[i]
    found = next(((other, j) for other, j in group if other.texts[j] != mine), None)
    if found is None:
        return
    other, j = found
    its, where = other.texts[j], other.source.findings.where(other.numbers[j])
    side.source.findings.add(
        step(mine, its),
        np.array([side.numbers[i]]),
        lambda _: f"{what} {_quoted(mine)} is like {_quoted(its)} at {where}",
    )


def _quoted(text: str) -> str:
    return f"`{text}`" if text.isascii() and text.isprintable() and text == text.strip() else ascii(text)


def _named(batch: Batch, which: Ints) -> Named:
    documents = batch.document[which]
    place = documents.start + batch.origin
    return Named(documents.hashes, _folded(batch, which), batch.number[which], place, documents.length)


def _folded(batch: Batch, which: Ints) -> Words:
    """The hashes of the folded forms of some documents."""
    folded: Words = batch.folded[which]
    left = np.flatnonzero(batch.fate[which] == LEFT)
    if len(left):
        texts = _listed(batch.document, which[left])
        folded[left] = _hashes([folded_text(each.decode(errors="replace")) for each in texts])
    return folded


def _listed(strings: Strings, which: Ints) -> Iterator[bytes]:
    return (strings.at(i) for i in which.tolist())


def _hashes(texts: Sequence[str]) -> Words:
    """The hashes of texts, as `Strings` has them."""
    encoded = [text.encode(errors="replace") for text in texts]
    offset = np.concatenate(([0], np.cumsum([len(each) for each in encoded]))).astype(np.int64)
    return Strings.from_offsets(np.frombuffer(b"".join(encoded), dtype=np.uint8), offset).hashes


def _distinct(ids: Named) -> Named:
    """Each id once, where it came first."""
    _, first = np.unique(ids.plain, return_index=True)
    return ids.pick(first)


def _together(parts: Sequence[Named]) -> Named:
    return Named(
        *(np.concatenate([getattr(each, name) for each in parts]) for name in Named.__dataclass_fields__)
    )


def _nothing() -> Named:
    words, ints = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    return Named(words, words, ints, ints, ints)
