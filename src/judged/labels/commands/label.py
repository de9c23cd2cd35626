"""`judged label`: grades by a language model for the results of runs or agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Command, flag, option, options
from judged.cli.inputs import refuse_inputs
from judged.cli.options import INPUT_FILE, seed_option
from judged.cli.output import (
    OUTPUT,
    OUTPUT_FILE,
    file_option,
    force_option,
    print_line,
    print_notes,
    quiet_option,
)
from judged.cli.progress import Progress
from judged.errors import JudgedError
from judged.labels.commands.pool_options import LABEL_FORMATS, PoolOptions, pool_options

if TYPE_CHECKING:
    from judged.agents.commands.trace_options import TraceOptions
    from judged.labels.pool import Pool
    from judged.labels.prompt import Labeller
    from judged.labels.result import Labelling
    from judged.net.budget import Prices
    from judged.net.llm import Endpoint, Structure

INCOMPLETE = 4
"""Exit code if results are left without a label."""
SUBCOMMANDS = {
    "--sample": "judged.labels.commands.sample:sample",
    "--similarity": "judged.labels.commands.similarity:similar",
}
"""Commands that need no endpoint, called by an option."""
EXAMPLES = """\b
Examples:
  judged label traces.jsonl --endpoint http://localhost:8000/v1 --model qwen3 -o labels.jsonl
  judged label bm25.run --queries queries.tsv --documents corpus.jsonl.gz --depth 20 \\
      --model gpt-5-mini --price-in 0.25 --price-out 2 --dry-run
  judged label bm25.run --queries queries.tsv --documents corpus.jsonl --judged qrels.txt \\
      --endpoint https://api.openai.com/v1 --model gpt-5-mini -o qrels.new.txt
"""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model, its prompt, and everything else that decides its answers."""

    endpoint: str = option(
        "--endpoint URL",
        "Address of a server that speaks OpenAI's protocol.  [default: $OPENAI_BASE_URL]",
        default="",
    )
    model: str = option("--model NAME", "Name of the model at the endpoint.", required=True)
    key_variable: str | None = option(
        "--key-variable NAME", "Environment variable with the API key.  [default: OPENAI_API_KEY]"
    )
    prompt: Path | None = option("--prompt FILE", "Your own prompt, in YAML.", type=INPUT_FILE)
    structure: Structure | None = option(
        "--structure [json_schema|json_object|text]",
        "How the form of answers is enforced.  [default: the strictest that the endpoint supports]",
    )
    temperature: float = option(
        "--temperature", "Sampling temperature; a negative one leaves it to the endpoint.", default=0.0
    )
    seed: int | None = seed_option(default=None, type=int)
    max_tokens: int = option("--max-tokens N", "Maximum length of an answer.", type=COUNT, default=512)
    text_limit: int = option(
        "--text-limit N", "Number of characters of a text that the model reads.", type=COUNT, default=20_000
    )
    logprobs: bool = flag("--logprobs", "Record the probability of legal grades, and warn if it is low.")

    def to_labeller(self) -> Labeller:
        """Return the model with its settings; raise an error for a prompt that cannot be used."""
        from judged.labels.prompt import Labeller, read_prompt

        return Labeller(
            self.model,
            read_prompt(self.prompt),
            temperature=None if self.temperature < 0 else self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            structure=self.structure,
            text_limit=self.text_limit,
            logprobs=self.logprobs,
        )


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """Options for the number, rate and repetition of requests."""

    concurrency: int = option(
        "--concurrency N", "Maximum number of simultaneous requests.", type=COUNT, default=8
    )
    rate: float | None = option(
        "--rate N", "Maximum number of requests per minute.", type=click.FloatRange(min=0, min_open=True)
    )
    timeout: float = option(
        "--timeout SECONDS",
        "Time to wait for an answer.",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
    )
    attempts: int = option("--attempts N", "Maximum number of attempts for a request.", type=COUNT, default=6)
    reasks: int = option(
        "--reasks N",
        "Maximum number of repeated questions if an answer states no grade.",
        type=click.IntRange(min=0),
        default=1,
    )

    def to_endpoint(self, model: ModelOptions) -> Endpoint:
        """Return the endpoint and how it may be used; raise an error if there is no address."""
        from judged.net.llm import Endpoint
        from judged.net.retry import RetryPolicy

        return Endpoint(
            model.endpoint,
            key_variable=model.key_variable,
            concurrency=self.concurrency,
            rate=self.rate,
            timeout=self.timeout,
            retries=RetryPolicy(self.attempts, self.reasks),
        )


