"""Tables for papers: one in LaTeX, ready to paste and compiled; one in Markdown."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import judged
from judged.blocks import Display

QUERIES = [f"q{number}" for number in range(12)]
QRELS = {query: {"a": 1, "b": 1} for query in QUERIES}
RUNS = {
    "BM25_50%&more": {query: {"x": 3.0, "a": 2.0} for query in QUERIES},
    "dense~#1": {query: {"a": 3.0, "x": 2.0, "b": 2.0} for query in QUERIES},
    "[brackets]": {query: {"a": 3.0, "b": 2.0} for query in QUERIES},
}
PAGE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


@pytest.fixture(scope="module")
def comparison() -> judged.Comparison:
    """Three systems with names that LaTeX would misread, clearly apart."""
    return judged.compare(QRELS, RUNS, ["AP", "RR", "P@2"])


def test_latex_is_one_table_with_superscripts(comparison: judged.Comparison) -> None:
    """Systems by measures, booktabs, the best in bold, letters above; how it was made is a comment."""
    text = str(comparison.render("latex"))

    assert text.count(r"\begin{tabular}") == 1
    assert r"{[}brackets] & a & \textbf{1.0000}$^{\mathrm{bc}}$" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    comments = " ".join(line.removeprefix("% ") for line in text.splitlines() if line.startswith("% "))
    assert "Compared by sign-flip randomisation, step-down maxT" in comments
    assert "Protocol: trec_eval-9 #" in comments
    assert "[0." not in text  # no interval


def test_intervals_and_marks_are_options(comparison: judged.Comparison) -> None:
    """Both ways, in LaTeX and in Markdown."""
    with_intervals = str(comparison.render("latex", Display(intervals=True)))
    plain = str(comparison.render("markdown", Display(marks=False)))

    assert "0.2500 [" in with_intervals
    assert "<sup>" in str(comparison.render("markdown"))
    assert "<sup>" not in plain
    assert "mark" not in plain.split("\n\n")[1]


def test_markdown_is_one_table(comparison: judged.Comparison) -> None:
    """With the same caption above."""
    text = str(comparison.render("markdown"))

    assert sum(line.startswith("| :---") for line in text.splitlines()) == 1
    assert text.startswith("Means over 12 queries. Superscripts: significantly better")


def test_a_tied_number_has_a_mark_and_no_range() -> None:
    """In every format for people: `~`, or a superscript."""
    found = judged.evaluate(QRELS, RUNS["dense~#1"], "AP")

    assert "~" in str(found.render("table"))
    assert r"$^{\sim }$" in str(found.render("latex"))
    assert "<sup>~</sup>" in str(found.render("markdown"))
    assert "–" not in str(found.render("table"))
    assert "sim" not in str(found.render("latex", Display(marks=False)))


@pytest.mark.parametrize(
    "display", [Display(), Display(intervals=True), Display(full=True)], ids=["usual", "intervals", "full"]
)
def test_latex_compiles(comparison: judged.Comparison, display: Display, tmp_path: Path) -> None:
    """As it is, within a page that loads booktabs."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-base, texlive-latex-recommended)")
    (tmp_path / "page.tex").write_text(PAGE % comparison.render("latex", display), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").read_bytes()[:4] == b"%PDF"
