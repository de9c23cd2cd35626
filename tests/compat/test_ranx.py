"""`judged.compat.ranx`: the calls of ranx's documentation, with its values where ranx is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import judged
from judged.compat.ranx import Qrels, Run, compare, evaluate, fuse
from profiles.inputs import Case, cases

QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
RUN = {
    "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
    "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
}
"""The example of ranx's README, version 0.3.21."""
METRICS = [
    "ndcg@5",
    "map@5",
    "mrr",
    "precision@4",
    "recall@3",
    "hit_rate@2",
    "f1@3",
    "r-precision",
    "ndcg_burges@5",
    "rbp.95",
]


def test_the_example_of_the_readme() -> None:
    """The values that the README prints, and those of its comments on a run's scores."""
    run = Run(RUN, name="bm25")

    assert evaluate(Qrels(QRELS), run, "ndcg@5") == pytest.approx(0.7861, abs=5e-5)
    assert evaluate(Qrels(QRELS), run, ["map@5", "mrr"]) == pytest.approx(
        {"map@5": 0.6416, "mrr": 0.75}, abs=1e-4
    )
    assert run.mean_scores == pytest.approx({"ndcg@5": 0.7861, "map@5": 0.6416, "mrr": 0.75}, abs=1e-4)
    assert run.scores["ndcg@5"] == pytest.approx({"q_1": 0.9430, "q_2": 0.6292}, abs=5e-5)
    assert run.scores["mrr"] == {"q_1": 1.0, "q_2": 0.5}


def test_values_are_those_of_the_profile() -> None:
    """Bit for bit, in the mean and in every query."""
    values = evaluate(QRELS, RUN, METRICS, return_mean=False)
    expected = judged.evaluate(QRELS, RUN, METRICS, protocol="ranx")

    for metric in METRICS:
        name = judged.PROFILES["ranx"].read(metric).name
        assert values[metric].tolist() == expected.per_query()[name].tolist()
        assert evaluate(QRELS, RUN, metric) == expected[name]


def test_hits_are_counted() -> None:
    """The mean number of relevant results, by hand."""
    assert evaluate(QRELS, RUN, ["hits", "hits-l3"]) == {"hits": 2.0, "hits-l3": 1.5}


def test_a_deviation_is_added() -> None:
    """As ranx computes it, over all queries."""
    assert evaluate(QRELS, RUN, "mrr", return_std=True) == {"mean": 0.75, "std": 0.25}


def test_dicts_are_matched_by_key() -> None:
    """By position, as in ranx, a query would be scored against another's judgments."""
    assert evaluate(QRELS, dict(reversed(RUN.items())), "mrr") == evaluate(QRELS, RUN, "mrr")


def test_other_queries_are_refused_unless_asked_for() -> None:
    """In the words of ranx; then missing ones are 0, extra ones are left out, and the run stays as it was."""
    run = Run({"q_1": RUN["q_1"], "extra": {"d_12": 1.0}})
    with pytest.raises(AssertionError, match="Qrels and Run query ids do not match"):
        evaluate(Qrels(QRELS), run, "mrr")

    assert evaluate(Qrels(QRELS), run, "mrr", make_comparable=True) == 0.5
    assert run.get_query_ids() == ["extra", "q_1"]
    assert run.make_comparable(Qrels(QRELS)).to_dict().keys() == {"q_1", "q_2"}


@pytest.mark.parametrize("metric", ["hits@5", "nothing"])
def test_metrics_that_are_not_offered_are_refused(metric: str) -> None:
    """With those that there are."""
    with pytest.raises(ValueError, match="the profile `ranx` has no measure"):
        evaluate(QRELS, RUN, metric)


