"""What the Python examples of the documentation print is what the comments beside them say.

A printed line is shown as a comment that begins with an arrow: `print(1 + 1)  # → 2`, or below the statement.
`JUDGED_UPDATE_DOCS=1` writes trailing comments anew, for a person to check.
"""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from docs.test_docs import blocks, commands, printed as run_command

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    if "```python" in path.read_text("utf-8")
)
BLOCK = re.compile(
    r"(?P<skip><!-- not run:[^\n]*-->\n+)?^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMANDS_TOO = frozenset(["test-sets.md"])
"""Pages whose Python examples read what their commands wrote, so that both are run."""
SHOWN = re.compile(r"# → ?(.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_print_what_their_comments_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block by block, the lines that are printed are those that are shown."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    shown, printed, fresh = [], [], text
    for block in BLOCK.finditer(text):
        if block["title"]:
            Path(block["title"]).write_text(block["body"], encoding="utf-8")
        if block["language"] == "console" and page.name in COMMANDS_TOO:
            for command in commands(next(blocks(block[0]))):
                run_command(command.text)
        if block["language"] != "python" or block["skip"]:
            continue
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(block["body"], str(page), "exec"), namespace)  # noqa: S102 - the documentation is ours
        shown.append(SHOWN.findall(block["body"]))
        printed.append(out.getvalue().splitlines())
        fresh = fresh.replace(block["body"], _anew(block["body"], printed[-1]))
    if os.environ.get("JUDGED_UPDATE_DOCS"):
        page.write_text(fresh, encoding="utf-8")
        return

    assert printed == shown


def _anew(body: str, printed: list[str]) -> str:
    """The block with each shown line replaced by the printed one."""
    lines = iter(printed)
    return SHOWN.sub(lambda _: f"# → {next(lines, '')}".rstrip(), body)
