"""`judged.plan_queries` and `judged power`: the power is as promised, for queries, clusters and attempts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from statsmodels.stats.power import TTestPower

import judged
from judged.cli.main import judged as command
from judged.comparison.plan import Need
from judged.errors import BadSample, UnknownName
from judged.stats import Undefined, difference_test
from judged.stats.outcome import Outcome
from judged.tables.scores import Scores

RNG = np.random.default_rng(7)
START = RNG.bit_generator.state
DRAWS = 2_000
BAND = 3 * math.sqrt(0.8 * 0.2 / DRAWS)
"""Three binomial standard errors of a power of 0.8."""


@pytest.fixture(autouse=True)
def _draw_the_same_numbers() -> None:
    """In whatever order tests run."""
    RNG.bit_generator.state = START


def make(values: np.ndarray, name: str = "new", *, clusters: np.ndarray | None = None) -> Scores:
    """Scores of a measure without an upper bound; several columns are attempts."""
    queries = pa.array([f"q{number:05}" for number in range(len(values))])
    labels = None if clusters is None else pa.array([f"d{number}" for number in clusters.tolist()])
    if values.ndim == 1:
        return Scores(queries, {"DCG": values}, run=name, clusters=labels)
    return Scores(queries, {"DCG": values.mean(axis=1)}, run=name, repeats={"DCG": values}, clusters=labels)


def find_need(*systems: Scores, difference: float = 0.3, **settings: object) -> Need:
    """The need of the first pair."""
    return judged.plan_queries(systems, difference=difference, **settings).needs[0]  # type: ignore[arg-type]


def find_power(differences: np.ndarray, clusters: np.ndarray | None = None) -> float:
    """How often Student's t shows that the mean of the rows is not 0."""
    found = [
        difference_test(
            row, np.zeros_like(row), "t", clusters=None if clusters is None else clusters.tolist()
        )
        for row in differences
    ]
    return float(np.mean([isinstance(outcome, Outcome) and outcome.p < 0.05 for outcome in found]))


def test_the_number_is_that_of_statsmodels() -> None:
    """`TTestPower().solve_power`, rounded up; one-sided and with other errors too."""
    first, second = RNG.normal(size=(2, 40))
    effect = 0.3 / (first - second).std(ddof=1)
    for settings in (
        {"alpha": 0.05, "power": 0.8},
        {"alpha": 0.01, "power": 0.9},
        {"alpha": 0.05, "power": 0.8, "sides": 1},
    ):
        sides = "larger" if settings.get("sides") == 1 else "two-sided"
        expected = TTestPower().solve_power(
            effect_size=effect, alpha=settings["alpha"], power=settings["power"], alternative=sides
        )

        assert find_need(make(first), make(second, "old"), **settings).needed == math.ceil(expected)


def test_the_number_of_queries_has_the_power_that_is_promised() -> None:
    """From a pilot large enough to know the spread: 2,000 comparisons of that many queries."""
    pilot = 0.8 * RNG.normal(size=20_000)
    need = find_need(make(pilot), make(np.zeros(20_000), "old"))

    assert isinstance(need.needed, int)
    found = find_power(0.3 + 0.8 * RNG.normal(size=(DRAWS, need.needed)))
    assert found == pytest.approx(0.8, abs=BAND + 0.01)  # whole queries, and a pilot that is not all


