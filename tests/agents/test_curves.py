"""Curves, stopping points, overlaps and comparisons of sessions."""

from __future__ import annotations

from math import isnan

import pytest

import judged
from agents.conversations import conversation
from judged.agents.analysis import Alone, Overlap, alone, curve, overlaps, stopping_points
from judged.agents.evaluate import evaluate_sessions
from judged.errors import BadMeasure, BadProtocol, BadSample

SHORT = conversation("short", "a4", task="t1")
LONG = conversation("long", "a2 b0", "c2 a2", "d4", task="t2")
OTHER = conversation("other", "a4 e3", system="b", task="t1")


def test_a_curve_counts_the_sessions_that_still_run() -> None:
    """CG is 4, 4, 4 and 2, 4, 8: means 3, 4, 6, and one session runs after the first iteration."""
    points = curve(evaluate_sessions([SHORT, LONG], "CG"), "CG").points
    assert [(point.iteration, point.running, point.value) for point in points] == [
        (1, 2, 3),
        (2, 1, 4),
        (3, 1, 6),
    ]
    assert points[0].interval is not None
    assert points[0].interval.low == pytest.approx(
        3 - 12.706205, abs=1e-6
    )  # t(1) at .975 times 1, from tables


def test_a_curve_of_a_rate_can_hold_or_pad() -> None:
    """RG of the short session at 3 is 4 held, 4/3 padded; of the long one 8/3."""
    found = evaluate_sessions([SHORT, LONG], "CG")
    assert curve(found, "RG").points[2].value == pytest.approx((4 + 8 / 3) / 2)
    assert curve(found, 'RG(beyond="pad")').points[2].value == pytest.approx((4 / 3 + 8 / 3) / 2)


def test_a_number_of_a_whole_session_has_no_curve() -> None:
    """N is one number."""
    with pytest.raises(BadMeasure, match="no curve"):
        curve(evaluate_sessions([SHORT], "N"), "N")


def test_a_stopping_point_shows_what_is_lost_and_saved() -> None:
    """At 1 the long session has 2 of 8 and loses three quarters, the short one nothing; 2 of 4 searches are saved."""
    first, second = stopping_points(evaluate_sessions([SHORT, LONG], "CG"))
    assert (first.iteration, first.running, first.gain, first.losing) == (1, 1, 3, 1)
    assert (first.lost, first.searches_saved) == (0.375, 0.5)
    assert (second.lost, second.searches_saved) == (0.25, 0.25)
    assert isnan(first.tokens_saved)


def test_saved_tokens_are_reported_where_every_iteration_has_them() -> None:
    """Of 100 tokens, 60 come after the first iteration."""
    trace = conversation("c", "a2", "b2")
    for step, tokens in zip(trace["turns"][0]["iterations"], (40, 60), strict=True):
        step["tokens"] = tokens
    assert stopping_points(evaluate_sessions([trace], "CG"))[0].tokens_saved == pytest.approx(0.6)


def test_overlap_counts_good_results_on_the_tasks_that_both_did() -> None:
    """On t1 both found a, and only b found e; t2 was done by one system alone."""
    found = evaluate_sessions([SHORT, LONG, OTHER], "CG", reference="union")
    assert overlaps(found) == (Overlap("a", "b", tasks=1, both=1, only_first=0, only_second=1),)
    assert overlaps(found)[0].jaccard == 0.5
    assert alone(found) == (Alone("a", found=4, alone=3, missed=1), Alone("b", found=2, alone=1, missed=0))


def test_overlap_needs_what_was_found_together() -> None:
    """The message says how to ask for it."""
    with pytest.raises(BadProtocol, match="union"):
        overlaps(evaluate_sessions([SHORT, OTHER], "CG"))


def test_systems_are_compared_on_the_same_tasks() -> None:
    """Differences 2, 3, 2 on three tasks; a task that one of them did not do is left out and noted."""
    trace = [conversation(f"a{at}", f"x{gain}", task=f"t{at}") for at, gain in enumerate((2, 3, 4, 4))]
    trace += [
        conversation(f"b{at}", f"x{gain} y2", system="b", task=f"t{at}") for at, gain in enumerate((2, 4, 4))
    ]
    comparison = judged.compare(evaluate_sessions(trace, "CG"), baseline="a")
    contrast = comparison.contrast("b", "a")
    assert contrast.difference == pytest.approx((2 + 3 + 2) / 3)
    assert comparison.differences("b", "a") == {"t0": 2, "t1": 3, "t2": 2}
    assert any("1 task (t3)" in note.message for note in comparison.notes)
    assert "These 3 tasks do not show a" in str(comparison)


def test_tasks_done_several_times_are_noted() -> None:
    """Two sessions of one task are one value."""
    trace = [conversation(f"a{at}", "x2", task="t") for at in range(2)]
    trace += [conversation("b", "x4", system="b", task="t")]
    comparison = judged.compare(evaluate_sessions(trace, "CG"), baseline="a")
    assert comparison.differences("b", "a") == {"t": 2}
    assert "a: 2 sessions on 1 task; each task has their mean" in map(str, comparison.notes)


def test_pooled_measures_are_not_compared_by_means() -> None:
    """The message names the measure to take instead."""
    with pytest.raises(BadMeasure, match="SRR_micro"):
        judged.compare(evaluate_sessions([SHORT, OTHER], "SRR_micro"), baseline="a")


def test_systems_without_a_common_task_are_not_compared() -> None:
    """The message says task, not query."""
    with pytest.raises(BadSample, match="no task in common"):
        judged.compare(evaluate_sessions([LONG, OTHER], "CG"), baseline="a")
