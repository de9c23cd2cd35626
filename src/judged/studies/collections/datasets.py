"""Data sets by name: of ir_datasets, and of Hugging Face and MTEB as far as they are in the local cache.

    ir_datasets:beir/scifact/test      hf:mteb/scifact      mteb:SciFact

Nothing of Hugging Face is downloaded here: an error says the command that does it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judged.errors import Unreadable
from judged.io.ir_datasets import PREFIXES, find_folder_or_dataset
from judged.io.read import read_judgments
from judged.io.texts import Text, read_documents, read_queries
from judged.tables.judgments import Judgments

HUB = "hf:"
TASK = "mteb:"
SPLITS = ("test", "dev", "validation", "train")
"""The split that is read where there are several: the first of these."""


@dataclass(frozen=True)
class Dataset:
    """The parts of a data set."""

    name: str
    documents: Mapping[str, Text]
    queries: Mapping[str, str]
    judgments: Judgments
    notes: tuple[str, ...] = ()


def is_dataset_name(name: str) -> bool:
    """Return whether a text names a data set rather than a folder."""
    return name.startswith((*PREFIXES, HUB, TASK))


def read_dataset(name: str) -> Dataset:
    """Return a data set by its name; raise `Unreadable`, with the way to get it, for one that is not there."""
    if name.startswith(PREFIXES):
        return _read_ir_datasets(name)
    if name.startswith(TASK):
        path, revision = _find_task(name.removeprefix(TASK))
        return _read_snapshot(name, path, revision)
    return _read_snapshot(name, name.removeprefix(HUB), None)


def check_dataset(name: str) -> None:
    """Raise `Unreadable` for a data set that is not in the local cache; what ir_datasets has, it knows when it is read."""
    if name.startswith(TASK):
        _find_snapshot(name, *_find_task(name.removeprefix(TASK)))
    elif name.startswith(HUB):
        _find_snapshot(name, name.removeprefix(HUB), None)


def _read_ir_datasets(name: str) -> Dataset:
    source: Any = find_folder_or_dataset(name)
    lacking = [part for part in ("docs", "queries", "qrels") if not getattr(source, f"has_{part}")()]
    if lacking:
        msg = f"`{name}` has no {' and no '.join(lacking)}, expected documents, queries and judgments"
        raise Unreadable(msg, hint="many data sets have them under the name of a split, such as `…/test`")
    try:
        documents = {str(document.doc_id): Text("", _text_of(document)) for document in source.docs_iter()}
        queries = {str(query.query_id): _text_of(query) for query in source.queries_iter()}
        judgments = read_judgments(source)
    except (OSError, RuntimeError) as error:  # a download that fails has many types; all are of these
        msg = f"`{name}` cannot be read: {error}"
        raise Unreadable(msg, hint="`ir_datasets` downloads it on first use, if it may") from None
    return Dataset(name, documents, queries, judgments)


def _text_of(record: Any) -> str:
    """Return the text of a document or query: what ir_datasets takes for it, or all its texts."""
    default = getattr(record, "default_text", None)
    if callable(default):
        return str(default())
    texts = [
        value
        for name, value in record._asdict().items()
        if not name.endswith("_id") and isinstance(value, str)
    ]
    return "\n".join(texts)


def _find_task(task: str) -> tuple[str, str | None]:
    """Return the data set and the revision of a task of MTEB."""
    if find_spec("mteb") is None:
        # the convention of MTEB's own copies; the package knows the others, and their revisions
        return f"mteb/{task.lower()}", None
    try:
        described = import_module("mteb").get_task(task).metadata.dataset
    except (LookupError, ValueError) as error:  # releases differ
        msg = f"mteb has no task `{task}`: {error}"
        raise Unreadable(msg) from None
    return str(described["path"]), described.get("revision")


def find_hub_cache(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder in which Hugging Face's tools keep what they download, by the variables that they read.

    >>> find_hub_cache({"HF_HOME": "/data/hf"}).as_posix()
    '/data/hf/hub'
    """
    known = os.environ if environment is None else environment
    if known.get("HF_HUB_CACHE"):
        return Path(known["HF_HUB_CACHE"])
    home = known.get("HF_HOME") or Path(known.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    return Path(home) / "hub"


def _read_snapshot(name: str, path: str, revision: str | None) -> Dataset:
    """Return the data set of a snapshot in the local cache, in the layouts of BEIR and MTEB."""
    folder = _find_snapshot(name, path, revision)
    parts = {part: _find_files(folder, names) for part, names in _LAYOUT.items()}
    missing = [part for part, files in parts.items() if not files]
    if missing:
        there = ", ".join(
            sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())[:8]
        )
        msg = f"`{name}` has no {' and no '.join(missing)} in {folder}"
        raise Unreadable(msg, hint=f"there: {there or 'nothing'}; {_advise(path)}")
    documents = _unite(parts["corpus"], lambda file: read_documents(str(file), keep_empty=True))
    queries = _unite(parts["queries"], lambda file: read_queries(str(file)))
    split = _choose_split(parts["judgments"])
    tables = [read_judgments(str(file)) for file in split]
    judgments = tables[0] if len(tables) == 1 else _join(tables, name)
    note = f"{name}: snapshot {folder.name[:12]}, judgments of {', '.join(file.name for file in split)}"
    return Dataset(path, documents, queries, judgments, (note,))


_LAYOUT = {
    "corpus": ("corpus.jsonl*", "corpus/*.parquet", "corpus/*.jsonl*"),
    "queries": ("queries.jsonl*", "queries/*.parquet", "queries/*.jsonl*"),
    "judgments": ("qrels/*.tsv", "qrels/*.parquet", "default/*.parquet", "data/*.parquet", "qrels/*.jsonl*"),
}
"""Where snapshots have their parts: as BEIR's folders, or as MTEB writes them."""


def _find_snapshot(name: str, path: str, revision: str | None) -> Path:
    place = find_hub_cache() / f"datasets--{path.replace('/', '--')}"
    reference = place / "refs" / "main"
    wanted = revision or (reference.read_text().strip() if reference.is_file() else "")
    folders = sorted(folder for folder in (place / "snapshots").glob("*") if folder.is_dir())
    if wanted:
        folders = [folder for folder in folders if folder.name == wanted]
    if len(folders) != 1:
        got = f"{len(folders)} snapshots of it" if folders else "no snapshot of it"
        at = f" at {revision}" if revision else ""
        msg = f"`{name}` is not in the cache of Hugging Face: {find_hub_cache()} has {got}{at}"
        raise Unreadable(msg, hint=_advise(path, revision))
    return folders[0]


def _advise(path: str, revision: str | None = None) -> str:
    at = f" --revision {revision}" if revision else ""
    return f"download it with `hf download {path} --repo-type dataset{at}`"


def _find_files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return next((files for pattern in patterns if (files := sorted(folder.glob(pattern)))), [])


def _choose_split(files: list[Path]) -> list[Path]:
    """Return the files of the test split, else of the next that there is; all of them if no name says a split."""
    for split in SPLITS:
        chosen = [file for file in files if file.name.startswith(split)]
        if chosen:
            return chosen
    return files


def _unite(files: list[Path], read: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
    """Return what several files hold, as shards of one table."""
    return {key: value for file in files for key, value in read(file).items()}


def _join(tables: list[Judgments], name: str) -> Judgments:
    columns = [table.to_arrow().to_pydict() for table in tables]
    query, document, grade = (
        [value for column in columns for value in column[name]] for name in ("query", "document", "grade")
    )
    return Judgments.from_columns(query, document, grade, name=name)
