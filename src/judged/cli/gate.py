"""`judged gate`: a run against a baseline, with a margin; the exit code says whether it passes.

A gate is described by the command line, or several by a YAML file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal, cast

import click
from click.core import ParameterSource

from judged.cli.command import Command, Declared, flag, option, options
from judged.cli.inputs import (
    NOTHING_TO_JOIN,
    STANDARD_INPUT,
    Input,
    InputPath,
    check_same_judgments,
    check_standard_input,
    find_baselines,
    holds_both,
    named_runs,
    one_run,
    open_predictions,
    refuse_inputs,
    split_name,
    split_tables,
)
from judged.cli.options import (
    INPUT_FILE,
    INPUTS,
    ProfileChoice,
    alpha_option,
    attributes_option,
    cluster_option,
    join_option,
    measure_option,
    output_options,
    predictions_option,
    profile_options,
    queries_option,
    read_clusters,
    read_query_texts,
    seed_option,
)
from judged.cli.output import (
    GATE_EXTENSIONS,
    OUTPUT_FILE,
    OutputOptions,
    check_extension,
    check_texts,
    print_notes,
    print_protocols,
    separate_notes,
    to_screen,
)
from judged.cli.score_gates import ScoreGate, list_score_gates, run_score_gate
from judged.cli.scores import ScoreFileOptions
from judged.errors import BadProtocol, JudgedError, UnknownName
from judged.result import pack
from judged.store.files import write_file

if TYPE_CHECKING:
    from judged.blocks import Display
    from judged.cli.configuration import Gate
    from judged.comparison.clusters import ClusterChoice
    from judged.gates.result import Gated, GateReport, GateSummary
    from judged.profiles.profile import Profile

FORMATS = ("table", "markdown", "junit", "json")
DEFAULT_MEASURES = ("nDCG@10",)
REGRESSION, FAULTY, INCONCLUSIVE = 1, 2, 3
TAKEN = {FAULTY, 70, 130, 141}
"""Exit codes that mean something else."""
VERDICT = "Verdict"
"""Heading of the options that decide about a run."""
WITH_CONFIG = {
    "config",
    "history",
    "inconclusive",
    "format",
    "paths",
    "digits",
    "quiet",
    "verbose",
    "texts",
}
"""Options that may be combined with `--config`."""
EXAMPLES = """\b
Examples:
  judged gate qrels.txt new.run --baseline old.run
  judged gate qrels.txt new.run --baseline scores.parquet --min-delta -2% -m "nDCG@10 AP"
  judged gate qrels.txt new.run --baseline old.run -o gate.xml -o gate.json --inconclusive pass
  judged gate test.svm --predictions new.txt --baseline old.txt
  judged gate --scores new.csv --baseline old.csv -m faithfulness --higher faithfulness --min-delta -0.02
  judged gate --config gates.yaml --format markdown >> "$GITHUB_STEP_SUMMARY"
"""


class Inconclusive(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """`pass`, `fail`, or an exit code that means nothing else."""

    name = "pass|fail|CODE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the exit code."""
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


def min_delta_option(note: str = "", **settings: object) -> Declared:
    """Declare the margin of a gate; `note` says what a command does with it."""
    text = "The least difference from the baseline that passes: a number, or a share of the baseline's mean (-2%)."
    return option("--min-delta DELTA", f"{text}{note}", **settings)


inconclusive_option = partial(
    option,
    "--inconclusive",
    f"Exit code of an inconclusive verdict.  [default: {INCONCLUSIVE}]",
    type=Inconclusive(),
)


