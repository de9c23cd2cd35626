"""`judged score`: values, formats, notes, names, standard input.

The values are those of trec_eval 9.0.4 on the same files:
`trec_eval -c [-q] -m ndcg_cut.10 -m map -m recip_rank -m P.10 -m recall.100 qrels.txt bm25.run`.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from judged.protocol import PROTOCOLS

Invoke = Callable[..., Result]

THREE = ("-m", "nDCG@10", "-m", "AP RR")
TABLE = """\
system  nDCG@10      AP      RR
───────────────────────────────
bm25    0.4637   0.3333  0.5000
dense   0.5400~  0.5278  0.5000
"""
"""With d1 before d3, which it is tied with, q1 of `dense` has (2 / log₂3 + 1 / 2) / (2 + 1 / log₂3) = 0.6697."""


def test_several_runs_are_rows_and_measures_columns(invoke: Invoke) -> None:
    """The table stands alone on standard output, with the values of trec_eval -c."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", *THREE)

    assert (result.exit_code, result.stdout) == (0, TABLE)


def test_notes_state_the_protocol_the_queries_and_observations(invoke: Invoke) -> None:
    """Standard error names the protocol with its fingerprint, the number of queries, and the oddities."""
    notes = invoke("score", "qrels.txt", "bm25.run", "dense.run", *THREE).stderr.splitlines()

    assert notes[0] == f"Protocol: trec_eval-9 #{PROTOCOLS['trec_eval-9'].fingerprint}"
    assert PROTOCOLS["trec_eval-9"].fingerprint in notes[0]
    assert "Note: 3 queries scored" in notes
    assert any("1 query (q3) judged but missing" in note for note in notes)
    assert any("dense: 1 query (q9) in the run but never judged" in note for note in notes)
    assert any("dense: 2 judged documents in 1" in note for note in notes)


def test_quiet_says_nothing_but_the_result(invoke: Invoke) -> None:
    """`--quiet` leaves standard error empty."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", *THREE, "--quiet")

    assert (result.stdout, result.stderr) == (TABLE, "")


def test_the_default_measures_are_stated(invoke: Invoke) -> None:
    """Without `-m`, five measures are computed, and a note says which."""
    result = invoke("score", "qrels.txt", "bm25.run")

    assert result.stdout.splitlines()[0].split() == ["system", "nDCG@10", "AP", "RR", "P@10", "R@100"]
    assert result.stdout.splitlines()[2].split() == ["bm25", "0.4637", "0.3333", "0.5000", "0.0667", "0.5000"]
    assert "Note: no measure was named: nDCG@10 AP RR P@10 R@100" in result.stderr


def test_measures_may_hold_spaces_inside_brackets(invoke: Invoke) -> None:
    """A text of several names is split outside of brackets only."""
    result = invoke(
        "score", "qrels.txt", "bm25.run", "-m", "P(rel=2, cutoff=5) recip_rank", "--format", "csv", "-q"
    )

    assert result.stdout.splitlines()[0] == "system,P(rel=2)@5,recip_rank"


def test_every_query_is_shown_when_asked(invoke: Invoke) -> None:
    """A row for each query, the whole run below."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "nDCG@10 AP", "--per-query")

    assert result.stdout == (
        "query  nDCG@10      AP\n"
        "──────────────────────\n"
        "q1      0.7602  0.5000\n"
        "q2      0.6309  0.5000\n"
        "q3      0.0000  0.0000\n"
        "──────────────────────\n"
        "all     0.4637  0.3333\n"
    )


def test_csv_has_full_precision(invoke: Invoke) -> None:
    """The numbers in CSV are not rounded: AP is a third exactly, as far as a double goes."""
    result = invoke("score", "qrels.txt", "bm25.run", *THREE, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))

    assert [row["system"] for row in rows] == ["bm25"]
    assert float(rows[0]["AP"]) == pytest.approx(1 / 3, abs=1e-15)


def test_per_query_data_is_long(invoke: Invoke) -> None:
    """One line for each run, query and measure."""
    result = invoke(
        "score", "qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--per-query", "--format", "tsv"
    )

    assert result.stdout == (
        "system\tquery\tmeasure\tvalue\n"
        "bm25\tq1\tRR\t1.0\n"
        "bm25\tq2\tRR\t0.5\n"
        "bm25\tq3\tRR\t0.0\n"
        "dense\tq1\tRR\t0.5\n"
        "dense\tq2\tRR\t1.0\n"
        "dense\tq3\tRR\t0.0\n"
    )


