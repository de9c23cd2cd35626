"""Formulas as text."""

from __future__ import annotations

import pytest

from judged.measures.cards import make_card
from judged.measures.groups import MEASURES
from judged.report.formula import formula_text, prose_text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{1}{R}", "1/R"),
        (r"\frac{a + b}{c}", "(a + b) / c"),
        (r"\sum_{i=1}^{k} x_i", "Σ(i=1…k) xᵢ"),
        (r"\ln \frac{1 + s}{1 + R}", "ln ((1 + s) / (1 + R))"),
        (r"10^{-5} + p^{i - 1} + 2^g + g^*", "10⁻⁵ + p^(i - 1) + 2^g + g*"),
        (r"\mathrm{gm\_AP}_q", "gm_AP_q"),
        (r"\lfloor m R + 0.9 \rfloor", "⌊m R + 0.9⌋"),
        (r"\unheard{x}", "unheardx"),
        (r"{ never closed", "never closed"),
    ],
)
def test_latex_becomes_signs(latex: str, text: str) -> None:
    """Fractions, scripts, sums and names have a form on one line; the unknown keeps its name."""
    assert formula_text(latex) == text


def test_prose_keeps_its_words() -> None:
    """Only what stands between dollar signs is changed."""
    assert prose_text("$R$ of `R_cap`, or 2") == "R of `R_cap`, or 2"


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_a_formula_that_can_be_shown(name: str) -> None:
    """No command of LaTeX is left over, and all brackets close."""
    text = formula_text(make_card(name).formula)

    assert text
    assert "\\" not in text
    assert text.count("(") == text.count(")")
