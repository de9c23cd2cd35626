"""Why a gate passed, failed or neither, in one paragraph with the numbers that decided."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from judged.stats.margin import POWER, MarginTest
from judged.stats.outcome import ONE_QUERY
from judged.wording import counted

if TYPE_CHECKING:
    from judged.gates.report import MeasureGate

__all__ = ["because", "figure", "probability", "short"]

LONGEST = 60
"""Of an id or a name no more characters than this are shown."""


def because(of: MeasureGate) -> str:
    """The paragraph: means, difference, margin, what the test says, what these queries could notice."""
    sentences = [_means(of), _decided(of), _reach(of), _queries(of), _left_out(of)]
    return " ".join(sentence for sentence in sentences if sentence)


def figure(value: float, *, sign: bool = True) -> str:
    """A number as people read it: four decimals, or three digits where those would be zeros.

    >>> figure(0.12345), figure(-0.00001234), figure(0.0, sign=False)
    ('+0.1235', '-1.23e-05', '0.0000')
    """
    plus = "+" if sign else ""
    small = value != 0 and abs(value) < 0.001
    return f"{value:{plus}.3g}" if small else f"{value + 0.0:{plus}.4f}"


def probability(p: float) -> str:
    """A p-value, said to be below what is shown rather than shown as 0.

    >>> probability(0.0312), probability(1e-9)
    ('p = 0.0312', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def short(text: str) -> str:
    """The text, cut where it is too long to be shown, control characters made visible."""
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: LONGEST + 1]
    )
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _means(of: MeasureGate) -> str:
    test = of.test
    over = "" if of.higher_is_better else ", and less of it is better"
    way = "" if of.higher_is_better else ", in the good direction,"
    share = f" ({of.min_delta} of the baseline's mean)" if of.min_delta.relative else ""
    return (
        f"{of.measure}: {_verdicts[of.verdict]} Over {counted(test.queries, of.unit)}, {short(of.run)} has a mean of "
        f"{figure(of.run_mean, sign=False)} and {short(of.baseline)} of {figure(of.baseline_mean, sign=False)}{over}: "
        f"a difference{way} of {figure(test.difference)}. The margin is {figure(test.margin)}{share}."
    )


_verdicts = {"pass": "passed.", "fail": "failed.", "inconclusive": "inconclusive."}


def _decided(of: MeasureGate) -> str:
    test = of.test
    if test.undefined:
        return _undefined(of)
    sure, how = f"{100 * (1 - test.alpha):.4g} %", _how(test)
    if of.verdict == "pass":
        told = f"the true difference is at least {figure(test.low)} ({how}, {probability(test.p_above)})"
        return f"With {sure} confidence {told}: it is shown to lie above the margin."
    if of.verdict == "fail":
        told = f"the true difference is at most {figure(test.high)} ({how}, {probability(test.p_below)})"
        what = ", a regression" if test.margin <= 0 else ""
        return f"With {sure} confidence {told}: it is shown to lie below the margin{what}."
    if math.isinf(test.low) or math.isinf(test.high):
        return f"{counted(test.queries, of.unit)} can show nothing at alpha {test.alpha:g} by the {how}."
    return (
        f"With {sure} confidence the true difference is at least {figure(test.low)}, and with {sure} at most "
        f"{figure(test.high)} ({how}, {probability(test.p_above)} to pass, {probability(test.p_below)} to fail): "
        "the margin lies between, and neither is shown."
    )


def _how(test: MarginTest) -> str:
    if test.test == "t":
        return "one-sided paired t-test"
    return "one-sided randomisation test, " + ("all sign flips" if test.exact else "10,000 sign flips drawn")


def _undefined(of: MeasureGate) -> str:
    test = of.test
    if test.undefined == ONE_QUERY:
        return f"The test is undefined: one {of.unit} shows nothing of others."
    same = (
        f"no {of.unit} differs"
        if test.difference == 0
        else f"every {of.unit} differs by the same, the margin taken off"
    )
    fate = "not less" if test.verdict == "pass" else "less"
    return f"The test is undefined: no spread ({same}). What is seen is {fate} than the margin, and decides."


def _reach(of: MeasureGate) -> str:
    test = of.test
    if test.detectable is None:
        return ""
    told = (
        f"The smallest effect that {counted(test.queries, of.unit)} of this spread detect {100 * POWER:g} % of the time is "
        f"{figure(test.detectable, sign=False)} above or below the margin"
    )
    if of.verdict == "inconclusive" and test.needed and test.needed > test.queries:
        told += f"; for two equally good systems to pass that often, about {counted(test.needed, of.unit)} are needed"
    return f"{told}."


def _queries(of: MeasureGate) -> str:
    same = of.test.queries - of.better - of.worse
    told = f"{counted(of.better, of.unit)} better, {same:,} equal, {of.worse:,} worse"
    named = [f"{short(query)} ({figure(lost)})" for query, lost in of.hurt[:3]]
    return f"{told}; most hurt: {', '.join(named)}." if named else f"{told}."


def _left_out(of: MeasureGate) -> str:
    """The queries that could not be paired, counted and named."""
    told = []
    for queries, who in ((of.only_in_run, of.run), (of.only_in_baseline, of.baseline)):
        if queries:
            more = ", …" if len(queries) > 3 else ""
            named = ", ".join(map(short, queries[:3])) + more
            told.append(
                f"{counted(len(queries), of.unit)} ({named}) with a value in {short(who)} only: not compared."
            )
    return " ".join(told)
