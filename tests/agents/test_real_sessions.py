"""Real sessions, and worked examples made by others, where the collections are at hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.conversations import conversation
from judged.agents.dedup.rules import Rules, Weights
from judged.agents.evaluate import evaluate_sessions
from judged.agents.traces.read import read_sessions

EXAMPLES = {
    "E1": (["a3 b1 c4 | a3 d0", "b1 e2 c4", "f0 g2 a3 e2"], {}),
    "E2": (["a3 b0", "", "c2"], {}),
    "E2b": (["a3 b0", "c2"], {}),
    "E4_first": (["a1 b3", "a3 c0"], {}),
    "E4_max": (["a1 b3", "a3 c0"], {"conflict": "max"}),
    "E4_last": (["a1 b3", "a3 c0"], {"conflict": "last"}),
    "E5_zero": (["a3 b? c0", "b2 d?"], {}),
}
"""The examples as their author describes them; the values come from the collection's own script."""
NAMES = {"R_i": "R", "UR_i": "UR", "GR_i": "GR", "Dup_i": "Dup"}
SHARED = ("CG", "RG", "DCG", "DRG", "AvgGain", "RAG", "DRAG", "SRE", "SRR")


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples_of_others_come_out_at_every_iteration(
    shared_data: Callable[[str], Path], name: str
) -> None:
    """Every measure and count at every iteration, as an independent script computed them."""
    golden = json.loads((shared_data("good_gain") / "golden.json").read_text())[name][0]
    iterations, how = EXAMPLES[name]
    wanted = [f"{measure}@{row['i']}" for row in golden for measure in (*SHARED, *NAMES.values())]
    found = evaluate_sessions([conversation("c", *iterations)], wanted, **how)
    before = dict.fromkeys(NAMES, 0)
    for row in golden:
        for measure in SHARED:
            assert found[f"{measure}@{row['i']}"] == pytest.approx(row[measure], abs=1e-12), measure
        for column, measure in NAMES.items():
            before[column] += row[column]
            assert found[f"{measure}@{row['i']}"] == before[column], measure


def test_two_hundred_web_sessions_repeat_a_sixth_of_their_results(
    shared_data: Callable[[str], Path],
) -> None:
    """5,533 results; 840 repeat a URL (15.2 %), 25 more the content of another URL: 865, or 15.6 %.

    The study counted 841 repeats of a URL, one of them because it cut an address at a bracket.
    """
    trace = shared_data("webdancer_traces") / "sample_traj.jsonl.gz"
    whole = evaluate_sessions(trace, ["SRR_micro", "SRR"])
    by_url = evaluate_sessions(trace, "SRR_micro", rules=Rules(weights=Weights(text=0)))
    assert (whole.counts.sessions, whole.counts.results) == (200, 5533)
    assert whole["SRR_micro"] == 865 / 5533
    assert by_url["SRR_micro"] == 840 / 5533
    assert round(by_url["SRR_micro"], 3) == 0.152


def test_gold_titles_are_labels_of_react_sessions(shared_data: Callable[[str], Path]) -> None:
    """A HotpotQA agent opens pages by title, and the gold titles of a question are labels known by nothing else.

    Every gold title that an agent opened to the letter is found; and no more than the .55 that were searched for, by
    the collection's own count, of which not every search found its page.
    """
    folder = shared_data("hotpot_react_traces")
    with gzip.open(folder / "hotpot100_gold.json.gz", "rt") as file:
        gold = {question["id"]: set(question["supporting_facts"]["title"]) for question in json.load(file)}
    labels = [{"task": task, "title": title, "gain": 3} for task, titles in gold.items() for title in titles]
    trace = folder / "react_base_100q.parsed.json.gz"
    found = evaluate_sessions(trace, ["N", "Recall"], labels=labels, reference=labels)
    opened = {
        session.conversation: {result.title for result, _ in session.results()} & gold[session.conversation]
        for session in read_sessions(trace)
    }
    to_the_letter = sum(len(titles) / len(gold[task]) for task, titles in opened.items()) / len(gold)
    assert to_the_letter <= found["Recall"] <= 0.55
    assert found.counts.searches == 255  # 1·10 + 2·57 + 3·16 + 4·7 + 5·5 + 6·5
    assert found["N"] == 2.55
