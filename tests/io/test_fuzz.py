"""Bytes in; a table or an error in words out, never anything else, for every format."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from judged.errors import JudgedError
from judged.io.delimited import _read_carefully, _read_fast, open_sheet
from judged.io.open import COMPRESSIONS, File, decompress
from judged.io.read import kind_of, read_judgments, read_run
from judged.io.sniff import FORMATS, Writing
from judged.io.trec import Layout, read_lines, read_regular
from judged.problem import Problems
from judged.tables import schema as schemas
from judged.tables.judgments import Judgments
from judged.tables.run import Run

QRELS = Layout.of(schemas.JUDGMENTS, 4)
unhurried = settings(deadline=None)
NAMES = list(FORMATS)
WRITTEN = [name for name in NAMES if FORMATS[name].write is not None]
JUDGMENTS = Judgments.from_mapping({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}})
RUN = Run.from_mapping({"q1": {"d1": 0.5, "d2": 1.5}, "q2": {"d1": -2.0}})

pieces = st.sampled_from(
    [
        *(
            b"q1",
            b"d1",
            b"0",
            b"1",
            b"Q0",
            b"0.5",
            b"nan",
            b"inf",
            b"1_0",
            b"1e999",
            b"-",
            b"#",
            b"\xff",
            b"\xc3\xa9",
        ),
        *(
            b" ",
            b"\t",
            b"\n",
            b"\r",
            b"\r\n",
            b"\v",
            b"\0",
            b",",
            b";",
            b'"',
            b'""',
            b"{",
            b"}",
            b"[",
            b"]",
            b":",
        ),
        *(
            b"query",
            b"document",
            b"score",
            b"grade",
            b"query,document,score\n",
            b"query-id\tcorpus-id\tscore\n",
        ),
        *(
            b'{"query": "q", "document": "d", "score": 1}\n',
            b'"results"',
            b"null",
            b"true",
            b"\xef\xbb\xbf",
            b"PAR1",
        ),
    ]
)
soup = st.lists(pieces, max_size=30).map(b"".join) | st.binary(max_size=200)


def written(name: str) -> bytes:
    """A sound file of a format, to be damaged."""
    sink = io.BytesIO()
    chosen = FORMATS[name]
    schema, table = (schemas.RUN, RUN) if chosen.holds(schemas.RUN) else (schemas.JUDGMENTS, JUDGMENTS)
    assert chosen.write is not None
    chosen.write(table.to_arrow(), sink, Writing(schema, "some", "tag"))
    return sink.getvalue()


def answer(ask: Callable[[], Any]) -> Any:
    """What comes back, or the words of the error; any other error is let through, and fails the test."""
    try:
        return ask()
    except JudgedError as error:
        return str(error)


def survives(content: bytes, name: str | None) -> None:
    """Read in every way; only worded errors are let through, and what is read holds together."""
    for read in (read_judgments, read_run):
        table: Any = answer(lambda read=read: read(content, format=name).to_arrow())
        if not isinstance(table, str):
            table.validate(full=True)

            assert table.column_names[:2] == ["query", "document"]
    kind = answer(lambda: kind_of(content, format=name))

    assert kind in {"judgments", "run", None} or " " in kind


@pytest.mark.parametrize("name", [None, *NAMES])
@unhurried
@example(content=b"")
@example(content=b"\n")
@example(content=b"\xef\xbb\xbf")
@example(content=b"[" * 100_000)
@example(content=b'{"a":' * 100_000)
@example(content=b"query,document,score")
@example(content=b'"query","document","score"\n"')
@example(content=b"query,document,score\nq1,d1,\x1c0.5\n")
@example(content=b"q1 Q0 d1 1 0.5 t")
@example(content=b'{"q": {"d": 123456789012345678901234567890}}')
@given(content=soup)
def test_no_content_is_worse_than_an_error_in_words(name: str | None, content: bytes) -> None:
    """Whatever a file holds, in whatever format it is read, the answer is a table or a message."""
    survives(content, name)


@pytest.mark.parametrize("name", WRITTEN)
@unhurried
@given(data=st.data())
def test_no_damage_is_worse_than_an_error_in_words(name: str, data: st.DataObject) -> None:
    """A sound file with some bytes changed, cut off or added is read or refused in words."""
    content = bytearray(written(name))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    survives(bytes(content), name)
    survives(bytes(content), None)


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda compression: compression.name)
@unhurried
@given(tail=st.binary(max_size=60))
def test_no_compressed_content_is_worse_than_an_error_in_words(compression: Any, tail: bytes) -> None:
    """Bytes that begin as compressed ones do are unpacked or refused in words."""
    got = answer(lambda: decompress(compression.magic + tail, label="file"))
    refused = f"file is compressed with {compression.name} and cannot be unpacked: "

    assert isinstance(got, bytes) or got.startswith(refused)


cells = st.text(st.sampled_from('ab1 "\n\r,\té#'), max_size=4)


@unhurried
@given(rows=st.lists(st.tuples(cells, cells, st.floats(allow_nan=False)), min_size=1, max_size=5))
def test_both_readers_of_csv_agree(rows: list[tuple[str, str, float]]) -> None:
    """What Arrow reads at speed is what Python reads with care."""
    import csv

    text = io.StringIO(newline="")
    csv.writer(text).writerows([("query", "document", "score"), *rows])
    sheet = open_sheet(File(text.getvalue().encode(), "file", "file"), schemas.RUN)
    read = _read_fast(sheet, sheet.header, ["score"])
    fast = {name: column.to_pylist() for name, column in read.items()}
    problems = Problems("file")
    careful, _ = _read_carefully(sheet, sheet.header, {"score": "score"}, problems)

    assert fast == careful
    assert len(problems) == 0


lines = st.lists(
    st.sampled_from(
        ["q1 0 d1 1", "q1\t0\td2\t2", "q2 0 d1 0.5", "# note", "#q 0 d 1", "", " ", "q1 0  d3 1", "q3 0 d1 x"]
    )
    | st.text(st.sampled_from("qd01 \t\v\r#.é"), max_size=12),
    max_size=6,
)


@unhurried
@given(rows=lines, end=st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_both_readers_of_trec_text_agree(rows: list[str], end: str) -> None:
    """Where Arrow reads a text at speed, the reader of any text reads the same and finds nothing wrong."""
    content = end.join(rows).encode()
    regular = read_regular(content, QRELS)
    if regular is None:
        return
    problems = Problems("file")
    columns = read_lines(content, QRELS).check(problems)

    assert len(problems) == 0
    for name in ("query", "document"):
        assert columns[name].to_pylist() == regular[name].to_pylist()
    assert np.array_equal(columns["grade"], regular["grade"], equal_nan=True)


def test_a_text_as_most_tools_write_it_is_read_at_speed() -> None:
    """Spaces or tabs, either end of line, exactly four columns."""
    texts = [b"q1 0 d1 1\nq2 0 d2 0\n", b"q1\t0\td1\t1\r\nq2\t0\td2\t0"]

    assert all(read_regular(text, QRELS) is not None for text in texts)