def test_json_lines_have_the_rows_of_csv(invoke: Invoke) -> None:
    """One object for each system, as in CSV; for each value, if every query is asked for."""
    whole = invoke("score", "qrels.txt", "bm25.run", "-m", "RR", "--format", "jsonl")
    queries = invoke("score", "qrels.txt", "bm25.run", "-m", "RR", "--format", "jsonl", "--per-query")

    assert [json.loads(line) for line in whole.stdout.splitlines()] == [{"system": "bm25", "RR": 0.5}]
    assert json.loads(queries.stdout.splitlines()[0]) == {
        "system": "bm25",
        "query": "q1",
        "measure": "RR",
        "value": 1.0,
    }


def test_json_says_everything(invoke: Invoke, collection: Path) -> None:
    """One object holds version, protocol, inputs with their hashes, measures, and runs with their scores."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "AP RR", "--per-query", "--format", "json")
    document = json.loads(result.stdout)
    scored = document["systems"]["bm25"]
    (protocol,) = document["provenance"]["protocols"]

    assert list(document) == ["schema", "judged", "measures", "systems", "provenance", "notes", "tables"]
    assert protocol["profile"] == "trec_eval-9"
    assert protocol["fingerprint"] == PROTOCOLS["trec_eval-9"].fingerprint
    assert protocol["missing"] == "zero"
    assert document["provenance"]["inputs"] == [
        {
            "role": role,
            "path": name,
            "sha256": hashlib.sha256((collection / name).read_bytes()).hexdigest(),
            **system,
        }
        for role, name, system in (("judgments", "qrels.txt", {}), ("run", "bm25.run", {"system": "bm25"}))
    ]
    assert [measure["name"] for measure in document["measures"]] == ["AP", "RR"]
    assert (scored["units"], document["tables"]["systems"][0]["RR"]) == (3, 0.5)
    assert scored["counts"]["missing"] == ["q3"]
    assert [(row["query"], row["measure"], row["value"]) for row in document["tables"]["scores"]] == [
        ("q1", "AP", 0.5),
        ("q2", "AP", 0.5),
        ("q3", "AP", 0.0),
        ("q1", "RR", 1.0),
        ("q2", "RR", 0.5),
        ("q3", "RR", 0.0),
    ]


def test_the_best_value_is_marked_in_markdown(invoke: Invoke) -> None:
    """Bold where one run is better; nothing where they are equal."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", "-m", "AP RR", "--format", "markdown")

    assert result.stdout == (
        "| system |         AP |     RR |\n"
        "| :----- | ---------: | -----: |\n"
        "| bm25   |     0.3333 | 0.5000 |\n"
        "| dense  | **0.5278** | 0.5000 |\n"
    )


def test_counts_are_whole_and_praise_nobody(invoke: Invoke) -> None:
    """A number of documents is no achievement: it is not marked, and has no decimals."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", "-m", "num_rel_ret", "--format", "latex")

    assert r"bm25 & 2 \\" in result.stdout
    assert r"dense & 3 \\" in result.stdout


def test_latex_uses_booktabs_and_escapes_names(invoke: Invoke, collection: Path) -> None:
    """Rules are those of booktabs; an underscore in a name is escaped."""
    (collection / "a_b.run").write_bytes((collection / "dense.run").read_bytes())
    result = invoke("score", "qrels.txt", "a_b.run", "bm25.run", "-m", "AP", "--format", "latex")

    assert result.stdout.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Protocol: trec\_eval-9 \#ef9d040441c7.}",
        r"\label{tab:evaluations}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & AP \\",
        r"\midrule",
        r"a\_b & \textbf{0.5278} \\",
        r"bm25 & 0.3333 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_many_measures_are_shown_below_each_other(invoke: Invoke) -> None:
    """More than eight measures become rows."""
    nine = " ".join(f"P@{cutoff}" for cutoff in range(1, 10))
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", "-m", nine)

    assert result.stdout.splitlines()[0].split() == ["measure", "bm25", "dense"]
    assert result.stdout.splitlines()[2].split() == ["P@1", "0.3333", "0.3333"]


def test_digits_can_be_chosen(invoke: Invoke) -> None:
    """`--digits` sets the decimals people read."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "AP", "--digits", "2")

    assert result.stdout.splitlines()[-1].split() == ["bm25", "0.33"]


