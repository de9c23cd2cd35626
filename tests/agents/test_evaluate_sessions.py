"""`evaluate_sessions` gives what source document 001 says, with the conventions that make it precise."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from agents.conversations import conversation
from judged.agents.analysis import average_tasks, upper_bound
from judged.agents.dedup.rules import Rules
from judged.agents.evaluate import evaluate_sessions
from judged.errors import BadInput, BadMeasure, BadProtocol, UnknownName

WORKED = conversation("c1", "a4 b3 c1 d0 a4", "e2 a4 b3", "f1 g2 a4 e2")
"""SPEC's worked example: iterations 4, 3, 1, 0, 4' and 2, 4', 3' and 1, 2, 4', 2' with ' for a duplicate."""


@pytest.mark.parametrize(
    ("measure", "expected"),
    [  # the worked example of 001 as it was made precise; six decimals are given there
        ("CG@3", 11),
        ("RG@3", 3.666667),
        ("DCG@3", 9.261860),
        ("DRG@3", 3.087287),
        ("AvgGain@3", 0.5),
        ("RAG@3", 0.855556),
        ("DRAG@3", 0.690207),
        ("SRE@3", 0.333333),
        ("SRR@3", 0.416667),
        ("IterationsForAllGoodResults", 3),
        ("R@3", 12),
        ("UR@3", 7),
        ("GR@3", 4),
        ("Dup@3", 5),
    ],
)
def test_the_worked_example_comes_out_of_a_trace(measure: str, expected: float) -> None:
    """From the trace to the number: duplicates are found by their ids."""
    assert evaluate_sessions([WORKED], measure)[measure] == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("conflict", "gain", "share"),
    [("first", 3, 0.25), ("max", 6, 0.50), ("last", 6, 0.50)],  # E4 of the worked examples
)
def test_a_result_labelled_twice_has_the_gain_that_the_policy_says(
    conflict: Any, gain: float, share: float
) -> None:
    """[a1 b3] [a3 c0]: with the first label a is worth nothing, else 3; credited in iteration 1 in any case."""
    trace = [conversation("c", "a1 b3", "a3 c0")]
    found = evaluate_sessions(trace, ["CG@2", "SRE@2", "CG@1"], conflict=conflict)
    assert (found["CG@2"], found["SRE@2"], found["CG@1"]) == (gain, share, gain)
    assert found.counts.conflicts == 1


def test_conflicting_labels_can_be_refused() -> None:
    """The message names the session, the result and both labels."""
    with pytest.raises(BadInput, match=r"session `c`: `a` is labelled 1 and later 3"):
        evaluate_sessions([conversation("c", "a1", "a3")], "CG", conflict="error")


def test_an_unlabelled_result_counts_0_and_at_most_4() -> None:
    """E5, [a3 b? c0] [b2 d?]: b has its later label, credited in iteration 1; d could add 4."""
    found = evaluate_sessions([conversation("c", "a3 b? c0", "b2 d?")], ["CG@2", "DCG@2", "SRE@2"])
    assert (found["CG@2"], found["SRE@2"]) == (5, 0.4)
    assert (upper_bound(found, "CG@2"), upper_bound(found, "SRE@2")) == (9, 0.6)
    assert upper_bound(found, "DCG@2") == pytest.approx(7.523719, abs=5e-7)
    assert found.counts.coverage == 3 / 4


def test_unlabelled_results_can_be_refused() -> None:
    """The message counts them by session."""
    with pytest.raises(BadInput, match=r"session `c` of `a`: 1 of 2 unique results have no gain"):
        evaluate_sessions([conversation("c", "a3 b?")], "CG", unlabelled="error")


def test_only_the_last_turn_counts_and_it_starts_clean() -> None:
    """E10: the first turn has [a3 b2], the last [a3 c2]: gain 5, nothing repeated."""
    trace = conversation("c", "a3 c2")
    trace["turns"] = conversation("c", "a3 b2")["turns"] + trace["turns"]
    found = evaluate_sessions([trace], ["CG", "SRR"])
    assert (found["CG"], found["SRR"]) == (5, 0)
    assert found.counts.earlier_turns == 1


