"""`judged gate`: a run against a baseline, with a margin; the exit code says whether it passes."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, get_type_hints

import click

from judged.cli.inputs import InputPath, check_standard_input, named_runs
from judged.cli.options import conventions, named_measures, profile_of, written_results
from judged.cli.output import format_of
from judged.protocol import Protocol
from judged.result import write_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judged.gates.show import Gated

__all__ = ["INCONCLUSIVE", "Inconclusive", "command", "exit_code"]

FORMATS = ("table", "markdown", "junit", "json")
EXTENSIONS = {".txt": "table", ".md": "markdown", ".xml": "junit", ".json": "json"}
REGRESSION, FAULTY, INCONCLUSIVE = 1, 2, 3
TAKEN = {FAULTY, 70, 130, 141}
"""Exit codes that mean something else."""
SETTINGS = ("baseline_run", "measures", "min_delta", "alpha", "test", "seed", "allow_other_protocol")
"""Options that say what one gate is; those not given are as `Gate` has them."""
EXAMPLES = """\b
Examples:
  judged gate qrels.txt new.run --baseline old.run
  judged gate qrels.txt new.run --baseline scores.parquet --min-delta -2% -m "nDCG@10 AP"
  judged gate qrels.txt new.run --baseline old.run -o gate.xml -o gate.json --inconclusive pass
  judged gate --config gates.yaml --format markdown >> "$GITHUB_STEP_SUMMARY"
"""


class Inconclusive(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """`pass`, `fail`, or an exit code that means nothing else."""

    name = "pass|fail|CODE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The exit code."""
        words = {"pass": 0, "fail": REGRESSION}
        text = str(value)
        code = words.get(text, int(text) if text.isdecimal() else -1)
        if not 0 <= code <= 255 or code in TAKEN:
            self.fail(
                f"`{text}` is not `pass`, `fail`, or an exit code up to 255 that means nothing else",
                param,
                ctx,
            )
        return code


@click.command("gate", epilog=EXAMPLES)
@click.argument("qrels", type=InputPath(), required=False)
@click.argument("run", type=InputPath(named=True), required=False)
@click.option(
    "--baseline",
    type=InputPath(named=True),
    metavar="FILE",
    help="The run to compare with, or its scores as `judged score --per-query -o scores.parquet` writes them"
    " (also .csv, .tsv, .jsonl, .json).",
)
@click.option("--baseline-run", metavar="NAME", help="Which run is meant, if FILE holds scores of several.")
@named_measures("All must pass.  [default: nDCG@10]")
@click.option(
    "--min-delta",
    metavar="DELTA",
    help="The least difference that is allowed, run minus baseline: a number, or a share of the baseline's"
    " mean (-2%).  [default: -0.01]",
)
@click.option(
    "--alpha", type=float, metavar="P", help="How often a verdict may be wrong, about.  [default: 0.05]"
)
@click.option(
    "--test",
    type=click.Choice(["t", "randomisation"]),
    help="Student's paired t-test, or sign-flip randomisation.  [default: t]",
)
@click.option(
    "--seed", type=int, metavar="N", help="Where the sign flips that are drawn begin.  [default: 0]"
)
@click.option(
    "--inconclusive",
    type=Inconclusive(),
    help=f"What an inconclusive verdict exits with.  [default: {INCONCLUSIVE}]",
)
@click.option(
    "--allow-other-protocol", is_flag=True, help="Compare with scores that were made under another protocol."
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A YAML file of gates, in place of QRELS, RUN and the options above.",
)
@written_results(FORMATS, note=" (.xml is JUnit)")
@conventions
@click.option("-q", "--quiet", is_flag=True, help="Print no notes on standard error.")
def command(qrels: str | None, run: str | None, **options: Any) -> None:
    """Compare RUN with a baseline on the judgments in QRELS, and exit with 0 only if it is shown to be no worse.

    The verdict is `pass` if the difference is shown to lie above --min-delta, `fail` if it is shown to lie below,
    and else `inconclusive`, each by a one-sided paired test. Exit codes: 0 pass, 1 fail, 2 an error, 3 inconclusive
    unless --inconclusive says otherwise.
    """
    outputs = {path: format_of(path, EXTENSIONS) for path in options["outputs"]}
    started = perf_counter()
    gates, chosen = _from_file(qrels, run, options) if options["config"] else _from_words(qrels, run, options)
    code = exit_code(gates, chosen)
    layout = {
        "code": code,
        "inconclusive": chosen,
        "digits": options["digits"],
        "seconds": perf_counter() - started,
    }
    for path, kind in outputs.items():
        write_file(path, _rendered(gates, kind, **layout))
    click.echo(_rendered(gates, options["kind"], **layout), nl=False)
    if not options["quiet"]:
        _tell(gates, options["outputs"])
    if code:
        raise click.exceptions.Exit(code)


