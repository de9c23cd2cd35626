"""`judged index`: recall, latency, throughput and cost of vector indexes; with commands of its own below it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.effects import dependent_option
from judged.cli.options import add_options, output_options
from judged.cli.output import OutputOptions, emit, split_output
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.index.measurement import Workload
    from judged.index.result import IndexBenchmark

REGRESSION = 1
"""Exit code where a setting regressed."""
CLIENTS, LOADS = (1, 2, 4), (0.3, 0.6, 0.8)
"""Clients of closed loops and shares of capacity of open ones, unless others are asked for."""
EXAMPLES = """\b
Examples:
  judged index --dataset digits
  judged index --dataset sift-128-euclidean.hdf5 --engine faiss-hnsw --engine hnswlib --at-recall 0.95
  judged index --dataset vectors.npy --queries queries.npy --metric cosine --sweep sweep.yaml -o results/
  judged index --dataset digits --load closed,open --filters 0.01,0.1,0.5 -o results/ -o report.html
  judged index engines
  judged index diff old/ new/
  judged index import ann-benchmarks/results --dataset sift-128-euclidean.hdf5 -k 10
"""


class Command(click.Command):
    """`judged index --dataset …`; its subcommands are commands of their own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of this command, or of the one that is named first."""
        if not args or args[0] not in SUBCOMMANDS:
            return super().make_context(info_name, args, parent, **extra)
        return SUBCOMMANDS[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)


class Several(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """Values between commas."""

    name = "list"

    def __init__(self, read: Callable[[str], Any], what: str) -> None:
        self.read, self.what = read, what

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the values."""
        try:
            return tuple(self.read(part.strip()) for part in str(value).split(",") if part.strip())
        except ValueError:
            self.fail(f"`{value}` holds something else than {self.what}", param, ctx)


