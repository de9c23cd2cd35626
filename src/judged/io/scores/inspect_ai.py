"""Inspect: logs of evaluations, as JSON and as `.eval` archives; epochs are attempts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence

from judged.errors import Unreadable
from judged.io.open import decompress
from judged.io.scores.content import Content, Json, decode_json, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat
from judged.problem import Note, Place
from judged.store.files import check_size
from judged.tables.columns import shorten
from judged.tables.scores import ScoreKind

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of Inspect's letters: correct, partially correct, incorrect, no answer."""
_LOCAL = 30
"""Bytes of the header before a file in an archive, without its name and extra field."""
_BROKEN = (zipfile.BadZipFile, ValueError, KeyError, EOFError, OSError, NotImplementedError, RecursionError)


def _recognises(content: Content) -> bool:
    if content.archive is not None:
        names = _list_names(content)
        return "header.json" in names or any(name.startswith("samples/") for name in names)
    document = content.document
    return isinstance(get(document, "eval"), Mapping) and isinstance(get(document, "samples"), list)


def _list_names(content: Content) -> list[str]:
    assert content.archive is not None  # noqa: S101 - asked of archives only
    try:
        with zipfile.ZipFile(io.BytesIO(bytes(content.archive.data))) as archive:
            return archive.namelist()
    except _BROKEN:
        return []


def _list_samples(content: Content) -> Iterator[tuple[str, Json]]:
    """Yield every sample with its place."""
    if content.archive is None:
        for number, sample in enumerate(list_objects(get(content.document, "samples"))):
            yield f"samples[{number}]", sample
        return
    data = bytes(content.archive.data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            total = 0
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
                    total += entry.file_size
                    check_size(total, packed=len(data), label=content.label)
                    yield entry.filename, decode_json(_unpack(data, archive, entry, content.label))
    except Unreadable:
        raise
    except _BROKEN as error:
        msg = f"{content.label} cannot be read as a log of Inspect: {error or type(error).__name__}"
        raise Unreadable(
            msg, hint="the file is cut short or damaged; `inspect log convert` writes JSON"
        ) from None


def _unpack(data: bytes, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, label: str) -> bytes:
    """Return the content of a file in the archive; Inspect packs with zstd, which this Python's archives do not know."""
    if entry.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return archive.read(entry)
    start = entry.header_offset
    head = data[start : start + _LOCAL]
    start += _LOCAL + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    return bytes(decompress(data[start : start + entry.compress_size], label=label))


def _read_header(content: Content) -> Json:
    """Return what a log says about itself; an archive that was not finished has no header."""
    if content.archive is None:
        return content.document
    data = bytes(content.archive.data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return decode_json(_unpack(data, archive, archive.getinfo("header.json"), content.label))
    except _BROKEN:
        return {"status": "started"}


def _note_status(content: Content) -> None:
    """Add a warning where a log is not that of an evaluation that was finished."""
    header = _read_header(content)
    status, error = get(header, "status"), get(header, "error", "message")
    if status not in {None, "success"}:
        reason = f" ({shorten(str(error), 80)})" if error else ""
        message = (
            f"{content.label}: the status of the evaluation is `{status}`{reason}: samples may be missing"
        )
        content.notes.append(Note("unfinished", "warning", message))
    if get(header, "invalidated"):
        content.notes.append(Note("invalidated", "warning", f"{content.label} was marked as invalid"))


def _read(content: Content) -> Iterator[Record]:
    failed = 0
    _note_status(content)
    for place, sample in _list_samples(content):
        scores = get(sample, "scores")
        values: dict[str, object] = {}
        for scorer, score in (scores if isinstance(scores, Mapping) else {}).items():
            values |= _flatten(str(scorer), get(score, "value"))
        failed += get(sample, "error") is not None
        metadata = get(sample, "metadata")
        yield Record(
            Place(content.label, field=place),
            values,
            get(sample, "id"),
            _to_input(get(sample, "input")),
            attempt=get(sample, "epoch"),
            attributes={
                str(name): value
                for name, value in (metadata if isinstance(metadata, Mapping) else {}).items()
                if isinstance(value, str | int | float)
            },
        )
    content.note_failures(failed, "sample")


def _flatten(scorer: str, value: Json) -> dict[str, object]:
    """Return the values of a scorer by name: a scorer of several values has a name for each."""
    if isinstance(value, Mapping):
        return {f"{scorer}/{name}": _to_number(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return {f"{scorer}/{number}": _to_number(inner) for number, inner in enumerate(value)}
    return {scorer: _to_number(value)}


def _to_number(value: Json) -> object:
    return LETTERS.get(value, value) if isinstance(value, str) else value


def _to_input(value: Json) -> str | None:
    """Return the input of a sample: a text, or the content of the user's messages."""
    messages = list_objects(value)
    texts = [str(get(message, "content")) for message in messages if get(message, "role") == "user"]
    return "\n".join(texts) if texts else to_question(value)


def _kinds(content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:  # noqa: ARG001 - one seam
    """Return the direction of measures that are graded by letters; Inspect records none for numbers."""
    graded = {
        name
        for _, sample in _list_samples(content)
        for scorer, score in (get(sample, "scores") or {}).items()
        for name, value in _name_values(str(scorer), get(score, "value"))
        if isinstance(value, str) and value in LETTERS
    }
    return {name: ScoreKind(higher_is_better=True, bounds=(0.0, 1.0)) for name in graded}


def _name_values(scorer: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping):
        yield from ((f"{scorer}/{name}", inner) for name, inner in value.items())
    else:
        yield scorer, value


FORMAT = ScoreFormat(
    "inspect-ai",
    "a log of Inspect",
    "logs as JSON or `.eval`; samples are paired by `id`, epochs are attempts, and the letters C, P, I and N are 1, 0.5, 0 and 0",
    _recognises,
    _read,
    _kinds,
    "higher for letters, else as `--higher` and `--lower` say",
)
