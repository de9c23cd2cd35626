"""The report in a real browser: what readers do with it, what they see, and what they save."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.agents.result import SessionReport
from judged.blocks import Display, format_value
from judged.report.data import to_delimited
from judged.report.page import render_report
from support.report_results import (
    HOSTILE,
    PLAIN,
    make_all,
    make_comparison,
    make_runs,
    make_sessions,
    make_study,
)

Open = Callable[..., Any]
Wait = Callable[..., Any]
VIEWS = (
    "study",
    "index",
    "leaderboard",
    "queries",
    "query",
    "curves",
    "sessions",
    "agreement",
    "gate",
    "result",
    "provenance",
)
DRAWN = """document.documentElement.dataset.ready === "{0}" &&
  !document.querySelector(".chart[aria-busy=true]:not(details:not([open]) *)")"""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """Judgments, runs and texts."""
    return make_runs()


@pytest.fixture(scope="module")
def comparison(data: dict[str, Any]) -> judged.Comparison:
    """Four runs against the first."""
    return make_comparison(data)


@pytest.fixture(scope="module")
def report(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any], comparison: judged.Comparison
) -> Path:
    """The report of a comparison with everything that it can show."""
    inputs = {name: data[name] for name in ("qrels", "runs", "queries", "documents")}
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_report([comparison], **inputs), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports with a result of every kind, under plain names and under hostile ones."""
    folder = tmp_path_factory.mktemp("everything")
    found = {}
    for kind, names in (("plain", PLAIN), ("hostile", HOSTILE)):
        results, inputs = make_all(names)
        chosen = {name: inputs[name] for name in ("qrels", "runs", "queries", "documents")}
        titles = [names[at % len(names)] for at in range(len(results))]
        text = render_report(results, title=names[0], titles=titles, command=names[1], **chosen)
        found[kind] = folder / f"{kind}.html"
        found[kind].write_text(text, encoding="utf-8")
    return found


@pytest.fixture
def show(open_report: Open, wait_until: Wait) -> Callable[..., Any]:
    """Opens a page of a report and waits until it is drawn."""

    def show(source: Any, view: str, state: str = "", **options: Any) -> Any:
        page = open_report(source, at=f"#/{view}?{state}", **options)
        wait_until((page, DRAWN.format(view)))
        return page

    return show


def read_table(page: Any, label: str) -> list[dict[str, str]]:
    """Return the rows of a table as shown, without what only screen readers hear."""
    rows: list[list[str]] = page.evaluate(
        """(label) => [...document.querySelectorAll(`[aria-label="${label}"] tr`)].map((row) => [...row.children].map((cell) => {
          const copy = cell.cloneNode(true);
          copy.querySelectorAll(".hidden").forEach((node) => node.remove());
          return copy.textContent.trim();
        }))""",
        label,
    )
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def save(page: Any, button: str) -> str:
    """Press a button that saves a file, and return the file's text."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).first.click()
    return Path(download.value.path()).read_bytes().decode()


def show_number(value: float | None, digits: int = 4) -> str:
    """Return a number as the page writes it."""
    return format_value(value, digits=digits).replace("-", "−")


def test_every_mean_on_the_leaderboard_is_the_library_s(
    show: Any, report: Path, comparison: judged.Comparison
) -> None:
    """Names, means, differences and corrected p-values are those of the comparison, cell by cell."""
    page = show(report, "leaderboard")
    rows = {re.sub(" baseline$", "", row["system"]): row for row in read_table(page, "Leaderboard")}

    assert list(rows) == sorted(comparison.systems, key=lambda name: -comparison.mean(name, "nDCG@10").mean)
    for name, row in rows.items():
        assert row["nDCG@10 ↓" if "nDCG@10 ↓" in row else "nDCG@10"] == show_number(
            comparison.mean(name).mean
        )
        assert row["AP"].lstrip("▲▼= ") == show_number(comparison.mean(name, "AP").mean, 3)
        if name != comparison.baselines[0]:
            contrast = comparison.contrast(name)
            shown = re.sub("[▲▼= ]", "", row[f"vs {comparison.baselines[0]}"])
            assert shown == f"{contrast.difference:+.4f}".replace("-", "−")
            assert row["p, corrected"] == (
                "<0.0001" if contrast.corrected < 0.0001 else f"{contrast.corrected:.4f}"
            )


def test_the_headline_is_the_answer_of_the_comparison(
    show: Any, report: Path, comparison: judged.Comparison
) -> None:
    """The sentence under the headline is the library's, for each measure."""
    page = show(report, "leaderboard")
    for measure in ("nDCG@10", "AP"):
        page.get_by_label("Measure").select_option(measure)
        answer = comparison.answer(measure)
        assert answer is not None

        page.get_by_text(answer.describe(), exact=True).wait_for()
        assert answer.best[0] in page.locator("h1").inner_text()


