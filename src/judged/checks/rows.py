"""Checks of rows one by one and along the file: numbers, tags, ids that are not text, intents, interleaved queries."""

from __future__ import annotations

import numpy as np

from judged.arrays import Flags, Ints, Words
from judged.checks.batch import Batch, decode_id
from judged.checks.kinds import declare
from judged.checks.result import Findings
from judged.checks.sources import Source
from judged.kernels.scan.strings import LEFT, Strings, fold
from judged.problem import Place

NOT_A_NUMBER = declare("not-a-number", "error", "numbers", "The score or grade is text that is not a number.")
SCORE_NAN = declare("score-nan", "error", "scores", "The score is NaN, which cannot be ordered.")
NOT_FINITE = declare("not-finite", "error", "grades", "The grade is NaN or infinite.")
NOT_UTF_8 = declare(
    "not-utf-8",
    "error",
    "ids",
    "An id is not UTF-8 text: an error in judgments, a warning in a run, where it matches no judgment.",
)
SCORE_INFINITE = declare(
    "score-infinite", "warning", "scores", "The score is infinite once it is compared as a 32-bit float."
)
INTERLEAVED_QUERIES = declare(
    "interleaved-queries", "warning", "queries", "The rows of the query are not contiguous."
)
NEGATIVE_GRADES = declare(
    "negative-grades", "warning", "grades", "The grade is below 0; it counts as not relevant."
)
FRACTIONAL_GRADES = declare(
    "fractional-grades",
    "warning",
    "grades",
    "The grade is not a whole number, which other tools cannot read.",
)
SINGLE_INTENT = declare(
    "single-intent",
    "warning",
    "files",
    "No query has more than one intent: the column that was read as intents may hold something else.",
)
TAG_CHANGES = declare(
    "tag-changes", "warning", "lines", "The tag differs from that of the row before: is this one run?"
)
INTENTS_WITHOUT_RELEVANT = declare(
    "intents-without-relevant",
    "info",
    "intents",
    "No document has a grade above 0 for the intent, so measures of intents leave it out.",
)


def check_rows(batch: Batch, findings: Findings) -> None:
    """Report non-numeric or unusual values, and ids that are not valid UTF-8."""
    value, sound = batch.value, batch.sound
    if findings.role == "run":
        flags = {
            NOT_A_NUMBER: ~sound,
            SCORE_NAN: sound & np.isnan(value),
            SCORE_INFINITE: sound & np.isinf(batch.compared),
        }
    else:
        finite = sound & np.isfinite(value)
        flags = {
            NOT_A_NUMBER: ~sound,
            NOT_FINITE: sound & ~finite,
            NEGATIVE_GRADES: finite & (value < 0),
            FRACTIONAL_GRADES: finite & (value != np.round(value)),
        }
    name = "score" if findings.role == "run" else "grade"
    for kind, found in flags.items():
        which = np.flatnonzero(found)

        def describe(i: int, which: Ints = which) -> str:
            row = int(which[i])
            written = f"{value[row]:g}" if batch.token is None else decode_id(batch.token, row)
            return f"{name} is `{written}`"

        findings.add(kind, batch.number[which], describe)
    bad = np.flatnonzero(find_not_utf8(batch))
    ids = {"query": batch.query, "document": batch.document, "intent": batch.intent}
    findings.add(
        NOT_UTF_8,
        batch.number[bad],
        lambda i: ", ".join(f"{id_} {ids.at(int(bad[i]))!r}" for id_, ids in ids.items() if ids is not None),
    )


def find_not_utf8(batch: Batch) -> Flags:
    """Return which rows have a query, a document or an intent that is not UTF-8."""
    heads = batch.query[batch.starts]
    bad: Flags = np.repeat(_is_not_text(heads, np.flatnonzero(fold(heads)[1] == LEFT)), batch.lengths)
    bad |= _is_not_text(batch.document, np.flatnonzero(batch.fate == LEFT))
    if batch.intent is not None:
        bad |= _is_not_text(batch.intent, np.flatnonzero(fold(batch.intent)[1] == LEFT))
    return bad


