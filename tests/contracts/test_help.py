"""What the command line promises: help with examples, options that are documented, and no needless imports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import click
import pytest
from click.testing import CliRunner

from judged.cli.main import COMMANDS, EXIT_CODES, judged
from judged.plugins import resolve
from support.interpreter import loaded_after

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference" / "commands.md"
EVERY = pytest.mark.parametrize("name", COMMANDS)
HEAVY = {"numpy", "pyarrow", "scipy", "rich", "yaml", "msgspec", "pandas", "polars"}


def command_of(name: str) -> click.Command:
    """The command of that name."""
    return cast("click.Command", resolve(COMMANDS[name].home))


def options_of(name: str) -> list[click.Option]:
    """The options of the command of that name."""
    return [parameter for parameter in command_of(name).params if isinstance(parameter, click.Option)]


def test_every_command_file_is_in_the_table() -> None:
    """A file that defines a command is listed, and what is listed has a file."""
    source = ROOT / "src"
    defining = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path in source.rglob("*.py")
        if "\ndef command(" in path.read_text(encoding="utf-8")
    }

    assert defining == {COMMANDS[name].home.removesuffix(":command") for name in COMMANDS}


@EVERY
def test_help_says_what_a_command_is_for_and_gives_an_example(name: str) -> None:
    """`--help` has a sentence, an example that calls the command, and help for every option."""
    result = CliRunner().invoke(judged, [name, "--help"])
    options = options_of(name)

    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"judged {name}" in result.output
    assert all(option.help for option in options)


@EVERY
def test_every_option_is_in_the_reference(name: str) -> None:
    """The page of commands has a section for each command, which names all its options."""
    _, _, section = REFERENCE.read_text(encoding="utf-8").partition(f"\n## judged {name}\n")
    listed = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", section.partition("\n## ")[0]))

    assert section, f"no section on `judged {name}`"
    assert [word for option in options_of(name) for word in option.opts if word not in listed] == []


def test_every_exit_code_is_in_the_reference() -> None:
    """The page says what each exit code means."""
    page = REFERENCE.read_text(encoding="utf-8")

    assert all(f"| {code} | {meaning} |" in page for code, meaning in EXIT_CODES.items())


def test_help_loads_nothing_heavy() -> None:
    """Asking for the help of every command, and for the version, costs neither NumPy nor Arrow."""
    calls = [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
    run = "\n".join(f"judged({arguments!r}, standalone_mode=False)" for arguments in calls)

    assert not loaded_after(f"from judged.cli.main import judged\n{run}") & HEAVY
