"""Opening: paths, standard input, bytes and open files as content with a name, decompressed; and compressing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeGuard
from weakref import finalize

import numpy as np
import pyarrow as pa

from judged.arrays import Bytes
from judged.errors import Unreadable
from judged.store.files import check_size, standard_input
from judged.store.remote import StoredFile, has_pattern, is_remote, read_bytes

BOM = b"\xef\xbb\xbf"
"""The mark that some editors put at the start of UTF-8."""
LARGE = 1 << 30
"""Bytes from which a file is streamed rather than read at once."""
CHUNK = 1 << 18
"""Number of bytes of a stream that are decompressed at a time."""
KNOWN = {
    *(".trec", ".run", ".runs", ".res", ".results", ".qrels", ".qrel", ".txt", ".tsv", ".csv"),
    *(".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"),
    *(".xml", ".sgml", ".sgm", ".svm", ".svmlight", ".letor", ".eval"),
}
"""Extensions that name a file's format and are not part of its name."""

ALIKE = 0.75
"""Similarity threshold, from 0 to 1, for suggesting a file in place of a missing one."""

_NUMBER = re.compile(rb"[+-]?+(?:(?:\d++\.?+\d*+|\.\d++)(?:e[+-]?+\d++)?+|inf(?:inity)?+|nan)", re.IGNORECASE)

Buffer: TypeAlias = bytes | memoryview
"""The bytes of a file, in private memory."""


class DiskFile:
    """A regular file, read by position into private memory; slices are arrays of bytes.

    It is never mapped: a mapped file that another process cuts short ends this one with SIGBUS.
    """

    def __init__(self, file: io.FileIO, label: str, *, start: int = 0, owner: DiskFile | None = None) -> None:
        self._file, self._label, self._start, self._owner = file, label, start, owner
        self._status = os.fstat(file.fileno())
        self._seeking = Lock()
        if owner is None:
            finalize(self, file.close)

    def __len__(self) -> int:
        return max(self._status.st_size - self._start, 0)

    def __getitem__(self, place: slice) -> Bytes:
        begin, end, _ = place.indices(len(self))
        stretch = np.empty(max(end - begin, 0), dtype=np.uint8)
        self.read_into(stretch, begin)
        return stretch

    def skip(self, count: int) -> DiskFile:
        """Return the file without its first bytes."""
        return DiskFile(self._file, self._label, start=self._start + count, owner=self)

    def read_into(self, buffer: Bytes, begin: int) -> None:
        """Fill the buffer with the bytes from `begin` on; raise `Unreadable` if there are fewer."""
        view, at = buffer.data, self._start + begin
        while view:
            count = self._read_some(view, at)
            if not count:
                raise _changed(self._label)
            view, at = view[count:], at + count

    def _read_some(self, view: memoryview, at: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [view], at)
        with self._seeking:  # Windows has no positional read
            self._file.seek(at)
            return self._file.readinto(view) or 0

    def read(self) -> memoryview:
        """Return the whole content; raise `Unreadable` if it changed meanwhile."""
        whole = self[:].data
        self.verify()
        return whole.toreadonly()

    def verify(self) -> None:
        """Raise `Unreadable` if the file has changed since it was opened."""
        now = os.fstat(self._file.fileno())
        if (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns):
            raise _changed(self._label)


def _changed(label: str) -> Unreadable:
    msg = f"{label} changed while it was read"
    return Unreadable(msg, hint="wait until the program that writes it has finished, or evaluate a copy")


def load(content: Buffer | DiskFile) -> Buffer:
    """Return the bytes of a content, read from its file if it is on disk."""
    return content.read() if isinstance(content, DiskFile) else content


@dataclass(frozen=True, eq=False)
class File:
    """The content of one file, decompressed, and its names."""

    content: Buffer | DiskFile
    label: str
    """The name in messages: the path as the user wrote it, or `standard input`."""
    name: str
    """The name of the table: that of the file without folder and known extensions."""
    extension: str = ""
    """The last extension that is not a compression's, in lower case, with its dot."""

    @cached_property
    def data(self) -> Buffer:
        """The whole content in memory."""
        return load(self.content)

    def head(self, size: int = 65_536) -> bytes:
        """Return the first bytes."""
        return bytes(self.content[:size])


