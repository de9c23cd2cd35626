"""`judged fuse`: one run from several, with weights given or tuned on judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.convert import FORMATS
from judged.cli.effects import dependent_option
from judged.cli.inputs import Input, InputPath, check_standard_input, named_runs
from judged.cli.output import OutputOptions, emit, print_line
from judged.errors import JudgedError, UnknownName
from judged.store.files import standard_input

if TYPE_CHECKING:
    from judged.studies.tuning import FusionTuning
    from judged.tables.run import Run

EXAMPLES = """\b
Examples:
  judged fuse bm25.run dense.run -o hybrid.run
  judged fuse bm25.run dense.run --method wsum --weight bm25=0.3 --weight dense=0.7 -o hybrid.parquet
  judged fuse *.run --method combmnz --normalisation z-score --depth 100 | judged score qrels.txt -
  judged fuse bm25.run dense.run --tune nDCG@10 --qrels qrels.txt --folds 5 -o hybrid.run
"""


@click.command("fuse", epilog=EXAMPLES)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=InputPath(named=True))
@click.option(
    "-o",
    "--output",
    "destination",
    metavar="FILE",
    help="Where to write the fused run, in the format of its extension.  [default: standard output]",
)
@click.option(
    "--method",
    metavar="NAME",
    help="rrf, combsum, combmnz, combanz, combmax, combmin, combmed, wsum, isr, logisr, rbc, borda or condorcet."
    "  [default: rrf, with --tune wsum]",
)
@click.option(
    "--normalisation",
    metavar="NAME",
    help="How scores are normalised: min-max, max, sum, z-score, rank or none.  [default: min-max]",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=NUMBER",
    help="The weight of a run; once for each run.",
)
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="NAME=NUMBER",
    help="A parameter of the method: k of rrf, gamma of combmnz, sigma of logisr, phi of rbc.",
)
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N", help="Keep the first N documents of each query."
)
@click.option("--tune", metavar="MEASURE", help="Tune the weights for a measure; needs --qrels.")
@dependent_option(
    "--qrels", needs="--tune MEASURE", type=InputPath(), help="Judgments to tune the weights on."
)
@dependent_option(
    "--folds",
    needs="--tune MEASURE",
    type=click.IntRange(min=2),
    help="Folds of cross-validation.  [default: 5]",
)
@dependent_option(
    "--train",
    needs="--tune MEASURE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Training queries, an id on each line, in place of folds; the other queries are held out.",
)
@dependent_option(
    "--search",
    needs="--tune MEASURE",
    type=click.Choice(["grid", "swarm"]),
    default="grid",
    show_default=True,
    help="Search a grid of weights, or by a particle swarm.",
)
@dependent_option(
    "--step",
    needs=[("--tune MEASURE",), ("--search grid",)],
    type=float,
    default=0.1,
    show_default=True,
    help="Distance of the grid's weights.",
)
@dependent_option(
    "--seed",
    needs="--tune MEASURE",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed.",
)
@dependent_option(
    "--report",
    "reports",
    needs="--tune MEASURE",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --tune: also write the tuning, in the format of the extension; may be repeated.",
)
@click.option(
    "--to", "write_as", type=click.Choice(FORMATS), help="Format to write; by default that of the extension."
)
@click.option("--tag", help="Tag in every line of a TREC run; by default the method.")
@click.option("--force", is_flag=True, help="Write over FILE if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Print no notes on standard error.")
def command(
    runs: tuple[str, ...],
    *,
    destination: str | None,
    method: str | None,
    normalisation: str | None,
    weights: tuple[str, ...],
    parameters: tuple[str, ...],
    depth: int | None,
    tune: str | None,
    qrels: str | None,
    folds: int | None,
    train: Path | None,
    search: str,
    step: float,
    seed: int,
    reports: tuple[Path, ...],
    write_as: str | None,
    tag: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Fuse each RUN with the others into one run, by ranks or by normalised scores.

    With --tune, weights are chosen on training queries and scored on the others; the run that is written has every
    held-out query fused with the weights of its fold, so that scoring it gives the held-out score.
    """
    from judged.studies.fusion import fuse
    from judged.studies.tuning import tune_fusion

    named = named_runs(runs)
    check_standard_input([run.path for run in named])
    settings = _read_parameters(parameters)
    if tune is None:
        given = _read_numbers(weights, "--weight") or None
        fused = fuse(
            _read(named),
            method=method or "rrf",
            normalisation=normalisation,
            weights=given,
            depth=depth,
            **settings,
        )
        _write(fused, destination or "-", write_as, tag, force=force, quiet=quiet)
        return
    if qrels is None or weights:
        msg = (
            "`--tune` needs `--qrels FILE`"
            if qrels is None
            else "`--tune` finds the weights: leave `--weight` out"
        )
        raise click.UsageError(msg)
    output = OutputOptions(paths=reports, quiet=quiet)
    output.check()
    read = _read(named)
    found: FusionTuning = tune_fusion(
        qrels,
        read,
        tune,
        method=method or "wsum",
        normalisation=normalisation,
        search=search,  # type: ignore[arg-type]
        train=None if train is None else train.read_text(encoding="utf-8").split(),
        folds=folds,
        step=step,
        seed=seed,
        depth=depth,
        **settings,
    )
    if destination is not None:
        _write(found.fuse(read, depth=depth), destination, write_as, tag, force=force, quiet=True)
    if destination != "-":
        emit(found, output, written=[Path(destination)] if destination else [])


def _read(named: list[Input]) -> dict[str, Run]:
    from dataclasses import replace

    from judged.io.read import read_run

    sources = {
        run.name: (standard_input().read() if run.path == "-" else run.path, run.label) for run in named
    }
    return {
        name: replace(read_run(source, name=label), name=name) for name, (source, label) in sources.items()
    }


def _read_parameters(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameters of the method; names that no method has are refused."""
    from judged.studies.fusion import METHODS

    known = {name: None for method in METHODS.values() for name in method.parameters}
    found = _read_numbers(texts, "--set")
    for name in found:
        if name not in known:
            raise UnknownName("parameter of fusion", name, list(known))
    return found


def _read_numbers(texts: tuple[str, ...], option: str) -> dict[str, float]:
    """Return `NAME=NUMBER` pairs as a dict."""
    found = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name:
            msg = f"`{option} {text}` has no name and number, expected NAME=NUMBER"
            raise JudgedError(msg)
    return found


def _write(
    run: Run, destination: str, write_as: str | None, tag: str | None, *, force: bool, quiet: bool
) -> None:
    from judged.io.write import write_run

    write_run(run, destination, format=write_as, tag=tag, force=force)
    if quiet:
        return
    for note in run.notes:
        print_line(f"Note: {note}")
    if destination != "-":
        print_line(f"Wrote: {destination}")
