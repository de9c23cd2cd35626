"""Four times the log takes about four times as long: reading, scoring, fitting and valuing."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

import judged


def make_csv(impressions: int) -> bytes:
    """A log of five documents an impression, of a tenth as many users."""
    rng = np.random.default_rng(0)
    clicks = rng.random((impressions, 5)) < 0.3
    return b"impression,user,query,document,rank,click\n" + b"".join(
        b"%d,u%d,q%d,d%d,%d,%d\n" % (at, at // 10, at % 50, (at + rank) % 9, rank, clicks[at, rank - 1])
        for at in range(impressions)
        for rank in range(1, 6)
    )


DO: dict[str, Callable[[bytes], object]] = {
    "reading": judged.read_clicks,
    "scoring": lambda data: judged.evaluate_clicks(data, "CTR ClickRR"),
    "fitting": lambda data: judged.fit_clicks(data, "DBN(rounds=5)"),
    "valuing": lambda data: judged.estimate_value(data, {"q0": ["d1", "d2"]}, "DR"),
}


@pytest.mark.parametrize("work", DO)
def test_time_grows_with_the_log(work: str) -> None:
    """Processor time of 16,000 impressions is below nine times that of 4,000."""
    small, large = make_csv(4_000), make_csv(16_000)
    DO[work](small)
    seconds = []
    for data in (small, large):
        begin = time.process_time()
        DO[work](data)
        seconds.append(time.process_time() - begin)

    assert seconds[1] < 9 * max(seconds[0], 0.02)
