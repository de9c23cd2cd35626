"""Query rewriting: what is searched for, how lists are fused, what is kept of replies, what it costs, and models that fail."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import judged
from judged.cli.main import judged as command
from judged.errors import JudgedError
from judged.studies.result import Study
from judged.studies.running.run import run_study
from judged.studies.specification import read_study
from support.json_server import Asked, JsonServer, Reply, run_server
from support.studies import QUERIES, own

pytest.importorskip("httpx2", reason="the extra `label` is not installed")
pytest.importorskip("bm25s")

WORDS = {"name": "words", "search": "bm25"}
USAGE = {"prompt_tokens": 120, "completion_tokens": 30}


def say(content: str, **more: Any) -> Reply:
    """Return a reply of the protocol, with its tokens."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Reply(
        {
            "id": "x",
            "model": "small-1",
            "system_fingerprint": "fp",
            "choices": [choice],
            "usage": USAGE,
            **more,
        }
    )


def read_query(asked: Asked) -> str:
    """Return the query of a request, from between its tags."""
    found = re.search(r"<query-(\w+)>\n(.*)\n</query-\1>", asked.body["messages"][-1]["content"], re.DOTALL)
    assert found is not None
    return found[2]


def list_queries(*texts: str) -> Callable[[Asked], Reply]:
    """Return a model that says the same queries to everything."""
    return lambda _: say(json.dumps({"queries": texts}))


@pytest.fixture(autouse=True)
def _desk(desk: Path) -> None:
    """Every test has the small collection."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    """A model that repeats the query with `cats`, until a test says otherwise; nobody waits between attempts."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.01)
    with run_server(lambda asked: say(json.dumps({"queries": [f"{read_query(asked)} cats"]}))) as running:
        yield running


