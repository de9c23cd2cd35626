"""Encoders of one's own: functions, classes and objects, and an endpoint that speaks OpenAI's protocol, well or badly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judged.errors import BadPlugin, UnknownName
from judged.studies.stages.encoders.endpoint import OpenAI
from judged.studies.stages.encoders.function import Function
from judged.studies.stages.stage import StageFailed
from judged.studies.stages.vectors import VectorCache, encode_collection
from support.json_server import Asked, JsonServer, Reply, run_server
from support.pipelines import TEXTS, make_collection

MODULE = """
import numpy as np

def lengths(texts, scale=1.0):
    return [[scale * len(text), 1.0] for text in texts]

class Lengths:
    untrained = True
    identity = {"size": 2}
    def __init__(self, scale=1.0):
        self.scale = scale
    def encode(self, texts):
        return np.array(lengths(texts, self.scale))

class Sides:
    def encode_documents(self, texts):
        return [[len(text), 0.0] for text in texts]
    def encode_query(self, text):
        return [0.0, len(text)]

class Callable:
    def __call__(self, texts, scale=1.0):
        return lengths(texts, scale)

ready, called = Lengths(3.0), Callable()
number = 5
def fails(texts): raise KeyError("no such thing")
def words(texts): return ["a"] * len(texts)
def flat(texts): return [1.0] * len(texts)
def ragged(texts): return [[1.0], [1.0, 2.0]][: max(2, len(texts))]
def two(texts): return [[1.0, 2.0]] * 2
def nothing(texts): return None
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_encoders.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("own_encoders", None)


@pytest.mark.parametrize(
    ("place", "settings", "expected"),
    [
        ("lengths", {}, [3, 1]),
        ("lengths", {"scale": 2}, [6, 1]),
        ("Lengths", {"scale": 2}, [6, 1]),
        ("ready", {}, [9, 1]),
        ("ready.encode", {}, [9, 1]),
        ("called", {"scale": 2}, [6, 1]),
    ],
)
def test_a_function_a_class_or_an_object_encodes(
    place: str, settings: dict[str, Any], expected: list[float]
) -> None:
    """Settings go to the class, or to each call; the current folder is searched for the module."""
    encoder = Function(function=f"own_encoders:{place}", settings=settings).load(())

    assert encoder.encode_query("cat").tolist() == expected
    assert encoder.encode_documents(["cat", "cat"]).tolist() == [expected, expected]
    assert encoder.dimensions == 2


def test_an_object_may_encode_queries_and_documents_differently() -> None:
    """By two methods."""
    encoder = Function(function="own_encoders:Sides").load(())

    assert encoder.encode_query("cat").tolist() == [0, 3]
    assert encoder.encode_documents(["cat"]).tolist() == [[3, 0]]


def test_an_object_says_itself_whether_it_is_trained_and_what_it_is() -> None:
    """Its `untrained` and `identity` count, and so does the setting; the source is part of the identity."""
    assert Function(function="own_encoders:Lengths").load(()).untrained
    assert Function(function="own_encoders:lengths", untrained=True).load(()).untrained
    assert not Function(function="own_encoders:lengths").load(()).untrained
    identity = Function(function="own_encoders:Lengths").load(()).identity
    assert identity["size"] == "2"
    assert len(identity["source"]) == 64


def test_a_changed_source_is_another_encoder(tmp_path: Path) -> None:
    """So that cached vectors of the old one are not used."""
    before = Function(function="own_encoders:lengths").load(()).identity
    (tmp_path / "own_encoders.py").write_text(MODULE + "# changed\n")

    assert Function(function="own_encoders:lengths").load(()).identity != before


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("number", "`own_encoders:number` is of the type `int`"),
        ("fails", "`own_encoders:fails` failed: KeyError: 'no such thing'"),
        ("words", "is not an array of numbers"),
        ("flat", r"shape \(\) for one text"),
        ("two", r"returned an array of shape \(2, 2\) for one text, expected one row"),
        ("nothing", "own_encoders:nothing"),
        ("ragged", "own_encoders:ragged"),
    ],
)
def test_what_is_wrong_with_a_function_is_said(place: str, message: str) -> None:
    """With its name, and what it raised or returned."""
    collection = make_collection(["one", "two", "three"])

    with pytest.raises(StageFailed, match=message):
        encode_collection(Function(function=f"own_encoders:{place}"), collection, VectorCache())


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("own_encoders:length", "no attribute of `own_encoders` is called `length`"),
        ("no_such_module:x", "`no_such_module:x` cannot be imported"),
        ("lengths", "no encoder is called `lengths`"),
    ],
)
def test_a_place_that_is_none_is_an_error_in_words(place: str, message: str) -> None:
    """A module, an attribute or an entry point that does not exist."""
    with pytest.raises((BadPlugin, UnknownName), match=message):
        Function(function=place).load(())


