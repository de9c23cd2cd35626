"""Baselines that were stored: every format that `judged score --per-query` writes, checked before they are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import judged
from judged.blocks import Display
from judged.cli.main import judged as program
from judged.errors import BadInput, BadProtocol, MissingQueries, UnknownName, Unreadable
from judged.result import load
from judged.scoring.evaluate import evaluate_many


def stored(
    folder: Path, *names: str, options: tuple[str, ...] = (), measures: str = "nDCG@10 AP"
) -> list[Path]:
    """Files of the scores of `old.run`, as `judged score --per-query` writes them."""
    outputs = [folder / name for name in names]
    words = [word for path in outputs for word in ("-o", str(path))]
    inputs = [str(folder / "qrels.txt"), str(folder / "old.run")]
    done = CliRunner().invoke(
        program, ["score", *inputs, "-m", measures, "--per-query", "-q", *words, *options]
    )
    assert done.exit_code == 0, done.output
    return outputs


FILES = ("scores.parquet", "scores.csv", "scores.tsv", "scores.jsonl", "scores.json")


@pytest.mark.parametrize("name", FILES)
def test_a_stored_baseline_gives_the_verdict_of_the_run_that_it_was_made_from(
    folder: Path, name: str
) -> None:
    """Every number is the same, whatever the format."""
    (path,) = stored(folder, name)
    live, kept = (
        judged.gate(folder / "qrels.txt", folder / "new.run", "nDCG@10 AP", baseline=baseline)
        for baseline in (folder / "old.run", path)
    )

    assert [result.test for result in kept.results] == [result.test for result in live.results]
    assert kept.baseline == "old"


def test_scores_and_evaluations_in_memory_are_baselines(folder: Path) -> None:
    """An evaluation knows its protocol; scores alone do not."""
    evaluation = judged.evaluate(folder / "qrels.txt", folder / "old.run", "AP")
    reports = [
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=baseline)
        for baseline in (evaluation, evaluation.scores)
    ]

    assert reports[0].results == reports[1].results
    assert reports[0].notes == ()
    assert [str(note) for note in reports[1].notes] == [
        "old: the stored scores do not say their protocol; taken to be the same"
    ]


@pytest.mark.parametrize("name", ["scores.parquet", "scores.json"])
def test_scores_made_under_another_protocol_are_refused_unless_that_is_allowed(
    folder: Path, name: str
) -> None:
    """The fingerprint in the file is compared with the one used now."""
    (path,) = stored(folder, name)
    other = judged.Protocol(ties="input-order")
    words = r"`old`: the stored scores of AP were made under protocol #ef9d040441c7, this run under custom protocol"
    with pytest.raises(BadProtocol, match=words) as refused:
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path, protocol=other)
    report = judged.gate(
        folder / "qrels.txt",
        folder / "new.run",
        "AP",
        baseline=path,
        protocol=other,
        allow_other_protocol=True,
    )

    assert refused.value.hint == "score the baseline again, or go on with `--allow-other-protocol`"
    assert any("were made under protocol #ef9d040441c7" in note.message for note in report.notes)


@pytest.mark.parametrize("name", ["scores.parquet", "scores.json"])
def test_each_measure_of_a_profile_is_held_to_its_own_protocol(folder: Path, name: str) -> None:
    """BEIR computes MRR under another protocol than NDCG: naming either first makes no difference."""
    options = ("--profile", "beir", "-m", "NDCG@10 MRR@10")
    (path,) = stored(folder, name, options=options, measures="NDCG@10")
    given: dict[str, Any] = {"baseline": path, "protocol": "beir"}
    report = judged.gate(folder / "qrels.txt", folder / "new.run", ["MRR@10", "NDCG@10"], **given)

    assert [note.code for note in report.notes] == ["spellings"]
    assert [result.measure for result in report.results] == ["MRR@10", "NDCG@10"]


@pytest.mark.parametrize("name", ["scores.parquet", "scores.json"])
def test_other_judgments_are_noted(folder: Path, name: str) -> None:
    """The file remembers the digest of the judgments."""
    (path,) = stored(folder, name)
    with (folder / "qrels.txt").open("a") as file:
        file.write("q0 0 another 1\n")
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path)

    assert "old: the stored scores were made with other judgments, or an older copy of them" in map(
        str, report.notes
    )


def test_queries_that_a_stored_baseline_lacks_are_counted(folder: Path) -> None:
    """Their values are unknown, and so not 0."""
    (path,) = stored(folder, "scores.csv")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if ",q1," not in line) + "old,q999,AP,0.5\n")
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path)

    assert (report["AP"].only_in_run, report["AP"].only_in_baseline) == (("q1",), ("q999",))
    assert report["AP"].test.queries == 29
    strict = judged.Protocol(missing="error")
    with pytest.raises(MissingQueries, match="AP: 2 queries have a value on one side only: q1, q999"):
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path, protocol=strict)


def test_a_stored_value_of_nothing_or_nan_is_a_query_without_one(folder: Path) -> None:
    """As where a profile's tool leaves a query out."""
    (path,) = stored(folder, "scores.csv")
    lines = [
        line.rsplit(",", 1)[0] + ",nan\n" if line.startswith("old,q2,") else line
        for line in path.read_text().splitlines(keepends=True)
    ]
    lines = [line.rsplit(",", 1)[0] + ",\n" if line.startswith("old,q7,") else line for line in lines]
    path.write_text("".join(lines))

    found = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path)["AP"]

    assert set(found.only_in_run) == {"q2", "q7"}


