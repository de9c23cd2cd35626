"""A kept evaluator gives the numbers, notes and errors of `evaluate` without compiled code, whatever it is given."""

from __future__ import annotations

import math
import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged import Evaluator, Protocol
from judged.agents.protocol import SessionProtocol
from judged.errors import (
    BadInput,
    BadMeasure,
    JudgedError,
    MissingQueries,
    UnknownName,
    Unreadable,
    WrongKind,
)
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.scan.compiled import load_compiled
from judged.measures.custom import undefine
from judged.measures.groups import MEASURES
from judged.profiles.profile import PROFILES, Profile
from judged.scoring.evaluation import Evaluation
from judged.scoring.folds import compile_folds
from support.strategies import variants

Dicts = dict[str, dict[str, Any]]
Folder = Callable[[str], Path]

QRELS: Dicts = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}, "q3": {"e": 3, "f": -1}}
RUN: Dicts = {"q1": {"b": 3.0, "a": 2.0, "x": 2.0, "c": 1.0}, "q2": {"y": 1.0}, "q3": {"f": 2.0, "e": 1.0}}
FIVE = ["nDCG@10", "AP", "RR", "P@10", "R@100"]

needs_compiled = pytest.mark.skipif(
    load_compiled("_folds") is None, reason="the compiled folds were not built here"
)


@contextmanager
def only_numpy() -> Iterator[None]:
    """Let nothing be computed by compiled code."""
    before = os.environ.get("JUDGED_COMPILED")
    os.environ["JUDGED_COMPILED"] = "0"
    try:
        yield
    finally:
        os.environ.pop("JUDGED_COMPILED")
        if before is not None:
            os.environ["JUDGED_COMPILED"] = before


def everything(evaluation: Evaluation) -> object:
    """All that an evaluation says, numbers to the last bit."""
    scores = evaluation.scores
    return (
        evaluation.system,
        {name: str(value) for name, value in evaluation.mean().items()},
        scores.queries.to_pylist(),
        {name: [str(value) for value in values.tolist()] for name, values in scores.values.items()},
        evaluation.notes,
        evaluation.counts,
        [(part.protocol, part.measures, part.notes, part.units) for part in evaluation.parts],
        evaluation.provenance.protocols,
        dict(evaluation.written),
        evaluation.has_ties,
    )


def describe_view(view: Any) -> list[object]:
    """All fields of a view, arrays as lists."""
    values = [getattr(view, field.name) for field in fields(view) if not field.name.startswith("_")]
    intents = [] if getattr(view, "intents", None) is None else describe_view(view.intents)
    return [
        value.tolist() if isinstance(value, np.ndarray) else str(value)
        for value in values
        if not is_dataclass(value)
    ] + intents


def outcome(call: Callable[[], object]) -> object:
    """What a call returns, or its error in words."""
    try:
        return call()
    except JudgedError as error:
        return type(error), str(error)


DOCUMENTS = st.sampled_from([*(f"d{number}" for number in range(14)), "q0", "é", "10"])
GRADES = st.sampled_from([-1, 0, 0, 1, 1, 2, 3, 0.5, True, 1100.0])
SCORES = st.one_of(
    st.sampled_from([0.0, 1.0, 1 + 1e-9, 2, True, math.inf, np.float32(0.1)]), st.floats(-10, 10)
)
ODD_SCORES = st.sampled_from([math.nan, None, "1", 10**400])
QUERIES = st.sampled_from([f"q{number}" for number in range(10)])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Dicts, dict[str, Any]]:
    """Judgments and a run, with ties, holes and, in one of ten, something that is refused or read in another way."""
    judged_grades = st.dictionaries(DOCUMENTS, GRADES, max_size=8)
    qrels = draw(st.dictionaries(QUERIES, judged_grades, min_size=1, max_size=10))
    if draw(st.integers(0, 3)) == 0:
        lists = st.lists(DOCUMENTS, max_size=8, unique=draw(st.integers(0, 9)) > 0)
        return qrels, draw(st.dictionaries(QUERIES, lists, max_size=10))
    scores = st.dictionaries(DOCUMENTS, SCORES, max_size=12)
    run: dict[Any, Any] = draw(st.dictionaries(QUERIES, scores, max_size=10))
    if run and draw(st.integers(0, 9)) == 0:
        query = draw(st.sampled_from(sorted(run)))
        odd: list[Any] = [
            {"d1": draw(ODD_SCORES)}, {10: 1.0}, {"\udc80": 1.0}, ["d1"], 5,
            OrderedDict(run[query]), defaultdict(float, run[query]), MappingProxyType(run[query]),
        ]  # fmt: skip
        run[query] = draw(st.sampled_from(odd))
    return qrels, draw(st.sampled_from([run, defaultdict(dict, run), MappingProxyType(run), {**run, 7: {}}]))


