"""Pools: documents of runs with their texts, and results of agents once for each task."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from judged.errors import BadInput, BadProtocol, UnknownName, Unreadable, Unusable
from judged.io.texts import Text, read_documents, read_queries
from judged.labels.pool import PoolOptions, build_pool
from judged.labels.task import Pool

RUN = b"q1 Q0 d1 1 3.0 x\nq1 Q0 d2 2 2.0 x\nq1 Q0 d3 3 1.0 x\nq2 Q0 d1 1 1.0 x\n"
QUERIES = {"q1": "first", "q2": "second"}
DOCS = {"d1": {"title": "One", "text": "1"}, "d2": "2", "d3": "3"}


def gather(source: Any, **given: Any) -> Pool:
    """Build the pool of a source; arguments that are no texts or judgments are options."""
    inputs = {name: given.pop(name) for name in ("queries", "documents", "judged") if name in given}
    return build_pool(source, **inputs, options=PoolOptions(**given))


def session(*searches: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A conversation in the plain form, with a step for each search."""
    steps = [
        {"searches": [{"query": f"s{n}", "tool": "web", "results": found}]}
        for n, found in enumerate(searches, 1)
    ]
    return {"conversation": "c1", "task": "t1", "turns": [{"iterations": steps}], **more}


def traces(tmp_path: Path, *sessions: dict[str, Any]) -> Path:
    """A file of conversations, one a line."""
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(conversation) + "\n" for conversation in sessions))
    return path


def test_a_run_is_labelled_with_its_texts() -> None:
    """Every document of every query, with title and text."""
    pool = gather(RUN, queries=QUERIES, documents=DOCS)

    assert (pool.column, pool.results) == ("grade", 4)
    assert [(item.query, item.title, item.text) for item in pool.items] == [
        ("first", "One", "1"),
        ("first", "", "2"),
        ("first", "", "3"),
        ("second", "One", "1"),
    ]
    assert pool.items[0].row == {"query": "q1", "document": "d1"}


def test_several_runs_are_one_pool() -> None:
    """A pair that both have is labelled once."""
    other = b"q1 Q0 d3 1 3.0 y\nq2 Q0 d2 1 1.0 y\n"
    pool = gather([RUN, other], queries=QUERIES, documents=DOCS)

    assert pool.results == 6
    assert [tuple(item.row.values()) for item in pool.items] == [
        ("q1", "d1"),
        ("q1", "d2"),
        ("q1", "d3"),
        ("q2", "d1"),
        ("q2", "d2"),
    ]


def test_an_open_file_is_read_once(tmp_path: Path) -> None:
    """It is read as a trace unless `kind` is given, because detection would consume it."""
    path = traces(tmp_path, session([{"id": "1", "title": "A"}]))
    (tmp_path / "some.run").write_bytes(RUN)

    with path.open("rb") as file:
        assert len(gather(file).items) == 1
    with (tmp_path / "some.run").open("rb") as file:
        assert len(gather(file, kind="run", queries=QUERIES, documents=DOCS).items) == 4


def test_several_traces_are_one_pool(tmp_path: Path) -> None:
    """What two systems found for one task is labelled once; runs and traces are not mixed."""
    page = {"url": "https://example.org/a", "title": "A"}
    path = traces(tmp_path, session([page]))
    (tmp_path / "other.jsonl").write_bytes(path.read_bytes())
    (tmp_path / "some.run").write_bytes(RUN)

    assert len(gather([path, tmp_path / "other.jsonl"]).items) == 1
    assert len(gather([session([page])]).items) == 1  # a trace in memory
    with pytest.raises(BadProtocol, match="runs and traces cannot be labelled together"):
        gather([path, tmp_path / "some.run"])


def test_a_log_in_words_is_no_run(tmp_path: Path) -> None:
    """Six words on a line are not six columns of a run."""
    log = tmp_path / "log.txt"
    log.write_text(
        "Question: What is the capital of France?\n"
        "Thought 1: I need to search France.\n"
        "Action 1: Search[France]\n"
        "Observation 1: France is a country in Western Europe. Its capital is Paris.\n"
    )

    assert gather(log).column == "gain"


