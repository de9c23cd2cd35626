"""Writes the cases of the suite from their sources: `python -m conformance.make`.

Every expected value comes from the exact arithmetic in `exact`, none from judged. What trec_eval printed is taken
from `source/recorded.json`, which `record.py` writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance.exact.arithmetic import written
from conformance.exact.protocol import (
    DEFAULT,
    Grade,
    Judgments,
    Refused,
    Results,
    checked,
    depends_on,
    expected,
    judgments_of,
    results_of,
)
from conformance.source.case import Case, M, Theme

SUITE = Path(__file__).parent
FORMAT = 1
THEMES = (
    "ties",
    "expected",
    "missing",
    "grades",
    "lengths",
    "gains",
    "intents",
    "scores",
    "means",
    "ids",
    "layout",
    "refused",
    "worked",
)


def themes() -> list[Theme]:
    """Every theme, in the order of the page."""
    return [import_module(f"conformance.source.{name}").THEME for name in THEMES]


def inputs(case: Case) -> tuple[Judgments, Results]:
    """Judgments and results of a case; where both an object and a text are given they must agree."""
    texts = (
        judgments_of(case.qrels_text) if case.qrels_text is not None else None,
        results_of(case.run_text) if case.run_text is not None else None,
    )
    objects = (
        {query: _grades(case, query, each) for query, each in case.qrels.items()}
        if case.qrels is not None
        else None,
        {query: [(d, float(score)) for d, score in each.items()] for query, each in case.run.items()}
        if case.run is not None
        else None,
    )
    judgments, results = objects[0] or texts[0], objects[1] or texts[1]
    assert judgments is not None
    assert results is not None
    return judgments, checked(results)


def _grades(case: Case, query: str, judged: Mapping[str, Any]) -> dict[str, Grade]:
    """Return the grades of a query's documents; a target is the one intent of its document."""
    table: dict[str, Grade] = {}
    for document, given in judged.items():
        if isinstance(given, dict):
            table[document] = {intent: Fraction(str(grade)) for intent, grade in given.items()}
        elif case.targets is not None:
            target = case.targets.get(query, {}).get(document, f"the document {document} itself")
            table[document] = {target: Fraction(str(given))}
        else:
            table[document] = Fraction(str(given))
    return table


def described(theme: Theme, recorded: dict[str, Any]) -> dict[str, Any]:
    """Return a file of the suite."""
    return {
        "format": FORMAT,
        "theme": theme.name,
        "title": theme.title,
        "about": theme.about,
        "cases": [_case(case, recorded.get(case.id, {})) for case in theme.cases],
    }


def _case(case: Case, recorded: dict[str, Any]) -> dict[str, Any]:
    given = {
        "qrels": case.qrels,
        "targets": case.targets,
        "run": case.run,
        "qrels_text": case.qrels_text,
        "run_text": case.run_text,
    }
    protocol = {**DEFAULT, **case.protocol}
    made: dict[str, Any] = {"id": case.id, "title": case.title, "about": case.about}
    made |= {name: value for name, value in given.items() if value is not None}
    made |= {"protocol": protocol, "outcome": "refused" if case.refused else "values"}
    if case.refused:
        _is_refused(case)
        made["reason"] = case.reason
    made["measures"] = [
        _measure(case, each, protocol, recorded.get(each.judged, [])) for each in case.measures
    ]
    made["provenance"] = {"by": "definition", **({"source": case.source} if case.source else {})}
    return made


def _measure(case: Case, measure: M, protocol: dict[str, Any], recorded: list[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "measure": measure.judged,
        "name": measure.name,
        "parameters": measure.parameters,
        "trec_eval": measure.trec_eval,
    }
    if not case.refused:
        judgments, results = inputs(case)
        values, total = expected(judgments, results, protocol, measure.name, measure.parameters)
        made["queries"] = {query: written(value) for query, value in values.items()}
        made["all"] = written(total)
        made["depends_on"] = depends_on(judgments, results, protocol, measure.name, measure.parameters)
    if measure.judged in case.by_hand:
        made["by_hand"] = case.by_hand[measure.judged]
    if measure.judged in case.published:
        made["published"] = case.published[measure.judged]
    if recorded:
        made["recorded"] = recorded
    return made


def _is_refused(case: Case) -> None:
    """Fail if the case can be read after all."""
    try:
        inputs(case)
    except (Refused, ValueError):
        return
    msg = f"{case.id} says that it is refused and can be read"
    raise AssertionError(msg)


def text_of(theme: Theme, recorded: dict[str, Any]) -> str:
    """Return a file of the suite, as it is written."""
    return json.dumps(described(theme, recorded), indent=1, allow_nan=False) + "\n"


def recorded_values() -> dict[str, Any]:
    """Return what other tools printed, by case and measure."""
    place = SUITE / "source" / "recorded.json"
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return found


if __name__ == "__main__":
    for _theme in themes():
        (SUITE / f"{_theme.name}.json").write_text(text_of(_theme, recorded_values()), encoding="utf-8")
