"""What every command prints alike: the answer first, tables that can be chosen, notes by fact, the protocol in short."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import judged

Invoke = Callable[..., Result]
COMPARE = ("compare", "qrels.txt", "bm25.run", "dense.run")
SCORE = ("score", "qrels.txt", "bm25.run", "dense.run")


def rows(text: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in text.splitlines()]


def test_compare_begins_with_its_answer(invoke: Invoke) -> None:
    """Before any table, and on standard output."""
    result = invoke(*COMPARE, "-m", "AP RR")

    assert result.stdout.startswith("dense has the highest AP, 0.5278 [")
    assert "0.1944 above bm25." in result.stdout.splitlines()[0]


def test_differences_are_short_unless_more_is_asked_for(invoke: Invoke) -> None:
    """Difference with interval, change, corrected p, significance and counts; the rest with --full."""
    usual, full = (invoke(*COMPARE, "-m", "AP", *more).stdout for more in ((), ("--full",)))

    assert ["measure", "difference", "change", "p", "(maxT)", "sig.", "won/tied/lost"] in rows(usual)
    assert "P(better)" not in usual
    assert "Queries that changed most" not in usual
    assert all(name in full for name in (" g ", "P(better)", "detectable", "Queries that changed most"))
    assert "+58.3 %" in usual  # (0.5278 − 0.3333) / 0.3333


def test_columns_are_chosen_by_name(invoke: Invoke) -> None:
    """With commas or blanks; a name that is not known is refused before any work."""
    chosen = invoke(*COMPARE, "-m", "AP", "--columns", "p,effect")
    wrong = invoke(*COMPARE, "-m", "AP", "--columns", "efect")

    assert ["measure", "p", "g"] in rows(chosen.stdout)
    assert wrong.exit_code != 0
    assert "did you mean `effect`?" in str(wrong.exception) + wrong.output


def test_all_pairs_of_more_than_three_systems_are_a_matrix(invoke: Invoke, collection: Path) -> None:
    """Every system in a row and in a column, marked ▲, ▼ or =."""
    for name in ("third", "fourth"):
        (collection / f"{name}.run").write_text((collection / "bm25.run").read_text())
    shown = invoke(*COMPARE, "third.run", "fourth.run", "-m", "AP").stdout

    assert "row against column" in shown
    assert ["dense", "a", "·", "+0.1944", "=", "+0.1944", "=", "+0.1944", "="] in rows(shown)
    assert "won/tied/lost" not in shown


def test_per_query_of_several_systems_is_query_by_system(invoke: Invoke, collection: Path) -> None:
    """A column for each system, sorted by the spread, with the text of the query."""
    (collection / "queries.tsv").write_text("id\ttext\nq1\tone\nq2\ttwo\nq3\tthree\n")
    asked = ("--per-query", "--sort", "-difference", "--limit", "2", "--queries", "queries.tsv")
    shown = rows(invoke(*SCORE, "-m", "RR", *asked).stdout)

    assert shown[0] == ["RR", "(2", "of", "3)"]
    assert shown[2] == ["query", "text", "bm25", "dense"]
    assert shown[4:6] == [["q1", "one", "1.0000", "0.5000"], ["q2", "two", "0.5000", "1.0000"]]
    assert shown[7] == ["all", "0.5000", "0.5000"]


def test_per_query_of_a_comparison_has_values_and_the_difference(invoke: Invoke) -> None:
    """Losses first; machine formats keep a row for each value."""
    shown = rows(
        invoke(*COMPARE, "-m", "RR", "--baseline", "bm25", "--per-query", "--sort", "difference").stdout
    )
    long = invoke(*COMPARE, "-m", "RR", "--per-query", "--format", "csv").stdout

    at = shown.index(["query", "bm25", "dense", "difference"])
    assert shown[at + 2 : at + 5] == [
        ["q1", "1.0000", "0.5000", "-0.5000"],
        ["q3", "0.0000", "0.0000", "0.0000"],
        ["q2", "0.5000", "1.0000", "0.5000"],
    ]
    assert long.startswith("measure,query,system,baseline,value,baseline_value,difference\n")


def test_an_unknown_column_to_sort_by_is_named(invoke: Invoke) -> None:
    """With a suggestion."""
    result = invoke(*SCORE, "-m", "RR", "--per-query", "--sort", "dence")

    assert result.exit_code != 0
    assert "did you mean `dense`?" in str(result.exception) + result.output


def test_notes_are_grouped_by_fact_and_their_parts_are_data(invoke: Invoke, collection: Path) -> None:
    """One line for all runs that lack a query; JSON has a note for each, with its subject and value."""
    (collection / "less.run").write_text("q3 Q0 d9 1 1.0 less\nq1 Q0 d1 1 1.0 less\n")
    result = invoke(*SCORE, "less.run", "-m", "AP")
    document = json.loads(invoke(*SCORE, "less.run", "-m", "AP", "--format", "json").stdout)
    parts = [note for note in document["notes"] if note["code"] == "missing-queries"]

    fact = "judged queries that are missing from the run (scored as 0)"
    assert f"Warning: {fact}: bm25 1 (q3), less 1 (q2)" in result.stderr.splitlines()
    assert [(note["fact"], note["subject"], note["value"]) for note in parts] == [
        (fact, "bm25", "1 (q3)"),
        (fact, "less", "1 (q2)"),
    ]


def test_the_protocol_is_short_unless_verbose(invoke: Invoke) -> None:
    """Name and fingerprint; what differs from the default is named; `-v` prints all of it."""
    usual, changed, full = (
        invoke(*SCORE, "-m", "AP", *more).stderr.splitlines()[0] for more in ((), ("--rel", "2"), ("-v",))
    )

    assert usual == "Protocol: trec_eval-9 #ef9d040441c7"
    assert changed.startswith("Protocol: custom protocol (relevant from grade 2) #")
    assert full.startswith("Protocol: trec_eval-9 (ties by document id descending, float32 scores, ")


@pytest.mark.parametrize(
    "command", [SCORE, COMPARE, ("gate", "qrels.txt", "bm25.run", "--baseline", "dense.run")]
)
def test_quiet_does_not_hide_what_puts_all_numbers_in_doubt(
    invoke: Invoke, collection: Path, command: tuple[str, ...]
) -> None:
    """Of ten judged queries, the runs have results for two or three."""
    more = "".join(f"more{number} 0 d1 1\n" for number in range(7))
    (collection / "qrels.txt").write_text((collection / "qrels.txt").read_text() + more)
    result = invoke(*command, "-m", "AP", "--quiet")

    assert result.stderr.startswith("Warning: ")
    assert "are these the right judgments?" in result.stderr
    assert "Protocol" not in result.stderr


@pytest.mark.parametrize("arguments", [("none", "bm25.run"), ("qrels.txt", "none")], ids=["QRELS", "RUN"])
def test_a_missing_file_is_worded_alike(invoke: Invoke, arguments: tuple[str, str]) -> None:
    """Whichever input it is; without a usage block, and without a suggestion that is nothing like it."""
    result = invoke("score", *arguments)

    assert result.exit_code != 0
    assert "none does not exist" in str(result.exception) + result.output
    assert "Usage" not in result.output
    assert "did you mean" not in result.output


@pytest.mark.parametrize(
    ("measure", "message"),
    [("", "for example `nDCG@10`"), ("nDCG@-1", "`@-1` of `nDCG@-1` is not a positive whole number")],
)
def test_wrong_measures_are_refused_in_words_of_the_command_line(
    invoke: Invoke, measure: str, message: str
) -> None:
    """No Python syntax in a hint; a negative number is a number."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", measure)

    assert message in f"{result.exception} {getattr(result.exception, 'hint', '')} {result.output}"


