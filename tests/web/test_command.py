"""`judged view` recognises its inputs, prints one address, and ends when it is interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import judged
from judged.cli.main import judged as program
from support.viewer import QRELS, RUNS, score, wait_for

TRACE = {
    "conversation": "c1",
    "system": "agent",
    "turns": [{"iterations": [{"searches": [{"results": [{"url": "https://example.org/a", "gain": 3}]}]}]}],
}
Start = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, made the current one, with judgments, two runs, a trace and a saved result."""
    lines = [f"{query} 0 {doc} {grade}\n" for query, docs in QRELS.items() for doc, grade in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, run in RUNS.items():
        rows = [
            f"{query} Q0 {doc} 0 {value} {name}\n"
            for query, docs in run.items()
            for doc, value in docs.items()
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    (tmp_path / "trace.jsonl").write_text(json.dumps(TRACE) + "\n")
    (tmp_path / "saved").mkdir()
    score("bm25").save(tmp_path / "saved" / "monday.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def start(files: Path) -> Iterator[Start]:
    """Starts `judged view` as users do, and returns the process and the address that it printed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "judged", "view", *arguments, "--port", "0"],
            cwd=files,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        line = process.stdout.readline() if process.stdout else ""
        found = re.search(r" at (http://127\.0\.0\.1:\d+)/$", line)

        assert found, line + (process.stderr.read() if process.stderr else "")
        return process, found[1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def fetch(url: str) -> dict[str, object]:
    """Return the JSON at an address."""
    with urllib.request.urlopen(url, timeout=15) as response:  # noqa: S310 - of this machine
        return json.load(response)  # type: ignore[no-any-return]


def test_runs_are_compared_as_by_the_command_and_follow_their_files(start: Start, files: Path) -> None:
    """The twin has the numbers of `judged.compare`; a changed run changes them; Ctrl-C ends the viewer with 130."""
    process, url = start("qrels.txt", "bm25.run", "dense.run", "-m", "AP RR", "--baseline", "bm25")
    runs = {name: str(files / f"{name}.run") for name in RUNS}

    def expected() -> object:
        compared = judged.compare(str(files / "qrels.txt"), runs, ["AP", "RR"], baseline="bm25")
        return compared.to_dict()["tables"]["differences"]

    assert fetch(f"{url}/index.json")["tables"]["differences"] == expected()  # type: ignore[index]
    (files / "dense.run").write_text("q1 Q0 d3 1 9 dense\nq2 Q0 d1 1 9 dense\nq3 Q0 d9 1 9 dense\n")
    wait_for(lambda: fetch(f"{url}/index.json")["tables"]["differences"] == expected())  # type: ignore[index]
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=15)
    assert process.returncode == 130
    assert errors.split("\n") == ["Ctrl-C ends it", "", "interrupted", ""]


def test_an_open_page_does_not_delay_the_end(start: Start) -> None:
    """Streams of changes are ended, not waited for."""
    process, url = start("saved")
    with urllib.request.urlopen(f"{url}/events", timeout=15) as stream:  # noqa: S310 - of this machine
        assert stream.readline().startswith(b"data: ")
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=15)

    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["saved/monday.json"], "judged.evaluations/1"),
        (["qrels.txt", "bm25.run"], "judged.evaluations/1"),
        (["qrels.txt", "old=bm25.run", "new=dense.run"], "judged.comparison/2"),
        (["trace.jsonl"], "judged.sessions/2"),
    ],
    ids=["saved", "one run", "runs", "trace"],
)
def test_inputs_are_recognised(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], schema: str
) -> None:
    """Saved results, judgments with runs, and traces need no option that says what they are."""
    served: list[str] = []

    def run(server: object) -> None:
        live = server.viewer.live  # type: ignore[attr-defined]
        served.extend(result.to_dict()["schema"] for name in live.names for result in live.read(name).results)
        server.opened.close()  # type: ignore[attr-defined]

    monkeypatch.setattr("judged.web.serve.Server.run", run)
    ended = CliRunner().invoke(program, ["view", *arguments, "--port", "0"], catch_exceptions=False)

    assert ended.exit_code == 0, ended.output
    assert served == [schema]
    assert files.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["qrels.txt"],
            "qrels.txt is neither a saved result nor a trace; runs are given after their judgments",
        ),
        (["qrels.txt", "-"], "standard input (`-`) cannot be read again when it changes; name a file"),
        (["qrels.txt", "bm25.run", "-m", "nDGC"], "did you mean `nDCG`?"),
        (["saved", "--host", "0.0.0.0"], "0.0.0.0 can be reached from other machines"),  # noqa: S104 - refused
        (["saved", "--host", "no host"], "no host is not the name or the address of a machine"),
        (["none.json"], "none.json does not exist"),
    ],
    ids=["judgments alone", "standard input", "measure", "host", "no host", "missing"],
)
@pytest.mark.usefixtures("files")
def test_mistakes_exit_with_2_and_words(arguments: list[str], message: str) -> None:
    """Nothing is served."""
    ended = CliRunner().invoke(program, ["view", *arguments])

    assert ended.exit_code == 2
    assert message in ended.output


def test_a_port_that_is_taken_is_an_error_if_it_was_asked_for(start: Start) -> None:
    """Without `--port`, another port is used instead."""
    _, url = start("saved")
    ended = CliRunner().invoke(program, ["view", "saved", "--port", url.rpartition(":")[2]])

    assert ended.exit_code == 2
    assert "in use" in ended.output
