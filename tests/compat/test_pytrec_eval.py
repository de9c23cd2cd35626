"""`judged.compat.pytrec_eval` answers as pytrec_eval does: values, keys, order, names, errors."""

from __future__ import annotations

import copy
import io
import math
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.compat import pytrec_eval as ours
from judged.errors import BadInput, BadMeasure, JudgedError
from profiles.inputs import Case, cases

QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}


@pytest.fixture(scope="module")
def theirs() -> Any:
    """The tool itself."""
    return pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")


# The cases of pytrec_eval's own tests, tests/pytrec_eval_tests.py in its repository (commit a9fa754).


@pytest.mark.parametrize(
    ("name", "key", "scores", "expected"),
    [
        ("ndcg", "ndcg", {"d1": 1.0, "d2": 0.0, "d3": 1.5}, 0.5),
        ("ndcg", "ndcg", {"d1": 1.0, "d2": 2.0, "d3": 1.5}, 1.0),
        ("ndcg", "ndcg", {"d1": 4.0, "d2": 2.0, "d3": 1.5}, 0.6309297535714575),
        ("ndcg_cut.3", "ndcg_cut_3", {"d1": 1.0, "d2": 0.0, "d3": 1.5}, 0.5),
        ("ndcg_cut.1", "ndcg_cut_1", {"d1": 1.0, "d2": 2.0, "d3": 1.5}, 1.0),
        ("ndcg_cut.1,2,3,1000", "ndcg_cut_1000", {"d1": 1.0, "d2": 0.0, "d3": 1.5}, 0.5),
        ("ndcg_cut.1,2,3,1000", "ndcg_cut_2", {"d1": 1.0, "d2": 0.0, "d3": 1.5}, 0.0),
    ],
)
def test_values_of_its_own_tests(name: str, key: str, scores: dict[str, float], expected: float) -> None:
    """Each value that pytrec_eval's tests expect."""
    values = ours.RelevanceEvaluator(QRELS, {"map", name}).evaluate({"q1": scores, "q2": {}})

    assert values["q1"][key] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("qrels", "names", "run", "expected"),
    [
        (QRELS, {"map", "ndcg"}, {}, {}),
        (QRELS, set(), {"q1": {"d1": 1.0}, "q2": {}}, {"q1": {}, "q2": {}}),
        ({}, {"map", "ndcg"}, {"q1": {"d1": 1.0}}, {}),
        ({}, {"map", "ndcg"}, {}, {}),
        (QRELS, set(), {}, {}),
        ({}, set(), {"q1": {"d1": 1.0}}, {}),
        ({}, {}, {}, {}),
        (QRELS, {"map"}, {"q9": {"d1": 1.0}}, {}),
        ({"q1": {}}, {"map"}, {"q1": {"d1": 1.0}}, {}),
    ],
)
def test_empty_inputs_of_its_own_tests(qrels: Any, names: Any, run: Any, expected: Any) -> None:
    """Nothing judged, nothing retrieved, nothing asked for, in every combination."""
    assert ours.RelevanceEvaluator(qrels, names).evaluate(run) == expected


def test_parameters_of_its_own_tests() -> None:
    """Parameters of a name are collected, and replace its defaults."""
    names = ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "ndcg_cut_15", "recall.1000", "success.3"]
    values = ours.RelevanceEvaluator(QRELS, names).evaluate({"q1": {"d1": 1.0}, "q2": {}})

    assert list(values["q1"]) == [
        "recall_1000", "ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_15", "ndcg_cut_20", "success_3",
    ]  # fmt: skip


def test_names_are_those_of_the_tool(theirs: Any) -> None:
    """Measures and nicknames, with what they stand for."""
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames


NAMES = st.sampled_from(
    [
        ["all_trec"],
        ["official", "ndcg_cut.3,7", "P_4"],
        ["set", "set_F_0.5"],
        ["P_3", "P.5", "P_3", "map", "gm_map", "Rprec_mult.0.5", "utility_1,2,3,4", "iprec_at_recall_0.35", "relstring_5"],
    ]
)  # fmt: skip


