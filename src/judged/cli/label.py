"""`judged label`: grades from a language model for the results of a run or of agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judged.cli.pool_options import FILE, pool_of, pool_options
from judged.errors import BadProtocol, JudgedError

if TYPE_CHECKING:
    from judged.label.asking import Asking
    from judged.label.labelling import Labelling
    from judged.label.money import Prices
    from judged.label.pool import Pool
    from judged.label.service import Service

__all__ = ["command"]

INCOMPLETE = 4
SIMILARITY = "--similarity"
BASE = "OPENAI_BASE_URL"
STRUCTURES = ("json_schema", "json_object", "text")
EXAMPLES = """\b
Examples:
  judged label traces.jsonl --endpoint http://localhost:8000/v1 --model qwen3 -o labels.jsonl
  judged label bm25.run --queries queries.tsv --docs corpus.jsonl.gz --depth 20 \\
      --model gpt-5-mini --price-in 0.25 --price-out 2 --dry-run
  judged label bm25.run --queries queries.tsv --docs corpus.jsonl --judged qrels.txt \\
      --endpoint https://api.openai.com/v1 --model gpt-5-mini -o qrels.new.txt
"""
PLACE = click.Path(dir_okay=False, path_type=Path)


class Command(click.Command):
    """`judged label`; with `--similarity`, which asks no endpoint, a command of its own."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of this command, or of the one without a language model."""
        if SIMILARITY not in args:
            return super().make_context(info_name, args, parent, **extra)
        from judged.cli.label_similarity import similar

        return similar.make_context(f"{info_name} {SIMILARITY}", args, parent, **extra)


@click.command("label", cls=Command, epilog=EXAMPLES)
@pool_options
@click.option(
    "--judged", type=FILE, metavar="FILE", help="Judgments or labels; what they grade is not labelled again."
)
@click.option("--relabel", is_flag=True, help="Label results too that have a gain in the trace.")
@click.option(
    "--endpoint", metavar="URL", help=f"Where the model answers, by OpenAI's protocol.  [default: ${BASE}]"
)
@click.option("--model", required=True, metavar="NAME", help="The model, as the endpoint calls it.")
@click.option(
    "--key-variable", metavar="NAME", help="The environment variable with the key.  [default: OPENAI_API_KEY]"
)
@click.option("--prompt", type=FILE, metavar="FILE", help="A prompt of your own, in YAML.")
@click.option(
    "--structure",
    type=click.Choice(STRUCTURES),
    help="How answers are held to their form.  [default: the strictest there is]",
)
@click.option(
    "--temperature",
    type=float,
    default=0.0,
    show_default=True,
    help="Of the model; negative leaves it to the endpoint.",
)
@click.option("--seed", type=int, metavar="N", help="Of the model, where it takes one.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=512, show_default=True, help="The longest answer."
)
@click.option(
    "--text-limit",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help="Characters of a text that are shown.",
)
@click.option(
    "--logprobs",
    is_flag=True,
    help="Record how much probability lay on legal grades, and warn if it is little.",
)
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=8, show_default=True, help="Requests at once."
)
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Requests a minute at most."
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
    help="How often a request is made before it counts as failed.",
)
@click.option(
    "--reasks",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How often to ask again if an answer states no grade.",
)
@click.option(
    "-o", "--output", type=PLACE, metavar="FILE", help="The labels: .jsonl, .csv, .tsv, else TREC judgments."
)
@click.option("--failures", type=PLACE, metavar="FILE", help="What failed, with the raw answers, as JSONL.")
@click.option(
    "--cache", type=PLACE, metavar="FILE", help="Where answers are kept.  [default: OUTPUT.cache.sqlite]"
)
@click.option(
    "--retry-failed", is_flag=True, help="Ask again what was answered without a grade in an earlier job."
)
@click.option("--force", is_flag=True, help="Write over an output that no earlier job has made.")
@click.option("--dry-run", is_flag=True, help="Print what it would take; ask nothing.")
@click.option(
    "--price-in", type=click.FloatRange(min=0), metavar="X", help="The price of a million tokens read."
)
@click.option(
    "--price-out", type=click.FloatRange(min=0), metavar="X", help="The price of a million tokens written."
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    help="Stop before all answers cost more than this.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary on standard error.")
def command(sources: tuple[Path, ...], **options: Any) -> None:
    """Grade every different result of the TRACEs or RUNs from 0 to 4 with a language model.

    A run holds ids alone, so it needs --queries and --docs; the traces of agents mostly hold all texts. The key
    is taken from the environment only. Every answer is kept as it comes: after an interruption, the same command
    asks only what is not there yet. An answer that states no grade is a failure that is counted, never a 0; if
    any is left, or the budget is reached, the exit code is 4. `judged label --similarity --help` tells of labels
    without a language model.
    """
    output, cache = options["output"], _cache(options)
    _refuse_to_lose(options, cache)
    pool, asking = (
        pool_of(sources, options, judged=options["judged"], relabel=options["relabel"]),
        _asking(options),
    )
    if options["dry_run"]:
        _estimate(pool, asking, cache, options)
        return
    _check_output(pool, output)
    service = _service(options)
    labelling = _labelled(pool, asking, service, cache, options)
    _write(labelling, options)
    if not labelling.complete:
        raise click.exceptions.Exit(INCOMPLETE)


