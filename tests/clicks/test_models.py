"""Click models: the worked example of the specification, every hidden state by hand, and models recovered from their clicks."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import judged
from judged.clicks.models.cascade import _expect, conditional_probabilities, full_probabilities
from judged.clicks.models.data import Lists
from judged.clicks.models.fit import MODELS
from judged.clicks.models.model import Fitted, parse_model
from judged.errors import BadMeasure, BadSample, JudgedError

SIX = ["a[1]bc", "ab[1]c", "b[1]ac", "b[1]ac[1]", "cab", "ca[1]b"]
PYCLICK = "PBM(prior=(1, 2), rounds=50, anchor=False)"
LIKELIEST = "PBM(prior=None, rounds=100000)"


def read_lists(lists: list[str]) -> list[dict[str, object]]:
    """Rows of lists such as `ab[1]c`, in which b is clicked."""
    return [
        {"query": "q", "impression": number, "document": document, "rank": rank, "click": int(bool(clicked))}
        for number, text in enumerate(lists)
        for rank, (document, clicked) in enumerate(re.findall(r"([a-z])(\[1\])?", text), start=1)
    ]


def attractiveness(model: judged.Result) -> list[float]:
    """Of a, b and c."""
    found = {row["document"]: row["attractiveness"] for row in model.rows("documents")}
    return [found[document] for document in "abc"]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("COEC", [0.8571, 1.5, 0.6]),
        ("SDBN", [0.4286, 0.6667, 0.4]),
        ("SDBN(prior=None)", [0.4, 0.75, 0.3333]),
        (PYCLICK, [0.5365, 0.7203, 0.3947]),
        (LIKELIEST, [0.5, 1, 0.2743]),
    ],
)
def test_attractiveness_of_six_impressions(model: str, expected: list[float]) -> None:
    """PyClick's numbers for its smoothing, and those of maximum likelihood."""
    assert attractiveness(judged.fit_clicks(read_lists(SIX), model, test=0)) == pytest.approx(
        expected, abs=5e-5
    )


@pytest.mark.parametrize(
    ("model", "by_rank", "mean"),
    [
        ("SDBN", [1.7159, 1.7994, 1.6917], 1.7356),
        (PYCLICK, [1.7684, 1.8537, 1.6587], 1.7603),
        (LIKELIEST, [1.4020, 1.8330, 1.7810], 1.6720),
    ],
)
def test_perplexity_of_six_impressions(model: str, by_rank: list[float], mean: float) -> None:
    """By rank, and the mean over ranks, as PyClick computes it."""
    fitted = judged.fit_clicks(read_lists(SIX), model, test=0)

    assert [row["perplexity"] for row in fitted.rows("examination")] == pytest.approx(by_rank, abs=5e-5)
    assert fitted.scores[0].perplexity == pytest.approx(mean, abs=5e-5)


def test_log_likelihood_is_of_whole_impressions() -> None:
    """PyClick divides by the number of results as well: −0.5644 is −1.6933 of three."""
    fitted = judged.fit_clicks(read_lists(SIX), PYCLICK, test=0)

    assert fitted.scores[0].log_likelihood == pytest.approx(-1.6933, abs=5e-5)
    assert fitted.scores[0].log_likelihood / 3 == pytest.approx(-0.5644, abs=5e-5)


def test_a_list_without_clicks_counts_as_read_to_the_end() -> None:
    """Without it b would always have been clicked when examined."""
    without = [text for text in SIX if "[1]" in text]

    assert attractiveness(judged.fit_clicks(read_lists(without), "SDBN(prior=None)", test=0))[1] == 1


