"""From what people write to measures: `nDCG@10`, `P(rel=2)@5`, `ndcg_cut_10`, `hit@3`, in any case."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from judged.errors import BadMeasure, UnknownName
from judged.measures.catalogue import MEASURES
from judged.measures.measure import Measure
from judged.measures.plugins import load_plugin, plugin_names
from judged.measures.trec_names import NICKNAMES, expand

__all__ = [
    "ALIASES",
    "Alias",
    "Words",
    "named_otherwise",
    "other_spellings",
    "parse_measure",
    "parse_measures",
    "readable",
    "split_measures",
    "words_of",
]


@dataclass(frozen=True, slots=True)
class Alias:
    """Another tool's name: the measure, the parameters it implies, and what a number after it sets."""

    measure: str
    given: Mapping[str, object] = field(default_factory=dict)
    number: str | None = None
    """The parameter that a number sets; None: the one that `@` sets."""
    convert: Callable[[float], float] = lambda number: number


ALIASES: dict[str, Alias] = {
    "map": Alias("AP"),
    "map_cut": Alias("AP"),
    "mrr": Alias("RR"),
    "recip_rank": Alias("RR"),
    "precision": Alias("P"),
    "recall": Alias("R"),
    "R_cap": Alias("R", {"over": "cutoff"}),
    "capped_recall": Alias("R", {"over": "cutoff"}),
    "relative_P": Alias("R", {"over": "cutoff"}),
    "hit": Alias("Success"),
    "hit_rate": Alias("Success"),
    "ndcg_cut": Alias("nDCG"),
    "ndcg_burges": Alias("nDCG", {"gain": "exp"}),
    "dcg_burges": Alias("DCG", {"gain": "exp"}),
    "ideal_dcg": Alias("IDCG"),
    "r-precision": Alias("Rprec"),
    "Rprec_mult": Alias("Rprec", number="multiple"),
    "iprec_at_recall": Alias("IPrec"),
    "11pt_avg": Alias("AP11"),
    "11pt": Alias("AP11"),
    "gm_map": Alias("gm_AP"),
    "gmap": Alias("gm_AP"),
    "rbp_resid": Alias("RBP_residual", {"p": 0.9, "tail": "unjudged"}),
    "unj": Alias("Unjudged"),
    "fall_out": Alias("FallOut"),
    "set_P": Alias("SetP"),
    "set_recall": Alias("SetR"),
    "set_F": Alias("SetF", number="weight"),
    "set_map": Alias("SetAP"),
    "set_relative_P": Alias("SetRelP"),
    "num_q": Alias("NumQ"),
    "num_ret": Alias("NumRet"),
    "num_rel": Alias("NumRel"),
    "num_rel_ret": Alias("NumRelRet"),
    "num_nonrel_judged_ret": Alias("NumNonrelJudgedRet"),
    "MSnDCG": Alias("nDCG"),
    "Q-measure": Alias("Q"),
    "QMeasure": Alias("Q"),
    "O-measure": Alias("O"),
    "OMeasure": Alias("O"),
    "P-measure": Alias("P_measure"),
    "PMeasure": Alias("P_measure"),
    "P-plus": Alias("P_plus"),
    "PPlusMeasure": Alias("P_plus"),
    "NCUguP": Alias("NCU", {"stop": "graded", "beta": 0}),
    "NCUguBR": Alias("NCU", {"stop": "graded"}),
    "NCUrbP": Alias("NCU", {"stop": "biased", "beta": 0}),
    "NCUrbBR": Alias("NCU", {"stop": "biased"}),
    "compatibility": Alias("Compat"),
    "diversity_count": Alias("DiversityCount"),
    "diversity": Alias("DiversityCount"),
}
"""Other tools' names, each with what it stands for; looked up without regard to case.

Left out where the other tool's number is another one: ranx' `hits` counts, BEIR's `Hole` looks at all queries.
"""

_SPELLINGS: dict[tuple[str, object], dict[str, object]] = {
    ("dcg", "log2"): {"gain": "linear"},
    ("dcg", "exp-log2"): {"gain": "exp"},
    ("judged_only", False): {},
    ("min_rel", 0): {},
    ("normalize", True): {"over": "ideal"},
    ("normalize", False): {"over": "everything"},
}
"""Parameters of ir_measures with their values, and what they are here."""

