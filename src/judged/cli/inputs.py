"""Input arguments: files, standard input, and runs with explicit names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.errors import BadInput, JudgedError
from judged.problem import Note, Problem

if TYPE_CHECKING:
    from judged.io.systems import System

STANDARD_INPUT = "-"
INPUTS = "judged.inputs"
"""The key under which the context of a command has the files that were given, by argument."""
MAP = "judged.map"
"""The key under which the context of a command has the columns that the user names."""
NOTHING_TO_JOIN = "`--join` has no effect without a folder, a pattern, or several files of one folder"
COMPRESSED = {".gz", ".zst", ".zstd"}
_JUDGMENT = re.compile(rb"[^\s,{\[]+[ \t]+\S+[ \t]+\S+[ \t]+-?\d+[ \t]*(?:\r?\n|$)")
"""A row of judgments of TREC."""


@dataclass(frozen=True, slots=True)
class Input:
    """A system on the command line: its name and its path."""

    name: str
    path: str
    system: System
    """What is known of it before it is read."""

    @property
    def label(self) -> str:
        """The name in error messages: the file as it was given."""
        return stem(self.path) if self.path == STANDARD_INPUT else self.path


class InputPath(click.ParamType):  # type: ignore[type-arg]  # only the newest click takes one
    """A file, a folder, a data set id or `-`; `NAME=PATH` names a run."""

    name = "path"

    def __init__(self, *, named: bool = False, or_name: bool = False, table: bool = True) -> None:
        self.named, self.or_name = named, or_name
        self.table = table
        """Whether it is read as a table, whose columns `--map` may name."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the argument, after checking that the file exists: of several runs, a missing one is found at once."""
        text = str(value)
        path = split_name(text)[1] if self.named else STANDARD_INPUT
        pattern = self.named and bool(glob(path))  # noqa: PTH207 - it may be absolute or relative
        there = path == STANDARD_INPUT or ":" in path or Path(path).exists() or pattern
        if not there and not (self.or_name and _is_bare(path)):
            from judged.io.open import missing_file

            raise missing_file(Path(path))
        if ctx is not None and param is not None and param.name is not None:
            ctx.meta.setdefault(INPUTS, {}).setdefault(param.name, []).append(text)
        return _keep_columns(text, ctx) if self.table else text

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Complete file names."""
        return click.Path().shell_complete(ctx, param, incomplete)


class SystemName(click.ParamType):  # type: ignore[type-arg]  # as above
    """The name of a system, or the path of its file; `NAME=PATH` names one."""

    name = "name"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; a file is one of the inputs of the command."""
        text = str(value)
        path = split_name(text)[1]
        if _is_bare(path) or not Path(path).exists():
            return text
        if ctx is not None and param is not None and param.name is not None:
            ctx.meta.setdefault(INPUTS, {}).setdefault(param.name, []).append(text)
        return _keep_columns(text, ctx)

    shell_complete = InputPath.shell_complete


def _is_bare(path: str) -> bool:
    from judged.io.systems import is_bare

    return is_bare(path)


def _keep_columns(text: str, context: click.Context | None) -> str:
    """Return the path with the columns that `--map` names."""
    if context is None or context.meta.get(MAP) is None:
        return text
    from judged.tables.mapping import MappedPath

    return MappedPath(text, context.meta[MAP])


def split_name(text: str) -> tuple[str | None, str]:
    """Split `NAME=PATH`; an existing file of that name is not split."""
    name, equals, path = text.partition("=")
    if not equals or not name or Path(text).exists():
        return None, text
    if type(text) is not str:
        from judged.tables.mapping import keep_map

        path = keep_map(path, text)
    return name, path


def named_runs(arguments: tuple[str, ...], *, join: bool = False) -> list[Input]:
    """Return every system of some runs, folders and patterns with its name; two of the same name are an error.

    With `join`, each argument is one system, whose files are parts of one run; so is one with a name, `NAME=PATTERN`.
    """
    from judged.io.open import Joined
    from judged.io.systems import name_systems

    given: list[object] = []
    for text in arguments:
        name, path = split_name(text)
        given += [path] if name is None else name_systems({name: path})
    systems = [
        replace(system, name=system.name or stem(system.path)) for system in name_systems(given, join=join)
    ]
    runs = [Input(str(system.name), system.path, system) for system in systems]
    if join and not any(isinstance(run.system.source, Joined) for run in runs):
        raise click.UsageError(NOTHING_TO_JOIN)
    _refuse_repeated(runs)
    return runs


def with_baselines(
    arguments: tuple[str, ...], baselines: Iterable[str], *, join: bool = False
) -> list[Input]:
    """Return every system of some runs, and of the baselines that are files not among them."""
    runs = named_runs(arguments, join=join)
    others = find_unlisted_baselines(baselines, [run.path for run in runs], [run.name for run in runs])
    if others and not join:  # together, so that files of one name have those of their folders too
        return named_runs((*arguments, *others))
    runs += named_runs(others)
    _refuse_repeated(runs)
    return runs


def find_unlisted_baselines(
    baselines: Iterable[str], paths: Iterable[str], names: Iterable[str]
) -> tuple[str, ...]:
    """Return the baselines that are files which are not listed, as they were written."""
    from judged.io.systems import find_unlisted

    by_path = {split_name(text)[1]: text for text in baselines}
    return tuple(by_path[path] for path in find_unlisted(by_path, paths, names))


