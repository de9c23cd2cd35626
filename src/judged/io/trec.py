"""TREC text: `query Q0 document rank score tag` for runs, `query 0 document grade` for judgments.

Text as most tools write it, with one delimiter between columns, is read at speed by Arrow (`read_regular`).
Anything else, or anything that turns out to be wrong, is read by `read_lines`, which knows the line of every row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise, repeat
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import BadInput, Unreadable, Unwritable
from judged.io.open import BOM, Buffer, DiskFile, File, is_number_text, load, locate_text
from judged.io.sniff import Format, Kind, Writing
from judged.io.table import RawTable
from judged.kernels.scan.rows import read_rows
from judged.kernels.scan.strings import Strings
from judged.kernels.scan.text import find_line_end, parse_numbers, split_lines
from judged.problem import Place, Problem, Problems
from judged.tables.columns import add_repeats, one_array, to_bytes, to_numpy
from judged.tables.judgments import Judgments, has_single_intents
from judged.tables.run import Run, Text
from judged.tables.schema import JUDGMENTS, JUDGMENTS_BY_ITERATION, RUN, Schema
from judged.wording import name_setting

STRETCH = 1 << 24
"""Bytes read at once, so that memory grows with the rows and not with the text."""
HEAD = 1 << 16
"""Bytes that show whether a text is a run."""
RUN_AS_JUDGMENTS = (
    "the judgments come first, then the runs; if these are judgments, keep their four columns "
    "(`cut -d' ' -f1-4`), or in Python give `read_judgments(…, format=\"trec\")`"
)
_SPACE = re.compile(r"[\t\n\x0b\x0c\r \x00]")


class Layout(NamedTuple):
    """Columns of the fields of a schema in a line."""

    columns: int
    ids: tuple[tuple[str, int], ...]
    number: tuple[str, int]

    @classmethod
    def of(cls, schema: Schema, columns: int) -> Layout:
        """Return the layout of lines with that many columns."""
        places = [(name, at) for at, name in enumerate(schema.lines[columns]) if name]
        numbers = [(name, at) for name, at in places if schema[name].kind in {"number", "grade"}]
        return cls(columns, tuple(place for place in places if place not in numbers), numbers[0])


_QRELS, _RUN = Layout.of(JUDGMENTS, 4), Layout.of(RUN, 6)
_QRELS_BY_INTENT = Layout.of(JUDGMENTS_BY_ITERATION, 4)


def read(file: File, schema: Schema) -> RawTable:
    """Return the columns of a schema whose fields have places in a line."""
    data = read_line_text(file)
    if max(schema.lines) < _RUN.columns:
        refuse_run(bytes(data[:HEAD]), file.label)
    count = len(_split_first_line(data))
    width = count if count in schema.lines else max(schema.lines)
    lines = read_lines(data, Layout.of(schema, width))
    problems = Problems(file.label, line=lines.line)
    columns = lines.check(problems)
    if lines.wide and schema.exact:
        many = "line has" if lines.wide == 1 else "lines have"
        problems.add_line("many-columns", 1, f"{lines.wide:,} {many} more than {width} columns")
        return RawTable(columns, problems)
    return RawTable(columns, problems, notes=_notes(lines))


def read_judgments(file: File, *, intents: bool = False, forced: bool = False) -> Judgments:
    """Return the judgments of a qrels file; a line may have more than four columns, as trec_eval allows.

    Raises `BadInput` for what looks like a run, whose ranks would be taken for grades, unless `forced`.
    """
    data = read_line_text(file)
    if not forced:
        refuse_run(bytes(data[:HEAD]), file.label)
    regular = None if intents else read_regular(data, _QRELS)
    if regular is not None:
        with suppress(BadInput):  # read again below, with lines to name
            distinct = _are_distinct(regular["query"], regular["document"])
            return Judgments.from_columns(**regular, name=file.name, distinct=distinct)
    lines = read_lines(data, _QRELS_BY_INTENT if intents else _QRELS)
    problems = Problems(file.label, line=lines.line)
    columns = lines.check(problems)
    notes = _notes(lines)
    if intents and has_single_intents(columns["query"], columns["intent"]):
        notes = (*notes, "the second column was read as intents, and no query has more than one there")
    try:
        return Judgments.from_columns(**columns, name=file.name, notes=notes, problems=problems)
    except BadInput as error:
        error.hint = error.hint or _hint(lines) or _suggest_intents(error, data)
        raise


def refuse_run(head: bytes, label: str) -> None:
    """Raise `BadInput` if the first lines of what should be judgments look like those of a run."""
    if _looks_like_run(head):
        message = (
            "six columns with a rank and a score are a run, expected judgments: query, 0, document, grade"
        )
        problem = Problem.error("run-as-judgments", Place(label, line=1), message)
        raise BadInput(label, [problem], hint=RUN_AS_JUDGMENTS)


def _looks_like_run(head: bytes) -> bool:
    """Return whether lines have a rank and a score in the fourth and fifth of six columns or more.

    A rank belongs to one document of the query, while a grade is shared; `Q0` in the second column is that of runs.
    """
    rows = [
        line.split()
        for line in head.splitlines()[:200]
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    whole = rows[:-1] if len(rows) > 1 else rows  # the last may be cut off
    if not whole or any(len(row) < 6 for row in whole):
        return False
    if not all(row[3].isdigit() and is_number_text(row[4]) for row in whole):
        return False
    if all(row[1].upper() == b"Q0" for row in whole):
        return True
    ranks = [(row[0], row[3]) for row in whole]
    return len(ranks) > 1 and len(set(ranks)) == len(ranks)


def read_run(file: File) -> Run:
    """Return a run whose lines stay bytes until they are scored."""
    lines = _locate_lines(file)
    if 0 < len(_split_first_line(lines)) < 6:
        _parse_run(lines, file)  # raises, with every malformed line
    return run_of_lines(lines, file)


def run_of_lines(data: Buffer | DiskFile, file: File, *, before: int = 0) -> Run:
    """Return the run of some lines of a file, after that many others."""
    parse = partial(_parse_run, data, file, before=before)
    return Run(Text(data, parse, file=file.label, before=before), name=file.name)


def tabulate_lines(data: Buffer, *, before: int = 0) -> pa.Table:
    """Return the rows of a run, with the number of each one's line, from 0, as `place`; unsound lines are left out."""
    rows = read_rows(np.frombuffer(data, dtype=np.uint8), columns=_RUN.columns)
    ids = {"query": rows.query, "document": rows.document}
    columns = {name: _to_binary(strings).cast(pa.large_string()) for name, strings in ids.items()}
    table = pa.table({**columns, "score": rows.value, "place": rows.line + before})
    return table if rows.sound.all() else table.filter(pa.array(rows.sound))