@pytest.mark.parametrize("value", ["inf", "high"])
def test_a_stored_value_that_is_no_number_is_refused_with_its_row(folder: Path, value: str) -> None:
    """Words for the user, not a traceback."""
    path = folder / "scores.csv"
    path.write_text(f"run,query,measure,value\nold,q1,AP,0.5\nold,q2,AP,{value}\nold,q1,AP,0.5\n")
    with pytest.raises(BadInput) as refused:
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path)

    assert f"scores.csv:3: value is `{value}`, expected a finite number" in str(refused.value)
    assert "scores.csv:4: query `q1` has a value of AP already" in str(refused.value)


def test_a_measure_that_was_not_stored_is_an_unknown_name(folder: Path) -> None:
    """With those that were."""
    (path,) = stored(folder, "scores.parquet")
    with pytest.raises(UnknownName, match="no measure of the baseline `old` is called `RR`"):
        judged.gate(folder / "qrels.txt", folder / "new.run", "RR", baseline=path)


def test_of_several_stored_runs_one_must_be_named(folder: Path) -> None:
    """Each file may hold several."""
    (path,) = stored(folder, "scores.parquet", options=(f"sparse={folder / 'new.run'}",))
    given: dict[str, Any] = {"baseline": path}
    with pytest.raises(BadInput, match=r"holds scores of 2 runs \(old, sparse\), expected one"):
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", **given)
    with pytest.raises(UnknownName, match="`odl`"):
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline_run="odl", **given)

    assert (
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline_run="old", **given).baseline
        == "old"
    )
    with pytest.raises(BadProtocol, match="the baseline is itself a run"):
        judged.gate(
            folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "old.run", baseline_run="old"
        )


@pytest.mark.parametrize("name", ["means.parquet", "means.csv", "means.jsonl"])
def test_means_alone_are_no_baseline(folder: Path, name: str) -> None:
    """They are known for what they are, and the command that makes a baseline is given."""
    path = folder / name
    inputs = [str(folder / "qrels.txt"), str(folder / "old.run")]
    CliRunner().invoke(program, ["score", *inputs, "-q", "-o", str(path)])
    with pytest.raises(
        BadInput, match="holds means of whole runs, expected the scores of every query"
    ) as refused:
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path)

    assert "--per-query -o scores.parquet" in str(refused.value.hint)


