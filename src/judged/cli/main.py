"""The command `judged`: imports commands when they are called, and turns every error into a message and an exit code.

A command of the core is `judged.cli.<name>:command`; those of subjects are named in their manifests. The list that
`--help` prints needs none of them imported, so that asking for help loads neither NumPy nor Arrow.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from io import StringIO, TextIOWrapper
from typing import IO, Any, NoReturn, cast

import click

from judged import __version__
from judged.errors import BadInput, JudgedError, TooLarge
from judged.plugins import resolve
from judged.registry import Registry
from judged.subject import Command, list_subjects
from judged.wording import to_message, worded_for_commands

COMMANDS: Registry[Command] = Registry("command", of_subject=lambda subject: subject.commands)
"""Every command with its one line of help; those of subjects come from their manifests."""
for _name, _help in {
    "score": "Score runs against judgments",
    "compare": "Compare runs: which is better, by how much, with what confidence",
    "power": "Say how many queries show a difference",
    "gate": "Stop a regression: a run against a baseline, with a margin and an exit code",
    "explain": "Show where a number comes from, and why two numbers differ",
    "lint": "Report what is wrong with judgments and runs, or write cleaned copies",
    "report": "Join saved results into one HTML file",
    "view": "Show results, runs or traces in a browser, and reload them when their files change",
    "trec_eval": "Print what trec_eval prints, byte for byte but for its `-nan`",
    "measures": "List the measures, or explain one",
    "convert": "Convert judgments and runs to another format",
    "completion": "Print the completion script for a shell",
}.items():
    COMMANDS.add(_name, Command(f"judged.cli.{_name}:command", _help))

WITHOUT_ALGEBRA = frozenset({"score", "explain", "lint", "trec_eval", "measures", "convert"})
"""Commands that multiply no matrices: OpenBLAS, loaded with NumPy, would start a thread on every processor for nothing."""
INTERNAL, INTERRUPTED, CLOSED = 70, 130, 141
EXIT_CODES = {
    0: "done",
    1: "a gate shows a regression",
    2: "the command line or an input is wrong; the message says how",
    3: "a gate is inconclusive (unless --inconclusive says otherwise)",
    4: "labels are missing: some failed, or the job stopped early; finished ones are kept",
    5: "a system of a study failed; the others are finished and kept",
    INTERNAL: "internal error; please report it",
    INTERRUPTED: "interrupted (Ctrl-C)",
    CLOSED: "the reader of the output closed it",
}
"""The meaning of each exit code."""


class UserError(click.ClickException):
    """An error that the user can fix, worded by the library."""

    def __init__(self, error: JudgedError) -> None:
        super().__init__(str(error))
        self.error = error

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, and the hint after it."""
        click.echo(f"Error: {self.message}", file=file, err=True)


class FileError(click.ClickException):
    """A file that cannot be opened, read or written."""

    exit_code = 2

    def __init__(self, error: OSError) -> None:
        place = f"`{error.filename}`: " if error.filename else ""
        super().__init__(f"{place}{error.strerror or error}")