def _from_words(qrels: str | None, run: str | None, options: dict[str, Any]) -> tuple[list[Gated], int]:
    """The one gate that the command line describes."""
    from judged.cli.gates import Gate, decided

    missing = [word for word, value in (("QRELS", qrels), ("RUN", run)) if value is None]
    missing += [] if options["baseline"] else ["--baseline"]
    if qrels is None or run is None or missing:
        msg = f"{' and '.join(missing)} not given; `--config FILE` takes gates from a file instead"
        raise click.UsageError(msg)
    named = (*named_runs((run,)), *named_runs((options["baseline"],)))
    check_standard_input([qrels, *(each.path for each in named)])
    given = {name: options[name] for name in SETTINGS if options[name] not in {None, ()}}
    gate = Gate(qrels=qrels, run=run, baseline=options["baseline"], **given)
    return [decided(gate, profile_of(options))], _chosen(options, None)


def _from_file(qrels: str | None, run: str | None, options: dict[str, Any]) -> tuple[list[Gated], int]:
    """Every gate of the file; one that cannot be decided is told with the others."""
    from judged.cli.gates import decided_all, read_gates

    words = {"measures": "measure"}
    names = ("baseline", *SETTINGS, "profile", *get_type_hints(Protocol))
    given = [word for word, value in (("QRELS", qrels), ("RUN", run)) if value is not None]
    given += [
        f"--{words.get(name, name).replace('_', '-')}"
        for name in names
        if options.get(name) not in {None, (), False}
    ]
    if given:
        msg = f"{', '.join(given)} cannot stand beside `--config`: say it in the file"
        raise click.UsageError(msg)
    file = read_gates(options["config"])
    return decided_all(file.gates), _chosen(options, file.inconclusive)


def _chosen(options: dict[str, Any], from_file: int | None) -> int:
    """The exit code of an inconclusive verdict; the command line goes before the file."""
    if options["inconclusive"] is not None:
        return int(options["inconclusive"])
    return INCONCLUSIVE if from_file is None else from_file


def exit_code(gates: Sequence[Gated], inconclusive: int) -> int:
    """What the verdict of all gates exits with."""
    from judged.gates.show import outcome

    return {"pass": 0, "fail": REGRESSION, "error": FAULTY, "inconclusive": inconclusive}[outcome(gates)]


def _rendered(
    gates: Sequence[Gated], kind: str, *, code: int, inconclusive: int, digits: int, seconds: float
) -> str:
    from judged import __version__
    from judged.cli.output import says_bold
    from judged.gates.show import as_document, as_junit, as_markdown, as_text
    from judged.report.data import to_json

    if kind == "json":
        return to_json({"judged": __version__, **as_document(gates, exit_code=code)})
    if kind == "junit":
        return as_junit(gates, inconclusive_passes=inconclusive == 0, seconds=seconds)
    if kind == "markdown":
        return as_markdown(gates, digits=digits)
    return as_text(gates, digits=digits, bold=says_bold())


def _tell(gates: Sequence[Gated], outputs: Sequence[Path]) -> None:
    """What a reader of the verdict should know, on standard error."""
    from judged.gates.report import GateReport

    reports = [each for each in gates if isinstance(each, GateReport)]
    told = [f"Protocol: {each.protocol}" for each in reports]
    told += [note for each in reports for note in each.notes]
    for line in dict.fromkeys(told):
        click.echo(line, err=True)
    for path in outputs:
        click.echo(f"Wrote: {path}", err=True)
