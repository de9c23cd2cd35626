"""The protocol: stated, named, hashed, refused when it makes no sense."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from judged import Protocol
from judged.errors import BadProtocol, UnknownName
from judged.protocol import PROTOCOLS


def test_the_default_is_trec_eval_9() -> None:
    """Bare `Protocol()` is the profile `trec_eval-9`, and says so."""
    assert Protocol() == PROTOCOLS["trec_eval-9"]
    assert Protocol().profile == "trec_eval-9"


def test_profiles_differ_where_their_tools_do() -> None:
    """trec_eval 10 compares scores in double precision and rounds recall points."""
    nine, ten = PROTOCOLS["trec_eval-9"].to_dict(), PROTOCOLS["trec_eval-10"].to_dict()

    assert {name for name in nine if nine[name] != ten[name]} == {"precision", "recall_points"}


def test_every_convention_changes_the_fingerprint() -> None:
    """No two protocols that differ in one convention share a fingerprint; equal ones do."""
    changes = [
        {"ties": "document-ascending"}, {"ties": "input-order"}, {"precision": "float64"}, {"missing": "skip"},
        {"missing": "error"}, {"unjudged": "removed"}, {"rel": 2}, {"depth": 10}, {"recall_points": "rounded"},
        {"order": "input"}, {"unjudged_queries": "zero"}, {"no_relevant": "skip"}, {"negative": "nonrelevant"}, {"self_matches": "removed"},
        {"ties": "expected"}, {"ties": "pessimistic"}, {"ties": "optimistic"}, {"no_relevant": "one"},
    ]  # fmt: skip
    marks = {Protocol(**change).fingerprint for change in changes} | {Protocol().fingerprint}

    assert len(marks) == len(changes) + 1
    assert Protocol(rel=1).fingerprint == Protocol(rel=1.0).fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ties": "random"}, "`ties` of a protocol is `random`, expected one of `document-descending`"),
        ({"precision": "float16"}, "`precision` of a protocol is `float16`"),
        ({"rel": -1}, "`rel` of a protocol is -1, expected a number from 0"),
        ({"rel": float("nan")}, "`rel` of a protocol is nan"),
        ({"depth": 0}, "`depth` of a protocol is 0, expected a whole number from 1 to 1,000,000,000"),
    ],
)
def test_nonsense_is_refused_in_words(change: dict[str, object], message: str) -> None:
    """What was given, and what was expected."""
    with pytest.raises(BadProtocol) as caught:
        Protocol(**change)  # type: ignore[arg-type]

    assert message in str(caught.value)


def test_a_protocol_is_a_value() -> None:
    """It cannot be changed, only copied with changes; an unknown convention is named."""
    protocol = Protocol()

    assert protocol.replace(depth=10) == Protocol(depth=10)
    assert protocol == Protocol()
    with pytest.raises(FrozenInstanceError):
        protocol.rel = 2  # type: ignore[misc]
    with pytest.raises(UnknownName, match="did you mean `depth`"):
        protocol.replace(dept=10)


def test_it_prints_every_convention() -> None:
    """The line that stands under every table."""
    assert str(Protocol(rel=2, depth=10)).startswith(
        "custom protocol (ties by document id descending, float32 scores, missing queries score 0, "
        "unjudged not relevant, relevant from grade 2, depth 10, recall points truncated) #"
    )


def test_the_fingerprint_is_stable() -> None:
    """The fingerprint of trec_eval 9, as it is printed and stored."""
    assert Protocol().fingerprint == "ef9d040441c7"


def test_every_convention_says_what_it_is_about() -> None:
    """Help for the command line, words for the protocol's line, and alternatives among its options."""
    for convention in Protocol.conventions().values():
        assert convention.help.endswith(".")
        assert all(isinstance(convention.phrase(value), str) for value in convention.options)
        assert set(convention.alternatives) <= set(convention.options) or not convention.options


def test_it_prints_a_later_convention_where_it_departs() -> None:
    """Only what is not as usual is added to the line."""
    printed = str(
        Protocol(
            order="input",
            unjudged_queries="zero",
            no_relevant="skip",
            negative="nonrelevant",
            self_matches="removed",
        )
    )

    assert (
        ", ranks as in the input, unjudged queries score 0, queries without a relevant document skipped, "
        "negative grades not relevant, documents with their query's id removed) #"
    ) in printed
