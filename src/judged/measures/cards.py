"""Cards: what each measure means, drawn from its own docstring and fields; also as one page of Markdown.

`python -m judged.measures.cards > docs/measures.md` writes the page of all measures.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from dataclasses import dataclass

from judged.measures.catalogue import FAMILIES, PREFERENCE_MEASURES, SESSION_MEASURES, Scored, measure_named
from judged.measures.measure import Measure
from judged.measures.names import other_spellings
from judged.measures.parameters import expectation, written

__all__ = ["Card", "CardParameter", "all_cards", "card", "catalogue_markdown"]

_NOTES = ("Unjudged", "Unlabelled", "Ties", "Empty", "Agrees with")
_SECTIONS = ("Example", "References")
_HEADING = re.compile(rf"^({'|'.join((*_NOTES, *_SECTIONS))}):[ \t]*\n?", re.MULTILINE)
_FORMULA = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)

_ABOUT = {
    "ranked": "Measures of ranked results against graded judgments.",
    "diversity": "Measures of how many different answers a ranking brings. `DR` and `DiversityCount` look at the "
    "`target` that judgments may give each document; a document without one is its own. All others look at "
    "intents: a document may be judged for several intents of its query, with a grade for each. Where judgments "
    "have targets and no intents, a document's target is its intent; where they have neither, these measures are "
    "refused.",
    "browsing": "Measures by a model of the reader, who goes on from each result to the next with a chance that may "
    "depend on rank and gain (C/W/L). `RBP` and `ERR` are of this kind too.",
    "preference": "Measures against preferences, and against the grades of several judges: what groups of judgments "
    "say, which may contradict each other. They need preferences (`judged.read_preferences`) in place of judgments.",
    "session": "Measures of agents that search in iterations: how much that is new and good each iteration brings, how soon, and "
    "how much is repeated. A session is the last turn of a conversation; its iterations are those that searched, numbered from "
    "1. A result is new ($UR$) when it is no duplicate of an earlier one of the session, and good when its gain, from 0 to 4, "
    "is at least `good`; a duplicate never adds gain. `@i` is the value after iteration $i$, `@last`, and no `@` at "
    "all, the one after the session's own last; further on a session keeps its value. An unlabelled result counts as gain 0. What "
    "is undefined is NaN: left out of the mean, and counted. A rate rises when an agent stops early, so it is never shown alone, but "
    "with `CG` and `N`. Some names are those of other families (`DCG`, `nDCG`, `R`): a name is looked up in the family of what "
    "is scored.",
}
_AGGREGATES = {
    "mean": "the mean over {those}",
    "sum": "the sum over {those}",
    "geometric": "the geometric mean over {those}, each at least 0.00001",
    "pooled": "the sum of the numerators of all {those} over the sum of their denominators",
}
_DIRECTIONS = {True: "higher is better", False: "lower is better", None: "describes, without better or worse"}

_PREFACE = """\
# Measures

Every measure, with its formula and conventions. This page is generated from the definitions
(`python -m judged.measures.cards`); `judged measures NAME` prints a single card.

