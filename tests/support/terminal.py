"""Run `judged` on a pseudo-terminal of a given width."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

needs_a_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")


def show_on_a_terminal(*arguments: str, columns: int) -> str:
    """Return what `judged` prints on a terminal of that width; standard error is left out."""
    import fcntl
    import struct
    import termios

    main, other = os.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "judged", *arguments],
        stdout=other,
        stderr=subprocess.DEVNULL,
        env={**environment, "TERM": "dumb"},
    )
    os.close(other)
    shown = b""
    while part := _read(main):
        shown += part
    os.close(main)
    process.wait(timeout=60)
    return shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """Return what has been printed; nothing once the program has ended, for which Linux raises an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
