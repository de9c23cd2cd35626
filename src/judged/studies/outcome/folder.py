"""The folder of a study: everything that others need to read, check or go on with its results."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet

from judged._version import __version__
from judged.blocks import Display
from judged.errors import JudgedError
from judged.report.draw import draw
from judged.result import observe_files
from judged.store.files import write_file
from judged.store.lock import LOCK, lock_folder
from judged.store.machine import list_versions, name_system
from judged.studies.outcome.responses import write_responses
from judged.studies.result import Study
from judged.studies.running.plan import ANSWERS, PACKAGES, StudyInputs
from judged.studies.several import Studies

CONTENTS = {
    "report.html": "everything in one page, for a browser",
    "systems.csv": "a row for each system: every measure, the mean time of every stage, what it took to build",
    "effects.csv": "a row for each value of a grid and measure: mean, difference from the first value, corrected p",
    "differences.csv": "every difference: interval, p, corrected p, effect size, stars",
    "load.csv": "throughput and response times of every load test",
    "passages.csv": "number and length of the passages that systems search",
    "costs.csv": "tokens of every stage that asks a model, and what they cost",
    "rewrites.csv": "what was searched for in place of each query",
    "responses.jsonl": "the answers that systems wrote, with what they cite; for `judged answers` and `judged label`",
    "answers.csv": "every score of every answer",
    "failures.csv": "the queries that systems failed on, with their errors",
    "comparison.md": "means and differences, for a document; `comparison.tex` for a paper",
    "charts": "bars of every measure, accuracy against latency, times by stage, as SVG and PNG",
    "runs": "what each system retrieved, as TREC text and as Parquet",
    "judgments.csv": "the judgments that systems were scored against",
    "queries.csv": "every score of every query",
    "timings.parquet": "every time of every stage: system, query, stage, seconds",
    "study.json": "the result, for `judged.load`, `judged report`, `judged view` and `judged.compare`",
    "study.yaml": "the study; change it and run it again",
    "collection": "documents, queries and judgments, in BEIR's layout",
    "manifest.json": "versions, seed, machine, and the SHA-256 of every file",
    ANSWERS: "what is finished; a study that is run again into this folder resumes from there",
}
"""Possible contents of a folder of results, as its README describes them."""


def prepare_folder(folder: Path) -> None:
    """Make the folder of a study; raise `JudgedError` unless it is new, empty, or that of an earlier study."""
    hint = "name another folder with `-o`"
    if folder.exists() and not folder.is_dir():
        msg = f"`{folder}` is a file, expected a folder or nothing"
        raise JudgedError(msg, hint=hint)
    # a process that was killed before its first answer leaves its lock alone
    contents = {path.name for path in folder.iterdir()} - {LOCK} if folder.is_dir() else set()
    if contents and not (folder / ANSWERS).is_dir():
        msg = f"`{folder}` has files and is not the folder of a study, so its files might be overwritten"
        raise JudgedError(msg, hint=hint)
    try:
        (folder / ANSWERS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"`{folder}` cannot be written to: {error.strerror}"
        raise JudgedError(msg, hint=hint) from error


def write_study(study: Study, inputs: StudyInputs) -> list[Path]:
    """Write everything that follows from a study into its folder; return the files."""
    prepare_folder(inputs.folder)
    with lock_folder(inputs.folder):
        _write_results(study, inputs)
    return _list_files(inputs.folder)


def write_studies(studies: Studies, folder: Path) -> list[Path]:
    """Write the tables of a study on several collections next to the folders of these; return the files."""
    for name in ("means", "differences"):
        pyarrow.csv.write_csv(studies.to_arrow(name), folder / f"{name}.csv")
    for extension, kind in (("md", "markdown"), ("tex", "latex")):
        write_file(folder / f"means.{extension}", studies.render(kind, Display(paper=True)))
    studies.save(folder / "studies.json")
    studies.report(folder / "report.html", title=studies.name)
    return [folder / name for name in ("report.html", "means.csv")]


def _write_results(study: Study, inputs: StudyInputs) -> None:
    folder = inputs.folder
    study.save(folder / "study.json")
    pyarrow.csv.write_csv(study.to_arrow("systems"), folder / "systems.csv")
    if study.effects:
        pyarrow.csv.write_csv(study.to_arrow("effects"), folder / "effects.csv")
    tables = study.tables()
    for name in ("failures", "load", "passages", "costs", "rewrites", "answers"):
        (folder / f"{name}.csv").unlink(missing_ok=True)  # of an earlier run
        if name in tables:
            pyarrow.csv.write_csv(tables[name], folder / f"{name}.csv")
    (folder / "responses.jsonl").unlink(missing_ok=True)
    if study.responses is not None:
        write_responses(study.responses, folder / "responses.jsonl")
    if study.comparison is not None:
        pyarrow.csv.write_csv(study.to_arrow("differences"), folder / "differences.csv")
    if study.scored is not None:
        pyarrow.csv.write_csv(study.to_arrow("queries"), folder / "queries.csv")
        pyarrow.parquet.write_table(study.to_arrow("timings"), folder / "timings.parquet")
    shown = study if study.comparison is not None else study.scored
    if shown is not None:
        for extension, kind in (("md", "markdown"), ("tex", "latex")):
            write_file(folder / f"comparison.{extension}", shown.render(kind, Display(paper=True)))
        list(_draw_charts(study, folder / "charts"))
    study.report(
        folder / "report.html",
        title=study.name,
        titles=[study.collection],
        queries=dict(inputs.collection.queries),
        documents=inputs.collection.find_texts(),
    )
    write_file(folder / "README.md", _describe_folder(study, folder))
    _write_manifest(study, inputs)  # last, because it holds the hashes of all other files


def _list_files(folder: Path) -> list[Path]:
    """Return the files of results; neither answers nor what a process has for itself, whose names begin with a dot."""
    return sorted(
        path
        for path in folder.rglob("[!.]*")
        if path.is_file() and ANSWERS not in path.relative_to(folder).parts
    )


def _describe_folder(study: Study, folder: Path) -> str:
    """Return the page that says what was found, and what each file holds."""
    rows = [
        f"| `{name}{'/' if (folder / name).is_dir() else ''}` | {text} |\n"
        for name, text in CONTENTS.items()
        if (folder / name).exists() or name == "manifest.json"
    ]
    return f"# {study.name}\n\n{study.answer()}\n\n| file | contents |\n|---|---|\n{''.join(rows)}"


def _draw_charts(study: Study, folder: Path) -> Iterator[Path]:
    """Draw every chart as SVG and PNG; without the extra that draws, none."""
    if find_spec("vl_convert") is None:
        return
    folder.mkdir(exist_ok=True)
    for figure in study.charts():
        name = "".join(sign if sign.isalnum() or sign in "-_.@" else "-" for sign in figure.name)
        for extension in (".svg", ".png"):
            path = folder / f"{name}{extension}"
            write_file(path, draw(figure, extension))
            yield path


def _write_manifest(study: Study, inputs: StudyInputs) -> None:
    """Write what the results depend on, and what was written."""
    folder = inputs.folder
    written = (path for path in _list_files(folder) if path.name != "manifest.json")
    # as inputs of results: those of the study were hashed for its provenance already
    observed = observe_files(("written", path) for path in written)
    files = {str(Path(file.path).relative_to(folder)): file.sha256 for file in observed}
    manifest = {
        "judged": __version__,
        "python": platform.python_version(),
        "versions": list_versions(*PACKAGES),
        "machine": name_system(),
        "seed": inputs.spec.seed,
        "collection": {
            "name": study.collection,
            "documents": study.documents,
            "sha256": inputs.collection.digest,
        },
        "systems": {planned.spec.name: planned.key for planned in inputs.plan},
        "settings": dict(study.provenance.settings),
        "files": files,
    }
    write_file(folder / "manifest.json", json.dumps(manifest, indent=2, default=str) + "\n")
