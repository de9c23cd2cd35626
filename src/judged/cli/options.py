"""Options that several commands have: how results are written, and the conventions they are made under."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TypeAlias, TypeVar

import click

from judged.blocks import Display
from judged.cli.effects import TABLES, TEXTS, Needs, dependent_option
from judged.cli.output import FORMATS, OutputOptions
from judged.profiles.profile import PROFILES, Profile
from judged.protocol import Convention, Protocol

F = TypeVar("F", bound=Callable[..., object])
Command: TypeAlias = Callable[..., None]

DRAWN = ("--test randomisation|bootstrap",)
"""The tests that draw at random."""


FORMULAS = dependent_option(
    "--escape-formulas",
    needs=("--format csv|tsv", "-o FILE.csv|.tsv"),
    is_flag=True,
    help="Put an apostrophe before CSV and TSV cells that a spreadsheet would run as formulas.",
)
BARE_LATEX = dependent_option(
    "--bare-latex",
    needs=("--format latex", "-o FILE.tex"),
    is_flag=True,
    help="In LaTeX, write each `tabular` alone, without `table`, caption and label.",
)


def output_options(
    formats: Sequence[str] = FORMATS, *, note: str = "", folder: bool = False
) -> Callable[[Command], Command]:
    """Add the options that say what is printed and written; the command receives `output`.

    With `folder`, what is written may be a folder as well, whose name has no extension.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def receive(
            *,
            output_format: str,
            paths: tuple[Path, ...],
            digits: int,
            quiet: bool,
            verbose: bool,
            escape_formulas: bool = False,
            bare_latex: bool = False,
            **options: object,
        ) -> None:
            output = OutputOptions(
                output_format,
                paths,
                digits,
                quiet,
                verbose,
                escape_formulas=escape_formulas,
                bare_latex=bare_latex,
            )
            command(output=output, **options)

        return add_options(
            receive,
            click.option(
                "--format",
                "output_format",
                type=click.Choice(formats),
                default=formats[0],
                show_default=True,
                help="Format of the output.",
            ),
            click.option(
                "-o",
                "--output",
                "paths",
                multiple=True,
                metavar="FILE",
                type=click.Path(dir_okay=folder, path_type=Path),
                help=f"Also write FILE, in the format of its extension{note}; may be repeated.",
            ),
            dependent_option(
                "--digits",
                needs=TABLES,
                type=click.IntRange(0, 17),
                default=4,
                show_default=True,
                help="Decimals in tables.",
            ),
            click.option(
                "-q",
                "--quiet",
                is_flag=True,
                help="Print neither notes nor progress on standard error, apart from what puts all numbers in doubt.",
            ),
            dependent_option(
                "-v",
                "--verbose",
                excludes=("--quiet",),
                is_flag=True,
                help="Print the protocol in full, and every system that a note is about.",
            ),
            *([FORMULAS] if "csv" in formats else []),
            *([BARE_LATEX] if "latex" in formats else []),
        )

    return decorate


def query_options(unit: str = "query", *, systems: bool = False) -> Callable[[Command], Command]:
    """Add the options that show single queries; the command receives `display`.

    With `systems`, `--sort` is of systems where no queries are shown.
    """
    shown = f"--per-{unit}"
    listed = [(shown,), TABLES]
    sorting = f"With {shown}: sort by `query`, `value`, `difference` or the name of a column"
    if systems:
        sorting = (
            f"Sort systems by a measure or by `system`; with {shown}, queries by `query`, `value` or a column"
        )

    def decorate(command: Command) -> Command:
        @wraps(command)
        def receive(
            *,
            per_query: bool,
            sort: str,
            limit: int | None,
            texts: str | None,
            display: Display = Display(),  # noqa: B008 - immutable
            **options: object,
        ) -> None:
            known = read_query_texts(texts)
            chosen = replace(display, per_query=per_query, sort=sort, limit=limit, texts=known)
            command(display=chosen, **options)

        return add_options(
            receive,
            click.option(shown, "per_query", is_flag=True, help=f"Show every {unit}, one to a row."),
            dependent_option(
                "--sort",
                needs=("not --per-query", *TABLES) if systems else listed,
                default="",
                metavar="COLUMN",
                help=f"{sorting}; -COLUMN sorts in descending order.",
            ),
            dependent_option(
                "--limit",
                needs=listed,
                type=click.IntRange(min=1),
                metavar="N",
                help=f"With {shown}: show only N rows.",
            ),
            partial(queries_option, needs=[TEXTS, (shown, "--full", "-o FILE.html")]),
        )

    return decorate


