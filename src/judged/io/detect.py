"""Which format a file has: by its first bytes, then by its name, then by its first line."""

from __future__ import annotations

import msgspec

from judged.io import arrow, csv, parquet
from judged.io.catalogue import FORMATS, by_extension
from judged.io.format import File, Format
from judged.io.records import is_record
from judged.io.text import BOM, is_number_text

__all__ = ["detect"]


def detect(file: File) -> Format:
    """The format of a file; TREC text where nothing says otherwise."""
    head = file.head()
    if head.startswith(parquet.MAGIC):
        return FORMATS["parquet"]
    if head.startswith(arrow.MAGICS):
        return FORMATS["arrow"]
    named = by_extension(file.extension) if file.extension else None
    text = head.removeprefix(BOM).lstrip()
    if named in {None, "json", "jsonl"} and text[:1] in {b"{", b"["}:
        return FORMATS[_json(text)]
    if named in {None, "csv", "tsv"}:
        return FORMATS[_delimited(file, named, text)]
    return FORMATS[named]


def _json(text: bytes) -> str:
    """JSONL if the first line is an object that stands alone, JSON if the object or list goes on."""
    first, _, rest = text.partition(b"\n")
    try:
        value = msgspec.json.decode(first)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "jsonl" if first.rstrip().endswith(b"}") and rest.lstrip()[:1] == b"{" else "json"
    return "jsonl" if is_record(value) or rest.strip() else "json"


def _delimited(file: File, named: str | None, text: bytes) -> str:
    """CSV or TSV if the first line names columns; MS MARCO's .tsv files without names are TREC text."""
    if b"\0" in text or not text:
        return named or "trec"
    if csv.header_of(file):
        return named or "csv"
    fields = text.partition(b"\n")[0].split()
    bare = len(fields) >= 4 and (is_number_text(fields[3]) or len(fields) >= 6)
    return named if named is not None and not bare else "trec"
