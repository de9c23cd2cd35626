"""Read labels from the answers of models: an answer either states a label plainly, or is a failure with a reason.

A number or a word of the scale counts only where it is anchored: the field of a JSON object, `final score: 3`,
`label: partial`, or an answer or last line that is nothing else. One that merely occurs in the text is ignored.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Label: TypeAlias = int | str
"""A value on a scale: a number or a word."""

_OPEN_THINKING = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_CLOSED_THINKING = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_CLOSING = {name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("think", "thinking", "reasoning")}
_EMPHASIS = str.maketrans("", "", "*_`#\"'“”‘’")
_WORDS = r"(?:score|grade|rating|relevance|label|answer|judge?ment|verdict)"
# Quantifiers are possessive (`*+`, `++`): a model may answer anything, and backtracking could take quadratic time.
_AFTER = (
    r"(?:[ \t]*+\([^)\n]{0,200}+\))?+"
    r"(?:[ \t]*+[:=→][ \t\n]*+|[ \t]++(?:(?:is|of|would be|should be|as)[ \t]*+:?+[ \t]*+|-++>?+[ \t]++))"
)
_ASIAN = r"(?:得分|分数|分數|评分|評分|打分|スコア|評点|점수)[ \t]*+(?:[:=]|是|为|為|は|는|은)[ \t]*+"
_NUMBER = r"(?P<number>[-−+]?+\d++(?:[.,]\d++)?+)(?=(?P<rest>[^\n]{0,40}))"
_FINAL = re.compile(
    rf"\b(?:final|overall)[ \t]++(?:\w{{1,40}}+[ \t]++)??{_WORDS}(?:{_AFTER}|[ \t]++)(?:\[[ \t]*+)?+{_NUMBER}",
    re.IGNORECASE,
)
_STATED = re.compile(
    rf"(?:\b{_WORDS}{_AFTER}|<{_WORDS}>\s*+|{_ASIAN})(?:\[[ \t]*+)?+{_NUMBER}", re.IGNORECASE
)
_BOXED = re.compile(rf"\\boxed\{{\s*+{_NUMBER}", re.IGNORECASE)
_ALONE = re.compile(r"[-−+]?+\d++(?:[.,]\d++)?+")
_OUT_OF = re.compile(r"\s*+(?:\(\s*+)?+(?:/|(?:out )?of(?: a maximum of)?)\s*+(?P<most>\d++)", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\s*(?:(?:im? (?:am )?(?:very |so )?sorry|sorry|apologies|unfortunately)\b[^\n]{0,40}?)?"
    r"\bi (?:cannot|cant|can not|wont|will not|am unable to|am not able to|must decline)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*+(?:to|or|and|[-–—~])\s*+\d", re.IGNORECASE)
_SAID = r"(?P<said>[^\n]{1,80})"
_STATED_WORD = re.compile(
    rf"(?:\b{_WORDS}{_AFTER}|<{_WORDS}>\s*+|{_ASIAN})(?:\[[ \t]*+)?+{_SAID}", re.IGNORECASE
)
_END_OF_WORD = re.compile(r"[.,;:()\[\]<>!]|\s[-–—]+\s")
"""Signs that end a word of the scale; `no longer` does not state `no`, and `yes or no?` neither of the two."""
_SPACING = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Label that an answer states, labels of several units, or records; or the reason why it states none."""

    grade: Label | list[Any] | None
    reason: str | None = None
    """`empty`, `refusal`, `unfinished`, `no grade`, `off the scale`, `not whole`, `contradiction`, or of records
    `no list`, `too many`, `incomplete record`."""


def read_answer(
    text: str | None, *, scale: Sequence[Label], field: str = "score", complete: bool = True
) -> Verdict:
    """Return the label that an answer states; `complete` is False if the model was cut off.

    >>> read_answer("on a scale of 0 to 3, ##final score: 1", scale=range(5)).grade
    1
    >>> read_answer("Published in 2015, it is off topic.", scale=range(5))
    Verdict(grade=None, reason='no grade')
    >>> read_answer("Label: Partial support.", scale=["none", "partial_support", "support"]).grade
    'partial_support'
    """
    plain = strip_thinking(_normalise_digits(text or ""))
    if plain is None:
        return Verdict(None, "unfinished")
    if not plain.strip():
        return Verdict(None, "empty" if complete else "unfinished")
    stated: list[object] = list(_read_objects(plain, field))
    if not complete and not stated:
        return Verdict(None, "unfinished")  # the last number may lack its last digit
    prose = _strip_objects(plain)
    bare = prose.translate(_EMPHASIS)
    numbers = [label for label in scale if isinstance(label, int)]
    stated += _find_statements(bare, numbers) if numbers else _find_words(prose, scale)
    return _decide(stated, scale, bare)


def _normalise_digits(text: str) -> str:
    """Apply NFKC and replace the digits of all scripts by 0 to 9."""
    values = ((sign, unicodedata.decimal(sign, -1)) for sign in unicodedata.normalize("NFKC", text))
    return "".join(sign if value < 0 else str(value) for sign, value in values)


