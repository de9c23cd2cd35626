"""Outputs that found nothing, failed or were blocked, and forms of results that were not read before."""

from __future__ import annotations

import json
from typing import Any

import pytest

import judged
from judged.agents.traces.read import read_sessions
from judged.agents.traces.results.outputs import describe_failure, find_groups
from judged.agents.traces.results.tools import is_search_name
from judged.errors import BadInput

NOTHING = (
    *("No results found.", "Keine Ergebnisse gefunden.", "Es wurden keine passenden Dokumente gefunden"),
    *("Aucun résultat trouvé.", "No se encontraron resultados.", "Nessun risultato trovato"),
    *("Nenhum resultado encontrado.", "没有找到相关结果", "未找到结果。", "検索結果はありません"),
    *(
        "該当する結果が見つかりませんでした。",
        "검색 결과가 없습니다.",
        "Ничего не найдено",
        "Результаты не найдены.",
    ),
    *("Geen resultaten gevonden.", "Nie znaleziono wyników.", "Sonuç bulunamadı.", "لم يتم العثور على نتائج"),
    *("कोई परिणाम नहीं मिला", "Inga resultat hittades.", "Không tìm thấy kết quả nào"),
    *({"results": None}, '{"results": null}', {"data": None, "message": "ok"}, {"total": 0}, {"results": []}),
)
FAILED = (
    *(
        {"status": "error"},
        {"status": "failed", "results": None},
        {"success": False, "message": "x"},
        {"ok": False},
    ),
    *(
        {"code": 429, "message": "slow down"},
        {"detail": "Not found"},
        [{"error": "blocked"}],
        "403 Forbidden",
    ),
    *("429 Too Many Requests", "Access denied: your request was blocked", "Just a moment...", "Unauthorized"),
    *("Please verify you are a human. CAPTCHA required.", "Invalid API key", "Your request was blocked."),
    *("Quota exceeded", "The service is temporarily unavailable", "Error: connection refused"),
)
LISTS: tuple[tuple[Any, list[dict[str, str]]], ...] = (
    (
        "| Title | URL | Snippet |\n|---|---|---|\n| Tower | https://a.org/t | Tall |\n| Paris | https://a.org/p | City |",
        [
            {"title": "Tower", "url": "https://a.org/t", "snippet": "Tall"},
            {"title": "Paris", "url": "https://a.org/p", "snippet": "City"},
        ],
    ),
    (
        "Here are the results:\n\n| # | Page |\n|:-:|:--|\n| 1 | [Tower](https://a.org/t) |\n| 2 | [Paris](https://a.org/p) |\n",
        [{"title": "Tower", "url": "https://a.org/t"}, {"title": "Paris", "url": "https://a.org/p"}],
    ),
    (
        "Source: https://a.org/t\nThe tower is 330 m tall.\n\nIt is in Paris.\n\nSource: https://a.org/p\nA city.",
        [
            {"url": "https://a.org/t", "text": "The tower is 330 m tall.\n\nIt is in Paris."},
            {"url": "https://a.org/p", "text": "A city."},
        ],
    ),
    (
        "The tower is 330 m tall.\n(Source: https://a.org/t)\n---\nA city.\n(Source: https://a.org/p)",
        [
            {"url": "https://a.org/t", "text": "The tower is 330 m tall."},
            {"url": "https://a.org/p", "text": "A city."},
        ],
    ),
    (
        "- Tower - https://a.org/t\n- Paris: https://a.org/p",
        [{"url": "https://a.org/t", "title": "Tower"}, {"url": "https://a.org/p", "title": "Paris"}],
    ),
    ("https://a.org/t\nhttps://a.org/p", [{"url": "https://a.org/t"}, {"url": "https://a.org/p"}]),
    (
        [
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "text", "text": "1. [Tower](https://a.org/t)\nTall"},
        ],
        [{"title": "Tower", "url": "https://a.org/t", "snippet": "Tall"}],
    ),
    ([{"type": "image", "source": {"type": "base64", "data": "aGk="}}], []),
)


