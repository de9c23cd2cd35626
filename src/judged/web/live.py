"""Live inputs of the viewer, the newest good results of each, and the check for changed files.

Files are watched by comparing time, size and inode twice a second. A changed file is read when it has been the same at
two checks, so that most half-written files are never read; if it cannot be read, the last good results stay and
`State.problem` says why.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from judged.errors import JudgedError, UnknownName
from judged.result import RESULTS, Result, find_kind, load
from judged.store.hashing import hash_text

ENDINGS = (".json.gz", ".json")
MOST_FILES = 10_000
"""Files of a folder whose changes are watched."""
KEPT = 16
"""Inputs of a folder whose results stay in memory."""

Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""Time, size and inode of every file; None where there is none."""


@dataclass(frozen=True)
class Input:
    """Input of one page: some files, and the function that computes results from them."""

    name: str
    paths: tuple[Path, ...]
    load: Callable[[], tuple[Result, ...]]

    def stamp(self) -> Stamp:
        """Return what changes when one of the files changes."""
        try:
            return tuple(_stamp(file) for path in self.paths for file in _list_files(path))
        except OSError:
            return (None,)  # a folder that may not be read


def saved_input(name: str, path: Path) -> Input:
    """Return the input of a file that holds a saved result."""
    return Input(name, (path,), lambda: (load(path),))


@dataclass(frozen=True)
class State:
    """The newest results of an input that could be made, and why newer ones could not."""

    results: tuple[Result, ...]
    stamp: Stamp = ()
    problem: str = ""

    @property
    def version(self) -> str:
        """A short text that differs whenever the results or the problem do."""
        return _hash((self.stamp, self.problem))


@dataclass(frozen=True)
class Saved:
    """A saved result in a folder."""

    name: str
    """The name of its file; bytes that are not UTF-8 are escaped."""
    path: Path
    kind: str
    modified: float
    size: int

    @property
    def time(self) -> str:
        """Modification time of the file, in UTC."""
        return datetime.fromtimestamp(self.modified, UTC).isoformat(sep=" ", timespec="seconds")[:-6]


class Folder:
    """A folder of saved results: its own files only, without those that links lead to elsewhere."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve(strict=True)
        self._kinds: dict[tuple[Path, object], str | None] = {}

    def list(self) -> tuple[Saved, ...]:
        """Return the saved results, the newest first; other files are left out."""
        try:
            entries = [(entry.name, Path(entry.path)) for entry in os.scandir(self.path)]
        except OSError:
            return ()  # the folder itself is gone
        results = [saved for name, path in entries if (saved := self._read(name, path))]
        return tuple(sorted(results, key=lambda saved: (-saved.modified, saved.name)))

    def _read(self, name: str, path: Path) -> Saved | None:
        if not name.endswith(ENDINGS) or name.startswith("."):
            return None
        try:
            file = path.resolve(strict=True)
            if not file.is_relative_to(self.path) or not file.is_file():
                return None
            status = file.stat()
        except (OSError, RuntimeError):
            return None  # removed meanwhile, or a loop of links
        key = (file, _stamp(file))
        if key not in self._kinds:
            self._kinds[key] = find_kind(file)
        kind = self._kinds[key]
        if kind is None or kind not in RESULTS:
            return None
        shown = os.fsencode(name).decode(errors="backslashreplace")
        return Saved(shown, file, kind, status.st_mtime, status.st_size)


class Live:
    """The newest state of every input that was asked for; every method may be called from any thread."""

    def __init__(self, source: Mapping[str, Input] | Folder) -> None:
        self.folder = source if isinstance(source, Folder) else None
        """The folder whose results are listed; None if inputs were named."""
        self._inputs: Mapping[str, Input] = {} if isinstance(source, Folder) else source
        self._listed: tuple[Saved, ...] = ()
        self._states: OrderedDict[str, State] = OrderedDict()
        self._shown: dict[str, Input] = {}
        self._changed: dict[str, Stamp] = {}
        self._lock = Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs; of a folder, those it had when it was last listed."""
        return tuple(self._inputs)

    def list(self) -> Sequence[Saved]:
        """Return the saved results of the folder, the newest first."""
        if self.folder is not None:
            self._listed = self.folder.list()
            self._inputs = {saved.name: saved_input(saved.name, saved.path) for saved in self._listed}
        return self._listed

    def read(self, name: str) -> State:
        """Return the newest good results of an input; raise what is wrong with it if there are none."""
        with self._lock:
            if name not in self._states:
                source = self._find(name)
                stamp = source.stamp()  # before it is read: a change meanwhile is seen at the next check
                self._states[name] = State(source.load(), stamp)
                self._shown[name] = source
            self._states.move_to_end(name)
            while self.folder is not None and len(self._states) > KEPT:
                dropped, _ = self._states.popitem(last=False)
                del self._shown[dropped]
            return self._states[name]

    def version(self, *names: str) -> str:
        """Return a text that differs whenever what is shown of these inputs does; without names, of all or the list."""
        if self.folder is not None and not names:
            return _hash([(saved.name, saved.modified, saved.size) for saved in self._listed])
        return "-".join(map(self._find_version, names or self._inputs))

    def check(self) -> None:
        """List the folder again, and read every input whose files have changed and are no longer being written."""
        self.list()
        for name, shown in list(self._shown.items()):
            stamp, state = shown.stamp(), self._states.get(name)
            if state is None or stamp == state.stamp:
                self._changed.pop(name, None)
            elif self._changed.get(name) == stamp:
                self._read_again(shown, stamp, state)
            else:
                self._changed[name] = stamp

    def _read_again(self, shown: Input, stamp: Stamp, old: State) -> None:
        try:
            state = State(shown.load(), stamp)
        except (JudgedError, OSError) as error:
            state = replace(old, stamp=stamp, problem=describe(error))
        except Exception as error:  # noqa: BLE001 - a bug must not end the viewer either
            problem = f"judged failed unexpectedly: {type(error).__name__}: {error}"
            state = replace(old, stamp=stamp, problem=problem)
        with self._lock:
            if shown.name in self._states:
                self._states[shown.name] = state

    def _find(self, name: str) -> Input:
        if name not in self._inputs:
            self.list()
        if name not in self._inputs:
            raise UnknownName("result", name, list(self._inputs))
        return self._inputs[name]

    def _find_version(self, name: str) -> str:
        state = self._states.get(name)
        if state is None:
            source = self._inputs.get(name)
            return "absent" if source is None else State((), source.stamp()).version
        return state.version


def describe(error: JudgedError | OSError) -> str:
    """Return the words of an error; bytes of file names that are not UTF-8 are escaped."""
    return str(error).encode(errors="backslashreplace").decode()


def _hash(value: object) -> str:
    return hash_text(repr(value))[:24]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _list_files(path: Path) -> Iterator[Path]:
    """Yield a file itself, or the files of a folder."""
    if path.is_dir():
        yield from sorted(islice((file for file in path.rglob("*") if file.is_file()), MOST_FILES))
    else:
        yield path
