"""ReAct: logs of `Thought`, `Action: Search[…]` and `Observation` lines, or steps with an action and an observation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import Json, first_text, get_object
from judged.agents.traces.open import Document, Trace
from judged.agents.traces.results.outputs import CutOff, Unparsed, find_groups
from judged.agents.traces.results.text import is_empty

_LINE = re.compile(
    r"^[ \t>#*]*+(?P<kind>Question|Thought|Action Input|Action|Observation|Final Answer|Correct answer|Answer)"
    r"[ \t]*+(?P<number>\d{1,6})?+[*]*+[ \t]*+:[*]*+[ \t]?",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKETED = re.compile(r"(?P<tool>[\w .-]++)\s*+[\[(]")
_RULE = re.compile(r"^(?:[-=#*]{5,}.*|BEGIN TRIAL.*|Trial summary.*)$", re.MULTILINE)
"""Lines between the sessions of a log."""


def recognises(head: Head) -> bool:
    """Recognise text with actions and observations, or objects whose steps have both."""
    if head.text:
        kinds = {match["kind"].lower() for match in _LINE.finditer(head.text)}
        return {"action", "observation"} <= kinds
    return bool(head.mappings) and all(
        _steps(document) is not None or _find_log(document) is not None for document in head.mappings
    )


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each question of a log, or for each object."""
    found = _read_documents(trace, context) if trace.is_json else _read_text(trace)
    return to_sessions(found, context)


def _find_log(value: Json) -> str | None:
    """Return the text of an object that is a ReAct log."""
    texts = (text for text in value.values() if isinstance(text, str)) if isinstance(value, dict) else ()
    for text in texts:
        if {"action", "observation"} <= {match["kind"].lower() for match in _LINE.finditer(text)}:
            return text
    return None


def _read_text(trace: Trace) -> Iterator[Conversation]:
    """Yield the conversations of a log."""
    for number, (turn, line) in enumerate(_split_turns(trace.text()), 1):
        yield Conversation(id=trace.default_name(number), place=trace.place(line), turns=[turn])


def _split_turns(log: str) -> Iterator[tuple[Turn, int]]:
    """Yield turns with their lines, each from its question to the next; without questions, from step 1 to the next."""
    turn, line, last = Turn(), 1, 0
    for kind, text, at, step in _split_entries(log):
        if (turn.steps and _begins(kind, step, last, turn)) or (kind == "question" and turn.question):
            yield turn, line
            turn, line = Turn(), at
        last = step or (0 if kind == "question" else last)
        if kind == "question":
            turn.question, line = text.strip(), at
        elif kind == "action":
            turn.steps.append(Step(calls=[_parse_action(text)]))
        elif turn.steps and kind == "action input":
            turn.steps[-1].calls[0].arguments = text.strip().strip('"')
        elif turn.steps and kind == "observation":
            _set_output(turn.steps[-1].calls[0], text)
        elif kind == "final answer" and turn.steps:
            turn.steps.append(Step(calls=[Call(tool="final answer", output=text.strip(), search=False)]))
    if turn.steps or turn.question:
        yield turn, line


def _begins(kind: str, step: int | None, last: int, turn: Turn) -> bool:
    """Return whether an entry begins a session: a question, a step numbered lower than the one before, or any after the end."""
    if kind == "question":
        return True
    if step is not None:
        return step < last
    ended = turn.steps[-1].calls[0].tool.lower() in {"finish", "final answer"}
    return ended and kind in {"thought", "action"}


def _split_entries(text: str) -> Iterator[tuple[str, str, int, int | None]]:
    """Yield each entry of a log: its kind, its text, the line it begins on, and the number of its step."""
    matches = list(_LINE.finditer(text))
    line, passed = 1, 0
    for at, match in enumerate(matches):
        line, passed = line + text.count("\n", passed, match.start()), match.start()
        end = matches[at + 1].start() if at + 1 < len(matches) else len(text)
        step = int(match["number"]) if match["number"] else None
        yield match["kind"].lower(), _RULE.sub("", text[match.end() : end]), line, step


def _parse_action(text: str) -> Call:
    """Return the call of an action: `Search[query]`, or a tool's name alone, with its input on a line of its own."""
    text = text.strip()
    bracketed = _BRACKETED.match(text)
    if bracketed and text.endswith(("]", ")")) and bracketed.end() < len(text):
        return Call(tool=bracketed["tool"].strip(), arguments=text[bracketed.end() : -1])
    return Call(tool=text.partition("\n")[0] or "unnamed")


def _set_output(call: Call, observation: Json) -> None:
    """Set the output of a call: results if the observation lists them, else one result, the requested page."""
    if not isinstance(observation, str):
        call.output = observation
        return
    text = observation.strip()
    try:
        find_groups(text)
        call.output = text
    except Unparsed as error:
        if isinstance(error, CutOff) and text.lstrip()[:1] in {"{", "["}:
            call.output = text  # no page, but results that were cut off
            return
        asked = call.arguments if isinstance(call.arguments, str) else None
        call.output = [] if is_empty(text) else [{"title": asked, "snippet": text}]


def _read_documents(trace: Trace, context: ReadContext) -> Iterator[Conversation]:
    for document in trace.documents():
        steps, log = _steps(document.value), _find_log(document.value)
        if steps is None and log is not None:
            yield from (_conversation(document, turn.steps, turn.question) for turn, _ in _split_turns(log))
        elif steps is None:
            context.report(
                "malformed-session", document.place, "has no steps with an action and an observation"
            )
            context.settle()
        else:
            yield _conversation(document, steps)


def _conversation(document: Document, steps: list[Step], asked: str | None = None) -> Conversation:
    value = document.value
    return Conversation(
        id=first_text(value, ("id", "conversation", "session_id", "query_id", "_id")) or document.name,
        place=document.place,
        turns=[
            Turn(
                question=asked or first_text(value, ("question", "input", "query")),
                steps=steps,
                answer=first_text(value, ("output", "answer", "final_answer")),
            )
        ],
        system=first_text(value, ("system", "model", "agent")),
        task=first_text(value, ("task", "task_id", "query_id", "qid")),
    )


STEPS = ("steps", "intermediate_steps", "intermediateSteps")
"""Fields that hold steps."""


def _steps(value: Json) -> list[Step] | None:
    """Return the steps of an object, if it has steps that act and observe; LangChain and n8n call them intermediate."""
    if not isinstance(value, dict):
        return None
    written = next((value[step] for step in STEPS if isinstance(value.get(step), list)), None)
    calls = [_step_call(item) for item in written] if written is not None else [None]
    return None if None in calls else [Step(calls=[call]) for call in calls if call is not None]


def _step_call(step: Json) -> Call | None:
    """Return the call of one step: an object, or LangChain's pair of an action and an observation."""
    if isinstance(step, list) and len(step) == 2 and isinstance(step[0], dict):
        step = {**step[0], "observation": step[1]}
    if not isinstance(step, dict):
        return None
    action = step.get("action")
    acted = get_object(step, "action") or step
    tool = first_text(acted, ("tool", "name", "action"))
    if tool is None:
        return None
    names = ("query", "tool_input", "toolInput", "action_input", "input", "arguments", "args")
    call = _parse_action(tool) if tool == action else Call(tool=tool)
    call.arguments = next((acted[name] for name in names if acted.get(name) is not None), call.arguments)
    if "observation" in step or "output" in step:
        _set_output(call, step.get("observation", step.get("output")))
    return call


FORMAT = TraceFormat("react", "ReAct logs", recognises, read)
