"""What a result is known by."""

from __future__ import annotations

import pytest

from judged.agents.dedup.keys import make_keys
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit
from judged.errors import BadInput


def test_a_result_has_the_keys_of_what_it_has() -> None:
    """The id within its tool, the strict URL, the words of title and text."""
    result = Hit(id=" 7 ", url="http://example.com:80/a", title="A Page!", snippet="Its text…")
    keys = make_keys(result, "search", Rules())

    assert (keys.space, keys.id, keys.url) == ("tool:search", "7", "https://example.com/a")
    assert (keys.title, keys.prefix, keys.text) == ("a page", "its text", "its text\n")


def test_a_generic_id_means_something_within_its_tool_only() -> None:
    """The same id of another tool, or of a domain that is called so, lies in another space."""
    spaces = [
        make_keys(Hit(id="7"), "doi", Rules()).space,
        make_keys(Hit(id="7"), "web", Rules()).space,
        make_keys(Hit(id="7"), None, Rules()).space,
        make_keys(Hit(domain="doi", domain_id="7"), "doi", Rules()).space,
    ]

    assert len(set(spaces)) == 4


@pytest.mark.parametrize(
    "spelling", ["10.1145/ABC", "10.1145/abc", "doi:10.1145/abc", "https://doi.org/10.1145/aBc"]
)
def test_a_doi_is_the_same_however_it_is_written(spelling: str) -> None:
    """DOIs are compared without regard to case, with or without what makes a link of them."""
    keys = make_keys(Hit(domain="DOI", domain_id=spelling), None, Rules())

    assert (keys.space, keys.id) == ("domain:doi", "10.1145/abc")


def test_other_ids_of_domains_keep_their_case() -> None:
    """What a mail server or a video site says is taken literally."""
    assert make_keys(Hit(domain="youtube", domain_id="dQw4"), None, Rules()).id == "dQw4"


@pytest.mark.parametrize("result", [Hit(), Hit(url=" ", title="…", snippet="  ", id=" "), Hit(domain="doi")])
def test_a_result_without_any_key_has_none(result: Hit) -> None:
    """Blanks and marks are nothing to be known by."""
    keys = make_keys(result, "search", Rules())

    assert not keys
    assert keys.text is None


def test_both_kinds_of_id_are_an_error() -> None:
    """It is not guessed which of them counts."""
    with pytest.raises(BadInput) as caught:
        make_keys(Hit(id="1", domain="doi", domain_id="10.1/x"), "search", Rules())

    assert "both an id (`1`) and a domain id (`10.1/x`), expected one of them" in str(caught.value)
    assert "tool `search`" in str(caught.value)
    assert caught.value.hint
