"""Labels of answers by a model: from judged documents to nuggets, assignments, support, claims, and their scores."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judged
from judged.answers.tasks import pool_assignments, pool_nuggets
from judged.cli.main import judged as program
from judged.errors import JudgedError
from judged.labels.prompt import read_prompt
from labels.server import Request, Response, Server, completion

Run = Callable[..., Result]
ANSWERS = [
    {
        "query": "q1",
        "system": "gpt-5-mini-rag",
        "answer": "Cats purr [1]. Dogs bark [2].",
        "references": ["d1", "d2"],
    },
    {"query": "q1", "system": "short", "answer": "Cats purr [1].", "references": ["d1"]},
]
FACTS = ("Cats purr.", "Dogs bark.", "Fish swim.")


def answer(request: Request) -> Response:
    """Answer each task as the words of the texts say: what occurs is supported and entailed."""
    asked = request.asked

    def inside(tag: str) -> str:
        found = re.search(rf"<({tag}[\w-]*)>\n(.*?)\n</\1>", asked, re.DOTALL)
        return found[2] if found else ""

    def numbered(tag: str) -> list[tuple[str, str]]:
        return re.findall(r"^\W*(\d+)\W+(.*?)\W*$", inside(tag), re.MULTILINE)

    if "List the facts" in asked:
        facts = [
            {"text": fact, "importance": "vital" if "Cats" in fact else "okay"}
            for fact in FACTS
            if fact[:4] in inside("documents")
        ]
        return completion(json.dumps({"nuggets": facts}))
    if "numbered list of facts" in asked:
        text = inside("answer")
        return completion(
            json.dumps(
                {
                    number: "support" if fact[:4] in text else "not_support"
                    for number, fact in numbered("nuggets")
                }
            )
        )
    if "cites the passage" in asked:
        return completion(
            json.dumps({"support": "full" if inside("sentence")[:4] in inside("passage") else "none"})
        )
    if "every claim" in asked:
        return completion(
            json.dumps({"claims": [{"claim": fact} for fact in FACTS if fact[:4] in inside("text")]})
        )
    text = inside("text")
    return completion(
        json.dumps(
            {number: "entailed" if claim[:4] in text else "neutral" for number, claim in numbered("claims")}
        )
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The stand-in, on loopback."""
    pytest.importorskip("httpx2", reason="the extra `label` is not installed")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # a proxy cannot reach this server
    made = Server(answer)
    with made.running():
        yield made


