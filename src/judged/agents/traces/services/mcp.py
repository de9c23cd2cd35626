"""MCP: logs of the messages between a client and a server, as JSON-RPC lines, in envelopes, or in lines of text.

Read as the specification describes the messages; Claude Desktop writes them after a time and a remark. A session begins where a
client initialises the server. The log does not say where turns or steps of the agent begin: calls that wait for their outputs at
the same time are one step.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Conversation
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.frameworks.translation import make_call, make_output
from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str
from judged.agents.traces.messages.messages import Messages, Transcript, parse_time, to_conversation
from judged.agents.traces.messages.openai_chat import record_messages
from judged.agents.traces.open import Document, Trace

CALL, BEGIN = "tools/call", "initialize"
ENVELOPES = ("message", "payload", "data", "body", "msg", "mcp", "request", "response", "params")


def recognises(head: Head) -> bool:
    """Recognise a log by a call of a tool."""
    entries = (
        _read_lines(head.text.split("\n")) if head.text else (_find_message(item) for item in head.mappings)
    )
    return any(get_str(message, "method") == CALL for message, _ in filter(None, entries))


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each time that a client initialised the server."""
    return to_sessions(_conversations(trace, context), context)


def _conversations(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    sessions: list[list[tuple[JsonObject, float | None]]] = [[]]
    for message, time in _entries(trace):
        if get_str(message, "method") == BEGIN and sessions[-1]:
            sessions.append([])
        sessions[-1].append((message, time))
    kept = [entries for entries in sessions if any(get_str(item, "method") == CALL for item, _ in entries)]
    for number, entries in enumerate(kept, 1):
        name = trace.whole_name if len(kept) == 1 else trace.default_name(number)
        client = next(
            (
                get_object(get_object(message, "params"), "clientInfo").get("name")
                for message, _ in entries
                if get_str(message, "method") == BEGIN
            ),
            None,
        )
        document = Document(trace.label, {"model": client} if client else {}, name)
        yield to_conversation(document, _translate(entries), context, _record)


def _entries(trace: Trace) -> Iterator[tuple[JsonObject, float | None]]:
    if trace.is_json:
        found = (_find_message(document.value) for document in trace.documents())
        yield from filter(None, found)
    else:
        yield from _read_lines(line.decode("utf-8", "replace") for _, line in trace.lines())


def _read_lines(lines: Iterator[str] | list[str]) -> Iterator[tuple[JsonObject, float | None]]:
    """Yield the message in each line of text, with the time that the line begins with."""
    for line in lines:
        start, key = line.find("{"), line.find('"jsonrpc"')
        if start < 0 or key < 0:
            continue
        try:
            message = msgspec.json.decode(line[start : _find_end(line, start)])
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            continue  # a message that the logger cut off
        if isinstance(message, dict):
            yield message, parse_time({"timestamp": line.split(" ", 1)[0]})


def _find_end(line: str, start: int) -> int:
    """Return the end of the JSON object that begins at a place; remarks may follow it."""
    depth, inside, escaped = 0, False, False
    for at in range(start, len(line)):
        letter = line[at]
        if inside:
            inside = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            inside = True
        else:
            depth += (letter == "{") - (letter == "}")
            if depth == 0:
                return at + 1
    return len(line)


def _find_message(value: Json) -> tuple[JsonObject, float | None] | None:
    """Return the message of a document, which may be in an envelope, with its time."""
    time = parse_time(value) if isinstance(value, dict) else None
    for _ in range(4):
        if isinstance(value, str):
            try:
                value = msgspec.json.decode(value)
            except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
                return None
        if not isinstance(value, dict):
            return None
        if "jsonrpc" in value:
            return value, time
        value = next((value[name] for name in ENVELOPES if isinstance(value.get(name), (dict, str))), None)
    return None


def _translate(entries: list[tuple[JsonObject, float | None]]) -> Messages:
    """Return calls and outputs as messages; calls before the first output are one step."""
    messages: Messages = []
    waiting: list[JsonObject] = []
    began: float | None = None
    made: set[str] = set()
    for message, time in entries:
        identity = str(message.get("id"))
        if get_str(message, "method") == CALL:
            asked = get_object(message, "params")
            began = time if not waiting else began
            waiting.append(make_call(asked.get("name"), asked.get("arguments"), identity))
            made.add(identity)
        elif identity in made and ("result" in message or "error" in message):
            if waiting:
                messages.append(
                    {"role": "assistant", "content": "", "tool_calls": waiting, "timestamp": began}
                )
                waiting = []
            made.discard(identity)
            result = get_object(message, "result")
            output = result.get("structuredContent") or result.get("content")
            failed = "error" in message or result.get("isError") is True
            messages.append({**make_output(output, identity=identity, failed=failed), "timestamp": time})
    if waiting:
        messages.append({"role": "assistant", "content": "", "tool_calls": waiting})
    return messages


def _record(messages: Messages, transcript: Transcript) -> None:
    """Record messages; a step lasts from its first call, since nothing came before."""
    for message in messages:
        if message["role"] == "assistant":
            transcript.wait(message.get("timestamp"))
        record_messages([message], transcript)


FORMAT = TraceFormat("mcp", "logs of MCP", recognises, read)
