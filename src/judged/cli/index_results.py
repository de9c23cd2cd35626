"""Commands below `judged index`: the engines, and benchmarks that were saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.index import dataset_options
from judged.cli.options import output_options
from judged.cli.output import OutputOptions, emit

if TYPE_CHECKING:
    from judged.index.result import IndexBenchmark

__all__ = ["diff_command", "engines_command", "export_command", "import_command"]

REGRESSION = 1


@click.command("engines")
def engines_command() -> None:
    """List the engines, whether they are installed, the extra that brings each, and their settings."""
    from judged.blocks import Display, Table
    from judged.index.engine import list_engines
    from judged.report.text import render_blocks

    rows = []
    for engine in list_engines():
        missing = engine.missing_packages()
        settings = ", ".join(
            f"{name}={one.default}"
            for name, one in {**engine.build_settings, **engine.query_settings}.items()
        )
        state = f"pip install 'judged[{engine.extra}]'" if missing else f"installed, {engine.version()}"
        can = engine.capabilities
        abilities = [
            word
            for word, has in (
                ("exact", can.exact),
                ("filters", can.filters),
                ("deletes", can.deletes),
                ("server", can.remote),
                ("emulated", can.emulated),
            )
            if has
        ]
        rows.append(
            (engine.name, engine.title, state, " ".join(sorted(can.metrics)), " ".join(abilities), settings)
        )
    table = Table(("engine", "what it is", "installed", "metrics", "can", "settings"), tuple(rows))
    click.echo(render_blocks([table], Display()), nl=False)


@click.command("diff")
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--recall", default="-0.01", show_default=True, help="The loss of recall that is still the same."
)
@click.option(
    "--latency", default="-10%", show_default=True, help="The growth of latency that is still the same."
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level.",
)
@output_options()
def diff_command(
    *, old: Path, new: Path, recall: str, latency: str, alpha: float, output: OutputOptions
) -> None:
    """Compare benchmark NEW with OLD, setting by setting: regressed, same or better, or cannot tell.

    Both are folders of `judged index -o FOLDER`, or saved benchmarks. Exits with 1 if a setting regressed.
    """
    from judged.index.diff import diff_benchmarks

    output.check()
    result = diff_benchmarks(
        load_benchmark(old), load_benchmark(new), recall=recall, latency=latency, alpha=alpha
    )
    emit(result, output)
    if result.regressed:
        raise click.exceptions.Exit(REGRESSION)


@click.command("import")
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@dataset_options
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours of a query.")
@output_options()
def import_command(
    *, folder: Path, open_data: Callable[[], Any], seed: int, k: int, output: OutputOptions
) -> None:
    """Read the results of ann-benchmarks in FOLDER as a benchmark; answers are scored again."""
    from judged.index.ann_benchmarks import import_results

    del seed
    output.check(pictures=True)
    emit(import_results(folder, open_data(), k=k), output)


@click.command("export")
@click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@dataset_options
def export_command(*, results: Path, folder: Path, open_data: Callable[[], Any], seed: int) -> None:
    """Write the points of RESULTS, a folder of `judged index -o`, to FOLDER, as ann-benchmarks has them."""
    from judged.index.ann_benchmarks import export_results

    del seed
    written = export_results(load_benchmark(results), open_data(), results, folder)
    click.echo(f"Wrote: {len(written)} files below {folder}", err=True)


def load_benchmark(path: Path) -> IndexBenchmark:
    """Return the benchmark of a folder or a file."""
    from judged.errors import Unreadable
    from judged.index.result import IndexBenchmark
    from judged.result import load

    found = load(path / "benchmark.json" if path.is_dir() else path)
    if not isinstance(found, IndexBenchmark):
        msg = f"{path} holds a result of the kind `{found.kind}`, expected a benchmark of `judged index`"
        raise Unreadable(msg)
    return found
