"""Judgments by intent, however they are held: read when they should be, scored alike, refused where wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from click.testing import CliRunner

from judged.cli.main import judged
from judged.errors import BadInput, BadMeasure
from judged.io.read import read_judgments
from judged.io.write import write_judgments
from judged.scoring.evaluate import evaluate
from judged.tables.judgments import Judgments

ROWS = [
    ("1", "1", "a", 1),
    ("1", "2", "a", 2),
    ("1", "2", "b", 1),
    ("1", "10", "c", 2),
    ("1", "1", "d", 0),
    ("2", "1", "x", 1),
    ("2", "5", "y", 1),
]
TEXT = "".join(f"{query} {intent} {document} {grade}\n" for query, intent, document, grade in ROWS)
RUN = {"1": ["b", "a", "u"], "2": ["y"]}
MEASURES = ["alpha_nDCG@20", "ERR_IA@20", 'IA(of="nDCG@10")', "nDCG@10", "P@5"]
FIELDS = ("query", "intent", "document", "grade")


class Qrel(NamedTuple):
    """A judgment as ir_measures and ir_datasets hold it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


def nested() -> dict[str, Any]:
    """The judgments as query → document → intent → grade."""
    made: dict[str, Any] = {}
    for query, intent, document, grade in ROWS:
        made.setdefault(query, {}).setdefault(document, {})[intent] = grade
    return made


def columns() -> dict[str, list[Any]]:
    """The judgments column by column."""
    return dict(zip(FIELDS, map(list, zip(*ROWS, strict=True)), strict=True))


def table() -> pa.Table:
    """The judgments as an Arrow table."""
    return pa.table(columns())


SOURCES: dict[str, Callable[[], Any]] = {
    "TREC text": TEXT.encode,
    "reversed TREC text": lambda: "\n".join(reversed(TEXT.split("\n"))).strip().encode(),
    "dict": nested,
    "frame": table,
    "subtopic_id": lambda: table().rename_columns(["query_id", "subtopic_id", "doc_id", "relevance"]),
    "iteration": lambda: table().rename_columns(["query_id", "iteration", "doc_id", "relevance"]),
    "named tuples": lambda: [Qrel(query, document, grade, intent) for query, intent, document, grade in ROWS],
    "dicts": lambda: [dict(zip(FIELDS, row, strict=True)) for row in ROWS],
    "CSV": lambda: "\n".join([",".join(FIELDS), *(",".join(map(str, row)) for row in ROWS)]).encode(),
    "JSONL": lambda: "\n".join(json.dumps(dict(zip(FIELDS, row, strict=True))) for row in ROWS).encode(),
    "JSON": lambda: json.dumps(nested()).encode(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_same_rows_give_the_same_numbers(source: Callable[[], Any]) -> None:
    """However judgments by intent are held, and in whatever order their rows stand."""
    expected = evaluate(Judgments.from_columns(**columns()), RUN, MEASURES).mean()

    assert evaluate(source(), RUN, MEASURES).mean() == expected


def test_ordinary_measures_see_the_highest_grade() -> None:
    """They take `a` with grade 2, as if the other judgment of it were not there."""
    plain = {"1": {"a": 2, "b": 1, "c": 2, "d": 0}, "2": {"x": 1, "y": 1}}
    ordinary = ["nDCG@10", "P@5", "AP", "Judged@3"]

    assert evaluate(nested(), RUN, ordinary).mean() == evaluate(plain, RUN, ordinary).mean()


def test_the_second_column_is_read_only_when_asked_for() -> None:
    """Without, it is ignored as ever, so that a document judged for two intents stands there twice."""
    assert read_judgments(b"1 7 a 1\n").intents is None
    assert read_judgments(b"1 7 a 1\n", intents=True).intents["intent"].to_pylist() == ["7"]
    with pytest.raises(
        BadInput, match=r"document `a` is judged again for query `1`, first at bytes:1"
    ) as caught:
        evaluate(TEXT.encode(), RUN, "nDCG@10")

    assert "`--intents`" in (caught.value.hint or "")


def test_a_document_occurs_once_for_its_query_and_intent() -> None:
    """Twice is refused with both lines; elsewhere with what the row is called."""
    with pytest.raises(
        BadInput,
        match=r"bytes:8: document `a` is judged again for query `1` and intent `2`, first at bytes:2",
    ):
        read_judgments((TEXT + "1 2 a 0\n").encode(), intents=True)


def test_without_intents_their_measures_are_refused() -> None:
    """The error names the measure and the judgments, and says how to give intents."""
    with pytest.raises(
        BadMeasure, match="alpha_nDCG@20 looks at intents, and judgments gives none"
    ) as caught:
        evaluate({"1": {"a": 1}}, RUN, ["nDCG@10", "alpha_nDCG@20"])

    assert "column `intent`" in (caught.value.hint or "")


def test_a_second_column_that_distinguishes_nothing_is_noted() -> None:
    """Ordinary judgments have one intent, 0, for every query: computed, with a note."""
    result = evaluate(b"1 0 a 1\n1 0 b 1\n", RUN, "alpha_nDCG@5")

    assert tuple(map(str, result.counts.input_notes)) == (
        "the second column was read as intents, and no query has more than one there",
    )
    assert evaluate(TEXT.encode(), RUN, "alpha_nDCG@5").counts.input_notes == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weight": [1, 2]}, r"intent `i` of query `q` has the weight 2, and 1 at row 1"),
        ({"weight": [-1, -1]}, r"weight is -1.0, expected a number from 0"),
        ({"weight": [1, None]}, r"weight is missing"),
        ({"target": ["t", "t"]}, r"both `intent` and `target` are there"),
        ({"intent": ["i", None]}, r"intent is missing"),
    ],
)
def test_wrong_intents_are_refused(given: dict[str, Any], message: str) -> None:
    """Weights that differ within an intent or are no numbers from 0, intents beside targets or missing."""
    with pytest.raises(BadInput, match=message):
        Judgments.from_columns(["q", "q"], ["a", "b"], [1, 1], **{"intent": ["i", "i"], **given})


