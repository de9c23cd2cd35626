"""`judged questions`: the beginning of a test set, written and checked by language models from documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Command, option, options
from judged.cli.options import INPUT_FILE, INPUTS
from judged.cli.output import OUTPUT, force_option, print_line, print_notes, quiet_option
from judged.cli.progress import Progress
from judged.errors import JudgedError
from judged.labels.commands.job import INCOMPLETE, CostOptions, ModelOptions, RequestOptions

if TYPE_CHECKING:
    from judged.labels.panel import Judge
    from judged.labels.questions.write import QuestionOptions

EXAMPLES = """\b
Examples:
  judged questions corpus.jsonl -n 200 --model gpt-5 --price-in 1.25 --price-out 10 --dry-run
  judged questions corpus.jsonl -n 200 --examples asked.txt --model gpt-5 --model qwen3 -o questions
  judged label bm25.run dense.run --queries questions/queries.jsonl --documents corpus.jsonl \\
      --judged questions/judgments.jsonl --model gpt-5 -o questions/labels.jsonl
"""


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """Options for the number and kinds of questions."""

    count: int = option("-n --number N", "Number of questions.", type=COUNT, default=200)
    multi_hop: float = option(
        "--multi-hop SHARE",
        "Share of questions that take two documents to answer.",
        type=click.FloatRange(0, 1),
        default=0.25,
    )
    examples: Path | None = option(
        "--examples FILE",
        "Questions whose language, length and style to write: a question per line, or a file of queries.",
        type=INPUT_FILE,
    )
    draw: int = option("--draw N", "Random seed of the documents that are asked about.", type=int, default=0)

    def to_options(self) -> QuestionOptions:
        """Return the options with the texts of the examples."""
        from judged.labels.questions.write import QuestionOptions

        return QuestionOptions(
            count=self.count, multi_hop=self.multi_hop, examples=self._read_examples(), seed=self.draw
        )

    def _read_examples(self) -> tuple[str, ...]:
        from judged.io.texts import read_queries

        if self.examples is None:
            return ()
        if self.examples.suffix != ".txt":
            return tuple(read_queries(self.examples).values())
        lines = self.examples.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        return tuple(line.strip() for line in lines if line.strip())


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """Options for the folder of questions and answers."""

    output: Path | None = option(
        "-o --output FOLDER",
        "Folder for queries, judgments, rejected drafts and the answers of models.",
        type=click.Path(file_okay=False, path_type=Path),
    )
    force: bool = force_option()
    quiet: bool = quiet_option()

    @property
    def cache(self) -> Path | None:
        """The file of answers."""
        return None if self.output is None else self.output / "answers.sqlite"

    def check(self) -> None:
        """Refuse to write over questions whose answers are not there."""
        if self.output is None or self.cache is None:
            raise click.UsageError("no folder is given for the questions: `-o FOLDER`, or `--dry-run`")
        if (self.output / "queries.jsonl").exists() and not self.cache.exists() and not self.force:
            msg = f"{self.output} has queries already, which are not from an earlier job: {self.cache} does not exist"
            raise JudgedError(msg, hint="`--force` overwrites them")


@click.command("questions", cls=Command, epilog=EXAMPLES)
@click.argument("documents", type=click.Path(exists=True))
@options("questions", SetOptions, INPUTS)
@options("model", ModelOptions, "Model", without=("task", "prompt", "combine", "logprobs"))
@options("requests", RequestOptions, "Requests", without=("batch_api", "poll", "no_wait"))
@options("cost", CostOptions, "Cost")
@options("files", FolderOptions, OUTPUT)
def command(
    *,
    documents: str,
    questions: SetOptions,
    model: ModelOptions,
    requests: RequestOptions,
    cost: CostOptions,
    files: FolderOptions,
) -> None:
    """Write questions that DOCUMENTS answer, with a language model, as the beginning of a test set.

    DOCUMENTS are drawn at random. A draft is kept if it does not mention or copy its source, was not asked before, is
    understood without its source and answered by it; a question of two documents must not be answered by one alone. The
    first --model writes; the others check by vote, or else the same. The sources are the first judgments: pool runs
    of several systems and label them before you compare systems. The same command goes on where an earlier one ended. With fewer
    questions than asked for, the exit code is 4.
    """
    from judged.io.texts import find_texts
    from judged.labels.panel import Judge
    from judged.labels.questions.write import estimate_questions, write_questions

    if not cost.dry_run:
        files.check()
    source, chosen = find_texts(documents, "corpus"), questions.to_options()
    labellers = model.to_labellers()
    estimate = estimate_questions(source, labellers, chosen, cost.prices)
    if cost.dry_run or not files.quiet:
        for sentence in estimate:
            click.echo(f"{sentence[0].upper()}{sentence[1:]}", err=not cost.dry_run)
    if cost.dry_run:
        return
    endpoints = requests.to_endpoints(model, len(labellers))
    judges: list[Judge] = [Judge(*pair) for pair in zip(labellers, endpoints, strict=True)]
    with Progress("Asking", enabled=not files.quiet, delay=0.0, lines=True) as progress:
        result = write_questions(
            source,
            judges,
            chosen,
            cache=files.cache,
            prices=cost.prices,
            budget=cost.budget,
            progress=progress,
        )
    assert files.output is not None  # noqa: S101 - `check` refuses a job without output
    paths = result.write(files.output)
    if not files.quiet:
        for sentence in result.sentences():
            print_line(f"{sentence[0].upper()}{sentence[1:]}")
        print_notes(result.notes, paths)
    if not result.complete:
        raise click.exceptions.Exit(INCOMPLETE)
