"""`judged explain`: where a number comes from, and why two numbers differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judged.blocks import Display
from judged.cli.inputs import InputPath, check_standard_input, named_runs
from judged.cli.options import output_options, protocol_options, queries_option, read_query_texts
from judged.cli.output import OutputOptions, emit

if TYPE_CHECKING:
    from judged.profiles.profile import Profile
    from judged.result import Result

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
@click.option("--query", metavar="QUERY", help="Explain the value of this query, rank by rank.")
@click.option(
    "--against",
    multiple=True,
    metavar="PROFILE",
    help="Explain the difference from another profile, or from changed conventions (ties=input-order);"
    " give it twice to compare the two.",
)
@click.option("--published", metavar="NUMBER", help="Find conventions that give this number.")
@click.option(
    "--changes",
    type=click.IntRange(0, 5),
    default=3,
    show_default=True,
    help="With --published: the largest number of conventions changed at once.",
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
    changes: int,
    texts: str | None,
    output: OutputOptions,
    profile: Profile,
) -> None:
    """Show where a number of RUN, judged by QRELS, comes from.

    Choose what to explain with one of --query, --against and --published: the value of one query, the difference
    between two sets of conventions, or a number that someone published.
    """
    output.check()
    _check_question({"query": query, "against": against, "published": published})
    ((name, path),) = [(named.name, named.path) for named in named_runs((run,))]
    check_standard_input([qrels, path])
    result: Result
    if query:
        from judged.explanation.api import explain

        result = explain(qrels, path, measure, query=query, protocol=profile, name=name)
    elif published:
        from judged.explanation.published import explain_published

        result = explain_published(
            qrels, path, measure, published, protocol=profile, changes=changes, name=name
        )
    else:
        from judged.explanation.difference import explain_difference

        sides: tuple[Profile | str, ...] = (profile, *against)
        first, second = sides[-2:]
        result = explain_difference(qrels, path, measure, protocol=first, against=second, name=name)
    emit(result, output, display=Display(texts=read_query_texts(texts)))


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