def rewrite(server: JsonServer, kind: str = "llm", **settings: Any) -> dict[str, Any]:
    """A rewriter of the server."""
    return {"type": kind, "model": "small", "url": server.address, "timeout": 5, "attempts": 2, **settings}


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the small collection."""
    return {"collection": "pets", "systems": list(systems), "measures": ["nDCG@5", "RR"], **settings}


def read_run(folder: Path, system: str) -> dict[str, list[str]]:
    """Return the documents of each query, in order."""
    found: dict[str, list[str]] = {}
    for line in (folder / "runs" / f"{system}.run").read_text().splitlines():
        query, _, document, *_ = line.split()
        found.setdefault(query, []).append(document)
    return found


def ask_own(texts: dict[str, str], folder: Path, system: dict[str, Any] = WORDS) -> dict[str, list[str]]:
    """Return what a system without a rewriter finds for other texts of the same queries."""
    (folder / "others.jsonl").write_text(
        "".join(json.dumps({"_id": query, "text": text}) + "\n" for query, text in texts.items())
    )
    files = {"documents": "pets/corpus.jsonl", "queries": "others.jsonl", "judgments": "pets/qrels/test.tsv"}
    run_study(study(system, collection=files), output=folder / "others", force=True)
    return read_run(folder / "others", str(system["name"]))


def test_a_rewritten_query_is_what_is_searched_for(desk: Path, server: JsonServer) -> None:
    """The run is that of the other words; these are in the result, with time, tokens and money beside them."""
    system = {**WORDS, "name": "re", "rewrite": rewrite(server)}
    found = run_study(
        study(WORDS, system, prices={"small": {"in": 2.0, "out": 10.0}}, repeats=2), output=desk / "out"
    )
    texts = {query: f"{text} cats" for query, text in QUERIES.items()}

    assert not found.failures
    assert read_run(desk / "out", "re") == ask_own(texts, desk)
    assert {one.query: one.text for one in found.rewrites} == texts
    (cost,) = found.costs
    assert (cost.stage, cost.model, cost.requests, cost.tokens_in) == ("rewriting", "small", 12, 12 * 120)
    # 120 tokens of 2 and 30 of 10 a million, a thousand times
    assert cost.cost_per_1000 == pytest.approx(1000 * (120 * 2 + 30 * 10) / 1e6)
    row = found.rows("systems")[1]
    assert row["rewriting_tokens_in"] == 120
    assert row["cost_per_1000"] == pytest.approx(0.54)
    assert row["rewriting_ms"] > 0
    assert row["total_ms"] == pytest.approx(
        sum(row[f"{stage}_ms"] for stage in found.stages if stage != "total"), rel=1e-6
    )
    assert "cost per 1,000" in str(found)
    assert judged.load(_save(found, desk)).costs == found.costs  # type: ignore[attr-defined]


def _save(found: Study, folder: Path) -> Path:
    found.save(folder / "study.json")
    return folder / "study.json"


def test_several_queries_are_fused(desk: Path, server: JsonServer) -> None:
    """Recomputed: reciprocal ranks of three runs of plain systems, summed; the original is the first."""
    server.answer = lambda asked: say(
        json.dumps({"queries": [f"{read_query(asked)} mice", "cats that play", "too many"]})
    )
    system = {**WORDS, "name": "multi", "rewrite": rewrite(server, "multi-query", count=2)}
    found = run_study(study(system), output=desk / "out")
    runs = [
        ask_own({query: make(text) for query, text in QUERIES.items()}, desk)
        for make in (str, "{} mice".format, lambda _: "cats that play")
    ]
    for query, documents in read_run(desk / "out", "multi").items():
        scores: dict[str, float] = {}
        for run in runs:
            for rank, document in enumerate(run.get(query, []), start=1):
                scores[document] = scores.get(document, 0.0) + 1 / (60 + rank)
        assert [scores[name] for name in documents] == pytest.approx(sorted(scores.values(), reverse=True))
    assert [one.text for one in found.rewrites if one.query == "q4"] == [
        "night sky",
        "night sky mice",
        "cats that play",
    ]
    assert "fusion" in found.stages


def test_questions_are_broken_down(server: JsonServer) -> None:
    """At most as many as are wanted, each once, without the original if that is not kept."""
    server.answer = list_queries("who is it", "who is it", "", "where", "when", "why")
    settings = rewrite(server, "decompose", count=3, keep=False)
    found = run_study(study({**WORDS, "rewrite": settings}))

    assert [one.text for one in found.rewrites if one.query == "q1"] == ["who is it", "where", "when"]


def test_passages_are_imagined(desk: Path, server: JsonServer) -> None:
    """HyDE: the vector is the mean of those of the query and of two passages; words are searched for together."""
    server.answer = lambda asked: say(f"Cats and mice, {asked.body.get('seed')}.")
    settings = rewrite(server, "hyde", passages=2, temperature=0.7, seed=5)
    encoder = {"name": "own", "encoder": own(), "search": "exact", "rewrite": settings}
    found = run_study(study(encoder, {**WORDS, "rewrite": settings}), output=desk / "out")
    import parts

    passages = ["Cats and mice, 5.", "Cats and mice, 6."]
    rows = [json.loads(line) for line in (desk / "pets" / "corpus.jsonl").read_text().splitlines()]
    documents = parts.encode(
        [f"{row['title']}\n{row['text']}" if row["title"] else row["text"] for row in rows]
    )
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    for query, text in QUERIES.items():
        vector = parts.encode([text, *passages]).mean(axis=0)
        similarity = {row["_id"]: float(one @ vector) for row, one in zip(rows, documents, strict=True)}
        ranked = read_run(desk / "out", "own")[query]
        assert [similarity[name] for name in ranked] == pytest.approx(
            sorted(similarity.values(), reverse=True), abs=1e-6
        )
    words = {query: "\n".join([text, *passages]) for query, text in QUERIES.items()}
    assert read_run(desk / "out", "words") == ask_own(words, desk)
    # both systems have the same rewriter: two passages of each query, and one request for the version
    assert len(server.asked) <= 2 * len(QUERIES) + 2 * 3
    assert not found.failures


def test_a_function_rewrites(desk: Path) -> None:
    """One text or several; anything else is an error that names it."""
    (desk / "rewriters.py").write_text(
        "def one(text):\n    return text + ' cats'\n"
        "def two(text):\n    return [text + ' cats', text + ' mice']\n"
        "def bad(text):\n    return 5\n"
    )
    systems = [
        {**WORDS, "name": name, "rewrite": {"type": "function", "function": f"rewriters:{name}"}}
        for name in ("one", "two", "bad")
    ]
    found = run_study(study(*systems), output=desk / "out")

    assert read_run(desk / "out", "one") == ask_own({q: f"{text} cats" for q, text in QUERIES.items()}, desk)
    assert [one.text for one in found.rewrites if (one.system, one.query) == ("two", "q4")] == [
        "night sky cats",
        "night sky mice",
    ]
    assert "returned int, expected a text or a list of texts" in found.failures["bad"]


def test_replies_are_kept_and_dated(desk: Path, server: JsonServer) -> None:
    """The second run asks for the version alone, and says of when its replies are; a new version is asked for all."""
    content = study({**WORDS, "rewrite": rewrite(server)}, warmup=1)
    first = run_study(content, output=desk / "out")
    asked = len(server.asked)
    second = run_study(content, output=desk / "out")

    assert asked == len(QUERIES) + 1
    assert len(server.asked) == asked + 1
    assert first.systems[0].replies_of == ""
    assert re.fullmatch(r"20.. ?.*UTC", second.systems[0].replies_of)
    assert any("kept ones, the oldest of" in note.message for note in second.notes)
    assert [cost.tokens_in for cost in second.costs] == [cost.tokens_in for cost in first.costs]
    assert second.latencies["words", "rewriting"]["Latency"] == pytest.approx(
        first.latencies["words", "rewriting"]["Latency"], rel=0.5, abs=2.0
    )
    server.answer = lambda asked: say(json.dumps({"queries": [f"{read_query(asked)} dogs"]}), model="small-2")
    third = run_study(content, output=desk / "out")
    assert {one.text.split()[-1] for one in third.rewrites} == {"dogs"}
    assert third.systems[0].replies_of == ""


def test_fresh_asks_again(desk: Path, server: JsonServer) -> None:
    """Everything, or one system."""
    systems = [
        {**WORDS, "rewrite": rewrite(server)},
        {**WORDS, "name": "other", "rewrite": rewrite(server, seed=3)},
    ]
    run_study(study(*systems), output=desk / "out")
    before = len(server.asked)
    again = run_study(study(*systems), output=desk / "out", fresh=["other"])

    assert [record.replies_of != "" for record in again.systems] == [True, False]
    assert len(server.asked) - before >= len(QUERIES)


def test_a_grid_asks_once_for_each_query(desk: Path, server: JsonServer) -> None:
    """Six systems with one rewriter: each query is sent once, but for the warm-up."""
    system = {"name": "grid", "search": {"type": "bm25", "k1": [0.5, 0.9, 1.2], "b": [0.4, 0.8]}}
    found = run_study(study({**system, "rewrite": rewrite(server)}, warmup=0), output=desk / "out")

    assert len(found.systems) == 6
    assert len(server.asked) == len(QUERIES)
    assert {cost.tokens_in for cost in found.costs} == {len(QUERIES) * 120}


def test_useless_replies_leave_the_query_as_it_is(desk: Path, server: JsonServer) -> None:
    """Asked again once; then the query is searched for as it was asked, and that is counted."""
    plain = server.answer
    server.answer = lambda asked: say("no idea") if "night sky" in read_query(asked) else plain(asked)
    found = run_study(study({**WORDS, "rewrite": rewrite(server)}), output=desk / "out")

    assert [one.text for one in found.rewrites if one.query == "q4"] == ["night sky"]
    assert any("2 replies of `small` could not be used" in note.message for note in found.notes)


def test_a_model_that_never_answers_fails(server: JsonServer) -> None:
    """Until it has shown that it can, the system fails with its words."""
    server.answer = lambda _: say("no idea")
    found = run_study(study({**WORDS, "rewrite": rewrite(server)}, {**WORDS, "name": "plain"}))

    assert "gave no reply that can be used: `no idea`" in found.failures["words"]
    assert found["plain"].mean()["RR"] > 0


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Reply({"error": {"message": "slow down"}}, status=429), "429"),
        (Reply({"error": {"message": "broken"}}, status=500), "500"),
        (Reply(b"<html>gateway</html>"), "something other than JSON"),
        (Reply({"choices": []}), "outside the protocol"),
    ],
    ids=["429", "500", "malformed", "no choices"],
)
def test_one_query_in_six_fails(server: JsonServer, bad: Reply, reason: str) -> None:
    """With `on_error: empty` the query is scored without results, listed with the reason, and the others stay."""
    plain = server.answer
    server.answer = lambda asked: bad if "night sky" in read_query(asked) else plain(asked)
    found = run_study(study({**WORDS, "rewrite": rewrite(server)}, on_error="empty"))

    (failed,) = found.failed_queries
    assert failed.query == "q4"
    assert reason in failed.error
    assert found["words"].scores.by_query("RR")["q4"] == 0
    assert found["words"].scores.by_query("RR")["q2"] > 0


def test_what_passes_is_tried_again(server: JsonServer) -> None:
    """429 once for each query: repeated, with the waits among the times, and noted."""
    plain, seen = server.answer, set[str]()

    def answer(asked: Asked) -> Reply:
        if read_query(asked) in seen:
            return plain(asked)
        seen.add(read_query(asked))
        return Reply({"error": {"message": "slow down"}}, status=429)

    server.answer = answer
    found = run_study(study({**WORDS, "rewrite": rewrite(server)}, warmup=0))

    assert not found.failures
    assert any("had to be repeated" in note.message for note in found.notes)


def test_a_slow_model_ends_in_time(server: JsonServer) -> None:
    """Its own timeout, once for each attempt."""
    server.answer = lambda _: Reply(b"late", delay=1.0)
    slow = rewrite(server, timeout=0.1, attempts=1)
    found = run_study(study({**WORDS, "rewrite": slow}, WORDS | {"name": "plain"}, warmup=0))

    assert "timeout after 0.1 s" in found.failures["words"]


def test_the_usage_may_be_missing(server: JsonServer) -> None:
    """Requests are counted; tokens and money are not known, and not 0."""
    server.answer = lambda asked: say(json.dumps({"queries": [read_query(asked)]}), usage=None)
    found = run_study(study({**WORDS, "rewrite": rewrite(server)}, prices={"small": {"in": 1}}))

    (cost,) = found.costs
    assert (cost.requests, cost.tokens_in, cost.cost) == (6, None, None)
    assert found.rows("systems")[0]["cost_per_1000"] is None


def test_a_damaged_reply_is_asked_for_again(desk: Path, server: JsonServer) -> None:
    """And no traceback."""
    content = study({**WORDS, "rewrite": rewrite(server)}, warmup=0)
    run_study(content, output=desk / "out", cache=desk / "vectors.sqlite")
    with sqlite3.connect(desk / "vectors-replies.sqlite") as database:
        database.execute("UPDATE entries SET value = X'00'")
    database.close()
    before = len(server.asked)
    found = run_study(content, output=desk / "out", cache=desk / "vectors.sqlite")

    assert not found.failures
    assert len(server.asked) - before == len(QUERIES)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "hyde", "model": "m", "passages": 3}, "repeats itself"),
        ({"type": "llm", "model": "m", "instruction": "say it"}, "has no `{query}`"),
        ({"type": "llm"}, "missing required field `model`"),
        ({"type": "multi-query", "model": "m", "fusion": "magic"}, "magic"),
        ({"type": "paraphrase", "model": "m"}, "paraphrase"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    """Before anything is asked."""
    with pytest.raises(JudgedError, match=re.escape(message)):
        read_study(study({**WORDS, "rewrite": settings}))


def test_the_plan_lists_the_server_and_its_key(desk: Path, server: JsonServer) -> None:
    """`--dry-run` asks nothing; another variable than the usual key needs permission; prices may be the user's own."""
    (desk / "config.yaml").write_text("prices: {small: {in: 2, out: 10}}\n")
    content = study({**WORDS, "rewrite": rewrite(server)})
    (desk / "study.yaml").write_text(yaml.safe_dump(content))
    run = CliRunner(env={"JUDGED_CONFIG": str(desk / "config.yaml")})
    plan = run.invoke(command, ["run", "study.yaml", "--dry-run"], catch_exceptions=False)

    assert f"address {server.address}" in plan.output
    assert "rewrite llm → bm25" in plan.output
    assert not server.asked
    done = run.invoke(command, ["run", "study.yaml", "-q"], catch_exceptions=False)
    assert done.exit_code == 0
    assert {"costs.csv", "rewrites.csv"} <= {path.name for path in (desk / "study-results").iterdir()}
    assert "0.00324" in (desk / "study-results" / "costs.csv").read_text()
    content["systems"][0]["rewrite"]["key_variable"] = "HOME"
    (desk / "study.yaml").write_text(yaml.safe_dump(content))
    refused = run.invoke(command, ["run", "study.yaml"])
    assert "HOME" in refused.output
    assert refused.exit_code != 0


