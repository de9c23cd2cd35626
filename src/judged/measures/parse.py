"""From what people write to measures: `nDCG@10`, `P(rel=2)@5`, `ndcg_cut_10`, `hit@3`, `CG@last`, in any case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from judged.errors import BadMeasure, JudgedError, UnknownName, check_kind
from judged.measures.groups import SCOPES, Alias, Scope, list_plugins, load_plugin
from judged.measures.measure import Measure
from judged.measures.trec_eval import FORMATS, NICKNAMES, expand
from judged.measures.written import merge_spellings, spell
from judged.subject import NOTHING

LONGEST = 2_000
"""Length from which a text is not a name: numbers of thousands of digits cannot be converted."""
_NUMBER = r"(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][-+]?+[0-9]++)?+"
_FORM = re.compile(
    rf"""(?P<name>[A-Za-z0-9_αΑ-]+?)
         (?:\((?P<inside>.*)\))?
         (?:(?P<mark>@|_at_|[_.])(?P<numbers>{_NUMBER}(?:,{_NUMBER})*+))?
         (?:-l(?P<level>[0-9]+))?""",
    re.VERBOSE | re.DOTALL,
)
_SEPARATOR = re.compile(rf",\s*(?!{_NUMBER}(?:,|\s|$))|\s")
"""Separator of two measures in one string: a space, or a comma that no further cutoff follows."""

_IR_MEASURES_VALUES: dict[tuple[str, object], dict[str, object]] = {
    ("dcg", "log2"): {"gain": "linear"},
    ("dcg", "exp-log2"): {"gain": "exp"},
    ("judged_only", False): {},
    ("min_rel", 0): {},
    ("normalize", True): {"over": "ideal"},
    ("normalize", False): {"over": "everything"},
}
"""Parameters of ir_measures with their values, and what they are here."""
_IR_MEASURES_NAMES = {"max_rel": "max_grade"}
"""Parameters that have another name in ir_measures."""
_IR_MEASURES_INSTEAD = {("NumRet", "rel"): "NumRelRet"}
"""Parameters that turn a measure of ir_measures into another: `NumRet(rel=1)`."""


class ParsedName(NamedTuple):
    """The parts of a text that names a measure, before they are looked up."""

    name: str
    inside: Mapping[str, object] = NOTHING
    """The parameters between brackets."""
    mark: str = ""
    """Separator before the numbers: `@`, `_at_`, `_` or a full stop."""
    numbers: tuple[str, ...] = ()
    level: int | None = None
    """The number after `-l`."""


def parse_name(text: str) -> ParsedName | None:
    """Return the parts of a text that has the form of a measure; None if it does not have it.

    >>> parse_name("ndcg@5,10-l2")
    ParsedName(name='ndcg', inside={}, mark='@', numbers=('5', '10'), level=2)
    """
    form = _FORM.fullmatch(text.strip()) if len(text) < LONGEST else None
    if form is None:
        return None
    inside = _parse_parameters(text, form["inside"]) if form["inside"] else {}
    numbers = tuple(form["numbers"].split(",")) if form["numbers"] else ()
    level = int(form["level"]) if form["level"] else None
    return ParsedName(form["name"], inside, form["mark"] or "", numbers, level)


def split_measures(text: str) -> list[str]:
    """Split a string that names several measures at the spaces and commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and _SEPARATOR.match(text, place):
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def parse_measure(text: Measure | str, *, family: str = "ranked") -> Measure:
    """Return the measure that `text` names, in judged's, trec_eval's or another known tool's spelling.

    >>> parse_measure("ndcg_cut_10")
    nDCG@10
    >>> parse_measure("p(REL=2)@5")
    P(rel=2)@5
    >>> parse_measure("dcg", family="session")
    DCG@last
    """
    named = _read(text, SCOPES[family])
    if len(named) > 1:
        shown = ", ".join(str(measure) for measure in named[:3])
        msg = f"`{text}` names {len(named)} measures where one is wanted: {shown}, …"
        raise BadMeasure(msg, hint=f"for example `{named[0]}`")
    return named[0]


def list_measures(measures: Iterable[Measure | str] | Measure | str) -> list[Measure | str] | Measure | str:
    """Return one measure or text as it is, and several as a list; raise `WrongKind` for anything else."""
    if isinstance(measures, Measure | str):
        return measures
    if callable(measures):
        raise refuse_measure(measures)
    check_kind("measures", measures, Iterable, 'measures, such as `"nDCG@10"` or a list of them')
    return list(measures)