@pytest.fixture
def run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `judged label --task …` in a folder with all files."""
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ANSWERS))
    Path("docs.jsonl").write_text(
        '{"_id": "d1", "text": "Cats purr."}\n{"_id": "d2", "text": "Fish swim."}\n'
    )
    Path("queries.tsv").write_text("q1\tWhat do animals do?\n")
    Path("qrels.txt").write_text("q1 0 d1 2\nq1 0 d2 3\nq1 0 d9 1\n")
    Path("truth.csv").write_text("query,answer\nq1,Cats purr. Fish swim.\n")
    Path("one.run").write_text("q1 Q0 d1 1 2 r\nq1 Q0 d2 2 1 r\n")

    def call(*arguments: str) -> Result:
        model = ("--endpoint", server.address, "--model", "gpt-5-mini", "--structure", "json_object")
        return CliRunner().invoke(program, ["label", *arguments, *model])

    return call


def read(path: str) -> list[dict[str, Any]]:
    """Return the rows of JSONL."""
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_from_judged_documents_to_recall(run: Run, server: Server) -> None:
    """Nuggets are written once from documents of grade 2, assigned ten at a time, and scored."""
    made = run(
        "--task",
        "nuggets",
        "qrels.txt",
        "--queries",
        "queries.tsv",
        "--documents",
        "docs.jsonl",
        "-o",
        "nuggets.jsonl",
    )
    assert made.exit_code == 0, made.output
    assert [(row["text"], row["importance"]) for row in read("nuggets.jsonl")] == [
        ("Cats purr.", "vital"),
        ("Fish swim.", "okay"),
    ]

    before = len(server.requests)
    made = run(
        "--task",
        "assign",
        "answers.jsonl",
        "--nuggets",
        "nuggets.jsonl",
        "--queries",
        "queries.tsv",
        "-o",
        "assigned.jsonl",
    )
    assert made.exit_code == 0, made.output
    assert len(server.requests) - before == 2  # a question for each answer, which holds both nuggets
    assert "favour their own answers" in made.output
    report = judged.evaluate_answers("answers.jsonl", nuggets="nuggets.jsonl", labels="assigned.jsonl")

    assert report["short"]["NuggetRecall"] == 0.5
    assert report["short"]["strict_vital_score"] == 1.0


def test_support_of_citations(run: Run) -> None:
    """Every sentence with the passages that it cites."""
    made = run("--task", "support", "answers.jsonl", "--documents", "docs.jsonl", "-o", "support.jsonl")
    assert made.exit_code == 0, made.output
    report = judged.evaluate_answers("answers.jsonl", labels="support.jsonl", measures="CitationPrecision")

    assert report["gpt-5-mini-rag"]["CitationPrecision"] == 0.5
    assert report["short"]["CitationPrecision"] == 1.0


def test_claims_and_their_entailment(run: Run) -> None:
    """Claims of answers and truths by one prompt, then checked against the truth, the answer and the passages."""
    made = run(
        "--task",
        "claims",
        "answers.jsonl",
        "--references",
        "truth.csv",
        "--queries",
        "queries.tsv",
        "-o",
        "claims.jsonl",
    )
    assert made.exit_code == 0, made.output
    made = run(
        *("--task", "entail", "answers.jsonl", "--claims", "claims.jsonl", "--references", "truth.csv"),
        *("--run", "one.run", "--documents", "docs.jsonl", "-o", "entailed.jsonl"),
    )
    assert made.exit_code == 0, made.output
    report = judged.evaluate_answers("answers.jsonl", labels="entailed.jsonl", protocol="ragchecker")
    values = report["gpt-5-mini-rag"]

    # claims: cats (true, in d1), dogs (neither); true claims: cats (said), fish (in d2, not said)
    assert (values["precision"], values["recall"], values["claim_recall"]) == (0.5, 0.5, 1.0)
    assert (values["faithfulness"], values["hallucination"], values["context_utilization"]) == (0.5, 0.5, 0.5)


def test_nuggets_are_never_written_from_answers(run: Run) -> None:
    """Refused with a reason, unless that is asked for."""
    arguments = ("--task", "nuggets", "answers.jsonl", "--queries", "queries.tsv", "-o", "nuggets.jsonl")
    refused = run(*arguments)
    assert refused.exit_code != 0
    assert "the longest answer would write its own test" in refused.output
    allowed = run(*arguments, "--from-answers")

    assert allowed.exit_code == 0, allowed.output
    assert "nuggets are written from the answers that they will score" in allowed.output


def test_agreement_of_words(run: Run) -> None:
    """Labels of a model and of a person on the three levels of nuggets are compared as they are."""
    Path("nuggets.csv").write_text("query,nugget,importance\nq1,Cats purr.,vital\nq1,Dogs bark.,okay\n")
    made = run("--task", "assign", "answers.jsonl", "--nuggets", "nuggets.csv", "-o", "assigned.jsonl")
    assert made.exit_code == 0, made.output
    rows = read("assigned.jsonl")
    assert {row["label"] for row in rows} == {"support", "not_support"}

    people = [{**row, "label": "partial_support" if at == 0 else row["label"]} for at, row in enumerate(rows)]
    found = judged.agreement("assigned.jsonl", people)

    assert (found.items, found.exact) == (4, 0.75)
    assert tuple(found.confusion.labels) == (0, 1, 2)
    assert any("1 is `partial_support`" in note.message for note in found.notes)
    support = [{"query": "q1", "part": 1, "document": "d1", "label": "full"}]
    with pytest.raises(
        JudgedError, match="has not_support, partial_support and support, and `labels` has none"
    ):
        judged.agreement("assigned.jsonl", support)
    with pytest.raises(
        JudgedError, match="has not_support, partial_support and support, and `labels` has grades"
    ):
        judged.agreement("assigned.jsonl", {"q1": {"d1": 2}})


def test_the_size_of_a_batch_is_part_of_the_key() -> None:
    """AutoNuggetizer asks about ten nuggets at a time; the built-in prompt does so too."""
    prompt = read_prompt(task="assign")

    assert (prompt.each, prompt.batch, prompt.scale) == (
        "nugget",
        10,
        ("not_support", "partial_support", "support"),
    )


def test_what_is_missing_is_named() -> None:
    """Texts of queries and documents, and documents of the grade."""
    with pytest.raises(JudgedError, match="no text of d1"):
        pool_nuggets({"q1": {"d1": 2}}, queries={"q1": "Why?"}, documents={})
    with pytest.raises(JudgedError, match="no document has a grade of 2 or more"):
        pool_nuggets({"q1": {"d1": 1}}, queries={"q1": "Why?"}, documents={"d1": "A."})
    pool = pool_assignments({"bot": {"q1": "A.", "q2": "B."}}, {"q1": ["n"]}, queries={})
    assert (len(pool.items), pool.notes[0].message) == (
        1,
        "1 query with answers and without nuggets: not labelled",
    )
