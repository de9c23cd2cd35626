"""BEIR: a folder with `qrels/test.tsv`, whose header is `query-id corpus-id score`."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from judged.errors import Unreadable, Unwritable
from judged.io.delimited import TSV, write_table
from judged.io.open import File
from judged.io.sniff import Format, Kind, Writing
from judged.problem import Problem, Problems

SPLITS = ("test", "dev", "train")
"""The split that is read where there are several: the first of these."""
HEADER = ("query-id", "corpus-id", "score")


def find_split(folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the judgments of a data set's folder (the test split, else dev, else train), and notes."""
    splits = [split for split in SPLITS if (folder / "qrels" / f"{split}.tsv").is_file()]
    if not splits:
        msg = f"{folder} is a folder without qrels/test.tsv, expected a file or the folder of a BEIR data set"
        raise Unreadable(msg, hint=_list_files(folder))
    notes: tuple[str, ...] = ()
    if len(splits) > 1 or splits[0] != "test":
        notes = (f"of {folder.name}, the split {splits[0]} was taken; there: {', '.join(splits)}",)
    return folder / "qrels" / f"{splits[0]}.tsv", notes


def _write(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write `query-id corpus-id score`, separated by tabs; grades must be whole, as BEIR reads them."""
    import pyarrow.compute as pc

    for column in ("target", "intent"):
        if column in table.column_names:
            message = f"its judgments have no column for the {column}"
            problem = Problem.error("no-such-column", "BEIR", message)
            raise Unwritable(writing.name, [problem], hint="write JSONL, CSV, TSV, Parquet or Arrow")
    grades = table["grade"].to_numpy()
    problems = Problems(writing.name)
    rows = np.flatnonzero(grades != np.trunc(grades))
    problems.add_rows("fraction", rows, lambda row: f"grade is {grades[row]}, expected a whole number")
    problems.raise_if_any(hint="write TSV, which holds fractions", error=Unwritable)
    whole = table.set_column(2, "grade", pc.cast(table["grade"], "int64"))
    write_table(whole, sink, delimiter="\t", header=HEADER)


def _kind(file: File) -> Kind:  # noqa: ARG001 - one seam for all formats
    return "judgments"


def _list_files(folder: Path) -> str | None:
    try:
        names = sorted(file.name for file in folder.iterdir() if file.is_file())
    except OSError:
        return None
    return f"files in it: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}" if names else None


FORMAT = Format("beir", "BEIR", TSV.read, _write, kind=_kind, holds=lambda schema: schema.name == "judgments")
