"""Means over queries: arithmetic, geometric, of exact thirds."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

QRELS = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}

THEME = Theme(
    "means",
    "Means over queries",
    "The mean of the queries' values. Geometric means take 0.00001 in place of a smaller value.",
    [
        Case(
            "means/arithmetic",
            "Three queries, first hits at ranks 1, 2 and 3",
            "11/18, whatever the order of summation.",
            [m("RR"), m("AP")],
            qrels=QRELS,
            run={"1": descending("a"), "2": descending("x", "a"), "3": descending("x", "y", "a")},
            by_hand={"RR": {"all": "(1 + 1/2 + 1/3)/3"}},
        ),
        Case(
            "means/geometric",
            "The geometric mean of two average precisions",
            "√(1 · 1/4).",
            [m("gm_AP"), m("gm_Bpref")],
            qrels={"1": {"a": 1}, "2": {"a": 1}},
            run={"1": descending("a"), "2": descending("x", "y", "z", "a")},
            by_hand={"gm_AP": {"all": "sqrt(1/4)"}},
        ),
        Case(
            "means/geometric-with-zero",
            "A query that fails altogether",
            "It counts as 0.00001: √(1 · 10⁻⁵).",
            [m("gm_AP")],
            qrels={"1": {"a": 1}, "2": {"a": 1}},
            run={"1": descending("a"), "2": descending("x")},
            by_hand={"gm_AP": {"all": "sqrt(1/100000)"}},
        ),
        Case(
            "means/geometric-missing",
            "A judged query that the run lacks, in a geometric mean",
            "0, and so 0.00001.",
            [m("gm_AP"), m("AP")],
            qrels={"1": {"a": 1}, "2": {"a": 1}},
            run={"1": descending("a")},
            by_hand={"gm_AP": {"all": "sqrt(1/100000)"}, "AP": {"all": "1/2"}},
        ),
        Case(
            "means/many-queries",
            "Thirty queries, the hit of query n at rank n",
            "The mean is the thirtieth harmonic number over thirty.",
            [m("RR"), m("Success", 10), m("P", 10)],
            qrels={str(n): {"a": 1} for n in range(1, 31)},
            run={str(n): descending(*(f"x{i}" for i in range(1, n)), "a") for n in range(1, 31)},
            by_hand={"Success@10": {"all": "1/3"}, "P@10": {"all": "1/30"}},
        ),
    ],
)
