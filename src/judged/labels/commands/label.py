"""`judged label`: grades by a language model for the results of runs or agents, or the labels of another task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judged.cli.command import Command
from judged.labels.commands.job import JobOptions, job_options, run_job
from judged.labels.commands.pool_options import PoolOptions, pool_options
from judged.plugins import resolve

if TYPE_CHECKING:
    from judged.agents.commands.trace_options import TraceOptions

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
      --task umbrela --endpoint https://api.openai.com/v1 --model gpt-5-mini -o qrels.new.txt
"""


class TaskCommand(Command):
    """A command that hands over to that of the task which `--task` names, if the task has one."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """Return the context of this command, of a subcommand, or of the command of a task."""
        from judged.labels.task import TASKS

        name = _find_task(args)
        home = TASKS[name].command if name and name in TASKS else ""
        if not home:
            return super().make_context(info_name, args, parent, **extra)
        # else `--task --help` has that value
        rest = ["--help"] if "--help" in args else args
        command = cast("click.Command", resolve(home))
        return command.make_context(f"{info_name} --task {name}", rest, parent, **extra)


def _find_task(args: list[str]) -> str:
    """Return the value of `--task`; empty if it is not given."""
    for word, following in zip(args, [*args[1:], ""], strict=True):
        option, _, value = word.partition("=")
        if option == "--task":
            return value or following
    return ""


@click.command("label", cls=TaskCommand, epilog=EXAMPLES, subcommands=SUBCOMMANDS)
@pool_options()
@job_options()
def command(sources: tuple[Path, ...], *, pool: PoolOptions, reading: TraceOptions, job: JobOptions) -> None:
    """Grade every distinct result of the TRACEs or RUNs with a language model: from 0 to 4, or on the scale of a prompt.

    A run contains only ids, so it needs --queries and --documents; traces of agents mostly contain all texts. The API key
    is read from the environment only. Every answer is stored as it arrives: after an interruption, the same command
    asks only what is missing. An answer that states no grade is counted as a failure, never as a 0. If a result is
    left without a label, or the budget is reached, the exit code is 4. For labels without a language model see
    `judged label --similarity --help`, for a sheet that people grade `judged label --sample --help`.
    """
    job.check()
    run_job(pool.build(sources, reading), job)
