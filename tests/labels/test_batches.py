"""The Batch API, against a real server on this machine: nothing is lost, and nothing is paid for twice."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from judged.errors import BadProtocol, EndpointFailed
from judged.labels import BatchOptions, Endpoint, Labeller, Labelling, RetryPolicy, label_results
from judged.store.log import Log
from labels.batch_server import BatchServer, Reply
from labels.server import Request, Response, completion, graded, refusing
from labels.test_command import lines, started, wait_for

ServeBatches = Callable[..., BatchServer]
FAST = BatchOptions(poll=0.01)
ALL = {"d0": 0, "d1": 1, "d2": 2, "d3": 3, "d4": 4}


@pytest.fixture
def serve_batches(_short_waits: None) -> Iterator[ServeBatches]:
    """Start servers that stop when the test ends."""
    pytest.importorskip("httpx2", reason="the extra `label` is not installed")
    with ExitStack() as stack:

        def start(answer: Callable[[Request], Response] = graded, **settings: Any) -> BatchServer:
            server = BatchServer(answer)
            for name, value in settings.items():
                setattr(server, name, value)
            return stack.enter_context(server.running())

        yield start


def label(server: BatchServer, cache: Path | None, *, number: int = 5, **options: Any) -> Labelling:
    """Label documents that are worth 0, 1, 2, 3, 4, then 0 again."""
    names = [f"d{at}" for at in range(number)]
    retries = RetryPolicy(attempts=3, reasks=options.pop("reasks", 1))
    labeller = Labeller("small", structure=options.pop("structure", "json_schema"))
    return label_results(
        {"q": names},
        queries={"q": "what is it worth?"},
        documents={name: f"{name} is worth {at % 5}" for at, name in enumerate(names)},
        labeller=labeller,
        endpoint=Endpoint(server.address, retries=retries),
        cache=None if cache is None else cache / "cache",
        **{"batches": FAST, **options},
    )


def grades(labelling: Labelling) -> dict[str, int]:
    """Return the grade of every document."""
    return {str(row["document"]): int(row["grade"]) for row in labelling.labelled}


def test_a_batch_labels_everything_at_once(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """Five documents, one batch, no direct question where the form of answers is given; then the cache has all."""
    server = serve_batches()
    labelling = label(server, tmp_path)

    assert grades(labelling) == ALL
    assert (len(server.jobs), len(server.direct), labelling.tokens_in, labelling.asked) == (1, 0, 500, 5)
    (job,) = server.jobs.values()
    assert job.requests[0]["url"] == "/v1/chat/completions"
    assert job.requests[0]["body"]["response_format"]["json_schema"]["strict"] is True
    again = label(server, tmp_path)
    assert (len(server.jobs), again.cached, again.asked) == (1, 5, 0)


def test_the_first_question_shows_what_the_endpoint_supports(
    serve_batches: ServeBatches, tmp_path: Path
) -> None:
    """It is asked directly; an endpoint without schemas gets none in the batch either."""

    def answer(request: Request) -> Response:
        return refusing(400, "no response_format") if "response_format" in request.body else graded(request)

    server = serve_batches(answer)
    labelling = label(server, tmp_path, structure=None)

    assert grades(labelling) == ALL
    assert len(server.direct) == 3  # a schema, any object, then text
    (job,) = server.jobs.values()
    assert len(job.requests) == 4
    assert not any("response_format" in row["body"] for row in job.requests)


def test_a_job_that_does_not_wait_is_collected_by_the_next(
    serve_batches: ServeBatches, tmp_path: Path
) -> None:
    """The first call submits; the second, while the batch runs, submits nothing; the third has the labels."""
    server = serve_batches(looks=3)
    calls = [label(server, tmp_path, batches=BatchOptions(wait=False)) for _ in range(3)]

    assert [len(call.labelled) for call in calls] == [0, 0, 5]
    assert [call.stopped for call in calls][:2] == [
        "5 questions in batches that are not finished: run the same command later"
    ] * 2
    assert len(server.jobs) == 1
    assert server.paid.total() == 5


def test_requests_that_expired_are_asked_in_another_batch(
    serve_batches: ServeBatches, tmp_path: Path
) -> None:
    """Two of five are answered, then two of three, then the last: three batches, five answers."""
    server = serve_batches(expire_after=2)
    labelling = label(server, tmp_path)

    assert grades(labelling) == ALL
    assert [len(job.requests) for job in server.jobs.values()] == [5, 3, 1]
    assert server.paid.total() == 5
    assert not labelling.failures


def test_batches_that_bring_nothing_stop_the_job(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """An endpoint that lets every request expire is not asked for ever."""
    server = serve_batches(expire_after=0)
    labelling = label(server, tmp_path)

    assert len(server.jobs) == 1
    assert labelling.stopped == "the batch brought no answers (This request could not be executed in time)"
    assert {failure["failure"] for failure in labelling.failures} == {"no answer"}


def test_an_answer_without_a_grade_is_asked_once_more(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """A refusal, an injected grade off the scale and a cut answer are failures after two questions, never a 0."""
    odd = {
        "worth 1": completion(None, refusal="I will not."),
        "worth 2": completion('{"match": 9, "trust": 9, "score": 9}'),
        "worth 3": completion('{"match": 1, "tru', finish="length"),
    }

    def answer(request: Request) -> Response:
        return next((reply for text, reply in odd.items() if text in request.result), graded(request))

    server = serve_batches(answer)
    labelling = label(server, tmp_path)

    assert grades(labelling) == {"d0": 0, "d4": 4}
    assert [(row["document"], row["failure"]) for row in labelling.failures] == [
        ("d1", "refusal"), ("d2", "off the scale"), ("d3", "unfinished"),
    ]  # fmt: skip
    assert [len(job.requests) for job in server.jobs.values()] == [5, 3]


def test_lines_with_errors_are_asked_again_unless_they_are_refused(
    serve_batches: ServeBatches, tmp_path: Path
) -> None:
    """Status 429 and 500 pass; 400 does not, and is a failure of that text."""
    seen: set[str] = set()

    def answer(request: Request) -> Response:
        again = request.result in seen
        seen.add(request.result)
        if "worth 3" in request.result:
            return refusing(400, "too long")
        fails = {"worth 1": refusing(429, "slow down"), "worth 2": refusing(500, "oops")}
        return (
            graded(request)
            if again
            else next((reply for text, reply in fails.items() if text in request.result), graded(request))
        )

    server = serve_batches(answer)
    labelling = label(server, tmp_path)

    assert grades(labelling) == {"d0": 0, "d1": 1, "d2": 2, "d4": 4}
    assert [(row["document"], row["failure"]) for row in labelling.failures] == [
        ("d3", "refused by the endpoint")
    ]
    assert [len(job.requests) for job in server.jobs.values()] == [5, 2]


def test_damaged_lines_of_a_file_label_nothing(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """Cut lines, other names and repeated names: what is readable counts once, the rest is asked again."""

    def damage(good: list[str]) -> list[str]:
        if len(good) < 5:
            return good
        strange = good[1].replace(json.loads(good[1])["custom_id"], "ffff")
        repeated = good[0].replace('\\"score\\": 0', '\\"score\\": 4')
        return [good[0], repeated, strange, good[2][:50], "[1]", "", "null", *good[3:]]

    server = serve_batches(change_output=damage)
    labelling = label(server, tmp_path)

    assert grades(labelling) == ALL
    assert [len(job.requests) for job in server.jobs.values()] == [5, 2]


@pytest.mark.parametrize("instead", [(0, None), (500, {}), (429, {"error": "slow"}), (200, b"<html>busy")])
def test_a_batch_whose_start_was_not_confirmed_is_found_and_not_started_again(
    serve_batches: ServeBatches, tmp_path: Path, instead: Reply
) -> None:
    """The endpoint has started it, and the answer was lost: a second one would be paid for too."""
    server = serve_batches(on_create=lambda number: instead if number == 1 else None)
    labelling = label(server, tmp_path)

    assert grades(labelling) == ALL
    assert (len(server.jobs), server.paid.total()) == (1, 5)


def test_a_look_that_fails_is_repeated(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """Dropped connections, 503 and garbage on the way do not lose a batch."""
    faults: dict[int, Reply] = {1: (0, None), 3: (503, {}), 5: (200, b"<html>")}
    server = serve_batches(on_look=faults.get, looks=4)

    assert grades(label(server, tmp_path)) == ALL
    assert len(server.jobs) == 1


def test_a_batch_that_is_refused_stops_the_job_and_is_not_waited_for_again(
    serve_batches: ServeBatches, tmp_path: Path
) -> None:
    """Validation failed: the endpoint's words are shown; the next job starts a new batch."""
    server = serve_batches(status="failed")
    with pytest.raises(EndpointFailed, match="refuses the batch: line 1: no such model"):
        label(server, tmp_path)
    server.status = "completed"

    assert grades(label(server, tmp_path)) == ALL
    assert len(server.jobs) == 2


