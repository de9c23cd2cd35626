"""The index: measures are listed and looked up before they are imported, and adding one touches one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import judged.measures
from judged.kernels.examples import make_ranking
from judged.measures import groups
from judged.measures.index import find_measures, find_scopes, list_packages, render_index, render_types
from judged.measures.parse import parse_measure

FOLDER = Path(judged.measures.__path__[0])
MEASURE = '''\
"""A measure in one short file."""

from judged.kernels.ranked.ranking import Ranking
from judged.arrays import Floats
from judged.measures.measure import Measure


def missed_share(ranking: Ranking, *, rel: float | None = None) -> Floats:
    """Return the share of the relevant documents that are not retrieved."""
    return 1 - ranking.hits_within(None, rel) / ranking.relevant(rel)


MissedShare = Measure("MissedShare", missed_share, title="What was missed.", higher_is_better=False)
'''
FAMILY = '''\
"""A family in one short file."""

import numpy as np

from judged.measures.groups import Alias, Scope
from judged.measures.measure import Measure

POTTERY = Scope("pottery", subject="pots", example="Height", aliases={"tallness": Alias("Height")})


def height(pots: np.ndarray) -> np.ndarray:
    """Return the height of every pot."""
    return pots


Height = Measure("Height", height, title="Height.", family="pottery")
'''


NAMES = {"answer", "click", "neighbour", "ranked", "session", "timing", "routing", "skipping", "reranking"}
"""Every scope."""


@pytest.fixture
def with_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules belong to `judged.measures`; what they add is forgotten afterwards."""
    monkeypatch.setattr(judged.measures, "__path__", [str(FOLDER), str(tmp_path)])
    before = set(sys.modules)
    tables = {family: groups.registry_for(family) for family in groups.list_groups()}
    known = {family: set(table) for family, table in tables.items()}
    names = dict(groups.GROUPS)
    yield tmp_path
    for module in set(sys.modules) - before:
        if module.startswith("judged.measures."):
            del sys.modules[module]
    for family, table in tables.items():
        for name in set(table) - known[family]:
            table.remove(name)
    for name in set(groups.SCOPES) - NAMES:
        groups.SCOPES.remove(name)
    groups.GROUPS.clear()
    groups.GROUPS.update(names)


def load() -> None:
    """Read the index as it would be written now."""
    index: dict[str, dict[str, object]] = {}
    exec(render_index(), {}, index)  # noqa: S102 - it was made here
    groups.load_index(index["MEASURE_INDEX"], index["SCOPE_INDEX"])  # type: ignore[arg-type]


def test_the_index_is_up_to_date() -> None:
    """`python -m judged.measures.index` writes what is there."""
    for package, index in list_packages().items():
        path = Path(str(import_module(index).__file__))
        assert path.read_text(encoding="utf-8") == render_index(package)
    assert (FOLDER / "__init__.pyi").read_text(encoding="utf-8") == render_types()


def test_the_index_holds_every_measure_of_the_tables() -> None:
    """By family and name, in one order; and every scope."""
    found = {
        family: tuple(measures)
        for package in list_packages()
        for family, measures in find_measures(package).items()
    }
    scopes = {name for package in list_packages() for name in find_scopes(package)}

    assert found == {family: names for family, names in groups.list_groups().items() if family != "custom"}
    assert scopes == set(groups.SCOPES) == NAMES


def test_every_measure_is_an_attribute_of_the_package() -> None:
    """Except those of sessions, which have a package of their own."""
    from judged.measures import nDCG

    assert nDCG is groups.MEASURES["nDCG"]
    for name in (*groups.MEASURES, *groups.PREFERENCE_MEASURES):
        assert getattr(judged.measures, name) is groups.find_measure(name)
        assert name in dir(judged.measures)
    with pytest.raises(AttributeError, match="no attribute 'CG'"):
        judged.measures.CG  # type: ignore[attr-defined]  # noqa: B018 - looking it up is what fails


def test_a_measure_is_one_file(with_file: Path) -> None:
    """A module with a function and a value is found, listed, parsed and computed."""
    (with_file / "missed.py").write_text(MEASURE, encoding="utf-8")
    load()

    assert "MissedShare" in groups.GROUPS["ranked"]
    assert (
        '"MissedShare": ("judged.measures.missed", "What was missed", "0 to 1", "The share' in render_index()
    )
    assert "from judged.measures.missed import MissedShare as MissedShare" in render_types()
    measure = parse_measure("missed_share(rel=2)")
    assert str(measure) == "MissedShare(rel=2)"
    assert measure.per_query(make_ranking([2, 0], missed=[[2]])).tolist() == [0.5]


def test_a_family_is_one_file(with_file: Path) -> None:
    """A scope and its measures in a module are names of their own."""
    (with_file / "pottery.py").write_text(FAMILY, encoding="utf-8")
    load()

    measure = parse_measure("TALLNESS", family="pottery")
    assert (measure.name, measure.family, list(groups.registry_for("pottery"))) == (
        "Height",
        "pottery",
        ["Height"],
    )
    with pytest.raises(judged.JudgedError, match="`Height` is a measure of the family `pottery`"):
        parse_measure("Height")