@settings(max_examples=60)
@given(case=cases(), names=NAMES, level=st.integers(1, 3), judged_only=st.booleans())
def test_answers_as_the_tool(
    theirs: Any, case: Case, names: list[str], level: int, judged_only: bool
) -> None:
    """Every value of every query, under the same keys in the same order; sums have another order of rounding."""
    expected = theirs.RelevanceEvaluator(case.qrels, names, level, judged_only).evaluate(case.run)
    found = ours.RelevanceEvaluator(case.qrels, names, level, judged_only).evaluate(case.run)

    assert list(found) == list(expected)
    for query, values in found.items():
        assert list(values) == list(expected[query])
        for key, value in values.items():
            # pytrec_eval reads `runid` from memory that was never written, and divides by zero in an empty list
            known = 0.0 if key == "runid" or math.isnan(expected[query][key]) else expected[query][key]
            assert value == pytest.approx(known, rel=1e-12, abs=1e-12), (query, key)


@settings(max_examples=40)
@given(case=cases())
def test_values_are_those_of_the_profile(case: Case) -> None:
    """Bit for bit: there is one engine."""
    names = ["map", "ndcg_cut_3", "bpref", "recip_rank"]
    found = ours.RelevanceEvaluator(case.qrels, names).evaluate(case.run)
    scores = judged.evaluate(case.qrels, case.run, names, protocol="pytrec_eval").per_query()

    for name, column in zip(names, scores.values.values(), strict=True):
        by_query = dict(zip(scores.queries.to_pylist(), column.tolist(), strict=True))
        assert {query: values[name] for query, values in found.items()} == by_query


@pytest.mark.parametrize("name", ["map", "num_rel", "gm_map", "11pt_avg"])
@given(values=st.lists(st.floats(-12, 12), min_size=1))
def test_aggregates_are_those_of_the_tool(theirs: Any, name: str, values: list[float]) -> None:
    """Bit for bit."""
    assert ours.compute_aggregated_measure(name, values) == theirs.compute_aggregated_measure(name, values)


def test_aggregates_of_nothing() -> None:
    """A sum is 0, a mean is not a number, and nothing warns."""
    assert ours.compute_aggregated_measure("num_ret", []) == 0.0
    assert math.isnan(ours.compute_aggregated_measure("map", []))
    assert math.isnan(ours.compute_aggregated_measure("gm_map", []))


@pytest.mark.parametrize(
    "arguments",
    [
        ({"q": {"a": 1.5}}, {"map"}),
        ({"q": {"a": "1"}}, {"map"}),
        ({1: {"a": 1}}, {"map"}),
        ({"q": {1: 1}}, {"map"}),
        ({"q": ["a"]}, {"map"}),
        ({"q": {"a": 1}}, {"map"}, 0),
        ({"q": {"a": 1}}, {"nothing"}),
        ({"q": {"a": 1}}, {"all_trec.10"}),
        ({"q": {"a": 1}}, {"prefs_simp_"}),
        ({"q": {"a": 1}}, {"ndcg_cut."}),
        ({"q": {"a": 1}}, [3]),
    ],
    ids=str,
)
def test_refuses_what_the_tool_refuses(theirs: Any, arguments: tuple[Any, ...]) -> None:
    """With an error of the same type, which begins with the same words where these say what is wrong."""
    with pytest.raises(Exception) as expected:  # noqa: PT011 - the type is what is compared
        theirs.RelevanceEvaluator(*arguments)
    with pytest.raises(type(expected.value)) as found:
        ours.RelevanceEvaluator(*arguments)

    assert isinstance(found.value, JudgedError)
    if arguments[1] != [3]:  # there, the words of a regular expression
        assert str(found.value).startswith(str(expected.value))


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": "x"}},
        {"q": {"a": None}},
        {"q": ["a"]},
        {"q": None},
        {1: {"a": 1.0}},
        {"q": {1: 1.0}},
        {"other": {1: 1.0}},
        "q",
        [1],
    ],
    ids=str,
)
def test_refuses_the_runs_that_the_tool_refuses(theirs: Any, run: Any) -> None:
    """With an error of the same type and words, and the place."""
    with pytest.raises(TypeError) as expected:
        theirs.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate(run)
    with pytest.raises(TypeError) as found:
        ours.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate(run)

    assert str(found.value).startswith(str(expected.value))
    assert "hint" in str(found.value)


@pytest.mark.parametrize(
    "name",
    [
        "ndcg_cut_0",  # ends the interpreter
        "P_0.5",  # ends the interpreter
        "ndcg_10",  # ends the interpreter: parameters of `ndcg` are gains
        "P_5,5.0",  # ends the interpreter
        "map_10",  # is `map` there
        "num_ret_5",  # is `num_ret` there
        "ndcg_cut_10_x",  # is `ndcg_cut_10` there
        "prefs",  # no measure of judgments
    ],
)
def test_refuses_names_that_mean_something_else(name: str) -> None:
    """Rather than to end the interpreter or to return another measure."""
    with pytest.raises(BadMeasure):
        ours.RelevanceEvaluator(QRELS, {name})


