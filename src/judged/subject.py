"""Subjects: what the core does not know, each in a folder with a manifest of strings.

A manifest says where a subject's families, results, tables, measures, pages and commands are, so that the core can list
and find them without importing the subject. Built-in subjects are listed here; packages add others by an entry point
of the group `judged.subjects`, which names their manifest. These are looked up only for a name that is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from judged.plugins import list_announced, load_announced, refuse_announced, resolve

ENTRY_POINTS = "judged.subjects"

BUILT_IN = ("agents", "labels", "index", "studies")
"""The folders of the built-in subjects, in the order in which help and documentation list them."""


@dataclass(frozen=True)
class Command:
    """A command: where it is, and its one line in `judged --help`."""

    home: str
    help: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The manifest of a subject; every value is "module:attribute", resolved when it is used."""

    name: str
    title: str
    """The heading of its commands in `judged --help`."""
    families: Mapping[str, str] = field(default_factory=dict)
    """Families of measures, by name."""
    measures: str = ""
    """The module that lists its measures, as `python -m judged.measures.index` writes it."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Schemas of the tables it reads, by name."""
    results: Mapping[str, str] = field(default_factory=dict)
    """Classes of results, by kind."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Pages of the report, by name."""
    commands: Mapping[str, Command] = field(default_factory=dict)
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
