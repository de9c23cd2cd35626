"""The ten pairs of results that say what the rules mean, and the three results that no closure may join."""

from __future__ import annotations

import pytest

from judged.agents.dedup.find import explain_duplicates, find_duplicates
from judged.agents.dedup.keys import make_keys
from judged.agents.dedup.match import Fields, compare
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit

WEB, FILES = "web_search", "file_search"
PARIS = "Paris is the capital and largest city of France, on the Seine."
PAIRS = {
    "P1 same url and title, other snippet": (
        (Hit(url="https://e.org/paris", title="Paris", snippet=PARIS), WEB),
        (
            Hit(url="https://e.org/paris", title="Paris", snippet="The Eiffel Tower was built in 1889."),
            WEB,
        ),
    ),
    "P2 same file id, other chunk": (
        (Hit(id="file-7", title="paris.pdf", snippet=PARIS), FILES),
        (Hit(id="file-7", title="paris.pdf", snippet="The Eiffel Tower was built in 1889."), FILES),
    ),
    "P3 different generic ids, identical title and text": (
        (Hit(id="1", title="Paris", snippet=PARIS), FILES),
        (Hit(id="2", title="Paris", snippet=PARIS), FILES),
    ),
    "P4 same number in two indexes": (
        (Hit(id="1", title="Paris", snippet=PARIS), "wiki"),
        (Hit(id="1", title="Lyon", snippet="Lyon lies where the Saône meets the Rhône."), "news"),
    ),
    "P5 same DOI, other url": (
        (Hit(domain="doi", domain_id="10.1/x", url="https://a.org/x", title="Gain"), WEB),
        (Hit(domain="doi", domain_id="10.1/x", url="https://b.org/x.pdf", title="Gain"), WEB),
    ),
    "P6 different DOI, same title and text": (
        (Hit(domain="doi", domain_id="10.1/x", title="Paris", snippet=PARIS), WEB),
        (Hit(domain="doi", domain_id="10.1/y", title="Paris", snippet=PARIS), WEB),
    ),
    "P7 title only": ((Hit(title="Paris"), WEB), (Hit(title="Paris"), WEB)),
    "P8 truncated snippet, no url": (
        (Hit(title="Paris", snippet=PARIS), WEB),
        (Hit(title="Paris", snippet="Paris is the capital and largest ci..."), WEB),
    ),
    "P9 url only, and url with title and text": (
        (Hit(url="https://e.org/paris"), WEB),
        (Hit(url="https://e.org/paris", title="Paris", snippet=PARIS), WEB),
    ),
    "P10 domain id and generic id": (
        (Hit(domain="doi", domain_id="7", title="Paris"), WEB),
        (Hit(id="7", title="Paris"), WEB),
    ),
}
# The patterns and verdicts are those of the anchors' table (agentic.md 4.2): domain, generic, url, title, text; then the
# confidence where they are the same, else the field that vetoes or the confidence that is not enough. The last column
# is the letter of 001: every field that differs vetoes.
GOLDEN = [
    ("P1", "??==!", 0.9, "text", "text"),
    ("P2", "?=?=!", 0.9, "text", "text"),
    ("P3", "?!?==", 0.9, 0.9, "generic"),
    ("P4", "???!!", "title", "text", "text"),
    ("P5", "=?!=?", 1.0, 1.0, "url"),
    ("P6", "!??==", "domain", "domain", "domain"),
    ("P7", "???=?", "0.3", "0.3", "0.3"),
    ("P8", "???=s", 0.6, 0.6, 0.6),
    ("P9", "??=??", 0.6, 0.6, 0.6),
    ("P10", "???=?", "0.3", "0.3", "0.3"),
]
# P3 has an informative text, which weighs 0.6 since. That of P8 has 7 words and 35 characters: `s`, a short text, 0.3.
SIGNS = {True: "=", False: "!", None: "?"}


def test_every_pair_is_in_the_table() -> None:
    """None of the ten is forgotten."""
    assert [name.split()[0] for name in PAIRS] == [name for name, *_ in GOLDEN]


