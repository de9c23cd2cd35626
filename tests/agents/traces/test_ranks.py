"""Ids that are only ranks identify nothing: they are set aside, and that is said."""

from __future__ import annotations

from typing import Any

import pytest

import judged

BING = "https://api.bing.microsoft.com/api/v7/#WebPages."


def session(*answers: str, first: int, prefix: str = "", running: bool = False) -> dict[str, Any]:
    """A session whose results are letters, numbered in each answer or in all of them together."""
    number, searches = first, []
    for answer in answers:
        results = [
            {"id": f"{prefix}{number + at}", "url": f"https://e.org/{name}", "title": f"Page {name}"}
            for at, name in enumerate(answer)
        ]
        number += len(answer) if running else 0
        searches.append({"results": results})
    return {"conversation": "c", "iterations": [{"searches": [search]} for search in searches]}


@pytest.mark.parametrize(
    ("answers", "first", "prefix", "running"),
    [
        (("abc", "bca", "cab"), 1, "", False),
        (("abc", "bca", "cab"), 0, BING, False),
        (("abc", "bca", "cab"), 1, "", True),
    ],
)
def test_results_numbered_in_each_answer_are_known_by_their_url(
    answers: tuple[str, ...], first: int, prefix: str, running: bool
) -> None:
    """Nine results of three pages: three are new."""
    trace = session(*answers, first=first, prefix=prefix, running=running)
    found = judged.evaluate_sessions([trace], "R UR Dup")

    assert [found[name] for name in ("R", "UR", "Dup")] == [9, 3, 6]
    assert any("ids of `search` (9) are only ranks" in note.message for note in found.notes)


def test_ids_that_stay_with_their_pages_are_kept() -> None:
    """Even if they look like ranks in the first answer, and a URL is written in two ways."""
    trace = session("abc", "ab", first=1)
    trace["iterations"][1]["searches"][0]["results"][0]["url"] = "http://www.e.org/a?utm_source=x"
    found = judged.read_sessions([trace])

    assert [result.id for result, _ in next(iter(found)).results()] == ["1", "2", "3", "1", "2"]
    assert found.notes == ()


def test_passages_of_one_file_share_its_id() -> None:
    """The same title, another text: the id is the file's, and no rank."""
    results = [{"id": "f7", "title": "Manual", "snippet": text} for text in ("one", "two", "three")]
    trace = {"iterations": [{"searches": [{"results": [result]}]} for result in results]}

    assert [result.id for result, _ in next(iter(judged.read_sessions([trace]))).results()] == ["f7"] * 3
