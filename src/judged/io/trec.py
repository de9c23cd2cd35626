"""TREC text: `query Q0 document rank score tag` for runs, `query 0 document grade` for judgments."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import repeat
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judged.errors import BadInput, Unreadable, Unwritable
from judged.io.distinct import surely_distinct
from judged.io.format import File, Format, Kind
from judged.io.lines import Lines, Table, read_lines
from judged.io.regular import read_regular
from judged.io.text import BOM, text_of
from judged.problem import Problem, Problems
from judged.tables.intents import single
from judged.tables.judgments import TWICE, Judgments
from judged.tables.repeats import add_repeats
from judged.tables.run import NOT_NUMBERS, Run, Text
from judged.tables.strings import one_array

__all__ = ["FORMAT", "kind", "read_judgments", "read_run", "text_of_lines", "write_judgments", "write_run"]

RUN = (0, 2, 4)
"""Where query, document and score stand in a line of a run, which has six columns."""
QRELS = (0, 2, 3)
"""Where query, document and grade stand in a line of judgments, which has four."""
INTENTS = (0, 1, 3)
"""Where, in judgments by intent, the intent stands in place of the document."""

_SPACE = re.compile(r"[\t\n\x0b\x0c\r \x00]")


def read_judgments(file: File) -> Judgments:
    """Judgments of a qrels file; a line may have more than four columns, as trec_eval allows."""
    data = text_of_lines(file)
    regular = None if file.intents else read_regular(data, columns=4, wanted=QRELS)
    if regular is not None:
        with suppress(BadInput):  # read again below, with lines to name
            distinct = surely_distinct(*regular[:2])
            return Judgments.from_columns(*regular, name=file.name, distinct=distinct)
    lines = read_lines(data, columns=4, wanted=QRELS)
    faults = Problems(file.label, line=lines.line)
    columns = lines.table("grade", faults)
    intent = _intents(data, faults) if file.intents else None
    notes = (*_notes(lines), *_note_of_intents(columns[0], intent))
    try:
        return Judgments.from_columns(*columns, intent=intent, name=file.name, notes=notes, faults=faults)
    except BadInput as error:
        error.hint = error.hint or _hint(lines) or _by_intent(error, data, columns)
        raise


def read_run(file: File) -> Run:
    """A run whose lines stay bytes until they are scored."""
    data = text_of_lines(file)
    if kind(file) == "judgments" or (_first(data) and len(_first(data)) < 6):
        _table(data, file)  # raises, with every malformed line
    return Run(Text(data, lambda: _table(data, file), file=file.label), name=file.name)


def kind(file: File) -> Kind | None:
    """A run if the first line has six columns or more, judgments if it has four or five."""
    count = len(_first(file.head()))
    return "run" if count >= 6 else "judgments" if count >= 4 else None


def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
    """Write `query 0 document grade`, or the intent in place of the 0; whole grades without a point."""
    table = judgments.to_arrow()
    for name, told in (("target", "the target"), ("intent_weight", "weights of intents")):
        if name in table.column_names:
            raise _cannot(judgments.name, f"{name}s", f"TREC judgments have no column for {told}")
    _refuse_unwritable(table, judgments.name)
    columns = (table[name].to_pylist() for name in ("query", "document", "grade"))
    intents = repeat("0", len(table)) if judgments.intents is None else table["intent"].to_pylist()
    rows = zip(intents, *columns, strict=True)
    sink.writelines(
        f"{query} {intent} {document} {_written(grade)}\n".encode() for intent, query, document, grade in rows
    )


def write_run(run: Run, sink: BinaryIO, tag: str) -> None:
    """Write `query Q0 document rank score tag`, ranks in trec_eval's order, scores to the last digit."""
    if not tag or _SPACE.search(tag):
        raise _cannot(run.name, "tag", f"the tag is `{tag}`, expected text without white space")
    table = _in_order(run.to_arrow())
    _refuse_unwritable(table, run.name)
    query, document = table["query"].to_pylist(), table["document"].to_pylist()
    previous, rank = None, 0
    for q, d, score in zip(query, document, table["score"].to_pylist(), strict=True):
        rank = rank + 1 if q == previous else 1
        previous = q
        sink.write(f"{q} Q0 {d} {rank} {score!r} {tag}\n".encode())


def _table(data: Any, file: File) -> pa.Table:
    """Every line of a run as columns; everything wrong with them is refused at once."""
    regular = read_regular(data, columns=6, wanted=RUN)
    if regular is not None:
        faults = Problems(file.label)
        _add_faults(*regular, faults)
        if not len(faults):  # else read again below, with lines to name
            return pa.table(dict(zip(("query", "document", "score"), regular, strict=True)))
    lines = read_lines(data, columns=6, wanted=RUN)
    faults = Problems(file.label, line=lines.line)
    query, document, score = lines.table("score", faults)
    _add_faults(query, document, score, faults)
    faults.raise_if_any(hint=_hint(lines))
    return pa.table({"query": query, "document": document, "score": score})


