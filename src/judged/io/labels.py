"""`read_labels` and `write_labels`: gains of results, in JSONL, CSV, TSV, TREC judgments, data frames and dicts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from judged.errors import BadInput, Unwritable, WrongKind
from judged.io import frames
from judged.io.columns import NAMES as COLUMNS
from judged.io.csv import read_sheet
from judged.io.files import split_name
from judged.io.format import File
from judged.io.jsonl import read_records
from judged.io.lines import read_lines
from judged.io.read import is_file, open_source
from judged.io.trec import text_of_lines
from judged.io.write import write_whole
from judged.problem import Place, Problem, Problems
from judged.tables.judgments import Judgments
from judged.tables.labels import Label, Labels
from judged.tables.session import GRADES

__all__ = ["encode_labels", "read_labels", "write_labels"]

NAMES = {
    "gain": ("gain", *COLUMNS["grade"]),
    "task": ("task", *COLUMNS["query"]),
    "id": ("id", *COLUMNS["document"]),
    "tool": ("tool",),
    "domain": ("domain",),
    "domain_id": ("domain_id",),
    "url": ("url", "link", "href"),
    "title": ("title",),
    "snippet": ("snippet", "text"),
    "labeller": ("labeller", "labeler", "annotator", "judge", "model"),
}
"""For each field of a label, the names it may have, without regard to case; the first one present is taken."""

KEYS = ("id", "domain_id", "url", "title", "snippet")
"""What a result can be known by; a label has one of these at least."""

EXPECTED = f"expected a whole number from {GRADES[0]} to {GRADES[-1]}"


def read_labels(source: Any, *, name: str | None = None) -> Labels:
    r"""Labels of a file, a data frame, judgments, a dict of dicts, or an iterable of labels or dicts.

    A file is JSONL with an object a line, CSV or TSV with a header, or TREC judgments (`query 0 document
    gain`). A dict goes from task to id to gain. Every gain is a whole number from 0 to 4.

    >>> [(label.task, label.url, label.gain) for label in read_labels(b'{"task": "t1", "url": "a.org", "gain": 3}')]
    [('t1', 'a.org', 3)]
    """
    if isinstance(source, Labels):
        return source if name is None else replace(source, name=name)
    made = _read(source)
    if not made.rows:
        raise BadInput(made.name, [Problem.error("empty", made.name, "holds no labels")])
    return made if name is None else replace(made, name=name)


def write_labels(
    labels: Iterable[Label | Mapping[str, Any]], destination: str | Path, *, force: bool = True
) -> None:
    """Write labels as their extension says: JSONL, CSV, TSV, else TREC judgments; `-` is JSONL on standard output.

    Dicts may hold more than a `Label` does; TREC judgments have room for task, id and gain alone.
    """
    data = encode_labels(labels, destination)

    def write(sink: BinaryIO) -> None:
        sink.write(data)

    write_whole(destination, write, force=force)


def encode_labels(labels: Iterable[Label | Mapping[str, Any]], destination: str | Path) -> bytes:
    """The bytes that `write_labels` writes; labels that the format cannot hold are refused."""
    rows = [msgspec.to_builtins(each) if isinstance(each, Label) else dict(each) for each in labels]
    extension = ".jsonl" if str(destination) == "-" else split_name(Path(destination))[1]
    if extension in {".jsonl", ".ndjson"}:
        return msgspec.json.Encoder().encode_lines(rows)
    if extension in {".csv", ".tsv"}:
        return _delimited(rows, "," if extension == ".csv" else "\t")
    return _trec(rows, str(destination))


def _read(source: Any) -> Labels:
    """The labels, by whichever reader knows the kind of the source."""
    if isinstance(source, Judgments):
        return _of_records(source.to_arrow().to_pylist(), Problems(source.name), source.name, whole=True)
    if is_file(source):
        opened = open_source(source, None)
        if isinstance(opened, tuple):
            return _of_file(opened[0], opened[1].name)
    elif isinstance(source, Mapping):
        return _of_mapping(source, "labels")
    elif frames.is_frame(source):
        return _of_records(
            frames.table_of(source, subject="labels").to_pylist(), Problems("labels"), "labels", whole=True
        )
    elif isinstance(source, Iterable):
        return _of_records(list(source), Problems("labels"), "labels")
    msg = f"labels cannot be read from an object of type `{type(source).__name__}`"
    raise WrongKind(
        msg,
        hint="expected a file of JSONL, CSV, TSV or TREC judgments, a data frame, or a dict: task → id → gain",
    )


def _of_file(file: File, detected: str) -> Labels:
    name = file.name or "labels"
    start = file.head().lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if detected in {"parquet", "arrow"}:
        fault = Problem.error(
            "format", file.label, f"looks like {detected}, expected JSONL, CSV, TSV or TREC judgments"
        )
        raise BadInput(file.label, [fault], hint="read it into a data frame, and give that")
    if start in {b"{", b"["}:
        return _of_json(file, name)
    return _of_sheet(file, name) if _has_header(file) else _of_trec(file, name)


def _of_json(file: File, name: str) -> Labels:
    """Objects, one a line; or one value over many lines: a list of them, or task → id → gain."""
    try:
        whole = msgspec.json.decode(bytes(file.data).removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        records, faults = read_records(file)
        return _of_records(records, faults, name)
    if isinstance(whole, list):
        return _of_records(whole, Problems(file.label), name)
    if not _named(whole, "gain") and all(isinstance(value, dict) for value in whole.values()):
        return _of_mapping(whole, file.label, name)
    return _of_records([whole], Problems(file.label, line=lambda _: 1), name)


def _has_header(file: File) -> bool:
    """Whether the first line names a gain and something that a result is known by."""
    header = [each.strip().lower() for each in read_sheet(file).header]
    return any(each in NAMES["gain"] for each in header) and any(
        each in NAMES[key] for key in KEYS for each in header
    )


def _of_sheet(file: File, name: str) -> Labels:
    sheet = read_sheet(file)
    lines: list[int] = []
    faults = Problems(file.label, line=lines.__getitem__)
    rows = []
    for line, values in sheet.rows():
        if line < 0 or len(values) != len(sheet.header):
            told = values[0] if line < 0 else f"{len(values)} columns, expected {len(sheet.header)}"
            faults.add_line("malformed-line", abs(line), told)
            continue
        lines.append(line)
        rows.append({key: value or None for key, value in zip(sheet.header, values, strict=True)})
    return _of_records(rows, faults, name, text=True)


def _of_trec(file: File, name: str) -> Labels:
    lines = read_lines(text_of_lines(file), columns=4, wanted=(0, 2, 3))
    faults = Problems(file.label, line=lines.line)
    query, document, gain = lines.table("gain", faults)
    columns = zip(query.to_pylist(), document.to_pylist(), gain.tolist(), strict=True)
    rows = [{"task": task, "id": found, "gain": value} for task, found, value in columns]
    return _of_records(rows, faults, name, whole=True)


def _of_mapping(source: Mapping[Any, Any], subject: str, name: str = "labels") -> Labels:
    """Labels of a dict of dicts, from task to id to gain."""
    rows: list[dict[str, Any]] = []
    places: list[str] = []
    faults = Problems(subject, lambda row: Place(places[row]))
    for task, gains in source.items():
        if not isinstance(gains, Mapping):
            msg = f"labels of task `{task}` are {type(gains).__name__}, expected a dict from id to gain"
            raise WrongKind(msg)
        for found, gain in gains.items():
            rows.append({"task": task, "id": found, "gain": gain})
            places.append(f"task `{task}`, id `{found}`")
    return _of_records(rows, faults, name)


def _of_records(
    records: list[Any], faults: Problems, name: str, *, text: bool = False, whole: bool = False
) -> Labels:
    """Labels of dicts; `text`: gains are written as text; `whole`: a float that is whole is a gain."""
    rows = []
    for row, record in enumerate(records):
        if isinstance(record, Label):
            record = msgspec.structs.asdict(record)  # noqa: PLW2901 - checked as any other
        if not isinstance(record, Mapping):
            faults.add("rows", row, f"is {type(record).__name__}, expected an object with named values")
            continue
        told = _told(record)
        gain = _gain(told.get("gain"), text=text, whole=whole)
        if gain is None:
            faults.add("gains", row, f"gain is {_shown(told.get('gain'))}, {EXPECTED}")
        elif wrong := _wrong(told):
            faults.add(wrong[0], row, wrong[1])
        else:
            rows.append(
                Label(gain=gain, **{key: str(told[key]) for key in NAMES if key in told and key != "gain"})
            )
    faults.raise_if_any()
    return Labels(tuple(rows), name=name)


def _named(record: Mapping[Any, Any], field: str) -> Any:
    """The value under the first of the names that a field may have; None if there is none."""
    return _told(record).get(field)


def _told(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Every field that a record has, under the first of the names that it may have."""
    told = {}
    for field, keys in _keys(tuple(record)):
        for key in keys:
            if record[key] is not None:
                told[field] = record[key]
                break
    return told