def refuse_measure(value: object, example: str = "nDCG@10") -> BadMeasure:
    """Return the error that a value is not a measure; the hint says how to make one of a function."""
    hint = f'for example `"{example}"`'
    if callable(value):
        hint = f'`judged.define("Name", function)` makes a measure of a function; {hint}'
    got = f"an object of type `{type(value).__name__}`" if callable(value) else repr(value)
    return BadMeasure(f"a measure must be a Measure or a string, not {got}", hint=hint)


def parse_measures(
    measures: Iterable[Measure | str] | Measure | str, *, family: str = "ranked"
) -> list[Measure]:
    """Return every measure named, once, in the order first named; one string may name several.

    A measure remembers the spellings that it was named by, and is shown under the first (`Measure.label`).

    >>> parse_measures("nDCG(gains={1: 3})@10 AP P_5,10")
    [nDCG(gains={1: 3})@10, AP, P@5, P@10]
    """
    scope = SCOPES[family]
    if isinstance(measures, Measure):
        return _read(measures, scope)
    named = list_measures(measures)
    texts = split_measures(named) if isinstance(named, str) else cast("list[Measure | str]", named)
    chosen = merge_spellings(measure for text in texts for measure in _read_some(text, scope))
    if not chosen:
        msg = "no measure was named"
        raise BadMeasure(msg, hint=f"for example `{scope.example}`")
    return chosen


def _read_some(text: Measure | str, scope: Scope) -> list[Measure]:
    """Return the measures of one item of a list, which may name several with blanks or commas between them."""
    # whole first: commas may also separate cutoffs, as in `P_5,10`
    try:
        return _read(text, scope)
    except JudgedError:
        parts = split_measures(text) if isinstance(text, str) else []
        if len(parts) < 2:
            raise
        return [measure for part in parts for measure in _read(part, scope)]


def find_measures(text: str) -> list[Measure]:
    """Return the measures that a text may name, in any family: `DCG` is one of rankings and one of sessions.

    >>> [(measure.family, measure) for measure in find_measures("dcg@3")]
    [('ranked', DCG@3), ('session', DCG@3)]
    """
    measures: list[Measure] = []
    errors: list[JudgedError] = []
    for family in SCOPES:
        try:
            measures.append(parse_measure(text, family=family))
        except JudgedError as error:
            errors.append(error)
    if not measures:
        raise _choose_error(errors)
    return measures


def _choose_error(errors: Sequence[JudgedError]) -> JudgedError:
    """Return the error of the last family that knows the name; if none does, one over the names of all families."""
    unknown = [error for error in errors if isinstance(error, UnknownName)]
    if len(unknown) < len(errors):
        return next(error for error in reversed(errors) if not isinstance(error, UnknownName))
    known = [name for family in SCOPES for name in _known_names(SCOPES[family])]
    return _unknown_measure("measure", unknown[0].name, known, example="nDCG@10")


def is_valid_name(name: str) -> bool:
    """Return whether a name reads back as a name, and not as a name with a cutoff or a level after it."""
    form = _FORM.fullmatch(name)
    return form is not None and form["name"] == name and name[0].isalpha()


def explain_taken_name(name: str) -> str | None:
    """Say what a name means already for ranked runs, in any case; None if it is free."""
    if name.lower() in NICKNAMES:
        return f"trec_eval's measures `{name.lower()}`"
    alias = SCOPES["ranked"].find_alias(name)
    return f"the measure {alias.measure}" if alias is not None else None


def _read(text: Measure | str, scope: Scope) -> list[Measure]:
    """Return the measures that one text names: more than one for `P_5,10` and for trec_eval's nicknames."""
    if isinstance(text, Measure):
        if text.group not in scope.groups:
            raise _foreign(str(text), text.family, scope)
        return [text]
    if not isinstance(text, str):
        raise refuse_measure(text, scope.example)
    bare = text.strip()
    if scope.trec_spelling and bare.lower() in NICKNAMES:
        return _expand_nickname(bare.lower())
    parsed = parse_name(bare)
    if parsed is None:
        return _read_other_forms(bare, scope)
    if not scope.trec_spelling and (parsed.mark == "." or parsed.level is not None):
        raise _bad_form(bare, scope)
    try:
        wrapped = _read_wrapped(bare, parsed, scope)
        measures = wrapped if wrapped is not None else _build(parsed, scope)
    except UnknownName as error:
        raise _suggest_whole(error, bare, scope) from None
    return [spell(measure, name) for measure, name in zip(measures, split_numbers(bare, parsed), strict=True)]