def _refuse_repeated(runs: Iterable[Input]) -> None:
    """Raise `BadInput` for two systems of the same name."""
    first: dict[str, Input] = {}
    for run in runs:
        other = first.setdefault(run.name, run)
        if other is not run:
            subject = "the runs"
            message = f"`{other.path}` and `{run.path}` both have this name, expected different names"
            hint = f"name them: `first={other.path} second={run.path}`"
            raise BadInput(subject, [Problem.error("repeated-name", f"run `{run.name}`", message)], hint=hint)


def open_predictions(arguments: tuple[str, ...], qrels: str) -> list[Input]:
    """Return the predictions of models for the rows of a file of judgments, as runs."""
    if not arguments:
        return []
    from judged.io.predictions import read_predictions

    if qrels == STANDARD_INPUT:
        msg = "the rows of `--predictions` are read from QRELS as well, which cannot be standard input (`-`) then"
        raise click.UsageError(msg)
    return [
        replace(
            model,
            system=replace(
                model.system, source=read_predictions(model.path, qrels, name=model.name), named=True
            ),
        )
        for model in named_runs(arguments)
    ]


def need_run(path: str) -> str:
    """Return the path if the file holds a run next to its judgments; raise `UsageError` if a run has to be named."""
    from judged.io import read

    if path == STANDARD_INPUT or not read.holds_both(path):
        msg = (
            "Missing argument 'RUN...', or `--predictions FILE`; QRELS alone does if it also lists what was retrieved,"
            " as samples of ragas do."
        )
        from judged.cli.scores import suggest_scores

        general = "`--scores` reads values of measures by query, which any tool computed"
        msg = f"{msg} {suggest_scores(click.get_current_context()) or general}."
        raise click.UsageError(msg)
    return path


def one_run(argument: str, *, join: bool = False) -> Input:
    """Return the only system of an argument; raise `BadInput` with their names if it has several."""
    from judged.io.systems import refuse_several

    runs = named_runs((argument,), join=join)
    if len(runs) > 1:
        raise refuse_several(argument, [run.name for run in runs])
    return runs[0]


def list_runs(qrels: str, runs: tuple[str, ...]) -> tuple[tuple[str, ...], list[Note]]:
    """Return the runs to score, and a note where QRELS lists results of its own, as samples of ragas do.

    Without a run these are scored; so they are where every run is such a file, which then has to expect what QRELS does.
    """
    if not runs:
        return (need_run(qrels),), []
    path = split_name(qrels)[1]
    named = [split_name(text)[1] for text in runs]
    if path in named or not holds_both(path):
        return runs, []
    if not all(holds_both(other) for other in named):
        message = (
            f"{path} also lists what was retrieved, which is not scored: to score it, name it as a run, too"
        )
        return runs, [Note("unscored-results", "info", message)]
    check_same_judgments([path, *named])
    message = f"each of these files lists what was retrieved: all {len(runs) + 1} are scored, by the judgments of {path}"
    return (qrels, *runs), [Note("several-samples", "info", message)]


def holds_both(path: str) -> bool:
    """Return whether a file lists what each query expects, and what was retrieved for it; not for one that cannot be read."""
    from judged.io.systems import may_hold_several

    if not (may_hold_several(path) and Path(path).is_file()):
        return False  # TREC text has no columns
    from judged.io import read

    try:
        return not _begins_with_a_judgment(path) and read.holds_both(path)
    except JudgedError:
        return False


def _begins_with_a_judgment(path: str) -> bool:
    """Return whether a file begins as judgments of TREC do, which are nothing else; large ones are not read for it."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return _JUDGMENT.match(file.read(1024)) is not None


def check_same_judgments(paths: Sequence[str]) -> None:
    """Raise `BadInput` for a query of which two files expect different documents."""
    from judged.io.read import read_judgments
    from judged.tables.schema import JUDGMENTS

    def read(path: str) -> dict[str, set[tuple[str, float]]]:
        expected: dict[str, set[tuple[str, float]]] = {}
        table = read_judgments(path).to_arrow()
        for query, document, grade in zip(
            *(table[name].to_pylist() for name in JUDGMENTS.nested), strict=True
        ):
            expected.setdefault(query, set()).add((document, grade))
        return expected

    first, *others = ((path, read(path)) for path in paths)
    for path, judgments in others:
        shared = (query for query in judgments if query in first[1])
        query = next((query for query in shared if judgments[query] != first[1][query]), None)
        if query is not None:
            message = (
                f"{first[0]} and {path} expect different documents of it, and both list results to score"
            )
            problem = Problem.error("other-judgments", f"query `{query}`", message)
            hint = f"write the judgments to a file of their own: `judged convert {first[0]} qrels.txt --kind judgments`"
            raise BadInput("the samples", [problem], hint=hint)


def split_tables(runs: Iterable[Input]) -> Iterator[Input]:
    """Yield every system, those of a table with a column `system` one by one, each chosen by its name."""
    from judged.io.read import list_table_systems
    from judged.io.systems import may_hold_several

    for run in runs:
        several = may_hold_several(run.system.source) and run.path != STANDARD_INPUT
        names = list_table_systems(run.system.source) if several and not run.system.named else []
        if len(names) < 2:
            yield run
        for name in names if len(names) > 1 else ():
            yield Input(name, run.path, replace(run.system, name=name, named=True))


def find_baselines(wanted: Iterable[str], runs: Sequence[Input]) -> tuple[str, ...]:
    """Return the names of systems that are given by their names, or by their paths as typed.

    What is neither is returned as it is: it may be the name of a system in a table.
    """
    from judged.io.systems import find_system

    paths = {run.name: run.path for run in runs}
    return tuple(find_system(split_name(text)[1], paths) or text for text in wanted)


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