@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """Options that limit the cost of labels."""

    dry_run: bool = flag("--dry-run", "Print an estimate of requests, tokens, cost and time; send nothing.")
    price_in: float | None = option(
        "--price-in X", "Price of a million tokens read.", type=click.FloatRange(min=0)
    )
    price_out: float | None = option(
        "--price-out X", "Price of a million tokens written.", type=click.FloatRange(min=0)
    )
    budget: float | None = option(
        "--budget X",
        "Stop before the total cost of all answers exceeds this.",
        type=click.FloatRange(min=0, min_open=True),
    )

    @property
    def prices(self) -> Prices | None:
        """The prices; None if none is given."""
        from judged.net.budget import Prices

        unpriced = self.price_in is None and self.price_out is None
        return None if unpriced else Prices(self.price_in or 0.0, self.price_out or 0.0)


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Options for the files of labels, failures and answers."""

    output: Path | None = file_option(LABEL_FORMATS)
    failures: Path | None = option(
        "--failures FILE", "File for failures and their raw answers, as JSONL.", type=OUTPUT_FILE
    )
    given_cache: Path | None = option(
        "--cache FILE", "File that stores all answers.  [default: OUTPUT.cache.sqlite]", type=OUTPUT_FILE
    )
    retry_failed: bool = flag("--retry-failed", "Ask again if the answer in an earlier job stated no grade.")
    force: bool = force_option()
    quiet: bool = quiet_option()

    @property
    def cache(self) -> Path | None:
        """The cache: as given, or next to the output."""
        if self.given_cache is not None or self.output is None:
            return self.given_cache
        return self.output.with_name(f"{self.output.name}.cache.sqlite")

    def check(self) -> None:
        """Refuse a job whose labels have no place, or would overwrite other files."""
        output, cache = self.output, self.cache
        if output is not None:
            from judged.io.write import LABEL_EXTENSIONS, check_trec_extension

            check_trec_extension(output, known=LABEL_EXTENSIONS)
        if output is None or cache is None:
            msg = "no file is given for the labels: `-o FILE`, or `--dry-run`"
            raise click.UsageError(msg)
        if str(output) == "-" and self.given_cache is None:
            msg = "labels on standard output need a file for the answers: `--cache FILE`"
            raise click.UsageError(msg)
        if output.is_file() and not cache.exists() and not self.force:
            msg = f"{output} exists already and is not from an earlier job: {cache} does not exist"
            raise JudgedError(msg, hint="`--force` overwrites it")
        written = list(filter(None, (output, cache, self.failures)))
        for path in written:
            if not path.absolute().parent.is_dir():
                msg = f"the folder of {path} does not exist"
                raise JudgedError(msg)
        refuse_inputs(written)


@click.command("label", cls=Command, epilog=EXAMPLES, subcommands=SUBCOMMANDS)
@pool_options()
@options("model", ModelOptions, "Model")
@options("requests", RequestOptions, "Requests")
@options("cost", CostOptions, "Cost")
@options("files", FileOptions, OUTPUT)
def command(
    sources: tuple[Path, ...],
    *,
    pool: PoolOptions,
    reading: TraceOptions,
    model: ModelOptions,
    requests: RequestOptions,
    cost: CostOptions,
    files: FileOptions,
) -> None:
    """Grade every distinct result of the TRACEs or RUNs from 0 to 4 with a language model.

    A run contains only ids, so it needs --queries and --documents; traces of agents mostly contain all texts. The API key
    is read from the environment only. Every answer is stored as it arrives: after an interruption, the same command
    asks only what is missing. An answer that states no grade is counted as a failure, never as a 0. If a result is
    left without a label, or the budget is reached, the exit code is 4. For labels without a language model see
    `judged label --similarity --help`, for a sheet that people grade `judged label --sample --help`.
    """
    if not cost.dry_run:
        files.check()
    built = pool.build(sources, reading)
    labeller = model.to_labeller()
    if cost.dry_run:
        _print_estimate(built, labeller, requests, cost, files)
        return
    _check_output(built, files.output)
    labelling = _label(built, labeller, requests.to_endpoint(model), cost, files)
    _write(labelling, files)
    if not labelling.complete:
        raise click.exceptions.Exit(INCOMPLETE)


def _check_output(pool: Pool, output: Path | None) -> None:
    """Refuse an output format that cannot hold these labels, before anything is paid."""
    from judged.io.write import encode_labels

    if output is not None:
        encode_labels([{**item.row, "gain": 0} for item in pool.items], output)


def _print_estimate(
    pool: Pool, labeller: Labeller, requests: RequestOptions, cost: CostOptions, files: FileOptions
) -> None:
    from judged.labels.estimate import estimate_pool

    estimate = estimate_pool(
        pool,
        labeller,
        cache=files.cache,
        retry_failed=files.retry_failed,
        prices=cost.prices,
        concurrency=requests.concurrency,
        rate=requests.rate,
    )
    for sentence in estimate.sentences():
        click.echo(sentence)
    if not files.quiet:
        print_notes(pool.notes)


def _label(
    pool: Pool, labeller: Labeller, endpoint: Endpoint, cost: CostOptions, files: FileOptions
) -> Labelling:
    """Label the pool; if it is interrupted, write what is finished."""
    from judged.labels.api import label_pool
    from judged.net.budget import Budget

    finished: list[Labelling] = []
    try:
        with Progress("Labelling", enabled=not files.quiet, delay=0.0, lines=True) as display:
            return label_pool(
                pool,
                labeller,
                endpoint,
                cache=files.cache,
                budget=Budget(cost.prices, cost.budget),
                retry_failed=files.retry_failed,
                progress=display,
                on_stop=finished.append,
            )
    except (KeyboardInterrupt, Exception):
        for labelling in finished:
            if labelling.labelled:
                _write(labelling, files)
        raise


def _write(labelling: Labelling, files: FileOptions) -> None:
    from msgspec.json import Encoder

    from judged.io.write import write_labels
    from judged.store.files import write_file

    if files.output is not None:
        write_labels(labelling.labelled, files.output)
    if files.failures is not None:
        write_file(files.failures, Encoder().encode_lines(labelling.failures))
    if files.quiet:
        return
    for sentence in labelling.sentences():
        print_line(f"{sentence[0].upper()}{sentence[1:]}")
    if labelling.failures:
        hint = "To see failures with their answers: `--failures FILE`; to ask again: `--retry-failed`"
        click.echo(hint, err=True)
    print_notes(labelling.notes, [files.output] if files.output else [])
