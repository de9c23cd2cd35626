"""`judged trec_eval`: trec_eval's own flags, and byte for byte what it prints, but for its `-nan`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judged.cli.command import Command, flag, option, options
from judged.cli.inputs import InputPath, check_standard_input
from judged.cli.options import INPUTS, MEASURES
from judged.cli.output import OUTPUT
from judged.errors import BadInput, BadProtocol, MissingQueries
from judged.problem import Problem
from judged.protocol import PROTOCOLS, Protocol

if TYPE_CHECKING:
    from judged.measures.measure import Measure
    from judged.measures.trec_eval import TrecMeasure
    from judged.tables.judgments import Judgments
    from judged.tables.preferences import Preferences
    from judged.tables.run import Run

FLOOR = 1e-5
"""Lower bound of the values in a geometric mean."""
STAND_IN = "ceci_nest_pas_un_docno"
"""The document that trec_eval 10 takes as retrieved where a query has no results."""
CLEARED = {"num_ret": 0.0, "utility": 0.0, "rbp_resid": 0.0, "relstring": ""}
"""Values that trec_eval 10 then resets, by the printed name of their measure."""
EXAMPLES = """\b
Examples:
  judged trec_eval qrels.txt bm25.run
  judged trec_eval -q -c -m ndcg_cut.10,100 -m map qrels.txt bm25.run
  judged trec_eval --trec-version 10 -m all_trec qrels.txt bm25.run
  judged trec_eval -R prefs -m all_prefs prefs.txt bm25.run