def test_a_session_that_never_searched_stays_in_gains_and_leaves_shares() -> None:
    """It has no redundancy, and must not be the best at it."""
    idle = {"conversation": "idle", "system": "a", "turns": [{"iterations": []}]}
    found = evaluate_sessions([conversation("c", "a4 a4"), idle], ["CG", "SRR"])
    assert (found["CG"], found["SRR"]) == (2, 0.5)
    assert found.undefined("SRR") == 1
    assert found.counts.no_search == 1


def test_a_mean_of_nothing_is_undefined() -> None:
    """No session has a value: NaN, never 0."""
    found = evaluate_sessions([conversation("c", "", "")], ["SRR", "CG", "N"])
    assert isnan(found["SRR"])
    assert (found["CG"], found["N"], found.counts.no_results) == (0, 2, 1)


def test_what_joins_two_different_things_does_not_make_them_one() -> None:
    """E8: A(url, title 1), B(url, id), C(id, title 2): B joins A, and A's title keeps C out: SRR 1/3."""
    results = [
        {"url": "https://a.org/1", "title": "One thing"},
        {"url": "https://a.org/1", "id": "x"},
        {"id": "x", "title": "Another thing"},
    ]
    trace = {"conversation": "c", "turns": [{"iterations": [{"searches": [{"results": results}]}]}]}
    assert evaluate_sessions([trace], "SRR")["SRR"] == pytest.approx(1 / 3)


def test_labels_of_a_file_go_before_those_of_the_trace(tmp_path: Path) -> None:
    """A label counts for its own task only, one without a task for all; what it overrules is counted."""
    labels = tmp_path / "labels.jsonl"
    rows = [
        {"task": "t1", "id": "a", "gain": 4},
        {"id": "b", "gain": 2},
        {"task": "t9", "id": "z", "gain": 4},
    ]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    trace = [conversation("c1", "a1 b? z?", task="t1"), conversation("c2", "a1 b?", task="t2")]
    found = evaluate_sessions(trace, "CG", labels=labels)
    assert found.per_query().by_query("CG@last") == {"c1": 6, "c2": 2}
    assert (found.counts.overruled, found.counts.unused_labels) == (1, 1)


@pytest.mark.parametrize(
    ("label", "result"),
    [
        ({"url": "http://www.a.org/x?utm_source=openai"}, {"url": "http://www.a.org/x"}),
        ({"id": "https://a.org/x#part"}, {"url": "https://a.org/x"}),
        ({"id": "doi:10.1/abc"}, {"domain": "doi", "domain_id": "10.1/ABC"}),
        ({"domain": "mail", "domain_id": "7"}, {"domain": "mail", "domain_id": "7"}),
        ({"title": "T", "snippet": "Some text,  here"}, {"title": "t", "snippet": "some text here"}),
        ({"title": "Eiffel Tower"}, {"title": "eiffel tower", "snippet": "A tower."}),
    ],
)
def test_a_label_is_found_by_any_of_its_keys(label: dict[str, str], result: dict[str, str]) -> None:
    """Ids, URLs and texts are compared as deduplication compares them; judgments may have URLs for ids."""
    trace = {"conversation": "c", "turns": [{"iterations": [{"searches": [{"results": [result]}]}]}]}
    assert evaluate_sessions([trace], "CG", labels=[{**label, "gain": 3}])["CG"] == 3


def test_a_label_with_a_tool_is_of_that_tool_alone() -> None:
    """Two tools give the id `1` to different things."""
    searches = [{"tool": tool, "results": [{"id": "1"}]} for tool in ("web", "mail")]
    trace = {"conversation": "c", "turns": [{"iterations": [{"searches": searches}]}]}
    labels = [{"id": "1", "tool": "web", "gain": 4}, {"id": "1", "tool": "mail", "gain": 0}]
    assert evaluate_sessions([trace], "CG", labels=labels)["CG"] == 4
    assert evaluate_sessions([trace], "CG", labels=labels[:1])["CG"] == 4
    assert evaluate_sessions([trace], "CG", labels=[{"id": "1", "gain": 3}])["CG"] == 6


def test_a_label_is_also_found_by_what_deduplication_takes_for_the_same() -> None:
    """Another address of the same page, with its text cut short: title and beginning agree."""
    text = "A text that is longer than thirty characters, and goes on."
    label = {"url": "https://a.org/x", "title": "T", "snippet": text, "gain": 4}
    result = {"url": "https://b.org/y", "title": "t", "snippet": text[:40] + "…"}
    trace = {"conversation": "c", "turns": [{"iterations": [{"searches": [{"results": [result]}]}]}]}
    assert evaluate_sessions([trace], "CG", labels=[label])["CG"] == 4