def test_only_the_first_of_each_query_are_labelled_down_to_a_depth() -> None:
    """Depth 1: the best document of each query by score."""
    pool = gather(RUN, queries=QUERIES, documents=DOCS, depth=1)

    assert [item.row["document"] for item in pool.items] == ["d1", "d1"]


def test_what_is_judged_is_not_labelled_again() -> None:
    """Judged documents are left out and need no text."""
    pool = gather(RUN, queries={"q1": "first"}, documents=DOCS, judged=b"q1 0 d2 0\nq2 0 d1 -1\n")

    assert [item.row["document"] for item in pool.items] == ["d1", "d3"]
    assert pool.judged == 2


def test_missing_texts_are_listed_by_id() -> None:
    """Queries and documents in one error; with `lenient` they are counted."""
    with pytest.raises(Unusable) as caught:
        gather(RUN, queries={"q1": "first"}, documents={"d1": "1"})

    assert str(caught.value).splitlines()[:4] == [
        "run cannot be used: document-without-text (2), query-without-text (1)",
        "  query `q2`: is in the run but has no text",
        "  document `d2`: is in the run but has no text",
        "  document `d3`: is in the run but has no text",
    ]
    lenient = gather(RUN, queries={"q1": "first"}, documents={"d1": "1"}, lenient=True)
    assert len(lenient.items) == 1
    assert "left out: documents without a text (2)" in [note.message for note in lenient.notes]


def test_a_run_without_texts_is_refused() -> None:
    """Ids alone say nothing to a model."""
    with pytest.raises(
        BadProtocol, match="a run contains only ids, and the texts of its queries are missing"
    ):
        gather(RUN, documents=DOCS)


def test_a_result_of_agents_is_labelled_once_for_its_task(tmp_path: Path) -> None:
    """The same page, found by two systems and in two iterations, with tracking and another snippet."""
    page = {"url": "https://example.org/a", "title": "A", "snippet": "first"}
    again = {"url": "https://example.org/a?utm_source=openai", "title": "A", "snippet": "other"}
    other = {"url": "https://example.org/b", "title": "B", "snippet": "b"}
    path = traces(tmp_path, session([page, other], [again]), session([again], system="b", conversation="c2"))
    pool = gather(path)

    assert (pool.column, pool.results) == ("gain", 4)
    assert [item.row for item in pool.items] == [
        {
            "task": "t1",
            "url": "https://example.org/a",
            "title": "A",
            "snippet": "first",
            "intent_from": "search",
        },
        {"task": "t1", "url": "https://example.org/b", "title": "B", "snippet": "b", "intent_from": "search"},
    ]
    assert [item.query for item in pool.items] == ["s1", "s1"]


def test_two_tasks_label_the_same_result_each_for_itself(tmp_path: Path) -> None:
    """What is good for one question need not be for another."""
    page = {"url": "https://example.org/a", "title": "A"}
    pool = gather(traces(tmp_path, session([page]), session([page], task="t2", conversation="c2")))

    assert [item.row["task"] for item in pool.items] == ["t1", "t2"]


def test_the_question_goes_before_the_search_and_a_given_text_before_both(tmp_path: Path) -> None:
    """And the output says which of them was the intent."""
    asked = session([{"id": "1", "title": "A"}])
    asked["turns"][0]["user"] = "What is A?"
    path = traces(tmp_path, asked)
    by_question = gather(path).items[0]
    by_file = gather(path, queries={"t1": "Tell me of A"}).items[0]

    assert (by_question.query, by_question.row["intent_from"]) == ("What is A?", "question")
    assert (by_file.query, by_file.row["intent_from"]) == ("Tell me of A", "question")


def test_what_the_first_of_equal_results_lacks_comes_from_the_others(tmp_path: Path) -> None:
    """A bare URL first, then the same page with a title and a text."""
    bare, full = (
        {"url": "https://example.org/a"},
        {"url": "https://example.org/a", "title": "A", "snippet": "text"},
    )
    (item,) = gather(traces(tmp_path, session([bare], [full]))).items

    assert (item.title, item.text) == ("A", "text")