def test_a_query_cannot_close_its_tag(server: JsonServer) -> None:
    """What stands in a query is sent between tags whose name is a hash of it."""
    server.answer = list_queries("x")
    run_study(study({**WORDS, "rewrite": rewrite(server)}, warmup=0))
    system = server.asked[0].body["messages"][0]["content"]

    assert re.search(r"ends in [0-9a-f]{8} is a query", system)
    assert "sk-secret" not in json.dumps([asked.body for asked in server.asked])


def test_rewriters_are_a_factor(desk: Path, server: JsonServer) -> None:
    """A list of them makes a system for each, and none is one of them; names of models are not those of modules."""
    server.answer = list_queries("cats", "mice")
    kinds = [None, rewrite(server, "multi-query", model="mistral:latest"), rewrite(server, "hyde")]
    content = study({**WORDS, "rewrite": {"grid": kinds}}, concurrency=3)
    found = run_study(content, output=desk / "out")
    uses = {
        str(use)
        for system in read_study(content).systems
        for stage in system.list_stages()
        for use in stage.list_uses()
    }

    assert not found.failures
    assert [record.stages for record in found.systems] == [
        "bm25",
        "rewrite multi-query → bm25",
        "rewrite hyde → bm25",
    ]
    assert {effect.factor for effect in found.effects} == {"rewrite"}
    assert uses == {f"address {server.address}", "variable OPENAI_API_KEY"}


def test_a_load_test_asks_the_model(desk: Path, server: JsonServer) -> None:
    """Kept replies would make it look fast."""
    content = study({**WORDS, "rewrite": rewrite(server)}, load={"clients": [2], "seconds": 0.3})
    found = run_study(content, output=desk / "out")
    loaded = sum(point.queries for point in found.load)

    assert loaded > 5
    assert len(server.asked) >= loaded + len(QUERIES)
