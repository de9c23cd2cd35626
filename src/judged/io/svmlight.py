"""SVMlight text of learning to rank, `grade qid:7 1:0.3 5:1.2 # comment`: judgments, whose features are skipped.

LETOR, RankLib, MSLR, Yahoo and Istella write it, and plugins of search engines write judgment lists so. A document is
named by LETOR's `#docid = GX029-35 …`, by RankLib's comment of one word, by the first word of the comment where there are
no features, or else by its query and row, as in `7/12`. A line `# qid:1: rambo` has the text of a query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from judged.io.open import File, is_number_text
from judged.io.sniff import Format, Kind
from judged.io.table import RawTable
from judged.io.trec import read_line_text
from judged.problem import Problems
from judged.tables.columns import to_strings
from judged.tables.schema import Schema

_LETOR = re.compile(rb"\bdocid\s*=\s*(\S+)")
LONGEST_HEAD = 256
"""Bytes of a line in which its grade and query are; a longer head is read whole."""


@dataclass
class _Rows:
    """Rows as they are read: for each its grade, query, line, and what its comment calls the document."""

    grade: list[float] = field(default_factory=list)
    query: list[bytes] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    letor: list[bytes | None] = field(default_factory=list)
    bare: list[bytes | None] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """The texts of queries that comments give."""


def read(file: File, schema: Schema) -> RawTable:  # noqa: ARG001 - judgments alone are held so
    """Return queries, documents and grades; every malformed line is a problem."""
    rows = _Rows()
    problems = Problems(file.label, line=lambda row: rows.line[row])
    for number, line in enumerate(bytes(read_line_text(file)).split(b"\n"), 1):
        start = line.lstrip()[:1]
        if start == b"#":
            _add_text(rows, line)
        elif start:
            _add_row(rows, number, line, problems)
    documents, notes = _name_documents(rows)
    columns = {
        "query": to_strings(query.decode(errors="backslashreplace") for query in rows.query),
        "document": documents,
        "grade": np.array(rows.grade, dtype=np.float64),
    }
    if rows.texts:
        columns["question"] = [rows.texts.get(query) for query in columns["query"].to_pylist()]
    return RawTable(columns, problems, notes=notes)


def is_svmlight(head: bytes) -> bool:
    """Return whether the first line that is not a comment has a grade and `qid:`."""
    lines = (
        line.split(None, 2)
        for line in head.splitlines()
        if line.strip() and not line.lstrip().startswith(b"#")
    )
    fields = next(lines, [])
    return len(fields) >= 2 and fields[1].startswith(b"qid:") and is_number_text(fields[0])


def _add_text(rows: _Rows, line: bytes) -> None:
    """Add the text of a query, if the comment gives one."""
    about, _, text = line.lstrip(b"# \t").decode(errors="replace").partition(": ")
    if about.startswith("qid:") and text.strip():
        rows.texts.setdefault(about[len("qid:") :].strip(), text.strip())


def _add_row(rows: _Rows, number: int, line: bytes, problems: Problems) -> None:
    fields = line[:LONGEST_HEAD].split(None, 2)
    if len(fields) < 3 <= len(line) and len(line) > LONGEST_HEAD:
        fields = line.split(None, 2)
    if len(fields) < 2 or not fields[1].startswith(b"qid:") or len(fields[1]) == len("qid:"):
        got = fields[1].decode(errors="replace") if len(fields) > 1 else "nothing"
        problems.add_line(
            "no-query", number, f"the second column is `{got}`, expected `qid:` and the id of a query"
        )
        return
    try:
        grade = float(fields[0])
    except ValueError:
        shown = fields[0].decode(errors="replace")
        problems.add_line("not-a-number", number, f"grade is `{shown}`, expected a number")
        return
    at = line.find(b"#")
    comment = line[at + 1 :].strip() if at >= 0 else b""
    letor = _LETOR.search(comment) if b"docid" in comment else None
    rows.grade.append(grade)
    rows.query.append(fields[1][len("qid:") :])
    rows.line.append(number)
    rows.letor.append(letor[1] if letor else None)
    words = comment.split(None, 1)
    alone = len(words) == 1 or (len(fields) > 2 and fields[2].startswith(b"#"))
    rows.bare.append(words[0] if words and letor is None and alone else None)


def _name_documents(rows: _Rows) -> tuple[pa.Array, tuple[str, ...]]:
    """Return the id of each row's document, and how rows without one are called."""
    pairs = [pair for pair in zip(rows.query, rows.bare, strict=True) if pair[1] is not None]
    # a comment such as `# relevant` names no document: words that name documents occur once in a query
    named = len(set(pairs)) == len(pairs)
    # of one width, so that ids are in the order of the rows
    width = len(str(len(rows.grade)))
    ids, without = [], 0
    for row, (query, letor, bare) in enumerate(zip(rows.query, rows.letor, rows.bare, strict=True), 1):
        name = letor or (bare if named else None)
        without += name is None
        ids.append((name or b"%b/%0*d" % (query, width, row)).decode(errors="backslashreplace"))
    if not without:
        return to_strings(ids), ()
    many = "row names" if without == 1 else "rows name"
    return to_strings(ids), (f"{without:,} {many} no document: called by query and row, such as `{ids[0]}`",)


def _kind(file: File) -> Kind | None:  # noqa: ARG001
    return "judgments"


FORMAT = Format(
    "svmlight",
    "SVMlight text",
    read,
    kind=_kind,
    extensions=(".svm", ".svmlight", ".letor"),
    holds=lambda schema: schema.name == "judgments",
)
