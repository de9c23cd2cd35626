"""Storage: files that are named by a URI. Arrow opens `s3://`, `gs://`, `hdfs://` and `file://`, fsspec any other scheme.

Credentials, regions and endpoints are found where the library that opens the file looks for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from posixpath import dirname
from typing import TYPE_CHECKING, NamedTuple

from judged._optional import need
from judged.errors import Unreadable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PATTERN = re.compile(r"[*?\[]")


class StoredFile(NamedTuple):
    """A file in some storage."""

    filesystem: FileSystem
    """A file system of Arrow."""
    path: str
    """Its path there."""
    label: str
    """Address for users: with the scheme of its storage."""
    size: int

    def open(self) -> pa.NativeFile:
        """Open it to be read from first to last."""
        with _explain(self.label):
            return self.filesystem.open_input_stream(self.path, compression=None)


def is_remote(path: object) -> bool:
    """Return whether a path is a URI, such as `s3://bucket/run.parquet`."""
    return isinstance(path, str | os.PathLike) and _URI.match(os.fspath(path)) is not None


def has_pattern(path: str) -> bool:
    """Return whether a path has wildcards and is not itself a file."""
    return _PATTERN.search(path) is not None and not os.path.exists(path)  # noqa: PTH110 - any text


def open_file(uri: str) -> pa.NativeFile:
    """Open a file in some storage to be read in any order."""
    with _explain(uri):
        filesystem, path = _find(uri)
        return filesystem.open_input_file(path)


def read_bytes(uri: str | os.PathLike[str]) -> bytes:
    """Return the content of a file in some storage."""
    with _explain(os.fspath(uri)):
        filesystem, path = _find(os.fspath(uri))
        with filesystem.open_input_stream(path, compression=None) as stream:
            content: bytes = stream.read()
    return content


def write_bytes(uri: str | os.PathLike[str], content: bytes) -> None:
    """Write a file in some storage."""
    with _explain(os.fspath(uri), verb="written"):
        filesystem, path = _find(os.fspath(uri))
        with filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(content)


def list_files(path: str) -> list[StoredFile]:
    """Return the files of a path, a folder with all below it, or a pattern of either, in the order of their names.

    Names that begin with `_` or `.` are those of other programs, such as Spark's `_SUCCESS`.
    """
    from pyarrow.fs import FileSelector, FileType

    with _explain(path):
        filesystem, place = _find(path)
        folder = place if not has_pattern(path) else dirname(_PATTERN.split(place)[0]) or "."
        info = filesystem.get_file_info(folder)
        if info.type == FileType.NotFound:
            raise FileNotFoundError
        entries = [info]
        if info.type == FileType.Directory:
            entries = filesystem.get_file_info(FileSelector(folder, recursive=True))
    prefix = path[: path.index(place)] if is_remote(path) and place in path else ""
    files = [
        StoredFile(filesystem, entry.path, f"{prefix}{entry.path.removeprefix('./')}", entry.size or 0)
        for entry in sorted(entries, key=lambda entry: entry.path)
        if entry.type == FileType.File and not entry.base_name.startswith(("_", "."))
    ]
    if has_pattern(path):
        files = [file for file in files if _matches(file.path, place)]
    if not files:
        msg = f"{path} holds no files"
        raise Unreadable(msg)
    return files


def _matches(path: str, pattern: str) -> bool:
    """Return whether a file, or a folder that it is in, has the names of a pattern, one after the other.

    >>> [_matches(path, "./*.run") for path in ("a.run", "b.run/part-0", "old/a.run")]
    [True, True, False]
    """
    names, wanted = ([name for name in text.split("/") if name not in {"", "."}] for text in (path, pattern))
    return len(names) >= len(wanted) and all(map(fnmatchcase, names, wanted))


def _find(path: str) -> tuple[FileSystem, str]:
    """Return the file system of a path, and the path there."""
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem, FSSpecHandler, LocalFileSystem, PyFileSystem

    if not is_remote(path):
        return LocalFileSystem(), path
    try:
        filesystem, place = FileSystem.from_uri(path)
    except (ArrowException, ValueError):  # a scheme that Arrow has not, or was not built with
        scheme = path.partition(":")[0]
        fsspec = need("fsspec", extra="storage", needed_by=f"the storage `{scheme}`")
        try:
            native, place = fsspec.core.url_to_fs(path)
        except (ValueError, ImportError) as error:
            msg = f"{path} cannot be opened: {error}"
            raise Unreadable(msg) from None
        filesystem = PyFileSystem(FSSpecHandler(native))
    return filesystem, place


@contextmanager
def _explain(label: str, *, verb: str = "read") -> Iterator[None]:
    """Raise `Unreadable` with the file and the reason."""
    try:
        yield
    except Unreadable:  # an OSError that already says what is wrong
        raise
    except FileNotFoundError:
        msg = f"{label} does not exist"
        raise Unreadable(msg) from None
    except OSError as error:
        reason = (error.strerror or str(error) or type(error).__name__).splitlines()[0]
        msg = f"{label} cannot be {verb}: {reason}"
        raise Unreadable(msg) from None
