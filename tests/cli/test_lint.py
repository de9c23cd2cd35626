"""`judged lint` prints findings, exits with what they mean, and writes copies where asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import BM25, Invoke


def test_warnings_alone_exit_with_0_and_with_2_where_strict(invoke: Invoke) -> None:
    """Missing queries and ties are warnings."""
    plain, strict = (invoke("lint", "qrels.txt", "dense.run", *more) for more in ((), ("--strict",)))

    assert (plain.exit_code, strict.exit_code) == (0, 2)
    assert "dense.run  warning   tied-scores           2  rows" in plain.output
    assert "dense.run:2  document `d1` of query `q1` shares the score 2" in plain.output


def test_errors_exit_with_2_and_are_reported_with_their_lines(invoke: Invoke, collection: Path) -> None:
    """What `judged score` would refuse."""
    (collection / "bad.run").write_text(BM25 + "q2 Q0 d1 3 nan bm25\n")
    done = invoke("lint", "qrels.txt", "bad.run")

    assert done.exit_code == 2
    assert "bad.run:6    score is `nan`" in done.output


def test_a_clean_file_is_reported(invoke: Invoke, collection: Path) -> None:
    """Silence would leave doubts."""
    (collection / "few.txt").write_text("q1 0 d1 2\nq2 0 d1 1\n")
    done = invoke("lint", "few.txt", "bm25.run")

    assert (done.exit_code, done.output) == (0, "nothing found in 2 files\n")


def test_json_has_every_finding_with_its_places(invoke: Invoke) -> None:
    """The document that the guide describes."""
    done = invoke("lint", "qrels.txt", "bm25.run", "--format", "json")
    document = json.loads(done.stdout)

    assert [document[key] for key in ("schema", "errors", "warnings", "infos")] == ["judged.lint/1", 0, 1, 0]
    assert [(file["file"], file["role"], file["rows"]) for file in document["tables"]["files"]] == [
        ("qrels.txt", "judgments", 6),
        ("bm25.run", "run", 5),
    ]
    (finding,) = document["tables"]["findings"]
    (place,) = document["tables"]["places"]
    assert place == {
        "kind": "missing-queries",
        "file": "qrels.txt",
        "line": 6,
        "row": None,
        "message": "query `q3` is judged and has no results",
    }
    assert (finding["kind"], finding["severity"], finding["count"]) == ("missing-queries", "warning", 1)


def test_copies_are_written_and_the_exit_code_shows_what_is_left(invoke: Invoke, collection: Path) -> None:
    """A run that is fixed no longer counts; judgments that are not do."""
    (collection / "bad.run").write_text(BM25 + "q2 Q0 d1 3 nan bm25\n")
    (collection / "bad.qrels").write_text("q1 0 d1 2\nq1 0 d1 1\n")
    one = invoke("lint", "qrels.txt", "bad.run", "--fix", "first", "-o", "clean.run")
    left = invoke("lint", "bad.qrels", "bad.run", "--fix", "first", "-o", "other.run")
    both = invoke("lint", "bad.qrels", "bad.run", "--fix", "best", "-o", "clean.qrels", "-o", "third.run")

    assert (one.exit_code, left.exit_code, both.exit_code) == (0, 2, 0)
    assert (collection / "clean.run").read_text() == BM25
    assert (collection / "clean.qrels").read_text() == "q1 0 d1 2\n"
    assert (
        "wrote clean.run: 6 lines in, 5 out; 1 line dropped (malformed, or without a usable number)"
        in one.output
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "first"], "belong together"),
        (["-o", "x.run"], "belong together"),
        (["--fix", "first", "-o", "a", "-o", "b", "-o", "c"], "expected 1 (each RUN) or 2 (QRELS too)"),
        (["--fix", "first", "-o", "bm25.run", "--force"], "never written in its place"),
        (["--fix", "first", "-o", "dense.run"], "exists already"),
    ],
)
def test_unclear_wishes_are_refused(invoke: Invoke, arguments: list[str], message: str) -> None:
    """Nothing is guessed, and nothing written over."""
    done = invoke("lint", "qrels.txt", "bm25.run", *arguments)

    assert done.exit_code == 2
    assert message in done.output


def test_standard_input_is_linted(invoke: Invoke) -> None:
    """A run through a pipe."""
    done = invoke("lint", "qrels.txt", "-", input=b"q1 Q0 d1 1 nan t\n")

    assert done.exit_code == 2
    assert "standard input:1  score is `nan`" in done.output


def test_intents_are_read_where_asked_for_and_hinted_at_where_not(invoke: Invoke, collection: Path) -> None:
    """The hint stands below the places, and `--intents` settles the matter."""
    (collection / "web.qrels").write_text("q1 1 d1 2\nq1 2 d1 1\nq2 1 d1 1\n")
    plain, asked = (invoke("lint", "web.qrels", "bm25.run", *more) for more in ((), ("--intents",)))

    assert (plain.exit_code, asked.exit_code) == (2, 0)
    assert (
        "\nhint: these look like judgments by intent, which the second column distinguishes: `--intents`"
        in plain.output
    )
    assert asked.output == "nothing found in 2 files\n"