@dataclass(frozen=True, eq=False)
class Joined(os.PathLike[str]):
    """Files that are read as one table: the parts of one run, or a data set. As a path it is what the user wrote."""

    label: str
    files: tuple[StoredFile, ...]

    def __fspath__(self) -> str:
        return self.label

    def __str__(self) -> str:
        return self.label


def is_file(source: object) -> bool:
    """Return whether an object is a file: a path, its content as bytes, or something open to be read."""
    return isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(source, "read")


def is_large(source: object) -> bool:
    """Return whether something is read as a stream: a data set, a folder, a pattern, a URI or a large file."""
    if hasattr(source, "get_fragments") or isinstance(source, Joined):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    path = os.fspath(source)
    if is_remote(path) or has_pattern(path):
        return True
    place = Path(path)
    try:
        return place.is_dir() or (place.is_file() and place.stat().st_size >= LARGE)
    except (OSError, ValueError):
        return False


def split_name(path: Path) -> tuple[str, str, str]:
    """Return a file's name without extensions, its extension, and that of its compression.

    >>> split_name(Path("runs/dl19.bm25.run.gz"))
    ('dl19.bm25', '.run', '.gz')
    >>> split_name(Path("input.uic0301"))
    ('input.uic0301', '', '')
    """
    packed = path.suffix.lower() if path.suffix.lower() in _COMPRESSED else ""
    inner = path.with_suffix("") if packed else path
    known = inner.suffix.lower() if inner.suffix.lower() in KNOWN else ""
    return (inner.stem if known else inner.name), known, {".zstd": ".zst"}.get(packed, packed)


def name_files(paths: Sequence[str]) -> list[str]:
    """Return the shortest names that distinguish files: without extension, with it, then with folders.

    Only extensions of formats and compressions are left out: `v1.0` and `run.bm25.dl19` are names.

    >>> name_files(["runs/bm25.run.gz", "runs/run.bm25.dl19", "v1.0"])
    ['bm25', 'run.bm25.dl19', 'v1.0']
    >>> name_files(["old/bm25.run", "new/bm25.run", "new/bm25.txt"])
    ['old/bm25.run', 'new/bm25.run', 'bm25.txt']
    """
    names = {path: split_name(_resolve(path))[0] for path in paths}
    for depth in range(1, 1 + max((len(_resolve(path).parts) for path in paths), default=0)):
        taken = list(names.values())
        for path, name in list(names.items()):
            if taken.count(name) > 1:
                names[path] = "/".join(_resolve(path).parts[-depth:])
    return [names[path] for path in paths]


