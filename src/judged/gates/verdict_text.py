"""The reason for a verdict: in one sentence, and in a paragraph with every number that matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from judged.blocks import state_p
from judged.stats.clusters import ONE_CLUSTER
from judged.stats.margin import NOT_ASKED, POWER, MarginTest
from judged.stats.outcome import ONE_QUERY
from judged.wording import counted

if TYPE_CHECKING:
    from judged.gates.result import GateReport, MeasureGate

LONGEST = 60
"""Maximum number of characters shown of an id or a name."""
_TESTS = {
    "t": "one-sided paired t-test",
    "welch": "one-sided Welch's t-test",
    "crossed": "one-sided t-test over queries and rounds",
}
_OUTCOMES = {"pass": "passes", "fail": "fails", "inconclusive": "is inconclusive"}


def explain_verdict(result: MeasureGate) -> str:
    """Return the reason in one sentence, then the means, what these queries could detect, and who lost most."""
    parts = [give_reason(result), _means(result), _reach(result), _queries(result), describe_unpaired(result)]
    return " ".join(part for part in parts if part)


def describe_looks(report: GateReport) -> str:
    """Return how often these judgments have decided, and what that does to the error rate; empty without a history.

    Each look passes a run that is worse than the margin with probability α at most. By Bonferroni's inequality, some of
    n looks does so with n · α at most; 1 − (1 − α)ⁿ is the rate where the looks are independent.
    """
    if not report.looks:
        return ""
    if report.looks == 1:
        return "This is the first run that these judgments decide about."
    alpha = max(result.test.alpha for result in report.results)
    chance = 1 - (1 - alpha) ** report.looks
    return (
        f"These judgments have decided about {report.looks:,} runs. If all of them were worse than the margin, the chance that at "
        f"least one passed would be {100 * alpha:.3g} % for one run and about {100 * chance:.2g} % for {report.looks:,}, and more if "
        f"runs were tuned against the verdicts; `--alpha {alpha / report.looks:.2g}` keeps it below {100 * alpha:.3g} %, "
        "and new queries start again."
    )


def give_reason(result: MeasureGate) -> str:
    """Return one sentence that says why the measure passes, fails or neither."""
    return f"{result.measure} {_OUTCOMES[result.verdict]}: {_decide(result)}."


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


def _means(result: MeasureGate) -> str:
    lower = "" if result.higher_is_better else " (lower is better)"
    test = result.test
    return (
        f"By the {describe_test(test)} at {100 * (1 - test.alpha):.4g} % confidence. "
        f"Over {counted(test.queries, result.unit)}, the mean of {shorten(result.run)} is "
        f"{format_figure(result.run_mean, sign=False)} and that of {shorten(result.baseline)} "
        f"{format_figure(result.baseline_mean, sign=False)}{lower}."
    )


def _decide(result: MeasureGate) -> str:
    test = result.test
    if test.undefined:
        return _undefined(result)
    low, high, margin = format_figure(test.low), format_figure(test.high), _name_margin(result)
    way = "" if result.higher_is_better else ", in the good direction,"
    if result.verdict == "pass":
        return f"the difference{way} is at least {low}, above {margin} ({state_p(test.p_above)})"
    if result.verdict == "fail":
        return f"the difference{way} is at most {high}, below {margin} ({state_p(test.p_below)})"
    if math.isinf(test.low) or math.isinf(test.high):
        return f"{_count_draws(result)} can show nothing at alpha {test.alpha:g} by the {describe_test(test)}"
    more = ""
    if test.needed and test.needed > (test.clusters or test.queries):
        needed = counted(test.needed, "cluster" if test.clusters else result.unit)
        more = f"; about {needed} would decide between equally good systems"
    return f"the difference{way} may be anything from {low} to {high}, on both sides of {margin}{more}"


def _name_margin(result: MeasureGate) -> str:
    share = f", {result.min_delta} of the baseline's mean" if result.min_delta.relative else ""
    return f"the margin of {format_figure(result.test.margin)}{share}"


def describe_test(test: MarginTest) -> str:
    """Return the name of the test, how many sign flips it is based on, and how many clusters."""
    by = f", by {counted(test.clusters, 'cluster')}" if test.clusters else ""
    if test.test in _TESTS:
        return f"{_TESTS[test.test]}{by}"
    drawn = "all sign flips" if test.exact else f"{test.resamples:,} random sign flips"
    return f"one-sided randomisation test, {drawn}{by}"


def _count_draws(result: MeasureGate) -> str:
    """Return the number of independent draws: of clusters, or of units."""
    test = result.test
    return counted(test.clusters, "cluster") if test.clusters else counted(test.queries, result.unit)


def _undefined(result: MeasureGate) -> str:
    test = result.test
    if test.undefined == NOT_ASKED:
        return NOT_ASKED.reason
    if test.undefined in {ONE_QUERY, ONE_CLUSTER}:
        return f"one {'cluster' if test.clusters else result.unit} shows nothing about others"
    same = (
        f"no {result.unit} differs"
        if test.difference == 0
        else f"every {result.unit} differs by the same, less the margin"
    )
    compared = "not below" if test.verdict == "pass" else "below"
    return (
        f"the observed difference of {format_figure(test.difference)} is {compared} {_name_margin(result)}; "
        f"the test is undefined, since {same}"
    )


def _reach(result: MeasureGate) -> str:
    test = result.test
    if test.detectable is None:
        return ""
    return (
        f"{counted(test.queries, result.unit)} like these detect a difference of "
        f"{format_figure(test.detectable, sign=False)} from the margin {100 * POWER:g} % of the time."
    )


def _queries(result: MeasureGate) -> str:
    same = result.test.queries - result.better - result.worse
    counts = (
        f"{counted(result.better, result.unit)} got better, {same:,} stayed equal, {result.worse:,} got worse"
    )
    named = [f"{shorten(query)} ({format_figure(lost)})" for query, lost in result.hurt[:3]]
    return f"{counts}; most hurt: {', '.join(named)}." if named else f"{counts}."


def describe_unpaired(result: MeasureGate) -> str:
    """Return the queries that could not be paired, counted and named."""
    sentences = []
    for queries, where in (
        (result.only_in_run, f"with a value in {shorten(result.run)} only"),
        (result.only_in_baseline, f"with a value in {shorten(result.baseline)} only"),
        (result.in_neither, "without a value in either"),
    ):
        if queries:
            names = ", ".join(map(shorten, queries[:3])) + (", …" if len(queries) > 3 else "")
            sentences.append(f"{counted(len(queries), result.unit)} ({names}) {where}: not compared.")
    return " ".join(sentences)