def enumerate_reader(
    alpha: np.ndarray, sigma: np.ndarray, gamma: float, clicks: tuple[int, ...]
) -> tuple[float, np.ndarray, np.ndarray, float, float]:
    """The probability of clicks, and what they say of hidden states, over every state of a reader."""
    count, total = len(clicks), 0.0
    hidden, satisfied, onward, chances = np.zeros(count), np.zeros(count), 0.0, 0.0
    for states in itertools.product((0, 1), repeat=3 * count):
        attracted, pleased, going = states[:count], states[count : 2 * count], states[2 * count :]
        weight = float(
            np.prod(np.where(attracted, alpha, 1 - alpha))
            * np.prod(np.where(pleased, sigma, 1 - sigma))
            * np.prod(np.where(going, gamma, 1 - gamma))
        )
        reading, seen, unseen, happy, went, could = True, [], np.zeros(count), np.zeros(count), 0, 0
        for place in range(count):
            clicked = int(reading and attracted[place])
            seen.append(clicked)
            if not reading:
                unseen[place] = attracted[place]
            elif clicked and pleased[place]:
                happy[place], reading = 1, False
            else:
                could += place < count - 1
                went += place < count - 1 and going[place]
                reading = bool(going[place])
        if tuple(seen) == clicks:
            total += weight
            hidden += weight * unseen
            satisfied += weight * happy
            onward, chances = onward + weight * went, chances + weight * could
    return total, hidden / total, satisfied / total, onward / total, chances / total


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_network_expects_what_every_state_of_a_reader_says(count: int) -> None:
    """Hidden attraction, satisfaction, steps and chances, and the probability of the clicks, by brute force."""
    rng = np.random.default_rng(count)
    alpha, sigma, gamma = rng.random(count), rng.random(count), float(rng.random())
    fitted = Fitted(alpha, sigma, continuation=gamma)
    marginal = np.zeros(count)
    for clicks in itertools.product((0, 1), repeat=count):
        places = np.arange(count)[:, None]
        lists = Lists(places, places, np.array(clicks, dtype=bool)[:, None], np.ones(1), count, count)
        probability, hidden, satisfied, onward, chances = enumerate_reader(alpha, sigma, gamma, clicks)
        found = _expect(lists, alpha, sigma, gamma)
        given = conditional_probabilities(fitted, lists)[:, 0]
        marginal += probability * np.array(clicks)

        assert found.hidden[:, 0] == pytest.approx(hidden)
        assert found.satisfied[:, 0] == pytest.approx(satisfied)
        assert (found.onward, found.chances) == pytest.approx((onward, chances))
        assert np.prod(np.where(clicks, given, 1 - given)) == pytest.approx(probability)
        assert full_probabilities(fitted, lists).shape == (count, 1)
    assert full_probabilities(fitted, lists)[:, 0] == pytest.approx(marginal)


def simulate(
    model: str, impressions: int, seed: int = 0
) -> tuple[list[dict[str, object]], np.ndarray, np.ndarray]:
    """Clicks of a model with known parameters, on shuffled lists of eight documents."""
    rng = np.random.default_rng(seed)
    alpha, sigma = rng.uniform(0.1, 0.7, 8), rng.uniform(0.2, 0.8, 8)
    gamma = 0.9
    log = []
    for number in range(impressions):
        order, reading = rng.permutation(8), True
        for rank, document in enumerate(order.tolist(), start=1):
            if model == "PBM":
                click = rng.random() < alpha[document] / rank**0.5
            else:
                click = reading and rng.random() < alpha[document]
                stops = click and rng.random() < (1 if model == "Cascade" else sigma[document])
                reading = reading and not stops and (model != "DBN" or rng.random() < gamma)
            log.append(
                {
                    "impression": number,
                    "query": "q",
                    "document": f"d{document}",
                    "rank": rank,
                    "click": int(click),
                }
            )
    return log, alpha, sigma


@pytest.mark.parametrize("model", ["PBM", "Cascade", "SDBN", "DBN"])
def test_models_are_recovered_from_their_clicks(model: str) -> None:
    """The attractiveness that made 3,000 impressions is found within a tenth, examination within one too."""
    log, alpha, sigma = simulate(model, 3000)
    fitted = judged.fit_clicks(log, model)
    found = {row["document"]: row for row in fitted.rows("documents")}

    assert [found[f"d{at}"]["attractiveness"] for at in range(8)] == pytest.approx(alpha.tolist(), abs=0.07)
    if model == "PBM":
        assert list(fitted.examination.values()) == pytest.approx([r**-0.5 for r in range(1, 9)], abs=0.07)
    if model == "DBN":
        assert [found[f"d{at}"]["satisfaction"] for at in range(8)] == pytest.approx(sigma.tolist(), abs=0.15)
        assert fitted.continuation == pytest.approx(0.9, abs=0.04)
    assert fitted.scores[0].perplexity == min(score.perplexity for score in fitted.scores)


