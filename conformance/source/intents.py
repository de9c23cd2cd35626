"""Judgments by intent and by target: novelty and diversity."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

WEB = {
    "1": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 2}, "d": {"1": 0}},
    "2": {"x": {"1": 1}, "y": {"5": 1}},
}
WEB_RUN = {"1": descending("b", "a", "u"), "2": descending("y")}
AGAIN = {"1": {f"d{n}": {"1": 1} for n in range(5)} | {"e": {"2": 1}}}
DEEP = {"1": {f"d{n:02}": {str(n % 2): 1} for n in range(30)}}
DEEP_RUN = {"1": descending(*(f"u{n:02}" for n in range(20)), *(f"d{n:02}" for n in range(10)))}
TARGETS = {"1": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 0}}

THEME = Theme(
    "intents",
    "Intents and targets",
    "Judgments say for which of the meanings of a query a document is relevant, or which target it answers. All intents "
    "count alike; those without a relevant document are left out.",
    [
        Case(
            "intents/all-measures",
            "Three intents and two, every measure",
            "The second result answers an intent that the first has answered, and so is worth half to it.",
            [
                m("alpha_nDCG", 20),
                m("alpha_nDCG", 5),
                m("alpha_DCG", 5),
                m("ERR_IA", 2),
                m("ERR_IA", 20),
                m("nERR_IA", 20),
                m("NRBP"),
                m("nNRBP"),
                m("AP_IA"),
                m("P_IA", 5),
                m("StRecall", 2),
            ],
            qrels=WEB,
            run=WEB_RUN,
            by_hand={
                "alpha_nDCG@20": {
                    "1": "(1 + 1.5/log2(3)) / (2 + 1/log2(3) + 0.5/2)",
                    "2": "1 / (1 + 1/log2(3))",
                },
                "ERR_IA@2": {"1": "(1 + 1.5/2) / (3 * (1 + 0.5/2))"},
                "NRBP": {"1": "0.75 * (1 + 1.5/2) / 3", "2": "0.75 / 2"},
                "AP_IA": {"1": "(1/2 + (1/1 + 2/2)/2 + 0) / 3", "2": "1/2"},
                "P_IA@5": {"1": "(1/5 + 2/5 + 0) / 3"},
                "StRecall@2": {"1": "2/3", "2": "1/2"},
            },
        ),
        Case(
            "intents/ordinary-measures",
            "Ordinary measures of judgments by intent",
            "A document has the highest of its grades; the mean over intents takes each apart.",
            [m("nDCG", 10), m("AP"), m("P", 2), m("IA", of="nDCG@10"), m("IA", of="RR")],
            qrels=WEB,
            run=WEB_RUN,
            by_hand={
                "nDCG@10": {"1": "(1 + 1/log2(3)) / (2 + 1/log2(3) + 1/2)"},
                "AP": {"1": "2/3"},
                'IA(of="RR")': {"1": "(1/2 + 1 + 0) / 3"},
            },
        ),
        Case(
            "intents/beyond-20",
            "Relevant documents from rank 21 on",
            "ndeval looks at twenty results, whatever is asked for.",
            [
                m("alpha_nDCG", 20),
                m("alpha_nDCG", 25),
                m("alpha_nDCG", 100),
                m("ERR_IA", 25),
                m("StRecall", 22),
            ],
            qrels=DEEP,
            run=DEEP_RUN,
            by_hand={"alpha_nDCG@20": {"1": "0"}, "StRecall@22": {"1": "1"}},
        ),
        Case(
            "intents/again",
            "Five results for one intent, then one for another",
            "Each time the same intent is worth half of the time before.",
            [
                m("alpha_nDCG", 10),
                m("alpha_DCG", 10),
                m("ERR_IA", 10),
                m("nERR_IA", 10),
                m("NRBP"),
                m("nNRBP"),
            ],
            qrels=AGAIN,
            run={"1": descending("d0", "d1", "d2", "d3", "d4", "e")},
            by_hand={
                "NRBP": {"1": "0.75 * (1 + 1/4 + 1/16 + 1/64 + 1/256 + 1/32) / 2"},
                "nNRBP": {
                    "1": "(1 + 1/4 + 1/16 + 1/64 + 1/256 + 1/32) / (1 + 1/2 + 1/8 + 1/32 + 1/128 + 1/512)",
                },
            },
        ),
        Case(
            "intents/alpha-and-beta",
            "Other losses and another patience",
            "With α = 0 nothing is lost, and with α = 1 an intent is answered once and for all.",
            [
                m("alpha_nDCG", 10, alpha=0.0),
                m("alpha_nDCG", 10, alpha=0.8),
                m("alpha_nDCG", 10, alpha=1.0),
                m("ERR_IA", 10, alpha=0.8),
                m("NRBP", alpha=0.8, beta=0.9),
            ],
            qrels=AGAIN,
            run={"1": descending("d0", "d1", "e")},
            by_hand={
                "alpha_nDCG(alpha=1)@10": {"1": "(1 + 1/2) / (1 + 1/log2(3))"},
                "NRBP(alpha=0.8, beta=0.9)": {"1": "(1 - 0.2*0.9) * (1 + 0.9*0.2 + 0.81) / 2"},
            },
        ),
        Case(
            "intents/at-one",
            "The first result answers one of three intents",
            "ndeval forgets to divide by the number of intents at a cutoff of 1.",
            [m("ERR_IA", 1), m("alpha_DCG", 1), m("P_IA", 1), m("StRecall", 1), m("alpha_nDCG", 1)],
            qrels={"1": {"a": {"1": 1}, "b": {"2": 1, "3": 1}}},
            run={"1": descending("a", "b")},
            by_hand={
                "ERR_IA@1": {"1": "1/3"},
                "alpha_DCG@1": {"1": "1/3"},
                "P_IA@1": {"1": "1/3"},
                "StRecall@1": {"1": "1/3"},
                "alpha_nDCG@1": {"1": "1/2"},
            },
        ),
        Case(
            "intents/greedy-surpassed",
            "A ranking that is better than the greedy ideal",
            "Three documents are as good as first; the greedy order takes the greatest id, which spoils what follows.",
            [m("alpha_nDCG", 2), m("nERR_IA", 2)],
            qrels={
                "1": {
                    "z": {"1": 1, "3": 1, "7": 1},
                    "b": {"3": 1, "4": 1, "6": 1},
                    "a": {"1": 1, "2": 1, "5": 1},
                }
            },
            run={"1": descending("b", "a")},
            by_hand={
                "alpha_nDCG@2": {"1": "(3 + 3/log2(3)) / (3 + 2.5/log2(3))"},
                "nERR_IA@2": {"1": "(3 + 3/2) / (3 + 2.5/2)"},
            },
        ),
        Case(
            "intents/no-relevant-query",
            "A query without anything relevant beside another",
            "It scores 0; 0 over 0 is not a number in ndeval's nNRBP.",
            [m("alpha_nDCG", 10), m("nNRBP"), m("NRBP"), m("StRecall", 10), m("AP_IA")],
            qrels={"1": {"a": {"1": 0}, "b": {"2": 0}}, "2": {"a": {"1": 1}}},
            run={"1": descending("a", "b"), "2": descending("a")},
            by_hand={"nNRBP": {"1": "0", "2": "1"}, "alpha_nDCG@10": {"all": "1/2"}},
        ),
        Case(
            "intents/no-relevant-intent",
            "An intent for which nothing is relevant",
            "It is left out, so that the others can be answered in full.",
            [m("StRecall", 2), m("P_IA", 2), m("AP_IA"), m("ERR_IA", 2)],
            qrels={"1": {"a": {"1": 1, "3": 0}, "b": {"2": 1}, "c": {"3": 0}}},
            run={"1": descending("a", "b")},
            by_hand={"StRecall@2": {"1": "1"}, "P_IA@2": {"1": "1/2"}, "AP_IA": {"1": "(1 + 1/2) / 2"}},
        ),
        Case(
            "intents/level",
            "Relevant from grade 2 on",
            "A document may be relevant to one intent and not to another.",
            [m("StRecall", 2, rel=2), m("alpha_nDCG", 10, rel=2), m("P_IA", 2, rel=2), m("StRecall", 2)],
            qrels={"1": {"a": {"1": 2, "2": 1}, "b": {"2": 2}, "c": {"3": 1}}},
            run={"1": descending("a", "c", "b")},
            by_hand={"StRecall(rel=2)@2": {"1": "1/2"}, "StRecall@2": {"1": "1"}},
        ),
        Case(
            "intents/missing-query",
            "A query without results, and unjudged results",
            "The query scores 0, and unjudged documents answer nothing.",
            [m("alpha_nDCG", 10), m("ERR_IA", 10), m("StRecall", 10), m("AP_IA")],
            qrels={"1": {"a": {"1": 1, "2": 1}}, "2": {"a": {"1": 1}}},
            run={"1": descending("u", "a", "v")},
            by_hand={"alpha_nDCG@10": {"1": "1/log2(3)", "2": "0"}, "AP_IA": {"all": "1/4"}},
        ),
        Case(
            "intents/negative",
            "A negative grade for an intent",
            "It is not relevant, as grade 0 is not.",
            [m("alpha_nDCG", 10), m("StRecall", 10), m("P_IA", 2)],
            qrels={"1": {"a": {"1": -2, "2": 1}, "b": {"1": 1}}},
            run={"1": descending("a", "b")},
            by_hand={"alpha_nDCG@10": {"1": "1"}, "P_IA@2": {"1": "1/2"}},
        ),
        Case(
            "intents/ties-expected",
            "Three tied documents of two intents, ties left open",
            "Two of them answer the same intent: two orders of six have them together at the top.",
            [m("StRecall", 2), m("alpha_DCG", 2), m("ERR_IA", 2), m("P_IA", 2)],
            qrels={"1": {"a": {"1": 1}, "b": {"1": 1}, "c": {"2": 1}}},
            run={"1": {"a": 1.0, "b": 1.0, "c": 1.0}},
            protocol={"ties": "expected"},
            by_hand={
                "StRecall@2": {"1": "(2 * 1/2 + 4 * 1) / 6"},
                "ERR_IA@2": {"1": "(2 * (1 + 1/4) + 4 * (1 + 1/2)) / 6 / (2 * (1 + 1/4))"},
            },
        ),
        Case(
            "intents/targets",
            "Three relevant documents that answer two targets, and one that answers its own",
            "The first two results answer the same target, and the third is not relevant.",
            [m("DR", 1), m("DR", 2), m("DR", 3), m("DR", 10), m("R", 2)],
            qrels=TARGETS,
            targets={"1": {"a": "t1", "b": "t1", "c": "t2", "e": "t2"}},
            run={"1": descending("a", "b", "e", "d")},
            by_hand={"DR@2": {"1": "1/3"}, "DR@10": {"1": "2/3"}, "R@2": {"1": "1/2"}},
        ),
        Case(
            "intents/own-targets",
            "Documents without targets",
            "Each is its own, and the share of targets is recall.",
            [m("DR", 2), m("R", 2)],
            qrels=TARGETS,
            targets={"1": {}},
            run={"1": descending("a", "e", "b")},
            by_hand={"DR@2": {"1": "1/4"}, "R@2": {"1": "1/4"}},
        ),
    ],
)
