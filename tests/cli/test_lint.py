"""`judged lint` prints findings, exits with what they mean, and writes copies where asked."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from cli.conftest import BM25, Invoke
from judged.checks.fix import FIXABLE


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
        (["--fix", "first"], "need each other"),
        (["-o", "x.run"], "need each other"),
        (["--fix", "first", "-o", "a", "-o", "b", "-o", "c"], "expected 1 (each run) or 2 (judgments too)"),
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


def test_judgments_alone_are_checked(invoke: Invoke, collection: Path) -> None:
    """Without a run; `--fix` then writes a copy of the judgments."""
    (collection / "dup.qrels").write_text("q1 0 a 1\nq1 0 a 1\nq1 0 b 2\n")
    clean = invoke("lint", "qrels.txt")
    faulty = invoke("lint", "dup.qrels")
    fixed = invoke("lint", "dup.qrels", "--fix", "first", "-o", "clean.qrels")

    assert (clean.exit_code, faulty.exit_code, fixed.exit_code) == (0, 2, 0)
    assert "dup.qrels:2" in faulty.stdout
    assert (collection / "clean.qrels").read_text() == "q1 0 a 1\nq1 0 b 2\n"


def test_quiet_leaves_the_exit_code_alone_to_answer(invoke: Invoke, collection: Path) -> None:
    """Nothing is printed."""
    (collection / "dup.qrels").write_text("q1 0 a 1\nq1 0 a 1\n")
    result = invoke("lint", "dup.qrels", "-q")

    assert (result.exit_code, result.output) == (2, "")


RUN_FAULTS = {
    "few-columns": "q1 Q0 d1 1 3.0 t\nq1 Q0 d2\n",
    "not-a-number": "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 high t\n",
    "score-nan": "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 nan t\n",
    "repeated-document": "q1 Q0 d1 1 3.0 t\nq1 Q0 d1 2 2.0 t\n",
}
JUDGMENT_FAULTS = {
    "not-finite": "q1 0 d1 1\nq1 0 d2 inf\n",
    "repeated-document": "q1 0 d1 1\nq1 0 d1 1\n",
    "conflicting-grades": "q1 0 d1 1\nq1 0 d1 2\n",
}


@pytest.mark.parametrize("code", RUN_FAULTS)
@pytest.mark.parametrize("command", ["score", "compare", "gate"])
def test_a_refusal_names_the_command_that_mends_the_run(
    invoke: Invoke, collection: Path, command: str, code: str
) -> None:
    """With the names that the user gave; once it is run, its copy is accepted."""
    (collection / "my run.txt").write_text(RUN_FAULTS[code])
    given = {
        "score": ["score", "qrels.txt", "mine=my run.txt"],
        "compare": ["compare", "qrels.txt", "bm25.run", "my run.txt"],
        "gate": ["gate", "qrels.txt", "my run.txt", "--baseline", "bm25.run"],
    }[command]
    refused = invoke(*given, "-m", "AP")
    (mend,) = re.findall(r"hint: `judged (.*)` writes a copy without it\n", refused.stderr)
    again = ["my run.clean.txt" if argument.endswith("my run.txt") else argument for argument in given]

    assert mend == "lint qrels.txt 'my run.txt' --fix best -o 'my run.clean.txt'"
    assert refused.exit_code == 2
    assert invoke(*shlex.split(mend)).exit_code == 0
    assert invoke(*again, "-m", "AP").exit_code in {0, 1, 3}


@pytest.mark.parametrize("code", JUDGMENT_FAULTS)
def test_a_refusal_names_the_command_that_mends_the_judgments(
    invoke: Invoke, collection: Path, code: str
) -> None:
    """No run is needed for that."""
    (collection / "faulty.qrels").write_text(JUDGMENT_FAULTS[code])
    refused = invoke("score", "faulty.qrels", "bm25.run", "-m", "AP")
    (mend,) = re.findall(r"hint: `judged (.*)` writes a copy without it\n", refused.stderr)

    assert mend == "lint faulty.qrels --fix best -o faulty.clean.qrels"
    assert invoke(*shlex.split(mend)).exit_code == 0
    assert invoke("score", "faulty.clean.qrels", "bm25.run", "-m", "AP").exit_code == 0


def test_what_lint_mends_is_what_is_tested() -> None:
    """Every code that a cleaned copy no longer has."""
    assert set(RUN_FAULTS) | set(JUDGMENT_FAULTS) == FIXABLE


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dup.csv", "query,document,score\nq1,a,2\nq1,a,1\n"),
        ("swapped.run", "q1 0 d1 1\n"),
        ("empty.run", ""),
    ],
)
def test_nothing_is_named_where_lint_cannot_mend(
    invoke: Invoke, collection: Path, name: str, text: str
) -> None:
    """Other formats are not written, and a file of another kind stays one."""
    (collection / name).write_text(text)
    refused = invoke("score", "qrels.txt", name, "-m", "AP")

    assert refused.exit_code == 2
    assert "--fix" not in refused.stderr


@pytest.mark.parametrize("pattern", ["parts/*", "parts", "*.run"])
def test_files_that_overlap_are_refused_in_words(invoke: Invoke, collection: Path, pattern: str) -> None:
    """With `--join` the files of a pattern or a folder are parts of one run; the hint says how each is scored alone."""
    (collection / "parts").mkdir()
    for name in ("parts/1.run", "parts/2.run", "again.run"):
        (collection / name).write_text((collection / "bm25.run").read_text())
    result = invoke("score", "qrels.txt", pattern, "--join")

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: {pattern} cannot be scored: repeated-document" in result.stderr
    assert (
        "hint: its files are read as parts of one run; without `--join` and a name, each is a run"
        in result.stderr
    )


HEADLESS = "three columns are read from a .tsv or .csv file whose first line names them: `query document "


@pytest.mark.parametrize(
    ("role", "name", "content", "hint"),
    [
        ("qrels", "three.txt", b"q1 d1 1\nq1 d2 0\n", HEADLESS + "grade`"),
        ("run", "three.txt", b"q1 d1 0.5\nq1 d2 0.25\n", HEADLESS + "score`"),
        (
            "run",
            "train.txt",
            b"2 qid:1 1:0.5 2:0.3\n1 qid:1 1:0.2\n",
            "features for learning to rank (SVMlight) are judgments",
        ),
        ("qrels", "sheet.xlsx", b"PK\3\4\x14\0\6\0", "save the sheet as CSV"),
        ("run", "sheet.xlsx", b"PK\3\4\x14\0\6\0", "save the sheet as CSV"),
        ("run", "tagless.run", b"q1 Q0 d1 1 2.5\nq1 Q0 d2 2 1.5\n", "the tag of the run, is missing"),
        ("run", "some.qrels", b"q1 0 d1 1 x\nq1 0 d2 0 x\n", "it has the columns of judgments"),
        ("run", "words.txt", b"once upon\na time\n", None),
        ("qrels", "words.txt", b"once upon a time\nthere was a king\n", None),
    ],
)
def test_a_hint_proposes_what_helps(
    invoke: Invoke, collection: Path, role: str, name: str, content: bytes, hint: str | None
) -> None:
    """A cleaned copy is proposed only where it would hold something; and what is proposed of lint then works."""
    (collection / name).write_bytes(content)
    files = [name, "bm25.run"] if role == "qrels" else ["qrels.txt", name]
    result = invoke("score", *files)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "--fix" not in result.stderr
    assert ("hint:" in result.stderr) == (hint is not None)
    assert (hint or "") in result.stderr


def test_three_columns_with_a_header_are_read_as_the_hint_says(invoke: Invoke, collection: Path) -> None:
    """Judgments and a run."""
    (collection / "three.tsv").write_text("query\tdocument\tgrade\nq1\td1\t1\n")
    (collection / "three.csv").write_text("query,document,score\nq1,d1,2.5\n")
    result = invoke("score", "three.tsv", "three.csv", "-m", "RR", "--format", "csv")

    assert result.stdout.splitlines()[1] == "three,1.0"


@pytest.mark.parametrize("name", ["empty.qrels", "folder/none.txt"])
def test_an_empty_file_is_called_as_it_was_given(invoke: Invoke, collection: Path, name: str) -> None:
    """Not by its stem, which `empty` would be for both the file and what is wrong with it."""
    (collection / "folder").mkdir()
    (collection / name).touch()

    assert (
        f"Error: {name} cannot be scored\n  {name}: holds no judgments"
        in invoke("score", name, "bm25.run").stderr
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "qrels.txt", "bm25.run", "--per-query"),
        ("score", "qrels.txt", "bm25.run", "-o", "report.html"),
        ("compare", "qrels.txt", "bm25.run", "dense.run", "--per-query"),
        ("gate", "qrels.txt", "bm25.run", "--baseline", "dense.run"),
        ("explain", "qrels.txt", "bm25.run", "-m", "AP", "--query", "q1"),
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_texts_of_other_queries_are_noted(
    invoke: Invoke, collection: Path, arguments: tuple[str, ...]
) -> None:
    """With an id of the file and one of the queries; where one of them matches, nothing is said."""
    (collection / "others.tsv").write_text("topic-1\tfirst\ntopic-2\tsecond\n")
    (collection / "some.tsv").write_text("topic-1\tfirst\nq1\tsecond\n")
    message = "none of the ids in `--queries` (such as `topic-1`) is that of a query (such as `q1`)"

    assert f"Warning: {message}" in invoke(*arguments, "--queries", "others.tsv").stderr
    assert message not in invoke(*arguments, "--queries", "some.tsv").stderr


def test_files_are_known_by_their_columns_in_any_order(invoke: Invoke) -> None:
    """As tools that pass the names of changed files have them."""
    usual = invoke("lint", "qrels.txt", "bm25.run", "dense.run")
    other = invoke("lint", "dense.run", "qrels.txt", "bm25.run")
    named = invoke("lint", "dense.run", "bm25.run", "--qrels", "qrels.txt")

    assert "missing-queries" in usual.output
    assert sorted(usual.output.splitlines()) == sorted(other.output.splitlines())
    assert sorted(usual.output.splitlines()) == sorted(named.output.splitlines())


def test_runs_without_judgments_are_checked_by_themselves(invoke: Invoke) -> None:
    """What needs judgments is left out; ties are found."""
    done = invoke("lint", "dense.run")

    assert done.exit_code == 0
    assert "tied-scores" in done.output
    assert "missing-queries" not in done.output


def test_runs_are_not_checked_against_one_of_several_judgments(invoke: Invoke, collection: Path) -> None:
    """Which one would be a guess, unless it is said."""
    (collection / "other.qrels").write_text("q9 0 d1 1\n")
    several = invoke("lint", "bm25.run", "qrels.txt", "other.qrels")
    said = invoke("lint", "bm25.run", "qrels.txt", "--qrels", "other.qrels", "--format", "json")

    assert "there are 2 files of judgments, so runs were checked by themselves" in several.output
    assert [file["file"] for file in json.loads(said.stdout)["tables"]["files"]] == [
        "other.qrels",
        "qrels.txt",
        "bm25.run",
    ]
