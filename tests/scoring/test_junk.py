"""Junk: documents of negative grade are removed before ranks are counted, where the protocol says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import judged

# a query of revisited Oxford and Paris: the ranking J P N P J P, and a positive that is not retrieved
QRELS = {"q": {"p1": 1, "p2": 1, "p3": 1, "p4": 1, "j1": -1, "j2": -1, "n": 0}}
RUN = {"q": ["j1", "p1", "n", "p2", "j2", "p3"]}
TRAPEZOID = 'AP(interpolation="trapezoid")'


@pytest.mark.parametrize(
    ("measure", "negative", "value"),
    [
        # by hand, without junk P N P P: precisions above and at the positives are 1, 1; 1/2, 2/3; 2/3, 3/4
        (TRAPEZOID, "removed", (1 + (1 / 2 + 2 / 3) / 2 + (2 / 3 + 3 / 4) / 2) / 4),
        ("AP", "removed", (1 + 2 / 3 + 3 / 4) / 4),
        ("AP", "unjudged", (1 / 2 + 2 / 4 + 3 / 6) / 4),
        ("P@5", "removed", 3 / 5),
        ("NumRet", "removed", 4),
    ],
)
def test_junk_leaves_no_trace(measure: str, negative: str, value: float) -> None:
    """Ranks, precisions and counts are those of the list without it."""
    found = judged.evaluate(QRELS, RUN, measure, protocol={"negative": negative})

    assert found[measure] == pytest.approx(value)


def test_removed_junk_is_counted_in_a_note() -> None:
    """The report says how many results were taken out."""
    found = judged.evaluate(QRELS, RUN, "AP", protocol={"negative": "removed"})

    assert "2 results have a negative grade: removed" in [note.message for note in found.notes]


def compute_ap(ranks: list[int], positives: int) -> float:
    """Compute average precision as `compute_ap` of revisitop does, from zero-based ranks of the positives."""
    ap, step = 0.0, 1.0 / positives
    for j, rank in enumerate(ranks):
        above = 1.0 if rank == 0 else j / rank
        ap += (above + (j + 1) / (rank + 1)) * step / 2
    return ap


@settings(max_examples=200, deadline=None)
@given(grades=st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=12), missed=st.integers(0, 2))
def test_the_revisited_protocol_is_the_published_formula(grades: list[int], missed: int) -> None:
    """Positions of positives, less the junk above them, through the trapezoid rule; a query without positives is skipped."""
    qrels: dict[str, dict[str, float]] = {"q": {f"d{i}": grade for i, grade in enumerate(grades)}}
    qrels["q"] |= {f"missed{i}": 1 for i in range(missed)}
    qrels["other"] = {"x": 1}
    run = {"q": [f"d{i}" for i in range(len(grades))], "other": ["x"]}
    positives = grades.count(1) + missed
    ranks = [i - grades[:i].count(-1) for i, grade in enumerate(grades) if grade == 1]
    found = judged.evaluate(qrels, run, TRAPEZOID, protocol={"negative": "removed", "no_relevant": "skip"})

    values = found.per_query().by_query(TRAPEZOID)
    assert ("q" in values) == (positives > 0)
    if positives:
        assert values["q"] == pytest.approx(compute_ap(ranks, positives))


RULES = ["document-descending", "document-ascending", "input-order", "expected", "pessimistic", "optimistic"]


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([-1, 0, 1, 2, None])),
        min_size=1,
        max_size=6,
    ),
    ties=st.sampled_from(RULES),
    depth=st.sampled_from([None, 2]),
)
def test_removal_is_the_same_as_never_having_retrieved_it(
    rows: list[tuple[float, int | None]], ties: Any, depth: int | None
) -> None:
    """Under every rule of ties and depth, a run without its junk has the same values to the last bit."""
    qrels = {"q": {f"d{i}": grade for i, (_, grade) in enumerate(rows) if grade is not None} | {"x": 1}}
    every = {"q": {f"d{i}": score for i, (score, _) in enumerate(rows)}}
    clean = {"q": {name: score for name, score in every["q"].items() if qrels["q"].get(name, 0) >= 0}}
    measures = ["AP", "nDCG@3", "RR", "P@2", "Rprec", "AP_R", "Judged@2", "NumRet", "Bpref"]
    removed = judged.Protocol(ties=ties, depth=depth, negative="removed")
    found = judged.evaluate(qrels, every, measures, protocol=removed).mean()
    expected = judged.evaluate(qrels, clean, measures, protocol=removed.replace(negative="unjudged")).mean()

    assert found == expected
    if ties in {"document-descending", "document-ascending", "input-order"} and every["q"]:
        explained = judged.explain(qrels, every, "AP", query="q", protocol=removed)
        assert explained.value == pytest.approx(expected["AP"])
