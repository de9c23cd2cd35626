"""Short lists, denominators, depth and levels of relevance."""

from __future__ import annotations

from conformance.case import Case, Theme, descending, m

FIVE = {"1": {f"r{n}": 1 for n in range(1, 6)}}
GRADED = {"1": {"a": 1, "b": 2, "c": 3, "d": 0}, "2": {"e": 1, "f": 1}}
GRADED_RUN = {"1": descending("a", "d", "b", "c"), "2": descending("e", "f")}

THEME = Theme(
    "lengths",
    "Short lists, denominators, depth and relevance levels",
    "P@k divides by k, R@k and AP by all relevant documents; other divisors have names of their own. "
    "A threshold of relevance holds for what is found and for what could have been.",
    [
        Case(
            "lengths/short-list",
            "Two results where ten are asked for",
            'P@10 divides by 10, `over="retrieved"` by 2.',
            [m("P", 10), m("P", 10, over="retrieved"), m("SetP"), m("R", 10), m("nDCG", 10), m("F1", 10)],
            qrels={"1": {"a": 1, "c": 1}},
            run={"1": descending("a", "b")},
            by_hand={
                "P@10": {"1": "1/10"},
                'P(over="retrieved")@10': {"1": "1/2"},
                "SetP": {"1": "1/2"},
                "F1@10": {"1": "2 * 1/10 * 1/2 / (1/10 + 1/2)"},
            },
        ),
        Case(
            "lengths/recall-capped",
            "More relevant documents than places",
            "Five are relevant and two places are looked at: recall 2/5, capped recall 2/2.",
            [m("R", 2), m("R", 2, over="cutoff"), m("AP", 2), m("AP", 2, over="cutoff"), m("nDCG", 2)],
            qrels=FIVE,
            run={"1": descending("r1", "r2", "x")},
            by_hand={
                "R@2": {"1": "2/5"},
                'R(over="cutoff")@2': {"1": "1"},
                "AP@2": {"1": "2/5"},
                'AP(over="cutoff")@2': {"1": "1"},
                "nDCG@2": {"1": "1"},
            },
        ),
        Case(
            "lengths/ideal-over-all-judged",
            "The best document is not retrieved",
            "The ideal of nDCG is over all judged documents. Over the retrieved ones alone it would be 1.",
            [m("nDCG"), m("nDCG", 1), m("nDCG", 10), m("IDCG", 10)],
            qrels={"1": {"a": 1, "b": 3}},
            run={"1": descending("a", "x")},
            by_hand={"nDCG@1": {"1": "1/3"}, "nDCG@10": {"1": "1 / (3 + 1/log2(3))"}},
        ),
        Case(
            "lengths/beyond-the-list",
            "A cutoff far beyond the list",
            "nDCG@1000 is nDCG, and nDCG@20 with 20 results need not be, if more was judged.",
            [m("nDCG", 1000), m("nDCG"), m("nDCG", 2), m("P", 1000), m("R", 1000), m("RR", 1000)],
            qrels=FIVE,
            run={"1": descending("x", "r1")},
            by_hand={"P@1000": {"1": "1/1000"}, "nDCG@2": {"1": "1/log2(3) / (1 + 1/log2(3))"}},
        ),
        Case(
            "lengths/level-two",
            "Relevant from grade 2",
            "Query 2 has nothing that relevant and scores 0. nDCG knows no threshold.",
            [
                m("P", 5, rel=2),
                m("R", 5, rel=2),
                m("AP", rel=2),
                m("RR", rel=2),
                m("Rprec", rel=2),
                m("Bpref", rel=2),
            ],
            qrels=GRADED,
            run=GRADED_RUN,
            by_hand={"AP(rel=2)": {"1": "(1/3 + 2/4)/2", "2": "0"}, "RR(rel=2)": {"1": "1/3"}},
        ),
        Case(
            "lengths/level-of-protocol",
            "The same threshold, set for all measures",
            "The protocol's threshold and a measure's own mean the same.",
            [m("AP"), m("RR"), m("nDCG", 10), m("Success", 1), m("Success", 3)],
            qrels=GRADED,
            run=GRADED_RUN,
            protocol={"rel": 2},
            by_hand={"AP": {"1": "(1/3 + 2/4)/2"}, "Success@1": {"all": "0"}},
        ),
        Case(
            "lengths/depth",
            "Only the first two results are looked at",
            "What lies deeper is as if it had not been retrieved; divisors stay.",
            [m("AP"), m("nDCG"), m("P", 5), m("SetP"), m("NumRet")],
            qrels=GRADED,
            run=GRADED_RUN,
            protocol={"depth": 2},
            by_hand={"AP": {"1": "1/3", "2": "1"}, "SetP": {"1": "1/2"}, "NumRet": {"all": "4"}},
        ),
        Case(
            "lengths/sets",
            "Measures of the whole set",
            "Three of four retrieved are relevant, of six. `beta` is squared; trec_eval's parameter is not.",
            [
                m("SetP"),
                m("SetR"),
                m("SetF"),
                m("SetF", beta=2.0),
                m("SetF", weight=2.0),
                m("SetAP"),
                m("SetRelP"),
            ],
            qrels={"1": {f"r{n}": 1 for n in range(1, 7)}},
            run={"1": descending("r1", "x", "r2", "r3")},
            by_hand={
                "SetF": {"1": "2 * 3/4 * 1/2 / (3/4 + 1/2)"},
                "SetF(beta=2)": {"1": "5 * 3/4 * 1/2 / (4 * 3/4 + 1/2)"},
                "SetF(weight=2)": {"1": "3 * 3/4 * 1/2 / (2 * 3/4 + 1/2)"},
                "SetAP": {"1": "3/4 * 1/2"},
                "SetRelP": {"1": "3/4"},
            },
        ),
        Case(
            "lengths/r-precision",
            "R-precision, and multiples of R",
            "Of four relevant documents two stand among the first four, three among the first eight.",
            [m("Rprec"), m("Rprec", multiple=0.5), m("Rprec", multiple=2.0)],
            qrels={"1": {f"r{n}": 1 for n in range(1, 5)}},
            run={"1": descending("r1", "x1", "x2", "r2", "x3", "x4", "r3", "x5", "r4")},
            by_hand={
                "Rprec": {"1": "2/4"},
                "Rprec(multiple=0.5)": {"1": "1/2"},
                "Rprec(multiple=2)": {"1": "3/8"},
            },
        ),
        Case(
            "lengths/capped-neighbours",
            "An index: ten results, a hundred true neighbours",
            "Recall of 0.10 is the best there is at 10; capped recall says 1.",
            [m("R", 10), m("R", 10, over="cutoff"), m("P", 10)],
            qrels={"1": {f"n{n:03}": 1 for n in range(100)}},
            run={"1": descending(*(f"n{n:03}" for n in range(10)))},
            by_hand={"R@10": {"1": "1/10"}, 'R(over="cutoff")@10': {"1": "1"}},
        ),
    ],
)
