"""The provider `judged_toolkit` answers as ir_measures does, by judged's engine alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import judged
from profiles.inputs import Case, cases

ir_measures: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
# ir_measures' own, from Python 3.12 on
pytestmark = pytest.mark.filterwarnings(r"ignore:.* deprecated .* Python 3\.14:DeprecationWarning")

NAMES = [
    "P@5", "P(rel=2)@3", "P(judged_only=True)@5", "R@3", "AP", "AP(judged_only=True)", "RR", "RR@3", "nDCG@3",
    "nDCG(gains={1:3,2:9})@5", "Rprec", "Success@1", "IPrec@0.3", "Bpref", "infAP", "Judged@3", "SetP",
    "SetP(relative=True)", "SetF(beta=2.0)", "NumRet(rel=1)", "NumRelRet", "NumRel", "Compat(p=0.8)",
]  # fmt: skip


@pytest.fixture(scope="module")
def toolkit() -> Any:
    """The provider, registered by the import."""
    import judged.compat.ir_measures

    return judged.compat.ir_measures.provider


def test_the_import_registers_it(toolkit: Any) -> None:
    """Beside the provider `judged`, which stays what it was."""
    assert ir_measures.providers.registry["judged_toolkit"] is toolkit
    assert ir_measures.judged_toolkit is toolkit
    assert type(ir_measures.judged).__module__ == "ir_measures.providers.judged_provider"


@settings(max_examples=25)
@given(case=cases())
def test_answers_as_ir_measures(toolkit: Any, case: Case) -> None:
    """All measures in one call, per query and aggregated, several of them under one name in judged."""
    measures = [ir_measures.parse_measure(name) for name in NAMES]
    qrels = {query: dict(sorted(grades.items())) for query, grades in case.qrels.items()}
    # one by one: in a set, `gains` and `judged_only` of one measure change others, by the order of their hashes
    alone = [ir_measures.calc([measure], qrels, case.run) for measure in measures]
    found, values = toolkit.calc(measures, qrels, case.run)

    assert found == pytest.approx(
        {measure: value for means, _ in alone for measure, value in means.items()}, abs=1e-9
    )
    assert {metric[:2]: metric.value for metric in values} == pytest.approx(
        {metric[:2]: metric.value for _, metrics in alone for metric in metrics}, abs=1e-9
    )


@settings(max_examples=10)
@given(case=cases())
def test_values_are_those_of_the_profile(toolkit: Any, case: Case) -> None:
    """Bit for bit."""
    names = ["nDCG@3", "AP", "RR@3"]
    measures = [ir_measures.parse_measure(name) for name in names]
    scores = judged.evaluate(case.qrels, case.run, names, protocol="ir_measures").per_query()
    found = {(str(m.measure), m.query_id): m.value for m in toolkit.iter_calc(measures, case.qrels, case.run)}

    assert found == {(name, query): value for name in names for query, value in scores.by_query(name).items()}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("nDCG@10", True),
        ("nDCG(dcg='exp-log2')@10", True),
        ("ERR@20", True),
        ("RBP(rel=1)", True),
        ("alpha_nDCG@10", False),
        ("Accuracy", False),
        ("AP_IA", False),
    ],
)
def test_says_what_it_computes(toolkit: Any, name: str, known: bool) -> None:
    """Measures of diversity need intents, which a provider is not given in the form that judged reads."""
    assert toolkit.supports(ir_measures.parse_measure(name)) is known


def test_refuses_what_it_cannot_compute(toolkit: Any) -> None:
    """With the error of ir_measures' own providers."""
    with pytest.raises(ValueError, match="unsupported measure alpha_nDCG@10"):
        toolkit.calc_aggregate(
            [ir_measures.parse_measure("alpha_nDCG@10")], {"1": {"a": 1}}, {"1": {"a": 1.0}}
        )


def test_wrong_parameters_are_refused_by_ir_measures(toolkit: Any) -> None:
    """As by every provider."""
    with pytest.raises(AssertionError, match="unsupported params"):
        toolkit.supports(ir_measures.P(nothing=1) @ 5)


def test_ids_that_are_numbers_are_refused(toolkit: Any) -> None:
    """As by pytrec_eval: `1` and `"1"` would be two queries."""
    with pytest.raises(TypeError, match="the judgments have an id of type `int`"):
        toolkit.calc_aggregate([ir_measures.P @ 5], {1: {"a": 1}}, {1: {"a": 1.0}})


@pytest.mark.parametrize(
    ("qrels", "run", "expected"),
    [
        ({"1": {"a": 1}}, {}, [("1", 0.0)]),
        ({"1": {"a": 1}}, {"2": {"a": 1.0}}, [("1", 0.0)]),
        ({"1": {"a": 1}, "2": {}}, {"1": {"a": 1.0}}, [("1", 1.0), ("2", 0.0)]),
        ({}, {"1": {"a": 1.0}}, []),
        ({}, {}, []),
    ],
)
def test_empty_inputs(toolkit: Any, qrels: Any, run: Any, expected: list[tuple[str, float]]) -> None:
    """As in ir_measures' own test of its providers: every judged query has a value, 0 without results."""
    found = toolkit.iter_calc([ir_measures.P @ 1], qrels, run)

    assert sorted((metric.query_id, metric.value) for metric in found) == expected


def test_tuples_and_frames_are_read(toolkit: Any) -> None:
    """In every form that ir_measures takes."""
    pandas = pytest.importorskip("pandas")
    qrels = [ir_measures.Qrel("1", "a", 1), ir_measures.Qrel("1", "b", 0)]
    run = [ir_measures.ScoredDoc("1", "b", 2.0), ir_measures.ScoredDoc("1", "a", 1.0)]

    assert toolkit.calc_aggregate([ir_measures.RR], iter(qrels), iter(run)) == {ir_measures.RR: 0.5}
    frames = pandas.DataFrame(qrels), pandas.DataFrame(run)
    assert toolkit.evaluator([ir_measures.RR], frames[0]).calc_aggregate(frames[1]) == {ir_measures.RR: 0.5}
