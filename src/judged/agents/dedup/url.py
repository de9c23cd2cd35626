"""URLs as keys: equal strict keys mean that two URLs are one page, equal loose keys that they may be."""

from __future__ import annotations

import re
from operator import itemgetter
from unicodedata import is_normalized, normalize

from can_ada import URL, parse

from judged.agents.dedup.rules import Rules

_PLAIN = re.compile(r"https?(://(?:[a-z0-9-]+\.)+[a-z]{2,}/(?:[\w~-][\w.~-]*+/?+)*+)", re.ASCII)
"""A URL in which no rule changes anything but the scheme, as in most, so that it need not be parsed."""
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
        "ncid",
        "cmpid",
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
_TRACKING_FAMILIES = ("utm_", "mc_", "mtm_", "matomo_", "piwik_", "hsa_", "at_custom")
_SESSION = frozenset(
    ["jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "cfid", "cftoken", "zenid", "oscsid"]
)
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


def strict_key(url: str, rules: Rules) -> str | None:
    """Return the key that a URL shares with every spelling of itself; None for a blank.

    A URL of another scheme than http is normalised by the parser alone, and what is not an absolute URL (a relative one, a
    path, a name) is compared as text.

    >>> strict_key("HTTP://Example.com:80/a/./b?utm_source=openai&page=2#top", Rules())
    'https://example.com/a/b?page=2'
    """
    off = rules.url_rules_off
    # Punycode may be malformed, which only the parser can tell
    if not off and (plain := _PLAIN.fullmatch(url)) and "xn--" not in url:
        return "https" + plain[1]
    text = url.strip()
    if "scheme-less" not in off and text.startswith(("//", "www.")):
        text = "https://" + text.lstrip("/")
    try:
        parsed = parse(text)
    except (ValueError, TypeError):  # no URL, or text that cannot be encoded
        return text or None
    if parsed.protocol not in {"http:", "https:"}:
        return parsed.href
    return _web_key(parsed, off) + (_mark_spelling(text, parsed, off) if off else "")


def loose_key(url: str, rules: Rules) -> str | None:
    """Return the key that a URL shares with what is often the same page: with and without `www`, mobile, AMP.

    >>> loose_key("https://www.example.com/a/index.html", Rules()), loose_key("https://m.example.com/a/", Rules())
    ('https://example.com/a', 'https://example.com/a')
    """
    strict = strict_key(url, rules)
    return None if strict is None else loosen(strict, rules)


def loosen(strict: str, rules: Rules) -> str:
    """Return the loose key of a strict one: equal strict keys have equal loose keys."""
    pieces = _KEY_PIECES.fullmatch(strict)
    if pieces is None:
        return strict
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
    if not search:
        bare = url.href.partition("#")[0].endswith("?")
        return "?" if bare and "empty-query" in off else ""
    kept = []
    for parameter in _decode(search[1:], off).split("&"):
        name, _, value = parameter.partition("=")
        if not _is_dropped(name.lower(), value, off):
            kept.append((name, parameter))
    if "query-order" not in off:
        kept.sort(key=itemgetter(0))  # by name alone: the order of repeated parameters may matter
    return "?" + "&".join([parameter for _, parameter in kept]) if kept else ""


def _is_dropped(name: str, value: str, off: frozenset[str]) -> bool:
    """Return whether a parameter, its name in lower case, says nothing of the page."""
    if not name and not value:
        return "empty-query" not in off
    if name in _TRACKING or name.startswith(_TRACKING_FAMILIES):
        return "tracking" not in off
    return _is_session(name, value) and "session-query" not in off


def _is_session(name: str, value: str) -> bool:
    """Return whether a parameter holds a session; `sid` does if it looks like one, for it names stories elsewhere."""
    if name == "sid":
        return len(value) == 32 and _HEXADECIMAL.issuperset(value)
    return name in _SESSION or name.startswith("aspsessionid")


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
