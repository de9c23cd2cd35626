"""`judged lint`: what is wrong or notable with judgments and runs, and cleaned copies of them."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.inputs import STANDARD_INPUT, InputPath, check_standard_input, named_runs, split_name
from judged.cli.options import intents_option, join_option
from judged.cli.output import file_option, force_option, format_option, print_line, to_screen
from judged.cli.progress import Progress
from judged.store.files import standard_input

if TYPE_CHECKING:
    from judged.checks.result import LintReport
    from judged.errors import BadInput
    from judged.io.sniff import Kind as Role
    from judged.io.systems import System

FAULTY = 2
EXAMPLES = """\b
Examples:
  judged lint qrels.txt bm25.run
  judged lint *.run --qrels qrels.txt --strict --format json > lint.json
  judged lint qrels.txt bm25.run --fix best -o bm25.clean.run
  judged lint qrels.txt bm25.run --fix first -o clean.qrels -o clean.run
"""


@dataclass(frozen=True, kw_only=True)
class LintOptions:
    """Options of what is checked, printed and written."""

    qrels: str | None = option(
        "--qrels FILE",
        "Judgments that runs are checked against, by default those among the FILEs.",
        type=InputPath(),
    )
    format: str = format_option(["table", "json"], excludes=("--quiet",))
    policy: str | None = option(
        "--fix [first|last|best]",
        "Write cleaned copies; of repeated documents keep the first, the last, or the one with the highest score or grade.",
    )
    outputs: tuple[str, ...] = file_option(
        ", a cleaned copy: give one for each run, or one for the judgments and then one for each run.",
        multiple=True,
        type=str,
    )
    intents: bool = intents_option()
    join: bool = join_option()
    force: bool = force_option(needs="--fix")
    strict: bool = flag("--strict", "Treat warnings as errors.")
    quiet: bool = flag("-q --quiet", "Print nothing; the exit code is the answer.")


@click.command("lint", cls=Command, epilog=EXAMPLES)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", LintOptions)
def command(files: tuple[str, ...], *, options: LintOptions) -> None:
    """Check judgments and runs, and report what is wrong or notable.

    Each FILE is known by its columns, so they may be in any order; runs are checked against the judgments, where there is
    one file of them. A folder or a pattern is several runs, one per file, unless --join makes one of them; a table with a column
    `system` holds several. Errors are what `judged score` refuses; the exit code is 2 if there are any. Unlike it, lint
    reads whole files, and lists every kind of finding with its count and first places. With --fix, cleaned copies of
    TREC files are written, never in place, and only files that were not fixed count for the exit code.
    """
    from judged.blocks import Display

    inputs = _sort_inputs(files, options)
    paths = (*inputs.judgments, *(system.path for system in inputs.runs))
    check_standard_input(list(paths))
    fixed = _copies(inputs, options.policy, options.outputs)
    given = {path: _content(path) for path in paths}
    with Progress("Checking", enabled=not options.quiet) as progress:
        report = _lint(inputs, given, intents=options.intents, progress=progress)
    if not options.quiet:
        click.echo(report.render(options.format, to_screen(Display())), nl=False)
    how = {"policy": options.policy, "force": options.force, "intents": options.intents}
    for path, role, destination in fixed:
        _fix(given[path], destination, role=role, **how)
    left = report.files[: len(report.files) - len(fixed)]  # copies are made of all runs, or of all inputs
    grave = {"error", "warning"} if options.strict else {"error"}
    if any(finding.severity in grave for file in left for finding in file.findings):
        raise click.exceptions.Exit(FAULTY)


class _Inputs(NamedTuple):
    """The files on the command line by what they hold."""

    judgments: tuple[str, ...]
    runs: tuple[System, ...]
    reference: str | None
    """The judgments that runs are checked against; None: there are none, or several."""


def _sort_inputs(files: tuple[str, ...], options: LintOptions) -> _Inputs:
    """Return the files by their columns; one that shows neither kind is judgments if it is the first, as `judged score` has it."""
    kinds = {file: _find_kind(split_name(file)[1]) for file in files}
    judgments = [file for file in files if kinds[file] == "judgments"]
    if not judgments and options.qrels is None and kinds[files[0]] is None:
        judgments = [files[0]]
    runs = tuple(file for file in files if file not in judgments)
    chosen = () if options.qrels is None else (options.qrels,)
    systems = tuple(run.system for run in named_runs(runs, join=options.join))
    known = tuple(dict.fromkeys((*chosen, *judgments)))
    return _Inputs(known, systems, known[0] if options.qrels is not None or len(known) == 1 else None)


def _find_kind(path: str) -> Role | None:
    """Return what a file shows that it holds; None for one that does not show it, or cannot be read."""
    from judged.errors import JudgedError
    from judged.io.read import kind_of
    from judged.io.systems import is_collection

    if path == STANDARD_INPUT or is_collection(path):
        return None if path == STANDARD_INPUT else "run"
    try:
        return kind_of(path)
    except (JudgedError, OSError):
        return None


def _lint(inputs: _Inputs, given: Mapping[str, Any], *, intents: bool, progress: Progress) -> LintReport:
    """Return what is found in the runs and in the judgments that they are checked against, and in other judgments."""
    from dataclasses import replace

    from judged.checks.lint import lint
    from judged.problem import Note

    runs = [given[STANDARD_INPUT] if run.path == STANDARD_INPUT else run for run in inputs.runs]
    others = [lint(given[path], intents=intents) for path in inputs.judgments if path != inputs.reference]
    if others and not runs:
        return _join_reports(others)
    reference = None if inputs.reference is None else given[inputs.reference]
    report = lint(reference, *runs, intents=intents, progress=progress)
    if others and reference is None:
        message = f"there are {len(others)} files of judgments, so runs were checked by themselves: `--qrels` names theirs"
        report = replace(report, notes=(*report.notes, Note("several-judgments", "info", message)))
    if inputs.reference is None:
        return _join_reports([*others, report])
    # judgments first, as without others
    first = replace(report, files=report.files[:1])
    return _join_reports([first, *others, replace(report, files=report.files[1:])])


def _join_reports(reports: Sequence[LintReport]) -> LintReport:
    """Return one report of the files of several."""
    from dataclasses import replace

    inputs = dict.fromkeys(file for report in reports for file in report.provenance.inputs)
    return replace(
        reports[0],
        files=tuple(file for report in reports for file in report.files),
        provenance=replace(reports[0].provenance, inputs=tuple(inputs)),
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
    )


def _copies(given: _Inputs, policy: str | None, outputs: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Return the inputs to be fixed, with their roles and the paths of the copies."""
    if (policy is None) != (not outputs):
        msg = "`--fix` and `-o` need each other: which of repeated documents to keep, and where to write the copy"
        raise click.UsageError(msg)
    from judged.io.write import check_trec_extension

    runs = [(run.path, "run") for run in given.runs]
    inputs = [*((path, "judgments") for path in given.judgments), *runs]
    if outputs and len(outputs) not in {len(runs), len(inputs)}:
        both = f"{len(runs)} (each run) or {len(inputs)} (judgments too)"
        expected = both if runs and given.judgments else f"{len(inputs)} (each file)"
        msg = f"`-o` is given {len(outputs)} times, expected {expected}"
        raise click.UsageError(msg)
    chosen = inputs[len(inputs) - len(outputs) :] if outputs else []
    for (path, _), destination in zip(chosen, outputs, strict=True):
        check_trec_extension(destination, source=path)
    return [(path, role, out) for (path, role), out in zip(chosen, outputs, strict=True)]


