"""Every shape of the same values gives the same table: wide and long, in each format, as frames and as dicts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.errors import BadInput, JudgedError
from judged.io.scores.names import may_be_measures
from judged.io.scores.read import read_scores
from judged.tables.scores import Scores

NAMES = st.sampled_from(["faithfulness", "map", "Answer Relevancy (v2)@k=3", "nDCG@10", "a, b", "=1+1", "x%"])
"""Names of measures, odd ones and judged's own among them."""
IDS = (
    st.text("abcdefgh0123456789 é-_", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda text: bool(text) and text.lower() not in {"na", "nan", "none", "null"})
)
VALUES = st.none() | st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: value + 0.0)


@dataclass(frozen=True)
class Values:
    """Values by query, attempt and measure."""

    measures: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]

    @property
    def wide(self) -> list[dict[str, Any]]:
        """A row for each query and attempt."""
        return [dict(row) for row in self.rows]

    @property
    def long(self) -> list[dict[str, Any]]:
        """A row for each value."""
        keys = ("query", "attempt")
        return [
            {**{key: row[key] for key in keys if key in row}, "measure": name, "value": row[name]}
            for row in self.rows
            for name in self.measures
        ]


@st.composite
def values(draw: st.DrawFn) -> Values:
    """Some queries, measures with at least one value each, and perhaps attempts."""
    measures = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    queries = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    attempts = draw(st.sampled_from([0, 2, 3]))
    rows = [
        {
            "query": query,
            **({"attempt": attempt} if attempts else {}),
            **{name: draw(VALUES) for name in measures},
        }
        for query in queries
        for attempt in range(max(attempts, 1))
    ]
    for name in measures:
        rows[0][name] = 0.5  # a column without any number is not a measure
    return Values(tuple(measures), tuple(rows))


def to_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    """Return the rows as Python's own writer has them."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows([{key: "" if value is None else value for key, value in row.items()} for row in rows])
    return out.getvalue().encode()


def to_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Return the rows as an Arrow table."""
    return pa.table({key: [row[key] for row in rows] for key in rows[0]})