@lru_cache(maxsize=64)
def _keys(keys: tuple[Any, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each field that a record may have, with the keys that may hold it, the likeliest first."""
    lower = {key.strip().lower(): key for key in reversed(keys) if isinstance(key, str)}
    held = ((field, tuple(lower[each] for each in names if each in lower)) for field, names in NAMES.items())
    return tuple((field, found) for field, found in held if found)


def _gain(value: Any, *, text: bool, whole: bool) -> int | None:
    """The gain, or None where there is none on the scale."""
    if text and isinstance(value, str):
        bare = value.strip()
        value = int(bare) if bare.isascii() and bare.isdigit() else bare
    if whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value in GRADES else None


def _wrong(told: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is wrong with everything but the gain: a kind and its words."""
    for field, value in told.items():
        number = (
            field in {"task", "id", "domain_id"} and isinstance(value, int) and not isinstance(value, bool)
        )
        if field != "gain" and not isinstance(value, str) and not number:
            return "texts", f"{field} is {_shown(value)}, expected text"
    if "id" in told and "domain_id" in told:
        return (
            "ids",
            f"has both `id` ({told['id']}) and `domain_id` ({told['domain_id']}), expected one of them",
        )
    if not any(key in told for key in KEYS):
        return "keys", f"names no result, expected one of {', '.join(KEYS)}"
    return None


def _shown(value: Any) -> str:
    """A value as it is told in a message."""
    if value is None:
        return "missing"
    text = repr(value)
    return text if len(text) < 60 else text[:59] + "…"


def _delimited(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    header = list(dict.fromkeys(key for row in rows for key in row))
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, header, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def _trec(rows: list[dict[str, Any]], subject: str) -> bytes:
    """Lines `task 0 id gain`; a label that has no task or id, or one with white space, cannot be held."""
    faults = Problems(subject)
    lines = list(_trec_lines(rows, faults))
    faults.raise_if_any(hint="write JSONL, CSV or TSV, which hold any key", error=Unwritable)
    return "".join(lines).encode()


def _trec_lines(rows: list[dict[str, Any]], faults: Problems) -> Iterator[str]:
    for number, row in enumerate(rows):
        keys = {field: _named(row, field) for field in ("task", "id")}
        for field, key in keys.items():
            if key is None or not str(key).strip() or str(key).split() != [str(key)]:
                faults.add("keys", number, f"{field} is {_shown(key)}, expected text without white space")
        yield f"{keys['task']} 0 {keys['id']} {_named(row, 'gain')}\n"
