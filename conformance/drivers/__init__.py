"""The tools that can be examined, each driven by a module of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from judged.errors import UnknownName
from judged.profiles.profile import PROFILES

__all__ = ["DRIVERS", "Tool", "find_names", "find_tools", "find_version"]

DRIVERS: dict[str, str] = {
    "judged": "",
    "trec_eval": "name the program in TREC_EVAL, or several with the path separator between",
    "pytrec_eval": "pip install pytrec-eval-terrier",
    "ir_measures": "pip install ir-measures",
    "ranx": "pip install ranx",
    "ranx_dicts": "pip install ranx",
    "trectools": "pip install trectools",
}
"""Every driver, with how to get its tool."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, or one of several versions of it."""

    driver: str
    program: str = ""
    """Path of the program, for a tool that is one."""

    def version(self) -> str | None:
        """Return the version, or None where the tool is not installed."""
        found: str | None = import_module(f"conformance.drivers.{self.driver}").version(self.program)
        return found

    @property
    def label(self) -> str:
        """Name and version."""
        name = self.driver.replace("ranx_dicts", "ranx (dicts)")
        found = self.version()
        return name if found is None else f"{name} {found}"

    @property
    def how_to_install(self) -> str:
        """Instructions for a tool that is not installed."""
        return DRIVERS[self.driver]


def find_tools(name: str | None = None) -> list[Tool]:
    """Return the tool of that name in each version found; without a name, all tools."""
    if name is not None and name not in DRIVERS:
        raise UnknownName("tool", name, list(DRIVERS))
    return [tool for driver in ([name] if name else DRIVERS) for tool in _find_versions(driver)]


def _find_versions(driver: str) -> Iterator[Tool]:
    if driver != "trec_eval":
        yield Tool(driver)
        return
    programs = os.environ.get("TREC_EVAL", "") or shutil.which("trec_eval") or ""
    for program in programs.split(os.pathsep):
        yield Tool(driver, program)


def find_version(*distributions: str) -> str | None:
    """Return the version of the first distribution that is installed, or None."""
    for distribution in distributions:
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return None


def find_names(profile: str) -> dict[str, str]:
    """Return the name that a tool has for each of our measures, from its profile: ours, if it knows it, or its first."""
    return PROFILES[profile].names
