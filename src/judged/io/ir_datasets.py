"""Data sets of the package ir_datasets, by their ids: `irds:beir/scifact/test`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judged._optional import need
from judged.errors import Unreadable
from judged.tables.schema import Schema

PREFIXES = ("irds:", "ir_datasets:")


def find_folder_or_dataset(source: str) -> object:
    """Return the folder or the data set that a text names; None if it names a file."""
    identity = next((source.removeprefix(prefix) for prefix in PREFIXES if source.startswith(prefix)), None)
    if identity is not None:
        dataset = _load(identity)
        if dataset is None:
            msg = f"ir_datasets has no data set `{identity}`"
            raise Unreadable(msg, hint="`ir_datasets list` prints the ids that it has")
        return dataset
    try:
        if Path(source).is_dir():
            return Path(source)
        exists = source == "-" or Path(source).exists()
    except (OSError, ValueError):  # a text that no path can be, such as one with a zero byte
        return None
    return None if exists or find_spec("ir_datasets") is None else _load(source)


def is_dataset(source: object) -> bool:
    """Return whether this is a data set of ir_datasets."""
    return hasattr(source, "dataset_id") and hasattr(source, "has_qrels")


def iterate(dataset: Any, schema: Schema) -> Iterable[Any]:
    """Return the judgments of a data set, or the scored documents that it has for re-ranking, as tuples."""
    judgments = schema.name == "judgments"
    if not (dataset.has_qrels() if judgments else dataset.has_scoreddocs()):
        msg = (
            f"the data set `{dataset.dataset_id()}` has no {'judgments' if judgments else 'scored documents'}"
        )
        raise Unreadable(msg)
    rows: Iterable[object] = dataset.qrels_iter() if judgments else dataset.scoreddocs_iter()
    return rows


def _load(identity: str) -> object:
    package = need("ir_datasets", extra="ir-datasets", needed_by=f"the data set `{identity}`")
    try:
        return package.load(identity)
    except KeyError:
        return None
