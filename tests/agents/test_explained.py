"""Redundancy, stopping rules, repeated attempts and corrections by people, each with counted truth."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import judged
from judged.agents.analysis import attempts, corrected, redundancy, stopping_rules
from judged.agents.attempts import found_within
from judged.cli.main import judged as command
from judged.errors import BadProtocol, BadSample
from judged.stats import Undefined, student_interval

Searches = list[list[tuple[str, str, str]]]
"""For each iteration its searches: query, tool, results as letters with gains."""
SESSIONS: dict[tuple[str, str], Searches] = {
    ("t1", "c1"): [
        [("a b c", "web", "a3 b1 a3"), ("c b a", "kb", "c0 a3")],
        [("a b c d", "web", "a3 b1")],
        [("x", "web", "d2")],
    ],
    ("t1", "c2"): [[("a", "web", "b1")], [("q", "web", "")]],
    ("t2", "c3"): [
        [("a", "web", "e4 f2")],
        [("b", "web", "e4")],
        [("c", "web", "f2")],
        [("z", "web", "g3")],
    ],
    ("t2", "c4"): [[("a", "web", "e4")]],
}


def trace(sessions: dict[tuple[str, str], Searches] = SESSIONS) -> list[dict[str, Any]]:
    """The sessions in the plain form, each iteration with 100 tokens."""
    return [
        {
            "conversation": name,
            "task": task,
            "turns": [
                {
                    "question": f"question {task}?",
                    "iterations": [
                        {
                            "tokens": 100,
                            "searches": [
                                {
                                    "query": query,
                                    "tool": tool,
                                    "results": [_result(word) for word in words.split()],
                                }
                                for query, tool, words in searches
                            ],
                        }
                        for searches in iterations
                    ],
                }
            ],
        }
        for (task, name), iterations in sessions.items()
    ]


def _result(word: str) -> dict[str, Any]:
    return {
        "url": f"https://e.org/{word[0]}",
        "title": word[0] * 3,
        "snippet": f"On {word[0]}.",
        "gain": int(word[1]),
    }


def test_repeats_are_counted_within_and_across_iterations_by_tool_and_query() -> None:
    """Counted by hand: of 15 results, `a` comes again three times, `b`, `e` and `f` once each."""
    found = redundancy(judged.evaluate_sessions({"s": trace()}, "CG", searches=True))
    rows = {row["tool"]: tuple(row.values())[2:] for row in found.rows()}

    assert rows == {
        "web": (10, 4, 0, 1, 13, 1, 4),
        "kb": (1, 0, 1, 0, 2, 1, 0),
        "all": (11, 4, 1, 1, 15, 2, 4),
    }
    assert next(found.documents()) == {"system": "s", "document": "aaa", "times again": 3, "sessions": 1}
    assert sum(row["times again"] for row in found.documents()) == 6  # type: ignore[misc]


def test_redundancy_needs_the_searches() -> None:
    """They are not kept unless asked for."""
    with pytest.raises(BadProtocol, match="was not kept"):
        redundancy(judged.evaluate_sessions(trace(), "CG"))


def counted_stops(limit: int, what: str) -> tuple[float, float, float]:
    """Gain kept, share lost and share of searches saved by stopping after dry iterations; counted from the text alone."""
    kept, lost, saved = [], [], []
    for iterations in SESSIONS.values():
        seen: set[str] = set()
        gains, searches, dry, end = [], [], 0, None
        for number, searched in enumerate(iterations, 1):
            words = " ".join(results for _, _, results in searched).split()
            new = {word for word in words if word[0] not in seen}
            seen |= {word[0] for word in words}
            gains.append(sum(int(word[1]) for word in new if int(word[1]) >= 2))
            searches.append(len(searched))
            nothing = not new if what == "new" else not any(int(word[1]) >= 2 for word in new)
            dry = dry + 1 if nothing else 0
            end = number if end is None and dry == limit else end
        kept.append(sum(gains[:end]))
        saved.append(1 - sum(searches[:end]) / sum(searches))
        if sum(gains):
            lost.append(1 - sum(gains[:end]) / sum(gains))
    return fmean(kept), fmean(lost), fmean(saved)


@pytest.mark.parametrize("what", ["new", "good"])
@pytest.mark.parametrize(("limit", "word"), [(1, "iteration"), (2, "iterations")])
def test_stopping_after_dry_iterations_saves_and_loses_what_a_count_says(
    what: str, limit: int, word: str
) -> None:
    """Means over sessions; intervals around them."""
    rules = stopping_rules(judged.evaluate_sessions(trace(), "CG"))
    row = next(row for row in rules.rows() if row["rule"] == f"after {limit} {word} with nothing {what}")

    assert (row["gain"], row["lost"], row["searches"]) == pytest.approx(counted_stops(limit, what))
    assert row["gain_low"] < row["gain"] < row["gain_high"]  # type: ignore[operator]


def test_a_budget_stops_after_the_iteration_that_reaches_it() -> None:
    """At 200 tokens, two of four sessions end early, after their second iteration."""
    found = stopping_rules(judged.evaluate_sessions(trace(), "CG"), budgets=[("tokens", 200)])
    row = list(found.rows())[-1]

    assert (row["rule"], row["stopped"], row["gain"]) == ("at 200 tokens", 2, fmean([3, 0, 6, 4]))
    with pytest.raises(BadProtocol, match="no budget of `euros`"):
        stopping_rules(judged.evaluate_sessions(trace(), "CG"), budgets=[("euros", 1)])


def test_money_stops_and_is_saved_where_a_trace_has_it() -> None:
    """0.2 of 0.5 is spent when 0.2 is reached, so 60 % are saved; nothing says how long it took."""
    steps = [{"searches": [{"results": [{"id": name, "gain": 3}]}], "cost": cost} for name, cost in COSTS]
    found = stopping_rules(
        judged.evaluate_sessions([{"conversation": "c", "iterations": steps}], "CG"), budgets=[("cost", 0.2)]
    )
    row = list(found.rows())[-1]

    assert (row["rule"], row["gain"], row["cost"]) == ("at a cost of 0.2", 6.0, pytest.approx(0.6))
    assert (row["seconds"], row["tokens"]) == (None, None)
    assert [table.columns[-1] for table in found.tables()] == ["money saved"]


COSTS = (("a", 0.1), ("b", 0.1), ("c", 0.3))
"""What each of three steps cost, with the result that it found."""


def test_attempts_have_a_mean_a_spread_and_a_chance_to_find_something() -> None:
    """Two attempts at two tasks: gains 5 and 0, 9 and 4; one of the four finds nothing good."""
    (system,) = attempts(judged.evaluate_sessions(trace(), "CG")).systems

    assert (system.tasks, system.attempts, system.mean) == (2, (2, 2), 4.5)
    assert system.spread == pytest.approx(12.5**0.5)
    assert system.found == (0.75, 1.0)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 1), (5, 2, 3), (6, 0, 4), (4, 4, 2)])
def test_found_within_k_is_the_share_of_samples_with_a_success(n: int, c: int, k: int) -> None:
    """Every sample of k attempts, one by one."""
    samples = list(combinations([True] * c + [False] * (n - c), k))

    assert found_within(n, c, k) == pytest.approx(fmean(any(sample) for sample in samples))


def test_a_task_tried_once_is_no_attempts() -> None:
    """It is an error in words."""
    with pytest.raises(BadSample, match="no system tried a task more than once"):
        attempts(judged.evaluate_sessions(trace({("t", "c"): [[("a", "web", "a3")]]}), "CG"))


HUMAN = {"a": 1, "b": 3, "c": 0, "d": 2, "e": 2, "f": 0, "g": 3}
"""What people say; the labels of the trace are too kind to `a`, `e` and `f`, and unkind to `b`."""
TASKS = {"a": "t1", "b": "t1", "c": "t1", "d": "t1", "e": "t2", "f": "t2", "g": "t2"}


def test_corrections_are_unbiased_over_all_samples() -> None:
    """The mean of the corrected values over every sample of four results is the value with all human grades."""
    labels = {
        name: {"task": TASKS[name], "url": f"https://e.org/{name}", "gain": gain}
        for name, gain in HUMAN.items()
    }
    truth = judged.evaluate_sessions(trace(), "CG SRE", labels=list(labels.values()))
    found: dict[str, list[float]] = {"CG@last": [], "SRE@last": []}
    for sample in combinations(HUMAN, 4):
        human = [labels[name] for name in sample]
        for row in corrected(judged.evaluate_sessions(trace(), "CG", human=human)).corrections:
            found[row.measure].append(row.corrected)

    assert {name: fmean(values) for name, values in found.items()} == pytest.approx(
        {"CG@last": truth["CG"], "SRE@last": truth["SRE"]}
    )


def test_with_every_result_graded_the_correction_is_the_human_value() -> None:
    """And nothing of the sample remains in its interval but the spread of tasks by people: with two, t of one degree of freedom.

    By people, sessions c1 to c4 have CG 5, 3, 5 and 2: 8 and 7 for two sessions each, 4 and 3.5 for one.
    """
    human = [
        {"task": TASKS[name], "url": f"https://e.org/{name}", "gain": gain} for name, gain in HUMAN.items()
    ]
    found = corrected(judged.evaluate_sessions({"s": trace()}, "CG", human=human))
    truth = judged.evaluate_sessions(trace(), "CG", labels=human)

    assert (found.graded, found.pool) == (7, 7)
    assert found.corrections[0].corrected == pytest.approx(truth["CG"])
    expected = student_interval([4, 3.5])
    assert (found.corrections[0].low, found.corrections[0].high) == pytest.approx(
        (expected.low, expected.high)
    )


def test_grades_of_one_task_say_nothing_of_others() -> None:
    """There is a corrected value, and the reason why it has no interval."""
    human = [{"task": "t1", "url": f"https://e.org/{name}", "gain": HUMAN[name]} for name in "abcd"]
    evaluation = judged.evaluate_sessions({"s": trace()}, "CG", human=human)
    found = corrected(evaluation)

    assert found.corrections[0].low == Undefined("people graded results of fewer than two of its tasks")
    assert next(found.rows())["high"] == "undefined: people graded results of fewer than two of its tasks"
    assert "human values of 1 task, fewer than 15" in str(evaluation.notes)


@pytest.mark.parametrize(("tasks", "graded"), [(6, 60), (10, 40)])
def test_corrected_intervals_cover_other_tasks(tasks: int, graded: int) -> None:
    """A task's share of good results is uniform, two sessions return five each, labels are too kind to three in ten.

    True means: CG 5 · 0.5 · 3, SRE 0.5. Sessions taken as independent, with the normal quantile, cover 0.74 to 0.85. Values
    of six tasks are far from normal: of 3,000 draws, 0.935 are covered; 300 draws have a standard error of 0.014.
    """
    rng, covered = np.random.default_rng(1), {"CG@last": 0, "SRE@last": 0}
    for _ in range(300):
        sessions, human = _draw_sessions(rng, tasks)
        sample = [human[at] for at in rng.choice(len(human), graded, replace=False)]
        for row in corrected(judged.evaluate_sessions({"s": sessions}, "CG", human=sample)).corrections:
            covered[row.measure] += row.low <= {"CG@last": 7.5, "SRE@last": 0.5}[row.measure] <= row.high

    assert min(covered.values()) / 300 > 0.9


def _draw_sessions(rng: np.random.Generator, tasks: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two sessions of each task, and the human grades of all of their results."""
    sessions, human = [], []
    for number, ease in enumerate(rng.random(tasks)):
        for attempt in range(2):
            grades = np.where(rng.random(5) < ease, rng.integers(2, 5, 5), rng.integers(0, 2, 5))
            labels = np.where(rng.random(5) < 0.3, np.minimum(grades + 2, 4), grades)
            urls = [f"https://e.org/{number}/{attempt}/{rank}" for rank in range(5)]
            results = [{"url": url, "gain": gain} for url, gain in zip(urls, labels.tolist(), strict=True)]
            name = {"conversation": f"{number} {attempt}", "task": f"t{number}"}
            sessions.append({**name, "iterations": [{"searches": [{"results": results}]}]})
            pairs = zip(urls, grades.tolist(), strict=True)
            human += [{"task": f"t{number}", "url": url, "gain": grade} for url, grade in pairs]
    return sessions, human


