"""Every example in the documentation is run: Python blocks, and console blocks with the output they show.

In one document, blocks run in order, in one folder of their own and one Python namespace:

- a block with `title="name"` writes that file;
- a `python` block is executed;
- a `console` block runs each line that begins with `$ `, and compares what is printed with the lines below it;
- a comment `<!-- not run: reason -->` above a block leaves it out.

`JUDGED_UPDATE_DOCS=1` writes what was printed into the document instead, for a person to check.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from judged.cli.main import judged

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if path.exists())
FENCE = re.compile(r"(?P<fence>```+)(?P<language>\w*)(?:[ ]+title=\"(?P<title>[^\"]+)\")?[^`]*$")
NOT_RUN = re.compile(r"<!-- not run: \S.*-->")
UPDATE = bool(os.environ.get("JUDGED_UPDATE_DOCS"))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title, its lines and their place."""

    language: str
    title: str | None
    lines: tuple[str, ...]
    first: int
    """The index of its first line in the document."""
    run: bool


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    lines = text.splitlines()
    at, marked = 0, False
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence is None:
            marked = bool(NOT_RUN.fullmatch(lines[at].strip())) or (marked and not lines[at].strip())
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == fence["fence"]), len(lines))
        yield Block(fence["language"], fence["title"], tuple(lines[at + 1 : end]), at + 1, not marked)
        at, marked = end + 1, False


@dataclass(frozen=True)
class Command:
    """One line of a console block, and what the document says it prints."""

    text: str
    expected: str
    first: int
    """The index in the document of the first line of output."""
    lines: int


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    starts = [number for number, line in enumerate(block.lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        first = start
        while block.lines[first].endswith("\\"):
            first += 1
        text = "".join(line.removesuffix("\\") for line in block.lines[start : first + 1])
        output = block.lines[first + 1 : end]
        yield Command(text.removeprefix("$ "), tidy("\n".join(output)), block.first + first + 1, len(output))


def tidy(text: str) -> str:
    """The text without blanks at the ends of lines, and without blank lines at its end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def printed(command: str) -> str:
    """What a command prints on both streams: ours runs in this process, a pipeline in a shell."""
    if any(sign in command for sign in "|<>*"):
        return _in_a_shell(command)
    program, *arguments = shlex.split(command, comments=True)
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    assert program == "judged", f"`{program}` is not run here; say `<!-- not run: reason -->` above the block"
    result = CliRunner().invoke(judged, arguments)
    assert result.exit_code in {0, 2}, result.output
    return result.output


def _in_a_shell(command: str) -> str:
    judged_here = f'judged() {{ {shlex.quote(sys.executable)} -m judged "$@"; }}'
    done = subprocess.run(
        ["sh", "-c", f"{judged_here}\n{command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    # a program that fails where its output goes to a file would show only in what comes later
    assert done.returncode in {0, 2}, f"`{command}` ended with {done.returncode}: {done.stdout}"
    return done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_do_what_the_document_says(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every block runs, and every command prints what is shown below it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path / "cache"))
    text = document.read_text(encoding="utf-8")
    lines, shift, namespace = text.splitlines(), 0, {"__name__": "__main__"}
    for block in (block for block in blocks(text) if block.run):
        if block.title is not None:
            Path(block.title).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
        elif block.language == "python":
            code = compile("\n" * block.first + "\n".join(block.lines), str(document), "exec")
            exec(code, namespace)  # noqa: S102 - the documentation is ours
        elif block.language == "console":
            for command in commands(block):
                shown = tidy(printed(command.text))
                if UPDATE:
                    start = command.first + shift
                    lines[start : start + command.lines] = shown.splitlines()
                    shift += len(shown.splitlines()) - command.lines
                    continue

                assert shown == command.expected, f"{document}: $ {command.text}"
    if UPDATE:
        document.write_text("\n".join(lines) + "\n", encoding="utf-8")


SAMPLE = """\
```text title="a.txt"
one
```

<!-- not run: for a reason -->
```console
$ reboot
```

```console
$ cat a.txt
one
$ cat \\
  a.txt
two
```
"""


def test_blocks_are_found_as_described() -> None:
    """Titles, marks, continued lines and outputs are separated."""
    titled, marked, console = blocks(SAMPLE)

    assert (titled.title, titled.lines, titled.run) == ("a.txt", ("one",), True)
    assert not marked.run
    assert [(command.text, command.expected) for command in commands(console)] == [
        ("cat a.txt", "one"),
        ("cat   a.txt", "two"),
    ]


def test_there_is_documentation() -> None:
    """The guide to the command line, at least, is run."""
    assert ROOT / "docs" / "guides" / "command-line.md" in DOCUMENTS
