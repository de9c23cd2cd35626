"""Prompts: what a language model is asked, in a small file with a name, a version and an identity."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from judged.errors import BadInput, Unreadable
from judged.problem import Problem
from judged.tables.sessions import GRADES

__all__ = ["PLACES", "Prompt", "read_prompt"]

PLACES = ("query", "title", "text")
"""What a template may hold in braces; the query and the text must be there."""

_PLACE = re.compile("{(" + "|".join(PLACES) + ")}")
_TAG = re.compile(r"</(\w+)>")
_NO_TITLE = "(none)"


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    """The keys of a prompt's file."""

    name: str
    version: int
    template: str
    scale: list[int] = msgspec.field(default_factory=lambda: list(GRADES))
    fields: list[str] = msgspec.field(default_factory=lambda: ["score"])
    system: str = ""


@dataclass(frozen=True)
class Prompt:
    """A question to a model about one query and one result, and the grades that may be answered."""

    name: str
    version: int
    template: str
    scale: tuple[int, ...] = tuple(GRADES)
    fields: tuple[str, ...] = ("score",)
    """The whole numbers that the answer holds, in their order; the last one is the grade."""
    system: str = ""

    @property
    def label(self) -> str:
        """Name and version, as labels carry them: `relevance/1`."""
        return f"{self.name}/{self.version}"

    @cached_property
    def identity(self) -> str:
        """A hash of everything that the model is told by it; two prompts that differ in a comma differ here."""
        content = msgspec.json.encode([self.system, self.template, self.scale, self.fields])
        return hashlib.blake2b(content, digest_size=8).hexdigest()

    def messages(self, *, query: str, title: str, text: str) -> list[dict[str, str]]:
        """The messages that ask for the grade of one result; braces in texts stay as they are.

        A text cannot leave the tags that it stands between: in such tags of its own, `<` becomes `‹`.
        """
        values = {"query": query, "title": title or _NO_TITLE, "text": text}
        if self._own_tags is not None:
            values = {name: self._own_tags.sub("‹", value) for name, value in values.items()}
        asked = _PLACE.sub(lambda place: values[place[1]], self.template)
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": asked}]

    @cached_property
    def _own_tags(self) -> re.Pattern[str] | None:
        """The beginning of a tag that the template itself closes; None if it has no tags."""
        names = "|".join(sorted(set(_TAG.findall(self.template))))
        return re.compile(rf"<(?=\s*/?\s*(?:{names})\b)", re.IGNORECASE) if names else None

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema that an answer must follow."""
        grade = {"type": "integer", "enum": list(self.scale)}
        return {
            "type": "object",
            "properties": dict.fromkeys(self.fields, grade),
            "required": list(self.fields),
            "additionalProperties": False,
        }


def read_prompt(source: str | Path | Prompt | None = None) -> Prompt:
    """The prompt of a YAML file, or the one that comes with judged.

    >>> read_prompt().label, read_prompt().scale
    ('relevance/1', (0, 1, 2, 3, 4))
    """
    if isinstance(source, Prompt):
        return source
    if source is None:
        return _parse(files("judged.label").joinpath("prompts/relevance.yaml").read_bytes(), "relevance.yaml")
    try:
        return _parse(Path(source).read_bytes(), str(source))
    except OSError as error:
        msg = f"the prompt {source} cannot be read: {(error.strerror or str(error)).lower()}"
        raise Unreadable(msg) from None


def _parse(content: bytes, label: str) -> Prompt:
    import yaml

    try:
        written = msgspec.convert(yaml.safe_load(content), _Written)
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise _bad(label, " ".join(str(error).split())) from None
    _check(written, label)
    return Prompt(
        written.name,
        written.version,
        written.template,
        tuple(written.scale),
        tuple(written.fields),
        written.system,
    )


def _check(written: _Written, label: str) -> None:
    """Refuse a prompt that could not ask, or whose answers would be no gains."""
    missing = [place for place in ("query", "text") if f"{{{place}}}" not in written.template]
    if missing:
        raise _bad(label, f"the template holds no {{{missing[0]}}}")
    if len(set(written.scale)) < 2 or not set(written.scale) <= set(GRADES):
        raise _bad(label, f"the scale is {written.scale}, expected whole numbers from 0 to {GRADES[-1]}")
    if not written.fields or any(not field.isidentifier() for field in written.fields):
        raise _bad(label, f"fields are {written.fields}, expected names, the last of them that of the grade")


def _bad(label: str, what: str) -> BadInput:
    hint = "a prompt has name, version, template, and maybe scale, fields and system"
    return BadInput(label, [Problem.error("bad-prompt", label, what)], hint=hint)
