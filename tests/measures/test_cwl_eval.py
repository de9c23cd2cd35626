"""Readers go through results as those of cwl_eval do, and ir_measures' published values come out."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import judged
from judged.kernels.examples import make_ranking
from judged.measures.parse import parse_measure

Score = Callable[..., dict[str, Any]]

# Restated from terrierteam/ir_measures at dc04a88f (Apache-2.0): tests/cwl.qrels, tests/cwl.run, and the values
# of tests/test_cwl_eval.py, "based on a manual execution of cwl-eval".
GRADES = {
    "T1": {1: 1, 2: 0, 3: 1, 4: 1, 7: 1, 8: 0, 9: 1, 10: 0},
    "T2": {1: 1, 2: 1, 5: 1, 6: 0, 7: 1, 8: 1, 9: 1, 10: 0},
    "T3": {4: 0, 5: 0, 6: 1, 7: 1, 8: 1, 9: 0, 10: 1},
}
QRELS = {query: {f"D{n}": grade for n, grade in grades.items()} for query, grades in GRADES.items()}
RUN = {query: {f"D{n}": 11.0 - n for n in range(1, 11)} for query in QRELS}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("AP", (0.7087, 0.7438, 0.3068)),
        ("BPM(T=1.0, max_rel=1)@20", (1.0000, 1.0000, 0.1667)),
        ("BPM(T=2.0, max_rel=1)@10", (0.6667, 1.0000, 0.2857)),
        ("INSQ(T=1.0, max_rel=1)", (0.5872, 0.6629, 0.0880)),
        ("INSQ(T=2.0, max_rel=1)", (0.4513, 0.5068, 0.1292)),
        ("INST(T=1.0, max_rel=1)", (0.7934, 0.9226, 0.0888)),
        ("INST(T=2.0, max_rel=1)", (0.5994, 0.6924, 0.1397)),
        ("SDCG(max_rel=1)@10", (0.5645, 0.6531, 0.2848)),
        ("NERR8(max_rel=1)@10", (1.0000, 1.0000, 0.1667)),
        ("NERR9(max_rel=1)@10", (1.0000, 1.0000, 0.0680)),
        ("NERR10(p=0.8, max_rel=1)", (1.0000, 1.0000, 0.0888)),
        ("NERR11(T=2.0, max_rel=1)", (1.0000, 1.0000, 0.0691)),
        ("P@5", (0.6000, 0.6000, 0.0000)),
        ("RBP(p=0.9, rel=1)", (0.3501, 0.3996, 0.1988)),
        ("RR", (1.0000, 1.0000, 0.1667)),
    ],
)
def test_published_values_come_out(score: Score, measure: str, expected: tuple[float, ...]) -> None:
    """ir_measures' spelling, its inputs, its values."""
    assert tuple(score(QRELS, RUN, measure).values()) == pytest.approx(expected, abs=1e-4)


MODELS = [
    ("RBP(p=0.9, gain='linear', max_grade=4)", "rbp", {"p": 0.9}, ("rbp", "RBPCWLMetric", (0.9,))),
    ("INSQ(T=1.5, max_grade=4)", "insq", {"T": 1.5}, ("insq", "INSQCWLMetric", (1.5,))),
    ("INST(T=1, max_grade=4)", "inst", {"T": 1}, ("inst", "INSTCWLMetric", (1.0,))),
    ("INST(T=2.5, max_grade=4)", "inst", {"T": 2.5}, ("inst", "INSTCWLMetric", (2.5,))),
    ("BPM(T=1.5, max_grade=4)@7", "bpm", {"T": 1.5, "cutoff": 7}, ("bpm", "BPMCWLMetric", (1.5, 7))),
    (
        "BPM(T=2, hb=0.5, gain_med=0.25, max_grade=4)@9",
        None,
        {},
        ("bpm", "BPMDCWLMetric", (2.0, 9, 0.5, 0.5, 0.25)),
    ),
    ("SDCG(max_grade=4)@12", "sdcg", {"cutoff": 12}, ("dcg", "NDCGCWLMetric", (12,))),
    ("NERR8(max_grade=4)@12", "nerr8", {"cutoff": 12}, ("nerr", "NERReq8CWLMetric", (12,))),
    ("NERR9(max_grade=4)@12", "nerr9", {"cutoff": 12}, ("nerr", "NERReq9CWLMetric", (12,))),
    ("NERR10(p=0.7, max_grade=4)", "nerr10", {"p": 0.7}, ("nerr", "NERReq10CWLMetric", (0.7,))),
    ("NERR11(T=2, max_grade=4)", "nerr11", {"T": 2}, ("nerr", "NERReq11CWLMetric", (2.0,))),
]
STOPPING = {"bpm", "sdcg", "nerr8", "nerr9"}
"""Models whose readers have all stopped before cwl_eval's list ends."""


