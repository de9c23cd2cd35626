"""`judged routing`: the decisions of a router, a skip policy or a reranker, scored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from judged.cli.command import Command, option, options
from judged.cli.inputs import InputPath, named_runs
from judged.cli.options import (
    INPUTS,
    QueryOptions,
    baseline_option,
    level_option,
    measure_option,
    output_options,
    query_options,
)
from judged.cli.output import OutputOptions, emit
from judged.store.files import standard_input

if TYPE_CHECKING:
    from judged.scoring.evaluations import Evaluations

EXAMPLES = """\b
Examples:
  judged routing choices.csv
  judged routing choices.jsonl -m "Accuracy Accuracy@3 Regret Balance" -o confusion.svg
  judged routing choices.csv --qrels qrels.txt --expert bm25=bm25.run --expert dense=dense.run --quality nDCG@10
  judged routing skips.csv
  judged routing reranking.parquet -o report.html
  judged routing two-routers.csv --baseline old
"""


@dataclass(frozen=True, kw_only=True)
class RoutingOptions:
    """Options for scoring decisions."""

    qrels: str | None = option(
        "--qrels FILE",
        "Judgments by which the runs of the experts are scored.",
        section=INPUTS,
        type=InputPath(),
    )
    experts: tuple[str, ...] = option(
        "--expert NAME=RUN",
        "The run of an expert; once for each. With --qrels: the best on a query is the optimal one.",
        multiple=True,
        type=InputPath(named=True),
    )
    measures: tuple[str, ...] = measure_option(" [default: those of the kind of decision]")
    quality: str = option(
        "--quality MEASURE",
        "The measure that the experts' runs are scored by.",
        needs="--expert",
        default="nDCG@10",
    )
    level: float = level_option()
    baselines: tuple[str, ...] = baseline_option()


@click.command("routing", cls=Command, epilog=EXAMPLES)
@click.argument("file", metavar="FILE", type=InputPath())
@options("options", RoutingOptions)
@query_options()
@output_options(note=" (.svg and .png draw the confusion matrix)")
def command(file: str, *, options: RoutingOptions, queries: QueryOptions, output: OutputOptions) -> None:
    """Score the decisions in FILE, a table of any format with a row for each query.

    A router has columns query, chosen and optimal, or quality:NAME for each expert; a skip policy query, retrieved and needed; a
    reranker query, before and after. A column system tells several apart.
    """
    from judged.comparison.api import compare
    from judged.studies.routing import evaluate_routing

    display = queries.to_display()
    output.check(pictures=True)
    source = standard_input().read() if file == "-" else file
    quality = _score_experts(options.qrels, options.experts, options.quality)
    report = evaluate_routing(source, options.measures or None, quality=quality, level=options.level)
    if not options.baselines:
        emit(report, output, display=replace(display, intervals=True))
        return
    systems = list(report.evaluations())
    tested = [measure for measure in report.scored.measures if measure.higher_is_better is not None]
    result = compare(systems, measures=tested, baseline=options.baselines, level=options.level)
    emit(result, output, display=display)


def _score_experts(qrels: str | None, experts: tuple[str, ...], measure: str) -> Evaluations | None:
    from judged.scoring.evaluate import evaluate_many

    if (qrels is None) != (not experts):
        msg = "`--qrels FILE` and `--expert NAME=RUN` go together: the runs are scored by the judgments"
        raise click.UsageError(msg)
    if qrels is None:
        return None
    return evaluate_many(qrels, [run.system for run in named_runs(experts)], measure)
