"""Preferences by a model: every pair in both orders; what changes with the order is no preference."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import judged
from judged.errors import BadProtocol
from judged.labels.pool import PoolOptions, build_pool
from judged.labels.preferences import pair_results
from labels.conftest import Serve
from labels.server import Request, Response, completion
from labels.test_command import Invoke, folder, invoke, lines

__all__ = ["folder", "invoke"]

FILES = ["bm25.run", "--queries", "queries.tsv", "--documents", "docs.jsonl", "-o", "prefs.jsonl"]


def worth(request: Request) -> list[int]:
    """Return what the first and the second result are worth."""
    texts = [re.search(rf"<{name}-\w+>\n(.*?)\n</", request.asked, re.DOTALL) for name in ("first", "second")]
    return [int(re.search(r"worth (\d)", text[1])[1]) if text else 0 for text in texts]  # type: ignore[index]


def better(request: Request) -> Response:
    """Prefer the result that is worth more; of d1 and d2 the one that comes first, whatever the order."""
    first, second = worth(request)
    label = "equal" if first == second else "first" if first > second else "second"
    return completion(json.dumps({"better": "first" if {first, second} == {1, 2} else label}))


def test_only_what_both_orders_say_is_a_preference(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Six documents d0 to d5, worth 0 1 2 3 4 0: of 15 pairs one is equal (d0, d5) and one changes (d1, d2)."""
    server = serve(better)
    result = invoke(server, "--task", "prefer", *FILES, "--depth", "6")
    rows = lines(folder / "prefs.jsonl")

    assert result.exit_code == 0, result.stderr
    assert len(server.requests) == 30
    assert (
        "15 pairs: 13 with a preference, 1 equal, 1 changed with the order, 0 without both answers"
        in result.stderr
    )
    # 13 pairs have one answer `first` of two, the changing pair two, the equal one none: 15 of 30
    assert "preferred in 50.0 % of the answers" in result.stderr
    assert rows[:2] == [
        {"query": "q1", "group": "d0|d1", "document": "d1", "level": 2, "labeller": "small prefer/1"},
        {"query": "q1", "group": "d0|d1", "document": "d0", "level": 1, "labeller": "small prefer/1"},
    ]


def test_preferences_are_scored_by_the_measures_of_preferences(
    serve: Serve, invoke: Invoke, folder: Path
) -> None:
    """The run ranks d0 first and d3 last; of the pairs among d0, d1 and d3 with a preference it fulfils none."""
    invoke(serve(better), "--task", "prefer", *FILES, "--depth", "4")
    ranked = "".join(f"q1 Q0 {name} {rank} {-rank} x\n" for rank, name in enumerate(["d3", "d1", "d0"]))
    (folder / "best.run").write_text(ranked)
    files = folder / "prefs.jsonl", folder / "bm25.run", folder / "best.run"

    assert judged.evaluate(files[0], files[1], "prefs_simp")["prefs_simp"] == 0.0
    # five pairs: d1 > d0, d2 > d0, d3 > d0, d3 > d1, d3 > d2; d2 is not retrieved: d2 > d0 is not fulfilled
    assert judged.evaluate(files[0], files[2], "prefs_simp")["prefs_simp"] == pytest.approx(4 / 5)


@pytest.mark.usefixtures("folder")
def test_pairs_are_drawn_and_asked_once(serve: Serve, invoke: Invoke) -> None:
    """Four of the ten pairs of five documents, in both orders; the same command asks nothing again."""
    server = serve(better)
    for _ in range(2):
        result = invoke(server, "--task=prefer", *FILES, "--pairs", "4")

    assert len(server.requests) == 8
    assert "4 pairs" in result.stderr
    dry = invoke(None, "--task", "prefer", *FILES, "--dry-run")
    assert "requests: 12; in the cache: 8" in dry.stdout


def test_a_pair_without_an_answer_is_counted(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """A refusal in one order: exit code 4, and no preference from the other order alone."""

    def answer(request: Request) -> Response:
        return completion("I cannot compare.") if worth(request) == [4, 0] else better(request)

    failures = folder / "failures.jsonl"
    result = invoke(serve(answer), "--task", "prefer", *FILES, "--failures", str(failures))

    assert result.exit_code == 4
    assert "10 pairs: 8 with a preference, 0 equal, 1 changed with the order, 1 without" in result.stderr
    assert [(row["first"], row["second"]) for row in lines(failures)] == [("d4", "d0")]


def test_several_judges_prefer_by_vote(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """The task is labelled as any other; the labels of a pair are words."""

    def answer(request: Request) -> Response:
        return completion('{"better": "equal"}') if request.body["model"] == "flat" else better(request)

    arguments = ["--task", "prefer", *FILES, "--depth", "2", "--model", "c", "--model", "flat"]
    result = invoke(serve(answer), *arguments)

    assert result.exit_code == 0, result.stderr
    assert "1 pair: 1 with a preference" in result.stderr
    assert lines(folder / "prefs.jsonl")[0]["document"] == "d1"


@pytest.mark.usefixtures("folder")
def test_traces_have_no_preferences(invoke: Invoke) -> None:
    """And TREC judgments have no room for them."""
    with pytest.raises(BadProtocol, match="not between results of traces"):
        pair_results(build_pool("trace.jsonl", options=PoolOptions()))
    refused = invoke(None, "--task", "prefer", *FILES[:-1], "prefs.txt")
    assert refused.exit_code != 0
    assert "known extensions: .jsonl .ndjson .csv .tsv" in refused.stderr
