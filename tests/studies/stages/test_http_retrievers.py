"""Existing systems behind an address: requests as declared, answers as found, and servers that misbehave."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from judged.studies.stages.retrievers.http import Elasticsearch, Http, fill_template
from judged.studies.stages.stage import StageFailed
from support.json_server import Asked, JsonServer, Reply, run_server
from support.pipelines import ask, make_workshop, read_spec

GOOD = [{"id": "d1", "score": 2.5}, {"id": "d0", "score": 1.0}]
STRANGE = [
    "cats & dogs = 50%?",
    'say "hi" \\ {"match_all": {}}',
    "数据 über 🦜",
    "{query} {depth} {{x}}",
    "a\nb\tc\x00d",
    "?q=other&depth=1#end",
    "",
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    """Return a server that answers well, until a test says otherwise; nobody waits between attempts."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.01)
    with run_server(lambda _asked: Reply(GOOD)) as running:
        yield running
    while OPEN:
        OPEN.pop().close()


OPEN: list[Any] = []
"""Searchers whose connections are closed when a test ends."""


def open_searcher(spec: Any, folder: Path) -> Any:
    """Return the searcher of a declaration, closed when the test ends."""
    OPEN.append(spec.build(make_workshop(folder)))
    return OPEN[-1]


def build(server: JsonServer, folder: Path, **settings: Any) -> Any:
    """Return the searcher of the server."""
    given_ = {
        "url": f"{server.address}/find",
        "body": {"q": "{query}", "n": "{depth}"},
        "timeout": 5,
        "attempts": 2,
    }
    return open_searcher(read_spec(Http, **{**given_, **settings}), folder)


@pytest.mark.parametrize("text", STRANGE)
def test_a_query_is_sent_as_it_is_and_changes_nothing_else(
    text: str, server: JsonServer, tmp_path: Path
) -> None:
    """In the body, and in the address: whatever it contains, it stays a value."""
    found = ask(build(server, tmp_path, scores="$[*].score"), text, 7)
    ask(
        build(server, tmp_path, method="GET", body=None, parameters={"q": "{query}", "n": "{depth}"}), text, 7
    )

    assert list(found) == [("d1", 2.5), ("d0", 1.0)]
    assert server.asked[0].body == {"q": text, "n": 7}
    assert server.asked[1].parameters == {"q": [text], "n": ["7"]}
    assert [asked.path for asked in server.asked] == ["/find", "/find"]


def test_half_a_surrogate_pair_is_replaced(server: JsonServer, tmp_path: Path) -> None:
    """Neither JSON nor an address can hold it alone; JSON has it escaped."""
    ask(build(server, tmp_path, method="GET", body=None, parameters={"q": "{query}"}), "a\ud800b")

    assert server.asked[0].parameters == {"q": ["a?b"]}


@given(text=st.text(), depth=st.integers(1, 1000))
def test_a_template_is_filled_without_looking_into_queries(text: str, depth: int) -> None:
    """The text is a value in the result, whole and unchanged; keys stay as they are."""
    template = {
        "{query}": ["{query}", {"size": "{depth}", "fixed": 1.5, "none": None}],
        "mixed": "{depth}: {query}",
    }

    assert fill_template(template, text, depth) == {
        "{query}": [text, {"size": depth, "fixed": 1.5, "none": None}],
        "mixed": f"{depth}: {text}",
    }


def test_the_address_keeps_its_own_parameters(server: JsonServer, tmp_path: Path) -> None:
    """And those of the query follow."""
    address = f"{server.address}/find?index=a%20b"
    ask(build(server, tmp_path, url=address, method="GET", body=None, parameters={"q": "{query}"}), "cat")

    assert server.asked[0].parameters == {"index": ["a b"], "q": ["cat"]}


@pytest.mark.parametrize(
    ("paths", "body", "expected"),
    [
        ({"ids": "$[*].id"}, GOOD, [("d1", -1.0), ("d0", -2.0)]),
        (
            {"ids": "$.hits[*].doc.key", "scores": "$.hits[*].s"},
            {"hits": [{"doc": {"key": 3}, "s": 2}]},
            [("3", 2.0)],
        ),
        ({"ids": "$.ids[*]"}, {"ids": ["d2", "d1"]}, [("d2", -1.0), ("d1", -2.0)]),
        ({"ids": "$.ids[*]"}, {"ids": []}, []),
        ({"ids": "$.ids[*]"}, {"ids": None}, []),
        ({"ids": "$..id"}, {"results": [{"id": "d4"}]}, [("d4", -1.0)]),
        ({"ids": "$..id"}, {"results": [], "took": 5}, []),
        ({"ids": "$[*].id"}, [], []),
        ({"ids": "$[*].id"}, None, []),
    ],
)
def test_ids_and_scores_are_found_by_their_paths(
    paths: dict[str, str], body: Any, expected: list[Any], server: JsonServer, tmp_path: Path
) -> None:
    """RFC 9535; an answer without results has none, which is no error."""
    server.answer = lambda _asked: Reply(body)
    searcher = build(server, tmp_path, **paths)
    if expected and expected[0][0] == "3":
        with pytest.raises(StageFailed, match="that the collection does not have, such as `3`"):
            ask(searcher, "cat")
    else:
        assert list(ask(searcher, "cat")) == expected


