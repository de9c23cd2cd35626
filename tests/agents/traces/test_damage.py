"""Traces of every format, randomly damaged: read or refused, never with an error of another class."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st

from judged.agents.tables import Sessions
from judged.agents.traces.format import TRACE_FORMATS
from judged.agents.traces.read import stream_sessions
from judged.errors import JudgedError

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "traces"
FILES = sorted(
    path
    for folder in (GOLDEN, GOLDEN / "frameworks")
    for path in folder.iterdir()
    if path.suffix in {".json", ".jsonl", ".txt"}
)
DOCUMENTS = [
    json.loads(line) for path in FILES if path.suffix == ".jsonl" for line in path.read_text().splitlines()
]
DOCUMENTS += [json.loads(path.read_text()) for path in FILES if path.suffix == ".json"]

values = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", [], {}, [None], [[]], {"x": None}, ["x"], {"role": "user"}, [7]]
)
formats = st.none() | st.sampled_from(list(TRACE_FORMATS))


def read(source: Any, **how: Any) -> None:
    """Read all sessions and put them into a table; errors of ours are as good as sessions."""
    try:
        Sessions.from_sessions(list(stream_sessions(source, **how)))
    except JudgedError as error:
        assert str(error)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to every part of a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(item for key, part in inner for item in places(part, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another at the end of a path."""
    if not path:
        return new
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return changed


@settings(max_examples=300)
@given(st.data(), formats, st.booleans())
def test_any_part_may_be_anything(data: st.DataObject, name: str | None, strict: bool) -> None:
    """One value of a document is replaced; it is read as what it looks like, or in the given format."""
    document = data.draw(st.sampled_from(DOCUMENTS))
    damaged = put(document, data.draw(st.sampled_from(places(document))), data.draw(values))

    read([damaged, document], format=name, strict=strict)


@settings(max_examples=150)
@given(st.sampled_from(FILES), st.floats(0, 1), st.binary(max_size=3), st.booleans())
def test_any_bytes_may_be_lost_or_changed(file: Path, at: float, new: bytes, strict: bool) -> None:
    """A file is cut, or something is put in between."""
    content = file.read_bytes()
    cut = int(at * len(content))

    read(content[:cut], strict=strict)
    read(content[:cut] + new + content[cut + len(new) :], strict=strict)


@settings(max_examples=100)
@given(
    st.recursive(
        values | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "role",
                        "content",
                        "messages",
                        "turns",
                        "output",
                        "type",
                        "steps",
                        "result",
                        "query_id",
                        "response",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
    ),
    formats,
)
def test_what_is_no_trace_at_all_is_refused_in_words(value: Any, name: str | None) -> None:
    """Any JSON, read as any format."""
    read([value], format=name)
