"""Options that several commands share, each declared once: how results are written and compared, under which conventions.

`…_option` declares a single one as a field; classes are groups of them, added by `judged.cli.command.options`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from judged.blocks import Display
from judged.cli.command import COUNT, TABLES, TEXTS, Declared, Decorated, Needs, flag, gather, option, options
from judged.cli.inputs import InputPath
from judged.cli.output import FORMATS, OUTPUT, OUTPUT_FILE, TEXT_FORMATS, OutputOptions
from judged.errors import BadMeasure, UnknownName
from judged.profiles.profile import PROFILES, Profile
from judged.protocol import Convention, Protocol

if TYPE_CHECKING:
    from judged.comparison.clusters import ClusterChoice
    from judged.tables.groups import Groups

INPUTS, MEASURES, COMPARISON = "Inputs", "Measures", "Comparison"
TABLE, PROTOCOL, READING = "Tables", "Protocol", "Reading"
"""Headings of options in help; that of `OutputOptions` is in `judged.cli.output`."""
EVERY_PAIR = " Without it, every pair is compared."
"""Default without a baseline where all runs can be compared."""
MODELS = "may be repeated, and NAME=FILE names the model."
"""Use of predictions where there may be several systems."""
INPUT_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _split_measures(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    if not texts:
        return ()
    if ctx.params.get("scores"):
        return texts  # names of another tool, which may have blanks
    from judged.measures.parse import parse_measures, split_measures

    names = tuple(name for text in texts for name in split_measures(text))
    if not names:
        parse_measures(names)  # raises the error of a list without measures
    return names


def _complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from judged.measures.groups import SCOPES

    return [name for name in SCOPES["ranked"] if name.lower().startswith(incomplete.lower())]


def measure_option(note: str, **settings: object) -> Declared:
    """Declare the option that names measures; `note` is added to its help."""
    return option(
        "-m --measure MEASURE",
        f"A measure, or several separated by spaces; may be repeated. {note}",
        multiple=True,
        callback=_split_measures,
        shell_complete=_complete_measure,
        **{"section": MEASURES, **settings},
    )


def baseline_option(note: str = "", **settings: object) -> Declared:
    """Declare the option that names the systems to compare with; `note` is added to its help."""
    text = f"Compare the other systems with this one, by its name or its path; may be repeated.{note}"
    return option("--baseline NAME", text, multiple=True, section=COMPARISON, **settings)


queries_option = partial(
    option, "--queries FILE", f"Texts of queries by id ({TEXT_FORMATS}).", type=InputPath()
)
labels_option = partial(
    option,
    "--labels FILE",
    "Gains of the results in traces: JSONL, CSV, TSV or TREC judgments.",
    type=InputPath(),
)
intents_option = partial(
    flag, "--intents", "Read the second column of TREC judgments as intents even if no measure needs them."
)


groups_option = partial(
    option,
    "--groups FILE",
    "Groups of documents, a table of columns `document`, `group` and maybe `share`: for `AWRF`.",
    type=InputPath(),
)
target_option = partial(
    option,
    "--target equal|corpus|FILE",
    "Share of the exposure that each group should have: equal, as among all documents, or in columns `group` and `share`.",
    needs="--groups FILE",
    default="equal",
)


def read_grouped(qrels: str, groups: str, target: str, measures: Sequence[str], profile: Profile) -> Groups:
    """Return the groups of documents, read with the judgments; raise `BadMeasure` for measures that do not look at them."""
    from judged.io.read import read_groups

    other = next(
        (reading for reading in profile.read_all(measures) if reading.measure.family != "exposure"), None
    )
    if other is not None:
        msg = f"`--groups` is for measures of exposure, and {other.name} is none"
        raise BadMeasure(msg, hint="name one with `-m`, such as `AWRF`; score others without `--groups`")
    return read_groups(groups, target=target, judgments=qrels)


def predictions_option(note: str, **settings: object) -> Declared:
    """Declare the option for scores of a model; `note` says what a command does with them."""
    text = f"Scores of a model for the rows of QRELS, one number per line, in place of a run; {note}"
    return option("--predictions FILE", text, type=InputPath(named=True), **settings)


join_option = partial(
    flag, "--join", "Read the files of each folder or pattern as parts of one run, not as several runs."
)
threads_option = partial(option, "--threads N", "Number of threads that read the runs.", type=COUNT)
seed_option = partial(option, "--seed N", "Random seed.", type=click.IntRange(min=0), default=0)
level_option = partial(option, "--level P", "Confidence level of intervals.", type=float, default=0.95)
cluster_option = partial(
    option,
    "--cluster NAME",
    "An attribute of the queries whose values are independent draws, such as the document that queries were written"
    " from: intervals and tests are then by cluster.",
)
attributes_option = partial(
    option,
    "--attributes FILE",
    "Attributes of queries (CSV, TSV, JSONL), of which --cluster names one.",
    needs="--cluster NAME",
    type=INPUT_FILE,
)
alpha_option = partial(option, "--alpha P", "Significance level of the tests.", type=float, default=0.05)
resamples_option = partial(
    option,
    "--resamples N",
    "Number of random permutations or bootstrap samples.",
    type=click.IntRange(1, 10_000_000),
    default=10_000,
)
marks_option = partial(
    flag, "--no-marks", "Show numbers without marks of ties and of significance.", needs=TABLES
)


def convention_option(convention: Convention, **settings: object) -> Declared:
    """Declare the option that sets one convention of a protocol."""
    kind: click.Choice[str] | type
    if convention.options:
        kind = click.Choice(convention.options)
    else:  # a convention that may be absent has the type `float | None`
        kind = float if float in (convention.type, *get_args(convention.type)) else int
    words = f"{convention.flag} {convention.metavar or ''}"
    return option(words, convention.help, type=kind, **settings)


def read_clusters(name: str | None, attributes: Path | None) -> ClusterChoice:
    """Return the attribute that `--cluster` names, with its values where `--attributes` has them."""
    if name is None or attributes is None:
        return name
    from judged.comparison.slices import Attributes, read_attributes

    known = read_attributes(attributes, clusters=name).values
    if name not in known:
        kind = f"attribute in {attributes}"
        raise UnknownName(kind, name, list(known))
    return Attributes({name: known[name]})


def picture_option(name: str, drawn: str, **settings: object) -> Declared:
    """Declare an option that draws something into a file."""
    return option(f"{name} FILE", f"Also draw {drawn}; .svg, .png or .pdf.", type=OUTPUT_FILE, **settings)


def output_options(
    formats: Sequence[str] = FORMATS, *, note: str = "", folder: bool = False, documents: bool = False
) -> Callable[[Decorated], Decorated]:
    """Add the options that say what is printed and written; the command receives `output`.

    With `folder`, what is written may be a folder as well, whose name has no extension; with `documents`, a report
    shows their texts.
    """
    paths = {
        "type": click.Path(dir_okay=folder, path_type=Path),
        "help": f"Also write the result to FILE, in the format of its extension{note}; may be repeated.",
    }
    without = [
        *([] if documents else ["documents"]),
        *([] if "csv" in formats else ["escape_formulas"]),
        *([] if "latex" in formats else ["bare_latex"]),
    ]
    printed = {"type": click.Choice(formats), "default": formats[0]}
    return options("output", OutputOptions, OUTPUT, without=without, format=printed, paths=paths)


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """Options of the table of single queries: which are shown, and their order."""

    per_query: bool = flag("--per-query")
    sort: str = option("--sort COLUMN", default="")
    limit: int | None = option("--limit N", type=COUNT)
    texts: str | None = queries_option()

    def to_display(self, display: Display = Display()) -> Display:  # noqa: B008 - immutable
        """Return the display with these queries and their texts."""
        texts = read_query_texts(self.texts)
        return replace(display, per_query=self.per_query, sort=self.sort, limit=self.limit, texts=texts)


def query_options(unit: str = "query", *, systems: bool = False) -> Callable[[Decorated], Decorated]:
    """Add the options that show single queries, or sessions; the command receives `queries`.

    With `systems`, `--sort` is of systems where no queries are shown.
    """
    shown = f"--per-{unit}"
    listed = [(shown,), TABLES]
    sorting = f"With {shown}: sort by `query`, `value`, `difference` or the name of a column"
    if systems:
        sorting = (
            f"Sort systems by a measure or by `system`; with {shown}, queries by `query`, `value` or a column"
        )
    return options(
        "queries",
        QueryOptions,
        TABLE,
        per_query={"flags": (shown,), "help": f"Show every {unit}, one per row."},
        sort={
            "needs": ("not --per-query", *TABLES) if systems else listed,
            "help": f"{sorting}; -COLUMN sorts in descending order.",
        },
        limit={"needs": listed, "help": f"With {shown}: show only N rows."},
        texts={"needs": [TEXTS, (shown, "--full", "-o FILE.html")]},
    )


def read_query_texts(path: str | None) -> dict[str, str]:
    """Return the text of every query in the file, if one is named."""
    if path is None:
        return {}
    from judged.io.texts import find_texts, read_queries

    return read_queries(find_texts(path, "queries"))


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """The profile and the conventions named on the command line."""

    name: str | None
    changes: Mapping[str, object]

    def to_profile(self, name: str | None = None, **settings: object) -> Profile:
        """Return the profile, changed by the settings of a file and then by the command line."""
        return PROFILES[self.name or name or next(iter(PROFILES))].replace(**{**settings, **self.changes})


def profile_options(*, needs: Needs = ()) -> Callable[[Decorated], Decorated]:
    """Add the options that choose a profile and change its protocol; the command receives `profile`."""

    def choose(*, profile: str | None, **conventions: object) -> ProfileChoice:
        given = {name: value for name, value in conventions.items() if value is not None}
        return ProfileChoice(profile, given)

    default = next(iter(PROFILES))
    choice = option(
        "--profile", f"Score as another tool does.  [default: {default}]", type=click.Choice(list(PROFILES))
    )
    conventions = {name: convention_option(each) for name, each in Protocol.conventions().items()}
    shared = {"section": PROTOCOL, "needs": needs}
    declared = {
        name: {**field.metadata, **shared} for name, field in {"profile": choice, **conventions}.items()
    }
    return gather("profile", choose, declared)
