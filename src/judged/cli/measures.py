"""`judged measures`: every measure by group, those that some words describe, or the card of one."""

from __future__ import annotations

import math
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from judged.cli.command import Command, option, options
from judged.cli.output import format_option
from judged.errors import BadMeasure, UnknownName
from judged.profiles.profile import PROFILES

if TYPE_CHECKING:
    from judged.measures.cards import Card

EXAMPLES = """\b
Examples:
  judged measures
  judged measures nDCG
  judged measures SRR AvgGain
  judged measures normalised discounted gain
  judged measures ndcg_cut_10 --format markdown
  judged measures --format json
  judged measures --profile ranx
"""
WIDEST = 100
LONGEST_NAME = 18
"""The names of measures that are longer have a line of their own in lists."""
ROOM_FOR_COLUMNS = 60
"""In narrower terminals every name has."""
WORDS = re.compile(r"[\w\s'-]+")
"""Form of a text that is looked up in cards; a measure that is written wrongly, such as `nDCG@-1`, is not."""
AMERICAN = re.compile(r"(?<=[a-z]{3})z(?=(e|ed|es|er|ing|ation)s?$)")
"""The letter that is `s` in British spelling, at the end of a word."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from judged.measures.groups import list_groups

    names = dict.fromkeys(name for group in list_groups().values() for name in group)
    return [name for name in names if name.lower().startswith(incomplete.lower())]


@dataclass(frozen=True, kw_only=True)
class MeasuresOptions:
    """Options of the list of measures."""

    format: str = format_option(["text", "markdown", "json"])
    profile: str | None = option(
        "--profile",
        "List the measures of another tool instead, and how it computes them.",
        excludes=("NAME|WORDS",),
        type=click.Choice(list(PROFILES)),
    )


@click.command("measures", cls=Command, epilog=EXAMPLES)
@click.argument("names", metavar="[NAME|WORDS]...", nargs=-1, shell_complete=_complete)
@options("options", MeasuresOptions)
def command(names: tuple[str, ...], *, options: MeasuresOptions) -> None:
    """List the measures by group, print the card of each NAME, or find measures by WORDS.

    A name may be written as judged, trec_eval or another known tool writes it, in any case. Where a measure of
    rankings and one of sessions have the same name, both cards are printed. Anything else is looked up, word by
    word, in full names and then in whole cards.
    """
    if options.profile is not None:
        from judged.cli.profile import describe_profile

        text = describe_profile(PROFILES[options.profile], options.format)
    else:
        text = _render_cards(names, options.format) if names else _render_list(options.format)
    click.echo(text, nl=False)


def _render_cards(names: tuple[str, ...], kind: str) -> str:
    """Return the card of every measure that has one of the names, or the list of those that the words describe."""
    from judged.measures.cards import make_card
    from judged.measures.parse import find_measures

    try:
        measures = [measure for name in names for measure in find_measures(name)]
    except (UnknownName, BadMeasure) as error:
        cards = _search(" ".join(names))
        if not cards:
            raise error from None
        if len(cards) > 1 and kind != "json":
            return "\n".join(_group_lists(kind, [(card.group, card.name) for card in cards]))
    else:
        cards = list(dict.fromkeys(map(make_card, measures)))
    if kind == "json":
        return _to_json(cards)
    if kind == "markdown":
        return "\n".join(card.to_markdown() for card in cards)
    return "\n\n".join("\n".join(_card_lines(card)) for card in cards) + "\n"


def _search(text: str) -> list[Card]:
    """Return the cards that have every word in their names; if none has, those with every word anywhere."""
    if not WORDS.fullmatch(text):
        return []
    from judged.measures.cards import list_cards

    cards, words = list_cards(), _split_words(text)
    named = [
        card for card in cards if words <= _split_words(" ".join((card.name, card.title, *card.spellings)))
    ]
    return named or [card for card in cards if words <= _split_words(card.to_markdown())]


def _split_words(text: str) -> set[str]:
    """Return the words of a text in lower case and British spelling.

    >>> sorted(_split_words("Rank-biased, normalized size"))
    ['biased', 'normalised', 'rank', 'size']
    """
    return {AMERICAN.sub("s", word) for word in re.findall(r"\w+", text.lower())}


def _render_list(kind: str) -> str:
    """Return the list of all measures, from the index of measures except for JSON, which holds whole cards."""
    if kind == "json":
        from judged.measures.cards import list_cards

        return _to_json(list_cards())
    from judged.measures.groups import list_groups

    every = [(group, name) for group, names in list_groups().items() for name in names]
    return "\n".join([*_group_lists(kind, every), *_plugin_lines()])


def _group_lists(kind: str, chosen: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the list of the chosen measures of each group."""
    from judged.blocks import Table
    from judged.report.formula import prose_text
    from judged.report.markdown import to_markdown

    for group in dict.fromkeys(group for group, _ in chosen):
        entries = [(name, *_describe(name, group)) for owner, name in chosen if owner == group]
        if kind == "markdown":
            rows = tuple((name, full, prose_text(words), values) for name, full, values, words in entries)
            columns = ("measure", "full name", "meaning", "range")
            yield to_markdown(Table(columns, rows, title=group.capitalize()))
        else:
            lines = [line for name, full, _, words in entries for line in _list_lines(name, full, words)]
            yield "\n".join([group.capitalize(), "", *lines, ""])


