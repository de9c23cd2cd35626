"""Cards: what each measure means, drawn from its own docstring and fields; also as one page of Markdown.

`python -m judged.measures.cards > docs/measures.md` writes the page of all measures.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from dataclasses import dataclass

from judged.measures.groups import SCOPES, find_measure, list_groups
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.parameters import describe_values, format_value

_NOTES = ("Title", "Unjudged", "Unlabelled", "Ties", "Empty", "Agrees with")
_SECTIONS = ("Example", "References")
_HEADING = re.compile(rf"^({'|'.join((*_NOTES, *_SECTIONS))}):[ \t]*\n?", re.MULTILINE)
_FORMULA = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)

_AGGREGATES = {
    "mean": "the mean over {unit}",
    "sum": "the sum over {unit}",
    "geometric": "the geometric mean over {unit}, each at least 0.00001",
    "pooled": "the sum of the numerators of all {unit} over the sum of their denominators",
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
    """The documentation of one measure."""

    name: str
    group: str
    heading: str
    """The name, and the family where others have measures of the same name."""
    full_name: str
    """The name in words: "Normalised discounted cumulative gain"."""
    title: str
    """The name in words, and what the measure is for."""
    meaning: str
    formula: str
    """LaTeX, without dollar signs around it."""
    symbols: str
    unknown: str
    """The word for a result without a grade: "unjudged" or "unlabelled"."""
    unjudged: str
    """Treatment of unjudged results, or in sessions of unlabelled ones."""
    ties: str
    empty: str
    agrees_with: str
    example: str
    """Text, then a session of the Python interpreter."""
    references: tuple[str, ...]
    bounds: tuple[float, float] | None
    """None for a measure whose values are strings."""
    range: str
    """The same in words: "0 to 1", "0 or more", "any number", "text"."""
    direction: str
    aggregate: str
    parameters: tuple[CardParameter, ...]
    spellings: tuple[str, ...]
    """Its other names, those of other tools for the most part, each with the parameters that it implies."""

    def to_markdown(self, level: int = 2) -> str:
        """Return the card as Markdown, under a heading of that level."""
        parts = [
            f"{'#' * level} {self.heading}",
            f"*{self.title}*",
            self.meaning if self.meaning != self.title else "",
            f"$$\n{self.formula}\n$$" if self.formula else "",
            self.symbols,
            _render_facts(self),
            _render_parameters(self.parameters),
            f"**Example.** {_render_example(self.example)}" if self.example else "",
            "\n".join(f"- {reference}" for reference in self.references),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"


def make_card(measure: Measure | str, *, family: str = "ranked") -> Card:
    """Return the card of a measure, or of the measure of that canonical name."""
    bare = find_measure(
        measure if isinstance(measure, str) else measure.name,
        family if isinstance(measure, str) else _scope(measure),
    )
    head, sections = _split_sections(inspect.getdoc(bare.function) or "")
    _, formula, symbols = _split_formula(head)
    scope = SCOPES[_scope(bare)]
    return Card(
        name=bare.name,
        group=bare.group,
        heading=bare.name if scope.name == "ranked" else f"{bare.name} ({scope.name})",
        full_name=read_full_name(bare),
        title=_read_title(bare) or f"Defined in `{bare.function.__module__}`.",
        meaning=read_summary(bare),
        formula=formula,
        symbols=" ".join(filter(None, (symbols, bare.note, _explain_companions(bare)))),
        unknown=scope.unknown,
        unjudged=_join(sections.get("Unlabelled", sections.get("Unjudged", ""))) or _unjudged_by_law(bare),
        ties=_join(sections.get("Ties", "")) or _ties_by_law(bare),
        empty=_join(sections.get("Empty", "")) or _empty_by_law(bare),
        agrees_with=_join(sections.get("Agrees with", "")),
        example=_make_runnable(scope.name, sections.get("Example", "")),
        references=_split_references(sections.get("References", "")),
        bounds=None if bare.text else bare.bounds,
        range=describe_range(bare),
        direction=_DIRECTIONS[bare.higher_is_better],
        aggregate="shown for each query only"
        if bare.text
        else _AGGREGATES[bare.aggregate].format(unit=scope.unit),
        parameters=tuple(_describe_parameters(bare)),
        spellings=tuple(_list_spellings(bare)),
    )


def read_summary(measure: Measure) -> str:
    """Return what a measure means, by its function's docstring, or by its title where functions are shared."""
    if measure.fixed:
        return measure.title
    head, _ = _split_sections(inspect.getdoc(measure.function) or "")
    words = _join(_split_formula(head)[0]).removeprefix("Return ")
    return words[:1].upper() + words[1:] or "No description was given."


