"""Size and speed of the HTML report: `python benchmarks/report.py [--write benchmarks/REPORT.md]`.

Systems are drawn at random over judged queries, written as a report, and opened in headless Chromium by Playwright
(`pip install playwright`; Debian: `apt-get install chromium`). Times are the least of three loads on this machine.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import judged
from judged.report.page import render_report

MEASURES = ("nDCG@10", "AP", "RR", "R@20")
SIZES = ((10, 7_000), (50, 10_000))
DEPTH = 20
PAGES = ("leaderboard", "queries", "query", "curves", "provenance")

OBSERVE = """
window.tasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((task) => window.tasks.push(task.duration)))
  .observe({type: "longtask", buffered: true});
"""
STATUS = """() => ({
  ready: document.documentElement.dataset.ready,
  busy: !!document.querySelector(".chart[aria-busy=true]:not(details:not([open]) *)"),
  at: performance.getEntriesByName("ready").map((mark) => mark.startTime).pop(),
  drawn: performance.getEntriesByName("drawn").map((mark) => mark.startTime).pop(),
  tasks: window.tasks,
})"""


def make_comparison(systems: int, queries: int) -> tuple[judged.Comparison, dict[str, Any]]:
    """Return a comparison of random systems, and its inputs."""
    rng = np.random.default_rng(7)
    names = np.char.add("q", np.arange(queries).astype(str))
    pool = [[f"doc{query * 97 + place}" for place in range(60)] for query in range(queries)]
    grades = rng.choice([0, 0, 1, 2, 3], size=(queries, 40))
    qrels = {
        str(name): dict(zip(pool[at], grades[at].tolist(), strict=False)) for at, name in enumerate(names)
    }
    runs = {}
    for system in range(systems):
        noise = rng.random((queries, 60)) * (1.5 + system / systems)
        noise[:, :40] += grades * 0.5
        order = np.argsort(-noise, axis=1)[:, :DEPTH]
        runs[f"system-{system:02}"] = {
            str(name): {pool[at][place]: float(-rank) for rank, place in enumerate(order[at].tolist())}
            for at, name in enumerate(names)
        }
    comparison = judged.compare(qrels, runs, MEASURES, baseline="system-00")
    return comparison, {"qrels": qrels, "runs": runs}


def measure_page(path: Path, page: str, times: int = 3) -> dict[str, float]:
    """Return when the page was ready and drawn, and its longest task, the least of several loads, in milliseconds."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(times):
            tab = browser.new_page()
            tab.add_init_script(OBSERVE)
            tab.goto(f"{path.as_uri()}#/{page}")
            status = wait_for(tab)
            tasks = status["tasks"] or [0]
            found.append(
                {"ready": status["at"], "drawn": status["drawn"] or status["at"], "longest task": max(tasks)}
            )
            tab.close()
        browser.close()
    return {name: min(one[name] for one in found) for name in found[0]}


def wait_for(tab: Any, seconds: float = 60) -> dict[str, Any]:
    """Return the status of a page once everything on it is drawn."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        status: dict[str, Any] = tab.evaluate(STATUS)
        if status["ready"] and not status["busy"]:
            tab.wait_for_timeout(150)
            return dict(tab.evaluate(STATUS))
        tab.wait_for_timeout(30)
    sys.exit("the page was not ready in time")


def measure_size(systems: int, queries: int, folder: Path) -> list[str]:
    """Return the rows of the table for one size."""
    comparison, inputs = make_comparison(systems, queries)
    started = perf_counter()
    text = render_report([comparison], **inputs)
    seconds = perf_counter() - started
    path = folder / f"report-{systems}-{queries}.html"
    path.write_text(text, encoding="utf-8")
    size = f"{systems} × {queries:,} × {len(MEASURES)}"
    rows = []
    for page in PAGES:
        figures = measure_page(path, page)
        cells = (f"{figures[name]:.0f}" for name in ("ready", "drawn", "longest task"))
        written = (f"{len(text.encode()) / 1e6:.2f} MB", f"{seconds:.0f} s") if page == PAGES[0] else ("", "")
        rows.append(f"| {size if page == PAGES[0] else ''} | {' | '.join((*written, page, *cells))} |")
    return rows


def main() -> None:
    """Print the table, or write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--quick", action="store_true", help="only the smaller size")
    options = parser.parse_args()
    head = [
        "| systems × queries × measures | file | written in | page | ready, ms | drawn, ms | longest task, ms |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row
            for systems, queries in SIZES[: 1 if options.quick else None]
            for row in measure_size(systems, queries, Path(folder))
        ]
    table = "\n".join([*head, *rows]) + "\n"
    print(table)
    if options.write:
        text = f"# The report, opened in Chromium\n\n`python benchmarks/report.py`; the least of three loads.\n\n{table}"
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