def run(*arguments: str) -> Any:
    """The outcome of a command."""
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


def test_a_blind_sample_is_graded_and_read_back(tmp_path: Path) -> None:
    """The sheet names no system, rank or label; rows without a gain are not graded yet."""
    source, sheet = tmp_path / "a.jsonl", tmp_path / "sheet.csv"
    source.write_text("".join(json.dumps(row) + "\n" for row in trace()))
    made = run("label", str(source), "--sample", "5", "--seed", "3", "-o", str(sheet))
    rows = list(csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))

    assert (made.exit_code, len(rows), {row["gain"] for row in rows}) == (0, 5, {""})
    assert "system" not in rows[0]
    assert "exists already" in run("label", str(source), "--sample", "5", "-o", str(sheet)).stderr

    for row in rows[:4]:
        row["gain"] = str(HUMAN[row["url"][-1]])
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

    assert len(judged.read_labels(sheet)) == 4
    shown = run("sessions", str(source), "--human", str(sheet), "--format", "json")
    assert {row["graded"] for row in json.loads(shown.stdout)["tables"]["corrected"]} == {4}


def test_the_command_shows_all_of_it(tmp_path: Path) -> None:
    """Redundancy, stopping rules with a budget, attempts."""
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in trace()))
    shown = run(
        "sessions",
        str(source),
        "-m",
        "CG",
        "--redundancy",
        "--stopping",
        "--budget",
        "searches=2",
        "--attempts",
    )

    for title in ("Where repeats come from", "Had the agents stopped by a rule", "at 2 searches", "found@2"):
        assert title in shown.stdout
