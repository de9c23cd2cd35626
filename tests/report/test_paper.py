"""Tables for papers: one in LaTeX, ready to paste and compiled; one in Markdown."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
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
    """Systems by measures, booktabs, the best in bold, letters above; the caption says how it was made."""
    text = str(comparison.render("latex"))

    assert text.count(r"\begin{tabular}") == 1
    assert r"{[}brackets] & a & \textbf{1.0000}$^{\mathrm{bc}}$" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    caption = next(line for line in text.splitlines() if line.startswith(r"\caption{"))
    assert caption.startswith(
        r"\caption{Means over 12 queries. Letters: significantly better than these systems"
    )
    assert r"(p \textless{} 0.05, maxT over all pairs)" in caption
    assert "Compared by sign-flip randomisation, single-step maxT" in caption
    assert "level 0.95" in caption
    assert r"Protocol: trec\_eval-9 \#" in caption
    assert text.startswith("\\begin{table}\n\\centering\n")
    assert "\\label{tab:comparison}\n\\begin{tabular}" in text
    assert text.endswith("\\end{tabular}\n\\end{table}\n")
    assert "[0." not in text  # no interval


def test_a_bare_table_has_its_caption_in_comments(comparison: judged.Comparison) -> None:
    """For a paper with a `table` of its own."""
    text = str(comparison.render("latex", Display(floating=False)))

    assert "{table}" not in text
    assert r"\caption" not in text
    assert text.startswith("% Means over 12 queries. Letters: ")
    assert text.count(r"\begin{tabular}") == 1


@pytest.mark.parametrize("display", [Display(), Display(full=True), Display(per_query=True)], ids=str)
def test_every_table_is_closed_and_has_a_caption_and_its_own_label(
    comparison: judged.Comparison, display: Display
) -> None:
    """What opens closes, in order; labels differ."""
    text = str(comparison.render("latex", display))
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    labels = re.findall(r"\\label\{(.+?)\}", text)

    assert stack == []
    assert text.count(r"\begin{table}") == text.count(r"\caption{") == len(labels) == len(set(labels))
    for line in text.splitlines():
        bare = re.sub(r"\\[{}]", "", line)
        assert bare.count("{") == bare.count("}")


def test_more_systems_than_letters_are_marked_against_the_best() -> None:
    """Of thirty runs, those that are significantly worse than the best have an arrow, and none a letter."""
    rng = np.random.default_rng(0)
    ids = pa.array([f"q{number}" for number in range(25)])
    columns = {f"s{number:02}": rng.random(25) + (number < 3) for number in range(30)}
    made = judged.compare([judged.Scores(ids, {"AP": column}, run=name) for name, column in columns.items()])
    best = made.answers[0].best[0]
    text = str(made.render("latex"))

    assert made.letters == {}
    assert r"$\downarrow$ significantly worse than the best system of the column (p" in text
    for name in made.systems:
        line = next(line for line in text.splitlines() if line.startswith(f"{name} &"))
        assert (r"$^{\mathrm{\downarrow}}$" in line) == (name in made.beaten(best, "AP"))
        assert r"\mathrm{a" not in line


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
    assert text.startswith("Means over 12 queries. Letters: significantly better")


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
