"""URLs as keys: equal strict keys mean that two URLs are one page, equal loose keys that they may be.

Whether equal loose keys count is decided by title and text (`match.compare`): no rule for URLs overrules content.
"""

from __future__ import annotations

import re
from operator import itemgetter
from unicodedata import is_normalized, normalize

from can_ada import URL, parse

from judged.agents.dedup.rules import Rules

_PLAIN = re.compile(r"https?(://(?:[a-z0-9-]+\.)+[a-z]{2,}/(?:[\w~-][\w.~-]*+/?+)*+)", re.ASCII)
"""A URL in which no rule changes anything but the scheme, as in most, so that it need not be parsed."""
_PLAIN_QUERY = re.compile(_PLAIN.pattern + r"\?([\w.~=&-]+)", re.ASCII)
"""Such a URL with a query in which nothing is encoded."""
_PIECES = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):[/\\]*([^/\\?#]*)([^?#]*)")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_ENCODED_LETTERS = re.compile(r"(?:%[89A-F][0-9A-F])+")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BECOME_ASCII = frozenset("\u037e\u1fef\u212a")
"""Characters whose composed form is ASCII, which would mean something else in a URL."""
_SLASHES = re.compile("/{2,}")
_SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|aspsessionid\w*)=[^/;]*|/\(S\([a-z0-9]{24}\)\)(?=/|$)", re.IGNORECASE
)
_MOBILE = re.compile(r"^(?:m|mobile)\.|\.m(?=\.)")
_AMP_QUERY = re.compile(r"(?<=[?&])amp(?:=(?:1|true)?)?(?:&|$)")
_INDEX = re.compile(r"index\.(?:html?|php|aspx?|jsp|cgi)|default\.(?:html?|aspx?)", re.IGNORECASE)
_ENDS_AS_INDEX = re.compile(r"/(?:index|default)\.[a-z]+/$", re.IGNORECASE)
_KEY_PIECES = re.compile(r"(https?://)((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?(.*)", re.DOTALL)

_TRACKING = frozenset(
    [
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "gad_source",
        "gad_campaignid",
        "srsltid",
        "_ga",
        "_gl",
        "fbclid",
        "fb_action_ids",
        "fb_action_types",
        "fb_ref",
        "fb_source",
        "igshid",
        "igsh",
        "msclkid",
        "twclid",
        "ttclid",
        "yclid",
        "ysclid",
        "li_fat_id",
        "epik",
        "rdt_cid",
        "wickedid",
        "mkt_tok",
        "_hsenc",
        "_hsmi",
        "__hssc",
        "__hstc",
        "__hsfp",
        "hsctatracking",
        "vero_id",
        "oly_enc_id",
        "oly_anon_id",
        "_openstat",
        "s_kwcid",
        "ef_id",
        "mc_cid",
        "mc_eid",
        "sr_share",
        "spm",
        "ref_src",
        "ref_url",
        "pk_campaign",
        "pk_kwd",
        "pk_keyword",
        "pk_source",
        "pk_medium",
        "pk_content",
        "pk_cid",
    ]
)
_TRACKING_FAMILIES = ("utm_", "mtm_", "matomo_", "piwik_", "hsa_", "at_custom")
_SESSION = frozenset(["jsessionid", "phpsessid", "cfid", "cftoken", "zenid", "oscsid"])
_CONTENT = frozenset(["session_id", "sessionid", "sessid", "sid", "cmpid", "ncid"])
"""Parameters that hold a session or a campaign on some sites, and say which page it is on others."""
_SHARING_HOSTS = frozenset(["open.spotify.com", "spotify.link", "podcasters.spotify.com"])
"""Hosts whose parameter `si` says who shared a link."""
_VIDEO_HOSTS = frozenset(["youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com"])
_VIDEO = re.compile(r"[\w-]{11}", re.ASCII)
_AMP_CACHE = re.compile(r"(https?://)(?:www\.)?google\.[a-z.]+/amp/(?:s/)?(?=[^/]+\.)")
_ARXIV = re.compile(
    r"https?://(?:www\.|export\.|browse\.)?arxiv\.org/(?:abs|pdf|html|format|src|ps)/"
    r"((?:[a-z-]+(?:\.[A-Z]{2})?/\d{7})|\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?/?(?:[?#].*)?",
    re.IGNORECASE,
)
_REDIRECTS = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


