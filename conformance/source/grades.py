"""Unjudged documents, and grades that are negative, fractional or high."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

HOLES = {"1": {"r1": 1, "n1": 0, "r2": 2, "n2": 0}}
HOLES_RUN = {"1": {"u1": 9.0, "u2": 8.0, "r1": 7.0, "n1": 6.0, "u3": 5.0, "r2": 4.0}}
HIGH = {"1": {"a": 6, "b": 3, "c": 1, "d": 0}}
HIGH_RUN = {"1": {"b": 4.0, "a": 3.0, "d": 2.0, "c": 1.0}}

THEME = Theme(
    "grades",
    "Unjudged, negative, fractional and high grades",
    "An unjudged document is not relevant and keeps its rank. A negative grade means pooled but not judged. Grades "
    "may be fractions; one has no upper limit.",
    [
        Case(
            "grades/unjudged-above",
            "Unjudged documents above the relevant ones",
            "They count as not relevant and push the others down, except for Bpref, which passes them over.",
            [
                m("nDCG", 10),
                m("AP"),
                m("RR"),
                m("Bpref"),
                m("infAP"),
                m("RBP", p=0.8, rel=1),
                m("Judged", 10),
            ],
            qrels=HOLES,
            run=HOLES_RUN,
            by_hand={
                "AP": {"1": "(1/3 + 2/6)/2"},
                "Bpref": {"1": "(1 + 1/2)/2"},
                "RBP(p=0.8, rel=1)": {"1": "0.2 * (0.8**2 + 0.8**5)"},
            },
        ),
        Case(
            "grades/unjudged-removed",
            "The same list, unjudged documents removed first",
            "The condensed list: r1, n1, r2.",
            [m("nDCG", 10), m("AP"), m("RR"), m("P", 5)],
            qrels=HOLES,
            run=HOLES_RUN,
            protocol={"unjudged": "removed"},
            by_hand={"AP": {"1": "(1 + 2/3)/2"}, "RR": {"1": "1"}},
        ),
        Case(
            "grades/unjudged-share",
            "How much of a list was judged",
            "Judged@k divides by the results shown, Unjudged@k by k; they are not one minus the other.",
            [m("Judged", 10), m("Judged", 3), m("Unjudged", 10), m("Unjudged", 5), m("RBP_residual", p=0.8)],
            qrels=HOLES,
            run=HOLES_RUN,
            by_hand={
                "Judged@10": {"1": "3/6"},
                "Unjudged@10": {"1": "3/10"},
                "RBP_residual(p=0.8)": {"1": "1 - 0.2 * (0.8**2 + 0.8**3 + 0.8**5)"},
            },
        ),
        Case(
            "grades/negative",
            "Grades −1 and −2 above the relevant documents",
            "Pooled but not judged: no refutation for Bpref, and not judged for Judged@k.",
            [m("nDCG", 10), m("AP"), m("Bpref"), m("infAP"), m("Judged", 10), m("Unjudged", 10)],
            qrels={"1": {"r1": 2, "n1": 0, "p1": -1, "s1": -2, "r2": 1}},
            run={"1": {"s1": 9.0, "p1": 8.0, "r1": 7.0, "n1": 6.0, "u1": 5.0, "r2": 4.0}},
            by_hand={"Bpref": {"1": "(1 + 0)/2"}, "Judged@10": {"1": "3/6"}, "Unjudged@10": {"1": "3/10"}},
        ),
        Case(
            "grades/only-negative",
            "A query with nothing but a negative grade",
            "Nothing is relevant: 0. trec_eval ends, and pytrec_eval has taken the interpreter with it.",
            [m("AP"), m("Bpref"), m("nDCG", 10), m("P", 5)],
            qrels={"1": {"a": -2}, "2": {"b": 1}},
            run={"1": {"a": 1.0}, "2": {"b": 1.0}},
            by_hand={"AP": {"1": "0", "2": "1", "all": "1/2"}},
        ),
        Case(
            "grades/high",
            "Grades up to 6, exponential gain",
            "2^6 − 1 = 63. Tools with a built-in scale of 0 to 4 fail here.",
            [
                m("nDCG", 10),
                m("nDCG", 10, gain="exp"),
                m("DCG", 10),
                m("ERR", 20, max_grade=6),
                m("RBP", p=0.8, rel=1),
            ],
            qrels=HIGH,
            run=HIGH_RUN,
            by_hand={
                'nDCG(gain="exp")@10': {
                    "1": "(7 + 63/log2(3) + 1/log2(5)) / (63 + 7/log2(3) + 1/2)",
                },
                "ERR(max_grade=6)@20": {"1": "7/64 + 57/64 * 63/64 / 2 + 57/64 * 1/64 * 1/64 / 4"},
            },
        ),
        Case(
            "grades/fractional",
            "Fractional grades",
            "0.5 has a gain of one half and is not relevant from grade 1. Reading it as a whole number makes it 0.",
            [m("nDCG", 10), m("AP"), m("DCG", 10)],
            qrels={"1": {"a": 0.5, "b": 1, "c": 2.5}},
            run={"1": descending("a", "b", "c")},
            by_hand={
                "DCG@10": {"1": "1/2 + 1/log2(3) + 2.5/2"},
                "AP": {"1": "(1/2 + 2/3)/2"},
            },
        ),
        Case(
            "grades/all-relevant",
            "Nothing judged non-relevant, a short list",
            "Bpref has no refuted document to divide by: every retrieved relevant one counts in full.",
            [m("Bpref"), m("P", 10), m("R", 100), m("AP"), m("nDCG", 10), m("ERR", 20, max_grade=4)],
            qrels={"1": {f"r{n}": 1 for n in range(5)}},
            run={"1": descending("r0", "r1", "r2")},
            by_hand={
                "Bpref": {"1": "3/5"},
                "P@10": {"1": "3/10"},
                "AP": {"1": "3/5"},
                "ERR(max_grade=4)@20": {"1": "1/16 + 15/16 * 1/16 / 2 + (15/16)**2 * 1/16 / 3"},
            },
        ),
        Case(
            "grades/bpref-many-refuted",
            "More judged non-relevant documents above than there are relevant ones",
            "Bpref counts at most R of them, so a term is never below 0.",
            [m("Bpref"), m("AP")],
            qrels={"1": {"r1": 1, "r2": 1, "n1": 0, "n2": 0, "n3": 0, "n4": 0}},
            run={"1": descending("n1", "r1", "n2", "n3", "n4", "r2")},
            by_hand={"Bpref": {"1": "(1 - 1/2 + 0)/2"}},
        ),
        Case(
            "grades/infap-pooled",
            "infAP: a pooled document that was not judged",
            "With nothing judged above, the estimate takes one half of the pooled documents as relevant.",
            [m("infAP")],
            qrels={"1": {"p": -1, "r": 1}},
            run={"1": descending("p", "r")},
            by_hand={"infAP": {"1": "1/2 + 1/2 * 1/2"}},
        ),
    ],
)
