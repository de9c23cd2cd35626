"""`judged lint`: what is wrong or notable with judgments and runs, and cleaned copies of them."""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from judged.cli.inputs import STANDARD_INPUT, InputPath, check_standard_input

__all__ = ["command"]

FAULTY = 2
EXAMPLES = """\b
Examples:
  judged lint qrels.txt bm25.run
  judged lint qrels.txt *.run --strict --format json > lint.json
  judged lint qrels.txt bm25.run --fix best -o bm25.clean.run
  judged lint qrels.txt bm25.run --fix first -o clean.qrels -o clean.run
"""


@click.command("lint", epilog=EXAMPLES)
@click.argument("qrels", type=InputPath())
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=InputPath())
@click.option(
    "--format",
    "kind",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--fix",
    "policy",
    type=click.Choice(["first", "last", "best"]),
    help="Write cleaned copies; of repeated documents keep the first, the last, or the one with the best number.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE",
    help="Where a cleaned copy goes: once for each RUN, or first for QRELS and then for each RUN.",
)
@click.option("--intents", is_flag=True, help="Read the second column of TREC judgments as intents.")
@click.option("--force", is_flag=True, help="Write over FILE if it exists.")
@click.option("--strict", is_flag=True, help="Let warnings count as errors.")
def command(
    *,
    qrels: str,
    runs: tuple[str, ...],
    kind: str,
    policy: str | None,
    outputs: tuple[str, ...],
    intents: bool,
    force: bool,
    strict: bool,
) -> None:
    """Report what is wrong or notable with the judgments in QRELS and with each RUN.

    Errors are what `judged score` refuses; the exit code is 2 if there are any. Unlike it, lint reads on, and
    names every kind of finding with its count and first places. With --fix, cleaned copies of TREC files are
    written, never in place, and only files that were not fixed count for the exit code.
    """
    check_standard_input([qrels, *runs])
    fixed = _copies(qrels, runs, policy, outputs)
    from judged.blocks import Display
    from judged.checks.lint import lint
    from judged.cli.output import to_screen

    given = {path: _content(path) for path in (qrels, *runs)}
    report = lint(given[qrels], *(given[run] for run in runs), intents=intents)
    click.echo(report.render(kind, to_screen(Display())), nl=False)
    for path, role, destination in fixed:
        _fix(given[path], destination, role=role, policy=policy, force=force, intents=intents)
    left = report.files[: len(report.files) - len(fixed)]  # copies are made of all runs, or of all inputs
    grave = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in grave for file in left for finding in file.findings):
        raise click.exceptions.Exit(FAULTY)


def _copies(
    qrels: str, runs: tuple[str, ...], policy: str | None, outputs: tuple[str, ...]
) -> list[tuple[str, str, str]]:
    """Which inputs are to be fixed, what they are, and where the copies go."""
    if (policy is None) != (not outputs):
        msg = "`--fix` and `-o` belong together: which of repeated documents is kept, and where copies go"
        raise click.UsageError(msg)
    inputs = [(qrels, "judgments"), *((run, "run") for run in runs)]
    if outputs and len(outputs) not in {len(runs), len(inputs)}:
        msg = f"`-o` is given {len(outputs)} times, expected {len(runs)} (each RUN) or {len(inputs)} (QRELS too)"
        raise click.UsageError(msg)
    chosen = inputs[len(inputs) - len(outputs) :] if outputs else []
    return [(path, role, out) for (path, role), out in zip(chosen, outputs, strict=True)]


def _content(path: str) -> Any:
    """Return the path, or the content of standard input, which may be read more than once."""
    if path != STANDARD_INPUT:
        return path
    content = io.BytesIO(sys.stdin.buffer.read())
    content.name = "standard input"
    return content


def _fix(given: Any, destination: str, **how: Any) -> None:
    from judged.checks.fix import fix

    if isinstance(given, io.BytesIO):
        given.seek(0)
    changes = fix(given, destination, **how)
    click.echo(f"wrote {destination}: {'; '.join(changes.sentences())}", err=True)
