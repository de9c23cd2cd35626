"""Documents that hold messages → conversations: turns, steps, and which output answers which call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import datetime
from itertools import takewhile

from msgspec import UNSET

from judged.agents.traces.context import FOREIGN, ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.format import Head
from judged.agents.traces.json_values import (
    Json,
    JsonObject,
    add_counts,
    first_text,
    get_body,
    get_object,
    get_str,
    list_objects,
)
from judged.agents.traces.messages.requests import RequestLog, RequestShape, canonical
from judged.agents.traces.open import Document, Trace
from judged.agents.traces.results.tools import is_search_name


class Transcript:
    """A conversation, recorded message by message."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.strays: list[str] = []
        """Outputs that answer no call, by the tool or id that they name."""
        self.foreign: str | None = None
        """Another format in which calls are written."""
        self._open: list[Call] = []
        """Calls that nothing has answered yet."""
        self._began: float | None = None
        self._now: float | None = None

    def ask(self, question: str | None, *, time: float | None = None) -> None:
        """Record what the user wrote: a new turn, unless the agent has done nothing since the last one."""
        if not self.turns or self.turns[-1].steps:
            self.turns.append(Turn())
        turn = self.turns[-1]
        turn.question = "\n\n".join(filter(None, (turn.question, question))) or None
        self._now = time

    def wait(self, time: float | None) -> None:
        """Record that nothing happened until a time, at which the next step begins."""
        self._now = time

    def step(
        self,
        calls: list[Call],
        *,
        tokens: float | None = None,
        cost: float | None = None,
        time: float | None = None,
    ) -> Step:
        """Record a step of the agent, with its parallel calls; it began at the time of the message before."""
        if not self.turns:
            self.turns.append(Turn())
        step = Step(calls=calls, tokens=tokens, cost=cost)
        self.turns[-1].steps.append(step)
        self._open.extend(calls)
        self._began = self._now
        self._extend_to(time)
        return step

    def answer(
        self,
        output: Json,
        *,
        id: str | None = None,  # noqa: A002 - what the formats call it
        tool: str | None = None,
        failed: bool = False,
        time: float | None = None,
    ) -> None:
        """Record an output: it answers the open call of that id, else the first of that tool, or the first of all."""
        call = self._find_call(id, tool)
        if call is None:
            self.strays.append(id or tool or "unnamed")
            return
        self._open = [item for item in self._open if item is not call]
        call.output, call.failed = output, failed
        self._extend_to(time)

    def say(self, message: JsonObject, *, implies_search: bool = False) -> None:
        """Record the text of an answer and what it cites, which stands in for results that the trace lacks.

        Those of the last of the searches since the last one with results; or, where an answer with citations implies a
        search, those of that.
        """
        if not self.turns:
            self.turns.append(Turn())
        turn, cited = self.turns[-1], list(find_citations(message))
        turn.answer = join_text(message.get("content")) or turn.answer
        turn.cited += [str(result["url"]) for result in cited if "url" in result]
        calls = [call for step in turn.steps for call in step.calls]
        blank = _find_blank(calls) if cited else []
        if blank:
            blank[-1].output, blank[-1].cited = cited, len(blank)
            for call in blank[:-1]:
                call.output = []
        elif cited and implies_search and not calls and turn.steps:
            turn.steps[-1].calls.append(Call(tool="web_search", output=cited, cited=1, search=True))

    def find_problems(self) -> Iterator[tuple[str, str]]:
        """Yield the code and the message of each problem of the conversation as a whole."""
        for stray in self.strays:
            yield "output-without-call", f"holds the output of a call that was never made: `{stray}`"
        if self.foreign:
            text = f"holds calls written as `{self.foreign}`, while the beginning of the trace looked like another format"
            yield FOREIGN, text

    def _find_call(self, identity: str | None, tool: str | None) -> Call | None:
        if identity is not None:
            for call in self._open:
                if call.id == identity:
                    return call
        unnamed = [call for call in self._open if identity is None or call.id is None]
        return next((call for call in unnamed if tool is None or call.tool == tool), None)

    def _extend_to(self, time: float | None) -> None:
        """Extend the current step to a time."""
        self._now = time
        if time is not None and self._began is not None and time >= self._began:
            self.turns[-1].steps[-1].seconds = time - self._began


