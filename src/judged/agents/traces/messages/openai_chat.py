"""OpenAI chat messages: calls of tools in assistant messages, their outputs in messages of role `tool`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import (
    Json,
    JsonObject,
    first_text,
    get_object,
    get_str,
    list_objects,
)
from judged.agents.traces.messages.messages import (
    Messages,
    Transcript,
    count_tokens,
    find_cost,
    join_text,
    messages_in_head,
    parse_time,
    read_conversations,
)
from judged.agents.traces.messages.requests import is_request_log
from judged.agents.traces.open import Trace
from judged.agents.traces.results.outputs import Unparsed, find_groups, is_result


def recognises(head: Head) -> bool:
    """Recognise messages with roles; formats with calls in the text come before this one."""
    return bool(messages_in_head(head))


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each list of messages."""
    return to_sessions(read_conversations(trace, context, record_messages), context)


def record_messages(messages: Messages, transcript: Transcript) -> None:
    """Record questions, tool calls and their outputs in the transcript."""
    for message in messages:
        role, time = get_str(message, "role"), parse_time(message)
        if role == "user":
            transcript.ask(join_text(message.get("content")), time=time)
        elif role == "assistant":
            _record_executed(message, transcript)
            step = transcript.step(
                _calls(message), tokens=count_tokens(message), cost=find_cost(message), time=time
            )
            if not step.calls:
                transcript.say(message, implies_search=True)
            transcript.foreign = transcript.foreign or _foreign_format(message)
        elif role in {"tool", "function"}:
            for output, identity, failed in _outputs(message):
                transcript.answer(output, id=identity, tool=message.get("name"), failed=failed, time=time)


def _record_executed(message: JsonObject, transcript: Transcript) -> None:
    """Record the tools that Groq ran before it answered, each a step; their results are also in the text of the output."""
    executed = list_objects(message.get("executed_tools"))
    for tool in executed:
        results = get_object(tool, "search_results").get("results")
        output = results if results or get_str(tool, "type") == "search" else tool.get("output")
        call = Call(
            tool=str(tool.get("name") or tool.get("type") or "unnamed"),
            arguments=tool.get("arguments"),
            output=UNSET if output is None else output,
        )
        step = transcript.step([call])
        if len(executed) == 1:  # of several steps it is not known which took how many
            step.tokens, step.cost = count_tokens(message), find_cost(message)


def _foreign_format(message: JsonObject) -> str | None:
    """Return the other format in which a message makes calls; the first documents may have had none."""
    if message.get("tool_calls"):
        return None
    content = message.get("content")
    if isinstance(content, list) and any(get_str(block, "type").endswith("tool_use") for block in content):
        return "anthropic"
    text = join_text(content)
    tags = {"</tool_call>": "chatml", "</search>": "search-tags", "<|end_of_query|>": "search-tags"}
    return next((name for tag, name in tags.items() if tag in text), None)


def _outputs(message: JsonObject) -> Iterator[tuple[Json, str | None, bool]]:
    """Yield each output in a message of role `tool`, the id of its call, and whether the call failed."""
    results = _objects_in_blocks(message, "tool_call_result")
    for result in results:
        yield (
            result.get("result"),
            first_text(get_object(result, "origin"), ("id",)),
            bool(result.get("error")),
        )
    if not results:
        yield _pick_best(message), message.get("tool_call_id"), message.get("status") == "error"


def _pick_best(message: JsonObject) -> Json:
    """Return LangChain's artifact, for the program, if it holds results; else the content, for the model."""
    artifact = message.get("artifact")
    if not artifact:
        return message.get("content")
    try:
        groups = find_groups(artifact)
    except Unparsed:
        return message.get("content")
    results = [value for _, values in groups for value in values]
    complete = results and all(isinstance(result, dict) and is_result(result) for result in results)
    return artifact if complete else message.get("content")


def _objects_in_blocks(message: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects under a name in the blocks of a message, as Haystack writes calls and their results."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [item for block in blocks if (item := get_object(block, name))]


def _calls(message: JsonObject) -> list[Call]:
    """Return the calls of an assistant message in their order; `function_call` is the older form of a single one."""
    written = message.get("tool_calls")
    written = written if isinstance(written, list) else _objects_in_blocks(message, "tool_call")
    calls = [_call(item) for item in written if isinstance(item, dict)]
    legacy = message.get("function_call")
    return [*calls, _call({"function": legacy})] if isinstance(legacy, dict) else calls


def _call(written: JsonObject) -> Call:
    """Return one call: OpenAI puts name and arguments into `function` or `custom`, LangChain next to the id."""
    held = next(
        (written[kind] for kind in ("function", "custom") if isinstance(written.get(kind), dict)), written
    )
    arguments = next((held[name] for name in ("arguments", "input", "args") if name in held), None)
    tool = str(held.get("name") or held.get("tool_name") or "unnamed")
    return Call(tool=tool, arguments=arguments, id=written.get("id"))


FORMAT = TraceFormat("openai-chat", "OpenAI chat messages", recognises, read, joins=is_request_log)
