"""Gathers what is to be labelled: from a run with texts beside it, or from the traces of agents."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from judged.dedup.rules import Rules, Unit
from judged.errors import BadProtocol, JudgedError
from judged.io.open import is_number_text
from judged.io.read import is_file, kind_of, open_source
from judged.label.from_run import pool_of_run
from judged.label.from_trace import pool_of_trace
from judged.label.pool import Pool, Source
from judged.tables.run import Run
from judged.tables.sessions import Sessions
from judged.traces.results.search_tools import Tools
from judged.traces.turn_choice import TurnChoice

__all__ = ["gather"]


def gather(
    source: Any,
    *,
    kind: Source | None = None,
    queries: Any = None,
    docs: Any = None,
    judged: Any = None,
    relabel: bool = False,
    depth: int | None = None,
    unit: Unit = "document",
    tools: Tools | str | Path | None = None,
    trace_format: str | None = None,
    turn: TurnChoice = "last",
    lenient: bool = False,
) -> Pool:
    """The results of runs or of traces that are to be labelled, each once; `kind` says which, where nothing tells.

    `source` is one of them, or a list or tuple of several.
    """
    sources = _several(source)
    if depth is not None and depth < 1:
        msg = f"the depth is {depth}, expected 1 or more"
        raise BadProtocol(msg)
    shared = {"queries": queries, "docs": docs, "judged": judged, "depth": depth, "lenient": lenient}
    kinds = {kind or ("trace" if trace_format else _kind(each)) for each in sources}
    if len(kinds) > 1:
        raise BadProtocol("runs and traces are labelled apart", hint="say what they are with `--kind`")
    if kinds == {"trace"}:
        return pool_of_trace(
            sources,
            **shared,
            trace_format=trace_format,
            turn=turn,
            relabel=relabel,
            rules=Rules(unit=unit),
            tools=tools,
        )
    missing = [name for name in ("queries", "docs") if shared[name] is None]
    if missing:
        msg = f"a run holds ids alone, and `{missing[0]}` are not given"
        raise BadProtocol(msg, hint="give the texts: `--queries FILE --docs FILE`")
    return pool_of_run(sources, **shared)


def _several(source: Any) -> list[Any]:
    """The sources that were given; a list of objects is one trace in memory."""
    many = isinstance(source, list | tuple) and all(
        isinstance(each, str | bytes | PathLike | Run | Sessions) for each in source
    )
    return list(source) if many else [source]


def _kind(source: Any) -> Source:
    """What a source is: whatever reads as a run is one, all else is traces."""
    if isinstance(source, Run | Mapping | Sessions):
        return "trace" if isinstance(source, Sessions) else "run"
    if not is_file(source) or hasattr(source, "read"):  # an open file can be read only once
        return "trace"
    try:
        return "run" if kind_of(source) == "run" and not _is_prose(source) else "trace"
    except JudgedError:  # no format of runs
        return "trace"


def _is_prose(source: Any) -> bool:
    """Whether a text that is in no other format has words where runs have scores, as the logs of agents do."""
    opened = open_source(source, None)
    if not isinstance(opened, tuple) or opened[1].name != "trec":
        return False
    rows = (line.split() for line in opened[0].head().splitlines())
    first: list[bytes] = next((row for row in rows if row), [])
    return len(first) < 5 or not is_number_text(first[4])
