"""What the command line promises: help with examples, options that are documented, and no needless imports."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from judged.cli.main import COMMANDS, EXIT_CODES, judged
from support.interpreter import loaded_after

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "command-line.md"
EVERY = pytest.mark.parametrize("name", COMMANDS)
HEAVY = {"numpy", "pyarrow", "scipy", "rich", "yaml", "msgspec", "pandas", "polars"}


def command_of(name: str) -> click.Command:
    """The command of that name."""
    command: click.Command = import_module(f"judged.cli.{name}").command
    return command


def test_every_command_file_is_in_the_table() -> None:
    """A file that defines a command is listed, and what is listed has a file."""
    files = sorted((ROOT / "src" / "judged" / "cli").glob("*.py"))
    defining = {path.stem for path in files if "\ndef command(" in path.read_text(encoding="utf-8")}

    assert defining == set(COMMANDS)


@EVERY
def test_help_says_what_a_command_is_for_and_gives_an_example(name: str) -> None:
    """`--help` has a sentence, an example that calls the command, and help for every option."""
    result = CliRunner().invoke(judged, [name, "--help"])
    options = [each for each in command_of(name).params if isinstance(each, click.Option)]

    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"judged {name}" in result.output
    assert all(option.help for option in options)


@EVERY
def test_every_option_is_in_the_guide(name: str) -> None:
    """The page on the command line names each option of each command."""
    guide = GUIDE.read_text(encoding="utf-8")
    _, _, section = guide.partition(f"\n## judged {name}\n")
    section = section.partition("\n## ")[0]
    options = [each for each in command_of(name).params if isinstance(each, click.Option)]
    missing = [word for option in options for word in option.opts if f"`{word}" not in section]

    assert section, f"no section on `judged {name}`"
    assert not missing


def test_every_exit_code_is_in_the_guide() -> None:
    """The page says what each exit code means."""
    guide = GUIDE.read_text(encoding="utf-8")

    assert all(f"| {code} | {meaning} |" in guide for code, meaning in EXIT_CODES.items())


def test_help_loads_nothing_heavy() -> None:
    """Asking for the help of every command, and for the version, costs neither NumPy nor Arrow."""
    calls = [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
    run = "\n".join(f"judged({arguments!r}, standalone_mode=False)" for arguments in calls)

    assert not loaded_after(f"from judged.cli.main import judged\n{run}") & HEAVY