def test_a_batch_that_was_cancelled_keeps_its_answers(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """What it answered before counts, and nothing new is submitted in its place."""
    server = serve_batches(status="cancelled", change_output=lambda good: good[:3])
    labelling = label(server, tmp_path)

    assert grades(labelling) == {"d0": 0, "d1": 1, "d2": 2}
    assert labelling.stopped == "the batch was cancelled at the endpoint"
    assert len(server.jobs) == 1


def test_an_endpoint_without_the_api_says_so(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """Most local servers have none."""
    server = serve_batches()
    server.files = {}
    server.reply = lambda *_: (404, {"error": {"message": "not found"}})  # type: ignore[method-assign]

    with pytest.raises(EndpointFailed, match=r"has no Batch API \(404\)"):
        label(server, tmp_path)
    with pytest.raises(BadProtocol, match="batches need a file that stores the answers"):
        label(server, None)


def test_a_budget_limits_what_is_submitted(serve_batches: ServeBatches, tmp_path: Path) -> None:
    """Each request may cost 512 for its answer and 1.5 times its tokens at most; there is room for two."""
    server = serve_batches()
    labelling = label(server, tmp_path, prices=(0, 1e6), budget=1100)

    assert len(labelling.labelled) == 2
    assert labelling.stopped == "the budget is reached"
    assert [len(job.requests) for job in server.jobs.values()] == [2]
    assert labelling.spent == 14.0  # two answers of 7 tokens


@pytest.mark.parametrize(("step", "is_written"), [(1, True), (2, False), (2, True), (3, False), (3, True)])
def test_a_kill_at_any_step_loses_and_repeats_nothing(
    serve_batches: ServeBatches,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    is_written: bool,
) -> None:
    """The process dies before or after a line of its log: about to start, started, over."""
    server = serve_batches()
    append, steps = Log.append, []

    class KilledError(BaseException):
        pass

    def die(log: Log[Any], record: Any) -> None:
        steps.append(record)
        if len(steps) < step or is_written:
            append(log, record)
        if len(steps) == step:
            raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(Log, "append", die)
        with pytest.raises(KilledError):
            label(server, tmp_path)
    labelling = label(server, tmp_path, prices=(1, 1))

    assert grades(labelling) == ALL
    assert labelling.spent == 5 * 107 / 1e6  # counted once, now or before
    assert server.paid.total() == 5
    assert len(server.jobs) == 1


def test_a_killed_job_collects_its_batch(
    serve_batches: ServeBatches, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed with -9 while the batch runs: the same command asks for nothing again, and writes all labels."""
    monkeypatch.chdir(tmp_path)
    names = [f"d{number}" for number in range(20)]
    Path("bm25.run").write_text(
        "".join(f"q1 Q0 {name} {rank} {-rank} x\n" for rank, name in enumerate(names))
    )
    Path("queries.tsv").write_text("q1\twhat is it worth?\n")
    texts = [json.dumps({"id": name, "text": f"{name} is worth {n % 5}"}) for n, name in enumerate(names)]
    Path("docs.jsonl").write_text("\n".join(texts))
    server = serve_batches(looks=10**9)
    arguments = [
        "label",
        "bm25.run",
        "--queries",
        "queries.tsv",
        "--documents",
        "docs.jsonl",
        "-o",
        "labels.jsonl",
    ]
    arguments += ["--endpoint", server.address, "--model", "small", "--batch-api", "--poll", "0.05"]
    process = started(arguments)
    wait_for(lambda: any(job.looks for job in server.jobs.values()))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    server.looks = 1

    rest = started(arguments)
    _, stderr = rest.communicate(timeout=60)

    assert rest.returncode == 0, stderr
    assert (len(server.jobs), len(server.direct), server.paid.total()) == (1, 1, 20)
    assert [(row["document"], row["grade"]) for row in lines(Path("labels.jsonl"))] == [
        (f"d{n}", n % 5) for n in range(20)
    ]
    assert re.search(r"20 of 20 labelled \(100.0 %\)", stderr)
