"""What can be wrong with a row by itself: its number, its tag, ids that are no text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judged.checks.batch import Batch
from judged.checks.findings import Findings
from judged.io.sniff import Kind as Role
from judged.kernels.scan.folding import LEFT, fold
from judged.kernels.scan.strings import Strings
from judged.kernels.segments import Flags, Ints

__all__ = ["Tags", "not_utf8", "note_rows", "shown"]


def note_rows(batch: Batch, findings: Findings, role: Role) -> None:
    """Note numbers that are none or unlike others, and ids that are not UTF-8."""
    value, sound = batch.value, batch.sound
    if role == "run":
        found = {
            "score-not-a-number": ~sound,
            "score-nan": sound & np.isnan(value),
            "score-infinite": sound & np.isinf(batch.compared),
        }
    else:
        finite = sound & np.isfinite(value)
        found = {
            "grade-not-a-number": ~sound,
            "grade-not-finite": sound & ~finite,
            "negative-grades": finite & (value < 0),
            "fractional-grades": finite & (value != np.round(value)),
        }
    for kind, flags in found.items():
        which = np.flatnonzero(flags)
        findings.add(kind, batch.number[which], _telling(batch, which, "score" if role == "run" else "grade"))
    _note_bytes(batch, findings, "run-not-utf-8" if role == "run" else "judgment-not-utf-8")


class Tags:
    """The tags of a run, of which all should be one."""

    def __init__(self) -> None:
        self._last: np.uint64 | None = None

    def note(self, batch: Batch, findings: Findings, tag_of: Callable[[int], str]) -> None:
        """Note every row whose tag is not that of the row before; `tag_of` reads that of a line."""
        if batch.tag is None or len(batch) == 0:
            return
        before = np.concatenate((batch.tag[:1] if self._last is None else [self._last], batch.tag[:-1]))
        which = np.flatnonzero(batch.tag != before)
        self._last = batch.tag[-1]
        findings.add("tag-changes", batch.number[which], lambda i: f"tag is `{tag_of(int(which[i]))}`")


def shown(strings: Strings, row: int) -> str:
    """An id as it appears in a message."""
    return strings.at(row)[:200].decode(errors="backslashreplace")


def _telling(batch: Batch, which: Ints, number: str) -> Callable[[int], str]:
    def tell(i: int) -> str:
        row = int(which[i])
        written = f"{batch.value[row]:g}" if batch.token is None else shown(batch.token, row)
        return f"{number} is `{written}`"

    return tell


def _note_bytes(batch: Batch, findings: Findings, kind: str) -> None:
    """Note rows whose query or document is not UTF-8."""
    which = np.flatnonzero(not_utf8(batch))
    findings.add(
        kind,
        batch.number[which],
        lambda i: ", ".join(f"{name} {ids.at(int(which[i]))!r}" for name, ids in _ids(batch).items()),
    )


def _ids(batch: Batch) -> dict[str, Strings]:
    named = {"query": batch.query, "document": batch.document}
    return named if batch.intent is None else {**named, "intent": batch.intent}


def not_utf8(batch: Batch) -> Flags:
    """Which rows have a query, a document or an intent that is not UTF-8."""
    heads = batch.query[batch.starts]
    bad: Flags = np.repeat(_not_text(heads, np.flatnonzero(fold(heads)[1] == LEFT)), batch.lengths)
    bad |= _not_text(batch.document, np.flatnonzero(batch.fate == LEFT))
    if batch.intent is not None:
        bad |= _not_text(batch.intent, np.flatnonzero(fold(batch.intent)[1] == LEFT))
    return bad


def _not_text(strings: Strings, doubtful: Ints) -> Flags:
    """Which strings are not UTF-8; only the doubtful ones are looked at."""
    bad = np.zeros(len(strings), dtype=bool)
    if len(doubtful):
        named = [strings.at(row) for row in doubtful.tolist()]
        if not _is_text(b"\n".join(named)):
            bad[doubtful] = [not _is_text(each) for each in named]
    return bad


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
