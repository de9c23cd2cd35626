"""Time grows with the size of the input for every option that changes the algorithm, not for the plain call alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import judged
from judged import Protocol
from judged.studies.fusion.methods import METHODS
from tests.support.growth import Job, assert_growth

SMALL, TIMES = 4_000, 8
"""Results of the smaller input, and how many times as many the larger has: quadratic work would take 64 times as long."""

BOUNDED = [
    *(
        "AP",
        "AP@100",
        "gm_AP",
        "infAP",
        "yaap",
        "nDCG",
        "nDCG@100",
        "Rprec",
        "Bpref",
        "R@100",
        "F1@100",
        "FallOut@100",
    ),
    *("SetF", "DR@100", "nDCG_JK", "nERR", "Compat", "Q", "G", "RBP", "ERR"),
]
"""Measures of every way in which bounds over unjudged results are found in about linear time."""
SEARCHED = ["IPrec(recall=0.5)", "AP11", "binG", "Rndcg"]
"""Measures whose bounds are searched for, as their cards say: no way in about linear time is known."""


def make_query(
    n: int, *, ties: int = 1, judged_results: int | None = None
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """A query with n results, of which one in ten or a given number is judged, and equal scores in groups of `ties`."""
    rng = np.random.default_rng(n)
    step = 10 if judged_results is None else max(n // judged_results, 1)
    judged_documents = {f"d{place}": int(rng.integers(0, 2)) for place in range(0, n, step)}
    return {"q": judged_documents}, {"q": {f"d{place}": float(-(place // ties)) for place in range(n)}}


def make_many(n: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """As many queries as results there would be, with ten results each."""
    rng = np.random.default_rng(n)
    queries = [f"q{number}" for number in range(n // 4)]
    run = {query: {f"d{place}": float(rng.random()) for place in range(10)} for query in queries}
    return {query: {"d1": 1, "d7": 2} for query in queries}, run


def find_bounds(measure: str, *, share: float = 1) -> Callable[[int], Job]:
    """`score --bounds` of one measure."""

    def prepare(n: int) -> Job:
        scored = judged.evaluate(*make_query(int(n * share)), [measure])
        return lambda: scored.unjudged_range(measure)

    return prepare


def find_tie_range(measure: str) -> Callable[[int], Job]:
    """The range over orders of ties, which `--bounds` shows too."""

    def prepare(n: int) -> Job:
        scored = judged.evaluate(*make_query(n, ties=5), [measure])
        return lambda: scored.tie_range(measure)

    return prepare


def expect_ties(measure: str) -> Callable[[int], Job]:
    """`--ties expected`, whose work is the number of tied groups times that of the judged documents."""

    def prepare(n: int) -> Job:
        qrels, run = make_query(n, ties=5, judged_results=100)
        return lambda: judged.evaluate(qrels, run, [measure], protocol=Protocol(ties="expected"))

    return prepare


def fuse(method: str) -> Callable[[int], Job]:
    """`fuse --method`, three runs of one query."""

    def prepare(n: int) -> Job:
        rng = np.random.default_rng(n)
        documents = [f"d{place}" for place in range(n)]
        runs = [{"q": dict(zip(documents, rng.random(n).tolist(), strict=True))} for _ in range(3)]
        weights = [1.0, 2.0, 3.0] if method == "wsum" else None
        return lambda: judged.fuse(runs, method=method, weights=weights)

    return prepare


def show_queries(n: int) -> Job:
    """`score --per-query`."""
    qrels, run = make_many(n)
    return lambda: str(judged.evaluate(qrels, run, ["nDCG@10", "AP"]).per_query())


def compare_slices(n: int) -> Job:
    """`compare --slices`."""
    qrels, run = make_many(n)
    other = {
        query: dict(zip(scores, reversed(scores.values()), strict=True)) for query, scores in run.items()
    }
    slices = {query: {"kind": f"k{number % 3}"} for number, query in enumerate(qrels)}
    runs = judged.evaluate_many(qrels, {"a": run, "b": other}, ["nDCG@10"])
    return lambda: judged.compare(runs, slices=slices, resamples=200)


def explain(n: int) -> Job:
    """`explain`, which cuts the list after every result: results times judged documents."""
    qrels, run = make_query(n, judged_results=100)
    return lambda: judged.explain(qrels, run, "AP", query="q")


def score_unsorted_dict(n: int) -> Job:
    """A dict with all documents judged and scores that rise."""
    qrels = {"q": {f"d{place}": place % 2 for place in range(n)}}
    run = {"q": {f"d{place}": float(place) for place in range(n)}}
    return lambda: judged.evaluate(qrels, run, "AP")


def score_preferences(n: int) -> Job:
    """Preferences in place of judgments."""
    places = range(n // 16)
    preferences = {"q": {"ann": {f"d{place}": place % 3 for place in places}}}
    run = {"q": {f"d{place}": float(-place) for place in places}}
    return lambda: judged.evaluate(judged.read_preferences(preferences), run, ["prefs_pair", "prefs_simp"])


JOBS: dict[str, Callable[[int], Job]] = {
    **{f"bounds of {measure}": find_bounds(measure) for measure in BOUNDED},
    **{f"bounds of {measure}": find_bounds(measure, share=1 / 16) for measure in SEARCHED},
    **{
        f"tie range of {measure}": find_tie_range(measure) for measure in ("AP", "nDCG", "RR", "Bpref", "ERR")
    },
    **{f"expected {measure}": expect_ties(measure) for measure in ("AP", "nDCG", "RR", "P@100")},
    **{f"fusion by {method}": fuse(method) for method in METHODS},
    "per query": show_queries,
    "slices": compare_slices,
    "explain": explain,
    "unsorted dict": score_unsorted_dict,
    "preferences": score_preferences,
}


PAIRS = {"fusion by condorcet", "preferences", *(f"bounds of {measure}" for measure in SEARCHED)}
"""Work in proportion to all pairs of the results of a query: what is defined by pairs, and bounds that are searched for."""


@pytest.mark.parametrize("name", JOBS)
def test_time_grows_with_the_number_of_results(name: str) -> None:
    """Eight times the results take far less than 64 times the time; for all pairs, not more than that."""
    JOBS[name](100)()  # imports
    assert_growth(JOBS[name], (SMALL, TIMES * SMALL), allowed=2 * TIMES**2 if name in PAIRS else 3 * TIMES)


@pytest.mark.parametrize("order", ["shuffled", "unsorted"])
@pytest.mark.parametrize("command", ["score", "lint"])
def test_time_grows_with_the_rows_of_a_file(order: str, command: str, tmp_path: Path) -> None:
    """Rows of all queries mixed, and rows of each query in any order."""
    rng = np.random.default_rng(1)
    sizes = (20_000, 20_000 * TIMES)
    for n in sizes:
        rows = [f"q{row // 100} Q0 d{row % 100} 1 {score} t\n" for row, score in enumerate(rng.random(n))]
        if order == "shuffled":
            rows = [rows[place] for place in rng.permutation(n)]
        (tmp_path / f"{n}.run").write_text("".join(rows))
        (tmp_path / f"{n}.qrels").write_text("".join(f"q{query} 0 d7 1\n" for query in range(n // 100)))

    def prepare(n: int) -> Job:
        qrels, run = tmp_path / f"{n}.qrels", tmp_path / f"{n}.run"
        jobs = {"score": lambda: judged.evaluate(qrels, run, "AP"), "lint": lambda: judged.lint(run)}
        return jobs[command]

    assert_growth(prepare, sizes, allowed=3 * TIMES)