def test_files_take_their_format_from_their_extension(invoke: Invoke, collection: Path) -> None:
    """Several files are written at once, and the table is printed all the same."""
    import pyarrow.parquet as pq

    files = ["scores.csv", "table.tex", "scores.parquet", "scores.json", "table.md", "scores.jsonl"]
    options = [part for file in files for part in ("-o", file)]
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", *THREE, *options)
    parquet = pq.read_table(collection / "scores.parquet")

    assert result.stdout == TABLE
    assert all(f"Wrote: {file}" in result.stderr for file in files)
    assert (collection / "scores.csv").read_text().startswith("system,nDCG@10,AP,RR\n")
    assert (collection / "table.tex").read_text().startswith("\\begin{table}")
    assert json.loads((collection / "scores.json").read_text())["tables"]["systems"][1]["system"] == "dense"
    assert parquet.column_names == ["system", "nDCG@10", "AP", "RR"]
    assert parquet["AP"][0].as_py() == pytest.approx(1 / 3, abs=1e-15)
    assert sorted(path.name for path in collection.iterdir()) == sorted(
        ["qrels.txt", "bm25.run", "dense.run", *files]
    )


def test_an_unknown_extension_is_refused_before_anything_is_read(invoke: Invoke) -> None:
    """The formats are listed; nothing is written."""
    result = invoke("score", "qrels.txt", "bm25.run", "-o", "scores.xlsx")

    assert result.exit_code == 2
    assert "`.xlsx`" in result.stderr
    assert ".parquet" in result.stderr


def test_a_missing_folder_is_an_error(invoke: Invoke) -> None:
    """Writing into nowhere is an error of the command line."""
    result = invoke("score", "qrels.txt", "bm25.run", "-o", "nowhere/scores.csv")

    assert result.exit_code == 2
    assert "`nowhere` is not a folder" in result.stderr


def test_problems_of_a_run_are_reported_with_file_and_line(invoke: Invoke, collection: Path) -> None:
    """The file is named as it was given, whatever the run is called."""
    (collection / "bad.run").write_text("q1 Q0 d1 1 9.5 x\nq1 Q0 d1 2 9.0 x\n")
    result = invoke("score", "qrels.txt", "name=bad.run")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "bad.run:2" in result.stderr


def test_an_empty_measure_is_no_measure(invoke: Invoke) -> None:
    """`-m ""` is an error, not a wish for the default."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "")

    assert result.exit_code == 2
    assert "no measure was named" in result.stderr


def test_two_runs_of_one_name_are_refused(invoke: Invoke, collection: Path) -> None:
    """The error names both files and the way out."""
    (collection / "old").mkdir()
    (collection / "old" / "bm25.txt").write_bytes((collection / "bm25.run").read_bytes())
    result = invoke("score", "qrels.txt", "bm25=bm25.run", "bm25=old/bm25.txt")
    apart = invoke("score", "qrels.txt", "bm25.run", "old/bm25.txt", "-m", "AP", "--format", "csv")

    assert result.exit_code == 2
    assert "`bm25.run` and `old/bm25.txt`" in result.stderr
    assert "first=bm25.run second=old/bm25.txt" in result.stderr
    assert [line.split(",")[0] for line in apart.stdout.splitlines()[1:]] == ["bm25.run", "bm25.txt"]


def test_runs_can_be_given_names(invoke: Invoke, collection: Path) -> None:
    """NAME=FILE names a run; a file that is really called so is taken as it is."""
    (collection / "a=b.run").write_bytes((collection / "bm25.run").read_bytes())
    result = invoke("score", "qrels.txt", "old=bm25.run", "a=b.run", "-m", "AP", "--format", "csv")

    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["system", "old", "a=b"]


def test_the_name_of_a_compressed_run_has_no_extension(invoke: Invoke, collection: Path) -> None:
    """`dense2.run.gz` is called `dense2`."""
    (collection / "dense2.run.gz").write_bytes(gzip.compress((collection / "dense.run").read_bytes()))
    result = invoke("score", "qrels.txt", "dense2.run.gz", "-m", "AP", "--format", "csv")

    assert result.stdout.splitlines()[1].startswith("dense2,0.527")


@pytest.mark.parametrize("which", [0, 1])
def test_either_input_may_come_from_standard_input(invoke: Invoke, collection: Path, which: int) -> None:
    """`-` reads the judgments or a run from standard input."""
    files = ["qrels.txt", "dense.run"]
    data = (collection / files[which]).read_bytes()
    files[which] = "-"
    result = invoke("score", *files, "-m", "AP", "--format", "csv", input=data)

    assert result.exit_code == 0, result.stderr
    assert float(result.stdout.splitlines()[1].split(",")[1]) == pytest.approx(0.5278, abs=5e-5)


def test_standard_input_can_be_read_only_once(invoke: Invoke) -> None:
    """Two inputs from one stream are refused."""
    result = invoke("score", "-", "-")

    assert result.exit_code == 2
    assert "only one input can be read from standard input" in result.stderr


def test_options_change_the_protocol(invoke: Invoke) -> None:
    """Skipping the missing query gives trec_eval's mean without -c: (0.5 + 0.5) / 2."""
    options = ("--missing", "skip", "--ties", "document-ascending", "--rel", "1", "--depth", "100")
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "AP", "--format", "json", *options)
    document = json.loads(result.stdout)

    (protocol,) = document["provenance"]["protocols"]

    assert document["tables"]["systems"] == [{"system": "bm25", "AP": 0.5}]
    assert protocol["profile"] is None
    assert (protocol["missing"], protocol["ties"]) == ("skip", "document-ascending")
    assert (protocol["rel"], protocol["depth"]) == (1.0, 100)


