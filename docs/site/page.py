"""A page of the site, and its place in the site and in the repository."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""
FENCED = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """One page, as Markdown."""

    path: str
    """Its place in the site: `guides/gate.md`."""
    text: str
    origin: str = ""
    """The file of the repository that its links are relative to; empty: its links are already those of the site."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Files that belong to it, by their place in the site."""

    @property
    def title(self) -> str:
        """Its first heading, without marks."""
        heading = re.search(r"^# (.+)$", FENCED.sub("", self.text), re.MULTILINE)
        if heading is None:
            msg = f"{self.path} has no title: a page begins with `# Title`"
            raise SystemExit(msg)
        return re.sub(r"[`*]|\s*\{.*\}$", "", heading[1]).strip()


def make_anchor(heading: str) -> str:
    """Return the anchor of a heading, as a forge makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def copy_page(source: str, path: str) -> Page:
    """Return the page that a Markdown file of the repository is."""
    return Page(path, (ROOT / source).read_text(encoding="utf-8"), source)