def chat(*outputs: Any, tool: str = "web_search") -> dict[str, Any]:
    """A conversation with a search for each output."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "How tall?"}]
    for at, output in enumerate(outputs):
        call = {"id": f"call_{at}", "function": {"name": tool, "arguments": json.dumps({"query": f"q{at}"})}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{at}", "content": output},
        ]
    return {"messages": messages}


@pytest.mark.parametrize("output", [*NOTHING, *FAILED], ids=str)
def test_an_output_without_results_is_an_empty_search(output: Any) -> None:
    """In whatever language, and whether nothing was found or the search failed."""
    assert [values for _, values in find_groups(output)] == [[]]


@pytest.mark.parametrize("output", FAILED, ids=str)
def test_a_failure_is_told_from_an_empty_search(output: Any) -> None:
    """With the beginning of what it says."""
    assert describe_failure(output)


@pytest.mark.parametrize("output", NOTHING, ids=str)
def test_an_empty_search_is_no_failure(output: Any) -> None:
    """Nothing is said of it."""
    assert describe_failure(output) is None


@pytest.mark.parametrize(("output", "expected"), LISTS, ids=range(len(LISTS)))
def test_these_forms_of_results_are_read(output: Any, expected: list[dict[str, str]]) -> None:
    """Markdown tables, texts with their source, addresses with titles, images beside texts."""
    assert find_groups(output) == [(None, expected)]


def test_failed_searches_are_counted_and_named() -> None:
    """By tool, with the first message."""
    found = json.dumps([{"url": "https://a.org/t"}])
    sessions = read_sessions(
        [chat(found, "429 Too Many Requests", "Keine Ergebnisse gefunden.", {"status": "error"})]
    )

    assert sessions.notes == (
        "objects: 2 searches failed, or found nothing because of an error: `web_search` (2); the first says `429 Too Many Requests`",
    )


def test_one_output_that_cannot_be_parsed_does_not_refuse_a_file() -> None:
    """It is left out and counted; strict reading refuses, and so does a file of which no output can be read."""
    found, other = (
        json.dumps([{"url": "https://a.org/t", "gain": 4}]),
        "A long tale about towers, written in prose.",
    )
    evaluation = judged.evaluate_sessions([chat(found, other)], "CG R")

    assert evaluation.mean() == {"CG@last": 4.0, "R@last": 1.0}
    assert any("left out: unread-output (1)" in note.message for note in evaluation.notes)
    with pytest.raises(BadInput, match="cannot be parsed as results"):
        judged.evaluate_sessions([chat(found, other)], "CG", strict=True)
    with pytest.raises(BadInput, match="cannot be parsed as results"):
        judged.evaluate_sessions([chat(other)], "CG")


@pytest.mark.parametrize(
    ("tool", "searches"),
    [
        *(("search_files", None), ("grep_search", None), ("search_code", None), ("codebase_search", None)),
        *(("file_search", True), ("web_search", True), ("search_documents", True), ("searchKnowledge", True)),
    ],
)
def test_a_search_of_the_agents_own_files_is_not_taken_for_one_of_documents(
    tool: str, searches: bool | None
) -> None:
    """Nor left out in silence: beside a web search it is noted, and a mapping may declare it."""
    assert is_search_name(tool) is searches


def test_search_files_beside_a_web_search_is_another_tool() -> None:
    """It is noted, and counts no search."""
    web, files = chat(json.dumps([{"url": "https://a.org/t"}])), chat("src/a.py", tool="search_files")
    (session,) = sessions = read_sessions([{"messages": [*web["messages"], *files["messages"][1:]]}])

    assert len(session.iterations) == 1
    assert "ignored calls of tools that may or may not search: `search_files` (1)" in sessions.notes[0]
