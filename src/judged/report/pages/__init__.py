"""Pages of the report: a file here says what a page shows, and the script of the same name in `assets/pages` draws it.

A page of a subject is `page.py` and `page.js` in its folder.

A new page is one file with a `PAGE`, one script, its line in `PAGES`, and its name among the `pages` of the results
that it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from judged.registry import Registry
from judged.report.packing import Block, Json

if TYPE_CHECKING:
    from judged.report.entry import Entry


@dataclass(frozen=True, eq=False)
class PageData:
    """Data of one result for a page: plain values, every number computed by the library."""

    head: Mapping[str, Json] = field(default_factory=dict)
    """Small, and there at once."""
    blocks: Mapping[str, Block] = field(default_factory=dict)
    """By name; each is unpacked when the page asks for it."""


@dataclass(frozen=True)
class Page:
    """A page: its name in addresses, its title, and what it shows of a result."""

    id: str
    title: str
    data: Callable[[Entry], PageData]
    applies: Callable[[Entry], bool] = lambda _subject: True
    """Whether a result that names the page has data for it."""
    script: str = ""
    """The "package:file" of the script that draws it; by default the one of its name in `assets/pages` here."""

    def read_script(self) -> str:
        """Return the script."""
        package, _, file = (self.script or f"judged.report:assets/pages/{self.id}.js").partition(":")
        return files(package).joinpath(*file.split("/")).read_text(encoding="utf-8")


CORE_PAGES = ("leaderboard", "queries", "query", "curves", "gate", "result", "provenance")
PAGES: Registry[Page] = Registry("page", of_subject=lambda subject: subject.pages)
"""Every page by name; those of subjects come from their manifests."""
for _name in CORE_PAGES:
    PAGES.add(_name, f"judged.report.pages.{_name}:PAGE")


def list_pages(entry: Entry) -> list[Page]:
    """Return the pages of a result in the order of the navigation; other pages are not imported."""
    pages = (PAGES[name] for name in (*entry.result.pages, "provenance"))
    return [page for page in pages if page.applies(entry)]