def _suggest_whole(error: UnknownName, text: str, scope: Scope) -> UnknownName:
    """Return the error with a hint that keeps what was written around the name: its cutoff and its parameters."""
    if error.nearest is None or error.name == text:
        return error
    meant = text.replace(error.name, error.nearest, 1)
    try:
        _read(meant, scope)
    except JudgedError:
        return error
    error.hint = f"did you mean `{meant}`?"
    return error


def split_numbers(text: str, parsed: ParsedName) -> list[str]:
    """Return a name for each of the numbers that follow a name; without several, the name itself.

    >>> split_numbers("ndcg_cut_5,10", parse_name("ndcg_cut_5,10"))
    ['ndcg_cut_5', 'ndcg_cut_10']
    """
    if len(parsed.numbers) < 2:
        return [text]
    head, _, tail = text.partition(parsed.mark + ",".join(parsed.numbers))
    return [f"{head}{parsed.mark}{number}{tail}" for number in parsed.numbers]


def _build(parsed: ParsedName, scope: Scope) -> list[Measure]:
    """Return the measures of a name, its parameters, and the numbers after it."""
    alias = _look_up(parsed.name, scope)
    measure = scope[alias.measure](**alias.parameters)
    if alias.explicit and alias.explicit not in re.split(r"\W+", str(parsed.inside)):
        theirs, ours = alias.parameters[alias.explicit], scope[alias.measure].defaults[alias.explicit]
        msg = (
            f"`{parsed.name}` has {alias.explicit}={theirs} in trec_eval, and {alias.measure} has {ours} here"
        )
        raise BadMeasure(msg, hint=f"write it as `{parsed.name}.{alias.explicit}={theirs}`")
    if parsed.inside:
        measure = _set_parameters(measure, parsed.inside, scope)
    if parsed.level is not None:
        measure = measure(rel=parsed.level)
    if not parsed.numbers:
        return [measure]
    if measure.dot_parameter and parsed.mark == ".":
        decimals = [number for number in parsed.numbers if number.isdigit()]
        if len(decimals) == len(parsed.numbers):
            return [measure(**{measure.dot_parameter: float(f"0.{digits}")}) for digits in decimals]
    numbers = [int(number) if number.isdigit() else float(number) for number in parsed.numbers]
    if alias.number is not None:
        return [measure(**{alias.number: number}) for number in numbers]
    return [measure @ number for number in numbers]


def _read_wrapped(text: str, parsed: ParsedName, scope: Scope) -> list[Measure] | None:
    """Read a name such as `nDCG_IA`, which wraps one measure in another; None if it is a name of its own."""
    stem, _, outer = parsed.name.replace("-", "_").rpartition("_")
    if not stem or scope.find_alias(parsed.name) or not scope.find_alias(stem):
        return None
    alias = scope.find_alias(outer)
    wrapper = scope[alias.measure] if alias is not None else None
    if wrapper is None or not wrapper.wraps:
        return None
    inner = _read(parsed.name[: len(stem)] + text[len(parsed.name) :], scope)
    return [wrapper(**{wrapper.wraps: str(measure)}) for measure in inner]


def _read_other_forms(text: str, scope: Scope) -> list[Measure]:
    """Read a name with a word after `@` (`CG@last`) or with trec_eval's parameters (`ndcg.1=3,2=9`)."""
    name, dot, parameters = text.partition(".")
    if scope.trec_spelling and dot and parameters and re.fullmatch(r"[\w.,=+-]+", text):
        measures = [line.measure for line in expand(10, [text]) if line.measure is not None]
        return [spell(measure, text) for measure in measures] if len(measures) == 1 else measures
    name, at, word = text.rpartition("@")
    parsed = parse_name(name) if at else None
    if parsed is None or parsed.numbers or parsed.level is not None:
        raise _bad_form(text, scope)
    (measure,) = _build(parsed, scope)
    words = measure.words.get(measure.at_parameter or "", ())
    if not words:
        msg = f"`@{word}` of `{text}` is not a positive whole number"
        raise BadMeasure(msg, hint=f"write it as `{name}@10`")
    if word.lower() not in words:
        raise _bad_form(text, scope)
    return [spell(measure @ word, text)]


