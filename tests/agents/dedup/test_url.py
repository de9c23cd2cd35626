"""Spellings of one URL share a key, different pages do not, and each rule can be turned off."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from judged.agents.dedup.rules import LOOSE_RULES, STRICT_RULES, URL_RULES, Rules
from judged.agents.dedup.url import loose_key, loosen, strict_key

DEFAULT = Rules()

# The names are those of the anchors' table of 38 pairs (agentic.md 3a); the URLs are our own.
STRICTLY_SAME = {
    "host case": ("https://News.Example.COM/a", "https://news.example.com/a"),
    "scheme case": ("HTTPS://example.com/a", "https://example.com/a"),
    "default port 443": ("https://example.com:443/a", "https://example.com/a"),
    "default port 80": ("http://example.com:80/a", "http://example.com/a"),
    "empty path": ("https://example.com", "https://example.com/"),
    "fragment": ("https://example.com/a#section-2", "https://example.com/a"),
    "text fragment": ("https://example.com/a#:~:text=the%20answer", "https://example.com/a"),
    "dot segments": ("https://example.com/a/./b/../c", "https://example.com/a/c"),
    "pct case": ("https://example.com/a%2fb%c3%a9", "https://example.com/a%2Fb%C3%A9"),
    "pct vs unicode": ("https://example.com/caf%C3%A9", "https://example.com/café"),
    "pct unreserved": ("https://example.com/%7Euser/%61", "https://example.com/~user/a"),
    "NFC vs NFD": ("https://example.com/cafe%CC%81", "https://example.com/caf%C3%A9"),
    "IDN vs punycode": ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
    "utm params": ("https://example.com/a?utm_source=openai&utm_medium=x&id=1", "https://example.com/a?id=1"),
    "gclid+fbclid": ("https://example.com/a?gclid=Cj0K&fbclid=IwAR", "https://example.com/a"),
    "query order": ("https://example.com/a?x=1&b=2", "https://example.com/a?b=2&x=1"),
    "empty query": ("https://example.com/a?", "https://example.com/a"),
    "session id path": ("https://example.com/a;jsessionid=1A2B3C?x=1", "https://example.com/a?x=1"),
    "session id query": ("https://example.com/a?PHPSESSID=k3v9&x=1", "https://example.com/a?x=1"),
    "http vs https": ("http://example.com/a", "https://example.com/a"),
    "double slash": ("https://example.com//a//b", "https://example.com/a/b"),
    "trailing dot host": ("https://example.com./a", "https://example.com/a"),
}
LOOSELY_SAME = {
    "trailing slash": ("https://example.com/a/", "https://example.com/a"),
    "www": ("https://www.example.com/a", "https://example.com/a"),
    "mobile subdomain": ("https://en.m.example.org/wiki/A", "https://en.example.org/wiki/A"),
    "amp path": ("https://example.com/news/a/amp", "https://example.com/news/a"),
    "index.html": ("https://example.com/a/index.html", "https://example.com/a/"),
}
ALSO_LOOSELY_SAME = {
    "session_id": ("https://example.com/agenda?session_id=101", "https://example.com/agenda?session_id=102"),
    "sid of a forum": ("https://example.com/t?f=1&sid=" + "0a1b" * 8, "https://example.com/t?f=1"),
    "story id": ("https://example.com/story?sid=26/11/16", "https://example.com/story?sid=26/11/17"),
    "campaigns": ("https://example.com/a?cmpid=1&ncid=2&mc_id=3", "https://example.com/a"),
    "AMP cache": ("https://www.google.com/amp/s/www.example.com/a", "https://example.com/a"),
}
DIFFERENT = {
    "path case": ("https://example.com/File/1", "https://example.com/file/1"),
    "id differs": ("https://example.com/item?id=1", "https://example.com/item?id=2"),
    "page differs": ("https://example.com/list?page=1", "https://example.com/list?page=2"),
    "SPA route": ("https://example.com/#/inbox", "https://example.com/#/sent"),
    "hashbang": ("https://example.com/#!/a", "https://example.com/#!/b"),
    "pct slash": ("https://example.com/a%2Fb", "https://example.com/a/b"),
    "port 8443": ("https://example.com:8443/a", "https://example.com/a"),
    "subdomain": ("https://docs.example.com/a", "https://blog.example.com/a"),
    "ref param value": ("https://example.com/tree?ref=v1", "https://example.com/tree?ref=v2"),
    "query val case": ("https://example.com/a?v=aBc", "https://example.com/a?v=abc"),
    "plus vs pct2B": ("https://example.com/a?q=c+d", "https://example.com/a?q=c%2Bd"),
}
ALSO_SAME = {
    "circumflex": ("https://example.com/a^b", "https://example.com/a%5Eb"),
    "msclkid, mc_, igshid": (
        "https://example.com/a?msclkid=1&mc_cid=2&mc_eid=3&igshid=4",
        "https://example.com/a",
    ),
    "utm of a chat": ("https://example.com/a?utm_source=chatgpt.com", "https://example.com/a"),
    "names in capitals": ("https://example.com/a?UTM_Source=x", "https://example.com/a"),
    "names encoded": ("https://example.com/a?utm%5Fsource=x", "https://example.com/a"),
    "route and text fragment": ("https://example.com/#/a:~:text=b", "https://example.com/#/a"),
    "blanks around": ("  https://example.com/a\n", "https://example.com/a"),
    "backslashes": ("https://example.com\\a\\b", "https://example.com/a/b"),
    "no scheme": ("//example.com/a", "https://example.com/a"),
    "www without a scheme": ("www.example.com/a", "https://www.example.com/a"),
    "empty parameters": ("https://example.com/a?&x=1&&", "https://example.com/a?x=1"),
    "cookieless session": ("https://example.com/(S(abcdefghijklmnopqrstuvwx))/a", "https://example.com/a"),
    "plus and blank": ("https://example.com/a?q=c+d", "https://example.com/a?q=c%20d"),
    "arXiv forms": ("https://arxiv.org/abs/1706.03762", "http://arxiv.org/pdf/1706.03762v7.pdf"),
    "arXiv, old ids": ("https://arxiv.org/abs/cs/0112017v1", "https://export.arxiv.org/abs/cs/0112017"),
    "short video": ("https://youtu.be/dQw4w9WgXcQ?si=a1", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
    "mobile video": (
        "https://m.youtube.com/watch?v=dQw4w9WgXcQ&t=31s",
        "https://youtube.com/watch?v=dQw4w9WgXcQ",
    ),
    "shared track": ("https://open.spotify.com/track/4u?si=1", "https://open.spotify.com/track/4u"),
}
ALSO_DIFFERENT = {
    "page in the path": ("https://example.com/list/page/1", "https://example.com/list/page/2"),
    "video": ("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "https://www.youtube.com/watch?v=oHg5SJYRHA0"),
    "route and none": ("https://example.com/#/inbox", "https://example.com/"),
    "order of one name": ("https://example.com/a?x=1&x=2", "https://example.com/a?x=2&x=1"),
    "value and none": ("https://example.com/a?x", "https://example.com/a?x=1"),
    "user": ("https://me@example.com/a", "https://example.com/a"),
    "papers": ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1810.04805"),
    "si elsewhere": ("https://example.com/a?si=1", "https://example.com/a?si=2"),
    "extension": ("https://example.com/a.pdf", "https://example.com/a.html"),
    "pct question mark": ("https://example.com/a%3Fb", "https://example.com/a?b"),
    "language": ("https://en.example.org/wiki/A", "https://de.example.org/wiki/A"),
    "http on the port of https": ("http://example.com:443/a", "https://example.com/a"),
    "host of www alone": ("https://www.com/a", "https://com.com/a"),
    "source and ref": ("https://example.com/a?source=x", "https://example.com/a?source=y"),
}
APART = {
    "letter-case": STRICTLY_SAME["host case"],
    "scheme": STRICTLY_SAME["http vs https"],
    "scheme-less": ALSO_SAME["no scheme"],
    "default-port": STRICTLY_SAME["default port 443"],
    "idn": STRICTLY_SAME["IDN vs punycode"],
    "trailing-dot": STRICTLY_SAME["trailing dot host"],
    "empty-path": STRICTLY_SAME["empty path"],
    "dot-segments": STRICTLY_SAME["dot segments"],
    "double-slash": STRICTLY_SAME["double slash"],
    "percent-encoding": STRICTLY_SAME["pct unreserved"],
    "unicode-form": STRICTLY_SAME["NFC vs NFD"],
    "fragment": STRICTLY_SAME["fragment"],
    "text-fragment": STRICTLY_SAME["text fragment"],
    "tracking": STRICTLY_SAME["utm params"],
    "session-path": STRICTLY_SAME["session id path"],
    "session-query": STRICTLY_SAME["session id query"],
    "plus": ALSO_SAME["plus and blank"],
    "arxiv": ALSO_SAME["arXiv forms"],
    "video": ALSO_SAME["short video"],
    "query-order": STRICTLY_SAME["query order"],
    "empty-query": STRICTLY_SAME["empty query"],
    "trailing-slash": LOOSELY_SAME["trailing slash"],
    "www": LOOSELY_SAME["www"],
    "mobile": LOOSELY_SAME["mobile subdomain"],
    "amp": LOOSELY_SAME["amp path"],
    "index": LOOSELY_SAME["index.html"],
    "content-parameters": ALSO_LOOSELY_SAME["session_id"],
}
"""For each rule two URLs that only it makes one."""
MORE_APART = [
    ("letter-case", STRICTLY_SAME["scheme case"]),
    ("default-port", STRICTLY_SAME["default port 80"]),
    ("percent-encoding", STRICTLY_SAME["pct case"]),
    ("percent-encoding", STRICTLY_SAME["pct vs unicode"]),
    ("tracking", STRICTLY_SAME["gclid+fbclid"]),
    ("empty-query", ALSO_SAME["empty parameters"]),
    ("tracking", ALSO_SAME["shared track"]),
    ("amp", ALSO_LOOSELY_SAME["AMP cache"]),
    ("session-path", ALSO_SAME["cookieless session"]),
]


def pairs(*tables: dict[str, tuple[str, str]]) -> pytest.MarkDecorator:
    """The pairs of the tables, by name."""
    rows = [pytest.param(*pair, id=name) for table in tables for name, pair in table.items()]
    return pytest.mark.parametrize(("one", "other"), rows)


def test_the_table_has_all_cases() -> None:
    """Twenty-seven that are wanted as one and eleven that are not, as in the table they are taken from."""
    assert len(STRICTLY_SAME) + len(LOOSELY_SAME) == 27
    assert len(DIFFERENT) == 11


@pairs(STRICTLY_SAME, ALSO_SAME)
def test_spellings_of_one_url_share_both_keys(one: str, other: str) -> None:
    """What says nothing about the page is not in the strict key, and so not in the loose one."""
    assert strict_key(one, DEFAULT) == strict_key(other, DEFAULT)
    assert loose_key(one, DEFAULT) == loose_key(other, DEFAULT)


@pairs(LOOSELY_SAME, ALSO_LOOSELY_SAME)
def test_what_is_often_the_same_page_shares_the_loose_key_only(one: str, other: str) -> None:
    """The loose key finds it; the strict key does not vouch for it."""
    assert strict_key(one, DEFAULT) != strict_key(other, DEFAULT)
    assert loose_key(one, DEFAULT) == loose_key(other, DEFAULT)


@pairs(DIFFERENT, ALSO_DIFFERENT)
def test_different_pages_share_no_key(one: str, other: str) -> None:
    """Pages, ids, routes, ports, paths in another case stay different, loosely too."""
    assert strict_key(one, DEFAULT) != strict_key(other, DEFAULT)
    assert loose_key(one, DEFAULT) != loose_key(other, DEFAULT)


def test_every_rule_has_a_pair() -> None:
    """No rule is forgotten below."""
    assert APART.keys() == URL_RULES.keys() == STRICT_RULES.keys() | LOOSE_RULES.keys()


@pytest.mark.parametrize(("rule", "pair"), [*APART.items(), *MORE_APART])
def test_a_rule_turned_off_keeps_its_pair_apart(rule: str, pair: tuple[str, str]) -> None:
    """With all rules the two URLs have one loose key; without this one they have two."""
    without = Rules(url_rules_off=frozenset({rule}))

    assert loose_key(pair[0], DEFAULT) == loose_key(pair[1], DEFAULT)
    assert loose_key(pair[0], without) != loose_key(pair[1], without)


@pytest.mark.parametrize("rule", URL_RULES)
def test_no_rule_turned_off_makes_different_pages_one(rule: str) -> None:
    """Fewer rules make fewer URLs the same, never more."""
    without = Rules(url_rules_off=frozenset({rule}))
    together = [
        name
        for name, (one, other) in (DIFFERENT | ALSO_DIFFERENT).items()
        if strict_key(one, without) == strict_key(other, without)
    ]

    assert together == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", None),
        ("  ", None),
        ("../a/b.html", "../a/b.html"),
        ("a page", "a page"),
        ("/srv/notes/A.txt", "/srv/notes/A.txt"),
        ("C:\\Notes\\a.txt", "c:\\Notes\\a.txt"),
        ("mailto:Me@example.com", "mailto:Me@example.com"),
        ("file:///srv/notes/../A.txt", "file:///srv/A.txt"),
        ("urn:isbn:0451450523", "urn:isbn:0451450523"),
        ("https://exa mple.com/a", "https://exa mple.com/a"),
        ("https://[::1", "https://[::1"),
        ("\ud800", "\ud800"),
        ("http://", "http://"),
    ],
)
def test_what_is_no_web_address_is_compared_as_it_is_written(text: str, key: str | None) -> None:
    """Blanks have no key; other schemes are as the parser writes them; the rest stays as it is."""
    assert strict_key(text, DEFAULT) == loose_key(text, DEFAULT) == key


labels = st.sampled_from(
    ["www", "m", "amp", "mobile", "a", "xn--bcher-kva", "bücher", "EXAMPLE", "com", "example"]
)
segments = st.sampled_from(
    [
        *("", ".", "..", "a", "A", "amp", "index.html", "default.aspx", "~", "x|y", "b c", "é"),
        *("%", "%2e", "%61", "%252F", "%ff", "caf%C3%A9", "cafe%CC%81", "%E2%84%AA"),
        *("a;jsessionid=1", "(S(abcdefghijklmnopqrstuvwx))"),
    ]
)
parameters = st.sampled_from(
    ["", "=", "a=1", "b", "utm_source=x", "amp=1", "amp", "sid=1", "q=%e9", "q=c%2bd", "A=1+2", "=≠"]
)
addresses = st.builds(
    "{}://{}{}{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    st.lists(labels, min_size=1, max_size=4).map(".".join),
    st.sampled_from(["", ":80", ":443", ":8443", "."]),
    st.lists(segments, max_size=4).map(lambda path: "".join("/" + segment for segment in path)),
    st.lists(parameters, max_size=3).map(lambda query: "?" + "&".join(query) if query else ""),
    st.sampled_from(["", "#", "#top", "#/a", "#!b", "#:~:text=c", "#/d:~:text=e"]),
)
anything = addresses | st.text() | st.text(alphabet="ahtps:/.?#%&=é\\", max_size=20)


@given(anything)
def test_a_key_is_its_own_key(url: str) -> None:
    """Taking the key of a key changes nothing: whatever a rule does, it has done."""
    strict, loose = strict_key(url, DEFAULT), loose_key(url, DEFAULT)

    assert strict is None or strict_key(strict, DEFAULT) == strict
    assert loose is None or loose_key(loose, DEFAULT) == loose


@given(addresses, addresses, st.sets(st.sampled_from(sorted(URL_RULES)), max_size=3))
def test_equal_strict_keys_have_equal_loose_keys(one: str, other: str, off: set[str]) -> None:
    """The loose key is a function of the strict one, whatever rules are off."""
    rules = Rules(url_rules_off=frozenset(off))

    for url in (one, other):
        assert loose_key(url, rules) == loosen(strict_key(url, rules) or "", rules)
    if strict_key(one, rules) == strict_key(other, rules):
        assert loose_key(one, rules) == loose_key(other, rules)


@given(anything, st.sets(st.sampled_from(sorted(URL_RULES))))
def test_nothing_makes_a_key_fail(url: str, off: set[str]) -> None:
    """Any text in place of a URL has a key; a blank has none."""
    rules = Rules(url_rules_off=frozenset(off))

    assert (strict_key(url, rules) is None) == (loose_key(url, rules) is None) == (not url.strip())


@given(
    st.from_regex(r"https?://([a-z0-9-]{1,8}\.){1,3}[a-z]{2,5}/([\w~-][\w.~-]{0,6}/?){0,3}", fullmatch=True)
)
def test_plain_urls_have_the_key_that_taking_them_apart_gives(url: str) -> None:
    """The short cut for URLs that no rule changes agrees with the parser and the rules; a fragment leads round it."""
    assert strict_key(url, DEFAULT) == strict_key(url + "#", DEFAULT)


def test_a_path_of_many_amp_segments_is_loosened_in_linear_time() -> None:
    """Each segment is dropped without going through the whole URL again: 100,000 of them in less than a second."""
    begin = time.process_time()

    assert loose_key("https://e.org/x" + "/amp" * 100_000, DEFAULT) == "https://e.org/x"
    assert time.process_time() - begin < 5
