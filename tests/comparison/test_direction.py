"""The direction of a measure: less may be better, or neither way; every statistic follows it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.blocks import Display, Table
from judged.comparison.contrasts import Contrast, PairedScores, contrast_systems
from judged.comparison.extra_tests import EXTRA_TESTS, run_extra_test
from judged.comparison.settings import Settings, choose_settings
from judged.errors import BadMeasure
from judged.stats.margin import Equivalence

NAMES = ("one", "two", "three")
DIFFERENCES = (
    "difference",
    "low",
    "high",
    "mean",
    "baseline_mean",
    "first_mean",
    "second_mean",
    "statistic",
    "effect",
    "hedges",
)
"""What is shown as measured, so that it changes its sign with the values; everything else says better or worse."""


def _runs() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments of 30 queries, a run with the relevant documents first, and one with them last."""
    rng = random.Random(1)  # noqa: S311
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"good": {}, "bad": {}}
    for number in range(30):
        documents = [f"d{place}" for place in range(20)]
        wrong = set(rng.sample(documents, 10))
        qrels[f"q{number}"] = {document: int(document not in wrong) for document in documents}
        for name, sign in (("good", 1), ("bad", -1)):
            order = sorted(documents, key=lambda document: sign * (document in wrong) + 1.3 * rng.random())
            runs[name][f"q{number}"] = {document: float(-place) for place, document in enumerate(order)}
    return qrels, runs


QRELS, RUNS = _runs()


@pytest.mark.parametrize("measure", ["FallOut@10", "nDCG@10"])
def test_the_better_system_is_better_by_every_statistic(measure: str) -> None:
    """Of FallOut less is better: leaderboard, counts, posterior, equivalence and risk all say so."""
    also = ["bayesian", "equivalence", "risk"]
    made = judged.compare(QRELS, RUNS, [measure], baseline="bad", also=also, rope=0.05)
    contrast, equivalence = made.contrast("good"), made.equivalence("good", margin=0.05)
    posteriors = made.extra["bayesian"][measure]
    risk = {row["system"]: row for row in made.extra["risk"][measure]}

    assert made.ranked() == ["good", "bad"]
    assert made.beaten("good", measure) == ["bad"]
    assert contrast.superiority == 1.0
    assert [round(row["better"] - row["worse"], 4) for row in posteriors] == [1.0, 1.0]
    assert {row["difference"] > 0 for row in posteriors} == {contrast.difference > 0}
    assert isinstance(equivalence, Equivalence)
    assert equivalence.p_not_worse < 1e-9
    assert equivalence.p_not_better > 0.99
    assert [row["p_not_worse"] for row in made.extra["equivalence"][measure]] == [equivalence.p_not_worse]
    assert risk["good"]["trisk (bad)"] > 5


@pytest.mark.parametrize("measure", ["ED(depth=20)", "ED(depth=5)"])
def test_a_measure_that_describes_has_no_winners(measure: str) -> None:
    """Counts are neither good nor bad: no wins, no P(better), no marks, no query helped or hurt."""
    made = judged.compare(QRELS, RUNS, [measure], baseline="bad")
    contrast = made.contrast("good")
    row = made.to_arrow().to_pylist()[0]

    assert (contrast.superiority, contrast.count) == (None, None)
    assert (row["superiority"], row["wins"], row["ties"], row["losses"]) == (None, None, None, None)
    assert made.most_helped("good") == made.most_hurt("good") == []
    assert [made.beaten(name, measure) for name in RUNS] == [[], []]
    assert made.ranked() == list(RUNS)
    assert not [
        block for block in made.blocks(Display()) if "changed most" in str(getattr(block, "title", ""))
    ]
    with pytest.raises(BadMeasure, match="neither higher nor lower"):
        made.equivalence("good", margin=0.05)


