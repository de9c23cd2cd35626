"""The demonstration from end to end: collect, retrieve, score, and write it all into a directory."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np

from judged._optional import need
from judged._version import __version__
from judged.arrays import Floats
from judged.comparison.api import compare
from judged.demo.collection import Collection, Text, build, find_entries
from judged.demo.systems import fuse, need_bm25s, score_by_bm25, score_by_lsa
from judged.engine.evaluate import evaluate
from judged.engine.evaluation import Evaluation
from judged.errors import JudgedError
from judged.figures import Record, draw_bars
from judged.io.write import write_judgments, write_run
from judged.report.draw import draw
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = [
    "MEASURES",
    "Demonstration",
    "demonstrate",
    "need_packages",
    "prepare_directory",
    "write",
    "write_command",
    "write_report",
]

MEASURES = ("nDCG@10", "RR(rel=3)", "Success(rel=3)@1", "R@100", "DR@20")
"""Grades 1 and 2 are neighbours of the answer, so measures of finding it ask for grade 3."""
MARK = ".judged-demo"
"""A file of this name marks a directory that the demonstration may overwrite."""

README = """\
# A test collection from the documentation of Python

Made by `judged demo`, version {version}: {documents:,} documents, {queries:,} queries, {grades:,} judgments.

A document is the docstring of a function, class, method or property of the standard library, without its first
paragraph. The first paragraph is the query.

- grade 3: the object itself, under each of its names, and any other object with the same summary
- grade 2: a method that overrides it or that it overrides
- grade 1: other members of the same class, and the class
- `target`: the object that a document is a name of; an object exported under two names is one target

| file | contents |
|---|---|
| `queries.jsonl`, `documents.jsonl` | the texts, one JSON object a line: `_id`, `text` |
| `judgments.csv` | query, document, grade, target |
| `qrels.txt` | the same in TREC's format, which has no place for targets |
| {runs} | what each system retrieved, in TREC's format |
| `scores.csv`, `scores.json` | the means; the second with protocol and notes |
| `per-query.csv` | every score of every query |
| `scores.svg` | the means as a picture |
| `report.html` | the comparison: leaderboard, every query, ranked lists, curves; open it in a browser |

To score the runs again, in this directory:

    {command}
"""


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A collection, what each system retrieved from it, and how each scored."""

    collection: Collection
    judgments: Judgments
    runs: tuple[Run, ...]
    evaluations: tuple[Evaluation, ...]


def demonstrate(
    *, limit: int | None = None, progress: Callable[[str], None] = lambda _: None
) -> Demonstration:
    """Collect, retrieve and score, announcing each step."""
    need_packages()
    progress("reading the docstrings of the standard library")
    collection = build(find_entries(), limit=limit)
    if not collection.queries:
        msg = "this Python carries no docstrings to build a collection from"
        raise JudgedError(msg, hint="start it without `-OO` and without PYTHONOPTIMIZE=2")
    progress(f"{len(collection.documents):,} documents, {len(collection.queries):,} queries")
    documents = [document.text for document in collection.documents]
    queries = [query.text for query in collection.queries]
    progress("retrieving: bm25 (shared words)")
    bm25 = score_by_bm25(documents, queries)
    progress("retrieving: lsa (vectors of 200 dimensions)")
    lsa = score_by_lsa(documents, queries)
    progress("retrieving: fusion (reciprocal ranks of both)")
    systems = {"bm25": bm25, "lsa": lsa, "fusion": fuse(bm25, lsa)}
    runs = tuple(_make_run(name, scores, collection) for name, scores in systems.items())
    progress(f"scoring {len(runs)} runs")
    columns = zip(*collection.grades, strict=True)
    judgments = Judgments.from_columns(*map(list, columns), name="judgments of the demonstration")
    return Demonstration(
        collection, judgments, runs, tuple(evaluate(judgments, run, MEASURES) for run in runs)
    )


def need_packages() -> None:
    """Raise `MissingExtra` if a package is missing, which is better known before the work than after it."""
    need_bm25s()
    need("vl_convert", extra="demo", needed_by="`judged demo`")


