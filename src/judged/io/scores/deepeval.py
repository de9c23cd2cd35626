"""deepeval: the JSON of a test run, with `testCases[].metricsData[]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judged.io.scores.content import Content, Json, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.problem import Place
from judged.tables.scores import ScoreKind

CASES = ("testCases", "test_cases")
DATA = ("metricsData", "metrics_data")


def _recognises(content: Content) -> bool:
    return any(get(case, key) is not None for case in _list_cases(content) for key in DATA)


def _list_cases(content: Content) -> list[Mapping[str, Json]]:
    """Return the test cases, also of the file that keeps the latest run under a key of its own."""
    for run in (content.document, get(content.document, "testRunData")):
        for key in CASES:
            if cases := list_objects(get(run, key)):
                return cases
    return []


def _list_metrics(case: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    return next((found for key in DATA if (found := list_objects(get(case, key)))), [])


def _read(content: Content) -> Iterator[Record]:
    for number, case in enumerate(_list_cases(content)):
        metrics = _list_metrics(case)
        yield Record(
            Place(content.label, field=f"testCases[{number}]"),
            {str(get(metric, "name")): get(metric, "score") for metric in metrics},
            # `name` is made of the place in the list unless the user chose it, so that the question names the query
            query=None,
            text=to_question(get(case, "input")),
            attributes={
                str(name): value
                for name, value in (get(case, "additionalMetadata") or {}).items()
                if isinstance(value, str | int | float)
            },
        )


def _kinds(content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:
    """Return the direction of each metric as its verdicts show it: success from the threshold up, or down."""
    shown: dict[str, set[bool]] = {}
    for case in _list_cases(content):
        for metric in _list_metrics(case):
            score, threshold, success = (get(metric, key) for key in ("score", "threshold", "success"))
            if isinstance(score, int | float) and isinstance(threshold, int | float) and score != threshold:
                shown.setdefault(str(get(metric, "name")), set()).add((score > threshold) == bool(success))
    names = list_measures(records)
    higher = [name for name in names if shown.get(name) == {True}]
    lower = [name for name in names if shown.get(name) == {False}]
    return know_directions(names, lower=lower, higher=higher, bounds=(0.0, 1.0))


FORMAT = ScoreFormat(
    "deepeval",
    "a test run of deepeval",
    "the JSON of a test run (`DEEPEVAL_RESULTS_FOLDER`, `.deepeval/.latest_test_run.json`); queries are paired by `input`",
    _recognises,
    _read,
    _kinds,
    "as the metric's verdicts and thresholds show",
)
