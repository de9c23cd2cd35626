"""The clock: stages add up to the total, within what reading the time costs."""

from __future__ import annotations

from time import perf_counter_ns

import pytest

from judged.studies.stages.clock import Clock


def spend(nanoseconds: int) -> None:
    """Do nothing for some time."""
    end = perf_counter_ns() + nanoseconds
    while perf_counter_ns() < end:
        pass


def test_stages_add_up_to_the_total() -> None:
    """Nested, repeated and one after the other; what lies between is the clock's own time, microseconds each."""
    gaps = []
    for _ in range(5):  # a busy machine may stop the process anywhere
        clock = Clock()
        for _ in range(10):
            with clock.stage("retrieval"):
                spend(100_000)
                with clock.stage("embedding"):
                    spend(100_000)
                spend(100_000)
            with clock.stage("reranking"):
                spend(100_000)
        times = clock.stop()
        total = times.pop("total")
        gaps.append((total - sum(times.values())) / total)

    assert min(gaps) >= 0
    assert min(gaps) < 0.05
    assert set(times) == {"retrieval", "embedding", "reranking"}


def test_an_inner_stage_stops_the_outer_one() -> None:
    """The time of `embedding` is none of `retrieval`'s."""
    clock = Clock()
    with clock.stage("retrieval"), clock.stage("embedding"):
        spend(5_000_000)
    times = clock.stop()

    assert times["embedding"] >= 5_000_000
    assert times["retrieval"] < times["embedding"]


def test_time_that_was_measured_earlier_counts_for_the_stage_and_the_total() -> None:
    """And for no stage that is open."""
    clock = Clock()
    with clock.stage("retrieval"):
        clock.add("embedding", 10**12)
    times = clock.stop()

    assert times["embedding"] == 10**12
    assert times["retrieval"] < 10**9
    assert 10**12 <= times["total"] < 10**12 + 10**9


def test_a_stage_that_fails_is_closed() -> None:
    """What comes after it is timed as usual."""
    clock = Clock()
    with pytest.raises(ValueError, match="no"), clock.stage("broken"):
        raise ValueError("no")
    with clock.stage("next"):
        spend(1_000_000)
    times = clock.stop()

    assert times["next"] >= 1_000_000
    assert times["broken"] < times["next"]


def test_time_outside_stages_is_in_the_total_alone() -> None:
    """Nothing is made up for it."""
    clock = Clock()
    spend(2_000_000)

    assert set(clock.stop()) == {"total"}
    assert clock.stop()["total"] >= 2_000_000
