"""The project's own files say the same thing: version, commands, measures, sizes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import judged
from judged import errors
from judged.measures.groups import MEASURES

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
VAGUE = {"utils", "util", "common", "helpers", "helper", "misc", "core"}


def read(path: str) -> str:
    """The text of one of the project's files."""
    return (ROOT / path).read_text(encoding="utf-8")


def read_text(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


def make_targets() -> set[str]:
    """The targets that the Makefile declares."""
    return set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), flags=re.MULTILINE))


def test_the_version_is_written_in_one_place() -> None:
    """`judged.__version__` is the only place; the metadata of the package is taken from it."""
    project = tomllib.loads(read("pyproject.toml"))["project"]

    assert "version" in project["dynamic"]
    assert "version" not in project


def test_the_installed_package_has_that_version() -> None:
    """What is installed is what is tested."""
    try:
        installed = version("judged")
    except PackageNotFoundError:
        pytest.skip("judged is on the path but not installed")

    assert installed == judged.__version__


def test_the_changelog_has_this_version() -> None:
    """There is a section for it, and the citation names the same version."""
    assert re.search(rf"^## {re.escape(judged.__version__)}\b", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert f"version: {judged.__version__}" in read("CITATION.cff")


def test_every_make_command_that_is_named_exists() -> None:
    """README and CONTRIBUTING promise no target that the Makefile has not."""
    pages = read("README.md") + read("CONTRIBUTING.md") + read("benchmarks/README.md")
    named = set(re.findall(r"(?:`|^\$ )make ([a-z][a-z-]*)", pages, flags=re.MULTILINE))

    assert {"demo", "test"} <= named
    assert named <= make_targets()


def test_continuous_integration_runs_make_test_and_nothing_else() -> None:
    """`.ci/run` is executable and holds one command of its own."""
    script = ROOT / ".ci" / "run"
    commands = [
        line
        for line in script.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "set ", "cd "))
    ]

    assert commands == ["make test"]
    assert os.access(script, os.X_OK)


def test_every_measure_is_on_the_page_of_measures() -> None:
    """No measure is forgotten in the documentation."""
    page = read("docs/measures.md")

    assert [
        name for name in MEASURES if not re.search(rf"^#+ .*\b{re.escape(name)}\b", page, re.MULTILINE)
    ] == []


def test_every_error_is_on_the_page_of_errors() -> None:
    """The docstring of every error says when it is raised."""
    page = read("docs/errors-and-exit-codes.md")
    names = [name for name in errors.__all__ if issubclass(getattr(errors, name), errors.JudgedError)]

    assert [name for name in names if f"`{name}`" not in page and f"`judged.{name}`" not in page] == []


def test_every_file_says_what_it_is_for() -> None:
    """Each source file opens with a sentence."""
    assert [str(path) for path in SOURCES if not read_text(path).lstrip().startswith(('"""', 'r"""'))] == []


def test_files_are_named_for_a_concept() -> None:
    """None is a drawer for whatever had no place."""
    assert [str(path) for path in SOURCES if path.stem in VAGUE] == []


def test_no_file_names_a_machine() -> None:
    """What is tracked holds no path of a developer's machine."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    private = re.compile(r"/(?:home|Users|root|work|tmp/dev)/\w")
    tracked = [ROOT / name for name in listed.stdout.splitlines()]
    texts = {path: path.read_bytes().decode("utf-8", errors="replace") for path in tracked if path.is_file()}

    assert [
        str(path) for path, text in texts.items() if private.search(text) and path != Path(__file__)
    ] == []


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link of README and docs names a file that is there."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)} → {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_no_page_installs_from_the_package_index() -> None:
    """Pages install from a clone, because the package is not published yet."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]

    assert [str(page) for page in pages if re.search(r"pip install '?judged\b", read_text(page))] == []


def test_links_to_headings_lead_somewhere() -> None:
    """Every link to a section of a page names a heading of that page."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    headings = {page: find_anchors(read_text(page)) for page in pages}
    broken = [
        f"{page.relative_to(ROOT)} → {target}#{anchor}"
        for page in pages
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", read_text(page))
        if anchor not in headings.get((page.parent / target).resolve() if target else page, ())
    ]

    assert broken == []


def find_anchors(page: str) -> set[str]:
    """Return the anchors that the headings of a page have on GitHub."""
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_everything_that_tests_need_is_pinned() -> None:
    """Every dependency, of the package and of its tests, has an exact version in the constraints."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(
            requirement
            for name in ("demo", "label", "pandas", "polars", "test")
            for requirement in extras[name]
        ),
    ]
    pinned = {
        _canonical(name) for name in re.findall(r"^([\w.-]+)==", read("tests/constraints.txt"), re.MULTILINE)
    }

    assert [name for name in wanted if _canonical(re.split(r"[<>=~!\[ ]", name)[0]) not in pinned] == []


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_linters_of_a_commit_are_those_of_the_tests() -> None:
    """The hook before a commit runs the version of ruff that `make test` runs."""
    pinned = re.findall(r"^ruff==(\S+)", read("tests/constraints.txt"), re.MULTILINE)

    assert set(re.findall(r"ruff==([\d.]+)", read(".pre-commit-config.yaml"))) == set(pinned)


def test_the_fast_selection_leaves_out_only_what_exists() -> None:
    """Every folder, file and test that `--fast` does without is there."""
    tests = ROOT / "tests"
    source = (
        (tests / "conftest.py").read_text(encoding="utf-8").partition("THOROUGH = ")[2].partition(")\n")[0]
    )
    named = [entry.partition("::") for entry in re.findall(r'"([^"]+)"', source)]

    assert named
    assert [
        f"{file}::{name}"
        for file, _, name in named
        if not (tests / file).exists()
        or (name and f"def {name}" not in (tests / file).read_text(encoding="utf-8"))
    ] == []


def test_wheels_and_tests_cover_every_python_that_is_supported() -> None:
    """Classifiers, wheels and the matrix of continuous integration name the same versions."""
    project = tomllib.loads(read("pyproject.toml"))
    prefix = "Programming Language :: Python :: "
    supported = [
        name.removeprefix(prefix) for name in project["project"]["classifiers"] if name.startswith(prefix)
    ]
    wheels = [f"cp{name.replace('.', '')}-*" for name in supported]

    assert project["tool"]["cibuildwheel"]["build"] == wheels
    assert f"python: {json.dumps(supported)}" in read(".github/workflows/ci.yml")


def test_workflows_name_the_commit_of_every_action() -> None:
    """A tag can be moved to other code, a commit cannot."""
    workflows = [read_text(path) for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    actions = [action for text in workflows for action in re.findall(r"uses: (\S+)", text)]

    assert actions
    assert [action for action in actions if not re.search(r"@[0-9a-f]{40}$", action)] == []


def test_a_release_is_published_without_a_stored_secret() -> None:
    """Trusted publishing: the job that publishes asks for an identity, and nothing reads a secret."""
    release = read(".github/workflows/release.yml")

    assert "id-token: write" in release
    assert "attestations: true" in release
    assert "secrets." not in release