def find_results(data: Buffer, query: str) -> tuple[list[str], Floats]:
    """Return the documents and scores of one query of a run, without splitting the lines of others."""
    blank = rb"[ \t\x0b\x0c\r]"
    own = re.escape(query.encode())
    wanted = re.compile(rb"^(?:\xef\xbb\xbf)?%b*%b%b[^\n]*" % (blank, own, blank), re.MULTILINE)
    lines = [line.group().split() for line in wanted.finditer(data)]
    names = [line[2].decode(errors="backslashreplace") for line in lines]
    return names, np.array([float(line[4]) for line in lines], dtype=np.float64)


def _parse_run(lines: Buffer | DiskFile, file: File, *, before: int = 0) -> pa.Table:
    """Return every line of a run as columns; raise `BadInput` for everything wrong with them."""
    data = load(lines)
    columns = read_regular(data, _RUN)
    if columns is not None:
        problems = Problems(file.label)
        _check_run(columns, problems)
        if not len(problems):  # else read again below, with lines to name
            return pa.table(columns)
    parsed = read_lines(data, _RUN, before=before)
    problems = Problems(file.label, line=parsed.line)
    columns = parsed.check(problems)
    _check_run(columns, problems)
    problems.raise_if_any(hint=_hint(parsed))
    return pa.table(columns)


def _check_run(columns: dict[str, Any], problems: Problems) -> None:
    missing = np.flatnonzero(np.isnan(columns["score"]))
    problems.add_rows("score-nan", missing, lambda _: "score is nan, expected a number")
    add_repeats(columns["query"], columns["document"], problems, verb="retrieved")


def read_line_text(file: File) -> Buffer:
    """Return the bytes of a text whose lines end with a line feed, all of them in memory."""
    return load(_locate_lines(file))


