"""Judgments and runs mean the same in whatever object they are held, and no object is changed."""

from __future__ import annotations

import copy
import io
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from judged.errors import BadInput, WrongKind
from judged.io.read import read_judgments, read_run
from judged.tables.judgments import NUMBERED, Judgments
from judged.tables.run import Run

QRELS: dict[str, dict[str, float]] = {"q2": {"d1": 0, "d9": 2, "é": 1}, "q1": {"d1": 1.5, "a b": -1}}
RUN: dict[str, dict[str, float]] = {"q2": {"d1": 0.5, "é": 2.25}, "q1": {"d1": -1.0, "x,y": 1e-9}}


class Qrel(NamedTuple):
    """As ir_measures and ir_datasets declare it."""

    query_id: str
    doc_id: str
    relevance: float
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """As ir_measures and ir_datasets declare it."""

    query_id: str
    doc_id: str
    score: float


@dataclass
class Row:
    """A row of one's own making."""

    qid: str
    docno: str
    score: float


def flat(mapping: Mapping[str, Mapping[str, float]]) -> list[tuple[str, str, float]]:
    """Every entry as (query, document, number)."""
    return [(query, doc, number) for query, inner in mapping.items() for doc, number in inner.items()]


def columns(mapping: Mapping[str, Mapping[str, float]], number: str) -> dict[str, list[Any]]:
    """The entries as columns, under names that people use."""
    query, document, numbers = zip(*flat(mapping), strict=True)
    return {"query_id": list(query), "doc_id": list(document), number: [float(value) for value in numbers]}


def arrow(kind: pa.DataType) -> Callable[[dict[str, list[Any]]], pa.Table]:
    """A maker of Arrow tables whose ids are of this kind."""
    return lambda made: pa.table(
        {name: pa.array(made[name], kind) if name.endswith("_id") else made[name] for name in made}
    )


def polars(made: dict[str, list[Any]]) -> Any:
    """A Polars data frame."""
    return pytest.importorskip("polars").DataFrame(made)


def polars_categories(made: dict[str, list[Any]]) -> Any:
    """A Polars data frame whose ids are categories."""
    pl = pytest.importorskip("polars")
    return pl.DataFrame(made).with_columns(pl.col("query_id", "doc_id").cast(pl.Categorical))


def pandas(made: dict[str, list[Any]]) -> Any:
    """A pandas data frame."""
    return pytest.importorskip("pandas").DataFrame(made)


def pandas_objects(made: dict[str, list[Any]]) -> Any:
    """A pandas data frame as older versions made them, and with an index of its own."""
    frame = pytest.importorskip("pandas").DataFrame(made).astype({"query_id": object, "doc_id": object})
    return frame.iloc[::-1]


def duckdb(made: dict[str, list[Any]]) -> Any:
    """A DuckDB relation."""
    table = pa.table(made)
    return pytest.importorskip("duckdb").from_arrow(table)


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "string": arrow(pa.string()),
    "large_string": arrow(pa.large_string()),
    "string_view": arrow(pa.string_view()),
    "binary": arrow(pa.binary()),
    "dictionary": lambda made: pa.table(
        {
            name: pa.array(made[name]).dictionary_encode() if name.endswith("_id") else made[name]
            for name in made
        }
    ),
    "chunks": lambda made: pa.concat_tables([pa.table(made).slice(0, 2), pa.table(made).slice(2)]),
    "reader": lambda made: pa.table(made).to_reader(max_chunksize=1),
    "record batch": pa.record_batch,
    "polars": polars,
    "polars categories": polars_categories,
    "pandas": pandas,
    "pandas objects": pandas_objects,
    "duckdb": duckdb,
}

HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": lambda items: (item for item in items),
    "iterator": iter,
}


def rows(table: Any) -> list[dict[str, Any]]:
    """Every row, in one order."""
    return sorted(table.to_arrow().to_pylist(), key=lambda row: (row["query"], row["document"]))