def test_sorting_by_a_column_reorders_the_rows(
    show: Any, report: Path, comparison: judged.Comparison
) -> None:
    """A click on a heading sorts by it, another turns the order; the heading says so."""
    page = show(report, "leaderboard")
    page.get_by_role("button", name="AP", exact=True).click()
    down = [row["system"] for row in read_table(page, "Leaderboard")]
    page.get_by_role("button", name="AP", exact=True).click()
    up = [row["system"] for row in read_table(page, "Leaderboard")]

    assert down == up[::-1]
    assert [re.sub(" baseline$", "", name) for name in down] == sorted(
        comparison.systems, key=lambda name: -comparison.mean(name, "AP").mean
    )
    assert page.locator("th[aria-sort=ascending]").inner_text() == "AP"


def test_another_baseline_shows_the_comparison_with_it(
    show: Any, report: Path, data: dict[str, Any], comparison: judged.Comparison, wait_until: Wait
) -> None:
    """The differences are those that `judged compare --baseline` gives for it."""
    other = comparison.systems[2]
    page = show(report, "leaderboard")
    page.get_by_label("Baseline").select_option(other)
    wait_until(lambda: f"vs {other}" in read_table(page, "Leaderboard")[0])
    expected = judged.compare(data["qrels"], data["runs"], ["nDCG@10", "AP", "RR", "R@5"], baseline=other)

    for row in read_table(page, "Leaderboard"):
        name = re.sub(" baseline$", "", row["system"])
        if name != other:
            contrast = expected.contrast(name)
            shown = re.sub("[▲▼= ]", "", row[f"vs {other}"])
            assert shown == f"{contrast.difference:+.4f}".replace("-", "−")
            assert row["p, corrected"] == (
                "<0.0001" if contrast.corrected < 0.0001 else f"{contrast.corrected:.4f}"
            )


def test_systems_can_be_hidden_and_shown_again(show: Any, report: Path, wait_until: Wait) -> None:
    """Hiding is part of the address, so the back button undoes it."""
    page = show(report, "leaderboard")
    before = len(read_table(page, "Leaderboard"))
    page.get_by_role("button", name=f"Hide {PLAIN[1]}").focus()
    page.keyboard.press("Enter")
    wait_until(lambda: len(read_table(page, "Leaderboard")) == before - 1)
    page.go_back()
    wait_until(lambda: len(read_table(page, "Leaderboard")) == before)


@pytest.mark.parametrize("table", ["differences", "means", "answers", "latency", "interactions"])
def test_a_saved_table_is_the_command_s_csv(
    show: Any, report: Path, comparison: judged.Comparison, table: str
) -> None:
    """The bytes are those that `--format csv` prints of the same table."""
    page = show(report, "provenance")

    assert save(page, f"Save the table {table} as CSV") == to_delimited(comparison.to_arrow(table))


def test_the_saved_queries_are_the_command_s_csv(
    show: Any, report: Path, comparison: judged.Comparison
) -> None:
    """All values and differences of all systems and measures, bit for bit."""
    page = show(report, "queries")

    assert save(page, "Save all scores as CSV") == comparison.render("csv", Display(per_query=True))


