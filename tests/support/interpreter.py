"""What a fresh interpreter loads."""

from __future__ import annotations

import subprocess
import sys


def loaded_after(statement: str, *, whole_names: bool = False) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement: top-level ones, or all of them."""
    name = "name" if whole_names else "name.partition('.')[0]"
    code = f"{statement}\nimport sys\nprint(*{{{name} for name in sys.modules}})"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(ended.stdout.splitlines()[-1].split())
