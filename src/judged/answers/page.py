"""Answers: who says most of what should be said, where nuggets are lost, and every answer sentence by sentence."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from judged.answers.losses import SHARES
from judged.blocks import format_value
from judged.comparison.sources import add_intervals
from judged.io.texts import read_documents
from judged.measures.cards import read_full_name
from judged.problem import group_notes
from judged.report.packing import Json, to_plain
from judged.report.pages import Page, PageData

if TYPE_CHECKING:
    from judged.answers.result import Answer, AnswerReport, Details
    from judged.measures.measure import Measure
    from judged.report.entry import Entry

LONGEST = 4000
"""Longer texts are cut, and say so."""


def make_data(entry: Entry) -> PageData:
    """Return means, shares and differences; answers, nuggets and passages as blocks."""
    report = cast("AnswerReport", find_report(entry))
    systems, details = report.systems, report.details
    measures = [measure for measure in systems.measures if not measure.text]
    level = 0.95 if report.comparison is None else report.comparison.settings.level
    intervals = add_intervals(systems, level=level)[0].intervals
    main = next(
        (measure.label for measure in measures if measure.higher_is_better is not None), measures[0].label
    )
    queries = list(
        dict.fromkeys(
            [*(answer.query for answer in details.answers), *(row.query for row in details.nuggets)]
        )
    )
    head = {
        "own": {} if report is entry.result else _describe_part(report),
        "systems": list(systems),
        "main": main,
        "level": level,
        "measures": [
            {
                "name": measure.label,
                "words": describe_measure(measure),
                "better": 0 if measure.higher_is_better is None else 1 if measure.higher_is_better else -1,
                "unit": measure.unit,
                "share": measure.limits == (0.0, 1.0),
            }
            for measure in measures
        ],
        "means": {measure.label: [system[measure] for system in systems.values()] for measure in measures},
        "intervals": {
            measure.label: [_within(measure, intervals[name].get(str(measure))) for name in systems]
            for measure in measures
        },
        "upper": [
            {"system": name, "measure": measure.label, "value": upper[str(measure)]}
            for name, upper in report.upper.items()
            for measure in measures
            if upper[str(measure)] != systems[name][measure]
        ],
        "shares": _pack_losses(report),
        "words": dict(SHARES),
        "human": {
            "agreement": [] if report.human is None else [asdict(row) for row in report.human.agreement],
            "means": [] if report.human is None else list(report.human.rows()),
        },
        "contrasts": [] if report.comparison is None else report.comparison.list_rows("differences"),
        "queries": [{"id": query, "text": entry.queries.get(query, "")} for query in queries],
        "kept": len(queries),
        "total": details.queries,
    }
    blocks: dict[str, Json] = {
        "points": _pack_points(report, main),
        "answers": _pack_answers(details, labelled=_has_support(details)),
        "nuggets": _pack_nuggets(details),
        "passages": {name: _cut(text) for name, text in _find_passages(entry, details).items()},
    }
    return PageData(to_plain(head), to_plain(blocks))


def find_report(entry: Entry) -> AnswerReport | None:
    """Return the scored answers: the result itself, or its part `answers`, as of a study whose systems write some."""
    held = (entry.result, getattr(entry.result, "answers", None))
    found = next((report for report in held if getattr(report, "kind", "") == "answers"), None)
    return cast("AnswerReport | None", found)


def describe_measure(measure: Measure) -> str:
    """Return a measure in words, for sentences: "nugget recall (vital, strict)"."""
    set_here = [
        name
        if value is True
        else f"{name.replace('_', ' ')} {value}"
        if isinstance(value, int | float)
        else str(value)
        for name, value in measure.set_parameters
        if value is not False
    ]
    name = read_full_name(measure)
    words = name[:1].lower() + name[1:]
    return f"{words} ({', '.join(set_here)})" if set_here else words


def _within(measure: Measure, ends: tuple[float, float] | None) -> Json:
    """Return the ends of an interval within the limits of the measure."""
    low, high = measure.limits
    return [None, None] if ends is None else [max(ends[0], low), min(ends[1], high)]


def _pack_losses(report: AnswerReport) -> Json:
    if report.losses is None:
        return []
    return [
        {
            "system": row.system,
            "use": row.use,
            "recall": row.recall,
            **{
                name: [getattr(row, name).mean, getattr(row, name).low, getattr(row, name).high]
                for name in SHARES
            },
        }
        for row in report.losses.systems
    ]


def _pack_points(report: AnswerReport, main: str) -> Json:
    """Return for each system the words and the main value of every query; none without words."""
    systems = report.systems
    if "Words" not in [measure.label for measure in systems.measures]:
        return []
    return [
        {"system": name, "query": query, "words": words, "value": value}
        for name, system in systems.items()
        for query, words, value in zip(
            system.scores.queries.to_pylist(),
            system.scores["Words"].tolist(),
            system.scores[system.find_measure(main)].tolist(),
            strict=True,
        )
        if value == value  # noqa: PLR0124 - not NaN
    ]


def _describe_part(report: AnswerReport) -> Json:
    """Return what the page says of answers that are part of another result: their own protocol and warnings."""
    return {
        "protocols": [
            {"text": record.text, "measures": list(record.labels)} for record in report.provenance.protocols
        ],
        "warnings": [
            format_value(text) for severity, text in group_notes(report.notes) if severity == "warning"
        ],
    }


def _has_support(details: Details) -> bool:
    """Return whether any citation has a label; without, nothing is known of support."""
    return any(
        citation.label is not None
        for answer in details.answers
        for sentence in answer.sentences
        for citation in sentence.citations
    )


def _pack_answers(details: Details, *, labelled: bool) -> Json:
    found: dict[str, list[Json]] = {}
    for answer in details.answers:
        found.setdefault(answer.query, []).append(_pack_answer(answer, labelled=labelled))
    return found


def _pack_answer(answer: Answer, *, labelled: bool) -> Json:
    supported = sum(sentence.support == "full" for sentence in answer.sentences)
    return {
        "system": answer.system,
        "attempt": answer.attempt,
        "supported": supported if labelled else None,
        "sentences": [
            {
                "text": _cut(sentence.text),
                "support": sentence.support,
                "citations": [[citation.document, citation.label] for citation in sentence.citations],
            }
            for sentence in answer.sentences
        ],
    }


def _pack_nuggets(details: Details) -> Json:
    found: dict[str, list[Json]] = {}
    for row in details.nuggets:
        packed = {"text": _cut(row.nugget), "importance": row.importance, "labels": dict(row.labels)}
        found.setdefault(row.query, []).append(packed)
    return found


def _find_passages(entry: Entry, details: Details) -> dict[str, str]:
    """Return the texts of the documents cited: those of the labels, else those given to the report."""
    cited = {
        citation.document
        for answer in details.answers
        for sentence in answer.sentences
        for citation in sentence.citations
    }
    texts = {name: text for name, text in details.passages.items() if name in cited and text}
    if entry.documents is not None:
        known = read_documents(entry.documents, cited - texts.keys(), lenient=True)
        texts = {**{name: document.text or document.title for name, document in known.items()}, **texts}
    return texts


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"


PAGE = Page(
    "answers",
    "Answers",
    make_data,
    applies=lambda entry: find_report(entry) is not None,
    script="judged.answers:page.js",
)
