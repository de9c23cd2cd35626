"""Cleaned copies of TREC text: what `judged score` would refuse is left out, and the rest stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from judged.checks.batch import COLUMNS, Batch, Stretch, cut_text
from judged.checks.queries import find_repeats
from judged.checks.rows import find_not_utf8
from judged.errors import JudgedError
from judged.io.open import BOM, is_file
from judged.io.sniff import Kind as Role
from judged.io.table import open_path
from judged.io.trec import read_line_text
from judged.io.write import write_file
from judged.kernels.scan.rows import RETURN, ROW
from judged.kernels.scan.strings import Buffer, Bytes, Strings
from judged.kernels.segments import Flags, Floats, Ints
from judged.tables.schema import SCHEMAS

__all__ = ["Changes", "Policy", "clean", "fix"]

Policy: TypeAlias = Literal["first", "last", "best"]
"""Of rows with one query and document (and intent), which stays: the first, the last, or the one with the best number."""
_FEED = 10


@dataclass
class Changes:
    """What a cleaned copy has lost or got otherwise, counted."""

    lines_in: int = 0
    lines_out: int = 0
    lines_dropped: int = field(
        default=0, metadata={"words": "malformed lines, or without a usable number, dropped"}
    )
    comments: int = field(default=0, metadata={"words": "comments and blank lines dropped"})
    duplicates: int = field(default=0, metadata={"words": "duplicates dropped"})
    ranks: int = field(default=0, metadata={"words": "ranks renumbered"})
    moved: int = field(default=0, metadata={"words": "lines moved to stand with their query"})
    returns: int = field(default=0, metadata={"words": "carriage returns removed"})
    marks: int = field(default=0, metadata={"words": "byte order marks removed"})

    def sentences(self) -> list[str]:
        """What was changed, in words; lines in and out first."""
        told = [f"{self.lines_in:,} lines in, {self.lines_out:,} out"]
        counted = [(getattr(self, each.name), each.metadata.get("words")) for each in fields(self)]
        return told + [f"{count:,} {words}" for count, words in counted if words and count]


def fix(
    given: Any, destination: str, *, role: Role, policy: Policy, force: bool = False, intents: bool = False
) -> Changes:
    """Write a cleaned copy of TREC text; what was changed comes back, the original stays as it is."""
    found = open_path(given, SCHEMAS[role]) if is_file(given) else None
    if not isinstance(found, tuple) or found[1].name != "trec":
        msg = f"{given if isinstance(given, str) else role} is not TREC text, and only that can be fixed"
        raise JudgedError(msg, hint="`judged lint` names the rows; put them right where they were made")
    file = found[0]
    _refuse_in_place(given, destination)
    text = np.frombuffer(read_line_text(file), dtype=np.uint8)
    changes = Changes(marks=int(file.head().startswith(BOM)))
    parts = clean(text, role=role, policy=policy, changes=changes, intents=intents and role == "judgments")
    first = next(parts, b"")
    if role == "judgments" and not first:
        msg = f"{file.label} holds no judgment that could stay, so there is nothing to write"
        raise JudgedError(msg)

    def write(sink: Any) -> None:
        sink.write(first)
        sink.writelines(parts)

    write_file(destination, write, force=force)
    return changes


def _refuse_in_place(given: Any, destination: str) -> None:
    """Refuse to write over what is being read, even by force."""
    if isinstance(given, (str, Path)) and Path(destination).exists() and Path(destination).samefile(given):
        msg = f"{destination} is the file to be fixed, and a copy is never written in its place"
        raise JudgedError(msg, hint="give the copy another name")


def clean(
    text: Bytes, *, role: Role, policy: Policy, changes: Changes, intents: bool = False
) -> Iterator[bytes]:
    """The text without what is wrong with it, part by part; `changes` is filled on the way."""
    columns = COLUMNS[role]
    while text[:3].tobytes() == BOM:
        text, changes.marks = text[3:], changes.marks + 1
    sound = _joined(
        [_sound(text, part, role, changes) for part in cut_text(text, columns=columns, intents=intents)]
    )
    grouped = _grouped(sound, columns, changes)
    for part in cut_text(grouped, columns=columns, intents=intents):
        done = _deduplicated(grouped[part.at : part.at + part.size], part, policy, changes)
        if role == "run":
            done = _renumbered(done, columns, changes)
        changes.lines_out += done.count(b"\n")
        if done:
            yield done


def _sound(text: Bytes, part: Stretch, role: Role, changes: Changes) -> Bytes:
    """The lines that are rows with a usable number, without carriage returns before their ends."""
    rows, local = part.rows, text[part.at : part.at + part.size]
    begins = np.append(rows.begins, part.size)
    usable = np.isfinite(rows.value) if role == "judgments" else ~np.isnan(rows.value)
    good = rows.sound & usable
    if role == "judgments":
        good &= ~find_not_utf8(part.batch)
    kept = np.zeros(len(rows.kinds), dtype=bool)
    kept[rows.line[good]] = True
    kinds = rows.kinds & (RETURN - 1)
    changes.lines_in += len(kept)
    changes.comments += int((kinds > 1).sum())
    changes.lines_dropped += int((kinds == 1).sum() + (kinds == ROW).sum() - kept.sum())
    mask = np.repeat(kept, np.diff(begins))
    carriage = begins[1:][kept & (rows.kinds >= RETURN)] - 2
    changes.returns += len(carriage)
    mask[carriage] = False
    return local if mask.all() else local[mask]


def _joined(parts: list[Bytes]) -> Bytes:
    """Parts of a text as one, whose last line is ended."""
    whole = np.concatenate([np.zeros(0, dtype=np.uint8), *parts])
    if len(whole) and whole[-1] != _FEED:
        whole = np.append(whole, np.uint8(_FEED))
    return whole


def _grouped(text: Bytes, columns: int, changes: Changes) -> Bytes:
    """The text with the lines of each query together, where the query first comes."""
    hashes, begins = [], []
    for part in cut_text(text, columns=columns):
        hashes.append(part.rows.query.hashes)
        begins.append(part.rows.begins + part.at)
    if not hashes:
        return text
    head, begin = np.concatenate(hashes), np.append(np.concatenate(begins), len(text))
    _, first, member = np.unique(head, return_index=True, return_inverse=True)
    home = first[member.reshape(-1)]
    if (np.diff(home) >= 0).all():
        return text
    order = np.argsort(home, kind="stable")
    changes.moved += int((order != np.arange(len(order))).sum())
    return Strings(Buffer(text), begin[:-1], np.diff(begin))[order].packed()[0]


def _deduplicated(text: Bytes, part: Stretch, policy: Policy, changes: Changes) -> bytes:
    """The lines without repeated documents, under the policy."""
    again, first = find_repeats(part.batch)
    if len(again) == 0:
        return text.tobytes()
    dropped = _dropped(again, first, part.rows.value, policy)
    changes.duplicates += len(dropped)
    kept = np.ones(len(part.rows.kinds), dtype=bool)
    kept[part.rows.line[dropped]] = False
    left: Bytes = text[np.repeat(kept, np.diff(np.append(part.rows.begins, len(text))))]
    return left.tobytes()


def _dropped(again: Ints, first: Ints, value: Floats, policy: Policy) -> Ints:
    """The rows that go: of each document all but one."""
    if policy == "first":
        return again
    rows = np.concatenate((np.unique(first), again))
    group = np.concatenate((np.unique(first), first))
    rank = -rows if policy == "last" else -value[rows]
    order = np.lexsort((rows, rank, group))
    stays: Flags = np.concatenate(([True], np.diff(group[order]) > 0))
    return rows[order][~stays]


def _renumbered(text: bytes, columns: int, changes: Changes) -> bytes:
    """The lines with ranks 1, 2, … by score, equal ones by document from the greatest, as trec_eval has them."""
    data = np.frombuffer(text, dtype=np.uint8)
    pieces: list[bytes] = []
    at = 0
    for part in cut_text(data, columns=columns):
        right = ranks(part.batch)
        wrong = np.flatnonzero(part.rows.rank != right)
        changes.ranks += len(wrong)
        for row in wrong.tolist():
            start = part.at + int(part.rows.document.start[row] + part.rows.document.length[row])
            line = text[start : part.at + int(part.rows.token.start[row])]
            old = line.split()[0]
            begin = start + line.index(old)
            pieces += [text[at:begin], b"%d" % right[row]]
            at = begin + len(old)
    return b"".join([*pieces, text[at:]])


def ranks(batch: Batch) -> Ints:
    """The rank of every row in its query."""
    score = -batch.compared.astype(np.float64)
    documents = [~key for key in (batch.document.length.astype(np.uint64), *batch.document.sort_keys()[::-1])]
    order = np.lexsort((*documents, score, batch.block))
    right = np.empty(len(order), dtype=np.int64)
    right[order] = np.arange(1, len(order) + 1) - np.repeat(batch.starts, batch.lengths)
    return right