def read_full_name(measure: Measure) -> str:
    """Return the name of a measure in words; its short name if it has no other.

    >>> read_full_name(find_measure("ERR"))
    'Expected reciprocal rank'
    """
    return _read_title(measure).partition(": ")[0].removesuffix(".") or measure.name


def _read_title(measure: Measure) -> str:
    """Return a measure's title, or that in the docstring of its function."""
    _, sections = _split_sections(inspect.getdoc(measure.function) or "")
    return measure.title or _join(sections.get("Title", ""))


def _list_spellings(measure: Measure) -> list[str]:
    """Return the other names of a measure: `ndcg_cut`, `ndcg_burges (gain="exp")`."""
    spellings = []
    for name, alias in SCOPES[_scope(measure)].aliases.items():
        if alias.measure == measure.name:
            implied = ", ".join(f"{key}={format_value(value)}" for key, value in alias.parameters.items())  # type: ignore[arg-type]
            spellings.append(f"{name} ({implied})" if implied else name)
    return spellings


def describe_range(measure: Measure) -> str:
    """Say which values a measure can have: "0 to 1", "0 or more", "any number", "text"."""
    if measure.text:
        return "text"
    low, high = measure.bounds
    if math.isinf(low):
        return "any number"
    return f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"


def render_catalogue() -> str:
    """Return the page of all measures, group by group, as Markdown."""
    parts = [_PREFACE]
    every = list_cards()
    for group in list_groups():
        if group == "custom":
            continue
        about = SCOPES[_scope_of(group)].about.get(group, "")
        cards = [card for card in every if card.group == group]
        rows = [
            f"| [{card.name}](#{_anchor(card.heading)}) | {card.full_name} | {card.meaning} |"
            for card in cards
        ]
        parts.append(f"## {group.capitalize()}\n\n{about}\n")
        parts.append("\n".join(["| measure | full name | meaning |", "|---|---|---|", *rows]) + "\n")
        parts += [card.to_markdown(level=3) for card in cards]
    return "\n".join(parts)


def list_cards() -> list[Card]:
    """Return the card of every measure, group by group, user-defined ones last."""
    return [
        make_card(name, family=_scope_of(group)) for group, names in list_groups().items() for name in names
    ]


def _scope(measure: Measure) -> str:
    return _scope_of(measure.group)


def _scope_of(group: str) -> str:
    """Return the scope that a group's names are looked up in."""
    if group in SCOPES:
        return group
    return next(name for name in SCOPES if group in SCOPES[name].groups)


def _ties_by_law(measure: Measure) -> str:
    """Say what ties do, for measures whose docstring leaves it to their laws and their family."""
    if measure.group == "custom" or _scope(measure) != "ranked":
        return ""
    if measure.laws & {Law.ORDER_FREE, Law.RUN_FREE}:
        return "do not matter."
    if measure.needs == "preferences":
        return f'{_TIE_RULE}; trec_eval itself orders equal scores by document id ascending here, which is `ties="document-ascending"`.'
    return f"{_TIE_RULE}."


def _explain_companions(measure: Measure) -> str:
    """Say why a rate of sessions is not shown alone."""
    if not measure.companions or (Law.RATE not in measure.laws and measure.averaged is None):
        return ""
    moves = "rises" if measure.higher_is_better else "falls"
    companions = " and ".join(f"`{name}`" for name in measure.companions)
    return f"It {moves} when an agent stops early, so it is never shown alone: read it together with {companions}."


def _empty_by_law(measure: Measure) -> str:
    """Say what no results have, for measures whose docstring leaves it to their laws."""
    if measure.group == "browsing" and Law.ZERO_IF_NOTHING_FOUND in measure.laws:
        return "0 when nothing with a positive grade is retrieved."
    if measure.group != "session":
        return ""
    nothing = "for a session that never searched or found nothing"
    if Law.UNDEFINED_IF_NOTHING_FOUND in measure.laws:
        return f"undefined (NaN, left out of the mean and counted) {nothing} at all."
    return f"0 {nothing}, which stays in the mean." if Law.ZERO_IF_NOTHING_FOUND in measure.laws else ""


_TIE_RULE = "results are in the order that the protocol's tie rule gives"
_UNJUDGED = {
    "intents": "answers no intent.",
    "preferences": "a document that no group compares does not matter.",
    "judges": "counts as not relevant, group by group; removed group by group if the protocol removes unjudged results.",
}