def _find_blank(calls: list[Call]) -> list[Call]:
    """Return the provider's searches whose results a citation may stand in for, in their order.

    Those without an output since the last search with one; or all of a turn if none of them has a result, since Grok
    writes an empty list of sources for every search.
    """
    searches = [
        call
        for call in calls
        if (is_search_name(call.tool) if call.search is None else call.search) and not call.failed
    ]
    if all(call.output is UNSET or call.output == [] for call in searches):
        return searches
    blank = list(takewhile(lambda call: call.output is UNSET, reversed(searches)))
    return blank[::-1]


def find_citations(message: JsonObject) -> Iterator[JsonObject]:
    """Yield the pages or files that a message cites, each once: in annotations of OpenAI, or in citations of Anthropic."""
    shown: set[str] = set()
    for block in (message, *list_objects(message.get("content"))):
        for name in ("annotations", "citations"):
            notes = block.get(name)
            for note in notes if isinstance(notes, list) else ():
                cited = _read_citation(note)
                key = cited.get("url") or cited.get("id")
                if key and key not in shown:
                    shown.add(key)
                    yield cited


def _read_citation(note: Json) -> JsonObject:
    """Return the page or file that an annotation cites; nothing for an address that is not one."""
    held = get_object(note, "url_citation") or note
    url, text = first_text(held, ("url", "source")), first_text(held, ("content",))
    if url and "://" in url:
        return {"url": url, "title": held.get("title"), **({"snippet": text} if text else {})}
    if get_str(note, "type") == "file_citation" and (identity := first_text(note, ("file_id", "file_name"))):
        return {"id": identity, "title": first_text(note, ("filename", "file_name"))}
    return {}


def join_text(content: Json) -> str:
    """Return the text of a message, which may be in blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    texts = (item.get("text") if isinstance(item, dict) else item for item in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def find_cost(message: JsonObject) -> float | None:
    """Return the money that a response says that it took: OpenRouter's and Perplexity's `usage.cost`, Dify's total price."""
    usage = get_object(message, "usage")
    price = usage.get("cost", usage.get("total_price"))
    price = price.get("total_cost") if isinstance(price, dict) else price
    return to_amount(price)


def to_amount(value: Json) -> float | None:
    """Return an amount of money, which may be written as text; None for what is not one.

    >>> to_amount("0.0012"), to_amount(True), to_amount(-1), to_amount("free")
    (0.0012, None, None, None)
    """
    try:
        amount = -1.0 if isinstance(value, bool) or not isinstance(value, (int, float, str)) else float(value)
    except (ValueError, OverflowError):
        return None
    return amount if 0 <= amount < math.inf else None


def count_tokens(message: JsonObject) -> float | None:
    """Return the number of input and output tokens that a message or a response states."""
    for holder in (message, *(message.get(name) for name in ("response_metadata", "metadata", "meta"))):
        if not isinstance(holder, dict):
            continue
        usage = next(
            (holder[name] for name in ("usage", "token_usage", "usage_metadata") if holder.get(name)), None
        )
        if isinstance(usage, dict):
            return add_counts(usage)
    return None


def parse_time(message: JsonObject) -> float | None:
    """Return the time of a message, in seconds since 1970 or another epoch."""
    for name in ("timestamp", "created_at", "created", "time"):
        value = message.get(name)
        if isinstance(value, bool) or value is None:
            continue
        if isinstance(value, (int, float)):
            # Milliseconds, if it would be after the year 5000.
            return value / 1000 if value > 1e11 else float(value)
        if isinstance(value, str):
            try:
                return datetime.fromisoformat(value).timestamp()
            except ValueError:
                return None
    return None


HOLDERS = ("messages", "conversation", "conversations", "trajectory", "history", "chat")
"""Fields that hold the messages of a document."""
THREADS = ("conversation_id", "session_id", "thread_id")
"""Names of a conversation that its requests share."""
NAMES = (
    *("conversation_id", "session_id", "thread_id", "conversation", "custom_id", "id", "uuid"),
    *("query_id", "qid"),
)
TASKS = ("task_id", "query_id", "qid", "question_id", "instance_id")
SYSTEMS = ("system_name", "agent", "system", "model")
ROLES = frozenset(
    ("system", "developer", "user", "assistant", "tool", "function", "human", "gpt", "ai", "observation")
)
SPELLED = {"human": "user", "gpt": "assistant", "ai": "assistant", "observation": "tool"}
LANGCHAIN = frozenset(("human", "ai", "system", "tool"))

