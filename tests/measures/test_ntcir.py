"""NTCIR's measures say what pyNTCIREVAL says of its own sample, to the four places that it prints.

Inputs and values restated from mpkato/pyNTCIREVAL at db0b342f (MIT licence): `tests/dat/sample.rel` and
`tests/dat/sample.res`, and what `pyNTCIREVAL compute -r sample.rel -g 1:2:3 sample.lab` prints
(`res_test_compute.txt`), with `-g 1:4:9` (`res_test_compute_grade.txt`), with `--cutoffs 2`
(`res_test_compute_cutoff.txt`), and on the list without its unjudged document (`res_test_compute_label_j.txt`).

Its ERR and nERR take a gain over the highest gain plus 1 for the chance of stopping, which is ours only where
gains are 2^g − 1, as in none of these samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Score = Callable[..., dict[str, Any]]

GRADES = {3: ("01", "02", "03"), 2: ("04", "05", "06"), 1: ("07", "08", "09", "10"), 0: ("11",)}
QRELS = {"q": {f"dummy{number}": grade for grade, numbers in GRADES.items() for number in numbers}}
RUN = {"q": {"dummy11": 4.0, "dummy01": 3.0, "dummy12": 2.0, "dummy04": 1.0}}
SQUARES = "gains={1: 1, 2: 4, 3: 9}"


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("RR", 0.5),
        ("O", 0.5),
        ("P_measure", 0.5),
        ("P_plus", 0.5),
        ("AP", 0.1),
        ("Q", 0.0967),
        ("NCUguP", 0.1316),
        ("NCUguBR", 0.1281),
        ("NCUrbP", 0.1215),
        ("NCUrbBR", 0.1175),
        ("RBP(p=0.95, gain='linear')", 0.0761),
        ("Q@1000", 0.0967),
        ("nDCG_JK@1000", 0.3380),
        ("MSnDCG@1000", 0.2760),
        # gains of 1, 4 and 9
        (f"Q({SQUARES})", 0.0929),
        (f"NCU(stop='graded', beta=0, {SQUARES})", 0.1512),
        (f"NCU(stop='graded', {SQUARES})", 0.1445),
        (f"NCU(stop='biased', {SQUARES})", 0.1130),
        ("NCU(stop='graded', beta=0, stops={1: 1, 2: 4, 3: 9})", 0.1512),
        (f"nDCG_JK({SQUARES})@1000", 0.3636),
        (f"MSnDCG({SQUARES})@1000", 0.2947),
        # the first two results
        ("AP(over='cutoff')@2", 0.25),
        ("Q@2", 0.25),
        ("nDCG_JK@2", 0.5),
        ("MSnDCG@2", 0.3869),
    ],
)
def test_agrees_with_the_published_sample(score: Score, measure: str, expected: float) -> None:
    """Each value is the one that was published."""
    assert score(QRELS, RUN, measure)["q"] == pytest.approx(expected, abs=5.0001e-5)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Q", 0.1083),
        ("NCUguP", 0.1491),
        ("NCUguBR", 0.1404),
        ("NCUrbP", 0.1412),
        ("NCUrbBR", 0.1314),
        ("nDCG_JK@1000", 0.3601),
        ("MSnDCG@1000", 0.2899),
    ],
)
def test_agrees_on_the_condensed_list(score: Score, measure: str, expected: float) -> None:
    """A protocol that removes unjudged documents is the option `-j`."""
    assert score(QRELS, RUN, measure, unjudged="removed")["q"] == pytest.approx(expected, abs=5.0001e-5)


def test_beta_of_0_leaves_precision(score: Score) -> None:
    """Q is then average precision, O the reciprocal rank, and NCU with uniform stops Q."""
    assert score(QRELS, RUN, "Q(beta=0)") == score(QRELS, RUN, "AP")
    assert score(QRELS, RUN, "O(beta=0)") == score(QRELS, RUN, "RR")
    assert score(QRELS, RUN, 'NCU(stop="uniform")') == pytest.approx(score(QRELS, RUN, "Q"))


def test_the_most_relevant_result_is_the_preferred_one(score: Score) -> None:
    """By hand: grades 1, 0, 3 of 3, 1. Ratios: (1+1)/(1+3) at rank 1, (2+4)/(3+4) at rank 3."""
    qrels, run = {"q": {"a": 1, "b": 0, "c": 3}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}

    assert score(qrels, run, "O")["q"] == 0.5
    assert score(qrels, run, "P_measure")["q"] == pytest.approx(6 / 7)
    assert score(qrels, run, "P_plus")["q"] == pytest.approx((1 / 2 + 6 / 7) / 2)
