"""Permissions: which environment variables a study may read, and what it would use, before anything is loaded.

A study may come from somebody else, and names both the variable that holds a secret and the address that it is sent to.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import urlsplit

import msgspec

from judged.errors import BadProtocol
from judged.io.settings import convert_settings, read_yaml
from judged.net.llm import URL_VARIABLE
from judged.net.secrets import KEY_VARIABLE
from judged.store.files import configuration_file
from judged.studies.stages.tokens import PriceSpec
from judged.studies.stages.uses import Use
from judged.studies.systems.declared import SystemSpec
from judged.wording import join_words

USUAL = frozenset({KEY_VARIABLE, URL_VARIABLE, "ES_AUTHORIZATION", "PGVECTOR_URL"})
"""Variables that kinds of stages read by default, and those that the documentation names for them."""
PATIENCE = 2.0
"""Seconds in which a server must accept a connection to be reachable."""
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "postgres": 5432}


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Permissions that a user gives every study."""

    allow_env: tuple[str, ...] = ()
    """Environment variables that studies may read."""
    prices: dict[str, PriceSpec] = {}
    """The prices of a million tokens, by model."""


def read_configuration() -> Configuration:
    """Return the user's configuration; the defaults if there is none."""
    path = configuration_file()
    return convert_settings(read_yaml(path) or {}, Configuration, path) if path.is_file() else Configuration()


def list_uses(systems: Iterable[SystemSpec]) -> list[Use]:
    """Return what systems use, each thing once."""
    found = (use for system in systems for stage in system.list_stages() for use in stage.list_uses())
    return list(dict.fromkeys(found))


def find_forbidden(systems: Iterable[SystemSpec], allowed: Collection[str] = ()) -> list[str]:
    """Return the environment variables that systems name and that the user has not allowed."""
    known = USUAL | set(allowed) | set(read_configuration().allow_env)
    names = dict.fromkeys(use.name for use in list_uses(systems) if use.kind == "variable")
    return [name for name in names if name not in known]


def check_variables(systems: Iterable[SystemSpec], allowed: Collection[str] = ()) -> None:
    """Raise `BadProtocol` for environment variables that the user has not allowed."""
    forbidden = find_forbidden(systems, allowed)
    if forbidden:
        options = " ".join(f"--allow-env {name}" for name in forbidden)
        msg = f"the study reads {join_words(forbidden)} from the environment, which you have not allowed"
        hint = f"if you trust it: `{options}`, or `allow_env: [{', '.join(forbidden)}]` in {configuration_file()}"
        raise BadProtocol(msg, hint=hint)


def describe_uses(systems: Iterable[SystemSpec], allowed: Collection[str] = ()) -> Iterator[tuple[str, bool]]:
    """Yield each thing that systems use in words, and whether it is there; servers are connected to, and sent nothing."""
    forbidden = set(find_forbidden(systems, allowed))
    hidden = {os.environ.get(name) for name in forbidden}
    for use in list_uses(systems):
        if use.kind == "variable" and use.name in forbidden:
            yield f"{use}: not allowed (`--allow-env {use.name}`)", False
        elif use.kind == "variable":
            is_set = bool(os.environ.get(use.name)) or use.name in {KEY_VARIABLE, URL_VARIABLE}
            yield f"{use}: {'set' if os.environ.get(use.name) else 'not set'}", is_set
        elif use.kind == "address" and use.name not in hidden:
            problem = _find_problem(use.name)
            yield f"{use}{f': {problem}' if problem else ''}", not problem
        elif use.kind != "address":
            yield str(use), True


def _find_problem(address: str) -> str:
    """Return why a server cannot be reached; empty if it can, or if that is unknown."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return "not an address"
    if not host or port is None:  # a DSN in words, a file: the engine knows
        return ""
    try:
        with socket.create_connection((host, port), PATIENCE):
            return ""
    except OSError as error:
        return f"not reachable ({error.strerror or error})"
