"""SVMlight files of learning to rank as judgments, and predictions for their rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from pyarrow.parquet import write_table

import judged
from judged import evaluate_arrays, read_judgments, read_predictions
from judged.cli.main import judged as program
from judged.errors import BadInput

# A line of each kind, as their publishers write it: LETOR 4 MQ2007, RankLib's example, MSLR-WEB10K, Istella, Yahoo.
LETOR = b"2 qid:10002 1:0.007477 2:0.000000 46:0.007042 #docid = GX008-86-4444840 inc = 1 prob = 0.086622\n"
RANKLIB = b"3 qid:1 1:1 2:1 3:0 4:0.2 5:0 # 1A\n2 qid:1 1:0 2:0 3:1 4:0.1 5:1 # 1B\n"
MSLR = b"0 qid:1 1:3 2:3 136:0\r\n2 qid:1 1:3 2:0 136:0\r\n"
ISTELLA = b"0 qid:1 1:1.79769313486232E+308 2:5\n4 qid:1 1:0 2:1.79769313486232E+308\n"


@pytest.mark.parametrize(
    ("text", "documents", "grades"),
    [
        (LETOR, ["GX008-86-4444840"], [2.0]),
        (RANKLIB, ["1A", "1B"], [3.0, 2.0]),
        (MSLR, ["1/1", "1/2"], [0.0, 2.0]),
        (ISTELLA, ["1/1", "1/2"], [0.0, 4.0]),
        (
            b"# a comment\n\n1.5 qid:q-1\n-1 qid:q-1 7:x # relevant\n0 qid:q-1 # relevant\n",
            ["q-1/1", "q-1/2", "q-1/3"],
            [1.5, -1.0, 0.0],
        ),
    ],
    ids=["letor", "ranklib", "mslr", "istella", "odd"],
)
def test_every_variant_is_read_without_its_features(
    text: bytes, documents: list[str], grades: list[float]
) -> None:
    """Documents by LETOR's comment, RankLib's, or the row; features are not looked at."""
    read = read_judgments(text)

    assert read.documents == documents
    assert read.grades.tolist() == grades


def test_rows_without_documents_are_noted_and_named_in_order() -> None:
    """Ids have one width, so that byte order is the order of the rows."""
    read = read_judgments(b"".join(b"1 qid:7 1:2\n" for _ in range(12)))

    assert read.documents[:2] == ["7/01", "7/02"]
    assert read.notes == ("12 rows name no document: called by query and row, such as `7/01`",)


def test_malformed_lines_are_refused_with_their_places() -> None:
    """All of them at once."""
    with pytest.raises(BadInput) as caught:
        read_judgments(b"# x\n1 qid:1 1:2\nhigh qid:1 1:2\n1 1:0.5\n1 qid: 1:0\n")

    message = str(caught.value)
    assert "bytes:3: grade is `high`, expected a number" in message
    assert "bytes:4: the second column is `1:0.5`, expected `qid:` and the id of a query" in message
    assert "bytes:5: the second column is `qid:`" in message


def test_lines_of_many_features_are_skipped_beyond_their_head() -> None:
    """A comment at the end of a long line is found."""
    features = b" ".join(b"%d:0.123456" % number for number in range(1, 700))

    assert read_judgments(b"1 qid:3 " + features + b" # d1\n").documents == ["d1"]


def write(folder: Path) -> tuple[Path, Path]:
    """A file of rows, and predictions for them."""
    rng = np.random.default_rng(8)
    grades, ids = rng.integers(0, 4, 30), np.repeat([9, 10, 11], 10)
    rows, predictions = folder / "test.svm", folder / "predictions.txt"
    rows.write_text("".join(f"{grade} qid:{query} 1:0.5\n" for grade, query in zip(grades, ids, strict=True)))
    predictions.write_text("".join(f"{score}\n" for score in rng.integers(0, 5, 30)))
    return rows, predictions


def test_predictions_score_as_arrays_do(tmp_path: Path) -> None:
    """The same number from files and from arrays, with ties, under the profile of the library."""
    rows, predictions = write(tmp_path)
    fields = [line.split() for line in rows.read_text().splitlines()]
    expected = evaluate_arrays(
        np.loadtxt(predictions), [float(field[0]) for field in fields], group_ids=[field[1] for field in fields],
        measures="nDCG@10", protocol="lightgbm",
    )  # fmt: skip

    result = CliRunner().invoke(
        program,
        [
            "score",
            str(rows),
            "--predictions",
            str(predictions),
            "-m",
            'nDCG(gain="exp")@10',
            "--profile",
            "lightgbm",
            "--format",
            "csv",
        ],
    )

    assert result.exit_code == 0, result.output
    assert float(result.stdout.split()[-1].rpartition(",")[2]) == pytest.approx(
        expected["nDCG@10"], abs=1e-12
    )


def test_predictions_of_ranklib_are_held_to_their_rows() -> None:
    """Query and index must be those of the row."""
    rows = b"1 qid:7 1:0.3\n0 qid:7 1:0.2\n0 qid:8 1:0\n"

    assert read_predictions(b"7\t0\t0.5\n7\t1\t2\n8\t0\t1\n", rows).to_arrow()["score"].to_pylist() == [
        0.5,
        2.0,
        1.0,
    ]
    with pytest.raises(BadInput, match=r"predictions:2: query and index are `8 0`, expected `7 1`"):
        read_predictions(b"7\t0\t0.5\n8\t0\t2\n7\t1\t1\n", rows)


def test_predictions_of_another_length_are_refused_with_both(tmp_path: Path) -> None:
    """And values that are not numbers with their lines."""
    rows, predictions = write(tmp_path)
    lines = predictions.read_text().splitlines()
    predictions.write_text("\n".join(lines[:-1]))
    short = CliRunner().invoke(program, ["score", str(rows), "--predictions", str(predictions)])
    predictions.write_text("\n".join([*lines[:-2], "nan", "1 2"]))
    bad = CliRunner().invoke(program, ["score", str(rows), "--predictions", str(predictions)])
    none = CliRunner().invoke(program, ["score", str(rows)])

    assert short.exit_code == 2
    assert "29 predictions for 30 rows of test.svm, expected as many" in short.stderr.replace(
        "of test,", "of test.svm,"
    )
    assert "predictions.txt:29: prediction is `nan`, expected a number" in bad.stderr
    assert "predictions.txt:30: 2 columns, expected 1 as in the first line" in bad.stderr
    assert "Missing argument 'RUN...', or `--predictions FILE`" in none.stderr


def test_arrays_take_the_place_of_a_file() -> None:
    """A model's predictions in memory, for rows on disk."""
    assert read_predictions(np.array([0.5, 1.0]), b"1 qid:7 # a\n0 qid:7 # b\n").to_arrow()[
        "document"
    ].to_pylist() == ["a", "b"]