class InternalError(click.ClickException):
    """A bug in judged: one line for the user, and the traceback on request."""

    exit_code = INTERNAL

    def __init__(self, error: Exception, *, debug: bool) -> None:
        super().__init__(f"judged failed unexpectedly: {type(error).__name__}: {error}")
        self.error = error
        self.debug = debug

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line, and the traceback if it was asked for."""
        if self.debug:
            from traceback import format_exception

            click.echo("".join(format_exception(self.error)), file=file, err=True, nl=False)
        click.echo(f"Error: {' '.join(self.message.split())}", file=file, err=True)
        advice = "please report this, with the traceback above"
        if not self.debug:
            advice = "please report this, with what `judged --debug …` or JUDGED_DEBUG=1 shows"
        click.echo(f"\nhint: {advice}", file=file, err=True)


class Commands(click.Group):
    """A group whose commands are imported when called, and whose errors are handled in one place."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the name of every command."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in WITHOUT_ALGEBRA:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        return cast("click.Command", resolve(COMMANDS[cmd_name].home))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, or suggest one."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            COMMANDS[args[0]]  # raises the error that suggests one
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table of commands; click would import every one of them to do that."""
        of_subjects = {subject.title: list(subject.commands) for subject in list_subjects()}
        others = [name for name in COMMANDS if not any(name in names for names in of_subjects.values())]
        width = max(map(len, COMMANDS))
        for title, names in {"Commands": others, **of_subjects}.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), COMMANDS[name].help) for name in names])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, and turn the library's errors into those of the command line."""
        try:
            with worded_for_commands():
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            raise _translate(error, ctx) from error

    def main(self, args: Sequence[str] | None = None, *rest: object, **extra: object) -> Any:
        """Run the whole program and leave with its exit code."""
        run: Callable[..., object] = super().main
        if not extra.pop("standalone_mode", True):
            return run(args, *rest, standalone_mode=False, **extra)
        try:
            code = run(args, *rest, standalone_mode=False, **extra)
        except (click.ClickException, click.Abort) as error:
            sys.exit(_report(error))
        except Exception as error:  # noqa: BLE001 - such as a full disk while the help is printed
            sys.exit(_report(_translate(error, None)))
        sys.exit(code if isinstance(code, int) else 0)


EXAMPLES = """\b
Examples:
  judged score qrels.txt bm25.run dense.run -m nDCG@10 -m AP
  judged sessions traces.jsonl -m "CG@3 SRR@last"
  judged measures nDCG
  judged trec_eval -q -c -m official qrels.txt bm25.run
"""


@click.command(
    "judged",
    cls=Commands,
    epilog=EXAMPLES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="judged")
@click.option(
    "--debug", is_flag=True, help="Show the traceback when judged itself fails (or set JUDGED_DEBUG=1)."
)
def judged(*, debug: bool) -> None:
    """Measure retrieval: ranked runs against judgments, agents' search sessions, vector indexes."""


def main() -> NoReturn:
    """Run `judged` on the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal that is not UTF-8 shows `?` instead of a traceback
    judged.main(prog_name="judged")
    sys.exit(0)  # `judged.main` never returns; this tells type checkers so


def _translate(error: Exception, ctx: click.Context | None) -> Exception:
    """Return the error of the command line that stands for an error of the library, of a file, or of judged itself."""
    match error:
        case JudgedError():
            _add_fix(error, ctx)
            return UserError(error)
        case BrokenPipeError():  # before OSError, of which it is one
            _discard_output()
            return click.exceptions.Exit(CLOSED)
        case OSError():
            return FileError(error)
        case MemoryError():
            return UserError(TooLarge())
    return click.Abort() if _was_interrupted(error) else InternalError(error, debug=_debug(ctx))


def _report(error: Exception) -> int:
    """Print an error, and return its exit code; what it quotes from files is escaped and cut."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            text = StringIO()
            error.show(text)
            click.echo(to_message(text.getvalue()), err=True, nl=False)
            return error.error.exit_code if isinstance(error, UserError) else error.exit_code
    click.echo("interrupted", err=True)
    return INTERRUPTED


def _debug(ctx: click.Context | None) -> bool:
    asked = ctx is not None and bool(ctx.params.get("debug"))
    return asked or os.environ.get("JUDGED_DEBUG", "") not in {"", "0"}


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether an error hides Ctrl-C, as that of an import does which could not be completed."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _add_fix(error: JudgedError, ctx: click.Context | None) -> None:
    """Name the command that mends a refused file, where there is one."""
    if not isinstance(error, BadInput) or ctx is None:
        return
    from judged.cli.inputs import INPUTS
    from judged.cli.lint import suggest_fix
    from judged.cli.scores import suggest_scores

    if (scores := suggest_scores(ctx)) is not None:
        error.hint = scores
        return

    command = suggest_fix(error, ctx.meta.get(INPUTS, {}))
    if command is not None:
        error.hint = f"`{command}` writes a copy without {'it' if error.counts.total() == 1 else 'them'}"


def _discard_output() -> None:
    """Discard what is still buffered, so that Python does not complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - lives until exit
