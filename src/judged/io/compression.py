"""Compressed bytes ⇄ bytes: told apart by their first bytes, since names often say nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from judged.errors import Unreadable

__all__ = ["COMPRESSIONS", "Compression", "compressing", "compression_of", "decompress", "decompressing"]

CHUNK = 1 << 18
"""How many bytes of a stream are unpacked at a time."""


@dataclass(frozen=True)
class Compression:
    """One compression: how its bytes begin, how its files end, and the way there and back."""

    name: str
    magic: bytes
    extension: str
    unpack: Callable[[Any], bytes]
    pack: Callable[[BinaryIO], Any]
    open: Callable[[Any], Any]
    """A stream of what a compressed stream holds, for contents too large to unpack at once."""


def _arrow_open(codec: str) -> Callable[[Any], Any]:
    def open_stream(stream: Any) -> Any:
        return pa.CompressedInputStream(pa.PythonFile(stream, "r"), codec)

    return open_stream


def _gzip_open(stream: Any) -> Any:
    return gzip.GzipFile(fileobj=stream, mode="rb")


def _arrow_unpack(codec: str) -> Callable[[Any], bytes]:
    def unpack(data: Any) -> bytes:
        with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
            whole: bytes = stream.read()
        return whole

    return unpack


class _KeptOpen(io.RawIOBase):
    """A sink that Arrow may close without closing what lies beneath."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._sink.write(data)


def _arrow_pack(codec: str) -> Callable[[BinaryIO], Any]:
    def pack(sink: BinaryIO) -> Any:
        return pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(sink), "w"), codec)

    return pack


def _gzip_pack(sink: BinaryIO) -> BinaryIO:
    """A gzip stream without name and time, so that equal tables make equal files."""
    return io.BufferedWriter(gzip.GzipFile("", "wb", fileobj=sink, mtime=0))


def _bzip2_pack(sink: BinaryIO) -> Any:
    return bz2.BZ2File(sink, "wb")


def _xz_pack(sink: BinaryIO) -> Any:
    return lzma.LZMAFile(sink, "wb")


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b", ".gz", gzip.decompress, _gzip_pack, _gzip_open),
    Compression(
        "zstd", b"\x28\xb5\x2f\xfd", ".zst", _arrow_unpack("zstd"), _arrow_pack("zstd"), _arrow_open("zstd")
    ),
    Compression("bzip2", b"BZh", ".bz2", bz2.decompress, _bzip2_pack, bz2.BZ2File),
    Compression("xz", b"\xfd7zXZ\x00", ".xz", lzma.decompress, _xz_pack, lzma.LZMAFile),
    Compression(
        "lz4", b"\x04\x22\x4d\x18", ".lz4", _arrow_unpack("lz4"), _arrow_pack("lz4"), _arrow_open("lz4")
    ),
)
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, pa.ArrowException, OSError, ValueError)


def compression_of(head: bytes) -> Compression | None:
    """The compression that bytes begin with, if any."""
    return next((each for each in COMPRESSIONS if head.startswith(each.magic)), None)


def decompress(data: Any, *, label: str) -> Any:
    """The bytes as they were before compression; bytes that are not compressed come back untouched."""
    compression = compression_of(bytes(data[:8]))
    if compression is None:
        return data
    try:
        return compression.unpack(data)
    except _DAMAGED as error:
        raise _damaged(label, compression, error) from error


def decompressing(stream: Any, *, label: str) -> Iterator[bytes]:
    """The content of a binary stream in chunks, as it was before compression; memory holds one chunk."""
    buffered = io.BufferedReader(stream)
    compression = compression_of(buffered.peek(8)[:8])
    try:
        unpacked = buffered if compression is None else compression.open(buffered)
        while chunk := unpacked.read(CHUNK):
            yield chunk
    except _DAMAGED as error:
        if compression is None:
            raise
        raise _damaged(label, compression, error) from error
    finally:
        if not buffered.closed:  # Arrow closes what it reads from
            buffered.detach()  # whoever opened the stream closes it


def _damaged(label: str, compression: Compression, error: Exception) -> Unreadable:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    msg = f"{label} is compressed with {compression.name} and cannot be unpacked: {reason}"
    return Unreadable(msg, hint="the file is cut short or damaged; fetch or write it again")


@contextmanager
def compressing(sink: BinaryIO, extension: str) -> Iterator[BinaryIO]:
    """A sink that compresses as the extension says, or the sink itself."""
    compression = next((each for each in COMPRESSIONS if each.extension == extension), None)
    if compression is None:
        yield sink
        return
    with compression.pack(sink) as stream:
        yield stream
