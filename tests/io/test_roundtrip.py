"""What is written comes back as it was, in every format and compression, for any ids and numbers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from judged.errors import Unwritable
from judged.io.open import COMPRESSIONS, compress, decompress
from judged.io.read import read_judgments, read_run
from judged.io.sniff import FORMATS, Writing
from judged.io.write import write_judgments, write_run
from judged.tables import schema
from judged.tables.judgments import Judgments
from judged.tables.run import Run

ids = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [
        "#1",
        "a#b",
        '"',
        "a,b",
        "a\tb",
        "\r",
        "\n",
        " x ",
        "NA",
        "nan",
        "null",
        "",
        "-",
        "\ufeffq",
        "=1",
        "0",
        "00",
    ]
)
plain_ids = st.text(
    st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=12
).filter(lambda text: not text.startswith("#") and not text.isspace())
finite = st.floats(allow_nan=False, allow_infinity=False)
unhurried = settings(deadline=None)
WHOLE = {"beir"}
PLAIN = {"trec"}
WITHOUT_TARGET = {"trec", "beir"}
WITHOUT_INFINITY = {"json", "jsonl"}
RUNS = [name for name in FORMATS if FORMATS[name].write and FORMATS[name].holds(schema.RUN)]
JUDGMENTS = [name for name in FORMATS if FORMATS[name].write and FORMATS[name].holds(schema.JUDGMENTS)]


def mappings(names: Any, numbers: Any) -> Any:
    """Dicts of dicts, none of them empty, since a query without documents has no row."""
    return st.dictionaries(
        names, st.dictionaries(names, numbers, min_size=1, max_size=4), min_size=1, max_size=4
    )


def written_judgments(judgments: Judgments, name: str) -> bytes:
    """The bytes that a format makes of judgments."""
    sink = io.BytesIO()
    write = FORMATS[name].write
    assert write is not None
    write(judgments.to_arrow(), sink, Writing(schema.JUDGMENTS, judgments.name))
    return sink.getvalue()


def written_run(run: Run, name: str) -> bytes:
    """The bytes that a format makes of a run."""
    sink = io.BytesIO()
    write = FORMATS[name].write
    assert write is not None
    write(run.to_arrow(), sink, Writing(schema.RUN, run.name, "tag"))
    return sink.getvalue()


def rows(table: Any) -> list[tuple[Any, ...]]:
    """Every row, in one order."""
    return sorted(tuple(row.values()) for row in table.to_arrow().to_pylist())


@pytest.mark.parametrize("name", JUDGMENTS)
@unhurried
@given(data=st.data())
def test_judgments_come_back_as_they_were(name: str, data: st.DataObject) -> None:
    """Judgments written and read again hold the same rows, to the last digit and character."""
    grades = st.integers(-5, 1_000_000) if name in WHOLE else finite
    judgments = Judgments.from_mapping(data.draw(mappings(plain_ids if name in PLAIN else ids, grades)))
    again = read_judgments(written_judgments(judgments, name), format=name)

    assert again.table.equals(judgments.table)


@pytest.mark.parametrize("name", RUNS)
@unhurried
@given(data=st.data())
def test_runs_come_back_as_they_were(name: str, data: st.DataObject) -> None:
    """Runs written and read again hold the same rows, infinite scores among them where the format has them."""
    scores = finite if name in WITHOUT_INFINITY else st.floats(allow_nan=False)
    run = Run.from_mapping(data.draw(mappings(plain_ids if name in PLAIN else ids, scores)))
    again = read_run(written_run(run, name), format=name)

    assert rows(again) == rows(run)


@pytest.mark.parametrize("name", [name for name in JUDGMENTS if name not in WITHOUT_TARGET])
@unhurried
@given(data=st.data())
def test_targets_come_back_as_they_were(name: str, data: st.DataObject) -> None:
    """A target is kept; a document without one is its own."""
    count = data.draw(st.integers(1, 5))
    documents = data.draw(st.lists(ids, min_size=count, max_size=count, unique=True))
    targets = data.draw(st.lists(st.none() | ids, min_size=count, max_size=count))
    judgments = Judgments.from_columns(["q"] * count, documents, [1] * count, targets)
    again = read_judgments(written_judgments(judgments, name), format=name)

    assert again.table.equals(judgments.table)
    assert judgments.table["target"].to_pylist() == [
        target or document for target, document in zip(targets, documents, strict=True)
    ]


@unhurried
@given(mapping=mappings(ids, finite))
def test_trec_text_holds_an_id_or_refuses_it(mapping: dict[str, dict[str, float]]) -> None:
    """Any run is either read back as it was or refused in words; nothing is lost without a word."""
    run = Run.from_mapping(mapping)
    try:
        text = written_run(run, "trec")
    except Unwritable:
        names = [name for query, row in mapping.items() for name in (query, *row)]
        assert any(name.split() != [name] or "\0" in name or name[0] in "#\ufeff" for name in names)
        return

    assert rows(read_run(text, format="trec")) == rows(run)


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda compression: compression.name)
@unhurried
@given(content=st.binary(max_size=200))
def test_compressed_bytes_come_back_as_they_were(compression: Any, content: bytes) -> None:
    """Each compression undoes itself, and two compressed files end to end are the two contents end to end."""
    sink = io.BytesIO()
    with compress(sink, compression.extension) as stream:
        stream.write(content)
    packed = sink.getvalue()

    assert decompress(packed, label="file") == content
    assert decompress(packed + packed, label="file") == content + content


@pytest.mark.parametrize("packed", ["", ".gz", ".zst", ".bz2", ".xz", ".lz4", ".zstd"])
@pytest.mark.parametrize(
    "extension", [".run", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".txt"]
)
def test_names_of_files_choose_format_and_compression(tmp_path: Path, extension: str, packed: str) -> None:
    """A file is written as its name says, and read without being asked how."""
    run = Run.from_mapping({"q1": {"d1": 0.1, "d2": 2.5}, "q2": {"d1": -1.0}}, name="bm25")
    place = tmp_path / f"bm25{extension}{packed}"
    write_run(run, place)
    again = read_run(place)

    assert again.name == "bm25"
    assert rows(again) == rows(run)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(mapping=mappings(plain_ids, st.integers(0, 3)))
def test_every_format_reads_what_every_other_wrote(
    tmp_path: Path, mapping: dict[str, dict[str, float]]
) -> None:
    """Judgments that go through all formats in turn are the same at the end."""
    first = judgments = Judgments.from_mapping(mapping)
    for name in JUDGMENTS:
        write_judgments(judgments, tmp_path / "file", format=name, force=True)
        judgments = read_judgments(tmp_path / "file", format=name)

    assert judgments.table.equals(first.table)


def test_equal_tables_make_equal_gzip_files(tmp_path: Path) -> None:
    """Neither the time nor the name of a file is written into it."""
    run = Run.from_mapping({"q1": {"d1": 0.1}}, name="r")
    for name in ("a.run.gz", "b.run.gz"):
        write_run(run, tmp_path / name)

    assert (tmp_path / "a.run.gz").read_bytes() == (tmp_path / "b.run.gz").read_bytes()