def call(*arguments: object) -> Result:
    """The command line."""
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


def test_predictions_take_the_place_of_a_run_in_every_command(tmp_path: Path) -> None:
    """The same values, differences and verdicts as of the run in a file; the provenance has the file of predictions."""
    rows, new = write(tmp_path)
    old = tmp_path / "old.txt"
    old.write_text("".join(f"{number % 7}\n" for number in range(30)))
    runs = {name: tmp_path / f"{name}.parquet" for name in ("predictions", "old")}
    for name, path in runs.items():
        write_table(read_predictions(tmp_path / f"{name}.txt", rows).to_arrow(), path)
    predicted = ["--predictions", new, "--predictions", old]
    asked = ["-m", "AP", "--format", "json"]

    answers = [
        (call("compare", rows, *predicted, *asked), call("compare", rows, *runs.values(), *asked)),
        (
            call("explain", rows, "--predictions", new, "--query", 9, *asked),
            call("explain", rows, runs["predictions"], "--query", 9, *asked),
        ),
        (
            call("gate", rows, "--predictions", new, "--baseline", old, *asked),
            call("gate", rows, runs["predictions"], "--baseline", runs["old"], *asked),
        ),
    ]
    for ours, theirs in answers:
        assert ours.exit_code == theirs.exit_code, ours.stderr
        given, expected = json.loads(ours.stdout), json.loads(theirs.stdout)
        assert strip(given) == strip(expected)
        assert "'role': 'predictions'" in str(given)


def strip(value: object) -> object:
    """What a result holds besides the files that it was made from."""
    if isinstance(value, dict):
        return {key: strip(inner) for key, inner in value.items() if key != "inputs"}
    return list(map(strip, value)) if isinstance(value, list) else value


def test_a_gate_of_predictions_may_be_in_a_file_and_have_a_run_as_its_baseline(tmp_path: Path) -> None:
    """Files are found beside that file; predictions and a run are one too many."""
    rows, new = write(tmp_path)
    baseline = tmp_path / "old.run"
    baseline.write_text(
        "".join(
            f"{line.split()[1][4:]} Q0 x{at} 1 {-at} t\n"
            for at, line in enumerate(rows.read_text().splitlines())
        )
    )
    gates, both = tmp_path / "gates.yaml", tmp_path / "both.yaml"
    gate = "{qrels: test.svm, predictions: predictions.txt, baseline: old.run, min_delta: -0.9"
    gates.write_text(f"gates: [{gate}}}]")
    both.write_text(f"gates: [{gate}, run: old.run}}]")

    assert call("gate", "--config", gates).exit_code in {0, 3}
    assert "has `predictions` and `run`, expected one or the other" in call("gate", "--config", both).stderr
    for command in ("explain", "gate"):
        arguments = [command, rows, baseline, "--predictions", new]
        options = ["--baseline", baseline] if command == "gate" else ["--query", "9"]
        assert "both" in call(*arguments, *options).stderr
    assert "give RUN or `--predictions FILE`, got neither" in call("explain", rows, "--query", 9).stderr
    assert "cannot be standard input" in call("score", "-", "--predictions", new).stderr


@pytest.mark.parametrize("lines", ["0.5\n2\n", "7\t0\t0.5\n7\t1\t2\n"])
def test_predictions_in_place_of_a_run_are_recognised(tmp_path: Path, lines: str) -> None:
    """The hint names the option on the command line, and the function in Python."""
    rows, wrong = tmp_path / "rows.svm", tmp_path / "wrong.txt"
    rows.write_text("1 qid:7 1:0.3\n0 qid:7 1:0.2\n")
    wrong.write_text(lines)

    for command in ("score", "compare", "explain", "gate"):
        arguments = {
            "compare": [f"new={wrong}"],
            "explain": ["--query", 7],
            "gate": ["--baseline", wrong],
        }.get(command, [])
        assert (
            "it looks like predictions: `--predictions FILE` reads"
            in call(command, rows, wrong, *arguments).stderr
        )
    with pytest.raises(
        BadInput, match=r"`judged.read_predictions\(file, judgments\)` reads the scores of a model"
    ):
        judged.evaluate(rows, wrong)
