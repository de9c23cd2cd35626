"""Every container and convention of spans gives the same session."""

from __future__ import annotations

import json

import pytest

from judged.agents.tables import Session
from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import read_sessions, stream_sessions
from judged.errors import BadInput
from support.span_builders import (
    agent,
    genai,
    langsmith,
    lines,
    mlflow,
    openinference,
    openllmetry,
    otlp,
    sdk,
)


def nested_runs() -> bytes:
    """LangSmith's tree of runs: children inside their parent, which says nothing of the trace."""
    root, *children = langsmith(agent())
    bare = [
        {name: value for name, value in item.items() if name not in {"trace_id", "parent_run_id"}}
        for item in children
    ]
    return json.dumps(root | {"child_runs": bare}).encode()


def dotted_runs() -> bytes:
    """Runs placed in the trace by `dotted_order` alone."""
    runs = langsmith(agent())
    stamps = [f"20260921T135{at}00000000Z{run['id']}" for at, run in enumerate(runs)]
    for run, stamp in zip(runs, stamps, strict=True):
        del run["trace_id"], run["parent_run_id"]
        run["dotted_order"] = stamp if run is runs[0] else f"{stamps[0]}.{stamp}"
    return lines(runs)


def nested_attributes() -> bytes:
    """Phoenix's page of spans, with attributes as objects within objects."""
    spans = sdk(agent(), openinference)
    for span in spans:
        span["span_kind"] = span["attributes"].pop("openinference.span.kind")
        for name in ("session.id", "tool.name"):
            head, tail = name.split(".")
            if name in span["attributes"]:
                span["attributes"][head] = {tail: span["attributes"].pop(name)}
    return json.dumps({"data": spans, "next_cursor": None}).encode()


def frame() -> bytes:
    """Phoenix's data frame of spans, written as one object a row."""
    return lines(
        [
            {
                "name": span["name"],
                "span_kind": span["attributes"]["openinference.span.kind"],
                "parent_id": span["parent_id"],
                "start_time": span["start_time"],
                "end_time": span["end_time"],
                "status_code": "UNSET",
                **{f"context.{name}": value for name, value in span["context"].items()},
                **{f"attributes.{name}": value for name, value in span["attributes"].items()},
            }
            for span in sdk(agent(), openinference)
        ]
    )


def snake() -> bytes:
    """OTLP as protobuf's own names have it."""
    text = json.dumps(otlp(agent(), encoded=True))
    names = (
        "resourceSpans",
        "scopeSpans",
        "traceId",
        "spanId",
        "parentSpanId",
        "startTimeUnixNano",
        "endTimeUnixNano",
    )
    for name in (*names, "stringValue", "intValue"):
        text = text.replace(
            f'"{name}"', '"' + "".join(f"_{c.lower()}" if c.isupper() else c for c in name) + '"'
        )
    return text.encode()


WAYS = {
    "OTLP, hexadecimal ids": (json.dumps(otlp(agent())).encode(), "otlp"),
    "OTLP, base64 ids": (json.dumps(otlp(agent(), encoded=True), indent=1).encode(), "otlp"),
    "OTLP, protobuf's names": (snake(), "otlp"),
    "OTLP, a request a line": (lines([otlp([item]) for item in agent()]), "otlp"),
    "OTLP with OpenInference": (json.dumps(otlp(agent(), openinference)).encode(), "openinference"),
    "OTLP with OpenLLMetry": (json.dumps(otlp(agent(), openllmetry)).encode(), "openllmetry"),
    "the SDK's JSON, a span a line": (lines(sdk(agent(), genai)), "otlp"),
    "the SDK's JSON on the console": (
        "\n".join(json.dumps(item, indent=4) for item in sdk(agent(), genai)).encode(),
        "otlp",
    ),
    "OpenInference": (lines(sdk(agent(), openinference)), "openinference"),
    "OpenInference, a list": (json.dumps(sdk(agent(), openinference)).encode(), "openinference"),
    "Phoenix, objects within objects": (nested_attributes(), "openinference"),
    "Phoenix, a data frame": (frame(), "openinference"),
    "OpenLLMetry": (lines(sdk(agent(), openllmetry)), "openllmetry"),
    "LangSmith, a run a line": (lines(langsmith(agent())), "langsmith"),
    "LangSmith, a list": (json.dumps(langsmith(agent())).encode(), "langsmith"),
    "LangSmith, a page": (json.dumps({"runs": langsmith(agent())}).encode(), "langsmith"),
    "LangSmith, children inside": (nested_runs(), "langsmith"),
    "LangSmith, dotted order alone": (dotted_runs(), "langsmith"),
    "MLflow 2": (json.dumps(mlflow(agent(), 2)).encode(), "mlflow"),
    "MLflow 3": (json.dumps(mlflow(agent(), 3)).encode(), "mlflow"),
    "MLflow 3, ids as texts": (lines([mlflow(agent(), 4)]), "mlflow"),
    "MLflow, a page": (json.dumps({"traces": [mlflow(agent(), 3)]}).encode(), "mlflow"),
    "MLflow, the artefact of a trace": (json.dumps(mlflow(agent(), 2)["data"]).encode(), "mlflow"),
}
"""Each way of writing, and the format that it is recognised as."""

