"""Subjects: what the core does not know, each in a folder with a manifest of strings.

A manifest says where a subject's families, results, tables, measures, pages and commands are, so that the core can list
and find them without importing the subject. Built-in subjects are listed here; packages add others by an entry point
of the group `judged.subjects`, which names their manifest. These are looked up only for a name that is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from judged.plugins import list_announced, load_announced, refuse_announced, resolve

ENTRY_POINTS = "judged.subjects"

BUILT_IN = ("agents", "labels", "index", "studies", "answers", "clicks")
"""The folders of the built-in subjects, in the order in which help and documentation list them."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


# Tuples, not dataclasses: every command makes these classes when it starts, and theirs take a tenth of the time.
class Command(NamedTuple):
    """A command: where it is, and its one line in `judged --help`."""

    home: str
    help: str


class Subject(NamedTuple):
    """The manifest of a subject; every value is "module:attribute", resolved when it is used."""

    name: str
    title: str
    """The heading of its commands in `judged --help`."""
    families: Mapping[str, str] = NOTHING
    """Families of measures, by name."""
    measures: str = ""
    """The module that lists its measures, as `python -m judged.measures.index` writes it."""
    tables: Mapping[str, str] = NOTHING
    """Schemas of the tables it reads, by name."""
    results: Mapping[str, str] = NOTHING
    """Classes of results, by kind."""
    pages: Mapping[str, str] = NOTHING
    """Pages of the report, by name."""
    commands: Mapping[str, Command] = NOTHING
    tasks: Mapping[str, str] = NOTHING
    """Tasks of `judged label`, by name."""
    explains: Mapping[str, str] = NOTHING
    """Commands in place of `judged explain`, by the options that only their inputs need, and by their own profiles."""
    viewer: str = ""
    """Evaluator of this subject's files for `judged view`: a `judged.cli.viewing.Viewer`."""


@lru_cache(maxsize=1)
def list_subjects() -> tuple[Subject, ...]:
    """Return the manifests of the built-in subjects."""
    return tuple(cast("Subject", resolve(f"judged.{name}.subject:SUBJECT")) for name in BUILT_IN)


def list_announced_subjects() -> tuple[Subject, ...]:
    """Return the manifests that installed packages announce; raise `BadPlugin` if one cannot be loaded."""
    subjects = []
    for name in list_announced(ENTRY_POINTS):
        manifest = load_announced(ENTRY_POINTS, name, "subject")
        if not isinstance(manifest, Subject):
            got, expected = f"a {type(manifest).__name__}", "a `judged.subject.Subject`"
            refuse_announced(ENTRY_POINTS, name, "subject", got=got, expected=expected)
        subjects.append(manifest)
    return tuple(subjects)
