"""Files of a study: stage times that add up to the total, differences, p-values and stars with direction, in all alike."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from judged.studies.outcome.folder import write_study
from judged.studies.running.run import open_study, run_study

pytest.importorskip("bm25s")
SLOWLY = """
import time
def is_question(text): return text.startswith(("which", "what"))
def find(text):
    time.sleep(0.012)
    return ["d1"]
"""


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a folder of its own, without pictures, which take seconds."""
    monkeypatch.setattr("judged.studies.outcome.folder.find_spec", lambda _name: None)
    (desk / "slowly.py").write_text(SLOWLY)


def test_a_skipped_stage_takes_no_time_of_the_queries_that_skip_it() -> None:
    """Two of six queries are questions and take 12 ms: the mean over all is 4 ms, and no more than that of the total."""
    skipping: dict[str, Any] = {
        "name": "skipping",
        "retriever": "slowly:find",
        "skip": {"type": "function", "function": "slowly:is_question"},
    }
    whole = {
        "collection": "pets",
        "systems": [skipping, {"name": "words", "search": "bm25"}],
        "measures": ["RR"],
    }
    inputs = open_study(whole, "out")
    study = run_study(inputs, output="out")
    write_study(study, inputs)
    stages = {
        name: mean["Latency"] for (system, name), mean in study.latencies.items() if system == "skipping"
    }
    total = stages.pop("total")

    assert set(stages) == {"skipping", "retrieval", "other"}
    assert 2 * 12 / 6 <= stages["retrieval"] <= total
    assert sum(stages.values()) == pytest.approx(total, rel=1e-9)
    row = next(
        row
        for row in csv.DictReader(Path("out/systems.csv").read_text().splitlines())
        if row["system"] == "skipping"
    )
    assert {name: float(row[f"{name}_ms"]) for name in stages} == pytest.approx(stages)
    raw = pyarrow.parquet.read_table("out/timings.parquet").to_pylist()
    for name, mean in stages.items():
        times = [one["seconds"] for one in raw if one["system"] == "skipping" and one["stage"] == name]
        assert len(times) == 6
        assert 1000 * np.mean(times) == pytest.approx(mean)
    bars = next(figure for figure in study.charts() if figure.name == "stages")
    drawn = {one["name"]: one["value"] for one in _values(bars.spec) if one["group"] == "skipping"}
    assert drawn == pytest.approx(stages)


def test_every_file_of_results_has_differences_p_values_and_stars_with_direction() -> None:
    """As SciPy's paired t-test has them; a system that finds nothing is worse, and is marked so."""
    stats = pytest.importorskip("scipy.stats")
    systems = [
        {"name": "words", "search": "bm25"},
        {"name": "alphabet", "retriever": "parts:retrieve"},
    ]
    whole = {
        "collection": "pets",
        "systems": systems,
        "measures": ["RR", "P@5"],
        "baseline": "words",
        "test": "t",
        "correction": "none",
    }
    inputs = open_study(whole, "out")
    study = run_study(inputs, output="out")
    write_study(study, inputs)
    row = {one["system"]: one for one in csv.DictReader(Path("out/systems.csv").read_text().splitlines())}[
        "alphabet"
    ]
    per_query = {name: study[name].per_query() for name in ("words", "alphabet")}

    for measure in ("RR", "P@5"):
        values = {name: scores.by_query(measure) for name, scores in per_query.items()}
        pairs = [(values["alphabet"][query], values["words"][query]) for query in values["words"]]
        expected = stats.ttest_rel(*zip(*pairs, strict=True))
        assert float(row[f"{measure}_p"]) == pytest.approx(expected.pvalue, abs=1e-12)
        assert float(row[f"{measure}_difference"]) == pytest.approx(
            sum(first - second for first, second in pairs) / len(pairs), abs=1e-12
        )
    assert row["RR_stars"] == "▼*"
    assert "▼*" in Path("out/comparison.md").read_text()
    assert r"\downarrow*" in Path("out/comparison.tex").read_text()
    differences = csv.DictReader(Path("out/differences.csv").read_text().splitlines())
    assert {(one["measure"], one["p"]) for one in differences} == {("RR", row["RR_p"]), ("P@5", row["P@5_p"])}


def _values(spec: Any) -> list[dict[str, Any]]:
    """The records of a figure, wherever its specification has them."""
    if isinstance(spec, dict):
        values = spec.get("values")
        found = values if isinstance(values, list) and values and isinstance(values[0], dict) else []
        return [*found, *(one for inner in spec.values() for one in _values(inner))]
    return [one for inner in spec for one in _values(inner)] if isinstance(spec, list) else []


def test_a_study_ends_with_a_load_test() -> None:
    """A system of 20 ms, asked by 4 clients, answers some 200 queries a second, and no more than that."""
    Path("sleepy.py").write_text("import time\ndef find(text):\n    time.sleep(0.02)\n    return ['d1']\n")
    load = {"clients": [1, 4], "seconds": 0.3, "p99": 2000}
    inputs = open_study(
        {
            "collection": "pets",
            "systems": [{"name": "sleepy", "retriever": "sleepy:find"}],
            "measures": ["RR"],
            "load": load,
        },
        "out",
    )
    study = run_study(inputs, output="out")
    write_study(study, inputs)
    rows = list(csv.DictReader(Path("out/load.csv").read_text().splitlines()))

    assert [(row["loop"], row["clients"]) for row in rows] == [
        ("closed", "1"),
        ("closed", "4"),
        *[("open", "4")] * 4,
    ]
    assert all(float(row["qps"]) <= 50 * int(row["clients"]) for row in rows)
    assert all(float(row["p50_ms"]) >= 20 for row in rows)
    assert float(rows[1]["qps"]) > float(rows[0]["qps"])
    assert {row["failed"] for row in rows} == {"0"}
    assert "Under load" in str(study)
