"""Labelling against a real server on this machine: what goes wrong is repeated, counted, or stops the job."""

from __future__ import annotations

import asyncio
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Lock, Timer, main_thread
from time import monotonic

import pytest

from judged.errors import BadProtocol, EndpointFailed
from judged.labels import Labeller, Labelling, label_results
from judged.result import load
from labels.conftest import LabelRun, Serve
from labels.server import Request, Response, completion, graded, refusing


def grades(labelling: Labelling) -> dict[str, int]:
    """Return the grade of every document."""
    return {str(row["document"]): int(row["grade"]) for row in labelling.labelled}


def first_times(count: int, response: Response) -> Callable[[Request], Response]:
    """Answer the first requests about each result with `response`, and then grade it."""
    seen: Counter[str] = Counter()
    lock = Lock()

    def answer(request: Request) -> Response:
        with lock:
            seen[request.result] += 1
            again = seen[request.result] > count
        return graded(request) if again else response

    return answer


ALL = {"d0": 0, "d1": 1, "d2": 2, "d3": 3, "d4": 4}


def test_every_result_is_graded_once(serve: Serve, label_run: LabelRun) -> None:
    """Five documents, five requests, five labels, in the order of the run."""
    server = serve()
    labelling = label_run(server)

    assert grades(labelling) == ALL
    assert labelling.complete
    assert len(server.requests) == 5
    assert [(label.task, label.id, label.gain) for label in labelling.labels][:2] == [
        ("q", "d0", 0),
        ("q", "d1", 1),
    ]


@pytest.mark.parametrize(
    "fault",
    [
        refusing(429, "slow down"),
        Response(429, {"error": "slow down"}, {"retry-after": "0.01"}),
        Response(429, "slow down", {"retry-after-ms": "10"}),
        Response(503, "<html>busy</html>", {"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}),
        refusing(500, "oops"),
        refusing(408, "too slow"),
        refusing(409, "locked"),
        refusing(425, "too early"),
        Response(502, "<html>Bad gateway</html>"),
        Response(529, {"type": "overloaded"}),
        Response(0),
        Response(200, "<html>Log in to the network</html>"),
        Response(200, {"error": {"message": "upstream", "code": 502}}),
        Response(200, {"choices": []}),
        Response(200, None),
    ],
    ids=lambda fault: f"{fault.status} {fault.body}"[:40],
)
def test_what_may_pass_is_asked_again(serve: Serve, label_run: LabelRun, fault: Response) -> None:
    """Rate limits, server errors, dropped connections and garbage of gateways cost no label."""
    labelling = label_run(serve(first_times(2, fault)))

    assert grades(labelling) == ALL
    assert not labelling.failures


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(serve: Serve, label_run: LabelRun) -> None:
    """The first request about each result hangs for longer than the timeout."""
    slow = Response(200, completion('{"score": 4}').body, delay=0.6)
    labelling = label_run(serve(first_times(1, slow)), timeout=0.2, number=2)

    assert grades(labelling) == {"d0": 0, "d1": 1}


def test_retry_after_is_waited_for(serve: Serve, label_run: LabelRun) -> None:
    """An endpoint that asks for 0.4 s gets no request for that long."""
    came: list[float] = []

    def answer(request: Request) -> Response:
        came.append(monotonic())
        return Response(429, "", {"retry-after": "0.4"}) if request.number == 1 else graded(request)

    label_run(serve(answer), number=3)

    assert came[1] - came[0] >= 0.4


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (refusing(401, "Incorrect API key provided"), "refuses the key (401)"),
        (refusing(402, "Insufficient balance"), "asks for payment (402)"),
        (refusing(403, "not for you"), "forbids the request (403)"),
        (refusing(404, "no such model"), "has no such model or address (404)"),
        (refusing(429, "You exceeded your quota", code="insufficient_quota"), "quota is used up"),
        (Response(429, "", {"retry-after": "7200"}), "asks to wait for 7,200 s"),
    ],
)
def test_what_will_not_pass_stops_the_whole_job(
    serve: Serve, label_run: LabelRun, response: Response, message: str
) -> None:
    """A wrong key or model stops the job after one request, not after five."""
    server = serve(lambda _: response)

    with pytest.raises(EndpointFailed, match=re.escape(message)):
        label_run(server)
    assert len(server.requests) == 1