def strict_key(url: str, rules: Rules) -> str | None:
    """Return the key that a URL shares with every spelling of itself; None for a blank.

    A URL of another scheme than http is normalised by the parser alone, and what is not an absolute URL (a relative one, a
    path, a name) is compared as text.

    >>> strict_key("HTTP://Example.com:80/a/./b?utm_source=openai&page=2#top", Rules())
    'https://example.com/a/b?page=2'
    """
    off = rules.url_rules_off
    if not off and (plain := _read_plain(url)):
        return plain
    text = url.strip()
    if "arxiv" not in off and (paper := find_arxiv(text)):
        return f"https://arxiv.org/abs/{paper}"
    if "scheme-less" not in off and text.startswith(("//", "www.")):
        text = "https://" + text.lstrip("/")
    try:
        parsed = parse(text)
    except (ValueError, TypeError):  # no URL, or text that cannot be encoded
        return text or None
    if parsed.protocol not in {"http:", "https:"}:
        return parsed.href
    if "video" not in off and "youtu" in parsed.hostname and (video := _find_video(parsed)):
        return f"https://www.youtube.com/watch?v={video}"
    return _web_key(parsed, off) + (_mark_spelling(text, parsed, off) if off else "")


def _read_plain(url: str) -> str | None:
    """Return the strict key of a URL that need not be parsed, as most need not; None for another one."""
    # Punycode may be malformed, which only the parser can tell
    if "xn--" in url or "youtu" in url or "arxiv" in url:
        return None
    if plain := _PLAIN.fullmatch(url):
        return "https" + plain[1]
    if "spotify" not in url and (plain := _PLAIN_QUERY.fullmatch(url)):
        return f"https{plain[1]}{_keep_parameters(plain[2], frozenset(), sharing=False)}"
    return None


def loose_key(url: str, rules: Rules) -> str | None:
    """Return the key that a URL shares with what is often the same page: with and without `www`, mobile, AMP.

    >>> loose_key("https://www.example.com/a/index.html", Rules()), loose_key("https://m.example.com/a/", Rules())
    ('https://example.com/a', 'https://example.com/a')
    """
    strict = strict_key(url, rules)
    return None if strict is None else loosen(strict, rules)


def loosen(strict: str, rules: Rules) -> str:
    """Return the loose key of a strict one: equal strict keys have equal loose keys."""
    if not rules.url_rules_off and (simple := _loosen_simple(strict)):
        return simple
    bare = drop_content_parameters(strict, rules)
    return _loosen_form(bare, rules) or bare


def _loosen_simple(strict: str) -> str | None:
    """Return the loose key of a web address without anything but `www.` and slashes to drop, as most are; else None."""
    if "?" in strict or "#" in strict or "@" in strict or "/amp" in strict or ".m." in strict:
        return None
    start = 12 if strict.startswith("https://www.") else 8
    page = strict.rfind("/") + 1
    host_end = strict.find("/", start)
    if (
        page <= start
        or not strict.startswith("https://")
        or strict.startswith(("m.", "mobile.", "amp.", "www."), start)
        or strict.startswith(("i", "I", "d", "D"), page)
        or strict.find(".", start, host_end) < 0
        or strict.endswith("//")
        or (page == len(strict) and strict[page - 2 : page - 1].isalnum() and _ENDS_AS_INDEX.search(strict))
    ):
        return None
    return "https://" + strict[start:].rstrip("/")


def drop_content_parameters(strict: str, rules: Rules) -> str:
    """Return a strict key without parameters that may be content, and may be a session or a campaign.

    >>> drop_content_parameters("https://example.com/agenda?page=2&session_id=101", Rules())
    'https://example.com/agenda?page=2'
    """
    if "?" not in strict or "content-parameters" in rules.url_rules_off:
        return strict
    head, _, query = strict.partition("?")
    query, hash_mark, fragment = query.partition("#")
    kept = [text for text in query.split("&") if not _may_be_content(text.partition("=")[0].lower())]
    return f"{head}{'?' + '&'.join(kept) if kept else ''}{hash_mark}{fragment}"


