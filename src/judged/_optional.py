"""Optional packages: imported when used, or an error that names the extra which installs them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from judged.errors import MissingExtra


def need(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """Import `module`, or raise `MissingExtra` naming the extra that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the package is there; something it imports is not
        raise MissingExtra(package, extra=extra, needed_by=needed_by) from error