def _expand_nickname(name: str) -> list[Measure]:
    """Return the measures of one of trec_eval's sets; those on preferences without `num_q`."""
    judgments = next(kind for kind, able in FORMATS.items() if set(NICKNAMES[name]) <= set(able))
    chosen = [line.measure for line in expand(9, [name], judgments) if line.measure is not None]
    groups = {"preference"} if judgments != "qrels" else {measure.group for measure in chosen}
    return [measure for measure in chosen if measure.group in groups]


def _look_up(name: str, scope: Scope) -> Alias:
    """Return what a name means in a scope; raise `UnknownName` if it means nothing there."""
    alias = scope.find_alias(name)
    if alias is not None:
        return alias
    plugin = load_plugin(name) if scope.trec_spelling else None
    if plugin is not None:
        return Alias(plugin.name)
    for family in SCOPES:
        if scope.trec_spelling and SCOPES[family].find_alias(name):
            raise _foreign(name, family, scope)
    raise _unknown_measure(scope.kind, name, _known_names(scope), example=scope.example)


def _known_names(scope: Scope) -> list[str]:
    return [*scope, *scope.aliases, *(list_plugins() if scope.trec_spelling else [])]


def _set_parameters(measure: Measure, parameters: Mapping[str, object], scope: Scope) -> Measure:
    """Set parameters as people write them: in any case, or as ir_measures spells them."""
    own = {name.lower(): name for name in measure.defaults}
    given: dict[str, object] = {}
    for name, value in parameters.items():
        lower = name.lower()
        if (measure.name, lower) in _IR_MEASURES_INSTEAD:
            return _set_parameters(scope[_IR_MEASURES_INSTEAD[measure.name, lower]], parameters, scope)
        called = _IR_MEASURES_NAMES.get(lower, lower)
        if called in own:
            given[own[called]] = value
        elif isinstance(value, str | int) and (lower, value) in _IR_MEASURES_VALUES:
            given |= _IR_MEASURES_VALUES[lower, value]
        elif lower == "judged_only":
            msg = f"{measure.name} has no `judged_only`: that is a matter of the protocol, for all measures"
            raise BadMeasure(msg, hint='use a protocol with `unjudged="removed"`')
        else:
            given[name] = value
    return measure(**given)


def _evaluate(written: ast.expr) -> object:
    """Return the value of a literal; `true` and `false` may be written as in JSON and YAML."""
    if isinstance(written, ast.Name) and written.id in {"true", "false"}:
        return written.id == "true"
    return ast.literal_eval(written)


def _parse_parameters(text: str, inside: str) -> dict[str, object]:
    """Return the parameters written between the brackets."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        keywords = call.keywords if isinstance(call, ast.Call) and not call.args else []
        values = {str(word.arg): _evaluate(word.value) for word in keywords if word.arg is not None}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        values = {}
    if not values or len(values) != len(keywords):
        msg = f"the parameters of `{text}` cannot be read"
        raise BadMeasure(msg, hint='write them as `name=value`, text in quotes: `nDCG(gain="exp")@10`')
    return values


def _bad_form(text: str, scope: Scope) -> BadMeasure:
    return BadMeasure(f"`{text}` is not a {scope.kind}", hint=scope.form)


def _foreign(text: str, family: str, scope: Scope) -> BadMeasure:
    """Return the error that a measure belongs to another family than the one wanted."""
    if family in SCOPES and SCOPES[family].takes:
        other = SCOPES[family]
        return BadMeasure(
            f"`{text}` is a {other.kind}, not of {scope.subject}", hint=f"use it with {other.takes}"
        )
    msg = f"`{text}` is a measure of the family `{family}`, expected one of {scope.subject}"
    return BadMeasure(msg, hint="`judged measures` lists the measures by family")


def _unknown_measure(kind: str, name: str, known: Sequence[str], *, example: str) -> UnknownName:
    """Return the error that no measure has that name, with the nearest name or where to find all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), [other.lower() for other in known])
    hint = None if close else f"`judged measures` lists them all; for example `{example}`"
    return UnknownName(kind, name, known, hint=hint)