"""
UNUSED = "Accepted for compatibility"
COLUMNS = {"prefs": 5, "qrels_prefs": 4, "qrels_jg": 4}
"""The formats of judgments that are preferences, or the grades of several judges, with their columns."""


@dataclass(frozen=True, kw_only=True)
class TrecEvalOptions:
    """The flags of trec_eval."""

    requests: tuple[str, ...] = option(
        "-m --measure MEASURE[.PARAMS]",
        "A measure or a set of them (`official`, `all_trec`, `set`, `prefs`, `all_prefs`, `qrels_jg`); may be"
        " repeated.  [default: official]",
        section=MEASURES,
        multiple=True,
    )
    complete: bool = flag("-c --complete_rel_info_wanted", "Average over all judged queries.")
    level: int = option("-l --level_for_rel", "The grade from which a document is relevant.", default=1)
    depth: int | None = option(
        "-M --Max_retrieved_per_topic", "Use only the first N documents of each query.", type=int
    )
    judged_only: bool = flag("-J --Judged_docs_only", "Remove unjudged documents first.")
    collection: int = option("-N --Number_docs_in_coll", "Number of documents in the collection.", default=0)
    judgment_format: str = option(
        "-R --Rel_info_format",
        "What QRELS holds: grades, preferences, or the grades of several judges.",
        section=INPUTS,
        type=click.Choice(["qrels", *COLUMNS]),
        default="qrels",
    )
    run_format: str = option(
        "-T --Results_format", "Only `trec_results` is supported.", default="trec_results"
    )
    each: bool = flag("-q --query_eval_wanted", "Also print every query.", section=OUTPUT)
    nosummary: bool = flag("-n --nosummary", "Print no summary.")
    version: str = option(
        "--trec-version [9|10]", "Whose output to print: that of trec_eval 9.0 or 10.0.", default="9"
    )
    old: bool = flag("-o --Output_old_results_format", "Obsolete; has no effect.", section=UNUSED)
    debugging: str | None = option("-D --Debug_level LEVEL", "Accepted; has no effect.")
    zscores: str | None = option("-Z --Zscore FILE", "Not supported.")


@click.command("trec_eval", cls=Command, epilog=EXAMPLES)
@click.argument("qrels", type=InputPath())
@click.argument("run", type=InputPath())
@options("options", TrecEvalOptions)
def command(qrels: str, run: str, *, options: TrecEvalOptions) -> None:
    """Score RUN against QRELS, and print what trec_eval prints.

    Standard output is trec_eval's to the last byte, except that 0.0000 replaces its `-nan`. Messages and exit codes are judged's own: an input
    that cannot be scored is explained on standard error, with exit code 2.
    """
    from judged.io.read import read_run
    from judged.measures.trec_eval import expand

    _refuse(options)
    check_standard_input([qrels, run])
    kind = options.judgment_format
    measures = expand(10 if options.version == "10" else 9, options.requests, kind)
    judgments, ranked = _judgments(qrels, kind), read_run(run)
    results = _results(judgments, ranked, measures, options)
    if options.each:
        click.echo("".join(_query_lines(results, measures)), nl=False)
    if not options.nosummary:
        click.echo("".join(_summary_lines(results, measures, options, tag(ranked))), nl=False)


@dataclass(frozen=True)
class Results:
    """The values of every measure, by printed name, over the queries that are printed."""

    queries: list[str]
    values: dict[str, list[Any]]
    judged: int
    """Number of judged queries."""
    positive: int
    """Number of documents with a grade above 0, in all judged queries."""


def _refuse(options: TrecEvalOptions) -> None:
    """Raise `BadProtocol` for options of trec_eval that are not supported."""
    if options.run_format != "trec_results":
        msg = f"`-T {options.run_format}` is not known here, only `-T trec_results`"
        raise BadProtocol(msg, hint="trec_eval itself knows no other")
    if options.zscores is not None:
        msg = "`-Z` is not known here"
        raise BadProtocol(msg, hint="Z scores need trec_eval itself")


def _judgments(qrels: str, kind: str) -> Judgments | Preferences:
    """Read the judgments as the format of that name."""
    from judged.io.read import read_judgments, read_preferences

    return read_preferences(qrels, columns=COLUMNS[kind]) if kind in COLUMNS else read_judgments(qrels)


def _protocol(options: TrecEvalOptions) -> Protocol:
    """Return the conventions of the version and the flags; for preferences, trec_eval reverses ties."""
    preferring = options.judgment_format in {"prefs", "qrels_prefs"}
    return PROTOCOLS[f"trec_eval-{options.version}"].replace(
        ties="document-ascending" if preferring else "document-descending",
        missing="skip",
        rel=float(options.level),
        depth=options.depth,
        unjudged="removed" if options.judged_only else "nonrelevant",
    )


def _results(
    judgments: Judgments | Preferences, run: Run, measures: Sequence[TrecMeasure], options: TrecEvalOptions
) -> Results:
    """Return the values of all queries that trec_eval scores: those in both files, and with `-c` in 10 all judged."""
    import numpy as np

    from judged.tables.preferences import Preferences
    from judged.tables.run import Run

    protocol = _protocol(options)
    scored = _evaluated(judgments, run, measures, protocol, options)
    # by bytes here and below, as trec_eval sorts queries
    missing = sorted(set(judgments.queries.to_pylist()) - set(scored), key=str.encode)
    if options.version == "10" and options.complete:
        stand_in = Run.from_mapping({query: {STAND_IN: 1.0} for query in missing})
        lost = _evaluated(judgments, stand_in, measures, protocol, options)
        scored |= {query: _cleared(values) for query, values in lost.items()}
    elif options.version == "10" and missing:
        click.echo(
            f"Note: {len(missing):,} judged queries have no results and are left out, as trec_eval 9 does;"
            " trec_eval 10.0 stops here with exit code 4. `-c` counts them as 0",
            err=True,
        )
    if not scored:
        raise BadInput(run.name, [Problem.error("no-judged-query", "queries", "none of them is judged")])
    queries = sorted(scored, key=str.encode)
    values = {name: [scored[query][name] for query in queries] for name in scored[queries[0]]}
    grades = judgments.levels if isinstance(judgments, Preferences) else judgments.grades
    positive = int(np.count_nonzero(grades > 0))
    return Results(queries, values, len(judgments.queries), positive)


def _evaluated(
    judgments: Judgments | Preferences,
    run: Run,
    measures: Sequence[TrecMeasure],
    protocol: Protocol,
    options: TrecEvalOptions,
) -> dict[str, dict[str, Any]]:
    """For each query in both, the values by printed name."""
    from judged.measures.parse import parse_measure
    from judged.scoring.evaluate import evaluate

    chosen = {line.name: _priced(line.measure, options.collection) for line in measures if line.measure}
    preferring = options.judgment_format in COLUMNS
    counted = chosen.pop("num_q", None) if preferring else None  # a measure of judgments, not of preferences
    any_measure = parse_measure("prefs_num_prefs_poss" if preferring else "NumRet")
    try:
        evaluation = evaluate(judgments, run, chosen.values() or any_measure, protocol=protocol)
    except MissingQueries:
        return {}
    scores = evaluation.per_query()
    own = {measure: measure for measure in evaluation.measures}  # equal measures may be written differently
    columns = {name: scores[own[measure]].tolist() for name, measure in chosen.items()}
    if counted:
        columns["num_q"] = [1.0] * len(scores.queries)
    return {
        query: {name: values[at] for name, values in columns.items()}
        for at, query in enumerate(scores.queries.to_pylist())
    }


def _priced(measure: Measure, collection: int) -> Measure:
    """Return the measure with the size of the collection, if it takes one."""
    return measure(collection=collection) if collection and "collection" in measure.defaults else measure


def _cleared(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a query without results, as trec_eval 10 leaves them."""
    return {
        name: 0.0 if name.startswith("unj") else CLEARED.get(name, value) for name, value in values.items()
    }


