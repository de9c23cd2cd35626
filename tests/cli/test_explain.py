"""`judged explain` shows one value, one difference or one search, in the formats that the others have."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli.conftest import Invoke


def test_a_query_is_shown_rank_by_rank(invoke: Invoke) -> None:
    """q1 of the collection: grade 2 first, then 0, then an unjudged document; `d3` was missed."""
    done = invoke("explain", "qrels.txt", "bm25.run", "-m", "nDCG@10", "--query", "q1")

    assert done.exit_code == 0
    assert "   3  d4        1.0000         unjudged  0.0000    2.0000  0.0000  2.0000  0.0000" in done.output
    assert "nDCG@10 = DCG@10 / ideal DCG@10 = 2.0000 / 2.6309 = 0.7602" in done.output
    assert "Protocol: trec_eval-9" in done.stderr


def test_a_difference_names_its_cause(invoke: Invoke) -> None:
    """q3 has no results in bm25.run: AP of q1 is 1/2, of q2 1/2; the mean is over three or two."""
    done = invoke("explain", "qrels.txt", "bm25.run", "-m", "AP", "--against", "pytrec_eval")

    assert "0.3333 under trec_eval-9, 0.5000 under pytrec_eval; a difference of +0.1667" in done.output
    assert "missing  zero         skip         +0.1667    100.0        1" in done.output


def test_two_profiles_are_compared_with_each_other(invoke: Invoke) -> None:
    """Neither of them is the default."""
    done = invoke(
        "explain", "qrels.txt", "bm25.run", "-m", "AP", "--against", "pytrec_eval", "--against", "ranx"
    )

    assert "0.5000 under pytrec_eval, 0.3333 under ranx" in done.output


def test_options_change_the_side_that_is_asked_about(invoke: Invoke) -> None:
    """`--missing skip` leaves no difference to pytrec_eval."""
    done = invoke(
        "explain", "qrels.txt", "bm25.run", "-m", "AP", "--missing", "skip", "--against", "pytrec_eval"
    )

    assert "both have the same conventions for this measure" in done.output
    assert "under trec_eval-9,missing=skip" in done.output


def test_a_published_number_is_looked_for(invoke: Invoke) -> None:
    """0.5 is AP over the queries that have results."""
    done = invoke("explain", "qrels.txt", "bm25.run", "-m", "AP", "--published", "0.5000")

    assert "1  missing=skip" in done.output
    assert "a match is not proof" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (["--query", "q1"], {"measure", "query", "value", "ranking", "ideal", "missed", "formula"}),
        (["--against", "ranx"], {"first", "second", "difference", "causes", "queries"}),
        (["--published", "0.1"], {"measure", "published", "matches", "nearest", "tried", "chance"}),
    ],
)
def test_json_has_everything(invoke: Invoke, asked: list[str], keys: set[str]) -> None:
    """One object, with the files it was made from."""
    document = json.loads(invoke("explain", "qrels.txt", "bm25.run", "--format", "json", *asked).stdout)

    assert keys <= {*document, *document["tables"]}
    assert [file["role"] for file in document["provenance"]["inputs"]] == ["judgments", "run"]
    assert document["schema"].startswith("judged.")


def test_csv_has_the_main_table_in_full(invoke: Invoke) -> None:
    """The ranking of a query, with its columns as a header."""
    done = invoke("explain", "qrels.txt", "bm25.run", "-m", "RBP(p=0.5)", "--query", "q2", "--format", "csv")
    rows = list(csv.DictReader(done.stdout.splitlines()))

    assert [(row["document"], row["adds"]) for row in rows] == [("d5", "0.0"), ("d1", "0.25")]


@pytest.mark.parametrize("kind", ["markdown", "latex", "tsv", "jsonl", "table"])
def test_every_format_is_printed(invoke: Invoke, kind: str) -> None:
    """Each holds the document that is explained."""
    done = invoke("explain", "qrels.txt", "bm25.run", "--query", "q1", "--format", kind)

    assert done.exit_code == 0
    assert "d4" in done.stdout


def test_files_are_written_in_the_format_of_their_name(invoke: Invoke, collection: Path) -> None:
    """A page beside what is printed."""
    done = invoke(
        "explain",
        "qrels.txt",
        "bm25.run",
        "--query",
        "q1",
        "-o",
        "explanation.md",
        "-o",
        "explanation.parquet",
    )

    assert "Wrote: explanation.md" in done.stderr
    assert "| rank |" in (collection / "explanation.md").read_text()
    assert (collection / "explanation.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "got none of them"),
        (["--query", "q1", "--against", "ranx"], "`--query` and `--against`"),
        (["--against", "a", "--against", "b", "--against", "c"], "`--against` was given 3 times"),
        (["--query", "q11"], "did you mean `q1`?"),
        (["--query", "q3", "--missing", "skip"], "query `q3` has no results, and is left out"),
        (["--against", "rnax"], "did you mean `ranx`?"),
        (["--published", "170"], "nDCG@10 lies between 0 and 1"),
        (["--published", "much"], "`much` is not a number"),
    ],
)
def test_what_makes_no_sense_is_refused(invoke: Invoke, arguments: list[str], message: str) -> None:
    """In words, with exit code 2."""
    done = invoke("explain", "qrels.txt", "bm25.run", *arguments)

    assert done.exit_code == 2
    assert message in done.output


def test_another_tools_output_is_explained(invoke: Invoke, collection: Path) -> None:
    """`--against` takes a file where it names one; the missing query is what differs."""
    (collection / "theirs.txt").write_text("map q1 0.5000\nmap q2 0.5000\nmap all 0.5000\n")
    result = invoke("explain", "qrels.txt", "bm25.run", "-m", "AP", "--against", "theirs.txt", "-q")

    assert result.exit_code == 0
    assert result.stdout.startswith("AP of bm25: 1 of 3 queries differs from theirs.txt; with missing=skip,")


def test_a_file_that_is_not_there_is_no_profile(invoke: Invoke) -> None:
    """The message is about the file."""
    result = invoke("explain", "qrels.txt", "bm25.run", "-m", "AP", "--against", "theirs.txt")

    assert result.exit_code == 2
    assert "theirs.txt does not exist" in result.stderr