def test_tables_are_built_as_in_the_documentation(tmp_path: Path) -> None:
    """By rows, from data frames, and from every file that was saved."""
    pandas = pytest.importorskip("pandas")
    run, qrels = Run(name="mine"), Qrels()
    run.add_score("q_1", "d_1", 0.5)
    run.add_multi(["q_2"], [["d_2", "d_3"]], [[0.1, 0.9]])
    qrels.add("q_1", ["d_1"], [2])
    frame = pandas.DataFrame(
        {"q_id": ["q_1", "q_2", "q_2"], "doc_id": ["d_1", "d_3", "d_2"], "score": [0.5, 0.9, 0.1]}
    )

    assert run.to_dict() == {"q_1": {"d_1": 0.5}, "q_2": {"d_3": 0.9, "d_2": 0.1}}
    assert list(run["q_2"]) == ["d_3", "d_2"]
    assert run.size == len(run) == 2
    assert run.to_dataframe().equals(frame)
    assert Run.from_df(frame).to_dict() == run.to_dict()
    for name in ("run.json", "run.trec", "run.txt", "run.parquet"):
        run.save(str(tmp_path / name))
        read = Run.from_parquet if name.endswith("parquet") else Run.from_file
        assert read(str(tmp_path / name)).to_dict() == run.to_dict()
    for name in ("qrels.json", "qrels.trec"):
        qrels.save(str(tmp_path / name))
        assert Qrels.from_file(tmp_path / name).to_dict() == {"q_1": {"d_1": 2}}


def test_wrong_columns_and_kinds_are_refused(tmp_path: Path) -> None:
    """In words."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(LookupError, match="no column is called `doc_id`"):
        Run.from_df(pandas.DataFrame({"q_id": ["a"], "document": ["b"], "score": [1.0]}))
    with pytest.raises(ValueError, match="`lz4` is not offered"):
        Run(RUN).save(str(tmp_path / "run.lz4"))


def test_a_level_of_relevance_lowers_the_grades() -> None:
    """So that the level becomes 1."""
    qrels = Qrels(QRELS)
    qrels.set_relevance_level(3)

    assert qrels.to_dict()["q_1"] == {"d_12": 3, "d_25": 1}
    assert QRELS["q_1"]["d_12"] == 5


def _runs() -> list[Run]:
    """Three runs of twenty queries."""
    generator = np.random.default_rng(5)
    names = [f"d{number}" for number in range(12)]
    return [
        Run({f"q{query}": dict(zip(names, generator.permutation(12).tolist(), strict=True)) for query in range(20)}, name=f"m{number}")
        for number in range(3)
    ]  # fmt: skip


GRADES = {
    f"q{query}": {f"d{(query * 5 + step) % 12}": 1 + step % 3 for step in range(4)} for query in range(20)
}


@pytest.mark.parametrize(("stat_test", "test"), [("student", "t"), ("fisher", "randomisation")])
def test_a_report_is_judgeds_comparison(stat_test: str, test: str, tmp_path: Path) -> None:
    """With the layout of ranx's dict; p-values are not corrected, as there."""
    runs = _runs()
    report = compare(Qrels(GRADES), runs, ["ndcg@5", "map"], stat_test=stat_test, max_p=0.05)
    expected = judged.compare(
        GRADES, {run.name: run.to_dict() for run in runs}, ["ndcg@5", "map"], protocol="ranx", test=test,
        correction="none", resamples=1000, seed=42,
    )  # fmt: skip
    found = report.to_dict()
    contrast = (
        expected.contrast("m1", "m0", "AP")
        if ("m1", "m0") in _pairs(expected)
        else expected.contrast("m0", "m1", "AP").reverse()
    )

    assert list(found) == ["stat_test", "metrics", "model_names", "m0", "m1", "m2"]
    assert found["m1"]["scores"]["map"] == expected.mean("m1", "AP").mean
    assert found["m1"]["comparisons"]["m0"]["map"] == found["m0"]["comparisons"]["m1"]["map"] == contrast.p
    assert found["m1"]["win_tie_loss"]["m0"]["map"] == {
        "W": contrast.count.wins, "T": contrast.count.ties, "L": contrast.count.losses,
    }  # fmt: skip
    assert "nDCG@5" in str(report)
    assert "tabular" in report.to_latex()
    report.save(str(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text()) == found


def _pairs(comparison: Any) -> set[tuple[str, str]]:
    return {(contrast.system, contrast.baseline) for contrast in comparison.contrasts}


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"stat_test": "tukey"}, "Tukey's test of ranx is for unpaired samples"),
        ({"show_percentages": True}, "`show_percentages` is not offered"),
    ],
)
def test_settings_that_are_not_offered_are_refused(choice: Any, words: str) -> None:
    """Rather than ignored."""
    with pytest.raises((ValueError, LookupError), match=words):
        compare(Qrels(GRADES), _runs(), "map", **choice)


