r"""Tables in LaTeX, with the rules of the package `booktabs`."""

from __future__ import annotations

from judged.report.layout import Estimate, Table, Value, numeric, written

__all__ = ["to_latex"]

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


def to_latex(table: Table, *, digits: int = 4) -> str:
    r"""The table as a `tabular`, the best cells in bold; needs `\usepackage{booktabs}`.

    >>> print(to_latex(Table(("run", "gm_AP"), (("bm25", 0.25),), best=frozenset({(0, 1)}))))
    \begin{tabular}{lr}
    \toprule
    run & gm\_AP \\
    \midrule
    bm25 & \textbf{0.2500} \\
    \bottomrule
    \end{tabular}
    """
    kinds = "".join("r" if numeric(table, column) else "l" for column in range(len(table.columns)))
    rows = [_row([_cell(value, digits) for value in row], line, table) for line, row in enumerate(table.rows)]
    if table.foot:
        rows.insert(len(rows) - table.foot, r"\midrule")
    title = [] if table.title is None else [f"% {written(table.title)}"]
    head = " & ".join(_escaped(written(name)) for name in table.columns) + r" \\"
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
        shown[0] = f"{{{shown[0][0]}}}{shown[0][1:]}"  # after the `\\` of the row before, both mean something
    return " & ".join(shown) + r" \\"


def _cell(value: Value, digits: int) -> str:
    """A value, escaped; letters that mark an estimate stand above it."""
    text = _escaped(written(value, digits=digits))
    if isinstance(value, Estimate) and value.marks:
        number, blank, rest = text.partition(" ")
        return rf"{number}$^{{{value.marks}}}${blank}{rest}"
    return text


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)
