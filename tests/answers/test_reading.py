"""Files of answers and labels as tools write them, and what is wrong with others, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.answers import read_responses
from judged.answers.reading.labels import read_labels
from judged.answers.reading.truth import read_nuggets, read_references
from judged.answers.sentences import split_sentences, take_citations
from judged.errors import BadInput, BadMeasure, JudgedError


def write(path: Path, content: str | list[dict[str, Any]]) -> Path:
    """Write a text, or rows as JSONL."""
    text = content if isinstance(content, str) else "".join(f"{json.dumps(row)}\n" for row in content)
    path.write_text(text, encoding="utf-8")
    return path


def list_parts(source: Any, **options: Any) -> list[tuple[str, str, int, str, tuple[str, ...]]]:
    """Return every part of the answers of a source."""
    return [
        (part.query, part.system, part.part, part.text, part.citations)
        for part in read_responses(source, **options)
    ]


# The answer format of the TREC RAG track: 2024 has everything on top, 2025 has ids under `metadata`.
TREC_2024 = {
    "run_id": "ag_rag_gpt4",
    "topic_id": "2024-145979",
    "topic": "what is vicarious trauma",
    "references": ["msmarco_v2.1_doc_50_1#4", "msmarco_v2.1_doc_35_2#8"],
    "response_length": 9,
    "answer": [
        {"text": "Vicarious trauma affects therapists.", "citations": [0, 1]},
        {"text": "It builds up over time.", "citations": []},
    ],
}
TREC_2025 = {
    "metadata": {"team_id": "t", "run_id": "run-2025", "narrative_id": "12", "narrative": "A long question."},
    "references": ["doc_a", "doc_b"],
    "answer": [{"text": "One sentence.", "citations": [1]}],
}


def test_answers_of_the_trec_rag_track(tmp_path: Path) -> None:
    """Citations count from 0 in the references; 2025 has ids under `metadata`."""
    path = write(tmp_path / "runs.jsonl", [TREC_2024, TREC_2025])

    assert list_parts(path) == [
        (
            *("2024-145979", "ag_rag_gpt4", 1, "Vicarious trauma affects therapists."),
            ("msmarco_v2.1_doc_50_1#4", "msmarco_v2.1_doc_35_2#8"),
        ),
        ("2024-145979", "ag_rag_gpt4", 2, "It builds up over time.", ()),
        ("12", "run-2025", 1, "One sentence.", ("doc_b",)),
    ]


def test_answers_of_alce(tmp_path: Path) -> None:
    """A document with its rows under `data`; marks count from 1 in `docs`, and the system is the file's name."""
    item = {
        "sample_id": "-77",
        "question": "Who?",
        "output": "It was Ada [1][2]. She wrote it in 1843.[2]",
        "docs": [{"id": "5", "title": "Ada", "text": "…"}, {"id": "9", "title": "Notes", "text": "…"}],
        "qa_pairs": [{"short_answers": ["Ada", "Lovelace"]}, {"short_answers": ["1843"]}],
    }
    path = tmp_path / "asqa-llama.json"
    path.write_text(json.dumps({"args": {"model": "llama"}, "data": [{**item, "query_id": "-77"}]}))

    assert list_parts(path) == [
        ("-77", "asqa-llama", 1, "It was Ada.", ("5", "9")),
        ("-77", "asqa-llama", 2, "She wrote it in 1843.", ("9",)),
    ]
    report = judged.evaluate_answers(path, references=path, measures="str_em")
    assert report["asqa-llama"]["Contains"] == 1.0


def test_the_true_answer_of_alce_is_not_scored(tmp_path: Path) -> None:
    """Files of ALCE hold it as `answer`, next to the `output`; a note says which column was read."""
    item = {
        "sample_id": "-77",
        "question": "Who?",
        "output": "It was Ada [1].",
        "docs": [{"title": "Ada", "text": "…"}],
    }
    rows = [
        {**item, "answer": "The true one."},
        {**item, "sample_id": "3", "output": None, "answer": "Another."},
    ]
    path = tmp_path / "asqa.json"
    path.write_text(json.dumps({"args": {}, "data": rows}))
    responses = read_responses(path)

    assert [(part.query, part.text, part.citations) for part in responses] == [
        ("-77", "It was Ada.", ("1",)),
        ("3", "", ()),
    ]
    assert responses.notes == ("answers are read from the column `output`, not from `answer`",)