Messages = list[JsonObject]
Reader = Callable[[Messages, Transcript], None]
"""Records messages in a transcript."""


def is_message(value: Json) -> bool:
    """Return whether a value is a message: an object with a role."""
    return _role(value) is not None


def find_messages(value: Json) -> Messages | None:
    """Return the messages of a document, those of its request and its response together; None if there are none."""
    if isinstance(value, list):
        return (
            [_normalise(item) for item in value]
            if value and all(is_message(item) for item in value)
            else None
        )
    if not isinstance(value, dict):
        return None
    if is_message(value):
        return [_normalise(value)]
    for holder in (
        value,
        *(get_body(value, name) for name in ("request", "body", "inputs", "kwargs", "values")),
    ):
        for name in HOLDERS:
            if isinstance(holder.get(name), list) and (messages := find_messages(holder[name])) is not None:
                return messages + _response_messages(value)
    return _response_messages(value) or None


def messages_in_head(head: Head) -> list[Messages]:
    """Return the messages of the first documents, for a format to be recognised by."""
    return [messages for document in head.documents if (messages := find_messages(document))]


def read_conversations(trace: Trace, context: ReadContext, read: Reader) -> Iterator[Conversation]:
    """Yield the conversations of a trace whose documents hold messages, or are the messages of one conversation."""
    return join_requests(_read_documents(trace, context), trace.label, context, read)


def join_requests(
    documents: Iterable[tuple[Document, Messages]], label: str, context: ReadContext, read: Reader
) -> Iterator[Conversation]:
    """Yield conversations, each once: documents that repeat the beginning of another one are joined to it."""
    log = RequestLog(SHAPE, context)
    for document, messages in documents:
        scope = first_text(document.value, THREADS)
        yield from (
            to_conversation(held.document, held.items, context, read)
            for held in log.add(document, messages, scope=scope)
        )
    yield from (to_conversation(held.document, held.items, context, read) for held in log.finish())
    if log.joined:
        context.problems.note(
            f"{label}: {log.joined:,} documents are the beginning of another one, or the same again, and were joined"
        )


def _print(message: JsonObject) -> Hashable | None:
    """Return what of a message is the same in every request that repeats it; None for what a response alone implies."""
    role, content = message["role"], message.get("content")
    if role in {"system", "developer"} or message.get("implied"):
        return None
    blocks = list_objects(content)
    calls = [_print_call(call) for call in _listed_calls(message)]
    answers = tuple(
        (block.get("tool_use_id"), join_text(block.get("content")))
        for block in blocks
        if "tool_use_id" in block
    )
    return role, join_text(content).strip(), tuple(calls), answers, message.get("tool_call_id")


def _listed_calls(message: JsonObject) -> list[JsonObject]:
    """Return the calls of a message as they are written: in their list, or in blocks."""
    content, listed = message.get("content"), message.get("tool_calls")
    blocks = content if isinstance(content, list) else []
    candidates = [*(listed if isinstance(listed, list) else []), *blocks]
    calls = [call for call in candidates if isinstance(call, dict) and ("name" in call or "function" in call)]
    legacy = message.get("function_call")
    return [*calls, {"function": legacy}] if isinstance(legacy, dict) else calls


def _print_call(call: JsonObject) -> Hashable:
    held = get_object(call, "function") or call
    arguments = next((held[name] for name in ("arguments", "input", "args") if held.get(name)), None)
    return call.get("id"), held.get("name"), canonical(arguments)


def _call_ids(message: JsonObject) -> Iterator[Json]:
    yield message.get("tool_call_id")
    yield from (call.get("id") for call in _listed_calls(message))
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block.get("tool_use_id")


def _read_documents(trace: Trace, context: ReadContext) -> Iterator[tuple[Document, Messages]]:
    """Yield each document with its messages; documents of a file that are messages themselves are one conversation."""
    for part in trace.parts():
        yield from _read_part(part, context)


