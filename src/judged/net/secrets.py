"""Secrets: read from the environment, and removed from everything that is stored or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from judged.errors import BadProtocol

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable with the key, if no other variable is named."""
SHORTEST_SECRET = 8
"""Shorter keys are words such as `none`, used with local endpoints, which may occur in any text."""

_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")
_SECRETS = (
    re.compile(r"(?<=://)(?P<before>[^/@]*:)[^/@]+(?=@)"),
    re.compile(r"(?P<before>\b(?:password|token|api_key)\s*=\s*)('[^']*'|[^\s&]+)", re.IGNORECASE),
)


class Key:
    """Secret key of an endpoint."""

    def __init__(self, variable: str | None = None) -> None:
        self.variable = variable or KEY_VARIABLE
        self._secret = read_secret(self.variable)
        if variable is not None and not self._secret:
            msg = f"the environment variable {variable}, named as the one with the key, is not set"
            raise BadProtocol(msg)

    def __repr__(self) -> str:
        return f"Key({self.variable}: {'set' if self._secret else 'not set'})"

    def __bool__(self) -> bool:
        return bool(self._secret)

    def reveal(self) -> str:
        """Return the secret, or a placeholder for endpoints that need none; for the HTTP client only."""
        return self._secret or "none"

    def redact(self, text: str) -> str:
        """Return the text without the secret and without passwords in addresses."""
        secrets = [self._secret] if len(self._secret) >= SHORTEST_SECRET else []
        return _USER_IN_URL.sub("", redact(text, secrets))


def read_secret(variable: str) -> str:
    """Return the value of an environment variable, empty if it is not set; refuse one that no header can carry."""
    secret = os.environ.get(variable, "").strip()
    if not (secret.isascii() and secret.isprintable()):
        # The HTTP library would quote the value in its own error.
        msg = f"the environment variable {variable} has characters that a header cannot carry"
        raise BadProtocol(msg, hint="expected printable ASCII on one line")
    return secret


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return the text with `[key]` in place of each secret."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text


def hide_secrets(text: str) -> str:
    """Replace the passwords and keys of an address.

    >>> hide_secrets("postgresql://me:secret@host/base"), hide_secrets("host=h password=secret user=me")
    ('postgresql://me:***@host/base', 'host=h password=*** user=me')
    """
    for secret in _SECRETS:
        text = secret.sub(r"\g<before>***", text)
    return text


def is_exposed(url: str) -> bool:
    """Return whether what is sent to an address leaves this machine without encryption."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    return parts.scheme == "http" and not local
