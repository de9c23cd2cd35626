"""Draws the pictures of the documentation: what a terminal shows at the end of `judged demo`."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from judged.cli.scored import Scored, compared
from judged.demo.demonstrate import demonstrate
from judged.report.text import to_text

HERE = Path(__file__).parent


def main() -> None:
    """Write demo.svg beside this file."""
    evaluations = demonstrate().evaluations
    scored = Scored("", [], evaluations, compared=compared(evaluations))
    console = Console(record=True, width=86, file=io.StringIO())
    console.print(Text.from_ansi("$ judged demo\n"))
    console.print(Text.from_ansi(to_text(scored.means(), bold=True)))
    comparisons = scored.comparisons()
    if comparisons is not None:
        console.print(Text.from_ansi(to_text(comparisons, bold=True)))
    drawn = console.export_svg(title="judged demo", unique_id="judged-demo")
    # The picture is to be seen without asking another server for a font.
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    (HERE / "demo.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
