"""Output of results: standard output, and files in the format that their extension names."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import TABLES, Declared, flag, option
from judged.cli.inputs import refuse_inputs
from judged.report.draw import PICTURES
from judged.result import EXTENSIONS, find_extension, pack
from judged.wording import to_message

if TYPE_CHECKING:
    from judged.blocks import Display
    from judged.problem import Note
    from judged.result import ProtocolRecord, Result

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "latex", "parquet")


GATE_EXTENSIONS = {".txt": "table", ".md": "markdown", ".xml": "junit", ".json": "json", ".html": "html"}
REPORT_EXTENSIONS = {".html": "html"}
SHEET_EXTENSIONS = {".csv": "csv"}
_EXTENSION = re.compile(r"\.(?!v\d)[A-Za-z][A-Za-z0-9]{1,7}")
"""An extension, which the names of folders lack: `results-1.0` and `results.v2` have none."""
OUTPUT = "Output"
"""Heading of these options in help."""
TEXT_FORMATS = "TSV, JSONL, CSV, Parquet, or a BEIR folder"
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)


quiet_option = partial(
    flag, "-q --quiet", "Suppress notes and progress on standard error; serious warnings are still printed."
)
force_option = partial(flag, "--force", "Overwrite a file that exists.")
documents_option = partial(
    option,
    "--documents FILE",
    f"Texts of documents by id ({TEXT_FORMATS}).",
    type=click.Path(exists=True),
)


def file_option(note: str, **settings: object) -> Declared:
    """Declare the one file that a command writes; `note` says in which formats."""
    return option("-o --output FILE", f"File to write{note}", **{"type": OUTPUT_FILE, **settings})


def format_option(formats: Sequence[str], **settings: object) -> Declared:
    """Declare the format of standard output."""
    text = "Format of standard output."
    return option("--format", text, type=click.Choice(formats), default=formats[0], **settings)


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options of what a command prints, and of the files that it writes."""

    format: str = format_option(FORMATS)
    paths: tuple[Path, ...] = option(
        "-o --output FILE",
        "Also write the result to FILE, in the format of its extension; may be repeated.",
        multiple=True,
        type=OUTPUT_FILE,
    )
    documents: str | None = documents_option(needs="-o FILE.html")
    digits: int = option(
        "--digits N", "Decimals in tables.", needs=TABLES, type=click.IntRange(0, 17), default=4
    )
    quiet: bool = quiet_option()
    verbose: bool = flag(
        "-v --verbose",
        "Print the protocol in full, and every system that a note is about.",
        excludes=("--quiet",),
    )
    escape_formulas: bool = flag(
        "--escape-formulas",
        "Put an apostrophe before CSV and TSV cells that a spreadsheet would run as formulas.",
        needs=("--format csv|tsv", "-o FILE.csv|.tsv"),
    )
    bare_latex: bool = flag(
        "--bare-latex",
        "In LaTeX, write each `tabular` alone, without `table`, caption and label.",
        needs=("--format latex", "-o FILE.tex"),
    )

    def check(self, *, pictures: bool = False) -> None:
        """Refuse what cannot be written, before any work is done; `pictures` allows those of a figure."""
        for path in self.paths:
            check_extension(path, {**EXTENSIONS, **(PICTURES if pictures else {})})
        refuse_inputs(self.paths)
        if self.format == "parquet" and sys.stdout.isatty():
            msg = "Parquet cannot be shown on a terminal; write it to a file with `-o scores.parquet`"
            raise click.UsageError(msg)


def check_extension(path: Path, extensions: Mapping[str, str] = EXTENSIONS) -> str:
    """Return the format that a file's extension names; its folder must exist."""
    extension = find_extension(path, extensions)
    if not path.parent.is_dir():
        msg = f"`{path}` cannot be written: `{path.parent}` is not a folder"
        raise click.UsageError(msg)
    return extensions[extension]


def split_output(output: OutputOptions) -> tuple[Path | None, OutputOptions]:
    """Return the folder among what is to be written, and the files; a name with an extension is that of a file."""
    files = tuple(path for path in output.paths if _EXTENSION.fullmatch(path.suffix) and not path.is_dir())
    folders = [path for path in output.paths if path not in files]
    if len(folders) > 1:
        msg = f"{len(folders)} folders are given with -o ({', '.join(map(str, folders))}), expected one"
        raise click.UsageError(msg)
    return (folders[0] if folders else None), replace(output, paths=files)


