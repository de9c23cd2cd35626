"""From what people write to measures of sessions: `CG@3`, `SRR@last`, `AvgGain_2`, in any case."""

from __future__ import annotations

from collections.abc import Iterable

from judged.errors import BadMeasure
from judged.measures.catalogue import SESSION_MEASURES
from judged.measures.measure import Measure
from judged.measures.words import split_measures, unknown_measure, words_of

__all__ = [
    "SESSION_ALIASES",
    "is_session_measure",
    "parse_session_measure",
    "parse_session_measures",
    "session_measure_named",
]

SESSION_ALIASES: dict[str, str] = {
    "DupR": "Dup",
    "G": "MarginalGain",
    "iterations": "N",
    "IterationsForAllGood": "IterationsForAllGoodResults",
    "IterationsToLastGood": "IterationsForAllGoodResults",
    "reached": "AllGoodReached",
}
"""Other names of measures of sessions, each with the canonical one."""

_LAST = "@last"


def parse_session_measure(text: Measure | str) -> Measure:
    """The measure of sessions that `text` names; without an iteration, or `@last`, at each session's last one.

    >>> parse_session_measure("cg(good=3)@2"), parse_session_measure("SRR")
    (CG(good=3)@2, SRR@last)
    """
    named = _several(text)
    if len(named) > 1:
        msg = f"`{text}` names {len(named)} measures where one is wanted"
        raise BadMeasure(msg, hint=f"for example `{named[0]}`")
    return named[0]


def parse_session_measures(measures: Iterable[Measure | str] | Measure | str) -> list[Measure]:
    """Every measure of sessions named, once, in the order first named; a string may name several.

    >>> parse_session_measures("CG@1,3 SRR@last cg")
    [CG@1, CG@3, SRR@last, CG@last]
    """
    each = split_measures(measures) if isinstance(measures, str) else measures
    several = [each] if isinstance(each, Measure) else each
    chosen = list({str(measure): measure for one in several for measure in _several(one)}.values())
    if not chosen:
        msg = "no measure was named"
        raise BadMeasure(msg, hint='for example `["CG@3", "SRR@last"]`')
    return chosen


def session_measure_named(name: str) -> Measure:
    """The measure of sessions of that name, in any case, with or without underscores, or of that alias."""
    known = _known()
    if _plain(name) not in known:
        names = [*SESSION_MEASURES, *SESSION_ALIASES]
        raise unknown_measure("measure of sessions", name, names, example="CG@3")
    return SESSION_MEASURES[known[_plain(name)]]


def is_session_measure(name: str) -> bool:
    """Whether a measure of sessions is called that."""
    return _plain(name) in _known()


def _known() -> dict[str, str]:
    """Every name and alias, without regard to case and underscores, with the canonical name."""
    canonical = {_plain(each): each for each in SESSION_MEASURES}
    return canonical | {_plain(each): measure for each, measure in SESSION_ALIASES.items()}


def _several(text: Measure | str) -> list[Measure]:
    """The measures that one text names: more than one for `CG@1,3`."""
    if isinstance(text, Measure):
        return [_of_sessions(text)]
    if not isinstance(text, str):
        msg = f"a measure must be a Measure or a string, not {text!r}"
        raise BadMeasure(msg, hint='for example `"CG@3"`')
    bare = text.strip()
    last = bare.lower().endswith(_LAST)
    words = words_of(bare[: -len(_LAST)] if last else bare)
    if words is None or words.level is not None or words.mark == "." or (last and words.numbers):
        msg = f"`{text}` is not a measure of sessions"
        raise BadMeasure(msg, hint="write it as `CG@3`, `CG@last` or `CG(good=3)@3`")
    measure = session_measure_named(words.name)(**{key.lower(): value for key, value in words.inside.items()})
    if last:
        return [measure @ "last"]
    return [measure @ _number(each) for each in words.numbers] or [measure]


def _of_sessions(measure: Measure) -> Measure:
    if measure.family != "session":
        msg = f"`{measure}` is a measure of the family `{measure.family}`, expected one of sessions"
        raise BadMeasure(msg, hint="`judged measures` lists the measures by family")
    return measure


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