def _query_lines(results: Results, measures: Sequence[TrecMeasure]) -> Iterator[str]:
    shown = [line for line in measures if line.per_query]
    for at, query in enumerate(results.queries):
        for line in shown:
            yield _line(line.name, query, _written(line.kind, results.values[line.name][at]))


def _summary_lines(
    results: Results, measures: Sequence[TrecMeasure], options: TrecEvalOptions, run_tag: str
) -> Iterator[str]:
    for line in measures:
        if line.measure is None:
            yield _line(line.name, "all", run_tag)
        elif line.summary:
            value = _summary(line.name, line.measure.aggregate, results, complete=options.complete)
            yield _line(line.name, "all", _written(line.kind, value))


def _summary(name: str, aggregate: str, results: Results, *, complete: bool) -> float:
    """One number for all queries, added up in the order of trec_eval, which the last digit may show."""
    values = results.values[name]
    count = results.judged if complete else len(results.queries)
    if name == "num_q":
        return count
    if name == "num_rel" and complete:
        return results.positive  # regardless of `-l`, as trec_eval counts
    if aggregate == "geometric":
        logs = _added([math.log(max(value, FLOOR)) for value in values])
        return math.exp((logs + (count - len(values)) * math.log(FLOOR)) / count)
    return _added(values) if aggregate == "sum" else _added(values) / count


def _added(values: list[float]) -> float:
    """Return the plain sum from left to right; `sum` would compensate for rounding, which trec_eval does not."""
    total = 0.0
    for value in values:
        total += value
    return total


def _written(kind: str, value: Any) -> str:
    if kind == "string":
        return f"'{value}'"
    return str(int(value)) if kind == "integer" else f"{value:6.4f}"


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


def tag(run: Run) -> str:
    """Return the tag on the last line of a TREC run; of other formats, the run's name."""
    from judged.tables.run import Text

    if not isinstance(run.source, Text):
        return run.name
    lines = bytes(run.source.buffer[-65536:]).splitlines()
    fields = next(
        (line.split() for line in reversed(lines) if line.strip() and not line.startswith(b"#")), []
    )
    return fields[5].decode(errors="replace") if len(fields) > 5 else run.name