def _cache(options: dict[str, Any]) -> Path | None:
    """Where answers are kept: as said, or beside the output."""
    output: Path | None = options["output"]
    named: Path | None = options["cache"]
    if named is not None or output is None:
        return named
    return output.with_name(f"{output.name}.cache.sqlite")


def _refuse_to_lose(options: dict[str, Any], cache: Path | None) -> None:
    """Refuse a job whose labels would have no place, or would take that of somebody else's."""
    if options["dry_run"]:
        return
    output: Path | None = options["output"]
    if output is None or cache is None:
        msg = "no place is named for the labels: `-o FILE`, or `--dry-run`"
        raise click.UsageError(msg)
    if str(output) == "-" and options["cache"] is None:
        msg = "labels on standard output need a place for their answers: `--cache FILE`"
        raise click.UsageError(msg)
    if output.is_file() and not cache.exists() and not options["force"]:
        msg = f"{output} exists already, and no earlier job has made it: {cache} is not there"
        raise JudgedError(msg, hint="`--force` writes over it")
    for path in (output, cache, *([options["failures"]] if options["failures"] else [])):
        if not path.absolute().parent.is_dir():
            msg = f"the folder of {path} does not exist"
            raise JudgedError(msg)


def _asking(options: dict[str, Any]) -> Asking:
    from judged.label.asking import Asking
    from judged.label.prompt import read_prompt

    names = ("model", "seed", "max_tokens", "structure", "text_limit", "logprobs")
    warmth = options["temperature"]
    return Asking(
        **{name: options[name] for name in names},
        prompt=read_prompt(options["prompt"]),
        temperature=None if warmth < 0 else warmth,
    )


def _service(options: dict[str, Any]) -> Service:
    from judged.label.service import Patience, Service

    endpoint = options["endpoint"] or os.environ.get(BASE)
    if not endpoint:
        msg = f"no endpoint is named: neither `--endpoint` nor the environment variable {BASE} is there"
        raise BadProtocol(msg, hint="`--dry-run` needs none")
    names = ("key_variable", "concurrency", "rate", "timeout", "budget")
    return Service(
        endpoint,
        **{name: options[name] for name in names},
        patience=Patience(options["attempts"], options["reasks"]),
        prices=_prices(options),
    )


def _prices(options: dict[str, Any]) -> Prices | None:
    from judged.label.money import Prices

    told = options["price_in"], options["price_out"]
    return None if told == (None, None) else Prices(told[0] or 0.0, told[1] or 0.0)


def _estimate(pool: Pool, asking: Asking, cache: Path | None, options: dict[str, Any]) -> None:
    from judged.label.estimate import estimate_pool

    names = ("retry_failed", "concurrency", "rate")
    terms = {name: options[name] for name in names}
    for sentence in estimate_pool(pool, asking, cache=cache, prices=_prices(options), **terms).sentences():
        click.echo(sentence)
    _tell(pool.notes, options)


def _check_output(pool: Pool, output: Path) -> None:
    """Refuse an output that cannot hold these labels, before anything is paid for."""
    from judged.io.write import encode_labels

    encode_labels([{**item.row, "gain": 0} for item in pool.items], output)


def _labelled(
    pool: Pool, asking: Asking, service: Service, cache: Path | None, options: dict[str, Any]
) -> Labelling:
    from judged.cli.meter import Meter
    from judged.label.labels import label_pool

    finished: list[Labelling] = []
    try:
        with Meter("Labelling", enabled=not options["quiet"]) as meter:
            return label_pool(
                pool,
                asking,
                service,
                cache=cache,
                retry_failed=options["retry_failed"],
                tell=meter,
                rescue=finished.append,
            )
    except (KeyboardInterrupt, JudgedError):
        for labelling in finished:
            if labelling.rows:
                _write(labelling, options)
        raise


def _write(labelling: Labelling, options: dict[str, Any]) -> None:
    from msgspec.json import Encoder

    from judged.io.write import write_labels
    from judged.result import write_file

    write_labels(labelling.rows, options["output"])
    if options["failures"] is not None:
        write_file(options["failures"], Encoder().encode_lines(labelling.failures))
    _tell([*labelling.sentences(), f"wrote {options['output']}"], options)


def _tell(sentences: Any, options: dict[str, Any]) -> None:
    if not options["quiet"]:
        for sentence in sentences:
            click.echo(f"{sentence[0].upper()}{sentence[1:]}", err=True)