def _locate_lines(file: File) -> Buffer | DiskFile:
    lines = locate_text(file)
    head = bytes(lines[:65_536])
    if b"\r" in head.rstrip() and b"\n" not in head:
        msg = f"{file.label} ends its lines with a bare carriage return, expected a line feed"
        raise Unreadable(msg, hint=r"convert it: `tr '\r' '\n' < FILE`")
    return lines


def _split_first_line(data: Buffer | DiskFile | NDArray[np.uint8]) -> list[bytes]:
    """Return the fields of the first line that is neither blank nor a comment."""
    lines = bytes(data[:65_536]).removeprefix(BOM).split(b"\n")
    rows = (line.split() for line in lines)
    return next((row for row in rows if row and not row[0].startswith(b"#")), [])


def _are_distinct(query: pa.Array, document: pa.Array) -> bool:
    """Return whether hashes show that no document is under its query twice; False only says it might be."""
    if len(query) == 0:
        return True
    queries, documents = (Strings.from_offsets(*to_bytes(column)) for column in (query, document))
    with np.errstate(over="ignore"):
        # an odd factor, so that a query and a document of the same id do not cancel out
        keys = np.sort(queries.hashes * np.uint64(0x9E3779B97F4A7C15) ^ documents.hashes)
    return bool((keys[1:] != keys[:-1]).all())


def _notes(lines: Lines) -> tuple[str, ...]:
    if not lines.wide:
        return ()
    many = "line has" if lines.wide == 1 else "lines have"
    return (f"{lines.wide:,} {many} more than {lines.layout.columns} columns: the rest was ignored",)


def looks_predicted(fields: list[bytes]) -> bool:
    """Return whether a line is one of predictions: a number, or as RankLib writes it query, index and number."""
    return len(fields) in {1, 3} and is_number_text(fields[-1]) and (len(fields) == 1 or fields[1].isdigit())


def _hint(lines: Lines) -> str | None:
    """Return what the malformed lines look like, if they look like something."""
    counts, first = set(lines.counts.tolist()), _split_first_line(lines.text)
    features = any(field.startswith(b"qid:") for field in first)
    if features or (lines.layout.columns == 6 and looks_predicted(first)):
        what = (
            "features for learning to rank (SVMlight) are judgments"
            if features
            else "it looks like predictions"
        )
        reader = name_setting("--predictions FILE", "judged.read_predictions(file, judgments)")
        return f"{what}: {reader} reads the scores of a model for the rows of the judgments"
    if lines.layout.columns == 6 and counts == {5} and len(first) == 5 and is_number_text(first[4]):
        return "the sixth column, the tag of the run, is missing: `sed 's/$/ tag/' FILE` adds one"
    if lines.layout.columns == 6 and counts and counts <= {4, 5} and len(first) <= 5:
        return "it has the columns of judgments: were the two files given in the wrong order?"
    if counts == {3} and len(first) == 3 and is_number_text(first[2]):
        names = "query document grade" if lines.layout.columns == 4 else "query document score"
        return f"three columns are read from a .tsv or .csv file whose first line names them: `{names}`"
    if counts == {1} and first and len(re.split(rb"[,;]", first[0])) > 2:
        return "it looks like CSV without a header: name the columns in a first line"
    return None


def _suggest_intents(error: BadInput, data: Buffer) -> str | None:
    """Return what to do where the second column distinguishes rows that are repeated without it."""
    if set(error.counts) != {"repeated-document"}:
        return None
    try:
        Judgments.from_columns(**read_lines(data, _QRELS_BY_INTENT).check(Problems("")))
    except BadInput:
        return None
    return (
        "the second column differs between them; if it holds intents, ask for a measure of them "
        "(`alpha_nDCG@20`), or read it with `--intents` (in Python `read_judgments(…, intents=True)`)"
    )


def read_regular(data: Buffer, layout: Layout) -> dict[str, Any] | None:
    """Return the columns of a text whose lines all have the same delimiter and number of columns; else None."""
    from pyarrow import csv

    delimiter = _find_delimiter(bytes(data))
    if delimiter is None:
        return None
    names = [str(place) for place in range(layout.columns)]
    name, place = layout.number
    types = dict.fromkeys(names, pa.large_string()) | {str(place): pa.float64()}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=STRETCH),
            parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    texts = {at: one_array(table[at]) for at in names if at != str(place)}
    if any((np.diff(to_bytes(column)[1]) == 0).any() for column in texts.values()):
        return None  # next to a doubled delimiter
    columns = {id_: texts[str(at)] for id_, at in layout.ids}
    text, cuts = to_bytes(columns[layout.ids[0][0]])
    if (text[cuts[:-1]] == ord("#")).any():
        return None  # a comment
    return {**columns, name: to_numpy(one_array(table[str(place)]))}


