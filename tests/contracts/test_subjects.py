"""Subjects: what manifests and registries name exists, nothing but those names the things above it, others plug in."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import judged
from judged.cli.main import COMMANDS
from judged.plugins import resolve
from judged.subject import BUILT_IN, list_subjects

PACKAGE = Path(judged.__file__).parent
ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"^judged(\.\w+)+:\w+$")
REGISTRIES = {
    "judged.measures._index",  # measures of the core
    "judged.plugins",
    "judged.result",  # what renders results, and their classes
    "judged.subject",
}
"""Modules of the core that may name what stands above them, as text: registries, and the renderers of `Result`."""


def _list_layers() -> dict[str, int]:
    """Return the height of every module below `judged`, as the import contract has it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    return {name.strip(): -place for place, layer in enumerate(layers) for name in re.split(r"[|:]", layer)}


LAYERS = _list_layers()


def _list_places() -> Iterator[tuple[str, str]]:
    """Yield every "module:attribute" that a file of the package holds as text, with the module that holds it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(("judged", *path.relative_to(PACKAGE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and PLACE.match(node.value):
                yield name, node.value


PLACES = list(_list_places())


def test_manifests_and_registries_are_found() -> None:
    """The search sees the manifests, and more than a handful of places."""
    assert {f"judged.{name}.subject" for name in BUILT_IN} <= {module for module, _ in PLACES}
    assert len(PLACES) > 30


@pytest.mark.parametrize(("module", "place"), PLACES, ids=str)
def test_every_place_exists(module: str, place: str) -> None:
    """What is named as text can be imported, or says which optional package it needs."""
    assert module
    try:
        resolve(place)
    except ImportError as error:
        assert not str(error.name).startswith("judged")


def test_only_registries_name_what_stands_above_them() -> None:
    """A manifest names its own folder; the core names no subject, and nothing higher but in registries."""
    wrong = []
    for module, place in PLACES:
        own, other = module.split(".")[1], re.split(r"[.:]", place)[1]
        manifest = module.endswith(".subject") and own in BUILT_IN
        if manifest and own != other:
            wrong.append(f"{module} names {place}")
        if not manifest and module not in REGISTRIES and LAYERS[other] > LAYERS[own]:
            wrong.append(f"{module} names {place}")
        if other in BUILT_IN and own not in BUILT_IN:
            wrong.append(f"{module} names the subject {place}")

    assert wrong == []


@pytest.mark.parametrize("subject", list_subjects(), ids=lambda subject: subject.name)
def test_a_manifest_imports_nothing_of_its_subject(subject: object) -> None:
    """Listing what subjects have costs no import of theirs."""
    name = f"judged.{getattr(subject, 'name', '')}"
    program = (
        f"import sys; import {name}.subject;"
        f"print(sorted(m for m in sys.modules if m.startswith('{name}.') and not m.endswith('.subject')))"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert ended.stdout.strip() == "[]"


def test_every_command_has_a_home_of_its_own() -> None:
    """A command belongs to the folder of its subject, or to the core."""
    of_subject = {name: subject.name for subject in list_subjects() for name in subject.commands}
    homes = {name: COMMANDS[name].home.split(".")[1] for name in COMMANDS}

    assert homes == {name: of_subject.get(name, "cli") for name in COMMANDS}


def test_every_subject_is_documented_on_the_map() -> None:
    """ARCHITECTURE.md has a line for each folder of the package."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())

    assert [name for name in folders if f"  {name}/" not in page] == []
    assert import_module("judged.subject").BUILT_IN