@st.composite
def protocols(draw: st.DrawFn) -> object:
    """A profile, or a protocol with any of its conventions changed."""
    if draw(st.booleans()):
        return draw(st.sampled_from([None, *PROFILES]))
    changes: dict[str, Any] = {}
    for name, convention in Protocol.conventions().items():
        if draw(st.integers(0, 3)) == 0:
            values = convention.options or {"rel": (0, 0.5, 1, 2), "depth": (None, 1, 3)}[name]
            changes[name] = draw(st.sampled_from(values))
    unordered = changes.get("ties") in {"expected", "pessimistic", "optimistic"}
    if unordered and changes.get("unjudged") == "removed":
        del changes["ties"]  # refused with a depth
    return Protocol(**changes)


@settings(max_examples=400, deadline=None)
@given(case=cases(), measures=st.lists(variants(), min_size=1, max_size=4), protocol=protocols())
def test_an_evaluator_gives_what_evaluate_gives_without_compiled_code(
    case: tuple[Dicts, Any], measures: list[judged.Measure], protocol: Any
) -> None:
    """Every measure, convention and odd input: values to the last bit, notes, counts, errors with the same words."""
    qrels, run = case
    with only_numpy():
        expected = outcome(lambda: judged.evaluate(qrels, run, measures, protocol=protocol))
    evaluator = outcome(lambda: Evaluator(qrels, measures, protocol=protocol))
    if not isinstance(evaluator, Evaluator):
        assert evaluator == expected
        return

    found = outcome(lambda: evaluator.evaluate(run))
    means, values = outcome(lambda: evaluator.means(run)), outcome(lambda: evaluator.per_query(run))
    if not isinstance(expected, Evaluation):
        assert found == means == values == expected
        return
    assert isinstance(found, Evaluation)
    by_query = {str(measure): expected.scores.by_query(measure) for measure in expected.measures}
    assert everything(found) == everything(expected)
    assert list(means.items()) == list(expected.mean().items())  # type: ignore[attr-defined]
    assert repr(values) == repr(by_query)
    assert describe_view(found.view) == describe_view(expected.view)


