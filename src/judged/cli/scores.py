"""Options of commands that read scores of any tool in place of judgments and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import flag, option
from judged.cli.inputs import INPUTS, find_unlisted_baselines, split_name
from judged.cli.options import ProfileChoice

if TYPE_CHECKING:
    from judged.comparison.sources import ScoreReading
    from judged.comparison.systems import ScoresLike

SCORES = "Scores of other tools"
"""Heading of these options in help."""
WITHOUT = ("--scores",)
"""Options that those about judgments and runs exclude."""


READ = "judged.scores"
"""The key under which the context of a command that can read scores has whether it does."""


def _keep_flag(ctx: click.Context, param: click.Parameter, value: bool) -> bool:  # noqa: ARG001, FBT001 - click's
    ctx.meta[READ] = value
    return value


def suggest_scores(context: click.Context) -> str | None:
    """Return what `--scores` would read of the inputs of a command that was called without it; None if nothing."""
    from judged.io.scores.read import find_tool

    if context.meta.get(READ, True):
        return None
    inputs = context.meta.get(INPUTS, {})
    paths = dict.fromkeys(
        split_name(text)[1] for name in ("qrels", "runs", "run", "files") for text in inputs.get(name, ())
    )
    tools = ((path, find_tool(path)) for path in paths if Path(path).is_file())
    found = next(((path, tool) for path, tool in tools if tool is not None), None)
    return None if found is None else f"`--scores` reads {found[0]}, which holds {found[1].title}"


@dataclass(frozen=True, kw_only=True)
class ScoreFileOptions:
    """What the files are, where they hold scores, and which way their measures are better."""

    scores: bool = flag(
        "--scores",
        "The files hold scores of every query, computed by any tool; there are no judgments.",
        section=SCORES,
        is_eager=True,  # before -m, whose names are then those of the files
        callback=_keep_flag,
    )
    higher: tuple[str, ...] = option(
        "--higher NAME", "More of this measure is better; may be repeated.", needs="--scores", multiple=True
    )
    lower: tuple[str, ...] = option(
        "--lower NAME", "Less of this measure is better; may be repeated.", needs="--scores", multiple=True
    )
    scores_format: str | None = option(
        "--scores-format NAME",
        "Format of the files, where their keys or columns do not show it.",
        needs="--scores",
    )

    def to_reading(self, profile: ProfileChoice) -> ScoreReading:
        """Return how the files are read; raise `UsageError` for conventions that are not those of scores."""
        from judged.comparison.sources import ScoreReading
        from judged.io.scores.format import check_format

        check_format(self.scores_format)
        given = [*(["profile"] if profile.name else []), *profile.changes]
        others = [f"`--{name.replace('_', '-')}`" for name in given if name != "missing"]
        if others:
            msg = f"{', '.join(others)} has no effect with `--scores`: values are not computed again"
            raise click.UsageError(msg)
        missing = str(profile.changes.get("missing", "skip"))
        if missing not in {"skip", "zero"}:
            msg = f"`--missing {missing}` cannot be combined with `--scores`, expected `skip` or `zero`"
            raise click.UsageError(msg)
        return ScoreReading.of(self.higher, self.lower, missing, self.scores_format)  # type: ignore[arg-type]  # checked


def name_score_files(
    arguments: Sequence[str], baselines: Sequence[str] = ()
) -> tuple[dict[str, ScoresLike] | list[ScoresLike], tuple[str, ...]]:
    """Return files by the names given, or as a list if none has a name, and the baselines by name or path.

    Other files are called as their files are. Baselines that are files not among them are added.
    """
    from judged.comparison.sources import expand_path
    from judged.io.open import name_files

    listed = [
        (name, file)
        for name, path in map(split_name, arguments)
        for file in (expand_path(path) if name is None else [path])
    ]
    names = [name for name, _ in listed if name is not None]
    others = find_unlisted_baselines(baselines, [path for _, path in listed], names)
    given = [*listed, *map(split_name, others)]
    wanted = tuple(name or path for name, path in map(split_name, baselines))
    if not any(name for name, _ in given):
        return [path for _, path in given], wanted
    files = dict(zip((path for _, path in given), name_files([path for _, path in given]), strict=True))
    return {name or files[path]: path for name, path in given}, wanted


def require_runs(arguments: Sequence[str]) -> None:
    """Raise the error of a missing argument for judgments without a run."""
    if not arguments:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param_hint="'RUN...'", param_type="argument")