def test_two_runs_of_one_name_are_refused() -> None:
    """Of which ranx keeps the last."""
    run = _runs()[0]
    with pytest.raises(ValueError, match="run `m0`: appears twice"):
        compare(Qrels(GRADES), [run, run], "map")


def test_a_fused_run_is_judgeds() -> None:
    """With its names of methods, normalisations and parameters."""
    runs = _runs()[:2]
    found = fuse(runs, norm="min-max", method="wsum", params={"weights": (0.3, 0.7)})
    expected = judged.fuse([run.to_dict() for run in runs], method="wsum", weights=(0.3, 0.7))
    rows = zip(*expected.to_arrow().to_pydict().values(), strict=True)

    assert {(q, d, s) for q, docs in found.to_dict().items() for d, s in docs.items()} == set(rows)


@pytest.mark.parametrize("method", ["wmnz", "mixed"])
def test_methods_with_other_values_are_refused(method: str) -> None:
    """With the reason."""
    with pytest.raises(ValueError, match=f"the method of fusion `{method}` is not offered"):
        fuse(_runs(), method=method)


def test_one_run_is_not_fused() -> None:
    """As ranx asserts."""
    with pytest.raises(AssertionError, match="1 run was given"):
        fuse(_runs()[:1])


@pytest.fixture(scope="module")
def theirs() -> Any:
    """The tool itself, whose first call compiles for a minute."""
    return pytest.importorskip("ranx", reason="ranx is not installed")


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=10)
@given(case=cases(extra=False))
def test_answers_as_ranx(theirs: Any, case: Case) -> None:
    """Every metric, per query and in the mean, of runs without ties, which ranx sorts in any order."""
    run = {q: {d: float(at) for at, d in enumerate(docs)} for q, docs in case.run.items()}
    arguments: dict[str, Any] = {"make_comparable": True, "return_mean": False}
    expected = theirs.evaluate(theirs.Qrels(case.qrels), theirs.Run(run), METRICS, **arguments)
    found = evaluate(Qrels(case.qrels), Run(run), METRICS, **arguments)

    for metric in METRICS:
        assert found[metric] == pytest.approx(expected[metric], abs=1e-9), metric


@pytest.mark.filterwarnings("ignore")
def test_p_values_are_those_of_ranx(theirs: Any) -> None:
    """Of the paired t-test."""
    runs = _runs()
    expected = theirs.compare(
        theirs.Qrels(GRADES), [theirs.Run(run.to_dict(), run.name) for run in runs], ["map", "mrr"]
    )
    found = compare(Qrels(GRADES), runs, ["map", "mrr"]).to_dict()

    for model, values in expected.to_dict().items():
        if model in found["model_names"]:
            assert found[model]["scores"] == pytest.approx(values["scores"])
            assert found[model]["win_tie_loss"] == values["win_tie_loss"]
            for other, metrics in values["comparisons"].items():
                assert found[model]["comparisons"][other] == pytest.approx(metrics)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("wsum", {"weights": (0.3, 0.7)}), ("max", None), ("min", None), ("med", None), ("sum", None), ("anz", None),
        ("mnz", None), ("gmnz", {"gamma": 1.5}), ("isr", None), ("log_isr", None), ("logn_isr", {"sigma": 0.1}),
        ("rrf", {"k": 60}), ("rbc", {"phi": 0.8}), ("bordafuse", None), ("w_bordafuse", {"weights": (0.3, 0.7)}),
    ],
)  # fmt: skip
def test_fused_scores_are_those_of_ranx(theirs: Any, method: str, params: Any) -> None:
    """Every method but `condorcet`, whose scores in ranx are places."""
    runs = _runs()[:2]
    others = [
        theirs.Run({q: {d: float(s) for d, s in docs.items()} for q, docs in run.to_dict().items()})
        for run in runs
    ]
    expected = theirs.fuse(others, method=method, params=params).to_dict()
    found = fuse(runs, method=method, params=params)

    for query, documents in expected.items():
        assert found[query] == pytest.approx(documents, abs=1e-12)