def test_a_reference_of_all_systems_is_what_they_found_together() -> None:
    """E6: {a, b} is found by the second iteration; what only the other system found is missing."""
    trace = [
        conversation("one", "a3 x0", "b2", "a3 x0", task="t"),
        conversation("two", "a3", "z2", system="b", task="t"),
    ]
    wanted = [
        "Recall@1",
        "Recall",
        'IterationsForAllGoodResults(reference="given")',
        'IterationsForAllGoodResults(reference="own")',
    ]
    one = evaluate_sessions(trace, wanted, reference="union").systems["a"]
    assert [one[measure] for measure in wanted] == pytest.approx([1 / 3, 2 / 3, 100, 2])


def test_a_reference_of_judgments_counts_what_was_never_found() -> None:
    """Of three good documents of the judgments, one is found, whatever gain the trace gives it."""
    judgments = {"t": {"a": 2, "y": 3, "z": 4, "x": 0}}
    found = evaluate_sessions([conversation("c", "a0 x4", task="t")], ["Recall", "CG"], reference=judgments)
    assert found["Recall"] == pytest.approx(1 / 3)
    assert found["CG"] == 4


def test_a_measure_of_a_reference_needs_one() -> None:
    """It is refused before anything is read."""
    with pytest.raises(BadMeasure, match="what could have been found"):
        evaluate_sessions("no such file", "Recall")


def test_other_measures_need_no_second_reading() -> None:
    """The view is kept, so that further measures can be asked for."""
    found = evaluate_sessions([WORKED], "CG").measure(["SRR@1", "N"])
    assert found.mean() == {"SRR@1": 0.2, "N": 3}


def test_systems_are_evaluated_separately() -> None:
    """Each system has its own means; a dict names the systems, whatever their traces say."""
    trace = [conversation("c1", "a4", system="x"), conversation("c1", "a2", system="y")]
    found = evaluate_sessions(trace, "CG")
    assert {name: system["CG"] for name, system in found.systems.items()} == {"x": 4, "y": 2}
    assert found.per_query().queries.to_pylist() == ["x/c1", "y/c1"]
    named = evaluate_sessions({"old": [trace[0]], "new": [trace[1]]}, "CG")
    assert {name: system["CG"] for name, system in named.systems.items()} == {"old": 4, "new": 2}


def test_a_task_done_several_times_has_the_mean() -> None:
    """Systems are compared on tasks, not on attempts; an undefined value is left out of the mean."""
    trace = [conversation(f"c{gain}", f"a{gain}", task="t") for gain in (2, 4)]
    assert average_tasks(evaluate_sessions(trace, "CG")).scores.by_query("CG@last") == {"t": 3}


def test_a_conversation_given_twice_is_refused() -> None:
    """The same session twice would count twice; the message says what to do."""
    with pytest.raises(BadInput, match="appears twice for the system `a`"):
        evaluate_sessions([conversation("c", "a1"), conversation("c", "a2")], "CG", strict=True)


def test_a_conversation_given_twice_is_left_out_and_counted_when_lenient() -> None:
    """The first of them counts."""
    found = evaluate_sessions([conversation("c", "a2"), conversation("c", "a4")], "CG", strict=False)
    assert found["CG"] == 2
    assert any("repeated-session (1)" in note.message for note in found.notes)


def test_one_conversation_is_a_trace() -> None:
    """An object with turns is no dict of systems."""
    assert evaluate_sessions(WORKED, "CG")["CG"] == 11


def test_what_others_join_is_found_once() -> None:
    """In one session two results share nothing; another system's result has the URL of one and the text of both."""
    text = "A text that is longer than thirty characters."
    one = {"url": "https://a.org/1", "gain": 4}
    two = {"title": "T", "snippet": text, "gain": 4}
    both = {"url": "https://a.org/1", "title": "T", "snippet": text, "gain": 4}
    trace = [
        {
            "conversation": name,
            "system": name,
            "task": "t",
            "turns": [{"iterations": [{"searches": [{"results": found}]}]}],
        }
        for name, found in (("x", [both]), ("y", [one, two]))
    ]
    found = evaluate_sessions(trace, ["Recall", "GR"], reference="union")
    assert found.systems["y"]["GR"] == 2
    assert found.systems["y"]["Recall"] == 1


