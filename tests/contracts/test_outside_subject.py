"""A subject of another package: by one entry point it has scores, comparison, files, a page and a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "subject"
FILES = {
    "observed.csv": "day,degrees\nmon,10\ntue,12\nwed,9\nthu,11\n",
    "model.csv": "date,temperature\nmon,11\ntue,12\nwed,8\nthu,11\n",
    "almanac.csv": "day,degrees\nmon,14\ntue,14\nwed,14\nthu,14\n",
}
"""Errors by hand: the model is off by 1, 0, 1 and 0 degrees, the almanac by 4, 2, 5 and 3."""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python where the example is installed: its folder, and the metadata that an installer writes."""
    info = tmp_path / "site" / "judged_weather-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: judged-weather\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[judged.subjects]\nweather = weather.subject:SUBJECT\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(EXAMPLE), str(tmp_path / "site"), *filter(None, sys.path)])

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
            capture_output=True,
            text=True,
        )

    return run


def test_its_command_scores_saves_and_reports(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """The errors worked out by hand, as a table, as JSON that loads, and on its page."""
    ended = run(
        "-m", "judged", "weather", "observed.csv", "model.csv", "almanac.csv", "-o", "w.json", "-o", "w.html"
    )
    saved = json.loads((tmp_path / "w.json").read_text(encoding="utf-8"))

    assert ended.returncode == 0, ended.stderr
    assert "model is closest to what was observed" in ended.stdout
    assert saved["schema"] == "judged.weather/1"
    assert saved["tables"]["errors"] == [
        {"source": "model", "error": 0.5},
        {"source": "almanac", "error": 3.5},
    ]
    assert 'definePage("weather"' in (tmp_path / "w.html").read_text(encoding="utf-8")
    again = run("-m", "judged", "report", "w.json", "-o", "again.html")
    assert again.returncode == 0, again.stderr
    assert 'definePage("weather"' in (tmp_path / "again.html").read_text(encoding="utf-8")


def test_python_evaluates_compares_gates_and_loads_it(
    run: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """By its family, with the statistics of judged."""
    program = """
import judged
from weather.family import ForecastProtocol
files = {"model": "model.csv", "almanac": "almanac.csv"}
found = judged.evaluate_many("observed.csv", files, "AbsoluteError", protocol=ForecastProtocol())
comparison = judged.compare(list(found.values()), baseline="model")
print({name: system["AbsoluteError"] for name, system in found.items()})
print(comparison.contrast("almanac").difference)
found.save("found.json")
print(judged.load("found.json").to_arrow("scores") == found.to_arrow("scores"))
from judged.measures.parse import parse_measure
print(parse_measure("absolute_error", family="forecast"))
"""
    ended = run("-c", program)

    assert ended.stdout.splitlines() == [
        "{'model': 0.5, 'almanac': 3.5}",
        "3.0",
        "True",
        "AbsoluteError",
    ], ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["weather", "observed.csv", "nothing.csv"], "nothing.csv"),
        (["weathr", "observed.csv"], "did you mean `weather`?"),
    ],
)
def test_its_mistakes_are_worded_like_all_others(
    run: Callable[..., subprocess.CompletedProcess[str]], arguments: list[str], message: str
) -> None:
    """A file that is not there, and a command that is misspelt."""
    ended = run("-m", "judged", *arguments)

    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_its_page_is_drawn(run: Callable[..., Any], tmp_path: Path) -> None:
    """In a browser, with the table of judged's own pages."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    from browser.conftest import ARGUMENTS, PROGRAMS

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    run("-m", "judged", "weather", "observed.csv", "model.csv", "almanac.csv", "-o", "w.html")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        page = browser.new_page()
        page.goto((tmp_path / "w.html").as_uri())
        page.wait_for_selector("table")
        cells = page.eval_on_selector_all("tbody td", "all => all.map(cell => cell.textContent)")
        browser.close()

    assert cells == ["0.5 °C", "3.5 °C"]
