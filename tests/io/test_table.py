"""Every schema reads every format with the same names, and a new format is one short file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pytest

import judged
from judged.errors import BadInput, Unusable, WrongKind
from judged.io.open import KNOWN, File
from judged.io.read import read_timings
from judged.io.sniff import FORMATS, Format, Writing, add_format, detect
from judged.io.table import RawTable, Table, from_records, read_table
from judged.io.write import write_run
from judged.problem import Problems
from judged.tables.schema import ATTRIBUTES, JUDGMENTS, SCHEMAS, TIMINGS, Schema

VALUES: dict[str, list[Any]] = {
    "id": ["x1", "x2"],
    "number": [0.5, 2.0],
    "grade": [3, 0],
    "value": [0.25, 1.0],
    "text": ["a b", "c"],
}
"""A column of each kind."""


def make_columns(schema: Schema, *, alias: int) -> dict[str, list[Any]]:
    """Return a column for each field, under one of its names."""
    fields = [field for field in schema.fields if field.name != "target"]  # which excludes the intent
    columns = {field.names[alias % len(field.names)]: VALUES[field.kind] for field in fields}
    return columns | {"length": ["short", "long"]} if schema.open else columns


def to_rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return columns as records."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def encode(name: str, columns: dict[str, list[Any]], schema: Schema) -> Any:
    """Return columns in a format, as a file's content or an object."""
    table = pa.table(columns)
    if name == "rows":
        return to_rows(columns)
    if name == "frame":
        return table
    sink = io.BytesIO()
    write = FORMATS[name].write
    assert write is not None
    write(table, sink, Writing(schema, "some"))
    return sink.getvalue()


EVERYWHERE = ["csv", "tsv", "json", "jsonl", "parquet", "arrow", "rows", "frame"]


def to_lists(table: Table) -> dict[str, list[Any]]:
    """Return checked columns, and the others, as lists."""
    columns = {name: column.to_pylist() for name, column in table.columns.items()}
    return columns | {name: list(values) for name, values in table.others.items()}


@pytest.mark.parametrize("alias", [0, 1])
@pytest.mark.parametrize("name", EVERYWHERE)
@pytest.mark.parametrize("schema", [SCHEMAS[name] for name in SCHEMAS], ids=list(SCHEMAS))
def test_every_schema_reads_every_format(schema: Schema, name: str, alias: int) -> None:
    """The same columns come out of every format, under any of their names."""
    columns = make_columns(schema, alias=alias)
    table = read_table(encode(name, columns, schema), schema)
    expected: dict[str, list[Any]] = {"length": ["short", "long"]} if schema.open else {}
    for field in schema.fields:
        if field.name != "target":
            divisor = field.divisors.get(field.names[alias % len(field.names)], 1.0)
            values = VALUES[field.kind]
            expected[field.name] = [value / divisor for value in values] if divisor != 1.0 else values

    assert len(table.problems) == 0
    assert to_lists(table) == expected


@pytest.mark.parametrize("name", ["parquet", "arrow", "csv", "json", "jsonl"])
def test_labels_and_preferences_read_what_judgments_read(name: str) -> None:
    """Files that `read_judgments` reads are read by the others too."""
    labels = encode(name, {"task": ["t"], "url": ["a.org"], "gain": [3]}, SCHEMAS["labels"])
    preferences = encode(
        name, {"qid": ["q"], "judge": ["ann"], "docno": ["d"], "level": [2]}, SCHEMAS["preferences"]
    )

    assert [(label.task, label.url, label.gain) for label in judged.read_labels(labels)] == [
        ("t", "a.org", 3)
    ]
    assert judged.read_preferences(preferences).table.to_pylist() == [
        {"query": "q", "group": "ann", "subgroup": "0", "document": "d", "level": 2.0}
    ]


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_column_that_is_missing_is_named_in_every_format(name: str) -> None:
    """The names found, the field that is missing and how to name its column, whatever the format."""
    source = encode(name, {"system": ["bm25"], "duration": [1.0]}, TIMINGS)

    with pytest.raises(
        Unusable,
        match=r"`system`, `duration`; no seconds among them\n\nhint: say which column it is: `judged.read_timings",
    ):
        read_table(source, TIMINGS)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (b"system,seconds\nbm25,1\nbm25,slow\n", "bytes:3"),
        (b'{"system": "bm25", "seconds": 1}\n\n{"system": "bm25", "seconds": "slow"}\n', "bytes:3"),
        ([{"system": "bm25", "seconds": 1}, {"system": "bm25", "seconds": "slow"}], "row 2"),
        ({"bm25": [1, "slow"]}, "system `bm25`"),
    ],
)
def test_a_problem_has_the_place_that_its_source_has(source: Any, place: str) -> None:
    """Lines of a text, rows of a table, keys of a dict."""
    table = read_table(source, TIMINGS)
    (problem,) = table.problems

    assert (problem.code, str(problem.place)) == ("not-a-number", place)


