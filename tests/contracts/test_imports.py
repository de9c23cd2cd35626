"""What importing judged loads, which module may import which, and what the package offers."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import judged
from support.interpreter import loaded_after

PACKAGE = Path(judged.__file__).parent
ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "pyarrow", "scipy", "rich", "click", "yaml", "polars", "pandas", "bm25s")


def test_importing_judged_loads_nothing_heavy() -> None:
    """`import judged` alone costs neither NumPy nor Arrow nor anything else of size."""
    assert not loaded_after("import judged") & set(HEAVY)


def test_the_registry_of_measures_loads_nothing_heavy() -> None:
    """Listing the names of all measures imports no measure."""
    statement = "from judged.measures.groups import MEASURES; list(MEASURES)"

    assert not loaded_after(statement) & set(HEAVY)


@pytest.mark.parametrize(
    ("command", "needed"),
    [(["score"], set()), (["explain", "--query", "1"], {"pyarrow.compute"})],
    ids=["score", "explain"],
)
def test_a_small_file_loads_only_what_it_needs(tmp_path: Path, command: list[str], needed: set[str]) -> None:
    """Modules that take long to import, and that a TREC file and a few measures do not need, stay away."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    (tmp_path / "bm25.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 d 1 1 x\n")
    arguments = [*command, str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run")]
    statement = f"from judged.cli.main import judged; judged({arguments!r}, standalone_mode=False)"
    unneeded = {
        "scipy",
        "rich",
        "yaml",
        "msgspec",
        "pyarrow.compute",
        "pyarrow.parquet",
        "numpy.ma",
        "pandas",
    }

    assert not loaded_after(statement, whole_names=True) & (unneeded - needed)


def test_import_contracts_are_kept() -> None:
    """Data flows one way: import-linter finds no module that imports against the layers."""
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is not installed")
    program = "from importlinter.cli import lint_imports_command as command; command()"
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True
    )

    assert process.returncode == 0, process.stdout


def imports_of(path: Path) -> set[str]:
    """The modules of judged that a file imports at its top level, whenever it is run."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.startswith("judged.")}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """The modules can be put in an order in which each imports only earlier ones."""
    graph = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("judged", *path.relative_to(PACKAGE).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        graph[name] = imports_of(path) - {name}

    order = list(TopologicalSorter(graph).static_order())

    assert "judged.scoring.evaluate" in order


def test_every_public_name_can_be_imported_and_is_documented() -> None:
    """Each resolves, `dir` lists it, and it says what it is."""
    assert set(judged.__all__) <= set(dir(judged))
    assert [name for name in judged.__all__ if not inspect.getdoc(getattr(judged, name))] == []


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """Lazy names do not swallow mistakes."""
    with pytest.raises(AttributeError, match="no attribute 'nDGC'"):
        judged.nDGC  # noqa: B018
