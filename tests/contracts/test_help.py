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
MOST = 12
"""The most options that a command may list without headings."""
VECTORS = {"index", "index import", "index export"}
OF_ANSWERS = {"answers", *(f"explain --{name}" for name in ("labels", "nuggets", "references"))}
OF_THEIR_OWN = {
    "--attempts": {"label", "questions"},  # requests, not sessions
    # labels of nuggets, citations and claims, not of results; conventions of answers
    "--conflict": {"answers"},
    "--human": {"answers"},
    "--labels": OF_ANSWERS,
    "--missing": {"answers"},
    "--run": {"answers"},
    "--unlabelled": {"answers"},
    "--against": {*OF_ANSWERS, "explain"},  # profiles, not versions of an engine
    "--baseline": {"gate"},  # a file
    "--budget": {"label", "questions"},  # money, not searches
    "--cache": {"run"},  # vectors, not answers
    "--config": {"gate"},  # gates, not settings
    "--depth": {
        "answers",
        "fuse",
        "label",
        "label --sample",
        "label --similarity",
    },  # what is kept, not what is scored
    "--dry-run": {"run"},
    "--force": {"run"},  # a folder
    "--fresh": {"run"},  # answers and vectors, not measurements
    "--judgments": {"clicks"},  # that are written
    "--limit": {*VECTORS, "clicks", "demo", "sessions"},
    "--measure": {"explain", "trec_eval"},  # one measure; names of trec_eval
    "--method": {"clicks", "interleave"},  # estimators; how lists are drawn
    "--model": {"clicks", "label --similarity"},  # a click model; a folder
    "--output": {"answers", "score", "compare", "gate", "power", "explain", "sessions", "agreement", "index"}
    | OF_ANSWERS
    | {
        "clicks",
        "compare --snapshot",
        "interleave",
        "index diff",
        "index import",
        "questions",
        "run",
        "routing",
        "demo",
    },  # in addition to standard output; a folder
    "--picture": {"sessions"},
    "--profile": {*OF_ANSWERS, "measures"},  # of answers; listed, not applied
    "--qrels": {"fuse", "routing"},  # what weights are tuned on; not what runs are checked against
    "--queries": VECTORS,
    "--quiet": {"lint"},  # prints nothing at all
    "--sort": {"clicks", "score", "sessions"},  # impressions
    "--strict": {"lint"},  # warnings, not malformed traces
    "--test": {"clicks", "gate"},  # a share; one-sided
    "--threads": {"index"},  # of the engine that is measured
    "--threshold": {"agreement"},  # a grade
    "--timeout": {"index"},
    "--weight": {"fuse"},  # of runs, not of fields
}
"""The commands in which an option of that name means something else than in the others."""
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


def list_commands() -> dict[str, click.Command]:
    """Return every command by the words that call it, subcommands included."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        found[name] = command_of(name)
        for word, home in getattr(found[name], "subcommands", {}).items():
            found[f"{name} {word}"] = cast("click.Command", resolve(home))
    return found


@pytest.mark.parametrize("name", list_commands())
def test_a_long_list_of_options_is_in_sections(name: str) -> None:
    """With more than a dozen options, every one is under a heading; `--help` prints each heading once."""
    options = [param for param in list_commands()[name].params if isinstance(param, click.Option)]
    sections = {option.opts[-1]: getattr(option, "section", "") for option in options}
    text = CliRunner().invoke(judged, [*name.split(), "--help"]).output

    assert len(options) <= MOST or [flag for flag, section in sections.items() if not section] == []
    assert {section: text.count(f"\n{section}:\n") for section in sections.values() if section} == {
        section: 1 for section in sections.values() if section
    }


def test_a_shared_option_has_one_help_text() -> None:
    """What several commands call the same is worded the same, up to the first note; else it is listed above."""
    texts: dict[str, dict[str, set[str]]] = {}
    for name, command in list_commands().items():
        for option in command.params:
            flag = max(option.opts, key=len)
            if isinstance(option, click.Option) and name not in OF_THEIR_OWN.get(flag, ()):
                phrase = re.split(r"[.;:,(]", str(option.help))[0].strip()
                texts.setdefault(flag, {}).setdefault(phrase, set()).add(name)

    assert {flag: helps for flag, helps in texts.items() if len(helps) > 1} == {}


def test_every_exit_code_is_in_the_reference() -> None:
    """The page says what each exit code means."""
    page = REFERENCE.read_text(encoding="utf-8")

    assert all(f"| {code} | {meaning} |" in page for code, meaning in EXIT_CODES.items())


def test_help_loads_nothing_heavy() -> None:
    """Asking for the help of every command, and for the version, costs neither NumPy nor Arrow."""
    calls = [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
    run = "\n".join(f"judged({arguments!r}, standalone_mode=False)" for arguments in calls)

    assert not loaded_after(f"from judged.cli.main import judged\n{run}") & HEAVY