def test_the_test_is_of_other_sessions() -> None:
    """A share of the sessions is held out, and pairs never seen in training are left out and counted."""
    rng = np.random.default_rng(3)
    log = [
        {
            "session": f"s{at % 50}",
            "impression": at,
            "query": "q",
            "rank": rank,
            "document": f"only{at}" if rank == 2 else "d",
            "click": int(rng.random() < 0.3),
        }
        for at in range(200)
        for rank in (1, 2)
    ]
    fitted = judged.fit_clicks(log, "DCTR", test=0.2)
    score = fitted.scores[0]

    assert (score.unseen, score.unseen_rows, score.impressions) == (40, 40, 40)
    assert any(
        "40 pairs of query and document in the test were never seen" in note.message for note in fitted.notes
    )
    assert any("40 impressions of sessions drawn at random" in note.message for note in fitted.notes)


def test_what_is_not_determined_is_said() -> None:
    """Pairs at one rank, and ranks without a document in common."""
    fixed = judged.fit_clicks(read_lists(["a[1]b", "ab", "ab[1]"]), test=0)
    notes = {note.code: note.message for note in fixed.notes}

    assert "2 of 2 pairs were shown at one rank only" in notes["one-rank"]
    assert "2 groups" in notes["separate-ranks"]


@pytest.mark.parametrize(("levels", "expected"), [(2, [0, 1, 0]), (3, [1, 2, 0])])
def test_judgments_by_quantile(levels: int, expected: list[int]) -> None:
    """A grade is the share of pairs with a lower value."""
    model = judged.fit_clicks(read_lists(SIX), "SDBN", test=0)
    made = model.to_judgments(levels=levels, minimum=6)

    assert [row["grade"] for row in made.to_arrow().to_pylist()] == expected
    assert "0 pairs of query and document with fewer than 6 impressions left out, 3 kept" in made.notes[0]


def test_judgments_by_value_and_what_they_leave_out() -> None:
    """Equal steps from 0 to 1; relevance is attractiveness times satisfaction."""
    model = judged.fit_clicks(read_lists([*SIX, "d[1]abc"]), "SDBN", test=0)
    made = model.to_judgments(levels=5, minimum=6, by="value")

    assert "1 pair" in made.notes[0]
    assert {row["document"] for row in made.to_arrow().to_pylist()} == set("abc")
    with pytest.raises(BadSample, match="none of 4 pairs has 100 impressions"):
        model.to_judgments(minimum=100)
    with pytest.raises(BadSample, match="no highest value"):
        judged.fit_clicks(read_lists(SIX), "COEC", test=0).to_judgments(by="value")
    with pytest.raises(BadSample, match="says nothing of documents"):
        judged.fit_clicks(read_lists(SIX), "RCTR", test=0).to_judgments()


def test_every_model_reads_as_it_is_written() -> None:
    """Names and settings come back."""
    for name in MODELS:
        assert str(parse_model(name.lower(), MODELS)) == name
    assert str(parse_model("sdbn(prior=(2, 3))", MODELS)) == "SDBN(prior=(2, 3))"


@pytest.mark.parametrize(
    "text",
    [
        "NOPE",
        "SDBN(prior=(3, 2))",
        "SDBN(prior=5)",
        "PBM(round=3)",
        "PBM(rounds=0)",
        "PBM(3)",
        "PBM(",
        "PBM(rounds=os)",
    ],
)
def test_models_that_are_none_are_refused(text: str) -> None:
    """In words."""
    with pytest.raises(JudgedError):
        judged.fit_clicks(read_lists(SIX), text, test=0)


def test_the_order_of_rows_changes_nothing() -> None:
    """Nor does the name of an impression."""
    log, *_ = simulate("DBN", 60)
    shuffled = [
        {**row, "impression": f"x{row['impression']}"} for row in np.random.default_rng(5).permutation(log)
    ]

    for model in ("PBM", "DBN", "SDBN", "COEC"):
        first, second = (judged.fit_clicks(rows, model, test=0).rows("documents") for rows in (log, shuffled))
        key = lambda row: row["document"]  # noqa: E731
        for one, other in zip(sorted(first, key=key), sorted(second, key=key), strict=True):
            assert one["attractiveness"] == pytest.approx(other["attractiveness"], rel=1e-9)


def test_a_log_of_one_session_cannot_be_split() -> None:
    """And the message says what to do."""
    with pytest.raises(BadSample, match="cannot be split"):
        judged.fit_clicks([{**row, "session": "s"} for row in read_lists(SIX)])
    with pytest.raises(BadMeasure, match="need ranks"):
        judged.fit_clicks([{"query": "q", "impression": 1, "document": "a", "click": 1}])