def _content(path: str) -> Any:
    """Return the path, or the content of standard input, which may be read more than once."""
    if path != STANDARD_INPUT:
        return path
    content = io.BytesIO(standard_input().read())
    content.name = "standard input"
    return content


def _fix(given: Any, destination: str, **how: Any) -> None:
    from judged.checks.fix import fix

    if isinstance(given, io.BytesIO):
        given.seek(0)
    changes = fix(given, destination, **how)
    print_line(f"wrote {destination}: {'; '.join(changes.sentences())}")


def suggest_fix(error: BadInput, inputs: Mapping[str, Sequence[str]]) -> str | None:
    """Return the command that writes a copy without what was refused; None if there is none.

    `inputs` are the files on the command line by argument: `qrels`, and `runs`, `run` or `baseline`.
    """
    from judged.checks.fix import is_fixable
    from judged.cli.inputs import split_name

    qrels = inputs.get("qrels", ())
    runs = [split_name(run)[1] for name in ("runs", "run", "baseline") for run in inputs.get(name, ())]
    roles: dict[str, Role] = {**dict.fromkeys(runs, "run"), **dict.fromkeys(qrels, "judgments")}
    path = error.subject
    if path not in roles or not is_fixable(error, path, roles[path]):
        return None
    name = Path(path)
    copy = str(name.with_name(f"{name.stem}.clean{name.suffix}"))
    files = [path] if path in qrels else [*qrels, path]
    return shlex.join(["judged", "lint", *files, "--fix", "best", "-o", copy])
