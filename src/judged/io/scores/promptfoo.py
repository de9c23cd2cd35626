"""promptfoo: the JSON of `promptfoo eval -o results.json`, with `results.results[].namedScores`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judged.io.scores.content import Content, Json, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.problem import Place
from judged.tables.scores import ScoreKind


def _list_results(content: Content) -> list[Mapping[str, Json]]:
    results = get(content.document, "results")
    return list_objects(get(results, "results") if isinstance(results, Mapping) else results)


def _recognises(content: Content) -> bool:
    return any("namedScores" in result for result in _list_results(content))


def _read(content: Content) -> Iterator[Record]:
    results = _list_results(content)
    systems = _name_systems(results, content.name)
    seen: Counter[tuple[str, str]] = Counter()
    for number, result in enumerate(results):
        question, system = to_question(get(result, "vars")), systems[number]
        # `--repeat` runs a test again without a number of its own
        seen[system, question or ""] += 1
        named = get(result, "namedScores")
        yield Record(
            Place(content.label, field=f"results.results[{number}]"),
            {**(named if isinstance(named, Mapping) else {}), "score": get(result, "score")},
            text=question,
            system=system,
            attempt=seen[system, question or ""],
            attributes={
                str(name): value
                for name, value in (get(result, "testCase", "metadata") or {}).items()
                if isinstance(value, str | int | float)
            },
        )


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
    "the JSON of `promptfoo eval -o results.json`; each provider is a system, queries are paired by their variables, and repetitions are attempts",
    _recognises,
    _read,
    _kinds,
    "higher: a score says how far an assertion passes",
)
