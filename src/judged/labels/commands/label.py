"""`judged label`: grades by a language model for the results of runs or agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from judged.cli.inputs import refuse_inputs
from judged.cli.output import print_line, print_notes
from judged.cli.progress import Progress
from judged.errors import JudgedError
from judged.labels.commands.pool_options import INPUT, OUTPUT, PoolInputs, pool_options

if TYPE_CHECKING:
    from judged.labels.budget import Prices
    from judged.labels.client import Endpoint
    from judged.labels.pool import Pool
    from judged.labels.prompt import Labeller, Structure
    from judged.labels.result import Labelling
    from judged.labels.run import Progress as JobProgress

INCOMPLETE = 4
"""Exit code if results are left without a label."""
SIMILARITY = "--similarity"
SAMPLE = "--sample"
EXAMPLES = """\b
Examples:
  judged label traces.jsonl --endpoint http://localhost:8000/v1 --model qwen3 -o labels.jsonl
  judged label bm25.run --queries queries.tsv --docs corpus.jsonl.gz --depth 20 \\
      --model gpt-5-mini --price-in 0.25 --price-out 2 --dry-run
  judged label bm25.run --queries queries.tsv --docs corpus.jsonl --judged qrels.txt \\
      --endpoint https://api.openai.com/v1 --model gpt-5-mini -o qrels.new.txt
