"""Draws the pictures of the documentation: what a terminal shows at the end of `judged demo`."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS = 112


def main() -> None:
    """Write demo.svg beside this file."""
    with TemporaryDirectory() as folder:
        printed = run_in_terminal([sys.executable, "-m", "judged", "demo", "--output", f"{folder}/demo"])
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi("$ judged demo\n"))
    console.print(Text.from_ansi(printed))
    drawn = console.export_svg(title="judged demo", unique_id="judged-demo")
    # The picture is to be seen without asking another server for a font.
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    (HERE / "demo.svg").write_text(drawn, encoding="utf-8")


def run_in_terminal(command: list[str]) -> str:
    """Run a command on a terminal of its own; return what it printed on standard output."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.DEVNULL) as process:
        os.close(writer)
        parts = []
        try:
            while part := os.read(reader, 65536):
                parts.append(part)
        except OSError:  # the end of a terminal, on Linux
            pass
    os.close(reader)
    if process.returncode:
        sys.exit(f"`judged demo` ended with exit code {process.returncode}")
    return b"".join(parts).decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main()
