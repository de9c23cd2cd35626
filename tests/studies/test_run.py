"""Studies from end to end on a small collection: answers, times, failures, and going on after an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import judged
from judged.studies.running.run import open_study, run_study
from support.studies import DOCUMENTS, JUDGMENTS, QUERIES, count_calls, own

pytest.importorskip("bm25s")
WORDS = {"name": "words", "search": "bm25"}
OWN = {"name": "own", "encoder": own(), "search": "exact"}


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the small collection."""
    return {"collection": "pets", "systems": list(systems), "measures": ["nDCG@5", "RR"], **settings}


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path) -> None:
    """Every test has a folder of its own."""


def test_scores_are_those_of_the_written_runs(desk: Path) -> None:
    """What `judged.evaluate` says of the files that a study writes is what the study says."""
    found = run_study(study(WORDS, OWN), output="out")
    for name in ("words", "own"):
        again = judged.evaluate(JUDGMENTS, desk / "out" / "runs" / f"{name}.run", ["nDCG@5", "RR"])

        assert found[name].mean() == again.mean()


def test_exact_search_is_cosine_by_hand(desk: Path) -> None:
    """The run of a system of vectors is the order of cosines, ties by row, computed here in float64."""
    sys.path.insert(0, str(desk))
    import parts

    found = run_study(study(OWN, depth=8), output="out")
    texts = [f"{title}\n{text}" if title else text for title, text in DOCUMENTS.values()]
    rows = parts.encode(texts).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    run = (desk / "out" / "runs" / "own.run").read_text().splitlines()
    for query, text in QUERIES.items():
        asked = parts.encode([text])[0].astype(np.float64)
        cosines = rows @ (asked / np.linalg.norm(asked))
        got = {line.split()[2]: float(line.split()[4]) for line in run if line.split()[0] == query}

        assert got == pytest.approx(dict(zip(DOCUMENTS, cosines, strict=True)), abs=1e-6)
    assert found.queries == 6


def test_stage_times_add_up_to_the_total() -> None:
    """For every query, the stages are the total but for the clock's own overhead; every pass is kept."""
    reranked = {**OWN, "name": "reranked", "rerank": {"type": "function", "function": "parts:backwards"}}
    found = run_study(study(WORDS, OWN, reranked, repeats=3))
    times = {(one.system, one.stage): one for one in found.times}

    assert {stage for system, stage in times if system == "reranked"} == {
        *("embedding", "retrieval", "reranking", "other", "total")
    }
    for system in ("words", "own", "reranked"):
        parts = [one.seconds for (name, stage), one in times.items() if name == system and stage != "total"]
        total, gap = times[system, "total"].seconds, times[system, "other"].seconds

        assert len(gap) == 3 * len(QUERIES)
        assert np.sum(parts, axis=0) == pytest.approx(total, abs=1e-12)
        assert np.median(gap) < 0.0005


def test_documents_are_encoded_once_and_queries_by_every_run(desk: Path) -> None:
    """Times of a run are its own: queries are encoded again, documents are not, but for three that are compared."""
    first = run_study(study(OWN), output="out")
    encoded = count_calls(desk, "encode")
    reused = run_study(study(OWN), output="out", reuse=True)
    kept = count_calls(desk, "encode")
    elsewhere = run_study(study(OWN), output="other")

    asked = len(QUERIES) + 3 + 1  # three to warm up, and one that shows how long vectors are
    assert encoded == len(DOCUMENTS) + asked
    assert kept == encoded
    assert count_calls(desk, "encode") == encoded + asked + 3
    assert first["own"].mean() == reused["own"].mean() == elsewhere["own"].mean()
    assert [one.seconds.tolist() for one in first.times] == [one.seconds.tolist() for one in reused.times]
    assert not first.systems[0].vectors_of
    assert elsewhere.systems[0].vectors_of.endswith("UTC")


