"""`judged clicks`: score logs of clicks, compare systems by user, fit click models, and value rankings never shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from judged.cli.command import COUNT, Command, flag, option, options
from judged.cli.inputs import InputPath, check_standard_input, split_name
from judged.cli.options import (
    INPUTS,
    baseline_option,
    convention_option,
    level_option,
    measure_option,
    output_options,
    query_options,
    seed_option,
)
from judged.cli.output import OutputOptions, emit
from judged.clicks.protocol import ClickProtocol
from judged.errors import BadSample

if TYPE_CHECKING:
    from judged.cli.options import QueryOptions
    from judged.clicks.models.result import ClickModel
    from judged.clicks.tables import Clicks
    from judged.result import Result

EXAMPLES = """\b
Examples:
  judged clicks log.csv
  judged clicks old=a.parquet new=b.parquet --baseline old --ratio old=0.5,new=0.5 -o report.html
  judged clicks ubi_events.jsonl --ubi-queries ubi_queries.jsonl --action click,add_to_cart -m "CTR@5 Satisfied"
  judged clicks log.csv --model "SDBN(prior=(1, 2))" --judgments clicks.qrels --levels 5 --minimum 20
  judged clicks log.csv --value new.run --method IPS,DR --clip 20
  judged clicks log.csv --lists lists.csv -m Interleaving
