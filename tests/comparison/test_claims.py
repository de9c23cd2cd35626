"""Every claim of a comparison, read from what people see, against the rows of the same page.

Comparisons of 2 to 20 systems are made up: shared difficulty of queries, skewed noise, ties, systems that are the same,
real differences of several sizes. The terminal, Markdown and HTML are parsed again, sentence by sentence and row by row.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import judged
from judged.blocks import Display
from judged.report.html import render_html
from judged.tables.scores import Scores

DIGITS = 9
SHOWN = Display(digits=DIGITS, full=True, columns=("difference", "p", "corrected", "stars"))
MADE_UP = 70
"""How many comparisons are made up."""
FORMATS = ("table", "markdown", "html")
SETTINGS = (
    {},
    {"level": 0.9},
    {"correction": "maxT-step-down"},
    {"correction": "none", "level": 0.99},
    {"test": "t"},
    {"test": "wilcoxon", "correction": "bh"},
    {"test": "sign", "correction": "bonferroni"},
)


def make_up(seed: int) -> tuple[list[Scores], dict[str, object]]:
    """Scores of some systems, and how they are compared."""
    rng = np.random.default_rng(seed)
    systems = 2 if seed % 5 == 0 else int(rng.integers(3, 21))
    queries = int(rng.choice([3, 6, 12, 25, 40]))
    names = [f"s{number:02}" for number in range(systems)]
    difficulty = rng.beta(0.6, 1.2, size=(queries, 1))
    skill = rng.choice([0.0, 0.05, 0.3], size=systems) * rng.random(systems)
    values = difficulty + skill + rng.choice([0.02, 0.2]) * (rng.exponential(size=(queries, systems)) - 1)
    if rng.random() < 0.4:
        values = np.round(values, 1)  # many ties, and equal differences
    if rng.random() < 0.2:
        values[:, -1] = values[:, 0]
    ids = pa.array([f"q{number}" for number in range(queries)])
    scores = [Scores(ids, {"AP": values[:, place]}, run=name) for place, name in enumerate(names)]
    several = min(int(rng.choice([0, 0, 0, 1, 2])), systems - 1)
    baselines = rng.choice(names, size=several, replace=False).tolist()
    return scores, {"baseline": baselines, "resamples": 499, **SETTINGS[seed % len(SETTINGS)]}


@dataclass(frozen=True)
class Page:
    """What a format shows: its paragraphs, and its tables as headings and rows of text."""

    text: str
    tables: list[list[list[str]]]


def read_page(comparison: judged.Comparison, form: str) -> Page:
    """Read back what a format shows."""
    shown = render_html(comparison, SHOWN) if form == "html" else str(comparison.render(form, SHOWN))
    return {"table": _read_terminal, "markdown": _read_markdown, "html": _read_html}[form](shown)


def _read_terminal(shown: str) -> Page:
    paragraphs, tables = [], []
    for part in shown.split("\n\n"):
        lines = part.splitlines()
        rules = [place for place, line in enumerate(lines) if line.startswith("──")]
        if rules:
            tables.append([re.split(r"\s{2,}", line.strip()) for line in lines if not line.startswith("──")])
        else:
            paragraphs.append(" ".join(lines))
    return Page("\n".join(paragraphs), tables)


def _read_markdown(shown: str) -> Page:
    paragraphs, tables = [], []
    for part in re.sub(r"\\(.)|\*\*|</?sup>", r"\1", shown.replace("<sup>", " ")).split("\n\n"):
        lines = part.splitlines()
        rows = [line for line in lines if line.startswith("| ") and not line.startswith("| :---")]
        if rows:
            tables.append([[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows])
        paragraphs += [" ".join(line for line in lines if not line.startswith("|"))]
    return Page("\n".join(filter(None, paragraphs)), tables)


def _read_html(shown: str) -> Page:
    def plain(piece: str) -> str:
        return html.unescape(re.sub(r"<[^>]+>", "", piece.replace("<sup>", " "))).strip()

    tables = [
        [
            [plain(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
            for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table.*?</table>", shown, re.DOTALL)
    ]
    texts = re.findall(r"<(?:p|caption)>.*?</(?:p|caption)>", shown, re.DOTALL)
    return Page("\n".join(map(plain, texts)), tables)


@dataclass(frozen=True)
class Row:
    """One difference, as a page shows it, and whether it is marked."""

    difference: float
    significant: bool
    interval: tuple[float, float] | None = None


def read_rows(page: Page, systems: Sequence[str]) -> dict[tuple[str, str], Row]:
    """Return the rows of differences by pair, both ways round; where the page has a matrix, its marks."""
    found: dict[tuple[str, str], Row] = {}
    for heading, *rows in page.tables:
        if "difference" in heading:
            at = heading.index("difference")
            for row in rows:
                system, baseline = _read_pair(page, heading, row)
                numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", row[at])]
                interval = (numbers[1], numbers[2]) if len(numbers) == 3 else None
                found[system, baseline] = Row(numbers[0], row[-1] in {"*", "**", "***"}, interval)
        elif heading[:3] == ["system", "mark", "a"]:
            by_letter = {row[1]: row[0] for row in rows}
            for row in rows:
                for letter, cell in zip(heading[2:], row[2:], strict=True):
                    if cell != "·":
                        sign = {"▲": 1.0, "▼": -1.0, "=": 0.0}[cell[-1]]
                        found[row[0], by_letter[letter]] = Row(sign, sign != 0)
    for (system, baseline), row in list(found.items()):
        ends = None if row.interval is None else (-row.interval[1], -row.interval[0])
        found.setdefault((baseline, system), Row(-row.difference, row.significant, ends))
    assert {name for pair in found for name in pair} == set(systems)
    return found


def _read_pair(page: Page, heading: Sequence[str], row: Sequence[str]) -> tuple[str, str]:
    """Return system and baseline of a row, whether columns or the title name them."""
    if heading[:2] == ["system", "baseline"]:
        return row[0], row[1]
    if heading[0] == "measure":
        of = re.search(r"Difference of (\w+) from (\w+)", page.text)
        assert of is not None
        return of[1], of[2]
    baseline = re.search(r"AP: difference from (\w+)", page.text)
    assert baseline is not None
    return row[0], baseline[1]


def read_means(page: Page) -> dict[str, tuple[float, str]]:
    """Return the mean and the marks of each system on the leaderboard."""
    leaderboard = next(
        rows for heading, *rows in page.tables if heading[0] == "system" and heading[-1] == "AP"
    )
    cells = {row[0]: row[-1].split(" ") for row in leaderboard}
    return {name: (float(number), "".join(marks)) for name, (number, *marks) in cells.items()}


def named_systems(words: str, everyone: Sequence[str]) -> tuple[set[str], int]:
    """Return the systems that words name, and how many they are about."""
    if words in {"any other system", "both others"} or re.fullmatch(r"all \d+ others", words):
        return set(), len(everyone)
    more = re.search(r"(\d+) more$", words)
    names = set(re.findall(r"\bs\d\d\b", words))
    return names, len(names) + (int(more[1]) if more else 0)


def better_than(rows: Mapping[tuple[str, str], Row], baseline: str) -> set[str]:
    """Return the systems whose row against the baseline is marked and positive."""
    return {a for (a, b), row in rows.items() if b == baseline and row.significant and row.difference > 0}


CLAIMS = {
    "beats": r"(?:It is|They are) significantly better than (?P<whom>[^(]+?) \(",
    "open": r"[Tt]hese \d+ queries do not separate (?:it|them) from (?P<whom>[^(;.]+?)(?: \(|;|\.)",
    "against": r"Against (?P<baseline>s\d\d) \((?P<how>[^)]*)\): (?P<parts>[^.]+)\.",
    "pair": r"The difference is significant",
    "no pair": r"These \d+ queries do not show a difference",
    "reach": r"a difference of (?P<least>[\d.]+) or more between (?P<one>s\d\d) and (?P<other>s\d\d)",
    "nothing": r"No difference is significant",
}
"""Every kind of sentence that claims or denies significance."""


def read_claims(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield every claim of significance that sentences make, with its kind."""
    for kind, pattern in CLAIMS.items():
        for match in re.finditer(pattern, text):
            yield kind, match