def test_a_changed_system_alone_is_run_again(desk: Path) -> None:
    """Another depth of one system leaves the answers of the others as they are."""
    asked = {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}}
    run_study(study(asked, WORDS), output="out")
    calls = count_calls(desk, "retrieve")
    run_study(study(asked, {**WORDS, "depth": 2}), output="out", reuse=True)

    assert count_calls(desk, "retrieve") == calls
    assert len((desk / "out" / "runs" / "words.run").read_text().splitlines()) <= 2 * len(QUERIES)


def test_a_changed_module_is_run_again(desk: Path) -> None:
    """Answers depend on the file that a function is in."""
    asked = {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}}
    run_study(study(asked), output="out")
    (desk / "parts.py").write_text((desk / "parts.py").read_text() + "\n# changed\n")

    assert open_study(study(asked), desk / "out").done == 0


FAILING: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    (
        "an encoder that returns NaN",
        {"encoder": own("encode_nan"), "search": "exact"},
        ("`encoder`", "NaN", "`d1`"),
    ),
    (
        "queries of another length",
        {"encoder": own("Uneven"), "search": "exact"},
        ("`encoder`", "(8, 3)", "(8, 4)"),
    ),
    (
        "a model that is not there",
        {"encoder": {"type": "sentence-transformers", "model": "./none"}, "search": "exact"},
        ("`encoder`", "./none"),
    ),
    (
        "a module that is not there",
        {"retriever": {"type": "object", "object": "nowhere:find"}},
        ("`retrieval`", "nowhere"),
    ),
    (
        "a store that is down",
        {
            "encoder": own(),
            "search": {"type": "index", "engine": "pgvector-exact", "url": "postgresql://127.0.0.1:1/x"},
        },
        ("`retrieval`", "127.0.0.1"),
    ),
    (
        "an endpoint that is down",
        {
            "retriever": {
                "type": "http",
                "url": "http://127.0.0.1:1/",
                "body": {"q": "{query}"},
                "attempts": 1,
            }
        },
        ("`retrieval`", "127.0.0.1", "`q1`"),
    ),
]


@pytest.mark.parametrize(
    ("stages", "words"), [case[1:] for case in FAILING], ids=[case[0] for case in FAILING]
)
def test_a_system_that_fails_does_not_stop_the_others(stages: dict[str, Any], words: tuple[str, ...]) -> None:
    """The failure names system, stage and query; the other systems are scored; what consists of it fails with it."""
    found = run_study(
        study({"name": "broken", **stages}, WORDS, {"name": "f", "fuse": {"of": ["broken", "words"]}})
    )

    assert set(found.failures) == {"broken", "f"}
    assert all(word in found.failures["broken"] for word in ("`broken`", *words))
    assert "`broken`" in found.failures["f"]
    assert [one.system for one in found.evaluations()] == ["words"]
    assert any(note.code == "failed-system" for note in found.notes)


