"""The program that draws figures in the page: Vega-Lite, bundled by vl-convert once and then cached."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from judged._optional import need
from judged.files import write_file
from judged.report.packing import squeeze

__all__ = ["Engine", "find_cache", "load_engine"]


@dataclass(frozen=True, slots=True)
class Engine:
    """The script, and the same packed."""

    script: str
    packed: str


def load_engine() -> Engine | None:
    """Return the engine, from the cache if it is there; None without the extra `report`.

    Bundling takes seconds. The name in the cache has the version, and the content is checked against its hash.
    """
    if find_spec("vl_convert") is None:
        return None
    path = find_cache() / f"vega-{version('vl-convert-python')}.js"
    script = _read(path)
    if script is None:
        script = _bundle()
        _write(path, script)
    return Engine(script, _pack(script))


@lru_cache(maxsize=1)
def _pack(script: str) -> str:
    """Return the script packed, once for all reports of a viewer."""
    return squeeze(script.encode())


def find_cache() -> Path:
    """Return the folder for cached files: `JUDGED_CACHE`, or `judged` in the user's cache folder."""
    if chosen := os.environ.get("JUDGED_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "judged" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "judged"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "judged"


def _bundle() -> str:
    """Return vega-embed with Vega's interpreter, which needs no `eval`; its names are kept to itself."""
    converter = need("vl_convert", extra="report", needed_by="figures of the report")
    return f"(()=>{{{converter.javascript_bundle()}}})();"


def _read(path: Path) -> str | None:
    """Return the cached script; None if it is not there or is damaged."""
    try:
        digest, _, script = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if digest == _digest(script) else None


def _write(path: Path, script: str) -> None:
    """Keep the script; without a cache, for example on a read-only disk, it is bundled each time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, f"{_digest(script)}\n{script}")
    except OSError:
        pass


def _digest(script: str) -> str:
    return f"// sha256 {sha256(script.encode()).hexdigest()}"
