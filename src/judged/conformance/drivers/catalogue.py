"""The tools that can be examined, each with the module that drives it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from judged.errors import UnknownName

__all__ = ["DRIVERS", "Tool", "tools"]

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
    """The path of the program, for a tool that is one."""

    def version(self) -> str | None:
        """The version, or None where the tool is not installed."""
        found: str | None = import_module(f"judged.conformance.drivers.{self.driver}").version(self.program)
        return found

    @property
    def label(self) -> str:
        """The name with the version."""
        name = self.driver.replace("ranx_dicts", "ranx (dicts)")
        found = self.version()
        return name if found is None else f"{name} {found}"

    @property
    def how_to_install(self) -> str:
        """What to do where it is not installed."""
        return DRIVERS[self.driver]


def tools(name: str | None = None) -> list[Tool]:
    """The tool of that name, in every version that is named; without a name, all."""
    if name is not None and name not in DRIVERS:
        raise UnknownName("tool", name, list(DRIVERS))
    wanted = list(DRIVERS) if name is None else [name]
    return [tool for each in wanted for tool in _versions(each)]


def _versions(driver: str) -> Iterator[Tool]:
    if driver != "trec_eval":
        yield Tool(driver)
        return
    named = os.environ.get("TREC_EVAL", "") or shutil.which("trec_eval") or ""
    for program in named.split(os.pathsep):
        yield Tool(driver, program)
