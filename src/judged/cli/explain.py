"""`judged explain`: where a number comes from, and why two numbers differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judged.blocks import Display
from judged.cli.command import Command, option, options
from judged.cli.inputs import (
    STANDARD_INPUT,
    Input,
    InputPath,
    check_standard_input,
    holds_both,
    one_run,
    open_predictions,
)
from judged.cli.options import (
    ProfileChoice,
    join_option,
    output_options,
    predictions_option,
    profile_options,
    queries_option,
    read_query_texts,
)
from judged.cli.output import OutputOptions, emit
from judged.cli.progress import Progress
from judged.errors import BadMeasure, JudgedError, UnknownName
from judged.subject import list_subjects

if TYPE_CHECKING:
    from judged.result import Result

EXAMPLES = """\b
Examples:
  judged explain qrels.txt bm25.run -m nDCG@10 --query q1
  judged explain qrels.txt bm25.run -m nDCG@10 --against ranx
  judged explain qrels.txt bm25.run -m AP --against ties=input-order,missing=skip
  judged explain qrels.txt bm25.run -m AP --against pytrec_eval --against ranx
  judged explain qrels.txt bm25.run -m map --against trec_eval.txt
  judged explain qrels.txt bm25.run -m nDCG@10 --published 0.7559
  judged explain responses.jsonl --labels labels.csv -m CitationRecall --against alce
"""
EXPLAINED = {word: home for subject in list_subjects() for word, home in subject.explains.items()}
"""Commands of subjects that explain numbers of their own, by an option or a profile that only they have."""
OPTIONS = {word: home for word, home in EXPLAINED.items() if word.startswith("-")}


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Options of what is explained."""

    measure: str = option(
        "-m --measure MEASURE", "The measure; `judged measures` lists them.", default="nDCG@10"
    )
    query: str | None = option("--query QUERY", "Explain the value of this query, rank by rank.")
    against: tuple[str, ...] = option(
        "--against PROFILE|FILE",
        "Explain the difference from another profile, from changed conventions (ties=input-order), or from a file"
        " of another tool's values for every query. Repeat it to compare two profiles with each other.",
        multiple=True,
    )
    published: str | None = option("--published NUMBER", "Find conventions that give this number.")
    changes: int | None = option(
        "--changes N",
        "With --published or a file: the largest number of conventions changed at once.  [default: 3, and 2 for a file]",
        needs=("--published NUMBER", "--against FILE"),
        type=click.IntRange(0, 5),
    )
    predictions: str | None = predictions_option("NAME=FILE names the model.", excludes=("--join",))
    texts: str | None = queries_option()
    join: bool = join_option()


@click.command("explain", cls=Command, epilog=EXAMPLES, subcommands=OPTIONS)
@click.argument("qrels", type=InputPath())
@click.argument("run", type=InputPath(named=True), required=False)
@options("options", ExplainOptions, "Question")
@output_options()
@profile_options()
def command(
    qrels: str, run: str | None, *, options: ExplainOptions, output: OutputOptions, profile: ProfileChoice
) -> None:
    """Show where a number of RUN, judged by QRELS, comes from.

    Choose what to explain with one of --query, --against and --published: the value of one query, the difference
    from other conventions or another tool's output, or a number that someone published. RUN is one run: NAME=FILE chooses it
    in a table with a column `system`, and NAME=PATTERN joins the files of a folder or a pattern; --predictions takes its place.

    With --labels, --nuggets or --references, generated answers are explained, as `judged answers --against` does; add --help
    to one of them for its options.
    """
    output.check()
    _check_question(options)
    named = _read_system(qrels, run, options)
    check_standard_input([qrels, named.path])
    # a name that was not given chooses no system of a table, and follows from the file
    name = named.name if named.system.named or named.path == STANDARD_INPUT else None
    shared: dict[str, Any] = {"protocol": profile.to_profile(), "name": name}
    with Progress("Explaining", enabled=not output.quiet) as progress:
        try:
            result = _explain((qrels, named.system.source, options.measure), options, shared, progress)
        except (UnknownName, BadMeasure) as error:
            _point_elsewhere(error, options)
            raise
    emit(result, output, display=Display(texts=read_query_texts(options.texts)))


def _point_elsewhere(error: JudgedError, options: ExplainOptions) -> None:
    """Say in the hint how numbers are explained that are not of runs, if a profile for these was named."""
    profile = next((name for name in options.against if name in EXPLAINED), None)
    if profile is None:
        return
    alone = isinstance(error, UnknownName) and error.name == profile
    hint = f"answers are explained from their labels: `judged explain RESPONSES --labels FILE -m MEASURE --against {profile}`"
    error.hint = hint if alone or error.hint is None else f"{error.hint}; {hint}"


def _read_system(qrels: str, run: str | None, options: ExplainOptions) -> Input:
    """Return the run, or the predictions that take its place; raise `UsageError` unless one of them is given."""
    if run is None and options.predictions is None and holds_both(qrels):
        run = qrels
    if run is not None and options.predictions is None:
        return one_run(run, join=options.join)
    if run is not None or options.predictions is None:
        msg = f"give RUN or `--predictions FILE`, got {'neither' if run is None else 'both'}"
        raise click.UsageError(msg)
    (model,) = open_predictions((options.predictions,), qrels)
    return model


def _explain(
    inputs: tuple[str, Any, str], options: ExplainOptions, shared: dict[str, Any], progress: Progress
) -> Result:
    """Return the explanation that was asked for."""
    against, published = options.against, options.published
    if options.query:
        from judged.explanation.api import explain

        return explain(*inputs, query=options.query, **shared)
    from judged.explanation.scoring_rule import are_conventions

    if published or (len(against) == 1 and not are_conventions(against[0])):
        from judged.explanation.published import MAX_CHANGES, explain_published
        from judged.explanation.reported import MAX_CHANGES as MAX_FOR_FILE, explain_reported

        most = MAX_CHANGES if published else MAX_FOR_FILE
        shared |= {"changes": most if options.changes is None else options.changes, "progress": progress}
        if published:
            return explain_published(*inputs, published, **shared)
        return explain_reported(*inputs, against[0], **shared)
    from judged.explanation.difference import explain_difference

    first, second = (shared["protocol"], *against)[-2:]
    return explain_difference(*inputs, **{**shared, "protocol": first}, against=second)


def _check_question(options: ExplainOptions) -> None:
    """Raise `UsageError` unless exactly one thing is to be explained."""
    asked = [name for name in ("query", "against", "published") if getattr(options, name)]
    if len(asked) != 1:
        got = " and ".join(f"`--{name}`" for name in asked) or "none of them"
        msg = f"give one of `--query`, `--against` and `--published`, got {got}"
        raise click.UsageError(msg)
    if len(options.against) > 2:
        msg = f"`--against` was given {len(options.against)} times, expected once or twice"
        raise click.UsageError(msg)