def test_timings_keep_every_sample_in_seconds() -> None:
    """Units come from the column's name; query and stage are kept where they are there."""
    timings = read_timings(b"run,qid,stage,ms\nbm25,q1,search,250\nbm25,q2,search,500\ndense,q1,encode,125\n")

    assert timings.systems == ("bm25", "dense")
    assert timings.samples("bm25").tolist() == [0.25, 0.5]
    assert timings.to_arrow().to_pylist()[2] == {
        "system": "dense",
        "query": "q1",
        "stage": "encode",
        "seconds": 0.125,
    }


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_a_time_that_cannot_be_is_refused(bad: float) -> None:
    """Times are finite and not negative."""
    with pytest.raises(Unusable, match="time is"):
        read_timings({"bm25": [0.5, bad]})


def test_nested_dicts_hold_what_their_schema_says() -> None:
    """Attributes by query, timings by system."""
    attributes = read_table({"q1": {"length": "short"}, "q2": {"length": "long"}}, ATTRIBUTES)

    assert (attributes.columns["query"].to_pylist(), attributes.others) == (
        ["q1", "q2"],
        {"length": ["short", "long"]},
    )
    with pytest.raises(WrongKind, match="judgments of query `q1` are int, expected a dict from document"):
        read_table({"q1": 3}, JUDGMENTS)


def read_pairs(file: File, schema: Schema) -> RawTable:
    """Read lines of `field=value` pairs separated by `|`."""
    lines = bytes(file.data).decode().splitlines()[1:]
    records = [dict(pair.split("=", 1) for pair in line.split("|")) for line in lines]
    numbers = {field.name for field in schema.fields if field.kind == "number"}
    rows = [{key: float(value) if key in numbers else value for key, value in row.items()} for row in records]
    return from_records(rows, schema, Problems(file.label, line=lambda row: row + 2))


def write_pairs(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write a line of pairs for each row."""
    sink.write(f"!pairs {writing.schema.name}\n".encode())
    sink.writelines(
        ("|".join(f"{key}={value}" for key, value in row.items()) + "\n").encode()
        for row in table.to_pylist()
    )


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Add a format of one's own, as a plugin would; it is forgotten after the test."""
    monkeypatch.setattr(FORMATS, "_things", dict(FORMATS._things))
    add_format(Format("pairs", "Pairs", read_pairs, write_pairs, extensions=(".pairs",), magic=(b"!pairs",)))
    yield "pairs"
    KNOWN.discard(".pairs")


def test_a_new_format_is_two_functions_and_a_name(pairs: str, tmp_path: Path) -> None:
    """Everything reads it, recognises it by its first bytes, names its lines, and writes it by extension."""
    run = judged.read_run({"q1": {"d1": 2.5, "d2": 1.0}})
    write_run(run, tmp_path / "bm25.pairs")
    content = (tmp_path / "bm25.pairs").read_bytes()
    timings = b"!pairs timings\nsystem=bm25|seconds=0.5\n"

    assert content == b"!pairs run\nquery=q1|document=d1|score=2.5\nquery=q1|document=d2|score=1.0\n"
    assert detect(File(content, "a", "a")).name == pairs
    assert judged.read_run(tmp_path / "bm25.pairs").to_arrow().equals(run.to_arrow())
    assert read_timings(timings).samples("bm25").tolist() == [0.5]
    with pytest.raises(BadInput, match="bytes:3: document `d` is judged again"):
        judged.read_judgments(b"!pairs\nquery=q|document=d|grade=1\nquery=q|document=d|grade=2\n")


def test_the_parts_of_a_format_are_what_lint_uses_too(pairs: str) -> None:
    """No reader of its own: lint finds the repeat in the new format, with its line."""
    report = judged.lint(
        b"!pairs\nquery=q|document=d|grade=1\nquery=q|document=d|grade=2\n", {"q": {"d": 1.0}}
    )
    (finding,) = report.files[0].findings

    assert pairs in FORMATS
    assert (finding.code, str(finding.problems[0].place)) == ("conflicting-grades", "judgments:3")