@pytest.mark.parametrize("sizes", [(4,), (1, 2, 9)], ids=["equal", "unequal"])
def test_the_number_of_clusters_has_the_power_that_is_promised(sizes: tuple[int, ...]) -> None:
    """Half of the variance is the clusters'; that of very unequal ones is more than promised rather than less."""

    def draw(rows: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        label = np.repeat(np.arange(count), np.resize(sizes, count))
        common = RNG.normal(size=(rows, count))[:, label]
        return np.sqrt(0.5) * (common + RNG.normal(size=(rows, len(label)))), label

    pilot, label = draw(1, 6_000)
    need = find_need(
        make(pilot[0], clusters=label), make(np.zeros(len(label)), "old", clusters=label), difference=0.4
    )

    assert (need.unit, need.draws) == ("cluster", 6_000)
    assert isinstance(need.needed, int)
    values, clusters = draw(DRAWS, need.needed)
    assert find_power(0.4 + values, clusters) == pytest.approx(0.8, abs=BAND + 0.02)


def test_every_number_of_attempts_has_the_power_that_is_promised() -> None:
    """The trade-off of a pilot with three attempts: one or ten of them, with the queries that they need."""

    def draw(rows: int, queries: int, attempts: int) -> np.ndarray:
        truth = 0.5 * RNG.normal(size=(rows, queries, 1))
        return truth + RNG.normal(size=(rows, queries, attempts))

    need = find_need(make(draw(1, 8_000, 3)[0]), make(draw(1, 8_000, 3)[0], "old"), difference=0.5)

    assert [trade.attempts for trade in need.trades] == [1, 2, 3, 5, 10]
    assert next(trade.draws for trade in need.trades if trade.attempts == 3) == need.needed
    for trade in need.trades[:1] + need.trades[-1:]:
        assert isinstance(trade.draws, int)
        assert trade.answers == trade.draws * trade.attempts
        shape = (DRAWS, trade.draws, trade.attempts)
        d = 0.5 + draw(*shape).mean(axis=2) - draw(*shape).mean(axis=2)
        assert find_power(d) == pytest.approx(0.8, abs=BAND + 0.02)


def test_the_range_covers_what_is_needed() -> None:
    """Pilots of 20 queries: in 95 of 100, the number that the true spread needs lies in the range. 400 draws, error 1.1 %."""
    truth, covered = math.ceil(TTestPower().solve_power(effect_size=0.3, alpha=0.05, power=0.8)), 0
    for _ in range(400):
        need = find_need(make(RNG.normal(size=20)), make(np.zeros(20), "old"))
        assert isinstance(need.low, int)
        assert isinstance(need.high, int)
        covered += need.low <= truth <= need.high

    assert covered / 400 == pytest.approx(0.95, abs=0.034)


def test_one_system_is_planned_with_a_correlation() -> None:
    """Two systems of variance s² that correlate by ρ differ with a variance of 2 s² (1 − ρ); the note says so."""
    values = RNG.normal(size=50)
    spread = values.std(ddof=1)
    for correlation in (0.0, 0.5, 0.9):
        found = judged.plan_queries([make(values)], difference=0.3, correlation=correlation)

        assert found.needs[0].deviation == pytest.approx(spread * math.sqrt(2 * (1 - correlation)))
        assert f"correlate with it by {correlation:g}" in str(found)
    first = RNG.normal(size=(2, 4_000))
    pair = np.sqrt(0.7) * first[0], np.sqrt(0.3) * RNG.normal(size=(2, 4_000))
    one, other = pair[0] + pair[1][0], pair[0] + pair[1][1]
    alone, both = find_need(make(one), correlation=0.7), find_need(make(one), make(other, "old"))
    assert alone.needed == pytest.approx(both.needed, rel=0.1)


def test_a_plan_of_runs_is_one_of_their_scores(tmp_path: Path) -> None:
    """Judgments and runs, evaluations of them, and a file of their scores."""
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    runs = {
        name: {f"q{n}": {"b": 2.0, "a": 3.0 if (n * k) % 3 else 1.0} for n in range(12)}
        for name, k in (("one", 1), ("two", 2), ("three", 5))
    }
    direct = judged.plan_queries(qrels, runs, "RR", difference=0.1)
    evaluations = [judged.evaluate(qrels, run, "RR", name=name) for name, run in runs.items()]

    assert [need.to_dict() for need in judged.plan_queries(evaluations, difference=0.1).needs] == [
        need.to_dict() for need in direct.needs
    ]
    assert [(need.system, need.baseline) for need in direct.needs] == [
        ("two", "one"),
        ("three", "one"),
        ("three", "two"),
    ]
    against = judged.plan_queries(qrels, runs, "RR", difference=0.1, baseline="two")
    assert [(need.system, need.baseline) for need in against.needs] == [("one", "two"), ("three", "two")]
    direct.save(tmp_path / "plan.json")
    assert str(judged.load(tmp_path / "plan.json")) == str(direct)


def test_what_cannot_be_planned_is_refused() -> None:
    """Differences that are 0 or beyond the measure, shares that are not, and pilots without spread or of one query."""
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["b", "a"]}
    pair = {"one": run, "two": {"q1": ["b", "a"], "q2": ["a"]}}
    for settings, words in (
        ({"difference": 0.0}, "`difference` is 0.0, expected a number that is not 0"),
        ({"difference": 2.0}, "AP lies between 0 and 1"),
        ({"difference": 0.1, "power": 80}, "`power` is 80"),
        ({"difference": 0.1, "alpha": 0.9}, "expected a power above alpha"),
        ({"difference": 0.1, "sides": 3}, "`sides` is 3"),
        ({"difference": 0.1, "correlation": 1.0}, "`correlation` is 1.0"),
    ):
        with pytest.raises(BadSample, match=words):
            judged.plan_queries(qrels, pair, "AP", **settings)
    with pytest.raises(UnknownName, match="no attribute of the queries is called `document`"):
        judged.plan_queries(qrels, pair, "AP", difference=0.1, clusters="document")
    assert judged.plan_queries(qrels, {"one": run, "two": run}, "AP", difference=0.1).needed == Undefined(
        "no spread"
    )
    one = judged.plan_queries({"q1": {"a": 1}}, {"one": {"q1": ["a"]}}, "AP", difference=0.1)
    assert one.needed == Undefined("one query")
    assert "is undefined: one query" in str(one)


