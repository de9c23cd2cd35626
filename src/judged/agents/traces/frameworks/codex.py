"""Codex: rollouts (`~/.codex/sessions/**/*.jsonl`), whose `response_item`s are items of OpenAI Responses.

Recorded with Codex 0.169 (npm `@openai/codex`). Rollouts do not keep the sources of web searches: the citations of the answer
stand in for them.
"""

from __future__ import annotations

from judged.agents.traces.frameworks.translation import Entries, make_transcript_format
from judged.agents.traces.json_values import Json, JsonObject, first_text, get_object, get_str
from judged.agents.traces.messages.messages import Messages, Transcript, join_text
from judged.agents.traces.messages.openai_responses import record_items

CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<turn_aborted>")
"""Prefixes of texts that the program wrote in the user's name."""


def is_entry(value: Json) -> bool:
    """Return whether a value is an entry of a rollout."""
    return get_str(value, "type") in {"session_meta", "response_item", "turn_context"} and "payload" in value


def _session(value: JsonObject) -> str | None:
    return first_text(get_object(value, "payload"), ("id",)) if value.get("type") == "session_meta" else None


def translate(entries: Entries) -> Messages:
    """Return the items of a session."""
    items = [get_object(entry, "payload") for entry in entries if entry.get("type") == "response_item"]
    return [{"role": "", **item} for item in items if not _is_context(item)]


def _is_context(item: JsonObject) -> bool:
    return item.get("role") == "user" and join_text(item.get("content")).lstrip().startswith(CONTEXT)


def _record(messages: Messages, transcript: Transcript) -> None:
    record_items(messages, None, transcript)


FORMAT = make_transcript_format(
    "codex", "rollouts of Codex", is_entry=is_entry, get_session=_session, translate=translate, record=_record
)
