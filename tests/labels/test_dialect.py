"""What an endpoint understands is found on the first request: schemas, parameters, and how it says no."""

from __future__ import annotations

import pytest

from judged.errors import EndpointFailed
from labels.conftest import LabelRun, Serve
from labels.server import Request, Response, completion, graded, refusing


def structure_of(request: Request) -> str:
    """Return the structure that a request asks for."""
    return str(request.body.get("response_format", {"type": "text"})["type"])


def taking(*structures: str, status: int = 400, message: str = "response_format is not supported") -> object:
    """Return a server that accepts only some structures."""

    def answer(request: Request) -> Response:
        return graded(request) if structure_of(request) in structures else refusing(status, message)

    return answer


@pytest.mark.parametrize(
    ("structures", "asked"),
    [
        (("json_schema", "json_object", "text"), ["json_schema"]),
        (("json_object", "text"), ["json_schema", "json_object"]),
        (("text",), ["json_schema", "json_object", "text"]),
    ],
)
@pytest.mark.parametrize(
    ("status", "message"), [(400, "bad request"), (422, "response_format"), (500, "json_schema?")]
)
def test_the_strictest_structure_that_is_taken_is_used_for_all(
    serve: Serve,
    label_run: LabelRun,
    structures: tuple[str, ...],
    asked: list[str],
    status: int,
    message: str,
) -> None:
    """After a status of 400, 422 or 500 the next one is tried; the accepted one is used from then on."""
    server = serve(taking(*structures, status=status, message=message))
    labelling = label_run(server)

    assert labelling.complete
    assert [structure_of(request) for request in server.requests] == [*asked, *asked[-1:] * 4]
    assert any("no `json_schema` output" in note.message for note in labelling.notes) == (len(asked) > 1)


def test_a_structure_that_is_asked_for_is_not_given_up(serve: Serve, label_run: LabelRun) -> None:
    """Five requests are refused, and the job stops: the requested structure is not supported."""
    server = serve(taking("text"))

    with pytest.raises(EndpointFailed, match="refuses every request: status 400"):
        label_run(server, structure="json_schema", number=9)
    assert len(server.requests) == 5


def test_a_schema_that_is_taken_but_not_kept_to_is_read_as_text(serve: Serve, label_run: LabelRun) -> None:
    """Some servers accept a schema and answer in prose."""
    labelling = label_run(serve(lambda _: completion("It is good. Final score: 3")))

    assert {row["grade"] for row in labelling.labelled} == {3}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model."),
        ("seed", "unknown field: seed"),
    ],
)
def test_a_parameter_that_is_refused_by_name_is_left_out(
    serve: Serve, label_run: LabelRun, name: str, message: str
) -> None:
    """Newer models want another name for the limit and no temperature; the schema stays."""
    server = serve(lambda request: refusing(400, message) if name in request.body else graded(request))
    labelling = label_run(server, seed=7)

    assert labelling.complete
    assert len(server.requests) == 6
    assert structure_of(server.requests[-1]) == "json_schema"


def test_one_text_that_is_too_long_changes_nothing_for_the_others(serve: Serve, label_run: LabelRun) -> None:
    """The first result is refused in every form: it fails, and the next is asked for with a schema again."""
    long = "This model's maximum context length is 8192 tokens"
    server = serve(lambda request: refusing(400, long) if "d0" in request.result else graded(request))
    labelling = label_run(server)

    assert [(failure["document"], failure["failure"]) for failure in labelling.failures] == [
        ("d0", "refused by the endpoint")
    ]
    assert "maximum context length" in labelling.failures[0]["answer"]
    assert structure_of(server.requests[-1]) == "json_schema"
