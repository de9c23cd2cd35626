"""A profile in words: the tool's names for measures, their conventions, and what is not reproduced."""

from __future__ import annotations

import re
from typing import Any

from judged.blocks import Table
from judged.cli.output import terminal_width
from judged.profiles.profile import Profile
from judged.report.data import to_json
from judged.report.markdown import to_markdown
from judged.report.text import to_text


def describe_profile(profile: Profile, kind: str) -> str:
    """Return the profile as text, Markdown or JSON."""
    if kind == "json":
        return to_json(_document(profile))
    lines = [str(profile), *([profile.about] if profile.about else []), ""]
    lines += [f"Protocol: {profile.protocol}", ""]
    table = EVERY
    if profile.spellings:
        found = _table(profile)
        table = to_markdown(found) if kind == "markdown" else to_text(found, width=terminal_width())
    left = ["", "Not imitated:", *(f"- {caveat}" for caveat in profile.caveats)] if profile.caveats else []
    return "\n".join([*lines, table.rstrip("\n"), *left, ""])


EVERY = "Every measure that `judged measures` lists is computed under these conventions."


def _table(profile: Profile) -> Table:
    """Return a row for each of the tool's names: the measure it means, and the conventions in which it departs."""
    rows = [
        (
            spelling.example,
            _ours(str(spelling.kind)),
            ", ".join(f"{name}={value}" for name, value in spelling.conventions.items()),
        )
        for spelling in profile.spellings
    ]
    return Table(("written", "judged", "differs in"), tuple(dict.fromkeys(rows)))


def _ours(measure: str) -> str:
    """Return the measure without the cutoff that the tool implies for every name."""
    return re.sub(r"@1000$", "", measure)


def _document(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "tool": profile.tool,
        "version": profile.version,
        "about": profile.about,
        "protocol": {"fingerprint": profile.protocol.fingerprint, **profile.protocol.to_dict()},
        "measures": [
            {
                "written": spelling.example,
                "measure": str(spelling.kind),
                "departs": dict(spelling.conventions),
            }
            for spelling in profile.spellings
        ],
        "digits": profile.digits,
        "caveats": list(profile.caveats),
    }