def dataset_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name the data; the command receives `dataset`."""

    @wraps(command)
    def receive(
        *,
        source: str,
        queries: str | None,
        neighbours: str | None,
        metric: str | None,
        limit: int | None,
        seed: int,
        **options: Any,
    ) -> None:
        def open_data() -> Any:
            from judged.index.data import open_dataset

            return open_dataset(
                source, queries=queries, neighbours=neighbours, metric=metric, limit=limit, seed=seed
            )

        command(open_data=open_data, seed=seed, **options)

    return add_options(
        receive,
        click.option(
            "--dataset",
            "source",
            required=True,
            metavar="NAME|FILE",
            help="`digits`, or vectors: .hdf5 of ann-benchmarks, .fvecs, .bvecs, .npy, .parquet, IDX images, text;"
            " or a folder with `*_base`, `*_query` and `*_groundtruth`.",
        ),
        click.option(
            "--queries",
            metavar="FILE",
            help="Queries.  [default: those of the data set, or a tenth held out]",
        ),
        click.option(
            "--neighbours", metavar="FILE", help="Exact neighbours.  [default: computed, and cached]"
        ),
        click.option(
            "--metric",
            type=click.Choice(["l2", "ip", "cosine", "hamming"]),
            help="[default: that of the data set, else l2]",
        ),
        click.option(
            "--limit", type=click.IntRange(min=1), metavar="N", help="Take the first N vectors only."
        ),
        click.option("--seed", type=int, default=0, show_default=True, help="Random seed."),
    )


@click.command("index", cls=Command, epilog=EXAMPLES)
@dataset_options
@click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="An engine of `judged index engines`, or `module:Class`; may be repeated.  [default: those of the sweep,"
    " or two quick ones]",
)
@click.option(
    "--sweep",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Build and query settings of each engine, in YAML.",
)
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="ENGINE=URL",
    help="The address or DSN of a server; may be repeated.",
)
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours of a query.")
@click.option(
    "--at-recall",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Find the cheapest setting of each engine that reaches this recall.  [default: compare at 0.95]",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="Another measure of neighbours, such as 'R(over=\"cutoff\", epsilon=0.001)@10'.",
)
@click.option(
    "--load",
    "load",
    type=Several(str, "closed and open"),
    default="",
    help="Loops to measure: `closed`, `open`, or both.",
)
@dependent_option(
    "--clients",
    needs="--load closed",
    type=Several(int, "whole numbers"),
    help=f"Clients of the closed loops.  [default: {','.join(map(str, CLIENTS))}]",
)
@dependent_option(
    "--rates",
    needs="--load open",
    type=Several(float, "numbers"),
    help=f"Rates of the open loops, as shares of capacity.  [default: {','.join(map(str, LOADS))}]",
)
@dependent_option(
    "--seconds",
    needs="--load LIST",
    type=click.FloatRange(0, min_open=True),
    default=2.0,
    show_default=True,
    help="Duration of each loop.",
)
@click.option(
    "--filters",
    type=Several(str, "filters"),
    default="",
    help="Shares of vectors that meet a condition (0.01,0.1), or conditions (price<20).",
)
@click.option(
    "--churn",
    type=click.FloatRange(0, 0.5, max_open=True),
    default=0.0,
    metavar="SHARE",
    help="Delete and insert this share of the vectors three times, and measure recall after each.",
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Passes over all queries."
)
@click.option(
    "--warmup",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Queries before each measurement that do not count.",
)
@click.option(
    "--retries", type=click.IntRange(min=0), default=0, show_default=True, help="Attempts after a failed one."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads of the engine and of BLAS.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Give a build and its measurements up after this time.",
)
@output_options(
    note="; a FOLDER keeps every finished point, and a run that was stopped goes on there", folder=True
)
def command(
    *,
    open_data: Callable[[], Any],
    seed: int,
    engines: tuple[str, ...],
    sweep: str | None,
    urls: tuple[str, ...],
    k: int,
    at_recall: float | None,
    measures: tuple[str, ...],
    timeout: float | None,
    output: OutputOptions,
    **options: Any,
) -> None:
    """Benchmark vector indexes on the same vectors and queries.

    Recall is measured against exact neighbours. Every engine is built in a process of its own, once for each build
    setting. `judged index engines` lists the engines, `judged index diff` compares two benchmarks.
    """
    from judged.errors import EngineFailed
    from judged.index.api import benchmark_dataset

    folder, output = split_output(output)
    output.check(pictures=True)
    workload = _make_workload(k, seed, **options)
    addresses = _read_urls(urls)
    dataset = open_data()
    with Progress("Exact neighbours", enabled=not output.quiet) as truth:
        dataset.neighbours(k, progress=truth)
    with Progress("Benchmark", enabled=not output.quiet, lines=True) as progress:
        benchmark = benchmark_dataset(
            dataset,
            engines=engines,
            sweep=sweep,
            workload=workload,
            at_recall=at_recall,
            output=folder,
            urls=addresses,
            measures=measures,
            timeout=timeout,
            progress=progress,
        )
    written = []
    if folder is not None:
        benchmark.save(folder / "benchmark.json")
        written.append(folder / "benchmark.json")
    emit(benchmark, output, written=written)
    if benchmark.failures:
        names = ", ".join(failure.name for failure in benchmark.failures)
        msg = f"not measured: {names}"
        raise EngineFailed(msg, hint="the reasons are above; the other engines are in the result")


def _make_workload(k: int, seed: int, **options: Any) -> Workload:
    from judged.index.measurement import Workload

    load, clients, rates = options.pop("load"), options.pop("clients"), options.pop("rates")
    unknown = set(load) - {"closed", "open"}
    if unknown:
        msg = f"--load has `{min(unknown)}`, expected `closed`, `open`, or both"
        raise click.UsageError(msg)
    looped = bool(load or clients or rates)
    opened = "open" in load or bool(rates)
    return Workload(
        k=k,
        seed=seed,
        clients=(clients or CLIENTS) if looped else (),
        loads=(rates or LOADS) if opened else (),
        **options,
    )


def _read_urls(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for name, sign, url in pairs:
        if not (name and sign and url):
            msg = f"--url is `{name}`, expected ENGINE=URL"
            raise click.UsageError(msg)
    return {name: url for name, _, url in pairs}


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


SUBCOMMANDS: dict[str, click.Command] = {
    "engines": engines_command,
    "diff": diff_command,
    "import": import_command,
    "export": export_command,
}
