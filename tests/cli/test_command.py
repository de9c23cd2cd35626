"""Commands are declared by classes of options: one declaration is the flag, its help, its default and the attribute."""

from __future__ import annotations

from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner, Result

from judged.cli.command import Command, flag, option, options


@dataclass(frozen=True, kw_only=True)
class Choices:
    """A few options in two sections."""

    paths: tuple[str, ...] = option(
        "-p --path FILE", "A path; may be repeated.", section="Inputs", multiple=True
    )
    turn: str = option("--turn [first|last]", "Which turn counts.", default="last")
    quick: bool = flag("--quick", "Do less.", section="Work", needs="--path FILE")
    depth: int | None = option("--depth N", "How deep.", type=int)


@click.command("shown", cls=Command)
@options("choices", Choices, depth={"help": "How far.", "default": 3, "show_default": True})
def shown(*, choices: Choices) -> None:
    """Print what was chosen."""
    click.echo(repr(choices))


@click.command(
    "outer", cls=Command, subcommands={"inner": f"{__name__}:shown", "--quick": f"{__name__}:shown"}
)
@options("choices", Choices, without=("depth", "quick"))
def outer(*, choices: Choices) -> None:
    """Print what was chosen, in part."""
    click.echo(f"outer {choices}")


def run(command: click.Command, *arguments: str) -> Result:
    """Return the outcome of a command of a program."""
    return CliRunner().invoke(click.Group("program", [outer, shown]), [str(command.name), *arguments])


def test_a_command_receives_one_object_of_its_options() -> None:
    """Values come from the command line, then from what the command changes, then from the declaration."""
    given = run(shown, "-p", "a", "--path", "b", "--quick").output

    assert given.strip() == repr(Choices(paths=("a", "b"), turn="last", quick=True, depth=3))
    assert run(outer).output.strip() == f"outer {Choices()}"


def test_a_heading_holds_until_the_next() -> None:
    """Options without a heading of their own follow that of the one before; --help is last."""
    lines = [line.split("  ")[0] for line in run(shown, "--help").output.replace("\n  ", "\n").splitlines()]

    assert lines[lines.index("Inputs:") :] == [
        *("Inputs:", "-p, --path FILE", "--turn [first|last]", ""),
        *("Work:", "--quick", "--depth N", ""),
        *("Options:", "--help"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quick"], "`--quick` has no effect without `--path FILE`"),
        (["--turn", "middle"], "'middle' is not one of 'first', 'last'"),
    ],
)
def test_what_is_declared_is_enforced(arguments: list[str], message: str) -> None:
    """Needs and choices are part of a declaration."""
    refused = run(shown, *arguments)

    assert refused.exit_code == 2
    assert message in refused.output


def test_a_subcommand_is_called_by_a_word_or_an_option() -> None:
    """A word comes first and is left out; an option may come anywhere and is read again."""
    word = run(outer, "inner", "-p", "a").output
    anywhere = run(outer, "-p", "a", "--quick").output

    assert word.strip() == repr(Choices(paths=("a",), depth=3))
    assert anywhere.strip() == repr(Choices(paths=("a",), quick=True, depth=3))
    assert run(outer, "--quick", "-p", "a").output == anywhere
