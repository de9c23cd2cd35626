"""User-defined functions and objects: imported by "module:attribute", called, and their failures reported."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from judged.errors import JudgedError
from judged.plugins import import_object
from judged.studies.stages.awaiting import Awaiter
from judged.studies.stages.stage import StageFailed

_AWAITER = Awaiter()
"""Waits for functions of users that are asynchronous."""
P = ParamSpec("P")
T = TypeVar("T")

GROUP = "judged.stages"
"""The entry points under which packages announce stages: encoders, retrievers, rerankers, routers, skip policies."""


def import_stage(place: str, *, kind: str) -> Any:
    """Return the object of a "module:attribute", or of the name that a package announces."""
    return import_object(place, kind=kind, group=GROUP)


def load_object(place: str, settings: Mapping[str, object], *, kind: str) -> object:
    """Return the object of a place; with settings, or if it is a class, what it returns when called with them."""
    target = import_stage(place, kind=kind)
    return call(target, place, **settings) if settings or isinstance(target, type) else target


def load_callable(place: str, settings: Mapping[str, object], *, kind: str) -> Callable[..., object]:
    """Return the object of a place, as `load_object` does; raise `StageFailed` if it cannot be called."""
    target = load_object(place, settings, kind=kind)
    if not callable(target):
        msg = f"`{place}` is an object of type {type(target).__name__}, expected a callable"
        raise StageFailed(msg)
    return target


def call(function: Callable[P, T], place: str, /, *arguments: P.args, **settings: P.kwargs) -> T:
    """Return what a user's function returns, once it is there if it is asynchronous; any exception becomes `StageFailed` with its message."""
    try:
        answer = function(*arguments, **settings)
        return cast("T", _AWAITER.collect(answer)) if inspect.isawaitable(answer) else answer
    except JudgedError:
        raise
    except (Exception, SystemExit) as error:  # code that ends its own process does not end the study
        msg = f"`{place}` failed: {type(error).__name__}: {error}"
        raise StageFailed(msg) from error
