"""The viewer under a scripted attack of thousands of requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.viewer import SMUGGLED, STATUS, _smuggle, attack, exchange, serve_folder


@pytest.mark.parametrize("number", range(len(SMUGGLED)))
def test_a_smuggled_request_is_refused(tmp_path: Path, number: int) -> None:
    """Where readers of HTTP might disagree about the end of a request, it is refused, and what follows is not answered."""
    with serve_folder(tmp_path) as viewer:
        answer = exchange(viewer, _smuggle(SMUGGLED[number], f"127.0.0.1:{viewer.port}"))

    assert STATUS.findall(answer) in ([b"400"], [b"413"], [b"421"])


def test_nothing_breaks_the_viewer(tmp_path: Path) -> None:
    """Hundreds of wrong requests and a thousand connections at once: each is refused, and the viewer goes on."""
    outcome = attack(tmp_path, 300)

    assert outcome.defects == []
    assert outcome.held["connections at once"] == 1_000


@pytest.mark.slow
def test_nothing_breaks_the_viewer_for_long(tmp_path: Path) -> None:
    """Thousands, from another seed."""
    assert attack(tmp_path, 5_000, seed=1).defects == []
