"""Every file format by name, each imported when asked for."""

from __future__ import annotations

from judged.formats.format import Format
from judged.registry import Registry

__all__ = ["FORMATS", "by_extension"]

FORMATS: Registry[Format] = Registry("format")
FORMATS.add("trec", "judged.formats.trec:FORMAT")
FORMATS.add("jsonl", "judged.formats.jsonl:FORMAT")
FORMATS.add("json", "judged.formats.json:FORMAT")
FORMATS.add("csv", "judged.formats.csv:FORMAT")
FORMATS.add("tsv", "judged.formats.csv:TSV")
FORMATS.add("parquet", "judged.formats.parquet:FORMAT")
FORMATS.add("arrow", "judged.formats.arrow:FORMAT")
FORMATS.add("beir", "judged.formats.beir:FORMAT")


def by_extension(extension: str) -> str | None:
    """The name of the format whose files end so; None if none does."""
    return next((name for name in FORMATS if extension in FORMATS[name].extensions), None)