A measure is written as `nDCG@10` or `P(rel=2)@5`, in any case; the names of other tools are taken too.
Where a formula says rel, it is the measure's own `rel`, or else the protocol's, 1 by default.
A query that is judged but missing from the run scores 0, unless the protocol says otherwise; measures that
do not look at the run keep their value.
"""


@dataclass(frozen=True, slots=True)
class CardParameter:
    """One parameter of a measure, in words."""

    name: str
    meaning: str
    expected: str
    default: str
    """As it would be written; empty where the parameter must be given."""
    at: bool
    """Whether `@` sets it."""


@dataclass(frozen=True, slots=True)
class Card:
    """What there is to know about a measure."""

    name: str
    family: str
    title: str
    """The name in words, as its file says it."""
    meaning: str
    formula: str
    """LaTeX, without dollar signs around it."""
    symbols: str
    unjudged: str
    """What becomes of results that nobody judged; of sessions, of those that nobody labelled."""
    ties: str
    empty: str
    agrees_with: str
    example: str
    """Text, then a session of the Python interpreter."""
    references: tuple[str, ...]
    bounds: tuple[float, float] | None
    """None for a measure whose values are strings."""
    direction: str
    aggregate: str
    parameters: tuple[CardParameter, ...]
    spellings: tuple[str, ...]
    """The names that other tools have for it."""

    @property
    def heading(self) -> str:
        """The name, and the family where other measures have the same name."""
        return f"{self.name} (session)" if self.family == "session" else self.name

    @property
    def unknown(self) -> str:
        """What a result is called that nobody has looked at."""
        return "unlabelled" if self.family == "session" else "unjudged"

    @property
    def range(self) -> str:
        """The values it can have, in words: "0 to 1", "0 or more", "any number", "text"."""
        if self.bounds is None:
            return "text"
        low, high = self.bounds
        if math.isinf(low):
            return "any number"
        return f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"

    def to_markdown(self, level: int = 2) -> str:
        """The card as Markdown, under a heading of that level."""
        parts = [
            f"{'#' * level} {self.heading}",
            f"*{self.title}*",
            self.meaning,
            f"$$\n{self.formula}\n$$" if self.formula else "",
            self.symbols,
            _facts(self),
            _parameters(self.parameters),
            f"**Example.** {_example(self.example)}" if self.example else "",
            "\n".join(f"- {reference}" for reference in self.references),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"


def card(measure: Measure | str, *, family: Scored = "ranked") -> Card:
    """The card of a measure, or of the measure of that canonical name."""
    it = measure_named(measure, family) if isinstance(measure, str) else _bare(measure)
    those = "sessions" if it.family == "session" else "queries"
    text = inspect.getdoc(it.function) or ""
    head, sections = _sections(text)
    formula = _FORMULA.search(head)
    before, after = (head[: formula.start()], head[formula.end() :]) if formula else (head, "")
    return Card(
        name=it.name,
        family=it.family,
        title=_title(it),
        meaning=_one_line(before) or "Whoever defined it says nothing of it.",
        formula=inspect.cleandoc(formula[1]) if formula else "",
        symbols=_one_line(after),
        unjudged=_one_line(sections.get("Unlabelled", sections.get("Unjudged", ""))),
        ties=_one_line(sections.get("Ties", "")),
        empty=_one_line(sections.get("Empty", "")),
        agrees_with=_one_line(sections.get("Agrees with", "")),
        example=_runnable(it, sections.get("Example", "")),
        references=_references(sections.get("References", "")),
        bounds=None if it.text else it.bounds,
        direction=_DIRECTIONS[it.higher_is_better],
        aggregate="shown for each query only" if it.text else _AGGREGATES[it.aggregate].format(those=those),
        parameters=tuple(_described(it)),
        spellings=tuple(other_spellings(it.name, _scored(it))),
    )


def catalogue_markdown() -> str:
    """The page of all measures, family by family."""
    parts = [_PREFACE]
    every = all_cards()
    for family, about in _ABOUT.items():
        cards = [each for each in every if each.family == family]
        rows = [f"| [{each.name}](#{_anchor(each.heading)}) | {each.meaning} |" for each in cards]
        parts.append(f"## {family.capitalize()}\n\n{about}\n")
        parts.append("\n".join(["| measure | what it tells |", "|---|---|", *rows]) + "\n")
        parts += [each.to_markdown(level=3) for each in cards]
    return "\n".join(parts)


def all_cards() -> list[Card]:
    """The card of every measure, family by family; those that someone defined before preferences and sessions."""
    of_runs = [*(name for names in FAMILIES.values() for name in names), *PREFERENCE_MEASURES]
    return [*map(card, of_runs), *(card(name, family="session") for name in SESSION_MEASURES)]


def _anchor(heading: str) -> str:
    """What a link to a heading ends in."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def _bare(measure: Measure) -> Measure:
    """The measure as it stands in the catalogue, without parameters."""
    return measure_named(measure.name, _scored(measure))


