"""`judged compare`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from judged.cli.output import FORMATS

Invoke = Callable[..., Result]
BASIC = ("compare", "qrels.txt", "bm25.run", "dense.run")


def test_it_prints_a_leaderboard_and_differences(invoke: Invoke) -> None:
    """The best first; RR of bm25 is 1, 1/2, 0 and of dense 1/2, 1, 0: no difference in the mean, p of 1.

    Student's interval of three values, 0.5 ± 4.3027 · 0.5 / √3, is -0.7421 to 1.7421; RR lies between 0 and 1.
    """
    result = invoke(*BASIC, "-m", "RR", "--baseline", "bm25", "--intervals", "--full")

    assert result.exit_code == 0
    assert result.stdout.startswith("Both systems have the same RR, 0.5000.\n")
    assert "0.5000 [0.0000, 1.0000]" in result.stdout
    assert "1/1/1" in result.stdout
    assert "q2 +0.5000" in result.stdout
    assert "q1 -0.5000" in result.stdout
    assert "single-step maxT" in result.stderr
    assert "Protocol: trec_eval-9" in result.stderr


@pytest.mark.parametrize("kind", [name for name in FORMATS if name != "parquet"])
@pytest.mark.parametrize("per_query", [(), ("--per-query",)], ids=["whole", "per query"])
def test_every_format_is_printed(invoke: Invoke, kind: str, per_query: tuple[str, ...]) -> None:
    """Something, with the name of a run in it and no nan."""
    result = invoke(*BASIC, "-m", "AP RR", "--format", kind, "--test", "t", *per_query)

    assert result.exit_code == 0
    assert "dense" in result.stdout
    assert re.search(r"\bnan\b", result.stdout.lower()) is None


def test_csv_has_every_number_of_each_pair(invoke: Invoke) -> None:
    """By hand: RR of 1, 1/2, 0 and of 1/2, 1, 0 differ by −1/2, 1/2 and 0, a deviation of 1/2."""
    result = invoke(*BASIC, "-m", "RR", "--format", "csv", "--quiet")
    (row,) = csv.DictReader(io.StringIO(result.stdout))

    assert (row["system"], row["baseline"], row["queries"]) == ("dense", "bm25", "3")
    assert (row["wins"], row["ties"], row["losses"]) == ("1", "1", "1")
    assert float(row["difference"]) == float(row["effect"]) == 0.0
    assert (float(row["p"]), float(row["p_corrected"]), row["stars"]) == (1.0, 1.0, "ns")


def test_per_query_has_every_difference(invoke: Invoke) -> None:
    """A row for each query and pair."""
    result = invoke(*BASIC, "-m", "RR", "--per-query", "--format", "csv", "--quiet")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))

    assert [(row["query"], float(row["difference"])) for row in rows] == [
        ("q1", -0.5),
        ("q2", 0.5),
        ("q3", 0.0),
    ]


def test_json_has_settings_inputs_and_everything(invoke: Invoke) -> None:
    """Strict JSON, with what was chosen and what was read."""
    result = invoke(*BASIC, "-m", "RR AP", "--seed", "7", "--format", "json", "--quiet")
    document = json.loads(result.stdout, parse_constant=pytest.fail)

    assert document["provenance"]["settings"]["seed"] == 7
    assert [source["role"] for source in document["provenance"]["inputs"]] == ["judgments", "run", "run"]
    assert len(document["tables"]["means"]) == 4
    assert len(document["tables"]["differences"]) == 2


def test_files_are_written_beside(invoke: Invoke, collection: Path) -> None:
    """In the formats of their extensions; Parquet says how it was made."""
    result = invoke(*BASIC, "-m", "RR", "-o", "table.tex", "-o", "all.parquet")
    table = pq.read_table(collection / "all.parquet")

    assert result.exit_code == 0
    assert r"\toprule" in (collection / "table.tex").read_text()
    assert table["system"].to_pylist() == ["dense"]
    assert b"randomisation" in table.schema.metadata[b"judged.provenance"]


def test_latex_of_many_runs_marks_what_is_worse_than_the_best(invoke: Invoke, collection: Path) -> None:
    """Of thirty equal runs and one that is better everywhere, the thirty have an arrow; `--bare-latex` has no `table`."""
    queries = [f"q{number}" for number in range(40)]
    (collection / "many.txt").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    (collection / "best.run").write_text("".join(f"{query} Q0 a 1 1 x\n" for query in queries))
    worse = "".join(f"{query} Q0 x 1 2 x\n{query} Q0 a 2 1 x\n" for query in queries)
    names = [f"r{number:02}.run" for number in range(30)]
    for name in names:
        (collection / name).write_text(worse)
    command = (
        "compare",
        "many.txt",
        "best.run",
        *names,
        "-m",
        "RR",
        "--format",
        "latex",
        "--resamples",
        "999",
    )
    result = invoke(*command)

    assert result.exit_code == 0
    assert r"best & \textbf{1.0000} \\" in result.stdout
    assert result.stdout.count(r"0.5000$^{\mathrm{\downarrow}}$") == 30
    assert r"\begin{table}" in result.stdout
    assert r"\begin{table}" not in invoke(*command, "--bare-latex").stdout
    assert "465 differences are not shown" in result.stderr


def test_slices_and_timings_are_read(invoke: Invoke, collection: Path) -> None:
    """Attributes from CSV, times from JSONL."""
    (collection / "kinds.csv").write_text("query,kind\nq1,short\nq2,long\nq3,long\n")
    (collection / "times.jsonl").write_text('{"system": "bm25", "ms": 4}\n{"system": "dense", "ms": 20}\n')
    result = invoke(
        *BASIC,
        "-m",
        "RR",
        "--baseline",
        "bm25",
        "--slice",
        "kinds.csv",
        "--timings",
        "times.jsonl",
        "--picture",
        "picture.svg",
    )

    assert result.exit_code == 0
    assert "kind = long (2 queries)" in result.stdout
    assert "Does the difference depend on the slice?" in result.stdout
    assert "no evidence that it depends on kind" in result.stdout
    assert "p99 ms" in result.stdout
    assert (collection / "picture.svg").read_text().startswith("<svg")
    assert "Pareto-optimal" in result.stdout


def test_queries_without_the_attribute_are_counted(invoke: Invoke, collection: Path) -> None:
    """They are in no slice, and a note counts them."""
    (collection / "kinds.csv").write_text("query,kind\nq1,short\nq2,long\n")
    result = invoke(*BASIC, "-m", "RR", "--slice", "kinds.csv")

    assert "1 of 3 queries have no `kind` and are in none of its slices" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*BASIC, "--baseline", "bm52"), "did you mean `bm25`?"),
        (("compare", "qrels.txt", "bm25.run"), "expected two or more to compare"),
        (("compare", "qrels.txt", "bm25.run", "bm25.run"), "`bm25.run` and `bm25.run` both have this name"),
        ((*BASIC, "--test", "t", "--correction", "maxT"), "needs the resamples"),
        ((*BASIC, "--level", "95"), "95 % is written 0.95"),
        ((*BASIC, "-m", "gm_AP"), "compare by AP in place of gm_AP"),
        ((*BASIC, "--slice", "bad.csv"), "bad.csv:3: query `q1` has a row already"),
        ((*BASIC, "--slice", "short.csv"), "1 columns, expected 2"),
        (
            (*BASIC, "--timings", "unit.csv"),
            "seconds=COLUMN`; usual names are known (seconds: milliseconds, latency_ms",
        ),
        ((*BASIC, "--timings", "times.csv"), "times.csv:2: time is -0.001 seconds, expected a number from 0"),
        ((*BASIC, "--picture", "picture.svg"), "`--picture` has no effect without `--timings FILE`"),
        ((*BASIC, "--timings", "none.csv"), "none, expected times of systems"),
    ],
)
def test_mistakes_are_reported_and_exit_with_2(
    invoke: Invoke, collection: Path, arguments: tuple[str, ...], message: str
) -> None:
    """What, where, and what to do; no traceback."""
    (collection / "bad.csv").write_text("query,kind\nq1,a\nq1,b\n")
    (collection / "short.csv").write_text("query,kind\nq1\n")
    (collection / "unit.csv").write_text("system,latency\nbm25,3\n")
    (collection / "times.csv").write_text("system,ms\nbm25,-1\n")
    (collection / "none.csv").write_text("system,ms\n")
    result = invoke(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
