"""BrowseComp-Plus runs: an object for each query, with the calls and texts of the agent in one list."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object, get_str
from judged.agents.traces.open import Document, Trace
from judged.wording import counted


def recognises(head: Head) -> bool:
    """Recognise objects with the id of a query and a list of actions."""
    return bool(head.mappings) and all(_is_run(document) for document in head.mappings)


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each query; note those whose ids are not the ones that the run says it retrieved."""
    stated: dict[str, frozenset[str]] = {}
    differing = 0
    for session in to_sessions(_conversations(trace, context, stated), context):
        ids = {result.id for result, _ in session.results() if result.id is not None}
        differing += bool(ids) and ids != stated.get(session.conversation, ids)
        yield session
    if differing:
        context.problems.note(
            f"{trace.label}: the ids of {counted(differing, 'session')} are not those of `retrieved_docids`; results may be missing"
        )


def _conversations(
    trace: Trace, context: ReadContext, stated: dict[str, frozenset[str]]
) -> Iterator[Conversation]:
    for document in trace.documents():
        if isinstance(document.value, dict) and _is_run(document.value):
            ids = document.value.get("retrieved_docids")
            if isinstance(ids, list):
                stated[str(document.value["query_id"])] = frozenset(map(str, ids))
            yield _conversation(document, context)
        else:
            context.report("malformed-session", document.place, "has no `query_id` with a list `result`")
            context.settle()


def _conversation(document: Document, context: ReadContext) -> Conversation:
    value = document.value
    metadata = get_object(value, "metadata")
    counted = {
        tool: count
        for tool, count in get_object(value, "tool_call_counts").items()
        if context.tools.is_search(tool)
    }
    if counted and not any(get_str(entry, "type") == "tool_call" for entry in value["result"]):
        message = (
            f"says that it called {', '.join(f'`{tool}`' for tool in counted)}, and holds none of its calls"
        )
        context.report("malformed-session", f"{document.place}: session `{value['query_id']}`", message)
    return Conversation(
        id=str(value["query_id"]),
        task=str(value["query_id"]),
        place=document.place,
        turns=[
            Turn(
                question=first_text(value, ("query", "question")),
                steps=_steps(value["result"]),
                answer=_find_answer(value["result"]),
            )
        ],
        system=first_text(metadata, ("model",)) or first_text(value, ("model",)),
    )


def _steps(entries: list[Json]) -> list[Step]:
    """Return the steps of a run: adjacent calls are one step, unless the agent never wrote anything between calls.

    The responses of the agent were concatenated, so that parallel and successive calls look alike; only the thoughts
    and texts between them separate steps.
    """
    kinds = [get_str(item, "type") for item in entries]
    spoke = any(kind != "tool_call" for kind in kinds[: _last_call(kinds)])
    steps: list[Step] = []
    previous = ""
    for entry in entries:
        kind = get_str(entry, "type")
        if kind == "tool_call" and spoke and previous == "tool_call":
            steps[-1].calls.append(_call(entry))
        elif kind == "tool_call":
            steps.append(Step(calls=[_call(entry)]))
        elif kind == "output_text" and (not steps or previous != "output_text"):
            steps.append(Step())
        previous = kind
    return steps


def _find_answer(entries: list[Json]) -> str | None:
    texts = (entry.get("output") for entry in reversed(entries) if get_str(entry, "type") == "output_text")
    return next((text for text in texts if isinstance(text, str)), None)


def _last_call(kinds: list[str]) -> int:
    return max((at for at, kind in enumerate(kinds) if kind == "tool_call"), default=0)


def _call(entry: JsonObject) -> Call:
    output = entry.get("output")
    return Call(
        tool=str(entry.get("tool_name") or "unnamed"),
        arguments=entry.get("arguments"),
        output=UNSET if output is None else output,
    )


def _is_run(value: Json) -> bool:
    return "query_id" in value and isinstance(value.get("result"), list)


FORMAT = TraceFormat("browsecomp-plus", "BrowseComp-Plus runs", recognises, read)
