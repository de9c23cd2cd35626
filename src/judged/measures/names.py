"""From what people write to measures: `nDCG@10`, `P(rel=2)@5`, `ndcg_cut_10`, `hit@3`, in any case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from judged.errors import BadMeasure, JudgedError, UnknownName
from judged.measures.catalogue import MEASURES, PREFERENCE_MEASURES, SESSION_MEASURES, Scored, measure_named
from judged.measures.measure import Measure
from judged.measures.plugins import load_plugin, plugin_names
from judged.measures.session_names import (
    SESSION_ALIASES,
    is_session_measure,
    parse_session_measure,
    parse_session_measures,
)
from judged.measures.trec_names import FORMATS, NICKNAMES, expand
from judged.measures.words import WRITTEN, Words, parameters_within, split_measures, unknown_measure, words_of

__all__ = [
    "ALIASES",
    "Alias",
    "Scored",
    "Words",
    "measures_called",
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
    "alpha-nDCG": Alias("alpha_nDCG"),
    "alpha-DCG": Alias("alpha_DCG"),
    "α_nDCG": Alias("alpha_nDCG"),
    "α-nDCG": Alias("alpha_nDCG"),
    "α_DCG": Alias("alpha_DCG"),
    "α-DCG": Alias("alpha_DCG"),
    "ERR-IA": Alias("ERR_IA"),
    "nERR-IA": Alias("nERR_IA"),
    "MAP-IA": Alias("AP_IA"),
    "MAP_IA": Alias("AP_IA"),
    "AP-IA": Alias("AP_IA"),
    "P-IA": Alias("P_IA"),
    "strec": Alias("StRecall"),
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


def parse_measure(text: Measure | str, *, family: Scored = "ranked") -> Measure:
    """The measure that `text` names, in judged's, trec_eval's or another known tool's spelling.

    >>> parse_measure("ndcg_cut_10")
    nDCG@10
    >>> parse_measure("p(REL=2)@5")
    P(rel=2)@5
    >>> parse_measure("dcg", family="session")
    DCG@last
    """
    if family == "session":
        return parse_session_measure(text)
    named = _several(text)
    if len(named) > 1:
        shown = ", ".join(str(each) for each in named[:3])
        msg = f"`{text}` names {len(named)} measures where one is wanted: {shown}, …"
        raise BadMeasure(msg, hint=f"for example `{named[0]}`")
    return named[0]


def parse_measures(
    measures: Iterable[Measure | str] | Measure | str, *, family: Scored = "ranked"
) -> list[Measure]:
    """Every measure named, once, in the order first named; a string may name several, and nicknames do.

    >>> parse_measures("nDCG(gains={1: 3})@10 AP P_5,10")
    [nDCG(gains={1: 3})@10, AP, P@5, P@10]
    """
    if family == "session":
        return parse_session_measures(measures)
    if isinstance(measures, Measure):
        return _several(measures)
    each = split_measures(measures) if isinstance(measures, str) else measures
    # Told apart by text: `RBP` and `RBP(p=0.8)` are equal, but scores are looked up as they were written.
    chosen = list({str(measure): measure for one in each for measure in _several(one)}.values())
    if not chosen:
        msg = "no measure was named"
        raise BadMeasure(msg, hint='for example `[nDCG@10, "recall_100"]`')
    return chosen


def measures_called(text: str) -> list[Measure]:
    """The measures that a text may name, whatever they score: `DCG` one of rankings and one of sessions.

    >>> [(each.family, each) for each in measures_called("dcg@3")]
    [('ranked', DCG@3), ('session', DCG@3)]
    """
    found: list[Measure] = []
    refused: list[JudgedError] = []
    for family in get_args(Scored):
        try:
            found.append(parse_measure(text, family=family))
        except JudgedError as error:
            refused.append(error)
    if not found:
        raise _refusal(refused)
    return found


def _refusal(errors: Sequence[JudgedError]) -> JudgedError:
    """Of what all families say, what the one that knows the name does; else that none does."""
    unknown = [each for each in errors if isinstance(each, UnknownName)]
    if len(unknown) < len(errors):
        return next(each for each in reversed(errors) if not isinstance(each, UnknownName))
    known = [*MEASURES, *PREFERENCE_MEASURES, *SESSION_MEASURES, *ALIASES, *SESSION_ALIASES, *plugin_names()]
    return unknown_measure("measure", unknown[0].name, known, example="nDCG@10")


def other_spellings(measure: str, family: Scored = "ranked") -> list[str]:
    """The other names, of other tools for the most part, that the measure of that canonical name has."""
    if family == "session":
        return [name for name, canonical in SESSION_ALIASES.items() if canonical == measure]
    return [name for name, alias in ALIASES.items() if alias.measure == measure]


def readable(name: str) -> bool:
    """Whether a name can be read back as a name, and not as a name with a cutoff or a level behind it."""
    found = WRITTEN.fullmatch(name)
    return found is not None and found["name"] == name and name[0].isalpha()


def named_otherwise(name: str) -> str | None:
    """What a name stands for already, without regard to case: a measure, an alias or a nickname."""
    lower = name.lower()
    if lower in NICKNAMES:
        return f"trec_eval's measures `{lower}`"
    canonical = {each.lower(): each for each in (*MEASURES, *PREFERENCE_MEASURES)}.get(lower)
    alias = next((alias.measure for each, alias in ALIASES.items() if each.lower() == lower), None)
    return f"the measure {canonical or alias}" if canonical or alias else None


def _several(text: Measure | str) -> list[Measure]:
    """The measures that one text names: more than one for `P_5,10` and for trec_eval's nicknames."""
    if isinstance(text, Measure):
        if text.family == "session":
            raise _of_sessions(str(text))
        return [text]
    if not isinstance(text, str):
        msg = f"a measure must be a Measure or a string, not {text!r}"
        raise BadMeasure(msg, hint='for example `nDCG@10` or `"nDCG@10"`')
    bare = text.strip()
    if bare.lower() in NICKNAMES:
        return _of_nickname(bare.lower())
    written = WRITTEN.fullmatch(bare)
    if written is None:
        return _in_trec_spelling(bare)
    return _from_parts(bare, written)


