"""`judged questions`: drafts are written and checked by a model on this machine; what fails a check is not in the set."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import judged
from judged.cli.main import judged as cli
from judged.errors import BadProtocol, EndpointFailed, Unusable
from judged.io.texts import Text, read_queries
from judged.labels import Endpoint, Judge, Labeller, QuestionOptions, QuestionSet, write_questions
from judged.labels.questions.filters import is_copied, is_repeated, measure_overlap, mentions_source
from judged.labels.questions.sources import Sources
from labels.conftest import Serve
from labels.server import Request, Response, Server, completion, refusing
from labels.test_command import lines, started, wait_for

CITIES = ["Arlen", "Berin", "Corva", "Delos", "Elsin", "Fador", "Gruen", "Hamar", "Ister", "Jovan"]
FILLER = "It has a market and a wall of red stone against the floods"


def make_documents() -> dict[str, str]:
    """Return documents on cities; each names the mayor, some streets, and the next city on the river."""
    return {
        f"d{at}": f"{city} is a city whose mayor is called Mayor{at}. Its river Rio{at} also passes"
        f" {CITIES[(at + 1) % 10]}. {FILLER}: {' '.join(f'street{at}of{number}' for number in range(9))}"
        for at, city in enumerate(CITIES)
    }


def part(request: Request, name: str) -> str:
    """Return the text between the tags of a name."""
    found = re.search(rf"<({name}-\w+)>\n(.*?)\n</\1>", request.asked, re.DOTALL)
    return found[2] if found else ""


def author(request: Request) -> Response:
    """Write a question about the mayor of a city, or about two; say yes to both checks as a careful reader would."""
    if document := part(request, "document"):
        city = document.split(" ")[0]
        return write(f"Who governs the town of {city}?", "a mayor")
    if first := part(request, "first"):
        second = part(request, "second")
        return write(f"Who governs the town upstream of {second.split()[0]}, {first.split()[0]}?", "a mayor")
    question, material = part(request, "question"), part(request, "material")
    if not material:
        return completion(json.dumps({"self_contained": "yes"}))
    towns = [city for city in CITIES if city in question]
    known = [city for city in towns if f"{city} is a city" in material]
    return completion(json.dumps({"answered": "yes" if known == towns else "no"}))


def write(question: str, answer: str) -> Response:
    """Answer with one question."""
    return completion(json.dumps({"questions": [{"question": question, "answer": answer}]}))


def ask(
    server: Server, documents: object = None, *, models: tuple[str, ...] = ("small",), **options: object
) -> QuestionSet:
    """Write questions about cities."""
    names = ("count", "multi_hop", "examples", "seed")
    chosen = {name: options.pop(name) for name in names if name in options}
    judges = [Judge(Labeller(model), Endpoint(server.address)) for model in models]
    sources = make_documents() if documents is None else documents
    return write_questions(
        sources,
        judges,
        QuestionOptions(**{"count": 4, "multi_hop": 0.0, **chosen}),
        **options,  # type: ignore[arg-type]
    )


def test_questions_come_with_their_sources_as_judgments(serve: Serve, tmp_path: Path) -> None:
    """Four questions about four documents, each judged 3 for its question; `judged score` reads both files."""
    found = ask(serve(author))
    paths = found.write(tmp_path)

    assert found.complete
    assert [row["query"] for row in found.questions] == ["q1", "q2", "q3", "q4"]
    assert all(row["text"].endswith(f"{CITIES[int(row['documents'][0][1:])]}?") for row in found.questions)
    assert read_queries(paths[0]) == found.queries
    run = {row["query"]: {row["document"]: 1.0} for row in found.judgments}
    assert judged.evaluate(paths[1], run, "RR")["RR"] == 1.0
    assert found.judgments[0]["grade"] == 3


def test_a_question_of_two_documents_needs_both(serve: Serve) -> None:
    """The model confirms the answer from both documents and denies it from each alone: grade 2 for either."""
    found = ask(serve(author), count=4, multi_hop=0.5)
    double = [row for row in found.questions if row["kind"] == "multi-hop"]

    assert Counter(row["kind"] for row in found.questions) == {"single-hop": 2, "multi-hop": 2}
    assert all(len(row["documents"]) == 2 for row in double)
    grades = {row["query"]: row["grade"] for row in found.judgments}
    assert [grades[row["query"]] for row in double] == [2, 2]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What does this passage say about {city}?", "mentions its source"),
        ("Is it true that {city} is a city whose mayor is called so?", "copied from its source"),
        ("Who governs the town?", "asked before"),
        ("Who built the wall of the town of {city}?", "not self-contained"),
        ("Who painted the bridge in {city}?", "not answered by its source"),
    ],
)
def test_a_draft_that_fails_a_check_is_replaced_by_another(serve: Serve, question: str, reason: str) -> None:
    """Drafts about the first four documents that are drawn fail; other documents take their place."""
    bad: set[str] = set()

    def answer(request: Request) -> Response:
        document = part(request, "document")
        if document and len(bad) < 4 and request.number <= 4:
            bad.add(document)
            return write(question.format(city=document.split(" ")[0]), "?")
        asked = part(request, "question")
        if asked and not part(request, "material") and "wall" in asked:
            return completion('{"self_contained": "no"}')
        if "bridge" in asked and part(request, "material"):
            return completion('{"answered": "no"}')
        return author(request)

    found = ask(serve(answer))
    reasons = [row["reason"] for row in found.rejected]

    assert found.complete
    assert set(reasons) == {reason}
    assert len(reasons) in {3, 4}  # of four equal questions the first was not asked before
    assert f"rejected: {len(reasons)} ({reason})" in found.sentences()


def test_a_question_that_one_of_two_documents_answers_is_rejected(serve: Serve) -> None:
    """It is no question of two documents."""

    def answer(request: Request) -> Response:
        return completion('{"answered": "yes"}') if part(request, "material") else author(request)

    found = ask(serve(answer), count=1, multi_hop=1.0)

    assert not found.questions
    assert {row["reason"] for row in found.rejected} == {"answered by one of its documents alone"}
    assert any("no document is left for another multi-hop question" in note.message for note in found.notes)


def test_misbehaviour_of_the_model_makes_no_question(serve: Serve) -> None:
    """Refusals, cut answers, lists of two, orders in a document and an empty list: none is in the set."""
    odd = iter(
        [
            completion(None, refusal="No."),
            completion('{"questions": [{"question": "Who is', finish="length"),
            completion(
                '{"questions": [{"question": "a?", "answer": "b"}, {"question": "c?", "answer": "d"}]}'
            ),
            completion('{"questions": []}'),
            completion('{"questions": [{"question": " ", "answer": "x"}]}'),
            completion("Here is a question: who governs Arlen?"),
        ]
    )
    shown: dict[str, Response] = {}

    def answer(request: Request) -> Response:
        document = part(request, "document")
        if document and document not in shown:
            shown[document] = next(odd, author(request))
        return shown[document] if document else author(request)

    found = ask(serve(answer), count=4)

    assert len(found.questions) == 4
    assert Counter(row["reason"] for row in found.rejected) == {
        "not written: refusal": 1,
        "not written: unfinished": 1,
        "not written: too many": 1,
        "nothing to ask about": 1,
        "not written: incomplete record": 1,
        "not written: no list": 1,
    }


def test_other_models_check_by_vote(serve: Serve) -> None:
    """The first writes only; of three others two say no, whatever the first would say."""

    def answer(request: Request) -> Response:
        if part(request, "question") and request.body["model"] in {"b", "c"}:
            key = "answered" if part(request, "material") else "self_contained"
            return completion(json.dumps({key: "no"}))
        return author(request)

    server = serve(answer)
    found = ask(server, models=("a", "b", "c", "d"), count=2)

    assert not found.questions
    assert found.checked_by == ("b", "c", "d")
    assert {request.body["model"] for request in server.requests if part(request, "document")} == {"a"}


def test_the_same_call_asks_nothing_again_and_another_seed_draws_others(serve: Serve, tmp_path: Path) -> None:
    """Answers are stored; the order of documents is that of the seed."""
    server = serve(author)
    cache = tmp_path / "answers"
    first = ask(server, cache=cache)
    asked = len(server.requests)
    again = ask(server, cache=cache)
    other = ask(serve(author), seed=1)

    assert len(server.requests) == asked
    assert again.questions == first.questions
    assert other.questions != first.questions


def test_a_budget_stops_before_it_is_overdrawn_and_more_money_goes_on(serve: Serve, tmp_path: Path) -> None:
    """What was not checked is no question; the next call begins where this one ended."""
    server, cache = serve(author), tmp_path / "answers"
    prices = judged.labels.Prices(0, 1e6)
    poor = ask(server, cache=cache, prices=prices, budget=560)
    rich = ask(server, cache=cache, prices=prices, budget=10_000)

    assert poor.stopped == "the budget is reached"
    assert poor.spent <= 560
    assert not poor.complete
    assert rich.complete
    assert len(server.requests) == 12  # four drafts, and two checks of each
    assert rich.spent == 12 * 7.0


def test_without_a_model_or_documents_nothing_is_written(serve: Serve) -> None:
    """No question is invented in silence."""
    with pytest.raises(BadProtocol, match="no model is given, and nothing else writes questions"):
        write_questions(make_documents(), [])
    with pytest.raises(Unusable, match="2 documents have fewer than 20 words"):
        ask(serve(author), {"a": "short", "b": "short, too"})
    with pytest.raises(EndpointFailed):
        ask(serve(lambda _: refusing(401, "no")))
    with pytest.raises(BadProtocol, match="expected 1 or more"):
        QuestionOptions(count=0)


def test_overlap_is_measured_and_pooling_asked_for(serve: Serve) -> None:
    """`Who governs the town of X?`: of six words `the`, `of` and the city are in the source."""
    found = ask(serve(author))

    assert {row["overlap"] for row in found.questions} == {0.5}
    assert {row["overlap_elsewhere"] for row in found.questions} <= {0.3333, 0.5}
    assert any(note.code == "unpooled-questions" and note.severity == "warning" for note in found.notes)
    assert "lexical overlap: 50 % of the words of a question are in its source" in "\n".join(
        found.sentences()
    )


def test_examples_of_style_are_shown_to_the_writer(serve: Serve) -> None:
    """Ten at most, as one line each."""
    server = serve(author)
    ask(server, count=1, examples=[f"wer  regiert\n{number}" for number in range(30)])
    shown = part(server.requests[0], "examples").splitlines()

    assert len(shown) == 10
    assert all(re.fullmatch(r"wer regiert \d+", line) for line in shown)


@pytest.mark.parametrize(
    ("question", "mentions"),
    [
        ("According to the text, who won?", True),
        ("Was steht im Text über Arlen?", True),
        ("What is the document of title in sea law?", False),
        ("Who wrote the abstract machine paper?", False),
    ],
)
def test_a_mention_of_the_source_is_seen(question: str, mentions: bool) -> None:
    """A document as a thing in the world is something else."""
    assert mentions_source(question) == mentions


def test_copies_and_repeats_are_seen_in_scripts_without_spaces() -> None:
    """Fourteen signs in a row; seven of them are a name."""
    source = "東京都知事の小池百合子は昨日の会見で新しい予算案を発表した"

    assert is_copied("小池百合子は昨日の会見で新しい何を話したか", source)
    assert not is_copied("東京都知事の小池百合子は何をしたか", source)
    assert is_repeated("誰が予算案を発表した", [set("誰が予算案を発表した")])
    assert measure_overlap("", "x") == 0


def test_partners_share_rare_words_and_are_no_duplicates() -> None:
    """Three share `osmium`; d2, a copy of d0, is no partner of it; d3 shares no word."""
    filler = " ".join(f"w{number}" for number in range(20))
    texts = {
        "d0": f"osmium tetroxide {filler}",
        "d1": f"osmium is dense and blue and found in {' '.join(f'v{n}' for n in range(20))}",
        "d2": f"osmium tetroxide {filler}",
        "d3": f"nothing else but {' '.join(f'u{n}' for n in range(20))}",
    }
    sources = Sources({name: Text("", text) for name, text in texts.items()}, seed=0)
    pairs = {frozenset(source.ids) for source in sources.pairs()}

    assert pairs == {frozenset({"d0", "d1"}), frozenset({"d1", "d2"})}


Invoke = Callable[..., Result]


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run `judged questions` on a file of documents in this process."""
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"id": name, "text": text}) for name, text in make_documents().items()]
    Path("corpus.jsonl").write_text("\n".join(rows))

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["questions", "corpus.jsonl", *arguments])

    return run