EXPECTED_QRELS = [
    {"query": "q1", "document": "a b", "grade": -1.0},
    {"query": "q1", "document": "d1", "grade": 1.5},
    {"query": "q2", "document": "d1", "grade": 0.0},
    {"query": "q2", "document": "d9", "grade": 2.0},
    {"query": "q2", "document": "é", "grade": 1.0},
]
EXPECTED_RUN = [
    {"query": "q1", "document": "d1", "score": -1.0},
    {"query": "q1", "document": "x,y", "score": 1e-9},
    {"query": "q2", "document": "d1", "score": 0.5},
    {"query": "q2", "document": "é", "score": 2.25},
]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_library_holds_judgments(kind: str) -> None:
    """Whatever the library, layout of strings or chunks, the rows are the same."""
    judgments = read_judgments(FRAMES[kind](columns(QRELS, "relevance")))

    assert rows(judgments) == EXPECTED_QRELS


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_library_holds_a_run(kind: str) -> None:
    """Whatever the library, layout of strings or chunks, the rows are the same."""
    run = read_run(FRAMES[kind](columns(RUN, "score")))

    assert rows(run) == EXPECTED_RUN


@pytest.mark.parametrize("make", [dict, MappingProxyType, lambda mapping: dict(reversed(mapping.items()))])
def test_a_dict_of_dicts_holds_either(make: Callable[[Any], Any]) -> None:
    """Any mapping will do, in any order."""
    judgments, run = read_judgments(make(QRELS)), read_run(make(RUN))

    assert rows(judgments) == EXPECTED_QRELS
    assert rows(run) == EXPECTED_RUN


@pytest.mark.parametrize("holder", HOLDERS)
def test_named_tuples_hold_either(holder: str) -> None:
    """Lists, generators and iterators of ir_measures' tuples are read, once."""
    judgments = read_judgments(HOLDERS[holder]([Qrel(*row) for row in flat(QRELS)]))
    run = read_run(HOLDERS[holder]([ScoredDoc(*row) for row in flat(RUN)]))

    assert rows(judgments) == EXPECTED_QRELS
    assert rows(run) == EXPECTED_RUN


def test_the_tuples_of_ir_measures_themselves_are_read() -> None:
    """What ir_measures calls Qrel and ScoredDoc needs no change."""
    ir_measures = pytest.importorskip("ir_measures")
    judgments = read_judgments(ir_measures.Qrel(q, d, n) for q, d, n in flat(QRELS))
    run = read_run([ir_measures.ScoredDoc(*row) for row in flat(RUN)])

    assert rows(judgments) == EXPECTED_QRELS
    assert rows(run) == EXPECTED_RUN


def test_dataclasses_are_read_as_named_tuples_are() -> None:
    """Objects with declared fields name their columns too."""
    run = read_run([Row(*row) for row in flat(RUN)])

    assert rows(run) == EXPECTED_RUN


@pytest.mark.parametrize("holder", HOLDERS)
def test_dicts_in_a_row_hold_either(holder: str) -> None:
    """A list of dicts is read by its keys, in any spelling that is known."""
    judgments = read_judgments(
        HOLDERS[holder]([{"QID": q, "docno": d, "Label": n} for q, d, n in flat(QRELS)])
    )
    run = read_run(HOLDERS[holder]([{"topic": q, "pid": d, "similarity": n} for q, d, n in flat(RUN)]))

    assert rows(judgments) == EXPECTED_QRELS
    assert rows(run) == EXPECTED_RUN


def test_bytes_and_open_files_are_read_as_files_are() -> None:
    """The content of a file may be given in memory, as bytes or as an open file, text or binary."""
    text = "q1 Q0 d1 1 0.5 tag\n"
    sources = [text.encode(), bytearray(text, "ascii"), memoryview(text.encode()), io.StringIO(text)]

    assert {tuple(rows(read_run(source))[0].values()) for source in sources} == {("q1", "d1", 0.5)}
    assert [read_run(source).name for source in (text.encode(), io.StringIO(text))] == ["run", "run"]


