"""The exact arithmetic behind the suite, against results that are known from elsewhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from conformance.exact.arithmetic import discounted, geometric_mean, ratio, root, written
from conformance.exact.lists import List
from conformance.exact.measured import MEASURES, measured
from conformance.exact.protocol import (
    DEFAULT,
    Grade,
    Refused,
    as_single,
    checked,
    judgments_of,
    ordered,
    orders,
    results_of,
)
from judged.measures.parse import parse_measure

CUT = {"P", "R", "DR", "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "P_IA", "StRecall"}
"""Measures that need a cutoff."""


def listed(*grades: int | None, missed: tuple[int, ...] = ()) -> List:
    """One query from its grades in rank order."""
    found = tuple(None if grade is None else Fraction(grade) for grade in grades)
    judged = tuple(grade for grade in found if grade is not None) + tuple(map(Fraction, missed))
    return List(found, judged, Fraction(1), highest=max((*judged, Fraction(1))))


@pytest.mark.parametrize(
    ("name", "parameters", "grades", "value"),
    [
        ("AP", {}, (1, 0, 1), "5/6"),
        ("P", {"cutoff": 4}, (1, 0, None, 1), "1/2"),
        ("RR", {"cutoff": 2}, (0, 0, 1), "0"),
        ("ERR", {"max_grade": 1}, (1, 1), "5/8"),
        ("RBP", {"p": 0.5}, (1, 0, 1), "5/8"),
        ("Bpref", {}, (1, 0, None, 1), "1/2"),
        ("infAP", {}, (-1, 1), "3/4"),
        ("nDCG", {}, (3, 2, 1), "1"),
        ("DCG", {}, (3, 0, 2), "4"),
        ("IPrec", {"recall": 0.5}, (0, 1, 1), "2/3"),
        ("SetF", {}, (1, 0), "2/3"),
    ],
)
def test_measures_by_hand(
    name: str, parameters: dict[str, Any], grades: tuple[int | None, ...], value: str
) -> None:
    """Short lists whose values can be worked out on paper."""
    assert written(measured(listed(*grades), name, parameters)) == value


def test_ties_left_open_are_all_orders_of_distinguishable_results() -> None:
    """Two documents of the same judgments make three orders with a third, not six."""
    rows = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("z", 0.5)]
    judged: dict[str, Grade] = {"a": Fraction(1)}

    assert orders(rows, judged, {**DEFAULT, "ties": "expected"}) == [
        ["a", "b", "b", "z"],
        ["b", "a", "b", "z"],
        ["b", "b", "a", "z"],
    ]


@pytest.mark.parametrize(
    ("name", "parameters", "value"),
    [
        ("alpha_DCG", {"cutoff": 1}, "1/2"),
        ("ERR_IA", {"cutoff": 2}, "7/10"),
        ("NRBP", {}, "21/32"),
        ("AP_IA", {}, "3/4"),
        ("P_IA", {"cutoff": 2}, "3/4"),
        ("StRecall", {"cutoff": 1}, "1/2"),
        ("nNRBP", {}, "1"),
    ],
)
def test_measures_of_intents_by_hand(name: str, parameters: dict[str, Any], value: str) -> None:
    """The first result answers one of two intents, and the second both."""
    one, both = {"1": Fraction(1)}, {"1": Fraction(1), "2": Fraction(1)}
    query = replace(listed(1, 1), answers=(one, both), documents={"a": one, "b": both})
    if name == "nNRBP":
        query = replace(query, answers=(both, one))

    assert written(measured(query, name, parameters)) == value


def test_every_measure_is_one_of_judged() -> None:
    """The names are those of judged's measures."""
    needed = {"IA": 'IA(of="RR")'} | {name: f"{name}@1" for name in MEASURES if name in CUT}

    assert all(parse_measure(needed.get(name, name)).name == name for name in MEASURES)


def test_discounts_that_are_powers_are_exact() -> None:
    """1/log₂4 is a half and 1/log₂9 half of 1/log₂3, so such ratios are fractions."""
    assert root(64) == (2, 6)
    assert discounted([Fraction(0)] * 2 + [Fraction(1)]) == {2: Fraction(1, 2)}
    assert ratio(
        discounted([Fraction(0)] * 7 + [Fraction(1)]), discounted([Fraction(0), Fraction(1)])
    ) == Fraction(1, 2)


def test_numbers_are_written_to_thirty_digits() -> None:
    """√(10⁻⁵) = 0.00316227766016837933199889354443…, as tables have it."""
    assert written(geometric_mean([Fraction(1), Fraction(0)])).startswith("0.0031622776601683793319988935444")


def test_scores_are_rounded_to_single_precision() -> None:
    """16777217 has no 32-bit float, and 1e39 is beyond them."""
    assert as_single(16777217.0) == 16777216.0
    assert as_single(1e39) == float("inf")


def test_ties_are_broken_as_the_protocol_says() -> None:
    """By id from the greatest down, from the least up, or as given."""
    rows = [("b", 1.0), ("c", 1.0), ("a", 1.0), ("z", 0.5)]
    orders = {
        rule: ordered(rows, {**DEFAULT, "ties": rule})
        for rule in ("document-descending", "document-ascending", "input-order")
    }

    assert orders == {
        "document-descending": ["c", "b", "a", "z"],
        "document-ascending": ["a", "b", "c", "z"],
        "input-order": ["b", "c", "a", "z"],
    }


@pytest.mark.parametrize("text", ["1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", "1 Q0 a 1 nan t\n"])
def test_meaningless_runs_are_refused(text: str) -> None:
    """A document twice, or a score that is no number."""
    with pytest.raises(Refused):
        checked(results_of(text))


def test_a_document_judged_twice_is_refused() -> None:
    """Whatever its grades are."""
    with pytest.raises(Refused):
        judgments_of("1 0 a 1\n1 0 a 0\n")