def _add_faults(query: pa.Array, document: pa.Array, score: Any, faults: Problems) -> None:
    """Note scores that are not numbers, and documents that a query has twice."""
    missing = np.flatnonzero(np.isnan(score))
    faults.add_rows(NOT_NUMBERS, missing, lambda _: "score is nan, expected a number")
    add_repeats(query, document, faults, kind="repeated-document", verb="retrieved")


def text_of_lines(file: File) -> Any:
    """The bytes of a text whose lines end with a line feed."""
    data = text_of(file)
    head = bytes(data[:65_536])
    if b"\r" in head.rstrip() and b"\n" not in head:
        msg = f"{file.label} ends its lines with a bare carriage return, expected a line feed"
        raise Unreadable(msg, hint=r"convert it: `tr '\r' '\n' < FILE`")
    return data


def _first(data: Any) -> list[bytes]:
    """The fields of the first line that is neither blank nor a comment."""
    lines = bytes(data[:65_536]).removeprefix(BOM).split(b"\n")
    fields = (line.split() for line in lines)
    return next((each for each in fields if each and not each[0].startswith(b"#")), [])


def _hint(lines: Lines) -> str | None:
    """What the malformed lines look like, if they look like something."""
    counts = set(lines.counts.tolist())
    if lines.columns == 6 and counts and counts <= {4, 5}:
        return "four columns are judgments: were the two files given in the wrong order?"
    first = _first(lines.text)
    if counts == {1} and first and len(re.split(rb"[,;]", first[0])) > 2:
        return "it looks like CSV without a header: name the columns in a first line"
    return None


def _intents(data: Any, faults: Problems) -> pa.Array:
    """The second column of every line that has four."""
    return read_lines(data, columns=4, wanted=INTENTS).names(1, "intent", faults)


def _note_of_intents(query: pa.Array, intent: pa.Array | None) -> tuple[str, ...]:
    """A doubt about a second column that tells nothing apart, as in most judgments."""
    if intent is None or not single(query, intent):
        return ()
    return ("the second column was read as intents, and no query has more than one there",)


def _by_intent(error: BadInput, data: Any, columns: Table) -> str | None:
    """What to do where the second column tells apart the rows that are refused as judged twice."""
    if set(error.counts) != {TWICE}:
        return None
    try:
        Judgments.from_columns(*columns, intent=_intents(data, Problems("")))
    except BadInput:
        return None
    return (
        "the second column tells them apart; if it holds intents, ask for a measure of them (`alpha_nDCG@20`), "
        "or read it with `--intents` (in Python `read_judgments(…, intents=True)`)"
    )


def _notes(lines: Lines) -> tuple[str, ...]:
    if not lines.wide:
        return ()
    many = "line has" if lines.wide == 1 else "lines have"
    return (f"{lines.wide:,} {many} more than {lines.columns} columns: the rest was ignored",)


def _in_order(table: pa.Table) -> pa.Table:
    """Queries as they first appear; within a query by score, then document id, both from the greatest."""
    codes = one_array(table["query"]).dictionary_encode().indices
    document = table["document"].cast(pa.large_binary())
    keyed = pa.table({"query": codes, "score": table["score"], "document": document})
    order = [("query", "ascending"), ("score", "descending"), ("document", "descending")]
    return table.take(pc.sort_indices(keyed, order))


def _written(grade: float) -> str:
    return str(int(grade)) if grade == int(grade) else repr(grade)


def _refuse_unwritable(table: pa.Table, subject: str) -> None:
    """Refuse ids that white space would cut, that begin like a comment, or that are empty."""
    faults = Problems(subject)
    for name in (each for each in ("query", "intent", "document") if each in table.column_names):
        column = one_array(table[name])
        bad = pc.or_(pc.match_substring_regex(column, _SPACE.pattern), pc.equal(column, ""))
        if name == "query":
            bad = pc.or_(bad, pc.match_substring_regex(column, "^(#|\ufeff)"))
        rows = np.flatnonzero(bad.to_numpy(zero_copy_only=False))
        faults.add_rows("unwritable-id", rows, _telling(column, name))
    faults.raise_if_any(hint="write JSONL, CSV, Parquet or Arrow, which hold any id", error=Unwritable)


def _telling(column: pa.Array, name: str) -> Any:
    mark = ", `#` or mark at its start" if name == "query" else ""
    return lambda row: f"{name} is {column[row].as_py()!a}, expected text without white space{mark}"


def _cannot(subject: str, kind: str, what: str) -> Unwritable:
    return Unwritable(
        subject, [Problem.error(kind, "TREC text", what)], hint="write JSONL, CSV, Parquet or Arrow"
    )


FORMAT = Format(
    name="trec",
    title="TREC text",
    extensions=(".trec", ".run", ".runs", ".res", ".results", ".qrels", ".qrel"),
    read_judgments=read_judgments,
    read_run=read_run,
    kind=kind,
    write_judgments=write_judgments,
    write_run=write_run,
)