def test_ranked_lists_keep_their_order() -> None:
    """Without scores the first document scores highest; ranks do not depend on the ids."""
    run = read_run({"q1": ["b", "a", "c"], "q2": ("x",), "q3": np.array(["y", "z"])})

    assert run.to_arrow()["document"].to_pylist() == ["b", "a", "c", "x", "y", "z"]
    assert run.to_arrow()["score"].to_pylist() == [-1.0, -2.0, -3.0, -1.0, -1.0, -2.0]


def test_lists_and_sets_of_relevant_documents_are_judgments_of_grade_one() -> None:
    """Who knows only what is relevant need not write grades."""
    judgments = read_judgments({"q1": {"a", "b"}, "q2": ["c"]})

    assert [tuple(row.values()) for row in rows(judgments)] == [
        ("q1", "a", 1.0),
        ("q1", "b", 1.0),
        ("q2", "c", 1.0),
    ]


def test_a_matrix_of_ids_is_a_run_by_row() -> None:
    """Rows are queries 0, 1, …; the best comes first; negative ids are padding, and counted."""
    run = read_run(np.array([[7, 3, -1], [5, -1, -1]]))

    assert [tuple(row.values()) for row in run.to_arrow().to_pylist()] == [
        ("0", "7", -1.0),
        ("0", "3", -2.0),
        ("1", "5", -1.0),
    ]
    assert run.notes == ("3 negative ids of the matrix are padding: left out",)


def test_a_pair_of_matrices_is_a_run_with_scores() -> None:
    """Scores stand where their ids stand, at any width."""
    run = read_run((np.array([[7, 3], [5, -1]]), np.array([[0.5, 0.25], [1.0, 9.0]], dtype=np.float32)))

    assert run.to_arrow()["score"].to_pylist() == [0.5, 0.25, 1.0]


def test_a_matrix_of_names_is_read_as_one_of_numbers() -> None:
    """Ids may be text."""
    judgments = read_judgments(np.array([["a", "b"], ["c", "d"]]))

    assert judgments.table["document"].to_pylist() == ["a", "b", "c", "d"]
    assert judgments.table["grade"].to_pylist() == [1.0, 1.0, 1.0, 1.0]


def test_tables_are_returned_as_they_are() -> None:
    """What has been read is not read again; a name makes a renamed copy."""
    judgments, run = Judgments.from_mapping(QRELS), Run.from_mapping(RUN)

    assert read_judgments(judgments) is judgments
    assert read_run(run) is run
    assert read_run(run, name="other").name == "other"
    assert run.name == "run"


def test_whole_numbers_become_decimal_text_and_a_note() -> None:
    """Ids given as integers match the same digits given as text, and the user is reported."""
    given = [
        {1: {10: 1.0}},
        {"query": [1], "doc": [10], "score": [1.0]},
        [{"qid": 1, "docid": np.int64(10), "score": 1}],
    ]
    runs = [read_run(given[0]), read_run(pa.table(given[1])), read_run(given[2])]

    assert {tuple(rows(run)[0].values()) for run in runs} == {("1", "10", 1.0)}
    assert [run.notes for run in runs] == [(NUMBERED,)] * 3


@pytest.mark.parametrize(
    "number", [1, True, np.float32(1), np.int64(1), np.bool_(1), Decimal(1), Fraction(1)], ids=repr
)
def test_numbers_of_any_kind_are_numbers(number: Any) -> None:
    """Scores and grades may be NumPy's scalars, decimals, fractions or truth values."""
    judgments, run = read_judgments({"q": {"d": number}}), read_run({"q": {"d": number}})

    assert judgments.table["grade"].to_pylist() == [1.0]
    assert run.to_arrow()["score"].to_pylist() == [1.0]


def test_integer_grades_and_decimal_scores_of_frames_are_numbers() -> None:
    """Any numeric type of Arrow will do."""
    table = pa.table({"qid": ["q"], "docno": ["d"], "rel": pa.array([2], pa.uint8())})
    scored = pa.table(
        {"qid": ["q"], "docno": ["d"], "score": pa.array([Decimal("1.5")], pa.decimal128(4, 2))}
    )

    assert read_judgments(table).table["grade"].to_pylist() == [2.0]
    assert read_run(scored).to_arrow()["score"].to_pylist() == [1.5]