def test_a_saved_result_is_a_baseline_without_per_query_output(folder: Path) -> None:
    """JSON keeps the scores of every query, whether or not its tables show them."""
    path = folder / "result.json"
    inputs = [str(folder / "qrels.txt"), str(folder / "old.run")]
    CliRunner().invoke(program, ["score", *inputs, "-m", "AP", "-q", "-o", str(path)])
    direct = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "old.run")
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=path)

    assert report["AP"].test == direct["AP"].test
    assert isinstance(judged.load(path), judged.Evaluations)


def test_a_run_in_parquet_is_a_run(folder: Path) -> None:
    """Columns distinguish scores from runs, not extensions."""
    run = judged.read_run(folder / "old.run")
    pq.write_table(run.to_arrow(), folder / "old.parquet")
    live, kept = (
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / name)
        for name in ("old.run", "old.parquet")
    )

    assert live["AP"].test == kept["AP"].test


def test_scores_that_others_wrote_are_read_without_their_protocol(folder: Path) -> None:
    """Three columns are enough: query, measure, value; the system is then named after the file."""
    scores = judged.evaluate(folder / "qrels.txt", folder / "old.run", "AP").scores
    pq.write_table(
        pa.table({name: scores.to_arrow()[name] for name in ("query", "measure", "value")}),
        folder / "s.parquet",
    )
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "s.parquet")

    assert report.baseline == "s"
    assert [str(note) for note in report.notes] == [
        "s: the stored scores do not say their protocol; taken to be the same"
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.json", '{"judged": "1", "protocol": {}, "inputs": [], "runs": [{"per_query": {}}]}'),
        ("s.json", '{"judged": "1", "protocol": {}, "inputs": [], "runs": [7]}'),
        ("s.jsonl", '{"query": "q1", "measure": "AP", "value": 1}\n[7]\n'),
        ("s.csv", "query,measure,value\nq1\n"),
    ],
)
def test_scores_that_are_damaged_are_worded(folder: Path, name: str, content: str) -> None:
    """Nothing of Python's own comes through."""
    (folder / name).write_text(content)
    with pytest.raises(judged.JudgedError, match=name):
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / name)


def test_a_damaged_parquet_file_is_worded(folder: Path) -> None:
    """No traceback of Arrow's."""
    (folder / "s.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(judged.JudgedError, match="cannot be read as Parquet"):
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "s.parquet")


def test_two_systems_that_have_been_scored_are_gated_without_judgments(folder: Path) -> None:
    """Evaluations, scores and files of them give the outcome of scoring both now."""
    new, old = (
        judged.evaluate(folder / "qrels.txt", folder / f"{name}.run", "AP") for name in ("new", "old")
    )
    (path,) = stored(folder, "scores.parquet")
    live = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "old.run")
    reports = [
        judged.gate(new, baseline=old),
        judged.gate(new, baseline=path),
        judged.gate(new.scores, measures="AP", baseline=old.scores),
    ]

    assert [report.results for report in reports] == [live.results] * 3
    assert [note.code for note in reports[2].notes] == ["unknown-protocol"]
    with pytest.raises(Unreadable, match="no judgments to score it with"):
        judged.gate(new, baseline=folder / "old.run")


def test_a_report_is_saved_and_loaded(folder: Path) -> None:
    """With every number, note and the verdict."""
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP RR", baseline=folder / "old.run")
    report.save(folder / "gate.json")
    loaded: Any = load(folder / "gate.json")

    assert loaded.results == report.results
    assert repr(loaded) == repr(report)
    assert loaded.provenance.protocols == report.provenance.protocols


@pytest.mark.parametrize("name", ["scores.parquet", "scores.json", "scores.csv"])
def test_results_in_any_format_are_baselines(folder: Path, name: str) -> None:
    """As `Result.render` writes them: with their protocol, as far as the format can hold it."""
    old = evaluate_many(folder / "qrels.txt", {"old": folder / "old.run"}, "AP")
    path, display = folder / name, Display(per_query=True)
    data = old.render(path.suffix[1:], display)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    live, kept = (
        judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=baseline)
        for baseline in (folder / "old.run", path)
    )

    assert kept.results == live.results
    assert [note.code for note in kept.notes] == (["unknown-protocol"] if name == "scores.csv" else [])