def _find_delimiter(text: bytes) -> str | None:
    """Return the one kind of white space between columns; None if there are several."""
    bare_returns = b"\r" in text and text.count(b"\r") != text.count(b"\r\n")
    spaces, tabs = b" " in text, b"\t" in text
    if not text or b"\v" in text or b"\f" in text or bare_returns or spaces == tabs:
        return None
    return " " if spaces else "\t"


@dataclass(frozen=True, eq=False)
class Lines:
    """The rows of a text, as bytes, and the lines that are malformed."""

    text: NDArray[np.uint8]
    layout: Layout
    ids: tuple[pa.Array, ...]
    """The ids of every row, as large binaries, in the order of the layout."""
    number: Floats
    sound: NDArray[np.bool_]
    """Mask of the cells that are numbers."""
    begin: Ints
    """Byte offset of the line of each row."""
    short: Ints
    """Byte offset of each line with too few columns."""
    counts: Ints
    """Number of its columns."""
    wide: int
    """Number of lines with more columns than the layout."""
    before: int = 0
    """Number of lines of the file before the text."""

    def check(self, problems: Problems) -> dict[str, Any]:
        """Return the columns by field; everything that is wrong becomes a problem with its line."""
        for at, count in zip(self.short.tolist(), self.counts.tolist(), strict=True):
            columns = f"{count} column{'s' if count > 1 else ''}"
            problems.add_line("few-columns", self._line(at), f"{columns}, expected {self.layout.columns}")
        texts = {
            name: _decode(column, name, problems)
            for (name, _), column in zip(self.layout.ids, self.ids, strict=True)
        }
        problems.add_rows("not-a-number", np.flatnonzero(~self.sound), self._describe_number)
        return texts | {self.layout.number[0]: np.where(self.sound, self.number, 0.0)}

    def line(self, row: int) -> int:
        """Return the line of a row, from 1."""
        return self._line(int(self.begin[row]))

    def _line(self, byte: int) -> int:
        return self.before + int(np.searchsorted(self._feeds, byte)) + 1

    @cached_property
    def _feeds(self) -> Ints:
        return np.flatnonzero(self.text == 10)

    def _describe_number(self, row: int) -> str:
        begin = int(self.begin[row])
        line = self.text[begin : find_line_end(self.text, begin + 1)].tobytes()
        name, place = self.layout.number
        return f"{name} is `{line.split()[place].decode(errors='backslashreplace')}`, expected a number"


def read_lines(data: Buffer, layout: Layout, *, before: int = 0) -> Lines:
    """Return the columns of every line that has as many as the layout or more."""
    text = np.frombuffer(data, dtype=np.uint8)
    parts = [_read_stretch(text[begin:end], begin, layout) for begin, end in pairwise(_cut(text))]
    *ids, number, sound, begin, short, counts, wide = zip(*parts, strict=True)
    return Lines(
        text,
        layout,
        ids=tuple(pa.concat_arrays(column) for column in ids),
        number=np.concatenate(number),
        sound=np.concatenate(sound),
        begin=np.concatenate(begin),
        short=np.concatenate(short),
        counts=np.concatenate(counts),
        wide=sum(wide),
        before=before,
    )


def _cut(text: NDArray[np.uint8]) -> Iterator[int]:
    """Yield where stretches begin and end, each at the end of a line."""
    at = 0
    yield at
    while len(text) - at > STRETCH:
        at = find_line_end(text, at + STRETCH)
        yield at
    if at < len(text) or not at:  # an empty text is one stretch, too
        yield len(text)


def _read_stretch(text: NDArray[np.uint8], begin: int, layout: Layout) -> tuple[object, ...]:
    lines = split_lines(text, layout.columns)
    ids = [_to_binary(lines.columns[place]) for _, place in layout.ids]
    value, sound = parse_numbers(lines.columns[layout.number[1]])
    begins = lines.begins + begin
    return *ids, value, sound, begins[lines.row], begins[lines.short], lines.counts[lines.short], lines.wide


def _to_binary(strings: Strings) -> pa.Array:
    data, offset = strings.packed()
    buffers = [None, pa.py_buffer(offset.astype(np.int64)), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(strings), buffers)


