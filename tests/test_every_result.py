"""Every kind of result can be iterated, printed and turned into data frames; none is forgotten."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import numpy as np
import pytest

import judged
from judged.checks.lint import lint
from judged.explanation.difference import explain_difference
from judged.explanation.published import explain_published
from judged.index.api import benchmark_index
from judged.index.diff import diff_benchmarks
from judged.index.result import IndexBenchmark
from judged.io.read import read_judgments
from judged.labels.result import Labelling
from judged.result import RESULTS, Result
from judged.scoring.evaluate import evaluate_many
from judged.studies.collection import Collection
from judged.studies.result import Study
from judged.studies.run import open_study, run_study
from support import report_results

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
OTHER = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 1.0, "b": 2.0}}
GRADES = [{"task": f"t{at % 2}", "id": f"d{at}", "gain": at % 5} for at in range(10)]


def label() -> Labelling:
    """Two results with a label."""
    labelled = tuple({"task": "t", "id": name, "gain": 1} for name in "ab")
    return Labelling("model", labelled, (), 2, 2, 0, 0, 2, 10, 10, 0.0)


def benchmark() -> IndexBenchmark:
    """Exact search over a few vectors."""
    vectors = np.random.default_rng(0).random((40, 4), dtype=np.float32)
    return benchmark_index(vectors[:30], vectors[30:], engines=["exact"], k=3, repeats=1)


def study() -> Study:
    """One system that is a function, on a collection of two documents."""
    collection = Collection(
        "two", ("a", "b"), ("cats", "dogs"), {"q1": "cats", "q2": "dogs"}, read_judgments(QRELS)
    )
    spec = {
        "collection": "two",
        "systems": [{"name": "words", "search": "tantivy"}],
        "measures": ["AP", "RR"],
    }
    with tempfile.TemporaryDirectory() as folder:
        return run_study(open_study(spec, folder, collection=collection), cache=f"{folder}/vectors")


EXAMPLES: dict[str, Callable[[], Result]] = {
    "evaluation": lambda: judged.evaluate(QRELS, RUN, ["AP", "RR"]),
    "evaluations": lambda: evaluate_many(QRELS, {"one": RUN, "other": OTHER}, ["AP", "RR"]),
    "comparison": lambda: judged.compare(QRELS, {"one": RUN, "other": OTHER}, ["AP", "RR"]),
    "gate": lambda: judged.gate(QRELS, RUN, ["AP", "RR"], baseline=OTHER),
    "sessions": report_results.make_sessions,
    "agreement": lambda: judged.agreement(GRADES, GRADES),
    "explanation": lambda: judged.explain(QRELS, RUN, "AP", query="q2"),
    "difference": lambda: explain_difference(QRELS, RUN, "AP", against="rel=2"),
    "published": lambda: explain_published(QRELS, RUN, "AP", "0.7500"),
    "reported": lambda: judged.explain(QRELS, RUN, "AP", against={"q1": {"map": 0.1}, "q2": {"map": 0.2}}),
    "lint": lambda: lint(b"q1 0 a 1\nq1 0 a 2\n"),
    "labelling": label,
    "index": benchmark,
    "index-diff": lambda: diff_benchmarks(benchmark(), benchmark()),
    "routing": lambda: judged.evaluate_routing([{"query": "q1", "chosen": "a", "optimal": "b"}]),
    "study": study,
    "fusion": lambda: judged.tune_fusion(QRELS, {"one": RUN, "other": OTHER}, "RR", folds=2, step=0.5),
}


@pytest.fixture(params=sorted(EXAMPLES))
def result(request: pytest.FixtureRequest) -> Result:
    """A result of every kind."""
    return EXAMPLES[request.param]()


def test_there_is_an_example_of_every_kind() -> None:
    """Those of other tests aside."""
    assert EXAMPLES.keys() == {kind for kind in RESULTS if kind != "weather"}


def test_every_result_is_iterable_and_not_empty(result: Result) -> None:
    """Over what it consists of; more than once."""
    assert len(list(result)) == len(list(result)) > 0


def test_every_result_prints_as_a_table(result: Result) -> None:
    """With a rule below its headings, and as HTML in notebooks."""
    assert "───" in repr(result)
    assert "<table>" in result._repr_html_()


def test_every_result_is_a_data_frame(result: Result) -> None:
    """Its main table, and each of the others by name."""
    pytest.importorskip("pandas", reason="the extra `pandas` is not installed")

    assert len(result.to_pandas())
    assert all(len(result.to_pandas(name)) == table.num_rows for name, table in result.tables().items())


def test_every_result_has_the_rows_of_its_main_table(result: Result) -> None:
    """As dicts, and of each other table by name; what is not a mapping is iterated by them."""
    assert repr(result.rows()) == repr(result.to_arrow().to_pylist())  # some values are NaN
    assert [len(result.rows(name)) for name in result.tables()] == [len(t) for t in result.tables().values()]
    if not hasattr(result, "keys"):
        assert repr(list(result)) == repr(result.rows())


def test_only_mappings_are_iterated_otherwise() -> None:
    """Measures of an evaluation, systems of several."""
    evaluation = EXAMPLES["evaluation"]()
    assert isinstance(evaluation, judged.Evaluation)

    assert dict(evaluation) == {"AP": 0.75, "RR": 0.75}
    assert list(EXAMPLES["evaluations"]()) == ["one", "other"]
