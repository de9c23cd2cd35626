"""The work of a labelling command: its options, the estimate before it, and the files after it.

A command of another task builds its own pool and hands it to `run_job`:

    @click.command("label --task assign", cls=Command)
    @job_options()
    def command(*, job: JobOptions) -> None:
        job.check("assignments")
        run_job(build_my_pool(...), job)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Decorated, Settings, flag, option, options
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
from judged.labels.commands.pool_options import LABEL_FORMATS

if TYPE_CHECKING:
    from judged.labels.batches import BatchOptions
    from judged.labels.panel import Combine
    from judged.labels.prompt import Labeller, Prompt
    from judged.labels.result import Labelling
    from judged.labels.task import Pool
    from judged.net.budget import Prices
    from judged.net.llm import Endpoint, Structure

INCOMPLETE = 4
"""Exit code if results are left without a label."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model, its prompt, and everything else that decides its answers."""

    endpoint: tuple[str, ...] = option(
        "--endpoint URL",
        "Address of a server that speaks OpenAI's protocol; one, or one for each model.  [default: $OPENAI_BASE_URL]",
        multiple=True,
    )
    model: tuple[str, ...] = option(
        "--model NAME",
        "Name of the model at the endpoint; several are judges, whose labels are combined.",
        multiple=True,
        required=True,
    )
    combine: Combine = option(
        "--combine [vote|mean]", "Rule that combines the labels of several judges.", default="vote"
    )
    key_variable: tuple[str, ...] = option(
        "--key-variable NAME",
        "Environment variable with the API key; one, or one for each model.  [default: OPENAI_API_KEY]",
        multiple=True,
    )
    task: str = option(
        "--task NAME",
        "Task and its scale: relevance (0 to 4), umbrela (0 to 3), or one of another subject.",
        default="relevance",
    )
    prompt: Path | None = option(
        "--prompt FILE", "Your own prompt for the task, in YAML, with its own scale.", type=INPUT_FILE
    )
    structure: Structure | None = option(
        "--structure [json_schema|json_object|text]",
        "How the form of answers is enforced.  [default: the strictest that the endpoint supports]",
    )
    temperature: float = option(
        "--temperature X", "Sampling temperature; a negative one leaves it to the endpoint.", default=0.0
    )
    seed: int | None = seed_option(default=None, type=int)
    max_tokens: int = option("--max-tokens N", "Maximum length of an answer.", type=COUNT, default=512)
    text_limit: int = option(
        "--text-limit N", "Number of characters of a text that the model reads.", type=COUNT, default=20_000
    )
    logprobs: bool = flag("--logprobs", "Record the probability of legal grades, and warn if it is low.")

    def to_labellers(self) -> list[Labeller]:
        """Return each model with its settings; raise an error for a prompt that cannot be used."""
        from judged.labels.prompt import read_prompt

        prompt = read_prompt(self.prompt, task=self.task)
        return [self._to_labeller(model, prompt) for model in self.model]

    def _to_labeller(self, model: str, prompt: Prompt) -> Labeller:
        from judged.labels.prompt import Labeller

        return Labeller(
            model,
            prompt,
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
    batch_api: bool = flag(
        "--batch-api",
        "Send questions through the Batch API: answers within a day, at half the price of several providers.",
    )
    poll: float = option(
        "--poll SECONDS",
        "Time between two checks of a batch.",
        type=click.FloatRange(min=0, min_open=True),
        default=30.0,
        needs="--batch-api",
    )
    no_wait: bool = flag(
        "--no-wait",
        "Exit when the batches are submitted; the same command collects them.",
        needs="--batch-api",
    )
    reasks: int = option(
        "--reasks N",
        "Maximum number of repeated questions if an answer states no grade.",
        type=click.IntRange(min=0),
        default=1,
    )

    @property
    def batches(self) -> BatchOptions | None:
        """How batches are waited for; None sends each question on its own."""
        from judged.labels.batches import BatchOptions

        return BatchOptions(self.poll, not self.no_wait) if self.batch_api else None

    def to_endpoints(self, model: ModelOptions, count: int) -> list[Endpoint]:
        """Return the endpoint of each judge and how it may be used; raise an error if there is no address."""
        from judged.net.llm import Endpoint
        from judged.net.retry import RetryPolicy

        for flag_name, given in (("--endpoint", model.endpoint), ("--key-variable", model.key_variable)):
            if len(given) not in {0, 1, count}:
                msg = (
                    f"`{flag_name}` is given {len(given)} times for {count} models: give one, or one for each"
                )
                raise click.UsageError(msg)
        return [
            Endpoint(
                model.endpoint[at % len(model.endpoint)] if model.endpoint else "",
                key_variable=model.key_variable[at % len(model.key_variable)] if model.key_variable else None,
                concurrency=self.concurrency,
                rate=self.rate,
                timeout=self.timeout,
                retries=RetryPolicy(self.attempts, self.reasks),
            )
            for at in range(count)
        ]


@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """Options that limit the cost of labels."""

    dry_run: bool = flag("--dry-run", "Print an estimate of requests, tokens, cost and time; send nothing.")
    price_in: float | None = option(
        "--price-in X", "Price of a million input tokens.", type=click.FloatRange(min=0)
    )
    price_out: float | None = option(
        "--price-out X", "Price of a million output tokens.", type=click.FloatRange(min=0)
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

    def path_of_judge(self, name: str) -> Path:
        """Return the file of one judge's labels, next to the output: `labels.gpt-5-mini.jsonl`."""
        assert self.output is not None  # noqa: S101 - `check` refuses a job without output
        stem, dot, suffix = self.output.name.partition(".")
        judge = re.sub(r"[^\w.-]+", "-", name)
        return self.output.with_name(f"{stem}.{judge}{dot}{suffix}")

    def check(self, table: str = "labels") -> None:
        """Refuse a job whose labels have no place, or would overwrite other files."""
        output, cache = self.output, self.cache
        if output is not None:
            from judged.io.write import LABEL_EXTENSIONS, TABLES_OF_LABELS, check_trec_extension

            known = LABEL_EXTENSIONS if table == "labels" else TABLES_OF_LABELS
            check_trec_extension(output, known=known, allow_none=table == "labels")
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


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """All options of a job."""

    model: ModelOptions
    requests: RequestOptions
    cost: CostOptions
    files: FileOptions

    def check(self, table: str = "labels") -> None:
        """Refuse a job whose labels have no place, unless it is only estimated; call this before inputs are read."""
        if not self.cost.dry_run:
            self.files.check(table)


def job_options(**changes: Settings) -> Callable[[Decorated], Decorated]:
    """Add the options of a job; the command receives them as `job`. `changes` replace settings of options, by field."""

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def receive(
            *,
            model: ModelOptions,
            requests: RequestOptions,
            cost: CostOptions,
            files: FileOptions,
            **given: object,
        ) -> None:
            command(job=JobOptions(model=model, requests=requests, cost=cost, files=files), **given)

        decorated: Decorated = receive
        for name, kind, section in reversed(_SECTIONS):
            known = {field.name for field in fields(kind)}
            own: Settings = {field: settings for field, settings in changes.items() if field in known}
            decorated = options(name, kind, section, **own)(decorated)
        return decorated

    return decorate


_SECTIONS: tuple[tuple[str, type, str], ...] = (
    ("model", ModelOptions, "Model"),
    ("requests", RequestOptions, "Requests"),
    ("cost", CostOptions, "Cost"),
    ("files", FileOptions, OUTPUT),
)


def run_job(pool: Pool, job: JobOptions) -> None:
    """Label a pool, or estimate what that takes, and write the labels; exit with 4 if any is missing."""
    labellers = job.model.to_labellers()
    if job.cost.dry_run:
        print_estimate(pool, labellers, job)
        return
    _check_output(pool, job.files.output)
    labelling = label(pool, labellers, job, on_stop=lambda labelling: write(labelling, job.files))
    write(labelling, job.files)
    if not labelling.complete:
        raise click.exceptions.Exit(INCOMPLETE)


def _check_output(pool: Pool, output: Path | None) -> None:
    """Refuse an output format that cannot hold these labels, before anything is paid."""
    from judged.io.write import encode_labels

    if output is not None:
        encode_labels([{**item.row, pool.column: 0} for item in pool.items], output)


def print_estimate(pool: Pool, labellers: Sequence[Labeller], job: JobOptions) -> None:
    """Print what labelling a pool would take, by each judge."""
    from judged.labels.estimate import estimate_pool

    for labeller in labellers:
        estimate = estimate_pool(
            pool,
            labeller,
            cache=job.files.cache,
            retry_failed=job.files.retry_failed,
            prices=job.cost.prices,
            concurrency=job.requests.concurrency,
            rate=job.requests.rate,
        )
        if len(labellers) > 1:
            click.echo(f"{labeller.name}:")
        for sentence in estimate.sentences():
            click.echo(sentence)
    if not job.files.quiet:
        print_notes(pool.notes)


def label(
    pool: Pool, labellers: Sequence[Labeller], job: JobOptions, *, on_stop: Callable[[Labelling], None]
) -> Labelling:
    """Label the pool; if that is interrupted or fails, `on_stop` receives what is finished."""
    from judged.labels.panel import Judge, label_by_judges
    from judged.net.budget import Budget

    files = job.files
    endpoints = job.requests.to_endpoints(job.model, len(labellers))
    judges = [Judge(*pair) for pair in zip(labellers, endpoints, strict=True)]
    finished: list[Labelling] = []
    try:
        with Progress("Labelling", enabled=not files.quiet, delay=0.0, lines=True) as display:
            return label_by_judges(
                pool,
                judges,
                combine=job.model.combine,
                cache=files.cache,
                budget=Budget(job.cost.prices, job.cost.budget),
                retry_failed=files.retry_failed,
                batches=job.requests.batches,
                progress=display,
                on_stop=finished.append,
            )
    except (KeyboardInterrupt, Exception):
        for labelling in finished:
            if labelling.labelled:
                on_stop(labelling)
        raise


def write(labelling: Labelling, files: FileOptions) -> None:
    """Write the labels, those of each judge if there are several, and the failures; print the summary."""
    from judged.io.write import write_labels

    if files.output is not None:
        write_labels(labelling.labelled, files.output)
        for name, labels in labelling.labels_of_judges().items():
            write_labels(labels, files.path_of_judge(name))
    write_failures(labelling, files)
    if files.quiet:
        return
    for sentence in labelling.sentences():
        print_line(f"{sentence[0].upper()}{sentence[1:]}")
    if labelling.failures:
        hint = "To see failures with their answers: `--failures FILE`; to ask again: `--retry-failed`"
        click.echo(hint, err=True)
    print_notes(labelling.notes, [files.output] if files.output else [])


def write_failures(labelling: Labelling, files: FileOptions) -> None:
    """Write the failures with their raw answers, if a file is given for them."""
    from msgspec.json import Encoder

    from judged.store.files import write_file

    if files.failures is not None:
        write_file(files.failures, Encoder().encode_lines(labelling.failures))