@dataclass(frozen=True, kw_only=True)
class GateOptions(ScoreFileOptions):
    """With what a run is compared, how strictly, and what else the gate writes."""

    baseline: str | None = option(
        "--baseline FILE",
        "The run to compare with, or its scores as `judged score --per-query -o scores.parquet` writes them"
        " (also .csv, .tsv, .jsonl, .json); or the name of one of the systems in RUN.",
        section=INPUTS,
        type=InputPath(named=True, or_name=True),
    )
    baseline_run: str | None = option(
        "--baseline-run NAME", "The run to compare with, if FILE holds scores of several."
    )
    allow_other_protocol: bool = flag(
        "--allow-other-protocol", "Compare with scores made under another protocol."
    )
    config: Path | None = option(
        "--config FILE",
        "A YAML file of gates, in place of QRELS, RUN and the options of single gates.",
        type=INPUT_FILE,
    )
    predictions: str | None = predictions_option(
        "--baseline may be one of these files, too.", section=INPUTS, excludes=("--scores", "--join")
    )
    join: bool = join_option(section=INPUTS)
    texts: str | None = queries_option()
    measures: tuple[str, ...] = measure_option(
        f"All must pass.  [default: {' '.join(DEFAULT_MEASURES)}]", section=VERDICT
    )
    min_delta: str | None = min_delta_option(
        "  [default: -0.01 of what lies between 0 and 1, a hundredth of any other known scale]"
    )
    alpha: float = alpha_option()
    test: Literal["t", "randomisation"] = option(
        "--test [t|randomisation]", "Student's paired t-test, or sign-flip randomisation.", default="t"
    )
    seed: int = seed_option(needs="--test randomisation")
    wall: bool = flag(
        "--wall",
        "Let wall times decide, although they were measured apart: for benchmarks of `judged index`.",
    )
    cluster: str | None = cluster_option()
    attributes: Path | None = attributes_option(section=INPUTS)
    inconclusive: int | None = inconclusive_option()
    history: Path | None = option(
        "--history FILE",
        "A log that CI keeps: count the runs that the same judgments have decided about, and say what that does to"
        " the error rate.",
        type=OUTPUT_FILE,
    )


@click.command("gate", cls=Command, epilog=EXAMPLES)
@click.argument("qrels", type=InputPath(named=True), required=False)
@click.argument("run", type=InputPath(named=True), required=False)
@options("options", GateOptions)
@output_options(FORMATS, note=" (.xml is JUnit)")
@profile_options()
def command(
    *,
    qrels: str | None,
    run: str | None,
    options: GateOptions,
    output: OutputOptions,
    profile: ProfileChoice,
) -> None:
    """Compare RUN with a baseline on the judgments in QRELS, and exit with 0 only if it is shown to be no worse.

    A folder, a pattern or a table with a column `system` is a gate for each of its systems but the baseline.

    The verdict is `pass` if the difference is shown to lie above --min-delta, `fail` if it is shown to lie below,
    and otherwise `inconclusive`, each by a one-sided paired test. A benchmark of `judged index` in place of QRELS, with
    another one as --baseline and no RUN, is gated setting by setting: recall, processor time and latency. With --scores, the only file is the
    scores of every query that any tool computed, and so is the baseline. Exit codes: 0 pass, 1 fail, 2 an error,
    3 inconclusive unless --inconclusive says otherwise.
    """
    from judged.blocks import Display
    from judged.gates.result import GateSummary

    formats = {path: check_extension(path, GATE_EXTENSIONS) for path in output.paths}
    refuse_inputs(output.paths)
    started = perf_counter()
    code_of_file: int | None = None
    if options.config is not None:
        gates, code_of_file = _run_file(options.config, output)
    elif options.scores:
        gates = _run_scores(qrels, run, options, profile)
    else:
        gates = _run_one(qrels, run, options, profile)
    if options.history is not None:
        gates = [_record(gate, options.history) for gate in gates]
    given = (options.inconclusive, code_of_file, INCONCLUSIVE)
    inconclusive = next(code for code in given if code is not None)
    summary = GateSummary(tuple(gates), exit_code(gates, inconclusive))
    render = _make_renderer(summary, passes=inconclusive == 0, seconds=perf_counter() - started)
    display = Display(digits=output.digits, texts=read_query_texts(options.texts))
    for path, kind in formats.items():
        write_file(path, pack(path, render(kind, display)))
    _print_result(summary.gates, render(output.format, to_screen(display)), output, display.texts)
    if summary.exit_code:
        raise click.exceptions.Exit(summary.exit_code)


def _run_file(config: Path, output: OutputOptions) -> tuple[list[Gated], int | None]:
    """Return the outcomes of the gates in a file, and the exit code that it chooses for inconclusive ones."""
    from judged.cli.configuration import read_gates

    _check_config_alone(click.get_current_context())
    file = read_gates(config)
    named = [
        path
        for gate in file.gates
        for path in (gate.qrels, gate.run, gate.predictions, gate.scores, gate.baseline)
        if path
    ]
    refuse_inputs(output.paths, named)
    outcomes = [outcome for gate in file.gates for outcome in _try_gates(gate)]
    return outcomes, _read_code(file.inconclusive, config)


