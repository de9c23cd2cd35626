"""URLs as keys: equal strict keys say that two URLs are one page, equal loose keys that they may be."""

from __future__ import annotations

import re
from operator import itemgetter
from unicodedata import is_normalized, normalize

from can_ada import URL, parse

from judged.dedup.rules import Rules
from judged.dedup.url_rules import is_session, is_tracking

__all__ = ["loose_key", "loosen", "strict_key"]

_PLAIN = re.compile(r"https?(://(?:[a-z0-9-]+\.)+[a-z]{2,}/(?:[\w~-][\w.~-]*+/?+)*+)", re.ASCII)
"""A URL that no rule changes but for its scheme; most are, and need not be taken apart."""
_PIECES = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):[/\\]*([^/\\?#]*)([^?#]*)")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_ENCODED_LETTERS = re.compile(r"(?:%[89A-F][0-9A-F])+")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BECOME_ASCII = frozenset("\u037e\u1fef\u212a")
"""Letters whose composed form is a sign of ASCII, which would mean something else in a URL."""
_SLASHES = re.compile("/{2,}")
_SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|aspsessionid\w*)=[^/;]*|/\(S\([a-z0-9]{24}\)\)(?=/|$)", re.IGNORECASE
)
_MOBILE = re.compile(r"^(?:m|mobile)\.|\.m(?=\.)")
_AMP_PATH = re.compile(r"^/amp(?=/.)|/amp/?$")
_AMP_QUERY = re.compile(r"(?<=[?&])amp(?:=(?:1|true)?)?(?:&|$)")
_INDEX = re.compile(r"/(?:index\.(?:html?|php|aspx?|jsp|cgi)|default\.(?:html?|aspx?))$", re.IGNORECASE)
_KEY_PIECES = re.compile(r"(https?://)((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?(.*)", re.DOTALL)


def strict_key(url: str, rules: Rules) -> str | None:
    """The key that a URL shares with every spelling of itself; None for a blank.

    A URL of another scheme than http is what the parser makes of it, and what is no URL at all (a relative one, a
    path, a name) is compared as it is written.

    >>> strict_key("HTTP://Example.com:80/a/./b?utm_source=openai&page=2#top", Rules())
    'https://example.com/a/b?page=2'
    """
    off = rules.url_rules_off
    if not off and (plain := _PLAIN.fullmatch(url)) and "xn--" not in url:
        return "https" + plain[1]
    text = url.strip()
    if "scheme-less" not in off and text.startswith(("//", "www.")):
        text = "https://" + text.lstrip("/")
    try:
        parsed = parse(text)
    except (ValueError, TypeError):  # no URL; or what cannot be encoded
        return text or None
    if parsed.protocol not in {"http:", "https:"}:
        return parsed.href
    return _web_key(parsed, off) + (_as_written(text, parsed, off) if off else "")


def loose_key(url: str, rules: Rules) -> str | None:
    """The key that a URL shares with what is often the same page: with and without `www`, mobile, AMP.

    >>> loose_key("https://www.example.com/a/index.html", Rules()), loose_key("https://m.example.com/a/", Rules())
    ('https://example.com/a', 'https://example.com/a')
    """
    strict = strict_key(url, rules)
    return None if strict is None else loosen(strict, rules)


def loosen(strict: str, rules: Rules) -> str:
    """The loose key that belongs to a strict one: equal strict keys have equal loose keys."""
    off, before = rules.url_rules_off, ""
    while strict != before:  # what one rule leaves may be for another
        before = strict
        pieces = _KEY_PIECES.fullmatch(strict)
        if pieces is None:
            return strict
        scheme, user, host, path, query, rest = pieces.groups(default="")
        path, query = _loose_path(path, query, off)
        strict = f"{scheme}{user}{_loose_host(host, off)}{path}{query}{rest}"
    return strict