def test_what_was_answered_before_a_failure_is_kept(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store fails at the fourth query; when it is back, only the rest is asked."""
    asked = {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}}
    monkeypatch.setenv("BREAK", "1")
    broken = run_study(study(asked, warmup=0), output="out")
    monkeypatch.delenv("BREAK")
    before = count_calls(desk, "retrieve")
    mended = run_study(study(asked, warmup=0), output="out")

    assert "the store is down" in broken.failures["asked"]
    assert "`q4`" in broken.failures["asked"]
    assert not mended.failures
    assert count_calls(desk, "retrieve") - before == 3


def test_a_router_is_scored_by_its_choices() -> None:
    """`choose` names `words` for the two queries with "night"; regret and accuracy follow from the experts' scores."""
    routed = {
        "name": "routed",
        "router": {"type": "function", "function": "parts:choose", "experts": ["words", "own"]},
    }
    found = run_study(study(WORDS, OWN, routed))
    report = next(one for one in found.routing if one.subject == "routing")
    values = {name: found[name].per_query().by_query("nDCG@5") for name in ("words", "own", "routed")}
    chosen = {query: "words" if "night" in text else "own" for query, text in QUERIES.items()}
    best = {query: max(values["words"][query], values["own"][query]) for query in QUERIES}
    right = [values[chosen[query]][query] == best[query] for query in QUERIES]

    assert values["routed"] == {query: values[chosen[query]][query] for query in QUERIES}
    assert report.scored["routed"].mean()["Accuracy"] == pytest.approx(np.mean(right))
    assert report.scored["routed"].mean()["Regret"] == pytest.approx(
        np.mean([best[query] - values["routed"][query] for query in QUERIES])
    )


def test_a_skip_policy_is_scored_by_what_it_skips() -> None:
    """Only two queries are questions; the others are skipped, and all of them needed retrieval where BM25 scores."""
    skipping = {**WORDS, "name": "skipping", "skip": {"type": "function", "function": "parts:is_question"}}
    found = run_study(study(WORDS, skipping))
    report = next(one for one in found.routing if one.subject == "skipping")
    worth = found["words"].per_query().by_query("nDCG@5")
    skipped = [query for query, text in QUERIES.items() if not text.startswith(("which", "what"))]
    rightly = [query for query in skipped if worth[query] == 0]
    means = report.scored["skipping"].mean()

    assert means["SkipEfficiency"] == pytest.approx(100 * len(rightly) / len(QUERIES))
    assert means["QualityLost"] == pytest.approx(sum(worth[query] for query in skipped) / len(QUERIES))


def test_reranking_is_the_ratio_of_means() -> None:
    """The improvement is the change of the mean in per cent, not the mean of changes."""
    reranked = {
        "name": "reranked",
        "base": "words",
        "rerank": {"type": "function", "function": "parts:backwards"},
    }
    found = run_study(study(WORDS, reranked))
    report = next(one for one in found.routing if one.subject == "reranking")
    before, after = (found[name].mean()["nDCG@5"] for name in ("words", "reranked"))

    assert report.scored["reranked"].mean()["Improvement"] == pytest.approx(100 * (after / before - 1))


def test_weights_are_tuned_on_training_queries_alone() -> None:
    """Training queries are not scored, and the reported held-out score is that of the other queries."""
    tuned = {
        "name": "tuned",
        "fuse": {
            "of": ["words", "own"],
            "method": "wsum",
            "normalisation": "min-max",
            "tune": {"step": 0.25},
        },
    }
    found = run_study(study(WORDS, OWN, tuned, train=["q1", "q3"]), output="out")
    tuning = found.tunings["tuned"]

    assert found.training == 2
    assert set(found["tuned"].per_query().by_query("nDCG@5")) == set(QUERIES) - {"q1", "q3"}
    assert sum(tuning.weights.values()) == pytest.approx(1)
    reported = tuning.to_arrow("systems").to_pylist()[0]
    assert reported["mean"] == pytest.approx(found["tuned"].mean()["nDCG@5"], abs=1e-12)
    runs = {name: Path("out", "runs", f"{name}.run") for name in ("words", "own")}
    fused = judged.fuse(runs, method="wsum", normalisation="min-max", weights=tuning.weights)
    held_out = _without(JUDGMENTS, "q1", "q3")

    assert judged.evaluate(held_out, fused, "nDCG@5").mean() == pytest.approx(
        {"nDCG@5": found["tuned"].mean()["nDCG@5"]}
    )


def _without(judgments: dict[str, dict[str, int]], *queries: str) -> dict[str, dict[str, int]]:
    return {query: one for query, one in judgments.items() if query not in queries}


def test_untrained_systems_say_so_everywhere() -> None:
    """The name of a system with random weights says so in scores, tables, figures and the answer."""
    random = {"name": "random", "encoder": {**own(), "untrained": True}, "search": "exact"}
    found = run_study(study(WORDS, random))

    assert "random (untrained)" in found.to_arrow("systems")["system"].to_pylist()
    assert "random (untrained)" in found.answer()
    assert all("random (untrained)" in str(figure.spec) for figure in found.charts())


def test_what_changes_between_passes_is_noted(desk: Path) -> None:
    """A system that returns different results in a later pass is scored by the first, and a note says so."""
    (desk / "unsteady.py").write_text(
        "import itertools\nturns = itertools.count()\ndef find(query):\n    return ['d1', 'd2'] if next(turns) < 6 else ['d2', 'd1']\n"
    )
    asked = {"name": "unsteady", "retriever": {"type": "object", "object": "unsteady:find"}}
    found = run_study(study(asked, repeats=2, warmup=0))

    assert [note.message for note in found.notes if note.code == "unsteady"] == [
        "unsteady returned different results for 6 queries in a later pass; the first pass is scored"
    ]


@pytest.mark.parametrize(
    "scores", ["[1.0] * 8", "[2.0, 2.0, *[1.0] * 6]", "[1e-9 - n * 1e-18 for n in range(8)]"]
)
@pytest.mark.parametrize("fused", [False, True])
def test_what_a_system_returned_is_what_is_scored(desk: Path, scores: str, fused: bool) -> None:
    """Whatever its scores: equal ones, or ones that differ in less than float32, keep the order of the list."""
    (desk / "tied.py").write_text(
        f"ids = {list(DOCUMENTS)!r}\n"
        f"scores = {scores}\n"
        "def find(text): return list(zip(ids, scores))\n"
        "def again(text): return list(zip(ids, scores))\n"
    )
    systems: list[dict[str, Any]] = [
        {"name": name, "retriever": {"type": "object", "object": f"tied:{name}"}}
        for name in ("find", "again")
    ]
    if fused:
        systems.append({"name": "both", "fuse": {"of": ["find", "again"]}})
    run_study(study(*systems), output="out")
    for system in systems:
        made = judged.evaluate(JUDGMENTS, desk / "out" / "runs" / f"{system['name']}.run", "RR").per_query()
        for query, value in made.by_query("RR").items():
            relevant = {document for document, grade in JUDGMENTS[query].items() if grade > 0}
            first = next(rank for rank, document in enumerate(DOCUMENTS, 1) if document in relevant)

            assert value == pytest.approx(1 / first)


def test_what_stages_say_is_noted() -> None:
    """A retriever that returns distances is ranked by its order, and a note says so."""
    asked = {"name": "asked", "retriever": "parts:retrieve_by_distance"}
    found = run_study(study(asked, warmup=0))

    assert any(note.message.startswith("asked: 6 rankings had numbers that rise") for note in found.notes)


def write_questions(desk: Path) -> Path:
    """Judgments with their questions, in one file."""
    rows = [
        f"{query},{QUERIES[query]},{document},{grade}"
        for query, grades in JUDGMENTS.items()
        for document, grade in grades.items()
    ]
    path = desk / "questions.csv"
    path.write_text("\n".join(["query_id,question,doc_id,grade", *rows]))
    return path


def test_a_study_of_existing_systems_needs_no_documents(desk: Path) -> None:
    """Judgments with questions suffice; the scores are those of a study with all files."""
    asked = {"name": "asked", "retriever": "parts:retrieve"}
    ranked = {"name": "both", "fuse": {"of": ["asked", "far"]}}
    far = {"name": "far", "retriever": {"type": "object", "object": "parts:retrieve_by_distance"}}
    whole = run_study(study(asked, far, ranked))
    write_questions(desk)
    bare = run_study(
        {**study(asked, far, ranked), "collection": {"judgments": "questions.csv"}}, output="out"
    )
    (desk / "texts.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in QUERIES.items()))
    apart = {"judgments": "questions.csv", "queries": "texts.tsv"}

    assert not bare.failures
    assert bare.documents == 0
    assert "questions: 6 queries" in str(bare)
    for name in ("asked", "far", "both"):
        assert bare[name].mean() == whole[name].mean()
    assert run_study({**study(asked), "collection": apart})["asked"].mean() == whole["asked"].mean()
    assert (desk / "out" / "runs" / "asked.run").exists()


def test_a_system_whose_results_nobody_judged_is_noted(desk: Path) -> None:
    """Without documents there is nothing else to know its ids by; asynchronous functions are awaited."""
    write_questions(desk)
    asked = {"name": "asked", "retriever": "parts:retrieve_unknown"}
    found = run_study({**study(asked), "collection": {"judgments": "questions.csv"}})

    assert any(
        "asked: none of its results is a judged document, such as `x1`" in note.message
        for note in found.notes
    )


def test_empty_documents_are_refused_or_left_out(desk: Path) -> None:
    """A document with neither title nor text is an error that names it, or is left out and noted."""
    with (desk / "pets" / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d9", "title": "", "text": " "}\n')

    with pytest.raises(judged.JudgedError, match="document `d9`"):
        run_study(study(WORDS))
    found = run_study({**study(WORDS), "collection": {"folder": "pets", "empty_documents": "skip"}})

    assert found.documents == len(DOCUMENTS)
    assert any("1 documents without text" in note.message for note in found.notes)


def test_a_collection_is_read_from_any_three_files(desk: Path) -> None:
    """CSV documents, TSV queries and JSON judgments are the same collection as a BEIR folder."""
    header = "id,title,text\n"
    (desk / "documents.csv").write_text(
        header + "".join(f'{name},"{title}","{text}"\n' for name, (title, text) in DOCUMENTS.items())
    )
    (desk / "queries.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in QUERIES.items()))
    (desk / "qrels.txt").write_text(
        "".join(
            f"{query} 0 {document} {grade}\n"
            for query, one in JUDGMENTS.items()
            for document, grade in one.items()
        )
    )
    files = {"documents": "documents.csv", "queries": "queries.tsv", "judgments": "qrels.txt"}
    found = run_study({**study(WORDS), "collection": files})

    assert found["words"].mean() == run_study(study(WORDS))["words"].mean()


SLOWLY = """
import sys, time
from judged.studies.running.run import run_study
run_study("study.yaml", output="out", progress=lambda done, total, what: time.sleep(0.02))
"""


def test_a_killed_study_goes_on_where_it_was(desk: Path) -> None:
    """Killed in the middle, a study that is run again asks only what is missing; every query is answered once."""
    asked = {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}}
    (desk / "study.yaml").write_text(yaml.safe_dump(study(asked, OWN, repeats=8, warmup=0)))
    source = str(Path(judged.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    process = subprocess.Popen([sys.executable, "-c", SLOWLY], env=environment)
    answers = desk / "out" / "answers"
    deadline = time.monotonic() + 60
    while (
        time.monotonic() < deadline
        and sum(len(path.read_bytes().splitlines()) for path in answers.glob("*.jsonl")) < 20
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = open_study("study.yaml", "out")
    calls = count_calls(desk, "retrieve")
    found = run_study("study.yaml", output="out")
    asked_again = Counter(
        (one.query, one.sample)
        for planned in open_study("study.yaml", "out").plan
        for one in planned.log.read()
    )

    assert 20 <= before.done < before.total == 96
    assert count_calls(desk, "retrieve") - calls == 48 - before.plan[0].done
    assert set(asked_again.values()) == {2}  # once for each system
    assert len(asked_again) == 48
    assert not found.failures


def test_systems_of_a_study_are_compared_otherwise(desk: Path) -> None:
    """`judged.compare` takes a study, or its file, with another baseline and another test."""
    found = run_study(study(WORDS, OWN), output="out")
    found.save(desk / "study.json")
    first, second = (
        judged.compare(found, baseline="own", test="t"),
        judged.compare(["study.json"], baseline="own", test="t"),
    )

    assert first.contrast("words").difference == pytest.approx(
        found["words"].mean()["nDCG@5"] - found["own"].mean()["nDCG@5"]
    )
    assert first.contrast("words").p == second.contrast("words").p
