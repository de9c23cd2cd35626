"""Systems that return nothing, lie or fail: what happens to them leaves the others' tables, files and report."""

from __future__ import annotations

import csv
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import judged
from judged.cli.main import judged as command
from judged.studies.outcome.folder import write_study
from judged.studies.result import Study
from judged.studies.running.run import open_study, run_study
from support.json_server import Reply, run_server

pytest.importorskip("bm25s")
WORDS = {"name": "words", "search": "bm25"}
CODE = """
def nothing(text): return []
def never(text): return False
def blanks(text): return ["d1", "annual report 2.pdf", "a\\tb"]
def half(text): return ["d1", "a\\ud800"]
def leave(text): raise SystemExit(3)
def choose(text): return "words"
"""


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a folder of its own, without pictures, which take seconds."""
    monkeypatch.setattr("judged.studies.outcome.folder.find_spec", lambda _name: None)
    (desk / "failing.py").write_text(CODE)


def run(*systems: dict[str, Any], **settings: Any) -> Study:
    """Run a study of BM25 and the systems, and write its folder, all but charts."""
    whole = {"collection": "pets", "systems": [WORDS, *systems], "measures": ["nDCG@5", "RR"], **settings}
    inputs = open_study(whole, "out")
    study = run_study(inputs, output="out")
    write_study(study, inputs)
    return study


SKIPPING = {"type": "function", "function": "failing:never"}
EMPTY: list[tuple[str, dict[str, Any]]] = [
    ("a retriever", {"retriever": "failing:nothing"}),
    ("a skip policy", {"search": "bm25", "skip": SKIPPING}),
    (
        "a skip policy, reranked",
        {"search": "bm25", "skip": SKIPPING, "rerank": {"type": "function", "function": "parts:backwards"}},
    ),
    (
        "a skip policy, routed",
        {
            "skip": SKIPPING,
            "router": {"type": "function", "function": "failing:choose", "experts": ["words", "again"]},
        },
    ),
]


@pytest.mark.parametrize("stages", [case[1] for case in EMPTY], ids=[case[0] for case in EMPTY])
def test_a_system_without_a_result_scores_zero(stages: dict[str, Any]) -> None:
    """With a warning; the others are what they are, and everything is written."""
    alone = run()["words"].mean()
    study = run({"name": "none", **stages}, {"name": "again", "search": "bm25"}, baseline="words")

    assert study["none"].mean() == {"nDCG@5": 0.0, "RR": 0.0}
    assert study["words"].mean() == alone
    assert not study.failures
    assert any(note.code == "no-results" and "none" in note.message for note in study.notes)
    assert {row["system"] for row in csv.DictReader(Path("out/systems.csv").read_text().splitlines())} >= {
        "none",
        "words",
    }
    assert Path("out/report.html").stat().st_size > 10_000


def test_a_fusion_with_a_part_without_a_result_is_tuned() -> None:
    """Its weights are learned from what the other part finds."""
    none = {"name": "none", "retriever": "failing:nothing"}
    tuned = {"name": "tuned", "fuse": {"of": ["words", "none"], "method": "wsum", "tune": {"step": 0.5}}}
    study = run(none, tuned, train=["q1", "q3"])

    assert not study.failures
    assert study["tuned"].mean() == study["words"].mean()


def test_ids_with_blanks_are_scored_and_written() -> None:
    """Names of files have them; the text of TREC has no place for them, Parquet has."""
    study = run({"name": "files", "retriever": "failing:blanks"})
    found = judged.read_run(Path("out/runs/files.parquet")).to_arrow()["document"].to_pylist()

    assert not study.failures
    assert "annual report 2.pdf" in found
    assert not Path("out/runs/files.run").exists()
    assert Path("out/runs/words.run").exists()


@pytest.mark.parametrize(("function", "words"), [("half", "not text"), ("leave", "SystemExit: 3")])
def test_what_no_file_holds_and_who_leaves_is_a_failure(function: str, words: str) -> None:
    """Of that system alone."""
    study = run({"name": "bad", "retriever": f"failing:{function}"})

    assert words in study.failures["bad"]
    assert study["words"].mean()["RR"] == 1.0


FLAKY = """
import itertools, time
turns = itertools.count()
def tenth(text):
    if text == "night sky": raise ConnectionError("one in six")
    return ["d1"]
