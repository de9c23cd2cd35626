"""Declaration of commands: classes whose fields are its options, help in sections, and subcommands.

    @dataclass(frozen=True, kw_only=True)
    class ServerOptions:
        port: int = option("--port N", "Port to listen on.", type=int, default=80)

    @click.command("serve", cls=Command)
    @options("server", ServerOptions, "Server")
    def command(*, server: ServerOptions) -> None: ...

A field is declared once: its option, its default and the attribute that the command reads. An option that has an effect
only together with others declares what it `needs`, and is refused without it. That is written as on the command line:
`--per-query`, `--backend spark`, `--format csv|tsv`, `-o FILE.html|.md`, `RUN`; or `not --per-query`. Of a tuple one will
do; a list of tuples asks for one of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from functools import wraps
from typing import Any, TypeAlias, cast

import click

from judged.cli.inputs import MAP, InputPath
from judged.plugins import resolve

Decorated: TypeAlias = Callable[..., None]
Settings: TypeAlias = Mapping[str, Any]
Declared: TypeAlias = Any
"""A field of a class of options, to type checkers of the type that the class says."""

Needs: TypeAlias = str | tuple[str, ...] | list[tuple[str, ...]]

TABLES = ("--format table|markdown|latex", "-o FILE.txt|.md|.tex")
"""Formats that lay numbers out for people: elsewhere all rows are written in full."""
ALL_TABLES = ("--format table|markdown|latex|json", "-o FILE.txt|.md|.tex|.json|.html")
"""Formats that hold more than the main table."""
TEXTS = (*TABLES, "-o FILE.html")
"""Formats that show texts of queries."""

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
            made = make(**{key: given.pop(key) for key in declared})
            command(**{name: made}, **given)

        # click lists the option that was added last as the first
        for key, settings in reversed(list(declared.items())):
            others = {setting: value for setting, value in settings.items() if setting != "flags"}
            click.option(*settings["flags"], key, cls=DependentOption, **others)(receive)
        return receive

    return decorate


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


def make_map_option() -> DependentOption:
    """Return the option that names columns, which every command has that reads tables."""
    return DependentOption(
        ["--map"],
        metavar="FIELD=COLUMN,…",
        help="Columns by field, where their names are not known: `query=frage,grade=note`; `run:score=wert` is for runs"
        " only. May be repeated.",
        section="Columns",
        multiple=True,
        expose_value=False,
        is_eager=True,  # before the paths that carry it to their readers
        callback=_keep_map,
    )


def _keep_map(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> None:  # noqa: ARG001
    if texts:
        from judged.tables.mapping import ColumnMap

        ctx.meta[MAP] = ColumnMap.parse(texts)


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


class Command(click.Command):
    """A command whose help has options in sections, and which may have subcommands.

    `subcommands` are "module:attribute" by the word that calls them: the first argument, or an option anywhere.
    """

    def __init__(self, *args: Any, subcommands: Mapping[str, str] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.subcommands = subcommands or {}
        if any(isinstance(param.type, InputPath) and param.type.table for param in self.params):
            self.params.append(make_map_option())

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, then say which named columns no file was read with."""
        result = super().invoke(ctx)
        unused = ctx.meta[MAP].unused if MAP in ctx.meta else []
        if unused:
            click.echo(f"note: `--map {','.join(unused)}` had no effect: no such table was read", err=True)
        return result

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
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
