"""Numbers in the names of measures: what is accepted prints as the number that was written, and can be computed."""

from __future__ import annotations

import pytest

import judged
from judged.errors import JudgedError
from judged.measures.groups import SCOPES
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure, parse_measures
from judged.measures.trec_eval import FORMATS

NUMBERS = (
    *("0", "-1", "1", "2.5", "1e1", "007", "0.30000000000000004", "0.9999999999999999", "1e-15", "1e-300"),
    *("1000000000", "1e9", "1000000001", "999999999999999", "1e15", "-1e15"),
    *(
        "9007199254740993",
        "1e16",
        "99999999999999999999",
        "1e300",
        "-1e300",
        "1e400",
        "9" * 400,
        "inf",
        "nan",
    ),
)
"""From ordinary to absurd: beyond what a rank, an exact integer, an int64 and a float can be."""
TABLES = (
    "{1: 1e300}",
    "{1: 1e15, 2: -1e15}",
    "{1e15: 1}",
    "{1: nan}",
    "{}",
    "[1e-300]",
    "[0.5, 1e300]",
    "'9'",
)
QRELS = b"q1 1 a 2\nq1 2 b 1\nq2 1 b 3\nq2 1 c 0\n"
RUN = {"q1": {"c": 3.0, "a": 2.0, "x": 1.0}, "q2": {"b": 1.0}}


def _spell(measure: Measure) -> list[tuple[str, str, str]]:
    """Return texts that set one parameter of a measure, the parameter, and the number that is written."""
    forms = {f"{measure.name}{mark}{{}}": measure.at_parameter or "" for mark in ("@", "_", ".", "_at_")}
    forms |= {f"{measure.name}-l{{}}": "rel"}
    forms |= {f"{measure.name}({name}={{}})": name for name in measure.defaults}
    forms |= {
        f"{measure.name}({name}={{}})@3": name for name in measure.defaults if name != measure.at_parameter
    }
    return [
        (form.format(number), name, number) for form, name in forms.items() for number in (*NUMBERS, *TABLES)
    ]


def _parse(text: str, family: str) -> list[Measure]:
    """Return the measures that a text names; none if it is refused in words."""
    try:
        return parse_measures(text, family=family)
    except JudgedError:
        return []


@pytest.mark.parametrize("family", SCOPES)
def test_what_is_accepted_is_the_number_that_was_written(family: str) -> None:
    """For every parameter of every measure; a whole number digit by digit, another as its nearest float."""
    for name in SCOPES[family]:
        for text, parameter, number in _spell(SCOPES[family][name]):
            for measure in _parse(text, family):
                value = measure.parameters.get(parameter)
                if isinstance(value, int) and number.isdigit():
                    assert str(value) == number.lstrip("0") or number == "0", text
                elif (
                    isinstance(value, int | float) and number in NUMBERS and "." not in text.partition("e")[0]
                ):
                    assert value == float(number), text
                assert parse_measure(str(measure), family=family) == measure, text


@pytest.mark.parametrize("name", list(SCOPES["ranked"]))
def test_what_is_accepted_can_be_computed(name: str) -> None:
    """Without a warning, and without memory for ranks that nothing was retrieved at; or it is refused in words."""
    measures = [
        measure for text, _, _ in _spell(SCOPES["ranked"][name]) for measure in _parse(text, "ranked")
    ]
    for measure in {str(measure): measure for measure in measures}.values():
        try:
            evaluation = judged.evaluate(QRELS, RUN, measure)
        except JudgedError:
            continue
        if not measure.text:
            assert abs(evaluation[measure]) < float("inf"), measure


@pytest.mark.parametrize(
    "text", [*NUMBERS, "5,1e400", "nan,1", "1=1e400", "1=nan,2=inf", "p=nan", "=", "1,2,3,inf"]
)
def test_trec_evals_parameters_are_refused_in_words(text: str) -> None:
    """Whatever follows the full stop of every name of trec_eval's."""
    for names in FORMATS.values():
        for name in names:
            for measure in _parse(f"{name}.{text}", "ranked"):
                assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P@99999999999999999999", "`cutoff` of P is 99999999999999999999, and no number beyond"),
        ("P@1000000001", "`cutoff` of P must be a whole number from 1 to 1,000,000,000, not 1000000001"),
        ("ndcg_cut.1e99", "`cutoff` of nDCG is 1e+99, and no number beyond 1,000,000,000,000,000 is exact"),
        ("INST(depth=2000000)", "`depth` of INST must be a whole number from 1 to 1,000,000, not 2000000"),
        ("P.inf", "the parameters of trec_eval's `P` must be numbers with commas between, not `inf`"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_range(text: str, message: str) -> None:
    """What is wrong, where, got, expected."""
    with pytest.raises(JudgedError) as caught:
        parse_measures(text)

    assert message in str(caught.value)
