"""A report on sessions that was saved and loaded says what it said before."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

import judged
from judged.agents.page import make_data
from judged.agents.result import SessionReport
from judged.cli.main import judged as main
from judged.report.entry import Entry
from judged.web.live import Folder
from support.report_results import make_sessions

FLAGS = ("--curve", "--stopping", "--redundancy", "--attempts", "--explain", "--per-session")


def write(path: Path, system: str, gains: list[int]) -> Path:
    """Two attempts at each of two tasks; every session finds a page twice."""
    sessions = []
    for number, gain in enumerate(gains):
        page = {"url": f"https://example.org/{gain}", "title": f"Page {gain}", "snippet": "é ☃", "gain": gain}
        searches = [{"query": "q", "tool": "web", "results": [page, page]}]
        iterations = [{"searches": searches, "tokens": 10}, {"searches": [{"results": []}], "tokens": 5}]
        sessions.append(
            {
                "conversation": f"{system}{number}",
                "task": f"t{number % 2}",
                "system": system,
                "iterations": iterations,
            }
        )
    path.write_text("".join(json.dumps(session) + "\n" for session in sessions), encoding="utf-8")
    return path


def run(*arguments: str | Path) -> str:
    """What a command prints; it must succeed."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_everything_that_was_asked_for_is_loaded_again(tmp_path: Path) -> None:
    """Tables to the last bit, what people read, and the page of the report, for every option at once."""
    first, second = (
        write(tmp_path / "a.jsonl", "a", [4, 2, 0, 3]),
        write(tmp_path / "b.jsonl", "b", [1, 4, 3, 3]),
    )
    human = tmp_path / "human.csv"
    rows = [f"t{task},https://example.org/{gain},{gain}" for task in (0, 1) for gain in (4, 3)]
    human.write_text("\n".join(["task,url,gain", *rows]) + "\n")
    path = tmp_path / "saved.json"
    options = ("--overlap", "--human", human, "--baseline", "a", "--min-delta", "-90%", "--inconclusive", "0")
    CliRunner().invoke(main, list(map(str, ["sessions", first, second, *FLAGS, *options, "-o", path])))
    loaded = judged.load(path)
    assert isinstance(loaded, SessionReport)
    loaded.save(tmp_path / "again.json.gz")
    again = judged.load(tmp_path / "again.json.gz")
    document = json.loads(loaded.to_json(per_query=True))

    assert document["tables"].keys() >= {
        "decisions",
        "curves",
        "stopping",
        "redundancy",
        "stopping_rules",
        "attempts",
        "corrected",
        "alone",
        "differences",
        "means",
        "overlaps",
        "counts",
        "sessions",
    }
    assert json.loads(again.to_json(per_query=True)) == document
    assert repr(again) == repr(loaded)


def test_the_loaded_report_equals_the_one_that_was_saved(tmp_path: Path) -> None:
    """Numbers, notes, bounds, verdicts and the page with every timeline."""
    report = make_sessions()
    report.save(tmp_path / "report.json")
    loaded = judged.load(tmp_path / "report.json")
    assert isinstance(loaded, SessionReport)

    assert loaded.to_dict()["tables"] == report.to_dict()["tables"]
    assert (loaded.notes, loaded.summary(), repr(loaded)) == (report.notes, report.summary(), repr(report))
    pages = [make_data(Entry("1", "sessions", result)) for result in (report, loaded)]
    assert (pages[0].head, pages[0].blocks) == (pages[1].head, pages[1].blocks)


def test_a_report_has_saved_sessions(tmp_path: Path) -> None:
    """`judged report` reads them as it reads other results."""
    write(tmp_path / "a.jsonl", "a", [4, 2])
    run("sessions", tmp_path / "a.jsonl", "--explain", "-o", tmp_path / "sessions.json")
    run("report", tmp_path / "sessions.json", "-o", tmp_path / "report.html")

    assert "Agentic search" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_folder_of_results_lists_saved_sessions(tmp_path: Path) -> None:
    """As `judged view` shows it."""
    write(tmp_path / "a.jsonl", "a", [4, 2])
    run("sessions", tmp_path / "a.jsonl", "-o", tmp_path / "sessions.json")
    (tmp_path / "a.jsonl").unlink()
    (saved,) = Folder(tmp_path).list()

    assert (saved.kind, saved.name) == ("sessions", "sessions.json")


def test_a_trace_without_results_is_saved_too(tmp_path: Path) -> None:
    """Where every array is empty."""
    (tmp_path / "a.jsonl").write_text(
        '{"conversation": "c", "iterations": [{"searches": [{"results": []}]}]}\n'
    )
    run("sessions", tmp_path / "a.jsonl", "--explain", "-o", tmp_path / "saved.json")
    loaded = judged.load(tmp_path / "saved.json")

    assert [row["value"] for row in loaded.to_arrow("means").to_pylist()][-1] == 1