@needs_compiled
@settings(deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("name", [name for name in MEASURES if MEASURES[name].fold is not None])
def test_every_fold_is_its_measure(name: str, data: st.DataObject) -> None:
    """Each measure that declares a fold is compiled, with any parameters, and equals its own function bit for bit."""
    measure = data.draw(variants(MEASURES[name]))
    grades = st.dictionaries(DOCUMENTS, st.sampled_from([-1, 0, 1, 2, 0.5]), min_size=1, max_size=9)
    qrels = {"q": data.draw(grades), "r": data.draw(grades)}
    scores = st.dictionaries(DOCUMENTS, st.sampled_from([0.5, 1.0, 2.0, 2.5]), min_size=1)
    run = {"q": data.draw(scores), "r": data.draw(scores)}
    folds = compile_folds(judged.read_judgments(qrels), Protocol(), [measure])
    with only_numpy():
        expected = judged.evaluate(qrels, run, measure)

    unusual = {
        "discount": "position",
        "ideal": "retrieved",
        "interpolation": "trapezoid",
    }.items() & dict(measure.set_parameters).items()
    if unusual:  # the view has their orders and discounts
        assert folds is None
        return
    assert folds is not None
    assert folds.means(run) == expected.mean()
    assert folds.by_query(run) == {str(measure): expected.scores.by_query(measure)}


def test_the_usual_measures_declare_folds() -> None:
    """What training loops and tests ask for is compiled; the list shrinks only on purpose."""
    declared = {name for name in MEASURES if MEASURES[name].fold is not None}

    assert declared == {"nDCG", "DCG", "AP", "RR", "P", "R", "Success", "Rprec"}


@needs_compiled
@pytest.mark.parametrize("documents", [3, 2_000])
def test_deep_ranks_have_the_same_discount(documents: int) -> None:
    """Ranks beyond the compiled table of discounts have the logarithm of the C library, as the table has."""
    run = {"q": {f"d{number}": float(-number) for number in range(documents)}}
    qrels = {"q": {f"d{number}": 1 + number % 3 for number in range(0, documents, 2)}}
    with only_numpy():
        expected = judged.evaluate(qrels, run, ["nDCG", "AP"]).mean()

    assert Evaluator(qrels, ["nDCG", "AP"]).means(run) == expected


@needs_compiled
@pytest.mark.parametrize("score", [lambda _: 1.0, lambda number: float(number % 7), lambda number: -number])
def test_many_judged_documents_with_equal_scores(score: Callable[[int], float]) -> None:
    """Where names are sorted rather than compared, ranks are the same."""
    run = {"q": {f"d{number}": score(number) for number in range(300)}}
    qrels = {"q": {f"d{number}": number % 3 for number in range(0, 300, 2)}}
    with only_numpy():
        expected = judged.evaluate(qrels, run, FIVE).mean()

    assert Evaluator(qrels, FIVE).means(run) == expected


def test_means_by_hand() -> None:
    """One query by the definitions: `a` comes second after an unjudged result, tied with nothing."""
    evaluator = Evaluator({"q": {"a": 2, "b": 1}}, ["nDCG", "AP", "RR", "P@2", "R@2", "Success@1"])
    second = 1 / math.log2(3)

    assert evaluator.means({"q": {"x": 2.0, "a": 1.0}}) == {
        "nDCG": 2 * second / (2 + second),
        "AP": 0.25,
        "RR": 0.5,
        "P@2": 0.5,
        "R@2": 0.5,
        "Success@1": 0.0,
    }


def test_lists_of_ids_are_scored_in_their_order() -> None:
    """Best first, as `evaluate` reads them; a document that a list repeats counts once, judged or not."""
    evaluator = Evaluator({"q": {"a": 1}}, "RR")

    assert evaluator.means({"q": ["x", "a"]}) == {"RR": 0.5}
    assert evaluator.means({"q": ["a", "a"]}) == {"RR": 1.0}
    assert evaluator.means({"q": ["x", "x", "a"]}) == {"RR": 0.5}
    assert evaluator.means({"q": ["a"], "unjudged": ["b", "c"]}) == {"RR": 1.0}


def test_a_run_that_changes_after_it_was_scored_changes_nothing() -> None:
    """Numbers, notes, counts and view are all of the content at the time of the call."""
    run = {query: dict(scores) for query, scores in RUN.items()}
    evaluation = Evaluator(QRELS, FIVE).evaluate(run)
    run["q1"] = {"c": 9.0, "x": 9.0}
    del run["q2"]
    run["new"] = {"z": math.nan}

    assert everything(evaluation) == everything(judged.evaluate(QRELS, RUN, FIVE))
    assert evaluation.view.rank.tolist() == [1, 3, 4, 1, 2]
    assert evaluation.view.retrieved.tolist() == [4, 1, 2]


def test_judgments_that_change_after_they_were_read_change_nothing() -> None:
    """The evaluator and the evaluations that it made keep the judgments of the time when it was made."""
    qrels = {query: dict(grades) for query, grades in QRELS.items()}
    evaluator = Evaluator(qrels, FIVE)
    before = evaluator.evaluate(RUN)
    qrels["q1"]["x"] = 3
    qrels["q4"] = {"g": 1}
    del qrels["q2"]

    assert evaluator.means(RUN) == judged.evaluate(QRELS, RUN, FIVE).mean()
    assert (
        everything(before)
        == everything(evaluator.evaluate(RUN))
        == everything(judged.evaluate(QRELS, RUN, FIVE))
    )
    assert before.view.best.tolist() == [2.0, 1.0, 0.0, 1.0, 3.0, -1.0]


def test_threads_share_an_evaluator() -> None:
    """Eight threads with runs of their own get their own numbers, every time."""
    evaluator = Evaluator(QRELS, FIVE)
    runs = [
        {query: {name: float((seed * 7 + place * 3) % 5) for place, name in enumerate("abcdefxy")} for query in QRELS}
        for seed in range(8)
    ]  # fmt: skip
    expected = [judged.evaluate(QRELS, run, FIVE).mean() for run in runs]

    def hammer(number: int) -> bool:
        return all(evaluator.means(runs[number]) == expected[number] for _ in range(500))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(hammer, range(8)))


