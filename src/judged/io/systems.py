"""Systems in files: what a path stands for, in every command and in Python.

One rule, wherever runs are named:

- A file is one system, called after the file. A table with a column `system` has the systems that the column names.
- A folder or a pattern is several systems, one per file, with everything below the folder, in natural order (`run2` before
  `run10`).
- A data set is one table, called after its folder: files of Parquet or Arrow whose names are those of parts (`part-0001`,
  `00000-of-00002`, `0`), or in folders such as `system=bm25`. Parts of text are refused until it is said what they are.
- With a name (`bm25=PATTERN`, or a mapping in Python), or with `--join` (`join=True`), all files of a folder or a pattern are
  one system; so are files of one folder that are named one by one, as a shell names those of a pattern. Of a table with a
  column `system`, a name chooses one.
- Names that begin with `.` or `_` are not looked at. A file that says that it is something else, by its extension or name
  (README, Markdown, pictures) or by its content (judgments, scores, saved results, texts), is left out, with a note. Any other
  file is a run, and what cannot be read as one is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from judged.errors import BadInput, JudgedError, UnknownName, Unreadable
from judged.io.open import BOM, File, Joined, is_number_text, is_path, name_files, split_name
from judged.io.sniff import Format, detect, kind_of_columns
from judged.problem import NAMED, Note, Problem
from judged.store.remote import StoredFile, has_pattern, is_remote, list_files
from judged.tables.schema import RUN, SCORES
from judged.wording import counted, name_some

TABLES = {".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"}
"""Extensions of files that can be parts of a data set."""
_PART = re.compile(r"(?:part|shard)[-_.]?\d.*|.*-\d+-of-\d+", re.IGNORECASE)
"""Names that programs give to parts of one table."""
_TABLE_PART = re.compile(r"data[-_.]?\d+|\d+|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}.*", re.IGNORECASE)
"""Further ones, which programs give to tables alone."""
_OTHER_NAMES = re.compile(r"(?:readme|licen[cs]e|changelog|copying|makefile)(?:[-_.].*)?", re.IGNORECASE)
_OTHER_KINDS = {
    **dict.fromkeys((".md", ".rst", ".html", ".htm", ".pdf", ".tex", ".doc", ".docx"), "document"),
    **dict.fromkeys((".qrels", ".qrel"), "judgments"),
    **dict.fromkeys((".png", ".svg", ".jpg", ".jpeg", ".gif"), "picture"),
    **dict.fromkeys(
        (".py", ".sh", ".ipynb", ".yaml", ".yml", ".toml", ".log", ".xml"), "program or settings"
    ),
}
"""Extensions of files that are not tables, and what they are called."""
_NUMBERS = re.compile(r"([0-9]+)")
_SAVED = re.compile(rb'\s*\{\s*"schema":\s*"judged\.')


@dataclass(frozen=True, eq=False)
class System:
    """A system to be evaluated: its name, where its results are, and the path as the user wrote it."""

    name: str | None
    """None: the table has one, or none is known."""
    source: Any
    """A path, a data set, or an object in memory."""
    named: bool = False
    """Whether the user gave the name, which then chooses among several systems of a table."""
    notes: tuple[Note, ...] = ()
    """Notes on files that were left out."""

    @property
    def path(self) -> str:
        """The file, folder or pattern in messages; `-` is standard input."""
        return str(self.source)

    def select(self, several: Mapping[str | None, Any]) -> Mapping[str | None, Any]:
        """Return the systems that are meant of those that a table holds, under their names."""
        if len(several) == 1:
            ((own, table),) = several.items()
            return {self.name if own is None or self.named else own: table}
        if not self.named:
            return several
        if self.name not in several:
            kind = f"system in {self.path}"
            raise UnknownName(kind, str(self.name), [str(name) for name in several])
        return {self.name: several[self.name]}


def name_systems(
    sources: Any, *, join: bool = False, runs: Callable[[], bool] = lambda: True
) -> Iterable[System]:
    """Return the systems of a mapping, of one path, or of several sources, each with its name.

    `runs` says whether sources hold runs: only then are folders and patterns looked into. A mapping is not listed at once,
    since it may make its tables when they are asked for.

    >>> [system.name for system in name_systems(["runs/a.run", {"q1": {"d1": 1.0}}])]
    ['a', None]
    """
    if isinstance(sources, Mapping):
        return (_name_one(str(name), source, runs) for name, source in sources.items())
    listed = [sources] if isinstance(sources, str | os.PathLike | System) else list(sources)
    listed = _join_files(listed) if join and runs() else listed
    found = [system for source in listed for system in _expand(source, join=join, runs=runs)]
    paths = [system.path for system in found if system.name is None and is_path(system.source)]
    names = dict(zip(paths, name_files(paths), strict=True))
    return [replace(system, name=names[system.path]) if _is_unnamed(system) else system for system in found]


def find_one_system(source: object, *, name: str | None = None, join: bool = False) -> System:
    """Return the only system of a source; raise `BadInput` if there are several.

    >>> find_one_system("runs/a.run").name
    'a'
    """
    if isinstance(source, System):
        return source
    if name is not None and join is False and is_path(source) and is_collection(source):
        return _name_one(name, source, lambda: True)
    systems = list(name_systems([source], join=join))
    if len(systems) > 1:
        raise refuse_several(str(source), [str(system.name) for system in systems])
    return systems[0] if name is None else replace(systems[0], name=name, named=True)


def refuse_several(label: str, names: Sequence[str], *, hint: str | None = None) -> BadInput:
    """Return the error that one system is expected, and several are there."""
    message = f"holds {len(names):,} systems ({name_some(names, NAMED)}), expected one"
    hint = (
        hint
        or "name one of its files or, if they are parts of one run, join them: `name=PATH` or `--join`, `join=True`"
    )
    return BadInput(label, [Problem.error("several-systems", label, message)], hint=hint)


def is_collection(path: object) -> bool:
    """Return whether a path is a folder, a pattern or a URI, which may stand for several files."""
    if isinstance(path, Joined) or not is_path(path):
        return False
    text = os.fspath(path)
    try:
        return is_remote(text) or has_pattern(text) or Path(text).is_dir()
    except (OSError, ValueError):
        return False


def may_hold_several(source: object) -> bool:
    """Return whether a source may hold several systems: tables may, which have columns, and text may not."""
    if isinstance(source, Joined) or not is_path(source):
        return True
    return split_name(Path(os.fspath(source)))[1] in {*TABLES, ".csv", ".tsv", ".json", ".jsonl", ".ndjson"}


def natural_key(text: str) -> list[tuple[int, str]]:
    """Return what sorts names as people do, with numbers by their value.

    >>> sorted(["run10", "run2", "run1b"], key=natural_key)
    ['run1b', 'run2', 'run10']
    """
    parts = _NUMBERS.split(text)
    return [(int(part), part) if at % 2 else (0, part) for at, part in enumerate(parts)]


def find_system(wanted: str, systems: Mapping[str, str]) -> str | None:
    """Return the name of the system that is meant by its name or by its path, of names with their paths.

    >>> find_system("./runs/a.run", {"a": "runs/a.run"}), find_system("b", {"a": "runs/a.run"})
    ('a', None)
    """
    if wanted in systems:
        return wanted
    place = os.path.normpath(wanted)
    found = [name for name, path in systems.items() if path and os.path.normpath(path) == place]
    return found[0] if len(found) == 1 else None


def find_unlisted(wanted: Iterable[str], paths: Iterable[str], names: Iterable[str] = ()) -> list[str]:
    """Return which of the wanted systems are files that are not listed: neither among the names nor among the paths.

    >>> find_unlisted(["bm25", "runs/a.run", __file__], ["./runs/a.run"]) == [__file__]
    True
    """
    places, known = {os.path.normpath(path) for path in paths}, set(names)
    return [
        text
        for text in dict.fromkeys(wanted)
        if text not in known
        and os.path.normpath(text) not in places
        and not is_bare(text)
        and Path(text).exists()
    ]


def add_unlisted(systems: Any, wanted: Iterable[str], *, join: bool = False) -> Any:
    """Return systems, in any form that `name_systems` takes, with the wanted files that are none of them."""
    files = find_unlisted(wanted, ())
    if not files or (isinstance(systems, Mapping) and not isinstance(systems, dict)):
        return systems  # a mapping of another kind may make its tables when they are asked for
    if isinstance(systems, dict):
        others = find_unlisted(files, map(str, filter(is_path, systems.values())), systems)
        names = zip(name_files(others), others, strict=True)
        return {**systems, **{path if name in systems else name: path for name, path in names}}
    listed = [systems] if isinstance(systems, str | os.PathLike | System) else list(systems)
    found = list(name_systems(listed, join=join))
    others = find_unlisted(files, [system.path for system in found])
    # as systems, the files are not joined with others of their folder
    return [*listed, *((System(None, path) for path in others) if join else others)]


def is_bare(path: str) -> bool:
    """Return whether a text can be the name of a system: it has neither a folder nor an extension."""
    return Path(path).name == path and not Path(path).suffix


def _is_unnamed(system: System) -> bool:
    return system.name is None and is_path(system.source)


def _name_one(name: str, source: object, runs: Callable[[], bool]) -> System:
    """Return one system under the name that the user gave: all files of a folder or a pattern."""
    if is_path(source) and is_collection(source) and runs():
        (joined,) = _expand(source, join=True, runs=runs)
        return replace(joined, name=name, named=True)
    return System(name, source, named=True)


def _join_files(sources: Sequence[Any]) -> list[Any]:
    """Return sources with the files of each folder joined, so that a pattern is the same whether a shell expands it or not."""
    folders: dict[str, list[str]] = {}
    for source in sources:
        if isinstance(source, str | os.PathLike) and is_path(source) and not is_collection(source):
            folders.setdefault(_parent(os.fspath(source)), []).append(os.fspath(source))
    joined: dict[str, Any] = {}
    for source in sources:
        path = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
        own = folders.get(_parent(path), []) if path else []
        if len(own) < 2 or path not in own:
            joined[f"{len(joined)} {path}"] = source
        elif (folder := _parent(path)) not in joined:
            files = sorted(
                (file for name in own for file in list_files(name)), key=lambda file: natural_key(file.path)
            )
            joined[folder] = System(None, Joined(folder, tuple(files)))
    return list(joined.values())


def _expand(source: Any, *, join: bool, runs: Callable[[], bool]) -> Iterator[System]:
    """Yield the systems of one source, those of files without their names."""
    if isinstance(source, System):
        yield source
        return
    if not is_collection(source) or not runs():
        yield System(None, source)
        return
    label = os.fspath(source)
    files = sorted(list_files(label), key=lambda file: natural_key(file.path))
    if (
        len(files) == 1
        and is_remote(label)
        and PurePosixPath(label).name == PurePosixPath(files[0].path).name
    ):
        yield System(None, label)
        return
    chosen, left = _leave_out(files, label)
    notes = tuple(_note_left(label, left))
    if join:
        yield System(None, Joined(label, tuple(chosen)), notes=notes)
        return
    groups = _group_parts(chosen, label)
    for place, members in groups.items():
        parts = _are_parts(members)
        source = Joined(label if len(groups) == 1 else place, tuple(members)) if parts else members[0].label
        joined = [_note_joined(source)] if isinstance(source, Joined) and len(members) > 1 else []
        yield System(None, source, notes=(*notes, *joined))


def _group_parts(files: Sequence[StoredFile], label: str) -> dict[str, list[StoredFile]]:
    """Return the files by what they are part of: a data set by its folder, any other file by itself."""
    groups: dict[str, list[StoredFile]] = {}
    text: dict[str, list[str]] = {}
    for file in files:
        folder = _data_folder(file)
        if folder is None and _PART.fullmatch(_bare(file)):
            text.setdefault(_parent(file.label), []).append(PurePosixPath(file.label).name)
        groups.setdefault(file.label if folder is None else folder, []).append(file)
    for folder, names in text.items():
        if len(names) > 1:
            message = f"holds {counted(len(names), 'file')} that are called like parts of one run ({name_some(names, NAMED)})"
            hint = f"if they are, join them: `--join`, `name={label}`, `join=True`; if they are systems, name each of them"
            raise BadInput(label, [Problem.error("parts", folder, message)], hint=hint)
    return groups


def _are_parts(members: Sequence[StoredFile]) -> bool:
    return _data_folder(members[0]) is not None


def _data_folder(file: StoredFile) -> str | None:
    """Return the folder of the data set that a file is part of; None if it is a table, or a text, of its own."""
    place = PurePosixPath(file.label)
    if _extension(file) not in TABLES:
        return None
    keys = [at for at, name in enumerate(place.parts[:-1]) if re.fullmatch(r"[^=/]+=[^=/]*", name)]
    if keys:
        return str(PurePosixPath(*place.parts[: keys[0]])) if keys[0] else "."
    bare = _bare(file)
    return _parent(file.label) if _PART.fullmatch(bare) or _TABLE_PART.fullmatch(bare) else None


def _parent(label: str) -> str:
    return label.rpartition("/")[0] or "."


def _bare(file: StoredFile) -> str:
    return split_name(Path(PurePosixPath(file.label).name))[0]


def _extension(file: StoredFile) -> str:
    return split_name(Path(PurePosixPath(file.label).name))[1]


def _leave_out(files: Sequence[StoredFile], label: str) -> tuple[list[StoredFile], dict[str, list[str]]]:
    """Return the files that are runs, and those that say that they are something else, by what they are.

    Raises `Unreadable` with what is there if none is a run.
    """
    kept: list[StoredFile] = []
    left: dict[str, list[str]] = {}
    sniffed: dict[str, str] = {}
    for file in files:
        folder = _data_folder(file)
        # of a data set, which may have thousands of files, the first shows what all are
        kind = sniffed.get(folder, "") if folder in sniffed and folder is not None else find_kind(file)
        if folder is not None:
            sniffed[folder] = kind
        if kind == "run":
            kept.append(file)
        else:
            left.setdefault(kind, []).append(PurePosixPath(file.label).name)
    refused = {kind: names for kind, names in left.items() if kind not in _LEFT_OUT}
    if refused or not kept:
        runs = {"run": [PurePosixPath(file.label).name for file in kept]} if kept else {}
        every = "some files that are not runs" if kept else "no run"
        msg = f"{label} holds {every}: {list_kinds({**runs, **left})}"
        hint = "name the runs one by one, or by a pattern that matches no other file" if kept else None
        raise Unreadable(msg, hint=hint)
    return kept, left


def list_kinds(kinds: Mapping[str, Sequence[str]]) -> str:
    """Return what is in a folder: the number of files of each kind, and the first names.

    >>> list_kinds({"run": ["a.run", "b.run"], "document": ["README.md"]})
    '2 runs (a.run and b.run); 1 document (README.md)'
    """
    return "; ".join(
        f"{len(names):,} {_plural(kind, len(names))} ({name_some(names, NAMED)})"
        for kind, names in kinds.items()
    )


def _plural(kind: str, count: int) -> str:
    if count == 1:
        return _LEFT_OUT.get(kind, (kind, ""))[0] or kind
    return _LEFT_OUT.get(kind, ("", ""))[1] or f"{kind}s"


_LEFT_OUT = {
    "document": ("document", "documents"),
    "picture": ("picture", "pictures"),
    "program or settings": ("program or settings file", "programs or settings files"),
    "judgments": ("file of judgments", "files of judgments"),
    "scores": ("file of scores", "files of scores"),
    "saved result": ("saved result", "saved results"),
    "texts": ("file of texts", "files of texts"),
}
"""Kinds of files that say that they are not runs, in the singular and in the plural."""


def _note_left(label: str, left: Mapping[str, Sequence[str]]) -> Iterator[Note]:
    if left:
        yield Note("left-out-files", "info", f"left out of {label}: {list_kinds(left)}")


def _note_joined(joined: Joined) -> Note:
    message = f"{joined} is one data set of {counted(len(joined.files), 'file')}, called like parts"
    return Note("joined-files", "info", message)


def find_kind(stored: StoredFile) -> str:
    """Return what a file holds, as far as its name and its beginning show: `run`, unless it says something else."""
    name = PurePosixPath(stored.label).name
    extension = PurePosixPath(name.lower().removesuffix(".gz")).suffix
    if _OTHER_NAMES.fullmatch(name):
        return "document"
    if extension in _OTHER_KINDS:
        return _OTHER_KINDS[extension]
    from judged.io.stream import read_head

    head = read_head(stored)
    if not head.strip():
        return "run"  # its reader says that it is empty
    lines = head[: head.rfind(b"\n") + 1] or head
    file = File(lines, stored.label, name, _extension(stored))
    if _SAVED.match(head):
        return "saved result"
    format = detect(file, RUN)  # noqa: A001 - what it is
    try:
        return _find_text_kind(file) if format.name == "trec" else _find_table_kind(file, format, stored)
    except (JudgedError, ValueError, KeyError, TypeError):
        return "run"  # its reader says what is wrong


def _find_text_kind(file: File) -> str:
    """Return the kind of TREC text by its first line: a run has six columns and a score, judgments have a fourth, a grade."""
    lines = (line.split() for line in file.head().removeprefix(BOM).splitlines())
    first = next((fields for fields in lines if fields and not fields[0].startswith(b"#")), [])
    if len(first) >= 6 and is_number_text(first[4]):
        return "run"
    judgments = len(first) == 4 and is_number_text(first[3]) and file.extension != ".run"
    return "judgments" if judgments else "other file"


def _find_table_kind(file: File, format: Format, stored: StoredFile) -> str:  # noqa: A002 - what it is
    """Return the kind of a table by its columns."""
    if format.columns is None:
        found = format.kind(file) if format.kind is not None else None
        return found or ("other file" if _is_flat(file.head()) else "run")
    names = _read_columns(stored) if format.name in {"parquet", "arrow"} else format.columns(file)
    lower = {name.strip().lower() for name in names}
    if {"measure", "value"} <= lower and lower & set(SCORES["query"].names):
        return "scores"
    kind = kind_of_columns(names)
    if kind is not None:
        return kind
    if lower & {"text", "contents", "passage", "title"} and not lower & set(RUN["score"].names):
        return "texts"
    try:
        RUN.match(names, subject=file.label)
    except BadInput:
        return "other file"
    return "run"


def _is_flat(head: bytes) -> bool:
    """Return whether JSON is an object of plain values, which neither rows nor nested results are."""
    import msgspec

    try:
        value = msgspec.json.decode(head)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(value, dict) and not any(isinstance(item, dict | list) for item in value.values())


def _read_columns(stored: StoredFile) -> list[str]:
    """Return the names of the columns of a Parquet or Arrow file."""
    import pyarrow as pa
    from pyarrow.dataset import dataset

    extension = "parquet" if _extension(stored) in {".parquet", ".pq"} else "ipc"
    try:
        names: list[str] = dataset([stored.path], filesystem=stored.filesystem, format=extension).schema.names
    except (pa.ArrowException, OSError, ValueError):
        return ["query", "document", "score"]  # damaged: its reader says so
    return names
