"""The worked examples of the definitions, digit for digit."""

from __future__ import annotations

import math
from typing import Any

import pytest

import judged
from judged.answers import AnswerProtocol
from judged.answers.measures.text import normalise_answer

Rows = list[dict[str, Any]]


def mean(measure: str, answers: Any, protocol: AnswerProtocol | None = None, **given: Any) -> float:
    """Return the mean of one measure of one system."""
    report = judged.evaluate_answers(answers, measures=[measure], protocol=protocol, **given)
    (evaluation,) = report.evaluations()
    return evaluation[measure]


# Vital: support, partial, none; okay: support, none.
NUGGETS: Rows = [
    {"query": "q1", "nugget": f"n{number}", "importance": importance, "label": label}
    for number, (importance, label) in enumerate(
        [
            *(("vital", "support"), ("vital", "partial_support"), ("vital", "not_support")),
            *(("okay", "support"), ("okay", "not_support")),
        ]
    )
]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # nuggetizer 0.0.5: `calculate_nugget_scores("q1", nuggets)`
        ("NuggetRecall", 0.5),
        ("NuggetRecall(strict=true)", 0.4),
        ('NuggetRecall(importance="vital")', 0.5),
        ('NuggetRecall(importance="vital", strict=true)', 0.3333333333333333),
        # by hand: (1.5 + 0.5 * 1) / (3 + 0.5 * 2) and (1 + 0.5 * 1) / 4
        ('NuggetRecall(importance="weighted")', 0.5),
        ('NuggetRecall(importance="weighted", strict=true)', 0.375),
    ],
)
def test_nuggets(measure: str, expected: float) -> None:
    """Vital: support, partial, none; okay: support, none."""
    assert mean(measure, {"bot": {"q1": "An answer."}}, labels=NUGGETS) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("no_vital", "expected"), [("skip", 1.0), ("zero", 0.5)])
def test_a_query_without_vital_nuggets(no_vital: str, expected: float) -> None:
    """It is left out and counted, or scores 0 as in nuggetizer 0.0.5 (`vital_score` 0.0 for no vital nuggets)."""
    labels = [
        {"query": "q1", "nugget": "a", "importance": "vital", "label": "support"},
        {"query": "q2", "nugget": "b", "importance": "okay", "label": "support"},
    ]
    protocol = AnswerProtocol().replace(no_vital=no_vital)
    answers = {"bot": {"q1": "A.", "q2": "B."}}

    assert mean('NuggetRecall(importance="vital")', answers, protocol, labels=labels) == expected


PARTS: Rows = [
    {"query": "q1", "part": 1, "text": "One.", "citations": ["p1", "p2"]},
    {"query": "q1", "part": 2, "text": "Two.", "citations": ["p1"]},
    {"query": "q1", "part": 3, "text": "Three.", "citations": []},
]
SUPPORT: Rows = [
    {"query": "q1", "part": 1, "document": "p1", "label": "partial"},
    {"query": "q1", "part": 1, "document": "p2", "label": "full"},
    {"query": "q1", "part": 2, "document": "p1", "label": "none"},
]


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [
        # (½ + 1 + 0) / 3; (1 + 0 + 0) / 3
        ("CitationPrecision", "CitationRecall", (0.5, 0.3333)),
        # (½ + 0) / 2; (½ + 0 + 0) / 3
        ('CitationPrecision(over="first")', 'CitationRecall(per="first")', (0.25, 0.1667)),
        # open-rag-eval 0.3.0, `weighted_precision`: p1 (½ + 0) / 2, p2 1; `weighted_recall`: (¾ + 0 + 0) / 3
        ('CitationPrecision(over="passage")', 'CitationRecall(per="mean")', (0.625, 0.25)),
        # ALCE: p1 does not entail alone and p2 does without it, so 1 of 3 counts; 1 of 3 sentences is entailed
        ('CitationPrecision(over="necessary")', 'CitationRecall(per="joint")', (0.3333, 0.3333)),
    ],
)
def test_citations(precision: str, recall: str, expected: tuple[float, float]) -> None:
    """The first sentence cites p1 (partial) and p2 (full), the second p1 (none), the third nothing."""
    values = tuple(mean(name, {"bot": PARTS}, labels=SUPPORT) for name in (precision, recall))

    assert values == pytest.approx(expected, abs=5e-5)


def test_precision_without_citations_is_0() -> None:
    """It is 0 in all conventions, not undefined, with the share of citing sentences beside it."""
    for over in ("all", "first", "passage", "necessary"):
        name = f'CitationPrecision(over="{over}")'
        assert (
            mean(
                name,
                {"bot": {"q1": "No marks.", "q2": "No."}},
                labels=SUPPORT[:0] or [{**SUPPORT[0], "query": "q9"}],
            )
            == 0
        )
    assert mean("Cited", {"bot": PARTS}) == pytest.approx(2 / 3)


