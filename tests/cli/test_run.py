"""`judged run`: the plan, the folder of results, exit codes, and errors in words."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result

import judged as library
from judged.cli.main import judged
from support.studies import PARTS, QUERIES, count_calls, own, write_collection

pytest.importorskip("bm25s")
pytest.importorskip("vl_convert")
STUDY = {
    "collection": "pets",
    "baseline": "words",
    "cutoffs": [1, 5, 10],
    "measures": ["R@k", "P@k", "RR"],
    "systems": [
        {"name": "words", "search": "bm25"},
        {"name": "own", "encoder": own(), "search": "exact"},
        {"name": "both", "fuse": {"of": ["words", "own"]}},
    ],
}


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a collection, a study and parts of one's own."""
    write_collection(tmp_path)
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(STUDY))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "parts", raising=False)
    return tmp_path


def run(*arguments: object) -> Result:
    """Run `judged run` with these arguments."""
    return CliRunner().invoke(judged, ["run", *map(str, arguments)])


def test_it_ends_in_a_folder_of_results(desk: Path) -> None:
    """The folder is named after the study; one CSV has a row for each system and a column for measure and stage."""
    result = run("study.yaml")
    folder = desk / "study-results"
    with (folder / "systems.csv").open() as file:
        rows = list(csv.DictReader(file))

    assert result.exit_code == 0, result.stderr
    assert "Wrote: study-results/report.html" in result.stderr
    assert [row["system"] for row in rows] == ["words", "own", "both"]
    assert {"R@1", "R@5", "R@10", "P@1", "P@5", "P@10", "RR"} <= rows[0].keys()
    assert {"embedding_ms", "retrieval_ms", "fusion_ms", "total_ms", "total_p99_ms", "latency_s"} <= rows[
        0
    ].keys()
    assert float(rows[0]["total_ms"]) == pytest.approx(1000 * float(rows[0]["latency_s"]))
    assert {path.suffix for path in (folder / "charts").iterdir()} == {".svg", ".png"}
    assert len(list((folder / "runs").glob("*.parquet"))) == 3


def test_the_answer_comes_first_and_stars_stand_beside_means() -> None:
    """One table has means, stars against the baseline and latency."""
    printed = run("study.yaml").stdout
    answer, _, rest = printed.partition("\n\n")

    assert "R@1" in answer
    assert "Pareto-optimal by R@1 and mean latency" in " ".join(answer.split())
    assert "▲ better, ▼ worse than words by corrected p" in rest
    assert "mean ms" in rest


def test_a_dry_run_prints_the_plan_and_what_is_cached(desk: Path) -> None:
    """After the study, only what asks the user's code is asked again; a dry run does neither retrieve nor write."""
    before = run("study.yaml", "--dry-run")
    untouched = not (desk / "study-results").exists() and not count_calls(desk, "encode")
    run("study.yaml", "-q")
    after = run("study.yaml", "--dry-run")
    kept = run("study.yaml", "--dry-run", "--reuse")

    assert untouched
    assert before.stdout.count("0 of 6 queries answered") == 3
    assert "0 of 8 texts cached as vectors" in before.stdout
    assert after.stdout.count("6 of 6 queries answered") == 1
    assert kept.stdout.count("6 of 6 queries answered") == 3
    assert "8 of 8 texts cached as vectors" in after.stdout
    assert "rrf(words, own)" in after.stdout


def test_the_result_is_read_back_and_shown_again(desk: Path) -> None:
    """`judged.load` returns the same study, and `judged report` makes its page."""
    run("study.yaml", "-q")
    loaded = library.load(desk / "study-results" / "study.json")
    page = CliRunner().invoke(judged, ["report", "study-results/study.json", "-o", "again.html"])

    assert isinstance(loaded, library.Study)
    assert loaded["both"].mean().keys() == {"R@1", "R@5", "R@10", "P@1", "P@5", "P@10", "RR"}
    assert len(loaded.timings) == len(loaded.times) * len(QUERIES)
    assert page.exit_code == 0, page.stderr
    assert '"study"' in (desk / "again.html").read_text()


def test_a_system_that_fails_ends_with_exit_code_5(desk: Path) -> None:
    """The others are finished and written; the failure is in the output and in the CSV."""
    broken = {"name": "broken", "encoder": own("encode_nan"), "search": "exact"}
    (desk / "study.yaml").write_text(yaml.safe_dump({**STUDY, "systems": [*STUDY["systems"], broken]}))  # type: ignore[misc]
    result = run("study.yaml")
    rows = list(csv.DictReader((desk / "study-results" / "systems.csv").read_text().splitlines()))

    assert result.exit_code == 5
    assert "1 system failed: broken." in " ".join(result.stdout.split())
    assert "NaN" in rows[3]["failure"]
    assert rows[2]["RR"]
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"systems": [{"name": "a", "search": "bm52"}]}, "systems[0]"),
        ({"collection": "nowhere"}, "nowhere"),
        ({"measure": ["AP"]}, "did you mean `measures`"),
        ({"train": ["q99"]}, "q99"),
    ],
)
def test_mistakes_exit_with_2_and_words(desk: Path, change: dict[str, object], words: str) -> None:
    """Nothing is run, nothing is written, and no traceback is shown."""
    (desk / "study.yaml").write_text(yaml.safe_dump({**STUDY, **change}))
    result = run("study.yaml")

    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_a_folder_of_other_files_is_refused(desk: Path) -> None:
    """`-o .` would overwrite a README."""
    result = run("study.yaml", "-o", ".")

    assert result.exit_code == 2
    assert "is not the folder of a study" in result.stderr
    assert not (desk / "README.md").exists()


def test_the_schema_for_editors_accepts_the_study() -> None:
    """`--schema` prints a JSON schema, and needs no study."""
    result = run("--schema")
    schema = json.loads(result.stdout)

    jsonschema.validate(STUDY, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**STUDY, "repeats": "three"}, schema)


def test_results_are_logged_to_a_real_mlflow_store(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run for the study and one for each system, with its measures, times and the folder as artifacts."""
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (desk / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((desk / "mlruns").as_uri())
    result = run("study.yaml", "-q", "--log", "mlflow")
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("study")
    runs = {one.info.run_name: one for one in client.search_runs([experiment.experiment_id])}
    loaded = library.load(desk / "study-results" / "study.json")

    assert result.exit_code == 0, result.output
    assert set(runs) == {"study", "words", "own", "both"}
    assert runs["both"].data.metrics["RR"] == pytest.approx(loaded["both"].mean()["RR"])  # type: ignore[index]
    assert runs["own"].data.metrics["R_at_5"] == pytest.approx(loaded["own"].mean()["R@5"])  # type: ignore[index]
    assert "embedding_ms" in runs["own"].data.metrics
    assert "report.html" in {one.path for one in client.list_artifacts(runs["study"].info.run_id)}


def test_a_tracker_that_is_not_installed_is_named_before_the_work(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extra is named, and nothing was retrieved."""
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    result = run("study.yaml", "--log", "wandb")

    assert result.exit_code == 2
    assert "judged[wandb]" in result.stderr or "extra `wandb`" in result.stderr
    assert not count_calls(desk, "encode")


def test_results_are_logged_to_wandb_offline(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run for each system, and one for the study with its folder."""
    pytest.importorskip("wandb", reason="Weights & Biases is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    result = run("study.yaml", "-q", "--log", "wandb")

    assert result.exit_code == 0, result.output
    assert len(list((desk / "wandb").glob("offline-run-*"))) == len(STUDY["systems"]) + 1
