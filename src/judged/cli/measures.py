"""`judged measures`: every measure by family, or the card of one."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from judged.profiles.catalogue import PROFILES

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
    from judged.measures.families import MEASURES, PREFERENCE_MEASURES, SESSION_MEASURES

    names = dict.fromkeys([*MEASURES, *PREFERENCE_MEASURES, *SESSION_MEASURES])
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
        from judged.cli.profile import described

        click.echo(described(PROFILES[profile], kind), nl=False)
        return
    from judged.measures.cards import list_cards, make_card
    from judged.measures.parse import find_measures

    named = [make_card(measure) for name in names for measure in find_measures(name)]
    cards = list(dict.fromkeys(named)) if names else list_cards()
    if kind == "json":
        from judged.report.data import to_json

        click.echo(to_json([_document(each) for each in cards]), nl=False)
    elif not names:
        click.echo("\n".join([*_families(cards, kind), *_announced()]), nl=False)
    elif kind == "markdown":
        click.echo("\n".join(each.to_markdown() for each in cards), nl=False)
    else:
        click.echo("\n\n".join("\n".join(_lines(each)) for each in cards))


def _families(cards: list[Card], kind: str) -> Iterator[str]:
    """A table for each family."""
    from judged.blocks import Table
    from judged.report.formula import prose_text
    from judged.report.markdown import to_markdown
    from judged.report.text import to_text

    lay_out = to_markdown if kind == "markdown" else to_text
    for family in dict.fromkeys(each.family for each in cards):
        rows = [(each.name, prose_text(each.meaning), each.range) for each in cards if each.family == family]
        yield lay_out(Table(("measure", "meaning", "range"), tuple(rows), title=family.capitalize()))


def _announced() -> Iterator[str]:
    """The names of measures that other packages bring; they are imported only when they are used."""
    from judged.measures.families import MEASURES, list_plugins

    names = [name for name in list_plugins() if name not in MEASURES]
    if names:
        yield f"Other installed packages bring: {', '.join(names)}\n"


def _document(card: Card) -> dict[str, Any]:
    """A card for JSON, where there is no infinity."""
    bounds = None if card.bounds is None else [None if math.isinf(each) else each for each in card.bounds]
    return {**asdict(card), "bounds": bounds, "range": card.range}


def _lines(card: Card) -> Iterator[str]:
    """A card as people read it on a terminal."""
    from judged.report.formula import formula_text

    yield from _filled(f"{card.heading}: {card.title}")
    yield ""
    yield from _filled(card.meaning)
    if card.formula:
        yield ""
        yield f"    {formula_text(card.formula)}"
    if card.symbols:
        yield ""
        yield from _filled(card.symbols)
    yield ""
    facts = {
        card.unknown: card.unjudged,
        "ties": card.ties,
        "empty": card.empty,
        "agrees with": card.agrees_with,
        "values": f"{card.range}; {card.direction}; {card.aggregate}.",
        "also written": ", ".join(card.spellings),
    }
    for name, told in facts.items():
        if told:
            yield from _filled(told, head=f"{name + ':':<14}")
    yield from _parameters(card)
    if card.example:
        yield ""
        yield from card.example.splitlines()
    if card.references:
        yield ""
    for reference in card.references:
        yield from _filled(reference)


def _parameters(card: Card) -> Iterator[str]:
    if card.parameters:
        yield ""
    for each in card.parameters:
        default = f"default: {each.default}" if each.default else "must be given"
        at = f" (what follows `@` in `{card.name}@…`)" if each.at else ""
        yield from _filled(f"{each.meaning}{at}; {each.expected}; {default}", head=f"{each.name + ':':<14}")


def _filled(text: str, *, head: str = "") -> list[str]:
    """The text in lines that fit, under a head that stands out to the left."""
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
