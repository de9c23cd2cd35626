"""Results in LaTeX, with the rules of the package `booktabs`."""

from __future__ import annotations

from dataclasses import replace

from judged.blocks import (
    TIED,
    Display,
    Estimate,
    Notes,
    Sentence,
    Table,
    Value,
    format_value,
    is_numeric,
    split_estimate,
)
from judged.problem import group_notes
from judged.report.text import LINE, wrap
from judged.result import Result

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "–": "--",
        "−": "$-$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "·": r"$\cdot$",
        "▲": r"$\uparrow$",
        "▼": r"$\downarrow$",
    }
)
_MARKS = str.maketrans({"–": "-", "▲": r"\uparrow", "▼": r"\downarrow"})
"""Marks as a superscript has them."""


def render_latex(result: Result, display: Display) -> str:
    """Return the tables of a result in LaTeX; sentences and notes become comments, figures are left out."""
    parts: list[str] = []
    tables = 0
    for block in result.blocks(replace(display, paper=not display.full)):
        if isinstance(block, Table):
            tables += 1
            parts.append(_render_table(block, result, display, tables))
        elif isinstance(block, Sentence):
            parts.append(_comment(block.text))
        elif isinstance(block, Notes):
            parts.append("".join(_comment(text) for _, text in group_notes(block.notes)))
    return "\n".join(parts)


def _render_table(table: Table, result: Result, display: Display, number: int) -> str:
    if not display.floating:
        return (_comment(table.caption) if table.caption else "") + to_latex(table, digits=display.digits)
    sentences = [text if text.endswith(".") else f"{text}." for text in (table.title, table.caption) if text]
    protocols = ", ".join(record.describe() for record in result.provenance.protocols if record.text)
    if not table.caption and protocols:
        sentences.append(f"Protocol: {protocols}.")
    label = f"tab:{result.kind}" if number == 1 else f"tab:{result.kind}-{number}"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escape(format_value(' '.join(sentences) or f'{result.kind.capitalize()}.'))}}}",
        rf"\label{{{label}}}",
        to_latex(replace(table, title=None), digits=display.digits) + r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return "".join(f"% {line}\n" for line in wrap(format_value(text), LINE))


def to_latex(table: Table, *, digits: int = 4) -> str:
    r"""Return a table as a `tabular`, the best cells in bold; needs `\usepackage{booktabs}`.

    >>> print(to_latex(Table(("run", "gm_AP"), (("bm25", 0.25),), best=frozenset({(0, 1)}))))
    \begin{tabular}{lr}
    \toprule
    run & gm\_AP \\
    \midrule
    bm25 & \textbf{0.2500} \\
    \bottomrule
    \end{tabular}
    """
    kinds = "".join("r" if is_numeric(table, column) else "l" for column in range(len(table.columns)))
    rows = [
        _row([_cell(value, digits, best=(line, column) in table.best) for column, value in enumerate(row)])
        for line, row in enumerate(table.rows)
    ]
    if table.foot:
        rows.insert(len(rows) - table.foot, r"\midrule")
    title = [] if table.title is None else [f"% {format_value(table.title)}"]
    head = " & ".join(_escape(format_value(name)) for name in table.columns) + r" \\"
    body = [
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([*title, *body]) + "\n"


def _row(cells: list[str]) -> str:
    if cells[0][:1] in {"[", "*"}:
        cells[0] = f"{{{cells[0][0]}}}{cells[0][1:]}"  # both have a meaning after the `\\` of the row before
    return " & ".join(cells) + r" \\"


def _cell(value: Value, digits: int, *, best: bool) -> str:
    """Return a value, escaped, in bold if it is the best, with the marks of an estimate as a superscript."""
    if not isinstance(value, Estimate):
        text = _escape(format_value(value, digits=digits))
        return rf"\textbf{{{text}}}" if best else text
    number, interval, marks = split_estimate(value, digits=digits)
    bare = number.removesuffix(TIED)
    above = (r"\sim " if value.tied else "") + (rf"\mathrm{{{marks.translate(_MARKS)}}}" if marks else "")
    shown = rf"\textbf{{{bare}}}" if best else bare
    return shown + (f"$^{{{above}}}$" if above else "") + (f" {_escape(interval)}" if interval else "")


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)