@pytest.mark.parametrize(
    ("paths", "body", "message"),
    [
        ({"ids": "$.results[*].docid"}, {"results": [{"id": "d0"}]}, r"without anything at `\$\.results"),
        ({"ids": "$.result[*].id"}, {"results": [{"id": "d0"}], "errors": []}, "without anything at"),
        ({"ids": "$.result[*].id"}, {"results": []}, "without anything at"),
        ({"ids": "$[*].id"}, {"error": "no such index"}, "no such index"),
        ({"ids": "$[*].id"}, "hello", "without anything at"),
        ({"ids": "$..id"}, {"results": [{"key": "d0"}]}, "without anything at"),
        ({"ids": "$[*].id", "scores": "$[*].score"}, [{"id": "d0"}], "1 ids and 0 scores"),
        ({"ids": "$[*].id"}, [{"id": {"a": 1}}], "as its id, expected text or a whole number"),
        ({"ids": "$[*].id"}, [{"id": ""}], "result 1 has .* as its id"),
        ({"ids": "$[*].id"}, [{"id": True}], "result 1 has .* as its id"),
        (
            {"ids": "$[*].id", "scores": "$[*].s"},
            [{"id": "d0", "s": "high"}],
            "result 1 has `'high'` as its score",
        ),
        ({"ids": "$[*].id"}, [{"id": "x"}], "that the collection does not have, such as `x`"),
    ],
)
def test_an_answer_of_another_form_is_an_error(
    paths: dict[str, str], body: Any, message: str, server: JsonServer, tmp_path: Path
) -> None:
    """A wrong path must not pass for a query without results."""
    server.answer = lambda _asked: Reply(body)

    with pytest.raises(StageFailed, match=message):
        ask(build(server, tmp_path, **paths), "cat")


@pytest.mark.parametrize("content", [b"<html>", b"", b"[1, 2", b"\xff\xfe", b"[" * 100_000, b"1" * 5000])
def test_what_is_no_json_is_an_error(content: bytes, server: JsonServer, tmp_path: Path) -> None:
    """However broken, and shown no further than a line."""
    server.answer = lambda _asked: Reply(content)

    with pytest.raises(StageFailed, match=r"other than JSON|without anything") as caught:
        ask(build(server, tmp_path), "cat")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 0])
def test_a_failure_that_passes_is_repeated_and_counted(
    status: int, server: JsonServer, tmp_path: Path
) -> None:
    """Those statuses, and a connection that is closed without an answer."""
    server.answer = lambda asked: Reply("later", status) if asked.number == 1 else Reply(GOOD)
    searcher = build(server, tmp_path)

    assert ask(searcher, "cat").documents == ("d1", "d0")
    assert any("1 request to" in note and "had to be repeated" in note for note in searcher.notes())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_repeated(status: int, server: JsonServer, tmp_path: Path) -> None:
    """With the server's words, on one line."""
    server.answer = lambda _asked: Reply({"error": "no\nsuch\nfield"}, status)

    with pytest.raises(StageFailed, match=rf"refuses the request: status {status}: no such field"):
        ask(build(server, tmp_path), "cat")
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(server: JsonServer, tmp_path: Path) -> None:
    """Queries and secrets go to the named address only."""
    server.answer = lambda _asked: Reply(None, 307, {"location": "http://127.0.0.1:9/elsewhere"})

    with pytest.raises(
        StageFailed, match=r"redirects to `http://127.0.0.1:9/elsewhere` \(307\), which is not followed"
    ):
        ask(build(server, tmp_path), "cat")
    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", [Reply(GOOD, delay=30), Reply(GOOD, drip=0.05)], ids=["stall", "drip"])
def test_an_answer_has_a_total_time(reply: Reply, server: JsonServer, tmp_path: Path) -> None:
    """From the request to the last byte: one that comes byte by byte is no answer in time."""
    server.answer = lambda _asked: reply
    started = perf_counter()

    with pytest.raises(StageFailed, match=r"gave no answer in 2 attempts: timeout after 0\.3 s"):
        ask(build(server, tmp_path, timeout=0.3), "cat")
    assert perf_counter() - started < 5