def _of_nickname(name: str) -> list[Measure]:
    """The measures of one of trec_eval's sets, whatever they score; of preferences without `num_q`."""
    judgments = next(kind for kind, able in FORMATS.items() if set(NICKNAMES[name]) <= set(able))
    chosen = [each.measure for each in expand(9, [name], judgments) if each.measure is not None]
    return chosen if judgments == "qrels" else [each for each in chosen if each.name in PREFERENCE_MEASURES]


def _from_parts(text: str, written: re.Match[str]) -> list[Measure]:
    """The measures made of a name, what stands in its brackets, and the numbers after it."""
    averaged = _averaged(written["name"])
    if averaged is not None:
        inner = _several(averaged + text[written.end("name") :])
        return [MEASURES["IA"](of=str(each)) for each in inner]
    alias = _alias(written["name"])
    measure = measure_named(alias.measure)(**alias.given)
    if written["inside"]:
        measure = _with(measure, parameters_within(text, written["inside"]))
    if written["level"]:
        measure = measure(rel=int(written["level"]))
    if written["numbers"] is None:
        return [measure]
    if alias.measure == "RBP" and written["mark"] == ".":
        return [measure(p=float(f"0.{written['numbers']}"))]
    numbers = [alias.convert(_number(number)) for number in written["numbers"].split(",")]
    return [measure @ each if alias.number is None else measure(**{alias.number: each}) for each in numbers]


def _averaged(name: str) -> str | None:
    """The measure that a name such as `nDCG_IA` averages over intents, if it is no measure of its own."""
    stem, suffix = name[:-3], name[-3:].lower()
    if suffix not in {"_ia", "-ia"} or named_otherwise(name) or not named_otherwise(stem):
        return None
    return stem


def _alias(name: str) -> Alias:
    """What a canonical name or an alias stands for, without regard to case."""
    canonical = {each.lower(): each for each in (*MEASURES, *PREFERENCE_MEASURES)}.get(name.lower())
    if canonical is not None:
        return Alias(canonical)
    alias = {each.lower(): alias for each, alias in ALIASES.items()}.get(name.lower())
    if alias is None:
        plugin = load_plugin(name)
        if plugin is not None:
            return Alias(plugin.name)
        raise _unknown(name)
    return alias


def _unknown(name: str) -> JudgedError:
    """The error that no measure of rankings has that name."""
    if is_session_measure(name):
        return _of_sessions(name)
    known = [*MEASURES, *PREFERENCE_MEASURES, *ALIASES, *plugin_names()]
    return unknown_measure("measure", name, known, example="nDCG@10")


def _of_sessions(name: str) -> BadMeasure:
    """The error that a measure is of sessions where rankings are scored."""
    msg = f"`{name}` is a measure of sessions, not of ranked results"
    return BadMeasure(msg, hint="`judged.evaluate_sessions` and `judged sessions` take it")


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


def _in_trec_spelling(text: str) -> list[Measure]:
    """The measure of a name with trec_eval's parameters, such as `ndcg.1=3,2=9` or `utility.1,-1,0,0`."""
    name, dot, parameters = text.partition(".")
    if dot and parameters and re.fullmatch(r"[\w.,=+-]+", text):
        return [each.measure for each in expand(10, [text]) if each.measure is not None]
    name, at, number = text.rpartition("@")
    if at and name:
        if is_session_measure(name) and not named_otherwise(name):
            raise _of_sessions(text)
        msg = f"`@{number}` of `{text}` is not a number"
        raise BadMeasure(msg, hint=f"write it as `{name}@10`")
    msg = f"`{text}` is not a measure"
    raise BadMeasure(msg, hint="write it as `nDCG@10` or `P(rel=2)@5`")