def is_path(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a source is the path of a file, which standard input (`-`) is not."""
    return isinstance(source, str | os.PathLike) and str(source) != "-"


def _resolve(path: str) -> Path:
    """Return what gives a run its name: its file or folder; of a pattern, the folder it is in."""
    place = Path(path) if Path(path).name else Path(path).resolve()
    while has_pattern(place.name) and place.parent != place and not place.exists():
        place = place.parent
    return place if place.name not in {"", ".."} else place.resolve()


def open_file(path: str | Path) -> File:
    """Return the content of a file, read when it is needed if it is a plain one; `-` is standard input."""
    if str(path) == "-":
        return open_bytes(standard_input().read(), label="standard input", name="stdin")
    place = Path(path)
    name, extension, _ = split_name(place)
    content = read_bytes(path) if is_remote(path) else _open_content(place)
    # by its first bytes: the extension may be missing or wrong
    if _recognise(bytes(content[:8])) is not None:
        content = decompress(load(content), label=str(path))
    return File(content, str(path), name, extension)


def open_bytes(data: bytes | bytearray | memoryview, *, label: str, name: str) -> File:
    """Return content that is in memory already."""
    return File(decompress(bytes(data), label=label), label, name)


def open_stream(stream: Any) -> File:
    """Return what is left to read of an open file, text or binary."""
    content = stream.read()
    data = content.encode() if isinstance(content, str) else bytes(content)
    path = getattr(stream, "name", None)
    if not isinstance(path, str):
        return open_bytes(data, label="open file", name="")
    name, extension, _ = split_name(Path(path))
    return File(decompress(data, label=path), path, name, extension)


def open_binary(path: str | Path) -> io.BufferedReader:
    """Open a file to be read from first to last, without decompressing it."""
    with _explain(Path(path)):
        return Path(path).open("rb")


def read_text(file: File, *, quoted: bool = False) -> Buffer:
    """Return the bytes of a text without its mark, all of them in memory."""
    return load(locate_text(file, quoted=quoted))


def locate_text(file: File, *, quoted: bool = False) -> Buffer | DiskFile:
    """Return the content of a text without its mark; raise `Unreadable` for UTF-16 and files that are not text.

    A file with a zero byte is not text; in a format that has quotes (`quoted`) only the first line counts.
    """
    head = file.head()
    # before zero bytes, of which UTF-16 is full
    if _is_utf16(head):
        msg = f"{file.label} is UTF-16 text, expected UTF-8"
        raise Unreadable(msg, hint="convert it: `iconv -f UTF-16 -t UTF-8 FILE`")
    if head.startswith(b"PK\3\4"):
        msg = f"{file.label} is a ZIP archive, as spreadsheets are (.xlsx, .ods), expected text"
        raise Unreadable(msg, hint="save the sheet as CSV, or unpack the archive")
    if b"\0" in (head.partition(b"\n")[0] if quoted else head):
        msg = f"{file.label} is not text: byte {head.index(0) + 1:,} is zero"
        raise Unreadable(msg, hint="known formats are TREC, JSONL, JSON, CSV, TSV, Parquet and Arrow")
    if not head.startswith(BOM):
        return file.content
    if isinstance(file.content, DiskFile):
        return file.content.skip(len(BOM))
    return memoryview(file.content)[len(BOM) :]


def is_number_text(text: bytes) -> bool:
    """Return whether `float` reads this, apart from underscores, which only Python allows."""
    return _NUMBER.fullmatch(text) is not None


def _is_utf16(head: bytes) -> bool:
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    # without a mark, ASCII in UTF-16 is known by its zeros in every other byte
    every_other = len(head) >= 4 and (
        head[1:8:2].count(0) == len(head[1:8:2]) or head[:8:2].strip(b"\0") == b""
    )
    return marked or (every_other and head[:8].strip(b"\0") != b"")


def _open_content(path: Path) -> Buffer | DiskFile:
    """Open a regular file; of anything else, such as a pipe, return everything that can be read."""
    with _explain(path):
        file = io.FileIO(path)
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return DiskFile(file, _label(path))
        with file:
            return file.readall()


def missing_file(path: Path) -> Unreadable:
    """Return the error for a file that does not exist, with a hint if another has nearly its name."""
    return Unreadable(f"{_label(path)} does not exist", hint=_suggest(path))


def _label(path: Path) -> str:
    text = str(path)
    return text if text.isprintable() else ascii(text if len(text) < 60 else text[:59] + "…")


@contextmanager
def _explain(path: Path) -> Iterator[None]:
    """Raise `Unreadable` with file and reason for a file that cannot be opened."""
    try:
        yield
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, ValueError) as error:
        msg = f"{_label(path)} cannot be read: {(getattr(error, 'strerror', None) or str(error)).lower()}"
        raise Unreadable(msg) from None


def _suggest(path: Path) -> str | None:
    """Return a hint that names a file with nearly the same name; or what to do with content."""
    from difflib import get_close_matches

    if "\n" in str(path):
        return "to give the content of a file rather than its path, give bytes"
    try:
        siblings = [file.name for file in path.parent.iterdir()]
    except OSError:
        return None
    close = get_close_matches(path.name, siblings, n=1, cutoff=ALIKE)
    return f"did you mean `{path.with_name(close[0])}`?" if close else None


class Compression(NamedTuple):
    """One compression: its first bytes, its extension, and the way there and back."""

    name: str
    magic: bytes
    extension: str
    pack: Callable[[BinaryIO], Any]
    open: Callable[[Any], Any]
    """Opens a compressed stream."""


class _KeptOpen(io.RawIOBase):
    """A sink that Arrow may close without closing the file beneath."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._sink.write(data)


def _arrow_compression(codec: str, magic: bytes, extension: str) -> Compression:
    """Return a compression that Arrow knows."""
    return Compression(
        codec,
        magic,
        extension,
        lambda sink: pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(sink), "w"), codec),
        lambda stream: pa.CompressedInputStream(pa.PythonFile(stream, "r"), codec),
    )


