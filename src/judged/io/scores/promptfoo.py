"""promptfoo: the JSON of `promptfoo eval -o results.json`, with `results.results[].namedScores`, or these as JSONL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judged.errors import BadInput
from judged.io.scores.content import Content, Json, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.problem import Place, Problem
from judged.tables.scores import ScoreKind

BROKEN = 2
"""Why a test failed: not an assertion (1), but an error, which says nothing about the answer."""


def _list_results(content: Content) -> list[Mapping[str, Json]]:
    if content.has("promptIdx", "testIdx", "namedScores"):  # JSONL, a result a line
        return list(content.rows)
    results = get(content.document, "results")
    return list_objects(get(results, "results") if isinstance(results, Mapping) else results)


def _recognises(content: Content) -> bool:
    return _is_csv(content) or any("namedScores" in result for result in _list_results(content))


def _is_csv(content: Content) -> bool:
    return content.has("Status", "Score", "Named Scores")


def _read(content: Content) -> Iterator[Record]:
    if _is_csv(content):
        message = "is a table of promptfoo, which does not say what is a variable and what an output"
        problem = Problem.error("lossy-format", content.label, message)
        raise BadInput(content.label, [problem], hint="write JSON: `promptfoo eval -o results.json`")
    results = _list_results(content)
    failed = 0
    scores = (get(result, "namedScores") for result in results)
    names = list(
        dict.fromkeys([*(name for own in scores if isinstance(own, Mapping) for name in own), "score"])
    )
    systems = _name_systems(results, content.name)
    seen: Counter[tuple[str, str]] = Counter()
    for number, result in enumerate(results):
        question, system = to_question(get(result, "vars")), systems[number]
        # `--repeat` runs a test again without a number of its own
        seen[system, question or ""] += 1
        own = named if isinstance(named := get(result, "namedScores"), Mapping) else {}
        metadata = known if isinstance(known := get(result, "testCase", "metadata"), Mapping) else {}
        broken = get(result, "failureReason") == BROKEN
        failed += broken
        yield Record(
            Place(content.label, field=f"results.results[{number}]")
            if content.document
            else content.place(number),
            dict.fromkeys(names) if broken else {**own, "score": get(result, "score")},
            text=question,
            system=system,
            attempt=seen[system, question or ""],
            attributes={
                str(name): value for name, value in metadata.items() if isinstance(value, str | int | float)
            },
        )
    content.note_failures(failed, "test")


def _name_systems(results: Sequence[Mapping[str, Json]], name: str) -> list[str]:
    """Return the system of each result: its provider, and its prompt where there are several."""
    providers = [
        str(get(result, "provider", "label") or get(result, "provider", "id") or name) for result in results
    ]
    prompts = [str(get(result, "prompt", "label") or get(result, "promptIdx") or "") for result in results]
    several = len(set(prompts)) > 1 and len({get(result, "promptIdx") for result in results}) > 1
    if len(set(providers)) == 1 and not several:
        return [name] * len(results)
    return [
        f"{provider}, prompt {get(result, 'promptIdx')}"
        if several and _varies(results, provider)
        else provider
        for provider, result in zip(providers, results, strict=True)
    ]


def _varies(results: Sequence[Mapping[str, Json]], provider: str) -> bool:
    """Return whether a provider was given several prompts."""
    prompts = {
        str(get(result, "prompt", "raw", "label") or get(result, "prompt", "label"))
        for result in results
        if provider in {get(result, "provider", "label"), get(result, "provider", "id")}
    }
    return len(prompts) > 1


def _kinds(_content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:
    # a score of promptfoo says how far an assertion passes
    return know_directions(list_measures(records))


FORMAT = ScoreFormat(
    "promptfoo",
    "results of promptfoo",
    "the JSON or JSONL of `promptfoo eval -o results.json`; each provider is a system, queries are paired by their variables, and repetitions are attempts",
    _recognises,
    _read,
    _kinds,
    "higher: a score says how far an assertion passes",
)