def _read_part(trace: Trace, context: ReadContext) -> Iterator[tuple[Document, Messages]]:
    alone: Messages = []
    for document in trace.own_documents():
        messages = find_messages(document.value)
        if messages is None:
            context.report("malformed-session", document.place, "holds no messages")
            context.settle()
        elif is_message(document.value) and not _is_response(document.value):
            alone += messages
        else:
            yield document, messages
    episodes = split_episodes(alone)
    for number, messages in enumerate(episodes, 1):
        name = trace.whole_name if len(episodes) == 1 else trace.default_name(number)
        yield Document(trace.label, {}, name), messages


def split_episodes(messages: Messages, *, instruction: re.Pattern[str] | None = None) -> list[Messages]:
    """Return messages split where a conversation begins: at the system message, or instruction, after the end of a turn."""
    episodes: list[Messages] = []
    for message in messages:
        first = message["role"] == "system" or (
            instruction is not None
            and message["role"] == "user"
            and instruction.search(join_text(message.get("content"))) is not None
        )
        if not episodes or (first and _has_ended(episodes[-1])):
            episodes.append([])
        episodes[-1].append(message)
    return episodes


def _has_ended(messages: Messages) -> bool:
    """Return whether the last message is an answer, with no call of a tool."""
    return bool(messages) and messages[-1]["role"] == "assistant" and not _listed_calls(messages[-1])


SHAPE = RequestShape(_print, _call_ids, _has_ended)
"""Comparison of messages, by which requests of one conversation are joined."""


def _is_response(value: JsonObject) -> bool:
    """Return whether a message is the whole response of an endpoint, with its searches inside."""
    return value.get("type") == "message" and value.get("role") == "assistant" and "usage" in value


def to_conversation(
    document: Document, messages: Messages, context: ReadContext, read: Reader
) -> Conversation:
    """Return the conversation that messages make, named as in their document."""
    transcript = Transcript()
    read(messages, transcript)
    value = document.value if isinstance(document.value, dict) else {}
    metadata = get_object(value, "metadata")
    tasks = TASKS if value.get("type") == "chatml" else (*TASKS, "task")  # there it names the kind of task
    name = first_text(value, NAMES) or first_text(metadata, NAMES) or document.name
    for code, text in transcript.find_problems():
        context.report(code, f"{document.place}: session `{name}`", text)
    return Conversation(
        id=name,
        place=document.place,
        turns=transcript.turns,
        system=_system(value) or _system(metadata) or first_text(get_body(value, "request"), ("model",)),
        task=first_text(value, tasks) or first_text(metadata, tasks),
    )


def _system(value: JsonObject) -> str | None:
    """Return the name of the system; `system` may also hold its instructions."""
    names = (name for name in SYSTEMS if name != "system" or not re.search(r"\s", str(value.get(name))))
    return first_text(value, names)


def _response_messages(value: JsonObject) -> Messages:
    """Return the messages of an endpoint's response, if the document has one."""
    response = get_body(value, "response") or value
    choices = response.get("choices")
    if isinstance(choices, list) and choices:
        message = get_object(choices[0], "message")
        return [_normalise({**message, "usage": response.get("usage")})] if is_message(message) else []
    return [_normalise(response)] if response is not value and is_message(response) else []


def _normalise(message: JsonObject) -> JsonObject:
    """Return a message with its role and content under their usual names."""
    role = _role(message) or ""
    message = _unwrap(message)
    return {
        **message,
        "role": SPELLED.get(role, role),
        "content": message.get("content", message.get("value")),
    }


def _role(value: Json) -> str | None:
    """Return the role of a message: ShareGPT says `from`, and LangChain puts it into `type`; None if it is not a message."""
    for name in ("role", "from"):
        if get_str(value, name) in ROLES:
            return get_str(value, name)
    bare = _unwrap(value)
    code = get_str(bare, "type")
    return code if code in LANGCHAIN and "content" in bare else None


def _unwrap(value: Json) -> Json:
    """Return a message without the envelopes of LangChain's `messages_to_dict` and `dumps`."""
    envelope = get_object(value, "data") or get_object(value, "kwargs")
    return envelope if "content" in envelope and "type" in envelope else value
