"""The answer of a comparison: the best system and what is separated from it, in sentences for every case."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import judged
from judged.comparison.answer import Conclusion, find_answer
from judged.comparison.contrasts import PairedScores, contrast_systems, estimate_means
from judged.comparison.settings import Settings, choose_settings
from judged.stats.corrections import holm

RNG = np.random.default_rng(11)
QUERIES = [f"q{number:02}" for number in range(40)]
STRENGTHS = {"weak": 0.0, "fair": 0.25, "good": 0.5, "best": 0.55}
NOISE = {name: RNG.normal(0, 0.2, len(QUERIES)) for name in STRENGTHS}


def paired(higher_is_better: bool | None = True, **columns: list[float]) -> PairedScores:  # noqa: FBT002
    """Scores of some systems on as many queries as they have values."""
    values = np.array(list(columns.values())).T
    queries = tuple(f"q{number}" for number in range(len(values)))
    return PairedScores("AP", tuple(columns), queries, values, higher_is_better=higher_is_better)


def answer(scores: PairedScores, settings: Settings | None = None) -> Conclusion:
    """The answer on these scores, as `compare` without a baseline finds it."""
    chosen = settings or Settings()
    pairs = list(combinations(range(len(scores.systems)), 2))
    found = find_answer(
        scores, estimate_means(scores, chosen), contrast_systems(scores, pairs, chosen), chosen
    )
    assert found is not None
    return found


def systems(**settings: object) -> judged.Comparison:
    """Four systems, of which the two strongest are close."""
    columns = {
        name: judged.Scores(
            judged.evaluate(
                {q: {"a": 1} for q in QUERIES}, {q: {"a": 1.0} for q in QUERIES}, "AP"
            ).scores.queries,
            {"AP": np.clip(0.2 + strength + NOISE[name], 0, 1)},
            run=name,
        )
        for name, strength in STRENGTHS.items()
    }
    return judged.compare(list(columns.values()), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"baseline": "weak"},
        {"correction": "bh"},
        {"test": "t"},
        {"test": "t", "baseline": ["weak", "good"]},
    ],
    ids=str,
)
def test_the_answer_has_the_p_values_of_the_table(settings: dict[str, object]) -> None:
    """One family of tests: what the table does not test, the answer does not claim."""
    comparison = systems(**settings)
    ps = {frozenset({found.system, found.baseline}): found.corrected for found in comparison.contrasts}
    found = comparison.answer()

    assert found is not None
    for rival in found.rivals:
        pair = frozenset({rival.system, found.best[0]})
        assert (rival.tested, rival.p) == (pair in ps, ps.get(pair))
        assert rival.separated == (pair in ps and (ps[pair] or 0.0) < 0.05)
    assert [standing.baseline for standing in found.standings] == list(comparison.baselines)


def test_with_another_test_the_correction_is_holms() -> None:
    """By SciPy: paired t-tests of all six pairs, Holm's rule over all of them."""
    comparison = systems(test="t")
    scores, found = comparison.scores[0], comparison.answer()
    pairs = list(combinations(scores.systems, 2))
    ps = holm([stats.ttest_rel(scores.column(a), scores.column(b)).pvalue for a, b in pairs])
    expected = dict(zip(map(frozenset, pairs), ps, strict=True))

    assert found is not None
    assert found.criterion == "p < 0.05, Holm over all pairs"
    assert {rival.system: rival.p for rival in found.rivals} == pytest.approx(
        {name: expected[frozenset({name, found.best[0]})] for name in STRENGTHS if name not in found.best}
    )


def test_the_answer_is_saved_with_the_comparison_and_part_of_its_tables(tmp_path: Path) -> None:
    """As a value, as rows, and as JSON."""
    comparison = systems()
    comparison.save(tmp_path / "comparison.json")
    loaded = judged.load(tmp_path / "comparison.json")

    assert isinstance(loaded, judged.Comparison)
    assert loaded.answers == comparison.answers
    rows = loaded.to_arrow("answers").to_pylist()
    assert [row["best"] for row in rows] == [True, False, False, False]
    assert rows[0]["system"] == comparison.answers[0].best[0]
    assert comparison.to_dict()["tables"]["answers"][1]["p_corrected"] == comparison.answers[0].p


