"""Tables of the report: they fit every width, and what they leave out is one press away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import judged

MEASURES = [
    "nDCG@10",
    "AP",
    "RR",
    "P@5",
    "P@10",
    "R@5",
    "R@10",
    "Bpref",
    "Rprec",
    "ERR@10",
    "RBP",
    "Success@1",
]
SYSTEMS = [f"dense_retriever.v{number}+rerank/monoT5-3B_final" for number in range(5)]


@pytest.fixture(scope="module")
def comparison() -> judged.Comparison:
    """Five systems with long names and twelve measures: more columns than any screen shows."""
    random = np.random.default_rng(7)
    qrels = {f"q{query}": {f"d{at}": int(random.integers(0, 3)) for at in range(8)} for query in range(12)}
    runs = {
        name: {query: {document: float(random.random()) for document in qrels[query]} for query in qrels}
        for name in SYSTEMS
    }
    return judged.compare(qrels, runs, MEASURES, baseline=SYSTEMS[0])


def _overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("width", [1440, 1280, 1024, 768, 560, 390, 320])
def test_no_table_is_wider_than_its_page(
    open_report: Callable[..., Any], comparison: judged.Comparison, width: int
) -> None:
    """Columns go by their rank; the name, the value, its interval and the difference stay."""
    page = open_report(comparison, width=width)
    page.wait_for_selector("table")
    boxes = page.eval_on_selector_all(".fit", "all => all.map(box => box.scrollWidth - box.clientWidth)")
    shown = page.eval_on_selector_all(
        "tbody tr:first-child > *",
        "all => all.filter(cell => cell.offsetWidth).map(cell => cell.textContent)",
    )

    assert _overflow(page) <= 0
    assert max(boxes) <= 1
    assert any("dense_retriever" in text for text in shown)
    assert page.locator("td.bar svg").first.is_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_a_row_opens_to_all_of_its_numbers(
    open_report: Callable[..., Any],
    check_accessibility: Callable[..., None],
    comparison: judged.Comparison,
    width: int,
) -> None:
    """Every measure, also those whose columns went; another press closes the row."""
    page = open_report(comparison, width=width)
    opener = page.locator(".opener").first
    opener.click()
    names = page.eval_on_selector_all("tr.all dt", "all => all.map(name => name.textContent)")

    assert set(MEASURES) <= set(names)
    assert {"low", "high", "p, corrected"} <= set(names)
    assert opener.get_attribute("aria-expanded") == "true"
    check_accessibility(page)
    opener.click()
    assert page.locator("tr.all").count() == 0


def test_a_table_fits_again_when_the_window_grows(
    open_report: Callable[..., Any], wait_until: Callable[..., Any], comparison: judged.Comparison
) -> None:
    """Columns come back."""
    page = open_report(comparison, width=390)
    count = "[...document.querySelectorAll('thead th')].filter(cell => cell.offsetWidth).length"
    page.wait_for_selector("table")
    few = page.evaluate(count)
    page.set_viewport_size({"width": 1440, "height": 900})

    assert wait_until((page, f"{count} > {few}"))
    assert _overflow(page) <= 0


def test_names_break_after_separators_only(
    open_report: Callable[..., Any], comparison: judged.Comparison
) -> None:
    """Never inside a word."""
    page = open_report(comparison, width=390)
    parts = page.locator("tbody th .name").first.evaluate(
        "node => [...node.childNodes].filter(part => part.nodeType === 3).map(part => part.textContent)"
    )

    assert "".join(parts) in SYSTEMS
    assert all(part[-1] in "_+/.-" for part in parts[:-1])


def test_notes_stand_after_the_table(open_report: Callable[..., Any], comparison: judged.Comparison) -> None:
    """Only what puts all numbers in doubt may stand before it."""
    page = open_report(comparison, width=1440)
    page.wait_for_selector("table")

    assert page.evaluate("document.querySelector('table').getBoundingClientRect().top") < 500
    assert page.evaluate(
        "![...document.querySelectorAll('ul.notes')].some(list =>"
        " list.compareDocumentPosition(document.querySelector('table')) & Node.DOCUMENT_POSITION_FOLLOWING)"
    )


def test_repeated_and_missing_values_have_tables_below_the_leaderboard(
    open_report: Callable[..., Any],
) -> None:
    """With the sentence about the difference, and all rows of both."""
    random = np.random.default_rng(3)
    names = [f"q{query}" for query in range(12)]
    systems = []
    for name, kept in ("old", slice(0, 11)), ("new", slice(1, 12)):
        attempts = random.random((12, 3))[kept]
        queries = pa.array(names[kept])
        systems.append(
            judged.Scores(queries, {"AP": attempts.mean(axis=1)}, run=name, repeats={"AP": attempts})
        )
    compared = judged.compare(systems, baseline="old")
    page = open_report(compared, width=1280)
    page.wait_for_selector("table")
    text = page.inner_text("body")

    assert "Missing values: the difference with each as the worst and as the best" in text
    assert "Repeated values: what the intervals consist of, and what would halve them" in text
    assert compared.repeated_errors[-1].describe() in text
    assert "new − old" in text
    assert _overflow(page) <= 0
