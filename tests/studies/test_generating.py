"""Answers that systems write: citations, Responses, scores beside those of retrieval, and models that fail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.answers import evaluate_answers, read_responses
from judged.errors import JudgedError
from judged.studies.running.run import run_study
from judged.studies.specification import read_study
from judged.studies.stages.generators import clean_citations
from support.json_server import Asked, JsonServer, Reply, run_server
from support.studies import QUERIES

pytest.importorskip("httpx2", reason="the extra `label` is not installed")
pytest.importorskip("bm25s")

WORDS = {"name": "words", "search": "bm25"}


@pytest.fixture(autouse=True)
def _desk(desk: Path) -> None:
    """Every test has the small collection."""


def say(content: str | None, **more: Any) -> Reply:
    """Return a reply of the protocol, with its tokens."""
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop", **more}
    return Reply(
        {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 200, "completion_tokens": 40}}
    )


def read_passages(asked: Asked) -> list[str]:
    """Return the passages of a request, in their order."""
    content = asked.body["messages"][-1]["content"]
    return re.findall(r"<passage-\w+ number=\d+>\n(.*?)\n</passage", content, re.DOTALL)


def read_question(asked: Asked) -> str:
    """Return the question of a request."""
    found = re.search(r"<question-\w+>\n(.*)\n</question", asked.body["messages"][-1]["content"])
    assert found is not None
    return found[1]


def quote(asked: Asked) -> Reply:
    """Answer with the first two passages, each cited, and a sentence without a source."""
    some = [passage.splitlines()[-1].rstrip(".") for passage in read_passages(asked)[:2]]
    return say(" ".join(f"{text} [{number}]." for number, text in enumerate(some, 1)) + " That is all.")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    """A model that quotes, until a test says otherwise; nobody waits between attempts."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.01)
    with run_server(quote) as running:
        yield running


