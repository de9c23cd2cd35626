"""`judged.testing` and the plugin for pytest: assertions with reasons, and nothing loaded that was not asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import judged
from judged.testing import assert_no_regression

QRELS = {f"q{i}": {"a": 1, "b": 0} for i in range(10)}
GOOD = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(10)}
HALF = {f"q{i}": {"a": 2.0 if i % 2 else 0.5, "b": 1.0} for i in range(10)}


def test_a_run_that_is_no_worse_passes_and_its_report_is_returned() -> None:
    """The caller can look at the report."""
    report = assert_no_regression(QRELS, GOOD, ["AP", "RR"], baseline=GOOD)

    assert isinstance(report, judged.GateReport)
    assert report.passed


def test_a_regression_is_an_assertion_error_with_the_paragraph() -> None:
    """Only of the measures that did not pass."""
    with pytest.raises(AssertionError) as failed:
        assert_no_regression(QRELS, HALF, ["R@2", "AP"], baseline=GOOD, run_name="half", baseline_name="good")

    assert str(failed.value).startswith("half against good: fail\n\nAP fails: the difference is at most")
    assert "R@2" not in str(failed.value)


def test_an_inconclusive_gate_fails_unless_it_is_let_through() -> None:
    """One query shows nothing."""
    with pytest.raises(AssertionError, match="AP is inconclusive"):
        assert_no_regression({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", baseline={"q": {"a": 1.0}})

    assert_no_regression(
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", baseline={"q": {"a": 1.0}}, inconclusive="pass"
    )


def test_bad_data_are_no_assertion_error() -> None:
    """They are what `judged.gate` says they are."""
    with pytest.raises(judged.JudgedError, match="did you mean `nDCG@5`"):
        assert_no_regression(QRELS, GOOD, "nDGC@5", baseline=GOOD)
    with pytest.raises(judged.JudgedError, match="`inconclusive` is `maybe`"):
        assert_no_regression(QRELS, GOOD, "AP", baseline=GOOD, inconclusive="maybe")  # type: ignore[arg-type]


SUITE = f"""\
QRELS = {QRELS!r}
GOOD = {GOOD!r}
HALF = {HALF!r}

def test_good(judged_gate):
    assert judged_gate(QRELS, GOOD, "AP RR", baseline=GOOD).passed

def test_half(judged_gate):
    judged_gate(QRELS, HALF, "AP", baseline=GOOD, min_delta="-5%", run_name="half", baseline_name="good")
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A session of pytest of its own, in a folder with one file of tests."""
    (folder / "test_gates.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_the_plugin_gives_a_fixture_and_a_summary(tmp_path: Path) -> None:
    """A line for each measure, under its test; the paragraph stands in the failure."""
    done = run_pytest(tmp_path, "-p", "judged.pytest", "-p", "no:xdist", "--junitxml=out.xml")

    assert done.returncode == 1, done.stdout + done.stderr
    assert "judged gates" in done.stdout
    assert (
        "test_gates.py::test_good\n  pass: AP of run against run (baseline), +0.0000 (margin -0.0100, 10 queries)"
        in done.stdout
    )
    assert "  fail: AP of half against good, -0.2500 (margin -0.0500, 10 queries)" in done.stdout
    assert "Over 10 queries, the mean of half is 0.7500 and that of good 1.0000" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "fail: AP of half against good" in (tmp_path / "out.xml").read_text()


def test_the_summary_comes_from_other_processes_too(tmp_path: Path) -> None:
    """Under pytest-xdist the gates are decided elsewhere."""
    pytest.importorskip("xdist")
    done = run_pytest(tmp_path, "-p", "judged.pytest", "-n", "1")

    assert "fail: AP of half against good" in done.stdout.partition("judged gates")[2]


def test_a_session_that_did_not_ask_has_neither_fixture_nor_judged(tmp_path: Path) -> None:
    """No entry point loads the plugin, nor anything of judged."""
    listing = "import sys\n\ndef pytest_unconfigure():\n    print('LOADED', *[m for m in sys.modules if m.startswith('judged')])\n"
    (tmp_path / "conftest.py").write_text(listing)
    done = run_pytest(tmp_path, "-s")

    assert "fixture 'judged_gate' not found" in done.stdout
    assert "judged gates" not in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].strip() == "LOADED"


def test_no_entry_point_of_pytest_names_judged() -> None:
    """Neither in the project's own file nor in what is installed."""
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    installed = [entry for entry in entry_points(group="pytest11") if "judged" in entry.value]

    assert "pytest11" not in project
    assert installed == []
