"""Amazon Bedrock Agents: the trace events of `InvokeAgent`. Read as the reference of its runtime describes them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object, get_str, list_objects
from judged.agents.traces.messages.messages import Messages, join_text

KNOWLEDGE = "knowledge_base_retrieval"
_DEEPEST = 5


def translate(value: Json) -> list[Messages] | None:
    """Return the conversation of each session, in the order of the events."""
    events = list(_find_events(value, {}, 0))
    if not any(get_object(trace, "invocationInput") for _, trace in events):
        return None
    sessions: dict[str, list[JsonObject]] = {}
    for facts, trace in events:
        sessions.setdefault(facts.get("sessionId") or "", []).append(
            {**trace, "eventTime": facts.get("eventTime")}
        )
    return [list(_translate_session(traces)) for traces in sessions.values()]


def _describe(value: Json) -> Json:
    name = next((facts.get("sessionId") for facts, _ in _find_events(value, {}, 0)), None)
    return {"conversation_id": name} if name else {}


def _find_events(value: Json, facts: JsonObject, depth: int) -> Iterator[tuple[JsonObject, JsonObject]]:
    """Yield each step of an orchestration, with the session and the time that stand next to it or above."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _find_events(item, facts, depth)
    elif isinstance(value, dict):
        here = {name: str(value[name]) for name in ("sessionId", "eventTime") if value.get(name)}
        facts = {**facts, **here}
        if isinstance(value.get("inputText"), str):
            yield facts, {"asked": value["inputText"]}
        orchestration = get_object(value, "orchestrationTrace")
        if orchestration:
            yield facts, orchestration
            return
        for name in ("request", "response", "trace", "traces", "completion", "events"):
            yield from _find_events(value.get(name), facts, depth + 1)


def _translate_session(traces: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the messages of a session: calls of one model invocation are one step."""
    asked = ""
    calls: list[tuple[str, JsonObject]] = []
    outputs: list[JsonObject] = []
    tokens: Json = None
    for trace in traces:
        invoked, observed = get_object(trace, "invocationInput"), get_object(trace, "observation")
        question = trace.get("asked") or _find_question(trace)
        if invoked and calls and (outputs or calls[-1][0] != get_str(invoked, "traceId")):
            yield from _flush(calls, outputs, tokens)
        if question and question != asked:
            yield from _flush(calls, outputs, tokens)
            asked = question
            yield {"role": "user", "content": question, "timestamp": trace.get("eventTime")}
        if usage := get_object(get_object(get_object(trace, "modelInvocationOutput"), "metadata"), "usage"):
            counts = (usage.get("inputTokens"), usage.get("outputTokens"))
            tokens = sum(count for count in counts if isinstance(count, int))
        if invoked and (call := _make_call(invoked)):
            calls.append((get_str(invoked, "traceId"), call))
        if "finalResponse" in observed:
            yield from _flush(calls, outputs, tokens)
            yield {"role": "assistant", "content": get_str(observed["finalResponse"], "text")}
        elif (output := _find_output(observed)) is not None:
            outputs.append(make_output(output))
    yield from _flush(calls, outputs, tokens)


def _flush(
    calls: list[tuple[str, JsonObject]], outputs: list[JsonObject], tokens: Json
) -> Iterator[JsonObject]:
    """Yield the open step with its outputs, which answer its calls in their order, and end it."""
    if calls:
        listed = [call for _, call in calls]
        yield {"role": "assistant", "content": "", "tool_calls": listed, "usage": {"total_tokens": tokens}}
        yield from outputs[: len(calls)]
    calls.clear()
    outputs.clear()


def _find_question(trace: JsonObject) -> str:
    """Return the last thing that the user wrote, from the prompt of the model."""
    written = get_str(get_object(trace, "modelInvocationInput"), "text")
    try:
        prompt = msgspec.json.decode(written) if written.startswith("{") else None
    except (msgspec.DecodeError, RecursionError):
        return ""
    said = [
        item
        for item in list_objects(get_object({"p": prompt}, "p").get("messages"))
        if item.get("role") == "user"
    ]
    for message in reversed(said):
        text = join_text(message.get("content")).strip()
        # the console writes blocks as Java prints them
        text = text.removeprefix("[{text=").removesuffix("}]").removesuffix(", type=text")
        if text and "toolUseId" not in text and "tool_result" not in text and "<function_result" not in text:
            return text
    return ""


def _make_call(invoked: JsonObject) -> JsonObject | None:
    lookup, action = (
        get_object(invoked, "knowledgeBaseLookupInput"),
        get_object(invoked, "actionGroupInvocationInput"),
    )
    if lookup:
        return make_call(KNOWLEDGE, {"query": lookup.get("text")})
    if action:
        given = {get_str(item, "name"): item.get("value") for item in list_objects(action.get("parameters"))}
        named = first_text(action, ("function", "apiPath", "actionGroupName"))
        return make_call(named, given)
    collaborator = get_object(invoked, "agentCollaboratorInvocationInput")
    if collaborator:
        return make_call(f"agent {get_str(collaborator, 'agentCollaboratorName')}", {})
    return make_call("code_interpreter", {}) if "codeInterpreterInvocationInput" in invoked else None


def _find_output(observed: JsonObject) -> Json:
    """Return what a call returned; None for other observations."""
    lookup = observed.get("knowledgeBaseLookupOutput")
    if isinstance(lookup, dict):
        return [_read_reference(item) for item in list_objects(lookup.get("retrievedReferences"))]
    for name in (
        "actionGroupInvocationOutput",
        "agentCollaboratorInvocationOutput",
        "codeInterpreterInvocationOutput",
    ):
        if name in observed:
            held = get_object(observed, name)
            return held.get("text", held.get("executionOutput", get_str(held.get("output"), "text")))
    return None


def _read_reference(reference: JsonObject) -> JsonObject:
    """Return a result; its address is that of the place where the document is stored."""
    places = [held for held in get_object(reference, "location").values() if isinstance(held, dict)]
    address = next((first_text(held, ("uri", "url", "id")) for held in places), None)
    identity = first_text(get_object(reference, "metadata"), ("x-amz-bedrock-kb-chunk-id",))
    fields = {"id": identity, "url": address, "snippet": get_str(get_object(reference, "content"), "text")}
    return {name: field for name, field in fields.items() if field}


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and ("trace" in value or "chunk" in value or "orchestrationTrace" in value)


FORMAT = make_format(
    "bedrock-agents", "traces of Amazon Bedrock Agents", translate, is_part=_is_part, describe=_describe
)