def emit(
    result: Result,
    output: OutputOptions,
    *,
    display: Display | None = None,
    notes: Sequence[Note] = (),
    written: Sequence[Path] = (),
) -> None:
    """Print a result and write it to the files asked for; print the protocol and notes on standard error.

    What puts all numbers in doubt comes first, also when quiet. `notes` are added to those of the result, `written`
    to the list of files written.
    """
    from judged.blocks import Display
    from judged.problem import split_doubts
    from judged.store.files import write_file

    shown = replace(
        display or Display(),
        digits=output.digits,
        notes=False,
        escape_formulas=output.escape_formulas,
        floating=not output.bare_latex,
    )
    # files before standard output, whose reader may leave early
    for path in output.paths:
        extension = find_extension(path, {**EXTENSIONS, **PICTURES})
        write_file(path, pack(path, _render_file(result, extension, shown, output.documents)))
    added = (*notes, *result.provenance.changes, *check_texts(result, shown.texts))
    doubts, others = split_doubts((*result.shown_notes(shown), *added))
    print_notes(doubts, verbose=output.verbose)
    click.echo(result.render(output.format, to_screen(shown)), nl=False)
    if not output.quiet:
        separate_notes()
        profile = result.summary().get("profile")
        if profile is not None:
            print_line(f"Profile: {profile}")
        print_protocols(result.provenance.protocols, verbose=output.verbose)
        print_notes(others, (*output.paths, *written), verbose=output.verbose)


def check_texts(result: Result, texts: Mapping[str, str]) -> Iterator[Note]:
    """Yield a warning if texts of queries were given, and none of them is of a query of the result."""
    from judged.problem import Note

    units = set(_list_units(result)) if texts else set()
    if units and units.isdisjoint(texts):
        given, scored = (f"`{min(ids)}`" for ids in (texts, units))
        message = f"none of the ids in `--queries` (such as {given}) is that of a query (such as {scored})"
        yield Note("unmatched-texts", "warning", message)


def _list_units(result: Result) -> Iterable[str]:
    """Return the ids of the queries, tasks or sessions that a result shows."""
    if hasattr(result, "query"):
        return [str(result.query)]
    for table in result.tables().values():
        for name in {"query", "task", "session"}.intersection(table.column_names):
            return [str(unit) for unit in table[name].unique().to_pylist()]
    return []


def to_screen(display: Display) -> Display:
    """Return the display with the width and the emphasis of the terminal; without one, the layout is fixed."""
    return replace(display, width=terminal_width(), bold=supports_bold())


def terminal_width(*, errors: bool = False) -> int | None:
    """Return the columns of the terminal that results, or `errors`, are printed on; None if it is none."""
    if not (sys.stderr if errors else sys.stdout).isatty():
        return None
    from shutil import get_terminal_size  # which loads everything that packs files

    return get_terminal_size().columns


def _render_file(result: Result, extension: str, display: Display, documents: str | None) -> str | bytes:
    """Return a result as the content of a file; a picture is of its first figure."""
    if extension in PICTURES:
        from judged.blocks import Figure
        from judged.report.draw import draw

        return draw(next(block for block in result.blocks(display) if isinstance(block, Figure)), extension)
    if extension == ".html":
        return _render_report(result, display, documents)
    if extension == ".json":
        return result.to_json(per_query=display.per_query)
    return result.render(EXTENSIONS[extension], display)


def _render_report(result: Result, display: Display, documents: str | None) -> str:
    from judged.report.page import render_report

    return render_report(
        [result], queries=display.texts or None, documents=documents, command=describe_command()
    )


def describe_command() -> str:
    """Return the command line, as a shell would read it."""
    from shlex import join

    return join(["judged", *sys.argv[1:]])


def separate_notes() -> None:
    """Print an empty line between results and notes where both are on the terminal."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        click.echo(err=True)


def print_protocols(records: Iterable[ProtocolRecord], *, verbose: bool = False) -> None:
    """Print protocols, each with its measures if there are several, on standard error."""
    protocols = dict.fromkeys(
        (record.describe(verbose=verbose), record.labels) for record in records if record.text
    )
    for text, names in protocols:
        measures = f" of {', '.join(names)}" if names and len(protocols) > 1 else ""
        print_line(f"Protocol{measures}: {text}")


def print_notes(notes: Iterable[Note], paths: Sequence[Path] = (), *, verbose: bool = False) -> None:
    """Print notes, grouped by fact, and the files that were written, on standard error.

    A note names a few systems and counts the others; if `verbose`, it names all.
    """
    from judged.problem import NAMED, group_notes

    for severity, text in group_notes(notes, most=None if verbose else NAMED):
        print_line(f"{'Warning' if severity == 'warning' else 'Note'}: {text}")
    for path in paths:
        print_line(f"Wrote: {path}")
    _explain_missing_figures(paths)


def _explain_missing_figures(paths: Sequence[Path]) -> None:
    """Say that reports were written without figures, and how to add them."""
    reports = [path for path in paths if path.name.lower().removesuffix(".gz").endswith(".html")]
    if not reports:
        return
    from judged.report.vega import HOW_TO_DRAW, can_draw

    if not can_draw():
        print_line(f"Note: {', '.join(map(str, reports))} has no figures: {HOW_TO_DRAW}")


def print_line(text: str) -> None:
    """Print a line on standard error, wrapped to the terminal if it is one."""
    from judged.report.text import wrap

    shown = to_message(text)
    width = terminal_width(errors=True)
    click.echo(shown if width is None else "\n".join(wrap(shown, width, indent="  ")), err=True)


def supports_bold() -> bool:
    """Return whether standard output is a terminal that shows bold text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
