"""One description of what an agent did, written down in the ways of OpenTelemetry, LangSmith and MLflow.

Names of attributes and fields are those of the public documentation: the OTLP specification (JSON encoding) and
`ReadableSpan.to_json` for containers; semantic-conventions-genai, the OpenInference semantic conventions and
OpenLLMetry's semconv-ai for attributes; LangSmith's run data format; MLflow's trace data structure.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from judged.agents.tables import Session
from judged.agents.traces.read import stream_sessions

EPOCH = 1_790_000_000
"""The second at which every trace here begins."""

Documents = Sequence[dict[str, Any]]

ONE, TWO, THREE = ({"id": f"d{number}", "text": "words"} for number in (1, 2, 3))
"""Three results."""


@dataclass(frozen=True)
class Act:
    """One thing that an agent did; times are seconds after the trace began."""

    id: str
    kind: str
    start: float
    end: float
    parent: str | None = None
    name: str = ""
    query: str | None = None
    documents: Documents | str | None = None
    call: str | None = None
    calls: tuple[str, ...] = ()
    tokens: tuple[int, int] | None = None
    question: str | None = None
    session: str | None = None
    trace: str = "1"
    failed: bool = False
    further: dict[str, Any] = field(default_factory=dict)
    """Attributes beside those that the others become."""


def agent(question: str = "Who wrote it?", *, session: str | None = "s1", trace: str = "1") -> list[Act]:
    """An agent that searches twice at once, the second call first, then once more, and answers."""
    one, two = {"id": "d1", "text": "one"}, {"id": "d2", "text": "two"}
    root = {"parent": "a0", "trace": trace}
    return [
        Act("a0", "agent", 0, 9, name="agent", question=question, session=session, trace=trace),
        Act("a1", "llm", 1, 2, calls=("c1", "c2"), tokens=(20, 10), question=question, **root),
        Act("a3", "tool", 2.5, 3, name="search", query="second", call="c2", documents=[two], **root),
        Act("a2", "tool", 2.6, 3.5, name="search", query="first", call="c1", documents=[one, two], **root),
        Act("a4", "llm", 4, 5, calls=("c3",), tokens=(30, 10), question=question, **root),
        Act("a5", "tool", 5.5, 6, name="search", query="third", call="c3", documents=[one], **root),
        Act("a6", "llm", 7, 8, tokens=(40, 10), question=question, **root),
    ]


ROOT = Act("a0", "agent", 0, 99, name="agent", question="Why?")
"""What the searches and models below lie beneath."""


def read(acts: Sequence[Act], **options: Any) -> list[Session]:
    """The sessions of what agents did, written as OpenInference spans."""
    return list(stream_sessions(lines(sdk(acts)), **options))


def queries(session: Session) -> list[list[str | None]]:
    """The queries of each iteration."""
    return [[search.query for search in iteration.searches] for iteration in session.iterations]


def ids(session: Session) -> list[str | None]:
    """The ids of all results."""
    return [result.id for result, _ in session.results()]


def search(name: str, start: float, *, parent: str = "a0", **more: Any) -> Act:
    """A call of the tool `search` that takes a second."""
    return Act(
        name,
        "tool",
        start,
        start + 1,
        parent=parent,
        name="search",
        query=name,
        **{"documents": [ONE], **more},
    )


def model(name: str, start: float, *, parent: str = "a0", **more: Any) -> Act:
    """A call of a model that takes a second."""
    return Act(name, "llm", start, start + 1, parent=parent, **more)


def lines(records: Sequence[Any]) -> bytes:
    """One JSON document a line."""
    return b"\n".join(json.dumps(record).encode() for record in records)


def _nanoseconds(seconds: float) -> int:
    return EPOCH * 10**9 + round(seconds * 1000) * 10**6


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(EPOCH + seconds, tz=UTC).isoformat()


def _hex(name: str | None, width: int) -> str | None:
    return None if name is None else name.encode().hex().rjust(width, "0")


# --- conventions of attributes ---


def genai(act: Act) -> dict[str, Any]:
    """OpenTelemetry's conventions for generative AI."""
    operations = {"agent": "invoke_agent", "llm": "chat", "tool": "execute_tool", "retriever": "retrieval"}
    attributes: dict[str, Any] = {"gen_ai.operation.name": operations.get(act.kind)}
    if act.kind == "tool":
        attributes |= {"gen_ai.tool.name": act.name, "gen_ai.tool.call.id": act.call}
        attributes |= {
            "gen_ai.tool.call.arguments": _json({"query": act.query}),
            "gen_ai.tool.call.result": _json(act.documents),
        }
    if act.kind == "retriever":
        attributes |= {
            "gen_ai.retrieval.query.text": act.query,
            "gen_ai.retrieval.documents": _json(act.documents),
        }
    if act.kind == "llm":
        calls = [{"type": "tool_call", "id": call, "name": "search", "arguments": {}} for call in act.calls]
        attributes["gen_ai.output.messages"] = _json([{"role": "assistant", "parts": calls}])
        attributes["gen_ai.input.messages"] = _json(
            [{"role": "user", "parts": [{"type": "text", "content": act.question}]}] if act.question else None
        )
        attributes |= dict(
            zip(("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"), act.tokens or (), strict=False)
        )
    return attributes | {"gen_ai.conversation.id": act.session}