def _may_be_content(name: str) -> bool:
    return name in _CONTENT or name.startswith("mc_")


def is_redirect(url: str) -> bool:
    """Return whether a URL is one of those that Gemini makes for each answer, which say nothing of the page."""
    return url.startswith(_REDIRECTS)


def find_arxiv(url: str) -> str | None:
    """Return the id of the arXiv paper that a URL shows, in whatever form and version; None for another page.

    >>> find_arxiv("https://arxiv.org/pdf/1706.03762v7"), find_arxiv("https://arxiv.org/list/cs.IR/new")
    ('1706.03762', None)
    """
    found = _ARXIV.fullmatch(url) if "rxiv" in url or "RXIV" in url else None
    return found[1].lower() if found else None


def host_of(strict: str | None) -> str | None:
    """Return the host of a strict key, without `www.`; None if it has none.

    >>> host_of("https://www.example.com/a")
    'example.com'
    """
    if strict is None or "://" not in strict:
        return None
    return strict.partition("://")[2].partition("/")[0].rpartition("@")[2].removeprefix("www.") or None


def _loosen_form(strict: str, rules: Rules) -> str | None:
    """Return a key without what names a form of a page: `www`, mobile, AMP, index; None if it is not a web address."""
    if "amp" not in rules.url_rules_off and "/amp/" in strict:
        strict = _AMP_CACHE.sub(r"\1", strict)
    pieces = _KEY_PIECES.fullmatch(strict)
    if pieces is None:
        return None
    off = rules.url_rules_off
    scheme, user, host, path, query, rest = pieces.groups(default="")
    while (looser := _loosen_host(host, off)) != host:  # what one rule leaves, another may change
        host = looser
    while "amp" not in off and (looser := _drop_amp_parameter(query)) != query:
        query = looser
    return f"{scheme}{user}{host}{_loosen_path(path, off)}{query}{rest}"


def _web_key(url: URL, off: frozenset[str]) -> str:
    host, port = url.hostname, url.port
    if host.endswith(".") and "trailing-dot" not in off:
        host = host[:-1] or host
    # a port answers to one scheme only, so that there both are not the same page
    scheme = "https:" if not port and "scheme" not in off else url.protocol
    user = f"{url.username}:{url.password}@" if url.has_credentials() else ""
    path, query = _normalise_path(url.pathname, off), _normalise_query(url, off)
    return (
        f"{scheme}//{user}{host}{':' + port if port else ''}{path}{query}{_normalise_fragment(url.hash, off)}"
    )


def _normalise_path(path: str, off: frozenset[str]) -> str:
    path = _decode(path, off)
    if (
        "^" in path and "percent-encoding" not in off
    ):  # encoded by the standard since 2024, by some parsers only
        path = path.replace("^", "%5E")
    if (";" in path or "(" in path) and "session-path" not in off:
        path = _SESSION_IN_PATH.sub("", path) or "/"
    if "//" in path and "double-slash" not in off:
        path = _SLASHES.sub("/", path)
    return path


def _normalise_query(url: URL, off: frozenset[str]) -> str:
    search = url.search
    if "+" in search and "plus" not in off:
        search = search.replace("+", "%20")
    if not search:
        bare = url.href.partition("#")[0].endswith("?")
        return "?" if bare and "empty-query" in off else ""
    sharing = url.hostname in _SHARING_HOSTS or "youtu" in url.hostname
    return _keep_parameters(_decode(search[1:], off), off, sharing=sharing)


def _keep_parameters(query: str, off: frozenset[str], *, sharing: bool) -> str:
    kept = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if not _is_dropped(name.lower(), value, off, sharing=sharing):
            kept.append((name, parameter))
    if "query-order" not in off:
        kept.sort(key=itemgetter(0))  # by name alone: the order of repeated parameters may matter
    return "?" + "&".join([parameter for _, parameter in kept]) if kept else ""