EVERY = pytest.mark.parametrize("way", WAYS)


def read(way: str) -> Session:
    """The one session of a way of writing."""
    (session,) = stream_sessions(WAYS[way][0])
    return session


@EVERY
def test_searches_of_one_answer_are_one_iteration_in_the_order_the_model_asked_for_them(way: str) -> None:
    """Two parallel searches are one iteration, ordered as the tool calls are although the second began first."""
    asked = [[search.query for search in iteration.searches] for iteration in read(way).iterations]

    assert asked == [["first", "second"], ["third"]]


@EVERY
def test_results_have_their_fields(way: str) -> None:
    """Ids and texts come out of whatever they were wrapped in."""
    found = [
        [(result.id, result.snippet) for result in search.results]
        for it in read(way).iterations
        for search in it.searches
    ]

    assert found == [[("d1", "one"), ("d2", "two")], [("d2", "two")], [("d1", "one")]]


@EVERY
def test_an_iteration_takes_the_tokens_of_its_model_and_the_time_until_its_last_result(way: str) -> None:
    """By hand: 20 + 10 tokens and 3.5 − 1 seconds; 30 + 10 tokens and 6 − 4 seconds."""
    expected = [(30.0, 2.5), (40.0, 2.0)]

    assert [
        (iteration.tokens, pytest.approx(iteration.seconds)) for iteration in read(way).iterations
    ] == expected


@EVERY
def test_the_answer_without_a_search_is_a_step(way: str) -> None:
    """Three calls of the model are three steps, of which two searched."""
    assert read(way).steps == 3


@EVERY
def test_the_conversation_and_the_question_are_known(way: str) -> None:
    """The session's id names the conversation, and the root's input, or else the model's, is the question."""
    session = read(way)
    unnamed = way == "MLflow, the artefact of a trace"  # which has no metadata

    assert session.conversation == ("0" * 30 + "31" if unnamed else "s1")
    assert session.question == "Who wrote it?"


@EVERY
def test_every_way_is_recognised_by_its_content(way: str) -> None:
    """What a file is called by name gives the same as what is found by looking."""
    content, name = WAYS[way]

    assert list(stream_sessions(content)) == list(stream_sessions(content, format=name))


def test_a_trace_with_nothing_of_an_agent_is_no_turn_and_is_counted() -> None:
    """Spans of web requests in the same file make no session, and are noted."""
    request = {
        "name": "GET /health",
        "context": {"trace_id": "0x9", "span_id": "0x8"},
        "attributes": {"http.method": "GET"},
    }
    problems = TraceProblems()
    sessions = list(stream_sessions(lines([*sdk(agent()), request]), problems=problems))

    assert len(sessions) == 1
    assert problems.notes == ["1 traces without model or tool calls were skipped"]


def test_results_that_no_span_holds_are_refused() -> None:
    """Content is recorded only if asked for, so a search without any differs from one that found nothing."""
    acts = [item for item in agent() if item.kind != "tool"]
    silent = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    spans = sdk(acts, genai)
    spans.append({**spans[1], "context": {**spans[1]["context"], "span_id": "0x77"}, "attributes": silent})
    with pytest.raises(BadInput, match="the trace has no output of its 1 search"):
        read_sessions(lines(spans), strict=True)
