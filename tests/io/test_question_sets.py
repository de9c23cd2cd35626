"""Question sets: every way to write the same questions gives the same table, and what is not certain is refused."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

import judged
from judged.errors import BadInput, JudgedError

JSONL = b'{"question": "who?", "expected_passages": ["p1", "p2"]}\n{"question": "why?", "expected_passages": ["p3"]}\n'


def rows(source: Any, **how: Any) -> list[tuple[str, str, float]]:
    """Return the judgments of a source, row by row."""
    table = judged.read_judgments(source, **how).to_arrow()
    return [(row["query"], row["document"], row["grade"]) for row in table.to_pylist()]


def ranked(source: Any, **how: Any) -> list[tuple[str, str, float]]:
    """Return the results of a source, row by row."""
    table = judged.read_run(source, **how).to_arrow()
    return [(row["query"], row["document"], row["score"]) for row in table.to_pylist()]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b'{"query": "q", "relevant": ["a", "b"]}\n', [("q", "a", 1.0), ("q", "b", 1.0)]),
        (JSONL, [("who?", "p1", 1.0), ("who?", "p2", 1.0), ("why?", "p3", 1.0)]),
        (b'[{"id": 7, "question": "who?", "relevant_ids": ["a"]}]', [("7", "a", 1.0)]),
        (b'[{"query": "q", "relevant": {"a": 2, "b": 0}}]', [("q", "a", 2.0), ("q", "b", 0.0)]),
        (b'[{"query": "q", "relevant": [{"id": "a", "grade": 3}, {"id": "b", "grade": 1}]}]', [("q", "a", 3.0), ("q", "b", 1.0)]),
        (b'[{"query": "q", "relevant": [["a", 3], ["b", 1]]}]', [("q", "a", 3.0), ("q", "b", 1.0)]),
        (b'[{"query": "q", "document": ["a", "b"], "grade": [3, 1]}]', [("q", "a", 3.0), ("q", "b", 1.0)]),
        (b'[{"query": "q", "relevant": ["a"], "grade": 2}]', [("q", "a", 2.0)]),
        (b"query,passage_id\nq,a\nq,b\n", [("q", "a", 1.0), ("q", "b", 1.0)]),
        (b"question,expected_passage_id\nwho?,a\n", [("who?", "a", 1.0)]),
        (b"query,product_id,rating\nq,a,2\n", [("q", "a", 2.0)]),
        (b"query,chunk_id,rating\nq,a,2\n", [("q", "a", 2.0)]),
        (b"query,_id,rating\nq,a,2\n", [("q", "a", 2.0)]),
        (b"query,doc,rating\nq,a,2\n", [("q", "a", 2.0)]),
        (b"query-id\tcorpus-id\tscore\nq\ta\t2\n", [("q", "a", 2.0)]),
        (b"Query ID , Document ID , Relevance\nq,a,2\n", [("q", "a", 2.0)]),
        (b"Question;Expected Passage\nwho?;a\n", [("who?", "a", 1.0)]),
        (b'[{"queryId": "q", "relevantIds": ["a"]}]', [("q", "a", 1.0)]),
        (b"query,document,relevant\nq,a,true\nq,b,no\n", [("q", "a", 1.0), ("q", "b", 0.0)]),
        (b"query,document,is_relevant\nq,a,1\nq,b,0\n", [("q", "a", 1.0), ("q", "b", 0.0)]),
        (b"query,document,label\nq,a,relevant\nq,b,not relevant\n", [("q", "a", 1.0), ("q", "b", 0.0)]),
        (b'[{"query": "q", "document": "a", "relevant": false}]', [("q", "a", 0.0)]),
        (b'{"version": 2, "questions": [{"query": "q", "relevant": ["a"]}]}', [("q", "a", 1.0)]),
        (b'{"question": ["who?", "why?"], "relevant_ids": [["a"], ["b", "c"]]}',
         [("who?", "a", 1.0), ("why?", "b", 1.0), ("why?", "c", 1.0)]),
        (b'{"question": {"0": "who?", "1": "why?"}, "doc_id": {"0": "a", "1": "b"}}', [("who?", "a", 1.0), ("why?", "b", 1.0)]),
        (b'{"who?": {"relevant": {"a": 3}}, "why?": {"relevant": {"b": 2}}}', [("who?", "a", 3.0), ("why?", "b", 2.0)]),
        (b'{"who?": {"relevant": ["a"]}, "why?": {"relevant": ["b"]}}', [("who?", "a", 1.0), ("why?", "b", 1.0)]),
        (b'{"relevant_docs": {"q": ["a"]}}', [("q", "a", 1.0)]),
        (b"query_id,query,product_id,esci_label\n1,x,a,E\n1,x,b,S\n1,x,c,C\n1,x,d,I\n",
         [("1", "a", 1.0), ("1", "b", 0.1), ("1", "c", 0.01), ("1", "d", 0.0)]),
    ],
)  # fmt: skip
def test_every_way_to_write_questions_is_read(source: bytes, expected: list[tuple[str, str, float]]) -> None:
    """Documents by id, with their grades, or with grade 1."""
    assert rows(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b'{"query": "q", "retrieved": ["a", "b"]}\n', [("q", "a", -1.0), ("q", "b", -2.0)]),
        (b'{"question": "who?", "retrieved_ids": ["a"]}\n', [("who?", "a", -1.0)]),
        (b'[{"query": "q", "hits": [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]}]', [("q", "a", 2.0), ("q", "b", 1.0)]),
        (b'[{"query": "q", "ctxs": [{"id": "a", "text": "x", "score": "2.5"}]}]', [("q", "a", 2.5)]),
        # distances rise along the list: its order counts
        (b'[{"query": "q", "retrieved": [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.4}]}]', [("q", "a", -1.0), ("q", "b", -2.0)]),
    ],
)  # fmt: skip
def test_lists_of_results_are_runs(source: bytes, expected: list[tuple[str, str, float]]) -> None:
    """By their scores where these fall, else by position."""
    assert ranked(source) == expected


def test_records_may_use_different_names() -> None:
    """As ragas leaves out what a sample does not have, and as people write: the first record does not decide."""
    content = (
        b'{"id": "q1", "question": "who?", "relevant_ids": ["a"]}\n'
        b'{"id": "q2", "question": "why?", "relevant": [{"id": "b"}]}\n'
        b'{"id": "q3", "question": "how?", "document": "c"}\n'
    )
    judgments = judged.read_judgments(content)

    assert judgments.documents == ["a", "b", "c"]
    assert judgments.query_texts == {"q1": "who?", "q2": "why?", "q3": "how?"}
    assert judgments.notes == ("no column of grades: every listed document has grade 1",)


def test_some_documents_with_a_grade_and_some_without_are_refused() -> None:
    """The others may be relevant or not."""
    with pytest.raises(BadInput, match="bytes:1: grade is missing"):
        judged.read_judgments(
            b'{"query": "q1", "relevant": ["a"]}\n{"query": "q2", "relevant": [{"id": "b", "grade": 2}]}\n'
        )


def test_a_query_without_results_is_in_the_run() -> None:
    """It scores 0, as a query that a system answered with nothing; a question without documents is not judged."""
    run = b'{"query": "q1", "retrieved": ["a"]}\n{"query": "q2", "retrieved": []}\n'
    evaluation = judged.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, run, "RR")

    assert evaluation["RR"] == 0.5
    assert "1 query of the run without any result" in str(evaluation.notes)
    assert judged.read_judgments(
        b'[{"query": "q1", "relevant": ["a"]}, {"query": "q2", "relevant": []}]'
    ).notes[0] == ("1 query without a listed document: not judged")


TEXT = "Bread rises, because yeast makes gas."


@pytest.mark.parametrize(
    "value",
    [[TEXT], [{"text": TEXT}], [{"page_content": TEXT, "metadata": {}}], TEXT],
    ids=["text", "object", "langchain", "bare"],
)
@pytest.mark.parametrize("name", ["expected_passages", "reference_contexts", "gold_context"])
def test_texts_stand_in_for_ids(name: str, value: Any) -> None:
    """They match whatever their case, white space and punctuation."""
    judgments = json.dumps([{"question": "why?", name: value}]).encode()
    run = b'[{"question": "why?", "retrieved_contexts": ["something else entirely", "bread rises BECAUSE\\u00a0yeast makes gas"]}]'

    assert rows(judgments) == [("why?", "bread rises because yeast makes gas", 1.0)]
    assert judged.evaluate(judgments, run, "RR")["RR"] == 0.5


def test_texts_that_match_nothing_are_refused() -> None:
    """With an example of each side, rather than a score of 0 for everything."""
    judgments = [{"question": "why?", "reference_contexts": [TEXT]}]
    run = [{"question": "why?", "retrieved_contexts": ["bread rises"]}]

    with pytest.raises(
        BadInput, match="none of the 1 judged texts is among the texts of run; judged, for example"
    ):
        judged.evaluate(judgments, run, "RR")


def test_texts_against_ids_are_refused() -> None:
    """There is nothing by which they could be matched."""
    with pytest.raises(
        BadInput, match="the documents of the judgments are texts without ids, and the run has ids"
    ):
        judged.evaluate([{"question": "why?", "reference_contexts": [TEXT]}], {"why?": {"a": 1.0}}, "RR")


def test_a_text_that_is_repeated_counts_once() -> None:
    """The first of equal results; of a text with two grades neither."""
    run = judged.read_run([{"question": "q", "retrieved_contexts": ["One two!", "three", "one two"]}])

    assert run.to_arrow()["document"].to_pylist() == ["one two", "three"]
    assert run.notes[-1] == "1 result repeats a text of the same query: the first counts"
    with pytest.raises(BadInput, match="document `one two` is judged again"):
        judged.read_judgments([{"query": "q", "reference_contexts": [["One two!", 2], ["one two", 0]]}])


REFUSED = {
    "two grades": (b"query,document,relevance,label\nq,d,1,2\n", "`relevance` and `label` could each be the grade"),
    "topic or question": (
        b"question,topic,passage_id\nwho?,art,a\nwhy?,art,b\n",
        "`topic` and `question` could each be the query",
    ),
    "a run's score": (b"query,document,score\nq,d,1\n", "`score` belongs to a run, and there is no column of grades"),
    "a score of another name": (
        b"query,document,reranker_score\nq,d,0.25\n", "`reranker_score` belongs to a run, and there is no column of grades"
    ),
    "an id of a question or a text": (
        b"id,question,context\n1,who?,a text of some words\n", "`id` could be the id of the query or of the document"
    ),
    "a file of questions": (b'[{"id": 1, "question": "who?"}]', "`id` could be the id of the query or of the document"),
    "two columns of one name": (b"query,document,document,grade\nq,a,b,1\n", "two columns are called `document`"),
    "a rank": (b"query,document,rank\nq,d,1\n", "`rank` belongs to a run"),
    "a grade of another name": (b"query,document,relevanz\nq,a,1\nq,b,0\n", "`relevanz` might be one"),
    "answers": (b"query,document,ok\nq,a,yes\nq,b,no\n", "`ok` might be one"),
    "flags": (b'[{"query": "q", "document": "a", "fits": false}]', "`fits` might be one"),
    "ids or texts": (b'[{"query": "q", "relevant": ["one two three", "a"]}]', "may hold ids or texts, such as 'one two three'"),
    "lists of two lengths": (b'[{"query": "q", "document": ["a", "b"], "grade": [1]}]', "2 values of the document and 1 values"),
    "an object of other keys": (b'[{"query": "q", "relevant": [{"url": "x"}]}]', "with the keys `url`, expected an id or a text"),
    "a list of nulls": (b'[{"query": "q", "relevant": [null]}]', "lists null"),
    "a fraction in BEIR's layout": (b"query-id,corpus-id,score\nq,d,0.75\n", "score is 0.75, expected a whole number"),
    "all ids null": (b'[{"query": "q", "document": null, "grade": 1}]', "document is missing, expected text or a whole number"),
    "a text without words": (b'[{"query": "q", "reference_contexts": ["!!"]}]', "text is '!!', expected words"),
    "an unknown label": (b"query,product_id,esci_label\nq,a,X\n", "grade is 'X'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_certain_is_refused(case: str) -> None:
    """Both readings are named, and the hint says how to choose."""
    content, message = REFUSED[case]

    with pytest.raises(JudgedError) as caught:
        judged.read_judgments(content)
    assert message in str(caught.value)
    if (
        "could each be" in message
        or "might be one" in message
        or "belongs" in message
        or "could be the id" in message
        or "ids or texts" in message
    ):
        assert "judged.read_judgments(…, map={" in (caught.value.hint or "")


def test_a_mapping_settles_what_is_not_certain() -> None:
    """Each refusal above has a way out."""
    assert rows(b"query,document,relevance,label\nq,d,1,2\n", map={"grade": "label"}) == [("q", "d", 2.0)]
    assert rows(b"query,document,score\nq,d,0.5\n", map={"grade": "score"}) == [("q", "d", 0.5)]
    assert rows(b"query,document,page\nq,d,7\n", map={"grade": ""}) == [("q", "d", 1.0)]
    topics = b"question,topic,passage_id\nwho?,art,a\nwhy?,art,b\n"
    assert rows(topics, map={"query": "question"}) == [("who?", "a", 1.0), ("why?", "b", 1.0)]
    asked = b"id,question,context\n1,who?,A text!\n"
    assert rows(asked, map={"query": "id"}) == [("1", "a text", 1.0)]
    assert rows(asked, map={"document": "id"}) == [("who?", "1", 1.0)]
    titles = b'[{"query": "q", "relevant": ["one two three", "a"]}]'
    assert sorted(rows(titles, map={"document": "relevant"})) == [
        ("q", "a", 1.0),
        ("q", "one two three", 1.0),
    ]
    assert rows(titles, map={"text": "relevant"})[0][1] == "one two three"


def test_decimal_commas_are_refused_with_a_hint() -> None:
    """In both ways in which spreadsheets write them."""
    for content in (b"query;document;score\nq;d;0,5\n", b"query,document,score\nq,d,0,5\n"):
        with pytest.raises(BadInput, match="decimal comma are not read"):
            judged.read_run(content)


names = st.text("abcdé", min_size=1, max_size=3)
questions = st.dictionaries(
    names.map(lambda name: f"what is {name}?"),
    st.dictionaries(names, st.integers(0, 3), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def write_csv(table: list[dict[str, Any]]) -> bytes:
    """Return records as CSV, lists as JSON."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(table[0]))
    writer.writeheader()
    writer.writerows(
        {key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()}
        for row in table
    )
    return out.getvalue().encode()