def write(server: JsonServer, **settings: Any) -> dict[str, Any]:
    """A generator of the server."""
    return {"type": "llm", "model": "m", "url": server.address, "timeout": 5, "attempts": 2, **settings}


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the small collection."""
    return {"collection": "pets", "systems": list(systems), "measures": ["nDCG@5", "RR"], **settings}


def test_answers_cite_the_passages_that_were_found(desk: Path, server: JsonServer) -> None:
    """The documents of the marks, sentence by sentence; the passages are the first results, in order."""
    found = run_study(study({**WORDS, "generate": write(server, passages=3)}), output=desk / "out")
    run = [line.split() for line in (desk / "out" / "runs" / "words.run").read_text().splitlines()]
    assert found.responses is not None
    answers = found.responses.answers

    assert {query for query, _, _ in answers} == set(QUERIES)
    for (query, system, _), parts in answers.items():
        ranked = [line[2] for line in run if line[0] == query]
        cited = [document for part in parts for document in part.citations]
        assert system == "words"
        assert cited == ranked[: len(cited)]
        assert parts[-1].text == "That is all."
        assert parts[-1].citations == ()
    for asked in server.asked:
        query = next(query for query, text in QUERIES.items() if text == read_question(asked))
        assert len(read_passages(asked)) == min(3, sum(line[0] == query for line in run))
    sent = next(asked for asked in server.asked if read_question(asked) == "night sky")
    assert read_passages(sent)[0].startswith("Stars\n")
    # nobody paid for the words of a passage twice: one request of each query, and the warm-up
    assert len(server.asked) <= len(QUERIES) + 3


def test_retrieval_and_answers_are_in_one_table(desk: Path, server: JsonServer) -> None:
    """With scores by references, the same as those of `evaluate_answers` on the file that is written."""
    (desk / "references.csv").write_text("query,answer\nq1,cats\nq4,Stars shine\nq2,a dragon\n")
    systems = [
        {**WORDS, "generate": write(server, passages=1)},
        {**WORDS, "name": "deep", "generate": write(server, passages=4)},
        {**WORDS, "name": "silent"},
    ]
    content = study(
        *systems, baseline="words", answers={"references": "references.csv"}, prices={"m": {"in": 1}}
    )
    found = run_study(content, output=desk / "out")
    from judged.studies.outcome.folder import write_study
    from judged.studies.running.run import open_study

    write_study(found, open_study(content, desk / "out"))
    again = evaluate_answers(desk / "out" / "responses.jsonl", references=desk / "references.csv")
    header = str(found).split("\n\n")[3]
    rows = {row["system"]: row for row in found.rows("systems")}

    assert found.answers is not None
    for name in ("words", "deep"):
        for measure in ("Contains", "TokenF1", "Words"):
            assert rows[name][measure] == pytest.approx(again[name].mean()[measure])
        assert rows[name]["generation_tokens_out"] == 40
    assert rows["silent"]["Contains"] is None
    assert rows["silent"]["generation_tokens_out"] is None
    assert all(word in header for word in ("nDCG@5", "Contains", "mean ms"))
    assert {"answers.csv", "responses.jsonl", "costs.csv"} <= {path.name for path in (desk / "out").iterdir()}
    assert found.answers.comparison is not None
    loaded = judged.load(desk / "out" / "study.json")
    assert loaded.answers["deep"].mean() == found.answers["deep"].mean()  # type: ignore[attr-defined]
    assert (desk / "out" / "report.html").stat().st_size > 10_000


def test_passages_of_chunks_are_given_and_documents_cited(desk: Path, server: JsonServer) -> None:
    """A system with chunks answers from these, and cites the documents that they are of."""
    found = run_study(study({**WORDS, "chunk": 4, "generate": write(server)}), output=desk / "out")
    assert found.responses is not None
    texts = [row["_id"] for row in map(json.loads, (desk / "pets" / "corpus.jsonl").read_text().splitlines())]

    assert {document for part in found.responses for document in part.citations} <= set(texts)
    assert all(len(passage.split()) <= 4 for asked in server.asked for passage in read_passages(asked))


def test_numbers_of_no_passage_are_taken_out(server: JsonServer) -> None:
    """A model that cites what it was not given is caught, and the answers count."""
    server.answer = lambda _: say("Cats purr [1, 9]. Bats fly [77].")
    found = run_study(study({**WORDS, "generate": write(server)}))
    assert found.responses is not None

    assert {part.text for part in found.responses} == {"Cats purr.", "Bats fly."}
    assert all(len(part.citations) == (part.part == 1) for part in found.responses)
    assert any("6 of 6 answers cited passages that were not given" in note.message for note in found.notes)


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "[1]", "[", "{", "```json\n{}\n```", "\x00 a", "<script>", "x" * 50_000]
)
def test_any_text_is_an_answer(desk: Path, server: JsonServer, text: str) -> None:
    """What looks like data is text; files that are written can be read again."""
    server.answer = lambda _: say(text)
    content = study({**WORDS, "generate": write(server)}, {**WORDS, "name": "b"})
    found = run_study(content, output=desk / "out")
    from judged.studies.outcome.responses import write_responses

    assert not found.failures
    assert found.responses is not None
    write_responses(found.responses, desk / "responses.jsonl")
    again = read_responses(desk / "responses.jsonl")
    assert len(again.answers) == len(QUERIES)


def test_a_skipped_query_is_answered_without_passages(server: JsonServer) -> None:
    """As a gate does it; what would have been found is not paid for."""
    skip = {"type": "pattern", "skip": "^night"}
    found = run_study(study({**WORDS, "skip": skip, "generate": write(server)}, warmup=0))
    asked = [one for one in server.asked if read_question(one) == "night sky"]

    assert not found.failures
    assert len(asked) == 1
    assert read_passages(asked[0]) == []


def test_a_function_writes_answers(desk: Path) -> None:
    """From the question and the passages with their ids; another type is an error that names it."""
    (desk / "writers.py").write_text(
        "def first(question, passages):\n    return f'{passages[0][\"text\"].splitlines()[0]} [1].'\n"
        "def bad(question, passages):\n    return None\n"
    )
    systems = [
        {**WORDS, "name": name, "generate": {"type": "function", "function": f"writers:{name}"}}
        for name in ("first", "bad")
    ]
    found = run_study(study(*systems))
    assert found.responses is not None

    assert {part.citations[0] for part in found.responses if part.query == "q4"} == {"d3"}
    assert "returned NoneType, expected the text of an answer" in found.failures["bad"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Reply({"error": {"message": "slow down"}}, status=429), "429"),
        (Reply({"error": {"message": "broken"}}, status=500), "500"),
        (Reply(b"<html>gateway</html>"), "something other than JSON"),
        (Reply(b"late", delay=1.0), "timeout after 0.3 s"),
    ],
    ids=["429", "500", "malformed", "slow"],
)
def test_one_query_in_six_fails(server: JsonServer, bad: Reply, reason: str) -> None:
    """It is listed, scored without results and with an empty answer, and retried by the next run."""
    server.answer = lambda asked: bad if read_question(asked) == "night sky" else quote(asked)
    settings = write(server, timeout=0.3, attempts=1)
    found = run_study(study({**WORDS, "generate": settings}, on_error="empty", warmup=1))
    (failed,) = found.failed_queries
    assert found.responses is not None
    assert found.answers is not None

    assert failed.query == "q4"
    assert reason in failed.error
    assert [part.text for part in found.responses if part.query == "q4"] == [""]
    assert found.answers["words"].mean()["Answered"] == pytest.approx(5 / 6)


def test_an_empty_reply_is_an_empty_answer(server: JsonServer) -> None:
    """Once the model has shown that it can answer; it is counted."""
    server.answer = lambda asked: say("" if read_question(asked) == "night sky" else "Cats purr [1].")
    found = run_study(study({**WORDS, "generate": write(server)}))

    assert found.answers is not None
    assert found.answers["words"].mean()["Answered"] == pytest.approx(5 / 6)
    assert any("1 of 6 answers had no text" in note.message for note in found.notes)


def test_a_part_of_another_system_writes_nothing(server: JsonServer) -> None:
    """A fusion of a system that writes answers does not pay for them."""
    writing = {**WORDS, "generate": write(server)}
    hybrid = {"name": "both", "fuse": {"of": ["words", "other"]}}
    run_study(study(writing, {**WORDS, "name": "other"}, hybrid, warmup=0))

    assert len(server.asked) == len(QUERIES)


def test_settings_that_make_no_sense_are_refused(desk: Path) -> None:
    """Scores of answers that nobody writes; an instruction without passages; texts that are not there."""
    with pytest.raises(JudgedError, match="no system writes answers"):
        read_study(study(WORDS, answers={"measures": ["Words"]}))
    with pytest.raises(JudgedError, match=r"has no `\{passages\}`"):
        read_study(study({**WORDS, "generate": {"type": "llm", "model": "m", "instruction": "{query}"}}))
    only = {"judgments": "pets/qrels/test.tsv", "queries": "pets/queries.jsonl"}
    (desk / "found.py").write_text("def find(query):\n    return ['d1']\n")
    system = {"name": "own", "retriever": "found:find", "generate": {"type": "llm", "model": "m"}}
    with pytest.raises(JudgedError, match=r"systems\[0\].generate"):
        read_study(study(system, collection=only))


def test_marks_are_read_as_answers_read_them() -> None:
    """Every mark that is left names a passage for `read_responses`, and those that are taken out leave no blanks."""
    clean, invented = clean_citations("A [1][ 2 ]. B [3;4]  [0]. C[2].", 3)

    assert clean == "A [1][2]. B [3] . C[2]."
    assert invented == [4, 0]
    rows = [{"query": "q", "system": "s", "answer": clean, "references": ["a", "b", "c"]}]
    assert [part.citations for part in read_responses(rows)] == [("a", "b"), ("c",), ("b",)]
