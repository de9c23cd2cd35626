"""Rules print themselves, have a fingerprint, and refuse what makes no sense."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from judged.agents.dedup.find import Deduplicator
from judged.agents.dedup.rules import Rules, Weights
from judged.errors import BadProtocol, UnknownName

CHANGES: list[dict[str, Any]] = [
    {"unit": "passage"},
    {"unit": "strict"},
    {"threshold": 0.7},
    {"near": 0.8},
    {"url_rules_off": frozenset({"www"})},
    *(
        {"weights": replace(Weights(), **{name: 0.2})}
        for name in ("domain", "generic", "loose_url", "text", "title")
    ),
    {"weights": Weights(url=0.2)},
]


def test_every_change_changes_fingerprint_and_words() -> None:
    """Two results with one fingerprint were made under the same rules, and readers can see it."""
    changed = [Rules(), *(Rules().replace(**change) for change in CHANGES)]

    assert (
        len({rules.fingerprint for rules in changed})
        == len({str(rules) for rules in changed})
        == len(changed)
    )
    assert all(re.fullmatch("[0-9a-f]{12}", rules.fingerprint) for rules in changed)
    assert all("\n" not in str(rules) for rules in changed)


def test_rules_given_in_other_types_are_the_same_rules() -> None:
    """A list of rules that are off and whole numbers make no difference."""
    loose = Rules(weights=Weights(domain=1), threshold=1, url_rules_off=["www", "amp"])  # type: ignore[arg-type]
    exact = Rules(weights=Weights(domain=1.0), threshold=1.0, url_rules_off=frozenset({"amp", "www"}))

    assert loose == exact
    assert loose.fingerprint == exact.fingerprint


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"unit": "page"},
            "`unit` of the rules of deduplication is `page`, expected one of `document`, `passage`, `strict`",
        ),
        (
            {"threshold": 0},
            "`threshold` of the rules of deduplication is 0, expected a number above 0 and at most 1",
        ),
        (
            {"threshold": 1.2},
            "`threshold` of the rules of deduplication is 1.2, expected a number above 0 and at most 1",
        ),
        ({"threshold": 0.3}, "the weight of `title` is 0.3, expected less than the threshold, 0.3"),
        ({"near": 1.0}, "`near` of the rules of deduplication is 1.0, expected a number between 0 and 1"),
    ],
)
def test_rules_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    """With what was got, what was expected, and a hint."""
    with pytest.raises(BadProtocol) as caught:
        Rules(**settings)

    assert caught.value.message == message
    assert caught.value.hint


@pytest.mark.parametrize("weights", [{"url": 1.5}, {"text": -0.1}, {"title": float("nan")}])
def test_weights_that_make_no_sense_are_refused(weights: dict[str, float]) -> None:
    """A weight lies between 0 and 1."""
    with pytest.raises(BadProtocol):
        Weights(**weights)


def test_weaker_evidence_never_counts_for_more() -> None:
    """A lower weight of URLs or texts lowers those of loose URLs and short texts with it."""
    assert Weights(url=0.2).loose_url == 0.2
    assert Weights(text=0.1).short_text == 0.1
    assert Weights(url=0.7, text=0.7) == Weights(url=0.7, loose_url=0.6, text=0.7, short_text=0.3)


def test_rules_that_nothing_can_meet_are_refused() -> None:
    """Where no fields together reach the threshold, nothing would ever be a duplicate."""
    rules = Rules(weights=Weights(0.1, 0.1, 0.1, 0.0, 0.1, 0.1, 0.1), threshold=0.9)

    with pytest.raises(BadProtocol, match="reach the threshold"):
        Deduplicator(rules)


def test_unknown_names_are_reported_with_the_nearest() -> None:
    """A rule for URLs, and a field of the rules."""
    with pytest.raises(UnknownName, match="did you mean `trailing-slash`"):
        Rules(url_rules_off=frozenset({"trailing-slashes"}))
    with pytest.raises(UnknownName, match="did you mean `threshold`"):
        Rules().replace(treshold=0.5)
