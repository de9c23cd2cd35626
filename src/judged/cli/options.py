"""Options that several commands have: how results are written, and the conventions they are made under."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import click

from judged.cli.output import FORMATS
from judged.comparison.settings import CORRECTIONS, TESTS, Settings, chosen_settings
from judged.profiles.catalogue import PROFILES
from judged.profiles.profile import Profile
from judged.protocol import Protocol

__all__ = ["compared_by", "conventions", "named_measures", "profile_of", "settings_of", "written_results"]

F = TypeVar("F", bound=Callable[..., Any])


def written_results(formats: Sequence[str] = FORMATS, *, note: str = "") -> Callable[[F], F]:
    """The options that say what is printed, what is written to files, and with how many decimals."""

    def decorated(command: F) -> F:
        for option in reversed(
            [
                click.option(
                    "--format",
                    "kind",
                    type=click.Choice(formats),
                    default=formats[0],
                    show_default=True,
                    help="What to print.",
                ),
                click.option(
                    "-o",
                    "--output",
                    "outputs",
                    multiple=True,
                    metavar="FILE",
                    type=click.Path(dir_okay=False, path_type=Path),
                    help=f"Also write FILE, in the format its extension names{note}; may be repeated.",
                ),
                click.option(
                    "--digits",
                    type=click.IntRange(0, 17),
                    default=4,
                    show_default=True,
                    help="Decimals, where people read.",
                ),
            ]
        ):
            command = option(command)
        return command

    return decorated


def compared_by(command: F) -> F:
    """The options that say how systems are compared: test, correction, confidence, and what is drawn."""
    for option in reversed(
        [
            click.option(
                "--test",
                type=click.Choice(TESTS),
                default=TESTS[0],
                show_default=True,
                help="How p-values are made; `welch` takes the two samples as not the same.",
            ),
            click.option(
                "--correction",
                type=click.Choice(CORRECTIONS),
                help="For the comparisons of one measure being several.  [default: maxT with randomisation, else holm]",
            ),
            click.option(
                "--level", type=float, default=0.95, show_default=True, help="The confidence of intervals."
            ),
            click.option(
                "--resamples",
                type=click.IntRange(min=1),
                default=10_000,
                show_default=True,
                help="How many flips or resamples are drawn.",
            ),
            click.option(
                "--seed",
                type=click.IntRange(min=0),
                default=0,
                show_default=True,
                help="What draws begin with.",
            ),
        ]
    ):
        command = option(command)
    return command


def settings_of(options: Mapping[str, Any]) -> Settings:
    """How the options of `compared_by` say that systems are compared."""
    return chosen_settings(
        **{name: options[name] for name in ("test", "correction", "level", "resamples", "seed")}
    )


def named_measures(note: str) -> Callable[[F], F]:
    """The option that names measures; `note` says what else is to be known of them."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        shell_complete=_complete_measure,
        help=f"A measure, or several separated by spaces; may be repeated. {note}",
    )


def _complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from judged.measures.families import MEASURES, PREFERENCE_MEASURES

    return [name for name in (*MEASURES, *PREFERENCE_MEASURES) if name.lower().startswith(incomplete.lower())]


def profile_of(options: Mapping[str, Any], **settings: Any) -> Profile:
    """The profile that the options name, changed by settings and then by the options."""
    given = {name: options[name] for name in get_type_hints(Protocol) if options.get(name) is not None}
    return PROFILES[options["profile"] or next(iter(PROFILES))].but(**{**settings, **given})


def conventions(command: F) -> F:
    """The options that change the protocol."""
    profile = click.option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        help=f"Conventions to score under.  [default: {next(iter(PROFILES))}]",
    )
    words = {
        "ties": "How documents with equal scores are ordered.",
        "precision": "The width at which scores are compared.",
        "missing": "What a judged query without results scores.",
        "unjudged": "What becomes of unjudged documents.",
        "recall_points": "How a share of the relevant documents becomes a number of them.",
        "order": "Whether scores or the order of rows rank documents.",
        "extra": "What a query of the run that nobody judged scores.",
        "barren": "What a query without any relevant document scores.",
        "negative": "What a negative grade means.",
        "itself": "What becomes of a document with the id of its query.",
    }
    options = [
        click.option(f"--{name.replace('_', '-')}", type=click.Choice(_choices(name)), help=told)
        for name, told in words.items()
    ]
    numbers = [
        click.option(
            "--rel", type=float, metavar="GRADE", help="The grade from which a document is relevant."
        ),
        click.option(
            "--depth", type=int, metavar="N", help="Look at the first N documents of each query only."
        ),
    ]
    for option in reversed([profile, *options, *numbers]):
        command = option(command)
    return command


def _choices(field: str) -> list[str]:
    return list(get_args(get_type_hints(Protocol)[field]))
