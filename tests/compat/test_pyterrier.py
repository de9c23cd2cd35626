"""PyTerrier: judged's measures in an experiment, and the frame of an experiment in `compare`."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged.compat.pyterrier import compare_experiment, measure
from judged.errors import UnknownName

ir_measures: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
pandas: Any = pytest.importorskip("pandas", reason="pandas is not installed")
# ir_measures' own, from Python 3.12 on
pytestmark = pytest.mark.filterwarnings(r"ignore:.* deprecated .* Python 3\.14:DeprecationWarning")

QRELS = {f"q{number}": {"a": 2, "b": number % 2, "c": 1} for number in range(8)}
RUNS = {
    "old": {query: {"b": 3.0, "a": 2.0, "x": 1.0} for query in list(QRELS)[:7]},
    "new": {query: {"a": 3.0, "b": 2.0, "c": 2.0} for query in QRELS},
}
NAME = 'nDCG(gain="exp")@10'


def _frame(rows: Any, columns: list[str]) -> Any:
    return pandas.DataFrame(list(rows), columns=columns)


def test_a_measure_is_computed_through_ir_measures() -> None:
    """As `pt.Experiment` does: by `iter_calc` on data frames, with 0 for a query without results."""
    qrels = _frame(
        ((q, d, g) for q, grades in QRELS.items() for d, g in grades.items()),
        ["query_id", "doc_id", "relevance"],
    )
    run = _frame(
        ((q, d, s) for q, scores in RUNS["old"].items() for d, s in scores.items()),
        ["query_id", "doc_id", "score"],
    )
    ours = measure(NAME)
    found = {
        metric.query_id: metric.value
        for metric in ir_measures.iter_calc([ours, ir_measures.AP], qrels, run)
        if metric.measure == ours
    }

    assert str(ours) == f"judged.{NAME}"
    assert found == judged.evaluate(QRELS, RUNS["old"], NAME).per_query().by_query(NAME)


def test_a_wrong_name_is_refused_at_once() -> None:
    """Before anything is retrieved."""
    with pytest.raises(LookupError, match="nDCG"):
        measure("nDGC@10")


def _experiment() -> Any:
    """The rows of a frame with `perquery=True`, from judged's own values."""
    rows = []
    for system, run in RUNS.items():
        evaluation = judged.evaluate(QRELS, run, [NAME, "AP"])
        for name, shown in ((NAME, f"judged.{NAME}"), ("AP", "map")):
            rows += [(system, q, shown, v) for q, v in evaluation.per_query().by_query(name).items()]
    return _frame(rows, ["name", "qid", "measure", "value"])


def test_a_frame_is_compared() -> None:
    """As the runs would be."""
    expected = judged.compare(QRELS, RUNS, [NAME, "AP"], baseline="old")
    found = compare_experiment(_experiment(), baseline="old")

    assert found.systems == expected.systems
    for name in (NAME, "AP"):
        assert (
            found.contrast("new", "old", name).difference == expected.contrast("new", "old", name).difference
        )
        assert found.contrast("new", "old", name).p == expected.contrast("new", "old", name).p


def test_an_aggregated_frame_is_refused() -> None:
    """It has no values of queries."""
    with pytest.raises(UnknownName, match="perquery=True"):
        compare_experiment(_frame([("old", 0.5)], ["name", "map"]))


def test_rows_that_appear_twice_are_refused() -> None:
    """One of the two would be lost."""
    frame = _experiment()
    with pytest.raises(ValueError, match="appears twice"):
        compare_experiment(pandas.concat([frame, frame.head(1)]))


def test_measures_of_different_queries_are_refused() -> None:
    """A mean over other queries is another mean."""
    with pytest.raises(ValueError, match="expected the same 8 for every measure"):
        compare_experiment(_experiment().iloc[1:].iloc[::-1])


def test_an_experiment_of_pyterrier() -> None:
    """The whole way, with frames in place of retrieval."""
    pt = pytest.importorskip("pyterrier", reason="PyTerrier is not installed")
    topics = _frame(((query, query) for query in QRELS), ["qid", "query"])
    qrels = _frame(
        ((q, d, g) for q, grades in QRELS.items() for d, g in grades.items()), ["qid", "docno", "label"]
    )
    results = [
        _frame(
            ((q, d, s, rank) for q, scores in run.items() for rank, (d, s) in enumerate(scores.items())),
            ["qid", "docno", "score", "rank"],
        )
        for run in RUNS.values()
    ]
    systems = [pt.Transformer.from_df(result) for result in results]
    frame = pt.Experiment(systems, topics, qrels, [measure(NAME), "map"], names=list(RUNS), perquery=True)
    found = compare_experiment(frame, baseline="old")

    assert found.mean("new", "AP").mean == judged.evaluate(QRELS, RUNS["new"], "AP")["AP"]
    assert found.mean("new", NAME).mean == judged.evaluate(QRELS, RUNS["new"], NAME)[NAME]
    assert found.mean("old", NAME).mean == judged.evaluate(QRELS, RUNS["old"], NAME)[NAME]
