"""Responses of a study: the answers that systems wrote, as the subject of answers reads and scores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from judged.answers import AnswerReport, evaluate_answers, read_responses
from judged.answers.reading.truth import read_references
from judged.comparison.api import compare
from judged.store.files import write_file
from judged.studies.outcome.answered import Answered
from judged.studies.running.plan import StudyInputs
from judged.tables.responses import Part, Responses


def collect_responses(answered: Sequence[Answered]) -> Responses | None:
    """Return what systems answered in the first pass, sentence by sentence; None if none writes answers.

    A query that a system failed on has an empty answer, so that it counts.
    """
    parts = [part for system in answered for row in _list_rows(system) for part in _read(row)]
    return Responses.from_rows(parts, name="responses") if parts else None


def _list_rows(system: Answered) -> Iterator[dict[str, object]]:
    """Yield the answer to each query, with the documents that its marks count."""
    if system.planned.spec.generate is None:
        return
    for asked in system.first_pass:
        yield {
            "query": asked.query,
            "system": system.name,
            "answer": asked.response or "",
            "references": list(asked.references),
        }


def _read(row: dict[str, object]) -> tuple[Part, ...]:
    """Return the sentences of an answer; one that looks like data is one sentence."""
    query, system, text = (str(row[name]) for name in ("query", "system", "answer"))
    if text.lstrip()[:1] in {"", "{", "["}:
        return (Part(query=query, system=system, text=text),)
    return read_responses([row]).rows


def score_responses(
    inputs: StudyInputs, answered: Sequence[Answered], responses: Responses | None
) -> AnswerReport | None:
    """Return the scores of answers against the references of the study, compared if there are two systems or more."""
    if responses is None:
        return None
    spec, scored = inputs.spec, set(inputs.scored)
    wanted = spec.answers
    references = None
    if wanted is not None and wanted.references is not None:
        rows = (row._asdict() for row in read_references(wanted.references).rows)
        references = [
            {name: value for name, value in row.items() if value is not None}
            for row in rows
            if row["query"] in scored
        ]
    measures = list(wanted.measures) if wanted is not None and wanted.measures else None
    report = evaluate_answers(responses, references=references or None, measures=measures)
    if len(report.systems) < 2:
        return report
    shown = {system.planned.spec.name: system.name for system in answered}
    baseline = shown.get(spec.baseline or "")
    compared = compare(
        list(report.systems.values()),
        baseline=baseline if baseline in list(report.systems) else None,
        test=spec.test,
        correction=spec.correction,
        level=spec.level,
        seed=spec.seed,
    )
    return replace(report, comparison=compared)


def write_responses(responses: Responses, path: Path) -> None:
    """Write answers, a line for each, as `judged answers` and `judged label` read them."""
    lines = []
    for (query, system, _), parts in responses.answers.items():
        sentences = [{"text": part.text, "citations": list(part.citations)} for part in parts]
        cited = list(dict.fromkeys(document for part in parts for document in part.citations))
        row = {"query": query, "system": system, "references": cited, "answer": sentences}
        lines.append(msgspec.json.encode(row) + b"\n")
    write_file(path, b"".join(lines))
