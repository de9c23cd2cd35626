"""Functions and objects that users bring: imported by their place, called, and their failures put into words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judged.errors import JudgedError
from judged.retrieve.stage import StageFailed, import_object

__all__ = ["call", "load_callable", "load_object"]


def load_object(place: str, settings: Mapping[str, Any], *, group: str, kind: str) -> Any:
    """Return the object of a place; with settings, or if it is a class, what it returns when called with them."""
    found = import_object(place, group=group, kind=kind)
    return call(found, place, **settings) if settings or isinstance(found, type) else found


def load_callable(place: str, settings: Mapping[str, Any], *, group: str, kind: str) -> Any:
    """Return the object of a place, as `load_object` does; raise `StageFailed` if it cannot be called."""
    found = load_object(place, settings, group=group, kind=kind)
    if not callable(found):
        msg = f"`{place}` is an object of type {type(found).__name__}, expected a callable"
        raise StageFailed(msg)
    return found


def call(function: Any, place: str, /, *arguments: Any, **settings: Any) -> Any:
    """Return what a user's function returns; whatever it raises becomes `StageFailed` with its words."""
    try:
        return function(*arguments, **settings)
    except JudgedError:
        raise
    except Exception as error:
        msg = f"`{place}` failed: {type(error).__name__}: {error}"
        raise StageFailed(msg) from error