def test_a_dict_must_have_intents_everywhere_or_nowhere() -> None:
    """The document without is named."""
    with pytest.raises(
        BadInput, match=r"query `1`, document `b`: holds an int, expected a dict from intent to grade"
    ):
        read_judgments({"1": {"a": {"1": 1}, "b": 1}})


@pytest.mark.parametrize("name", ["j.qrels", "j.jsonl", "j.json", "j.csv", "j.tsv", "j.parquet", "j.arrow"])
def test_written_and_read_again_they_are_the_same(name: str, tmp_path: Path) -> None:
    """Every format that can hold them does; BEIR's cannot, and says so."""
    judgments = Judgments.from_columns(**columns())
    write_judgments(judgments, tmp_path / name)
    again = read_judgments(tmp_path / name, intents=True)

    assert again.to_arrow().to_pylist() == judgments.to_arrow().to_pylist()
    with pytest.raises(BadInput, match="no column for the intent"):
        write_judgments(judgments, tmp_path / "beir.tsv", format="beir")


def test_weights_are_written_where_there_is_room(tmp_path: Path) -> None:
    """CSV brings them back; TREC text refuses them."""
    weighted = Judgments.from_columns(["q", "q"], ["a", "b"], [1, 1], intent=["1", "2"], weight=[3, 1])
    write_judgments(weighted, tmp_path / "w.csv")

    assert read_judgments(tmp_path / "w.csv").intents["weight"].to_pylist() == [3.0, 1.0]
    with pytest.raises(BadInput, match="no column for weights of intents"):
        write_judgments(weighted, tmp_path / "w.qrels")


def test_skipped_queries_take_their_intents_with_them() -> None:
    """With `missing="skip"` the remaining queries keep their values."""
    from judged.protocol import Protocol

    whole = evaluate(nested(), RUN, MEASURES).scores
    skipped = evaluate(nested(), {"2": RUN["2"]}, MEASURES, protocol=Protocol(missing="skip")).scores

    assert [skipped[name].tolist() for name in MEASURES] == [whole[name].tolist()[1:] for name in MEASURES]


def test_the_command_reads_them(tmp_path: Path) -> None:
    """`judged score` on a file of the Web track's kind, by ndeval's names; `--intents` for ordinary measures."""
    (tmp_path / "web.qrels").write_text(TEXT, encoding="utf-8")
    (tmp_path / "a.run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n2 Q0 y 1 1 t\n", encoding="utf-8")
    files = [str(tmp_path / "web.qrels"), str(tmp_path / "a.run")]
    expected = evaluate(
        nested(), {"1": ["b", "a"], "2": ["y"]}, ["alpha_nDCG@20", "StRecall@10", "nDCG@10"]
    ).mean()

    def scored(*arguments: str) -> dict[str, float]:
        result = CliRunner().invoke(judged, ["score", *files, *arguments, "--format", "json", "--quiet"])
        assert result.exit_code == 0, result.output
        (row,) = json.loads(result.output)["tables"]["systems"]
        return {name: value for name, value in row.items() if name != "system"}

    written = {"alpha_nDCG@20": "alpha_nDCG@20", "StRecall@10": "strec@10", "nDCG@10": "nDCG@10"}
    shown = {written[name]: value for name, value in expected.items()}

    assert scored("-m", "alpha-nDCG@20 strec@10 nDCG@10") == shown
    assert scored("-m", "nDCG@10", "--intents") == {"nDCG@10": expected["nDCG@10"]}
