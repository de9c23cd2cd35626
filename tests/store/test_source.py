"""Hashes of users' code: another one for every change that can change a result, and for no other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judged.store.hashing import hash_file
from judged.store.source import hash_module, hash_source

FILES = {
    "encoder.py": "import json\nimport numpy\nfrom tools import text\n\n\ndef encode(texts):\n    from lazily import used\n",
    "tools/__init__.py": "",
    "tools/text.py": "from . import words\nfrom .deep.inner import NUMBER\n",
    "tools/words.py": 'from .. import nothing\nPATTERN = "\\d"\n',
    "tools/deep/inner.py": "import tools.text\nimport encoder\nNUMBER = 1\n",
    "tools/unused.py": "",
    "lazily.py": "",
    "unrelated.py": "",
    "broken.py": "import tools\n(",
    "name_space/module.py": "import lazily",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with modules, which is the current one and can be imported from."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "encoder.py",
        "tools/__init__.py",
        "tools/text.py",
        "tools/words.py",
        "tools/deep/inner.py",
        "lazily.py",
    ],
)
def test_a_change_of_an_imported_module_is_seen(name: str, project: Path) -> None:
    """However far away, in a circle, relative, within a function; and back again."""
    before = hash_module("encoder")
    text = (project / name).read_text()
    (project / name).write_text(f"{text}# changed\n")
    after = hash_module("encoder")
    (project / name).write_text(text)

    assert before != after
    assert hash_module("encoder") == before


def test_what_is_not_imported_does_not_matter(project: Path) -> None:
    """Neither other modules, nor other files, nor where the project is."""
    before = hash_module("encoder")
    for name in ("unrelated.py", "tools/unused.py", "notes.txt"):
        (project / name).write_text("changed = 1\n")

    assert hash_module("encoder") == before
    moved = project / "moved"
    moved.mkdir()
    for name in ("encoder.py", "tools", "lazily.py"):
        (project / name).rename(moved / name)
    code = "import sys; from judged.store.source import hash_module; print(hash_module('encoder'))"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=moved, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == before


def test_nothing_is_imported_to_hash_it(project: Path) -> None:
    """A module whose import fails, or takes long, is read and not run."""
    (project / "tools" / "__init__.py").write_text("raise SystemExit('imported')\n")

    assert len(hash_module("tools.text")) == 64
    assert "tools" not in sys.modules


@pytest.mark.usefixtures("project")
def test_modules_of_every_kind_have_hashes() -> None:
    """One that is not Python, one of a namespace, installed and built-in ones; none for what is not there."""
    hashes = [hash_module(name) for name in ("broken", "name_space.module", "numpy", "json")]

    assert [len(found) for found in hashes] == [64] * 4
    assert [hash_module(name) for name in ("sys", "no_such_module", "encoder.no_such", "", "a..b")] == [
        ""
    ] * 5
    assert hash_source(np.linalg.norm) == hash_module(np.linalg.norm.__module__)


@pytest.mark.usefixtures("project")
def test_installed_modules_that_a_project_imports_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their versions are recorded instead; hashing NumPy with every study would take seconds."""
    read: list[str] = []
    original: Callable[[Path], str] = hash_file

    def record(path: Path) -> str:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr("judged.store.source.hash_file", record)
    hash_module("encoder")

    assert sorted(read) == ["__init__.py", "encoder.py", "inner.py", "lazily.py", "text.py", "words.py"]


def test_an_object_has_the_hash_of_its_module(project: Path) -> None:
    """A function, a class, and an object of a class."""
    (project / "things_to_hash.py").write_text(
        "class Thing:\n    pass\n\n\ndef work():\n    pass\n\n\nmade = Thing()\n"
    )
    import things_to_hash

    expected = hash_module("things_to_hash")
    assert [hash_source(getattr(things_to_hash, name)) for name in ("Thing", "work", "made")] == [
        expected
    ] * 3
