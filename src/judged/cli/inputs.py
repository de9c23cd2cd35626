"""Input arguments: files, standard input, and runs with explicit names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import click

from judged.errors import BadInput
from judged.problem import Problem

STANDARD_INPUT = "-"
INPUTS = "judged.inputs"
"""The key under which the context of a command has the files that were given, by argument."""
COMPRESSED = {".gz", ".zst", ".zstd"}


@dataclass(frozen=True, slots=True)
class Input:
    """A run on the command line: its name and its path."""

    name: str
    path: str

    @property
    def label(self) -> str:
        """The name in error messages: the file as it was given."""
        return stem(self.path) if self.path == STANDARD_INPUT else self.path


class InputPath(click.ParamType):  # type: ignore[type-arg]  # only the newest click takes one
    """A file, a folder, a data set id or `-`; `NAME=PATH` names a run."""

    name = "path"

    def __init__(self, *, named: bool = False) -> None:
        self.named = named

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the argument, after checking that the file exists: of several runs, a missing one is found at once."""
        text = str(value)
        path = split_name(text)[1] if self.named else STANDARD_INPUT
        pattern = self.named and bool(glob(path))  # noqa: PTH207 - it may be absolute or relative
        if path != STANDARD_INPUT and ":" not in path and not Path(path).exists() and not pattern:
            from judged.io.open import missing_file

            raise missing_file(Path(path))
        if ctx is not None and param is not None and param.name is not None:
            ctx.meta.setdefault(INPUTS, {}).setdefault(param.name, []).append(text)
        return text

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Complete file names."""
        return click.Path().shell_complete(ctx, param, incomplete)


def split_name(text: str) -> tuple[str | None, str]:
    """Split `NAME=PATH`; an existing file of that name is not split."""
    name, equals, path = text.partition("=")
    if not equals or not name or Path(text).exists():
        return None, text
    return name, path


def named_runs(arguments: tuple[str, ...]) -> list[Input]:
    """Return every run with its name; two runs of the same name are an error."""
    from judged.io.open import name_sources

    given = list(map(split_name, arguments))
    names = {path: name for name, path in name_sources(path for name, path in given if name is None)}
    runs = [Input(name or names[path] or stem(path), path) for name, path in given]
    first: dict[str, Input] = {}
    for run in runs:
        other = first.setdefault(run.name, run)
        if other is not run:
            subject = "the runs"
            message = f"`{other.path}` and `{run.path}` both have this name, expected different names"
            hint = f"name them: `first={other.path} second={run.path}`"
            raise BadInput(subject, [Problem.error("repeated-name", f"run `{run.name}`", message)], hint=hint)
    return runs


def check_standard_input(paths: list[str]) -> None:
    """Raise `UsageError` if more than one input is standard input."""
    if paths.count(STANDARD_INPUT) > 1:
        msg = "only one input can be read from standard input (`-`)"
        raise click.UsageError(msg)


def refuse_inputs(outputs: Iterable[str | Path], named: Iterable[str] = ()) -> None:
    """Raise `UsageError` if a file to be written is also one that the command reads, or a file of its settings names."""
    read = (*_list_inputs(), *named)
    inputs = [path for path in read if path != STANDARD_INPUT and Path(path).exists()]
    for output in map(Path, outputs):
        for path in inputs:
            if output.exists() and output.samefile(path):
                msg = (
                    f"`{output}` is an input of this command and would be overwritten; write to another file"
                )
                raise click.UsageError(msg)


def _list_inputs() -> Iterator[str]:
    """Yield the files that the command was given to read."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    for texts in context.meta.get(INPUTS, {}).values():
        yield from (split_name(text)[1] for text in texts)
    for param in context.command.params:
        if isinstance(param.type, click.Path) and param.type.exists:
            value = context.params.get(param.name or "")
            yield from map(str, value if isinstance(value, tuple) else () if value is None else (value,))


def stem(path: str) -> str:
    """Return the name of a file without its extension and compression.

    >>> stem("runs/bm25.run.gz"), stem("-")
    ('bm25', 'standard input')
    """
    if path == STANDARD_INPUT:
        return "standard input"
    name = Path(path).name or Path(path).resolve().name
    bare = Path(name)
    if bare.suffix.lower() in COMPRESSED:
        bare = bare.with_suffix("")
    return bare.stem
