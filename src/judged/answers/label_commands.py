"""`judged label --task nuggets|assign|support|claims|entail`: labels of answers by a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from judged.cli.command import COUNT, Command, flag, option, options
from judged.cli.inputs import InputPath, split_name
from judged.cli.options import INPUTS, queries_option, read_query_texts
from judged.cli.output import documents_option
from judged.labels.commands.job import JobOptions, job_options, run_job

if TYPE_CHECKING:
    from judged.tables.responses import Responses

_FILES = InputPath(named=True)
EXAMPLES = """\b
Examples:
  judged label --task nuggets qrels.txt --queries queries.tsv --documents corpus.jsonl --model M -o nuggets.jsonl
  judged label --task assign answers.jsonl --nuggets nuggets.jsonl --queries queries.tsv --model M -o assigned.jsonl
  judged label --task support answers.jsonl --documents corpus.jsonl --model M -o support.jsonl
  judged label --task claims answers.jsonl --references truth.csv --model M -o claims.jsonl
  judged label --task entail answers.jsonl --claims claims.jsonl --references truth.csv --run bm25.run --depth 5 \\
      --documents corpus.jsonl --model M -o entailed.jsonl
"""


@dataclass(frozen=True, kw_only=True)
class NuggetOptions:
    """Inputs of nuggets."""

    queries: str | None = queries_option(section=INPUTS)
    documents: str | None = documents_option()
    grade: float = option(
        "--grade G", "Lowest grade of a document that nuggets are written from.", type=float, default=2.0
    )
    from_answers: bool = flag(
        "--from-answers", "Write nuggets from answers, although the longest then writes its own test."
    )


@dataclass(frozen=True, kw_only=True)
class AssignOptions:
    """Inputs of assignments."""

    nuggets: str = option(
        "--nuggets FILE", "Nuggets of every query.", section=INPUTS, type=InputPath(), required=True
    )
    queries: str | None = queries_option()


@dataclass(frozen=True, kw_only=True)
class SupportOptions:
    """Inputs of the support of citations."""

    documents: str | None = documents_option(section=INPUTS)


@dataclass(frozen=True, kw_only=True)
class ClaimOptions:
    """Inputs of claims."""

    references: str | None = option(
        "--references FILE",
        "True answers, whose claims are written down too.",
        section=INPUTS,
        type=InputPath(),
    )
    queries: str | None = queries_option()


@dataclass(frozen=True, kw_only=True)
class EntailOptions:
    """Inputs of entailments."""

    claims: str = option(
        "--claims FILE",
        "Claims, as `--task claims` writes them.",
        section=INPUTS,
        type=InputPath(),
        required=True,
    )
    references: str | None = option(
        "--references FILE", "True answers, which claims of answers are checked against.", type=InputPath()
    )
    run: str | None = option(
        "--run RUN", "Retrieved passages that claims are checked against.", type=InputPath()
    )
    depth: int = option("--depth K", "Passages of each query.", type=COUNT, default=5, needs="--run RUN")
    documents: str | None = documents_option(needs="--run RUN")


@click.command("label --task nuggets", cls=Command, epilog=EXAMPLES)
@click.argument("judgments", type=InputPath())
@options("inputs", NuggetOptions)
@job_options(task={"default": "nuggets"})
def nuggets(judgments: str, *, inputs: NuggetOptions, job: JobOptions) -> None:
    """Write down what answers should state, from the documents that JUDGMENTS grade 2 or more, and never from answers."""
    from judged.answers.tasks import pool_nuggets

    job.check("nuggets")
    pool = pool_nuggets(
        judgments,
        queries=read_query_texts(inputs.queries),
        documents=_read_documents(inputs.documents),
        grade=inputs.grade,
        from_answers=inputs.from_answers,
    )
    run_job(pool, job)


@click.command("label --task assign", cls=Command, epilog=EXAMPLES)
@click.argument("responses", metavar="RESPONSES...", nargs=-1, required=True, type=_FILES)
@options("inputs", AssignOptions)
@job_options(task={"default": "assign"})
def assign(responses: tuple[str, ...], *, inputs: AssignOptions, job: JobOptions) -> None:
    """Say which nuggets each of the answers in RESPONSES states, ten in a question."""
    from judged.answers.tasks import pool_assignments

    job.check("assignments")
    queries = read_query_texts(inputs.queries)
    run_job(pool_assignments(_read(responses), inputs.nuggets, queries=queries, models=job.model.model), job)


@click.command("label --task support", cls=Command, epilog=EXAMPLES)
@click.argument("responses", metavar="RESPONSES...", nargs=-1, required=True, type=_FILES)
@options("inputs", SupportOptions)
@job_options(task={"default": "support"})
def support(responses: tuple[str, ...], *, inputs: SupportOptions, job: JobOptions) -> None:
    """Say for each sentence of the answers in RESPONSES whether the passages that it cites support it."""
    from judged.answers.tasks import pool_support

    job.check("support")
    documents = _read_documents(inputs.documents)
    run_job(pool_support(_read(responses), documents=documents, models=job.model.model), job)


@click.command("label --task claims", cls=Command, epilog=EXAMPLES)
@click.argument("responses", metavar="RESPONSES...", nargs=-1, required=True, type=_FILES)
@options("inputs", ClaimOptions)
@job_options(task={"default": "claims"})
def claims(responses: tuple[str, ...], *, inputs: ClaimOptions, job: JobOptions) -> None:
    """Write down the claims of the answers in RESPONSES, and of the true answers, one by one, all by the same prompt."""
    from judged.answers.tasks import pool_claims

    job.check("claims")
    pool = pool_claims(
        _read(responses),
        references=_read_references(inputs.references) if inputs.references else None,
        queries=read_query_texts(inputs.queries),
        models=job.model.model,
    )
    run_job(pool, job)


@click.command("label --task entail", cls=Command, epilog=EXAMPLES)
@click.argument("responses", metavar="RESPONSES...", nargs=-1, required=True, type=_FILES)
@options("inputs", EntailOptions)
@job_options(task={"default": "entail"})
def entail(responses: tuple[str, ...], *, inputs: EntailOptions, job: JobOptions) -> None:
    """Check claims of the answers in RESPONSES, and true claims, against the true answers, the answers and passages."""
    from judged.answers.tasks import pool_entailments

    job.check("claims")
    pool = pool_entailments(
        _read(responses),
        inputs.claims,
        references=_read_references(inputs.references) if inputs.references else {},
        passages=_read_passages(inputs),
        models=job.model.model,
    )
    run_job(pool, job)


def _read(responses: tuple[str, ...]) -> Responses:
    from judged.answers.reading.responses import read_responses

    return read_responses([split_name(path) for path in responses])


def _read_documents(path: str | None) -> dict[str, str]:
    """Return the text of every document, with its title before it."""
    if path is None:
        return {}
    from judged.io.texts import find_texts, read_documents

    documents = read_documents(find_texts(path, "corpus"))
    return {name: "\n".join(filter(None, (known.title, known.text))) for name, known in documents.items()}


def _read_references(path: str) -> dict[str, str]:
    """Return the true answer of each query: its answers, of each the first spelling."""
    from judged.answers.reading.truth import read_references

    answers: dict[str, dict[str, str]] = {}
    for row in read_references(path).rows:
        if row.answer:
            answers.setdefault(row.query, {}).setdefault(row.group, row.answer)
    return {query: "\n".join(known.values()) for query, known in answers.items()}


def _read_passages(inputs: EntailOptions) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of the first retrieved documents of each query by id."""
    if inputs.run is None:
        return {}
    from judged.answers.tasks import list_passages
    from judged.io.read import read_run

    return list_passages(read_run(inputs.run), _read_documents(inputs.documents), inputs.depth)