def embed(asked: Asked) -> Reply:
    """Answer as the protocol says: the length of each text, its place, and 1; the last text first."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [len(text), at, 1.0]}
        for at, text in enumerate(asked.body["input"])
    ]
    return answer(rows[::-1])


def answer(rows: Any) -> Reply:
    """Return an answer of embeddings."""
    return Reply(
        {"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    """Return a server of embeddings; retries wait no longer than they must."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.01)
    with run_server(embed) as running:
        yield running


def load(server: JsonServer, **settings: Any) -> Any:
    """Return the encoder of the server."""
    return OpenAI(model="m", url=server.address, **{"timeout": 5, "retries": 2, **settings}).load(())


def test_an_endpoint_is_asked_as_the_protocol_says(server: JsonServer) -> None:
    """Texts in one request, vectors in the order of the texts, whatever their order in the answer."""
    encoder = load(server, query_prefix="query: ")

    assert encoder.encode_documents(["ab", "abc"]).tolist() == [[2, 0, 1], [3, 1, 1]]
    assert encoder.encode_query("ab").tolist() == [9, 0, 1]
    first = server.asked[0]
    assert (first.method, first.path) == ("POST", "/embeddings")
    assert first.body == {"input": ["ab", "abc"], "model": "m", "encoding_format": "float"}
    assert first.headers["authorization"] == "Bearer sk-secret-of-the-test"
    assert encoder.dimensions == 3


def test_dimensions_are_asked_for_and_checked(server: JsonServer) -> None:
    """A model that ignores them returns others, which is an error with a hint."""
    encoder = load(server, dimensions=2)

    with pytest.raises(StageFailed, match="3 dimensions, expected 2") as caught:
        encoder.encode_query("ab")
    assert server.asked[0].body["dimensions"] == 2
    assert "shorten" in str(caught.value.hint)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_passes_is_repeated(server: JsonServer, status: int) -> None:
    """Status 429 and 5xx, until one succeeds."""
    server.answer = lambda asked: (
        Reply({"error": {"message": "later"}}, status) if asked.number < 3 else embed(asked)
    )

    encoder = load(server)

    assert encoder.encode_query("ab").tolist() == [2, 0, 1]
    assert len(server.asked) == 3
    assert encoder.notes() == [
        f"2 requests to {server.address} had to be repeated; the waits are part of the times"
    ]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            Reply({"error": {"message": "over capacity"}}, 500),
            "gave no answer in 2 attempts: status 500: over capacity",
        ),
        (
            Reply({"error": {"message": "slow down"}}, 429),
            "gave no answer in 2 attempts: status 429: slow down",
        ),
        (
            Reply({"error": {"message": "bad key sk-secret-of-the-test"}}, 401),
            r"refuses the key \(401\): bad key \[key\]",
        ),
        (Reply({"error": {"message": "no model"}}, 404), r"has no such model or address \(404\): no model"),
        (Reply(None, 307, {"location": "http://127.0.0.1:9/x"}), "redirects to `http://127.0.0.1:9/x`"),
        (Reply(b"<html>hello</html>"), "something other than JSON: `<html>hello</html>`"),
        (Reply({"message": "hello"}), "not one of embeddings"),
        (Reply([1, 2]), "not one of embeddings"),
        (Reply(b"{"), "something other than JSON"),
        (answer([]), "0 vectors for 1 texts"),
        (answer([{"index": 0, "embedding": [1.0]}] * 2), "2 vectors for 1 texts"),
        (answer([{"index": 1, "embedding": [1.0]}]), "numbered from 0"),
        (answer([{"index": 0, "embedding": "abc"}]), "not rows of numbers"),
        (answer([{"index": 0, "embedding": [[1.0]]}]), "not rows of numbers"),
        (answer([{"index": 0}]), "not one of embeddings"),
        (Reply(status=0), "gave no answer"),
        (Reply({}, delay=30), r"gave no answer in 2 attempts: timeout after 0\.5 s"),
    ],
)
def test_what_an_endpoint_does_wrong_is_said(server: JsonServer, reply: Reply, message: str) -> None:
    """With its address and without the key; nothing of it becomes a vector."""
    server.answer = lambda _asked: reply
    encoder = load(server, timeout=0.5, total_timeout=2, retries=1)

    with pytest.raises(StageFailed, match=message) as caught:
        encoder.encode_query("ab")
    assert "sk-secret" not in str(caught.value)
    assert server.address in str(caught.value)