def _scored(measure: Measure) -> Scored:
    return "session" if measure.family == "session" else "ranked"


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """What a docstring says first, and its headed parts by name."""
    pieces = _HEADING.split(text)
    return pieces[0], dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _title(measure: Measure) -> str:
    """What the file of a measure says that it is for; of a measure that was defined, where that was done."""
    module = measure.function.__module__
    if measure.family == "custom":
        return f"Defined in `{module}`."
    return (inspect.getdoc(sys.modules[module]) or "").partition("\n")[0]


def _runnable(measure: Measure, text: str) -> str:
    """A docstring's example with the import that its module does not need."""
    if ">>> " not in text or measure.function.__module__ == "__main__":
        return inspect.cleandoc("\n" + text)
    words, prompt, session = inspect.cleandoc("\n" + text).partition(">>> ")
    function = measure.function
    return f"{words}>>> from {function.__module__} import {function.__name__}\n{prompt}{session}"


def _references(text: str) -> tuple[str, ...]:
    """One reference after another: each ends where a line ends in a full stop, a year or a DOI."""
    found: list[str] = []
    for line in inspect.cleandoc("\n" + text).splitlines():
        if found and (line.startswith("doi:") or (not found[-1].endswith(".") and "doi:" not in found[-1])):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return tuple(found)


def _described(measure: Measure) -> list[CardParameter]:
    """Every parameter of the measure, the one that `@` sets first."""
    required = inspect.Parameter.empty
    described = [
        CardParameter(
            name=name,
            meaning=measure.parameter(name).meaning,
            expected=expectation(measure.parameter(name), measure.words[name]),
            default="" if default is required else _default(name, default),
            at=name == measure.at,
        )
        for name, default in measure.defaults.items()
    ]
    return sorted(described, key=lambda each: not each.at)


def _default(name: str, default: object) -> str:
    """A default as it would be written; None in words, for it means something else in each case."""
    if default is None:
        return _NONE.get(name, "not set")
    return written(int(default) if isinstance(default, float) and default == int(default) else default)  # type: ignore[arg-type]


_NONE = {
    "cutoff": "all results",
    "rel": "the protocol's",
    "gain": "1 if relevant, else 0",
    "gains": "no exceptions",
    "max_grade": "the highest of all judgments",
    "collection": "only what is judged",
    "weight": "the square of `beta`",
    "stops": "as the gains",
}


def _facts(it: Card) -> str:
    """The conventions of a measure as a list."""
    facts = {
        it.unknown.capitalize(): it.unjudged,
        "Ties": it.ties,
        "Empty": it.empty,
        "Agrees with": it.agrees_with,
        "Values": f"{it.range}; {it.direction}; {it.aggregate}.",
        "Also written": ", ".join(f"`{name}`" for name in it.spellings),
    }
    return "\n".join(f"- **{name}:** {value}" for name, value in facts.items() if value)


def _parameters(parameters: tuple[CardParameter, ...]) -> str:
    """The parameters as a table."""
    if not parameters:
        return ""
    rows = [
        f"| `{each.name}`{' (`@`)' if each.at else ''} | {each.meaning} | {each.expected} "
        f"| {each.default or '*must be given*'} |"
        for each in parameters
    ]
    return "\n".join(["| parameter | meaning | values | default |", "|---|---|---|---|", *rows])


def _example(text: str) -> str:
    """An example as Markdown: its words, then its session as code."""
    words, prompt, session = text.partition(">>> ")
    return f"{_one_line(words)}\n\n```pycon\n>>> {session.strip()}\n```" if prompt else _one_line(words)


if __name__ == "__main__":
    sys.stdout.write(catalogue_markdown())