_RENAMED = {"max_rel": "max_grade"}
"""Parameters that ir_measures calls otherwise."""

_INSTEAD = {("NumRet", "rel"): "NumRelRet"}
"""Where a parameter makes another measure of it: ir_measures' `NumRet(rel=1)`."""

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_WRITTEN = re.compile(
    rf"""(?P<name>[A-Za-z0-9_-]+?)
         (?:\((?P<inside>.*)\))?
         (?:(?P<mark>@|_at_|[_.])(?P<numbers>{_NUMBER}(?:,{_NUMBER})*))?
         (?:-l(?P<level>[0-9]+))?""",
    re.VERBOSE | re.DOTALL,
)
_NEXT = re.compile(rf",\s*(?!{_NUMBER}(?:,|\s|$))|\s")
"""What stands between two measures of one string: a space, or a comma that no further cutoff follows."""


@dataclass(frozen=True, slots=True)
class Words:
    """The parts of a text that names a measure, before anyone has said what they mean."""

    name: str
    inside: Mapping[str, object] = field(default_factory=dict)
    """The parameters between brackets."""
    mark: str = ""
    """What stands before the numbers: `@`, `_at_`, `_` or a full stop."""
    numbers: tuple[str, ...] = ()
    level: int | None = None
    """The number after `-l`."""


def words_of(text: str) -> Words | None:
    """The parts of a text that has the form of a measure; None where it has another.

    >>> words_of("ndcg@5,10-l2")
    Words(name='ndcg', inside={}, mark='@', numbers=('5', '10'), level=2)
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return None
    inside = _inside(text, found["inside"]) if found["inside"] else {}
    numbers = tuple(found["numbers"].split(",")) if found["numbers"] else ()
    return Words(
        found["name"], inside, found["mark"] or "", numbers, int(found["level"]) if found["level"] else None
    )


def parse_measure(text: Measure | str) -> Measure:
    """The measure that `text` names, in judged's, trec_eval's or another known tool's spelling.

    >>> parse_measure("ndcg_cut_10")
    nDCG@10
    >>> parse_measure("p(REL=2)@5")
    P(rel=2)@5
    """
    named = _several(text)
    if len(named) > 1:
        shown = ", ".join(str(each) for each in named[:3])
        msg = f"`{text}` names {len(named)} measures where one is wanted: {shown}, …"
        raise BadMeasure(msg, hint=f"for example `{named[0]}`")
    return named[0]


def parse_measures(measures: Iterable[Measure | str] | Measure | str) -> list[Measure]:
    """Every measure named, once, in the order first named; a string may name several, and nicknames do.

    >>> parse_measures("nDCG(gains={1: 3})@10 AP P_5,10")
    [nDCG(gains={1: 3})@10, AP, P@5, P@10]
    """
    if isinstance(measures, Measure):
        return [measures]
    each = split_measures(measures) if isinstance(measures, str) else measures
    # Told apart by text: `RBP` and `RBP(p=0.8)` are equal, but scores are looked up as they were written.
    chosen = list({str(measure): measure for one in each for measure in _several(one)}.values())
    if not chosen:
        msg = "no measure was named"
        raise BadMeasure(msg, hint='for example `[nDCG@10, "recall_100"]`')
    return chosen


def other_spellings(measure: str) -> list[str]:
    """The names that other tools have for the measure of that canonical name."""
    return [name for name, alias in ALIASES.items() if alias.measure == measure]


def readable(name: str) -> bool:
    """Whether a name can be read back as a name, and not as a name with a cutoff or a level behind it."""
    found = _WRITTEN.fullmatch(name)
    return found is not None and found["name"] == name and name[0].isalpha()


def named_otherwise(name: str) -> str | None:
    """What a name stands for already, without regard to case: a measure, an alias or a nickname."""
    lower = name.lower()
    if lower in NICKNAMES:
        return f"trec_eval's measures `{lower}`"
    canonical = {each.lower(): each for each in MEASURES}.get(lower)
    alias = next((alias.measure for each, alias in ALIASES.items() if each.lower() == lower), None)
    return f"the measure {canonical or alias}" if canonical or alias else None


def split_measures(text: str) -> list[str]:
    """The parts of a string that names several measures, cut at spaces and commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and _NEXT.match(text, place):
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _several(text: Measure | str) -> list[Measure]:
    """The measures that one text names: more than one for `P_5,10` and for trec_eval's nicknames."""
    if isinstance(text, Measure):
        return [text]
    if not isinstance(text, str):
        msg = f"a measure must be a Measure or a string, not {text!r}"
        raise BadMeasure(msg, hint='for example `nDCG@10` or `"nDCG@10"`')
    bare = text.strip()
    if bare.lower() in NICKNAMES:
        return [each.measure for each in expand(9, [bare.lower()]) if each.measure is not None]
    written = _WRITTEN.fullmatch(bare)
    if written is None:
        return _in_trec_spelling(bare)
    return _from_parts(bare, written)


