"""The page of answers: what it says, a citation that opens its passage, hostile text, and accessibility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judged
from judged.answers.result import AnswerReport
from judged.studies.outcome.folder import write_study
from judged.studies.result import Study
from judged.studies.running.run import open_study, run_study
from support.studies import write_collection

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
HOSTILE = "<img src=x onerror=alert(1)>\"'`${7*7}</script><b>bold</b>\u202e\u0000\x1b[31m".replace(
    "\u0000", ""
)
QUERIES = [f"q{number}" for number in range(12)]


@pytest.fixture(scope="module")
def report() -> AnswerReport:
    """Two systems, with nuggets, citations, passages, losses and a comparison; hostile text in every field."""
    parts = [
        {"query": query, "system": system, "part": part, "text": f"{HOSTILE} {part}", "citations": cited}
        for system in ("bm25", f"dense {HOSTILE}")
        for query in QUERIES
        for part, cited in [(1, ["d1", f"d2 {HOSTILE}"]), (2, ["d1"]), (3, [])]
    ]
    labels = [
        {
            "query": part["query"],
            "system": part["system"],
            "part": part["part"],
            "document": document,
            "label": ["full", "partial", "none"][(place + number) % 3],
        }
        for number, part in enumerate(parts)
        for place, document in enumerate(part["citations"])
        if number % 7
    ]
    nuggets = [
        {
            "query": query,
            "system": system,
            "nugget": f"{HOSTILE} {nugget}",
            "importance": "vital" if nugget < 2 else "okay",
            "label": ["support", "partial_support", "not_support"][(nugget + row + (system == "bm25")) % 3],
        }
        for system in ("bm25", f"dense {HOSTILE}")
        for row, query in enumerate(QUERIES)
        for nugget in range(4)
    ]
    judgments = [
        {"query": query, "intent": f"{HOSTILE} {nugget}", "document": f"d{nugget % 3}", "grade": 1}
        for query in QUERIES
        for nugget in range(4)
    ]
    people = [{**row, "label": "support"} for row in nuggets if row["query"] in QUERIES[:6]]
    given: dict[str, Any] = {"labels": [labels, nuggets], "human": people}
    made = judged.evaluate_answers(parts, **given)
    losses = judged.attribute_losses(
        parts, labels=[labels, nuggets], run={query: ["d1", "d0"] for query in QUERIES}, judgments=judgments
    )
    details = replace(made.details, passages={"d1": f"The passage. {HOSTILE}"})
    return replace(made, losses=losses, comparison=judged.compare(made), details=details)


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)])
def test_the_page_is_accessible_and_fits(
    report: AnswerReport,
    open_report: Open,
    check_accessibility: Callable[[Page], None],
    dark: bool,
    width: int,
) -> None:
    """Axe finds nothing, on light and dark, on a wide and on a narrow screen; nothing is wider than the screen."""
    page = open_report(report, at="#/answers", dark=dark, width=width)
    page.get_by_role("heading", name="One question").wait_for()
    page.locator(".answer").first.wait_for()

    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_citation_opens_its_passage(report: AnswerReport, open_report: Open) -> None:
    """A click opens the passage below the answer, another closes it; hostile text is text."""
    page = open_report(report, at="#/answers?id=q3")
    answer = page.locator(".answer").first
    button = answer.get_by_role("button", name="citation 1: d1").first
    button.click()

    assert "The passage. <img src=x onerror=alert(1)>" in (answer.locator(".passage").inner_text())
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert answer.locator(".passage").inner_text() == ""
    assert page.locator("main img, main b b, main script").count() == 0


def test_questions_are_stepped_through(report: AnswerReport, open_report: Open) -> None:
    """The address names the question, which a link opens again; every part of a page is there."""
    page = open_report(report, at="#/answers?id=q3")
    page.locator(".answer").first.wait_for()
    select = page.get_by_label("Question")
    assert select.input_value() == "q3"
    page.get_by_role("button", name="Next →").click()

    assert select.input_value() == "q4"
    assert "id=q4" in page.url
    headings = page.locator("h2").all_inner_texts()
    assert {"Systems", "Where nuggets are lost", "Paired differences", "One question"} <= set(headings)
    assert "Labels against people" in headings
    assert page.locator("svg.shares").count() == 2
    assert "retrieved and said" in (page.locator("svg.shares").first.get_attribute("aria-label") or "")


def test_a_report_of_one_system_without_labels(open_report: Open) -> None:
    """Nothing but texts: the page says so, and shows them."""
    made = judged.evaluate_answers({"bot": {"q1": "Cats purr [1]. Dogs bark."}})
    page = open_report(made, at="#/answers")
    page.locator(".answer").first.wait_for()

    assert "Cats purr." in page.locator(".answer").inner_text()


WRITER = '''
"""A stand-in for a model."""


def answer(question, passages):
    """Cite the first two passages, and add a sentence without a source."""
    some = [passage["text"].splitlines()[-1].rstrip(".") for passage in passages[:2]]
    cited = " ".join(f"{text} [{number}]." for number, text in enumerate(some, 1))
    return f"{cited} So much for {question}."
'''


def test_a_study_shows_what_its_systems_wrote(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    open_page: Open,
    check_accessibility: Callable[[Page], None],
) -> None:
    """The report in a study's folder: answers side by side, citations that open what was retrieved, and differences."""
    pytest.importorskip("bm25s")
    write_collection(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pet_writer.py").write_text(WRITER)
    (tmp_path / "references.csv").write_text("query,answer\nq1,cats\nq4,Stars shine\nq2,bark\n")
    writer = {"type": "function", "function": "pet_writer:answer"}
    systems = [
        {"name": "near", "search": "bm25", "generate": {**writer, "passages": 1}},
        {"name": "deep", "search": "bm25", "generate": {**writer, "passages": 4}},
        {"name": "silent", "search": "bm25"},
    ]
    content = {
        "collection": "pets",
        "systems": systems,
        "measures": ["nDCG@5"],
        "baseline": "near",
        "answers": {"references": "references.csv"},
    }
    found = run_study(content, output=tmp_path / "out")
    write_study(found, open_study(content, tmp_path / "out"))
    page = open_page(f"{(tmp_path / 'out' / 'report.html').as_uri()}#/answers?id=q4")
    answer = page.locator(".answer").first
    button = answer.get_by_role("button", name="citation 1: d3").first
    button.click()

    assert "Stars shine in the night sky" in answer.inner_text()
    assert "So much for night sky." in answer.inner_text()
    assert "Stars shine in the night sky above the garden." in answer.locator(".passage").inner_text()
    assert page.locator(".answer").count() == 2
    assert {"Systems", "Paired differences", "One question"} <= set(page.locator("h2").all_inner_texts())
    shown = page.locator("main").inner_text()
    assert "Contains" in shown
    # neither the protocol nor the warnings of retrieval, and nothing about support that nobody labelled
    assert "Protocol: answers" in shown
    assert "unjudged" not in shown
    assert "sentences supported" not in shown
    check_accessibility(page)


def test_a_study_without_answers_has_no_such_page(open_report: Open) -> None:
    """As long as no system writes any."""
    page = open_report(Study("s", "pets", 8, 6), at="#/study")

    assert page.get_by_role("link", name="Answers").count() == 0
