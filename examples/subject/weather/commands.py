"""`judged weather`: score forecasts against observations."""

from __future__ import annotations

import click

from judged.cli.command import Command, options
from judged.cli.inputs import InputPath, named_runs
from judged.cli.output import OutputOptions, emit


@click.command("weather", cls=Command)
@click.argument("observed", type=InputPath())
@click.argument("forecasts", nargs=-1, required=True, type=InputPath(named=True))
@options("output", OutputOptions, "Output")
def command(observed: str, forecasts: tuple[str, ...], *, output: OutputOptions) -> None:
    """Print the mean absolute error of each of the FORECASTS against what was OBSERVED."""
    from judged.scoring.evaluate import evaluate_many
    from weather.measures import AbsoluteError
    from weather.result import WeatherReport

    found = evaluate_many(observed, {run.name: run.path for run in named_runs(forecasts)}, AbsoluteError)
    errors = {name: evaluation[AbsoluteError] for name, evaluation in found.items()}
    report = WeatherReport(
        dict(sorted(errors.items(), key=lambda item: item[1])), found.provenance, found.notes
    )
    emit(report, output)