def test_nan_is_refused_with_its_place() -> None:
    """pytrec_eval sorts it anywhere."""
    with pytest.raises(ValueError, match="query `q1`, document `d2`: score is NaN"):
        ours.RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"d2": math.nan}})


def test_numbers_of_numpy_are_numbers() -> None:
    """pytrec_eval refuses them."""
    numpy = pytest.importorskip("numpy")
    evaluator = ours.RelevanceEvaluator({"q": {"a": numpy.int64(1)}}, {"map"}, numpy.int64(1))

    assert evaluator.evaluate({"q": {"a": numpy.float32(1), "b": numpy.float64(2)}}) == {"q": {"map": 0.5}}


def test_the_judgments_are_those_of_the_constructor() -> None:
    """Changing them afterwards changes nothing, and nothing that was given is changed."""
    qrels, run = copy.deepcopy(QRELS), {"q1": {"d2": 1.0, "d1": 2.0}, "x": {"d1": 1.0}}
    evaluator = ours.RelevanceEvaluator(qrels, {"map"})
    qrels["q1"]["d1"] = 1

    assert evaluator.evaluate(run) == {"q1": {"map": 0.5}}
    assert run == {"q1": {"d2": 1.0, "d1": 2.0}, "x": {"d1": 1.0}}


def test_an_evaluator_is_copied_to_other_processes() -> None:
    """As pools of workers do."""
    evaluator = pickle.loads(pickle.dumps(ours.RelevanceEvaluator(QRELS, {"map"})))  # noqa: S301 - our own bytes

    assert evaluator.evaluate({"q1": {"d2": 1.0}}) == {"q1": {"map": 1.0}}


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        ("parse_run", "1 Q0 a 1 0.5 x\n2\tQ0\tb\t1\t1e3\tx\n"),
        ("parse_run", ""),
        ("parse_qrel", "1 0 a 1\n1 0 b -1\n"),
        ("parse_run", "1 Q0 a 1 high x"),
        ("parse_run", "1 Q0 a 1 1.0"),
        ("parse_run", "1 Q0 a 1 1.0 x\n1 Q0 a 2 0.5 x"),
        ("parse_qrel", "1 0 a 1\n1 0 a 1"),
        ("parse_qrel", "1 0 a 1.5"),
        ("parse_qrel", "1 0 a 1\n\n1 0 b 1"),
    ],
)
def test_parses_as_the_tool(theirs: Any, parser: str, text: str) -> None:
    """The same dicts, or an error of the same type."""
    try:
        expected = getattr(theirs, parser)(io.StringIO(text))
    except (ValueError, AssertionError) as error:
        with pytest.raises(type(error)):
            getattr(ours, parser)(io.StringIO(text))
    else:
        assert getattr(ours, parser)(io.StringIO(text)) == expected


def test_all_faults_of_a_file_are_named() -> None:
    """With their lines."""
    with pytest.raises(BadInput) as error:
        ours.parse_run(["1 Q0 a 1 x t", "1 Q0 b 1 1.0 t", "1 Q0 b 1 1.0 t", "1 Q0"])

    assert [str(problem.place) for problem in error.value.problems] == ["run:1", "run:4", "run:3"]


@pytest.mark.parametrize(
    ("qrels", "printed", "level"), [("qrels.test", "out.test", 1), ("qrels.rel_level", "out.test.aql", 2)]
)
def test_means_of_its_own_integration_tests(
    shared_data: Callable[[str], Path], tmp_path: Path, qrels: str, printed: str, level: int
) -> None:
    """What trec_eval printed for its regression data, to three decimals as in pytrec_eval's tests."""
    with tarfile.open(shared_data("trec_eval_tests") / "trec_eval_tests.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    folder = next(tmp_path.rglob("results.test")).parent
    lines = [line.split() for line in (tmp_path / "v9.0.4" / printed).read_text().splitlines()]
    expected = {name: float(value) for name, query, value in lines if query == "all" and name != "runid"}
    judgments = ours.parse_qrel((folder / qrels).read_text().splitlines())
    run = ours.parse_run((folder / "results.test").read_text().splitlines())
    values = ours.RelevanceEvaluator(judgments, {"all_trec"}, relevance_level=level).evaluate(run).values()

    assert len(expected) > 20
    for name, mean in expected.items():
        found = ours.compute_aggregated_measure(name, [measured[name] for measured in values])
        assert found == pytest.approx(mean, abs=5e-4), name
