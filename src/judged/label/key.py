"""The key of an endpoint: from the environment only, and struck out of everything that is kept or shown."""

from __future__ import annotations

import os
import re

from judged.errors import BadProtocol

__all__ = ["VARIABLE", "Key"]

VARIABLE = "OPENAI_API_KEY"
"""Where the key is looked for, if nothing else is said."""

SHORTEST = 8
"""Shorter keys are words such as `none`, which local endpoints are given, and which texts may hold."""

_USER = re.compile(r"(?<=://)[^/@\s]+@")


class Key:
    """A secret that is sent with requests and shown nowhere."""

    def __init__(self, variable: str | None = None) -> None:
        self.variable = variable or VARIABLE
        self._secret = os.environ.get(self.variable, "").strip()
        if variable is not None and not self._secret:
            msg = f"the environment variable {variable}, which is to hold the key, is not set"
            raise BadProtocol(msg)

    def __repr__(self) -> str:
        return f"Key({self.variable}: {'set' if self._secret else 'not set'})"

    def __bool__(self) -> bool:
        return bool(self._secret)

    def reveal(self) -> str:
        """The secret, for the client alone; a word where there is none, since local endpoints ask for none."""
        return self._secret or "none"

    def hide(self, text: str) -> str:
        """The text without the secret, and without passwords in addresses."""
        bare = text.replace(self._secret, "[key]") if len(self._secret) >= SHORTEST else text
        return _USER.sub("", bare)