"""
MODELS, VALUES = "Click models", "Value of another ranking"
METHODS = ("IPS", "SNIPS", "DM", "DR")
_CONVENTIONS = ClickProtocol.conventions()
_SCORED = ("--model NAME", "--value FILE")


@dataclass(frozen=True, kw_only=True)
class ClickOptions:
    """Options of what is asked of a log."""

    ubi_queries: str | None = option(
        "--ubi-queries FILE",
        "The `ubi_queries` of User Behavior Insights, for the text of queries and what was shown.",
        section=INPUTS,
        type=InputPath(table=False),
    )
    action: str = option(
        "--action A,B,…", "The actions of User Behavior Insights that count as a click.", default="click"
    )
    lists: str | None = option(
        "--lists FILE",
        "Interleaved lists that the log showed, as `judged interleave` writes them.",
        type=InputPath(table=False),
    )
    measures: tuple[str, ...] = measure_option(
        "`judged measures` lists them by family.  [default: those that the log allows]", excludes=_SCORED
    )
    last_click: str | None = convention_option(_CONVENTIONS["last_click"], excludes=_SCORED)
    ignore_prefix: bool = flag(
        "--ignore-prefix",
        "Ignore clicks on documents with which both interleaved lists begin.",
        excludes=_SCORED,
    )
    baselines: tuple[str, ...] = baseline_option(excludes=_SCORED)
    ratio: str | None = option(
        "--ratio A=SHARE,B=SHARE",
        "Planned shares of the users of each system.  [default: equal]",
        excludes=_SCORED,
    )
    correction: str = option(
        "--correction [holm|bonferroni|bh|none]",
        "Correction for multiple comparisons.",
        default="holm",
        excludes=_SCORED,
    )
    level: float = level_option()
    seed: int = seed_option()
    model: str | None = option(
        "--model NAME",
        "Fit a click model: PBM, Cascade, SDBN, DBN, COEC, DCTR, RCTR or GCTR; with settings as in `SDBN(prior=(1, 2))`.",
        section=MODELS,
        excludes=("--value FILE",),
    )
    test: float = option(
        "--test SHARE",
        "Share of the sessions on which predictions are judged; 0: all, on which the model is fitted.",
        needs="--model NAME",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.2,
    )
    judgments: str | None = option(
        "--judgments FILE", "Write judgments that the model makes.", needs="--model NAME"
    )
    levels: int = option(
        "--levels N",
        "Number of grades of these judgments.",
        needs="--judgments FILE",
        type=click.IntRange(2, 100),
        default=5,
    )
    minimum: int = option(
        "--minimum N",
        "Impressions that a query and document need for a judgment.",
        needs="--judgments FILE",
        type=COUNT,
        default=10,
    )
    value: str | None = option(
        "--value FILE",
        "Estimate the clicks of another ranking: a run, or a table with the `probability` of each document.",
        section=VALUES,
        type=InputPath(table=False),
    )
    method: str = option(
        "--method A,B,…",
        "Estimators: IPS, SNIPS, DM and DR.",
        needs="--value FILE",
        default="SNIPS",
    )
    clip: float | None = option("--clip WEIGHT", "The largest weight.", needs="--value FILE", type=float)
    rewards: str | None = option(
        "--rewards FILE",
        "Predicted clicks, for DM and DR of probabilities: `document`, `reward`, perhaps `query` and `rank`.",
        needs="--value FILE",
        type=InputPath(table=False),
    )

    def to_protocol(self) -> ClickProtocol:
        """Return the protocol that the options describe."""
        protocol = ClickProtocol(prefix="ignored" if self.ignore_prefix else "counted")
        return protocol if self.last_click is None else protocol.replace(last_click=self.last_click)


@click.command("clicks", cls=Command, epilog=EXAMPLES)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=InputPath(named=True))
@options("options", ClickOptions)
@query_options("impression")
@output_options()
def command(
    logs: tuple[str, ...], *, options: ClickOptions, queries: QueryOptions, output: OutputOptions
) -> None:
    """Score LOG by what was clicked, and compare its systems by user.

    LOG is a table of any format with `query`, `impression`, `document`, `rank` and `click`, and perhaps `user`, `session`,
    `system`, `time` and `dwell`; or a log of User Behavior Insights (`ubi_events`), Yandex, MIND, Outbrain, Baidu-ULTR or
    Open Bandit. Of several, each is a system; NAME=FILE names it. What a log lacks is said, with what cannot be computed.
    Before any verdict, the sample ratio is checked and one system is split into random halves.
    """
    display = queries.to_display()
    output.check()
    files = [split_name(path) for path in logs]
    check_standard_input([path for _, path in files])
    log = _read(files, options)
    result = _make(log, options)
    emit(result, output, display=display, written=_write_judgments(result, options))


def _read(files: list[tuple[str | None, str]], options: ClickOptions) -> Clicks:
    from judged.clicks.logs.read import read_clicks

    actions = [action.strip() for action in options.action.split(",") if action.strip()]
    if len(files) == 1:
        name, path = files[0]
        return read_clicks(path, name=name, queries=options.ubi_queries, action=actions, lists=options.lists)
    named: dict[str, str] = {}
    for name, path in files:
        own = name or Path(path).name.partition(".")[0]
        if own in named:
            msg = f"two logs are called `{own}`"
            raise BadSample(msg, hint="NAME=FILE names a log")
        named[own] = path
    return read_clicks(named, queries=options.ubi_queries, action=actions, lists=options.lists)


def _make(log: Clicks, options: ClickOptions) -> Result:
    if options.model is not None:
        from judged.clicks.models.fit import fit_clicks

        return fit_clicks(log, options.model, test=options.test, seed=options.seed)
    if options.value is not None:
        from judged.clicks.value import Method, estimate_value

        methods = [name.strip() for name in options.method.split(",") if name.strip()]
        assert set(METHODS) == set(get_args(Method))  # noqa: S101 - the help lists them
        return estimate_value(
            log,
            options.value,
            methods,  # type: ignore[arg-type]  # checked there
            clip=options.clip,
            rewards=options.rewards,
            level=options.level,
        )
    from judged.clicks.evaluate import evaluate_clicks

    return evaluate_clicks(
        log,
        " ".join(options.measures) or None,
        baseline=options.baselines or None,
        protocol=options.to_protocol(),
        ratio=_parse_ratio(options.ratio),
        level=options.level,
        correction=options.correction,
        seed=options.seed,
    )


def _parse_ratio(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, equals, share = part.rpartition("=")
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            equals = ""
        if not equals:
            msg = f"`{part}` is not a share, expected A=SHARE,B=SHARE"
            raise click.UsageError(msg)
    return shares


def _write_judgments(result: Result, options: ClickOptions) -> list[Path]:
    """Write the judgments that a model makes, and say how many pairs they leave out."""
    if options.judgments is None:
        return []
    from judged.cli.output import print_line
    from judged.io.write import write_judgments

    model: ClickModel = result  # type: ignore[assignment]  # `--judgments` needs `--model`
    made = model.to_judgments(levels=options.levels, minimum=options.minimum)
    destination = Path(options.judgments)
    made = replace(made, name=destination.stem)
    write_judgments(made, destination, force=True)
    for note in made.notes:
        print_line(note)
    return [destination]