def test_ids_of_dicts_are_not_spelt_as_names_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for other layouts costs little: it once took five times as long as scoring a hundred documents."""
    spelt: list[str] = []
    monkeypatch.setattr(
        "judged.tables.schema.list_spellings", lambda column: spelt.append(column) or (column.lower(),)
    )
    qrels = {f"q{number}": {f"d{number}-{place}": place % 2 for place in range(50)} for number in range(30)}
    run = {query: dict.fromkeys(documents, 0.5) for query, documents in qrels.items()}
    judged.evaluate(qrels, run, "nDCG")

    assert spelt == []


def test_a_score_that_changes_the_run_is_refused() -> None:
    """Its conversion may do anything, also empty the dict that is being read."""

    class Score:
        def __init__(self, scores: dict[str, Any]) -> None:
            self.scores = scores

        def __float__(self) -> float:
            self.scores.clear()
            return 1.0

    evaluator = Evaluator({"q": {"a": 1, "b": 1}}, "nDCG")
    scores: dict[str, Any] = {}
    scores.update(a=Score(scores), b=1.0)

    with pytest.raises(Unreadable, match="changed while it was read"):
        evaluator.means({"q": scores})


@pytest.mark.parametrize(
    ("qrels", "measures", "error"),
    [
        ({}, "RR", BadInput),
        ({"q": {"a": math.nan}}, "RR", BadInput),
        ({"q": {"\udc80": 1}}, "RR", BadInput),
        ({"q": {"a": "1"}}, "RR", BadInput),
        ({"q": {"a": 1}}, "nDGC", UnknownName),
        ({"q": {"a": 1}}, "alpha_nDCG@5", BadMeasure),
        (5, "RR", WrongKind),
    ],
)
def test_faults_of_judgments_and_measures_are_raised_at_once(
    qrels: Any, measures: str, error: type[Exception]
) -> None:
    """Not when the first run is scored."""
    with pytest.raises(error):
        Evaluator(qrels, measures)


def test_nothing_in_common_is_refused() -> None:
    """Values would all be 0, by the short way as by the long one."""
    for call in (Evaluator(QRELS, FIVE).means, Evaluator(QRELS, FIVE).per_query):
        with pytest.raises(MissingQueries, match="results for none of the 3 judged queries"):
            call({"other": {"a": 1.0}})


def test_other_families_go_the_long_way() -> None:
    """Timings by their protocol or a table like them; a table of another family is refused in words."""
    timings = judged.read_timings({"bm25": [0.25, 0.75]})
    expected = judged.evaluate(None, timings, "Latency").mean()

    assert Evaluator(None, "Latency", like=timings).means(timings) == expected
    with pytest.raises(WrongKind, match="of the family `timing`"):
        Evaluator(QRELS, "RR").means(timings)
    assert repr(Evaluator({"t": {"a": 3}}, "CG@3", protocol=SessionProtocol())) == "Evaluator(CG@3)"


def test_profiles_with_several_protocols_mix_them() -> None:
    """As `evaluate` does, in the order in which the measures were named."""
    measures = ["P_5", "map", "recip_rank"]
    for profile in PROFILES:
        expected = outcome(lambda: judged.evaluate(QRELS, RUN, measures, protocol=profile).mean())  # noqa: B023
        found = outcome(lambda: Evaluator(QRELS, measures, protocol=profile).means(RUN))  # noqa: B023

        assert found == expected


def test_a_name_that_comes_to_mean_something_else_is_read_again() -> None:
    """Plans are remembered by names; a measure or a profile of the user's own may be defined anew under its name."""
    for value in (0.25, 0.5):
        judged.define("Constant", _constant(value), replace=True)
        assert judged.evaluate(QRELS, RUN, "Constant").mean() == {"Constant": value}
    undefine("Constant")
    with pytest.raises(UnknownName):
        judged.evaluate(QRELS, RUN, "Constant")
    for rel in (1.0, 2.0):
        PROFILES.add("own", Profile("own", protocol=Protocol(rel=rel)))
        assert judged.evaluate(QRELS, RUN, "P@3", protocol="own").protocol == Protocol(rel=rel)
        PROFILES.remove("own")