def second_time(text, seen=set()):
    if text not in seen:
        seen.add(text)
        raise ConnectionError("once")
    return ["d1"]
def slow(text):
    if text == "night sky": time.sleep(0.3)
    return ["d1"]
def down(text): raise ConnectionError("down")
"""


def flaky(desk: Path, function: str, **settings: Any) -> dict[str, Any]:
    """A system of the module `flaky`, which is imported anew."""
    sys.modules.pop("flaky", None)
    (desk / "flaky.py").write_text(FLAKY)
    return {"name": "flaky", "retriever": f"flaky:{function}", **settings}


def test_a_failed_query_is_the_failure_of_its_system_unless_it_is_said_otherwise(desk: Path) -> None:
    """The first is named."""
    study = run(flaky(desk, "tenth"))

    assert "`q4`" in study.failures["flaky"]
    assert "one in six" in study.failures["flaky"]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_failed_query_may_count_as_empty(desk: Path, concurrency: int) -> None:
    """It scores 0, has no times, and is listed with its error; the others are as if it had not been."""
    study = run(flaky(desk, "tenth", on_error="empty"), concurrency=concurrency)
    values = study["flaky"].per_query().by_query("RR")
    times = next(one for one in study.times if (one.system, one.stage) == ("flaky", "total"))

    assert not study.failures
    assert values["q4"] == 0 < values["q1"]
    assert len(values) == 6
    assert sorted(times.queries) == ["q1", "q2", "q3", "q5", "q6"]
    assert [(one.system, one.query) for one in study.failed_queries] == [("flaky", "q4")]
    assert "one in six" in Path("out/failures.csv").read_text()
    assert "failed on 1 query, scored without results (q4: " in str(study)
    assert study.to_arrow("systems").to_pylist()[1]["failed_queries"] == 1


def test_a_failed_query_may_be_left_out_for_everybody(desk: Path) -> None:
    """Systems are compared on the same queries."""
    study = run(flaky(desk, "tenth"), on_error="skip")

    assert study.queries == 5
    assert "q4" not in study["words"].per_query().by_query("RR")
    assert "no system is scored on" in str(study)
    assert "q4" not in Path("out/judgments.csv").read_text()


def test_failed_queries_are_asked_again_by_the_next_run(desk: Path) -> None:
    """And nothing else is, though the system is a function of users."""
    system = flaky(desk, "tenth", on_error="empty")
    run(system, warmup=0)
    (desk / "flaky.py").write_text(FLAKY)
    before = open_study(
        {"collection": "pets", "systems": [WORDS, system], "measures": ["nDCG@5", "RR"], "warmup": 0}, "out"
    )

    assert [planned.done for planned in before.plan] == [6, 5]
    again = run(system, warmup=0)
    assert [one.query for one in again.failed_queries] == ["q4"]
    assert len(list(before.plan[1].log.read())) == 7


def test_more_failures_than_allowed_are_the_failure_of_the_system(desk: Path) -> None:
    """And failing on every query is, however many are allowed."""
    assert (
        "more than `max_failures: 0`"
        in run(flaky(desk, "tenth", on_error="empty", max_failures=0)).failures["flaky"]
    )
    assert "on every query, 6" in run(flaky(desk, "down"), on_error="empty").failures["flaky"]


def test_a_query_is_asked_again_as_often_as_allowed(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of system is."""
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.001)
    study = run(flaky(desk, "second_time", retries=1), warmup=0)

    assert not study.failures
    assert not study.failed_queries


def test_a_query_that_takes_too_long_has_failed(desk: Path) -> None:
    """After the time, not after the system; the rest is answered."""
    study = run(flaky(desk, "slow", on_error="empty", timeout=0.1))

    assert [(one.query, "no answer in 0.1 s" in one.error) for one in study.failed_queries] == [("q4", True)]


@pytest.mark.parametrize(
    "wrong", [{"on_error": "ignore"}, {"retries": -1}, {"timeout": 0}, {"concurrency": 0}]
)
def test_limits_are_checked_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    """The error names the setting."""
    with pytest.raises(judged.JudgedError, match=next(iter(wrong))):
        run(**wrong)


