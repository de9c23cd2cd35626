"""`read_scores`: the scores of every query that any tool wrote, by system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType

from judged.errors import BadInput, BadMeasure, JudgedError, UnknownName, check_kind
from judged.io.scores.assemble import assemble
from judged.io.scores.content import Content, open_content
from judged.io.scores.format import GENERAL, ScoreFormat, check_format, find_format
from judged.problem import Problem
from judged.tables.mapping import ColumnMap, Columns, MappedPath
from judged.tables.scores import ScoreKind, Scores


@dataclass(frozen=True)
class ScoreFile:
    """The scores that a file holds, and what it says about itself."""

    systems: Mapping[str, Scores]
    format: ScoreFormat
    content: Content


def read_scores(
    source: object,
    *,
    name: str | None = None,
    higher: str | Iterable[str] = (),
    lower: str | Iterable[str] = (),
    format: str | None = None,  # noqa: A002 - what users call it
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> dict[str, Scores]:
    """Return the scores of every query that a tool wrote, by system.

    `source` is a file of any tool that judged knows, a wide or long table of any format, a data frame, a dict from query
    to scores, or rows as dicts. `name` is that of a system that the source does not name. Measures keep the names
    that they have there; `higher` and `lower` name those of which more, or less, is better. `map` names columns by field,
    where their own names are not known: `map={"query": "frage", "system": "modell"}`.

    >>> scores = read_scores({"q1": {"faithfulness": 0.5}, "q2": {"faithfulness": None}}, name="bot", higher="faithfulness")
    >>> scores["bot"], scores["bot"].kinds["faithfulness"].higher_is_better
    (Scores('bot', 2 queries: faithfulness), True)
    """
    check_kind("name", name, (str, NoneType), "a name, or None")
    check_kind("format", format, (str, NoneType), "the name of a format, or None")
    if isinstance(source, Scores):
        found: Mapping[str, Scores] = {name or source.run: source}
    else:
        found = read_file(source, name=name, format=format, map=map).systems
    systems = set_directions(list(found.values()), list_names("higher", higher), list_names("lower", lower))
    return dict(zip(found, systems, strict=True))


def read_file(
    source: object,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - what users call it
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> ScoreFile:
    """Return the scores of a source, its format and its content."""
    check_format(format)
    named = source.map if isinstance(source, MappedPath) else None
    content = open_content(source, name=name, map=named if map is None else ColumnMap.check(map))
    content.check_empty()
    written = find_format(content, format)
    records = list(written.read(content))
    kinds = written.kinds(content, records)
    systems = assemble(content, records, kinds)
    if not any(scores.values for scores in systems.values()):
        message = f"holds no values of measures: {content.describe()}"
        warned = next((note.message for note in content.notes if note.severity == "warning"), None)
        hint = "measures are columns of numbers" if written.name == "wide" else warned
        raise BadInput(content.label, [Problem.error("no-measures", content.label, message)], hint=hint)
    notes = tuple(content.notes)
    return ScoreFile({key: replace(scores, notes=notes) for key, scores in systems.items()}, written, content)


def find_tool(path: str) -> ScoreFormat | None:
    """Return the format of a tool by which a file holds scores; None if no tool's format recognises it."""
    try:
        content = open_content(path)
        found = find_format(content)
        next(iter(found.read(content)), None)  # refuses columns that fit the format and hold something else
    except (JudgedError, OSError, ValueError):
        return None
    return None if found.name in GENERAL else found


def set_directions(systems: Sequence[Scores], higher: Sequence[str], lower: Sequence[str]) -> list[Scores]:
    """Return scores in which some measures have a direction that was chosen; raise an error for one that has none of them."""
    both = set(higher) & set(lower)
    if both:
        msg = f"`{min(both)}` is named by both `higher` and `lower`, expected one of them"
        raise BadMeasure(msg)
    known = dict.fromkeys(name for scores in systems for name in scores.values)
    for name in (*higher, *lower):
        if name not in known:
            raise UnknownName("measure of these scores", name, list(known))
    chosen = {**dict.fromkeys(higher, True), **dict.fromkeys(lower, False)}
    return [
        replace(
            scores,
            kinds={
                name: replace(scores.kinds.get(name, ScoreKind()), higher_is_better=chosen[name])
                if name in chosen
                else scores.kinds.get(name, ScoreKind())
                for name in scores.values
            },
        )
        for scores in systems
    ]


def list_names(argument: str, names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a text is one name, not its letters."""
    check_kind(argument, names, Iterable, "the name of a measure, or several")
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        check_kind(argument, name, str, "the name of a measure, or several")
    return listed