def test_a_key_that_is_revoked_on_the_way_stops_the_job_and_keeps_what_was_answered(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """Three answers, then 401: the three are in the cache."""
    server = serve(lambda request: graded(request) if request.number <= 3 else refusing(401, "revoked"))
    with pytest.raises(EndpointFailed):
        label_run(server, cache=tmp_path / "c", concurrency=1)

    server.answer = graded
    labelling = label_run(server, cache=tmp_path / "c")

    assert (labelling.cached, labelling.asked) == (3, 2)


def test_an_endpoint_that_is_not_there_is_reported_in_one_sentence(serve: Serve, label_run: LabelRun) -> None:
    """Nothing listens: the job stops after its first question."""
    server = serve(lambda _: Response(0))

    with pytest.raises(EndpointFailed, match=r"does not answer: no connection"):
        label_run(server, attempts=2)
    assert len(server.requests) == 2


def test_an_endpoint_that_is_lost_on_the_way_stops_the_job(serve: Serve, label_run: LabelRun) -> None:
    """After ten questions in a row without an answer the rest is not asked; nothing is a grade."""
    server = serve(lambda request: graded(request) if request.number <= 5 else refusing(500, "gone"))
    labelling = label_run(server, number=40, attempts=1, concurrency=1)

    assert len(labelling.labelled) == 5
    assert len(labelling.failures) == 10
    assert labelling.stopped == "the endpoint no longer answers (status 500: gone)"
    assert not labelling.complete
    assert "stopped: the endpoint no longer answers (status 500: gone); 25 not asked" in labelling.sentences()


def test_one_request_that_always_fails_is_a_counted_failure(serve: Serve, label_run: LabelRun) -> None:
    """The attempts are bounded; the others are labelled."""
    server = serve(lambda request: refusing(500, "oops") if "d3" in request.result else graded(request))
    labelling = label_run(server, attempts=3)

    assert grades(labelling) == {"d0": 0, "d1": 1, "d2": 2, "d4": 4}
    assert [
        (failure["document"], failure["failure"], failure["answer"]) for failure in labelling.failures
    ] == [("d3", "no answer", "status 500: oops")]
    assert sum("d3" in request.result for request in server.requests) == 3


def test_pushing_back_for_long_fails_nothing(serve: Serve, label_run: LabelRun) -> None:
    """Rate-limited requests are repeated far more often than other failures."""
    labelling = label_run(serve(first_times(8, refusing(429, "slow down"))), attempts=2, number=3)

    assert labelling.complete


def test_an_answer_that_states_no_grade_is_asked_for_again_and_then_a_failure(
    serve: Serve, label_run: LabelRun
) -> None:
    """A refusal, garbage and a grade off the scale are counted by what they are, with the raw answer; none is 0."""
    responses = {
        "d0": completion("I'd rather not."),
        "d1": completion(None, refusal="I cannot assess this."),
        "d2": completion("##final score: 10"),
        "d3": completion('{"score": ', finish="length"),
    }

    def answer(request: Request) -> Response:
        return next(
            (response for name, response in responses.items() if name in request.result), graded(request)
        )

    server = serve(answer)
    labelling = label_run(server)

    assert grades(labelling) == {"d4": 4}
    assert [
        (failure["document"], failure["failure"], failure["answer"]) for failure in labelling.failures
    ] == [
        ("d0", "no grade", "I'd rather not."),
        ("d1", "refusal", "I cannot assess this."),
        ("d2", "off the scale", "##final score: 10"),
        ("d3", "unfinished", '{"score": '),
    ]
    assert len(server.requests) == 9  # each of the four twice, d4 once
    assert label_run(server, reasks=0).asked == 5


def test_failures_are_kept_and_asked_again_only_on_demand(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """What was answered without a grade is not paid for again, unless `retry_failed` says so."""
    server = serve(first_times(2, completion("no idea")))
    first = label_run(server, cache=tmp_path / "c")
    again = label_run(server, cache=tmp_path / "c")
    retried = label_run(server, cache=tmp_path / "c", retry_failed=True)

    assert (len(first.failures), first.asked) == (5, 5)
    assert (len(again.failures), again.asked) == (5, 0)
    assert (grades(retried), retried.asked) == (ALL, 5)


def test_requests_without_an_answer_are_asked_again_by_the_next_job(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """Nothing was paid, so nothing is kept."""
    server = serve(lambda request: graded(request) if request.number == 1 else refusing(500, "oops"))
    first = label_run(server, cache=tmp_path / "c", attempts=1)
    server.answer = graded
    second = label_run(server, cache=tmp_path / "c")

    assert len(first.failures) == 4
    assert (grades(second), second.asked) == (ALL, 4)


def test_no_more_than_the_allowed_requests_run_at_once(serve: Serve, label_run: LabelRun) -> None:
    """The server never sees a fourth."""
    server = serve(lambda request: Response(200, graded(request).body, delay=0.02))
    label_run(server, number=20, concurrency=3)

    assert 2 <= server.most_at_once <= 3


def test_the_rate_is_kept(serve: Serve, label_run: LabelRun) -> None:
    """At 1,200 a minute, six requests take a quarter of a second at least."""
    began = monotonic()
    label_run(serve(), number=6, rate=1200)

    assert monotonic() - began >= 0.25


def test_equal_content_is_asked_about_once(serve: Serve, label_run: LabelRun) -> None:
    """Documents that read the same share an answer, and each has its label."""
    server = serve()
    labelling = label_run(server, documents=dict.fromkeys(["d0", "d1", "d2", "d3", "d4"], "worth 3"))

    assert set(grades(labelling).values()) == {3}
    assert len(labelling.labelled) == 5
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"model": "large"},
        {"temperature": 0.7},
        {"seed": 1},
        {"max_tokens": 100},
        {"structure": "text"},
        {"queries": {"q": "another question"}},
    ],
    ids=str,
)
def test_the_cache_is_keyed_by_model_settings_and_content(
    serve: Serve, label_run: LabelRun, tmp_path: Path, change: dict[str, object]
) -> None:
    """An answer of one model, or under other settings, is never given for another's."""
    server = serve()
    label_run(server, cache=tmp_path / "c")
    other = label_run(server, cache=tmp_path / "c", **change)
    same = label_run(server, cache=tmp_path / "c")

    assert (other.cached, other.asked) == (0, 5)
    assert (same.cached, same.asked) == (5, 0)