def test_an_answer_that_is_json_is_a_text(tmp_path: Path) -> None:
    """A list of names, an object and a mark alone are what a system answered; a list of sentences is one."""
    texts = ['["Paris", "Lyon"]', '{"city": "Paris"}', "[1] Cats purr."]
    path = write(tmp_path / "a.jsonl", [{"query": f"q{at}", "answer": text} for at, text in enumerate(texts)])

    assert [part.text for part in read_responses(path)] == [*texts[:2], "Cats purr."]
    listed = read_responses([{"query": "q", "answer": '[{"text": "Cats purr.", "citations": ["d1"]}]'}])
    assert [(part.text, part.citations) for part in listed] == [("Cats purr.", ("d1",))]


def test_ids_of_a_row_go_before_those_of_its_metadata() -> None:
    """Metadata of other origin may have columns of the same names."""
    row = {"query": "q1", "answer": "A.", "metadata": {"query_id": "x", "output": "B.", "run_id": "bot"}}
    (part,) = read_responses([{**row, "query_id": "q1"}])

    assert (part.query, part.system, part.text) == ("q1", "bot", "A.")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("query,system,answer\nq1,bot,One. Two [1].\n", "a.csv"),
        ("query\tsystem\tanswer\nq1\tbot\tOne. Two [1].\n", "a.tsv"),
        ('{"query": "q1", "system": "bot", "answer": "One. Two [1]."}\n', "a.jsonl"),
        ('[{"question_id": "q1", "run": "bot", "response": "One. Two [1]."}]', "a.json"),
    ],
)
def test_tables_of_any_format(tmp_path: Path, content: str, name: str) -> None:
    """A row for each answer, which is split into sentences."""
    assert list_parts(write(tmp_path / name, content)) == [
        ("q1", "bot", 1, "One.", ()),
        ("q1", "bot", 2, "Two.", ("1",)),
    ]


def test_a_list_of_citations_without_marks_belongs_to_the_whole_answer() -> None:
    """Which sentence cites what is not known, so the answer is one part, and a note says so."""
    responses = read_responses([{"query": "q1", "answer": "One. Two.", "citations": ["d1", "d2"]}])

    assert [(part.text, part.citations) for part in responses] == [("One. Two.", ("d1", "d2"))]
    assert "one part each" in responses.notes[0]


