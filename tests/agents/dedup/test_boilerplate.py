"""Boilerplate matches nothing, informative texts suffice, and no rule for URLs overrules content."""

from __future__ import annotations

import pytest

from judged.agents.dedup.find import Deduplicator, find_duplicates
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit

WALL = "We value your privacy and use cookies to store or access information on your device."
ARTICLE = " ".join(f"word{number}" for number in range(40))


def place(*results: Hit, rules: Rules | None = None) -> list[int]:
    """The group of each result of one tool."""
    placed: list[int] = find_duplicates([(result, "web") for result in results], rules).of.tolist()
    return placed


def on_hosts(title: str | None, text: str, count: int = 4) -> list[Hit]:
    """One title and text on several hosts."""
    return [Hit(url=f"https://h{i}.example/", title=title, snippet=text) for i in range(count)]


@pytest.mark.parametrize(
    "title", ["Just a moment...", "Access denied", "Log in", "Attention Required! | Cloudflare"]
)
@pytest.mark.parametrize("text", ["Just a moment...", WALL])
def test_pages_that_are_shown_instead_of_others_are_never_the_same(title: str, text: str) -> None:
    """Four hosts are four results, from the first on."""
    assert place(*on_hosts(title, text)) == [0, 1, 2, 3]


def test_a_short_text_on_three_hosts_is_boilerplate_from_the_third_on() -> None:
    """The second host's copy could be an article that two hosts publish; a third makes it a cookie wall."""
    assert place(*on_hosts("Recipes", WALL)) == [0, 0, 1, 2]


def test_a_long_text_under_one_title_is_an_article_that_several_hosts_publish() -> None:
    """Thirty words or more; under different titles it is boilerplate on the third host."""
    retitled = [
        Hit(url=hit.url, title=None if i == 1 else "Another", snippet=ARTICLE)
        for i, hit in enumerate(on_hosts("", ARTICLE, 3))
    ]

    assert place(*on_hosts("News", ARTICLE)) == [0, 0, 0, 0]
    assert place(*retitled)[2] == 1


def test_one_host_may_repeat_a_text() -> None:
    """`www.` makes no other host."""
    pages = [Hit(url=f"https://{'www.' * (i % 2)}e.org/{i}", title="T", snippet=WALL) for i in range(6)]

    assert place(*pages) == [0] * 6


def test_a_result_that_is_only_looked_up_is_not_counted() -> None:
    """`match` places nothing, and remembers no host."""
    seen = Deduplicator()
    for hit in on_hosts("Recipes", WALL, 2):
        seen.place(hit, "web")
    for hit in on_hosts("Recipes", WALL, 4)[2:]:
        assert seen.match(hit, "web") is None

    assert seen.place(Hit(url="https://h1.example/other", title="Recipes", snippet=WALL), "web") == 0


def test_one_passage_in_five_iterations_is_one_result() -> None:
    """An equal informative text suffices, without id, URL or title, and with other URLs."""
    assert place(*[Hit(snippet=WALL)] * 5) == [0] * 5
    assert place(Hit(snippet=WALL), Hit(snippet=WALL.upper()), Hit(url="https://e.org/", snippet=WALL)) == [
        0,
        0,
        0,
    ]
    assert place(Hit(snippet="Not found."), Hit(snippet="Not found.")) == [0, 1]


@pytest.mark.parametrize(
    ("words", "same"),
    [("a b c d e f g h", True), ("a b c d e f g", False), ("x" * 40, True), ("x" * 39, False)],
)
def test_eight_words_or_forty_characters_are_informative(words: str, same: bool) -> None:
    """Fewer are evidence only with a title."""
    assert place(Hit(snippet=words), Hit(snippet=words)) == [0, int(not same)]
    assert place(Hit(title="T", snippet=words), Hit(title="T", snippet=words)) == [0, 0]


def test_a_text_that_repeats_the_title_adds_nothing_to_it() -> None:
    """One piece of evidence, given twice."""
    assert place(Hit(title="Home", snippet="Home"), Hit(title="Home", snippet="home.")) == [0, 1]


def test_signs_make_other_words() -> None:
    """C, C++ and C# are three results."""
    texts = [
        f"{name} is a general-purpose language with static types and a large library."
        for name in ("C", "C++", "C#")
    ]

    assert place(*(Hit(snippet=text) for text in texts)) == [0, 1, 2]