def test_a_target_column_is_kept() -> None:
    """Judgments may say which target a document answers; one that says nothing is its own."""
    judgments = read_judgments(
        pa.table(
            {"query": ["q"] * 3, "document": ["a", "b", "c"], "grade": [1, 1, 1], "target": ["t", None, ""]}
        )
    )

    assert judgments.table["target"].to_pylist() == ["t", "b", "c"]


def test_names_that_say_id_win_over_texts() -> None:
    """A frame of PyTerrier's has the text of the query in `query` and a number in `docid`."""
    frame = pa.table(
        {
            "qid": ["1"],
            "docid": [17],
            "docno": ["d1"],
            "score": [2.5],
            "rank": [0],
            "query": ["chemical reactions"],
        }
    )
    run = read_run(frame)

    assert rows(run) == [{"query": "1", "document": "d1", "score": 2.5}]
    assert run.notes == (
        "column `qid` was taken as the query, not `query`",
        "column `docno` was taken as the document, not `docid`",
    )


def test_a_column_score_is_the_grade_only_if_there_is_no_other() -> None:
    """BEIR calls grades `score`; a frame that has both means the other."""
    both = pa.table({"qid": ["1"], "docno": ["d1"], "label": [3], "score": [2.5]})
    beir = pa.table({"query-id": ["1"], "corpus-id": ["d1"], "score": [2]})

    assert read_judgments(both).table["grade"].to_pylist() == [3.0]
    assert read_judgments(beir).table["grade"].to_pylist() == [2.0]


