"""From what people write to measures: `nDCG@10`, `P(rel=2)@5`, `ndcg_cut_10`, `hit@3`, in any case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from judged.errors import BadMeasure, UnknownName
from judged.measures.catalogue import MEASURES
from judged.measures.measure import Measure

__all__ = ["ALIASES", "parse_measure", "parse_measures"]

ALIASES: dict[str, tuple[str, dict[str, object]]] = {
    "map": ("AP", {}),
    "map_cut": ("AP", {}),
    "mrr": ("RR", {}),
    "recip_rank": ("RR", {}),
    "precision": ("P", {}),
    "recall": ("R", {}),
    "r_cap": ("R", {"over": "cutoff"}),
    "capped_recall": ("R", {"over": "cutoff"}),
    "relative_p": ("R", {"over": "cutoff"}),
    "hit": ("Success", {}),
    "hits": ("Success", {}),
    "hit_rate": ("Success", {}),
    "ndcg_cut": ("nDCG", {}),
    "ideal_dcg": ("IDCG", {}),
    "r-precision": ("Rprec", {}),
    "rprec_mult": ("Rprec", {}),
    "iprec_at_recall": ("IPrec", {}),
    "11pt_avg": ("AP11", {}),
    "11pt": ("AP11", {}),
    "gm_map": ("gm_AP", {}),
    "gmap": ("gm_AP", {}),
    "rbp_resid": ("RBP_residual", {}),
    "unj": ("Unjudged", {}),
    "hole": ("Unjudged", {}),
    "fall_out": ("FallOut", {}),
    "f": ("F1", {}),
    "set_p": ("SetP", {}),
    "set_recall": ("SetR", {}),
    "set_f": ("SetF", {}),
    "set_map": ("SetAP", {}),
    "set_relative_p": ("SetRelP", {}),
    "num_q": ("NumQ", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRelRet", {}),
    "num_nonrel_judged_ret": ("NumNonrelJudgedRet", {}),
    "diversity_count": ("DiversityCount", {}),
    "diversity": ("DiversityCount", {}),
}
"""Other tools' names, in lower case, with the measure and the parameters each stands for."""

_WRITTEN = re.compile(r"(?P<name>[\w-]+)(?:\((?P<inside>.*)\))?(?:@(?P<at>[^@()]+))?")
_TREC = re.compile(r"(?P<name>[A-Za-z_0-9-]+?)[_.](?P<at>[0-9]*\.?[0-9]+)")


def parse_measure(text: Measure | str) -> Measure:
    """The measure that `text` names, in judged's, trec_eval's or another known tool's spelling.

    >>> parse_measure("ndcg_cut_10")
    nDCG@10
    >>> parse_measure("p(REL=2)@5")
    P(rel=2)@5
    """
    if isinstance(text, Measure):
        return text
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        msg = f"`{text}` is not a measure"
        raise BadMeasure(msg, hint="write it as `nDCG@10` or `P(rel=2)@5`")
    name, inside, at = written["name"], written["inside"], written["at"]
    known = _named(name)
    if known is None and inside is None and at is None:
        known, at = _in_trec_spelling(text.strip())
    if known is None:
        raise UnknownName("measure", name, [*MEASURES, *ALIASES])
    measure = known(**_parameters(text, known, inside)) if inside else known
    return measure if at is None else measure @ _number(text, at)


def parse_measures(measures: Iterable[Measure | str] | Measure | str) -> list[Measure]:
    """Every measure named, once, in the order first named; a string may name several, separated by spaces."""
    each = measures.split() if isinstance(measures, str) else measures
    if isinstance(each, Measure):
        each = [each]
    chosen = list(dict.fromkeys(parse_measure(one) for one in each))
    if not chosen:
        msg = "no measure was named"
        raise BadMeasure(msg, hint='for example `[nDCG@10, "recall_100"]`')
    return chosen


def _named(name: str) -> Measure | None:
    """The measure of that canonical name or alias, without regard to case."""
    canonical = {each.lower(): each for each in MEASURES}.get(name.lower())
    if canonical is not None:
        return MEASURES[canonical]
    alias = ALIASES.get(name.lower())
    return None if alias is None else MEASURES[alias[0]](**alias[1])


def _in_trec_spelling(text: str) -> tuple[Measure | None, str | None]:
    """The measure and number of a name such as `P_10`, `ndcg_cut.5` or `iprec_at_recall_0.10`."""
    found = _TREC.fullmatch(text)
    return (None, None) if found is None else (_named(found["name"]), found["at"])


def _parameters(text: str, measure: Measure, inside: str) -> Mapping[str, object]:
    """The parameters written between the brackets, their names in the measure's own case."""
    own = {name.lower(): name for name in measure.defaults}
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError
        values = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        msg = f"the parameters of `{text}` cannot be read"
        raise BadMeasure(msg, hint='write them as `name=value`, text in quotes: `nDCG(gain="exp")@10`') from None
    return {own.get(name.lower(), name): value for name, value in values.items()}


def _number(text: str, at: str) -> float:
    try:
        return int(at) if at.isdigit() else float(at)
    except ValueError:
        msg = f"`@{at}` of `{text}` is not a number"
        raise BadMeasure(msg, hint="write it as `nDCG@10`") from None
