"""ARCHITECTURE.md says what is so: its tree, its layers and its walks are those of the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from contracts.house import COMMANDS, PACKAGE, ROOT, trace_commands

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
WALKS = dict(re.findall(r"^\*\*`judged (.*?)`\*\*\n(.*)$", PAGE, re.MULTILINE))
NAMED = {  # the name that each walk has among the commands that are traced
    "score qrels.txt one.run -m nDCG@10": "score",
    "compare qrels.txt one.run two.run": "compare",
    "compare … -o report.html": "compare -o report.html",
    "sessions agent.jsonl --labels labels.csv -m CG@3": "sessions",
    "explain qrels.txt one.run -m nDCG@10 --query 1": "explain",
    "run study.yaml": "run",
}


def test_every_folder_is_in_the_tree() -> None:
    """And every folder of the tree is there."""
    tree = PAGE.partition("src/judged/\n")[2].partition("```")[0]
    named = set(re.findall(r"^  (\w+)/", tree, re.MULTILINE))

    assert named == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}


def test_every_module_of_the_root_is_named() -> None:
    """The words that everything speaks, and the rest of the root, but for private modules and entry points."""
    tree = PAGE.partition("src/judged/\n")[2].partition("```")[0]
    modules = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_")}
    others = {"arrays", "functional", "pytest", "testing"}

    assert {name for name in modules - others if not re.search(rf"\b{name}\b", tree)} == set()


def test_the_layers_are_those_of_the_contract() -> None:
    """One line for each, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    expected = [re.findall(r"\w+", layer) for layer in contracts["contracts"][0]["layers"]]
    lines = re.findall(r"^\d+\. (`.*)$", PAGE, re.MULTILINE)

    assert [re.findall(r"`(\w+)`", line) for line in lines] == expected


@pytest.mark.parametrize("walk", WALKS)
def test_a_command_goes_the_way_that_is_drawn(walk: str) -> None:
    """It enters the files that the walk names, in that order."""
    if walk.startswith("run"):
        pytest.importorskip("bm25s")
    name = NAMED[walk]
    entered = [
        Path(file).relative_to(PACKAGE).with_suffix("").as_posix() for file in trace_commands(name)[name]
    ]
    drawn = WALKS[walk].split(" → ")

    assert set(NAMED.values()) == set(COMMANDS)
    assert [step for step in drawn if step not in entered] == []
    assert [step for step in entered if step in drawn] == drawn