def _unjudged_by_law(measure: Measure) -> str:
    """Say what unjudged or unlabelled results do, for measures whose docstring leaves it to their laws."""
    if measure.group == "session":
        if Law.GAIN_FREE in measure.laws:
            return "does not matter."
        return (
            "counts as gain 0, so that more labels can only raise the value."
            if Law.GROWS in measure.laws
            else ""
        )
    if measure.group == "custom":
        return ""
    if Law.RELEVANCE_ONLY in measure.laws:
        return "counts as not relevant."
    if measure.group == "browsing":
        return "has no gain; `EU_residual` shows how much that could matter."
    return "has no gain." if Law.GAIN_ONLY in measure.laws else _UNJUDGED.get(measure.needs, "")


def _anchor(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def _split_sections(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its first part and its headed sections by name."""
    pieces = _HEADING.split(text)
    return pieces[0], dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _split_formula(text: str) -> tuple[str, str, str]:
    """Split the first part of a docstring into the words before the formula, the formula, and those after it."""
    formula = _FORMULA.search(text)
    if formula is None:
        return text, "", ""
    return text[: formula.start()], inspect.cleandoc(formula[1]), _join(text[formula.end() :])


def _join(text: str) -> str:
    return " ".join(text.split())


EXAMPLE_SETUP = {
    "ranked": "import judged",
    "timing": "import judged",
    **dict.fromkeys(("neighbour", "routing", "skipping", "reranking", "answer", "click"), "import judged"),
    "session": """\
import judged
def iteration(**gains):
    results = [{"id": id, "gain": gain} for id, gain in gains.items()]
    return {"searches": [{"results": results}]}""",
}
"""Preamble of the examples of each scope, which their docstrings leave out."""


def _make_runnable(scope: str, text: str) -> str:
    """Put the setup that an example needs before its first line."""
    words, prompt, session = inspect.cleandoc("\n" + text).partition(">>> ")
    if "judged." not in session:
        return words + prompt + session
    lines = EXAMPLE_SETUP[scope].splitlines()
    setup = [f"{'...' if line.startswith(' ') else '>>>'} {line}\n" for line in lines]
    return words + "".join(setup) + prompt + session


def _split_references(text: str) -> tuple[str, ...]:
    """Split references: each ends where a line ends in a full stop or a DOI."""
    found: list[str] = []
    for line in map(str.strip, text.strip().splitlines()):
        if found and (line.startswith("doi:") or (not found[-1].endswith(".") and "doi:" not in found[-1])):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return tuple(found)


def _describe_parameters(measure: Measure) -> list[CardParameter]:
    """Describe every parameter of the measure, the one that `@` sets first."""
    required = inspect.Parameter.empty
    described = [
        CardParameter(
            name=name,
            meaning=measure.parameter(name).meaning,
            expected=describe_values(measure.parameter(name), measure.words[name]),
            default="" if default is required else _format_default(name, default),
            at=name == measure.at_parameter,
        )
        for name, default in measure.defaults.items()
    ]
    return sorted(described, key=lambda parameter: not parameter.at)


def _format_default(name: str, default: object) -> str:
    """Return a default as it would be written; None in words, because its meaning differs by parameter."""
    if default is None:
        return _NONE.get(name, "not set")
    return format_value(int(default) if isinstance(default, float) and default == int(default) else default)  # type: ignore[arg-type]


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


def _render_facts(card: Card) -> str:
    """Return the conventions of a measure as a list."""
    facts = {
        card.unknown.capitalize(): card.unjudged,
        "Ties": card.ties,
        "Empty": card.empty,
        "Agrees with": card.agrees_with,
        "Values": f"{card.range}; {card.direction}; {card.aggregate}.",
        "Also written": ", ".join(_quote_name(name) for name in card.spellings),
    }
    return "\n".join(f"- **{name}:** {value}" for name, value in facts.items() if value)


def _quote_name(spelling: str) -> str:
    """Put the name in backticks, and the parameters that it implies."""
    name, _, implied = spelling.partition(" (")
    return f"`{name}` (`{implied.removesuffix(')')}`)" if implied else f"`{name}`"


def _render_parameters(parameters: tuple[CardParameter, ...]) -> str:
    """Return the parameters as a table."""
    if not parameters:
        return ""
    rows = [
        f"| `{parameter.name}`{' (`@`)' if parameter.at else ''} | {parameter.meaning} | {parameter.expected} "
        f"| {parameter.default or '*must be given*'} |"
        for parameter in parameters
    ]
    return "\n".join(["| parameter | meaning | values | default |", "|---|---|---|---|", *rows])


def _render_example(text: str) -> str:
    """Return an example as Markdown: its words, then its session as code."""
    words, prompt, session = text.partition(">>> ")
    return f"{_join(words)}\n\n```pycon\n>>> {session.strip()}\n```" if prompt else _join(words)


if __name__ == "__main__":
    sys.stdout.write(render_catalogue())