def test_the_command_prints_and_writes_a_plan(tmp_path: Path) -> None:
    """From runs, and from a file of the scores of several systems; with clusters from a file."""
    lines = [f"q{n} 0 a 1\n" for n in range(20)]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, k in (("old", 2), ("new", 3)):
        rows = [
            f"q{n} Q0 {d} {r} {9 - r} {name}\n"
            for n in range(20)
            for r, d in enumerate("ab" if n % k else "ba", 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    (tmp_path / "documents.csv").write_text(
        "query,document\n" + "".join(f"q{n},d{n // 2}\n" for n in range(20))
    )
    runner = CliRunner()

    def run(*words: str) -> str:
        found = runner.invoke(command, ["power", *words], catch_exceptions=False)
        assert found.exit_code == 0, found.output
        return found.stdout

    inputs = [str(tmp_path / name) for name in ("qrels.txt", "old.run", "new.run")]
    text = run(*inputs, "-m", "RR", "--difference", "0.1", "-o", str(tmp_path / "plan.json"))
    assert "queries show a difference of 0.1 in RR (new against old): two-sided paired t-test" in " ".join(
        text.split()
    )
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["tables"]["needs"][0]["needed"] == judged.load(tmp_path / "plan.json").needed

    score = runner.invoke(
        command, ["score", *inputs, "-m", "RR", "--per-query", "-o", str(tmp_path / "pilot.csv")]
    )
    assert score.exit_code == 0
    again = run("--scores", str(tmp_path / "pilot.csv"), "--difference", "0.1", "--quiet")
    assert again.splitlines()[2:8] == text.splitlines()[2:8]
    by = run(
        *("--scores", str(tmp_path / "pilot.csv"), "--difference", "0.1"),
        *("--cluster", "document", "--attributes", str(tmp_path / "documents.csv"), "--one-sided"),
    )
    assert "clusters show a difference of 0.1 in RR" in by
    refused = runner.invoke(command, ["power", inputs[0], "--difference", "0.1"])
    assert refused.exit_code == 2
    assert "QRELS and one RUN or two are needed" in refused.output
