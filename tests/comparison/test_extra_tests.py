"""Extra tests of a comparison are those of `judged.stats` on the same scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import judged
from judged import stats
from judged.blocks import Display, Table
from judged.cli.main import judged as program
from judged.comparison.extra_tests import EXTRA_TESTS, run_extra_test
from judged.errors import UnknownName
from judged.stats.effects import detectable_difference, queries_needed
from judged.stats.margin import equivalence_test

GRADES = {f"q{i}": {"a": 1, "b": 0, "c": 0} for i in range(12)}


def run(ranks: str) -> dict[str, dict[str, float]]:
    """A run that puts the relevant document at these ranks, a query each."""
    return {f"q{i}": _placed(int(rank)) for i, rank in enumerate(ranks)}


def _placed(rank: int) -> dict[str, float]:
    others = {"b": 2.0, "c": 1.0}
    return {"a": {1: 3.0, 2: 1.5, 3: 0.5}[rank], **others}


RUNS = {"one": run("111211112111"), "two": run("122212321223"), "three": run("333232323332")}
COMPARED = judged.compare(GRADES, RUNS, ["RR"], baseline="three")
VALUES = np.array([[judged.evaluate(GRADES, run, "RR").per_query()["RR"]] for run in RUNS.values()])[:, 0].T
ORDER = list(RUNS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("anova", lambda: stats.two_way_anova(VALUES, systems=ORDER).rows()),
        ("tukey", lambda: stats.tukey_hsd(VALUES, systems=ORDER).rows()),
        ("randomised-tukey", lambda: stats.randomised_tukey_hsd(VALUES, systems=ORDER).rows()),
    ],
)
def test_rows_are_those_of_the_statistic(name: str, expected: Callable[[], object]) -> None:
    """Nothing is computed anew: the scores of the comparison go in, its rows come out."""
    assert run_extra_test(COMPARED, name) == {"RR": expected()}


def test_friedman_keeps_the_p_of_pairs_and_of_the_whole_apart() -> None:
    """Nemenyi's p stands in `p`, Friedman's in `chi2_p`."""
    found = stats.friedman_test(VALUES, systems=ORDER)
    rows = run_extra_test(COMPARED, "friedman")["RR"]

    assert [row["p"] for row in rows] == [pair.p for pair in found.pairs]
    assert {row["chi2_p"] for row in rows} == {found.p}


def test_posteriors_and_risks_are_against_the_baselines() -> None:
    """A row for each contrast, and a column for each baseline."""
    beliefs, risks = (
        run_extra_test(COMPARED, "bayesian", rope=0.05)["RR"],
        run_extra_test(COMPARED, "risk")["RR"],
    )

    assert [(row["system"], row["test"], row["rope"]) for row in beliefs] == [
        ("one", "correlated t", 0.05),
        ("one", "signed rank", 0.05),
        ("two", "correlated t", 0.05),
        ("two", "signed rank", 0.05),
    ]
    assert [row["system"] for row in risks] == ["one", "two", "three"]
    assert risks[0]["urisk (three)"] == pytest.approx(float((VALUES[:, 0] - VALUES[:, 2]).mean()))


def test_equivalence_and_power_are_of_the_least_difference_that_matters() -> None:
    """The rope is the margin of the one, and what the other is to find."""
    d = VALUES[:, 1] - VALUES[:, 2]
    same, found = run_extra_test(COMPARED, "equivalence", rope=0.4)["RR"][1], equivalence_test(d, margin=0.4)
    power = run_extra_test(COMPARED, "power", rope=0.1)["RR"][1]

    assert not isinstance(found, stats.Undefined)
    assert same["p"] == found.p
    assert power["needed"] == queries_needed(d, 0.1)
    assert power["detectable"] == detectable_difference(d)


def test_agreement_is_between_the_rankings_of_measures() -> None:
    """RR and P@1 put the three systems in one order; alone, a measure has nothing to agree with."""
    both = judged.compare(GRADES, RUNS, ["RR", "P@1"], baseline="three")

    assert run_extra_test(both, "agreement")["RR"][0]["tau_b"] == pytest.approx(1.0)
    assert "outcome" in run_extra_test(COMPARED, "agreement")["RR"][0]


def test_every_further_statistic_has_a_table_of_each_measure() -> None:
    """No name is without words and rows."""
    both = judged.compare(GRADES, RUNS, ["RR", "P@1"], baseline="three")

    for name in EXTRA_TESTS:
        shown = both.with_extra_tests(name)
        titles = [block.title for block in shown.blocks(Display()) if isinstance(block, Table)]
        assert titles[-2:] == [f"{EXTRA_TESTS[name][0]}: {measure}" for measure in ("RR", "P@1")]
        assert set(shown.to_arrow(name)["measure"].to_pylist()) == {"RR", "P@1"}


def test_scores_that_allow_of_nothing_have_an_outcome() -> None:
    """One query is no sample; the reason stands in the table, and nothing is nan."""
    single = judged.compare({"q": {"a": 1}}, {"x": {"q": {"a": 1.0}}, "y": {"q": {"b": 1.0}}}, ["RR"])

    for name in EXTRA_TESTS:
        for row in run_extra_test(single, name)["RR"]:
            assert not any(isinstance(cell, float) and np.isnan(cell) for cell in row.values())


def test_an_unknown_statistic_is_an_error() -> None:
    """With what may have been meant."""
    with pytest.raises(UnknownName, match="extra test"):
        run_extra_test(COMPARED, "turkey")


def test_the_diagram_names_every_system() -> None:
    """The critical-difference diagram of the first measure has the ranks and groups of Friedman's test."""
    figure = COMPARED.draw_ranks()

    assert figure.title == "Average ranks by RR"
    assert all(name in str(figure.spec) for name in RUNS)


def test_the_command_shows_and_writes_them(tmp_path: Path) -> None:
    """Tables for people, rows in JSON, the diagram in a file."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, grades in GRADES.items() for d, g in grades.items()))
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 0 {s} x\n" for q, scores in run.items() for d, s in scores.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [str(tmp_path / f"{name}.run") for name in RUNS]
    options = ["-m", "RR", "--also", "anova", "--also", "tukey", "--quiet"]
    drawn = tmp_path / "ranks.svg"
    text = CliRunner().invoke(program, ["compare", str(qrels), *files, *options, "--diagram", str(drawn)])
    data = CliRunner().invoke(program, ["compare", str(qrels), *files, *options, "--format", "json"])

    assert "Analysis of variance: RR" in text.stdout
    assert "Tukey's HSD: RR" in text.stdout
    assert drawn.read_text().startswith("<svg")
    assert json.loads(data.stdout)["tables"]["anova"][0]["name"] == "systems"
