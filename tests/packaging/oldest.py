"""Print the oldest versions that the project says it works with, as constraints: `python tests/packaging/oldest.py`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = ("pandas", "polars")
"""Optional packages whose objects are read: what else is optional is tested in the newest version alone."""
FLOOR = re.compile(r"^(?P<name>[\w.-]+)>=(?P<version>[\w.]+)$")


def list_oldest() -> list[str]:
    """Return `name==version` for every dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    needed = [*project["dependencies"], *(line for extra in EXTRAS for line in optional[extra])]
    floors = [FLOOR.match(line) for line in needed]
    return [f"{floor['name']}=={floor['version']}" for floor in floors if floor is not None]


if __name__ == "__main__":
    print("\n".join(list_oldest()))  # noqa: T201 - what it is for
