"""Files as other tools write them: judgments, runs and texts come out, whatever the tool and the format."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged.errors import BadInput, JudgedError, Unreadable
from judged.io.layouts import LAYOUTS
from judged.io.read import holds_both, kind_of
from judged.io.texts import read_documents, read_queries

GOLDEN = Path(__file__).parents[1] / "golden" / "questions"
GARLIC, ROUX = "How is garlic bread made?", "What does a roux thicken?"
RAGAS = ["ragas_samples.jsonl", "ragas_samples.csv", "ragas_frame.json", "ragas_hf.parquet"]

JUDGED: dict[str, dict[str, dict[str, float]]] = {
    **{name: {GARLIC: {"node-1": 1.0}, ROUX: {"node-2": 1.0}} for name in RAGAS},
    "ragas_texts.jsonl": {
        GARLIC: {"garlic bread is toasted with butter and garlic": 1.0},
        ROUX: {"a roux thickens sauces and soups": 1.0},
    },
    "llamaindex_qa.json": {"q-1": {"node-1": 1.0}, "q-2": {"node-2": 1.0}},
    "quepid_basic.csv": {"star wars": {"11": 3.0, "12": 0.0}},
    "quepid_case.json": {"star wars": {"11": 3.0, "12": 0.0}},
    "quepid_rre.json": {"star wars": {"11": 3.0, "12": 0.0}},
    "quepid_book.json": {"star wars": {"11": 3.0, "12": 0.0}},
    "quepid_ltr.txt": {"1": {"11": 3.0, "12": 0.0}},
    "rank_eval.json": {
        "amsterdam_query": {"doc1": 0.0, "doc2": 3.0, "doc3": 1.0},
        "berlin_query": {"doc1": 1.0},
    },
    "opensearch_judgments.json": {
        "red dress": {"B077ZJXCTS": 0.0, "B071S6LTJJ": 3.0},
        "blue jeans": {"B07L9V4Y98": 2.0},
    },
}
"""The judgments in every file, read off by hand."""
RETRIEVED: dict[str, dict[str, list[str]]] = {
    **{name: {GARLIC: ["node-3", "node-1"], ROUX: ["node-2", "node-3"]} for name in RAGAS},
    "ragas_texts.jsonl": {
        GARLIC: ["bread rises with yeast", "garlic bread is toasted with butter and garlic"],
        ROUX: ["a roux thickens sauces and soups", "bread rises with yeast"],
    },
    "rank_eval_response.json": {"amsterdam_query": ["doc4", "doc2"], "berlin_query": ["doc1"]},
    "search.json": {"search": ["doc2", "doc1"]},
    "msearch.json": {"0": ["doc2"], "1": ["doc3", "doc1"]},
}
"""The results in every file, best first, read off by hand."""


def to_dict(judgments: judged.Judgments) -> dict[str, dict[str, float]]:
    """Return judgments as a dict of dicts."""
    found: dict[str, dict[str, float]] = {}
    for row in judgments.to_arrow().to_pylist():
        found.setdefault(row["query"], {})[row["document"]] = row["grade"]
    return found


def to_lists(run: judged.Run) -> dict[str, list[str]]:
    """Return the documents of each query, by score."""
    found: dict[str, list[str]] = {}
    for row in sorted(run.to_arrow().to_pylist(), key=lambda row: -row["score"]):
        found.setdefault(row["query"], []).append(row["document"])
    return found


@pytest.mark.parametrize("name", JUDGED)
def test_the_judgments_of_every_tool_are_read(name: str) -> None:
    """Each document with its grade, as one reads it in the file."""
    assert to_dict(judged.read_judgments(GOLDEN / name)) == JUDGED[name]
    assert to_dict(judged.read_judgments((GOLDEN / name).read_bytes())) == JUDGED[name]


@pytest.mark.parametrize("name", RETRIEVED)
def test_the_results_of_every_tool_are_read(name: str) -> None:
    """In the order in which they were returned."""
    run = judged.read_run(GOLDEN / name)

    assert to_lists(run) == RETRIEVED[name]
    assert run.to_arrow()["score"].null_count == 0


def test_every_file_is_expected_to_hold_something() -> None:
    """No fixture is without a line in the tables above, or in the tests of texts and of what is refused."""
    others = {"SOURCES.md", "ragas_hf.csv", "robust.topics", "covid.xml"}

    assert {path.name for path in GOLDEN.iterdir()} == {*JUDGED, *RETRIEVED, *others}
    assert {path.name for path in GOLDEN.iterdir()} - {"SOURCES.md"} == {
        word.strip("`,")
        for word in (GOLDEN / "SOURCES.md").read_text().split()
        if word.startswith("`") and "." in word
    } & {path.name for path in GOLDEN.iterdir()}


def test_every_layout_has_a_file() -> None:
    """A layout that no fixture is in would not be read by any test above."""
    import json

    values = [json.loads(path.read_text()) for path in GOLDEN.glob("*.json")]
    seen = {
        name
        for name in LAYOUTS
        for value in values
        if isinstance(value, dict) and LAYOUTS[name].recognises(value)
    }

    assert seen == set(LAYOUTS)


@pytest.mark.parametrize("name", [*JUDGED, *RETRIEVED])
def test_the_kind_of_a_file_is_known_unless_it_holds_both(name: str) -> None:
    """`judged convert` needs no `--kind` for them."""
    both = name in JUDGED and name in RETRIEVED

    assert kind_of(GOLDEN / name) == (None if both else "judgments" if name in JUDGED else "run")
    assert holds_both(GOLDEN / name) == both


@pytest.mark.parametrize("name", RAGAS)
def test_samples_are_scored_against_themselves(name: str) -> None:
    """Judgments and results are in one file: the relevant node is second for one question and first for the other."""
    evaluation = judged.evaluate(GOLDEN / name, GOLDEN / name, "RR R@1")

    assert evaluation.mean() == {"RR": 0.75, "R@1": 0.5}


def test_ids_on_one_side_and_texts_on_the_other_meet_by_texts() -> None:
    """Judgments without ids, a run with both; and the other way round."""
    texts, both = GOLDEN / "ragas_texts.jsonl", GOLDEN / "ragas_samples.jsonl"

    assert judged.evaluate(texts, both, "RR")["RR"] == 0.75
    assert judged.evaluate(both, texts, "RR")["RR"] == 0.75
    assert "documents are identified by their texts" in str(judged.evaluate(texts, both, "RR").notes)


def test_a_list_as_numpy_prints_it_is_refused() -> None:
    """Python would read `['a' 'b']` as the one text `ab`."""
    with pytest.raises(BadInput, match=r"retrieved_context_ids is .*NumPy prints a list"):
        judged.read_run(GOLDEN / "ragas_hf.csv")


def test_notes_say_what_was_assumed() -> None:
    """Grades, the ids of queries, unrated documents, and the names of queries that a response does not give."""
    assert judged.read_judgments(GOLDEN / "ragas_samples.jsonl").notes == (
        "the text of a query (`user_input`) is its id",
        "no column of grades: every listed document has grade 1",
    )
    assert judged.read_judgments(GOLDEN / "quepid_basic.csv").notes == ("2 rows without a rating: left out",)
    assert judged.read_judgments(GOLDEN / "quepid_case.json").notes == (
        "1 query without a listed document: not judged",
    )
    assert judged.read_run(GOLDEN / "search.json").notes == (
        "a search response does not name its query: it is called as the file",
    )


def test_queries_come_with_their_texts() -> None:
    """From question sets and QA datasets, by the ids that judgments have."""
    asked = {"q-1": GARLIC, "q-2": ROUX}

    assert judged.read_judgments(GOLDEN / "llamaindex_qa.json").query_texts == asked
    assert read_queries(GOLDEN / "llamaindex_qa.json") == asked
    assert read_documents(GOLDEN / "llamaindex_qa.json")["node-3"].text == "Bread rises with yeast."
    assert (
        judged.read_judgments(GOLDEN / "llamaindex_qa.json").texts["node-2"]
        == "A roux thickens sauces and soups."
    )
    for name in [*RAGAS, "ragas_texts.jsonl"]:
        assert read_queries(GOLDEN / name) == {GARLIC: GARLIC, ROUX: ROUX}


def test_topics_are_texts_of_queries() -> None:
    """The title of a topic in SGML, whose elements are not closed; the query of one in XML."""
    assert read_queries(GOLDEN / "robust.topics") == {
        "301": "International Organized Crime",
        "302": "Poliomyelitis",
    }
    assert read_queries(GOLDEN / "covid.xml") == {
        "1": "coronavirus origin",
        "2": "coronavirus response to weather changes",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<top>\n<num> Number: 1\n<narr> x\n</top>", "has <num>, <narr>, expected one of <title>"),
        (b"<topics><topic><title>x</title></topic></topics>", "has <title>, expected a number"),
        (b"<top></top>", "has nothing, expected a number and one of"),
    ],
)
def test_a_topic_that_lacks_something_is_named_with_what_it_has(
    tmp_path: Path, content: bytes, message: str
) -> None:
    """Its line, its elements, and those that are missing."""
    path = tmp_path / "topics.txt"
    path.write_bytes(content)

    with pytest.raises(JudgedError, match=message):
        read_queries(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"queries": {"q": "x"}, "relevant_docs": {"q": 3}}', "cannot be read as one"),
        (b'{"requests": [{"ratings": []}]}', "the key `id` is missing"),
        (
            b'{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "high"}]}]}',
            "could not convert",
        ),
        (
            b'{"query_doc_pairs": [{"query_text": "q", "doc_id": "d", "judgements": [{"rating": 3}, {"rating": 1}]}]}',
            "document `d` has the ratings 1, 3, expected one",
        ),
    ],
)
def test_a_layout_that_is_broken_is_refused_in_words(content: bytes, message: str) -> None:
    """What it looks like, and what is missing."""
    with pytest.raises(BadInput, match=message):
        judged.read_judgments(content)


def test_a_layout_without_the_table_says_what_it_holds() -> None:
    """A search response is not judgments, a QA dataset is not a run."""
    with pytest.raises(Unreadable, match="is a search response, which holds run, expected judgments"):
        judged.read_judgments(GOLDEN / "search.json")
    with pytest.raises(Unreadable, match="which holds judgments and queries and documents, expected run"):
        judged.read_run(GOLDEN / "llamaindex_qa.json")
    with pytest.raises(BadInput, match="response 0 holds an error"):
        judged.read_run(b'{"responses": [{"error": {"type": "x"}, "status": 404}]}')


def test_objects_in_memory_are_read_as_files_are() -> None:
    """A dict as `json.load` returns it."""
    import json

    for name in ("llamaindex_qa.json", "quepid_case.json", "rank_eval.json", "opensearch_judgments.json"):
        assert to_dict(judged.read_judgments(json.loads((GOLDEN / name).read_text()))) == JUDGED[name]
