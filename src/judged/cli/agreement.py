"""`judged agreement`: how far labels can be trusted, by the grades that people gave to the same results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.inputs import InputPath, check_standard_input, digest, named_runs, split_name
from judged.cli.options import conventions, named_measures, profile_of, written_results
from judged.cli.output import EXTENSIONS as TABLES, format_of, laid_out, says_bold
from judged.result import write_file

if TYPE_CHECKING:
    from judged.agreements.result import Agreement

__all__ = ["command"]

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "latex", "html")
EXTENSIONS = {name: kind for name, kind in TABLES.items() if kind in FORMATS} | {
    ".html": "html",
    ".svg": "picture",
}
DEFAULT_MEASURE = "nDCG@10"
OF_SESSIONS = "CG@last SRE@last"
EXAMPLES = """\b
Examples:
  judged agreement labels.jsonl human.qrels
  judged agreement labels.jsonl human.csv --threshold 3 --by task -o agreement.svg
  judged agreement umbrela.qrels nist.qrels runs/*.run -m "nDCG@10 AP"
  judged agreement labels.jsonl human.jsonl --sessions traces.jsonl -m CG@3
  judged agreement labels.jsonl ann.csv --judge ben.csv --judge small=other.jsonl -o agreement.html
"""


@click.command("agreement", epilog=EXAMPLES)
@click.argument("labels", type=InputPath())
@click.argument("human", type=InputPath())
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=InputPath(named=True))
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="[NAME=]FILE",
    type=InputPath(named=True),
    help="Labels or grades of a further judge; may be repeated.",
)
@click.option(
    "--sessions",
    "traces",
    multiple=True,
    metavar="[NAME=]TRACE",
    type=InputPath(named=True),
    help="Rank the systems of these traces, in place of RUNs; may be repeated.",
)
@named_measures(f"What systems are ranked by.  [default: {DEFAULT_MEASURE}; with --sessions {OF_SESSIONS}]")
@click.option(
    "--threshold",
    type=float,
    default=2,
    show_default=True,
    metavar="GRADE",
    help="The grade from which a result is good.",
)
@click.option("--by", type=click.Choice(["task"]), help="Also show κ of each task.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence of intervals.")
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How many resamples of tasks are drawn for the interval of κ.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="What draws begin with."
)
@written_results(FORMATS, note=" (.svg is a picture of the confusion of grades)")
@conventions
@click.option("-q", "--quiet", is_flag=True, help="Print no warnings and notes on standard error.")
def command(labels: str, human: str, runs: tuple[str, ...], **options: Any) -> None:
    """Compare LABELS with the grades that people gave to the same results, in HUMAN.

    Shows how often they agree (κ, weighted κ, Krippendorff's α, the confusion of grades, the bias of each), and what the
    mean human grade and the rate of good results are, estimated from both (PPI++). With RUNs, or traces of agents, also
    whether both rank them alike. LABELS and HUMAN are labels (JSONL, CSV) or judgments in any format.
    """
    outputs = {path: format_of(path, EXTENSIONS) for path in options["outputs"]}
    further = {each.name: each.path for each in named_runs(options["judges"])}
    ranked = {each.name: each.path for each in named_runs(runs)}
    if runs and options["traces"]:
        msg = "RUNs and --sessions cannot stand together: one set of measures ranks one kind of system"
        raise click.UsageError(msg)
    check_standard_input([labels, human, *further.values(), *ranked.values()])
    found = _found(labels, human, further, ranked, options)
    inputs = {"labels": labels, "human": human}
    how = {"by_task": options["by"] == "task", "digits": options["digits"], "inputs": inputs}
    for path, kind in outputs.items():
        write_file(path, _rendered(found, kind, **how))
    click.echo(_rendered(found, options["kind"], **how, bold=says_bold()), nl=False)
    if not options["quiet"]:
        _tell(found, options["outputs"])


def _found(
    labels: str, human: str, judges: dict[str, str], runs: dict[str, str], options: dict[str, Any]
) -> Agreement:
    from judged.agreements.api import agreement
    from judged.measures.parse import split_measures

    profile = profile_of(options)
    named = [name for text in options["measures"] for name in split_measures(text)]
    settings = {name: options[name] for name in ("threshold", "level", "resamples", "seed")}
    measures = named or profile.default_measures or [DEFAULT_MEASURE]
    found = agreement(
        labels, human, judges=judges, runs=runs, measures=measures, protocol=profile, **settings
    )
    if not options["traces"]:
        return found
    from judged.sessions.ranked import rank_sessions

    traces = [split_name(each) for each in options["traces"]]
    systems = rank_sessions(traces, labels, human, named or OF_SESSIONS.split())
    return replace(found, systems=systems)


def _rendered(
    found: Agreement, kind: str, *, by_task: bool, digits: int, inputs: dict[str, str], bold: bool = False
) -> str:
    from judged.agreements.tables import as_page, long_table, picture_of, shown
    from judged.report.data import to_delimited, to_json, to_json_lines
    from judged.result import table_to_arrow

    if kind in {"table", "markdown", "latex"}:
        tables = shown(found, by_task=by_task)
        return "\n".join(laid_out(table, kind, digits=digits, bold=bold) for table in tables)
    if kind == "json":
        return to_json({**_about(inputs), **found.to_dict()})
    if kind == "html":
        return as_page(found, digits=digits, by_task=by_task)
    if kind == "picture":
        return picture_of(found)
    if kind == "jsonl":
        return to_json_lines(table_to_arrow(long_table(found)).to_pylist())
    return to_delimited(table_to_arrow(long_table(found)), delimiter="," if kind == "csv" else "\t")


def _about(inputs: dict[str, str]) -> dict[str, Any]:
    from judged import __version__

    files = [{"role": role, "path": path, "sha256": digest(path)} for role, path in inputs.items()]
    return {"judged": __version__, "inputs": files}


def _tell(found: Agreement, outputs: list[Path]) -> None:
    from judged.agreements.tables import sentences

    for sentence in sentences(found):
        click.echo(sentence, err=True)
    for path in outputs:
        click.echo(f"Wrote: {path}", err=True)