def openinference(act: Act) -> dict[str, Any]:
    """OpenInference, with the documents of retrievers flattened."""
    attributes: dict[str, Any] = {"openinference.span.kind": act.kind.upper(), "session.id": act.session}
    attributes["input.value"] = act.question or act.query
    if act.kind == "llm":
        for at, call in enumerate(act.calls):
            attributes[f"llm.output_messages.0.message.tool_calls.{at}.tool_call.id"] = call
        counts = ("llm.token_count.prompt", "llm.token_count.completion")
        attributes |= dict(zip(counts, act.tokens or (), strict=False))
    if act.kind == "tool":
        message = {"type": "tool", "data": {"content": _json(act.documents), "tool_call_id": act.call}}
        attributes |= {
            "tool.name": act.name,
            "output.value": None if act.documents is None else _json(message),
        }
    if act.kind == "retriever" and not isinstance(act.documents, str):
        for at, document in enumerate(act.documents or ()):
            fields = {"content" if name == "text" else name: value for name, value in document.items()}
            attributes |= {
                f"retrieval.documents.{at}.document.{name}": value for name, value in fields.items()
            }
    return attributes


def openllmetry(act: Act) -> dict[str, Any]:
    """OpenLLMetry, whose models follow OpenTelemetry's conventions and whose tools have conventions of their own."""
    attributes = genai(act) if act.kind == "llm" else {}
    attributes |= {"traceloop.association.properties.session_id": act.session, "gen_ai.conversation.id": None}
    if act.kind == "agent":
        attributes |= {
            "traceloop.span.kind": "workflow",
            "traceloop.entity.input": _json({"inputs": act.question}),
        }
    if act.kind in {"tool", "retriever"}:
        given = {"inputs": {"query": act.query}, "kwargs": {"tool_call_id": act.call}}
        attributes |= {
            "traceloop.span.kind": "tool" if act.kind == "tool" else "task",
            "traceloop.entity.name": act.name,
        }
        attributes |= {
            "gen_ai.operation.name": "execute_tool" if act.kind == "tool" else "vector_db_retrieve"
        }
        attributes |= {"traceloop.entity.input": _json(given)}
        attributes["traceloop.entity.output"] = _json(
            None if act.documents is None else {"documents": act.documents}
        )
    return attributes


def _json(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


# --- containers ---


def sdk(acts: Sequence[Act], convention: Any = openinference) -> list[dict[str, Any]]:
    """Spans as the SDK of OpenTelemetry writes them, one object each."""
    return [
        {
            "name": act.name,
            "context": {"trace_id": f"0x{_hex(act.trace, 32)}", "span_id": f"0x{_hex(act.id, 16)}"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": f"0x{_hex(act.parent, 16)}" if act.parent else None,
            "start_time": _iso(act.start),
            "end_time": _iso(act.end),
            "status": {"status_code": "ERROR" if act.failed else "UNSET"},
            "attributes": _held(convention(act) | act.further),
            "events": [],
        }
        for act in acts
    ]


def otlp(acts: Sequence[Act], convention: Any = genai, *, encoded: bool = False) -> dict[str, Any]:
    """A request of OTLP JSON, a resource for each span; ids are hexadecimal, or in base64 as protobuf writes them."""
    return {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [_otlp(act, convention, encoded=encoded)]}]} for act in acts
        ]
    }


