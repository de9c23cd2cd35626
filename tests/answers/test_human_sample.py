"""A human sample: agreement with a model's labels, and means corrected by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged.stats.rater_agreement import cohen_kappa

LABELS = ("not_support", "partial_support", "support")
Rows = list[dict[str, Any]]


def draw(rng: np.random.Generator, queries: int, sampled: int, nuggets: int = 4) -> tuple[Rows, Rows, float]:
    """Return a model's labels, those of people on the first queries, and the true mean: the model is too generous."""
    truth = rng.integers(0, 3, (queries, nuggets))
    generous = np.minimum(truth + (rng.random((queries, nuggets)) < 0.4), 2)

    def rows(levels: np.ndarray[Any, Any], count: int) -> Rows:
        return [
            {"query": f"q{query:04}", "nugget": f"n{nugget}", "label": LABELS[levels[query, nugget]]}
            for query in range(count)
            for nugget in range(nuggets)
        ]

    return rows(generous, queries), rows(truth, sampled), float(truth.mean() / 2)


def evaluate(labels: Rows, human: Rows, queries: int) -> judged.answers.AnswerReport:
    """Return the report of one system."""
    answers = {"bot": {f"q{query:04}": "A." for query in range(queries)}}
    return judged.evaluate_answers(answers, labels=labels, human=human, measures="NuggetRecall")


def test_agreement_and_corrected_mean() -> None:
    """κ is that of the labels paired; the corrected mean moves toward people's, by their mean difference if fully trusted."""
    labels, human, _ = draw(np.random.default_rng(1), 60, 20)
    report = evaluate(labels, human, 60)
    assert report.human is not None
    (agreed,), (mean,) = report.human.agreement, report.human.means
    first, second = ([LABELS.index(row["label"]) for row in rows] for rows in (labels[:80], human))

    assert (agreed.labels, agreed.pairs) == ("nuggets", 80)
    assert agreed.kappa == pytest.approx(cohen_kappa(first, second).value)
    assert mean.queries == 20
    assert mean.corrected is not None
    assert mean.corrected < mean.labels
    assert "corrected" in report.tables()
    assert any(note.code == "human-sample" for note in report.notes)


def test_too_few_queries_have_a_reason() -> None:
    """Two are not enough, and a query that people labelled in part does not count."""
    labels, human, _ = draw(np.random.default_rng(2), 20, 3)
    report = evaluate(labels, human[:-1], 20)
    assert report.human is not None
    (mean,) = report.human.means

    assert (mean.corrected, mean.queries, mean.reason) == (None, 2, "2 of 3 queries")


@pytest.mark.parametrize("runs", [40, pytest.param(600, marks=pytest.mark.slow)])
def test_intervals_of_corrected_means_cover(runs: int) -> None:
    """The mean that people would give to all queries of the population lies in 95 % of the intervals, within chance."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(runs):
        labels, human, _ = draw(rng, 40, 15)
        report = evaluate(labels, human, 40)
        assert report.human is not None
        (mean,) = report.human.means
        assert mean.low is not None
        assert mean.high is not None
        covered += mean.low <= 0.5 <= mean.high  # labels are uniform over 0, ½, 1
    spread = (0.95 * 0.05 / runs) ** 0.5

    assert covered / runs >= 0.95 - 3 * spread


def test_claims_that_people_labelled_in_part_do_not_count() -> None:
    """A query needs a label by people for every pair of claim and source that the model labelled."""

    def rows(claims: int) -> Rows:
        return [
            {
                "query": f"q{query}",
                "side": "response",
                "claim": f"c{claim}",
                "source": "d1",
                "label": "entailed",
            }
            for query in range(6)
            for claim in range(claims)
        ]

    answers = {"bot": {f"q{query}": "A." for query in range(6)}}
    report = judged.evaluate_answers(answers, labels=rows(3), human=rows(2), measures="Faithfulness")
    whole = judged.evaluate_answers(answers, labels=rows(3), human=rows(3), measures="Faithfulness")
    assert report.human is not None
    assert whole.human is not None

    assert (report.human.means[0].queries, whole.human.means[0].queries) == (0, 6)


def test_corrected_means_stay_on_the_scale() -> None:
    """Few queries have wide intervals, and no share is above 1."""
    labels, human, _ = draw(np.random.default_rng(5), 8, 3)
    report = evaluate(labels, human, 8)
    assert report.human is not None
    (mean,) = report.human.means

    assert mean.low is not None
    assert mean.high is not None
    assert 0 <= mean.low <= (mean.corrected or 0) <= mean.high <= 1


def test_attempts_are_averaged_on_both_sides() -> None:
    """A query counts if people labelled every attempt, by the mean of these; labels that agree correct nothing."""
    rows: Rows = [
        {
            "query": f"q{query}",
            "attempt": attempt,
            "nugget": "n",
            "label": LABELS[(query + (attempt == "b")) % 3],
        }
        for query in range(6)
        for attempt in "ab"
    ]
    answers = [{"query": row["query"], "attempt": row["attempt"], "answer": "A."} for row in rows]
    human = [row for row in rows if (row["query"], row["attempt"]) != ("q5", "b")]
    report = judged.evaluate_answers({"bot": answers}, labels=rows, human=human, measures="NuggetRecall")
    assert report.human is not None
    (mean,) = report.human.means

    assert mean.queries == 5
    assert mean.corrected == pytest.approx(mean.labels)
