"""`judged explain`: where a number comes from, and why two numbers differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.blocks import Display
from judged.cli.effects import dependent_option
from judged.cli.inputs import InputPath, check_standard_input, named_runs
from judged.cli.options import output_options, protocol_options, queries_option, read_query_texts
from judged.cli.output import OutputOptions, emit
from judged.cli.progress import Progress
from judged.profiles.profile import PROFILES

if TYPE_CHECKING:
    from judged.profiles.profile import Profile
    from judged.result import Result

EXAMPLES = """\b
Examples:
  judged explain qrels.txt bm25.run -m nDCG@10 --query q1
  judged explain qrels.txt bm25.run -m nDCG@10 --against ranx
  judged explain qrels.txt bm25.run -m AP --against ties=input-order,missing=skip
  judged explain qrels.txt bm25.run -m AP --against pytrec_eval --against ranx
  judged explain qrels.txt bm25.run -m map --against trec_eval.txt
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
@click.option("--query", metavar="QUERY", help="Explain the value of this query, rank by rank.")
@click.option(
    "--against",
    multiple=True,
    metavar="PROFILE|FILE",
    help="Explain the difference from another profile, from changed conventions (ties=input-order), or from a file"
    " of another tool's values for every query. Repeat it to compare two profiles with each other.",
)
@click.option("--published", metavar="NUMBER", help="Find conventions that give this number.")
@dependent_option(
    "--changes",
    needs=("--published NUMBER", "--against FILE"),
    type=click.IntRange(0, 5),
    default=None,
    show_default="3, and 2 for a file",
    help="With --published or a file: the largest number of conventions changed at once.",
)
@queries_option
@output_options()
@protocol_options
def command(
    qrels: str,
    run: str,
    measure: str,
    query: str | None,
    against: tuple[str, ...],
    published: str | None,
    changes: int | None,
    texts: str | None,
    output: OutputOptions,
    profile: Profile,
) -> None:
    """Show where a number of RUN, judged by QRELS, comes from.

    Choose what to explain with one of --query, --against and --published: the value of one query, the difference
    from other conventions or another tool's output, or a number that someone published.
    """
    output.check()
    _check_question({"query": query, "against": against, "published": published})
    ((name, path),) = [(named.name, named.path) for named in named_runs((run,))]
    check_standard_input([qrels, path])
    with Progress("Explaining", enabled=not output.quiet) as progress:
        result = _explain(
            (qrels, path),
            measure,
            query,
            against,
            published,
            protocol=profile,
            changes=changes,
            name=name,
            progress=progress,
        )
    emit(result, output, display=Display(texts=read_query_texts(texts)))


def _explain(
    inputs: tuple[str, str],
    measure: str,
    query: str | None,
    against: tuple[str, ...],
    published: str | None,
    *,
    protocol: Profile,
    changes: int | None,
    name: str,
    progress: Progress,
) -> Result:
    """Return the explanation that was asked for."""
    if query:
        from judged.explanation.api import explain

        return explain(*inputs, measure, query=query, protocol=protocol, name=name)
    if published or (len(against) == 1 and _is_reported(against[0])):
        from judged.explanation.published import MAX_CHANGES, explain_published
        from judged.explanation.reported import MAX_CHANGES as MAX_FOR_FILE, explain_reported

        most = changes if changes is not None else MAX_CHANGES if published else MAX_FOR_FILE
        settings: dict[str, Any] = {
            "protocol": protocol,
            "changes": most,
            "name": name,
            "progress": progress,
        }
        if published:
            return explain_published(*inputs, measure, published, **settings)
        return explain_reported(*inputs, measure, against[0], **settings)
    from judged.explanation.difference import explain_difference

    sides: tuple[Profile | str, ...] = (protocol, *against)
    first, second = sides[-2:]
    return explain_difference(*inputs, measure, protocol=first, against=second, name=name)


def _is_reported(against: str) -> bool:
    """Return whether this names a file; raise if it can be neither that nor a profile."""
    if against.partition(",")[0] in PROFILES or "=" in against.partition(",")[0]:
        return False
    path = Path(against)
    return path.is_file() or path.parent != Path() or bool(path.suffix)


def _check_question(options: dict[str, str | tuple[str, ...] | None]) -> None:
    """Raise `UsageError` unless exactly one thing is to be explained."""
    asked = [name for name, value in options.items() if value]
    if len(asked) != 1:
        got = " and ".join(f"`--{name}`" for name in asked) or "none of them"
        msg = f"give one of `--query`, `--against` and `--published`, got {got}"
        raise click.UsageError(msg)
    if len(options["against"] or ()) > 2:
        msg = f"`--against` was given {len(options['against'] or ())} times, expected once or twice"
        raise click.UsageError(msg)