def test_the_copied_table_of_queries_has_the_lines_of_the_command(
    show: Any, report: Path, comparison: judged.Comparison
) -> None:
    """The table of one measure and system is a part of the command's CSV."""
    page = show(report, "queries", f"m=AP&a={PLAIN[3]}")
    saved = save(page, "Save Queries AP as CSV").splitlines()
    lines = str(comparison.render("csv", Display(per_query=True))).splitlines()

    assert saved[0] == lines[0]
    assert set(saved[1:]) == {
        line for line in lines[1:] if line.startswith("AP,") and f",{PLAIN[3]}," in line
    }


def test_scores_of_an_evaluation_are_saved_as_the_command_writes_them(
    show: Any, data: dict[str, Any]
) -> None:
    """Without a comparison, the table is that of `judged score --per-query`."""
    evaluations = judged.evaluate_many(data["qrels"], data["runs"], ["nDCG@10", "RR"])
    page = show(evaluations, "queries")

    assert save(page, "Save all scores as CSV") == evaluations.render("csv", Display(per_query=True))


def test_filters_keep_the_queries_that_match(show: Any, report: Path, wait_until: Wait) -> None:
    """Text, size and slice narrow the table; the address keeps them."""
    page = show(report, "queries")
    page.get_by_label("Find").fill("name-3")
    wait_until((page, "location.hash.includes('text=name-3')"))
    rows = read_table(page, "Queries nDCG@10")
    page.get_by_label("Slice").select_option(label="kind name-0")
    wait_until(lambda: len(read_table(page, "Queries nDCG@10")) < len(rows))

    assert rows
    assert all("name-3" in row["query"] for row in rows)


def test_a_query_opens_and_the_back_button_returns(show: Any, report: Path, wait_until: Wait) -> None:
    """A row leads to its query, j to the next one, and back leads back."""
    page = show(report, "queries")
    page.locator("tbody a").first.click()
    wait_until((page, DRAWN.format("query")))
    first = page.locator("h1").inner_text()
    page.keyboard.press("j")
    wait_until(lambda: page.locator("h1").inner_text() != first)
    page.go_back()
    wait_until(lambda: page.locator("h1").inner_text() == first)
    page.go_back()
    wait_until((page, DRAWN.format("queries")))


def test_ranked_lists_show_what_explain_says(
    show: Any, report: Path, data: dict[str, Any], comparison: judged.Comparison
) -> None:
    """Documents, grades, and what each adds, in the order of the protocol."""
    query = list(data["qrels"])[4]
    name = comparison.systems[3]
    page = show(report, "query", f"q={query}&a={name}&m=nDCG@10")
    expected = judged.explain(data["qrels"], data["runs"][name], "nDCG@10", query=query)
    items = page.locator(f'section[aria-label="{name}"] li').all()
    shown = [
        (
            item.locator(".doc bdi").inner_text(),
            item.locator(".grade").inner_text().split()[-1].replace("unjudged", "?"),
            item.locator(".adds").inner_text(),
        )
        for item in items
    ]

    assert len(shown) == 20
    for row, (document, grade, adds) in zip(expected.rows(), shown, strict=False):
        assert document == row["document"]
        assert grade.lstrip("?") == ("" if row["grade"] is None else str(row["grade"]))
        assert adds == (f"{row['adds']:+.3f}" if abs(row["adds"]) >= 5e-7 else "")


def test_figures_are_saved_as_svg_and_png(show: Any, report: Path) -> None:
    """Both files are pictures, and the SVG has fixed colours."""
    page = show(report, "curves")
    svg = save(page, "Save Precision by recall as SVG")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save Precision by recall as PNG").click()

    assert svg.startswith("<svg")
    assert "var(--" not in svg
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_tables_are_copied_as_markdown_and_latex(show: Any, report: Path) -> None:
    """The clipboard has the table with its numbers."""
    page = show(report, "leaderboard", permissions=["clipboard-read", "clipboard-write"])
    found = {}
    for kind in ("CSV", "Markdown", "LaTeX"):
        page.get_by_role("button", name=f"Copy Leaderboard nDCG@10 as {kind}").click()
        page.get_by_text(f"copied as {kind}").wait_for(state="attached")
        found[kind] = page.evaluate("navigator.clipboard.readText()")

    assert found["Markdown"].startswith("| system |")
    assert r"\toprule" in found["LaTeX"]
    assert next(csv.reader(io.StringIO(found["CSV"])))[:2] == ["system", "nDCG@10"]