def queries_option(command: Command, *, needs: Needs = ()) -> Command:
    """Add the option that names the texts of queries, as `texts`."""
    return dependent_option(
        "--queries",
        "texts",
        needs=needs,
        metavar="FILE",
        help="Texts of queries (TSV, JSONL, CSV, Parquet, or a BEIR folder), shown beside their ids.",
    )(command)


def documents_option(command: Command) -> Command:
    """Add the option that names the texts of documents, which the report shows; `output` has them."""

    @wraps(command)
    def receive(*, documents: str | None, output: OutputOptions, **options: object) -> None:
        command(output=replace(output, documents=documents), **options)

    return dependent_option(
        "--documents",
        needs="-o FILE.html",
        metavar="FILE",
        type=click.Path(exists=True),
        help="Texts of documents (TSV, JSONL, CSV, Parquet, or a BEIR folder), shown in `-o report.html`.",
    )(receive)


def marks_option(command: Command, *, needs: Needs = TABLES, excludes: tuple[str, ...] = ()) -> Command:
    """Add the option that leaves marks out, as `no_marks`."""
    return dependent_option(
        "--no-marks",
        needs=needs,
        excludes=excludes,
        is_flag=True,
        help="Show numbers without marks of ties and of significance.",
    )(command)


def difference_options(command: Command, *, needs: tuple[str, ...] = ()) -> Command:
    """Add the options that say what is shown of a comparison, which there is with `needs`; the command receives `display`."""
    compared: Needs = [needs, TABLES]

    @wraps(command)
    def receive(
        *,
        full: bool,
        columns: tuple[str, ...],
        intervals: bool,
        no_marks: bool,
        display: Display = Display(),  # noqa: B008 - immutable
        **options: object,
    ) -> None:
        from judged.comparison.blocks import check_columns

        names = tuple(name for text in columns for name in text.replace(",", " ").split())
        check_columns(names)
        chosen = replace(display, full=full, columns=names, intervals=intervals, marks=not no_marks)
        command(display=chosen, **options)

    return add_options(
        receive,
        dependent_option(
            "--full",
            needs=compared,
            is_flag=True,
            help="Also show effect size, P(better), detectable difference, uncorrected p, and the queries that changed"
            " most.",
        ),
        dependent_option(
            "--columns",
            needs=compared,
            excludes=("--per-query",),
            multiple=True,
            metavar="A,B,…",
            help="Columns of the differences: difference, change, p, corrected, stars, won, effect, superiority,"
            " detectable.",
        ),
        dependent_option(
            "--intervals", needs=compared, is_flag=True, help="Show the confidence interval of every mean."
        ),
        partial(marks_option, needs=compared),
    )


def read_query_texts(path: str | None) -> dict[str, str]:
    """Return the text of every query in the file, if one is named."""
    if path is None:
        return {}
    from judged.io.texts import find_texts, read_queries

    return read_queries(find_texts(path, "queries"))