def write_parquet(table: list[dict[str, Any]]) -> bytes:
    """Return records as Parquet, lists as lists."""
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pylist(table), sink)
    return sink.getvalue()


@given(judged_set=questions)
def test_every_reader_gives_the_same_judgments(judged_set: dict[str, dict[str, int]]) -> None:
    """Lists of ids with grades next to them, of objects, of pairs, dicts, and flat rows, in every format."""
    expected = sorted(
        (query, document, float(grade))
        for query, inner in judged_set.items()
        for document, grade in inner.items()
    )
    flat = [{"question": query, "doc_id": document, "grade": grade} for query, document, grade in expected]
    parallel = [
        {"question": query, "relevant_ids": list(inner), "grade": list(inner.values())}
        for query, inner in judged_set.items()
    ]
    objects = [
        {
            "question": query,
            "relevant": [{"id": document, "rating": grade} for document, grade in inner.items()],
        }
        for query, inner in judged_set.items()
    ]
    dataset = {
        "queries": {query: query for query in judged_set},
        "corpus": {},
        "relevant_docs": judged_set,
        "mode": "text",
    }
    lines = ["\n".join(json.dumps(row) for row in table).encode() for table in (flat, parallel, objects)]
    sources: list[Any] = [
        *(flat, parallel, objects, dataset),
        *lines,
        *(json.dumps(value).encode() for value in (flat, parallel, objects, dataset)),
        *(write_csv(table) for table in (flat, parallel)),
        *(write_parquet(table) for table in (flat, parallel, objects)),
        *(pa.Table.from_pylist(table) for table in (flat, parallel, objects)),
    ]
    for source in sources:
        assert sorted(rows(source)) == expected


