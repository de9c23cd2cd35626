"""Logs of every format become one table; what a format lacks is said, and what is wrong has its line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import judged
from judged.errors import BadInput, BadMeasure, BadSample, JudgedError, WrongKind

GENERIC = b"query,impression,document,rank,click\nq,1,a,1,0\nq,1,b,2,1\nr,2,a,1,0\n"
EVENTS = [
    {
        "action_name": action,
        "query_id": "1",
        "client_id": "u",
        "timestamp": time,
        "user_query": "tv",
        "event_attributes": {"object": {"object_id": document}, "position": {"ordinal": rank}},
    }
    for action, document, rank, time in [
        ("impression", "a", 1, "2024-05-01T10:00:00Z"),
        ("impression", "b", 2, "2024-05-01T10:00:00Z"),
        ("click", "b", 2, "2024-05-01T10:00:12Z"),
        ("add_to_cart", "a", 1, "2024-05-01T10:01:00Z"),
    ]
]


def rows(log: judged.Clicks, *columns: str) -> list[tuple[object, ...]]:
    """The values of some columns."""
    table = log.to_arrow()
    return list(zip(*(table[column].to_pylist() for column in columns), strict=True))


def test_a_table_of_columns() -> None:
    """A row for each document, by impression and rank."""
    log = judged.read_clicks(GENERIC)

    assert rows(log, "impression", "document", "rank", "click") == [
        ("1", "a", 1, False),
        ("1", "b", 2, True),
        ("2", "a", 1, False),
    ]


def test_rows_may_come_in_any_order() -> None:
    """Impressions are put together, and documents sorted by rank."""
    shuffled = b"query,impression,document,rank,click\nq,1,b,2,1\nr,2,a,1,0\nq,1,a,1,0\n"

    assert rows(judged.read_clicks(shuffled), "impression", "document") == [
        ("1", "a"),
        ("1", "b"),
        ("2", "a"),
    ]


@pytest.mark.parametrize("yes", ["1", "true", "True", "yes", "3", "1.0"])
def test_clicks_in_any_spelling(yes: str) -> None:
    """True, yes, and counts above 1 are clicks."""
    log = judged.read_clicks(f"query,impression,document,rank,click\nq,1,a,1,{yes}\n".encode())

    assert log.click.tolist() == [True]


def test_without_impressions_consecutive_rows_are_one() -> None:
    """Of a session and query, as long as ranks ascend; and the log says so."""
    text = b"session,query,document,rank,click\ns,q,a,1,0\ns,q,b,2,0\ns,q,a,1,1\nt,q,a,1,0\n"
    log = judged.read_clicks(text)

    assert np.diff(log.offset).tolist() == [2, 1, 1]
    assert "unnamed-impressions" in [note.code for note in log.notes]


def test_ranks_from_0_are_raised() -> None:
    """With a warning."""
    log = judged.read_clicks(b"query,impression,document,rank,click\nq,1,a,0,0\nq,1,b,1,1\n")

    assert log.rank is not None
    assert log.rank.tolist() == [1, 2]
    assert [note.severity for note in log.notes if note.code == "ranks-from-0"] == ["warning"]


def test_user_behavior_insights() -> None:
    """What was shown are events called impression; `action` says what counts as a click."""
    log = judged.read_clicks(EVENTS)
    carts = judged.read_clicks(EVENTS, action=["click", "add_to_cart"])

    assert rows(log, "query", "document", "rank", "click", "user") == [
        ("tv", "a", 1, False, "u"),
        ("tv", "b", 2, True, "u"),
    ]
    assert carts.click.tolist() == [True, True]
    assert judged.evaluate(None, log, "TimeToClick").mean() == {"TimeToClick": 12.0}
    assert any("events `impression`" in note.message for note in log.notes)


def test_user_behavior_insights_of_files(tmp_path: Path) -> None:
    """JSON lines, hits of a search, and a flat table of Parquet hold the same."""
    lines = tmp_path / "ubi_events.jsonl"
    lines.write_text("\n".join(json.dumps(event) for event in EVENTS))
    hits = tmp_path / "hits.json"
    hits.write_text(json.dumps({"hits": {"hits": [{"_source": event} for event in EVENTS]}}))
    flat = tmp_path / "events.parquet"
    pq.write_table(
        pa.Table.from_pylist(
            [
                {
                    "action_name": event["action_name"],
                    "query_id": "1",
                    "user_query": "tv",
                    "event_attributes.object.object_id": event["event_attributes"]["object"]["object_id"],  # type: ignore[index]
                    "event_attributes.position.ordinal": event["event_attributes"]["position"]["ordinal"],  # type: ignore[index]
                }
                for event in EVENTS
            ]
        ),
        flat,
    )

    expected = [("tv", "a", 1, False), ("tv", "b", 2, True)]
    for path in (lines, hits, flat):
        assert rows(judged.read_clicks(path), "query", "document", "rank", "click") == expected


def test_queries_say_what_was_shown_without_impressions() -> None:
    """The hits of `ubi_queries`, by `query_id`; clicks on others are counted."""
    queries = [{"query_id": "1", "user_query": "tv", "query_response_hit_ids": ["b", "c"], "client_id": "u"}]
    clicks = [event for event in EVENTS if event["action_name"] != "impression"]
    log = judged.read_clicks(clicks, queries=queries, action=["click", "add_to_cart"])

    assert rows(log, "document", "rank", "click") == [("b", 1, True), ("c", 2, False)]
    assert [note.message for note in log.notes if note.code == "stray-clicks"] == [
        "1 click on documents that were not shown: left out"
    ]
    with pytest.raises(BadInput, match="no events `impression`"):
        judged.read_clicks(clicks)
    with pytest.raises(BadMeasure, match="no event `buy`; there: impression, click and add_to_cart"):
        judged.read_clicks(EVENTS, action="buy")


def test_yandex() -> None:
    """A click belongs to the last results of its session that have the URL; without times in seconds."""
    log = judged.read_clicks(
        b"1\t0\tQ\t7\t0\ta\tb\n1\t5\tC\tb\n1\t7\tQ\t8\t0\ta\tb\n1\t9\tC\tb\n1\t9\tC\tz\n"
    )

    assert rows(log, "session", "query", "document", "rank", "click") == [
        ("1", "7", "a", 1, False),
        ("1", "7", "b", 2, True),
        ("1", "8", "a", 1, False),
        ("1", "8", "b", 2, True),
    ]
    assert "stray-clicks" in [note.code for note in log.notes]


def test_mind_has_no_ranks() -> None:
    """Its order is shuffled: measures of ranks are refused, and that is said."""
    log = judged.read_clicks(
        b"1\tU1\t11/11/2019 9:05:58 AM\tN1 N2\tN3-1 N4-0\n2\tU2\t11/12/2019 9:05:58 PM\t\tN5-0\n"
    )

    assert rows(log, "user", "document", "click") == [
        ("U1", "N3", True),
        ("U1", "N4", False),
        ("U2", "N5", False),
    ]
    assert judged.evaluate(None, log, "CTR").mean() == {"CTR": 0.5}
    with pytest.raises(BadMeasure, match="ClickRR needs ranks, which logs of MIND do not have"):
        judged.evaluate(None, log, "ClickRR")
    with pytest.raises(BadMeasure, match="click models need ranks"):
        judged.fit_clicks(log)
    notes = [note.message for note in judged.evaluate_clicks(log).notes]
    assert "no ranks: CTR@k, CTR(rank=), ClickRR, click models and interleaving cannot be computed" in notes


def test_outbrain_has_no_queries() -> None:
    """Its impressions are those of one query."""
    log = judged.read_clicks(b"display_id,ad_id,clicked\n1,42,0\n1,43,1\n2,42,0\n")

    assert (log.form, len(log), log.missing_queries) == ("outbrain", 2, True)


def test_lists_in_each_row() -> None:
    """Baidu-ULTR has an impression in each row."""
    table = pa.table(
        {
            "query_md5": ["q", "r"],
            "url_md5": [["x", "y"], ["z"]],
            "position": [[1, 2], [1]],
            "click": [[0, 1], [0]],
        }
    )

    assert rows(judged.read_clicks(table), "query", "document", "rank", "click") == [
        ("q", "x", 1, False),
        ("q", "y", 2, True),
        ("r", "z", 1, False),
    ]
    with pytest.raises(BadInput, match="rank has 1 values, and 2 documents were shown"):
        judged.read_clicks(table.set_column(2, "position", [[[1], [1]]]))


def test_a_dict_of_logs_is_several_systems() -> None:
    """Impressions of two files differ, whatever their ids."""
    log = judged.read_clicks({"old": GENERIC, "new": GENERIC})

    assert log.systems == ("old", "new")
    assert len(log) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"query,impression,document,rank\nq,1,a,1\n", "no column says what was clicked"),
        (b"impression,document,rank,click\n1,a,1,0\n", "no query among them"),
        (b"query,impression,document,rank,click\nq,1,a,x,1\n", "bytes:2: rank is `x`"),
        (b"query,impression,document,rank,click\nq,1,a,1.5,1\n", "rank is 1.5, expected a whole number"),
        (b"query,impression,document,rank,click\nq,1,a,1,maybe\n", "click is `maybe`, expected 0 or 1"),
        (b"query,impression,document,rank,click\nq,1,a,1,-1\n", "click is -1, expected 0 or 1"),
        (
            b"query,impression,document,rank,click\nq,1,a,1,0\nr,1,b,2,0\n",
            "has the query `r` here and `q` before",
        ),
        (
            b"query,impression,document,rank,click,propensity\nq,1,a,1,0,0\n",
            "propensity is 0, expected a prob",
        ),
        (
            b"query,impression,document,rank,click,dwell\nq,1,a,1,1,-3\n",
            "dwell is -3, expected seconds from 0",
        ),
        (
            b"query,impression,document,rank,click,time\nq,1,a,1,1,noon\n",
            "time is 'noon', expected seconds or a date",
        ),
        (b"1\t0\tQ\t7\t0\ta\n1\tC\tb\n", "bytes:2: 3 columns, expected `session"),
    ],
)
def test_what_is_wrong_is_named(text: bytes, message: str) -> None:
    """With its place, what was found and what was expected."""
    with pytest.raises(JudgedError) as caught:
        judged.read_clicks(text)

    assert message in str(caught.value)


def test_a_document_shown_twice_counts_once() -> None:
    """At its first rank, clicked if either was; with a warning."""
    log = judged.read_clicks(b"query,impression,document,rank,click\nq,1,a,1,0\nq,1,b,2,0\nq,1,a,3,1\n")

    assert rows(log, "document", "rank", "click") == [("a", 1, True), ("b", 2, False)]
    assert "repeated-documents" in [note.code for note in log.notes]


def test_interleaved_lists_of_several_versions_need_their_id() -> None:
    """A query with several lists, in a log that does not say which it showed, is refused."""
    lists = judged.interleave({"q": ["a", "b"]}, {"q": ["b", "a"]}, lists=2, names=["one", "other"])
    log = [{"query": "q", "impression": 1, "document": "a", "rank": 1, "click": 1}]

    with pytest.raises(BadInput, match="the log does not say which list"):
        judged.read_clicks(log, lists=lists)
    joined = judged.read_clicks([{**log[0], "list": "2"}], lists=lists)
    assert joined.team is not None
    with pytest.raises(BadInput, match="none of the documents"):
        judged.read_clicks([{**log[0], "document": "z", "list": "2"}], lists=lists)


def test_queries_are_for_events_only() -> None:
    """Another log has no use for them."""
    with pytest.raises(WrongKind, match="User Behavior Insights"):
        judged.read_clicks(GENERIC, queries=[{"query_id": 1}])


def test_impressions_of_two_systems_are_not_pairs() -> None:
    """`compare` refuses them rather than pair what has one id by chance."""
    ours, theirs = (judged.evaluate(None, judged.read_clicks(GENERIC), "CTR", name=name) for name in "ab")

    with pytest.raises(BadSample, match="not pairs"):
        judged.compare([ours, theirs])
