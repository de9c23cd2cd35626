"""Properties that the measures of answers have on any labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

import judged

Rows = list[dict[str, Any]]
NUGGET = ("not_support", "partial_support", "support")
SUPPORT = ("none", "partial", "full")
RECALLS = [
    f"NuggetRecall(importance={kind!r}, strict={strict})"
    for kind in ("all", "vital", "weighted")
    for strict in (False, True)
]
FEW = settings(max_examples=12, deadline=None)


def score(measures: list[str], answers: Any, labels: Rows) -> list[float]:
    """Return the values of one answer."""
    evaluation = judged.evaluate_answers({"bot": answers}, labels=labels, measures=measures)["bot"]
    return [evaluation[name] for name in measures]


def nuggets(states: list[tuple[bool, int]]) -> Rows:
    """Return labels of nuggets, each vital or not."""
    return [
        {
            "query": "q1",
            "nugget": f"n{place}",
            "importance": "vital" if vital else "okay",
            "label": NUGGET[state],
        }
        for place, (vital, state) in enumerate(states)
    ]


states = st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=8).map(
    lambda drawn: [(True, drawn[0][1]), *drawn[1:]]
)


@FEW
@given(states, st.integers(0, 7), st.randoms(use_true_random=False))
def test_nugget_recall_grows_with_labels_and_ignores_order(
    drawn: list[tuple[bool, int]], place: int, shuffle: Any
) -> None:
    """Raising a label never lowers recall, and permuting nuggets changes nothing."""
    place %= len(drawn)
    raised = [*drawn[:place], (drawn[place][0], 2), *drawn[place + 1 :]]
    mixed = nuggets(drawn)
    shuffle.shuffle(mixed)
    before, after, permuted = (
        score(RECALLS, {"q1": "A."}, rows) for rows in (nuggets(drawn), nuggets(raised), mixed)
    )

    assert np.all(np.array(after) >= np.array(before) - 1e-12)
    np.testing.assert_allclose(permuted, before, atol=1e-12)


sentences = st.lists(st.lists(st.sampled_from("abc"), max_size=3), min_size=1, max_size=4)


@FEW
@given(sentences, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_an_uncited_sentence_never_raises_citation_recall(cited: list[list[str]], drawn: list[int]) -> None:
    """In no convention; precision does not change."""
    recalls = [f"CitationRecall(per={per!r})" for per in ("best", "first", "mean", "joint")]
    precisions = [f"CitationPrecision(over={over!r})" for over in ("all", "first", "passage", "necessary")]
    labels = [
        {"query": "q1", "part": part, "document": document, "label": SUPPORT[drawn[(3 * part + at) % 12]]}
        for part in range(1, 5)
        for at, document in enumerate("abc")
    ]
    parts = [{"query": "q1", "part": at, "text": "A.", "citations": row} for at, row in enumerate(cited, 1)]
    longer = [*parts, {"query": "q1", "part": len(parts) + 1, "text": "More.", "citations": []}]
    # labels of sentences that the answer lacks would be refused
    before, after = (
        score([*recalls, *precisions], rows, [row for row in labels if row["part"] <= len(parts)])
        for rows in (parts, longer)
    )

    assert np.all(np.array(after[:4]) <= np.array(before[:4]) + 1e-12)
    np.testing.assert_allclose(after[4:], before[4:], atol=1e-12)


@FEW
@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=6),
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=4),
)
def test_claims_come_from_somewhere(
    said: list[tuple[bool, bool, bool]], truths: list[tuple[bool, bool, bool]]
) -> None:
    """Faithfulness, hallucination and own knowledge sum to 1; both kinds of noise and true claims do not exceed it."""
    labels = [
        {
            "query": "q1",
            "side": side,
            "claim": f"{place}",
            "source": source,
            "label": "entailed" if flag else "contradicted",
        }
        for side, claims, alone in (("response", said, "answer"), ("truth", truths, "response"))
        for place, flags in enumerate(claims)
        for source, flag in zip((alone, "d1", "d2"), flags, strict=True)
    ]
    sums = score(["Faithfulness", "Hallucination", "SelfKnowledge"], {"q1": "A."}, labels)

    assert abs(sum(sums) - 1) < 1e-12
    if truths:
        names = ["NoiseSensitivity", 'NoiseSensitivity(passages="irrelevant")', "ClaimPrecision"]
        assert sum(score(names, {"q1": "A."}, labels)) <= 1 + 1e-12


def test_a_system_and_its_copy_do_not_differ() -> None:
    """Every difference of a system from itself is 0."""
    rows = [
        {
            "query": f"q{row}",
            "system": system,
            "nugget": f"n{place}",
            "importance": "vital",
            "label": NUGGET[(row * place) % 3],
        }
        for system in ("one", "two")
        for row in range(9)
        for place in range(4)
    ]
    answers = {f"q{row}": "A." * row for row in range(9)}
    report = judged.evaluate_answers({"one": answers, "two": answers}, labels=rows)

    assert {row["difference"] for row in judged.compare(report).rows("differences")} == {0.0}