def test_an_endpoint_that_drips_ends_at_the_total_time(server: JsonServer) -> None:
    """A byte every 50 ms keeps any time-out of a socket from expiring."""
    server.answer = lambda asked: Reply(embed(asked).body, drip=0.05)

    with pytest.raises(StageFailed, match=r"gave no answer in 0\.5 s, retries included"):
        load(server, timeout=5, total_timeout=0.5).encode_query("ab")


def test_an_endpoint_that_is_down_is_an_error_in_words() -> None:
    """Connection refused."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    encoder = OpenAI(model="m", url="http://127.0.0.1:9", timeout=1, retries=0).load(())

    with pytest.raises(StageFailed, match=r"http://127\.0\.0\.1:9 gave no answer"):
        encoder.encode_query("ab")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e300"])
def test_numbers_that_are_not_finite_name_the_document(server: JsonServer, value: str) -> None:
    """The second document has one; the first 32 are a batch."""
    rows = ",".join(f'{{"index": {at}, "embedding": [1.0, {value if at == 1 else 2}]}}' for at in range(10))
    server.answer = lambda asked: (
        Reply(f'{{"object": "list", "data": [{rows}], "model": "m"}}'.encode())
        if len(asked.body["input"]) == 10
        else answer([{"index": 0, "embedding": [1.0, 2.0]}])
    )
    spec = OpenAI(model="m", url=server.address, timeout=5, retries=0)

    with pytest.raises(StageFailed, match=r"returned (NaN|infinity) for document `d1`"):
        encode_collection(spec, make_collection(), VectorCache())


def test_a_second_run_sends_three_texts(server: JsonServer) -> None:
    """To compare their vectors with those in the cache; not to find out how long vectors are."""
    server.answer = lambda asked: answer(
        [
            {"index": at, "embedding": [float(len(text)), 1.0, 2.0]}
            for at, text in enumerate(asked.body["input"])
        ]
    )
    cache, collection = VectorCache(), make_collection()
    spec = OpenAI(model="m", url=server.address)
    first = encode_collection(spec, collection, cache)
    count = len(server.asked)
    second = encode_collection(spec, collection, cache)

    assert [len(asked.body["input"]) for asked in server.asked[count:]] == [3]
    assert (second.documents == first.documents).all()
    assert second.cached == len(TEXTS)
    assert second.dimensions == 3


def test_an_address_or_a_key_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system is built, before anything is sent."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    with pytest.raises(StageFailed, match="no endpoint is given"):
        OpenAI(model="m").load(())
    with pytest.raises(StageFailed, match="NO_SUCH_KEY"):
        OpenAI(model="m", url="http://127.0.0.1:9", key_variable="NO_SUCH_KEY").load(())


def test_the_key_and_the_patience_are_no_part_of_what_vectors_depend_on() -> None:
    """The model, the address and the prefixes are."""
    plain, patient = OpenAI(model="m"), OpenAI(model="m", timeout=1, retries=9, key_variable="K", batch=7)

    assert plain.to_dict() == patient.to_dict()
    assert plain.to_dict() != OpenAI(model="m", query_prefix="x").to_dict()
    assert np.all([name in plain.to_dict() for name in ("model", "url", "dimensions", "normalise")])
