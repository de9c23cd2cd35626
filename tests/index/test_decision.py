"""Decisions: words no stronger than intervals, and false alarms as rare as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judged.gates.result import parse_delta
from judged.index.changes import Margins, decide_changes, find_changes
from judged.index.decision import choose_settings, find_criterion, halve_queries, judge_recall, rank_engines
from judged.index.diff import diff_benchmarks, gate_benchmarks
from judged.index.points import Point, estimate_rounds
from support.index_points import make_benchmark_of, make_point

NOISE = 0.03
"""Standard deviation of the logarithm of times between processes, on a quiet machine."""
FLAT = parse_delta(0.0)


def draw_times(rng: np.random.Generator, rounds: int = 5, factor: float = 1.0) -> list[float]:
    """Return times of rounds around one millisecond."""
    times: list[float] = (factor * np.exp(rng.normal(scale=NOISE, size=rounds))).tolist()
    return times


def test_an_engine_is_cheapest_only_where_the_rounds_show_it() -> None:
    """Half the time is shown; times that overlap cannot be distinguished, in the sentence and in the table."""
    fast, slow = make_point([1, 1.1, 0.9], engine="fast"), make_point([2, 2.3, 1.9], engine="slow")
    level = make_point([1.1, 0.9, 1.05], engine="level")

    assert "fast(ef=10) is cheapest: slow(ef=10) takes 2.0" in make_benchmark_of([slow, fast]).answer()
    answer = make_benchmark_of([fast, level]).answer()
    assert "one cannot tell" in answer
    assert "cheapest:" not in answer


def test_one_round_shows_nothing() -> None:
    """However large the difference."""
    answer = make_benchmark_of([make_point([1.0], engine="a"), make_point([50.0], engine="b")]).answer()

    assert "in a single round, which cannot tell engines apart" in answer


@pytest.mark.parametrize("engines", [2, 3, 5])
def test_identical_engines_are_rarely_called_cheapest(engines: int) -> None:
    """In 500 simulations some engine is called cheapest in at most 5 %, and the binomial band above it."""
    rng = np.random.default_rng(engines)
    called = 0
    for _ in range(500):
        points = [make_point(draw_times(rng), engine=f"engine{number}") for number in range(engines)]
        called += rank_engines(choose_settings(points, 0.9, seed=0), points).is_shown

    assert called <= 500 * 0.05 + 2 * (500 * 0.05 * 0.95) ** 0.5


def find_false_alarms(
    *, paired: bool, factor: float = 1.0, margin: str | float = 0.0, runs: int = 2000
) -> float:
    """Return how often a change of latency fails in simulations; a noise that rounds share is there if they are paired."""
    rng = np.random.default_rng(7)
    margins = Margins(FLAT, parse_delta(margin), 0.05, paired=paired, wall=True)
    failed = 0
    for _ in range(runs):
        shared = np.exp(rng.normal(scale=0.3, size=5)) if paired else np.ones(5)
        old, new = (make_point((np.array(draw_times(rng)) * shared * by).tolist()) for by in (1.0, factor))
        changes = [
            change
            for change in find_changes(old, new, margins, recall=("R", "R"))
            if change.measure == "Latency"
        ]
        (result,) = decide_changes(changes, margins, tests=1)
        failed += result.verdict == "fail"
    return failed / runs


@pytest.mark.parametrize("paired", [True, False])
def test_identical_runs_fail_as_often_as_alpha_says(paired: bool) -> None:
    """5 % of 2,000 identical pairs, within the binomial band: 4 to 6 %."""
    assert 0.04 <= find_false_alarms(paired=paired) <= 0.06


@pytest.mark.parametrize("paired", [True, False])
def test_a_slowdown_by_half_is_found(paired: bool) -> None:
    """With five rounds on a quiet machine and a tolerance of 10 %, in at least nine of ten."""
    assert find_false_alarms(paired=paired, factor=1.5, margin="-10%", runs=200) >= 0.9


def test_alpha_holds_for_a_whole_gate() -> None:
    """Of 200 gates over ten settings that did not change, with no tolerance at all, at most 5 % fail, and the band."""
    rng = np.random.default_rng(3)
    failed = 0
    for _ in range(200):
        old, new = (
            make_benchmark_of([make_point(draw_times(rng), ef=ef, cpu=draw_times(rng)) for ef in range(10)])
            for _ in range(2)
        )
        reports = gate_benchmarks(new, old, latency=0.0, paired=True)
        failed += any(report.verdict == "fail" for report in reports)

    assert failed <= 200 * 0.05 + 2 * (200 * 0.05 * 0.95) ** 0.5


def test_wall_times_of_two_days_decide_only_if_asked() -> None:
    """Twice the time is inconclusive on wall time, fails if asked, and fails by processor time in any case."""
    times = [1.0, 1.02, 0.98, 1.01, 0.99]
    old = make_benchmark_of([make_point(times)])
    slower = make_benchmark_of([make_point([2 * time for time in times], cpu=times)])
    costlier = make_benchmark_of([make_point(times, cpu=[2 * time for time in times])])

    assert diff_benchmarks(old, slower).regressed == ()
    assert "nobody asked" in next(iter(gate_benchmarks(slower, old))).text
    assert len(diff_benchmarks(old, slower, wall=True).regressed) == 1
    assert len(diff_benchmarks(old, slower, paired=True).regressed) == 1
    assert len(diff_benchmarks(old, costlier).regressed) == 1
    assert "drift" in {note.code for note in diff_benchmarks(old, old).notes}


def test_diff_and_gate_give_one_verdict() -> None:
    """Measure by measure, because they ask one function; numbers are in milliseconds."""
    times = [1.0, 1.02, 0.98, 1.01, 0.99]
    old = make_benchmark_of([make_point(times), make_point(times, ef=20)])
    new = make_benchmark_of([make_point([1.3 * time for time in times]), make_point(times, ef=20)])
    diff, gates = diff_benchmarks(old, new, wall=True), new.gate(old, alpha=0.05, wall=True)
    latency = next(result for result in gates[0].results if result.measure == "Latency")  # type: ignore[attr-defined]

    assert [report.verdicts for report in diff.reports] == [gate.verdicts for gate in gates]  # type: ignore[attr-defined]
    assert latency.test.difference == pytest.approx(latency.baseline_mean - latency.run_mean)
    assert latency.test.margin == pytest.approx(-0.1 * latency.baseline_mean)


def test_a_lower_recall_fails() -> None:
    """A tenth less on every query regressed; the same recall did not."""
    rng = np.random.default_rng(1)
    recalls = rng.choice([0.8, 0.9, 1.0], size=200)
    old, new = (make_benchmark_of([make_point([1, 1.01], recalls=recalls * by)]) for by in (1.0, 0.9))

    assert diff_benchmarks(old, new).regressed == ("mine(ef=10)",)
    assert diff_benchmarks(old, old).regressed == ()


def test_a_recall_is_shown_likely_or_not_shown() -> None:
    """By the interval over queries, with the number of queries that would show it."""
    rng = np.random.default_rng(5)
    recalls = rng.choice([0.8, 0.9, 1.0], p=[0.1, 0.2, 0.7], size=200)
    point, every = make_point([1.0], recalls=recalls), np.ones(200, dtype=bool)
    mean, error = recalls.mean(), recalls.std(ddof=1) / 200**0.5

    assert judge_recall(point, mean - 3 * error, every).evidence == "shown"
    likely = judge_recall(point, mean - error, every)
    assert (likely.evidence, judge_recall(point, mean + error, every).evidence) == ("likely", "not shown")
    # (z + z')² s² / d² with z of 2.5 % and z' of a power of 80 %: 7.85 · 200, a little more by Student's t
    assert likely.needed == pytest.approx(7.85 * 200, rel=0.02)


def test_no_spread_is_no_certainty() -> None:
    """Recall 1 on 20 queries may be less on others; exact search finds everything by construction."""
    few, every = make_point([1.0], recalls=np.ones(20)), np.ones(20, dtype=bool)

    assert judge_recall(few, 0.95, every).evidence == "likely"
    assert judge_recall(few, 0.95, every).low == pytest.approx(20 / (20 + 1.96**2), abs=1e-4)
    assert judge_recall(replace_exact(few), 0.95, every).evidence == "shown"


def replace_exact(point: Point) -> Point:
    """Return the point as one of an engine that is exact."""
    return replace(point, rounds=tuple(replace(one, exact=True) for one in point.rounds))


def test_a_chosen_recall_is_reported_without_bias() -> None:
    """Ten settings of true recall 0.94: chosen at 0.95 by half of the queries, they report 0.94 on the other half."""
    rng = np.random.default_rng(11)
    reported, naive = [], []
    for seed in range(300):
        points = [
            make_point([1.0 + ef], recalls=rng.binomial(10, 0.94, size=100) / 10, ef=ef) for ef in range(10)
        ]
        for choice in choose_settings(points, 0.95, seed=seed):
            reported.append(choice.reach.recall)
            naive.append(judge_recall(choice.point, 0.95, halve_queries(100, seed)[0]).recall)

    assert np.mean(reported) == pytest.approx(0.94, abs=0.002)
    assert np.mean(naive) > 0.95


def test_confident_choices_keep_their_promise() -> None:
    """Of settings just below and above the target, `confident` chooses one below it at most 5 % of the time."""
    rng = np.random.default_rng(13)
    below = 0
    for seed in range(400):
        points = [
            make_point([1.0 + ef], recalls=rng.binomial(10, true, size=200) / 10, ef=ef)
            for ef, true in enumerate((0.945, 0.99))
        ]
        below += choose_settings(points, 0.95, seed=seed, confident=True)[0].point.measured.query["ef"] == 0

    assert below <= 20


def test_engines_are_ranked_by_what_the_machine_allows() -> None:
    """By processor time on a busy machine, else by wall time; the headline says which."""
    calm = [make_point([1, 1.01], engine="a", cpu=[5, 5.1]), make_point([2, 2.01], engine="b", cpu=[1, 1.02])]
    busy = [
        make_point([1, 1.01], engine="a", cpu=[5, 5.1], others=4.0),
        make_point([2, 2.01], engine="b", cpu=[1, 1.02], others=4.0),
    ]

    assert (find_criterion(calm), find_criterion(busy)) == ("wall", "cpu")
    assert "a(ef=10) is cheapest" in make_benchmark_of(calm).answer()
    assert "b(ef=10) is cheapest: a(ef=10) takes 5" in make_benchmark_of(busy).answer()
    assert "processor time" in make_benchmark_of(busy).answer()


def test_failed_queries_never_make_an_engine_faster() -> None:
    """Two thirds refused at once: a third of the throughput, at the pace of the answered ones."""
    assert make_point([1.0], failed=66).qps == pytest.approx(340)


def test_two_rounds_that_differ_bound_nothing() -> None:
    """Student's interval of two values that differ threefold spans many powers of ten, and is not shown; closer ones are."""
    apart, close = estimate_rounds([1.0, 3.0]), estimate_rounds([1.0, 1.01])

    assert apart is not None
    assert apart.value == pytest.approx(3**0.5)
    assert np.isnan([apart.low, apart.high]).all()
    assert close is not None
    # exp(mean ± 12.706 · s / √2) of the logarithms 0 and 0.00995
    assert close.low == pytest.approx(np.exp(0.004975 - 12.706 * 0.004975), rel=1e-3)