def _list_lines(name: str, full_name: str, meaning: str) -> list[str]:
    """Return a measure's line: its name, its full name and its meaning; in a terminal, wrapped to fit."""
    text = meaning if full_name in {name, meaning.removesuffix(".")} else f"{full_name}. {meaning}"
    indent = LONGEST_NAME + 4 if _room() >= ROOM_FOR_COLUMNS else 4
    if len(name) + 4 > indent:
        return [f"  {name}", *_wrap(text, head=" " * indent, one_line=True)]
    return _wrap(text, head=f"  {name:<{indent - 4}}  ", one_line=True)


def _describe(name: str, group: str) -> tuple[str, str, str]:
    """Return a measure's full name, range and meaning; only a user-defined measure is imported for that."""
    from judged.measures.groups import DESCRIPTIONS

    if (group, name) in DESCRIPTIONS:
        return DESCRIPTIONS[group, name]
    from judged.measures.cards import make_card

    card = make_card(name)
    return card.full_name, card.range, card.meaning


def _plugin_lines() -> Iterator[str]:
    """Yield the names of measures that other packages provide, which are imported only when they are used."""
    from judged.measures.groups import MEASURES, list_plugins

    names = [name for name in list_plugins() if name not in MEASURES]
    if names:
        yield f"Other installed packages provide: {', '.join(names)}\n"


def _to_json(cards: list[Card]) -> str:
    """Return cards as JSON, in which an infinite bound is null."""
    from judged.report.data import to_json

    documents = []
    for card in cards:
        bounds = card.bounds and [None if math.isinf(bound) else bound for bound in card.bounds]
        documents.append({**asdict(card), "bounds": bounds})
    return to_json(documents)


def _card_lines(card: Card) -> Iterator[str]:
    """Yield a card as people read it on a terminal."""
    from judged.report.formula import formula_text

    yield from _wrap(f"{card.heading}: {card.title}")
    if card.meaning != card.title:
        yield ""
        yield from _wrap(card.meaning)
    if card.formula:
        yield ""
        yield from _wrap(formula_text(card.formula), head="    ")
    if card.symbols:
        yield ""
        yield from _wrap(card.symbols)
    yield ""
    facts = {
        card.unknown: card.unjudged,
        "ties": card.ties,
        "empty": card.empty,
        "agrees with": card.agrees_with,
        "values": f"{card.range}; {card.direction}; {card.aggregate}.",
        "also written": ", ".join(card.spellings),
    }
    for name, fact in facts.items():
        if fact:
            yield from _wrap(fact, head=f"{name + ':':<14}")
    yield from _parameter_lines(card)
    if card.example:
        yield ""
        yield from _example_lines(card.example)
    for reference in card.references:
        yield from _wrap(reference)


def _example_lines(example: str) -> Iterator[str]:
    """Yield an example: its words wrapped, its code as it is."""
    for paragraph in example.split("\n\n"):
        if not paragraph.startswith(">>> "):
            yield from _wrap(paragraph)
        else:
            yield from paragraph.splitlines()
        yield ""


def _parameter_lines(card: Card) -> Iterator[str]:
    if card.parameters:
        yield ""
    for parameter in card.parameters:
        default = f"default: {parameter.default}" if parameter.default else "must be given"
        at = f" (what follows `@` in `{card.name}@…`)" if parameter.at else ""
        meaning = f"{parameter.meaning}{at}; {parameter.expected}; {default}"
        yield from _wrap(meaning, head=f"{parameter.name + ':':<14}")


def _wrap(text: str, *, head: str = "", one_line: bool = False) -> list[str]:
    """Wrap a text to the width of the terminal, under a head to its left; `one_line` leaves it whole elsewhere."""
    from judged.report.formula import prose_text

    if one_line and not sys.stdout.isatty():
        return [head + prose_text(text)]
    return textwrap.wrap(
        prose_text(text),
        width=min(_room(), WIDEST),
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _room() -> int:
    return shutil.get_terminal_size((WIDEST, 24)).columns if sys.stdout.isatty() else WIDEST
