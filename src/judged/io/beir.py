"""BEIR: a folder with `qrels/test.tsv`, whose header is `query-id corpus-id score`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow.compute as pc

from judged.errors import Unreadable, Unwritable
from judged.io.csv import read_judgments, write_table
from judged.io.files import open_file
from judged.io.format import File, Format, Kind
from judged.problem import Problem, Problems
from judged.tables.judgments import Judgments

__all__ = ["FORMAT", "read_folder"]

SPLITS = ("test", "dev", "train")
"""The split that is taken where several are there: the first of these."""
HEADER = ("query-id", "corpus-id", "score")


def read_folder(folder: Path) -> Judgments:
    """The judgments of a data set's folder: the test split, else dev, else train."""
    there = [split for split in SPLITS if (folder / "qrels" / f"{split}.tsv").is_file()]
    if not there:
        msg = f"{folder} is a folder without qrels/test.tsv, expected a file or the folder of a BEIR data set"
        raise Unreadable(msg, hint=_files_in(folder))
    read = read_judgments(open_file(folder / "qrels" / f"{there[0]}.tsv"))
    notes = read.notes
    if len(there) > 1 or there[0] != "test":
        notes = (*notes, f"of {folder.name}, the split {there[0]} was taken; there: {', '.join(there)}")
    return replace(read, name=folder.resolve().name, notes=notes)


def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
    """Write `query-id corpus-id score`, separated by tabs; grades must be whole, as BEIR reads them."""
    table = judgments.to_arrow()
    if judgments.by_intent:
        column = "target" if judgments.intents is None else "intent"
        fault = Problem.error(f"{column}s", "BEIR", f"its judgments have no column for the {column}")
        raise Unwritable(judgments.name, [fault], hint="write JSONL, CSV, TSV, Parquet or Arrow")
    grades = table["grade"].to_numpy()
    faults = Problems(judgments.name)
    rows = np.flatnonzero(grades != np.trunc(grades))
    faults.add_rows("fractions", rows, lambda row: f"grade is {grades[row]}, expected a whole number")
    faults.raise_if_any(hint="write TSV, which holds fractions", error=Unwritable)
    whole = table.set_column(2, "grade", pc.cast(table["grade"], "int64"))
    write_table(whole, sink, delimiter="\t", header=HEADER)


def _judgments(file: File) -> Kind:  # noqa: ARG001 - one seam for all formats
    return "judgments"


def _files_in(folder: Path) -> str | None:
    try:
        names = sorted(each.name for each in folder.iterdir() if each.is_file())
    except OSError:
        return None
    return f"files in it: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else None


FORMAT = Format(
    name="beir",
    title="BEIR",
    read_judgments=read_judgments,
    kind=_judgments,
    write_judgments=write_judgments,
)