def test_the_made_up_comparisons_make_every_kind_of_claim() -> None:
    """Otherwise the tests below would read nothing."""
    pages = (judged.compare(scores, **settings) for scores, settings in map(make_up, range(MADE_UP)))  # type: ignore[arg-type]
    kinds = {kind for made in pages for kind, _ in read_claims(read_page(made, "table").text)}

    assert kinds == set(CLAIMS)


@pytest.mark.parametrize("seed", range(MADE_UP))
def test_no_sentence_says_what_a_row_denies(seed: int) -> None:
    """In every format: who is best, whom it beats, what is not separated, and against each baseline."""
    scores, settings = make_up(seed)
    comparison = judged.compare(scores, **settings)  # type: ignore[arg-type]
    for form in FORMATS:
        page = read_page(comparison, form)
        rows, means = read_rows(page, comparison.systems), read_means(page)
        check_headline(page.text, means)
        best = [name for name, (mean, _) in means.items() if mean == max(mean for mean, _ in means.values())]
        for kind, match in read_claims(page.text):
            check_claim(kind, match, rows, best, comparison.systems)
        if not comparison.baselines and len(comparison.systems) > 2 and len(best) < len(means):
            assert re.search(r"significantly better than|do not separate|is undefined", page.text)


def check_headline(text: str, means: Mapping[str, tuple[float, str]]) -> None:
    """The best system, its lead and the next one are those of the leaderboard."""
    found = re.search(r"(s\d\d.*?) (?:has|share) the highest AP, ([\d.]+).*?, ([\d.]+) above (s\d\d)\.", text)
    if found is None:
        assert re.search(r"systems have the same AP|less than 0\.0+1 above", text)
        return
    ordered = sorted({mean for mean, _ in means.values()}, reverse=True)
    assert float(found[2]) == ordered[0]
    assert means[found[4]][0] == pytest.approx(ordered[0] - float(found[3]), abs=2 * 10**-DIGITS)


