"""Tasks of labellers: what one label is about, what the model reads of it, and the table that the labels make.

A subject adds a task with a `Task` in its manifest, a prompt file with the scale, and a pool of `Item`s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from judged.problem import Note
from judged.registry import Registry
from judged.result import InputFile


class Task(NamedTuple):
    """A kind of label; the scale is declared by its prompt."""

    name: str
    prompt: str
    """The built-in prompt, as "package:path"."""
    unit: str = "result"
    """The thing that one label is about, in the singular, as prompt files and messages name it."""
    texts: tuple[str, ...] = ("query", "title", "text")
    """Names of the texts that describe a unit, which are the placeholders of prompts."""
    optional: tuple[str, ...] = ("title",)
    """Names of texts that a template may leave out, and a unit may lack."""
    table: str = "labels"
    """The table that the labels make."""
    command: str = ""
    """Command that reads the inputs of this task, as "module:attribute"; empty: `judged label` itself."""
    reader: str = ""
    """Function that returns the labels of a source as `WordLabels`, or None, as "module:attribute"; empty: they are grades."""

    def read_prompt_file(self) -> tuple[bytes, str]:
        """Return the content and the name of the built-in prompt."""
        package, _, path = self.prompt.partition(":")
        return files(package).joinpath(path).read_bytes(), path.rpartition("/")[2]


RELEVANCE = Task("relevance", "judged.labels:prompts/relevance.yaml")
UMBRELA = Task("umbrela", "judged.labels:prompts/umbrela.yaml")
PREFER = Task(
    "prefer",
    "judged.labels:prompts/prefer.yaml",
    unit="pair",
    texts=("query", "first", "second"),
    optional=(),
    table="preferences",
    command="judged.labels.commands.prefer:prefer",
)

TASKS: Registry[Task] = Registry("task", of_subject=lambda subject: subject.tasks)
"""Every task by name."""


class WordLabel(NamedTuple):
    """A label in words: its query, what it is about, and its place on the scale."""

    query: str
    unit: str
    level: int


class WordLabels(NamedTuple):
    """Labels in words, and their scale from its lowest word."""

    labels: tuple[WordLabel, ...]
    scale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One unit to be labelled."""

    texts: Mapping[str, str]
    """What the model reads of it, by the names that its task has for it."""
    row: Mapping[str, object]
    """Contents of its label besides the value: what it belongs to, and the keys that identify it."""

    @classmethod
    def of_result(cls, query: str, title: str, text: str, row: Mapping[str, object]) -> Item:
        """Return a result of a query, or of a task."""
        return cls({"query": query, "title": title, "text": text}, row)

    @property
    def query(self) -> str:
        """Information need: the question of the session, or the text of the query."""
        return self.texts["query"]

    @property
    def title(self) -> str:
        """Title of the result."""
        return self.texts["title"]

    @property
    def text(self) -> str:
        """Text of the result."""
        return self.texts["text"]


@dataclass(frozen=True)
class Pool:
    """Everything to be labelled, and what was left out."""

    items: tuple[Item, ...]
    results: int
    """Number of units that the inputs hold, repeated ones included."""
    judged: int = 0
    """Number of distinct ones that have a label already."""
    column: str = "grade"
    """Column of the labels: `grade` for runs, `gain` for traces, `label` for labels in words."""
    notes: tuple[Note, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    """The files that the pool was built from."""