@given(
    listed=st.dictionaries(
        names, st.lists(names, min_size=1, max_size=4, unique=True), min_size=1, max_size=4
    )
)
def test_every_reader_gives_the_same_run(listed: dict[str, list[str]]) -> None:
    """Lists of ids, of objects and of pairs, in every format, in their order; as a dict of lists is read."""
    expected = sorted(ranked(listed))
    ids = [{"query": query, "retrieved_ids": documents} for query, documents in listed.items()]
    objects = [
        {"query": query, "retrieved": [{"id": document} for document in documents]}
        for query, documents in listed.items()
    ]
    sources: list[Any] = [ids, objects, write_csv(ids), *(write_parquet(table) for table in (ids, objects))]
    sources += [json.dumps(value).encode() for value in (ids, objects)]
    for source in sources:
        assert sorted(ranked(source)) == expected


@pytest.mark.parametrize(
    "cell", ["cancel.md;billing.md", "cancel.md|billing.md", '"cancel.md, billing.md"', "d1 d2"]
)
@pytest.mark.parametrize("column", ["relevant_docs", "expected_docs", "doc_ids"])
def test_several_ids_in_a_cell_are_not_taken_as_one(cell: str, column: str) -> None:
    """The file does not say whether the separator belongs to an id, under names that may hold texts as well."""
    data = f"id,question,{column}\nq1,price?,pricing.md\nq2,refunds?,{cell}\n".encode()

    with pytest.raises(
        BadInput, match='expected a list as JSON writes it, such as \\["a", "b"\\], or one id'
    ):
        judged.read_judgments(data)
