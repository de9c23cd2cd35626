"""Gates shown: Markdown never passes a megabyte, XML names every outcome, text and JSON say the same."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from judged.blocks import Display
from judged.gates.result import Delta, GateReport, GateSummary, MeasureGate, RefusedGate, find_worst
from judged.report.gate_summaries import (
    LIMIT,
    render_junit,
    render_markdown,
    render_text,
)
from judged.stats.margin import margin_test

PASSED = [0.0, 0.01, -0.005, 0.02, 0.0, 0.005]
FAILED = [-0.3, -0.2, -0.4, -0.25, -0.31, -0.28]
UNSURE = [-0.3, 0.3, -0.2, 0.2, 0.1, -0.1]


def measured(differences: list[float], *, name: str = "AP", queries: tuple[str, ...] = ()) -> MeasureGate:
    """A measure with some differences; `queries` were left out."""
    test = margin_test(differences, margin=-0.01)
    hurt = (("q1", -0.1),)
    return MeasureGate(name, "new", "old", 0.5, 0.5, Delta(-0.01), test, hurt=hurt, only_in_run=queries)


def gate(*results: MeasureGate, name: str = "nightly") -> GateReport:
    """A gate of some measures."""
    return GateReport(name, "new", "old", results)


GATES = (
    gate(measured(PASSED), measured(FAILED, name="nDCG@10"), measured(UNSURE, name="RR")),
    RefusedGate("weekly", "no such file\n\nhint: look again"),
)


@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        (GATES, "error"),
        (GATES[:1], "fail"),
        ([gate(measured(PASSED)), gate(measured(UNSURE))], "inconclusive"),
        ([gate(measured(PASSED))], "pass"),
    ],
)
def test_the_outcome_of_several_gates_is_the_worst(gates: list[GateReport], verdict: str) -> None:
    """An error, a fail, an inconclusive one, a pass: in this order."""
    summary = GateSummary(tuple(gates))

    assert (summary.verdict, summary.summary()["verdict"]) == (verdict, verdict)
    assert render_text(summary, Display()).startswith(f"Verdict: {verdict} (")


def test_no_verdicts_are_a_pass() -> None:
    """Nothing was found against it."""
    assert find_worst([]) == "pass"


@pytest.mark.parametrize(
    ("lenient", "tags"),
    [
        (False, ["system-out", "failure", "failure", "error"]),
        (True, ["system-out", "failure", "skipped", "error"]),
    ],
)
def test_xml_has_a_test_for_each_measure(lenient: bool, tags: list[str]) -> None:
    """An inconclusive one is skipped where it is let through, and a failure of that type where it is not."""
    root = ET.fromstring(render_junit(GateSummary(GATES), inconclusive_passes=lenient))  # noqa: S314
    cases = [case for suite in root for case in suite]

    assert [suite.get("name") for suite in root] == ["nightly", "weekly"]
    assert [case.get("name") for case in cases] == ["AP", "nDCG@10", "RR", "weekly"]
    assert [case[0].tag for case in cases] == tags
    assert [case[0].get("type") for case in cases] == [None, "fail", "inconclusive", "error"]
    assert cases[1][0].get("message") == "fail: -0.2900, margin -0.0100, 6 queries"
    assert cases[1][0].text == GATES[0].results[1].text  # type: ignore[union-attr]


def test_markdown_puts_the_gravest_first() -> None:
    """Title, error, table, then the paragraphs."""
    text = render_markdown(GateSummary(GATES), Display())
    title, error, table, *why = text.split("\n\n")

    assert title == "## 💥 error: 2 gates"
    assert error == "**weekly**: no such file hint: look again"
    assert [line.split("|")[2].strip() for line in table.splitlines()] == [
        "measure",
        ":------",
        "nDCG@10",
        "RR",
        "AP",
    ]
    assert [reason.partition(":")[0] for reason in why] == [
        "nightly, nDCG@10 fails",
        "nightly, RR is inconclusive",
        "nightly, AP passes",
    ]


def test_text_in_names_means_nothing_in_markdown() -> None:
    """Neither markup nor lines of its own."""
    text = render_markdown(GateSummary((gate(measured(PASSED), name="<b>*x*\n# y|z"),)), Display())

    assert text.splitlines()[0] == "## ✅ pass: \\<b\\>\\*x\\*\\\\n\\# y\\|z"


@pytest.mark.parametrize("gates", [1, 20, 3000])
def test_markdown_stays_below_a_megabyte_whatever_it_is_given(gates: int) -> None:
    """A hundred thousand queries with long ids, thousands of gates, endless names."""
    queries = tuple(f"{'x' * 500}{number}" for number in range(100_000 if gates == 1 else 3))
    result = replace(measured(FAILED, name="AP" * 300, queries=queries), hurt=((queries[0], -0.5),) * 5)
    several = tuple(gate(result, name=f"gate {'y' * 2000} {number}") for number in range(gates))
    text = render_markdown(GateSummary(several), Display())

    assert len(text.encode()) <= LIMIT
    assert text.startswith("## ❌ fail: ")
    assert gates < 3000 or "… and 2,500 measures more, none worse." in text


def test_what_does_not_fit_is_counted() -> None:
    """Paragraphs are left out from the last, which is the least grave."""
    long = measured(FAILED, name="AP" * 3000)
    text = render_markdown(
        GateSummary(tuple(gate(long, name=str(number)) for number in range(400))), Display()
    )

    assert len(text.encode()) <= LIMIT
    assert text.rstrip().endswith("left out to stay below a megabyte.")
