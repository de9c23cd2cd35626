"""Queries that one side has and the other lacks, and the order of queries."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

USUAL = [m("nDCG", 10), m("AP"), m("RR"), m("R", 100), m("Rprec")]
ONE = {"1": {"a": 1, "b": 0}}
TWO = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
ANSWER = {"1": {"a": 2.0, "b": 1.0}}

THEME = Theme(
    "missing",
    "Missing and extra queries",
    "A judged query without results counts as 0 by the default protocol, as in trec_eval with `-c`; a query "
    "without judgments is not scored. Queries are matched by id, never by position.",
    [
        Case(
            "missing/judged-only",
            "A judged query that the run lacks",
            "Leaving it out rewards a system for not answering: 1 instead of 1/2.",
            [*USUAL, m("Bpref"), m("infAP")],
            qrels=TWO,
            run=ANSWER,
            by_hand={"AP": {"2": "0", "all": "1/2"}, "Rprec": {"all": "1/2"}},
        ),
        Case(
            "missing/skipped",
            "The same, with the protocol that leaves such queries out",
            "trec_eval without `-c`. Version 10.0-rc3 ends with an error here, against its own help.",
            USUAL,
            qrels=TWO,
            run=ANSWER,
            protocol={"missing": "skip"},
            by_hand={"AP": {"all": "1"}},
        ),
        Case(
            "missing/run-only",
            "A query of the run without judgments",
            "It cannot be scored and must not take part in the mean.",
            USUAL,
            qrels=ONE,
            run={**ANSWER, "9": {"a": 2.0}},
            by_hand={"nDCG@10": {"all": "1"}},
        ),
        Case(
            "missing/nothing-relevant",
            "A query with non-relevant judgments only",
            "There is nothing to find, so it scores 0 and is counted.",
            USUAL,
            qrels={**ONE, "2": {"a": 0, "b": 0}},
            run={**ANSWER, "2": {"a": 2.0, "b": 1.0}},
            by_hand={"AP": {"2": "0", "all": "1/2"}},
        ),
        Case(
            "missing/order-of-queries",
            "The same queries in different order",
            "A tool that pairs queries by position scores each against the other's judgments and gets 0.",
            USUAL,
            qrels={"1": {"a": 1, "b": 0}, "2": {"x": 1, "y": 0}},
            run={"2": {"x": 2.0, "y": 1.0}, "1": {"b": 2.0, "a": 1.0}},
            by_hand={"nDCG@10": {"all": "(1 + 1/log2(3))/2"}, "RR": {"1": "1/2", "2": "1"}},
        ),
        Case(
            "missing/empty-list",
            "A query that is there with no results",
            "An empty list is worth 0, not NaN.",
            [m("AP"), m("nDCG", 10), m("IPrec", recall=0.0), m("AP11"), m("P", 5), m("SetP")],
            qrels=TWO,
            run={**ANSWER, "2": {}},
            by_hand={"AP11": {"2": "0"}, "IPrec@0": {"2": "0"}},
        ),
        Case(
            "missing/no-overlap",
            "No query in common",
            "Every judged query is missing: the mean is 0 over all of them.",
            [m("AP"), m("nDCG", 10)],
            qrels=ONE,
            run={"9": {"a": 1.0}},
            by_hand={"AP": {"all": "0"}},
        ),
        Case(
            "missing/nothing-found",
            "Results, none of them relevant",
            "Zero everywhere, also where a quotient has nothing below the line.",
            [*USUAL, m("Bpref"), m("SetF"), m("F1", 5)],
            qrels={"1": {"a": 1}},
            run={"1": descending("x", "y")},
            by_hand={"SetF": {"1": "0"}, "F1@5": {"1": "0"}},
        ),
        Case(
            "missing/none-relevant-scores-one",
            "Queries without a relevant document score 1",
            "The protocol asks for 1 where the best order would score 0, as LightGBM and XGBoost do: for query 2, for query 3, "
            "which the run lacks, and for query 1 where only grade 2 is relevant.",
            [m("RR"), m("RR", rel=2), m("AP"), m("nDCG", 10), m("R", 2)],
            qrels={"1": {"a": 1, "b": 0}, "2": {"x": 0, "y": 0}, "3": {"w": 0}},
            run={"1": descending("b", "a"), "2": descending("x")},
            protocol={"no_relevant": "one"},
            by_hand={
                "RR": {"1": "1/2", "2": "1", "3": "1", "all": "5/6"},
                "RR(rel=2)": {"1": "1", "all": "1"},
                "nDCG@10": {"1": "1/log2(3)", "2": "1", "all": "(1/log2(3) + 2)/3"},
                "AP": {"all": "5/6"},
                "R@2": {"1": "1", "all": "1"},
            },
        ),
        Case(
            "missing/counts",
            "Counts are summed over queries",
            "The judged query that the run lacks still has its relevant documents.",
            [m("NumRel"), m("NumRet"), m("NumRelRet")],
            qrels={"1": {"a": 1, "b": 0}, "2": {"a": 1, "c": 2}},
            run=ANSWER,
            by_hand={"NumRel": {"all": "3"}, "NumRet": {"all": "2"}, "NumRelRet": {"all": "1"}},
        ),
    ],
)