@pytest.mark.parametrize("name", ["bayesian", "friedman", "risk", "equivalence", "agreement"])
def test_a_test_of_better_says_why_it_has_nothing_to_say(name: str) -> None:
    """A row says that the measure has no better direction; other measures have their rows."""
    made = judged.compare(QRELS, RUNS, ["ED(depth=20)", "AP", "RR"], baseline="bad", also=[name])

    assert made.extra[name]["ED(depth=20)"] == [
        {"outcome": "neither higher nor lower values of ED(depth=20) are better"}
    ]
    assert all(row.get("other measure") != "ED(depth=20)" for row in made.extra[name]["AP"])
    assert any(isinstance(block, Table) for block in made.blocks(Display()))


def _mirror(scores: PairedScores) -> PairedScores:
    """The same systems by a measure whose values have the other sign, of which less is better."""
    return replace(scores, values=0.0 - scores.values, higher_is_better=not scores.higher_is_better)


@st.composite
def paired(draw: st.DrawFn) -> PairedScores:
    """Scores of three systems on a few queries, of which more is better."""
    cell = st.integers(0, 8).map(lambda eighths: eighths / 8)
    rows = draw(st.lists(st.tuples(cell, cell, cell), min_size=3, max_size=9))
    return PairedScores("M", NAMES, tuple(f"q{row}" for row in range(len(rows))), np.array(rows))


def _compare(scores: PairedScores, chosen: Settings) -> judged.Comparison:
    contrasts = contrast_systems(scores, [(0, 2), (1, 2)], chosen)
    return judged.Comparison(NAMES, ("three",), chosen, (scores,), (), tuple(contrasts))


def _turn(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the mirrored scores as that of the scores themselves would be."""
    turned = {
        name: -value if name in DIFFERENCES and isinstance(value, float) else value
        for name, value in row.items()
    }
    if "low" in row and "high" in row:
        turned["low"], turned["high"] = turned["high"], turned["low"]
    return turned


def _close(row: dict[str, Any], other: dict[str, Any]) -> bool:
    return row.keys() == other.keys() and all(
        value == other[name] or (isinstance(value, float) and value == pytest.approx(other[name], abs=1e-9))
        for name, value in row.items()
    )


@pytest.mark.parametrize("name", sorted(EXTRA_TESTS))
@settings(max_examples=25, deadline=None)
@given(scores=paired())
def test_every_extra_test_follows_the_direction(name: str, scores: PairedScores) -> None:
    """Values of the other sign, of which less is better, lead to the same verdicts."""
    chosen = choose_settings(resamples=200)
    plain, mirrored = (
        run_extra_test(_compare(some, chosen), name)["M"] for some in (scores, _mirror(scores))
    )
    if name == "risk":  # GeoRisk is of values from 0
        plain, mirrored = ([row | {"georisk": None} for row in rows] for rows in (plain, mirrored))

    if name != "friedman":  # ranks start at the best, so that their differences say better or worse
        mirrored = [_turn(row) for row in mirrored]

    assert len(plain) == len(mirrored)
    assert all(_close(row, other) for row, other in zip(plain, mirrored, strict=True))


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon", "sign", "bootstrap", "welch"])
@settings(max_examples=25, deadline=None)
@given(scores=paired())
def test_every_contrast_follows_the_direction(test: str, scores: PairedScores) -> None:
    """Counts, P(better) and p-values are the same; the difference, its interval and effects change their sign."""
    chosen = choose_settings(test=test, resamples=200)

    def row(contrast: Contrast) -> dict[str, Any]:
        return {
            name: value for name, value in contrast.to_dict().items() if name not in {"statistic", "relative"}
        }

    plain, mirrored = (contrast_systems(some, [(0, 1)], chosen) for some in (scores, _mirror(scores)))

    assert _close(row(plain[0]), _turn(row(mirrored[0])))


@settings(max_examples=25, deadline=None)
@given(scores=paired())
def test_equivalence_follows_the_direction(scores: PairedScores) -> None:
    """`p_not_worse` stays that of no worse."""
    chosen = choose_settings(resamples=200)
    plain, mirrored = (
        _compare(some, chosen).equivalence("one", margin=0.1) for some in (scores, _mirror(scores))
    )

    assert plain == mirrored
