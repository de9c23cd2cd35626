"""Compatibility is the one that its authors' program and ir_measures compute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judged.kernels.examples import make_ranking
from judged.measures.ranked.compatibility import compatibility
from judged.scoring.evaluate import evaluate

Score = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("p", "first", "second"),
    [
        (0.95, 0.51779512165509, 0.018400100569017922),
        (0.9, 0.3761334522946854, 0.004344079941789211),
        (0.8, 0.16723008845234535, 0.00022806427320561776),
    ],
)
def test_agrees_with_the_program_of_its_authors(
    shared_data: Callable[[str], Path], p: float, first: float, second: float
) -> None:
    """Two real queries: claclark/Compatibility's values, as terrierteam/ir_measures tests them at dc04a88f."""
    folder = shared_data("compat_ir_measures")
    scores = evaluate(folder / "compat.qrels", folder / "compat.run", f"Compat(p={p})").per_query()
    values = scores[f"Compat(p={p})"]

    assert values == pytest.approx([first, second], abs=1e-9)


def test_a_missed_document_is_last_among_its_grade(score: Score) -> None:
    """By hand, p = 1/2, depth 3: the ideal is b (2), then a and the missed m (1).

    Results a, b: overlaps 0, 2, 2 over depths weigh 1, 1/2, 1/4: 0 + 1/2·2/2 + 1/4·2/3 = 2/3.
    The ideal with itself: 1 + 1/2 + 1/4 = 7/4. So 8/21; undivided, 2/3 of 7/4 again.
    """
    qrels, run = {"q": {"a": 1, "b": 2, "m": 1, "n": 0}}, {"q": {"a": 2.0, "b": 1.0}}

    assert score(qrels, run, "Compat(p=0.5, depth=3)")["q"] == pytest.approx(8 / 21)
    assert score(qrels, run, 'Compat(p=0.5, depth=3, over="everything")')["q"] == pytest.approx(8 / 21)


def test_a_short_ideal_is_divided_by_what_it_can_reach() -> None:
    """By hand, p = 1/2, depth 2: one document, first: (1 + 1/2·1/2) / (1 + 1/2) = 5/6 of everything."""
    found = make_ranking([1, 0])

    assert compatibility(found, p=0.5, depth=2) == pytest.approx([1.0])
    assert compatibility(found, p=0.5, depth=2, over="everything") == pytest.approx([5 / 6])


def test_agrees_with_ir_measures_where_it_is_installed(score: Score) -> None:
    """Graded lists with ties, unjudged and missed documents, against the tool itself."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    grades = [2, 0, 1, 3, 1, 2, 0, 1]
    qrels = {"q": {f"d{i}": grade for i, grade in enumerate(grades)} | {"m1": 3, "m2": 1}}
    run = {"q": {f"d{i}": 20.0 - (i * 5) % 8 for i in range(8)} | {"u1": 18.5, "u2": 1.0}}
    for p in (0.5, 0.8, 0.95):
        found = ir_measures.compat.calc_aggregate([ir_measures.Compat(p=p)], qrels, run)

        # ir_measures goes as deep as the longer list, which is 10 here.
        assert score(qrels, run, f"Compat(p={p}, depth=10)")["q"] == pytest.approx(*found.values(), abs=1e-12)
