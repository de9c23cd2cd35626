"""Why a gate passed, failed or neither, in one paragraph with the numbers that decided."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from judged.stats.margin import POWER, MarginTest
from judged.stats.outcome import ONE_QUERY
from judged.wording import counted

if TYPE_CHECKING:
    from judged.gates.result import MeasureGate

__all__ = ["explain_verdict", "format_figure", "shorten"]

LONGEST = 60
"""How many characters of an id or a name are shown."""
_OUTCOMES = {"pass": "passed.", "fail": "failed.", "inconclusive": "inconclusive."}


def explain_verdict(result: MeasureGate) -> str:
    """Return the paragraph: means, difference, margin, the test, and what these queries could detect."""
    parts = [_means(result), _decision(result), _reach(result), _queries(result), _unpaired(result)]
    return " ".join(part for part in parts if part)


def format_figure(value: float, *, sign: bool = True) -> str:
    """Return a number as people read it: four decimals, or three digits where those would be zeros.

    >>> format_figure(0.12345), format_figure(-0.00001234), format_figure(0.0, sign=False)
    ('+0.1235', '-1.23e-05', '0.0000')
    """
    plus = "+" if sign else ""
    small = value != 0 and abs(value) < 0.001
    return f"{value:{plus}.3g}" if small else f"{value + 0.0:{plus}.4f}"


def shorten(text: str) -> str:
    """Return the text, cut if it is too long to show, with control characters escaped."""
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: LONGEST + 1]
    )
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _format_p(p: float) -> str:
    """Return a p-value, as below the last decimal rather than as 0.

    >>> _format_p(0.0312), _format_p(1e-9)
    ('p = 0.0312', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def _means(result: MeasureGate) -> str:
    test = result.test
    lower = "" if result.higher_is_better else ", and less of it is better"
    way = "" if result.higher_is_better else ", in the good direction,"
    share = f" ({result.min_delta} of the baseline's mean)" if result.min_delta.relative else ""
    return (
        f"{result.measure}: {_OUTCOMES[result.verdict]} Over {counted(test.queries, result.unit)}, "
        f"{shorten(result.run)} has a mean of {format_figure(result.run_mean, sign=False)} and "
        f"{shorten(result.baseline)} of {format_figure(result.baseline_mean, sign=False)}{lower}: "
        f"a difference{way} of {format_figure(test.difference)}. The margin is {format_figure(test.margin)}{share}."
    )


def _decision(result: MeasureGate) -> str:
    test = result.test
    if test.undefined:
        return _undefined(result)
    sure, how = f"{100 * (1 - test.alpha):.4g} %", _method(test)
    low, high = format_figure(test.low), format_figure(test.high)
    if result.verdict == "pass":
        return (
            f"With {sure} confidence the true difference is at least {low} ({how}, {_format_p(test.p_above)}): "
            "it is shown to lie above the margin."
        )
    if result.verdict == "fail":
        what = ", a regression" if test.margin <= 0 else ""
        return (
            f"With {sure} confidence the true difference is at most {high} ({how}, {_format_p(test.p_below)}): "
            f"it is shown to lie below the margin{what}."
        )
    if math.isinf(test.low) or math.isinf(test.high):
        return f"{counted(test.queries, result.unit)} can show nothing at alpha {test.alpha:g} by the {how}."
    return (
        f"With {sure} confidence the true difference is at least {low}, and with {sure} at most "
        f"{high} ({how}, {_format_p(test.p_above)} to pass, {_format_p(test.p_below)} to fail): "
        "the margin lies between, and neither is shown."
    )


def _method(test: MarginTest) -> str:
    if test.test == "t":
        return "one-sided paired t-test"
    drawn = "all sign flips" if test.exact else f"{test.resamples:,} random sign flips"
    return f"one-sided randomisation test, {drawn}"


def _undefined(result: MeasureGate) -> str:
    test = result.test
    if test.undefined == ONE_QUERY:
        return f"The test is undefined: one {result.unit} shows nothing about others."
    same = (
        f"no {result.unit} differs"
        if test.difference == 0
        else f"every {result.unit} differs by the same, less the margin"
    )
    compared = "not less" if test.verdict == "pass" else "less"
    return f"The test is undefined: no spread ({same}). The observed difference is {compared} than the margin, and decides."


def _reach(result: MeasureGate) -> str:
    test = result.test
    if test.detectable is None:
        return ""
    reach = (
        f"The smallest effect that {counted(test.queries, result.unit)} of this spread detect {100 * POWER:g} % of the "
        f"time is {format_figure(test.detectable, sign=False)} above or below the margin"
    )
    if result.verdict == "inconclusive" and test.needed and test.needed > test.queries:
        needed = counted(test.needed, result.unit)
        reach += f"; for two equally good systems to pass that often, about {needed} are needed"
    return f"{reach}."


def _queries(result: MeasureGate) -> str:
    same = result.test.queries - result.better - result.worse
    counts = f"{counted(result.better, result.unit)} better, {same:,} equal, {result.worse:,} worse"
    named = [f"{shorten(query)} ({format_figure(lost)})" for query, lost in result.hurt[:3]]
    return f"{counts}; most hurt: {', '.join(named)}." if named else f"{counts}."


def _unpaired(result: MeasureGate) -> str:
    """Return the queries that could not be paired, counted and named."""
    sentences = []
    for queries, run in ((result.only_in_run, result.run), (result.only_in_baseline, result.baseline)):
        if queries:
            names = ", ".join(map(shorten, queries[:3])) + (", …" if len(queries) > 3 else "")
            count = counted(len(queries), result.unit)
            sentences.append(f"{count} ({names}) with a value in {shorten(run)} only: not compared.")
    return " ".join(sentences)
