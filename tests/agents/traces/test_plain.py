"""The plain form: the line of the documentation, other names, what is refused and how, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judged.agents.tables import Hit, Iteration, Search, Session
from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import read_sessions, stream_sessions
from judged.errors import BadInput


def line(*results: Any, **more: Any) -> dict[str, Any]:
    """A conversation of one search with these results."""
    return {
        "conversation": "c1",
        "turns": [{"iterations": [{"searches": [{"results": list(results)}]}]}],
        **more,
    }


def jsonl(*lines: Any) -> bytes:
    """Lines of JSON."""
    return b"\n".join(json.dumps(item).encode() for item in lines)


def refused(*lines: Any) -> str:
    """Return the problems of lines that cannot be read."""
    with pytest.raises(BadInput) as caught:
        read_sessions(jsonl(*lines), strict=True)
    return str(caught.value)


def test_the_documented_line_is_read_field_by_field() -> None:
    """The line that the documentation begins with."""
    given = (
        '{"conversation": "c1", "system": "a", "task": "t7", "turns": [{"iterations": [{"searches": [{"query": "q",'
        ' "tool": "web", "results": [{"id": "generic id", "url": "https://a.org", "title": "T", "snippet": "S",'
        ' "score": 0.7, "gain": 3}]}], "tokens": 812, "seconds": 1.9}]}]}'
    )
    result = Hit(id="generic id", url="https://a.org", title="T", snippet="S", score=0.7, gain=3)
    search = Search(query="q", tool="web", results=(result,))
    session = Session(
        conversation="c1",
        system="a",
        task="t7",
        iterations=(Iteration(searches=(search,), tokens=812.0, seconds=1.9),),
        steps=1,
        place="bytes:1",
    )

    assert list(stream_sessions(given.encode())) == [session]


def test_all_but_results_may_be_missing() -> None:
    """Line number and file name the conversation, its task and its system."""
    (session,) = stream_sessions(
        jsonl({"turns": [{"iterations": [{"searches": [{"results": [{"id": "d1"}]}]}]}]}), name="a"
    )

    assert (session.conversation, session.task, session.system, session.question) == ("1", "1", "a", None)


def test_an_id_of_a_domain_is_kept_with_its_domain() -> None:
    """In fields of its own, or before a colon."""
    (session,) = stream_sessions(
        jsonl(line({"domain": "mail", "domain_id": "m1"}, {"id": "doi:10.1145/582415.582418"}))
    )

    assert [(result.domain, result.domain_id, result.id) for result, _ in session.results()] == [
        ("mail", "m1", None),
        ("doi", "10.1145/582415.582418", None),
    ]


def test_other_names_are_read_as_ours() -> None:
    """The superset that other evaluators write: session_id, user, invocations, docid, link, text."""
    given = {
        "session_id": "s1",
        "turns": [
            {
                "user": "why?",
                "iterations": [
                    {"invocations": [{"documents": [{"docid": 7, "link": "https://a.org", "text": "x"}]}]}
                ],
            }
        ],
    }
    (session,) = stream_sessions(jsonl(given))

    assert (session.conversation, session.question) == ("s1", "why?")
    assert [result for result, _ in session.results()] == [Hit(id="7", url="https://a.org", snippet="x")]


def test_iterations_need_no_turns() -> None:
    """A conversation of one turn need not say so; this is also how a `Session` is written by itself."""
    (session,) = stream_sessions(
        jsonl({"conversation": "c1", "iterations": [{"searches": [{"results": [{"id": "d1"}]}]}]})
    )

    assert [result.id for result, _ in session.results()] == ["d1"]


def test_only_the_last_turn_counts_unless_another_is_asked_for() -> None:
    """`last-with-search` is for conversations that end with thanks."""
    searched = {"iterations": [{"searches": [{"results": [{"id": "d1"}]}]}]}
    given = jsonl(
        line({"id": "d0"}),
        {"conversation": "c2", "turns": [searched, {"question": "thanks", "iterations": [{}]}]},
    )
    problems = TraceProblems()
    (_, last) = stream_sessions(given, problems=problems)
    (_, chosen) = stream_sessions(given, turn="last-with-search")

    assert (len(last.iterations), last.turns, len(chosen.iterations)) == (0, 2, 1)
    assert problems.notes == [
        "bytes: 1 sessions searched in an earlier turn but not in the last, which alone counts"
    ]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            {"id": "d1", "domain": "mail", "domain_id": "m1"},
            "has the id `d1` and the domain id `m1`, expected one or the other",
        ),
        ({"id": "d1", "gain": 5}, "its gain is `5`, expected a whole number from 0 to 4"),
        ({"id": "d1", "gain": -1}, "its gain is `-1`, expected a whole number from 0 to 4"),
        ({"id": "d1", "gain": 2.5}, "its gain is `2.5`, expected a whole number from 0 to 4"),
        ({"id": "d1", "gain": True}, "its gain is `True`, expected a whole number from 0 to 4"),
        ({"id": "d1", "gain": "3"}, "its gain is `'3'`, expected a whole number from 0 to 4"),
        ({"score": 0.5}, "has no id, domain id, URL, title or snippet, only `{'score': 0.5}`"),
        (
            {"id": "", "title": None},
            "has no id, domain id, URL, title or snippet, only `{'id': '', 'title': None}`",
        ),
        ({"domain_id": "m1"}, "has the domain id `m1` and no `domain` that it belongs to"),
        ({"id": "d1", "title": ["T"]}, "its title is `['T']`, expected text"),
        ({"id": "d1", "score": "high"}, "its score is `'high'`, expected a number"),
        ({"id": 1.5}, "its id is `1.5`, expected text"),
        ("d1", "is `'d1'`, expected an object"),
    ],
)
def test_a_faulty_result_is_refused_with_its_place(result: Any, expected: str) -> None:
    """File, line, session, iteration, search and result are named, with what was got and expected."""
    message = refused(line({"id": "d0"}), line({"id": "d0"}, result))

    assert f"bytes:2: session `c1`, iteration 1, search 1, result 2: {expected}" in message


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"conversation": "c1", "turns": {}},
            "bytes:1: session `c1`: its `turns` are an object, expected a list",
        ),
        (
            {"conversation": "c1", "turns": [{"iterations": [{"searches": [{"query": "q"}]}]}]},
            "bytes:1: session `c1`, iteration 1, search 1: has no `results`; one that found nothing has `[]`",
        ),
        (
            {"conversation": "c1", "turns": [{"iterations": [{"searches": 3}]}]},
            "bytes:1: session `c1`, iteration 1: its `searches` are a number, expected a list of search objects",
        ),
        (
            {"conversation": "c1", "turns": [{"iterations": [{"tokens": -2, "searches": []}]}]},
            "bytes:1: session `c1`, iteration 1: its `tokens` are `-2`, expected a number of at least 0",
        ),
        (
            {"conversation": ["c"], "turns": [{"iterations": []}]},
            "bytes:1: session `1`: its `conversation` is a list, expected text",
        ),
        ("no object", "bytes: session `1`: is a text, expected an object"),
    ],
)
def test_a_faulty_session_is_refused_with_its_place(given: Any, expected: str) -> None:
    """Whatever part of it is malformed."""
    with pytest.raises(BadInput) as caught:
        read_sessions(jsonl(given), format="plain", strict=True)

    assert expected in str(caught.value)


def test_all_faults_of_a_session_are_reported_together_and_those_of_the_next_are_not() -> None:
    """Reading stops at the first session that has any."""
    message = refused(line({"id": "d1", "gain": 9}, {}), line({"id": "d1", "gain": 8}))

    assert message.splitlines()[:3] == [
        "bytes cannot be scored: gain-out-of-range (1), result-without-key (1)",
        "  bytes:1: session `c1`, iteration 1, search 1, result 1: its gain is `9`, expected a whole number from 0 to 4",
        "  bytes:1: session `c1`, iteration 1, search 1, result 2: has no id, domain id, URL, title or snippet, only `{}`",
    ]


def test_a_lenient_reading_leaves_out_what_is_faulty_and_counts_it() -> None:
    """Two results of the first line, the search of the second, the third line whole."""
    given = jsonl(
        line({"id": "d1", "url": 9}, {"id": "d2"}, {}),
        {"conversation": "c2", "turns": [{"iterations": [{"searches": [{"results": 7}]}]}]},
        {"conversation": "c3", "turns": "none"},
    )
    problems = TraceProblems()
    sessions = list(
        stream_sessions(given + b'\n{"conversation": "c4", "tur', strict=False, problems=problems)
    )

    assert [(session.conversation, len(list(session.results()))) for session in sessions] == [
        ("c1", 1),
        ("c2", 0),
    ]
    assert problems.counts == {
        "malformed-result": 1,
        "result-without-key": 1,
        "malformed-session": 2,
        "broken-json": 1,
    }
    assert problems.sentences()[0].startswith("left out: malformed-session (2); first bytes:2: session `c2`")


def test_truncated_json_is_reported_with_its_line_and_how_far_it_could_be_read() -> None:
    """The last line of a file that was cut off."""
    with pytest.raises(BadInput) as caught:
        read_sessions(jsonl(line({"id": "d1"})) + b'\n{"conversation": "c2", "turns": [{"iter', strict=True)

    assert 'bytes:2: is truncated after 39 bytes, at `…{"conversation": "c2", "turns": [{"iter`' in str(
        caught.value
    )


def test_malformed_json_is_reported_with_the_byte_it_breaks_at() -> None:
    """A comma is missing after `"c2"`."""
    with pytest.raises(BadInput, match="bytes:2: is not JSON: expected ',' or '}' at byte 22, after"):
        read_sessions(jsonl(line({"id": "d1"})) + b'\n{"conversation": "c2" "turns": []}', strict=True)


def test_a_trace_without_any_search_is_refused() -> None:
    """One session that never searches is legal; a trace of nothing else is no trace of searches."""
    message = refused({"conversation": "c1", "turns": [{"iterations": [{}]}]})

    assert "bytes: its one session calls no tool" in message
    assert "none of its 2 sessions searches" in refused(
        {"turns": [{"iterations": []}]}, {"turns": [{"iterations": []}]}
    )


def test_an_empty_trace_is_refused() -> None:
    """As is a file of blank lines."""
    with pytest.raises(BadInput, match="holds no session"):
        read_sessions(b"\n \n")


@pytest.mark.parametrize("depth", range(50, 1000, 50))
def test_values_nested_without_end_are_refused_in_words(depth: int) -> None:
    """Whether it is the decoder, the reader or the message that gives up."""
    nested = '{"title": ' + "[" * depth + "]" * depth + "}"
    given = '{"conversation": "c1", "iterations": [{"searches": [{"results": [' + nested + "]}]}]}"

    with pytest.raises(BadInput):
        read_sessions(given.encode(), strict=True)