def test_a_gate_gives_its_verdict_first_and_short_reasons(invoke: Invoke, collection: Path) -> None:
    """Verdict, table, one sentence for each measure; the query that lost most has its text."""
    (collection / "queries.tsv").write_text("id\ttext\nq1\tthe first question\n")
    result = invoke(
        *("gate", "qrels.txt", "bm25.run", "--baseline", "dense.run", "-m", "AP RR"),
        *("--queries", "queries.tsv", "--min-delta", "-0.1"),
    )
    lines = result.stdout.splitlines()

    assert lines[0].startswith(
        "Verdict: inconclusive (bm25 against dense; 3 queries; one-sided paired t-test"
    )
    assert lines[2].split() == ["measure", "verdict", "difference", "margin", "run", "baseline"]
    assert "on both sides of the margin of -0.1000" in " ".join(result.stdout.split())
    assert max(map(len, lines)) <= 100


def test_explain_shows_the_text_of_the_query(invoke: Invoke, collection: Path) -> None:
    """Beside its id."""
    (collection / "queries.tsv").write_text("id\ttext\nq1\tthe first question\n")
    result = invoke(
        "explain", "qrels.txt", "bm25.run", "-m", "AP", "--query", "q1", "--queries", "queries.tsv"
    )

    assert result.stdout.startswith("AP of query q1 (the first question) in bm25: ")
    assert result.stderr.startswith("Protocol: trec_eval-9 #")


def test_formulas_are_escaped_on_request(invoke: Invoke, collection: Path) -> None:
    """On the screen and in files; without the option, cells are the ids as they are."""
    (collection / "qrels.txt").write_text("=1+1 0 d1 1\n")
    (collection / "sum.run").write_text("=1+1 Q0 d1 1 2.0 sum\n")
    command = ("score", "qrels.txt", "sum.run", "-m", "AP", "--per-query", "--format", "csv", "--quiet")

    assert invoke(*command).stdout.splitlines()[1] == "sum,=1+1,AP,1.0"
    escaped = invoke(*command, "--escape-formulas", "-o", "sum.tsv")
    assert escaped.stdout.splitlines()[1] == "sum,'=1+1,AP,1.0"
    assert (collection / "sum.tsv").read_text().splitlines()[1] == "sum\t'=1+1\tAP\t1.0"


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "qrels.txt", "bm25.run", "-o", "report.html"),
        ("compare", "qrels.txt", "bm25.run", "dense.run", "-o", "report.html"),
        ("gate", "qrels.txt", "bm25.run", "--baseline", "dense.run", "-o", "report.html"),
        ("report", "saved.json", "-o", "report.html"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_report_without_figures_is_announced(
    invoke: Invoke, collection: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """With the command that adds them; and not where figures are drawn."""
    judged.evaluate(str(collection / "qrels.txt"), str(collection / "bm25.run"), "AP").save("saved.json")
    missing = "Note: report.html has no figures: `pip install vl-convert-python` (part of the extra `report`)"
    with monkeypatch.context() as patch:
        patch.setattr("judged.report.vega.find_spec", lambda _name: None)
        without = invoke(*arguments)

    assert missing in without.stderr
    assert '"figures":false' in (collection / "report.html").read_text()
    assert missing not in invoke(*arguments).stderr
