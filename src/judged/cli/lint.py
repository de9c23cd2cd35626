"""`judged lint`: what is wrong or notable with judgments and runs, and cleaned copies of them."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.inputs import STANDARD_INPUT, InputPath, check_standard_input, named_runs, split_name
from judged.cli.options import intents_option, join_option
from judged.cli.output import file_option, force_option, format_option, print_line, to_screen
from judged.cli.progress import Progress
from judged.store.files import standard_input

if TYPE_CHECKING:
    from judged.errors import BadInput
    from judged.io.sniff import Kind as Role

FAULTY = 2
EXAMPLES = """\b
Examples:
  judged lint qrels.txt
  judged lint qrels.txt bm25.run
  judged lint qrels.txt *.run --strict --format json > lint.json
  judged lint qrels.txt bm25.run --fix best -o bm25.clean.run
  judged lint qrels.txt bm25.run --fix first -o clean.qrels -o clean.run
"""


@dataclass(frozen=True, kw_only=True)
class LintOptions:
    """Options of what is checked, printed and written."""

    format: str = format_option(["table", "json"], excludes=("--quiet",))
    policy: str | None = option(
        "--fix [first|last|best]",
        "Write cleaned copies; of repeated documents keep the first, the last, or the one with the highest score or grade.",
    )
    outputs: tuple[str, ...] = file_option(
        ", a cleaned copy: give one for each RUN, or one for QRELS and then one for each RUN.",
        multiple=True,
        type=str,
    )
    intents: bool = intents_option()
    join: bool = join_option()
    force: bool = force_option(needs="--fix")
    strict: bool = flag("--strict", "Treat warnings as errors.")
    quiet: bool = flag("-q --quiet", "Print nothing; the exit code is the answer.")


@click.command("lint", cls=Command, epilog=EXAMPLES)
@click.argument("qrels", type=InputPath())
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=InputPath(named=True))
@options("options", LintOptions)
def command(qrels: str, runs: tuple[str, ...], *, options: LintOptions) -> None:
    """Check the judgments in QRELS and each RUN, and report what is wrong or notable.

    A folder or a pattern is several runs, one a file, unless --join makes one of them; a table with a column `system` holds
    several. Errors are what `judged score` refuses; the exit code is 2 if there are any. Unlike it, lint reads whole files,
    and lists every kind of finding with its count and first places. With --fix, cleaned copies of TREC files are
    written, never in place, and only files that were not fixed count for the exit code.
    """
    from judged.blocks import Display
    from judged.checks.lint import lint

    check_standard_input([qrels, *(split_name(run)[1] for run in runs)])
    systems = [run.system for run in named_runs(runs, join=options.join)]
    paths = tuple(system.path for system in systems)
    fixed = _copies(qrels, paths, options.policy, options.outputs)
    given = {path: _content(path) for path in (qrels, *paths)}
    checked = [given[STANDARD_INPUT] if system.path == STANDARD_INPUT else system for system in systems]
    with Progress("Checking", enabled=not options.quiet) as progress:
        report = lint(given[qrels], *checked, intents=options.intents, progress=progress)
    if not options.quiet:
        click.echo(report.render(options.format, to_screen(Display())), nl=False)
    how = {"policy": options.policy, "force": options.force, "intents": options.intents}
    for path, role, destination in fixed:
        _fix(given[path], destination, role=role, **how)
    left = report.files[: len(report.files) - len(fixed)]  # copies are made of all runs, or of all inputs
    grave = {"error", "warning"} if options.strict else {"error"}
    if any(finding.severity in grave for file in left for finding in file.findings):
        raise click.exceptions.Exit(FAULTY)


def _copies(
    qrels: str, runs: tuple[str, ...], policy: str | None, outputs: tuple[str, ...]
) -> list[tuple[str, str, str]]:
    """Return the inputs to be fixed, with their roles and the paths of the copies."""
    if (policy is None) != (not outputs):
        msg = "`--fix` and `-o` need each other: which of repeated documents to keep, and where to write the copy"
        raise click.UsageError(msg)
    from judged.io.write import check_trec_extension

    inputs = [(qrels, "judgments"), *((run, "run") for run in runs)]
    if outputs and len(outputs) not in {len(runs), len(inputs)}:
        expected = f"{len(runs)} (each RUN) or {len(inputs)} (QRELS too)" if runs else "once"
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
