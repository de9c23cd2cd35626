"""A session without any result has a redundancy of 0, and the mean, comparisons and gates leave it out and count it."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import judged
from judged.agents.analysis import average_tasks, curve, upper_bound
from judged.cli.main import judged as command
from judged.stats.paired import pair_scores

# Letters are results; a repeated letter is a duplicate. `both` and `other` find nothing with the old agent.
OLD = {"t1": "aab", "t2": "aabb", "t3": "abc", "other": "", "both": ""}
NEW = {"t1": "abc", "t2": "aab", "t3": "abb", "other": "aa", "both": ""}
SRR = {"t1": 1 / 3, "t2": 1 / 2, "t3": 0.0, "other": 0.0, "both": 0.0}


def trace(system: str, found: dict[str, str]) -> list[dict[str, Any]]:
    """A session of one iteration for each task."""
    return [
        {
            "conversation": f"{system} {task}",
            "system": system,
            "task": task,
            "iterations": [
                {"searches": [{"results": [{"url": f"https://e.org/{name}", "gain": 3} for name in names]}]}
            ],
        }
        for task, names in found.items()
    ]


BOTH = trace("old", OLD) + trace("new", NEW)


def test_its_value_is_0_and_its_mean_leaves_it_out() -> None:
    """001 says 0; the mean of 1/3, 1/2 and 0 is 5/18, not the 1/6 of five sessions."""
    found = judged.evaluate_sessions(trace("old", OLD), "SRR SRR_micro CG")

    assert found.per_query().by_query("SRR@last") == {
        f"old {task}": pytest.approx(v) for task, v in SRR.items()
    }
    assert found["SRR"] == pytest.approx(5 / 18)
    assert found["SRR_micro"] == pytest.approx(3 / 10)
    assert (found.undefined("SRR"), found.undefined("CG"), len(found.values("SRR"))) == (2, 0, 3)
    assert upper_bound(found, "SRR") == pytest.approx(5 / 18)
    assert curve(found, "SRR").points[0].value == pytest.approx(5 / 18)


def test_a_system_of_several_leaves_out_its_own() -> None:
    """The mean of the new agent is of 0, 1/3, 1/3 and 1/2."""
    systems = judged.evaluate_sessions(BOTH, "SRR").systems

    assert systems["new"]["SRR"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 4)
    assert (systems["old"].undefined("SRR"), systems["new"].undefined("SRR")) == (2, 1)


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    """The mean, and what a comparison takes of the values."""
    evaluation = judged.evaluate_sessions(trace("old", OLD), "SRR CG")
    evaluation.save(tmp_path / "old.json")
    found = judged.load(tmp_path / "old.json")

    assert isinstance(found, judged.Evaluation)
    assert found["SRR"] == evaluation["SRR"]
    assert found.undefined("SRR") == 2
    assert isnan(found.scores.by_query("SRR@last", averaged=True)["old both"])
    assert found.scores.by_query("SRR@last")["old both"] == 0


def test_sessions_of_a_task_leave_it_out_and_a_task_of_none_has_0() -> None:
    """Two attempts: the mean of the one with results; no attempt with results: 0, which no comparison counts."""
    sessions = trace("old", {"t1": "aab", "t2": ""}) + [
        {**session, "conversation": "again"} for session in trace("old", {"t1": ""})
    ]
    found = average_tasks(judged.evaluate_sessions(sessions, "SRR"))

    assert found.scores.by_query("SRR@last") == {"t1": pytest.approx(1 / 3), "t2": 0}
    assert found["SRR"] == pytest.approx(1 / 3)


def test_comparisons_leave_out_and_count_pairs_with_either_session_empty() -> None:
    """Old against new on t1, t2 and t3: 5/18 and 2/9; `other` is empty on one side, `both` on both."""
    found = judged.compare(judged.evaluate_sessions(BOTH, "SRR CG"), baseline="old")
    contrast = found.contrast("new", measure="SRR@last")

    assert contrast.difference == pytest.approx(2 / 9 - 5 / 18)
    assert "2 tasks (other, both) without a value in every system were left out" in {
        note.message for note in found.notes if note.subject == "SRR@last"
    }
    assert not [note for note in found.notes if note.code == "left-out" and note.subject == "CG@last"]


def test_gates_leave_out_and_count_them() -> None:
    """As in a comparison."""
    systems = judged.evaluate_sessions(BOTH, "SRR").systems
    report = judged.gate(systems["new"], baseline=systems["old"], min_delta=-0.5)
    (result,) = report.results

    assert (result.run_mean, result.baseline_mean) == (pytest.approx(2 / 9), pytest.approx(5 / 18))
    assert (result.only_in_run, result.only_in_baseline, result.in_neither) == (("other",), (), ("both",))
    assert "1 task (other) with a value in new only: not compared." in result.text
    assert "1 task (both) without a value in either: not compared." in result.text


def test_functions_of_statistics_refuse_what_does_not_count() -> None:
    """In place of a mean that a system wins by not searching."""
    scores = judged.evaluate_sessions(trace("old", OLD), "SRR").per_query()

    with pytest.raises(judged.JudgedError, match="holds nan"):
        pair_scores({"a": scores, "b": scores})


def test_a_table_of_scores_carries_it(tmp_path: Path) -> None:
    """Written as Parquet and read back, the same sessions are left out."""
    before, after = (judged.evaluate_sessions(trace("agent", found), "SRR") for found in (OLD, NEW))
    pq.write_table(before.to_arrow("scores"), tmp_path / "old.parquet")
    report = judged.gate(after, baseline=tmp_path / "old.parquet", min_delta=-0.5)

    assert report.results[0].baseline_mean == pytest.approx(5 / 18)
    assert report.results[0].in_neither == ("agent both",)


def test_the_command_prints_0_and_the_count(tmp_path: Path) -> None:
    """In the table of sessions 0, in the data a column says that it does not count, and a note how many."""
    source = tmp_path / "old.jsonl"
    source.write_text("".join(json.dumps(session) + "\n" for session in trace("old", OLD)))
    shown = CliRunner().invoke(command, ["sessions", str(source), "-m", "SRR", "--per-session"])
    data = CliRunner().invoke(
        command, ["sessions", str(source), "-m", "SRR", "--per-session", "--format", "csv"]
    )

    assert shown.exit_code == 0
    assert "SRR@last: 2 of 5 sessions are left out of the mean" in shown.output
    assert "old both,both,SRR@last,0.0,1" in data.stdout
    assert "old t3,t3,SRR@last,0.0,0" in data.stdout
