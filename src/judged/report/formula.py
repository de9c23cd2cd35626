"""Formulas in LaTeX as one line of text, for terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SIGN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^]|\s+|[^\\{}_^\s]")
_WORDS = {
    "sum": "Σ",
    "prod": "Π",
    "le": "≤",
    "ge": "≥",
    "cdot": "·",
    "cdots": "⋯",
    "cap": "∩",
    "propto": "∝",
    "in": "∈",
    "exists": "∃ ",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "varepsilon": "ε",
    "beta": "β",
    "gamma": "γ",
    "pi": "π",
    "qquad": "   ",
    "quad": "  ",
    "left": "",
    "right": "",
    ",": " ",
    ";": " ",
    "{": "{",
    "}": "}",
    "_": "_",
}
_BIG = {"Σ", "Π", "max", "min"}
_SUBSCRIPTS = str.maketrans("0123456789+-=()ijnmk", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ᵢⱼₙₘₖ")
_SUPERSCRIPTS = str.maketrans("0123456789+-=()in", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿ")


def formula_text(latex: str) -> str:
    r"""Return a formula in Unicode text.

    >>> formula_text(r"\mathrm{DCG}@k = \sum_{i=1}^{k} \frac{v(g_i)}{\log_2(i + 1)}")
    'DCG@k = Σ(i=1…k) v(gᵢ) / log₂(i + 1)'
    """
    text = re.sub(r"[ \t\n]+", " ", _convert_sequence(iter(_SIGN.findall(latex)), closed=False)).strip()
    return re.sub(r"([({\[⌊]) +| +([)}\]⌋,])", r"\1\2", text)


def prose_text(markdown: str) -> str:
    """Return a sentence with its formulas, between dollar signs, as text.

    >>> prose_text("where $g_i$ is the grade of the result at rank $i$.")
    'where gᵢ is the grade of the result at rank i.'
    """
    return re.sub(r"\$(.+?)\$", lambda found: formula_text(found[1]), markdown)


def _convert_sequence(signs: Iterator[str], *, closed: bool = True) -> str:
    """Convert everything up to the closing brace, or to the end."""
    parts: list[str] = []
    for sign in signs:
        if sign == "}" and closed:
            break
        if sign in {"_", "^"}:
            base = parts.pop() if parts else ""
            parts.append(_attach_script(base, sign, _convert_argument(signs)))
        elif sign == "\\frac" and "".join(parts).rstrip().endswith("ln"):
            parts.append(f"({_convert_token(sign, signs)})")
        else:
            parts.append(_convert_token(sign, signs))
    return "".join(parts)


def _convert_argument(signs: Iterator[str]) -> str:
    """Convert the argument of a command or script: a group, or the next token."""
    sign = next((sign for sign in signs if not sign.isspace()), "")
    return _convert_token(sign, signs)


def _convert_token(sign: str, signs: Iterator[str]) -> str:
    """Convert one token, group or command."""
    if sign == "{":
        return _convert_sequence(signs)
    if not sign.startswith("\\"):
        return " " if sign.isspace() else sign
    name = sign[1:]
    if name in {"frac", "tfrac"}:
        above, below = _parenthesise(_convert_argument(signs)), _parenthesise(_convert_argument(signs))
        return f"{above}/{below}" if f"{above}{below}".isalnum() else f"{above} / {below}"
    if name in {"mathrm", "text"}:
        return _convert_argument(signs)
    return _WORDS.get(name, name)


def _attach_script(base: str, script: str, text: str) -> str:
    """Attach a subscript or superscript; the limits of a sum go in brackets."""
    if base in _BIG and script == "_":
        return f"{base}({text})"
    if base[:1] in {"Σ", "Π"} and base.endswith(")") and script == "^":
        return f"{base[:-1]}…{text})"
    small = text.translate(_SUBSCRIPTS if script == "_" else _SUPERSCRIPTS)
    if text.isascii() and not any(character.isascii() for character in small):
        return base + small
    if text == "*":
        return f"{base}*"
    return f"{base}{script}{text}" if len(text) == 1 or text.isalpha() else f"{base}{script}({text})"


def _parenthesise(text: str) -> str:
    """Put a numerator or denominator in brackets if it has several terms."""
    inner = text.strip()
    whole = re.fullmatch(r"[\w@.]+|\|[^|]*\||[\w₂*@]*\([^()]*(\([^()]*\))?[^()]*\)", inner)
    return inner if whole else f"({inner})"
