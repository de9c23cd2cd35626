"""`judged index`: recall, latency, throughput and cost of vector indexes; with commands of its own below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Command, flag, option, options
from judged.cli.options import (
    COMPARISON,
    INPUT_FILE,
    INPUTS,
    alpha_option,
    measure_option,
    output_options,
    seed_option,
)
from judged.cli.output import OutputOptions, emit, split_output
from judged.cli.progress import Progress

if TYPE_CHECKING:
    from judged.errors import JudgedError
    from judged.index.data import Dataset
    from judged.index.measurement import Workload
    from judged.index.result import IndexBenchmark

REGRESSION = 1
"""Exit code where a setting regressed."""
CLIENTS, LOADS = (1, 2, 4), (0.3, 0.6, 0.8)
"""Clients of closed loops and shares of capacity of open ones, unless others are asked for."""
WHAT, LOAD = "What is measured", "Load and repeats"
"""Headings of options in help."""
SUBCOMMANDS = {
    name: f"judged.index.commands:{name}_command" for name in ("engines", "diff", "import", "export")
}
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


class Several(click.ParamType):  # type: ignore[type-arg]  # as in `judged.cli.inputs`
    """Values between commas."""

    name = "list"

    def __init__(self, read: Callable[[str], object], what: str) -> None:
        self.read, self.what = read, what

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[object, ...]:
        """Return the values."""
        try:
            return tuple(self.read(part.strip()) for part in str(value).split(",") if part.strip())
        except ValueError:
            self.fail(f"`{value}` holds something else than {self.what}", param, ctx)


@dataclass(frozen=True, kw_only=True)
class DatasetOptions:
    """The vectors and the queries."""

    source: str = option(
        "--dataset NAME|FILE",
        "`digits`, or vectors: .hdf5 of ann-benchmarks, .fvecs, .bvecs, .fbin, .u8bin, .npy, .parquet, .arrow, IDX"
        " images, text; or a folder of TEXMEX, big-ann, VectorDBBench, or saved by Hugging Face's library.",
        required=True,
    )
    queries: str | None = option(
        "--queries FILE", "Vectors of queries.  [default: those of the data set, or a tenth held out]"
    )
    neighbours: str | None = option("--neighbours FILE", "Exact neighbours.  [default: computed, and cached]")
    metric: str | None = option(
        "--metric [l2|ip|cosine|hamming]",
        "Distance between vectors.  [default: that of the data set, else l2]",
    )
    column: str | None = option(
        "--column NAME", "Column of the vectors, in tables with several columns of lists."
    )
    limit: int | None = option("--limit N", "Use the first N vectors only.", type=COUNT)
    seed: int = seed_option(type=int)

    def open(self) -> Dataset:
        """Open the data set; raise an error if it cannot be read."""
        from judged.index.data import open_dataset

        return open_dataset(
            self.source,
            queries=self.queries,
            neighbours=self.neighbours,
            metric=self.metric,
            limit=self.limit,
            column=self.column,
            seed=self.seed,
        )


neighbours_option = partial(option, "-k N", "Neighbours of a query.", section=WHAT, type=COUNT, default=10)


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """Options for the engines and their settings."""

    engines: tuple[str, ...] = option(
        "--engine NAME",
        "An engine of `judged index engines`, or `module:Class`; may be repeated.  [default: those of the sweep,"
        " or two quick ones]",
        multiple=True,
    )
    sweep: Path | None = option(
        "--sweep FILE", "Build and query settings of each engine, in YAML.", type=INPUT_FILE
    )
    urls: tuple[str, ...] = option(
        "--url ENGINE=URL", "The address or DSN of a server; may be repeated.", multiple=True
    )
    timeout: float | None = option(
        "--timeout SECONDS",
        "Abort a build and its measurements after this time.",
        type=click.FloatRange(0, min_open=True),
    )
    measures: tuple[str, ...] = measure_option(
        "Measured in addition to recall, such as 'R(over=\"cutoff\", epsilon=0.001)@10'.", section=WHAT
    )
    at_recall: float | None = option(
        "--at-recall SHARE",
        "Find the cheapest setting of each engine that reaches this recall.  [default: compare at 0.95]",
        type=click.FloatRange(0, 1, min_open=True),
    )
    confident: bool = flag(
        "--confident", "Choose only settings whose interval of recall lies above the target."
    )
    against: str | None = option(
        "--against OLD",
        "Measure an older version in the same rounds, and decide what changed: a virtual environment, a folder with"
        " other versions of the modules of `--engine`, or ENGINE=URL of another server.",
    )
    price: str | None = option(
        "--price PRICES",
        "Report money: `core=0.04,gib=0.005,disk=0.1` (a core and a GiB of memory for an hour, a GiB on disk for a"
        " month), or a YAML file with these or with a list `instances` of a provider.",
    )
    fresh: bool = flag("--fresh", "Measure everything again, and ignore what the folder holds.")

    @property
    def addresses(self) -> dict[str, str]:
        """The address of each server by engine; raise an error for one without an engine."""
        pairs = [text.partition("=") for text in self.urls]
        for name, sign, url in pairs:
            if not (name and sign and url):
                msg = f"--url is `{name}`, expected ENGINE=URL"
                raise click.UsageError(msg)
        return {name: url for name, _, url in pairs}


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    """Options for the load on every engine."""

    k: int = neighbours_option()
    filters: tuple[str, ...] = option(
        "--filters",
        "Shares of vectors that meet a condition (0.01,0.1; region:0.1 for neighbours in space), or conditions"
        " (price<20, 10<=price<20, colour==red & price<20, tags==new).",
        section=WHAT,
        type=Several(str, "filters"),
        default="",
    )
    churn: float = option(
        "--churn SHARE",
        "Delete and insert this share of the vectors three times, and measure recall after each.",
        type=click.FloatRange(0, 0.5, max_open=True),
        default=0.0,
    )
    batch: int = option(
        "--batch N",
        "Also ask N queries at once, where the engine can.",
        type=click.IntRange(min=0),
        default=0,
    )
    updates: float = option(
        "--updates RATE",
        "Vectors to insert, delete and replace per second while searching; recall and latency are measured"
        " through time.",
        type=click.FloatRange(0),
        default=0.0,
    )
    runbook: str | None = option(
        "--runbook FILE[:NAME]",
        "Steps of insertions, deletions and searches, as big-ann's streaming track has them.",
    )
    load: tuple[str, ...] = option(
        "--load",
        "Loops to measure: `closed`, `open`, or both.",
        section=LOAD,
        type=Several(str, "closed and open"),
        default="",
    )
    clients: tuple[int, ...] | None = option(
        "--clients",
        f"Clients of the closed loops.  [default: {','.join(map(str, CLIENTS))}]",
        needs="--load closed",
        type=Several(int, "whole numbers"),
    )
    rates: tuple[float, ...] | None = option(
        "--rates",
        f"Rates of the open loops, as shares of capacity.  [default: {','.join(map(str, LOADS))}]",
        needs="--load open",
        type=Several(float, "numbers"),
    )
    seconds: float = option(
        "--seconds N",
        "Duration of each loop, and of each of five windows of updates.",
        needs=("--load LIST", "--updates RATE"),
        type=click.FloatRange(0, min_open=True),
        default=2.0,
    )
    rounds: int = option(
        "--rounds N",
        "Fresh processes in which every setting is built and measured, in random order.",
        type=COUNT,
        default=5,
    )
    build_budget: float = option(
        "--build-budget SECONDS",
        "Time for rebuilding one setting; settings that take longer to build get fewer rounds.",
        type=click.FloatRange(0),
        default=600.0,
    )
    ramp: bool = flag(
        "--ramp",
        "Double the clients until throughput stops rising.",
        needs="--load LIST",
        section=LOAD,
    )
    p99: float | None = option(
        "--p99 MS",
        "Report the queries per second at which 99 % of the answers take at most this time.",
        needs="--load LIST",
        section=LOAD,
        type=click.FloatRange(0, min_open=True),
    )
    repeats: int = option("--repeats N", "Passes over all queries in a round.", type=COUNT, default=3)
    warmup: int = option(
        "--warmup N",
        "Queries before each measurement that do not count.",
        type=click.IntRange(min=0),
        default=100,
    )
    retries: int = option(
        "--retries N", "Maximum number of retries of a failed query.", type=click.IntRange(min=0), default=0
    )
    threads: int = option("--threads N", "Threads of the engine and of BLAS.", type=COUNT, default=1)

    def to_workload(self, seed: int) -> Workload:
        """Return the workload; raise an error for a loop that is neither closed nor open."""
        from judged.index.measurement import Workload
        from judged.index.streams.runbooks import read_runbook

        unknown = set(self.load) - {"closed", "open"}
        if unknown:
            msg = f"--load has `{min(unknown)}`, expected `closed`, `open`, or both"
            raise click.UsageError(msg)
        given = asdict(self)
        clients, rates = given.pop("clients") or CLIENTS, given.pop("rates") or LOADS
        load = given.pop("load")
        given["runbook"] = read_runbook(self.runbook) if self.runbook else ()
        # Open loops are rates of the capacity that closed loops find, so any load needs clients.
        return Workload(
            seed=seed, clients=clients if load else (), loads=rates if "open" in load else (), **given
        )


@click.command("index", cls=Command, epilog=EXAMPLES, subcommands=SUBCOMMANDS)
@options("data", DatasetOptions, INPUTS)
@options("options", IndexOptions, "Engines")
@options("work", WorkloadOptions, LOAD)
@output_options(
    note="; a FOLDER keeps every finished point, and a run that was stopped goes on there", folder=True
)
def command(
    *, data: DatasetOptions, options: IndexOptions, work: WorkloadOptions, output: OutputOptions
) -> None:
    """Benchmark vector indexes on the same vectors and queries.

    Recall is measured against exact neighbours. In each round every engine is built in a process of its own, once for each
    build setting, and intervals are over rounds. With --against, the exit code is 1 if a setting regressed. `judged index engines` lists the engines, `judged index diff` compares two benchmarks.
    """
    from judged.errors import EngineFailed
    from judged.index.api import RunOptions, benchmark_sides
    from judged.index.diff import diff_benchmarks
    from judged.index.prices import parse_prices
    from judged.index.sweeps.plan import plan_builds, plan_older

    folder, output = split_output(output)
    output.check(pictures=True)
    if options.fresh and folder is None:
        msg = "`--fresh` has no effect without `-o FOLDER`: nothing is kept that could be measured again"
        raise click.UsageError(msg)
    prices = None if options.price is None else parse_prices(options.price)
    workload, urls = work.to_workload(data.seed), options.addresses
    dataset = data.open()
    builds = plan_builds(options.engines, options.sweep, urls=urls, size=len(dataset.vectors))
    older = [] if options.against is None else [plan_older(builds, options.against)]
    with Progress("Exact neighbours", enabled=not output.quiet) as truth:
        dataset.neighbours(work.k, progress=truth)
    with Progress("Benchmark", enabled=not output.quiet, lines=True) as progress:
        choices = RunOptions(
            at_recall=options.at_recall,
            confident=options.confident,
            prices=prices,
            output=folder,
            fresh=options.fresh or bool(older),
            measures=options.measures,
            timeout=options.timeout,
            progress=progress,
        )
        benchmark, *others = benchmark_sides(dataset, [builds, *older], workload, choices)
    written, refused = _save_all(
        folder, dict(zip(("benchmark", "older"), (benchmark, *others), strict=False))
    )
    changes = [diff_benchmarks(other, benchmark, paired=True) for other in others]
    emit(changes[0] if changes else benchmark, output, written=written)
    if refused is not None:
        raise refused
    if changes and changes[0].regressed:
        raise click.exceptions.Exit(REGRESSION)
    if benchmark.failures:
        names = ", ".join(failure.name for failure in benchmark.failures)
        msg = f"not measured: {names}"
        raise EngineFailed(msg, hint="the reasons are above; the other engines are in the result")


def _save_all(
    folder: Path | None, benchmarks: Mapping[str, IndexBenchmark]
) -> tuple[list[Path], JudgedError | None]:
    """Save the benchmarks in the folder, if there is one; return the files, and the error of a disk that is full.

    It is raised after the table is printed, which took long to measure.
    """
    from judged.errors import Unreadable

    written: list[Path] = []
    if folder is None:
        return written, None
    for name, benchmark in benchmarks.items():
        path = folder / f"{name}.json"
        try:
            benchmark.save(path)
        except OSError as error:
            msg = f"{path} cannot be written: {error.strerror or error}"
            return written, Unreadable(msg, hint="the result is above; its points are in the folder")
        written.append(path)
    return written, None


@click.command("engines", cls=Command)
def engines_command() -> None:
    """List the engines, whether they are installed, the extra that installs each, and their settings."""
    from judged.blocks import Display, Table
    from judged.index.engine import list_engines
    from judged.report.text import render_blocks

    rows = []
    for engine in list_engines():
        missing = engine.missing_packages()
        settings = ", ".join(
            f"{name}={setting.default}"
            for name, setting in {**engine.build_settings, **engine.query_settings}.items()
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


@dataclass(frozen=True, kw_only=True)
class DiffOptions:
    """Tolerances below which a change does not count."""

    recall: str = option("--recall DELTA", "Tolerance for a loss of recall.", default="-0.01")
    latency: str = option("--latency DELTA", "Tolerance for a growth of times.", default="-10%")
    wall: bool = flag("--wall", "Let wall times decide, although they were measured apart.")
    alpha: float = alpha_option(type=click.FloatRange(0, 1, min_open=True, max_open=True))


@click.command("diff", cls=Command)
@click.argument("old", type=click.Path(exists=True, path_type=Path))
@click.argument("new", type=click.Path(exists=True, path_type=Path))
@options("options", DiffOptions, COMPARISON)
@output_options()
def diff_command(*, old: Path, new: Path, options: DiffOptions, output: OutputOptions) -> None:
    """Compare benchmark NEW with OLD, setting by setting: regressed, same or better, or cannot tell.

    Both are folders of `judged index -o FOLDER`, or saved benchmarks. Exits with 1 if a setting regressed.
    """
    from judged.index.diff import diff_benchmarks

    output.check()
    result = diff_benchmarks(load_benchmark(old), load_benchmark(new), **asdict(options))
    emit(result, output)
    if result.regressed:
        raise click.exceptions.Exit(REGRESSION)


@dataclass(frozen=True, kw_only=True)
class ImportOptions(DatasetOptions):
    """The vectors that results are of, and how many neighbours were asked for."""

    k: int = neighbours_option()


@click.command("import", cls=Command)
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@options("data", ImportOptions, INPUTS)
@output_options()
def import_command(*, folder: Path, data: ImportOptions, output: OutputOptions) -> None:
    """Read the results of ann-benchmarks in FOLDER as a benchmark; answers are scored again."""
    from judged.index.ann_benchmarks import import_results

    output.check(pictures=True)
    emit(import_results(folder, data.open(), k=data.k), output)


@click.command("export", cls=Command)
@click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@options("data", DatasetOptions, INPUTS)
def export_command(*, results: Path, folder: Path, data: DatasetOptions) -> None:
    """Write the points of RESULTS, a folder of `judged index -o`, to FOLDER, as ann-benchmarks has them."""
    from judged.index.ann_benchmarks import export_results

    written = export_results(load_benchmark(results), data.open(), results, folder)
    click.echo(f"Wrote: {len(written)} files below {folder}", err=True)


def load_benchmark(path: Path) -> IndexBenchmark:
    """Return the benchmark of a folder or a file."""
    from judged.errors import Unreadable
    from judged.index.result import IndexBenchmark
    from judged.result import load

    result = load(path / "benchmark.json" if path.is_dir() else path)
    if not isinstance(result, IndexBenchmark):
        msg = f"{path} holds a result of the kind `{result.kind}`, expected a benchmark of `judged index`"
        raise Unreadable(msg)
    return result
