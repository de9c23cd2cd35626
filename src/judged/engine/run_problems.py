"""Runs that cannot be scored: what the kernel stumbled over, told with file and line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from judged.errors import SHOWN, BadInput
from judged.kernels.scan.align import Aligned, Place
from judged.kernels.scan.scanner import FEW_COLUMNS, KINDS, NAN, NOT_NUMBER
from judged.problem import Problem
from judged.tables.run import Columns, Run, Text

__all__ = ["refuse"]


def refuse(aligned: Aligned, run: Run) -> None:
    """Raise `BadInput` with all faults of the run, if it has any."""
    if not aligned.counts:
        return
    source, subject = run.source, run.name
    if isinstance(source, Text):
        subject, faults = source.file, [_in_text(source, fault) for fault in aligned.faults[:SHOWN]]
    elif isinstance(source, Columns):
        faults = [_in_columns(source, fault) for fault in aligned.faults[:SHOWN]]
    else:
        faults = _in_mappings(source.mapping)
    raise BadInput(subject, faults, counts=aligned.counts, hint=_hint(aligned))


def _hint(aligned: Aligned) -> str | None:
    if KINDS[FEW_COLUMNS] in aligned.counts:
        return "a run has six columns: query, Q0, document, rank, score, tag"
    return None


def _in_text(source: Text, fault: Place) -> Problem:
    """A fault of a text, with the line it is on."""
    where = source.place(fault.place)
    if fault.kind == KINDS[FEW_COLUMNS]:
        return Problem.error(
            fault.kind, where, f"{fault.detail} column{'s' if fault.detail != 1 else ''}, expected 6"
        )
    if fault.kind in {KINDS[NOT_NUMBER], KINDS[NAN]}:
        token = bytes(source.buffer[fault.place : fault.place + fault.detail]).decode(errors="replace")
        return Problem.error(fault.kind, where, f"score is `{token}`, expected a number")
    document = (
        bytes(source.buffer[fault.place : fault.place + 4096]).split(None, 1)[0].decode(errors="replace")
    )
    first = source.place(fault.detail)
    return Problem.error(
        fault.kind, where, f"document `{document}` is retrieved again for its query, first at {first}"
    )


def _in_columns(source: Columns, fault: Place) -> Problem:
    """A fault of columns, with its row; places are counted in bytes of the documents' column."""
    row = _row(source, fault.place)
    where = source.place(row)
    what = f"document `{source.document[row]}` of query `{source.query[row]}`"
    if fault.kind == KINDS[NAN]:
        return Problem.error(fault.kind, where, f"the score of {what} is NaN, expected a number")
    first = source.place(_row(source, fault.detail))
    return Problem.error(fault.kind, where, f"{what} is retrieved again, first at {first}")


def _row(source: Columns, place: int) -> int:
    _, offsets, _ = source.document.buffers()
    cuts = np.frombuffer(offsets, dtype=np.int64)[source.document.offset :]
    return int(np.searchsorted(cuts, place, "right")) - 1


def _in_mappings(mapping: Any) -> list[Problem]:
    """The first scores of a dict that are NaN."""
    faults: list[Problem] = []
    for query, scores in mapping.items():
        faults += [
            Problem.error(
                KINDS[NAN], f"query `{query}`, document `{document}`", "score is NaN, expected a number"
            )
            for document, score in scores.items()
            if math.isnan(score)
        ]
        if len(faults) >= SHOWN:
            break
    return faults
