"""The navigation: the sections of `docs/index.md` in their order, and what is generated, each page once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from os.path import normpath

from measure_pages import group_pages
from page import ROOT, Page

CONTENTS = "docs/index.md"
ENTRY = re.compile(r"- \[(?P<title>[^\]]+)\]\((?P<path>[^)]+)\)")
INDEXES = {"measures/index.md", "commands/index.md"}
"""Pages that stand for a generated part, which has its own place."""
Tree = list[dict[str, object]]
"""Titles with a page, or with a tree."""


def make_navigation(pages: list[Page], places: Mapping[str, str]) -> Tree:
    """Return the navigation; a page that it lacks, or has twice, stops the build."""
    by_folder = _sort_by_folder(pages)
    sections = _read_contents(places)
    generated: dict[str, Tree] = {
        "Start": [
            {"judged": "index.md"},
            *sections.pop("What do you have?"),
            {"Notebooks": by_folder["notebooks"]},
            *by_folder.get("live", []),
            {"Examples": by_folder["examples"]},
        ],
        "Guides": sections.pop("Guides"),
        "Measures": [
            {"All measures": "measures/index.md"},
            *({group: _titles(members)} for group, members in group_pages(pages).items()),
        ],
        "Reference": [
            {"Commands": by_folder["commands"]},
            {"Python": by_folder["api"]},
            *sections.pop("Reference"),
        ],
        "Concepts": sections.pop("Concepts"),
        "Project": [*sections.pop("Project"), {"Decisions": sections.pop("Decisions")}],
    }
    if sections:
        msg = f"{CONTENTS}: the sections {list(sections)} have no place in the navigation"
        raise SystemExit(msg)
    tree: Tree = [{title: part} for title, part in generated.items()]
    _check_complete(tree, pages)
    return tree


def _read_contents(places: Mapping[str, str]) -> dict[str, Tree]:
    """Return the sections of the contents: entries, and under lines of text groups of entries."""
    sections: dict[str, Tree] = {}
    current: Tree = []
    for line in (ROOT / CONTENTS).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            current = sections.setdefault(line[3:].strip(), [])
            top = current
        elif entry := ENTRY.match(line):
            file = normpath(f"docs/{entry['path'].partition('#')[0]}")
            if file not in places:
                msg = f"{CONTENTS}: {entry['path']} is not a page of the site"
                raise SystemExit(msg)
            if places[file] not in INDEXES:
                current.append({entry["title"]: places[file]})
        elif sections and line.strip():
            current = []
            top.append({line.strip(): current})
    return sections


def _sort_by_folder(pages: list[Page]) -> dict[str, Tree]:
    """Return the pages of each folder by their titles, its index first."""
    folders: dict[str, list[Page]] = {}
    for page in pages:
        folders.setdefault(page.path.partition("/")[0], []).append(page)
    return {
        folder: _titles(sorted(members, key=lambda page: not page.path.endswith("/index.md")))
        for folder, members in folders.items()
    }


def _titles(pages: list[Page]) -> Tree:
    return [{page.title: page.path} for page in pages]


def _check_complete(tree: Tree, pages: list[Page]) -> None:
    listed = list(_list_places(tree))
    lost = sorted({page.path for page in pages} - set(listed))
    twice = sorted({place for place in listed if listed.count(place) > 1})
    if lost or twice:
        msg = f"pages that the navigation does not have: {lost}; pages that it has twice: {twice}"
        raise SystemExit(msg)


def _list_places(tree: Tree) -> Iterator[str]:
    for entry in tree:
        for part in entry.values():
            if isinstance(part, str):
                yield part
            else:
                yield from _list_places(part)  # type: ignore[arg-type]