def strip_thinking(text: str) -> str | None:
    """Remove a model's reasoning from its answer; None if the reasoning never ended."""
    kept, at = [], 0
    while opened := _OPEN_THINKING.search(text, at):
        closed = _CLOSING[opened[1].lower()].search(text, opened.end())
        if closed is None:
            return None
        kept.append(text[at : opened.start()])
        at = closed.end()
    rest = " ".join([*kept, text[at:]])
    *_, last = 0, *(closed.end() for closed in _CLOSED_THINKING.finditer(rest))
    return rest[last:]  # some servers swallow the opening tag


def _read_objects(text: str, field: str) -> Iterator[object]:
    """Yield the value of the field in every JSON object of the text."""
    for _, document in find_objects(text):
        named = {key.strip().lower(): value for key, value in document.items()}
        for name in (field.lower(), "score", "final_score", "grade", "label"):
            if name in named:
                yield named[name]
                break


def find_objects(text: str) -> Iterator[tuple[tuple[int, int], dict[str, object]]]:
    """Yield the position and content of every outermost JSON object of the text."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            yield (at, end), value
        at = text.find("{", end)


def _strip_objects(text: str) -> str:
    parts, start = [], 0
    for (begin, end), _ in find_objects(text):
        parts.append(text[start:begin])
        start = end
    return " ".join([*parts, text[start:]])


def _find_statements(text: str, scale: Sequence[int]) -> list[str]:
    """Return the numbers of the strongest kind of statement found: final ones, then others, then a bare number."""
    for pattern in (_FINAL, _BOXED, _STATED):
        matches = pattern.finditer(text)
        numbers = [number for match in matches for number in _read_number(match, scale, pattern)]
        if numbers:
            return numbers
    last = text.strip().rpartition("\n")[2].strip(" \t.!")
    return [last] if _ALONE.fullmatch(last) else []


def _find_words(text: str, scale: Sequence[Label]) -> list[Label]:
    """Return the words of the scale that a text states, or that are all of its last line."""
    plain = text.translate({ord(sign): None for sign in "*`#\"'“”‘’"})  # no underscores: words may have them
    stated = [
        match_label(_END_OF_WORD.split(match["said"])[0], scale).grade
        for match in _STATED_WORD.finditer(plain)
    ]
    last = match_label(plain.strip().rpartition("\n")[2].strip(" \t.!"), scale).grade
    return [label for label in (*stated, last) if isinstance(label, str)]


def _read_number(match: re.Match[str], scale: Sequence[int], pattern: re.Pattern[str]) -> list[str]:
    """Return the number of a statement; a range or a number on another scale states no grade."""
    number, rest = match["number"], match["rest"]
    if _RANGE.match(rest):
        return [] if pattern is _STATED else ["a range"]  # `a score of 0 to 4` describes the scale
    most = _OUT_OF.match(rest)
    if most and int(most["most"]) != max(scale):
        return [f"{number} of {most['most']}"]
    return [number]


def _decide(stated: Sequence[object], scale: Sequence[Label], text: str) -> Verdict:
    """Return the label that all statements agree on; without any, whether the text is a refusal."""
    if not stated:
        return Verdict(None, "refusal" if _REFUSAL.match(text) else "no grade")
    verdicts = {
        (verdict.grade, verdict.reason): verdict for verdict in (match_label(v, scale) for v in stated)
    }
    if len(verdicts) > 1:
        return Verdict(None, "contradiction")
    return next(iter(verdicts.values()))


def match_label(value: object, scale: Sequence[Label]) -> Verdict:
    """Return the label of the scale that a value is; of words, letter case and the kind of spaces do not matter.

    >>> match_label("Not support", ["not_support", "support"]).grade, match_label(5, range(5)).reason
    ('not_support', 'off the scale')
    """
    if any(isinstance(label, str) for label in scale):
        if not isinstance(value, str):
            return Verdict(None, "no grade")
        names = {fold_word(str(label)): label for label in scale}
        return (
            Verdict(names[fold_word(value)]) if fold_word(value) in names else Verdict(None, "off the scale")
        )
    # `true` is an integer in Python
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Verdict(None, "no grade")
    try:
        number = float(str(value).strip().replace("−", "-").replace(",", "."))
    except ValueError:
        return Verdict(None, "no grade")
    if not number.is_integer():
        return Verdict(None, "not whole")
    return Verdict(int(number)) if int(number) in scale else Verdict(None, "off the scale")


def fold_word(text: str) -> str:
    """Return a word of a scale in the form in which words are compared."""
    return _SPACING.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def find_grade_mass(logprobs: Any, scale: Sequence[Label]) -> float | None:
    """Return the probability of all legal grades at the last digit of an answer; None if it is not stated.

    `logprobs` is what an endpoint reports, of any form.
    """
    legal = {str(grade) for grade in scale}
    try:
        for token in reversed(logprobs["content"]):
            if token["token"].strip() in legal and token["top_logprobs"]:
                options = [option for option in token["top_logprobs"] if option["token"].strip() in legal]
                return sum(math.exp(option["logprob"]) for option in options)
    except (TypeError, LookupError, AttributeError, ArithmeticError):
        return None
    return None