def comparison_options(
    command: Command, *, needs: tuple[str, ...] = (), level_needs: tuple[str, ...] = ()
) -> Command:
    """Add the options that say how systems are compared, which they are with `needs`; the command receives `settings`."""
    from judged.comparison.settings import CORRECTIONS, TESTS, choose_settings

    @wraps(command)
    def receive(
        *, test: str, correction: str | None, level: float, resamples: int, seed: int, **options: object
    ) -> None:
        settings = choose_settings(
            test=test, correction=correction, level=level, resamples=resamples, seed=seed
        )
        command(settings=settings, **options)

    return add_options(
        receive,
        dependent_option(
            "--test",
            needs=needs,
            type=click.Choice(list(TESTS)),
            default=next(iter(TESTS)),
            show_default=True,
            help="Significance test; `welch` treats the samples as unpaired.",
        ),
        dependent_option(
            "--correction",
            needs=needs,
            type=click.Choice(list(CORRECTIONS)),
            help="Correction for multiple comparisons; with maxT, intervals agree with marks."
            "  [default: maxT with randomisation, else holm]",
        ),
        dependent_option(
            "--level",
            needs=level_needs,
            type=float,
            default=0.95,
            show_default=True,
            help="Confidence level of intervals.",
        ),
        dependent_option(
            "--resamples",
            needs=[needs, DRAWN],
            type=click.IntRange(1, 10_000_000),
            default=10_000,
            show_default=True,
            help="Number of random permutations or bootstrap samples.",
        ),
        dependent_option(
            "--seed",
            needs=[needs, DRAWN],
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Random seed.",
        ),
    )


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """The profile and the conventions named on the command line."""

    name: str | None
    changes: Mapping[str, object]

    def to_profile(self, name: str | None = None, **settings: object) -> Profile:
        """Return the profile, changed by the settings of a file and then by the command line."""
        return PROFILES[self.name or name or next(iter(PROFILES))].replace(**{**settings, **self.changes})


def profile_options(command: Command, *, needs: Needs = ()) -> Command:
    """Add the options that choose a profile and change its protocol; the command receives `choice`."""

    @wraps(command)
    def receive(*, profile: str | None, **options: object) -> None:
        given = {name: options.pop(name) for name in Protocol.conventions()}
        changes = {name: value for name, value in given.items() if value is not None}
        command(choice=ProfileChoice(profile, changes), **options)

    choice = dependent_option(
        "--profile",
        needs=needs,
        type=click.Choice(list(PROFILES)),
        help=f"Score as another tool does.  [default: {next(iter(PROFILES))}]",
    )
    return add_options(
        receive,
        choice,
        *(convention_option(convention, needs=needs) for convention in Protocol.conventions().values()),
    )


def protocol_options(command: Command, *, needs: Needs = ()) -> Command:
    """Add the same options; the command receives `profile`."""

    @wraps(command)
    def receive(*, choice: ProfileChoice, **options: object) -> None:
        command(profile=choice.to_profile(), **options)

    return profile_options(receive, needs=needs)


def add_options(command: Command, *options: Callable[[Command], Command]) -> Command:
    """Add click options to a command, in the order in which help lists them."""
    for option in reversed(options):
        command = option(command)
    return command


def measure_option(note: str, *, needs: Needs = ()) -> Callable[[F], F]:
    """Return the option that names measures; `note` is added to its help."""
    return dependent_option(
        "-m",
        "--measure",
        "measures",
        needs=needs,
        multiple=True,
        metavar="MEASURE",
        shell_complete=_complete_measure,
        help=f"A measure, or several separated by spaces; may be repeated. {note}",
    )


def _complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from judged.measures.families import MEASURES, PREFERENCE_MEASURES

    return [name for name in (*MEASURES, *PREFERENCE_MEASURES) if name.lower().startswith(incomplete.lower())]


def convention_option(convention: Convention, *, needs: Needs = ()) -> Callable[[F], F]:
    """Return the option that sets one convention of a protocol."""
    kind: click.Choice[str] | type
    if convention.options:
        kind = click.Choice(convention.options)
    else:
        kind = float if convention.type is float else int
    return dependent_option(
        convention.flag, needs=needs, type=kind, metavar=convention.metavar, help=convention.help
    )
