"""Variants of nDCG, expected reciprocal rank, and rank-biased precision."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

GRADED = {"1": {"a": 3, "b": 2, "c": 1, "d": 0}}
GRADED_RUN = {"1": descending("b", "d", "a", "x", "c")}

THEME = Theme(
    "gains",
    "nDCG variants, ERR and RBP",
    "Gains may be linear, exponential or given by a table. The scale of ERR and of graded RBP is a parameter.",
    [
        Case(
            "gains/ndcg-forms",
            "One list, five forms of discounted gain",
            "The discount is 1/log₂(rank + 1) in all of them.",
            [m("DCG", 5), m("IDCG", 5), m("nDCG", 5), m("nDCG", 5, gain="exp"), m("nDCG"), m("binG")],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={
                "nDCG@5": {"1": "(2 + 3/2 + 1/log2(6)) / (3 + 2/log2(3) + 1/2)"},
                'nDCG(gain="exp")@5': {"1": "(3 + 7/2 + 1/log2(6)) / (7 + 3/log2(3) + 1/2)"},
            },
        ),
        Case(
            "gains/custom",
            "Gains by a table: grade 1 is worth 3, grade 2 is worth 9",
            "trec_eval writes `ndcg.1=3,2=9`. The same in pytrec_eval has ended the interpreter.",
            [m("nDCG", gains={1: 3, 2: 9})],
            qrels={"1": {"a": 1, "b": 2, "c": 0}},
            run={"1": descending("a", "c", "b")},
            by_hand={"nDCG(gains={1: 3, 2: 9})": {"1": "(3 + 9/2) / (9 + 3/log2(3))"}},
        ),
        Case(
            "gains/err",
            "Expected reciprocal rank on scales of 3 and 4",
            "A grade g satisfies with the chance (2^g − 1)/2^max; the scale is that of the collection, not of the list.",
            [
                m("ERR", 5, max_grade=3),
                m("ERR", 20, max_grade=4),
                m("nERR", 5, max_grade=3),
                m("ERR", 1, max_grade=4),
            ],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={
                "ERR(max_grade=3)@5": {"1": "3/8 + 5/8 * 7/8 / 3 + 5/8 * 1/8 * 1/8 / 5"},
                "ERR(max_grade=4)@1": {"1": "3/16"},
            },
        ),
        Case(
            "gains/err-binary",
            "Expected reciprocal rank, two relevant results",
            "On a scale of 1 each satisfies every second reader: 1/2 + 1/2 · 1/2 / 2.",
            [m("ERR", 10, max_grade=1), m("nERR", 10, max_grade=1)],
            qrels={"1": {"a": 1, "b": 1}},
            run={"1": descending("a", "b")},
            by_hand={"ERR(max_grade=1)@10": {"1": "5/8"}},
        ),
        Case(
            "gains/rbp",
            "Rank-biased precision, binary, three persistences",
            "(1 − p) · Σ pⁱ⁻¹ over the relevant results at ranks 1 and 3.",
            [
                m("RBP", p=0.5, rel=1),
                m("RBP", p=0.8, rel=1),
                m("RBP", p=0.95, rel=1),
                m("RBP", 2, p=0.8, rel=1),
            ],
            qrels={"1": {"a": 1, "b": 1, "c": 1}},
            run={"1": descending("a", "x", "b", "y")},
            by_hand={"RBP(p=0.5, rel=1)": {"1": "0.5 * (1 + 0.25)"}, "RBP(p=0.8, rel=1)@2": {"1": "0.2"}},
        ),
        Case(
            "gains/rbp-graded-list",
            "Binary rank-biased precision of graded judgments",
            "Grades of 2 and 3 are relevant, no more: the value stays below 1.",
            [m("RBP", p=0.8, rel=1), m("RBP", p=0.8, rel=2)],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={"RBP(p=0.8, rel=1)": {"1": "0.2 * (1 + 0.8**2 + 0.8**4)"}},
        ),
        Case(
            "gains/rbp-graded",
            "Graded rank-biased precision",
            "Grades as shares of the highest of the query: what trec_eval 10 means to compute.",
            [
                m("RBP", p=0.9, gain="linear", max_grade="query"),
                m("RBP", p=0.8, gain="linear", max_grade=4),
                m("RBP", p=0.8, gain="exp", max_grade=3),
            ],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={
                'RBP(p=0.9, gain="linear", max_grade="query")': {"1": "0.1 * (2/3 + 0.81 + 1/3 * 0.9**4)"},
                'RBP(p=0.8, gain="exp", max_grade=3)': {"1": "0.2 * (3/7 + 0.64 + 1/7 * 0.8**4)"},
            },
        ),
        Case(
            "gains/rbp-residual",
            "What rank-biased precision does not know",
            "Rank 4 is unjudged, and nothing is known beyond rank 5.",
            [m("RBP_residual", p=0.8), m("RBP_residual", p=0.9, tail="unjudged")],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={"RBP_residual(p=0.8)": {"1": "0.2 * 0.8**3 + 0.8**5"}},
        ),
        Case(
            "gains/experimental",
            "trec_eval's G, ndcg_rel and Rndcg",
            "G discounts by how far the list has fallen behind the best order; the others average nDCG at some ranks.",
            [m("G"), m("nDCG_rel"), m("Rndcg")],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={
                "G": {"1": "(2/log2(3) + 3/log2(3) + 1/log2(4)) / 6"},
                "nDCG_rel": {
                    "1": "(2/3 + (2 + 3/2 + 2 + 3/2 + 1/log2(6)) / (3 + 2/log2(3) + 1/2)) / 3",
                },
                "Rndcg": {
                    "1": "(2/3 + 2/(3 + 2/log2(3)) + (2 + 3/2 + 2 + 3/2 + 1/log2(6)) / (3 + 2/log2(3) + 1/2)) / 4",
                },
            },
        ),
        Case(
            "gains/experimental-table",
            "The same with gains by a table, one document missed, and a query without anything relevant",
            "A missed document counts with nDCG of the whole list in ndcg_rel.",
            [
                m("G", gains={1: 3, 2: 9}),
                m("nDCG_rel", gains={1: 3, 2: 9}),
                m("Rndcg", gains={1: 3, 2: 9}),
                m("G"),
                m("nDCG_rel"),
                m("Rndcg"),
            ],
            qrels={"1": {"a": 1, "b": 2, "c": 1}, "2": {"a": 0}},
            run={"1": descending("a", "x", "b"), "2": descending("a")},
            by_hand={
                "G(gains={1: 3, 2: 9})": {"1": "(3/log2(8) + 9/log2(5)) / 15", "2": "0"},
                "nDCG_rel": {
                    "1": "(1/2 + 2 * (1 + 2/2) / (2 + 1/log2(3) + 1/2)) / 3",
                },
            },
        ),
        Case(
            "gains/no-cutoff",
            "Gains and cascades without a cutoff, and gains that are no whole numbers",
            "Some tools have these measures only with a cutoff, and table gains only as whole numbers.",
            [
                m("nDCG", gain="exp"),
                m("ERR", max_grade=4),
                m("RBP", 10, p=0.8, rel=1),
                m("nDCG", 10, gains={1: 0.5, 2: 1.5}),
            ],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={
                'nDCG(gain="exp")': {"1": "(3 + 7/2 + 1/log2(6)) / (7 + 3/log2(3) + 1/2)"},
                "ERR(max_grade=4)": {"1": "3/16 + 13/16 * 7/16 / 3 + 13/16 * 9/16 * 1/16 / 5"},
            },
        ),
        Case(
            "gains/perfect",
            "The best possible order",
            "Every normalised measure is 1.",
            [
                m("nDCG"),
                m("nDCG", 2),
                m("nDCG", 10, gain="exp"),
                m("AP"),
                m("nERR", 10, max_grade=3),
                m("binG"),
            ],
            qrels=GRADED,
            run={"1": descending("a", "b", "c", "d")},
            by_hand={"nDCG": {"1": "1"}, "nERR(max_grade=3)@10": {"1": "1"}},
        ),
    ],
)
