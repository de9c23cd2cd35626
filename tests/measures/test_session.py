"""Measures of sessions: the worked examples of source document 001's conventions, and what is refused.

Values are those of the examples E1 to E10, which a script of its own computed from the conventions, and of the worked
example that goes with the document; the arithmetic stands beside those that are not in them. A session is a list of
iterations, a result a name and its gain; the same name again is a duplicate.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from judged.agents.examples import make_sessions
from judged.agents.kernels import SessionView
from judged.agents.measures import SESSION_MEASURES
from judged.errors import BadMeasure
from judged.measures.measure import pooled_value
from judged.measures.parse import parse_measure

E1 = ["a3 b1 c4 | a3 d0", "b1 e2 c4", "f0 g2 a3 e2"]
E2 = ["a3 b0", "", "c2"]
E2_THINKING = ["a3 b0", "c2"]
E4, E4_HIGHEST = ["a1 b3", "a3 c0"], ["a3 b3", "a3 c0"]
E5 = ["a3 b? c0", "b2 d?"]
E6 = ["a3 x0", "b2", "a3 x0"]
E7 = ["a2", "b2", "c2"]
E8 = ["a2 a2 b2"]
E9 = [["a2 b0"], ["a2 b0 c0 d0 e0 f0 g0 h0 i0 j0"]]
E10 = ["a3 c2"]
WORKED = ["a4 b3 c1 d0 a4", "e2 a4 b3", "f1 g2 a4 e2"]


def value(text: str, steps: SessionView) -> float:
    """What the measure that a text names makes of the only session."""
    (only,) = parse_measure(text, family="session").per_query(steps).tolist()
    return float(only)


NAMES = ("R", "UR", "GR", "Dup", "CG", "RG", "DCG", "DRG", "AvgGain", "RAG", "DRAG", "SRE", "SRR")


@pytest.mark.parametrize(
    ("iteration", "expected"),
    [
        (1, (5, 4, 2, 1, 7, 7, 7, 7, 1.4, 1.4, 1.4, 0.4, 0.2)),
        (2, (8, 5, 3, 3, 9, 4.5, 8.261860, 4.130930, 0.666667, 1.033333, 0.910310, 0.375, 0.375)),
        (3, (12, 7, 4, 5, 11, 3.666667, 9.261860, 3.087287, 0.5, 0.855556, 0.690207, 0.333333, 0.416667)),
    ],
)
@pytest.mark.parametrize("session", [E1, WORKED], ids=["E1", "worked"])
def test_the_worked_examples_come_out(
    session: list[str], iteration: int, expected: tuple[float, ...]
) -> None:
    """E1 and the worked example, which have the same counts and gains: per iteration R 5, 3, 4 and G 7, 2, 2."""
    steps = make_sessions(session)

    assert [value(f"{name}@{iteration}", steps) for name in NAMES] == pytest.approx(expected, abs=5e-7)


def test_the_parts_of_the_worked_examples_come_out() -> None:
    """Iteration by iteration: R 5, 3, 4; UR 4, 1, 2; G 7, 2, 2; Dup 1, 2, 2; the third adds the last good result."""
    steps = make_sessions(WORKED)

    assert steps.results.tolist() == [5, 3, 4]
    assert steps.new.tolist() == [4, 1, 2]
    assert steps.duplicates.tolist() == [1, 2, 2]
    assert [value(f"MarginalGain@{i}", steps) for i in (1, 2, 3)] == [7, 2, 2]
    assert value("IterationsForAllGoodResults", steps) == 3
    assert value("Searches", make_sessions(E1)) == 4


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (E2, {"N": 3, "RG@3": 1.666667, "RAG@3": 1.166667, "DRAG@3": 0.833333, "AvgGain@2": 0, "SRE@2": 0.5}),
        (E2_THINKING, {"N": 2, "RG@2": 2.5, "RAG@2": 1.75, "DRAG@2": 1.380930, "DCG@2": 4.261860}),
    ],
    ids=["found nothing", "did not search"],
)
def test_an_iteration_that_found_nothing_counts(session: list[str], expected: dict[str, float]) -> None:
    """E2: a search in vain is an iteration; a step that did not search is none, and is not in the view."""
    steps = make_sessions(session)

    assert {name: value(name, steps) for name in expected} == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [
        ("hold", {"RG": 3.666667, "DRG": 3.087287, "RAG": 0.855556, "DRAG": 0.690207}),
        ("pad", {"RG": 2.2, "DRG": 1.852372, "RAG": 0.513333, "DRAG": 0.414124}),
    ],
)
def test_beyond_the_last_iteration_values_are_held_or_rates_are_padded(
    beyond: str, expected: dict[str, float]
) -> None:
    """E3, E1 at iteration 5; sums and shares stay as they are either way."""
    steps = make_sessions(E1)
    stay = {"CG@5": 11, "DCG@5": 9.261860, "SRE@5": 0.333333, "SRR@5": 0.416667}

    assert {name: value(f'{name}(beyond="{beyond}")@5', steps) for name in expected} == pytest.approx(
        expected, abs=5e-7
    )
    assert {name: value(name, steps) for name in stay} == pytest.approx(stay, abs=5e-7)


def test_the_first_occurrence_carries_the_label() -> None:
    """E4: `a` is labelled 1 first and 3 later; by the first label CG is 3, by the highest it would be 6."""
    first, highest = make_sessions(E4), make_sessions(E4_HIGHEST)

    assert (value("CG@2", first), value("SRE@2", first)) == (3, 0.25)
    assert (value("CG@2", highest), value("SRE@2", highest)) == (6, 0.5)


def test_unlabelled_results_make_a_lower_and_an_upper_bound() -> None:
    """E5: `b` has its later label at its first occurrence; `d` is 0 below, and 4 above; 3 of 4 are labelled."""
    low, high = make_sessions(E5), make_sessions(E5).with_best_labels()

    assert (value("CG@2", low), value("SRE@2", low), value("Coverage", low)) == (5, 0.4, 0.75)
    assert (value("CG@2", high), value("SRE@2", high), value("Coverage", high)) == (9, 0.6, 1)
    assert value("DCG@2", high) == pytest.approx(7.523719, abs=5e-7)


@pytest.mark.parametrize(
    ("reference", "iterations", "reached"),
    [("a3 b2", 2, 1), ("a3 b2 z2", 100, 0), ("x0", math.nan, math.nan)],
)
def test_all_good_results_are_found_or_not(reference: str, iterations: float, reached: float) -> None:
    """E6: by its own results at 2; by a reference at 2 or never; without anything good to find there is no value."""
    steps = make_sessions(E6, reference=[reference])
    values = [
        value(f'{name}(reference="given")', steps)
        for name in ("IterationsForAllGoodResults", "AllGoodReached")
    ]

    assert values == pytest.approx([iterations, reached], nan_ok=True)
    assert [value(name, steps) for name in ("IterationsForAllGoodResults", "AllGoodReached")] == [2, 1]


def test_120_iterations_and_never_are_distinguished() -> None:
    """Both have the value 100; only the first was reached."""
    late = make_sessions([*["x0"] * 119, "a3"], reference=["a3"])
    never = make_sessions(["x0"], reference=["a3"])
    names = [f'{name}(reference="given")' for name in ("IterationsForAllGoodResults", "AllGoodReached")]

    assert [value(name, late) for name in names] == [100, 1]
    assert [value(name, never) for name in names] == [100, 0]
    assert value("IterationsForAllGoodResults", late) == 100


def test_without_good_results_there_is_no_iteration_by_which_all_were_found() -> None:
    """Undefined, not 0 and not 100."""
    assert math.isnan(value("IterationsForAllGoodResults", make_sessions(["a1"])))
    assert math.isnan(value("AllGoodReached", make_sessions([])))


def test_a_constant_yield_is_its_own_weighted_mean() -> None:
    """E7: a yield of 2.0 three times has RAG 2.0, DRAG 1.420620 as 001 writes it, and nDRAG 2.0."""
    steps = make_sessions(E7)

    assert [value(name, steps) for name in ("RAG", "DRAG", "nDRAG")] == pytest.approx(
        [2, 1.420620, 2], abs=5e-7
    )


def test_duplicates_within_an_iteration_are_redundant() -> None:
    """E8: of three results, the second is a duplicate: UR 2, SRR one third."""
    assert value("UR", make_sessions(E8)) == 2
    assert value("SRR", make_sessions(E8)) == pytest.approx(1 / 3)


def test_pooled_shares_weigh_results_and_means_weigh_sessions() -> None:
    """E9: SRE of 1/2 and 1/10 has the mean 0.3, and pooled 2/12."""
    steps = make_sessions(*E9)

    assert np.mean(SESSION_MEASURES["SRE"].per_query(steps)) == pytest.approx(0.3)
    assert pooled_value(SESSION_MEASURES["SRE_micro"], steps) == pytest.approx(0.166667, abs=5e-7)
    assert math.isnan(pooled_value(SESSION_MEASURES["SRR_micro"], make_sessions([], [""])))


def test_what_was_seen_in_an_earlier_turn_is_new_in_the_last() -> None:
    """E10: the last turn alone is in the view, so CG is 5 and nothing is redundant."""
    assert (value("CG", make_sessions(E10)), value("SRR", make_sessions(E10))) == (5, 0)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("CG(good=1)@3", 13),  # 7 + 1 (c), 2, 2 + 1 (f)
        ("CG(good=3)@3", 7),  # a4, b3
        ('CG(gain="binary")@3', 4),
        ('DCG(discount="zipf")@3', 7 + 2 / 2 + 2 / 3),
        ('DCG(discount="none")@3', 11),
        ("DCG(discount=0.5)@3", 7 + 2 * 0.5 + 2 * 0.25),
        ("Lost@1", 4 / 11),
        ("Lost@2", 2 / 11),
        ("Lost@last", 0),
        ("GainPerSearch@2", 9 / 2),
        # Four new results, then one, then two, dealt out by falling gain: 4 3 2 2, 1, 1 0; the ones are not good.
        ("nDCG@3", 9.261860 / 11),
        ("nDCG@1", 7 / 11),
        ("nDCG(good=1)@3", (8 + 2 / math.log2(3) + 3 / 2) / (11 + 1 / math.log2(3) + 1 / 2)),
        # 7 / 5 · 1 + 2 / 3 · 0.6309 + 2 / 4 · 0.5, over 2.1309
        ("nDRAG@3", (1.4 + 0.666667 * 0.630930 + 0.25) / 2.130930),
    ],
)
def test_parameters_and_what_lies_beyond_001(measure: str, expected: float) -> None:
    """The worked example once more, by hand."""
    assert value(measure, make_sessions(WORKED)) == pytest.approx(expected, abs=1e-6)


def test_gain_is_set_against_what_it_cost() -> None:
    """9 after two iterations of 800 and 400 tokens, 2 and 1 seconds, 4 and 2 cents; undefined where the trace does not say."""
    sessions = make_sessions(WORKED[:2], tokens=[[800, 400]], seconds=[[2, 1]], cost=[[0.04, 0.02]])
    part = make_sessions(WORKED[:2], tokens=[[800, math.nan]])

    assert (value("GainPerKiloToken", sessions), value("GainPerSecond", sessions)) == (7.5, 3)
    assert value("GainPerCost", sessions) == pytest.approx(150)
    assert value("GainPerKiloToken@1", part) == 7 / 0.8
    assert math.isnan(value("GainPerKiloToken", part))
    assert math.isnan(value("GainPerSecond", part))


def test_recall_is_of_a_reference() -> None:
    """Two of three good results, worth 6 of 9; a result that is not in the reference does not count."""
    steps = make_sessions(["a0 q4", "b?"], reference=["a4 b2 z3 y1"])

    assert [value(f"Recall@{i}", steps) for i in (1, 2)] == pytest.approx([1 / 3, 2 / 3])
    assert value('Recall(gain="graded")', steps) == pytest.approx(6 / 9)
    assert value("Recall(good=1)", steps) == 0.5


@pytest.mark.parametrize("measure", ["Recall@2", 'AllGoodReached(reference="given")'])
def test_without_a_reference_nothing_is_made_up(measure: str) -> None:
    """A measure that looks at what there was to find says that it is missing."""
    with pytest.raises(BadMeasure, match="needs a reference") as caught:
        value(measure, make_sessions(E1))

    assert "judgments of the tasks" in str(caught.value)


def test_a_measure_that_is_not_pooled_is_not_pooled() -> None:
    """Only shares of counts can be."""
    with pytest.raises(BadMeasure, match="CG@last is not pooled"):
        pooled_value(SESSION_MEASURES["CG"], make_sessions(E1))
