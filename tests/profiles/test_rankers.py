"""The profiles of training libraries and toolkits say what these say, of random groups: ties, nothing relevant, one row.

The tools are compared where they are installed; `python -m conformance.rankers` compares more groups, and what it found
is on the compatibility page.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from conformance.rankers import RANKERS, compare, draw_groups, read_record
from judged import PROFILES, evaluate, evaluate_arrays
from judged.errors import BadMeasure

CASES = [(name, metric) for name, ranker in RANKERS.items() for metric in ranker.metrics]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("profile", "metric"), CASES)
def test_says_what_the_tool_says(profile: str, metric: str) -> None:
    """The mean of each of twenty random sets of groups."""
    ranker, rng = RANKERS[profile], np.random.default_rng(11)
    if ranker.version() is None:
        pytest.skip(f"{ranker.distribution} is not installed")
    for _ in range(20):
        theirs, ours = compare(profile, metric, ranker.draw(rng, metric))

        assert ours == pytest.approx(theirs, abs=ranker.near)


def test_every_metric_was_recorded_equal_in_every_case() -> None:
    """The record is of the versions that the profiles name."""
    record = {(row.profile, row.metric): row for row in read_record()}

    assert set(record) == set(CASES)
    assert all(row.equal == row.cases >= 100 for row in record.values())
    assert {(name, row.version) for (name, _), row in record.items()} == {
        (name, PROFILES[name].version) for name in RANKERS
    }


def test_every_new_profile_is_compared_but_the_server() -> None:
    """Elasticsearch is a server that no package index has."""
    arrays = {
        "lightgbm",
        "xgboost",
        "catboost",
        "sklearn",
        "torchmetrics",
        "sentence-transformers",
        "llama-index",
        "ragas",
    }

    assert set(RANKERS) == arrays
    assert {row for profile in RANKERS for row in RANKERS[profile].metrics} == {metric for _, metric in CASES}


# What each tool computed of the worked example of `tests/scoring/test_arrays.py`, where the other libraries are: the
# groups a, b and c for sentence-transformers 6.2.0, which leaves out b, and a and c for llama-index-core 0.14.25 and
# ragas 0.4.3, which refuse b (`python -m conformance.rankers` calls them).
ROWS = [0.9, 0.8, 0.8, 0.1, 0.5, 0.4, 0.3, 0.2], [0, 3, 1, 2, 0, 0, 0, 2]
WORKED = [
    ("sentence-transformers", "accuracy@3", 1.0),
    ("sentence-transformers", "precision@3", 0.5),
    ("sentence-transformers", "recall@3", 0.8333),
    ("sentence-transformers", "ndcg@3", 0.7654),
    ("sentence-transformers", "mrr@3", 0.75),
    ("sentence-transformers", "map@3", 0.6944),
    ("llama-index", "hit_rate", 1.0),
    ("llama-index", "mrr", 0.75),
    ("llama-index", "precision", 0.875),
    ("llama-index", "recall", 1.0),
    ("llama-index", "ap", 0.8194),
    ("llama-index", "ndcg", 0.8664),
    ("ragas", "context_precision", 0.8194),
    ("ragas", "id_based_context_precision", 0.875),
    ("ragas", "id_based_context_recall", 1.0),
]


@pytest.mark.parametrize(("profile", "metric", "value"), WORKED)
def test_the_worked_example_has_the_recorded_numbers(profile: str, metric: str, value: float) -> None:
    """To four decimals, where no tool is installed."""
    scores, grades = ROWS
    chosen = slice(None) if profile == "sentence-transformers" else [0, 1, 2, 3, 7]
    sizes = [4, 3, 1] if profile == "sentence-transformers" else [4, 1]
    rows = np.array(scores)[chosen], np.array(grades)[chosen]
    (mean,) = evaluate_arrays(*rows, group_sizes=sizes, measures=metric, protocol=profile).mean().values()

    assert round(mean, 4) == value


def rank_eval(scores: list[float], ratings: list[int], k: int) -> float:
    """Return the normalised DCG that the documentation and pull request 154362 of Elasticsearch describe."""
    order = sorted(range(len(scores)), key=lambda row: -scores[row])[:k]

    def dcg(rated: list[int]) -> float:
        return sum((2**rating - 1) / math.log2(rank + 1) for rank, rating in enumerate(rated, 1))

    ideal = dcg(sorted(ratings, reverse=True)[: len(order)])
    return dcg([ratings[row] for row in order]) / ideal if ideal else 0.0


def test_elasticsearch_cuts_the_ideal_order_at_the_number_of_hits() -> None:
    """Random groups by the formula, and the example of the pull request: one of five documents found scores 1."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        groups = draw_groups(rng)
        ours = evaluate_arrays(
            groups.scores,
            groups.grades,
            group_sizes=groups.sizes,
            measures="dcg(normalize=True)@3",
            protocol="elasticsearch",
        ).mean()
        theirs = np.mean([rank_eval(*group, 3) for group in groups])
        assert next(iter(ours.values())) == pytest.approx(theirs, abs=1e-12)

    five = {"q": dict.fromkeys("abcde", 3)}
    one = evaluate(five, {"q": {"a": 1.0}}, "dcg(normalize=True)@10", protocol="elasticsearch").mean()
    late = {"q": {f"x{place}": 20.0 - place for place in range(5)} | dict.fromkeys("abcde", 1.0)}
    all_five = evaluate(five, late, "dcg(normalize=True)@10", protocol="elasticsearch").mean()

    assert list(one.values()) == [1.0]
    assert round(next(iter(all_five.values())), 2) == 0.54


def test_names_of_catboost_and_xgboost_are_read_as_they_are_written() -> None:
    """Parameters after a colon, and a minus after the cutoff; an unknown name is refused."""
    read = PROFILES["catboost"].read("NDCG:top=5;type=Exp;denominator=Position")

    assert str(read.measure) == 'nDCG(gain="exp", discount="position")@5'
    assert read.measure.label == "NDCG:top=5;type=Exp;denominator=Position"
    assert PROFILES["xgboost"].read("ndcg@5-").protocol.no_relevant == "zero"
    with pytest.raises(BadMeasure, match="the profile `catboost` has no measure `ERR:top=5`"):
        PROFILES["catboost"].read("ERR:top=5")


# One group of forty rows, the first and the 36th of grade 1, by `python -m conformance.rankers`' way to XGBoost 3.2.0.
UNCUT = [
    ("ndcg", 0.6131),
    ("ndcg-", 0.6131),
    ("ndcg@40", 0.7308),
    ("map", 0.5),
    ("map-", 0.5),
    ("pre", 0.03125),
]


@pytest.mark.parametrize(("name", "value"), UNCUT)
def test_xgboost_without_a_cutoff_looks_at_32_documents(name: str, value: float) -> None:
    """Whatever `lambdarank_num_pair_per_sample` is set to, whose default it is."""
    grades = np.zeros(40)
    grades[[0, 35]] = 1
    scores = np.arange(40, 0, -1)
    mean = evaluate_arrays(scores, grades, group_sizes=[40], measures=name, protocol="xgboost").mean()

    assert mean == {name: pytest.approx(value, abs=5e-5)}