def _pack_gzip(sink: BinaryIO) -> BinaryIO:
    """Open a gzip stream without name and time, so that equal tables make equal files."""
    return io.BufferedWriter(gzip.GzipFile("", "wb", fileobj=sink, mtime=0))


COMPRESSIONS = (
    Compression(
        *("gzip", b"\x1f\x8b", ".gz"),
        _pack_gzip,
        lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    ),
    _arrow_compression("zstd", b"\x28\xb5\x2f\xfd", ".zst"),
    Compression("bzip2", b"BZh", ".bz2", lambda sink: bz2.BZ2File(sink, "wb"), bz2.BZ2File),
    Compression(
        *("xz", b"\xfd7zXZ\x00", ".xz"),
        lambda sink: lzma.LZMAFile(sink, "wb"),  # noqa: SIM115 - the caller closes it
        lzma.LZMAFile,
    ),
    _arrow_compression("lz4", b"\x04\x22\x4d\x18", ".lz4"),
)
_COMPRESSED = frozenset(compression.extension for compression in COMPRESSIONS) | {".zstd"}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, pa.ArrowException, OSError, ValueError)


def decompress(data: Buffer, *, label: str) -> Buffer:
    """Return the bytes before compression; bytes that are not compressed are returned unchanged."""
    if _recognise(bytes(data[:8])) is None:
        return data
    whole = io.BytesIO()
    for chunk in decompress_stream(io.BytesIO(data), label=label):
        whole.write(chunk)
        check_size(whole.tell(), packed=len(data), label=label)
    return whole.getbuffer().toreadonly()


def decompress_stream(stream: Any, *, label: str) -> Iterator[bytes]:
    """Yield the content of a binary stream in chunks, decompressed; memory holds one chunk."""
    buffered = io.BufferedReader(stream)
    compression = _recognise(buffered.peek(8)[:8])
    unpacked = buffered
    try:
        unpacked = buffered if compression is None else compression.open(buffered)
        while chunk := unpacked.read(CHUNK):
            yield chunk
    except _DAMAGED as error:
        if compression is None:
            raise
        raise _damaged(label, compression, error) from error
    finally:
        if unpacked is not buffered:
            unpacked.close()
        if not buffered.closed:  # Arrow closes what it reads from
            buffered.detach()  # the caller that opened the stream closes it


@contextmanager
def compress(sink: BinaryIO, extension: str) -> Iterator[BinaryIO]:
    """Yield a sink that compresses as the extension says, or the sink itself."""
    compression = next((known for known in COMPRESSIONS if known.extension == extension), None)
    if compression is None:
        yield sink
        return
    with compression.pack(sink) as stream:
        yield stream


def _recognise(head: bytes) -> Compression | None:
    return next((known for known in COMPRESSIONS if head.startswith(known.magic)), None)


def _damaged(label: str, compression: Compression, error: Exception) -> Unreadable:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    msg = f"{label} is compressed with {compression.name} and cannot be unpacked: {reason}"
    return Unreadable(msg, hint="the file is cut short or damaged; fetch or write it again")
