"""Notes and warnings about labels and references, and where they are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import judged
from judged.agents.traces.summary import summarise
from judged.cli.main import judged as command
from judged.labels.pool import build_pool

GOLD = [{"task": "t1", "title": "Paris", "gain": 3}, {"task": "t1", "title": "Lyon", "gain": 2}]


def trace(*titles: str, **names: Any) -> dict[str, Any]:
    """A session that was given these pages, one an iteration."""
    results = [{"url": f"https://e.org/{title}", "title": title} for title in titles]
    searches = [
        {"searches": [{"query": f"about {result['title']}", "results": [result]}]} for result in results
    ]
    return {"conversation": "t1", **names, "turns": [{"question": "Which towns?", "iterations": searches}]}


def run(folder: Path, *arguments: str, **files: object) -> Any:
    """The outcome of a command in a folder with these files."""
    for name, rows in files.items():
        lines = rows if isinstance(rows, list) else [rows]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = [str(folder / part) if part.endswith(".jsonl") else part for part in arguments]
    return CliRunner().invoke(command, given, catch_exceptions=False)


def test_a_given_reference_is_used_by_every_measure_that_can() -> None:
    """One of two good pages was found: not all, and never."""
    found = judged.evaluate_sessions(
        [trace("Paris")], "Recall AllGoodReached IterationsForAllGoodResults", labels=GOLD, reference=GOLD
    )

    assert [(str(measure), found[measure]) for measure in found.measures] == [
        ("Recall@last", 0.5),
        ('AllGoodReached(reference="given")', 0.0),
        ('IterationsForAllGoodResults(reference="given")', 100.0),
    ]


def test_labels_by_the_id_of_the_conversation_count_where_the_task_is_the_question() -> None:
    """As in a file of gold titles made from the same data set."""
    assert judged.evaluate_sessions([trace("Paris", "Lyon")], "CG", labels=GOLD)["CG"] == 5


def test_labels_match_in_agreement_as_in_sessions() -> None:
    """By title alone, whatever else one side knows."""
    machine = [
        {"task": "t1", "title": "Paris", "url": "https://e.org/Paris", "snippet": "A town.", "gain": 4},
        {"task": "t1", "title": "Lyon", "id": "7", "tool": "web", "gain": 2},
    ]

    assert judged.agreement(machine, GOLD).items == 2


def test_labels_that_match_nothing_are_a_warning_and_keep_the_columns_of_gains(tmp_path: Path) -> None:
    """They are not taken as absent."""
    labels = [{"task": "t1", "url": "https://e.org/Nice", "gain": 3}]
    found = run(tmp_path, "sessions", "a.jsonl", "--labels", "b.jsonl", a=trace("Paris"), b=labels)

    assert "none of the 1 label matches a result" in " ".join(found.stderr.split())
    assert "CG@last" in found.stdout


def test_labels_that_never_reach_good_are_a_warning() -> None:
    """Unless good begins lower."""
    labels = [{**row, "gain": 1} for row in GOLD]
    notes = {
        measure: [
            note.code for note in judged.evaluate_sessions([trace("Paris")], measure, labels=labels).notes
        ]
        for measure in ("CG", "CG(good=1)")
    }

    assert ["nothing-good" in codes for codes in notes.values()] == [True, False]


def test_counts_have_no_good_results_to_miss() -> None:
    """A measure that knows no good results does not make a gain of 3 too low."""
    trace = {"conversation": "c", "iterations": [{"searches": [{"results": [{"id": "a", "gain": 3}]}]}]}
    evaluation = judged.evaluate_sessions([trace], ["N", "R", "Dup"])

    assert "nothing-good" not in {note.code for note in evaluation.notes}


def test_companions_have_the_same_good(tmp_path: Path) -> None:
    """`--good 1` is shown for the gain beside redundancy, too."""
    found = run(
        tmp_path,
        "sessions",
        "a.jsonl",
        "--labels",
        "b.jsonl",
        "-m",
        "SRR",
        "--good",
        "1",
        a=trace("Paris"),
        b=GOLD,
    )

    assert "CG(good=1)@last" in found.stdout
    assert "CG@last" not in found.stdout


def test_explain_shows_gains_of_the_file_of_labels_and_queries(tmp_path: Path) -> None:
    """For each result its own label, and the query that found it."""
    found = run(
        *(tmp_path, "sessions", "a.jsonl", "--labels", "b.jsonl", "--explain", "--format", "json"),
        a=trace("Paris", "Nice"),
        b=GOLD,
    )
    rows = json.loads(found.stdout)["tables"]["decisions"]

    assert [(row["query"], row["gain"]) for row in rows] == [("about Paris", 3), ("about Nice", None)]


def test_inspect_refuses_what_sessions_refuses(tmp_path: Path) -> None:
    """A session that appears twice."""
    twice = [trace("Paris"), trace("Lyon")]
    outcomes = [
        run(tmp_path, *words, "a.jsonl", "--strict", a=twice)
        for words in (("sessions",), ("sessions", "inspect"))
    ]

    assert [outcome.exit_code for outcome in outcomes] == [2, 2]
    assert all("appears twice for the system `a`" in " ".join(outcome.stderr.split()) for outcome in outcomes)
    assert summarise(twice, strict=False).sessions == 1


def test_folders_are_labelled_as_they_are_scored(tmp_path: Path) -> None:
    """Every file of the folder."""
    for name in ("Paris", "Lyon"):
        (tmp_path / f"{name}.json").write_text(json.dumps(trace(name, conversation=name)))

    assert [item.title for item in build_pool(tmp_path).items] == ["Lyon", "Paris"]
    assert len(judged.read_sessions(tmp_path)) == 2


def test_a_follow_up_is_labelled_with_what_was_asked_before() -> None:
    """`How tall is it?` means nothing alone."""
    turns = [{"question": "The Eiffel Tower?"}, {**trace("Paris")["turns"][0], "question": "How tall is it?"}]
    (item,) = build_pool([{"conversation": "c", "turns": turns}]).items

    assert item.query == "How tall is it?\n\nAsked earlier in the same conversation: The Eiffel Tower?"
    assert item.row["task"] == "The Eiffel Tower? / How tall is it?"


@pytest.mark.parametrize("measure", ["N", "R", "Dup", "Searches", "UR"])
def test_counts_are_compared_without_a_winner(measure: str, tmp_path: Path) -> None:
    """A difference and its interval, and nobody helped or hurt."""
    found = run(
        *(tmp_path, "sessions", "a.jsonl", "b.jsonl", "--baseline", "a", "-m", measure),
        a=[trace("Paris", task=str(at), conversation=str(at)) for at in range(3)],
        b=[trace("Paris", "Lyon", task=str(at), conversation=str(at)) for at in range(3)],
    )

    assert found.exit_code == 0
    assert f"Neither more nor less of {measure}" in found.stdout
    assert not any(word in found.stdout for word in ("helped", "hurt", "0/0", "0/3", "3/0"))
