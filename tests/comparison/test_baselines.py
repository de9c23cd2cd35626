"""Any system as baseline, curves by cutoff and recall: the same numbers as comparisons and evaluations made for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged.comparison.baselines import contrast_with_each
from judged.comparison.curves import RECALLS, precision_by_recall, score_by_cutoff
from judged.stats.distribution import find_quantiles
from judged.stats.intervals import student_interval
from judged.stats.randomisation import randomise, randomise_families
from support.report_results import make_runs

MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """Judgments and four runs."""
    return make_runs()


@pytest.mark.parametrize("test", ["randomisation", "t"])
def test_another_baseline_gives_what_its_own_comparison_gives(data: dict[str, Any], test: str) -> None:
    """Every number of every contrast is equal."""
    names = list(data["runs"])
    comparison = judged.compare(data["qrels"], data["runs"], MEASURES, baseline=names[0], test=test)
    found = contrast_with_each(comparison, names)
    for name in names:
        own = judged.compare(data["qrels"], data["runs"], MEASURES, baseline=name, test=test)

        assert found[name].contrasts == own.contrasts
        assert (found[name].family, found[name].every_pair) == (3, False)


def test_without_a_baseline_contrasts_are_seen_from_either_side(data: dict[str, Any]) -> None:
    """They are those of all pairs: differences change their sign, corrected p-values stay."""
    comparison = judged.compare(data["qrels"], data["runs"], MEASURES)
    found = contrast_with_each(comparison, comparison.systems)
    for name, family in found.items():
        for contrast in family.contrasts:
            pair = {contrast.system, contrast.baseline}
            own = next(
                one
                for one in comparison.contrasts
                if {one.system, one.baseline} == pair and one.measure == contrast.measure
            )
            assert contrast.baseline == name
            assert contrast.corrected == own.corrected
            assert abs(contrast.difference) == abs(own.difference)
            assert contrast.difference == pytest.approx(
                comparison.mean(contrast.system, contrast.measure).mean
                - comparison.mean(name, contrast.measure).mean
            )
    assert found[comparison.systems[0]].describe("maxT") == "maxT over all 6 pairs of systems"


def test_a_contrast_reversed_twice_is_itself(data: dict[str, Any]) -> None:
    """Seen from the other side, wins are losses and the interval is mirrored."""
    contrast = judged.compare(data["qrels"], data["runs"], MEASURES).contrasts[0]
    other = contrast.reverse()

    assert other.reverse() == contrast
    assert contrast.count is not None
    assert other.count is not None
    assert (other.count.wins, other.count.losses) == (contrast.count.losses, contrast.count.wins)
    assert other.interval.low == -contrast.interval.high  # type: ignore[union-attr]


@pytest.mark.parametrize("queries", [9, 40], ids=["all signs", "random signs"])
def test_families_tested_together_are_tested_alike(queries: int) -> None:
    """Drawing the signs once for all families changes no p-value."""
    scores = np.random.default_rng(2).random((queries, 4))
    families = [[(0, 1), (2, 1), (3, 1)], [(0, 3)], None]
    together = randomise_families(scores, families, resamples=300, seed=4)
    for pairs, found in zip(families, together, strict=True):
        alone = randomise(scores, pairs, resamples=300, seed=4)

        assert found.p.tolist() == alone.p.tolist()
        assert found.single_step.tolist() == alone.single_step.tolist()
        assert found.step_down.tolist() == alone.step_down.tolist()


def test_a_curve_has_the_means_of_the_measure_at_each_cutoff(data: dict[str, Any]) -> None:
    """The points are those of evaluations made with these cutoffs, with Student's interval."""
    evaluations = judged.evaluate_many(data["qrels"], data["runs"], ["nDCG@10"])
    curve = score_by_cutoff(evaluations, "nDCG@10", cutoffs=[1, 5, 20])
    assert curve is not None
    for cutoff, means in zip((1, 5, 20), curve.means, strict=True):
        for mean in means:
            values = judged.evaluate(data["qrels"], data["runs"][mean.system], [f"nDCG@{cutoff}"]).values(
                f"nDCG@{cutoff}"
            )
            assert mean.mean == pytest.approx(float(values.mean()), abs=1e-15)
            assert mean.interval.low == pytest.approx(student_interval(values).low)  # type: ignore[union-attr]
    assert curve.name == "nDCG"


def test_measures_without_a_cutoff_or_a_mean_have_no_curve(data: dict[str, Any]) -> None:
    """A geometric mean is not one over queries."""
    evaluations = judged.evaluate_many(data["qrels"], data["runs"], ["AP"])

    assert score_by_cutoff(evaluations, "gm_AP") is None
    assert score_by_cutoff(evaluations, "Bpref") is None


def test_precision_by_recall_is_computed_by_hand() -> None:
    """Relevant at ranks 1 and 3 of two: precision 1 up to recall 0.5, then 2/3."""
    qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    evaluations = judged.evaluate_many(qrels, {"run": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}, ["AP"])
    curve = precision_by_recall(evaluations)

    assert curve.points == RECALLS
    assert [means[0].mean for means in curve.means] == pytest.approx([1.0] * 6 + [2 / 3] * 5)


def test_systems_with_different_queries_are_averaged_over_those_they_share() -> None:
    """A query that one run lacks is left out where the protocol skips it."""
    qrels = {"p": {"a": 1}, "q": {"a": 1}}
    runs = {"one": {"p": {"a": 1.0}, "q": {"b": 1.0}}, "two": {"p": {"a": 1.0}}}
    evaluations = judged.evaluate_many(qrels, runs, ["RR"], protocol=judged.Protocol(missing="skip"))
    curve = score_by_cutoff(evaluations, "RR", cutoffs=[1])
    assert curve is not None

    assert [(mean.system, mean.queries, mean.mean) for mean in curve.means[0]] == [
        ("one", 1, 1.0),
        ("two", 1, 1.0),
    ]


def test_quantiles_are_values_of_the_sample() -> None:
    """A share of the values is at most the quantile, and fewer are below it; counted one by one."""
    values = np.random.default_rng(6).random(37)
    shares = [0.0, 0.1, 0.5, 0.9, 1.0]
    for share, found in zip(shares, find_quantiles(values, shares).tolist(), strict=True):
        assert found in values
        assert (values <= found).mean() >= share
        assert (values < found).mean() <= max(share, 1e-12)
    assert np.isnan(find_quantiles([float("nan")], shares)).all()
