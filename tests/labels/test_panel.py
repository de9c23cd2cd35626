"""Several judges in one job: their vote or mean, how far they differ, and preferences asked in both orders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judged
from judged.errors import BadProtocol
from judged.labels import Endpoint, Labeller, Labelling, label_results, read_prompt
from judged.labels.panel import combine_labels
from labels.conftest import Serve
from labels.server import Request, Response, Server, completion, graded
from labels.test_command import Invoke, folder, invoke, lines

__all__ = ["folder", "invoke"]

DOCUMENTS = {f"d{at}": f"d{at} is worth {at}" for at in range(4)}


def opinions(request: Request) -> Response:
    """`strict` gives a grade less than `plain`, and `odd` does not answer about d3."""
    grade = json.loads(graded(request).body["choices"][0]["message"]["content"])["score"]
    model = request.body["model"]
    if model == "odd" and "worth 3" in request.result:
        return completion("I cannot say.")
    return completion(json.dumps({"score": max(0, grade - (model == "strict"))}))


def panel(server: Server, *models: str, **options: object) -> Labelling:
    """Label four documents that are worth 0 to 3."""
    return label_results(
        {"q": list(DOCUMENTS)},
        queries={"q": "worth?"},
        documents=DOCUMENTS,
        **{"model": list(models), "endpoint": server.address, **options},  # type: ignore[arg-type]
    )


def grades(labelling: Labelling) -> list[object]:
    """Return the grades in the order of the run."""
    return [row["grade"] for row in labelling.labelled]


@pytest.mark.parametrize(
    ("labels", "vote", "mean"),
    [
        ([2, 2, 3], 2, 7 / 3),
        ([3, 1], 1, 2.0),  # equal counts: the lowest
        ([4, 4, 0, 0], 0, 2.0),
        ([3, None, 3], 3, 3.0),
        ([3, None], None, None),  # no more than half of the judges
        ([None, None, 4], None, None),
    ],
)
def test_labels_are_combined_by_hand_worked_rules(
    labels: list[int | None], vote: int | None, mean: float | None
) -> None:
    """The label of most judges, of equal counts the lowest; nothing unless more than half of them gave one."""
    assert combine_labels(labels, range(5), "vote") == vote
    assert combine_labels(labels, range(5), "mean") == mean


def test_of_words_with_equal_counts_the_lowest_of_the_scale_counts() -> None:
    """The order is that of the scale, not of the alphabet."""
    assert combine_labels(["support", "partial"], ["partial", "support"], "vote") == "partial"
    assert combine_labels(["a", "z"], ["z", "a"], "vote") == "z"


def test_the_vote_of_three_judges_becomes_the_label(serve: Serve) -> None:
    """Two of three give 0, 1, 2, 3; about d3 one of them gives nothing, and the lower of two grades counts."""
    server = serve(opinions)
    labelling = panel(server, "plain", "strict", "odd")

    assert grades(labelling) == [0, 1, 2, 2]
    assert labelling.labeller == "vote of plain relevance/1, strict relevance/1, odd relevance/1"
    assert [row["agreed"] for row in labelling.labelled] == [1.0, 0.6667, 0.6667, 0.5]
    assert labelling.judges() == {
        "plain relevance/1": [0, 1, 2, 3],
        "strict relevance/1": [0, 0, 1, 2],
        "odd relevance/1": [0, 1, 2, None],
    }
    assert "different opinions on 2 of 3 results" in "\n".join(labelling.sentences())


def test_judges_are_compared_as_the_definition_of_kappa_has_it(serve: Serve) -> None:
    """0 1 2 3 against 0 0 1 2: one of four equal; chance is (1·2 + 1·1 + 1·1) / 16 = 1/4, so κ is 0.

    With quadratic weights: observed 0 + 1 + 1 + 1 = 3; expected over all 16 pairs is
    Σ(i − j)² / 4 = (0+0+1+4 + 1+1+0+1 + 4+4+1+0 + 9+9+4+1) / 4 = 10, so κ is 1 − 3/10.
    """
    (row,) = panel(serve(opinions), "plain", "strict").compare_judges()

    assert (row["results"], row["same_label"]) == (4, 0.25)
    assert row["kappa"] == pytest.approx(0)
    assert row["quadratic_kappa"] == pytest.approx(0.7)


def test_a_mean_has_fractions_and_is_scored(serve: Serve, tmp_path: Path) -> None:
    """Half grades of two judges are judgments as others."""
    labelling = panel(serve(opinions), "plain", "strict", combine="mean")
    labelling.save(tmp_path / "panel.json")
    loaded = judged.load(tmp_path / "panel.json")

    assert grades(labelling) == [0.0, 0.5, 1.5, 2.5]
    qrels = {"q": {str(row["document"]): row["grade"] for row in labelling.labelled}}
    assert judged.evaluate(qrels, {"q": {"d3": 2.0, "d0": 1.0}}, "nDCG@1")["nDCG@1"] == 1.0
    assert isinstance(loaded, Labelling)
    assert loaded.judges() == labelling.judges()
    assert "Pairs of judges" in repr(loaded)


def test_each_judge_may_have_an_endpoint_and_pays_from_one_budget(serve: Serve, tmp_path: Path) -> None:
    """Two servers; asked again, nothing is sent; a budget for one judge stops before the second is asked."""
    one, two = serve(opinions), serve(opinions)
    where = {"endpoint": [one.address, two.address], "cache": tmp_path / "c"}
    labelling = panel(one, "plain", "strict", **where)
    again = panel(one, "plain", "strict", **where)

    assert {request.body["model"] for request in one.requests} == {"plain"}
    assert {request.body["model"] for request in two.requests} == {"strict"}
    assert (len(one.requests), len(two.requests), again.cached, again.asked) == (4, 4, 8, 0)
    assert again.labelled == labelling.labelled
    poor = panel(serve(opinions), "plain", "strict", prices=(0, 1e6), budget=540)
    assert poor.stopped == "the budget is reached"
    assert {row["failure"] for row in poor.failures} == {"too few judges"}


def test_judges_that_cannot_be_combined_are_refused(serve: Serve) -> None:
    """Before anything is asked."""
    server = serve(opinions)
    mixed = [Labeller("a"), Labeller("b", read_prompt(task="umbrela"))]

    with pytest.raises(BadProtocol, match="two judges are called `plain relevance/1`"):
        panel(server, "plain", "plain")
    with pytest.raises(BadProtocol, match="the judges have different scales"):
        panel(server, model=None, labeller=mixed)
    with pytest.raises(BadProtocol, match="3 endpoints are given for 2 judges"):
        panel(server, "a", "b", endpoint=[Endpoint(server.address)] * 3)
    assert not server.requests


def test_the_command_writes_the_labels_of_each_judge(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Files that `judged agreement` reads."""
    files = ["bm25.run", "--queries", "queries.tsv", "--documents", "docs.jsonl", "--depth", "4"]
    result = invoke(serve(opinions), *files, "-o", "labels.jsonl", "--model", "strict")

    assert result.exit_code == 0, result.stderr
    # `invoke` adds the model `small`
    assert [row["grade"] for row in lines(folder / "labels.jsonl")] == [0, 0, 1, 2]
    assert [row["grade"] for row in lines(folder / "labels.small-relevance-1.jsonl")] == [0, 1, 2, 3]
    strict = folder / "labels.strict-relevance-1.jsonl"
    assert judged.agreement(strict, folder / "labels.small-relevance-1.jsonl").items == 4


def test_a_mean_of_gains_is_refused(serve: Serve, invoke: Invoke, folder: Path) -> None:
    """Gains of traces are whole numbers."""
    result = invoke(serve(opinions), "trace.jsonl", "-o", "labels.jsonl", "--model", "b", "--combine", "mean")

    assert result.exit_code != 0
    assert "gains of traces are whole numbers" in result.stderr
    assert not (folder / "labels.jsonl").exists()
