"""Check of the built site in Chromium, without a network: `python docs/site/check.py SITE [--pictures FOLDER]`.

Every page is opened on a desk in light and on a telephone in dark colours: nothing may be wider than the window, no formula may stay
undrawn, no script may fail, no request may leave the site, and every link and anchor must lead somewhere. Searches must
show the page that is wanted on their first screen. The faults are printed, one a line, and the exit code says whether
there are any.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Browser, Page, sync_playwright

SCREENS = ((1440, "light"), (390, "dark"))
PICTURED = (
    "",
    "tasks/rag-app/",
    "measures/ndcg/",
    "api/score/",
    "notebooks/first-steps/",
    "commands/judged-gate/",
)
"""Pages to look at, of which pictures are taken."""
SEARCHES = {
    "ndcg": "measures/ndcg/",
    "recall_100": "measures/r/",
    "MRR": "measures/rr/",
    "hit rate": "measures/success/",
    "hit_rate": "measures/success/",
    "--baseline": "commands/judged-",
    "--min-delta": "commands/judged-gate/",
    "LangChain": "guides/rag-in-ci/",
    "evaluate_many": "api/score/",
    "map_cut": "measures/ap/",
    "P@10": "measures/p/",
}
"""What readers type, and the page that they want."""
FIRST_SCREEN = 6
"""Results that are visible without scrolling."""
FACTS = """() => ({
  over: document.documentElement.scrollWidth - innerWidth,
  formulae: document.querySelectorAll('.arithmatex').length,
  drawn: document.querySelectorAll('.arithmatex .katex').length,
  links: [...document.querySelectorAll('article a[href], nav a[href]')].map(link => link.href),
})"""
RESULTS = """() => {
  const found = [];
  const walk = root => root.querySelectorAll('*').forEach(element => {
    if (element.shadowRoot) walk(element.shadowRoot);
    if (element.tagName === 'A' && root !== document && element.getBoundingClientRect().width > 0)
      found.push(element.getAttribute('href'));
  });
  walk(document);
  return found;
}"""
"""Addresses that the search shows; its list is in a shadow tree."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """Serve a folder on loopback, and return its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class Checker:
    """The site in a browser, and the faults that were found."""

    def __init__(self, browser: Browser, site: Path, base: str) -> None:
        self.browser, self.site, self.base = browser, site, base
        self.faults: list[str] = []
        self.pages = sorted(
            path.relative_to(site).as_posix().removesuffix("index.html") for path in site.rglob("index.html")
        )
        self._texts: dict[Path, str] = {}

    def open(self, width: int, scheme: str) -> Page:
        """Return a page whose failing scripts and outside requests are faults."""
        context = self.browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        inside = (self.base, "data:", "blob:")
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(inside) else self._add(page, f"asks {request.url}")
            ),
        )
        page.on("pageerror", lambda error: self._add(page, f"fails: {error}"))
        return page

    def check_pages(self, width: int, scheme: str, pictures: Path | None) -> None:
        """Open every page at a width; links are followed once."""
        page = self.open(width, scheme)
        for place in self.pages:
            page.goto(self.base + place, wait_until="load")
            page.wait_for_timeout(20)
            facts = page.evaluate(FACTS)
            if facts["over"] > 0:
                self._add(page, f"is {facts['over']} px wider than the window of {width}")
            if facts["formulae"] != facts["drawn"]:
                self._add(page, f"draws {facts['drawn']} of {facts['formulae']} formulae")
            if (width, scheme) == SCREENS[0]:
                self._check_links(page, facts["links"])
            if pictures is not None and place in PICTURED:
                page.wait_for_timeout(300)
                name = place.strip("/").replace("/", "-") or "index"
                page.screenshot(path=str(pictures / f"{name}-{width}-{scheme}.png"))
        page.context.close()

    def check_search(self) -> None:
        """Type what readers type."""
        page = self.open(*SCREENS[0])
        for words, wanted in SEARCHES.items():
            page.goto(self.base)
            page.wait_for_timeout(600)
            page.keyboard.press("/")
            page.wait_for_timeout(400)
            page.keyboard.type(words, delay=15)
            page.wait_for_timeout(1_200)
            found = [address.replace(self.base, "") for address in page.evaluate(RESULTS) if address]
            places = list(
                dict.fromkeys(urldefrag(address).url.split("?")[0].lstrip("./") for address in found)
            )
            if not any(place.startswith(wanted) for place in places[:FIRST_SCREEN]):
                self.faults.append(f"search for `{words}` shows {places[:FIRST_SCREEN]}, expected {wanted}")
        page.context.close()

    def _check_links(self, page: Page, links: list[str]) -> None:
        for link in dict.fromkeys(links):
            address, anchor = urldefrag(link)
            address = address.partition("?")[0]
            if not address.startswith(self.base):
                continue
            file = self.site / unquote(address.removeprefix(self.base))
            file = file / "index.html" if address.endswith("/") else file
            if not file.is_file():
                self._add(page, f"links to {link.removeprefix(self.base)}, which does not exist")
            elif anchor and file.suffix == ".html" and unquote(anchor) not in self._list_anchors(file):
                self._add(page, f"links to {link.removeprefix(self.base)}, which has no such heading")

    def _list_anchors(self, file: Path) -> str:
        if file not in self._texts:
            text = file.read_text(encoding="utf-8")
            self._texts[file] = " ".join(re.findall(r"\b(?:id|name)=\"?([^\"\s>]+)", text))
        return self._texts[file]

    def _add(self, page: Page, text: str) -> None:
        self.faults.append(f"{page.url.removeprefix(self.base) or 'the first page'} {text}")


def main() -> int:
    """Check the site that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    if chosen.pictures is not None:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium is not installed, and the site is checked in it")
    with serve(chosen.site.resolve()) as base, sync_playwright() as playwright:
        # no name but the server's can be resolved, so that nothing depends on a network
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        checker = Checker(browser, chosen.site.resolve(), base)
        for width, scheme in SCREENS:
            checker.check_pages(width, scheme, chosen.pictures)
        checker.check_search()
        browser.close()
    faults = list(dict.fromkeys(checker.faults))
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.stdout.write(f"{len(checker.pages)} pages, {len(faults)} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