def to_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Return the rows as a Parquet file."""
    out = io.BytesIO()
    pq.write_table(to_table(rows), out)
    return out.getvalue()


SHAPES: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "rows": lambda rows: rows,
    "CSV": to_csv,
    "TSV": lambda rows: to_csv(rows, "\t"),
    "JSON": lambda rows: json.dumps(rows).encode(),
    "JSONL": lambda rows: "".join(json.dumps(row) + "\n" for row in rows).encode(),
    "JSONL with NaN": lambda rows: "".join(
        json.dumps({key: float("nan") if value is None else value for key, value in row.items()}) + "\n"
        for row in rows
    ).encode(),
    "Parquet": to_parquet,
    "Arrow": to_table,
    "columns": lambda rows: {key: [row[key] for row in rows] for key in rows[0]},
    "columns by row": lambda rows: json.dumps(
        {key: {str(at): row[key] for at, row in enumerate(rows)} for key in rows[0]}
    ).encode(),
}


def read(source: object) -> Scores:
    """Return the scores of the only system."""
    (scores,) = read_scores(source, name="bot").values()
    return scores


def assert_same(one: Scores, other: Scores) -> None:
    """Queries, measures, values and attempts are equal."""
    assert one.queries.to_pylist() == other.queries.to_pylist()
    assert set(one.values) == set(other.values)
    for name in one.values:
        np.testing.assert_array_equal(one[name], other[name])
        assert (name in one.repeats) == (name in other.repeats)
        if name in one.repeats:
            np.testing.assert_array_equal(one.repeats[name], other.repeats[name])


@settings(deadline=None)
@given(values())
def test_every_shape_gives_the_same_table(given_values: Values) -> None:
    """The rows in memory are what all others are compared with."""
    expected = read(given_values.wide)

    for name, encode in SHAPES.items():
        for layout in (given_values.wide, given_values.long):
            try:
                assert_same(read(encode(layout)), expected)
            except AssertionError as error:
                raise AssertionError(name) from error


@settings(deadline=None)
@given(values())
def test_the_values_are_those_that_were_given(given_values: Values) -> None:
    """By brute force: for each query the mean of the attempts that have a value."""
    scores = read(given_values.wide)

    for name in given_values.measures:
        found = scores.by_query(name)
        for query in {row["query"] for row in given_values.rows}:
            mine = [row[name] for row in given_values.rows if row["query"] == query and row[name] is not None]
            expected = sum(mine) / len(mine) if mine else float("nan")
            assert found[query] == pytest.approx(expected, nan_ok=True)


@settings(deadline=None, max_examples=20)
@given(values(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing(given_values: Values, rng: Any) -> None:
    """Rows are never paired by their place."""
    rows = given_values.wide
    rng.shuffle(rows)
    turned = [dict(reversed(row.items())) for row in rows]

    assert_same(read(to_csv(turned)), read(given_values.wide))


@settings(deadline=None, max_examples=10)
@given(values())
def test_every_shape_gives_the_same_comparison(given_values: Values) -> None:
    """And as a dict from query to values, where nothing is repeated."""
    other = [
        {**row, **{name: (row[name] or 0) + 1 for name in given_values.measures}} for row in given_values.rows
    ]
    compared = [
        judged.compare({"a": encode(given_values.wide), "b": encode(other)}, resamples=50)
        for encode in SHAPES.values()
    ]
    if "attempt" not in given_values.rows[0]:
        dicts = [
            {row["query"]: {name: row[name] for name in given_values.measures} for row in rows}
            for rows in (given_values.rows, other)
        ]
        compared.append(judged.compare({"a": dicts[0], "b": dicts[1]}, resamples=50))

    first = compared[0]
    for comparison in compared[1:]:
        assert {m.measure: m.mean for m in comparison.means} == {m.measure: m.mean for m in first.means}
        assert {(c.measure, c.difference, c.p) for c in comparison.contrasts} == {
            (c.measure, c.difference, c.p) for c in first.contrasts
        }


def test_a_frame_of_pandas_is_read_with_its_index() -> None:
    """One that is named; the numbers of rows are not."""
    pandas = pytest.importorskip("pandas", reason="the extra `pandas` is not installed")
    frame = pandas.DataFrame({"query_id": ["q1", "q2"], "faithfulness": [0.5, None]})

    for source in (frame, frame.set_index("query_id")):
        assert read(source).queries.to_pylist() == ["q1", "q2"]
    assert read(frame[::-1])["faithfulness"].tolist()[0] == 0.5


@pytest.mark.parametrize(
    ("text", "measures", "left"),
    [
        ("id,score a,year_id,text\nq1,0.5,7,x\n", ["score a"], ["year_id", "text"]),
        ("id,flag,answer,index\nq1,true,42,0\nq2,false,43,1\n", ["flag"], ["answer", "index"]),
        ("id,a,b\nq1,,n/a\nq2,1,NaN\n", ["a"], ["b"]),
        ("question,topic,a\nWho?,x,1\nWhat?,x,2\n", ["a"], ["topic"]),
        ('id,"a, b",c\nq1,1,x\n', ["a, b"], ["c"]),
    ],
)
def test_columns_of_numbers_are_measures(text: str, measures: list[str], left: list[str]) -> None:
    """Not ids, texts, answers and numbers of rows; a note says what was taken and what was left."""
    scores = read(text.encode())

    assert list(scores.values) == measures
    assert set(scores.attributes) >= set(left)
    (note,) = [note.message for note in scores.notes if note.code == "measures"]
    assert all(f"`{name}`" in note for name in (*measures, *left))


REFUSED = {
    "neither id nor text": (
        "a,b\n1,2\n3,4\n",
        r"columns: `a`, `b`; none names the query, and rows are never paired",
    ),
    "a row without its query": (
        "id,a\nq1,2\n,4\n",
        r":3: names no query: expected the id of the query or the text",
    ),
    "a repeated query": ("id,a\nq1,1\nq1,2\n", r":3: query `q1` has a value of a already"),
    "a repeated attempt": ("id,attempt,a\nq1,1,1\nq1,1,2\n", r":3: query `q1` has a value of a already"),
    "mostly numbers": ("id,a\nq1,1\nq2,2\nq3,high\n", r":4: a is `high`, expected a finite number"),
    "a decimal comma": (
        "id;a\nq1;0,5\nq2;1\nq3;1\n",
        r"a is `0,5`, expected a finite number; a decimal comma",
    ),
    "infinity": ("id,a\nq1,inf\nq2,1\n", r":2: a is `inf`, expected a finite number"),
    "no measure": ("id,a\nq1,x\n", r"column `a`: holds `x`, expected numbers"),
    "shares with signs": ('id,a\nq1,80 %\nq2,"0,5"\n', r"holds `80 %`, `0,5`, expected numbers"),
    "two columns of a name": ("id,a,a\nq1,1,2\n", r"two are called `a`, expected different names"),
    "no rows": ("id,a\n", r"holds no scores"),
    "a measure without a name": ("id,measure,value\nq1,,1\n", r"the measure is '', expected its name"),
    "an id that is a float": (
        '[{"id": 1.5, "a": 1}]',
        r"the id of the query is 1.5 \(float\), expected text",
    ),
    "a value that is a list": (
        '[{"id": "q", "measure": "a", "value": [1]}]',
        r"value is `\[1\]`, expected a finite",
    ),
    "items that are not objects": ("[1, 2]", r"holds int, expected an object with named values"),
    "JSON that breaks off": ('{"a": ', r"is not valid JSON"),
    "an object of something else": ('{"a": 1}', r"holds no scores by query: its keys are `a`"),
    "a line that is not JSON": ('{"id": "q", "a": 1}\n{"id": \n', r":2: is not valid JSON"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_words(name: str) -> None:
    """With the place, what was found and what was expected."""
    text, words = REFUSED[name]
    with pytest.raises(JudgedError, match=words):
        read(text.encode())


def test_all_faults_are_collected() -> None:
    """Each row with its line, before anything is refused."""
    with pytest.raises(BadInput) as caught:
        read(b"id,a\nq1,1\nq1,2\n,3\nq2,4\nq2,5\n")

    assert dict(caught.value.counts) == {"repeated-query": 2, "no-query": 1}
    assert "name attempts in a column `attempt`" in str(caught.value.hint)


def test_systems_are_those_of_a_column() -> None:
    """One table may hold several."""
    found = read_scores(b"system,id,a\none,q1,1\ntwo,q1,2\n")

    assert {name: scores["a"].tolist() for name, scores in found.items()} == {"one": [1.0], "two": [2.0]}


def test_directions_are_those_that_are_named() -> None:
    """A name that is not there, and one named both ways, are refused."""
    rows = [{"id": "q1", "cost": 1, "gain": 2, "size": 3}]
    (scores,) = read_scores(rows, higher="gain", lower=["cost"]).values()

    assert {name: kind.higher_is_better for name, kind in scores.kinds.items()} == {
        "cost": False,
        "gain": True,
        "size": None,
    }
    with pytest.raises(judged.JudgedError, match="no measure of these scores is called `gian`"):
        read_scores(rows, higher="gian")
    with pytest.raises(judged.JudgedError, match="`gain` is named by both"):
        read_scores(rows, higher="gain", lower="gain")


def test_values_may_be_nested_in_rows() -> None:
    """Under `scores`, `metrics` or `measures`; a name that is taken gets a suffix."""
    nested = (
        '{"id": "q1", "a": 2, "scores": {"a": 0.5, "b": 1}}\n{"id": "q2", "a": 3, "scores": {"a": 0.25}}\n'
    )
    scores = read(nested.encode())
    single = read(nested.splitlines()[0].encode())

    assert {name: column.tolist() for name, column in scores.values.items()} == {
        "a": [2.0, 3.0],
        "scores.a": [0.5, 0.25],
        "b": pytest.approx([1.0, np.nan], nan_ok=True),
    }
    assert {name: column.tolist() for name, column in single.values.items()} == {
        "a": [2.0],
        "scores.a": [0.5],
        "b": [1.0],
    }


def test_values_beyond_a_documented_scale_open_it() -> None:
    """Ragas' cosine may be negative: no interval is cut at 0 then. Braintrust's is 0 to 1, and other rows look alike."""
    rows = [
        {"user_input": text, "response": "x", "answer_relevancy": value}
        for text, value in (("a", -0.1), ("b", 1))
    ]
    alike = [{"input": text, "scores": {"ms": value, "f": 0.5}} for text, value in (("a", 120), ("b", 80))]

    assert read(rows).kinds["answer_relevancy"].bounds == (-np.inf, np.inf)
    assert read(rows[1:]).kinds["answer_relevancy"].bounds == (0.0, 1.0)
    assert read(alike).kinds["ms"].higher_is_better is None
    assert read(alike).kinds["f"].higher_is_better is True


def test_columns_are_named_in_python() -> None:
    """As by `--map`: also those of a long table."""
    rows = [{"frage": "q1", "modell": name, "art": "f", "zahl": 0.5} for name in ("a", "b")]
    named = {"query": "frage", "system": "modell", "measure": "art", "value": "zahl"}
    long, wide = read_scores(rows, map=named), read_scores(rows, map={"query": "frage", "system": "modell"})

    assert [(name, list(scores.values)) for name, scores in long.items()] == [("a", ["f"]), ("b", ["f"])]
    assert list(wide["b"].values) == ["zahl"]
    with pytest.raises(BadInput, match="abfrage"):
        read_scores(rows, map={"query": "abfrage"})


def test_tasks_are_queries_and_seeds_are_attempts() -> None:
    """As harnesses of agents and of language models write them; an `id` of the row comes first."""
    rows = [
        {"task_id": task, "seed": seed, "passed": task == "t1"} for task in ("t1", "t2") for seed in (1, 2)
    ]
    scores = read(rows)

    assert scores.queries.to_pylist() == ["t1", "t2"]
    assert scores.repeats["passed"].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert read([{"id": "q", "task_id": "t", "passed": 1}]).queries.to_pylist() == ["q"]


FOREIGN = {"query": "frage", "attempt": "versuch", "measure": "maß", "value": "wert"}


@settings(deadline=None, max_examples=25)
@given(values())
def test_named_columns_give_the_same_table(given_values: Values) -> None:
    """In each file, wide and long, whose columns are mapped by the caller or by the path."""
    expected = read(given_values.wide)
    for layout in (given_values.wide, given_values.long):
        renamed = [{FOREIGN.get(key, key): value for key, value in row.items()} for row in layout]
        columns = {name: column for name, column in FOREIGN.items() if column in renamed[0]}
        for name in ("rows", "CSV", "TSV", "JSON", "JSONL", "Parquet", "Arrow"):
            (mapped,) = read_scores(SHAPES[name](renamed), name="bot", map=columns).values()
            assert_same(mapped, expected)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text("abcdefgh0123456789é?", min_size=1, max_size=6).filter(
            lambda text: not may_be_measures([text])
        ),
        st.fixed_dictionaries(
            {"map": st.floats(0, 1), "ndcg_cut_10": st.floats(0, 1), "P@5": st.floats(0, 1)}
        ),
        min_size=1,
        max_size=5,
    )
)
def test_every_tool_of_retrieval_gives_the_same_table(table: dict[str, dict[str, float]]) -> None:
    """What trec_eval and ir_measures print, dicts of pytrec_eval and of ranx, and a frame of PyTerrier."""
    listed = [(query, name, value) for query, inner in table.items() for name, value in inner.items()]
    names = list(next(iter(table.values())))
    means = {name: sum(inner[name] for inner in table.values()) / len(table) for name in names}
    printed = [*listed, *(("all", name, mean) for name, mean in means.items())]
    expected = read(table)

    sources: list[Any] = [
        "\n".join(f"{name}\t{query}\t{value!r}" for query, name, value in printed).encode(),
        "\n".join(f"{query}\t{name}\t{value!r}" for query, name, value in printed).encode(),
        {name: {query: inner[name] for query, inner in table.items()} for name in names},
        json.dumps({name: {query: inner[name] for query, inner in table.items()} for name in names}).encode(),
        [{"name": "bot", "qid": query, "measure": name, "value": value} for query, name, value in listed],
        [{"name": "bot", "qid": query, **inner} for query, inner in table.items()],
        [*table.items()]
        and to_csv([{"query": query, **inner} for query, inner in [*table.items(), ("all", means)]]),
    ]
    for source in sources:
        assert_same(read(source), expected)


def test_an_index_of_names_is_the_query() -> None:
    """In frames of pandas and in their files; numbers of rows are not."""
    pandas = pytest.importorskip("pandas", reason="the extra `pandas` is not installed")
    frame = pandas.DataFrame({"f1": [0.5, 0.25]}, index=["q1", "q2"])

    for source in (frame, frame.to_csv().encode(), frame.to_parquet()):
        assert read(source).by_query("f1") == {"q1": 0.5, "q2": 0.25}
    for source in (frame.reset_index(drop=True), frame.reset_index(drop=True).to_csv().encode()):
        with pytest.raises(BadInput, match="none names the query"):
            read(source)


def test_the_last_row_may_be_the_mean() -> None:
    """As people write it in a spreadsheet; a query that is called so has other values."""
    assert read(b"question,f\na,0.2\nb,0.5\nMean,0.35\n").by_query("f") == {"a": 0.2, "b": 0.5}
    assert read(b"question,f\na,0.2\nb,0.5\nMean,0.9\n").by_query("f")["Mean"] == 0.9
    assert read(b"runid,topic,err@20\nx,1,0.25\nx,2,0.75\nx,amean,0.5\n")["err@20"].tolist() == [0.25, 0.75]
