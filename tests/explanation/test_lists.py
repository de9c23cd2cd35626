"""Ranked lists of a whole run: the same documents, grades and contributions that `explain` gives query by query."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.explanation.lists import first_contributions, list_results
from judged.io.read import read_judgments, read_run
from judged.protocol import Protocol
from judged.scoring.align import RankedAlignment

DOCUMENTS = [f"d{number}" for number in range(12)]
PROTOCOLS = {
    "trec_eval": Protocol(),
    "ascending": Protocol(ties="document-ascending"),
    "input order": Protocol(ties="input-order"),
    "rows": Protocol(order="input"),
    "removed": Protocol(unjudged="removed"),
    "depth": Protocol(depth=4),
    "double": Protocol(precision="float64"),
}


@st.composite
def collections(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments with unjudged documents, and runs with ties and missing queries."""
    rng = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311
    queries = [f"q{number}" for number in range(4)]
    qrels = {
        query: {name: rng.choice([-1, 0, 1, 2]) for name in rng.sample(DOCUMENTS, 7)} | {"d0": 1}
        for query in queries
    }
    run = {
        query: {
            name: rng.choice([1.0, 1.5, 1.5000000001, 2.0])
            for name in rng.sample(DOCUMENTS, rng.randint(1, 9))
        }
        for query in rng.sample(queries, 3)
    }
    return qrels, run


@pytest.mark.parametrize("name", PROTOCOLS)
@given(data=collections())
@settings(max_examples=40)
def test_lists_are_those_that_explain_shows(
    name: str, data: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]
) -> None:
    """Order, grades and what each rank adds, whatever the protocol."""
    protocol, (qrels, run) = PROTOCOLS[name], data
    judgments, ranked = read_judgments(qrels), read_run(run)
    evaluation = judged.evaluate(judgments, ranked, ["nDCG@5", "AP"], protocol=protocol)
    alignment = evaluation.alignments[protocol]
    assert isinstance(alignment, RankedAlignment)
    queries = alignment.units.to_pylist()
    lists = list_results(judgments, ranked, protocol, queries=queries, depth=5)
    adds = first_contributions(alignment, evaluation.measures, depth=5)

    for at, query in enumerate(queries):
        for measure in ("nDCG@5", "AP"):
            rows = judged.explain(judgments, ranked, measure, query=query, protocol=protocol).rows()[:5]
            found = lists.results(at)
            assert found[: len(rows)] == [(row["document"], row["grade"]) for row in rows]
            assert adds[measure][at, : len(rows)] == pytest.approx([row["adds"] for row in rows], abs=1e-12)


def test_ties_with_the_last_kept_result_are_ordered_by_the_rule() -> None:
    """Which of the tied documents is kept follows from the protocol, not from the order of the rows."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "c": 1.0, "b": 1.0, "d": 2.0}}
    first = {
        name: list_results(
            read_judgments(qrels), read_run(run), PROTOCOLS[name], queries=["q"], depth=2
        ).documents
        for name in ("trec_eval", "ascending", "input order")
    }

    assert first == {"trec_eval": ("d", "c"), "ascending": ("d", "a"), "input order": ("d", "a")}


def test_queries_without_results_have_an_empty_list() -> None:
    """They keep their place."""
    lists = list_results(
        read_judgments({"p": {"a": 1}, "q": {"a": 1}}),
        read_run({"q": {"a": 1.0}}),
        Protocol(),
        queries=["p", "q", "r"],
    )

    assert [lists.results(at) for at in range(3)] == [[], [("a", 1.0)], []]
    assert lists.retrieved.tolist() == [0, 1, 0]


def test_contributions_sum_to_the_value_of_a_measure_within_the_depth() -> None:
    """What the first ranks add is the value of the list cut there."""
    qrels = {"q": {"a": 2, "b": 1, "c": 3}}
    evaluation = judged.evaluate(qrels, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}, ["nDCG@10"])
    alignment = evaluation.alignments[evaluation.protocol]
    assert isinstance(alignment, RankedAlignment)
    adds = first_contributions(alignment, evaluation.measures, depth=3)["nDCG@10"]
    ideal = 3 / np.log2(2) + 2 / np.log2(3) + 1 / np.log2(4)

    assert adds[0] == pytest.approx([1 / ideal, 0, 2 / np.log2(4) / ideal])