def _decode(column: pa.Array, name: str, problems: Problems) -> pa.Array:
    """Return ids as text; one that is not UTF-8 becomes a problem."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        pass  # the loop below names it
    texts = []
    for row, value in enumerate(column.to_pylist()):
        try:
            texts.append(value.decode())
        except UnicodeDecodeError:
            problems.add("not-utf-8", row, f"{name} is {value!r}, expected UTF-8 text")
            texts.append(f"\0{row}")  # unlike any other id, so that it repeats none
    return pa.array(texts, type=pa.large_string())


def _kind(file: File) -> Kind | None:
    """Return a run if the first line has six columns or more, judgments if it has four or five."""
    count = len(_split_first_line(file.head()))
    return "run" if count >= 6 else "judgments" if count >= 4 else None


def write(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write a run, or judgments with the intent in place of the 0."""
    if writing.schema.name == "run":
        _write_run(table, sink, writing)
    else:
        _write_judgments(table, sink, writing)


def _write_judgments(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write `query 0 document grade`; whole grades without a point."""
    for name, words in (("target", "the target"), ("intent_weight", "weights of intents")):
        if name in table.column_names:
            raise _unwritable(writing.name, "no-such-column", f"TREC judgments have no column for {words}")
    _check_writable(table, writing.name)
    intents = table["intent"].to_pylist() if "intent" in table.column_names else repeat("0", len(table))
    columns = (table[name].to_pylist() for name in ("query", "document", "grade"))
    sink.writelines(
        f"{query} {intent} {document} {int(grade) if grade == int(grade) else repr(grade)}\n".encode()
        for intent, query, document, grade in zip(intents, *columns, strict=True)
    )


def _write_run(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write `query Q0 document rank score tag`, ranks in trec_eval's order, scores to the last digit."""
    tag = writing.tag
    if not tag or _SPACE.search(tag):
        raise _unwritable(writing.name, "bad-tag", f"the tag is `{tag}`, expected text without white space")
    table = _sort(table)
    _check_writable(table, writing.name)
    previous, rank = None, 0
    columns = (table[name].to_pylist() for name in ("query", "document", "score"))
    for query, document, score in zip(*columns, strict=True):
        rank = rank + 1 if query == previous else 1
        previous = query
        sink.write(f"{query} Q0 {document} {rank} {score!r} {tag}\n".encode())


def _sort(table: pa.Table) -> pa.Table:
    """Return queries as they first appear; within a query by score, then document, both from the greatest."""
    import pyarrow.compute as pc

    codes = one_array(table["query"]).dictionary_encode().indices
    document = table["document"].cast(pa.large_binary())
    keyed = pa.table({"query": codes, "score": table["score"], "document": document})
    order = [("query", "ascending"), ("score", "descending"), ("document", "descending")]
    return table.take(pc.sort_indices(keyed, order))


def _check_writable(table: pa.Table, subject: str) -> None:
    """Raise `Unwritable` for ids that are empty, contain white space, or begin like a comment."""
    import pyarrow.compute as pc

    problems = Problems(subject)
    for name in (name for name in ("query", "intent", "document") if name in table.column_names):
        column = one_array(table[name])
        bad = pc.or_(pc.match_substring_regex(column, _SPACE.pattern), pc.equal(column, ""))
        mark = ""
        if name == "query":
            mark = ", `#` or mark at its start"
            bad = pc.or_(bad, pc.match_substring_regex(column, "^(#|\ufeff)"))
        rows = np.flatnonzero(bad.to_numpy(zero_copy_only=False)).tolist()
        expected = f"expected text without white space{mark}"
        for row in rows:
            problems.add("unwritable-id", row, f"{name} is {column[row].as_py()!a}, {expected}")
    problems.raise_if_any(hint="write JSONL, CSV, Parquet or Arrow, which hold any id", error=Unwritable)


def _unwritable(subject: str, code: str, message: str) -> Unwritable:
    problem = Problem.error(code, "TREC text", message)
    return Unwritable(subject, [problem], hint="write JSONL, CSV, Parquet or Arrow")


def _holds(schema: Schema) -> bool:
    return bool(schema.lines) and not schema.tabs


FORMAT = Format(
    *("trec", "TREC text", read, write),
    kind=_kind,
    extensions=(".trec", ".run", ".runs", ".res", ".results", ".qrels", ".qrel"),
    holds=_holds,
)