def found(seed: int) -> list[int | None]:
    """Thirty results, some of them unjudged."""
    chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
    return [chance.choice([None, None, 0, 0, 1, 2, 3, 4]) for _ in range(30)]


def cwl_eval(metric: tuple[str, str, tuple[float, ...]], grades: list[int | None]) -> Any:
    """The metric of cwl_eval after it has measured the grades, with its residuals."""
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    module, name, arguments = metric
    gains = [math.nan if grade is None else grade / 4 for grade in grades]
    ranking = import_module("cwl.ruler.ranking").Ranking("q", gains, [1.0] * len(gains))
    made = getattr(import_module(f"cwl.ruler.measures.cwl_{module}"), name)(*arguments)
    made.residuals = True
    made.measure(ranking)
    return made


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("measure", "model", "given", "metric"), MODELS, ids=[model[0] for model in MODELS])
def test_agrees_with_cwl_eval(
    measure: str, model: str | None, given: dict[str, float], metric: Any, seed: int
) -> None:
    """Rate, depth, total and residual of random graded results are those of the tool itself (1.0.12)."""
    grades = found(seed)
    view, expected = make_ranking(grades), cwl_eval(metric, grades)

    def ours(name: str) -> Any:
        return parse_measure(name)(model=model, max_grade=4, **given).per_query(view)[0]

    assert parse_measure(measure).per_query(view) == pytest.approx([expected.expected_utility], abs=1e-12)
    if model is None:
        return
    assert ours("ED") == pytest.approx(expected.expected_items, rel=1e-12)
    assert ours("EU_residual") == pytest.approx(expected.residual_expected_utility, abs=1e-12)
    if model in STOPPING:
        assert ours("ETU") == pytest.approx(expected.expected_total_utility, abs=1e-12)


def test_the_patience_of_a_dynamic_player_moves() -> None:
    """By hand: with `hc=2` the first result, 0.5 above the median, raises a patience of 2 to 3.

    The next one, 0.5 below, brings it back to 2, so that the third is the last. With a median of 0 the patience
    goes to 4 and stays there.
    """
    view = make_ranking([1, 0, 0, 0])

    assert parse_measure("BPM(T=9)@2").per_query(view) == pytest.approx([1 / 2])
    assert parse_measure("BPM(T=9, hc=2)@2").per_query(view) == pytest.approx([1 / 3])
    assert parse_measure("BPM(T=9, hc=2, gain_med=0)@2").per_query(view) == pytest.approx([1 / 4])


def test_a_longer_list_has_a_longer_tail() -> None:
    """INSQ by hand, T = 1/2: the weights of the first d ranks are 1/i², whose sum tends to π²/6."""
    view = make_ranking([1])
    known = parse_measure("INSQ(T=0.5, depth=100000)").per_query(view)[0]

    assert known == pytest.approx(6 / math.pi**2, abs=1e-5)
    assert parse_measure("INSQ(T=0.5, depth=2)").per_query(view)[0] == pytest.approx(4 / 5)


def test_a_limit_that_has_moved_is_reached_in_exact_arithmetic() -> None:
    """Wanting 3, and one half less after each result but a third more after the one of gain 1/3, ends at rank 7.

    There the gain 1/3 meets 3 + 1/3 - 6/2 = 1/3; in floating point the sum is a little larger.
    """
    measure = 'BPM(T=3, hb=1, gain="exp", max_grade=2)@8'
    value = judged.evaluate({"q": {"a": 1}}, {"q": ["x", "y", "a"]}, measure)[measure]

    assert value == pytest.approx(1 / 21, abs=1e-12)
