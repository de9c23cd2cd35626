"""Documents with equal scores: which comes first changes every measure."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

SIX = {"1": {"d3": 1, "d1": 0, "d6": 0}}
SIX_RUN = {"1": {f"d{n}": 1.0 for n in range(1, 7)}}
SIX_MEASURES = [
    m("nDCG", 10),
    m("RR"),
    m("RR", 10),
    m("AP"),
    m("Bpref"),
    m("RBP", p=0.8, rel=1),
    m("Judged", 10),
]
FORTY = {"1": {"d05": 1, "d01": 0, "d40": 0}}
FORTY_RUN = {"1": {f"d{n:02}": 1.0 for n in range(1, 41)}}
TAIL = {"1": {"a": 1, "b": 1}}
TAIL_RUN = {"1": {"z": 9.0, "a": 5.0, "b": 5.0, "c": 5.0, "y": 1.0}}
TAIL_MEASURES = [m("nDCG", 10), m("AP"), m("RR", 10), m("P", 2)]
BY_GRADE = {"1": {"a": 1, "c": 2, "d": 0}}
BY_GRADE_RUN = {"1": {"z": 9.0, "a": 5.0, "b": 5.0, "c": 5.0, "d": 5.0, "y": 1.0}}
BY_GRADE_MEASURES = [m("RR"), m("AP"), m("nDCG", 10), m("R", 3), m("Bpref")]

THEME = Theme(
    "ties",
    "Ties",
    "Results with equal scores. By the default protocol the greater document id, compared as bytes, comes "
    "first; neither the order of rows nor the rank column matters.",
    [
        Case(
            "ties/six",
            "Six tied documents, the relevant one third by name",
            "By id descending the order is d6 … d1, so d3 is fourth. Tools that keep the order of rows put "
            "it third; some do one for one measure and the other for the next.",
            SIX_MEASURES,
            qrels=SIX,
            run=SIX_RUN,
            by_hand={
                "nDCG@10": {"1": "1/log2(5)"},
                "RR": {"1": "1/4"},
                "RBP(p=0.8, rel=1)": {"1": "0.2 * 0.8**3"},
                "Bpref": {"1": "0"},
                "Judged@10": {"1": "3/6"},
            },
        ),
        Case(
            "ties/six-reversed",
            "The same six documents, rows reversed",
            "Nothing but the order of rows differs from `ties/six`, so nothing may change.",
            SIX_MEASURES,
            qrels=SIX,
            run={"1": dict(reversed(SIX_RUN["1"].items()))},
            by_hand={"nDCG@10": {"1": "1/log2(5)"}, "RR@10": {"1": "1/4"}},
        ),
        Case(
            "ties/forty",
            "Forty tied documents, the relevant one fifth by name",
            "Long groups of ties reveal unstable sorting: d05 is at rank 36.",
            [m("nDCG", 10), m("AP"), m("RR"), m("RR", 10), m("P", 10), m("Success", 5), m("Bpref")],
            qrels=FORTY,
            run=FORTY_RUN,
            by_hand={"AP": {"1": "1/36"}, "nDCG@10": {"1": "0"}, "RR@10": {"1": "0"}},
        ),
        Case(
            "ties/in-the-middle",
            "Three tied documents between two others",
            "The group c, b, a holds ranks 2 to 4 and must not disturb its neighbours.",
            TAIL_MEASURES,
            qrels=TAIL,
            run=TAIL_RUN,
            by_hand={"AP": {"1": "(1/3 + 2/4)/2"}, "P@2": {"1": "0"}},
        ),
        Case(
            "ties/ascending",
            "The same group, ties by id ascending",
            "The protocol asks for the least id first: a, b, c. That is the order of MS MARCO's official script.",
            TAIL_MEASURES,
            qrels=TAIL,
            run=TAIL_RUN,
            protocol={"ties": "document-ascending"},
            by_hand={"AP": {"1": "(1/2 + 2/3)/2"}, "nDCG@10": {"1": "(1/log2(3) + 1/2) / (1 + 1/log2(3))"}},
        ),
        Case(
            "ties/input-order",
            "Tied documents in the order of rows",
            "The protocol asks for the order in which the run has them: b, a, c.",
            [m("RR"), m("AP"), m("nDCG", 10)],
            qrels={"1": {"a": 1}},
            run={"1": {"b": 5.0, "a": 5.0, "c": 5.0}},
            protocol={"ties": "input-order"},
            by_hand={"RR": {"1": "1/2"}},
        ),
        Case(
            "ties/pessimistic",
            "Tied documents by grade, the lowest first",
            "The protocol asks for the order that scores least: b (unjudged), d, a, c. CatBoost ranks groups so.",
            BY_GRADE_MEASURES,
            qrels=BY_GRADE,
            run=BY_GRADE_RUN,
            protocol={"ties": "pessimistic"},
            by_hand={
                "RR": {"1": "1/4"},
                "AP": {"1": "(1/4 + 2/5)/2"},
                "nDCG@10": {"1": "(1/log2(5) + 2/log2(6)) / (2 + 1/log2(3))"},
                "R@3": {"1": "0"},
                "Bpref": {"1": "0"},
            },
        ),
        Case(
            "ties/optimistic",
            "Tied documents by grade, the highest first",
            "The protocol asks for the order that scores most: c, a, d, b (unjudged).",
            BY_GRADE_MEASURES,
            qrels=BY_GRADE,
            run=BY_GRADE_RUN,
            protocol={"ties": "optimistic"},
            by_hand={
                "RR": {"1": "1/2"},
                "AP": {"1": "(1/2 + 2/3)/2"},
                "nDCG@10": {"1": "(2/log2(3) + 1/2) / (2 + 1/log2(3))"},
                "R@3": {"1": "1"},
                "Bpref": {"1": "1"},
            },
        ),
        Case(
            "ties/at-the-cutoff",
            "A group of ties across the cutoff",
            "Ten places, twelve documents of one score: whether the relevant one is in is decided by its name.",
            [m("P", 10), m("R", 10), m("Success", 10), m("nDCG", 10), m("Success", 1)],
            qrels={"1": {"d01": 1}, "2": {"d12": 1}},
            run={
                "1": {f"d{n:02}": 0.5 for n in range(1, 13)},
                "2": {f"d{n:02}": 0.5 for n in range(1, 13)},
            },
            by_hand={"Success@10": {"1": "0", "2": "1"}, "R@10": {"all": "1/2"}},
        ),
        Case(
            "ties/numeric-ids",
            "Ids are compared as bytes, not as numbers",
            "`9` is greater than `10` and `100`, because its first byte is.",
            [m("RR"), m("nDCG", 10)],
            qrels={"1": {"9": 1}},
            run={"1": {"9": 1.0, "10": 1.0, "100": 1.0}},
            by_hand={"RR": {"1": "1"}},
        ),
        Case(
            "ties/negative-zero",
            "0 and −0 are the same score",
            "A tool that compares bit patterns puts the positive zero first.",
            [m("RR"), m("AP")],
            qrels={"1": {"b": 1}},
            run={"1": {"a": 0.0, "b": -0.0}},
            by_hand={"RR": {"1": "1"}},
        ),
        Case(
            "ties/none",
            "No ties at all",
            "The reference for the others: every tool should agree here.",
            [m("nDCG", 10), m("AP"), m("RR"), m("P", 2), m("R", 2), m("Bpref"), m("Rprec")],
            qrels={"1": {"a": 1, "b": 0, "c": 1}},
            run={"1": descending("b", "a", "d", "c")},
            by_hand={"AP": {"1": "(1/2 + 2/4)/2"}, "Bpref": {"1": "0"}},
        ),
    ],
)
