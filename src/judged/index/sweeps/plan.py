"""The plan of a sweep: which engines, each with every combination of its build and query settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeAlias

from judged.errors import BadProtocol, MissingExtra, UnknownName
from judged.index.engine import (
    ENGINES,
    Engine,
    Setting,
    Settings,
    SettingValue,
    complete_settings,
    find_engine,
)
from judged.index.measurement import describe
from judged.io.settings import read_yaml

Grid: TypeAlias = Mapping[str, SettingValue | Sequence[SettingValue]]
"""Settings to combine, each with a value or a list of values."""

QUICK = ("exact", "hnswlib", "faiss-hnsw")
"""Engines of a benchmark that names none: the first two of these that are installed."""


@dataclass(frozen=True)
class Environment:
    """Origin of the code of an engine."""

    name: str = ""
    """Tells the points of one environment from those of another; empty: the one of this process."""
    python: str = sys.executable
    path: tuple[str, ...] = ()
    """Folders that modules are imported from before all others."""
    alone: bool = False
    """Whether nothing is imported from where this process imports."""


@dataclass(frozen=True)
class Build:
    """One build of one engine, with the query settings that are measured on it."""

    engine: type[Engine]
    settings: Settings
    queries: tuple[Settings, ...]
    url: str | None = None
    """The address of its server, if it has one."""
    environment: Environment = Environment()

    @property
    def name(self) -> str:
        """The engine and its build settings, in words."""
        return describe(self.engine.name, self.settings, {})


def read_sweep(path: str | os.PathLike[str]) -> Mapping[str, object]:
    """Return the sweep of a YAML file: for each engine `build` and `query` settings, each a value or a list."""
    document = read_yaml(Path(path))
    if not isinstance(document, Mapping):
        msg = f"{path} holds {type(document).__name__}, expected engines with their settings"
        raise BadProtocol(msg, hint="hnswlib: {build: {M: [16, 32]}, query: {ef: [32, 64, 128]}}")
    return dict(document)


def plan_builds(
    engines: Sequence[object],
    sweep: Mapping[str, object] | str | os.PathLike[str] | None = None,
    *,
    urls: Mapping[str, str] | None = None,
    size: int | None = None,
) -> list[Build]:
    """Return every build with its query settings; without a sweep, the values that each engine suggests.

    `size` is the number of vectors, which some defaults follow.

    `sweep` is a YAML file, or a dict of the same layout. Without engines there are those of the sweep, or two quick
    ones. Raises errors that name the place of what is wrong, before anything is built.
    """
    source = str(sweep) if isinstance(sweep, str | os.PathLike) else "sweep"
    grid = read_sweep(sweep) if isinstance(sweep, str | os.PathLike) else sweep or {}
    kinds = [find_engine(engine) for engine in (engines or list(grid) or _find_quick_engines())]
    names = [kind.name for kind in kinds]
    for name in grid:
        if name not in names:
            role = f"engine of the benchmark ({source})"
            raise UnknownName(role, name, names)
    builds = []
    for kind in kinds:
        missing = kind.missing_packages()
        if missing:
            raise MissingExtra(missing[0], extra=kind.extra, needed_by=f"the engine `{kind.name}`")
        place = f"{source}: {kind.name}"
        grids = _read_entry(grid.get(kind.name, {}), place)
        suggested = {
            name: list(setting.values) for name, setting in kind.query_settings.items() if setting.values
        }
        queries = _expand(kind.query_settings, grids.get("query", suggested), f"{place}.query", size)
        settings = _expand(kind.build_settings, grids.get("build", {}), f"{place}.build", size)
        url = (urls or {}).get(kind.name)
        builds += [Build(kind, build, tuple(queries), url) for build in settings]
    return builds


def plan_older(builds: Sequence[Build], older: str) -> list[Build]:
    """Return the same builds of an older version: of a virtual environment, a folder of modules, or a server, ENGINE=URL."""
    name, sign, url = older.partition("=")
    folder = Path(older)
    if sign and not folder.exists():
        names = list(dict.fromkeys(build.engine.name for build in builds))
        if name not in names:
            kind = "engine of the benchmark (--against)"
            raise UnknownName(kind, name, names)
        other = Environment("older")
        return [replace(build, url=url, environment=other) for build in builds if build.engine.name == name]
    if not folder.is_dir():
        msg = f"`--against` is `{older}`, expected a virtual environment, a folder of modules, or ENGINE=URL"
        raise BadProtocol(msg)
    python = next(
        (path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists()), None
    )
    if python is None:
        environment = Environment("older", path=(str(folder.resolve()),))
    else:
        # an absolute path, but not that of what the link points to: the link is what makes it the environment
        environment = Environment("older", str(python.absolute()), alone=True)
    return [replace(build, environment=environment) for build in builds]


def _find_quick_engines() -> list[str]:
    """Return exact search, and the first graph index that is installed."""
    return [name for name in QUICK if not ENGINES[name].missing_packages()][:2]


def _read_entry(entry: object, place: str) -> Mapping[str, Grid]:
    """Return the `build` and `query` parts of an engine's entry."""
    if entry is None:
        return {}
    if not isinstance(entry, Mapping):
        msg = f"{place} is {entry!r}, expected `build` and `query`"
        raise BadProtocol(msg)
    for part, settings in entry.items():
        if part not in {"build", "query"}:
            kind = f"part of {place}"
            raise UnknownName(kind, str(part), ["build", "query"])
        if not isinstance(settings, Mapping):
            msg = f"{place}.{part} is {settings!r}, expected settings and their values"
            raise BadProtocol(msg)
    return dict(entry)


def _expand(
    known: Mapping[str, Setting], grid: Grid, place: str, size: int | None
) -> list[dict[str, SettingValue]]:
    """Return every combination of the values of a grid, each completed with the defaults."""
    lists = {}
    for name, given in grid.items():
        values = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        for value in values:
            if name in known:
                _check_value(known[name], value, f"{place}.{name}")
        lists[str(name)] = values
    combinations = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    if not combinations:
        msg = f"{place} has an empty list, expected at least one value"
        raise BadProtocol(msg)
    what = f"setting of {place}"
    return [complete_settings(known, chosen, what=what, size=size) for chosen in combinations]


def _check_value(setting: Setting, value: SettingValue, place: str) -> None:
    expected = type(setting.default)
    sound = isinstance(value, expected) or (expected is float and isinstance(value, int))
    if not sound or (isinstance(value, bool) and expected is not bool):
        word = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}.get(
            expected, ""
        )
        msg = f"{place} is {value!r}, expected {word}"
        raise BadProtocol(msg)
    # whole numbers count something: only a setting that is 0 by default may be 0
    least = min(1, setting.default) if isinstance(setting.default, int) else None
    if least is not None and isinstance(value, int) and value < least:
        msg = f"{place} is {value}, expected {least:d} or more"
        raise BadProtocol(msg)
