"""An extension of griffe: sessions of the interpreter in docstrings become code blocks, not quotations of quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

SESSION = re.compile(r"^( *)>>> .*?(?=\n\s*\n(?! *>>> )|\Z)", re.MULTILINE | re.DOTALL)


class Sessions(griffe.Extension):
    """Fences every session in every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.is_alias or obj.docstring is None or ">>> " not in obj.docstring.value:
            return
        obj.docstring.value = SESSION.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
