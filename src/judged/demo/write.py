"""The files of a demonstration: collection, runs, scores, picture, and a page that tells which is which."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from shlex import quote
from typing import Any

import judged
from judged.demo.demonstrate import MEASURES, Demonstration
from judged.demo.picture import bars
from judged.errors import JudgedError
from judged.tables.run import Run

__all__ = ["command", "refuse_foreign", "write"]

MARK = ".judged-demo"
"""A file of this name says that a directory is ours to overwrite."""

README = """\
# A test collection from the documentation of Python

Made by `judged demo`, version {version}: {documents:,} documents, {queries:,} queries, {grades:,} judgments.

A document is what the docstring of a function, class, method or property of the standard library says after
its first paragraph. The first paragraph, which is not in the document, is the query.

- grade 3: the object itself, under each of its names, and any other object with the same summary
- grade 2: a method that overrides it or that it overrides
- grade 1: other members of the same class, and the class
- `target`: the object that a document is a name of; an object exported under two names is one target

| file | what it holds |
|---|---|
| `queries.jsonl`, `documents.jsonl` | the texts, one JSON object a line: `_id`, `text` |
| `judgments.csv` | query, document, grade, target |
| `qrels.txt` | the same in TREC's format, which has no place for targets |
| {runs} | what each system retrieved, in TREC's format |
| `scores.csv`, `scores.json` | the means; the second with the protocol and what was noticed |
| `per-query.csv` | every score of every query |
| `scores.svg` | the means as a picture |

To score the runs again, in this directory:

    {command}
"""


def refuse_foreign(directory: Path) -> None:
    """Raise unless the directory is new, empty, or was written by an earlier demonstration."""
    if directory.exists() and not directory.is_dir():
        msg = f"`{directory}` is a file, expected a directory or nothing"
        raise JudgedError(msg, hint="name another place with `--output`")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MARK).is_file():
        msg = f"`{directory}` has files that `judged demo` did not write"
        raise JudgedError(msg, hint="name another directory with `--output`")


def command(directory: Path, demonstration: Demonstration) -> str:
    """The command that scores the written files again."""
    runs = [directory / f"{run.name}.run" for run in demonstration.runs]
    files = " ".join(quote(str(path)) for path in (directory / "judgments.csv", *runs))
    return f"judged score {files} " + " ".join(f"-m {quote(name)}" for name in MEASURES)


def write(directory: Path, demonstration: Demonstration) -> None:
    """Write all files into the directory, which is made if need be."""
    refuse_foreign(directory)
    directory.mkdir(parents=True, exist_ok=True)
    _text(directory / MARK, [f"judged {judged.__version__}\n"])
    collection = demonstration.collection
    _lines(
        directory / "queries.jsonl", ({"_id": each.name, "text": each.text} for each in collection.queries)
    )
    _lines(
        directory / "documents.jsonl",
        ({"_id": each.name, "text": each.text} for each in collection.documents),
    )
    rows = [(each.query, each.document, each.grade, each.target) for each in collection.grades]
    _table(directory / "judgments.csv", [("query", "document", "grade", "target"), *rows])
    qrels = (f"{query} 0 {document} {grade}\n" for query, document, grade, _ in rows)
    _text(directory / "qrels.txt", qrels)
    for run in demonstration.runs:
        _text(directory / f"{run.name}.run", _trec(run))
    _write_scores(directory, demonstration)
    _text(directory / "README.md", [_readme(demonstration)])


def _write_scores(directory: Path, demonstration: Demonstration) -> None:
    means = {each.system: each.mean() for each in demonstration.evaluations}
    rows = [(run, *values.values()) for run, values in means.items()]
    _table(directory / "scores.csv", [("run", *MEASURES), *rows])
    _table(directory / "per-query.csv", [("run", "query", "measure", "value"), *_per_query(demonstration)])
    first = demonstration.evaluations[0]
    noticed = {each.system: [note.message for note in each.notes] for each in demonstration.evaluations}
    told = {
        "judged": judged.__version__,
        "protocol": first.protocol.to_dict(),
        "means": means,
        "noticed": noticed,
    }
    _text(directory / "scores.json", [json.dumps(told, indent=2), "\n"])
    title = f"Known-item search in Python's documentation: {len(demonstration.collection.queries):,} queries"
    _text(directory / "scores.svg", [bars(means, title=title)])


def _per_query(demonstration: Demonstration) -> Iterable[tuple[Any, ...]]:
    for each in demonstration.evaluations:
        for measure in MEASURES:
            for query, value in each.per_query().by_query(measure).items():
                yield each.system, query, measure, value


def _trec(run: Run) -> Iterable[str]:
    """The lines of a TREC run: query, `Q0`, document, rank, score, name of the system."""
    table = run.to_arrow()
    rank, previous = 0, None
    for query, document, score in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
        rank = rank + 1 if query == previous else 1
        previous = query
        yield f"{query} Q0 {document} {rank} {score:.6f} {run.name}\n"


def _readme(demonstration: Demonstration) -> str:
    collection = demonstration.collection
    return README.format(
        version=judged.__version__,
        documents=len(collection.documents),
        queries=len(collection.queries),
        grades=len(collection.grades),
        runs=", ".join(f"`{run.name}.run`" for run in demonstration.runs),
        command=command(Path(), demonstration),
    )


def _lines(path: Path, objects: Iterable[dict[str, str]]) -> None:
    _text(path, (json.dumps(each, ensure_ascii=False) + "\n" for each in objects))


def _table(path: Path, rows: Iterable[tuple[Any, ...]]) -> None:
    _written(path, lambda file: csv.writer(file, lineterminator="\n").writerows(rows))


def _text(path: Path, pieces: Iterable[str]) -> None:
    _written(path, lambda file: file.writelines(pieces))


def _written(path: Path, fill: Callable[[Any], Any]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        fill(file)
