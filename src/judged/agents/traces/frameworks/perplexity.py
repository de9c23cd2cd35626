"""Perplexity: responses of Sonar, with `search_results` (or only `citations`) next to the answer.

Read as the API reference describes it; no recording was at hand.
"""

from __future__ import annotations

from judged.agents.traces.frameworks.translation import make_call, make_format, make_output
from judged.agents.traces.json_values import Json, get_body, get_str, list_objects
from judged.agents.traces.messages.messages import Messages, find_messages, join_text
from judged.agents.traces.results.text import find_footnotes


def translate(value: Json) -> list[Messages] | None:
    """Return the messages of a response: one search for the question, and its results."""
    response = get_body(value, "response") or value if isinstance(value, dict) else {}
    listed = response.get("search_results") or response.get("citations")
    choices = list_objects(response.get("choices"))
    if not isinstance(listed, list) or not all("message" in choice for choice in choices) or not choices:
        return None  # without a message, a chunk of a stream
    *asked, answer = find_messages(value) or [{"role": "assistant", "content": ""}]
    question = next(
        (join_text(message.get("content")) for message in reversed(asked) if message["role"] == "user"), None
    )
    results = [{"url": item} if isinstance(item, str) else item for item in listed]
    call = {"role": "assistant", "content": "", "tool_calls": [make_call("search", {"query": question})]}
    links = response.get("citations")
    named = links if isinstance(links, list) else [get_str(item, "url") for item in results]
    numbers = find_footnotes(join_text(answer.get("content"))) or range(1, len(named) + 1)
    cited = [
        {"url": named[at - 1]} for at in numbers if 0 < at <= len(named) and isinstance(named[at - 1], str)
    ]
    said = {**answer, "annotations": cited}
    return [[*asked, {**call, "usage": response.get("usage")}, make_output(results, tool="search"), said]]


FORMAT = make_format("perplexity", "responses of Perplexity", translate)