def _is_not_text(strings: Strings, doubtful: Ints) -> Flags:
    """Return which strings are not UTF-8; only the doubtful ones are decoded."""
    bad = np.zeros(len(strings), dtype=bool)
    if len(doubtful):
        names = [strings.at(row) for row in doubtful.tolist()]
        if not _is_text(b"\n".join(names)):
            bad[doubtful] = [not _is_text(name) for name in names]
    return bad


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


class Tags:
    """The tags of a run, which should all be the same."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._last: np.uint64 | None = None

    def add(self, batch: Batch) -> None:
        """Add every row whose tag is not that of the row before."""
        if batch.tag is None or len(batch) == 0:
            return
        before = np.concatenate((batch.tag[:1] if self._last is None else [self._last], batch.tag[:-1]))
        which = np.flatnonzero(batch.tag != before)
        self._last = batch.tag[-1]
        self._source.findings.add(
            TAG_CHANGES, batch.number[which], lambda i: f"tag is `{self._read(batch, int(which[i]))}`"
        )

    def _read(self, batch: Batch, row: int) -> str:
        """Return the tag of a row: what follows its score on the line."""
        if batch.token is None:
            return ""
        after = batch.origin + int(batch.token.start[row] + batch.token.length[row])
        rest = self._source.data[after : after + 4096].tobytes()
        return rest.split(None, 1)[0].decode(errors="backslashreplace")


class Intents:
    """Every intent of every query, with the highest grade that a document has for it."""

    def __init__(self) -> None:
        self._found: dict[tuple[bytes, bytes], tuple[int, float]] = {}

    def add(self, batch: Batch) -> None:
        """Add judgments with finite grades."""
        if batch.intent is None or len(batch) == 0:
            return
        pairs = batch.query.hashes ^ (batch.intent.hashes >> np.uint64(1))
        _, first, member = np.unique(pairs, return_index=True, return_inverse=True)
        highest = np.full(len(first), -np.inf)
        np.maximum.at(highest, member.reshape(-1), batch.value)
        for row, grade in zip(first.tolist(), highest.tolist(), strict=True):
            pair = (batch.query.at(row), batch.intent.at(row))
            number, before = self._found.get(pair, (int(batch.number[row]), -np.inf))
            self._found[pair] = (number, max(grade, before))

    def check(self, findings: Findings) -> None:
        """Add that no query has two intents, and each intent for which nothing is relevant."""
        if self._found and len({query for query, _ in self._found}) == len(self._found):
            findings.add_at(SINGLE_INTENT, Place(findings.file), "no query has more than one intent")
        empty = [(number, pair) for pair, (number, highest) in self._found.items() if highest <= 0]

        def describe(i: int) -> str:
            query, intent = (name[:200].decode(errors="backslashreplace") for name in empty[i][1])
            return f"intent `{intent}` of query `{query}`"

        numbers = np.array([number for number, _ in empty], dtype=np.int64)
        findings.add(INTENTS_WITHOUT_RELEVANT, numbers, describe)


class Blocks:
    """Starts of the contiguous rows of each query: several if queries are interleaved."""

    def __init__(self) -> None:
        self.queries: dict[bytes, int] = {}
        """Every query, with the line or row of its first row."""
        self._hashes: list[Words] = []
        self._numbers: list[Ints] = []
        self._names: dict[int, str] = {}

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        hashes = batch.query.hashes[batch.starts]
        self._hashes.append(hashes)
        self._numbers.append(batch.number[batch.starts])
        _, first = np.unique(hashes, return_index=True)
        for i in np.sort(first).tolist():
            key = int(hashes[i])
            if key not in self._names:
                row = int(batch.starts[i])
                self.queries[batch.query.at(row)] = int(batch.number[row])
                self._names[key] = decode_id(batch.query, row)

    def check(self, findings: Findings) -> Words:
        """Add queries that come again after others, and return their hashes."""
        hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *self._hashes])
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])
        order = np.argsort(hashes, kind="stable")
        again = np.concatenate(([False], hashes[order][1:] == hashes[order][:-1]))[: len(order)]
        _, first = np.unique(hashes[order][again], return_index=True)
        rows = np.sort(order[again][first])
        findings.add(
            INTERLEAVED_QUERIES,
            numbers[rows],
            lambda i: f"query `{self._names[int(hashes[rows[i]])]}` comes again, after rows of others",
        )
        return np.unique(hashes[rows])
