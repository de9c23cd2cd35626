"""Families: what is added in one short file gets evaluate, compare, gate, printing and saving for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import judged
from judged.errors import BadMeasure, BadProtocol, UnknownName
from judged.measures.measure import Measure
from judged.problem import Note
from judged.protocol import BaseProtocol, convention
from judged.result import load
from judged.scoring.alignment import Alignment
from judged.scoring.evaluate import evaluate, evaluate_many
from judged.scoring.family import FAMILIES, Family
from judged.scoring.timing import TimingProtocol
from judged.tables.timings import Timings

# A family, complete: queries are handed to one of several people, and the choice is right or wrong.


@dataclass(frozen=True)
class Choices:
    """Who was chosen for each query."""

    family: ClassVar[str] = "dispatch"
    choices: Mapping[str, str]
    name: str = "desk"


@dataclass(frozen=True, slots=True)
class DispatchProtocol(BaseProtocol):
    """How choices are compared."""

    family: ClassVar[str] = "dispatch"

    case: str = convention(
        "same", words="{} case", check=lambda case: case in {"same", "any"}, expected="a word"
    )


@dataclass(frozen=True)
class DispatchCounts:
    """What was counted."""

    queries: int

    def notes(self, protocol: DispatchProtocol) -> tuple[Note, ...]:
        """Return how many queries were handed on."""
        return (Note("routed", "info", f"{self.queries} queries handed on, {protocol.case} case"),)


def align_choices(
    truth: Mapping[str, str], chosen: Choices, protocol: DispatchProtocol, *_: Any
) -> Alignment:
    """Return which choices are right."""
    right = np.array([chosen.choices.get(query) == best for query, best in truth.items()])
    units = pa.array(list(truth), pa.large_string())
    return Alignment(right, units, protocol, DispatchCounts(len(units)), np.ones(len(units), dtype=bool))


ACCURACY = Measure("Accuracy", lambda right: right.astype(float), family="dispatch")
DISPATCH = Family(
    "dispatch",
    "query",
    DispatchProtocol,
    np.ndarray,
    align_choices,
    default_measures=("Accuracy",),
    parse=lambda _: [ACCURACY],
)

# Here it ends; the rest is use.

TRUTH = {f"q{number}": "dense" if number % 2 else "sparse" for number in range(20)}
GOOD = Choices(TRUTH, name="good")
BAD = Choices({**TRUTH, **dict.fromkeys([f"q{number}" for number in range(8)], "none")}, name="bad")


@pytest.fixture
def _dispatch() -> Iterator[None]:
    FAMILIES.add("dispatch", DISPATCH)
    yield
    FAMILIES.remove("dispatch")


@pytest.mark.usefixtures("_dispatch")
def test_a_new_family_is_evaluated() -> None:
    """By its table or its protocol, in its measures, with its notes and protocol."""
    found = evaluate(TRUTH, BAD)

    assert (found.system, found.unit, found.family, found["Accuracy"]) == ("bad", "query", "dispatch", 0.6)
    assert [str(note) for note in found.notes] == ["20 queries handed on, same case"]
    assert str(found.protocol).startswith("DispatchProtocol (same case) #")
    assert evaluate(TRUTH, BAD, "Accuracy", protocol=DispatchProtocol(case="any")).protocol != found.protocol
    with pytest.raises(BadProtocol, match="`case` of a protocol is odd, expected a word"):
        DispatchProtocol(case="odd")


@pytest.mark.usefixtures("_dispatch")
def test_a_new_family_is_compared_and_gated() -> None:
    """By the statistics that runs are compared by."""
    found = evaluate_many(TRUTH, {"good": GOOD, "bad": BAD}, "Accuracy")
    comparison = judged.compare(list(found.values()), baseline="bad")
    report = judged.gate(found["bad"], baseline=found["good"])

    assert comparison.contrast("good").difference == pytest.approx(0.4)
    assert not report.passed


@pytest.mark.usefixtures("_dispatch")
def test_a_new_family_is_printed_saved_and_loaded(tmp_path: Path) -> None:
    """As text, as a frame of systems and measures, and as a file that holds every value."""
    found = evaluate_many(TRUTH, {"good": GOOD, "bad": BAD})
    found.save(tmp_path / "dispatch.json")
    again = load(tmp_path / "dispatch.json")

    assert repr(found).splitlines()[:4] == [
        "system  Accuracy",
        "────────────────",
        "good      1.0000",
        "bad       0.6000",
    ]
    assert found.to_frame().to_pydict() == {"system": ["good", "bad"], "Accuracy": [1.0, 0.6]}
    assert again.to_arrow("scores") == found.to_arrow("scores")
    assert repr(again) == repr(found)


def test_a_family_forgotten_is_unknown() -> None:
    """Families are looked up by name."""
    with pytest.raises(UnknownName, match="no family is called `dispatch`"):
        FAMILIES["dispatch"]


def test_measures_of_two_families_are_not_mixed() -> None:
    """Each has its own truth."""
    with pytest.raises(BadMeasure, match="`prefs_simp` is a measure of preferences and `AP` of judgments"):
        evaluate({}, {}, "AP prefs_simp")


TIMES = Timings.from_columns(
    ["fast", "fast", "fast", "slow", "slow", "slow"],
    [0.010, 0.020, 0.030, 0.100, 0.200, 0.300],
    query=["q1", "q2", "q3", "q1", "q2", "q3"],
)


def test_timings_are_a_family() -> None:
    """Mean and percentiles in milliseconds, and the throughput of one thread: 1000 / mean latency."""
    found = evaluate(None, TIMES).systems["fast"]

    assert found.unit == "request"
    assert found["Latency"] == pytest.approx(20.0)
    assert found["Latency(p=95)"] == pytest.approx(29.0)
    assert found["QPS"] == pytest.approx(1000 / 20.0)
    assert evaluate(None, TIMES, 'Latency(unit="s")').systems["slow"]['Latency(unit="s")'] == pytest.approx(
        0.2
    )
    assert found.scores.by_query("Latency") == pytest.approx({"q1": 10.0, "q2": 20.0, "q3": 30.0})


def test_latencies_are_compared_by_request() -> None:
    """The mean over the same queries; a percentile has no paired test."""
    found = evaluate(None, TIMES, "Latency").systems

    contrast = judged.compare(list(found.values()), baseline="slow").contrast("fast")
    assert contrast.difference == pytest.approx(-180.0)
    with pytest.raises(BadMeasure, match="a percentile"):
        judged.compare(list(evaluate(None, TIMES, "Latency(p=95)").systems.values()))


def test_a_stage_of_a_pipeline_has_its_own_latency() -> None:
    """Only the times of the stage that the protocol names count; others are unknown."""
    times = Timings.from_columns(["a", "a"], [0.5, 0.25], query=["q1", "q1"], stage=["encode", "search"])

    assert evaluate(None, times, "Latency", protocol=TimingProtocol(stage="search"))["Latency"] == 250.0
    assert evaluate(None, times, "Latency").scores.queries.to_pylist() == ["q1", "q1#2"]
    with pytest.raises(UnknownName, match="did you mean `search`"):
        evaluate(None, times, "Latency", protocol=TimingProtocol(stage="serch"))


def test_many_runs_are_scored_in_one_call(tmp_path: Path) -> None:
    """By name, by a list of files, or by a pattern; the systems are those of single calls."""
    qrels = {"q1": {"a": 1, "b": 0}}
    runs = {"new": {"q1": {"a": 1.0}}, "old": {"q1": {"b": 2.0, "a": 1.0}}}
    for name, run in runs.items():
        lines = (f"q1 Q0 {document} 1 {score} {name}\n" for document, score in run["q1"].items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
    by_name = evaluate_many(qrels, runs, "RR AP")

    assert list(by_name) == ["new", "old"]
    assert by_name["old"].mean() == evaluate(qrels, runs["old"], "RR AP").mean()
    for systems in (str(tmp_path / "*.run"), sorted(tmp_path.glob("*.run"))):
        assert evaluate_many(qrels, systems, "RR AP").to_frame() == by_name.to_frame()
    with pytest.raises(UnknownName, match="did you mean `old`"):
        by_name["odl"]


def test_an_evaluation_is_saved_and_loaded(tmp_path: Path) -> None:
    """Scores, protocol, notes and aggregates come back; what needs the alignment says that it is gone."""
    found = evaluate(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0, "c": 2.0}}, ["AP", "gm_AP"], name="bm25"
    )
    found.save(tmp_path / "bm25.json.gz")
    again = load(tmp_path / "bm25.json.gz")

    assert isinstance(again, judged.Evaluation)
    assert (again.mean(), again.protocol, again.notes) == (found.mean(), found.protocol, found.notes)
    assert repr(again) == repr(found)
    with pytest.raises(BadMeasure, match="was loaded from a file"):
        again.tie_range("AP")
