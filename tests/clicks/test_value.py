"""The value of another ranking: the worked example, obp on real logs, and rankings whose value is known."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import judged
from judged.errors import BadMeasure, BadSample, JudgedError

GOLDEN = Path(__file__).parents[1] / "golden" / "clicks"
ROUNDS = [("x", "a", 1, 0.5), ("x", "b", 0, 0.5), ("y", "a", 0, 0.8), ("y", "b", 1, 0.2)]
LOG = [
    {"impression": number, "query": query, "document": document, "click": click, "propensity": propensity}
    for number, (query, document, click, propensity) in enumerate(ROUNDS)
]
NEW = [
    {"query": query, "document": document, "probability": probability}
    for query, document, probability in [("x", "a", 0.9), ("x", "b", 0.1), ("y", "a", 0.2), ("y", "b", 0.8)]
]
REWARDS = [
    {"query": query, "document": document, "reward": reward}
    for query, document, reward in [("x", "a", 0.6), ("x", "b", 0.3), ("y", "a", 0.4), ("y", "b", 0.5)]
]
EVERY = ["IPS", "SNIPS", "DM", "DR"]


def test_four_rounds() -> None:
    """Obp 0.5.7 has the same, with weights 1.8, 0.2, 0.25 and 4."""
    report = judged.estimate_value(LOG, NEW, EVERY, rewards=REWARDS)  # type: ignore[arg-type]

    assert [round(row.value, 3) for row in report.estimates] == [1.45, 0.928, 0.525, 1.165]
    assert (round(report.effective, 2), report.largest, report.clipped) == (2.02, 4, 0)
    assert "no verdict, on 2.0 effective samples" in repr(report)
    assert any(note.code == "few-effective" and note.severity == "warning" for note in report.notes)


def test_clipping_is_counted() -> None:
    """One of four weights is above 2."""
    report = judged.estimate_value(LOG, NEW, "IPS", clip=2)

    assert report["IPS"].value == pytest.approx((1.8 + 2) / 4)
    assert (report.largest, report.clipped) == (2, 0.25)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("IPS", 0.005656266700835461),
        ("SNIPS", 0.005739864701951365),
        ("DM", 0.0025300751202807646),
        ("DR", 0.005687758008092719),
    ],
)
def test_open_bandit(method: str, expected: float) -> None:
    """Obp 0.5.7 on the same files; the policy's own rate of clicks, 0.0069, is in the interval of all but DM."""
    report = judged.estimate_value(
        GOLDEN / "open-bandit-random-men.csv.gz",
        GOLDEN / "open-bandit-bts-shares.csv",
        method,  # type: ignore[arg-type]
        rewards=GOLDEN / "open-bandit-rewards.csv",
    )
    row = report[method]

    assert row.value == pytest.approx(expected, rel=1e-12)
    assert row.low is not None
    assert row.high is not None
    assert method == "DM" or row.low <= 0.0069 <= row.high


def test_open_bandit_clipped() -> None:
    """Obp's `lambda_=2`."""
    report = judged.estimate_value(
        GOLDEN / "open-bandit-random-men.csv.gz", GOLDEN / "open-bandit-bts-shares.csv", "IPS", clip=2
    )

    assert report["IPS"].value == pytest.approx(0.0034937928072458833, rel=1e-12)
    assert report.clipped > 0.1


def show(
    rng: np.random.Generator, impressions: int, alpha: np.ndarray, gamma: np.ndarray
) -> list[dict[str, object]]:
    """Clicks on shuffled lists, by the position-based model."""
    return [
        {
            "impression": number,
            "user": number % 300,
            "query": "q",
            "document": f"d{document}",
            "rank": rank + 1,
            "click": int(rng.random() < alpha[document] * gamma[rank]),
        }
        for number in range(impressions)
        for rank, document in enumerate(rng.permutation(len(alpha))[: len(gamma)].tolist())
    ]


@pytest.mark.parametrize("method", EVERY)
def test_the_value_of_a_ranking_is_found(method: str) -> None:
    """Clicks of shuffled lists tell what the best order would get: the true value is in the interval."""
    rng = np.random.default_rng(4)
    alpha, gamma = np.array([0.1, 0.2, 0.5, 0.3, 0.6]), np.array([1.0, 0.7, 0.5, 0.4, 0.3])
    log = show(rng, 3000, alpha, gamma)
    best = np.argsort(-alpha)
    truth = float((alpha[best] * gamma).sum())
    report = judged.estimate_value(log, {"q": [f"d{at}" for at in best]}, method)  # type: ignore[arg-type]
    row = report[method]

    assert report.coverage == pytest.approx(1)
    assert row.value == pytest.approx(truth, rel=0.06)
    assert method == "DM" or (row.low or 0) - 0.03 <= truth <= (row.high or 0) + 0.03
    assert row.p is not None
    assert row.p < 0.001
    assert "more clicks per impression than the log" in repr(report)


def test_documents_that_an_impression_does_not_show() -> None:
    """IPS counts nothing for them and has no verdict; SNIPS, DM and DR find the value all the same."""
    rng = np.random.default_rng(4)
    alpha, gamma = np.array([0.1, 0.2, 0.5, 0.3, 0.6]), np.array([1.0, 0.7, 0.5])
    log = show(rng, 4000, alpha, gamma)
    best = np.argsort(-alpha)
    truth = float((alpha[best][:3] * gamma).sum())
    report = judged.estimate_value(log, {"q": [f"d{at}" for at in best]}, EVERY)  # type: ignore[arg-type]

    assert report.coverage == pytest.approx(3 / 5, abs=0.02)
    assert report["IPS"].value == pytest.approx(truth * 3 / 5, rel=0.06)
    assert "IPS: no verdict, the log shows 60 % of the new ranking" in repr(report)
    for method in EVERY[1:]:
        assert report[method].value == pytest.approx(truth, rel=0.06)


