"""`judged measures`: every measure by family, or the card of one."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from judged.profiles.profile import PROFILES

if TYPE_CHECKING:
    from judged.measures.cards import Card

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  judged measures
  judged measures nDCG
  judged measures SRR AvgGain
  judged measures ndcg_cut_10 --format markdown
  judged measures --format json
  judged measures --profile ranx
"""
WIDEST = 100


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from judged.measures.families import FAMILIES

    names = dict.fromkeys(name for family in FAMILIES.values() for name in family)
    return [name for name in names if name.lower().startswith(incomplete.lower())]


@click.command("measures", epilog=EXAMPLES)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=_complete)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How to print.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="List what a tool has, and how it computes it, instead.",
)
def command(names: tuple[str, ...], kind: str, profile: str | None) -> None:
    """List the measures by family, or print the card of each NAME.

    A name may be written as judged, trec_eval or another known tool writes it, in any case. Where a measure of
    rankings and one of sessions have the same name, both cards are printed.
    """
    if profile is not None:
        from judged.cli.profile import describe_profile

        click.echo(describe_profile(PROFILES[profile], kind), nl=False)
        return
    if names:
        click.echo(_render_cards(names, kind), nl=False)
    else:
        click.echo(_render_list(kind), nl=False)


def _render_cards(names: tuple[str, ...], kind: str) -> str:
    """Return the card of every measure that has one of the names."""
    from judged.measures.cards import make_card
    from judged.measures.parse import find_measures

    cards = list(dict.fromkeys(make_card(measure) for name in names for measure in find_measures(name)))
    if kind == "json":
        return _to_json(cards)
    if kind == "markdown":
        return "\n".join(card.to_markdown() for card in cards)
    return "\n\n".join("\n".join(_card_lines(card)) for card in cards) + "\n"


def _render_list(kind: str) -> str:
    """Return the list of all measures, from the index of measures except for JSON, which holds whole cards."""
    if kind == "json":
        from judged.measures.cards import list_cards

        return _to_json(list_cards())
    return "\n".join([*_family_tables(kind), *_plugin_lines()])


def _family_tables(kind: str) -> Iterator[str]:
    """Yield a table for each family."""
    from judged.blocks import Table
    from judged.measures.families import FAMILIES
    from judged.report.formula import prose_text
    from judged.report.markdown import to_markdown
    from judged.report.text import to_text

    render = to_markdown if kind == "markdown" else to_text
    for family, names in FAMILIES.items():
        entries = [(name, *_describe(name, family)) for name in names]
        rows = tuple((name, prose_text(meaning), values) for name, values, meaning in entries)
        yield render(Table(("measure", "meaning", "range"), rows, title=family.capitalize()))


def _describe(name: str, family: str) -> tuple[str, str]:
    """Return the range of a measure's values and its meaning; only a user-defined measure is imported for that."""
    from judged.measures._index import MEASURE_INDEX

    if name in MEASURE_INDEX.get(family, {}):
        _, values, meaning = MEASURE_INDEX[family][name]
        return values, meaning
    from judged.measures.cards import make_card

    card = make_card(name)
    return card.range, card.meaning


def _plugin_lines() -> Iterator[str]:
    """Yield the names of measures that other packages bring, which are imported only when they are used."""
    from judged.measures.families import MEASURES, list_plugins

    names = [name for name in list_plugins() if name not in MEASURES]
    if names:
        yield f"Other installed packages bring: {', '.join(names)}\n"


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
        yield f"    {formula_text(card.formula)}"
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
        yield from card.example.splitlines()
    if card.references:
        yield ""
    for reference in card.references:
        yield from _wrap(reference)


def _parameter_lines(card: Card) -> Iterator[str]:
    if card.parameters:
        yield ""
    for parameter in card.parameters:
        default = f"default: {parameter.default}" if parameter.default else "must be given"
        at = f" (what follows `@` in `{card.name}@…`)" if parameter.at else ""
        meaning = f"{parameter.meaning}{at}; {parameter.expected}; {default}"
        yield from _wrap(meaning, head=f"{parameter.name + ':':<14}")


def _wrap(text: str, *, head: str = "") -> list[str]:
    """Wrap a text to the width of the terminal, under a head to its left."""
    from judged.report.formula import prose_text

    room = shutil.get_terminal_size((WIDEST, 24)).columns if sys.stdout.isatty() else WIDEST
    return textwrap.wrap(
        prose_text(text),
        width=min(room, WIDEST),
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