def test_an_answer_that_ends_early_is_asked_for_again(server: JsonServer, tmp_path: Path) -> None:
    """A truncated one might even be JSON."""
    server.answer = lambda asked: Reply(b"[]      ", cut=6) if asked.number == 1 else Reply(GOOD)

    assert ask(build(server, tmp_path), "cat").documents == ("d1", "d0")
    server.answer = lambda _asked: Reply(GOOD, cut=3)
    with pytest.raises(StageFailed, match="peer closed connection without sending complete message body"):
        ask(build(server, tmp_path), "cat")


def test_an_answer_that_is_too_large_is_not_read(
    server: JsonServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is it asked for again."""
    monkeypatch.setattr("judged.studies.stages.retrievers.http.ANSWER_BYTES", 1000)
    server.answer = lambda _asked: Reply(["x" * 2000])

    with pytest.raises(StageFailed, match="an answer of more than 1,000 bytes"):
        ask(build(server, tmp_path), "cat")
    assert len(server.asked) == 1


def test_a_server_that_is_down_is_an_error_in_words(server: JsonServer, tmp_path: Path) -> None:
    """Connection refused, with the address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    with pytest.raises(StageFailed, match="gave no answer in 2 attempts: no connection") as caught:
        ask(build(server, tmp_path, url=f"http://127.0.0.1:{port}/"), "cat")
    assert str(port) in str(caught.value)


def test_a_connection_is_kept_open(server: JsonServer, tmp_path: Path) -> None:
    """And one that the server closed in the meantime is opened again, without a wait that would be timed."""
    searcher = build(server, tmp_path)
    ask(searcher, "one")
    ask(searcher, "two")
    assert server.asked[0].port == server.asked[1].port
    server.answer = lambda _asked: Reply(GOOD, closes=True)
    for text in ("three", "four", "five"):
        ask(searcher, text)

    assert [asked.body["q"] for asked in server.asked] == ["one", "two", "three", "four", "five"]
    assert searcher.notes() == []
    searcher.close()


def test_a_server_that_asks_to_wait_is_heard_within_bounds(server: JsonServer, tmp_path: Path) -> None:
    """An hour is an error."""
    server.answer = lambda _asked: Reply("later", 429, {"retry-after": "3600"})

    with pytest.raises(StageFailed, match="asks to wait for 3,600 s"):
        ask(build(server, tmp_path), "cat")


def test_secrets_come_from_the_environment_and_are_shown_nowhere(
    server: JsonServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in errors that repeat them, nor in the settings that are stored."""
    monkeypatch.setenv("SEARCH_KEY", "Bearer 12345-secret")
    settings = {"secrets": {"Authorization": "SEARCH_KEY"}, "headers": {"X-Tenant": "a"}}
    searcher = build(server, tmp_path, **settings)
    ask(searcher, "cat")
    server.answer = lambda asked: Reply({"you sent": asked.headers["authorization"]}, 403)

    assert server.asked[0].headers["authorization"] == "Bearer 12345-secret"
    assert server.asked[0].headers["x-tenant"] == "a"
    with pytest.raises(StageFailed, match="refuses") as caught:
        ask(searcher, "cat")
    assert "12345" not in str(caught.value)
    assert "12345" not in json.dumps(read_spec(Http, url="http://x", body="{query}", **settings).to_dict())
    monkeypatch.delenv("SEARCH_KEY")
    with pytest.raises(StageFailed, match="SEARCH_KEY, named for the header `Authorization`, is not set"):
        build(server, tmp_path, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "ftp://x/"}, "the address is `ftp://x/`"),
        ({"url": "x.example/find"}, "expected one such as"),
        ({"url": "http://x:99999/"}, "expected one such as"),
        ({"url": "http://x/a b"}, "expected one such as"),
        ({"url": "http://x/a\r\nHost: y"}, "expected one such as"),
        ({"url": "http://me:secret@x/"}, "the address has a password"),
        ({"headers": {"authorization": "Bearer x"}}, "the header `authorization` holds a secret"),
        ({"ids": "$["}, "is not a JSONPath"),
        ({"scores": "][ "}, "is not a JSONPath"),
        ({"body": {"q": "fixed"}}, "neither `body` nor `parameters` has `{query}`"),
        ({"timeout": 0}, "timeout"),
        ({"attempts": 0}, "attempts"),
        ({"method": "DELETE"}, "method"),
    ],
)
def test_what_cannot_be_asked_is_refused_when_the_study_is_read(
    settings: dict[str, Any], message: str
) -> None:
    """Nothing is sent."""
    with pytest.raises(msgspec.ValidationError, match=message) as caught:
        read_spec(Http, **{"url": "http://x/", "body": "{query}", **settings})
    assert "secret@" not in str(caught.value)


# --- Elasticsearch


class Cluster:
    """As much of `_search` as the test needs: `match` and `multi_match` on texts, by shared words."""

    def __init__(self) -> None:
        self.texts = {"d0": "the cat sat", "d1": "a dog and a cat", "d2": "apple pie"}

    def answer(self, asked: Asked) -> Reply:
        """Return hits as Elasticsearch does."""
        if not asked.path.endswith("/_search"):
            return Reply({"error": {"type": "index_not_found_exception"}, "status": 404}, 404)
        query = asked.body["query"]
        text = query["match"]["text"]["query"] if "match" in query else query["multi_match"]["query"]
        scores = {name: float(len(set(text.split()) & set(one.split()))) for name, one in self.texts.items()}
        ranked = sorted((name for name in scores if scores[name]), key=lambda name: -scores[name])
        hits = [{"_index": "i", "_id": name, "_score": scores[name]} for name in ranked[: asked.body["size"]]]
        total = {"value": len(hits), "relation": "eq"}
        return Reply({"took": 1, "timed_out": False, "hits": {"total": total, "max_score": 1, "hits": hits}})


@pytest.mark.parametrize("field", ["text", ["title", "text^2"]])
def test_elasticsearch_is_asked_as_its_reference_says(field: Any, server: JsonServer, tmp_path: Path) -> None:
    """`match` on a field, `multi_match` on several, `size`, no sources; ids and scores of the hits."""
    server.answer = Cluster().answer
    spec = read_spec(Elasticsearch, url=server.address, index="my index", field=field)
    found = ask(open_searcher(spec, tmp_path), "a cat", 5)

    assert list(found) == [("d1", 2.0), ("d0", 1.0)]
    asked = server.asked[0]
    assert (asked.method, asked.path) == ("POST", "/my%20index/_search")
    expected = (
        {"match": {"text": {"query": "a cat"}}}
        if field == "text"
        else {"multi_match": {"query": "a cat", "fields": ["title", "text^2"]}}
    )
    assert asked.body == {"query": expected, "size": 5, "_source": False}


def test_elasticsearch_without_hits_finds_nothing(server: JsonServer, tmp_path: Path) -> None:
    """Which is no error; an index that does not exist is one."""
    server.answer = Cluster().answer
    spec = Elasticsearch(url=server.address, index="i")
    assert ask(open_searcher(spec, tmp_path), "zebra").documents == ()
    server.answer = lambda _asked: Reply({"error": {"type": "index_not_found_exception"}}, 404)

    with pytest.raises(StageFailed, match=r"refuses the request: status 404: .*index_not_found"):
        ask(open_searcher(spec, tmp_path), "cat")


def test_elasticsearch_takes_a_body_of_ones_own(server: JsonServer, tmp_path: Path) -> None:
    """With `{query}` and `{depth}` in it; hits that are sorted have no scores."""
    server.answer = lambda _asked: Reply({"hits": {"hits": [{"_id": "d3", "_score": None}]}})
    body = {
        "query": {"bool": {"must": [{"match": {"body": "{query}"}}]}},
        "size": "{depth}",
        "sort": ["date"],
    }
    spec = read_spec(Elasticsearch, url=server.address, index="a,b*", body=body)

    assert list(ask(open_searcher(spec, tmp_path), "cat", 3)) == [("d3", -1.0)]
    assert server.asked[0].body["query"]["bool"]["must"] == [{"match": {"body": "cat"}}]
    assert server.asked[0].path == "/a,b*/_search"
    with pytest.raises(msgspec.ValidationError, match=r"`body` has no `\{query\}`"):
        read_spec(Elasticsearch, url=server.address, index="i", body={"query": {"match_all": {}}})


@pytest.mark.parametrize(
    "answer",
    [
        {"timed_out": True, "hits": {"hits": [{"_id": "d0", "_score": 1.0}]}},
        {"timed_out": False, "_shards": {"total": 5, "failed": 1}, "hits": {"hits": []}},
    ],
)
def test_half_an_answer_of_elasticsearch_is_an_error(answer: Any, server: JsonServer, tmp_path: Path) -> None:
    """A search that timed out, or shards that failed, would pass for a worse system."""
    server.answer = lambda _asked: Reply(answer)

    with pytest.raises(StageFailed, match="covers part of the index only"):
        ask(open_searcher(Elasticsearch(url=server.address, index="i"), tmp_path), "cat")
