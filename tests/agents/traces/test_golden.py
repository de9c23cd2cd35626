"""One small trace in every format, written by hand after its description (tests/golden/traces/SOURCES.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from judged.agents.tables import Session
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect, read_sessions, stream_sessions

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "traces"
TOWER, PARIS = "https://en.wikipedia.org/wiki/Eiffel_Tower", "https://en.wikipedia.org/wiki/Paris"
QUESTION = "Where is the Eiffel Tower, and how tall is it?"
LOCATION, HEIGHT, LATER = "Eiffel Tower location", "Eiffel Tower height", "Eiffel Tower height 2026"
FILES = {
    "plain.jsonl": "plain",
    "openai-chat.jsonl": "openai-chat",
    "openai-responses.jsonl": "openai-responses",
    "anthropic.jsonl": "anthropic",
    "chatml.jsonl": "chatml",
    "search-r1.jsonl": "search-tags",
    "r1-searcher.jsonl": "search-tags",
    "react.txt": "react",
    "browsecomp-plus.json": "browsecomp-plus",
}
AT_ONCE = ["plain.jsonl", "openai-chat.jsonl", "openai-responses.jsonl", "anthropic.jsonl", "chatml.jsonl"]
TAGGED = ["search-r1.jsonl", "r1-searcher.jsonl"]


def first(file: str) -> Session:
    """The first session of a file."""
    return next(iter(read_sessions(GOLDEN / file)))


@pytest.mark.parametrize(("file", "name"), FILES.items())
def test_every_trace_is_known_by_its_content(file: str, name: str) -> None:
    """The format is found by what a file holds; here its name is hidden."""
    (trace,) = open_traces((GOLDEN / file).read_bytes()).traces

    assert detect(trace).name == name


@pytest.mark.parametrize(("file", "name"), FILES.items())
def test_naming_the_format_gives_what_finding_it_gives(file: str, name: str) -> None:
    """A format that is named reads the same sessions."""
    assert list(stream_sessions(GOLDEN / file, format=name)) == list(stream_sessions(GOLDEN / file))


@pytest.mark.parametrize("file", [*AT_ONCE, "browsecomp-plus.json"])
def test_searches_at_once_are_one_iteration_and_steps_without_a_search_are_left_out(file: str) -> None:
    """Two searches together, a page opened, then one search that found nothing: two iterations."""
    session = first(file)

    assert [[search.query for search in iteration.searches] for iteration in session.iterations] == [
        [LOCATION, HEIGHT],
        [LATER],
    ]
    assert [[len(search.results) for search in iteration.searches] for iteration in session.iterations] == [
        [2, 1],
        [0],
    ]


@pytest.mark.parametrize("file", AT_ONCE)
def test_results_belong_to_the_call_that_asked_for_them(file: str) -> None:
    """Outputs are joined to calls, in the order of the calls, whichever came first."""
    searches = first(file).iterations[0].searches

    assert [[result.url for result in search.results] for search in searches] == [[TOWER, PARIS], [TOWER]]


@pytest.mark.parametrize("file", [file for file in FILES if file != "react.txt"])
def test_system_task_and_question_are_taken_from_the_trace(file: str) -> None:
    """Whatever a format calls them, they are there; BrowseComp-Plus holds no question."""
    session = first(file)
    question = None if file == "browsecomp-plus.json" else QUESTION

    assert (session.system, session.task, session.question) == ("agent-a", "t1", question)


@pytest.mark.parametrize(
    ("file", "turns", "steps"),
    [
        ("plain.jsonl", 2, 4),
        ("openai-chat.jsonl", 2, 4),
        ("openai-responses.jsonl", 1, 4),
        ("anthropic.jsonl", 2, 3),  # the last search and the answer are one message
        ("chatml.jsonl", 1, 4),
        ("search-r1.jsonl", 1, 3),
        ("r1-searcher.jsonl", 1, 3),
        ("react.txt", 1, 4),
        ("browsecomp-plus.json", 1, 4),
    ],
)
def test_outputs_of_tools_are_no_turns_and_every_step_is_counted(file: str, turns: int, steps: int) -> None:
    """Counted by hand in the files."""
    session = first(file)

    assert (session.turns, session.steps) == (turns, steps)


@pytest.mark.parametrize("file", TAGGED)
def test_each_pair_of_search_tags_is_an_iteration(file: str) -> None:
    """Titles and texts are read from the documents; the tags of the instruction are no search."""
    session = first(file)
    found = [[(result.title, result.snippet) for result, _ in step.results()] for step in session.iterations]

    assert [step.searches[0].query for step in session.iterations] == [LOCATION, HEIGHT]
    assert found == [
        [
            ("Eiffel Tower", "A lattice tower on the Champ de Mars in Paris."),
            ("Paris", "The capital of France."),
        ],
        [("Eiffel Tower", "The tower is 330 metres tall.")],
    ]


def test_a_react_log_has_a_session_for_each_question() -> None:
    """The page that was asked for is one result; a page that was not found is no result; lists of results are read."""
    tower, builder = read_sessions(GOLDEN / "react.txt")
    pages = [[(result.title, result.snippet) for result, _ in step.results()] for step in tower.iterations]

    assert pages == [[("Eiffel Tower", "A lattice tower on the Champ de Mars in Paris.")], []]
    assert [result.url for result, _ in builder.results()] == ["https://en.wikipedia.org/wiki/Gustave_Eiffel"]
    assert builder.place.endswith("react.txt:15")


def test_tokens_and_seconds_are_there_where_the_trace_has_them() -> None:
    """Anthropic says `usage` (700 in, 112 out); the plain form has both."""
    anthropic, plain = first("anthropic.jsonl").iterations, first("plain.jsonl").iterations

    assert [item.tokens for item in anthropic] == [812, None]
    assert [(item.tokens, item.seconds) for item in plain] == [(812, 1.9), (None, None)]


def test_a_session_that_never_searched_is_there_without_iterations() -> None:
    """The second line of the plain trace calculates and does not search."""
    *_, last = read_sessions(GOLDEN / "plain.jsonl")

    assert (last.conversation, last.iterations, last.steps) == ("c2", (), 1)


def test_a_browsecomp_run_keeps_ids_and_scores() -> None:
    """Documents are known by `docid`; there are neither URLs nor titles."""
    session = first("browsecomp-plus.json")

    assert [(result.id, result.score) for result, _ in session.results()] == [
        ("7", 12.5),
        ("9", 9.25),
        ("7", 11.0),
    ]
