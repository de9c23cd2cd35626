"""Results in LaTeX, with the rules of the package `booktabs`."""

from __future__ import annotations

from dataclasses import replace

from judged.blocks import Display, Estimate, Figure, Notes, Sentence, Table, Value, format_value, is_numeric
from judged.result import Result

__all__ = ["render_latex", "to_latex"]

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
    }
)


def render_latex(result: Result, display: Display) -> str:
    """Return the tables of a result in LaTeX; sentences and notes become comments, figures are left out."""
    blocks = result.blocks(replace(display, superscripts=True))
    return "\n".join(_render_block(block, display) for block in blocks if not isinstance(block, Figure))


def _render_block(block: Sentence | Table | Notes, display: Display) -> str:
    if isinstance(block, Sentence):
        return f"% {format_value(block.text)}\n"
    if isinstance(block, Notes):
        return "".join(f"% {format_value(note.message)}\n" for note in block.notes)
    return to_latex(block, digits=display.digits)


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
    rows = [_row([_cell(value, digits) for value in row], line, table) for line, row in enumerate(table.rows)]
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


def _row(cells: list[str], line: int, table: Table) -> str:
    shown = [
        rf"\textbf{{{cell}}}" if (line, column) in table.best else cell for column, cell in enumerate(cells)
    ]
    if shown[0][:1] in {"[", "*"}:
        shown[0] = f"{{{shown[0][0]}}}{shown[0][1:]}"  # both have a meaning after the `\\` of the row before
    return " & ".join(shown) + r" \\"


def _cell(value: Value, digits: int) -> str:
    """Return a value, escaped, with the marks of an estimate as a superscript."""
    text = _escape(format_value(value, digits=digits))
    if isinstance(value, Estimate) and value.marks:
        number, blank, rest = text.partition(" ")
        return rf"{number}$^{{{value.marks}}}${blank}{rest}"
    return text


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)
