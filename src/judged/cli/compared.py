"""A comparison in every format, for the commands that make one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.cli.inputs import digest
from judged.cli.output import fitted, laid_out

if TYPE_CHECKING:
    from judged.blocks import Table
    from judged.comparison.comparison import Comparison

__all__ = ["rendered_comparison"]


def rendered_comparison(
    comparison: Comparison,
    kind: str,
    inputs: list[tuple[str, str]],
    *,
    per_query: bool,
    digits: int,
    also: tuple[str, ...] = (),
    rope: float = 0.01,
    bold: bool = False,
    title: str | None = None,
) -> str | bytes:
    """The comparison in a format, under a title where people read it; those of one table have the differences, every number in full."""
    from judged.comparison.further import further, rows_of
    from judged.report.data import to_delimited, to_json, to_json_lines, to_parquet
    from judged.result import table_to_arrow

    if kind in {"table", "markdown", "latex"}:
        tables = [*_tables(comparison, kind, title, per_query=per_query, digits=digits)]
        tables += [table for name in also for table in further(comparison, name, rope=rope, digits=digits)]
        return "\n".join(laid_out(table, kind, digits=digits, bold=bold) for table in tables)
    if kind == "json":
        told = {"further": {name: rows_of(comparison, name, rope=rope) for name in also}} if also else {}
        return to_json({**_document(comparison, inputs, per_query=per_query), **told})
    table = comparison.table("queries" if per_query else "differences")
    if kind == "jsonl":
        return to_json_lines(table_to_arrow(table).to_pylist())
    if kind == "parquet":
        return to_parquet(table_to_arrow(table), about=_about(comparison))
    return to_delimited(table_to_arrow(table), delimiter="," if kind == "csv" else "\t")


def _tables(
    comparison: Comparison, kind: str, title: str | None, *, per_query: bool, digits: int
) -> Iterator[Table]:
    from judged.comparison.show import query_tables, shown

    first, *others = shown(comparison, superscript=kind == "latex", digits=digits)
    first = replace(first, title=title)
    yield first if kind == "latex" else fitted(first, kind, digits=digits)
    if per_query:
        yield from query_tables(comparison)
    yield from others


def _about(comparison: Comparison) -> dict[str, str]:
    return {"judged.protocol": str(comparison.protocol), "judged.comparison": comparison.method}


def _document(comparison: Comparison, inputs: list[tuple[str, str]], *, per_query: bool) -> dict[str, Any]:
    from judged import __version__

    protocol = comparison.protocol
    told = {} if protocol is None else {"fingerprint": protocol.fingerprint, **protocol.to_dict()}
    files = [{"role": role, "path": path, "sha256": digest(path)} for role, path in inputs]
    return {
        "judged": __version__,
        "protocol": told,
        "inputs": files,
        **comparison.to_dict(per_query=per_query),
    }
