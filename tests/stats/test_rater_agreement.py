"""Agreement of judges: statsmodels, the krippendorff package, Krippendorff's example, laws, outcomes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import BadSample, UnknownName
from judged.stats import Undefined, cohen_kappa, confusion_matrix, grade_bias, krippendorff_alpha

DISTANCES = pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval"])
WEIGHTS = pytest.mark.parametrize("weights", ["equal", "linear", "quadratic"])
_ = None

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
EXAMPLE = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]

grade = st.integers(0, 4)
pairs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.lists(grade, min_size=n, max_size=n), st.lists(grade, min_size=n, max_size=n))
)
panels = st.tuples(st.integers(2, 4), st.integers(1, 8)).flatmap(
    lambda shape: st.lists(
        st.lists(st.one_of(st.none(), grade), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@pytest.mark.parametrize(
    ("distance", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_example(distance: Any, published: float) -> None:
    """α as printed; one unit has a single label and is not compared, and 40 labels are."""
    alpha = krippendorff_alpha(EXAMPLE, distance=distance)

    assert alpha.value == pytest.approx(published, abs=0.0005)
    assert (alpha.items, alpha.alone, alpha.labels) == (11, 1, 40)


@DISTANCES
@given(panel=panels)
def test_alpha_agrees_with_the_krippendorff_package(distance: Any, panel: list[list[int | None]]) -> None:
    """The package krippendorff 0.9.0, wherever it has an answer."""
    import krippendorff

    alpha = krippendorff_alpha(panel, distance=distance).value
    if isinstance(alpha, Undefined):
        compared = [
            set(item) - {None} for item in zip(*panel, strict=True) if len(item) - item.count(None) > 1
        ]
        assert len(set().union(*compared)) < 2
        return
    data = np.array(
        [[math.nan if label is None else label for label in judge] for judge in panel], dtype=float
    )
    assert alpha == pytest.approx(
        krippendorff.alpha(reliability_data=data, level_of_measurement=distance), abs=1e-9
    )


@WEIGHTS
@given(pair=pairs)
def test_kappa_agrees_with_statsmodels(weights: Any, pair: tuple[list[int], list[int]]) -> None:
    """`cohens_kappa` of the table of all five grades, with their distances as weights."""
    from statsmodels.stats.inter_rater import cohens_kappa

    kappa = cohen_kappa(*pair, weights=weights).value
    if isinstance(kappa, Undefined):
        assert len({*pair[0], *pair[1]}) == 1
        return
    table = np.zeros((5, 5))
    np.add.at(table, (pair[0], pair[1]), 1)
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    distance = {"equal": None, "linear": steps, "quadratic": steps**2}[weights]
    message = cohens_kappa(table, weights=distance, return_results=False)
    assert kappa == pytest.approx(message, abs=1e-9)


def test_kappa_is_that_of_a_worked_example() -> None:
    """Grant proposals: 20 yes–yes, 5, 10, 15 no–no give observed 0.7, by chance 0.5, κ 0.4 (Cohen's formula)."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    kappa = cohen_kappa(first, second)

    assert (kappa.value, kappa.observed) == (pytest.approx(0.4), pytest.approx(0.7))


def test_weights_are_distances_of_grades_though_nobody_gave_some() -> None:
    """Grades 0, 1, 3: from 1 to 3 are two steps. One of four items is 2 apart; by chance 24 / 16.

    Chance: 0 meets 0, 3, 3, 0 (6, twice), 1 meets them (1 + 2 + 2 + 1 = 6), 3 likewise (6).
    """
    kappa = cohen_kappa([0, 1, 3, 0], [0, 3, 3, 0], weights="linear")

    assert kappa.value == pytest.approx(1 - (2 / 4) / (24 / 16))


@DISTANCES
@given(labels=st.lists(grade, min_size=2, max_size=10).filter(lambda labels: len(set(labels)) > 1))
def test_full_agreement_is_one(distance: Any, labels: list[int]) -> None:
    """Of any number of judges, with or without gaps."""
    assert krippendorff_alpha([labels] * 3, distance=distance).value == 1
    assert krippendorff_alpha([labels, [*labels[:-1], None], labels], distance=distance).value == 1
    assert cohen_kappa(labels, labels, weights="quadratic").value == 1


@DISTANCES
@given(panel=panels, shift=st.integers(-3, 3))
def test_judges_items_and_scale_may_be_exchanged(
    distance: Any, panel: list[list[int | None]], shift: int
) -> None:
    """The order of judges and items does not matter, nor what the lowest grade is called."""
    moved = [[None if label is None else label + shift for label in judge][::-1] for judge in panel[::-1]]
    there, back = (krippendorff_alpha(ratings, distance=distance).value for ratings in (panel, moved))

    assert isinstance(there, Undefined) == isinstance(back, Undefined)
    assert isinstance(there, Undefined) or there == pytest.approx(back, abs=1e-9)


@WEIGHTS
@given(pair=pairs)
def test_kappa_is_symmetrical_and_at_most_one(weights: Any, pair: tuple[list[int], list[int]]) -> None:
    """Exchanging the judges changes nothing."""
    there, back = (cohen_kappa(*raters, weights=weights).value for raters in (pair, pair[::-1]))

    assert isinstance(there, Undefined) or (there == pytest.approx(back, abs=1e-12) and there <= 1 + 1e-12)


def test_the_confusion_matrix_counts_pairs_of_labels() -> None:
    """Rows are the first judge's labels, columns the second's; items without both are counted apart."""
    found = confusion_matrix([0, 0, 1, 2, None, 2], [0, 1, 1, 2, 2, math.nan])

    assert found.labels == (0, 1, 2)
    assert found.counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert (found.items, found.missing) == (4, 2)
    assert found.rows()[0] == {"label": "0", "0": 1, "1": 1, "2": 0}


def test_bias_is_by_grade_of_the_reference() -> None:
    """Grade 0 was given 0, 1, 2: a mean of 1; grade 3 was given 3, 2: half the same, half a grade too low."""
    found = grade_bias([0, 0, 0, 3, 3, None], [0, 1, 2, 3, 2, 1])

    assert [(grade.grade, grade.items, grade.mean, grade.bias) for grade in found.grades] == [
        (0, 3, 1.0, 1.0),
        (3, 2, 2.5, -0.5),
    ]
    assert [grade.agreed for grade in found.grades] == pytest.approx([1 / 3, 0.5])
    assert (found.bias, found.items, found.missing) == (pytest.approx(0.4), 5, 1)


def test_arrays_and_lists_have_the_same_labels() -> None:
    """NumPy's numbers are Python's."""
    first, second = [0, 1, 2, 2], [0, 1, 1, 2]

    assert cohen_kappa(np.array(first), np.array(second)) == cohen_kappa(first, second)  # type: ignore[arg-type]
    assert krippendorff_alpha(np.array([first, second])) == krippendorff_alpha([first, second])  # type: ignore[arg-type]


def test_words_may_be_labels_and_have_no_distance() -> None:
    """Nominal agreement takes any label, of several kinds too; distances need numbers."""
    assert krippendorff_alpha([["a", 1, "b"], ["a", 1, "b"]]).value == 1
    for call in (
        lambda: cohen_kappa(["a", "b"], ["a", "b"], weights="linear"),
        lambda: krippendorff_alpha([["a", "b"], ["a", "b"]], distance="ordinal"),
        lambda: grade_bias(["a", "b"], ["a", "b"]),
    ):
        with pytest.raises(BadSample, match="the label 'a' is not a grade"):
            call()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (cohen_kappa([1, 1], [1, 1]).value, "undefined: no spread: both judges gave only `1`"),
        (cohen_kappa([None, 1], [1, None]).value, "undefined: no item has labels from two judges"),
        (cohen_kappa([], []).value, "undefined: no item has labels from two judges"),
        (krippendorff_alpha([[2, 2], [2, 2]]).value, "undefined: no spread: every label is `2`"),
        (krippendorff_alpha([[2, None], [None, 2]]).value, "undefined: no item has labels from two judges"),
        (grade_bias([None], [1]).bias, "undefined: no item has labels from two judges"),
    ],
)
def test_undefined_agreement_says_why(value: object, message: str) -> None:
    """One label throughout, and nothing in common."""
    assert str(value) == message


def test_what_cannot_be_paired_is_refused() -> None:
    """Different numbers of labels, a single judge, an unknown name."""
    with pytest.raises(BadSample, match="gave 2 and 1 labels"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(BadSample, match="gave 1 and 2 labels"):
        krippendorff_alpha([[1, 2], [1]])
    with pytest.raises(BadSample, match="labels of 1 judge"):
        krippendorff_alpha([[1, 2]])
    with pytest.raises(UnknownName, match="no distance of labels is called `ratio`"):
        krippendorff_alpha([[1], [1]], distance="ratio")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="did you mean `quadratic`"):
        cohen_kappa([1], [1], weights="quadratics")  # type: ignore[arg-type]