def test_the_keyboard_reaches_everything(show: Any, report: Path, wait_until: Wait) -> None:
    """Numbers change pages, the slash finds, the question mark lists the keys, t changes the theme."""
    page = show(report, "leaderboard")
    page.keyboard.press("2")
    wait_until((page, DRAWN.format("queries")))
    page.keyboard.press("/")
    wait_until((page, "document.activeElement.type === 'search'"))
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.keyboard.press("t")

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "t=dark" in page.url


def test_an_address_shows_what_its_sender_saw(show: Any, report: Path) -> None:
    """Measure, systems and filters come from the address."""
    page = show(report, "queries", f"m=RR&a={PLAIN[2]}&b={PLAIN[1]}&only=1")

    chosen = [select.input_value() for select in page.locator("#choose select").all()]

    assert chosen == ["RR", PLAIN[2], PLAIN[1]]
    assert page.get_by_label("different only").is_checked()


def test_a_session_says_what_each_search_repeated_and_what_was_used(show: Any) -> None:
    """Three words in another order are the same query; its only result was found, opened and cited before."""
    page = {"url": "https://example.org/a", "title": "A", "gain": 3}
    searches = [{"query": words, "results": [page]} for words in ("how tall is it", "it is how tall")]
    trace = {
        "conversation": "c",
        "iterations": [{"searches": [search]} for search in searches],
        "opened": ["https://example.org/a"],
        "cited": ["https://example.org/a", "https://example.org/b"],
    }
    evaluation = judged.evaluate_sessions([trace], explain=True)
    shown = show(SessionReport(evaluation, evaluation.provenance), "sessions")

    assert "the same query again · nothing new" in shown.locator(".session .again").inner_text()
    assert shown.locator(".session .what", has_text="opened and cited").count() == 2
    assert shown.get_by_text("cited, not retrieved").count() == 1


def test_sessions_show_gain_per_unit_and_units_per_gain(show: Any) -> None:
    """Gain 6 for 1,200 tokens and 0.003 of money: 5 per 1,000 tokens, 200 tokens per gain; no trace has seconds."""
    found = [{"url": f"https://example.org/{name}", "gain": 3} for name in "ab"]
    iterations = [
        {"searches": [{"results": [result]}], "tokens": tokens, "cost": cost}
        for result, tokens, cost in zip(found, (1000, 200), (0.001, 0.002), strict=True)
    ]
    evaluation = judged.evaluate_sessions([{"conversation": "c", "iterations": iterations}], explain=True)
    shown = show(SessionReport(evaluation, evaluation.provenance), "sessions")
    rows = shown.locator("table", has_text="gain per 1,000 tokens").first
    cells = [text.strip() for text in rows.locator("tbody tr").first.locator("td").all_inner_texts()]

    assert cells[-4:] == ["5", "200", "2,000", "0.0005"]
    assert shown.get_by_text("Gain against money").count() >= 1
    assert "second" not in " ".join(rows.locator("thead").all_inner_texts())


def test_a_session_links_duplicates_to_their_first_occurrence(show: Any) -> None:
    """Every duplicate names an iteration, and each pair of iterations has one arc."""
    page = show(make_sessions(), "sessions")
    texts = page.locator(".session .dup").all_inner_texts()

    assert texts
    assert all(re.fullmatch(r"↩ duplicate, first in iteration \d+", text) for text in texts)
    assert page.locator(".rail circle").count() == page.locator(".session > li").count()


@pytest.fixture
def visit(show: Any, wait_until: Wait) -> Callable[..., Any]:
    """Yields the same window at every page of a report."""

    def visit(source: Path, **options: Any) -> Any:
        page = show(source, VIEWS[0], **options)
        for view in VIEWS:
            page.evaluate("(view) => { location.hash = `#/${view}`; }", view)
            wait_until((page, DRAWN.format(view)))
            yield view, page

    return visit


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1440])
def test_pages_are_accessible_and_fit(
    visit: Any,
    everything: dict[str, Path],
    check_accessibility: Callable[[Any], None],
    width: int,
    dark: bool,
) -> None:
    """On every page axe-core finds nothing, and nothing is wider than the window."""
    for view, page in visit(everything["plain"], dark=dark, width=width):
        check_accessibility(page)

        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view


