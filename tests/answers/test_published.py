"""Numbers that nuggetizer, RAGChecker, ALCE and open-rag-eval themselves computed from random tables of labels.

`tests/golden/answers/record.py` recorded them; it also compared the loops in `oracles.py` with the tools on 10,000 tables each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judged
from answers.oracles import alce_scores, claim_scores, nugget_scores
from answers.test_oracles import MEASURES, assert_equal, name, score

PUBLISHED = json.loads((Path(__file__).parents[1] / "golden" / "answers" / "published.json").read_text())
Rows = list[dict[str, Any]]


def test_nuggetizer() -> None:
    """The profile gives the tool's four numbers, by the tool's names."""
    cases = {f"q{number}": case for number, case in enumerate(PUBLISHED["nuggetizer"])}
    labels = [
        {"query": query, "nugget": f"n{place}", "importance": importance, "label": label}
        for query, case in cases.items()
        for place, (importance, label) in enumerate(case["nuggets"])
    ]
    report = judged.evaluate_answers(
        {"bot": dict.fromkeys(cases, "An answer.")}, labels=labels, protocol="nuggetizer"
    )
    scores = {
        measure.label: report["bot"].scores.by_query(str(measure)) for measure in report["bot"].measures
    }
    expected = {query: case["scores"] for query, case in cases.items()}

    assert_equal(
        {query: {label: scores[label][query] for label in expected[query]} for query in cases}, expected
    )
    assert expected == {
        query: nugget_scores([(*pair,) for pair in case["nuggets"]]) for query, case in cases.items()
    }


def test_ragchecker() -> None:
    """All eleven metrics, from labels as the tool saves them."""
    cases = {f"q{number}": case for number, case in enumerate(PUBLISHED["ragchecker"])}
    records = [
        {
            "query_id": query,
            "retrieved_context": [
                {"doc_id": f"d{place}", "text": ""} for place in range(count_passages(case))
            ],
            "response_claims": [["s", "p", str(place)] for place in range(len(case["true"]))],
            "gt_answer_claims": [["s", "p", str(place)] for place in range(len(case["said"]))],
            "answer2response": name(case["true"]),
            "response2answer": name(case["said"]),
            "retrieved2response": [name(row) for row in case["by_response"]],
            "retrieved2answer": [name(row) for row in case["by_truth"]],
        }
        for query, case in cases.items()
    ]
    answers = dict.fromkeys(cases, "An answer.")

    assert_equal(
        score(answers, [{"results": records}], MEASURES, no_passages="zero"),
        {query: case["scores"] for query, case in cases.items()},
    )
    for case in cases.values():
        tables = [case[part] for part in ("true", "said", "by_response", "by_truth")]
        assert claim_scores(*tables) == pytest.approx(case["scores"], abs=1e-12)


def count_passages(case: dict[str, Any]) -> int:
    """Return the number of passages, which is not known without any claim."""
    return len(next(iter([*case["by_response"], *case["by_truth"]]), ()))


@pytest.mark.parametrize(
    ("tool", "recall", "precision"),
    [
        ("alce", 'CitationRecall(per="joint")', 'CitationPrecision(over="necessary")'),
        ("open-rag-eval", 'CitationRecall(per="mean")', 'CitationPrecision(over="passage")'),
    ],
)
def test_citations(tool: str, recall: str, precision: str) -> None:
    """Recall and precision of both tools on the same answers, with passages cited twice among them."""
    cases = {f"q{number}": case for number, case in enumerate(PUBLISHED["citations"])}
    parts: Rows = [
        {"query": query, "part": part, "text": "A sentence.", "citations": cited}
        for query, case in cases.items()
        for part, cited in enumerate(case["sentences"], 1)
    ]
    labels: Rows = [
        {"query": query, "part": number + 1, "document": members, "label": label}
        for query, case in cases.items()
        for number, members, label in case["labels"]
    ]
    found = score(parts, labels, {"recall": recall, "precision": precision})
    expected = {
        query: dict(zip(("recall", "precision"), case["scores"][tool], strict=True))
        for query, case in cases.items()
    }

    assert_equal(found, expected)


def test_the_loop_of_alce() -> None:
    """The loop that the random tables are compared with gives what the tool gave."""
    for case in PUBLISHED["citations"]:
        states = {(number, tuple(members)): label == "full" for number, members, label in case["labels"]}
        found = alce_scores(
            case["sentences"],
            lambda number, cited, states=states: states[number, tuple(sorted(set(cited)))],  # type: ignore[misc]
        )
        assert found == pytest.approx(tuple(case["scores"]["alce"]), abs=1e-12)