def test_parameters_that_are_content_keep_results_apart() -> None:
    """Three agendas of one page are three results; one agenda under three sessions is one."""
    agendas = [
        Hit(
            url=f"https://e.org/agenda?session_id={101 + i}",
            title=f"Agenda {i}",
            snippet=f"{topic} and what they cost the town in the year that comes",
        )
        for i, topic in enumerate(["Schools", "Roads", "Parks"])
    ]
    visits = [
        Hit(url=f"https://e.org/agenda?session_id={i}", title="Agenda", snippet=f"Part {i}") for i in range(3)
    ]

    assert place(*agendas) == [0, 1, 2]
    assert place(*visits) == [0, 0, 0]
    assert place(*(Hit(url=hit.url) for hit in agendas)) == [0, 1, 2]


def test_one_url_with_another_title_and_another_text_is_another_result() -> None:
    """The shell of an application shows many pages at one URL; a title or a text alone may be edited."""
    shown = [
        Hit(url="https://e.org/", title=f"T{i}", snippet=f"The text number {i} of this one page")
        for i in range(3)
    ]

    assert place(*shown) == [0, 1, 2]
    assert place(*(Hit(url=hit.url, title="T", snippet=hit.snippet) for hit in shown)) == [0, 0, 0]
    assert place(*(Hit(url=hit.url, title=hit.title) for hit in shown)) == [0, 0, 0]


def test_forms_of_a_page_are_one_where_content_does_not_contradict() -> None:
    """With equal titles, or without titles and with texts that do not differ."""
    full, mobile = "https://www.e.org/a/", "https://m.e.org/a"

    assert place(Hit(url=full, title="T", snippet=WALL), Hit(url=mobile, title="T", snippet=ARTICLE)) == [
        0,
        0,
    ]
    assert place(Hit(url=full), Hit(url=mobile)) == [0, 0]
    assert place(Hit(url=full, snippet=WALL), Hit(url=mobile, snippet=ARTICLE)) == [0, 1]
    assert place(Hit(url=full, title="T"), Hit(url=mobile, title="S")) == [0, 1]
    assert place(Hit(url=full, title="T"), Hit(url=mobile)) == [0, 1]


def test_redirects_of_gemini_are_compared_by_title_and_text() -> None:
    """Each answer has its own; without title and text, equal ones are still equal."""
    start = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
    rules = Rules(unit="strict")

    assert place(
        Hit(url=f"{start}a", title="e.org", snippet=WALL),
        Hit(url=f"{start}b", title="e.org", snippet=WALL),
        rules=rules,
    ) == [0, 0]
    assert place(Hit(url=f"{start}a", title="e.org"), Hit(url=f"{start}b", title="e.org")) == [0, 1]
    assert place(Hit(url=f"{start}a"), Hit(url=f"{start}a")) == [0, 0]


def test_all_pages_of_an_arxiv_paper_are_one() -> None:
    """An id from a URL replaces a generic id, and equals a given one without its version."""
    paper = [
        Hit(
            url="https://arxiv.org/abs/1706.03762",
            title="[1706.03762] Attention Is All You Need",
            snippet=WALL,
        ),
        Hit(
            id="7",
            url="https://arxiv.org/pdf/1706.03762v7",
            title="[PDF] Attention Is All You Need",
            snippet=ARTICLE,
        ),
        Hit(domain="arxiv", domain_id="arXiv:1706.03762v2", title="Attention Is All You Need"),
    ]

    assert place(*paper) == [0, 0, 0]


def test_copies_are_counted_by_what_makes_them_copies() -> None:
    """By the first of the fields that agree."""
    seen = Deduplicator()
    for hit in (
        *(Hit(url="https://e.org/a", title="T", snippet=text) for text in (WALL, ARTICLE, WALL)),
        *(Hit(url=url, title="T", snippet=WALL) for url in ("https://www.e.org/a", "https://f.org/b")),
        *(Hit(id="1"), Hit(id="1"), Hit(title="S", snippet="short"), Hit(title="S", snippet="short")),
    ):
        seen.place(hit, "web")

    assert seen.copies == {"domain": 0, "generic": 1, "url": 2, "loose_url": 1, "text": 1, "short_text": 1}