def test_results_with_a_gain_are_labelled_only_on_demand(tmp_path: Path) -> None:
    """By the trace itself or by a file of labels; `relabel` asks about those of the trace."""
    found = [
        {"id": "1", "title": "A", "gain": 3},
        {"id": "2", "title": "B"},
        {"url": "https://c.org", "title": "C"},
    ]
    path = traces(tmp_path, session(found))

    assert [item.row["title"] for item in gather(path).items] == ["B", "C"]
    assert [item.row["title"] for item in gather(path, relabel=True).items] == ["A", "B", "C"]
    judged = [{"task": "t1", "id": "2", "gain": 0}, {"url": "https://c.org/?utm_source=openai", "gain": 1}]
    assert gather(path, judged=judged).items == ()
    assert gather(path, judged=judged).judged == 3


def test_results_without_a_text_are_reported_with_their_place(tmp_path: Path) -> None:
    """A bare URL cannot be judged; a file of documents may have its text, and `lenient` counts it."""
    path = traces(tmp_path, session([{"id": "1"}, {"id": "2", "title": "B"}]))

    with pytest.raises(
        Unusable, match=r"traces.jsonl:1, session `c1`: result `1` has neither a title nor a snippet"
    ):
        gather(path)
    assert [item.text for item in gather(path, documents={"1": "one"}).items] == ["one", ""]
    lenient = gather(path, lenient=True)
    assert len(lenient.items) == 1
    assert [note.message for note in lenient.notes] == ["left out: results without a text (1)"]


WRITTEN = {
    "docs.jsonl": b'{"_id": "a", "title": "A", "text": "one"}\n\n{"_id": "b", "title": "", "text": "two"}\n',
    "docs.tsv": b"a\tA\tone\nb\t\ttwo\n",
    "docs.csv": b'docno,title,contents\na,A,one\nb,,"two"\n',
    "msmarco.tsv": b"a\thttps://a\tA\tone\nb\thttps://b\t\ttwo\n",
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("packed", [False, True])
def test_documents_are_read_from_what_collections_come_in(tmp_path: Path, name: str, packed: bool) -> None:
    """BEIR's JSONL, tables with and without a header, compressed or not; only what is wanted is kept."""
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(WRITTEN[name]) if packed else WRITTEN[name])

    assert read_documents(path, None) == {"a": Text("A", "one"), "b": Text("", "two")}
    assert read_documents(path, {"b"}) == {"b": Text("", "two")}


def test_documents_are_read_from_parquet(tmp_path: Path) -> None:
    """Columns by their names."""
    table = pa.table({"id": ["a", "b"], "title": ["A", None], "text": ["one", "two"], "other": [1, 2]})
    pyarrow.parquet.write_table(table, tmp_path / "docs.parquet")

    assert read_documents(tmp_path / "docs.parquet", {"a", "b"}) == {
        "a": Text("A", "one"),
        "b": Text("", "two"),
    }


@pytest.mark.parametrize(
    "text",
    [
        b"q1\twhat is it\n",
        b"query_id\tquery\nq1\twhat is it\n",
        b'{"qid": "q1", "query": "what is it"}',
        b"qid,text\nq1,what is it",
    ],
)
def test_queries_are_read_from_what_collections_come_in(tmp_path: Path, text: bytes) -> None:
    """Tables with and without a header, JSONL."""
    (tmp_path / "queries").write_bytes(text)

    assert read_queries(tmp_path / "queries") == {"q1": "what is it"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"_id": "a"}\n', ":1: has no text"),
        (b'{"_id": "a", "text": "x"}\n{"text": "x"}\n', ":2: has no id"),
        (b'{"_id": "a", "text": "x"}\n{"_id": \n', ":2: is not valid JSON"),
        (b'{"_id": "a", "text": "x"}\n[1]\n', ":2: is list, expected an object"),
        (b"a\tx\nb\n", ":2: 1 columns, expected 2"),
        (b"just one column\n", ":1: 1 tab-separated columns"),
        (b"id,text\na\n", ":2: 1 columns, expected 2"),
    ],
)
def test_texts_that_cannot_be_read_are_reported_with_their_line(
    tmp_path: Path, text: bytes, message: str
) -> None:
    """All problems are collected in one error."""
    (tmp_path / "docs").write_bytes(text)

    with pytest.raises(Unusable) as caught:
        read_documents(tmp_path / "docs", None)
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(Unreadable, match=r"absent.jsonl does not exist"):
        read_documents(tmp_path / "absent.jsonl", None)


