"""Agreement with the published computations on random tables of labels: 300 each, 10,000 where time allows."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import judged
from answers.oracles import alce_scores, claim_scores, nugget_scores, open_rag_scores
from judged.answers import AnswerProtocol

COUNTS = [300, pytest.param(10_000, marks=pytest.mark.slow)]
Rows = list[dict[str, Any]]


def score(
    answers: Any, labels: Rows, measures: dict[str, str], **conventions: object
) -> dict[str, dict[str, float]]:
    """Return the values of every query by the names of another tool."""
    protocol = AnswerProtocol().replace(**conventions)
    report = judged.evaluate_answers(
        {"bot": answers}, labels=labels, measures=list(measures.values()), protocol=protocol
    )
    scores = report["bot"].scores
    found = {
        name: dict(zip(scores.queries.to_pylist(), scores[measure].tolist(), strict=True))
        for name, measure in measures.items()
    }
    return {query: {name: found[name][query] for name in measures} for query in scores.queries.to_pylist()}


def assert_equal(found: dict[str, dict[str, float]], expected: dict[str, dict[str, float]]) -> None:
    """Compare all values to within rounding."""
    assert found.keys() == expected.keys()
    names = list(next(iter(expected.values())))
    ours, theirs = (
        np.array([[table[query][name] for name in names] for query in expected])
        for table in (found, expected)
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", COUNTS)
def test_nuggetizer(count: int) -> None:
    """All four scores, queries without vital nuggets among them."""
    draw = random.Random(29)  # noqa: S311 - labels, not secrets
    rows: Rows = []
    expected = {}
    for number in range(count):
        pairs = [
            (draw.choice(["vital", "okay"]), draw.choice(["support", "partial_support", "not_support"]))
            for _ in range(draw.randint(1, 12))
        ]
        query = f"q{number}"
        expected[query] = nugget_scores(pairs)
        for place, (importance, label) in enumerate(pairs):
            rows.append({"query": query, "nugget": f"n{place}", "importance": importance, "label": label})
    names = {name: name for name in ("all_score", "strict_all_score", "vital_score", "strict_vital_score")}
    found = score(dict.fromkeys(expected, "An answer."), rows, names, no_vital="zero")

    assert_equal(found, expected)


MEASURES = {
    "precision": "ClaimPrecision",
    "recall": "ClaimRecall",
    "f1": "ClaimF",
    "claim_recall": "ContextRecall",
    "context_precision": "ContextPrecision",
    "context_utilization": "ContextUse",
    "faithfulness": "Faithfulness",
    "hallucination": "Hallucination",
    "self_knowledge": "SelfKnowledge",
    "noise_relevant": "NoiseSensitivity",
    "noise_irrelevant": 'NoiseSensitivity(passages="irrelevant")',
}


@pytest.mark.parametrize("count", COUNTS)
def test_ragchecker(count: int) -> None:
    """All eleven metrics, answers without claims, truths without claims and empty retrieval among them."""
    draw = random.Random(30)  # noqa: S311 - labels, not secrets
    records: Rows = []
    expected = {}
    for number in range(count):
        claims, truths, passages = draw.randint(0, 5), draw.randint(0, 4), draw.randint(0, 4)

        def flags(rows: int, columns: int) -> list[list[bool]]:
            return [[draw.random() < 0.4 for _ in range(columns)] for _ in range(rows)]

        true, said = flags(1, claims)[0], flags(1, truths)[0]
        by_response, by_truth = flags(claims, passages), flags(truths, passages)
        query = f"q{number}"
        expected[query] = claim_scores(true, said, by_response, by_truth)
        records.append(
            {
                "query_id": query,
                "retrieved_context": [{"doc_id": f"d{place}", "text": ""} for place in range(passages)],
                "response_claims": [["s", "p", str(place)] for place in range(claims)],
                "gt_answer_claims": [["s", "p", str(place)] for place in range(truths)],
                "answer2response": name(true),
                "response2answer": name(said),
                "retrieved2response": [name(row) for row in by_response],
                "retrieved2answer": [name(row) for row in by_truth],
            }
        )
    found = score(dict.fromkeys(expected, "An answer."), [{"results": records}], MEASURES, no_passages="zero")

    assert_equal(found, expected)


def name(flags: list[bool]) -> list[str]:
    """Return labels as RAGChecker writes them."""
    return ["Entailment" if flag else "Neutral" for flag in flags]


@pytest.mark.parametrize("count", COUNTS)
def test_alce_and_open_rag_eval(count: int) -> None:
    """Recall and precision by entailment of sets, and by weighted means, with passages cited twice among them."""
    draw = random.Random(31)  # noqa: S311 - labels, not secrets
    parts: Rows = []
    labels: Rows = []
    alce, weighted = {}, {}
    for number in range(count):
        query = f"q{number}"
        sentences = [
            [f"p{draw.randint(1, 4)}" for _ in range(draw.randint(0, 3))] for _ in range(draw.randint(1, 4))
        ]
        states: dict[tuple[int, tuple[str, ...]], str] = {}
        for place, cited in enumerate(sentences, 1):
            parts.append({"query": query, "part": place, "text": "A sentence.", "citations": cited})
            sets = {(passage,) for passage in cited} | {tuple(sorted(set(cited)))}
            sets |= {tuple(sorted(set(cited[:at] + cited[at + 1 :]))) for at in range(len(cited))}
            for members in sorted(sets - {()}, key=lambda known: (len(known), known)):
                # what one passage entails, it entails together with others
                sure = any(states.get((place, (member,))) == "full" for member in members)
                label = "full" if sure and len(members) > 1 else draw.choice(["full", "partial", "none"])
                states[place, members] = label
                labels.append({"query": query, "part": place, "document": list(members), "label": label})

        def entails(
            sentence: int, passages: tuple[str, ...], states: dict[tuple[int, tuple[str, ...]], str] = states
        ) -> bool:
            return states[sentence + 1, tuple(sorted(set(passages)))] == "full"

        worth = {"full": 1.0, "partial": 0.5, "none": 0.0}
        singles = {
            (place - 1, members[0]): worth[label]
            for (place, members), label in states.items()
            if len(members) == 1
        }
        alce[query] = dict(zip(("recall", "precision"), alce_scores(sentences, entails), strict=True))
        weighted[query] = dict(zip(("recall", "precision"), open_rag_scores(sentences, singles), strict=True))
    joint = {"recall": 'CitationRecall(per="joint")', "precision": 'CitationPrecision(over="necessary")'}
    means = {"recall": 'CitationRecall(per="mean")', "precision": 'CitationPrecision(over="passage")'}

    assert_equal(score(parts, labels, joint), alce)
    assert_equal(score(parts, labels, means), weighted)