def _web_key(url: URL, off: frozenset[str]) -> str:
    host, port = url.hostname, url.port
    if host.endswith(".") and "trailing-dot" not in off:
        host = host[:-1] or host
    scheme = "https:" if not port and "scheme" not in off else url.protocol
    user = f"{url.username}:{url.password}@" if url.has_credentials() else ""
    path, search, fragment = _path(url.pathname, off), _query(url, off), _fragment(url.hash, off)
    return f"{scheme}//{user}{host}{':' + port if port else ''}{path}{search}{fragment}"


def _path(path: str, off: frozenset[str]) -> str:
    path = _decoded(path, off)
    if (";" in path or "(" in path) and "session-path" not in off:
        path = _SESSION_IN_PATH.sub("", path) or "/"
    if "//" in path and "double-slash" not in off:
        path = _SLASHES.sub("/", path)
    return path


def _query(url: URL, off: frozenset[str]) -> str:
    search = url.search
    if not search:
        written = url.href.partition("#")[0].endswith("?")
        return "?" if written and "empty-query" in off else ""
    kept = []
    for each in _decoded(search[1:], off).split("&"):
        name, _, value = each.partition("=")
        if not _left_out(name.lower(), value, off):
            kept.append((name, each))
    if "query-order" not in off:
        kept.sort(key=itemgetter(0))
    return "?" + "&".join([each for _, each in kept]) if kept else ""


def _left_out(name: str, value: str, off: frozenset[str]) -> bool:
    if not name and not value:
        return "empty-query" not in off
    if is_tracking(name):
        return "tracking" not in off
    return is_session(name, value) and "session-query" not in off


def _fragment(fragment: str, off: frozenset[str]) -> str:
    if "text-fragment" not in off:
        fragment = fragment.partition(":~:")[0]
    route = fragment.startswith(("#!", "#/"))
    directive = ":~:" in fragment
    if not route and "fragment" not in off and not directive:
        return ""
    return _decoded(fragment, off) if fragment != "#" else ""


def _decoded(text: str, off: frozenset[str]) -> str:
    """The text with nothing encoded that need not be, and its letters composed."""
    if "%" not in text or "percent-encoding" in off:
        return text
    text = _ENCODED_LETTERS.sub(_letters, _ENCODED.sub(_unreserved, text))
    if "unicode-form" in off or is_normalized("NFC", text) or not _BECOME_ASCII.isdisjoint(text):
        return text
    return normalize("NFC", text)


def _unreserved(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code in _UNRESERVED else found[0].upper()


def _letters(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return found[0]


def _as_written(text: str, url: URL, off: frozenset[str]) -> str:
    """What keeps spellings apart that the parser has made one, where the rules say that it must not."""
    pieces = _PIECES.match(text)
    if pieces is None:
        return ""
    scheme, authority, path = pieces.groups()
    host, _, port = authority.rpartition("@")[2].partition(":")
    marks = {
        "letter-case": f"{scheme} {host}" if (scheme + host) != (scheme + host).lower() else "",
        "default-port": port if port and not url.port else "",
        "idn": host if not host.isascii() else "",
        "empty-path": "none" if not path else "",
        "dot-segments": path if "." in {each.replace("%2e", ".")[:1] for each in path.split("/")} else "",
        "percent-encoding": "letters" if not path.isascii() else "",
    }
    return "".join(f" {name}={mark}" for name, mark in marks.items() if mark and name in off)


def _loose_host(host: str, off: frozenset[str]) -> str:
    name = host
    if "www" not in off:
        name = name.removeprefix("www.")
    if "mobile" not in off:
        name = _MOBILE.sub("", name)
    if "amp" not in off:
        name = name.removeprefix("amp.")
    return name if "." in name else host


def _loose_path(path: str, query: str, off: frozenset[str]) -> tuple[str, str]:
    if "amp" not in off:
        path = _AMP_PATH.sub("", path)
        query, found = _AMP_QUERY.subn("", query)
        query = query.rstrip("?&") if found else query
    if "index" not in off:
        path = _INDEX.sub("/", path)
    if "trailing-slash" not in off:
        path = path.rstrip("/")
    return path, query
