"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write"]


def write(path: Path, content: str | bytes) -> None:
    """Put `content` at `path`; an earlier file stays as it was until the new one is complete."""
    data = content.encode() if isinstance(content, str) else content
    target = path.resolve()  # what a symbolic link points to is replaced, not the link
    if target.exists() and not target.is_file():
        target.write_bytes(data)  # a pipe or a device cannot be replaced
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(data)
        draft.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        draft.unlink(missing_ok=True)
