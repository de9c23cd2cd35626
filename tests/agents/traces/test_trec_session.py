"""Sessions of the TREC Session Track, in the XML of its four years."""

from __future__ import annotations

import pytest

from judged.agents.traces.context import TraceProblems
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect, stream_sessions
from judged.errors import BadInput

# Written after the track's guidelines and the examples in them.
YEAR_2012 = b"""<?xml version="1.0" encoding="utf-8"?>
<sessiontrack2012>
  <session num="1" starttime="09:54:20.000000">
    <topic num="7">
      <title>retirement plans</title>
      <desc>What is the difference between 403(b) and 401(k) plans?</desc>
    </topic>
    <interaction num="1" starttime="09:54:27.674484">
      <query>US tax code 403 (b)</query>
      <results>
        <result rank="2">
          <url>http://example.org/plans?id=1&page=2</url>
          <clueweb09id>clueweb09-en0010-79-01642</clueweb09id>
          <title>403b Plan</title>
          <snippet>Plans &amp; more ...</snippet>
        </result>
        <result rank="1">
          <url>http://example.org/code</url>
          <clueweb09id>clueweb09-enwp01-56-23264</clueweb09id>
          <title>Internal Revenue Code</title>
          <snippet/>
        </result>
      </results>
      <clicked>
        <click num="1" starttime="09:54:42.635247" endtime="09:54:43.722679"><rank>2</rank></click>
      </clicked>
    </interaction>
    <interaction num="2" starttime="09:55:00.000000">
      <query>401k</query>
      <results/>
    </interaction>
    <currentquery starttime="09:56:00.000000"><query>403b and 401k</query></currentquery>
  </session>
  <session num="2"><topic num="7"/><interaction num="1"><query>plans</query></interaction></session>
</sessiontrack2012>
"""

YEAR_2011 = b"""<sessiontrack2011>
<session num="4"><topic><title>kites</title></topic>
<interaction num="1"><query>kites</query><results>
<result rank="1"><url>http://example.org/k</url><clueweb09id>clueweb09-a</clueweb09id><title>K</title></result>
</results></interaction></session>
</sessiontrack2011>
"""

YEAR_2013 = (
    YEAR_2011.replace(b"2011", b"2013")
    .replace(b"clueweb09", b"clueweb12")
    .replace(b"<topic>", b'<topic num="9">')
)


def test_each_interaction_is_an_iteration_with_one_search() -> None:
    """Queries in their order; a query that found nothing counts, the current one, which was not asked, does not."""
    session, _ = stream_sessions(YEAR_2012)

    assert [[search.query for search in iteration.searches] for iteration in session.iterations] == [
        ["US tax code 403 (b)"],
        ["401k"],
    ]


def test_results_are_ordered_by_rank_with_the_id_that_qrels_have() -> None:
    """The second line of the file is rank 2; a bare ampersand is repaired."""
    session, _ = stream_sessions(YEAR_2012)
    found = [(result.id, result.url, result.title, result.snippet) for result, _ in session.results()]

    assert found == [
        ("clueweb09-enwp01-56-23264", "http://example.org/code", "Internal Revenue Code", None),
        (
            "clueweb09-en0010-79-01642",
            "http://example.org/plans?id=1&page=2",
            "403b Plan",
            "Plans & more ...",
        ),
    ]


def test_the_topic_is_the_task() -> None:
    """Sessions on one topic share its qrels; the description is the question."""
    sessions = list(stream_sessions(YEAR_2012))

    assert [(session.conversation, session.task) for session in sessions] == [("1", "7"), ("2", "7")]
    assert sessions[0].question == "What is the difference between 403(b) and 401(k) plans?"


@pytest.mark.parametrize(
    ("content", "task", "document"), [(YEAR_2011, "4", "clueweb09-a"), (YEAR_2013, "9", "clueweb12-a")]
)
def test_other_years_are_read(content: bytes, task: str, document: str) -> None:
    """Topics of 2011 have no number, so the session's is used; later years have other ids of documents."""
    (session,) = stream_sessions(content)

    assert (session.task, session.question, [result.id for result, _ in session.results()]) == (
        task,
        "kites",
        [document],
    )


def test_it_is_recognised_by_its_content() -> None:
    """With and without the line that says it is XML."""
    assert {detect(trace).name for year in (YEAR_2012, YEAR_2011) for trace in open_traces(year).traces} == {
        "trec-session"
    }


def test_broken_xml_is_refused_with_its_line() -> None:
    """An element that is closed by another's name is on the second line."""
    with pytest.raises(BadInput, match=r"bytes:2: is not XML: mismatched tag"):
        list(stream_sessions(b"<sessiontrack2012>\n<session></interaction></sessiontrack2012>"))


def test_xml_that_ends_too_soon_is_refused_and_what_was_whole_is_kept_by_a_lenient_reading() -> None:
    """The first session of a file that was cut off within the second is read."""
    cut = YEAR_2012[: YEAR_2012.index(b'<session num="2"') + 40]
    problems = TraceProblems()

    with pytest.raises(BadInput, match="ends before its last element does"):
        list(stream_sessions(cut, strict=True))
    assert [session.conversation for session in stream_sessions(cut, strict=False, problems=problems)] == [
        "1"
    ]
    assert problems.counts == {"broken-xml": 1}


def test_entities_cannot_be_declared() -> None:
    """A document type is refused before it can define entities that grow without end, or read files."""
    bomb = b'<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n<sessiontrack2012><session>&b;</session></sessiontrack2012>'

    with pytest.raises(BadInput, match=r"bytes:1: has a document type"):
        list(stream_sessions(bomb, format="trec-session"))


def test_signs_that_xml_forbids_are_left_out() -> None:
    """Snippets of the web hold control characters and entities of HTML."""
    content = YEAR_2011.replace(b"<title>K</title>", b"<title>K\x0b&nbsp;K</title>")
    (session,) = stream_sessions(content)

    assert [result.title for result, _ in session.results()] == ["K&nbsp;K"]


def test_a_session_within_a_session_is_part_of_it() -> None:
    """No file of the track has one; it breaks nothing."""
    inner = YEAR_2011.replace(b"<topic>", b'<session num="5"></session><topic>')

    assert [session.conversation for session in stream_sessions(inner)] == ["4"]


def test_a_lenient_reading_keeps_what_precedes_the_problem_on_a_broken_line() -> None:
    """A file may be one line."""
    line = YEAR_2011.replace(b"\n", b" ").replace(b"</sessiontrack2011>", b"</oops>")

    assert [session.conversation for session in stream_sessions(line, strict=False)] == ["4"]


def test_an_encoding_that_is_none_is_refused() -> None:
    """In words, as other faults are."""
    with pytest.raises(BadInput, match=r"bytes:1: is not XML"):
        list(stream_sessions(b'<?xml version="1.0" encoding="utf-99"?>\n' + YEAR_2011))
