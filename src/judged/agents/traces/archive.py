"""Logs of Inspect in its own format, `.eval`: a zip archive with a file for each sample → a line for each."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from judged.agents.traces.json_values import Json, get_object
from judged.errors import Unreadable
from judged.io.open import decompress
from judged.store.files import check_size

MAGIC = b"PK\x03\x04"
"""The first bytes of a zip archive."""
_ZSTANDARD = 93
"""The method of compression of Inspect's archives, which `zipfile` reads from Python 3.14 on."""
_HEADER = struct.Struct("<26xHH")
"""The header of an entry: the lengths of its name and of its extra field, at the end."""
_DAMAGED = (
    zipfile.BadZipFile,
    msgspec.DecodeError,
    struct.error,
    NotImplementedError,
    EOFError,
    RuntimeError,
)


def read_samples(stream: BinaryIO, label: str) -> Iterator[bytes]:
    """Yield a line of JSON for each sample of an archive, as in a log of one sample in JSON."""
    content = io.BytesIO(stream.read())
    try:
        with zipfile.ZipFile(content) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            if not names:
                shown = ", ".join(f"`{name}`" for name in archive.namelist()[:3])
                msg = f"{label} is a zip archive without samples of Inspect; it holds {shown}"
                raise Unreadable(msg, hint="unpack it, and name a file or the folder")
            header = _decode(archive, "header.json", label) if "header.json" in archive.namelist() else {}
            for name in names:
                sample = _decode(archive, name, label)
                yield msgspec.json.encode({"eval": get_object(header, "eval"), "samples": [_keep(sample)]})
    except _DAMAGED as error:
        msg = f"{label} is a damaged archive: {error}"
        raise Unreadable(msg) from error


def _decode(archive: zipfile.ZipFile, name: str, label: str) -> Json:
    entry = archive.getinfo(name)
    check_size(entry.file_size, packed=entry.compress_size, label=f"{label}, {name}")
    if entry.compress_type != _ZSTANDARD:
        return msgspec.json.decode(archive.read(entry))
    source = archive.fp
    if source is None:  # closed
        raise EOFError
    source.seek(entry.header_offset)
    lengths = _HEADER.unpack(source.read(_HEADER.size))
    source.seek(sum(lengths), io.SEEK_CUR)
    return msgspec.json.decode(decompress(source.read(entry.compress_size), label=f"{label}, {name}"))


def _keep(sample: Json) -> Json:
    """Return what is read of a sample: its events take most of the space."""
    if not isinstance(sample, dict):
        return sample
    names = ("id", "epoch", "target", "messages", "attachments", "model_usage")
    return {name: sample[name] for name in names if name in sample}
