"""Money: by hand, from milliseconds and bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judged.errors import BadProtocol, UnknownName
from judged.index.decision import find_supply
from judged.index.measurement import ClosedLoop, Latencies, OpenLoop
from judged.index.points import Point
from judged.index.prices import parse_prices, price_point
from support.index_points import make_benchmark_of, make_point


def test_a_million_queries_and_a_month_cost_what_they_use() -> None:
    """3.6 ms of a core at 0.04 an hour: a million take 1,000 core-hours / 1,000 = 1 hour, 0.04; a MiB for 730 hours."""
    money = price_point(make_point([3.6, 3.6]), parse_prices("core=0.04,gib=0.005"))

    assert money.million is not None
    assert money.million.value == pytest.approx(3.6e6 / 3.6e6 * 0.04)
    assert money.month is not None
    assert money.month.value == pytest.approx(2**20 / 2**30 * 0.005 * 730)


def test_the_cheapest_machine_that_holds_the_index_is_rented(tmp_path: Path) -> None:
    """An index of 1 MiB fits both; one of 3 GiB only the larger: four cores answer a million of 3.6 ms in a quarter hour."""
    path = tmp_path / "prices.yaml"
    path.write_text(
        "currency: EUR\ninstances:\n"
        "  - {name: small, cores: 2, gib: 2, hour: 0.1}\n"
        "  - {name: large, cores: 4, gib: 16, hour: 0.4}\n"
    )
    prices, point = parse_prices(str(path)), make_point([3.6, 3.6])
    large = replace(
        point,
        rounds=tuple(replace(one, cost=replace(one.cost, memory=3 * 2**30)) for one in point.rounds),
    )
    money = price_point(large, prices)

    assert price_point(point, prices).instance == "small"
    assert money.instance == "large"
    assert money.million is not None
    assert money.million.value == pytest.approx(0.25 * 0.4)
    benchmark = replace(make_benchmark_of([point]), prices=prices)
    assert "EUR / million queries" in repr(benchmark)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("core=much", BadProtocol, "the price `core` is `much`, expected a number from 0"),
        ("core=-1", BadProtocol, "expected a number from 0"),
        ("cpu=1", UnknownName, "no price of --price is called `cpu`"),
    ],
)
def test_wrong_prices_are_refused(text: str, error: type[Exception], message: str) -> None:
    """What is wrong, and what is expected."""
    with pytest.raises(error, match=message):
        parse_prices(text)


def make_loaded(engine: str, throughput: float, p99: float, *, is_open: bool, recall: float = 1.0) -> Point:
    """Return a point with two loops: one within 1 ms, at half the throughput, and one as given."""
    loops = [(throughput / 2, 1.0), (throughput, p99)]
    times = [Latencies(1, 1, 1, late, late, 1, late) for _, late in loops]
    closed = tuple(
        ClosedLoop(number, 100, 0, rate, time, 0.1)
        for number, ((rate, _), time) in enumerate(zip(loops, times, strict=True), 1)
    )
    opened = tuple(
        OpenLoop(rate, rate, 100, 0, rate, time, time, 0.0)
        for (rate, _), time in zip(loops, times, strict=True)
    )
    point = make_point([1.0, 1.0], engine=engine, recalls=[recall] * 40)
    rounds = (replace(one, closed=closed, open=opened if is_open else ()) for one in point.rounds)
    return replace(point, rounds=tuple(rounds))


def test_the_throughput_within_a_time_is_that_of_the_best_loop_within_it() -> None:
    """A loop that is too slow does not count, and neither does an engine whose recall is too low."""
    points = [
        make_loaded("fast", 1000, 9.0, is_open=True),
        make_loaded("steady", 800, 4.0, is_open=False),
        make_loaded("wrong", 9000, 1.0, is_open=True, recall=0.5),
    ]
    found = find_supply(points, 0.95, 5.0, seed=0)

    assert [(supply.point.engine, round(supply.throughput.value), supply.is_open) for supply in found] == [
        ("steady", 800, False),
        ("fast", 500, True),
    ]
