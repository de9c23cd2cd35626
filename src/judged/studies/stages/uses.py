"""Uses: which addresses, environment variables, files and code the settings of a stage lead to, found without using any.

Answers depend on them, `--dry-run` lists them before anything is loaded, and a variable that a study names is read only
if the user has allowed it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from judged.net.llm import URL_VARIABLE
from judged.net.secrets import KEY_VARIABLE, hide_secrets
from judged.plugins import search_current_folder
from judged.store.source import hash_module

Kind = Literal["address", "variable", "file", "import", "model"]
LONGEST_PATH = 4096
"""Longer texts are prompts or the like; asking whether they are files raises an error."""
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Use(NamedTuple):
    """Something outside the study that a stage uses."""

    kind: Kind
    """`model` is one of the hub, unless a folder on this machine has its name."""
    name: str

    def identify(self) -> dict[str, str]:
        """Return what tells versions of it apart, as far as that can be seen from here."""
        if self.kind == "import":
            search_current_folder()
            return {self.name: hash_module(self.name.partition(":")[0])}
        if self.kind == "file":
            path = Path(self.name)
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            return dict(_stat(file) for file in files if file.is_file())
        return {self.name: self.name} if self.kind == "address" else {}

    def __str__(self) -> str:
        return f"{self.kind} {hide_secrets(self.name)}"


def find_uses(settings: object) -> Iterator[Use]:
    """Yield what the settings of a stage lead to, those of stages within it included."""
    if isinstance(settings, Mapping):
        stage = "type" in settings
        for name, value in settings.items():
            found = _READERS.get(name) if stage else None
            yield from find_uses(value) if found is None else found(value)
        model = settings.get("model")
        if stage and "revision" in settings and isinstance(model, str) and not Path(model).exists():
            yield Use("model", model)
        if stage and "key_variable" in settings:
            yield Use("variable", str(settings["key_variable"] or KEY_VARIABLE))
            yield from () if settings.get("url") else _find_address(f"${{{URL_VARIABLE}}}")
    elif isinstance(settings, list | tuple):
        for value in settings:
            yield from find_uses(value)
    elif isinstance(settings, str) and 0 < len(settings) < LONGEST_PATH:
        if "\0" not in settings and Path(settings).exists():
            yield Use("file", settings)
        elif _PLACE.fullmatch(settings):
            yield Use("import", settings)


def _find_address(value: object) -> Iterator[Use]:
    """Yield an address, and the variable that it is taken from."""
    if isinstance(value, str) and value:
        named = _VARIABLE.fullmatch(value)
        if named is not None:
            yield Use("variable", named[1])
        address = value if named is None else os.environ.get(named[1], "")
        if address:
            yield Use("address", address)


def _find_code(value: object) -> Iterator[Use]:
    """Yield a function or an object of users, by its place or by the name that a package announces."""
    yield Use("import", str(value))


def _find_engine(value: object) -> Iterator[Use]:
    """Yield the engine if it is a class of users."""
    if ":" in str(value):
        yield Use("import", str(value))


def _find_model(value: object) -> Iterator[Use]:
    """Yield the folder of a model; a name such as `mistral:latest` is none of code."""
    if (
        isinstance(value, str)
        and 0 < len(value) < LONGEST_PATH
        and "\0" not in value
        and Path(value).exists()
    ):
        yield Use("file", value)


def _find_secrets(value: object) -> Iterator[Use]:
    """Yield the variables that hold secrets, by header."""
    if isinstance(value, Mapping):
        yield from (Use("variable", str(variable)) for variable in value.values())


_READERS: Mapping[str, Callable[[object], Iterator[Use]]] = {
    "url": _find_address,
    "model": _find_model,
    "secrets": _find_secrets,
    "function": _find_code,
    "object": _find_code,
    "engine": _find_engine,
    "type": lambda _: iter(()),
    "stage": lambda _: iter(()),
}
"""Settings of stages that say by their name what they hold."""


def _stat(path: Path) -> tuple[str, str]:
    status = path.stat()  # its size and time stand for a hash: models may take gigabytes
    return str(path), f"{status.st_size} {status.st_mtime_ns}"
