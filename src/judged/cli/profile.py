"""A profile in words: what the tool calls its measures, how it computes them, and what is not imitated."""

from __future__ import annotations

import re
from typing import Any

from judged.blocks import Table
from judged.profiles.profile import Profile
from judged.report.data import to_json
from judged.report.markdown import to_markdown
from judged.report.text import to_text

__all__ = ["described"]


def described(profile: Profile, kind: str) -> str:
    """The profile as text, Markdown or JSON."""
    if kind == "json":
        return to_json(_document(profile))
    lines = [str(profile), *([profile.about] if profile.about else []), ""]
    lines += [f"Protocol: {profile.protocol}", ""]
    table = (to_markdown if kind == "markdown" else to_text)(_table(profile)) if profile.spellings else EVERY
    left = ["", "Not imitated:", *(f"- {each}" for each in profile.caveats)] if profile.caveats else []
    return "\n".join([*lines, table.rstrip("\n"), *left, ""])


EVERY = "Every measure that `judged measures` lists is computed under these conventions."


def _table(profile: Profile) -> Table:
    """A row for each of the tool's names: what it is here, and the conventions in which it departs."""
    rows = [
        (
            each.example,
            _ours(str(each.kind)),
            ", ".join(f"{name}={value}" for name, value in each.conventions.items()),
        )
        for each in profile.spellings
    ]
    return Table(("written", "judged", "departs in"), tuple(dict.fromkeys(rows)))


def _ours(measure: str) -> str:
    """The measure without the cutoff that every one of a tool's names is given anyway."""
    return re.sub(r"@1000$", "", measure)


def _document(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "tool": profile.tool,
        "version": profile.version,
        "about": profile.about,
        "protocol": {"fingerprint": profile.protocol.fingerprint, **profile.protocol.to_dict()},
        "measures": [
            {"written": each.example, "measure": str(each.kind), "departs": dict(each.conventions)}
            for each in profile.spellings
        ],
        "digits": profile.digits,
        "caveats": list(profile.caveats),
    }
