"""Every command, option and Python name that the documentation mentions exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import click
import pytest

from judged.cli.main import COMMANDS, judged

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(
        path
        for path in ROOT.glob("docs/**/*.md")
        if path.parent.name not in {"reference", "decisions"} and path.name != "compatibility.md"
    ),
]
EVERY = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
OURS = re.compile(r"(?<![\w./-])judged (?P<command>[a-z_]+)(?P<rest>[^`\n|#]*)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
PYTHON = re.compile(r"(?<![\w/.`-])`?judged(?P<path>(?:\.[A-Za-z_]\w*)+)(?![\w/])")
ATTRIBUTES = {
    ".stages",
    ".subjects",
    ".trace_formats",
    ".engines",
    ".task",
    ".system",
    ".encoders",
    ".tar.gz",
}
"""Attributes of spans, groups of entry points and files, which begin with `judged.` as well."""
FOREIGN = {"--help", "--debug", "--version"}


def options(command: str) -> set[str]:
    """The options of a command and of those that it hands over to."""
    from judged.agents.commands.inspect import inspect
    from judged.answers.label_commands import assign, claims, entail, nuggets, support
    from judged.cli.snapshots import through_time
    from judged.labels.commands.sample import sample
    from judged.labels.commands.similarity import similar

    found = judged.get_command(click.Context(judged), command)
    assert found is not None
    tasks = [nuggets, assign, support, claims, entail]
    more = {"label": [similar, sample, *tasks], "sessions": [inspect], "compare": [through_time]}.get(
        command, []
    )
    return {name for each in (found, *more) for option in each.params for name in option.opts} | FOREIGN


@EVERY
def test_commands_and_their_options_exist(page: Path) -> None:
    """In code and in prose: `judged score --profile`, and no option that it does not have."""
    wrong = []
    for found in OURS.finditer(page.read_text(encoding="utf-8")):
        command = found["command"]
        if command in COMMANDS:
            wrong += [
                f"{command} {name}" for name in OPTION.findall(found["rest"]) if name not in options(command)
            ]

    assert wrong == []


@EVERY
def test_python_names_exist(page: Path) -> None:
    """`judged.evaluate` and modules such as `judged.measures.cards` can be imported."""
    wrong = [
        name
        for name in {m["path"] for m in PYTHON.finditer(page.read_text(encoding="utf-8"))}
        if name not in ATTRIBUTES and not exists(name)
    ]

    assert wrong == []


def exists(path: str) -> bool:
    """Whether a dotted path below `judged` is a module or an attribute of one."""
    module: object = import_module("judged")
    name = "judged"
    for part in path.strip(".").split("."):
        name = f"{name}.{part}"
        try:
            module = getattr(module, part)
        except AttributeError:
            try:
                module = import_module(name)
            except ImportError:
                return False
    return True