def test_an_unknown_conversation_is_named() -> None:
    """`only` chooses conversations; one that is not there is an error, not nothing."""
    trace = [conversation("c1", "a4"), conversation("c2", "a2")]
    assert evaluate_sessions(trace, "CG", conversations=["c2"])["CG"] == 2
    with pytest.raises(UnknownName, match="c3"):
        evaluate_sessions(trace, "CG", conversations=["c3"])


def test_settings_that_mean_nothing_are_refused() -> None:
    """The protocol says what it expected."""
    with pytest.raises(BadProtocol, match=r"`conflict` .* is `least`"):
        evaluate_sessions([WORKED], "CG", conflict="least")  # type: ignore[arg-type]


def test_every_convention_changes_the_fingerprint() -> None:
    """The protocol is part of the number."""
    how: list[dict[str, Any]] = [
        {},
        {"unit": "passage"},
        {"rules": Rules(threshold=0.9)},
        {"conflict": "max"},
        {"unlabelled": "error"},
        {"turn": "last-with-search"},
    ]
    prints = {evaluate_sessions([WORKED], "CG", **options).protocol.fingerprint for options in how}
    assert len(prints) == len(how)


names = st.sampled_from("abcdef")
labels = st.sampled_from("?01234")
iteration = st.lists(st.builds(str.__add__, names, labels), max_size=6).map(" ".join)


@given(st.lists(st.lists(iteration, min_size=1, max_size=4), min_size=1, max_size=4))
def test_the_identities_of_001_hold_for_every_session(sessions: list[list[str]]) -> None:
    """|R| = |UR| + |Dup| at every iteration, SRE + SRR ≤ 1, CG never falls, DCG ≤ CG; counted anew from the text."""
    trace = [conversation(f"c{at}", *iterations) for at, iterations in enumerate(sessions)]
    wanted = [
        f"{name}@{i}" for i in (1, 2, 4) for name in ("R", "UR", "GR", "Dup", "CG", "DCG", "SRE", "SRR")
    ]
    found = evaluate_sessions(trace, wanted).per_query()
    for at, session in enumerate(sessions):
        gains = _first_labels(" ".join(session).split())
        before = 0.0
        for i in (1, 2, 4):
            value = {
                name: found[f"{name}@{i}"][at] for name in ("R", "UR", "GR", "Dup", "CG", "DCG", "SRE", "SRR")
            }
            seen = " ".join(session[:i]).split()
            unique = {label[0] for label in seen}
            assert value["R"] == len(seen)
            assert value["UR"] == len(unique)
            assert value["GR"] == sum(gains[name] >= 2 for name in unique)
            assert value["R"] == value["UR"] + value["Dup"]
            assert value["CG"] == sum(gains[name] for name in unique if gains[name] >= 2)
            assert before <= value["CG"]
            assert value["DCG"] <= value["CG"] + 1e-9
            assert isnan(value["SRR"]) or value["SRE"] + value["SRR"] <= 1 + 1e-9
            before = value["CG"]


def _first_labels(results: list[str]) -> dict[str, int]:
    """The first label that each name has anywhere in the session; 0 where it has none."""
    found: dict[str, int] = {}
    for name, label in results:
        if label != "?":
            found.setdefault(name, int(label))
    return {name: found.get(name, 0) for name, _ in results}


@given(st.permutations(range(4)))
def test_the_order_of_sessions_changes_no_value(order: list[int]) -> None:
    """Each session is alone with itself."""
    trace = [conversation(f"c{at}", "a4 b3", f"a{at} c2") for at in range(4)]
    whole = evaluate_sessions(trace, ["CG", "SRR"])
    moved = evaluate_sessions([trace[at] for at in order], ["CG", "SRR"])
    assert moved.per_query().by_query("CG@last") == whole.per_query().by_query("CG@last")
    assert moved.mean() == pytest.approx(whole.mean())


def test_a_keyword_that_is_misspelt_is_refused() -> None:
    """Not passed over; the nearest name is suggested."""
    with pytest.raises(UnknownName, match=r"no argument of `evaluate_sessions` is called `lenint`"):
        evaluate_sessions([conversation("c", "x2")], "CG", lenint=True)  # type: ignore[call-arg]