def _run_one(qrels: str | None, run: str | None, options: GateOptions, profile: ProfileChoice) -> list[Gated]:
    """Return the outcome of the gate on the command line, or those of a saved result that can be gated by itself."""
    if run is None and qrels is not None and options.baseline is not None and (saved := _find_saved(qrels)):
        return _gate_saved(saved, options.baseline, options.alpha, wall=options.wall)
    if options.wall:
        msg = "--wall is of benchmarks of `judged index`, and a run has no times"
        raise click.UsageError(msg)
    if run is not None and options.predictions is not None:
        msg = "RUN and `--predictions` are both given, expected one of them"
        raise click.UsageError(msg)
    if run is None and options.predictions is None and qrels is not None and holds_both(split_name(qrels)[1]):
        run, qrels = qrels, split_name(qrels)[1]
        if options.baseline is not None and holds_both(split_name(options.baseline)[1]):
            check_same_judgments([qrels, split_name(options.baseline)[1]])
    judgments, system, baseline = _check_inputs(qrels, run or options.predictions, options.baseline)
    gate = _make_gate(options, judgments, system, baseline, options.measures or DEFAULT_MEASURES)
    chosen = profile.to_profile()
    return [_run_gate(each, chosen) for each in _list_gates(gate)]


def _run_scores(
    scores: str | None, run: str | None, options: GateOptions, profile: ProfileChoice
) -> list[Gated]:
    """Return the outcomes of the gates of a file of scores, of each of its systems but the baseline."""
    import msgspec

    if scores is None or options.baseline is None or run is not None:
        given = "two files" if run is not None else "no file" if scores is None else "no `--baseline`"
        msg = f"`--scores` takes one file, and `--baseline FILE` to compare it with: {given} given"
        raise click.UsageError(msg)
    check_standard_input([split_name(text)[1] for text in (scores, options.baseline)])
    reading = options.to_reading(profile)
    gate = msgspec.structs.replace(
        _make_gate(options, "", "", options.baseline, options.measures),
        scores=scores,
        higher=reading.higher,
        lower=reading.lower,
        missing=reading.missing,
        scores_format=reading.format,
    )
    return [run_score_gate(each, _read_gate_clusters(gate)) for each in list_score_gates(gate)]


def _make_gate(options: GateOptions, qrels: str, run: str, baseline: str, measures: tuple[str, ...]) -> Gate:
    """Return the gate that the options describe."""
    from judged.cli.configuration import Gate

    return Gate(
        qrels,
        run if options.predictions is None else "",
        baseline,
        predictions=options.predictions or "",
        measures=measures,
        min_delta=options.min_delta,
        alpha=options.alpha,
        test=options.test,
        seed=options.seed,
        baseline_run=options.baseline_run,
        allow_other_protocol=options.allow_other_protocol,
        cluster=options.cluster,
        attributes=None if options.attributes is None else str(options.attributes),
        join=options.join,
    )


def _find_saved(path: str) -> Path | None:
    """Return the saved result that a path is, or that a folder of `judged index` or `judged run` holds."""
    from judged.result import find_kind

    given = Path(path)
    files = sorted(given.glob("*.json")) if given.is_dir() else [given]
    saved = [file for file in files if find_kind(file)]
    if len(saved) > 1:
        msg = f"{path} holds {len(saved)} saved results ({', '.join(file.name for file in saved[:5])}), expected one"
        raise click.UsageError(msg)
    return saved[0] if saved else None


def _gate_saved(new: Path, baseline: str, alpha: float, *, wall: bool) -> list[Gated]:
    """Return the gates of a saved result that can be gated by itself, such as a benchmark of vector indexes."""
    from judged.errors import Unreadable
    from judged.result import load

    old = _find_saved(baseline)
    if old is None:
        msg = f"{baseline} is not a saved result, expected one like {new}"
        raise Unreadable(msg)
    return cast("list[Gated]", list(load(new).gate(load(old), alpha=alpha, wall=wall)))