@pytest.mark.parametrize(("name", "pattern"), [row[:2] for row in GOLDEN])
def test_fields_agree_differ_or_cannot_be_compared(name: str, pattern: str) -> None:
    """Each pair has the pattern of the table."""
    one, other = next(pair for key, pair in PAIRS.items() if key.split()[0] == name)
    fields = compare(make_keys(*one, Rules()), make_keys(*other, Rules()))

    shown = [
        SIGNS[getattr(fields, field)] for field in Fields._fields if field not in {"loose_url", "short_text"}
    ]

    assert "".join([*shown[:-1], "s" if fields.short_text else shown[-1]]) == pattern


@pytest.mark.parametrize("name", [row[0] for row in GOLDEN])
@pytest.mark.parametrize(("unit", "column"), [("document", 2), ("passage", 3), ("strict", 4)])
def test_pairs_are_the_same_or_not_as_the_table_says(name: str, unit: str, column: int) -> None:
    """Under each unit a pair is one cluster with the stated confidence, or two for the stated reason, both ways round."""
    pair = next(pair for key, pair in PAIRS.items() if key.split()[0] == name)
    verdict = next(row for row in GOLDEN if row[0] == name)[column]
    rules = Rules(unit=unit)  # type: ignore[arg-type]
    _, decision = explain_duplicates(pair, rules)
    sure = decision.candidates[0].confidence if decision.candidates else None
    against = [field for item in decision.candidates for field, _ in item.vetoes]

    for ordered in (pair, pair[::-1]):
        assert find_duplicates(ordered, rules).of.tolist() == (
            [0, 0] if isinstance(verdict, float) else [0, 1]
        )
    assert decision.new is not isinstance(verdict, float)
    if isinstance(verdict, float):
        assert sure == verdict
    elif against:
        assert verdict in against
    else:
        assert verdict in {"0.3", "title", "text"}  # never found by the title alone, nor where nothing agrees


def test_what_is_the_same_by_turns_is_not_joined_over_a_veto() -> None:
    """A and B share a URL, B and C an id; A's title vetoes C, so that one of three is a duplicate (E8)."""
    a = Hit(url="https://e.org/u1", title="T1")
    b = Hit(url="https://e.org/u1", id="x")
    c = Hit(id="x", title="T2")
    clusters = find_duplicates([(a, "t"), (b, "t"), (c, "t")])

    assert clusters.of.tolist() == [0, 0, 1]
    assert (~clusters.first).mean() == pytest.approx(1 / 3)


def test_the_surest_of_several_clusters_is_taken() -> None:
    """By its URL alone a result is as the first one (.6), by URL and title as the second (.9)."""
    first = Hit(url="https://e.org/u", id="1", snippet="one thing")
    second = Hit(url="https://e.org/u", id="2", title="T", snippet="and another")
    third = Hit(url="https://e.org/u", title="T")

    assert find_duplicates([(first, "t"), (second, "t"), (third, "t")]).of.tolist() == [0, 1, 1]


def test_the_oldest_of_equally_sure_clusters_is_taken() -> None:
    """Two ids keep two results at one URL apart; a third without an id is as sure of both."""
    found = [
        Hit(url="https://e.org/u", id="1"),
        Hit(url="https://e.org/u", id="2"),
        Hit(url="https://e.org/u"),
    ]

    assert find_duplicates([(item, "t") for item in found]).of.tolist() == [0, 1, 0]


def test_another_id_is_excused_by_title_and_text_against_every_member() -> None:
    """The second text continues the first; the third does too, but not the second, whose other id vetoes it."""
    begun = "Paris is the capital and the largest city"
    texts = [begun, f"{begun} of France", f"{begun} on the Seine", f"{begun} of France today"]
    found = [(Hit(id=str(i), title="Paris", snippet=text), FILES) for i, text in enumerate(texts)]

    assert find_duplicates(found).of.tolist() == [0, 0, 1, 0]
