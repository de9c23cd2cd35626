"""`judged fuse`: one run from several, with weights given or tuned on judgments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from judged.cli.command import COUNT, Command, option, options
from judged.cli.convert import tag_option, write_as_option
from judged.cli.inputs import STANDARD_INPUT, Input, InputPath, check_standard_input, named_runs
from judged.cli.options import INPUT_FILE, join_option, seed_option
from judged.cli.output import (
    OUTPUT,
    OUTPUT_FILE,
    OutputOptions,
    emit,
    file_option,
    force_option,
    print_line,
    print_notes,
    quiet_option,
)
from judged.errors import JudgedError, UnknownName
from judged.store.files import standard_input

if TYPE_CHECKING:
    from judged.tables.run import Run

FUSION = "Fusion"
TUNED = "--tune MEASURE"
EXAMPLES = """\b
Examples:
  judged fuse bm25.run dense.run -o hybrid.run
  judged fuse bm25.run dense.run --method wsum --weight bm25=0.3 --weight dense=0.7 -o hybrid.parquet
  judged fuse *.run --method combmnz --normalisation z-score --depth 100 | judged score qrels.txt -
  judged fuse bm25.run dense.run --tune nDCG@10 --qrels qrels.txt --folds 5 -o hybrid.run
"""


@dataclass(frozen=True, kw_only=True)
class FuseOptions:
    """Options for the fusion of runs, and its output."""

    method: str | None = option(
        "--method NAME",
        "rrf, combsum, combmnz, combanz, combmax, combmin, combmed, wsum, isr, logisr, rbc, borda or condorcet."
        "  [default: rrf, with --tune wsum]",
        section=FUSION,
    )
    normalisation: str | None = option(
        "--normalisation NAME",
        "Normalisation of scores: min-max, max, sum, z-score, rank or none.  [default: min-max]",
    )
    weights: tuple[str, ...] = option(
        "--weight NAME=NUMBER", "The weight of a run; once for each run.", multiple=True
    )
    parameters: tuple[str, ...] = option(
        "--set NAME=NUMBER",
        "A parameter of the method: k of rrf, gamma of combmnz, sigma of logisr, phi of rbc.",
        multiple=True,
    )
    join: bool = join_option()
    depth: int | None = option("--depth N", "Keep the first N documents of each query.", type=COUNT)
    destination: str | None = file_option(
        ", in the format of its extension.  [default: standard output]", type=str, section=OUTPUT
    )
    write_as: str | None = write_as_option()
    tag: str | None = tag_option()
    force: bool = force_option()
    quiet: bool = quiet_option()


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """Options for tuning the weights."""

    measure: str | None = option("--tune MEASURE", "Tune the weights for a measure; needs --qrels.")
    qrels: str | None = option(
        "--qrels FILE", "Judgments to tune the weights on.", needs=TUNED, type=InputPath()
    )
    folds: int | None = option(
        "--folds N", "Folds of cross-validation.  [default: 5]", needs=TUNED, type=click.IntRange(min=2)
    )
    train: Path | None = option(
        "--train FILE",
        "Training queries, an id on each line, in place of folds; the other queries are held out.",
        needs=TUNED,
        type=INPUT_FILE,
    )
    search: Literal["grid", "swarm"] = option(
        "--search [grid|swarm]",
        "Search a grid of weights, or by a particle swarm.",
        needs=TUNED,
        default="grid",
    )
    step: float = option(
        "--step X", "Step between the weights of the grid.", needs=[(TUNED,), ("--search grid",)], default=0.1
    )
    seed: int = seed_option(needs=TUNED)
    reports: tuple[Path, ...] = option(
        "--report FILE",
        "With --tune: also write the tuning, in the format of the extension; may be repeated.",
        needs=TUNED,
        multiple=True,
        type=OUTPUT_FILE,
    )


@click.command("fuse", cls=Command, epilog=EXAMPLES)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", FuseOptions, OUTPUT)
@options("tuning", TuneOptions, "Tuning")
def command(runs: tuple[str, ...], *, options: FuseOptions, tuning: TuneOptions) -> None:
    """Fuse each RUN with the others into one run, by ranks or by normalised scores.

    With --tune, weights are chosen on training queries and scored on the others; the run that is written has every
    held-out query fused with the weights of its fold, so that scoring it gives the held-out score.
    """
    from judged.studies.fusion.methods import fuse

    named = named_runs(runs, join=options.join)
    check_standard_input([run.path for run in named])
    how: dict[str, Any] = {"normalisation": options.normalisation, "depth": options.depth}
    how |= _read_parameters(options.parameters)
    if tuning.measure is not None:
        _tune(named, options, tuning, how)
        return
    weights = _read_numbers(options.weights, "--weight") or None
    fused = fuse(_read(named), method=options.method or "rrf", weights=weights, **how)
    _write(fused, options.destination or "-", options, quiet=options.quiet)


def _tune(named: list[Input], options: FuseOptions, tuning: TuneOptions, how: dict[str, Any]) -> None:
    """Tune the weights, write the fused run if that is asked for, and print what was found."""
    from judged.studies.fusion.tuning import tune_fusion

    if tuning.qrels is None or tuning.measure is None or options.weights:
        missing = "`--tune` needs `--qrels FILE`"
        msg = missing if tuning.qrels is None else "`--tune` finds the weights: leave `--weight` out"
        raise click.UsageError(msg)
    output = OutputOptions(paths=tuning.reports, quiet=options.quiet)
    output.check()
    read = _read(named)
    tuned = tune_fusion(
        tuning.qrels,
        read,
        tuning.measure,
        method=options.method or "wsum",
        search=tuning.search,
        train=None if tuning.train is None else tuning.train.read_text(encoding="utf-8").split(),
        folds=tuning.folds,
        step=tuning.step,
        seed=tuning.seed,
        **how,
    )
    destination = options.destination
    if destination is not None:
        _write(tuned.fuse(read, depth=options.depth), destination, options, quiet=True)
    if destination != "-":
        emit(tuned, output, written=[Path(destination)] if destination else [])


def _read(named: list[Input]) -> dict[str, Run]:
    from judged.io.read import read_runs

    fused: dict[str, Run] = {}
    for run in named:
        source, label = run.system.source, None
        if run.path == STANDARD_INPUT:
            source, label = standard_input().read(), run.label
        for name, table in run.system.select(read_runs(source, name=label)).items():
            fused[name or run.name] = replace(table, name=name or run.name)
    print_notes(dict.fromkeys(note for run in named for note in run.system.notes))
    return fused


def _read_parameters(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameters of the method; names that no method has are refused."""
    from judged.studies.fusion.methods import METHODS

    known = {name: None for method in METHODS.values() for name in method.parameters}
    parameters = _read_numbers(texts, "--set")
    for name in parameters:
        if name not in known:
            raise UnknownName("parameter of fusion", name, list(known))
    return parameters


def _read_numbers(texts: tuple[str, ...], option: str) -> dict[str, float]:
    """Return `NAME=NUMBER` pairs as a dict."""
    numbers = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        try:
            numbers[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name:
            msg = f"`{option} {text}` has no name and number, expected NAME=NUMBER"
            raise JudgedError(msg)
    return numbers


def _write(run: Run, destination: str, options: FuseOptions, *, quiet: bool) -> None:
    from judged.io.write import write_run

    write_run(run, destination, format=options.write_as, tag=options.tag, force=options.force)
    if quiet:
        return
    for note in run.notes:
        print_line(f"Note: {note}")
    if destination != "-":
        print_line(f"Wrote: {destination}")
