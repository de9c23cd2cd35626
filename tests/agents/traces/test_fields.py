"""Fields of a result: the many names they go by, and the kinds of ids."""

from __future__ import annotations

from typing import Any

import pytest

from judged.agents.tables import Hit
from judged.agents.traces.results.fields import ALIASES, parse_result


@pytest.mark.parametrize(
    ("field", "name"), [(field, name) for field in ("id", "title", "snippet") for name in ALIASES[field]]
)
def test_a_text_is_taken_by_each_of_its_names(field: str, name: str) -> None:
    """In the result itself, or in its metadata."""
    assert parse_result({name: "x"}) == Hit(**{field: "x"})
    assert parse_result({"metadata": {name: "x"}}) == Hit(**{field: "x"})


@pytest.mark.parametrize("name", ALIASES["url"])
def test_a_url_is_taken_by_each_of_its_names(name: str) -> None:
    """Beside an id, which stays."""
    assert parse_result({"id": 1, name: "https://a.org"}) == Hit(id="1", url="https://a.org")


def test_a_source_that_is_no_url_is_none() -> None:
    """It may be the name of a newspaper, or an object."""
    assert parse_result({"title": "T", "source": "Reuters"}) == Hit(title="T")
    assert parse_result({"title": "T", "source": {"name": "Reuters"}}) == Hit(title="T")


def test_the_first_of_several_names_wins_and_the_result_before_its_metadata() -> None:
    """Whatever their order in the object."""
    value = {"content": "second", "snippet": "first", "metadata": {"title": "T", "snippet": "third"}}

    assert parse_result(value) == Hit(title="T", snippet="first")


@pytest.mark.parametrize(
    ("value", "domain", "identity"),
    [
        ({"id": "DOI: 10.1/x"}, "doi", "10.1/x"),
        ({"docid": "arxiv:2503.09516"}, "arxiv", "2503.09516"),
        ({"id": "pmid:1"}, "pmid", "1"),
        ({"id": "isbn:978-3"}, "isbn", "978-3"),
        ({"domain": "mail", "domain_id": 3}, "mail", "3"),
        ({"domain_id": "doi:10.1/x"}, "doi", "10.1/x"),
        ({"id": "W1", "doi": "https://doi.org/10.1/x"}, "doi", "10.1/x"),
        ({"title": "T", "arxiv_id": "2503.09516"}, "arxiv", "2503.09516"),
    ],
)
def test_ids_of_domains_are_known_by_prefix_or_field(value: Any, domain: str, identity: str) -> None:
    """They replace the generic id."""
    result = parse_result(value)

    assert isinstance(result, Hit)
    assert (result.domain, result.domain_id, result.id) == (domain, identity, None)


def test_a_domain_of_the_web_is_no_domain_of_ids() -> None:
    """Search engines say `domain` for the site."""
    assert parse_result({"url": "https://a.org", "domain": "a.org"}) == Hit(url="https://a.org")


def test_metadata_may_be_json_in_a_text() -> None:
    """As OpenInference writes it."""
    assert parse_result({"content": "x", "metadata": '{"url": "https://a.org", "score": 0.5}'}) == Hit(
        url="https://a.org", snippet="x", score=0.5
    )


def test_a_score_in_words_is_none_where_tools_give_it() -> None:
    """What others put there is not for the user to mend."""
    assert parse_result({"id": "1", "relevance": "high"}) == Hit(id="1")
    assert parse_result({"id": "1", "similarity": "0.5"}) == Hit(id="1", score=0.5)
