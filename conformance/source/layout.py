"""The layout of TREC files: order of rows, rank column, comments, blank lines, white space."""

from __future__ import annotations

from conformance.source.case import Case, Theme, m

USUAL = [m("nDCG", 10), m("AP"), m("RR")]
QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 0\n2 0 b 1\n"
RUN = "1 Q0 a 1 4.0 t\n1 Q0 b 2 2.0 t\n2 Q0 a 1 3.0 t\n2 Q0 b 2 1.0 t\n"
HAND = {"RR": {"1": "1", "2": "1/2"}, "AP": {"all": "3/4"}}

THEME = Theme(
    "layout",
    "Layout of files",
    "The same judgments and results, laid out in different ways. Only query, document, grade and score matter.",
    [
        Case(
            "layout/plain",
            "Two queries, sorted, in plain files",
            "The reference for the others.",
            USUAL,
            qrels_text=QRELS,
            run_text=RUN,
            by_hand=HAND,
        ),
        Case(
            "layout/interleaved",
            "Rows of two queries interleaved",
            "Grouping only neighbouring rows makes four lists of two.",
            [*USUAL, m("RBP", p=0.8, rel=1), m("Rprec")],
            qrels_text=QRELS,
            run_text="1 Q0 a 1 4.0 t\n2 Q0 a 2 3.0 t\n1 Q0 b 3 2.0 t\n2 Q0 b 4 1.0 t\n",
            by_hand={**HAND, "RBP(p=0.8, rel=1)": {"1": "0.2", "2": "0.16", "all": "0.18"}},
        ),
        Case(
            "layout/unsorted",
            "Rows from the worst to the best",
            "Order is by score, not by position.",
            USUAL,
            qrels_text=QRELS,
            run_text="2 Q0 b 2 1.0 t\n2 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n1 Q0 a 1 4.0 t\n",
            by_hand=HAND,
        ),
        Case(
            "layout/rank-contradicts",
            "The rank column contradicts the scores",
            "The score decides.",
            USUAL,
            qrels_text=QRELS,
            run_text="1 Q0 a 2 4.0 t\n1 Q0 b 1 2.0 t\n2 Q0 a 900 3.0 t\n2 Q0 b 0 1.0 t\n",
            by_hand=HAND,
        ),
        Case(
            "layout/comments",
            "Lines that begin with `#` in the judgments",
            "Two in a row, and one at the end, which has brought trec_eval 10.0-rc3 down.",
            USUAL,
            qrels_text=f"# judged in March\n# by two people\n{QRELS}# end\n",
            run_text=RUN,
            by_hand=HAND,
        ),
        Case(
            "layout/blank-lines",
            "Blank lines",
            "Between rows and at the end.",
            USUAL,
            qrels_text="1 0 a 1\n1 0 b 0\n\n2 0 a 0\n2 0 b 1\n\n",
            run_text="1 Q0 a 1 4.0 t\n1 Q0 b 2 2.0 t\n\n2 Q0 a 1 3.0 t\n2 Q0 b 2 1.0 t\n\n",
            by_hand=HAND,
        ),
        Case(
            "layout/crlf",
            "Lines that end in carriage return and newline",
            "Files that come from Windows.",
            USUAL,
            qrels_text=QRELS.replace("\n", "\r\n"),
            run_text=RUN.replace("\n", "\r\n"),
            by_hand=HAND,
        ),
        Case(
            "layout/tabs",
            "Tabs and several spaces between columns",
            "Any white space separates.",
            USUAL,
            qrels_text=QRELS.replace(" ", "\t"),
            run_text=RUN.replace(" ", "   "),
            by_hand=HAND,
        ),
        Case(
            "layout/no-newline-at-end",
            "The last line does not end",
            "Its row counts.",
            USUAL,
            qrels_text=QRELS.rstrip("\n"),
            run_text=RUN.rstrip("\n"),
            by_hand=HAND,
        ),
        Case(
            "layout/notations-of-scores",
            "Scores in different notations",
            "1e1 is 10, +9 is 9, .5 is a half, -1E-2 the least.",
            [m("AP"), m("nDCG", 10)],
            qrels_text="1 0 a 1\n1 0 b 0\n1 0 c 1\n1 0 d 0\n",
            run_text="1 Q0 a 1 1e1 t\n1 Q0 b 2 +9 t\n1 Q0 c 3 .5 t\n1 Q0 d 4 -1E-2 t\n",
            by_hand={"AP": {"1": "(1 + 2/3)/2"}},
        ),
        Case(
            "layout/fractional-grade",
            "A fractional grade in a file",
            "0.9 is 0.9: a gain, and not relevant from grade 1. Read as a whole number it is 0.",
            [m("nDCG", 10), m("AP")],
            qrels_text="1 0 a 0.9\n1 0 b 1\n",
            run_text="1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n",
            by_hand={"nDCG@10": {"1": "(0.9 + 1/log2(3)) / (1 + 0.9/log2(3))"}, "AP": {"1": "1/2"}},
        ),
    ],
)
