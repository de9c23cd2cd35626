"""Cleaned copies of TREC text: without what `judged score` would refuse, the rest unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import numpy as np

from judged.arrays import Bytes, Flags, Floats, Ints
from judged.checks.batch import COLUMNS, Batch, Stretch, cut_text
from judged.checks.rows import find_not_utf8
from judged.errors import BadInput, JudgedError
from judged.io.open import BOM, File, is_file
from judged.io.sniff import Kind as Role
from judged.io.table import open_path
from judged.io.trec import read_line_text
from judged.io.write import write_file
from judged.kernels.scan.order import sort_results
from judged.kernels.scan.rows import RETURN
from judged.kernels.scan.strings import Buffer, Strings
from judged.kernels.scan.text import ROW
from judged.tables.inputs import JudgmentsLike, RunLike
from judged.tables.schema import SCHEMAS
from judged.wording import counted

Policy: TypeAlias = Literal["first", "last", "best"]
"""Rule for which row of one query and document (and intent) is kept: the first, the last, or the best number."""
FIXABLE = frozenset(
    {"few-columns", "not-a-number", "score-nan", "not-finite", "repeated-document", "conflicting-grades"}
)
"""The codes of problems that a cleaned copy no longer has."""
HEAD = 1 << 20
"""Bytes of a file that show whether a copy would hold anything."""
_FEED = 10


def _change(thing: str, change: str) -> int:
    """Return a field that counts one kind of change, with the words for it."""
    count: int = field(default=0, metadata={"thing": thing, "change": change})
    return count


@dataclass
class Changes:
    """Counts of what a cleaned copy has lost or changed."""

    lines_in: int = 0
    lines_out: int = 0
    lines_dropped: int = _change("line", "dropped (malformed, or without a usable number)")
    comments: int = _change("comment or blank line", "dropped")
    duplicates: int = _change("duplicate", "dropped")
    ranks: int = _change("rank", "renumbered")
    moved: int = _change("line", "moved next to others of the same query")
    returns: int = _change("carriage return", "removed")
    marks: int = _change("byte order mark", "removed")

    def sentences(self) -> list[str]:
        """Return what was changed, in words; lines in and out first."""
        changes = [
            f"{counted(getattr(self, count.name), count.metadata['thing'])} {count.metadata['change']}"
            for count in fields(self)
            if count.metadata and getattr(self, count.name)
        ]
        return [f"{counted(self.lines_in, 'line')} in, {self.lines_out:,} out", *changes]


def is_fixable(error: BadInput, path: str, role: Role) -> bool:
    """Return whether a cleaned copy of a file would have none of the problems for which it was refused."""
    if error.hint is not None or not set(error.counts) <= FIXABLE:
        return False  # a hint says what is wrong with the file as a whole
    if not Path(path).is_file():
        return False  # several files, a pipe that was read, or standard input: there is nothing to copy from
    opened = open_path(path, SCHEMAS[role])
    return isinstance(opened, tuple) and opened[1].name == "trec" and _keeps_something(opened[0], role)


def _keeps_something(file: File, role: Role) -> bool:
    """Return whether a copy would have a row, by the beginning of the file."""
    head = bytes(file.content[:HEAD])
    text = np.frombuffer(head[: head.rfind(b"\n") + 1] or head, dtype=np.uint8)
    return any(clean(text, role=role, policy="best", changes=Changes()))


def fix(
    given: JudgmentsLike | RunLike,
    destination: str,
    *,
    role: Role,
    policy: Policy,
    force: bool = False,
    intents: bool = False,
) -> Changes:
    """Write a cleaned copy of TREC text and return what was changed; the original is never written to."""
    opened = open_path(given, SCHEMAS[role]) if is_file(given) else None
    if not isinstance(opened, tuple) or opened[1].name != "trec":
        msg = f"{given if isinstance(given, str) else role} is not TREC text, and only that can be fixed"
        raise JudgedError(msg, hint="`judged lint` names the rows; correct them where they were made")
    file = opened[0]
    same = Path(destination).exists() and isinstance(given, (str, Path))
    if same and Path(destination).samefile(given):  # type: ignore[arg-type] # a path, as just checked
        msg = f"{destination} is the file to be fixed, and a copy is never written in its place"
        raise JudgedError(msg, hint="give the copy another name")
    text = np.frombuffer(read_line_text(file), dtype=np.uint8)
    changes = Changes(marks=int(file.head().startswith(BOM)))
    parts = clean(text, role=role, policy=policy, changes=changes, intents=intents and role == "judgments")
    # one part ahead, so that no empty file is written before the error
    first = next(parts, b"")
    if role == "judgments" and not first:
        msg = f"{file.label} holds no judgment that could be kept, so there is nothing to write"
        raise JudgedError(msg)

    def write(sink: BinaryIO) -> None:
        sink.write(first)
        sink.writelines(parts)

    write_file(destination, write, force=force)
    return changes


def clean(
    text: Bytes, *, role: Role, policy: Policy, changes: Changes, intents: bool = False
) -> Iterator[bytes]:
    """Yield the corrected text part by part, and record what was corrected in `changes`."""
    columns = COLUMNS[role]
    while text[:3].tobytes() == BOM:
        text, changes.marks = text[3:], changes.marks + 1
    stretches = cut_text(text, columns=columns, intents=intents)
    sound = np.concatenate(
        [np.zeros(0, dtype=np.uint8), *(_keep_sound(text, stretch, role, changes) for stretch in stretches)]
    )
    if len(sound) and sound[-1] != _FEED:
        sound = np.append(sound, np.uint8(_FEED))
    grouped = _group_by_query(sound, columns, changes)
    for stretch in cut_text(grouped, columns=columns, intents=intents):
        lines = grouped[stretch.at : stretch.at + stretch.size]
        done = _drop_duplicates(lines, stretch, policy, changes)
        if role == "run":
            done = _renumber(done, columns, changes)
        changes.lines_out += done.count(b"\n")
        if done:
            yield done


def _keep_sound(text: Bytes, stretch: Stretch, role: Role, changes: Changes) -> Bytes:
    """Return the lines that are rows with a usable number, without carriage returns at their ends."""
    rows, lines = stretch.rows, text[stretch.at : stretch.at + stretch.size]
    begins = np.append(rows.begins, stretch.size)
    usable = np.isfinite(rows.value) if role == "judgments" else ~np.isnan(rows.value)
    good = rows.sound & usable
    if role == "judgments":
        good &= ~find_not_utf8(stretch.batch)
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
    return lines if mask.all() else lines[mask]


def _group_by_query(text: Bytes, columns: int, changes: Changes) -> Bytes:
    """Return the text with the lines of each query together, where the query occurs first."""
    hashes, begins = [], []
    for stretch in cut_text(text, columns=columns):
        hashes.append(stretch.rows.query.hashes)
        begins.append(stretch.rows.begins + stretch.at)
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


def _drop_duplicates(text: Bytes, stretch: Stretch, policy: Policy, changes: Changes) -> bytes:
    """Return the lines without repeated documents, under the policy."""
    again, first = stretch.batch.repeats
    if len(again) == 0:
        return text.tobytes()
    dropped = _choose_dropped(again, first, stretch.rows.value, policy)
    changes.duplicates += len(dropped)
    kept = np.ones(len(stretch.rows.kinds), dtype=bool)
    kept[stretch.rows.line[dropped]] = False
    left: Bytes = text[np.repeat(kept, np.diff(np.append(stretch.rows.begins, len(text))))]
    return left.tobytes()


def _choose_dropped(again: Ints, first: Ints, value: Floats, policy: Policy) -> Ints:
    """Return the rows to drop: of each document all but one."""
    if policy == "first":
        return again
    rows = np.concatenate((np.unique(first), again))
    group = np.concatenate((np.unique(first), first))
    rank = -rows if policy == "last" else -value[rows]
    order = np.lexsort((rows, rank, group))
    kept: Flags = np.concatenate(([True], np.diff(group[order]) > 0))
    return rows[order][~kept]


def _renumber(text: bytes, columns: int, changes: Changes) -> bytes:
    """Return the lines with ranks 1, 2, … by score, equal ones by document from the greatest, as trec_eval does."""
    data = np.frombuffer(text, dtype=np.uint8)
    pieces: list[bytes] = []
    at = 0
    for stretch in cut_text(data, columns=columns):
        right = _rank(stretch.batch)
        wrong = np.flatnonzero(stretch.rows.rank != right)
        changes.ranks += len(wrong)
        for row in wrong.tolist():
            start = stretch.at + int(stretch.rows.document.start[row] + stretch.rows.document.length[row])
            line = text[start : stretch.at + int(stretch.rows.token.start[row])]
            old = line.split()[0]
            begin = start + line.index(old)
            pieces += [text[at:begin], b"%d" % right[row]]
            at = begin + len(old)
    return b"".join([*pieces, text[at:]])


def _rank(batch: Batch) -> Ints:
    """Return the rank of every row in its query."""
    order = sort_results(batch.block, batch.compared.astype(np.float64), batch.document)
    right = np.empty(len(order), dtype=np.int64)
    right[order] = np.arange(1, len(order) + 1) - np.repeat(batch.starts, batch.lengths)
    return right
