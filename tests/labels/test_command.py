"""`judged label` as a process of its own: killed, interrupted, refused; and what it leaves on disk."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judged
from judged.cli.main import judged as cli
from labels.conftest import Serve
from labels.server import Request, Response, Server, completion, graded, refusing

SECRET = "sk-very-secret-0123456789"  # noqa: S105 - it opens nothing
DOCUMENTS = 40
Invoke = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a run of forty documents and their texts, and a trace."""
    names = [f"d{number}" for number in range(DOCUMENTS)]
    (tmp_path / "bm25.run").write_text(
        "".join(f"q1 Q0 {name} {rank} {-rank} x\n" for rank, name in enumerate(names))
    )
    (tmp_path / "queries.tsv").write_text("q1\twhat is it worth?\n")
    texts = [json.dumps({"id": name, "text": f"{name} is worth {n % 5}"}) for n, name in enumerate(names)]
    (tmp_path / "docs.jsonl").write_text("\n".join(texts))
    results = [{"url": f"https://example.org/{n}", "title": f"T{n} is worth {n % 5}"} for n in (1, 2, 3, 1)]
    step = {"searches": [{"query": "worth?", "results": results}]}
    (tmp_path / "trace.jsonl").write_text(json.dumps({"task": "t1", "turns": [{"iterations": [step]}]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def invoke(folder: Path) -> Invoke:  # noqa: ARG001 - it is made and made the current folder
    """Run `judged label` in this process."""

    def run(server: Server | None, *arguments: str) -> Result:
        where = [] if server is None else ["--endpoint", server.address]
        return CliRunner().invoke(cli, ["label", *arguments, *where, "--model", "small"])

    return run


def of_run(server: Server, *more: str) -> list[str]:
    """Return the arguments that label the run."""
    files = ["bm25.run", "--queries", "queries.tsv", "--documents", "docs.jsonl", "-o", "labels.jsonl"]
    return ["label", *files, "--endpoint", server.address, "--model", "small", "--concurrency", "4", *more]


def started(arguments: list[str], **environment: str) -> subprocess.Popen[str]:
    """Start the command as its own process."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "judged", *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(true: Callable[[], bool]) -> None:
    """Wait until a condition holds; half a minute at most."""
    end = monotonic() + 30
    while not true():
        assert monotonic() < end
        sleep(0.005)


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def slowly(request: Request) -> Response:
    """Answer with a grade after a delay."""
    return Response(200, graded(request).body, delay=0.05)


def test_a_killed_job_goes_on_and_pays_for_nothing_twice(serve: Serve, folder: Path) -> None:
    """Killed with -9 in the middle: of forty documents only those pending at the kill, four at most, are paid twice."""
    server = serve(slowly)
    process = started(of_run(server))
    wait_for(lambda: server.paid.total() >= 12)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_for(lambda: server.at_once == 0)
    before = server.paid.total()

    rest = started(of_run(server))
    _, stderr = rest.communicate(timeout=60)

    assert rest.returncode == 0, stderr
    assert before < DOCUMENTS
    assert len(server.paid) == DOCUMENTS
    assert server.paid.total() - DOCUMENTS <= 4
    assert [(row["document"], row["grade"]) for row in lines(folder / "labels.jsonl")] == [
        (f"d{n}", n % 5) for n in range(DOCUMENTS)
    ]
    third = started(of_run(server))
    third.communicate(timeout=60)
    assert server.paid.total() - DOCUMENTS <= 4  # nothing was asked again


def test_an_interrupted_job_leaves_what_is_finished_and_exits_with_130(serve: Serve, folder: Path) -> None:
    """Ctrl-C: the labels so far are written, and the rest comes with the next call."""
    server = serve(slowly)
    process = started(of_run(server))
    wait_for(lambda: server.paid.total() >= 8)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Stopped: interrupted" in stderr
    assert "Questions: 0 answered by the cache" in stderr  # new answers do not count as earlier ones
    assert "Traceback" not in stderr
    assert 4 <= len(lines(folder / "labels.jsonl")) < DOCUMENTS
    assert all(row["grade"] == int(row["document"][1:]) % 5 for row in lines(folder / "labels.jsonl"))


def test_labels_of_a_run_are_judgments(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Lines with query, document and grade, which `judged score` reads; a .txt file is TREC judgments."""
    files = ["bm25.run", "--queries", "queries.tsv", "--documents", "docs.jsonl", "--depth", "5"]
    result = invoke(serve(), *files, "-o", "labels.jsonl")
    invoke(serve(), *files, "-o", "qrels.txt")

    assert result.exit_code == 0
    assert lines(folder / "labels.jsonl")[4] == {
        "query": "q1",
        "document": "d4",
        "grade": 4,
        "labeller": "small relevance/1",
        "prompt": "d7cbbba1e527981b",
        "tokens": 107,
    }
    assert (folder / "qrels.txt").read_text() == "q1 0 d0 0\nq1 0 d1 1\nq1 0 d2 2\nq1 0 d3 3\nq1 0 d4 4\n"
    by_lines = judged.evaluate(folder / "labels.jsonl", folder / "bm25.run", "nDCG@5")
    assert (
        by_lines["nDCG@5"] == judged.evaluate(folder / "qrels.txt", folder / "bm25.run", "nDCG@5")["nDCG@5"]
    )


def test_labels_of_a_trace_hold_all_keys(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Four results, one of them twice: three lines, which are read as labels again."""
    result = invoke(serve(), "trace.jsonl", "-o", "labels.jsonl")
    rows = lines(folder / "labels.jsonl")

    assert result.exit_code == 0
    assert [(row["url"], row["gain"]) for row in rows] == [(f"https://example.org/{n}", n) for n in (1, 2, 3)]
    assert "4 results, 3 distinct, 0 judged before" in result.stderr
    assert [label.gain for label in judged.read_labels(folder / "labels.jsonl")] == [1, 2, 3]


def test_labels_of_a_trace_cover_its_sessions(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """`judged.evaluate_sessions` finds a label for every result: 1 + 2 + 3, the repeated page counting once."""
    invoke(serve(), "trace.jsonl", "-o", "labels.jsonl")
    evaluation = judged.evaluate_sessions(folder / "trace.jsonl", ["CG@1"], labels=folder / "labels.jsonl")

    assert evaluation["CG@1"] == 5.0  # good means 2 or more: 2 + 3


def test_failures_are_counted_kept_apart_and_exit_with_4(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """One answer states no grade: two labels, one failure with its raw answer, and a code that CI sees."""
    server = serve(lambda request: completion("Sorry.") if "T2" in request.result else graded(request))
    result = invoke(server, "trace.jsonl", "-o", "labels.jsonl", "--failures", "failures.jsonl")

    assert result.exit_code == 4
    assert "2 of 3 labelled (66.7 %)" in result.stderr
    assert "Failed, left without a label: 1 (no grade)" in result.stderr
    assert [row["gain"] for row in lines(folder / "labels.jsonl")] == [1, 3]
    (failure,) = lines(folder / "failures.jsonl")
    assert (failure["url"], failure["failure"], failure["answer"]) == (
        "https://example.org/2",
        "no grade",
        "Sorry.",
    )


def test_a_budget_that_is_reached_exits_with_4(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """What is finished is written; nothing beyond the budget is asked."""
    files = ["bm25.run", "--queries", "queries.tsv", "--documents", "docs.jsonl", "-o", "labels.jsonl"]
    terms = ["--price-in", "10000", "--price-out", "10000", "--budget", "10", "--max-tokens", "20"]
    server = serve()
    result = invoke(server, *files, *terms)

    assert result.exit_code == 4
    assert "Stopped: the budget is reached" in result.stderr
    assert 0 < len(lines(folder / "labels.jsonl")) == server.paid.total() < 10


def test_a_dry_run_asks_nothing_and_writes_nothing(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Requests, tokens, cost and time, without an endpoint."""
    before = sorted(folder.iterdir())
    result = invoke(
        None, "trace.jsonl", "--dry-run", "--price-in", "1", "--price-out", "2", "-o", "labels.jsonl"
    )

    assert result.exit_code == 0
    assert "requests: 3; in the cache: 0" in result.stdout
    assert "cost: about 0.00" in result.stdout
    assert sorted(folder.iterdir()) == before
    invoke(serve(), "trace.jsonl", "-o", "labels.jsonl")
    assert (
        "requests: 0; in the cache: 3"
        in invoke(None, "trace.jsonl", "--dry-run", "-o", "labels.jsonl").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trace.jsonl", "-o", "l.jsonl"], "no endpoint is given"),
        (["trace.jsonl", "--endpoint", "http://127.0.0.1:1/v1"], "no file is given for the labels"),
        (["trace.jsonl", "-o", "-"], "labels on standard output need a file for the answers"),
        (["trace.jsonl", "-o", "no/l.jsonl"], "the folder of no/l.jsonl does not exist"),
        (["trace.jsonl", "-o", "l.txt"], "id is missing, expected text without white space"),
        (["bm25.run", "-o", "l.jsonl"], "a run contains only ids"),
        (["trace.jsonl", "-o", "docs.jsonl"], "docs.jsonl exists already and is not from an earlier job"),
        (
            ["trace.jsonl", "-o", "l.jsonl", "--endpoint", "localhost"],
            "expected an address that begins with http://",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_asked(
    invoke: Invoke, arguments: list[str], message: str
) -> None:
    """With exit code 2 and a message."""
    result = invoke(None, *arguments)

    assert result.exit_code == 2
    assert message in result.stderr


def test_the_key_is_sent_and_appears_nowhere(serve: Serve, folder: Path) -> None:
    """Not in labels, cache, failures, output or errors, even if the server repeats it; with a traceback, too."""

    def leaking(request: Request) -> Response:
        if "d1" in request.result:
            return completion(f"Your key is {request.headers['authorization']}")
        return refusing(401, f"Bad key {SECRET}") if request.number > 20 else graded(request)

    server = serve(leaking)
    process = started(
        ["--debug", *of_run(server, "--failures", "failures.jsonl", "--key-variable", "MY_KEY")],
        MY_KEY=SECRET,
    )
    out, stderr = process.communicate(timeout=60)

    assert process.returncode == 2
    assert "refuses the key (401): Bad key [key]" in stderr
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    written = [out.encode(), stderr.encode(), *(path.read_bytes() for path in folder.iterdir())]
    assert len(written) > 6
    assert not any(SECRET.encode() in content for content in written)
    assert b"[key]" in (folder / "failures.jsonl").read_bytes()


def test_a_key_in_openai_api_key_is_used_by_itself(
    serve: Serve, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Endpoints that need no key get a placeholder."""
    server = serve()
    invoke(server, "trace.jsonl", "-o", "a.jsonl")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    invoke(server, "trace.jsonl", "-o", "b.jsonl")

    assert server.requests[0].headers["authorization"] == "Bearer none"
    assert server.requests[-1].headers["authorization"] == f"Bearer {SECRET}"


def test_a_prompt_of_ones_own_is_asked_and_named(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Its scale applies, and its answers are cached separately."""
    (folder / "mine.yaml").write_text(
        "name: mine\nversion: 7\nscale: [0, 1]\ntemplate: 'Is {text} {title} for {query}?'\n"
    )
    server = serve(lambda _: completion('{"score": 1}'))
    result = invoke(server, "trace.jsonl", "-o", "labels.jsonl", "--prompt", "mine.yaml")

    assert result.exit_code == 0
    assert server.requests[0].asked == "Is  T1 is worth 1 for worth??"
    assert lines(folder / "labels.jsonl")[0]["labeller"] == "small mine/7"
    assert lines(folder / "labels.jsonl")[0]["scale"] == [0, 1]


def test_labels_are_the_same_again_from_the_cache_alone(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """A lost output is written again from the cache without a request."""
    server = serve()
    invoke(server, "trace.jsonl", "-o", "labels.jsonl")
    first = (folder / "labels.jsonl").read_bytes()
    (folder / "labels.jsonl").unlink()
    asked = len(server.requests)
    invoke(server, "trace.jsonl", "-o", "labels.jsonl")

    assert (folder / "labels.jsonl").read_bytes() == first
    assert len(server.requests) == asked


def test_without_a_terminal_progress_is_a_line_now_and_then(
    serve: Serve, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent for half a minute; then rate, cost and time left."""
    monkeypatch.setattr("judged.cli.progress.LINE_INTERVAL", 0.0)
    result = invoke(serve(), "trace.jsonl", "-o", "labels.jsonl", "--price-in", "1000", "--price-out", "0")

    assert "Labelling: 3 of 3 (100 %), " in result.stderr
    assert "a minute, cost 0.3000, 0:00 left" in result.stderr
    quiet = invoke(serve(), "trace.jsonl", "-o", "more.jsonl", "--quiet")
    assert quiet.output == ""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.usefixtures("folder")
def test_a_terminal_shows_a_bar_with_rate_cost_and_time_left(serve: Serve) -> None:
    """The bar is on standard error, and gone when all is done."""
    server = serve(slowly)
    main, other = os.openpty()
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "TERM": "xterm", "COLUMNS": "160"}
    prices = ["--price-in", "1000", "--price-out", "1000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "judged", *of_run(server, *prices)],
        stdout=subprocess.DEVNULL,
        stderr=other,
        env=environment,
    )
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a pseudo-terminal
        while more := os.read(main, 65536):
            shown += more
    os.close(main)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())

    assert process.wait(timeout=60) == 0
    assert re.search(r"Labelling .* \d+/40 +[\d,]+ a minute, cost \d\.\d{4}, \d+:\d\d left", text)


def test_texts_may_be_a_folder_in_the_layout_of_beir(folder: Path) -> None:
    """`--queries` and `--documents` find `queries.jsonl` and `corpus.jsonl` there, as everywhere."""
    beir = folder / "beir"
    beir.mkdir()
    (beir / "queries.jsonl").write_text('{"_id": "q1", "text": "what is it worth?"}')
    (folder / "docs.jsonl").rename(beir / "corpus.jsonl")
    texts = ["--queries", "beir", "--documents", "beir"]
    made = CliRunner().invoke(cli, ["label", "--sample", "5", "bm25.run", *texts, "-o", "sheet.csv"])

    assert made.exit_code == 0, made.output
    assert (folder / "sheet.csv").read_text().count("what is it worth?") == 5