def test_hostile_names_are_text(
    visit: Any, everything: dict[str, Path], check_accessibility: Callable[[Any], None]
) -> None:
    """Markup in titles, systems, queries, documents, texts, slices and notes neither runs nor breaks a page."""
    for view, page in visit(everything["hostile"]):
        assert page.title() != "ran", view
        assert page.locator("main script, main img, main b").count() == 0, view
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
        check_accessibility(page)


def test_printing_a_dark_page_gives_black_on_white(show: Any, report: Path) -> None:
    """Navigation is left out, and the ground is white."""
    page = show(report, "leaderboard", dark=True)
    page.emulate_media(media="print", color_scheme="dark")

    assert page.locator("header.top").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".printed").is_visible()


def test_without_the_extra_the_panels_of_figures_are_left_out(
    visit: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No figure, no empty place for one, and no heading that nothing follows; the tables are all there."""
    monkeypatch.setattr("judged.report.vega.find_spec", lambda _name: None)
    results, inputs = make_all(PLAIN)
    chosen = {name: inputs[name] for name in ("qrels", "runs", "queries", "documents")}
    titles = [f"result {at}" for at in range(len(results))]
    path = tmp_path / "report.html"
    path.write_text(render_report(results, titles=titles, **chosen), encoding="utf-8")
    alone = "[...document.querySelectorAll('main h2')].filter((title) => !title.nextSibling || title.nextSibling.tagName === 'H2').map((title) => title.textContent)"
    for view, page in visit(path):
        assert page.locator("main figure, main .chart").count() == 0, view
        assert page.evaluate(alone) == [], view
        assert "As a figure" not in page.locator("main").inner_text(), view
        assert "Distribution of values" not in page.locator("main").inner_text(), view


def test_without_javascript_the_tables_are_there(open_report: Open, report: Path) -> None:
    """The file shows its leaderboard to readers without scripts."""
    page = open_report(report, java_script_enabled=False)

    assert "nDCG@10" in page.locator("main").inner_text()


def test_a_study_begins_with_its_answer_and_shows_quality_beside_time(
    show: Any, data: dict[str, Any]
) -> None:
    """The headline names the best system; two charts stand side by side; means and times are the library's."""
    study = make_study(data)
    page = show(study, "study")
    best = study.comparison.answer().best[0]  # type: ignore[union-attr]
    beside = page.locator(".even > section")
    headings = beside.locator("h2").all_inner_texts()
    first, second = (beside.nth(at).bounding_box() for at in (0, 1))
    means = page.locator("table").first.inner_text()

    assert page.locator("h1").inner_text().startswith(best)
    assert page.locator(".lead").first.inner_text() == study.answer()
    assert headings == ["Accuracy against latency", "Where the time of a query goes"]
    assert first["x"] + first["width"] <= second["x"]
    assert all(
        width > 300
        for width in beside.locator("svg").evaluate_all("(all) => all.map((one) => one.clientWidth)")
    )
    assert all(f"{found.mean()['nDCG@10']:.4f}" in means for found in study.evaluations())
    assert page.locator("text=Choices of").count() == 1


def test_cells_of_a_confusion_matrix_can_be_told_apart(show: Any, data: dict[str, Any]) -> None:
    """Cells with other shares have other shades, drawn in the colours of the page."""
    page = show(make_study(data), "study")
    cells = page.locator(".mark-rect path").evaluate_all(
        "(paths) => paths.filter((path) => path.getAttribute('fill-opacity')).map((path) => [path.getAttribute('fill'), path.getAttribute('fill-opacity')])"
    )

    assert {fill for fill, _ in cells} == {"var(--a)"}
    assert len({opacity for _, opacity in cells}) > 1