def test_marks_count_the_citations_listed() -> None:
    """Where the text has marks, the list says what they stand for."""
    responses = read_responses([{"query": "q1", "answer": "One [2]. Two [1].", "citations": ["d1", "d2"]}])

    assert [part.citations for part in responses] == [("d2",), ("d1",)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("See Fig. 2 of Dr. Who et al. 2020.", ["See Fig. 2 of Dr. Who et al. 2020."]),
        ("It grew by 3.5 percent. J. R. Smith said so.", ["It grew by 3.5 percent.", "J. R. Smith said so."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Items:\n1. Cats purr.\n2. Dogs bark.", ["Items:", "1. Cats purr.", "2. Dogs bark."]),
        ("Cats [1]. [2] Dogs.", ["Cats [1]. [2]", "Dogs."]),
        ("猫です。犬です。", ["猫です。", "犬です。"]),
        ("e.g. cats, i.e. felines.", ["e.g. cats, i.e. felines."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Rule 1: marks after a full stop belong to the sentence before it."""
    assert split_sentences(text) == expected


def test_marks_are_taken_out() -> None:
    """Single ones, lists of them, and those after the full stop; years in brackets are marks too, and out of range."""
    assert take_citations("Cats [1, 2] purr [3][4].") == ("Cats purr.", (1, 2, 3, 4))


def test_labels_are_recognised_by_their_columns() -> None:
    """Nuggets, citations and claims; other names of columns and labels are understood."""
    assignment = {
        "qid": "q1",
        "run_id": "bot",
        "nuggets": [{"text": "n", "importance": "vital", "assignment": "support"}],
    }
    kinds = [
        read_labels([assignment])[0].rows[0],
        read_labels([{"query": "q1", "sentence": 1, "docid": "d1", "label": "PS"}])[0].rows[0],
        read_labels([{"query": "q1", "side": "truth", "claim": 1, "source": "d1", "label": "Entailment"}])[
            0
        ].rows[0],
    ]

    assert [type(row).__name__ for row in kinds] == ["Assignment", "Support", "Claim"]
    assert [row.label for row in kinds] == ["support", "partial", "entailed"]


def test_nuggets_of_nuggetizer(tmp_path: Path) -> None:
    """A line for each query, nuggets in a list; labels may name them by text or by id."""
    path = write(
        tmp_path / "n.jsonl",
        [{"qid": "q1", "query": "Why?", "nuggets": [{"text": "n1", "importance": "vital"}]}],
    )
    labels = [{"query": "q1", "nugget": "n1", "label": "support"}]
    report = judged.evaluate_answers({"bot": {"q1": "A."}}, nuggets=path, labels=labels)

    assert read_nuggets(path).rows[0].importance == "vital"
    assert report["bot"]["strict_vital_score"] == 1.0


DOCUMENTS = [  # `nuggetizer assign` on retrieved documents
    {
        "text": "Why?",
        "qid": "q1",
        "candidate_text": "…",
        "docid": document,
        "nuggets": [
            {"text": "a", "importance": "vital", "assignment": label},
            {"text": "b", "importance": "okay", "assignment": "not_support"},
        ],
    }
    for document, label in [("d1", "support"), ("d2", "partial_support")]
]


def test_nuggets_of_documents_are_no_labels_of_answers(tmp_path: Path) -> None:
    """They are refused as labels, and are judgments by nugget: support is of grade 2, partial support of grade 1."""
    path = write(tmp_path / "documents.jsonl", DOCUMENTS)
    with pytest.raises(BadInput, match="labels of nuggets and documents"):
        judged.evaluate_answers({"bot": {"q1": "A."}}, labels=path)
    labels = [{"query": "q1", "nugget": nugget, "label": "not_support"} for nugget in "ab"]

    def lost(run: list[str], **options: Any) -> float:
        given: dict[str, Any] = {"labels": labels, "judgments": path, "run": {"q1": run}}
        return judged.attribute_losses({"bot": {"q1": "A."}}, **given, **options)["bot"].neither.mean

    assert (lost(["d1"]), lost(["d2"]), lost(["d9"]), lost(["d2"], rel=2)) == (0.5, 0.5, 1.0, 1.0)


def test_a_labeller_that_failed_leaves_a_pair_unlabelled() -> None:
    """The tool writes `failed` for labels and importance; the nugget stays in the list."""
    nuggets = [
        {"text": "a", "importance": "vital", "assignment": "support"},
        {"text": "b", "importance": "failed", "assignment": "failed"},
    ]
    report = judged.evaluate_answers(
        {"bot": {"q1": "A."}}, labels=[{"query": "q1", "nuggets": nuggets}], measures="NuggetRecall"
    )

    assert (report["bot"]["NuggetRecall"], report.upper["bot"]["NuggetRecall"]) == (0.5, 1.0)


def test_labels_of_something_else_are_refused() -> None:
    """Another system, another query, another document: every pair would count as unlabelled."""
    nugget = {"query": "q1", "system": "bot", "nugget": "n", "label": "support"}
    citation = {"query": "q1", "part": 1, "document": "d9", "label": "full"}
    for label, words in [
        ({**nugget, "system": "cat"}, "the first is for the answer of `cat` to `q1`"),
        ({**nugget, "query": "q9"}, "the first is for the answer of `bot` to `q9`"),
        (citation, "to `q1`, part 1 of it citing `d9`"),
    ]:
        with pytest.raises(BadInput, match=words):
            judged.evaluate_answers({"bot": {"q1": "A [1]."}}, labels=[label])


def test_labels_of_a_file_may_be_given_a_system(tmp_path: Path) -> None:
    """RAGChecker names none: by a dict, by `NAME=FILE`, or by the name of the file that the answers came from."""
    record = {
        "query_id": "q1",
        "response": "A.",
        "response_claims": [["a"]],
        "answer2response": ["Entailment"],
    }
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps({"results": [record]}))
    two.write_text(json.dumps({"results": [{**record, "answer2response": ["Neutral"]}]}))
    named = judged.evaluate_answers(
        {"a": one, "b": two}, labels={"a": one, "b": two}, measures="ClaimPrecision"
    )
    files = judged.evaluate_answers([one, two], labels=[one, two], measures="ClaimPrecision")

    assert [named[name]["ClaimPrecision"] for name in ("a", "b")] == [1.0, 0.0]
    assert [files[name]["ClaimPrecision"] for name in ("one", "two")] == [1.0, 0.0]
    with pytest.raises(BadInput, match="names no system, expected one of `a`, `b`") as caught:
        judged.evaluate_answers({"a": one, "b": two}, labels=[one, two])
    assert "NAME=FILE" in str(caught.value)
    labels = [{"query": "q1", "system": system, "nugget": "n", "label": "support"} for system in "xy"]
    with pytest.raises(BadInput, match="holds labels of 2 systems"):
        judged.evaluate_answers({"a": one}, labels={"a": labels})


def test_what_looks_wrong_is_noted() -> None:
    """An empty answer that states a nugget; nuggets without any label."""
    label = {"query": "q1", "nugget": "n", "label": "support"}
    empty = judged.evaluate_answers({"bot": {"q1": ""}}, labels=[label])
    unused = judged.evaluate_answers({"bot": {"q1": "A."}}, nuggets={"q1": ["n"]})

    assert "1 empty answer of `bot` labelled as stating nuggets: `q1`" in empty.notes[0].message
    assert any(note.code == "nuggets-without-labels" for note in unused.notes)


def test_references_by_query() -> None:
    """Several rows are several answers, a list in a row has spellings of one."""
    rows = read_references({"q1": ["Paris", ["NYC", "New York"]]}).rows

    assert [(row.answer, row.group) for row in rows] == [
        ("Paris", "row 1"),
        ("NYC", "row 2"),
        ("New York", "row 2"),
    ]


ANSWERS = {"bot": {"q1": "One [1]. Two.", "q2": "Three."}}


@pytest.mark.parametrize(
    ("responses", "given", "words"),
    [
        (
            [{**TREC_2024, "answer": [{"text": "A.", "citations": [2]}]}],
            {},
            "citation `2` is out of range, expected a reference of the answer, 0 to 1",
        ),
        (
            [{"query": "q1", "answer": "A [3].", "documents": ["d1"]}],
            {},
            "citation `3` is out of range, expected a reference of the answer, 1 to 1",
        ),
        (
            [{**TREC_2024, "answer": [{"text": "A.", "citations": ["doc_z"]}]}],
            {},
            "citation `doc_z` is not among the 2 references of the answer",
        ),
        ([TREC_2024, TREC_2024], {}, "part 1 of the answer of `ag_rag_gpt4` to `2024-145979` occurs twice"),
        ([{"query": "q1", "answer": 3.5}], {}, "text is `3.5`, expected text"),
        ([{"query": "q1"}], {}, "no text"),
        (
            ANSWERS,
            {"labels": [{"query": "q1", "nugget": "n1", "label": 2}]},
            "label is `2`, expected one of `support`, `partial_support`, `not_support`",
        ),
        (
            ANSWERS,
            {"nuggets": {"q1": ["n1"]}, "labels": [{"query": "q1", "nugget": "n9", "label": "support"}]},
            "nugget `n9` of query `q1` is not in the list of nuggets",
        ),
        (
            ANSWERS,
            {"labels": [{"query": "q1", "part": 3, "document": "1", "label": "full"}]},
            "the answer of `bot` to `q1` has no part 3, expected 1 to 2",
        ),
        (
            ANSWERS,
            {
                "labels": [
                    {"query": "q1", "side": "truth", "claim": "c", "source": "answer", "label": "entailed"}
                ]
            },
            "a claim of the truth is labelled against itself (`answer`)",
        ),
        (ANSWERS, {"labels": [{"query": "q1", "verdict": "yes"}]}, "holds no labels of answers"),
        (ANSWERS, {"nuggets": {"q1": ["n1", "n1"]}}, "nugget `n1` of query `q1` occurs twice"),
        (
            {**ANSWERS, "cat": {"q1": "Two."}},
            {"labels": [{"query": "q1", "nugget": "n1", "label": "support"}]},
            "names no system, expected one of `bot`, `cat`",
        ),
        (
            ANSWERS,
            {
                "labels": [
                    {"query": "q1", "nugget": "n", "importance": word, "label": "support", "system": "bot"}
                    for word in ("vital", "okay")
                ]
            },
            "nugget `n` of query `q1` is okay here and vital elsewhere",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(responses: Any, given: dict[str, Any], words: str) -> None:
    """A citation out of range, a repeated answer, a nugget that no list has, a sentence that there is not."""
    with pytest.raises(BadInput) as caught:
        judged.evaluate_answers(responses, **given)

    assert words in str(caught.value)


def test_places_are_lines(tmp_path: Path) -> None:
    """All problems of a file come together, each with its line."""
    rows = [{"query": "q1", "nugget": "n", "label": word} for word in ("support", "maybe", "5")]
    path = write(tmp_path / "labels.jsonl", rows)
    with pytest.raises(BadInput) as caught:
        judged.evaluate_answers(ANSWERS, labels=path)

    assert f"{path}:2: label is `maybe`" in str(caught.value)
    assert f"{path}:3: label is `5`" in str(caught.value)


def test_a_measure_without_its_labels_is_refused() -> None:
    """It names what it needs."""
    with pytest.raises(BadMeasure, match="CitationRecall needs labels of citations"):
        judged.evaluate_answers(ANSWERS, measures="CitationRecall")
    labels = [{"query": "q1", "nugget": "n", "label": "support"}]
    with pytest.raises(BadMeasure, match="needs the importance of nuggets"):
        judged.evaluate_answers(ANSWERS, labels=labels, measures='NuggetRecall(importance="vital")')


def test_unlabelled_pairs_are_counted_shown_and_bounded() -> None:
    """One of two citations has no label: 0 by default, ½ to 1, or refused."""
    parts = [{"query": "q1", "part": 1, "text": "A.", "citations": ["d1", "d2"]}]
    labels = [{"query": "q1", "part": 1, "document": "d1", "label": "full"}]
    report = judged.evaluate_answers({"bot": parts}, labels=labels, measures="CitationPrecision")

    assert report["bot"]["CitationPrecision"] == 0.5
    assert report.upper["bot"]["CitationPrecision"] == 1.0
    assert "1 of 2 citations unlabelled (50.0 %): counted as no support" in [
        note.message for note in report.notes
    ]
    with pytest.raises(BadInput, match="1 of 2 citations have none"):
        judged.evaluate_answers(
            {"bot": parts},
            labels=labels,
            measures="CitationPrecision",
            protocol=judged.answers.AnswerProtocol(unlabelled="error"),
        )


def test_first_citations_are_counted_by_themselves() -> None:
    """Where only these were judged, no label is missing for the measures that read no others."""
    parts = [{"query": "q1", "part": 1, "text": "A.", "citations": ["d1", "d2"]}]
    labels = [{"query": "q1", "part": 1, "document": "d1", "label": "full"}]
    names = ['CitationPrecision(over="first")', 'CitationRecall(per="first")']
    protocol = judged.answers.AnswerProtocol(unlabelled="error")
    report = judged.evaluate_answers({"bot": parts}, labels=labels, measures=names, protocol=protocol)

    assert [report["bot"][name] for name in names] == [1.0, 1.0]
    assert not any(note.code == "unlabelled" for note in report.notes)
    with pytest.raises(BadInput, match="1 of 2 citations have none"):
        judged.evaluate_answers(
            {"bot": parts}, labels=labels, measures="CitationPrecision", protocol=protocol
        )


def test_labels_that_differ_are_counted() -> None:
    """The first counts by default; the protocol may take the last, or refuse."""
    labels = [{"query": "q1", "nugget": "n", "label": word} for word in ("support", "not_support")]
    protocol = judged.answers.AnswerProtocol
    values = [
        judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, protocol=protocol(conflict=rule))[
            "bot"
        ]["NuggetRecall"]
        for rule in ("first", "last")
    ]

    assert values == [1.0, 0.0]
    with pytest.raises(BadInput, match="is labelled `support` and `not_support`"):
        judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, protocol=protocol(conflict="error"))


def test_an_unanswered_query_scores_0_or_is_skipped() -> None:
    """It has nuggets and no answer: 0 and counted, unless the protocol skips it."""
    labels = [{"query": "q1", "nugget": "n", "label": "support"}]
    nuggets = {"q1": ["n"], "q2": ["m"]}
    protocol = judged.answers.AnswerProtocol
    zero, skip = (
        judged.evaluate_answers(
            {"bot": {"q1": "A."}}, nuggets=nuggets, labels=labels, protocol=protocol(missing=rule)
        )
        for rule in ("zero", "skip")
    )

    assert (zero["bot"]["NuggetRecall"], skip["bot"]["NuggetRecall"]) == (0.5, 1.0)
    assert "1 query not answered: scored as 0" in [note.message for note in zero.notes]


def test_attempts_are_averaged() -> None:
    """Two attempts of one query are its mean, and their spread is kept."""
    rows = [
        {"query": query, "attempt": attempt, "answer": "A."} for query in ("q1", "q2") for attempt in "ab"
    ]
    labels = [
        {"query": query, "attempt": attempt, "nugget": "n", "label": label}
        for query, attempt, label in [
            ("q1", "a", "support"),
            ("q1", "b", "not_support"),
            ("q2", "a", "support"),
            ("q2", "b", "support"),
        ]
    ]
    evaluation = judged.evaluate_answers({"bot": rows}, labels=labels, measures="NuggetRecall")["bot"]

    assert evaluation.scores.by_query("NuggetRecall") == {"q1": 0.5, "q2": 1.0}
    assert evaluation.scores.repeats["NuggetRecall"].tolist() == [[1.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("source", ["missing.jsonl", 7, b"\x00\x01", [], [1, 2], {"bot": 3}])
def test_what_is_no_table_of_answers(source: Any) -> None:
    """Every refusal is worded, none is a traceback."""
    with pytest.raises(JudgedError):
        judged.evaluate_answers(source)