def _make_run(name: str, scores: Floats, collection: Collection) -> Run:
    """Make a run of the documents with a score above 0, best first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    row, column = np.nonzero(ranked > 0)
    return Run.from_columns(
        [collection.queries[number].name for number in row.tolist()],
        [collection.documents[place].name for place in order[row, column].tolist()],
        ranked[row, column],
        name=name,
    )


def prepare_directory(directory: Path) -> None:
    """Make the directory and mark it; raise unless it is new, empty, or was written by an earlier demonstration."""
    if directory.exists() and not directory.is_dir():
        msg = f"`{directory}` is a file, expected a directory or nothing"
        raise JudgedError(msg, hint="name another place with `--output`")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MARK).is_file():
        msg = f"`{directory}` has files that `judged demo` did not write"
        raise JudgedError(msg, hint="name another directory with `--output`")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write_text(directory / MARK, f"judged {__version__}\n")
    except OSError as error:
        msg = f"`{directory}` cannot be written to: {error.strerror}"
        raise JudgedError(msg, hint="name another directory with `--output`") from error


def write_command(directory: Path, demonstration: Demonstration) -> str:
    """Return the command that scores the written files again."""
    runs = [directory / f"{run.name}.run" for run in demonstration.runs]
    files = " ".join(quote(str(path)) for path in (directory / "judgments.csv", *runs))
    return f"judged score {files} " + " ".join(f"-m {quote(name)}" for name in MEASURES)


def write(directory: Path, demonstration: Demonstration) -> None:
    """Write collection, runs, scores, a picture and a page that describes them into the directory."""
    prepare_directory(directory)
    collection, evaluations = demonstration.collection, demonstration.evaluations
    _write_texts(directory / "queries.jsonl", collection.queries)
    _write_texts(directory / "documents.jsonl", collection.documents)
    write_judgments(demonstration.judgments, directory / "judgments.csv", force=True)
    rows = (f"{row.query} 0 {row.document} {row.grade}\n" for row in collection.grades)
    _write_text(directory / "qrels.txt", "".join(rows))
    for run in demonstration.runs:
        write_run(run, directory / f"{run.name}.run", format="trec", force=True)
    means = {evaluation.system: evaluation.mean() for evaluation in evaluations}
    _write_table(
        directory / "scores.csv", ("run", *MEASURES), ((run, *row.values()) for run, row in means.items())
    )
    values = (
        (evaluation.system, query, measure, value)
        for evaluation in evaluations
        for measure in MEASURES
        for query, value in evaluation.per_query().by_query(measure).items()
    )
    _write_table(directory / "per-query.csv", ("run", "query", "measure", "value"), values)
    scores = {
        "judged": __version__,
        "protocol": evaluations[0].protocol.to_dict(),
        "means": means,
        "notes": {
            evaluation.system: [note.message for note in evaluation.notes] for evaluation in evaluations
        },
    }
    _write_text(directory / "scores.json", json.dumps(scores, indent=2) + "\n")
    bars: list[Record] = [
        {"group": measure, "name": run, "value": value}
        for run, row in means.items()
        for measure, value in row.items()
    ]
    title = f"Known-item search in Python's documentation: {len(collection.queries):,} queries"
    (directory / "scores.svg").write_bytes(
        draw(draw_bars(bars, name="scores", title=title, value="mean"), ".svg")
    )
    page = README.format(
        version=__version__,
        documents=len(collection.documents),
        queries=len(collection.queries),
        grades=len(collection.grades),
        runs=", ".join(f"`{run.name}.run`" for run in demonstration.runs),
        command=write_command(Path(), demonstration),
    )
    _write_text(directory / "README.md", page)


def write_report(directory: Path, demonstration: Demonstration) -> Path:
    """Write the comparison of the systems as one HTML file, and return its path."""
    collection = demonstration.collection
    comparison = compare(list(demonstration.evaluations), baseline=demonstration.runs[0].name)
    path = directory / "report.html"
    comparison.report(
        path,
        title="judged demo",
        titles=["Python's documentation"],
        qrels=demonstration.judgments,
        runs={run.name: run for run in demonstration.runs},
        queries={query.name: query.text for query in collection.queries},
        documents={document.name: document.text for document in collection.documents},
    )
    return path


def _write_texts(path: Path, texts: Iterable[Text]) -> None:
    objects = ({"_id": text.name, "text": text.text} for text in texts)
    _write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in objects))


def _write_table(path: Path, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