def test_it_says_who_is_best_and_what_is_not_separated() -> None:
    """Two sentences: the mean with its interval and the lead; then who is separated, and who is not."""
    found = systems().answer()

    assert found is not None
    assert (found.best, found.separated, found.not_separated) == (("best",), ("fair", "weak"), ("good",))
    text = found.describe(digits=2)
    assert text.startswith(f"best has the highest AP, {found.mean:.2f} [")
    assert "It is significantly better than fair and weak (p < 0.05, maxT over all pairs); " in text
    assert "these 40 queries do not separate it from good; a difference of " in text
    assert "or more between best and good would show at least 80 % of the time." in text


def test_a_baseline_adds_which_systems_differ_from_it() -> None:
    """Better, worse and open ones, by the corrected p-values of the table."""
    text = systems(baseline="fair").describe_answer(digits=2)

    assert text.endswith(
        "Against fair (p < 0.05, maxT over 3 comparisons): best and good are significantly better; "
        "weak is significantly worse."
    )


def test_less_is_better_where_the_measure_says_so() -> None:
    """The lowest mean is the best, and the lead stays positive."""
    found = answer(paired(False, low=[0.1, 0.2, 0.1, 0.1], high=[0.5, 0.6, 0.6, 0.4]))

    assert found.best == ("low",)
    assert found.lead == pytest.approx(0.4)
    assert found.describe(digits=3).startswith("low has the lowest AP, 0.125 [")
    assert ", 0.400 below high." in found.describe(digits=3)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (paired(a=[0.5, 0.7], b=[0.5, 0.7]), "Both systems have the same AP, 0.60."),
        (paired(a=[0.5], b=[0.5], c=[0.5]), "All 3 systems have the same AP, 0.50."),
        (
            paired(a=[0.7], b=[0.5]),
            "a has the highest AP, 0.70, 0.20 above b. One query cannot show that a system is better.",
        ),
        (
            paired(a=[0.7, 0.5], b=[0.5, 0.7], c=[0.1, 0.1]),
            (
                "a and b share the highest AP, 0.60 [-0.67, 1.87], 0.50 above c. These 2 queries do not separate them from "
                "c (at p < 0.05, maxT over all pairs)."
            ),
        ),
        (
            paired(a=[0.5001, 0.5], b=[0.5, 0.5]),
            (
                "a has the highest AP, 0.50 [0.50, 0.50], less than 0.01 above b. These 2 queries do not show a difference "
                "(p = 1.00, sign-flip randomisation)."
            ),
        ),
    ],
    ids=["two equal", "all equal", "one query", "tied for best", "nearly equal"],
)
def test_every_case_is_a_sentence(scores: PairedScores, expected: str) -> None:
    """Ties for the best, one query, equal systems."""
    assert answer(scores).describe(digits=2) == expected


def test_an_undefined_test_shows_nothing() -> None:
    """Every query differs by the same: Student's t has no spread to go by."""
    found = answer(paired(a=[0.7, 0.7], b=[0.5, 0.5]), choose_settings(test="t"))

    assert found.p is None
    assert "The paired t-test is undefined here, so no difference is shown." in found.describe()


def test_many_systems_are_named_in_part() -> None:
    """All others are counted; where only some are separated, three are named."""
    rng = np.random.default_rng(0)
    worse = {f"s{number:02}": list(rng.normal(0, 0.1, 60)) for number in range(49)}
    found = answer(paired(best=list(rng.normal(3, 0.1, 60)), **worse))

    assert len(found.separated) == 49
    assert (
        "It is significantly better than all 49 others (p < 0.05, maxT over all pairs)." in found.describe()
    )


def test_a_measure_without_a_direction_has_no_answer() -> None:
    """Neither more nor less of it is better, and the comparison says so."""
    assert find_answer(paired(None, a=[1.0, 2.0], b=[2.0, 3.0]), [], [], Settings()) is None


def test_stars_follow_the_corrected_p() -> None:
    """Of each contrast, in its row and in the table that people see."""
    for contrast in systems(correction="bonferroni", test="t").contrasts:
        assert contrast.corrected is not None
        limits = [limit for limit in (0.001, 0.01, 0.05) if contrast.corrected < limit]
        assert contrast.to_dict()["stars"] == (len(limits) * "*" or "ns")