"""


class Command(click.Command):
    """`judged label`; with `--similarity` or `--sample`, which need no endpoint, another command."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """Return the context of this command, or of the one without a language model."""
        if any(word == SAMPLE or word.startswith(f"{SAMPLE}=") for word in args):
            from judged.labels.commands.sample import sample

            return sample.make_context(f"{info_name} {SAMPLE}", args, parent, **extra)
        if SIMILARITY not in args:
            return super().make_context(info_name, args, parent, **extra)
        from judged.labels.commands.similarity import similar

        return similar.make_context(f"{info_name} {SIMILARITY}", args, parent, **extra)


@dataclass(frozen=True, slots=True)
class _Files:
    """Where labels, failures and answers are written."""

    output: Path | None
    failures: Path | None
    given_cache: Path | None

    @property
    def cache(self) -> Path | None:
        """The cache: as given, or beside the output."""
        if self.given_cache is not None or self.output is None:
            return self.given_cache
        return self.output.with_name(f"{self.output.name}.cache.sqlite")


@dataclass(frozen=True, slots=True)
class _Job:
    """What is labelled, by whom, at what price, and where it is written."""

    pool: Pool
    labeller: Labeller
    files: _Files
    prices: Prices | None
    retry_failed: bool
    quiet: bool


@click.command("label", cls=Command, epilog=EXAMPLES)
@pool_options
@click.option("--judged", type=INPUT, metavar="FILE", help="Judgments or labels of results to leave out.")
@click.option("--relabel", is_flag=True, help="Also label results that have a gain in the trace.")
@click.option(
    "--endpoint",
    default="",
    metavar="URL",
    help="Address of a server that speaks OpenAI's protocol.  [default: $OPENAI_BASE_URL]",
)
@click.option("--model", required=True, metavar="NAME", help="Name of the model at the endpoint.")
@click.option(
    "--key-variable", metavar="NAME", help="Environment variable with the API key.  [default: OPENAI_API_KEY]"
)
@click.option("--prompt", type=INPUT, metavar="FILE", help="Your own prompt, in YAML.")
@click.option(
    "--structure",
    type=click.Choice(["json_schema", "json_object", "text"]),
    help="How the form of answers is enforced.  [default: the strictest that the endpoint supports]",
)
@click.option(
    "--temperature",
    type=float,
    default=0.0,
    show_default=True,
    help="Sampling temperature; a negative one leaves it to the endpoint.",
)
@click.option("--seed", type=int, metavar="N", help="Random seed of the model, if it accepts one.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=512,
    show_default=True,
    help="Maximum length of an answer.",
)
@click.option(
    "--text-limit",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help="Number of characters of a text that the model reads.",
)
@click.option(
    "--logprobs",
    is_flag=True,
    help="Record the probability of legal grades, and warn if it is low.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Maximum number of simultaneous requests.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Maximum number of requests per minute.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds to wait for an answer.",
)
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    default=6,
    show_default=True,
    help="How often to send a request before it counts as failed.",
)
@click.option(
    "--reasks",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How often to ask again if an answer states no grade.",
)
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE",
    help="File for the labels: .jsonl, .csv, .tsv, else TREC judgments.",
)
@click.option(
    "--failures", type=OUTPUT, metavar="FILE", help="File for failures and their raw answers, as JSONL."
)
@click.option(
    "--cache",
    type=OUTPUT,
    metavar="FILE",
    help="File that stores all answers.  [default: OUTPUT.cache.sqlite]",
)
@click.option(
    "--retry-failed", is_flag=True, help="Ask again if the answer in an earlier job stated no grade."
)
@click.option("--force", is_flag=True, help="Overwrite an output that is not from an earlier job.")
@click.option(
    "--dry-run", is_flag=True, help="Print an estimate of requests, tokens, cost and time; send nothing."
)
@click.option("--price-in", type=click.FloatRange(min=0), metavar="X", help="Price of a million tokens read.")
@click.option(
    "--price-out", type=click.FloatRange(min=0), metavar="X", help="Price of a million tokens written."
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    help="Stop before the total cost of all answers exceeds this.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary on standard error.")
def command(
    inputs: PoolInputs,
    *,
    judged: Path | None,
    relabel: bool,
    endpoint: str,
    model: str,
    key_variable: str | None,
    prompt: Path | None,
    structure: Structure | None,
    temperature: float,
    seed: int | None,
    max_tokens: int,
    text_limit: int,
    logprobs: bool,
    concurrency: int,
    rate: float | None,
    timeout: float,
    attempts: int,
    reasks: int,
    output: Path | None,
    failures: Path | None,
    cache: Path | None,
    retry_failed: bool,
    force: bool,
    dry_run: bool,
    price_in: float | None,
    price_out: float | None,
    budget: float | None,
    quiet: bool,
) -> None:
    """Grade every distinct result of the TRACEs or RUNs from 0 to 4 with a language model.

    A run contains only ids, so it needs --queries and --docs; traces of agents mostly contain all texts. The API key
    is read from the environment only. Every answer is stored as it arrives: after an interruption, the same command
    asks only what is missing. An answer that states no grade is counted as a failure, never as a 0. If a result is
    left without a label, or the budget is reached, the exit code is 4. For labels without a language model see
    `judged label --similarity --help`, for a sheet that people grade `judged label --sample --help`.
    """
    from judged.labels.budget import Prices
    from judged.labels.client import Endpoint, RetryPolicy
    from judged.labels.prompt import Labeller, read_prompt

    files = _Files(output, failures, cache)
    if not dry_run:
        _check_paths(files, force=force)
        refuse_inputs(path for path in (files.output, files.failures, files.cache) if path is not None)
    pool = inputs.build(judged=judged, relabel=relabel)
    labeller = Labeller(
        model,
        read_prompt(prompt),
        temperature=None if temperature < 0 else temperature,
        seed=seed,
        max_tokens=max_tokens,
        structure=structure,
        text_limit=text_limit,
        logprobs=logprobs,
    )
    unpriced = price_in is None and price_out is None
    prices = None if unpriced else Prices(price_in or 0.0, price_out or 0.0)
    job = _Job(pool, labeller, files, prices, retry_failed, quiet)
    if dry_run:
        _print_estimate(job, concurrency, rate)
        return
    _check_output(pool, output)
    address = Endpoint(
        endpoint,
        key_variable=key_variable,
        concurrency=concurrency,
        rate=rate,
        timeout=timeout,
        retries=RetryPolicy(attempts, reasks),
    )
    labelling = _label(job, address, budget)
    _write(labelling, files, quiet=quiet)
    if not labelling.complete:
        raise click.exceptions.Exit(INCOMPLETE)


def _check_paths(files: _Files, *, force: bool) -> None:
    """Refuse a job whose labels have no place, or would overwrite other files."""
    output, cache = files.output, files.cache
    if output is None or cache is None:
        msg = "no file is given for the labels: `-o FILE`, or `--dry-run`"
        raise click.UsageError(msg)
    if str(output) == "-" and files.given_cache is None:
        msg = "labels on standard output need a file for the answers: `--cache FILE`"
        raise click.UsageError(msg)
    if output.is_file() and not cache.exists() and not force:
        msg = f"{output} exists already and is not from an earlier job: {cache} does not exist"
        raise JudgedError(msg, hint="`--force` overwrites it")
    for path in filter(None, (output, cache, files.failures)):
        if not path.absolute().parent.is_dir():
            msg = f"the folder of {path} does not exist"
            raise JudgedError(msg)


def _check_output(pool: Pool, output: Path | None) -> None:
    """Refuse an output format that cannot hold these labels, before anything is paid."""
    from judged.io.write import encode_labels

    if output is not None:
        encode_labels([{**item.row, "gain": 0} for item in pool.items], output)


def _print_estimate(job: _Job, concurrency: int, rate: float | None) -> None:
    from judged.labels.budget import estimate_pool

    estimate = estimate_pool(
        job.pool,
        job.labeller,
        cache=job.files.cache,
        retry_failed=job.retry_failed,
        prices=job.prices,
        concurrency=concurrency,
        rate=rate,
    )
    for sentence in estimate.sentences():
        click.echo(sentence)
    if not job.quiet:
        print_notes(job.pool.notes)


def _label(job: _Job, address: Endpoint, budget: float | None) -> Labelling:
    """Label the pool; if it is interrupted, write what is finished."""
    from judged.labels.api import label_pool
    from judged.labels.budget import Budget

    finished: list[Labelling] = []
    try:
        with Progress("Labelling", enabled=not job.quiet, delay=0.0, lines=True) as display:
            return label_pool(
                job.pool,
                job.labeller,
                address,
                cache=job.files.cache,
                budget=Budget(job.prices, budget),
                retry_failed=job.retry_failed,
                progress=_JobDisplay(display),
                on_stop=finished.append,
            )
    except (KeyboardInterrupt, Exception):
        for labelling in finished:
            if labelling.labelled:
                _write(labelling, job.files, quiet=job.quiet)
        raise


class _JobDisplay:
    """Shows the progress of a job: rate, cost, failures and retries."""

    def __init__(self, display: Progress) -> None:
        self._display = display
        self._started = monotonic()

    def __call__(self, job: JobProgress) -> None:
        """Show the progress of the job now."""
        if job.waiting:
            self._display.announce(str(job.problem))
            return
        rate = 60 * job.done / max(monotonic() - self._started, 1e-9)
        parts = [f"{rate:,.0f} a minute"]
        parts += [f"cost {job.spent:.4f}"] if job.spent else []
        parts += [f"{job.failed:,} failed"] if job.failed else []
        parts += [f"{job.retries:,} retries (last: {job.problem})"] if job.retries else []
        self._display(job.done, job.total, ", ".join(parts))


def _write(labelling: Labelling, files: _Files, *, quiet: bool) -> None:
    from msgspec.json import Encoder

    from judged.io.write import write_labels
    from judged.store.files import write_file

    if files.output is not None:
        write_labels(labelling.labelled, files.output)
    if files.failures is not None:
        write_file(files.failures, Encoder().encode_lines(labelling.failures))
    if quiet:
        return
    for sentence in labelling.sentences():
        print_line(f"{sentence[0].upper()}{sentence[1:]}")
    if labelling.failures:
        hint = "To see failures with their answers: `--failures FILE`; to ask again: `--retry-failed`"
        click.echo(hint, err=True)
    print_notes(labelling.notes, [files.output] if files.output else [])