def _from_parts(text: str, written: re.Match[str]) -> list[Measure]:
    """The measures made of a name, what stands in its brackets, and the numbers after it."""
    alias = _alias(written["name"])
    measure = MEASURES[alias.measure](**alias.given)
    if written["inside"]:
        measure = _with(measure, _inside(text, written["inside"]))
    if written["level"]:
        measure = measure(rel=int(written["level"]))
    if written["numbers"] is None:
        return [measure]
    if alias.measure == "RBP" and written["mark"] == ".":
        return [measure(p=float(f"0.{written['numbers']}"))]
    numbers = [alias.convert(_number(number)) for number in written["numbers"].split(",")]
    return [measure @ each if alias.number is None else measure(**{alias.number: each}) for each in numbers]


def _alias(name: str) -> Alias:
    """What a canonical name or an alias stands for, without regard to case."""
    canonical = {each.lower(): each for each in MEASURES}.get(name.lower())
    if canonical is not None:
        return Alias(canonical)
    alias = {each.lower(): alias for each, alias in ALIASES.items()}.get(name.lower())
    if alias is None:
        plugin = load_plugin(name)
        if plugin is not None:
            return Alias(plugin.name)
        kind, known = "measure", [*MEASURES, *ALIASES, *plugin_names()]
        close = get_close_matches(name.lower(), [each.lower() for each in known])
        hint = None if close else "`judged measures` lists them all; for example `nDCG@10`"
        raise UnknownName(kind, name, known, hint=hint)
    return alias


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def _with(measure: Measure, parameters: Mapping[str, object]) -> Measure:
    """The measure with parameters as people write them: in any case, or as ir_measures spells them."""
    own = {name.lower(): name for name in measure.defaults}
    given: dict[str, object] = {}
    for name, value in parameters.items():
        if (measure.name, name.lower()) in _INSTEAD:
            return _with(MEASURES[_INSTEAD[measure.name, name.lower()]], parameters)
        called = _RENAMED.get(name.lower(), name.lower())
        if called in own:
            given[own[called]] = value
        elif isinstance(value, str | int) and (name.lower(), value) in _SPELLINGS:
            given |= _SPELLINGS[name.lower(), value]
        elif name.lower() == "judged_only":
            msg = f"{measure.name} has no `judged_only`: that is a matter of the protocol, for all measures"
            raise BadMeasure(msg, hint='use a protocol with `unjudged="removed"`')
        else:
            given[name] = value
    return measure(**given)


def _inside(text: str, inside: str) -> dict[str, object]:
    """The parameters written between the brackets."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        keywords = call.keywords if isinstance(call, ast.Call) and not call.args else []
        values = {str(word.arg): ast.literal_eval(word.value) for word in keywords if word.arg is not None}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        values = {}
    if not values or len(values) != len(keywords):
        msg = f"the parameters of `{text}` cannot be read"
        raise BadMeasure(msg, hint='write them as `name=value`, text in quotes: `nDCG(gain="exp")@10`')
    return values


def _in_trec_spelling(text: str) -> list[Measure]:
    """The measure of a name with trec_eval's parameters, such as `ndcg.1=3,2=9` or `utility.1,-1,0,0`."""
    name, dot, parameters = text.partition(".")
    if dot and parameters and re.fullmatch(r"[\w.,=+-]+", text):
        return [each.measure for each in expand(10, [text]) if each.measure is not None]
    name, at, number = text.rpartition("@")
    if at and name:
        msg = f"`@{number}` of `{text}` is not a number"
        raise BadMeasure(msg, hint=f"write it as `{name}@10`")
    msg = f"`{text}` is not a measure"
    raise BadMeasure(msg, hint="write it as `nDCG@10` or `P(rel=2)@5`")