def sources() -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Objects, with the way to read each."""
    yield "judgments of dicts", QRELS, read_judgments
    yield "run of dicts", {1: {2: 0.5}}, read_run
    yield "lists", {"q": ["b", "a"]}, read_run
    yield "sets", {"q": {"b", "a"}}, read_judgments
    yield "matrix", np.array([[3, -1], [2, 1]]), read_run
    yield "records", [{"qid": "q", "docno": "d", "score": 1}], read_run
    yield "nested records", [{"query": "q", "results": [{"document": "d", "score": 1}]}], read_run
    yield "tuples", [Qrel("q", "d", 1)], read_judgments
    yield "table", pa.table(columns(QRELS, "rel")), read_judgments


@pytest.mark.parametrize(("source", "read"), [pytest.param(s, r, id=name) for name, s, r in sources()])
def test_nothing_given_is_changed(source: Any, read: Callable[[Any], Any]) -> None:
    """An object is after reading what it was before."""
    before = copy.deepcopy(source)
    read(source).to_arrow()

    assert np.array_equal(source, before) if isinstance(source, np.ndarray) else source == before


def test_pandas_and_polars_frames_are_not_changed() -> None:
    """A data frame is after reading what it was before."""
    for make, same in ((pandas, "equals"), (polars, "equals")):
        frame = make(columns(RUN, "score"))
        before = copy.deepcopy(frame)
        read_run(frame)

        assert getattr(frame, same)(before)


def test_the_order_of_rows_changes_only_the_order_within_a_query() -> None:
    """Judgments are grouped by query, queries in the order of their bytes, whatever the order given."""
    entries = flat(QRELS)
    tables = []
    for seed in range(6):
        random.Random(seed).shuffle(entries)  # noqa: S311 - an order, not a secret
        judgments = read_judgments([Qrel(*row) for row in entries])
        tables.append(rows(judgments))

        assert judgments.queries.to_pylist() == ["q1", "q2"]
        assert judgments.offset.tolist() == [0, 2, 5]
    assert all(table == EXPECTED_QRELS for table in tables)


@pytest.mark.parametrize("source", [42, object(), None, 1.5, len])
def test_a_strange_object_is_named_with_what_is_accepted(source: Any) -> None:
    """The error says what was given and what could be."""
    with pytest.raises(
        WrongKind, match=r"cannot be read from an object of type .*expected a path, bytes, a dict"
    ):
        read_run(source)


def test_a_lazy_frame_is_reported_to_collect() -> None:
    """A query that was never run holds no rows."""
    frame = pytest.importorskip("polars").DataFrame(columns(RUN, "score")).lazy()

    with pytest.raises(WrongKind, match=r"polars\.LazyFrame.*\n\nhint: call `\.collect\(\)` on it first"):
        read_run(frame)


def test_tables_given_in_the_wrong_order_are_reported_apart() -> None:
    """A run is no judgments, although it could be read as a frame with a column `score`."""
    with pytest.raises(WrongKind, match="a run where judgments should be"):
        read_judgments(Run.from_mapping(RUN))
    with pytest.raises(WrongKind, match="judgments where a run should be"):
        read_run(Judgments.from_mapping(QRELS))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"q": {"d": "1"}}, "query `q`, document `d`: score is '1' (str), expected a number"),
        ({"q": {"d": None}}, "query `q`, document `d`: score is missing, expected a number"),
        (
            {"q": {1.5: 1}},
            "query `q`, document `1.5`: document is 1.5 (float), expected text or a whole number",
        ),
        ({("a", "b"): {"d": 1}}, "query is ('a', 'b') (tuple), expected text or a whole number"),
        ({"q": {"a", "b"}}, "query `q`: holds a set, expected a list of document ids, best first"),
        ({"q": "abc"}, "query `q`: holds a str, expected a list of document ids, best first"),
        ({"q": {"d": 1}, "r": 3}, "query `r`: is an int, expected a list of results, best first"),
        ({"\ud800": {"d": 1}, 1: {"d": 1}}, "query is '\\ud800' (str), expected text that UTF-8 can hold"),
        (np.array([1, 2]), "ids have shape (2,), expected a matrix with a row for each query"),
        (np.array([[1.0, 2.0]]), "ids are float64, expected whole numbers or text"),
        ((np.array([[1]]), np.array([[1, 2]])), "ids have shape (1, 1) and scores (1, 2), expected the same"),
        ([{"query": "q", "document": "d"}], "columns: `query`, `document`; no score among them"),
        (
            [{"query": "q", "document": "d", "score": 1}, {"query": "q", "score": 1}],
            "row 2: document is missing, expected text or a whole number",
        ),
        (
            pa.table({"qid": [1.5], "docno": ["d"], "score": [1]}),
            "the query column: holds double, expected text",
        ),
        (
            pa.table({"qid": ["q", None], "docno": ["d", "e"], "score": [1, 2]}),
            "row 2: query is null, expected an id",
        ),
        (
            pa.table({"qid": ["q"], "docno": ["d"], "score": ["1"]}),
            "the score column: holds text, expected numbers",
        ),
        (pa.table({"qid": [b"\xff"], "docno": ["d"], "score": [1]}), "holds bytes that are not UTF-8 text"),
        (
            pa.table({"qid": ["q"], "docno": ["d"], "score": [float("nan")]}),
            "row 1: score is nan, expected a number",
        ),
        (pa.table({"qid": ["q"], "docno": ["d"], "rank": [1]}), "hint: a rank is not a score"),
    ],
)
def test_what_cannot_be_a_run_is_refused_in_words(source: Any, message: str) -> None:
    """The error says where, what it found and what it expected, at the latest when all of it is read."""
    with pytest.raises(BadInput) as caught:
        read_run(source).to_arrow()

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "source", [[1, 2], ["a"], [("q", "d", 1)], [Qrel("q", "d", 1), ScoredDoc("q", "d", 1)]]
)
def test_rows_without_names_are_refused(source: Any) -> None:
    """Which value is which must be written somewhere."""
    with pytest.raises(WrongKind, match="expected named tuples or dicts of one kind"):
        read_judgments(source)


@pytest.mark.parametrize(
    "empty", [{}, [], {"q": {}}, {"q": []}, np.zeros((0, 3), dtype=int), b"", b"# nothing\n\n"]
)
def test_an_empty_run_is_a_run_and_empty_judgments_are_an_error(empty: Any) -> None:
    """A system may find nothing; nothing can be scored without judgments."""
    run = read_run(empty)

    assert run.to_arrow().num_rows == 0
    with pytest.raises(BadInput, match="holds no judgments"):
        read_judgments(empty)
