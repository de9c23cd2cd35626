"""A page for every measure, made of its card, and the index of all of them."""

from __future__ import annotations

from collections.abc import Iterator

from judged.measures.cards import Card, list_cards
from page import ROOT, Page, make_anchor

SOURCE = "docs/measures.md"
CUTOFFS = (5, 10, 20, 100, 1000)
"""Cutoffs with which names of other tools are searched for: `recall_100`."""


def make_measure_pages() -> list[Page]:
    """Return the index of measures, then the page of each, group by group."""
    cards = [card for card in list_cards() if card.group != "custom"]
    return [_make_index(cards), *(Page(place(card), _render(card), SOURCE) for card in cards)]


def place(card: Card) -> str:
    """Return the place of the page of a measure; those of sets of other names do not share one."""
    return f"measures/{make_anchor(card.heading)}.md"


def list_anchors() -> dict[str, str]:
    """Return the page of each measure by the heading that it has on the page of all measures."""
    return {f"{SOURCE}#{make_anchor(card.heading)}": place(card) for card in list_cards()}


def group_pages(pages: list[Page]) -> dict[str, list[Page]]:
    """Return the pages of measures by the title of their group."""
    groups = {place(card): card.group.capitalize() for card in list_cards()}
    grouped: dict[str, list[Page]] = {}
    for page in pages:
        if page.path in groups:
            grouped.setdefault(groups[page.path], []).append(page)
    return grouped


def _make_index(cards: list[Card]) -> Page:
    preface = (ROOT / SOURCE).read_text(encoding="utf-8").partition("\n## ")[0]
    parts = [preface]
    for group in dict.fromkeys(card.group for card in cards):
        rows = [
            f"| [{card.name}](#{make_anchor(card.heading)}) | {card.full_name} | {card.meaning} | "
            f"{', '.join(f'`{name}`' for name in _other_names(card))} |"
            for card in cards
            if card.group == group
        ]
        head = ["| measure | full name | meaning | also written |", "|---|---|---|---|"]
        parts.append("\n".join([f"## {group.capitalize()}", "", *head, *rows, ""]))
    return Page("measures/index.md", "\n".join(parts), SOURCE)


def _render(card: Card) -> str:
    names = _other_names(card)
    # search weighs headings: a name of another tool finds the measure before the pages that mention it
    heading = f"## Other names: {', '.join(f'`{name}`' for name in names)}" if names else "## Names"
    label = "Other names" if names else "Names"
    return f"{card.to_markdown(level=1)}\n{heading} {{ #names data-toc-label='{label}' }}\n\n{', '.join(_forms(card))}\n"


def _other_names(card: Card) -> list[str]:
    return list(dict.fromkeys(spelling.partition(" ")[0] for spelling in card.spellings))


def _forms(card: Card) -> Iterator[str]:
    """Yield the names as they are written with a cutoff, of this tool and of others."""
    names = list(dict.fromkeys([card.name, *_other_names(card)]))
    if not any(parameter.at and parameter.name == "cutoff" for parameter in card.parameters):
        yield from (f"`{name}`" for name in names)
        return
    yield from (f"`{name}@10`" for name in names)
    yield from (f"`{name}_{cutoff}`" for name in names[1:] for cutoff in CUTOFFS)