def entail(side: str, entailed: dict[str, set[str]], claims: list[str]) -> Rows:
    """Return the label of every claim of a side and every source."""
    return [
        {
            "query": "q1",
            "side": side,
            "claim": claim,
            "source": source,
            "label": "entailed" if claim in known else "neutral",
        }
        for source, known in entailed.items()
        for claim in claims
    ]


CLAIMS = [
    *entail("response", {"answer": {"1", "2"}, "p1": {"1"}, "p2": {"3"}, "p3": set()}, ["1", "2", "3", "4"]),
    *entail("truth", {"response": {"1", "3"}, "p1": {"1", "2"}, "p2": set(), "p3": set()}, ["1", "2", "3"]),
]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # RAGChecker 0.1.9, `ragchecker.computation`, on the same four tables of labels
        ("ClaimPrecision", 0.5),
        ("ClaimRecall", 0.6667),
        ("ClaimF", 0.5714),
        ("ContextRecall", 0.6667),
        ("ContextPrecision", 0.3333),
        ("ContextUse", 0.5),
        ('NoiseSensitivity(passages="relevant")', 0.0),
        ('NoiseSensitivity(passages="irrelevant")', 0.25),
        ("Hallucination", 0.25),
        ("SelfKnowledge", 0.25),
        ("Faithfulness", 0.5),
    ],
)
def test_claims(measure: str, expected: float) -> None:
    """Four claims (true: 1, 2), three true claims (said: 1, 3), three passages: p1 has g1, g2 and r1, p2 has r3."""
    assert mean(measure, {"bot": {"q1": "An answer."}}, labels=CLAIMS) == pytest.approx(expected, abs=5e-5)


def test_context_recall_is_not_subtopic_recall() -> None:
    """An intent that no document has does not exist for `StRecall`, which is 1; the third true claim counts here."""
    qrels = [{"query": "q1", "intent": claim, "document": "p1", "grade": 1} for claim in ("1", "2")]
    qrels.append({"query": "q1", "intent": "3", "document": "p3", "grade": 0})
    run = {"q1": ["p1", "p2", "p3"]}

    assert judged.evaluate(qrels, run, "StRecall@3").mean() == {"StRecall@3": 1.0}
    assert mean("ContextRecall", {"bot": {"q1": "An answer."}}, labels=CLAIMS) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("supported", "claims", "expected"),
    [(3, 4, 0.75 * math.exp(1 - 10 / 4)), (9, 12, 0.75), (10, 10, 1.0)],
)
def test_length_penalty(supported: int, claims: int, expected: float) -> None:
    """FActScore: 3 of 4 facts become .1673; from ten facts on nothing is taken off."""
    names = [str(number) for number in range(claims)]
    labels = entail("response", {"p1": set(names[:supported])}, names)

    assert mean("Faithfulness(length_penalty=10)", {"bot": {"q1": "A."}}, labels=labels) == pytest.approx(
        expected
    )
    assert round(0.75 * math.exp(1 - 10 / 4), 4) == 0.1673


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        # by the evaluation script of SQuAD 1.1: `exact_match_score`, `f1_score`, the greatest over references
        ("The Eiffel Tower!", ["eiffel tower"], (1.0, 1.0)),
        ("a tall tower", ["Eiffel Tower", "the tower"], (0.0, 2 / 3)),
        ("Paris", ["London"], (0.0, 0.0)),
        ("the the", ["a"], (1.0, 1.0)),  # both empty
        ("cat cat dog", ["cat dog dog"], (0.0, 2 / 3)),
    ],
)
def test_texts(answer: str, references: list[str], expected: tuple[float, float]) -> None:
    """Without case, punctuation and articles; of several references the best counts; both empty is 1."""
    rows = [{"query": "q1", "answer": reference} for reference in references]
    values = tuple(mean(name, {"bot": {"q1": answer}}, references=rows) for name in ("ExactMatch", "TokenF1"))

    assert values == pytest.approx(expected)


def test_short_answers_with_spellings() -> None:
    """Any spelling of a short answer counts, as in the string recall of ALCE."""
    references = {"q1": [["NYC", "New York City"], ["1886"]]}

    assert mean("Contains", {"bot": {"q1": "In New York City."}}, references=references) == 0.5
    assert normalise_answer("New  York-City, a city") == "new yorkcity city"


def test_abstentions() -> None:
    """Of three abstentions two are right; of four questions without an answer two are abstained from."""
    texts = {"q1": "I don’t know.", "q2": "", "q3": "I cannot answer that.", "q4": "Paris.", "q5": "Rome."}
    references = [{"query": query, "answerable": "yes" if query == "q3" else "no"} for query in texts]
    values = [
        mean(name, {"bot": texts}, references=references)
        for name in ("Answered", "AbstentionPrecision", "AbstentionRecall")
    ]

    assert values == pytest.approx([0.4, 2 / 3, 0.5])
