"""Every file format by name, each imported when asked for."""

from __future__ import annotations

from judged.io.format import Format
from judged.registry import Registry

__all__ = ["FORMATS", "by_extension"]

FORMATS: Registry[Format] = Registry("format")
FORMATS.add("trec", "judged.io.trec:FORMAT")
FORMATS.add("jsonl", "judged.io.jsonl:FORMAT")
FORMATS.add("json", "judged.io.json:FORMAT")
FORMATS.add("csv", "judged.io.csv:FORMAT")
FORMATS.add("tsv", "judged.io.csv:TSV")
FORMATS.add("parquet", "judged.io.parquet:FORMAT")
FORMATS.add("arrow", "judged.io.arrow:FORMAT")
FORMATS.add("beir", "judged.io.beir:FORMAT")


def by_extension(extension: str) -> str | None:
    """The name of the format whose files end so; None if none does."""
    return next((name for name in FORMATS if extension in FORMATS[name].extensions), None)