def test_the_command_shows_its_estimate_before_it_asks(serve: Serve, invoke: Invoke) -> None:
    """Four questions, one of them multi-hop: 3 × 3 + 5 requests; `--dry-run` sends none and needs no endpoint."""
    server = serve(author)
    terms = ["-n", "4", "--model", "small", "--price-in", "1", "--price-out", "1"]
    dry = invoke(*terms, "--dry-run")
    result = invoke(*terms, "--endpoint", server.address, "-o", "set")

    assert dry.exit_code == 0
    assert "Requests: 14 for 4 questions, if no draft is rejected" in dry.stdout
    assert result.exit_code == 0, result.stderr
    assert result.stderr.index("Requests: 14") < result.stderr.index("4 of 4 questions")
    assert len(server.requests) == 14
    assert "pool runs of several systems" in result.stderr
    assert sorted(path.name for path in Path("set").iterdir() if "sqlite" not in path.name) == [
        "judgments.jsonl", "queries.jsonl", "rejected.jsonl",
    ]  # fmt: skip
    assert set(lines(Path("set/queries.jsonl"))[0]) == {
        "id", "text", "kind", "documents", "answer", "overlap", "overlap_elsewhere",
    }  # fmt: skip


def test_the_command_is_refused_without_a_model_or_over_other_questions(invoke: Invoke) -> None:
    """Exit code 2, and nothing is written."""
    without = invoke("-n", "4", "-o", "set")
    Path("set").mkdir()
    Path("set/queries.jsonl").write_text('{"id": "q1", "text": "mine"}\n')
    over = invoke("-n", "4", "-o", "set", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1")

    assert without.exit_code == over.exit_code == 2
    assert "--model" in without.stderr
    assert "set has queries already, which are not from an earlier job" in over.stderr


def test_a_killed_command_goes_on(serve: Serve, invoke: Invoke) -> None:  # noqa: ARG001 - it makes the files
    """Killed with -9 in the middle: at most what was in flight is asked again."""

    def slowly(request: Request) -> Response:
        return Response(200, author(request).body, delay=0.05)

    server = serve(slowly)
    arguments = ["questions", "corpus.jsonl", "-n", "8", "--multi-hop", "0", "-o", "set", "--model", "small"]
    arguments += ["--endpoint", server.address, "--concurrency", "2"]
    process = started(arguments)
    wait_for(lambda: len(server.requests) >= 12)
    process.send_signal(signal.SIGKILL)
    process.communicate()

    rest = started(arguments)
    _, stderr = rest.communicate(timeout=60)

    assert rest.returncode == 0, stderr
    assert 24 <= len(server.requests) <= 26
    assert len(lines(Path("set/queries.jsonl"))) == 8