def test_several_queries_at_a_time_are_answered_as_one_by_one() -> None:
    """By a server that takes 50 ms for each, on connections of their own; latencies are per query, and marked."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    at_once = []
    lock = threading.Lock()

    def answer(asked: Any) -> Reply:
        with lock:
            at_once.append(asked.port)
        return Reply([{"id": "d1"}, {"id": "d8"}], delay=0.05)

    with run_server(answer) as server:
        system = {
            "name": "http",
            "retriever": {"type": "http", "url": server.address, "body": {"q": "{query}"}},
        }
        alone = run(system, warmup=0)
        together = run(system, warmup=0, concurrency=6)
    times = next(one for one in together.times if (one.system, one.stage) == ("http", "total"))

    assert together["http"].mean() == alone["http"].mean()
    assert len(set(at_once)) >= 1 + 2  # one for the first run, several for the second
    assert times.seconds.min() >= 0.05
    assert any("6 queries at a time" in note.message for note in together.notes)


def test_asynchronous_functions_are_awaited_wherever_functions_may_be(desk: Path) -> None:
    """Encoders, routers, rerankers and skip policies as well as retrievers."""
    (desk / "waiting.py").write_text(
        "import asyncio\nimport parts\n"
        "async def encode(texts):\n    await asyncio.sleep(0)\n    return parts.encode(texts)\n"
        "async def choose(text): return 'words'\n"
        "async def rerank(text, documents): return list(range(len(documents)))\n"
        "async def decide(text): return True\n"
    )
    own = {
        "name": "own",
        "encoder": {"type": "function", "function": "waiting:encode"},
        "search": "exact",
        "skip": {"type": "function", "function": "waiting:decide"},
        "rerank": {"type": "function", "function": "waiting:rerank"},
    }
    routed = {
        "name": "routed",
        "router": {"type": "function", "function": "waiting:choose", "experts": ["words", "again"]},
    }
    study = run(own, {"name": "again", "search": "bm25"}, routed)

    assert not study.failures
    assert study["routed"].mean() == study["words"].mean()
    assert any("Accuracy counts each of them as right" in note.message for note in study.notes)


def test_a_system_that_stops_short_of_a_cutoff_is_noted() -> None:
    """As one that returns 3 results whatever it is asked for."""
    study = run({"name": "short", "retriever": "parts:retrieve"}, measures=["R@5", "RR", "P@3"])

    assert [note.message for note in study.notes if note.code == "shallow-system"] == [
        "short returned at most 3 results for any query, and was asked for 8: R@5 cannot be higher than with that many"
    ]


def test_an_endpoint_with_ids_elsewhere_is_told_where_they_may_be() -> None:
    """By the path of the setting that takes it."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    with run_server(lambda _asked: Reply({"took": 3, "hits": [{"doc": "d1", "title": "Cats"}]})) as server:
        stages = {"type": "http", "url": server.address, "body": {"q": "{query}"}}
        nowhere = run({"name": "x", "retriever": {**stages, "ids": "$.hits[*].id"}}, warmup=0)
        titles = run({"name": "x", "retriever": {**stages, "ids": "$.hits[*].title"}}, warmup=0)

    assert "the answer has `$.hits[*].doc` and `$.hits[*].title`" in nowhere.failures["x"]
    assert "such as `ids: $.results[*].doc_id`" in titles.failures["x"]


def test_a_folder_is_that_of_one_study() -> None:
    """Another name or another collection is refused before anything is asked, unless it is forced."""
    run(name="one")
    run({"name": "more", "search": {"type": "bm25", "k1": 0.5}}, name="one")
    with pytest.raises(judged.JudgedError, match="has the results of the study `one` on `pets`"):
        run(name="two")
    whole = {"collection": "pets", "systems": [WORDS], "measures": ["RR"], "name": "two"}

    assert not run_study(whole, output="out", force=True).failures


def test_the_systems_of_a_saved_study_are_compared_on_the_command_line() -> None:
    """The file stands alone: it has judgments, runs and measures."""
    run({"name": "short", "retriever": "parts:retrieve"})
    done = CliRunner().invoke(command, ["compare", "out/study.json", "--baseline", "words", "-m", "RR"])

    assert done.exit_code == 0, done.output
    assert "words" in done.output
    assert "nDCG" not in done.output
