"""The suite is what its sources say, in the form that its schema says, and right by independent reckonings."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.exact.arithmetic import WORKING, decimal, written
from conformance.exact.expression import evaluated
from conformance.make import SUITE, THEMES, recorded_values, text_of, themes
from conformance.source.case import Theme

FILES = sorted(path for path in SUITE.glob("*.json") if path.name != "case.schema.json")
CASES = [case for path in FILES for case in json.loads(path.read_text(encoding="utf-8"))["cases"]]
MEASURES = [(case, measure) for case in CASES for measure in case["measures"]]
DIFFERENT = {
    "trec_eval 9.0.4": {"grades/fractional", "layout/fractional-grade", "lengths/counts-by-level"},
    "trec_eval 10.0-rc3": {
        "grades/fractional",
        "layout/fractional-grade",
        "lengths/counts-by-level",
        "scores/float32-tie",
        "scores/huge",
        "scores/large-whole-numbers",
        "scores/recall-points-9",
        "scores/tiny",
    },
}
"""Cases on which trec_eval prints something else: it cuts grades to whole numbers and, with `-c`, forgets the level of
relevance in the sum of `num_rel`; version 10 compares scores as 64-bit floats and rounds recall points."""


@pytest.mark.parametrize("theme", themes(), ids=lambda theme: theme.name)
def test_the_files_are_what_their_sources_say(theme: Theme) -> None:
    """`python -m conformance.make` would change nothing."""
    assert (SUITE / f"{theme.name}.json").read_text(encoding="utf-8") == text_of(theme, recorded_values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_files_keep_their_schema(path: Path) -> None:
    """Every file is valid by `case.schema.json`."""
    schema = json.loads((SUITE / "case.schema.json").read_text(encoding="utf-8"))
    checker = jsonschema.Draft202012Validator(schema)
    checker.check_schema(schema)

    assert [
        error.message for error in checker.iter_errors(json.loads(path.read_text(encoding="utf-8")))
    ] == []


def test_there_is_no_file_without_a_source_and_no_id_twice() -> None:
    """Each file has its theme, and each case an id of its own that begins with it."""
    assert {path.stem for path in FILES} == set(THEMES)
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert all(
        case["id"].startswith(f"{path.stem}/")
        for path in FILES
        for case in json.loads(path.read_text())["cases"]
    )


def test_the_readme_names_every_file() -> None:
    """The description covers every theme."""
    page = (SUITE / "README.md").read_text(encoding="utf-8")

    assert [path.name for path in FILES if f"`{path.name}`" not in page] == []


@pytest.mark.parametrize("theme", THEMES)
def test_values_are_those_worked_out_by_hand(theme: str) -> None:
    """The arithmetic written out in the source of a case gives the value of the exact implementation, to thirty digits."""
    for case, measure in MEASURES:
        if not case["id"].startswith(f"{theme}/") or "by_hand" not in measure:
            continue
        expected = {**measure["queries"], "all": measure["all"]}
        assert case["outcome"] == "values"
        for query, expression in measure["by_hand"].items():
            same = _same(expected[query], written(evaluated(expression)))
            assert same, (case["id"], measure["measure"], query, expression)


def _same(one: str, other: str) -> bool:
    """Whether both are the same number, up to the last of thirty digits."""
    with localcontext(prec=WORKING):
        return abs(decimal(Fraction(one)) - decimal(Fraction(other))) < Decimal(10) ** -28


def test_what_was_worked_out_by_hand_is_of_the_measures_of_the_case() -> None:
    """No expression stands under a name that the case does not have."""
    for theme in themes():
        for case in theme.cases:
            names = {measure.judged for measure in case.measures}
            assert set(case.by_hand) | set(case.published) <= names, case.id


@pytest.mark.parametrize(
    "measure",
    [measure for _, measure in MEASURES if "published" in measure],
    ids=lambda case: case["measure"],
)
def test_published_digits_are_those_of_the_value(measure: dict[str, Any]) -> None:
    """A worked example comes out as printed, rounded or cut to the printed digits."""
    digits = len(measure["published"].partition(".")[2])

    assert abs(Fraction(measure["all"]) - Fraction(measure["published"])) < Fraction(1, 10**digits)


@pytest.mark.parametrize("tool", DIFFERENT)
def test_trec_eval_printed_the_value_except_where_it_is_known_not_to(tool: str) -> None:
    """To four digits, trec_eval's recorded output is the exact value, but for the cases that say why it is not."""
    checked = 0
    for case, measure in MEASURES:
        for record in measure.get("recorded", []):
            if case["outcome"] == "refused" or f"{record['tool']} {record['version']}" != tool:
                continue
            if case["id"] in DIFFERENT[tool]:
                continue
            expected = {**measure["queries"], "all": measure["all"]}
            for query, printed in record["printed"].items():
                away = abs(Fraction(expected[query]) - Fraction(printed))
                assert away <= Fraction(1, 20_000) + Fraction(1, 10**9), (
                    case["id"],
                    measure["measure"],
                    query,
                )
                checked += 1

    assert checked > 250


def test_known_differences_of_trec_eval_are_there() -> None:
    """No case is listed as different for which trec_eval prints the value."""
    differing: dict[str, set[str]] = {name: set() for name in DIFFERENT}
    for case, measure in MEASURES:
        for record in measure.get("recorded", []) if case["outcome"] == "values" else []:
            expected = {**measure["queries"], "all": measure["all"]}
            if any(
                abs(Fraction(expected[q]) - Fraction(p)) > Fraction(1, 10_000)
                for q, p in record["printed"].items()
            ):
                differing[f"{record['tool']} {record['version']}"].add(case["id"])

    assert differing == DIFFERENT


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/4 + 1/4", "1/2"), ("sqrt(1/4)", "0.5"), ("1/log2(8)", "0.333333333333333333333333333333")],
)
def test_expressions_are_evaluated(text: str, value: str) -> None:
    """Sums, roots and logarithms, by known results."""
    assert _same(written(evaluated(text)), value)