def test_the_cache_is_not_keyed_by_where_the_model_runs(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """The same model behind another address need not answer again."""
    label_run(serve(), cache=tmp_path / "c")
    elsewhere = serve()

    assert label_run(elsewhere, cache=tmp_path / "c").complete
    assert elsewhere.requests == []


def test_every_answer_is_on_disk_before_the_next_request(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """With one request at a time, the server finds all earlier answers in the file."""
    path = tmp_path / "c"
    found = []

    def answer(request: Request) -> Response:
        if request.number > 1:
            with sqlite3.connect(path) as base:
                found.append(base.execute("SELECT COUNT(*) FROM entries").fetchone()[0])
            base.close()
        return graded(request)

    label_run(serve(answer), cache=path, concurrency=1)

    assert found == [1, 2, 3, 4]


def test_two_jobs_at_once_share_a_cache_and_pay_for_nothing_twice(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """The second waits for the first, and then finds all answers; both end with all labels, and the file is sound."""
    server = serve(lambda request: Response(200, graded(request).body, delay=0.01))

    async def both() -> list[Labelling]:
        calls = [asyncio.to_thread(label_run, server, cache=tmp_path / "c", number=30) for _ in range(2)]
        return await asyncio.gather(*calls)

    first, second = asyncio.run(both())

    assert grades(first) == grades(second)
    assert server.paid.total() == 30
    assert sorted([first.asked, second.asked]) == [0, 30]
    with sqlite3.connect(tmp_path / "c") as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()


def test_it_runs_where_an_event_loop_is_running(serve: Serve, label_run: LabelRun) -> None:
    """As in a notebook: the call is made from within a coroutine, and the loop is still usable afterwards."""
    server = serve()

    async def cell() -> Labelling:
        labelling = label_run(server)
        await asyncio.sleep(0)
        return labelling

    assert grades(asyncio.run(cell())) == ALL


def test_an_error_within_a_running_loop_is_raised_as_it_is(serve: Serve, label_run: LabelRun) -> None:
    """Errors pass through the thread unchanged."""

    async def cell() -> Labelling:
        return label_run(serve(lambda _: refusing(401, "no")))

    with pytest.raises(EndpointFailed, match="refuses the key"):
        asyncio.run(cell())


def test_an_interruption_within_a_running_loop_ends_the_work(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """As a notebook's stop button does: nothing is asked afterwards, and what was answered is kept."""

    def answer(request: Request) -> Response:
        if request.number == 4:
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)  # wakes it at once
        return Response(200, graded(request).body, delay=0.05)

    async def cell() -> Labelling:
        return label_run(server, number=40, concurrency=2, cache=tmp_path / "c")

    server = serve(answer)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have ignored it
    with closing(asyncio.new_event_loop()) as loop, pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(cell())  # not `asyncio.run`, which keeps the first interruption to itself
    signal.signal(signal.SIGINT, before)
    asked = len(server.requests)
    server.answer = graded
    rest = label_run(server, number=40, cache=tmp_path / "c")

    assert asked < 10
    assert rest.complete
    assert rest.cached >= 2


def test_the_budget_is_never_passed(serve: Serve, label_run: LabelRun, tmp_path: Path) -> None:
    """Each answer costs 100 × 0.01 + 7 × 0.01 = 1.07; a budget of 10 stops the job before the tenth.

    A request is set aside as 1.5 times its estimated tokens, some 290 × 1.5 × 0.01 = 4.4, and 20 × 0.01 written.
    """
    server = serve()
    terms = {"prices": (10_000, 10_000), "budget": 10.0, "max_tokens": 20, "cache": tmp_path / "c"}
    labelling = label_run(server, number=40, **terms)

    assert labelling.stopped == "the budget is reached"
    assert 4 <= len(labelling.labelled) <= 9
    assert labelling.spent == pytest.approx(1.07 * len(labelling.labelled))
    assert labelling.spent <= 10
    assert not labelling.failures


def test_a_job_that_goes_on_keeps_its_budget(serve: Serve, label_run: LabelRun, tmp_path: Path) -> None:
    """What earlier answers cost counts, so that the same command never spends more than it says."""
    server = serve()
    terms = {"prices": (10_000, 10_000), "budget": 10.0, "max_tokens": 20, "cache": tmp_path / "c"}
    first = label_run(server, number=40, **terms)
    second = label_run(server, number=40, **terms)
    more = label_run(server, number=40, **{**terms, "budget": 100.0})

    assert second.asked == 0
    assert second.spent == first.spent
    assert more.complete
    assert more.spent == pytest.approx(42.8)  # 40 × 1.07
    assert more.spent_before == pytest.approx(first.spent)


def test_a_budget_without_prices_is_refused(serve: Serve, label_run: LabelRun) -> None:
    """The cost of an answer is unknown."""
    with pytest.raises(BadProtocol, match="a budget needs prices"):
        label_run(serve(), budget=1.0)


def test_progress_is_reported(serve: Serve, label_run: LabelRun) -> None:
    """One call for each question, with what failed and what was spent."""
    steps: list[tuple[int, int, str]] = []
    label_run(serve(), prices=(10_000, 10_000), progress=lambda *step: steps.append(step))

    assert [(done, total) for done, total, _ in steps] == [(n, 5) for n in range(1, 6)]
    assert steps[-1][2].endswith("a minute, cost 5.3500")  # 5 × 1.07, and nothing failed


def test_problems_are_reported_while_they_last(serve: Serve, label_run: LabelRun) -> None:
    """The reason of the last retry is part of the progress."""
    steps: list[tuple[int, int, str]] = []
    server = serve(first_times(1, refusing(503, "busy")))
    label_run(server, number=1, progress=lambda *step: steps.append(step))

    assert [done for done, _, _ in steps] == [0, 1]
    assert all(detail.endswith("1 retries (last: status 503: busy)") for _, _, detail in steps)


def test_labels_record_how_probable_legal_grades_were(serve: Serve, tmp_path: Path) -> None:
    """The probability of 0 to 4 at the digit is recorded, and a low one gives a warning."""
    from judged.labels import Endpoint, Labeller
    from judged.labels.single import label_pool
    from judged.labels.task import Item, Pool

    tokens = [
        {"token": "{", "logprob": 0.0, "top_logprobs": []},
        {
            "token": "3",
            "logprob": -2.3026,
            "top_logprobs": [
                {"token": "3", "logprob": -2.302585},  # 0.1
                {"token": " 2", "logprob": -2.995732},  # 0.05
                {"token": "The", "logprob": -0.162519},  # 0.85
            ],
        },
    ]
    server = serve(lambda _: completion('{"score": 3}', logprobs={"content": tokens}))
    pool = Pool((Item.of_result("q", "", "text", {"query": "q", "document": "d"}),), 1)
    labelling = label_pool(pool, Labeller("m", logprobs=True), Endpoint(server.address), cache=tmp_path / "c")

    assert server.requests[0].body["logprobs"] is True
    assert labelling.labelled[0]["mass"] == pytest.approx(0.15, abs=1e-4)
    assert any("1 of 1 grades had less than half" in note.message for note in labelling.notes)


HOLD = """
import sys
from judged.labels.cache import lock_cache
with lock_cache(sys.argv[1], print):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_job_that_waits_for_another_says_so(serve: Serve, label_run: LabelRun, tmp_path: Path) -> None:
    """The cache and the process, before anything is asked; a lock ends with its process, however that ends."""
    steps: list[tuple[int, int | None, str]] = []
    server = serve()
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == b"locked\n"
    ending = Timer(0.2, other.kill)
    ending.start()
    labelling = label_run(server, cache=tmp_path / "c", progress=lambda *step: steps.append(step))
    ending.join()
    other.communicate()

    assert labelling.complete
    done, total, words = steps[0]
    assert (done, total) == (0, None)
    assert words.startswith(f"waiting for another job that uses {tmp_path / 'c'}: process {other.pid} on ")
    assert [total for _, total, _ in steps[-5:]] == [5] * 5


def test_pushing_back_without_end_is_reported_as_such(serve: Serve, label_run: LabelRun) -> None:
    """It is not reported as a missing server."""
    server = serve(lambda _: refusing(429, "slow down"))

    with pytest.raises(EndpointFailed, match="keeps asking to slow down: status 429"):
        label_run(server, attempts=1)


def test_a_saved_labelling_is_the_same_again(serve: Serve, label_run: LabelRun, tmp_path: Path) -> None:
    """Labels, failures, notes and provenance are read back."""
    server = serve(lambda request: completion("?") if "d1" in request.result else graded(request))
    labelling = label_run(server, structure="text")
    labelling.save(tmp_path / "labels.json")
    loaded = load(tmp_path / "labels.json")

    assert repr(loaded) == repr(labelling)
    assert loaded.to_dict() == labelling.to_dict()
    assert labelling.to_arrow("failures")["document"].to_pylist() == ["d1"]
    assert labelling.to_arrow()["grade"].to_pylist() == [0, 2, 3, 4]


def test_a_model_by_name_is_a_labeller_with_defaults(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simplest call needs a model and texts; the endpoint may come from the environment."""
    monkeypatch.setenv("OPENAI_BASE_URL", serve().address)
    labelling = label_results({"q": ["d"]}, queries={"q": "?"}, documents={"d": "worth 3"}, model="small")

    assert [row["grade"] for row in labelling.labelled] == [3]
    assert labelling.labeller == "small relevance/1"
    assert labelling.provenance.settings["max_tokens"] == 512


@pytest.mark.parametrize("choice", [{}, {"model": "m", "labeller": Labeller("m")}], ids=["none", "both"])
def test_either_a_model_or_a_labeller_is_given(choice: dict[str, object]) -> None:
    """Both or none are refused."""
    with pytest.raises(BadProtocol, match="expected either `model` or `labeller`"):
        label_results({"q": ["d"]}, queries={"q": "?"}, documents={"d": "text"}, **choice)
