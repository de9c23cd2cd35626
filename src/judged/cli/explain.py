"""`judged explain`: where a number comes from, and why two numbers differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judged.cli.inputs import Input, InputPath, check_standard_input, digest, named_runs
from judged.cli.options import conventions, profile_of, written_results
from judged.cli.output import format_of, refuse_bytes_on_a_terminal, says_bold
from judged.result import write_file

if TYPE_CHECKING:
    from judged.explanation.explained import Explained
    from judged.profiles.profile import Profile

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  judged explain qrels.txt bm25.run -m nDCG@10 --query q1
  judged explain qrels.txt bm25.run -m nDCG@10 --against ranx
  judged explain qrels.txt bm25.run -m AP --against ties=input-order,missing=skip
  judged explain qrels.txt bm25.run -m AP --against pytrec_eval --against ranx
  judged explain qrels.txt bm25.run -m nDCG@10 --published 0.7559
"""


@click.command("explain", epilog=EXAMPLES)
@click.argument("qrels", type=InputPath())
@click.argument("run", type=InputPath(named=True))
@click.option(
    "-m",
    "--measure",
    default="nDCG@10",
    show_default=True,
    metavar="MEASURE",
    help="The measure; `judged measures` lists them.",
)
@click.option("--query", metavar="QUERY", help="Show how this query came by its value, rank by rank.")
@click.option(
    "--against",
    multiple=True,
    metavar="PROFILE",
    help="Show why the value differs from that of another profile, or with conventions changed (ties=input-order);"
    " given twice, compare the two.",
)
@click.option("--published", metavar="NUMBER", help="Look for conventions that give this number.")
@click.option(
    "--changes",
    type=click.IntRange(0, 5),
    default=3,
    show_default=True,
    help="With --published: how many conventions are changed at once, at most.",
)
@written_results()
@conventions
@click.option("-q", "--quiet", is_flag=True, help="Print no notes on standard error.")
def command(qrels: str, run: str, **options: Any) -> None:
    """Show where a number of RUN comes from, judged by QRELS.

    One of --query, --against and --published says what is to be explained: the value of one query, the difference
    between two sets of conventions, or a number that someone published.
    """
    refuse_bytes_on_a_terminal(options["kind"])
    _refuse_several(options)
    (named,) = named_runs((run,))
    check_standard_input([qrels, named.path])
    outputs = {path: format_of(path) for path in options["outputs"]}
    told = _explained(qrels, named, profile_of(options), options)
    inputs = [("judgments", qrels), ("run", named.path)]
    for path, kind in outputs.items():
        write_file(path, _rendered(told, kind, inputs, digits=options["digits"]))
    bold = says_bold()
    click.echo(_rendered(told, options["kind"], inputs, digits=options["digits"], bold=bold), nl=False)
    if not options["quiet"]:
        for path in options["outputs"]:
            click.echo(f"Wrote: {path}", err=True)


def _refuse_several(options: dict[str, Any]) -> None:
    """Refuse to explain nothing, or two things at once."""
    asked = [name for name in ("query", "against", "published") if options[name]]
    if len(asked) != 1:
        got = " and ".join(f"`--{name}`" for name in asked) or "none of them was given"
        msg = f"one of `--query`, `--against` and `--published` says what to explain: {got}"
        raise click.UsageError(msg)
    if len(options["against"]) > 2:
        msg = f"`--against` was given {len(options['against'])} times, expected once or twice"
        raise click.UsageError(msg)


def _explained(qrels: str, run: Input, profile: Profile, options: dict[str, Any]) -> Explained:
    """What was asked for, explained."""
    given: dict[str, Any] = {"name": run.name}
    if options["query"]:
        from judged.explanation.explain import explain

        told = explain(qrels, run.path, options["measure"], query=options["query"], protocol=profile, **given)
        if not options["quiet"]:
            click.echo(f"Protocol: {told.protocol}", err=True)
        return told
    if options["published"]:
        from judged.explanation.published import explain_published

        given |= {"protocol": profile, "changes": options["changes"]}
        return explain_published(qrels, run.path, options["measure"], options["published"], **given)
    from judged.explanation.difference import explain_difference

    first, second = (profile, *options["against"])[-2:]
    return explain_difference(qrels, run.path, options["measure"], protocol=first, against=second, **given)


def _rendered(
    told: Explained, kind: str, inputs: list[tuple[str, str]], *, digits: int, bold: bool = False
) -> str | bytes:
    """The explanation in a format; those of one table have the main one, every number in full."""
    from judged.explanation.explained import as_text
    from judged.report.data import to_delimited, to_json, to_json_lines, to_parquet
    from judged.result import table_to_arrow

    if kind == "table":
        return as_text(told, digits=digits, bold=bold)
    if kind in {"markdown", "latex"}:
        return _set(told, kind, digits=digits)
    if kind == "json":
        return to_json(_document(told, inputs))
    main = next(iter(told.tables.values()))
    if kind == "jsonl":
        return to_json_lines(table_to_arrow(main).to_pylist())
    return (
        to_parquet(table_to_arrow(main))
        if kind == "parquet"
        else to_delimited(table_to_arrow(main), delimiter="," if kind == "csv" else "\t")
    )


def _set(told: Explained, kind: str, *, digits: int) -> str:
    """The explanation for a page or a paper: the tables, and between them what is said."""
    from judged.report.latex import to_latex
    from judged.report.markdown import to_markdown

    lay_out, mark = (to_markdown, "- ") if kind == "markdown" else (to_latex, "% ")
    head = told.headline(digits=digits) if kind == "markdown" else f"% {told.headline(digits=digits)}"
    said = "".join(f"{mark}{sentence}\n" for sentence in told.sentences(digits=digits))
    tables = [lay_out(table, digits=digits) for table in told.shown(digits=digits)]
    return "\n".join(part for part in (f"{head}\n", *tables, said) if part)


def _document(told: Explained, inputs: list[tuple[str, str]]) -> dict[str, Any]:
    from judged import __version__

    files = [{"role": role, "path": path, "sha256": digest(path)} for role, path in inputs]
    return {"judged": __version__, "inputs": files, **told.to_dict()}