def _otlp(act: Act, convention: Any, *, encoded: bool) -> dict[str, Any]:
    def written(name: str | None, width: int) -> str:
        digits = _hex(name, width) or ""
        return base64.b64encode(bytes.fromhex(digits)).decode() if encoded else digits

    return {
        "traceId": written(act.trace, 32),
        "spanId": written(act.id, 16),
        "parentSpanId": written(act.parent, 16),
        "name": act.name,
        "startTimeUnixNano": str(_nanoseconds(act.start)),
        "endTimeUnixNano": str(_nanoseconds(act.end)),
        "status": {"code": 2} if act.failed else {},
        "attributes": [
            {
                "key": name,
                "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
            }
            for name, value in _held(convention(act) | act.further).items()
        ],
    }


def langsmith(acts: Sequence[Act]) -> list[dict[str, Any]]:
    """LangSmith runs, one object each."""
    kinds = {"agent": "chain"}
    return [
        {
            "id": f"{act.trace}-{act.id}",
            "trace_id": act.trace,
            "parent_run_id": f"{act.trace}-{act.parent}" if act.parent else None,
            "name": act.name,
            "run_type": kinds.get(act.kind, act.kind),
            "start_time": _iso(act.start),
            "end_time": _iso(act.end),
            "error": "it broke" if act.failed else None,
            "extra": {"metadata": {"thread_id": act.session} if act.session else {}},
            **_run(act),
        }
        for act in acts
    ]


def _run(act: Act) -> dict[str, Any]:
    """What goes into and comes out of a run."""
    if act.kind == "llm":
        outputs = {
            "role": "assistant",
            "tool_calls": [{"id": call, "type": "function"} for call in act.calls],
        }
        usage = dict(zip(("input_tokens", "output_tokens"), act.tokens or (), strict=False))
        return {
            "inputs": {"messages": [{"role": "user", "content": act.question}]},
            "outputs": outputs | {"usage_metadata": usage},
        }
    if act.kind == "agent":
        return {"inputs": {"question": act.question}, "outputs": {"output": "An answer."}}
    output = {"content": _json(act.documents), "tool_call_id": act.call, "type": "tool"}
    return {"inputs": {"query": act.query}, "outputs": {"output": output}}


def mlflow(acts: Sequence[Act], version: int = 3) -> dict[str, Any]:
    """One MLflow trace, its spans written as schema version 2, 3 or 4 does."""
    info = {
        "trace_metadata" if version > 2 else "request_metadata": {"mlflow.trace.session": acts[0].session}
    }
    info["trace_id" if version > 2 else "request_id"] = f"tr-{acts[0].trace}"  # type: ignore[assignment]
    return {"info": info, "data": {"spans": [_mlflow(act, version) for act in acts]}}


def _mlflow(act: Act, version: int) -> dict[str, Any]:
    kinds = {"llm": "CHAT_MODEL"}
    outputs: Any = act.documents
    if act.kind == "llm":
        outputs = {"tool_calls": [{"id": call} for call in act.calls]}
    elif act.kind == "tool":
        outputs = {"content": _json(act.documents), "tool_call_id": act.call, "type": "tool"}
    usage = dict(zip(("input_tokens", "output_tokens"), act.tokens or (), strict=False))
    values = {
        "mlflow.spanType": kinds.get(act.kind, act.kind.upper()),
        "mlflow.spanInputs": {"query": act.query} if act.query else {"question": act.question},
        "mlflow.spanOutputs": outputs,
        "mlflow.chat.tokenUsage": usage or None,
    }
    attributes = {name: json.dumps(value) for name, value in _held(values).items()}
    times = (_nanoseconds(act.start), _nanoseconds(act.end))
    if version == 2:
        return {
            "name": act.name,
            "context": {"trace_id": f"0x{_hex(act.trace, 32)}", "span_id": f"0x{_hex(act.id, 16)}"},
            "parent_id": f"0x{_hex(act.parent, 16)}" if act.parent else None,
            **dict(zip(("start_time", "end_time"), times, strict=True)),
            "status_code": "ERROR" if act.failed else "OK",
            "attributes": attributes,
        }
    own, parent = _hex(act.id, 16), _hex(act.parent, 16)
    if version == 3:
        own, parent = (item and base64.b64encode(bytes.fromhex(item)).decode() for item in (own, parent))
    return {
        "trace_id": f"tr-{act.trace}",
        "span_id": own,
        "parent_span_id": parent,
        "name": act.name,
        **dict(zip(("start_time_unix_nano", "end_time_unix_nano"), times, strict=True)),
        "status": {"code": "STATUS_CODE_ERROR" if act.failed else "STATUS_CODE_OK"},
        "attributes": attributes,
    }


def _held(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