def test_a_profile_can_be_named(invoke: Invoke) -> None:
    """`--profile trec_eval-10` compares scores in double precision."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "AP", "--profile", "trec_eval-10")

    assert result.stderr.startswith(f"Protocol: trec_eval-10 #{PROTOCOLS['trec_eval-10'].fingerprint}\n")


def test_missing_queries_may_be_an_error(invoke: Invoke) -> None:
    """`--missing error` refuses the run and names the query."""
    result = invoke("score", "qrels.txt", "bm25.run", "--missing", "error")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "q3" in result.stderr


def test_a_depth_of_nothing_is_refused_in_words(invoke: Invoke) -> None:
    """A protocol that makes no sense is an error of the user."""
    result = invoke("score", "qrels.txt", "bm25.run", "--depth", "0")

    assert result.exit_code == 2
    assert "`depth` of a protocol is 0" in result.stderr


def test_threads_change_nothing(invoke: Invoke) -> None:
    """The numbers are the same with one thread and with two."""
    one = invoke("score", "qrels.txt", "bm25.run", *THREE, "--threads", "1")
    two = invoke("score", "qrels.txt", "bm25.run", *THREE, "--threads", "2")

    assert one.exit_code == 0
    assert one.stdout == two.stdout


def test_text_measures_are_shown_for_queries(invoke: Invoke) -> None:
    """A string has no mean: the summary says where to find it, the queries show it."""
    summary = invoke("score", "qrels.txt", "bm25.run", "-m", "AP relstring@3")
    queries = invoke(
        "score", "qrels.txt", "bm25.run", "-m", "AP relstring@3", "--per-query", "--format", "csv"
    )

    assert "relstring@3 has a value for each query only" in summary.stderr
    assert "bm25,q1,relstring@3,,20-" in queries.stdout.splitlines()


def test_bounds_tell_how_far_judgments_and_ties_could_move_a_number(invoke: Invoke) -> None:
    """Of bm25's five results one is unjudged, at rank 3 of q1: if relevant, P@3 has one hit more there."""
    result = invoke("score", "qrels.txt", "bm25.run", "dense.run", "-m", "P@3", "--bounds", "--quiet")

    assert result.stdout.splitlines()[4:] == [
        "",
        "Bounds",
        "",
        "system  measure   value  judged  over all judgments  over all tie orders",
        "────────────────────────────────────────────────────────────────────────",
        "bm25    P@3      0.2222  0.5556       0.2222–0.3333",
        "dense   P@3      0.3333  0.6667       0.3333–0.4444        0.3333–0.3333",
    ]


def test_bounds_are_columns_of_data(invoke: Invoke) -> None:
    """CSV and JSON have the ends of the ranges in full."""
    table = invoke("score", "qrels.txt", "dense.run", "-m", "RR", "--bounds", "--format", "csv", "--quiet")
    document = invoke(
        "score", "qrels.txt", "dense.run", "-m", "RR", "--bounds", "--format", "json", "--quiet"
    )
    names = ["judged", "unjudged_low", "unjudged_high", "ties_low", "ties_high"]

    assert table.stdout.splitlines()[0] == ",".join(["system", "RR", *(f"RR {name}" for name in names)])
    (row,) = json.loads(document.stdout)["tables"]["means"]

    assert list(row)[-5:] == names
    assert (row["ties_low"], row["ties_high"]) == (0.5, 0.5)


def test_bounds_of_averaged_ties_are_left_out_with_a_note(invoke: Invoke) -> None:
    """Over judgments there are bounds for one order of ties only."""
    result = invoke("score", "qrels.txt", "dense.run", "-m", "RR", "--bounds", "--ties", "expected")

    assert result.stdout.splitlines()[-1] == "dense   RR       0.5000"
    assert "Note: bounds over judgments hold for one order of ties, and `--ties expected` has none" in (
        result.stderr.splitlines()
    )
