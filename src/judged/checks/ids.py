"""Ids that a person would take for the same: they differ only by case, white space or Unicode form.

Every id has a *folded* form: without white space at its ends, in NFKC, without regard to case. Two ids with the
same folded form are reported. In most files folding changes no id, and nothing is kept; otherwise the hashes of
the distinct ids that it changes are kept, and the files are read again only if two ids share a folded form.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judged.arrays import Ints, Words
from judged.checks.batch import Batch
from judged.checks.kinds import Kind, declare
from judged.checks.sources import Source
from judged.kernels.scan.strings import LEFT, PLAIN, Keys, Strings, distinct

IDS_CASE = declare(
    "ids-case",
    "warning",
    "ids",
    "The id differs only by case from another, so the two do not match.",
)
IDS_WHITE_SPACE = declare(
    "ids-white-space",
    "warning",
    "ids",
    "The id differs only by white space at its ends from another, so the two do not match.",
)
IDS_UNICODE = declare(
    "ids-unicode",
    "warning",
    "ids",
    "The id differs only by its Unicode form (NFKC) from another, so the two do not match.",
)
_INVISIBLE = "\u200b\u2060\ufeff"


def fold_text(text: str) -> str:
    """Return the form in which ids are compared.

    >>> fold_text(" Straße") == fold_text("STRASSE")
    True
    """
    return unicodedata.normalize("NFKC", _strip(text)).strip().casefold()


def name_difference(one: str, other: str) -> Kind:
    """Return the kind of difference between two ids with one folded form: the last step that makes them equal."""
    if _strip(one) == _strip(other):
        return IDS_WHITE_SPACE
    forms = {unicodedata.normalize("NFKC", _strip(text)).strip() for text in (one, other)}
    return IDS_UNICODE if len(forms) == 1 else IDS_CASE


def _strip(text: str) -> str:
    return text.strip().strip(_INVISIBLE).strip()


@dataclass(frozen=True, slots=True)
class _Id:
    """One id that is like another: its source, its line or row, and its text."""

    source: Source
    number: int
    text: str


def check_query_ids(source: Source, sides: Sequence[tuple[Source, Mapping[bytes, int]]]) -> None:
    """Add each query of `source` that is like another of the files; queries come with their first line or row."""
    groups: dict[str, list[_Id]] = {}
    for side, queries in sides:
        for name, number in queries.items():
            text = name.decode(errors="replace")
            groups.setdefault(fold_text(text), []).append(_Id(side, number, text))
    _add_alike(source, groups.values(), "query")


def check_documents(source: Source, files: Sequence[tuple[Source, Documents]]) -> None:
    """Add each document of `source` that is like another of the files."""
    plain = distinct(np.concatenate([documents.plain.all() for _, documents in files]))
    folded = distinct(np.concatenate([documents.folded.all() for _, documents in files]))
    if len(folded) == 0:
        return
    keys = Keys(folded)
    unchanged = any(
        documents.unchanged and any(len(_find_forms(batch, keys)) for batch in side.batches())
        for side, documents in files
    )
    if len(plain) == len(folded) and not unchanged:
        return  # every changed id has a folded form of its own, which no other id has either
    candidates = [_read_candidates(side, keys) for side, _ in files]
    every = np.concatenate(candidates, axis=1)
    order = np.lexsort((every[0], every[1]))
    same = (every[1][order][1:] == every[1][order][:-1]) & (every[0][order][1:] != every[0][order][:-1])
    shared = distinct(every[1][order][1:][same])
    groups: dict[int, list[_Id]] = {}
    for (side, _), found in zip(files, candidates, strict=True):
        chosen = found[:, np.isin(found[1], shared)]
        for form, number, start, length in chosen[1:].T.tolist():
            text = side.data[start : start + length].tobytes().decode(errors="replace")
            groups.setdefault(form, []).append(_Id(side, number, text))
    _add_alike(source, groups.values(), "document")


class Documents:
    """The distinct documents of a source that folding changes, as hashes, collected batch by batch."""

    def __init__(self) -> None:
        self.plain, self.folded = _Distinct(), _Distinct()
        self.unchanged = False
        """Whether there are also documents that folding does not change."""

    def add(self, batch: Batch) -> None:
        """Take in the documents of a batch."""
        changed = np.flatnonzero(batch.fate != PLAIN)
        self.unchanged |= len(changed) < len(batch)
        if len(changed):
            self.plain.add(batch.document.hashes[changed])
            self.folded.add(_fold_documents(batch, changed))


class _Distinct:
    """Distinct hashes, merged from time to time, so that memory grows with their number and not with the file."""

    def __init__(self) -> None:
        self._whole: Words = np.zeros(0, dtype=np.uint64)
        self._parts: list[Words] = []
        self._waiting = 0

    def add(self, hashes: Words) -> None:
        self._parts.append(hashes)
        self._waiting += len(hashes)
        if self._waiting > max(2 * len(self._whole), 1 << 20):
            self.all()

    def all(self) -> Words:
        """Return all of them, sorted."""
        if self._parts:
            self._whole = distinct(np.concatenate([self._whole, *self._parts]))
            self._parts, self._waiting = [], 0
        return self._whole


def _find_forms(batch: Batch, folded: Keys) -> Ints:
    """Return the rows of documents that folding does not change and that are folded forms of others."""
    plain = np.flatnonzero(batch.fate == PLAIN)
    return plain[folded.find(batch.document.hashes[plain])[0]]


def _read_candidates(source: Source, folded: Keys) -> Words:
    """Return the distinct documents that may be like others, one in a column.

    The rows are the hash, the hash of the folded form, the line or row of the first one, and where its bytes are.
    """
    parts = [np.zeros((5, 0), dtype=np.uint64)]
    for batch in source.batches():
        which = np.concatenate((np.flatnonzero(batch.fate != PLAIN), _find_forms(batch, folded)))
        documents = batch.document[which]
        place = documents.start + batch.origin
        columns = (
            *(documents.hashes, _fold_documents(batch, which)),
            *(batch.number[which], place, documents.length),
        )
        parts.append(_keep_first(np.stack([column.astype(np.uint64) for column in columns])))
    return _keep_first(np.concatenate(parts, axis=1))


def _keep_first(found: Words) -> Words:
    """Return each document once, at its first occurrence."""
    return found[:, np.unique(found[0], return_index=True)[1]]


def _fold_documents(batch: Batch, which: Ints) -> Words:
    """Return the hashes of the folded forms of some documents."""
    folded: Words = batch.folded[which]
    left = np.flatnonzero(batch.fate[which] == LEFT)
    if len(left):
        texts = (batch.document.at(row).decode(errors="replace") for row in which[left].tolist())
        encoded = [fold_text(text).encode(errors="replace") for text in texts]
        offset = np.concatenate(([0], np.cumsum([len(text) for text in encoded]))).astype(np.int64)
        data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        folded[left] = Strings.from_offsets(data, offset).hashes
    return folded


def _add_alike(source: Source, groups: Iterable[Sequence[_Id]], what: str) -> None:
    """Add each id of `source` that shares its group with a different id, and the first such one."""
    for group in groups:
        for mine in group if len(group) > 1 else ():
            other = next((entry for entry in group if entry.text != mine.text), None)
            if mine.source is not source or other is None:
                continue
            place = other.source.findings.locate(other.number)
            message = f"{what} {_quote(mine.text)} nearly matches {_quote(other.text)} at {place}"
            kind = name_difference(mine.text, other.text)
            source.findings.add(kind, np.array([mine.number]), lambda _, message=message: message)  # type: ignore[misc]


def _quote(text: str) -> str:
    return f"`{text}`" if text.isascii() and text.isprintable() and text == text.strip() else ascii(text)
