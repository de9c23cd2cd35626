"""The plain form, for sessions that chance makes: reading what was written, the schema, and cut or damaged files."""

from __future__ import annotations

import io
import json
from collections import Counter
from copy import deepcopy
from importlib.resources import files
from typing import Any

from hypothesis import assume, example, given, settings, strategies as st
from jsonschema import Draft202012Validator

from judged.agents.tables import Hit, Iteration, Search, Session, Sessions
from judged.agents.traces.plain.write import to_plain, write_sessions
from judged.agents.traces.read import read_sessions, stream_sessions
from judged.agents.traces.results.ranks import set_ranks_aside
from judged.errors import JudgedError

SCHEMA = json.loads(
    files("judged.agents.traces.plain").joinpath("schema/session.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
names = st.text("abcxyz019_-", min_size=1, max_size=8)
maybe = st.none() | words
amounts = st.none() | st.floats(0, 1e9)


@st.composite
def results(draw: st.DrawFn) -> Hit:
    """A result with at least one key and at most one kind of id."""
    kind = draw(st.sampled_from(["id", "domain", "url", "title", "snippet"]))
    fields: dict[str, Any] = {name: draw(maybe) for name in ("url", "title", "snippet")}
    if kind == "id":
        fields["id"] = draw(names)
    elif kind == "domain":
        fields |= {"domain": draw(names), "domain_id": draw(words)}
    else:
        fields[kind] = draw(words)
    score = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    return Hit(**fields, score=draw(score), gain=draw(st.none() | st.integers(0, 4)))


searches = st.builds(
    Search, query=maybe, tool=st.none() | names, results=st.lists(results(), max_size=2).map(tuple)
)
iterations = st.builds(
    Iteration,
    searches=st.lists(searches, min_size=1, max_size=2).map(tuple),
    tokens=amounts,
    seconds=amounts,
    cost=amounts,
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """A session of at least one iteration, so that its trace has a search."""
    steps = tuple(draw(st.lists(iterations, min_size=1, max_size=2)))
    return Session(
        conversation=draw(names),
        system=draw(names),
        task=draw(names),
        question=draw(maybe),
        iterations=steps,
        turns=draw(st.integers(1, 3)),
        steps=len(steps) + draw(st.integers(0, 2)),
    )


def placed(session: Session, number: int) -> Session:
    """A session as it is read from a line."""
    moved = deepcopy(session)
    moved.place = f"bytes:{number}"
    return moved


@settings(max_examples=50)
@given(st.lists(sessions(), min_size=1, max_size=2))
def test_what_is_written_is_read_as_it_was(given_sessions: list[Session]) -> None:
    """Plain → session → plain loses nothing, as lines and as a table; ids that several pages share are lost by intent."""
    assume(all(set_ranks_aside(session, Counter()) == session for session in given_sessions))
    sink = io.BytesIO()
    write_sessions(given_sessions, sink)
    read = list(stream_sessions(sink.getvalue()))

    assert read == [placed(session, number) for number, session in enumerate(given_sessions, 1)]
    assert list(Sessions.from_sessions(read)) == read


@settings(max_examples=50)
@given(sessions())
def test_the_quick_way_and_the_slow_way_agree(session: Session) -> None:
    """An array, and an unknown field, are read object by object."""
    plain = json.loads(json.dumps(to_plain(session), default=_result))
    (quick,) = stream_sessions([plain])
    (slow,) = stream_sessions([{**plain, "unheard": "of"}])

    assert quick == slow


def _result(value: Any) -> Any:
    return {name: item for name in value.__struct_fields__ if (item := getattr(value, name)) is not None}


@settings(max_examples=50)
@given(sessions())
def test_what_is_written_keeps_to_the_schema(session: Session) -> None:
    """Every session in the plain form is valid."""
    VALIDATOR.validate(json.loads(json.dumps(to_plain(session), default=_result)))


values = (
    st.none()
    | st.booleans()
    | st.integers(-2, 6)
    | st.floats(-2, 6).filter(lambda x: x % 1)
    | st.just("")
    | words
)
jsons = st.recursive(
    values, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2)
)
RESULT_FIELDS = ["id", "domain", "domain_id", "url", "title", "snippet", "score", "gain"]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A session of one turn in which one field, of any level, has been given some other value, or taken away."""
    session = draw(sessions())
    session.turns = 1
    plain = json.loads(json.dumps(to_plain(session), default=_result))
    turn = plain["turns"][0]
    iteration = turn["iterations"][0]
    search = iteration["searches"][0]
    search["results"] = search["results"] or [{"id": "d1"}]
    places: list[tuple[Any, list[str]]] = [
        (plain, ["conversation", "system", "task", "turns"]),
        (turn, ["question", "iterations", "opened", "cited"]),
        (iteration, ["searches", "tokens", "seconds", "cost"]),
        (search, ["query", "tool", "results"]),
        (search["results"][0], RESULT_FIELDS),
    ]
    holder, fields = draw(st.sampled_from(places))
    field = draw(st.sampled_from(fields))
    if draw(st.booleans()):
        holder[field] = draw(jsons)
    else:
        holder.pop(field, None)
    turn_left = plain.get("turns")
    if isinstance(turn_left, list) and turn_left == [turn]:
        plain["turns"] = [
            {"iterations": [{"searches": [{"results": []}]}]},
            turn,
        ]  # so that there is a search
    return plain


def accepted(plain: dict[str, Any]) -> bool:
    """Whether a session is read, beside one that searches."""
    other = {"conversation": "other", "turns": [{"iterations": [{"searches": [{"results": []}]}]}]}
    try:
        list(stream_sessions([other, plain], format="plain", strict=True))
    except JudgedError:
        return False
    return True


@settings(max_examples=150)
@given(damaged())
@example(
    {"conversation": "c", "turns": [{"iterations": [{"searches": [{"results": [{"domain_id": "doi:x"}]}]}]}]}
)
@example(
    {"conversation": "c", "turns": [{"iterations": [{"searches": [{"results": [{"domain_id": "x"}]}]}]}]}
)
@example(
    {"conversation": "c", "iterations": [{"searches": [{"results": [{"id": "x", "score": "", "gain": ""}]}]}]}
)
def test_the_schema_and_the_reader_agree(plain: dict[str, Any]) -> None:
    """What one accepts, so does the other."""
    assert accepted(plain) == VALIDATOR.is_valid(plain)


@settings(max_examples=80)
@given(session=sessions(), cut=st.floats(0, 1), strict=st.booleans())
def test_a_file_cut_anywhere_is_read_or_refused_in_words(session: Session, cut: float, strict: bool) -> None:
    """No cut gives an error of another class."""
    sink = io.BytesIO()
    write_sessions([session, session], sink)
    content = sink.getvalue()
    try:
        read_sessions(content[: int(cut * len(content))], strict=strict)
    except JudgedError as error:
        assert str(error)
