"""Columns that the user names: written, checked, carried by paths, and applied by every reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import judged
from judged.errors import BadInput, JudgedError, Unreadable
from judged.io.read import read_timings
from judged.tables.mapping import ColumnMap, MappedPath
from judged.tables.schema import SCHEMAS

GERMAN = b"frage,stelle,note,wert\nq1,d1,2,0.5\nq1,d2,0,0.25\nq2,d3,1,1.5\n"


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        (["query=frage"], {"query": "frage"}),
        (["query=frage,grade=a, b"], {"query": "frage", "grade": "a, b"}),
        (["run:score=wert,document=d"], {"run:score": "wert", "run:document": "d"}),
        (["query=f", "judgments:grade=n"], {"query": "f", "judgments:grade": "n"}),
        (["grade="], {"grade": ""}),
        (["query=a=b"], {"query": "a=b"}),
    ],
)
def test_a_mapping_is_read_as_it_is_written(texts: list[str], columns: dict[str, str]) -> None:
    """Pairs are separated by commas, which columns may have too; a table's name holds up to the next."""
    assert ColumnMap.parse(texts).columns == columns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("frage", "does not name a column, expected FIELD=COLUMN"),
        ("qurey=frage", "no field is called `qurey`"),
        ("runs:score=x", "no table is called `runs`"),
        ("run:grade=x", "no field of run is called `grade`"),
        ("query=a,query=b", "`query` is mapped to `a` and to `b`"),
    ],
)
def test_a_mapping_that_names_nothing_is_refused(text: str, message: str) -> None:
    """With the names that are known."""
    with pytest.raises(JudgedError, match=message):
        ColumnMap.parse([text])


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    """Names are compared exactly."""
    with pytest.raises(BadInput, match=r"`Frage` for the query is not there; there: `frage`, `stelle`"):
        judged.read_judgments(GERMAN, map={"query": "Frage", "document": "stelle", "grade": "note"})


def test_a_named_column_wins_over_known_names() -> None:
    """And is no other field any more."""
    content = b"query,document,grade,label\nq,d,1,3\n"

    assert judged.read_judgments(content, map={"grade": "label"}).grades.tolist() == [3.0]
    with pytest.raises(BadInput, match="no query among them"):
        judged.read_judgments(b"query,x,grade\nq,d,1\n", map={"document": "query"})


def test_every_reader_applies_a_mapping() -> None:
    """Judgments, runs, preferences, labels and timings."""
    columns = {"query": "frage", "document": "stelle"}

    assert judged.read_judgments(GERMAN, map={**columns, "grade": "note"}).documents == ["d1", "d2", "d3"]
    assert judged.read_run(GERMAN, map={**columns, "score": "wert"}).to_arrow()["score"].to_pylist() == [
        0.5,
        0.25,
        1.5,
    ]
    assert read_timings(b"wer,dauer\na,2\n", map={"system": "wer", "seconds": "dauer"}).samples(
        "a"
    ).tolist() == [2.0]
    assert (
        len(
            judged.read_labels(
                b"aufgabe,kennung,note\nt,d,3\n", map={"task": "aufgabe", "id": "kennung", "gain": "note"}
            )
        )
        == 1
    )
    preferences = judged.read_preferences(
        b"frage,wer,stelle,note\nq,ann,d,2\n", map={**columns, "group": "wer", "level": "note"}
    )
    assert preferences.table.num_rows == 1


@pytest.mark.parametrize(
    "source", [b"q1 0 d1 1\n", {"q1": {"d1": 1}}, b'{"q1": {"d1": 1}}'], ids=["trec", "dict", "json"]
)
def test_columns_without_names_cannot_be_mapped(source: Any) -> None:
    """The hint says how to name the columns of the other file only."""
    with pytest.raises(Unreadable, match="cannot be applied") as caught:
        judged.read_judgments(source, map={"query": "frage"})
    assert caught.value.hint is not None
    assert "map={'run:query': 'frage'}" in caught.value.hint


def test_a_path_carries_its_mapping_to_every_verb(tmp_path: Path) -> None:
    """It is recorded, and a report reads the file by it again."""
    path = tmp_path / "alles.csv"
    path.write_bytes(GERMAN)
    columns = {"query": "frage", "document": "stelle", "judgments:grade": "note", "run:score": "wert"}
    mapped = MappedPath(path, columns)
    evaluation = judged.evaluate(mapped, mapped, "RR")
    evaluation.save(tmp_path / "saved.json")
    loaded = judged.load(tmp_path / "saved.json")
    loaded.save(tmp_path / "report.html")

    assert evaluation["RR"] == 1.0
    assert [file.columns for file in loaded.provenance.inputs] == [columns, columns]
    assert "could not be read again" not in (tmp_path / "report.html").read_text()


fields = st.sampled_from([(name, field.name) for name in SCHEMAS for field in SCHEMAS[name].fields])


@given(pairs=st.dictionaries(fields, st.from_regex("[a-zé:= ]{0,6}", fullmatch=True), min_size=1, max_size=5))
def test_every_mapping_is_parsed_back(pairs: dict[tuple[str, str], str]) -> None:
    """In one text or in several."""
    columns = {f"{table}:{field}": column for (table, field), column in pairs.items()}
    texts = [f"{key}={column}" for key, column in columns.items()]

    assert ColumnMap.parse(texts).columns == columns
    assert ColumnMap.parse([",".join(texts)]).columns == columns


def test_a_mapping_is_the_same_as_renaming() -> None:
    """Whatever the field, in whatever schema."""
    for name in SCHEMAS:
        schema = SCHEMAS[name]
        columns = {field.name: f"x {field.name}" for field in schema.fields if field.name != "target"}
        matched = schema.map(columns).match(list(columns.values()), subject="x").first()

        assert matched.items() <= columns.items()
        assert {field.name for field in schema.fields if field.required} <= matched.keys()
