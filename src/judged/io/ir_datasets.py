"""Data sets of the package ir_datasets, by their ids: `irds:beir/scifact/test`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from judged._optional import need
from judged.errors import Unreadable
from judged.io import tuples
from judged.io.format import Kind
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["PREFIXES", "dataset_id", "find", "is_dataset", "open_dataset", "read_judgments", "read_run"]

PREFIXES = ("irds:", "ir_datasets:")


def dataset_id(source: str) -> str | None:
    """The id after the prefix; None if there is no prefix."""
    return next((source.removeprefix(each) for each in PREFIXES if source.startswith(each)), None)


def find(source: str) -> Any:
    """The data set that a bare id names, if the package is installed and knows it; else None."""
    if find_spec("ir_datasets") is None:
        return None
    return _load(source)


def open_dataset(identity: str) -> Any:
    """The data set of that id."""
    found = _load(identity)
    if found is None:
        msg = f"ir_datasets has no data set `{identity}`"
        raise Unreadable(msg, hint="`ir_datasets list` prints the ids that it has")
    return found


def is_dataset(source: Any) -> bool:
    """Whether this is a data set as ir_datasets hands them out."""
    return hasattr(source, "dataset_id") and hasattr(source, "has_qrels")


def read_judgments(dataset: Any, *, name: str, intents: bool = False) -> Judgments:
    """The judgments of a data set."""
    _refuse_without(dataset.has_qrels(), name, "judgments")
    return tuples.read_judgments(dataset.qrels_iter(), name=name, intents=intents)


def read_run(dataset: Any, *, name: str) -> Run:
    """The scored documents that a data set brings for re-ranking, as a run."""
    _refuse_without(dataset.has_scoreddocs(), name, "run")
    return tuples.read_run(dataset.scoreddocs_iter(), name=name)


def _load(identity: str) -> Any:
    package = need("ir_datasets", extra="ir-datasets", needed_by=f"the data set `{identity}`")
    try:
        return package.load(identity)
    except KeyError:
        return None


def _refuse_without(there: bool, name: str, kind: Kind) -> None:  # noqa: FBT001 - the question's answer
    if not there:
        what = "judgments" if kind == "judgments" else "scored documents"
        msg = f"the data set `{name}` has no {what}"
        raise Unreadable(msg)
