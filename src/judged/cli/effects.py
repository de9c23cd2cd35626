"""Options that have an effect only together with others: each declares what it needs, and is refused without it.

What an option `needs` is written as on the command line: `--per-query`, `--backend spark`, `--format csv|tsv`,
`-o FILE.html|.md`, `RUN`; or `not --per-query`. Of a tuple one will do; a list of tuples asks for one of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import click

Needs: TypeAlias = str | tuple[str, ...] | list[tuple[str, ...]]

TABLES = ("--format table|markdown|latex", "-o FILE.txt|.md|.tex")
"""Where numbers are laid out for people: elsewhere all rows are written in full."""
ALL_TABLES = ("--format table|markdown|latex|json", "-o FILE.txt|.md|.tex|.json|.html")
"""Where more is written than the main table."""
TEXTS = (*TABLES, "-o FILE.html")
"""Where texts of queries are shown."""


class DependentOption(click.Option):
    """An option that is refused on a command line on which it would have no effect; `section` is its heading in help."""

    def __init__(
        self,
        *args: Any,
        needs: Needs = (),
        excludes: tuple[str, ...] = (),
        section: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.needs = list_needs(needs)
        self.excludes = excludes
        self.section = section

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Raise `UsageError` if the option is given where it has no effect."""
        if self.name in opts:
            self._check(ctx.command, opts)
        return super().handle_parse_result(ctx, opts, args)

    def _check(self, command: click.Command, given: Mapping[str, Any]) -> None:
        called = f"`{max(self.opts, key=len)}` has no effect"
        for text in self.excludes:
            if _holds(command, given, text):
                msg = f"{called} with `{text}`"
                raise click.UsageError(msg)
        for group in self.needs:
            if any(_holds(command, given, text) for text in group):
                continue
            known = [f"`{text}`" for text in group if _find(command, text.split()[0]) is not None]
            msg = f"{called} without {' or '.join(known)}"
            raise click.UsageError(msg)


def list_needs(needs: Needs) -> list[tuple[str, ...]]:
    """Return the groups of what an option needs, of each of which one will do."""
    groups = [needs] if isinstance(needs, tuple) else [(needs,)] if isinstance(needs, str) else needs
    return [group for group in groups if group]


def _find(command: click.Command, flag: str) -> click.Parameter | None:
    """Return the option, or the argument, that is written so."""
    return next((param for param in command.params if flag in (*param.opts, _bare(param.metavar))), None)


def _bare(metavar: str | None) -> str:
    return (metavar or "").strip("[].")


def _holds(command: click.Command, given: Mapping[str, Any], text: str) -> bool:
    """Return whether an option is given, or has one of the values or endings after it, if need be by default."""
    flag, _, wanted = text.partition(" ")
    if flag == "not":
        return not _holds(command, given, wanted)
    param = _find(command, flag)
    if param is None or param.name is None:
        return False
    value = given.get(param.name, None if not wanted else param.default)
    if not wanted or wanted.isupper():
        present = isinstance(value, str | bool | list | tuple)  # click marks absence by an object of its own
        return present and bool(value)
    texts = value if isinstance(value, list | tuple) else [value]
    if wanted.startswith("FILE."):
        return any(str(text).lower().endswith(tuple(wanted[4:].split("|"))) for text in texts)
    words = {word for text in texts for word in str(text).split(",")}
    return not words.isdisjoint(wanted.split("|"))
