"""Two hundred real sessions of a web agent: how much of what it was given it had been given before.

The collection is Alibaba-NLP/DeepResearch, WebAgent/WebDancer/datasets/sample_traj.jsonl (see its SOURCE.txt). The
study that the rules rest on states 5,533 results and 841 repeats of a URL, 15.2 %. It read URLs up to the first closing
bracket, which makes one of `…/S1353-8020(25)00574-7/fulltext` and `…/S1353-8020(25)00574-7/pdf`: the one repeat of 841
that it found with another title. Read whole, the URLs give 840, which is 15.2 % as well.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.dedup.reference import clusters_by_loops
from judged.agents.dedup.find import Deduplicator, explain_duplicates, find_duplicates
from judged.agents.dedup.rules import Rules, Weights
from judged.agents.dedup.url import loose_key, strict_key
from judged.agents.tables import Hit

ITEM = re.compile(
    r"^\d+\. \[(?P<title>.*?)\]\((?P<url>\S+)\)\n(?P<text>.*?)(?=^\d+\. \[|^=======|^</tool_response>|\Z)",
    re.MULTILINE | re.DOTALL,
)
RULES = Rules()

Sessions = list[list[Hit]]


@pytest.fixture(scope="module")
def sessions(shared_data: Callable[[str], Path]) -> Sessions:
    """The results of each session in their order."""
    with gzip.open(shared_data("webdancer_traces") / "sample_traj.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [list(_results(json.loads(line)["messages"])) for line in lines]


def _results(messages: list[dict[str, str]]) -> Iterator[Hit]:
    for message in messages:
        if message["role"] == "user" and message["content"].startswith(
            "<tool_response>\nA Google search for"
        ):
            for found in ITEM.finditer(message["content"]):
                lines = found["text"].strip().splitlines()
                text = "\n".join(
                    line for line in lines if not line.startswith(("Date published:", "Source:"))
                )
                yield Hit(url=found["url"], title=found["title"], snippet=text.strip())


def repeats(sessions: Sessions, key: Callable[[Hit], object]) -> int:
    """How many results have the key of an earlier one of their session."""
    return sum(len(session) - len({key(result) for result in session}) for session in sessions)


def duplicates(sessions: Sessions, rules: Rules) -> int:
    """How many results are duplicates under some rules."""
    found = [[(result, "search") for result in session] for session in sessions]
    return sum(int((~find_duplicates(session, rules).first).sum()) for session in found)


def test_the_sessions_hold_what_their_source_says(sessions: Sessions) -> None:
    """200 sessions with 5,533 results."""
    assert len(sessions) == 200
    assert sum(map(len, sessions)) == 5_533


def test_urls_repeat_as_the_study_counted(sessions: Sessions) -> None:
    """826 repeats as written and 841 by either key, up to the first bracket; one less of each if read whole."""
    cut = [
        [Hit(url=result.url.partition(")")[0]) for result in session if result.url] for session in sessions
    ]

    assert repeats(cut, lambda result: result.url) == 826
    assert repeats(cut, lambda result: strict_key(result.url or "", RULES)) == 841
    assert repeats(cut, lambda result: loose_key(result.url or "", RULES)) == 841
    assert repeats(sessions, lambda result: result.url) == 825
    assert repeats(sessions, lambda result: strict_key(result.url or "", RULES)) == 840


def test_by_url_fifteen_per_cent_of_documents_are_redundant(sessions: Sessions) -> None:
    """Where texts say nothing, duplicates are the repeats of URLs: 840 of 5,533, 15.2 %."""
    by_url = duplicates(sessions, Rules(weights=Weights(text=0.0)))

    assert by_url == 840
    assert f"{by_url / 5_533:.1%}" == "15.2%"


def test_content_finds_documents_under_other_urls(sessions: Sessions) -> None:
    """Title and text of an earlier result, at another URL: 17 with equal words, 8 cut short; 865 in all, 15.6 %.

    The study counted 16 of these, by texts equal to the letter, and left them out of its 15.2 %. Counted here without
    the rules, 21 results have the words of an earlier one at no URL seen before; the texts of 4 had been shown on three
    hosts, so that they match nothing.
    """
    elsewhere = [
        (session[decision.result], session[: decision.result])
        for session in sessions
        for decision in explain_duplicates((result, "search") for result in session)
        if not decision.new and not decision.candidates[0].fields.url
    ]
    equal = [
        result for result, before in elsewhere if _words(result) in {_words(earlier) for earlier in before}
    ]
    total = duplicates(sessions, RULES)

    assert "https://historylink.org/File/10097" in [result.url for result, _ in elsewhere]
    assert (len(equal), len(elsewhere)) == (17, 25)
    assert total == 840 + 25
    assert f"{total / 5_533:.1%}" == "15.6%"


def _words(result: Hit) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", f"{result.title} {result.snippet}".lower()))


def test_a_snippet_that_vetoes_hides_more_than_half_of_the_redundancy(sessions: Sessions) -> None:
    """Six in ten repeats of a URL show another part of the page: by the letter of 001 they would all be new."""
    by_letter = duplicates(sessions, Rules(unit="strict"))
    same_snippet = repeats(
        sessions, lambda result: (strict_key(result.url or "", RULES), result.title, result.snippet)
    )

    assert same_snippet <= by_letter < duplicates(sessions, RULES) / 2


@pytest.mark.parametrize("unit", ["document", "passage", "strict"])
def test_real_sessions_come_out_as_by_loops(sessions: Sessions, unit: str) -> None:
    """The index and plain loops agree on all of them."""
    rules = Rules(unit=unit)  # type: ignore[arg-type]
    for session in sessions:
        found = [(result, "search") for result in session]
        fresh = Deduplicator(rules)
        keys = [fresh.make_keys(result, scope) for result, scope in found]

        assert find_duplicates(found, rules).of.tolist() == clusters_by_loops(found, keys, rules)