def _constant(value: float) -> Callable[[Ranking], object]:
    return lambda ranking: np.full(len(ranking), value)


def test_a_measure_that_equals_another_keeps_its_own_function() -> None:
    """Measures are equal by name and parameters; values that were computed are those of the very measure asked for."""

    def constant(
        ranking: Ranking,
        *,
        cutoff: int | None = None,
        rel: float | None = None,
        over: str = "relevant",
        interpolation: str = "none",
    ) -> object:
        del cutoff, rel, over, interpolation
        return np.full(len(ranking), 0.75)

    twin = judged.Measure("AP", constant, at_parameter="cutoff")
    evaluation = judged.evaluate(QRELS, RUN, "AP")

    assert twin == evaluation.measures[0]
    assert evaluation.measure([twin])["AP"] == 0.75


def test_an_evaluator_scores_files_and_tables(tmp_path: Path) -> None:
    """Anything that `evaluate` takes; provenance names the files."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "one.run"
    qrels.write_text("q1 0 a 1\nq1 0 b 0\n")
    run.write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    evaluator = Evaluator(qrels, "RR")

    assert evaluator.means(run) == evaluator.means({"q1": {"b": 2.0, "a": 1.0}}) == {"RR": 0.5}
    assert evaluator.per_query(judged.read_run(run)) == {"RR": {"q1": 0.5}}
    assert [file.path for file in evaluator.evaluate(run).provenance.inputs] == [str(qrels), str(run)]
    assert evaluator.evaluate({"q1": ["a"]}, name="mine").system == "mine"
    assert [str(measure) for measure in evaluator.measures] == ["RR"]


def test_real_runs_score_the_same_by_every_way(shared_data: Folder, tmp_path: Path) -> None:
    """A run of TREC deep learning: from the file, from dicts, kept and not, bit for bit."""
    import tarfile

    source = shared_data("dl19_dl20_runs")
    with tarfile.open(source / "runs.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    path = min((tmp_path / "retrieve").iterdir())
    qrels = source / f"qrels.dl{'19' if 'dl19' in path.name else '20'}-passage.txt"
    run: Dicts = {}
    for line in path.read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    measures = [*FIVE, "nDCG", 'nDCG(gain="exp")@10', "AP(rel=2)@100", "Rprec", 'P(over="retrieved")@20']
    evaluator, expected = Evaluator(qrels, measures), judged.evaluate(qrels, path, measures)

    assert evaluator.means(run) == expected.mean() == judged.evaluate(qrels, run, measures).mean()
    assert evaluator.per_query(run) == {name: expected.scores.by_query(name) for name in expected.mean()}