def test_the_item_position_form_by_hand() -> None:
    """Clicks times the examination of the new rank over that of the old, over the documents shown."""
    log = [
        {"impression": number, "query": "q", "document": document, "rank": rank, "click": click}
        for number, shown in enumerate([[("a", 1), ("b", 0)], [("b", 1), ("a", 1)], [("c", 0), ("b", 1)]])
        for rank, (document, click) in enumerate(shown, start=1)
    ]
    report = judged.estimate_value(log, {"q": ["b", "a"]}, "IPS", examination={1: 1.0, 2: 0.5})

    # a moves from 1 to 2 and stays at 2; b moves from 2 to 1, stays at 1, moves from 2 to 1; c is not in the run
    assert report["IPS"].value == pytest.approx((0.5 + 1 + 1 + 2) / 3)
    assert report.largest == 2
    assert report.effective == pytest.approx((0.5 + 2 + 1 + 1 + 2) ** 2 / (0.25 + 4 + 1 + 1 + 4))


def test_the_logged_ranking_has_the_logged_value() -> None:
    """Weights are 1, and IPS is the mean of the log: there is no difference."""
    log = [
        {"impression": number, "query": "q", "document": document, "rank": rank, "click": (number + rank) % 2}
        for number in range(30)
        for rank, document in enumerate("abc", start=1)
    ]
    report = judged.estimate_value(log, {"q": ["a", "b", "c"]}, "IPS", examination={1: 1.0, 2: 0.6, 3: 0.4})

    assert report["IPS"].value == pytest.approx(report.logged.value)
    assert (report.effective, report.largest) == pytest.approx((90, 1))


def test_a_log_that_tells_nothing_apart_has_no_verdict() -> None:
    """Where every document keeps its rank, examination and attractiveness cannot be separated."""
    log = [
        {
            "impression": number,
            "query": "q",
            "document": document,
            "rank": rank,
            "click": int(number % (rank + 1) == 0),
        }
        for number in range(60)
        for rank, document in enumerate("abc", start=1)
    ]

    assert "no verdict, the log does not" in repr(judged.estimate_value(log, {"q": ["c", "b", "a"]}, "IPS"))


def test_what_was_never_shown_is_said() -> None:
    """Half of what the new ranking shows was never shown."""
    report = judged.estimate_value(LOG, [*NEW, {"query": "x", "document": "new", "probability": 0.5}], "IPS")

    messages = [note.message for note in report.notes]
    assert any("the log never shows" in message for message in messages)
    assert any("do not add up to 1" in message for message in messages)


def test_ips_is_right_on_average() -> None:
    """Over every outcome of two rounds under the logging policy, IPS and DR have the mean of the new one."""
    logged, new, rate = {"a": 0.3, "b": 0.7}, {"a": 0.6, "b": 0.4}, {"a": 0.8, "b": 0.1}
    table = [{"query": "q", "document": document, "probability": share} for document, share in new.items()]
    rewards = [{"query": "q", "document": document, "reward": 0.4} for document in "ab"]
    total = {"IPS": 0.0, "DR": 0.0}
    for outcome in itertools.product("ab", (0, 1), "ab", (0, 1)):
        rounds = [outcome[:2], outcome[2:]]
        chance = float(
            np.prod([logged[d] * (rate[d] if c else 1 - rate[d]) for d, c in rounds])  # type: ignore[index]
        )
        log = [
            {"impression": at, "query": "q", "document": d, "click": c, "propensity": logged[d]}  # type: ignore[index]
            for at, (d, c) in enumerate(rounds)
        ]
        report = judged.estimate_value(log, table, ["IPS", "DR"], rewards=rewards)
        for method in total:
            total[method] += chance * report[method].value

    truth = sum(new[document] * rate[document] for document in "ab")
    assert total == pytest.approx({"IPS": truth, "DR": truth})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "XYZ"}, "XYZ"),
        ({"clip": 0}, "`clip` is 0"),
        ({"new": [{"query": "x", "document": "a", "probability": 1.5}]}, "a probability is 1.5"),
        ({"new": [{"query": "x", "document": "a", "probability": 0.5}] * 2}, "several rows"),
        ({"new": {"other": ["z"]}}, "ranks"),
        ({"rewards": [{"query": "x", "document": "a", "reward": 0.5}]}, "have no reward"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], message: str) -> None:
    """In words."""
    with pytest.raises(JudgedError) as caught:
        judged.estimate_value(**{"clicks": LOG, "new": NEW, **change})  # type: ignore[arg-type]

    assert message in str(caught.value)


def test_probabilities_need_propensities() -> None:
    """And a run does not."""
    log = [{**row, "propensity": None} for row in LOG]
    without = [{key: value for key, value in row.items() if key != "propensity"} for row in log]

    with pytest.raises(BadMeasure, match="needs the propensity of every row"):
        judged.estimate_value(without, NEW)
    with pytest.raises(BadSample, match="ranks nothing that the log shows"):
        judged.estimate_value([{**row, "rank": 1} for row in without], {"z": ["y"]})