def check_claim(
    kind: str,
    match: re.Match[str],
    rows: Mapping[tuple[str, str], Row],
    best: Sequence[str],
    systems: Sequence[str],
) -> None:
    """One claim against the rows of its page."""
    others = [name for name in systems if name not in best]
    if kind in {"beats", "open"}:
        beaten = {name for name in others if all(best_one in better_than(rows, name) for best_one in best)}
        expected = beaten if kind == "beats" else set(others) - beaten
        names, count = named_systems(match["whom"], others)
        assert names <= expected
        assert count == len(expected)
    elif kind == "against":
        check_standing(match["baseline"], match["parts"], rows, systems)
    elif kind in {"pair", "no pair"}:
        assert rows[systems[0], systems[1]].significant == (kind == "pair")
    elif kind == "reach":
        row = rows[match["one"], match["other"]]
        assert not row.significant
        assert abs(row.difference) < float(match["least"])
    else:
        assert not any(row.significant for row in rows.values())


def check_standing(
    baseline: str, parts: str, rows: Mapping[tuple[str, str], Row], systems: Sequence[str]
) -> None:
    """The systems against a baseline: every one is counted once, and as its row has it."""
    better = better_than(rows, baseline)
    worse = {name for name in systems if baseline in better_than(rows, name)}
    rest = set(systems) - better - worse - {baseline}
    total = 0
    for part in parts.split("; "):
        names, count = named_systems(re.sub(r"^the test is undefined for | (is|are) .*", "", part), ())
        expected = better if "better" in part else worse if "worse" in part else rest
        assert names <= expected
        total += count
        if "separated" not in part and "undefined" not in part:
            assert count == len(expected)
    assert total == len(systems) - 1


@pytest.mark.parametrize("seed", range(MADE_UP))
def test_marks_are_those_of_the_rows(seed: int) -> None:
    """Letters where all pairs were tested; against one baseline, arrows; nothing else is marked."""
    scores, settings = make_up(seed)
    comparison = judged.compare(scores, **settings)  # type: ignore[arg-type]
    page = read_page(comparison, "table")
    rows, letters = read_rows(page, comparison.systems), comparison.letters
    for name, (_, marks) in read_means(page).items():
        beaten = {other for other in comparison.systems if name in better_than(rows, other)}
        if len(comparison.baselines) == 1:
            worse = comparison.baselines[0] in better_than(rows, name)
            marked = "▲" if beaten else "▼" if worse else ""
            assert marks == ("" if name in comparison.baselines else marked)
        else:
            spread = re.sub(
                r"(\w)–(\w)", lambda ends: "".join(map(chr, range(ord(ends[1]), ord(ends[2]) + 1))), marks
            )
            assert spread == "".join(letters[other] for other in letters if other in beaten)


@pytest.mark.parametrize("seed", range(MADE_UP))
def test_marks_and_simultaneous_intervals_agree_in_every_row(seed: int) -> None:
    """By default, 0 is outside the interval exactly where the row is marked; other intervals say that they are unadjusted."""
    scores, settings = make_up(seed)
    comparison = judged.compare(scores, **settings)  # type: ignore[arg-type]
    simultaneous = comparison.settings.correction == "maxT"
    for contrast in comparison.contrasts:
        row = contrast.to_dict()
        assert row["interval"] in {
            "maxT" if simultaneous else "student",
            "undefined: no spread",
            "undefined: too few queries",
        }
        if simultaneous and row["low"] is not None:
            assert (row["low"] > 0 or row["high"] < 0) == contrast.significant == (row["stars"] != "ns")
        if row["interval"] == "undefined: too few queries":
            assert not contrast.significant
    titles = read_page(comparison, "table").text
    if simultaneous and comparison.comparisons > 1:
        assert "unadjusted" not in titles
    elif not simultaneous and comparison.comparisons > 1 and "difference from" in titles:
        assert "with unadjusted Student's" in titles


@pytest.mark.parametrize("baseline", [None, "s00"])
def test_the_family_is_that_of_the_table(baseline: str | None) -> None:
    """With a baseline, no sentence tests another pair, and the criterion counts the comparisons that were made."""
    scores, _ = make_up(6)
    comparison = judged.compare(scores, baseline=baseline, resamples=499)
    text, answer = comparison.describe_answer(), comparison.answer()
    count = len(comparison.systems) - 1 if baseline else len(list(combinations(comparison.systems, 2)))

    assert answer is not None
    assert len(comparison.contrasts) == count
    if baseline:
        assert f"maxT over {count} comparisons" in text
        assert "all pairs" not in text
        assert {rival.system for rival in answer.rivals if rival.tested} <= {baseline}
    else:
        assert "maxT over all pairs" in text
