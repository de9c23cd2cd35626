"""Where nuggets are lost: retrieved or not, said or not."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged.errors import BadInput, JudgedError

ANSWERS = {"bot": {"q1": "One.", "q2": "Two."}}
LABELS = [
    {"query": query, "nugget": nugget, "importance": importance, "label": label}
    for query, nugget, importance, label in [
        ("q1", "a", "vital", "support"),  # in d1, which was retrieved
        ("q1", "b", "vital", "not_support"),  # in d1
        ("q1", "c", "okay", "support"),  # in d9, which was not
        ("q1", "d", "okay", "not_support"),  # in no document
        ("q2", "e", "vital", "partial_support"),  # in d2
    ]
]
JUDGMENTS = [
    {"query": query, "intent": nugget, "document": document, "grade": grade}
    for query, nugget, document, grade in [
        ("q1", "a", "d1", 1),
        ("q1", "b", "d1", 2),
        ("q1", "c", "d9", 1),
        ("q1", "d", "d1", 0),
        ("q2", "e", "d2", 1),
    ]
]
RUN = {"q1": ["d0", "d1"], "q2": ["d2"]}


def test_every_nugget_is_in_one_of_four_shares() -> None:
    """q1: one nugget in each; q2: half of the one nugget said, of a retrieved document. By hand."""
    losses = judged.attribute_losses(ANSWERS, labels=LABELS, run=RUN, judgments=JUDGMENTS)
    by_query = {
        row.query: (row.retrieved_said, row.retrieved_unsaid, row.unretrieved_said, row.neither)
        for row in losses.queries
    }

    assert by_query == {"q1": (0.25, 0.25, 0.25, 0.25), "q2": (0.5, 0.5, 0.0, 0.0)}
    system = losses["bot"]
    assert (system.retrieved_said.mean, system.neither.mean, system.use) == (0.375, 0.125, 0.5)
    assert system.recall == pytest.approx(
        judged.evaluate_answers(ANSWERS, labels=LABELS, measures="NuggetRecall")["bot"]["NuggetRecall"]
    )
    assert "1 of 5 nuggets are in no judged document" in losses.notes[0].message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"strict": True}, {"q1": (0.25, 0.25, 0.25, 0.25), "q2": (0.0, 1.0, 0.0, 0.0)}),
        ({"importance": "vital"}, {"q1": (0.5, 0.5, 0.0, 0.0), "q2": (0.5, 0.5, 0.0, 0.0)}),
        ({"depth": 1}, {"q1": (0.0, 0.0, 0.5, 0.5), "q2": (0.5, 0.5, 0.0, 0.0)}),
        ({"rel": 2}, {"q1": (0.0, 0.25, 0.5, 0.25), "q2": (0.0, 0.0, 0.5, 0.5)}),
    ],
)
def test_options(options: dict[str, object], expected: dict[str, tuple[float, ...]]) -> None:
    """Partial support as none, vital nuggets alone, the first result alone, documents of grade 2 alone; by hand."""
    losses = judged.attribute_losses(ANSWERS, labels=LABELS, run=RUN, judgments=JUDGMENTS, **options)  # type: ignore[arg-type]

    assert {
        row.query: (row.retrieved_said, row.retrieved_unsaid, row.unretrieved_said, row.neither)
        for row in losses.queries
    } == expected


def test_each_system_may_have_its_run(tmp_path: Path) -> None:
    """TREC judgments have the nugget in the second column; a system without a run is refused."""
    qrels = tmp_path / "nuggets.qrels"
    qrels.write_text(
        "".join(f"{row['query']} {row['intent']} {row['document']} {row['grade']}\n" for row in JUDGMENTS)
    )
    answers = {**ANSWERS, "cat": {"q1": "One.", "q2": "Two."}}
    labels = [{**row, "system": system} for row in LABELS for system in ("bot", "cat")]
    runs = {"bot": RUN, "cat": {"q1": ["d9"], "q2": ["d3"]}}
    losses = judged.attribute_losses(answers, labels=labels, run=runs, judgments=qrels)

    assert (losses["bot"].neither.mean, losses["cat"].neither.mean) == (0.125, 0.5)
    with pytest.raises(BadInput, match="system `cat`: has no run"):
        judged.attribute_losses(answers, labels=labels, run={"bot": RUN}, judgments=qrels)


def test_what_is_wrong_is_said() -> None:
    """Judgments without nuggets, of nuggets that no list has, and answers without nuggets."""
    for judgments, words in [
        ({"q1": {"d1": 1}}, "says nothing of nuggets"),
        ([{**JUDGMENTS[0], "intent": "zz"}], "`zz` is not in the list of nuggets"),
    ]:
        with pytest.raises(JudgedError) as caught:
            judged.attribute_losses(ANSWERS, labels=LABELS, run=RUN, judgments=judgments)
        assert words in str(caught.value)
    with pytest.raises(JudgedError, match="hold no nuggets"):
        judged.attribute_losses(ANSWERS, labels=None, run=RUN, judgments=JUDGMENTS)


def test_they_are_saved_and_loaded(tmp_path: Path) -> None:
    """With their numbers and notes."""
    losses = judged.attribute_losses(ANSWERS, labels=LABELS, run=RUN, judgments=JUDGMENTS)
    losses.save(tmp_path / "losses.json")
    loaded = judged.load(tmp_path / "losses.json")

    assert str(loaded) == str(losses)
    assert list(loaded.tables()) == ["losses", "queries_lost"]


def test_one_query_has_no_interval() -> None:
    """Nor have shares that are equal for all queries; an interval of no width would claim certainty."""
    one = {"bot": {"q1": "One."}}
    labels = [row for row in LABELS if row["query"] == "q1"]
    losses = judged.attribute_losses(one, labels=labels, run=RUN, judgments=JUDGMENTS)

    assert all(row["low"] is None and row["high"] is None for row in losses.rows())
    assert "undefined: one query" in str(losses)


def test_missing_judgments_and_labels_are_noted() -> None:
    """Retrieved documents without a judgment, queries without results, nuggets without a label."""
    losses = judged.attribute_losses(
        ANSWERS,
        nuggets={"q1": ["a", "b", "c", "d", "x"], "q2": ["e"]},
        labels=LABELS,
        run={"q1": ["d1", "d7"]},
        judgments=JUDGMENTS,
    )
    notes = {note.code: note.message for note in losses.notes}

    assert "1 of 2 retrieved documents (50.0 %) have no judgment by nugget" in notes["unjudged-documents"]
    assert "no results for 1 query" in notes["queries-without-results"]
    assert "1 of 6 nuggets unlabelled" in notes["unlabelled"]
