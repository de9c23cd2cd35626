"""How a command is declared: classes whose fields are its options, help in sections, and subcommands.

    @dataclass(frozen=True, kw_only=True)
    class ServerOptions:
        port: int = option("--port N", "Port to listen on.", type=int, default=80)

    @click.command("serve", cls=Command)
    @options("server", ServerOptions, "Server")
    def command(*, server: ServerOptions) -> None: ...

A field is declared once: its option, its default and the attribute that the command reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from functools import wraps
from typing import Any, TypeAlias, cast

import click

from judged.cli.effects import DependentOption, Needs, list_needs
from judged.plugins import resolve

Decorated: TypeAlias = Callable[..., None]
Settings: TypeAlias = Mapping[str, Any]
Declared: TypeAlias = Any
"""A field of a class of options, to type checkers of the type that the class says."""

COUNT = click.IntRange(min=1)
COLUMN = 30
"""Width of the column of flags in help; longer ones have a line of their own, as click does it."""


def option(words: str, text: str = "", **settings: object) -> Declared:
    """Declare an option as a field: `words` as help shows them (`-o --output FILE`, `--turn [first|last]`), and its help.

    `settings` are those of `DependentOption`. The field has the default of the option, so that code can make the object
    as well.
    """
    flags = tuple(word for word in words.split() if word.startswith("-"))
    value = " ".join(word for word in words.split() if not word.startswith("-"))
    declared: dict[str, object] = {"flags": flags, "help": text, **settings}
    if value.startswith("[") and value.endswith("]"):
        declared["type"] = click.Choice(value[1:-1].split("|"))
    elif value:
        declared["metavar"] = value
    absent: object = False if settings.get("is_flag") else () if settings.get("multiple") else None
    default = settings.get("default", absent)
    if "default" in settings:
        declared["show_default"] = settings.get("show_default", default not in {None, ""})
    return field(default=MISSING if settings.get("required") else default, metadata=declared)


def flag(words: str, text: str = "", **settings: object) -> Declared:
    """Declare an option without a value."""
    return option(words, text, is_flag=True, **settings)


def options(
    name: str,
    kind: type,
    section: str = "",
    *,
    needs: Needs = (),
    without: Sequence[str] = (),
    **changes: Settings,
) -> Callable[[Decorated], Decorated]:
    """Add the options that the fields of `kind` declare; the command receives an object of that class as `name`.

    `section` is their heading in the help, until an option begins another. `needs` are added to those of every option.
    `changes` replace settings of single options, by field; those of fields in `without` are left out.
    """
    declared: dict[str, Settings] = {}
    for item in fields(kind):
        section = item.metadata.get("section", section)
        if item.metadata and item.name not in without:
            both = [*list_needs(needs), *list_needs(item.metadata.get("needs", ()))]
            own = {**item.metadata, "section": section, "needs": both}
            declared[item.name] = {**own, **changes.get(item.name, {})}
    return gather(name, kind, declared)


def gather(
    name: str, make: Callable[..., object], declared: Mapping[str, Settings]
) -> Callable[[Decorated], Decorated]:
    """Add the options that are declared by name; the command receives what `make` returns for their values as `name`."""

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def receive(**given: object) -> None:
            made = make(**{each: given.pop(each) for each in declared})
            command(**{name: made}, **given)

        for each, settings in reversed(list(declared.items())):
            others = {key: value for key, value in settings.items() if key != "flags"}
            click.option(*settings["flags"], each, cls=DependentOption, **others)(receive)
        return receive

    return decorate


class Command(click.Command):
    """A command whose help has options in sections, and which may have subcommands.

    `subcommands` are "module:attribute" by the word that calls them: the first argument, or an option anywhere.
    """

    def __init__(self, *args: Any, subcommands: Mapping[str, str] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.subcommands = subcommands or {}

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of this command, or of the subcommand that the arguments name."""
        for word, home in self.subcommands.items():
            if word.startswith("-"):  # an option of the subcommand as well, which reads it again
                called = any(text.partition("=")[0] == word for text in args)
                rest = ["--help"] if "--help" in args else args  # else `--sample --help` has that value
            else:
                called, rest = args[:1] == [word], args[1:]
            if called:
                subcommand = cast("click.Command", resolve(home))
                return subcommand.make_context(f"{info_name} {word}", rest, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their sections, in the order in which the sections are declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        shown = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        # Options without a heading, such as --help, come last.
        for param in sorted(shown, key=lambda param: not getattr(param, "section", "")):
            record = param.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(param, "section", "") or "Options", []).append(record)
        # Flags are padded to one width, so that the texts of all sections begin in the same column.
        longest = max(len(flags) for records in sections.values() for flags, _ in records)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(flags.ljust(min(longest, COLUMN)), text) for flags, text in records])
