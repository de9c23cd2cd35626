"""Boilerplate: texts that say nothing of the page they were found on, such as cookie walls and log-in pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from judged.agents.dedup.keys import Keys
from judged.agents.dedup.url import host_of

HOSTS = 3
"""Number of hosts from which on a text that a turn has shown may be boilerplate."""
WORDS = 30
"""Number of words from which on a text under one title is an article that several hosts publish."""
INTERSTITIALS = frozenset(
    [
        "just a moment",
        "one moment please",
        "please wait",
        "attention required cloudflare",
        "verify you are human",
        "are you a robot",
        "robot check",
        "security check",
        "access denied",
        "forbidden",
        "403 forbidden",
        "404 not found",
        "not found",
        "page not found",
        "log in",
        "login",
        "sign in",
    ]
)
"""Normalised titles of pages that are shown instead of what was asked for; their texts match nothing anywhere."""


@dataclass(slots=True)
class _Shown:
    """The hosts that a text was shown on, and its titles, as many of both as matter."""

    hosts: set[str] = field(default_factory=set)
    titles: set[str | None] = field(default_factory=set)


class ShownTexts:
    """The texts that a turn has shown so far."""

    def __init__(self) -> None:
        self._first: dict[str, list[Keys]] = {}
        """By its beginning, the results whose texts begin so while all are of one host: most texts need not be normalised
        in full, nor counted."""
        self._spread: set[str] = set()
        """The beginnings that several hosts have shown."""
        self._shown: dict[str, _Shown] = {}

    def is_boilerplate(self, keys: Keys, *, keep: bool = True) -> bool:
        """Return whether the text of a result is boilerplate, given all results up to this one.

        With `keep`, it counts for later ones.
        """
        if keys.title in INTERSTITIALS:
            return True
        if keys.prefix is None or keys.url is None:
            return False
        if keys.prefix not in self._spread and not self._is_spread_by(keys, keep=keep):
            return False
        host = host_of(keys.url)
        if host is None:
            return False
        text = keys.text or ""
        known = self._shown.get(text)
        hosts, titles = (
            ({host}, {keys.title}) if known is None else (known.hosts | {host}, known.titles | {keys.title})
        )
        if keep:
            self._add(keys)
        return len(hosts) >= HOSTS and (text.count(" ") < WORDS or len(titles) > 1)

    def _is_spread_by(self, keys: Keys, *, keep: bool) -> bool:
        """Return whether a result is the first to show the beginning of its text on another host; keep it if not."""
        prefix = keys.prefix or ""
        before = self._first.get(prefix)
        if before is None:
            if keep:
                self._first[prefix] = [keys]
            return False
        # the same page again is the most frequent case, and needs no look at its host
        if keys.url == before[0].url or host_of(keys.url) == host_of(before[0].url):
            if keep:
                before.append(keys)
            return False
        if keep:
            self._spread.add(prefix)
            del self._first[prefix]
        for earlier in before:
            self._add(earlier)
        return True

    def _add(self, keys: Keys) -> None:
        shown = self._shown.setdefault(keys.text or "", _Shown())
        if len(shown.hosts) < HOSTS:
            shown.hosts.add(host_of(keys.url) or "")
        if len(shown.titles) <= 1:
            shown.titles.add(keys.title)
