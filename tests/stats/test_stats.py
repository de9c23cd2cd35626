"""What `judged.stats` offers, and what it loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judged import evaluate, stats


def test_every_name_can_be_imported_and_none_is_a_module() -> None:
    """The stub lists every public name; a module of the same name would hide a function."""
    modules = {path.stem for path in Path(stats.__file__).parent.glob("*.py")}

    assert all(getattr(stats, name).__module__.startswith("judged.stats.") for name in stats.__all__)
    assert not modules & set(stats.__all__)
    assert set(stats.__all__) <= set(dir(stats))


def test_importing_and_using_them_leaves_scipys_statistics_alone() -> None:
    """`scipy.stats` takes most of a second to import; special functions do."""
    code = (
        "import sys; from judged import stats; loaded = set(sys.modules)\n"
        "stats.tukey_hsd([[1, 2], [3, 5]]); stats.friedman_test([[1, 2], [3, 5]]); stats.two_way_anova([[1, 2], [3, 5]])\n"
        "stats.correlated_t_posterior([1, 2], [3, 5]); stats.kendall_tau([1, 2], [2, 1])\n"
        "print('scipy' in loaded, 'numpy' in loaded, 'scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.split() == ["False", "False", "False"]


def test_scores_of_runs_go_in_as_they_are() -> None:
    """Systems are paired by query; the measure may be named."""
    judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {
        "good": {"q1": {"a": 2.0, "x": 1.0}, "q2": {"b": 2.0}},
        "bad": {"q1": {"x": 2.0, "a": 1.0}, "q2": {"y": 2.0}},
    }
    scores = {name: evaluate(judgments, run, ["RR", "P@1"]).per_query() for name, run in runs.items()}

    found = stats.tukey_hsd(scores, measure="RR")
    assert found.means == {"good": 1.0, "bad": 0.25}


@pytest.mark.parametrize(
    "result",
    [
        stats.two_way_anova([[0.1, 0.2]]),
        stats.tukey_hsd([[0.1, 0.2]]),
        stats.randomised_tukey_hsd([[0.1, 0.2]]),
        stats.friedman_test([[0.1, 0.2]]),
        stats.kendall_tau([0.1], [0.1]),
        stats.rank_biased_overlap([0.1], [0.1]),
        stats.cohen_kappa([1], [1]),
        stats.krippendorff_alpha([[1], [1]]),
        stats.confusion_matrix([1], [1]),
        stats.grade_bias([1], [1]),
        stats.correlated_t_posterior([0.1], [0.2]),
        stats.signed_rank_posterior([0.1], [0.2], resamples=10),
    ],
    ids=lambda result: type(result).__name__,
)
def test_every_result_gives_rows_of_plain_cells(result: Any) -> None:
    """Text, numbers or nothing, and never nan, where next to nothing is known too."""
    rows = result.rows()

    assert rows
    for cell in (cell for row in rows for cell in row.values()):
        assert cell is None or type(cell) in {str, int, float}
        assert cell == cell  # noqa: PLR0124 - nan alone is not itself
