"""Fusion: every method equals its slow definition, is exact on ties, and refuses what leaves no order."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from operator import mul
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import judged
from judged.errors import BadInput, JudgedError, UnknownName
from judged.studies.fusion.candidates import collect_candidates
from judged.studies.fusion.methods import METHODS, NORMALISATIONS, Fusion, _count_wins, fuse
from judged.studies.stages.stage import Ranked
from judged.studies.systems.system import fuse_lists
from judged.tables.nested import keep_order
from judged.tables.run import Run

GOLDEN = json.loads((Path(__file__).parent / "ranx.json").read_text(encoding="utf-8"))

Lists = dict[str, dict[str, float]]
SCORES = st.one_of(
    st.integers(-3, 5).map(float), st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3))
)
RUNS = st.lists(
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.dictionaries(st.sampled_from([*"abcdefgh", "d10", "d9", "é"]), SCORES, min_size=1, max_size=8),
        min_size=1,
    ),
    min_size=2,
    max_size=4,
)
DEFAULTS = {"k": 60.0, "gamma": 1.0, "sigma": 0.0, "phi": 0.8}
WEIGHTS = (0.25, 0.5, 1.5, 2.0)


def to_lists(run: Any) -> Lists:
    """Return a run as a dict, in the order of its rows."""
    found: Lists = {}
    for row in run.to_arrow().to_pylist():
        found.setdefault(row["query"], {})[row["document"]] = row["score"]
    return found


# The slow definitions: one query, one document, one run at a time, as the papers write them.


def order(scores: dict[str, float]) -> list[str]:
    """Return documents by score as float32, then by id in bytes, both descending."""
    return sorted(scores, key=lambda one: (np.float32(scores[one]), one.encode()), reverse=True)


def scale(scores: dict[str, float], how: str) -> dict[str, float]:  # noqa: PLR0911 - one for each
    """Return the normalised scores of one list."""
    values = list(scores.values())
    low, high = min(values), max(values)
    if how == "none":
        return scores
    if how == "rank":
        return {one: 1 - at / len(values) for at, one in enumerate(order(scores))}
    if how == "max":
        return {one: score / high if high else 0.0 for one, score in scores.items()}
    if low == high:
        return dict.fromkeys(scores, 0.0)
    if how == "min-max":
        return {one: (score - low) / (high - low) for one, score in scores.items()}
    if how == "sum":
        total = math.fsum(value - low for value in values)
        return {one: (score - low) / total for one, score in scores.items()}
    middle, spread = fmean(values), pstdev(values)
    return {one: (score - middle) / spread for one, score in scores.items()}


def define(method: str, lists: list[dict[str, float]], weights: list[float], how: str) -> dict[str, float]:
    """Return the fused score of every document of one query; a list is empty where a run lacks the query."""
    everything = sorted({one for scores in lists for one in scores})
    ranks = [{one: at for at, one in enumerate(order(scores), start=1)} for scores in lists]
    scaled = [scale(scores, how) if scores else {} for scores in lists]
    found = {}
    for one in everything:
        have = [at for at, scores in enumerate(lists) if one in scores]
        s = [scaled[at][one] for at in have]
        r = [ranks[at][one] for at in have]
        w = [weights[at] for at in have]
        n = len(have)
        weighted = math.fsum(a * b for a, b in zip(w, s, strict=True))
        inverse = math.fsum(a / (b * b) for a, b in zip(w, r, strict=True))
        found[one] = {
            "rrf": lambda w=w, r=r: math.fsum(a / (60 + b) for a, b in zip(w, r, strict=True)),
            "combsum": lambda weighted=weighted: weighted,
            "wsum": lambda weighted=weighted: weighted,
            "combmnz": lambda weighted=weighted, n=n: n * weighted,
            "combanz": lambda s=s: math.fsum(s) / len(s),
            "combmax": lambda s=s: max(s),
            "combmin": lambda s=s: min(s),
            "combmed": lambda s=s: median(s),
            "isr": lambda inverse=inverse, n=n: n * inverse,
            "logisr": lambda inverse=inverse, n=n: math.log(n) * inverse,
            "rbc": lambda w=w, r=r: math.fsum(a * 0.2 * 0.8 ** (b - 1) for a, b in zip(w, r, strict=True)),
            "borda": lambda one=one: borda(one, ranks, weights, len(everything)),
            "condorcet": lambda one=one: copeland(one, everything, ranks, weights),
        }[method]()
    return found


def borda(one: str, ranks: list[dict[str, int]], weights: list[float], candidates: int) -> float:
    """Return the points of a document: those left over are shared by what a run lacks."""
    points = 0.0
    for rank, weight in zip(ranks, weights, strict=True):
        left = [candidates - at for at in range(len(rank), candidates)]
        if rank:
            points += weight * (candidates - rank[one] + 1 if one in rank else fmean(left))
    return points


def copeland(one: str, everything: list[str], ranks: list[dict[str, int]], weights: list[float]) -> float:
    """Return how many others a majority of the runs ranks below a document; ½ for a draw."""
    wins = Fraction(0)
    for other in everything:
        votes = Fraction(0)
        for rank, weight in zip(ranks, weights, strict=True):
            mine, its = rank.get(one, math.inf), rank.get(other, math.inf)
            votes += Fraction(repr(weight)) * ((mine < its) - (mine > its))
        if other != one:
            wins += Fraction((votes > 0) + (votes >= 0), 2)
    return float(wins)


@pytest.mark.parametrize("method", METHODS)
@given(runs=RUNS, how=st.sampled_from(sorted(NORMALISATIONS)), equal=st.booleans())
def test_every_method_equals_its_definition(method: str, runs: list[Lists], how: str, equal: bool) -> None:
    """In every normalisation, with and without weights; the rows are in the order of their scores."""
    known = METHODS[method]
    how = "none" if known.uses == "ranks" else how
    if how == "max":
        runs = [{q: {d: abs(x) + 1 for d, x in of.items()} for q, of in run.items()} for run in runs]
    weights = list(WEIGHTS[: len(runs)]) if known.needs_weights or (known.weighted and not equal) else None
    fused = to_lists(fuse(runs, method=method, normalisation=how, weights=weights))

    assert fused.keys() == {query for run in runs for query in run}
    for query, scores in fused.items():
        lists = [run.get(query, {}) for run in runs]
        expected = define(method, lists, weights or [1.0] * len(runs), how)
        assert scores == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert list(scores) == sorted(scores, key=lambda one: (scores[one], one.encode()), reverse=True)


@pytest.mark.parametrize("method", METHODS)
@given(
    runs=RUNS,
    weights=st.none() | st.lists(st.integers(1, 10).map(lambda tenths: tenths / 10), min_size=4, max_size=4),
)
def test_the_order_of_the_runs_does_not_matter(
    method: str, runs: list[Lists], weights: list[float] | None
) -> None:
    """To the last bit, with any weights, so documents that only swapped their ranks between runs are tied."""
    known = METHODS[method]
    if known.needs_weights and weights is None:
        weights = list(WEIGHTS)
    given_weights = weights if known.weighted and weights is not None else None
    numbers = range(len(runs))

    def fuse_in(order: Sequence[int]) -> list[tuple[str, list[tuple[str, float]]]]:
        chosen = None if given_weights is None else [given_weights[number] for number in order]
        fused = to_lists(fuse([runs[number] for number in order], method=method, weights=chosen))
        return sorted((query, list(scores.items())) for query, scores in fused.items())

    assert all(fuse_in(order) == fuse_in(numbers) for order in list(permutations(numbers))[1:6])


def test_weights_that_add_up_to_the_same_are_a_draw_in_every_order() -> None:
    """All draws of four runs with weights in tenths, whose sums as floats often differ in the last bit."""
    tenths = range(1, 11)
    draws = [
        (signs, weights)
        for weights in combinations_with_replacement(tenths, 4)
        for signs in product((1, -1), repeat=4)
        if sum(map(mul, signs, weights)) == 0
    ]
    for signs, weights in draws:
        for order in permutations(range(4)):
            ranks = [np.array([1.0, 2.0])[:: signs[number]] for number in order]
            wins = _count_wins(ranks, [weights[number] / 10 for number in order])

            assert wins.tolist() == [0.5, 0.5]

    assert len(draws) > 400


def test_weights_of_any_size_are_added_exactly() -> None:
    """Also where their ratio exceeds the range of an integer of 64 bits: the smallest weight decides a draw."""
    first, second = np.array([1.0, 2.0]), np.array([2.0, 1.0])

    assert _count_wins([first, second, first], [1.0, 1.0, 1e-300]).tolist() == [1.0, 0.0]
    assert _count_wins([first, second, second], [1.0, 1.0, 1e-300]).tolist() == [0.0, 1.0]


@given(runs=RUNS, depth=st.integers(1, 5))
def test_depth_keeps_the_first_documents(runs: list[Lists], depth: int) -> None:
    """Of each query, with their scores."""
    whole, cut = to_lists(fuse(runs)), to_lists(fuse(runs, depth=depth))

    assert cut == {query: dict(list(scores.items())[:depth]) for query, scores in whole.items()}


@given(runs=RUNS)
def test_a_run_of_weight_0_adds_nothing_to_a_weighted_sum(runs: list[Lists]) -> None:
    """Documents that only it has score 0."""
    fused = to_lists(fuse(runs, method="wsum", weights=[1.0, *[0.0] * (len(runs) - 1)]))

    for query, scores in fused.items():
        expected = scale(runs[0][query], "min-max") if query in runs[0] else {}
        assert scores == pytest.approx({one: expected.get(one, 0.0) for one in scores}, abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['method']}-{case['norm']}")
def test_agrees_with_ranx(case: dict[str, Any]) -> None:
    """On runs with the same queries and without ties, which ranx leaves in the order of the input."""
    options = {"normalisation": case["norm"]} if METHODS[case["method"]].uses == "scores" else {}
    fused = to_lists(fuse(GOLDEN["runs"], method=case["method"], **options, **case["parameters"]))

    assert {query: pytest.approx(scores) for query, scores in case["fused"].items()} == fused


def test_rrf_by_hand() -> None:
    """1/61 + 1/62 for the two that changed places, and 1/63 for what one run has."""
    fused = to_lists(fuse([{"q": {"a": 3.0, "b": 2.0}}, {"q": {"b": 9.0, "a": 8.0, "c": 7.0}}]))

    assert fused == {"q": {"b": 1 / 61 + 1 / 62, "a": 1 / 61 + 1 / 62, "c": 1 / 63}}
    assert list(fused["q"]) == ["b", "a", "c"]


def test_a_cycle_of_majorities_is_a_tie() -> None:
    """Each of three documents is preferred to the next by two of three runs: all score 1, ordered by id."""
    runs = [{"q": dict(zip(names, (3.0, 2.0, 1.0), strict=True))} for names in ("abc", "bca", "cab")]

    assert to_lists(fuse(runs, method="condorcet")) == {"q": {"c": 1.0, "b": 1.0, "a": 1.0}}


def test_tied_scores_rank_as_they_are_scored() -> None:
    """By document id, descending, in bytes; scores that differ beyond float32 are tied."""
    near = {"q": {"a": 0.1, "b": 0.1 + 1e-12}}

    assert list(to_lists(fuse([{"q": {"a": 1.0, "b": 1.0}}, {"q": {"c": 1.0}}], k=0))["q"]) == ["c", "b", "a"]
    assert to_lists(fuse([near, {"q": {"c": 1.0}}]))["q"]["b"] == 1 / 61


def test_queries_that_a_run_lacks_are_noted() -> None:
    """They are fused from the others, and nothing is dropped."""
    fused = fuse({"bm25": {"q1": {"a": 1.0}, "q2": {"b": 1.0}}, "dense": {"q1": {"a": 1.0}}})

    assert to_lists(fused) == {"q1": {"a": 2 / 61}, "q2": {"b": 1 / 61}}
    assert fused.notes == (
        "dense has no results for 1 query of the others (q2): fused from the runs that have",
    )


def test_what_leaves_no_order_is_refused_in_words() -> None:
    """Scores that are not finite, repeated documents, and runs that are too few."""
    good: Lists = {"q1": {"a": 1.0}}
    with pytest.raises(BadInput, match="score is inf, expected a finite number"):
        fuse([good, {"q1": {"a": math.inf}}])
    with pytest.raises(BadInput, match="score is nan, expected a number"):
        fuse([good, {"q1": {"a": math.nan}}])
    twice = judged.read_run(b"q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n", name="second.run")
    with pytest.raises(BadInput, match=r":2: document `a` is retrieved again for query `q1`"):
        fuse([good, twice])
    with pytest.raises(BadInput, match="runs: 1, expected two or more"):
        fuse([good])
    with pytest.raises(BadInput, match="query `q1`: the highest score is -2, expected one above 0"):
        fuse([good, {"q1": {"a": -2.0}}], method="combsum", normalisation="max")
    with pytest.raises(JudgedError, match="exceed the range of a float"):
        fuse([{"q1": {"a": 1e308}}] * 2, method="combsum", normalisation="none")


def test_wrong_settings_are_named() -> None:
    """Methods, normalisations, parameters, weights and depths, with what was expected."""
    runs = {"bm25": {"q1": {"a": 1.0}}, "dense": {"q1": {"a": 1.0}}}
    for settings, message in (
        ({"method": "rff"}, "did you mean `rrf`"),
        ({"method": "combsum", "normalisation": "minmx"}, "did you mean `min-max`"),
        ({"normalisation": "sum"}, "`rrf` fuses ranks, and takes no normalisation"),
        ({"phi": 0.5}, "`rrf` has no parameter `phi`"),
        ({"k": -1}, "`k` of `rrf` is -1, expected a number from 0"),
        ({"method": "rbc", "phi": 2}, "expected a number from 0 to 1"),
        ({"method": "wsum"}, "`wsum` needs a weight for each run: bm25, dense"),
        ({"method": "combmax", "weights": [1, 2]}, "`combmax` takes no weights"),
        ({"weights": [1]}, "there are 1 weights for 2 runs"),
        ({"weights": {"bm25": 1}}, "weights are missing for dense"),
        ({"weights": {"bm25": 1, "dnse": 1}}, "no run is called `dnse`"),
        ({"weights": [1, -1]}, "the weight of dense is -1, expected a finite number from 0"),
        ({"weights": [0, 0]}, "every weight is 0"),
        ({"depth": 0}, "the depth is 0, expected a whole number from 1"),
    ):
        with pytest.raises(JudgedError, match=message):
            fuse(runs, **settings)
    with pytest.raises(UnknownName):
        fuse(runs, method="median-rank")


def test_names_of_ranx_are_known() -> None:
    """Whatever their case, `_` and `-`."""
    runs = [{"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"b": 2.0, "c": 1.0}}]
    for theirs, ours in (("mnz", "combmnz"), ("log_isr", "logisr"), ("bordafuse", "borda"), ("RRF", "rrf")):
        assert to_lists(fuse(runs, method=theirs)) == to_lists(fuse(runs, method=ours))
    assert fuse(runs, method="sum", normalisation="zmuv").name == "combsum"


@given(data=st.data(), method=st.sampled_from(sorted(METHODS)))
def test_one_query_of_a_study_is_fused_as_runs_are(data: st.DataObject, method: str) -> None:
    """The short way through lists of names has the order and the scores of `judged.fuse`, ties and their ids included."""
    names = st.lists(
        st.sampled_from([f"d{number}" for number in range(9)] + ["é", "z"]), unique=True, max_size=9
    )
    scores = st.sampled_from([0.1, 0.2, 0.2 + 1e-9, 1.0, 3.0])
    lists = [
        Ranked(tuple(found), tuple(data.draw(scores) for _ in found))
        for found in data.draw(st.lists(names, min_size=2, max_size=4))
    ]
    assume(any(len(ranked) for ranked in lists))
    fusion = Fusion.choose(method)
    weighted = METHODS[method].weighted
    weights = [data.draw(st.sampled_from([0.1, 0.7, 1.0])) if weighted else 1.0 for _ in lists]
    runs = [
        Run.from_columns(["q"] * len(ranked), list(ranked.documents), list(ranked.scores), name=str(number))
        for number, ranked in enumerate(lists)
    ]
    candidates = collect_candidates(runs)
    expected = candidates.to_run(fusion.score(candidates, weights), name="fused").to_arrow()

    found = fuse_lists(fusion, weights, lists, [run.name for run in runs])
    assert list(found.documents) == expected["document"].to_pylist()
    assert list(found.scores) == keep_order(expected["score"].to_pylist())