def test_a_label_names_the_tool_of_its_id(tmp_path: Path) -> None:
    """Two tools that call different things `1` have a label each; what is known without a tool is of any."""
    web = {"id": "1", "title": "Page", "snippet": "of the web"}
    mail = {"id": "1", "title": "Mail", "snippet": "from somebody"}
    searches = [
        {"query": "s", "tool": tool, "results": [result]} for tool, result in (("web", web), ("mail", mail))
    ]
    trace = {"conversation": "c1", "task": "t1", "turns": [{"iterations": [{"searches": searches}]}]}
    path = traces(tmp_path, trace)

    assert [(item.row["id"], item.row["tool"]) for item in gather(path).items] == [
        ("1", "web"),
        ("1", "mail"),
    ]
    known = [{"task": "t1", "id": "1", "tool": "web", "gain": 2}]
    assert [item.row["tool"] for item in gather(path, judged=known).items] == ["mail"]
    assert not gather(path, judged={"t1": {"1": 2}}).items


def test_a_blank_text_is_none(tmp_path: Path) -> None:
    """White space is not paid for: it is refused, or left out and counted."""
    with pytest.raises(Unusable, match="document `b`: is in the run but has no text"):
        gather({"q": ["a", "b"]}, queries={"q": "x"}, documents={"a": "text", "b": " \n"})
    (tmp_path / "docs").write_text('{"_id": "a", "text": "x"}\n{"_id": "b", "title": "", "text": ""}\n')
    pool = gather({"q": ["a", "b"]}, queries={"q": "x"}, documents=tmp_path / "docs", lenient=True)
    blank = traces(tmp_path, session([{"id": "d", "title": "", "snippet": "  "}]))

    assert [item.row["document"] for item in pool.items] == ["a"]
    assert [note.message for note in pool.notes] == ["left out: documents without a text (1)"]
    with pytest.raises(Unusable, match="has neither a title nor a snippet"):
        gather(blank)


def test_two_texts_of_one_id_are_refused(tmp_path: Path) -> None:
    """It is unknown which was retrieved; with `lenient` the first counts. The same text twice is no problem."""
    (tmp_path / "docs").write_text("a\tone\nb\tx\nb\tx\na\ttwo\n")

    with pytest.raises(Unusable, match=r":4: `a` has another text than before"):
        read_documents(tmp_path / "docs", None)
    assert read_documents(tmp_path / "docs", None, lenient=True)["a"].text == "one"


def test_the_turn_that_counts_may_be_the_last_with_a_search(tmp_path: Path) -> None:
    """As `judged sessions` has it, so that labels and scores speak of the same results."""
    talk = session([{"id": "1", "title": "A"}])
    talk["turns"].append({"user": "Thanks", "iterations": []})
    path = traces(tmp_path, talk)

    with pytest.raises(BadInput, match="searched in an earlier turn"):
        gather(path)
    assert [item.row["id"] for item in gather(path, turn="last-with-search").items] == ["1"]


def test_the_format_of_a_trace_may_be_given(tmp_path: Path) -> None:
    """A named format is not detected, and an unknown one is an error."""
    path = traces(tmp_path, session([{"id": "1", "title": "A"}]))

    assert [item.row["id"] for item in gather(path, format="plain").items] == ["1"]
    with pytest.raises(UnknownName, match="no trace format is called `jugded`"):
        gather(path, format="jugded")


def test_texts_may_be_data_frames_or_rows() -> None:
    """Like every other table."""
    frame = pa.table({"docno": ["a", "b"], "title": ["A", ""], "body": ["one", "two"]})

    assert read_documents(frame, {"a"}) == {"a": Text("A", "one")}
    assert read_queries([{"qid": "q1", "text": "what is it"}]) == {"q1": "what is it"}