def _check_inputs(qrels: str | None, run: str | None, baseline: str | None) -> tuple[str, str, str]:
    """Return the three inputs; raise UsageError if one is missing, or if two are standard input."""
    inputs = {"QRELS": qrels, "RUN": run, "--baseline": baseline}
    missing = [word for word, value in inputs.items() if value is None]
    if qrels is None or run is None or baseline is None:
        msg = f"{' and '.join(missing)} not given; `--config FILE` takes gates from a file instead"
        raise click.UsageError(msg)
    check_standard_input([qrels, *(split_name(text)[1] for text in (run, baseline))])
    return qrels, run, baseline


def _check_config_alone(context: click.Context) -> None:
    """Raise UsageError for options that the file of gates sets instead."""
    given = [
        max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
        for parameter in context.command.params
        if parameter.name not in WITH_CONFIG
        and context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if given:
        msg = f"{', '.join(given)} cannot be combined with `--config`: put it into the file"
        raise click.UsageError(msg)


def exit_code(gates: Sequence[Gated], inconclusive: int) -> int:
    """Return the exit code of the verdict of all gates."""
    from judged.gates.result import GateSummary

    codes = {"pass": 0, "fail": REGRESSION, "error": FAULTY, "inconclusive": inconclusive}
    return codes[GateSummary(tuple(gates)).verdict]


def _make_renderer(summary: GateSummary, *, passes: bool, seconds: float) -> Callable[[str, Display], str]:
    """Return the function that renders the gates in a format; `passes`: whether an inconclusive one does."""
    from judged.report.gate_summaries import render_junit, render_markdown, render_text

    def render(kind: str, display: Display) -> str:
        if kind == "json":
            return summary.to_json()
        if kind == "html":
            return _render_report(summary, display)
        if kind == "junit":
            return render_junit(summary, inconclusive_passes=passes, seconds=seconds)
        render_blocks = render_markdown if kind == "markdown" else render_text
        return render_blocks(summary, display)

    return render


def _render_report(summary: GateSummary, display: Display) -> str:
    """Return the report of all gates; those that could not be decided are warnings of the first."""
    from judged.cli.output import describe_command
    from judged.report.page import render_report

    reports = summary.gates
    if not reports:
        msg = f"no gate could be decided, so there is no report: {summary.refused[0].message.splitlines()[0]}"
        raise click.UsageError(msg)
    refused = [note for note in summary.notes if note.code == "refused-gate"]
    first = replace(reports[0], notes=(*refused, *reports[0].notes))
    return render_report([first, *reports[1:]], queries=display.texts or None, command=describe_command())


def _print_result(
    reports: Sequence[GateReport], text: str, output: OutputOptions, texts: Mapping[str, str]
) -> None:
    """Print the rendered gates, their protocols and notes; what puts all numbers in doubt comes first."""
    from judged.problem import split_doubts

    notes = (
        note
        for report in reports
        for note in (*report.notes, *report.provenance.changes, *check_texts(report, texts))
    )
    doubts, others = split_doubts(dict.fromkeys(notes))
    print_notes(doubts, verbose=output.verbose)
    click.echo(text, nl=False)
    if not output.quiet:
        separate_notes()
        print_protocols(
            [record for report in reports for record in report.provenance.protocols], verbose=output.verbose
        )
        print_notes(others, output.paths, verbose=output.verbose)


@dataclass(frozen=True)
class _Gate:
    """The gate of one system: its settings, the system and the baseline."""

    settings: Gate
    name: str | None
    run: Input
    baseline: Input
    baseline_name: str | None
    """The name that the user gave to the baseline, or that it has among the runs."""

    @property
    def system(self) -> str:
        """The name of the system."""
        return self.run.name


def _list_gates(gate: Gate) -> list[_Gate]:
    """Return a gate for each system of a run, which may be a folder, a pattern or a table, but the baseline."""
    from judged.io.systems import is_collection

    joined = {text: gate.join and is_collection(split_name(text)[1]) for text in (gate.run, gate.baseline)}
    if gate.join and not any(joined.values()):
        raise click.UsageError(NOTHING_TO_JOIN)
    runs = _list_systems(gate, join=joined[gate.run])
    name, path = split_name(gate.baseline)
    (found,) = find_baselines([path], runs) if len(runs) > 1 else (path,)
    among = next((run for run in runs if run.name == found), None) if len(runs) > 1 else None
    if among is None:
        place = Path(path)
        if path != STANDARD_INPUT and ":" not in path and not place.exists() and not glob(path):  # noqa: PTH207
            raise missing_baseline(path, runs)
        baseline = _open_baseline(gate, path, join=joined[gate.baseline])
        return [_Gate(gate, _name_gate(gate, run, runs), run, baseline, name) for run in runs]
    others = [run for run in runs if run is not among]
    return [_Gate(gate, _name_gate(gate, run, others), run, among, name or among.name) for run in others]


def _list_systems(gate: Gate, *, join: bool) -> list[Input]:
    """Return the systems to gate: those of a run, or the predictions of a model."""
    if gate.predictions:
        return open_predictions((gate.predictions,), gate.qrels)
    return list(split_tables(named_runs((gate.run,), join=join)))


def _open_baseline(gate: Gate, path: str, *, join: bool) -> Input:
    """Return the baseline, which next to predictions may be a file of these."""
    if gate.predictions:
        from judged.io.predictions import holds_predictions

        if holds_predictions(path):
            (model,) = open_predictions((gate.baseline,), gate.qrels)
            return model
    return one_run(gate.baseline, join=join)


def _name_gate(gate: Gate, run: Input, runs: Sequence[Input]) -> str | None:
    """Return the name of a gate, with that of its system where there are several."""
    return gate.name if gate.name is None or len(runs) == 1 else f"{gate.name}: {run.name}"


def missing_baseline(path: str, runs: Sequence[Input]) -> JudgedError:
    """Return the error that a baseline is neither a file nor one of several runs."""
    if len(runs) > 1:
        return UnknownName("file or system for the baseline", path, [run.name for run in runs])
    from judged.io.open import missing_file

    return missing_file(Path(path))


def _run_gate(each: _Gate, profile: Profile | None = None) -> GateReport:
    """Return the outcome of one gate."""
    from judged.gates.api import gate as compare_with_baseline
    from judged.measures.parse import split_measures

    gate, run, baseline = each.settings, each.run, each.baseline
    measures = [gate.measures] if isinstance(gate.measures, str) else gate.measures
    return compare_with_baseline(
        gate.qrels,
        run.system.source,
        [name for text in measures for name in split_measures(text)],
        baseline=baseline.system.source,
        min_delta=gate.min_delta,
        alpha=gate.alpha,
        test=gate.test,
        seed=gate.seed,
        protocol=profile or gate.profile(),
        baseline_run=gate.baseline_run,
        allow_other_protocol=gate.allow_other_protocol,
        clusters=_read_gate_clusters(gate),
        name=each.name,
        run_name=run.name,
        baseline_name=each.baseline_name,
    )


def _read_gate_clusters(gate: Gate) -> ClusterChoice:
    """Return the clusters of a gate: a column of its scores, or an attribute of the queries in a file."""
    return read_clusters(gate.cluster, None if gate.attributes is None else Path(gate.attributes))


def _try_gates(gate: Gate) -> list[Gated]:
    """Return the outcomes of one entry of a file, a gate for each system; an error does not stop the others."""
    from judged.gates.result import RefusedGate

    try:
        gates: Sequence[_Gate | ScoreGate] = list_score_gates(gate) if gate.scores else _list_gates(gate)
    except JudgedError as error:
        return [RefusedGate(gate.name or gate.run or gate.predictions or gate.scores, str(error))]
    outcomes: list[Gated] = []
    for each in gates:
        try:
            outcomes.append(
                _run_gate(each)
                if isinstance(each, _Gate)
                else run_score_gate(each, _read_gate_clusters(gate))
            )
        except JudgedError as error:
            source = gate.run or gate.predictions or gate.scores
            name = each.name or (source if len(gates) == 1 else f"{source}: {each.system}")
            outcomes.append(RefusedGate(name, str(error)))
    return outcomes


def _record(gate: Gated, history: Path) -> Gated:
    """Return the gate with the number of runs that its judgments have decided about."""
    from judged.gates.history import record_look
    from judged.gates.result import GateReport

    return record_look(gate, history) if isinstance(gate, GateReport) else gate


def _read_code(given: int | str | None, path: Path) -> int | None:
    """Return the exit code that the file chooses for an inconclusive verdict."""
    if given is None:
        return None
    try:
        return Inconclusive().convert(given, None, None)
    except click.BadParameter as error:
        msg = f"{path}: `inconclusive`: {error.message}"
        raise BadProtocol(msg) from None
