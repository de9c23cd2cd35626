"""Formats of scores: how the files of each tool are recognised and read, and the list of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judged.errors import BadInput, UnknownName
from judged.io.scores.content import Content
from judged.problem import Place, Problem
from judged.registry import Registry
from judged.tables.scores import ScoreKind


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one query, in one attempt of one system."""

    place: Place
    values: Mapping[str, object]
    """For each measure its value, as the file has it: a number, true or false, text that is a number, or nothing."""
    query: object = None
    """Id of the query, the same in every run of the tool; None if the file has none."""
    text: object = None
    """The text of the question."""
    system: str | None = None
    """None: the file names no system."""
    attempt: object = None
    attributes: Mapping[str, object] = field(default_factory=dict)
    """Values that are not measures."""


Reader = Callable[[Content], Iterable[Record]]
Kinds = Callable[[Content, Sequence[Record]], Mapping[str, ScoreKind]]


def know_nothing(content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:  # noqa: ARG001 - one seam
    """Return that nothing is known about the measures, as of files that any program may have written."""
    return {}


@dataclass(frozen=True, slots=True)
class ScoreFormat:
    """One way to write values of measures by query."""

    name: str
    """The name that users write: `lm-eval`."""
    title: str
    """Noun phrase that fits after "read as"."""
    holds: str
    """The files it reads, for documentation."""
    recognises: Callable[[Content], bool]
    """Returns whether a file has this format, by its keys or columns."""
    read: Reader
    """Yields the values of each query; wrong rows go to the problems of the content."""
    kinds: Kinds = know_nothing
    """Returns what the tool says about its measures."""
    direction: str = "as `--higher` and `--lower` say"
    """Origin of the direction of its measures, for documentation."""


SCORE_FORMATS: Registry[ScoreFormat] = Registry("format of scores")
"""Every format by name, imported when it is used."""
for _name, _place in {
    "ragas": "ragas",
    "deepeval": "deepeval",
    "promptfoo": "promptfoo",
    "inspect-ai": "inspect_ai",
    "lm-eval": "lm_eval",
    "langsmith": "langsmith",
    "langfuse": "langfuse",
    "braintrust": "braintrust",
    "phoenix": "phoenix",
    "lines": "lines",
    "means": "means",
    "long": "long",
    "wide": "wide",
}.items():
    SCORE_FORMATS.add(_name, f"judged.io.scores.{_place}:FORMAT")

GENERAL = ("long", "wide")
"""Formats that any program may write; the first that fits reads a file that no tool's format recognises."""


def find_format(content: Content, name: str | None = None) -> ScoreFormat:
    """Return the format of a file, or the one named; raise `BadInput` if none fits, or if several do."""
    if name is not None:
        return SCORE_FORMATS[name]
    tools = [known for known in _list_formats() if known.name not in GENERAL and known.recognises(content)]
    if len(tools) > 1:
        names = " and ".join(f"`{tool.name}`" for tool in tools)
        message = f"can be read as scores of {names}"
        problem = Problem.error("several-formats", content.label, message)
        raise BadInput(content.label, [problem], hint=f"name one: `--scores-format {tools[0].name}`")
    general = (known for known in _list_formats() if known.name in GENERAL and known.recognises(content))
    found = next(iter(tools), None) or next(general, None)
    if found is None:
        message = f"holds no scores by query: {content.describe()}"
        problem = Problem.error("unknown-format", content.label, message)
        hint = "a table has a row for each query and a column for each measure"
        values = list(content.document.values()) if content.document else []
        if values and all(isinstance(value, int | float) for value in values):
            hint = "its keys may be queries or measures: expected a dict from each query to its values by measure"
        raise BadInput(content.label, [problem], hint=hint)
    return found


def check_format(name: str | None) -> None:
    """Raise `UnknownName` unless a format has that name."""
    if name is not None and name not in SCORE_FORMATS:
        raise UnknownName(SCORE_FORMATS.kind, name, list(SCORE_FORMATS))


def _list_formats() -> Iterator[ScoreFormat]:
    return (SCORE_FORMATS[name] for name in SCORE_FORMATS)


def know_directions(
    names: Iterable[str],
    *,
    lower: Iterable[str] = (),
    higher: Iterable[str] | None = None,
    bounds: tuple[float, float] | None = None,
) -> dict[str, ScoreKind]:
    """Return the directions of measures: those of `lower` fall, those of `higher` rise; None: all others rise."""
    down, up = set(lower), None if higher is None else set(higher)
    kinds = {}
    for name in names:
        better = False if name in down else True if up is None or name in up else None
        kinds[name] = ScoreKind(better) if bounds is None or better is None else ScoreKind(better, bounds)
    return kinds


def list_measures(records: Iterable[Record]) -> list[str]:
    """Return the measures of records, in the order in which they first occur."""
    return list(dict.fromkeys(name for record in records for name in record.values))
