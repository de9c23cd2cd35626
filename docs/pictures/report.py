"""Takes the pictures of the report for the documentation: pages of `judged demo` in headless Chromium."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PICTURES = {
    "report-study": ("#/study", False, 940),
    "report-leaderboard": ("#/leaderboard", False, 640),
    "report-queries": ("#/queries?a=hybrid", True, 700),
    "report-query": ("#/query?a=hybrid", False, 700),
    "report-curves": ("#/curves?a=hybrid", False, 620),
}
"""The name of each picture: its address in the report, whether it is dark, and its height."""
WIDTH = 1180
DRAWN = """() => document.documentElement.dataset.ready &&
  !document.querySelector(".chart[aria-busy=true]:not(details:not([open]) *)")"""


def main() -> None:
    """Write the pictures beside this file."""
    with TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        command = [sys.executable, "-m", "judged", "demo", "--output", str(demo)]
        run(command, check=True, capture_output=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for name, (address, dark, height) in PICTURES.items():
                page = browser.new_page(
                    viewport={"width": WIDTH, "height": height}, color_scheme="dark" if dark else "light"
                )
                page.goto((demo / "report.html").as_uri() + address)
                wait_for(page)
                page.screenshot(path=HERE / f"{name}.png")
            browser.close()


def wait_for(page: Any) -> None:
    """Wait until everything on the page is drawn."""
    for _ in range(400):
        if page.evaluate(DRAWN):
            page.wait_for_timeout(200)
            return
        page.wait_for_timeout(50)
    sys.exit("the report was not drawn in time")


if __name__ == "__main__":
    main()