def _is_dropped(name: str, value: str, off: frozenset[str], *, sharing: bool) -> bool:
    """Return whether a parameter, its name in lower case, says nothing of the page."""
    if not name and not value:
        return "empty-query" not in off
    if name in _TRACKING or name.startswith(_TRACKING_FAMILIES) or (sharing and name == "si"):
        return "tracking" not in off
    return (name in _SESSION or name.startswith("aspsessionid")) and "session-query" not in off


def _find_video(url: URL) -> str | None:
    """Return the id of the YouTube video that a URL shows; None for any other page."""
    if url.hostname in {"youtu.be", "www.youtu.be"}:
        video = url.pathname.strip("/")
    elif url.hostname in _VIDEO_HOSTS and url.pathname == "/watch":
        video = next((text[2:] for text in url.search[1:].split("&") if text.startswith("v=")), "")
    else:
        return None
    return video if _VIDEO.fullmatch(video) else None


def _normalise_fragment(fragment: str, off: frozenset[str]) -> str:
    if "text-fragment" not in off:
        fragment = fragment.partition(":~:")[0]
    route = fragment.startswith(("#!", "#/"))  # a page of an application in the browser, not a place in one
    directive = ":~:" in fragment
    if not route and "fragment" not in off and not directive:
        return ""
    return _decode(fragment, off) if fragment != "#" else ""


def _decode(text: str, off: frozenset[str]) -> str:
    """Decode what need not be percent-encoded, and compose letters (NFC)."""
    if "%" not in text or "percent-encoding" in off:
        return text
    text = _ENCODED_LETTERS.sub(_decode_letters, _ENCODED.sub(_decode_unreserved, text))
    if "unicode-form" in off or is_normalized("NFC", text) or not _BECOME_ASCII.isdisjoint(text):
        return text
    return normalize("NFC", text)


def _decode_unreserved(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code in _UNRESERVED else match[0].upper()


def _decode_letters(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return match[0]


def _mark_spelling(text: str, url: URL, off: frozenset[str]) -> str:
    """Return what keeps spellings apart that the parser unites, where the rules say that it must not."""
    pieces = _PIECES.match(text)
    if pieces is None:
        return ""
    scheme, authority, path = pieces.groups()
    host, _, port = authority.rpartition("@")[2].partition(":")
    dotted = "." in {segment.replace("%2e", ".")[:1] for segment in path.split("/")}
    marks = {
        "letter-case": f"{scheme} {host}" if (scheme + host) != (scheme + host).lower() else "",
        "default-port": port if port and not url.port else "",
        "idn": host if not host.isascii() else "",
        "empty-path": "none" if not path else "",
        "dot-segments": path if dotted else "",
        "percent-encoding": "letters" if not path.isascii() else "",
    }
    return "".join(f" {name}={mark}" for name, mark in marks.items() if mark and name in off)


def _loosen_host(host: str, off: frozenset[str]) -> str:
    name = host
    if "www" not in off:
        name = name.removeprefix("www.")
    if "mobile" not in off:
        name = _MOBILE.sub("", name)
    if "amp" not in off:
        name = name.removeprefix("amp.")
    return name if "." in name else host  # nothing but a top-level domain is left of `www.com`


def _loosen_path(path: str, off: frozenset[str]) -> str:
    start, end, before = 0, len(path), (0, 0)
    while (start, end) != before:
        before = start, end
        if "amp" not in off:
            start += len("/amp") if path.startswith("/amp/", start) and end - start > len("/amp/") else 0
            slash = path.endswith("/", start, end)
            end -= len("/amp") + slash if path.endswith("/amp", start, end - slash) else 0
        page = path.rfind("/", start, end) + 1
        if "index" not in off and page and _INDEX.fullmatch(path, page, end):
            end = page
        while "trailing-slash" not in off and path.endswith("/", start, end):
            end -= 1
    return path[start:end]


def _drop_amp_parameter(query: str) -> str:
    loose, removed = _AMP_QUERY.subn("", query)
    return loose.rstrip("?&") if removed else query
