"""Worked examples of the literature, and of the documents that judged's definitions come from."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m


def ranked(
    grades: list[float], missed: list[float] | None = None
) -> tuple[dict[str, float], dict[str, float | str]]:
    """Judgments and results of one query from the grades in rank order."""
    names = [f"d{rank:02}" for rank in range(1, len(grades) + 1)]
    judged = dict(zip(names, grades, strict=True))
    judged |= {f"m{number}": grade for number, grade in enumerate(missed or [], 1)}
    return judged, descending(*names)


SIX, SIX_RUN = ranked([3, 2, 3, 0, 1, 2], missed=[3, 2])
SYSTEM_1, RUN_1 = ranked([1, 0, 1, 0, 0, 0, 0, 0, 1, 1])
SYSTEM_2, RUN_2 = ranked([0, 1, 0, 0, 1, 1, 1, 0, 0, 0])
NDCG_004, NDCG_004_RUN = ranked([3, 0, 2, 1])
AP_004, AP_004_RUN = ranked([1, 0, 1, 0, 1])
SCIKIT = {"1": {"a": 10, "b": 0, "c": 0, "d": 1, "e": 5}}
CASE_3 = {"1": {"doc1": 1, "doc2": 1, "doc3": 1}}
FIRST_HITS = {
    "1": descending("r", "x", "y"),
    "2": descending("x", "y", "r"),
    "3": descending("x", "y", "z"),
}

THEME = Theme(
    "worked",
    "Worked examples",
    "Examples that readers know, from textbooks, encyclopaedias and the documentation of libraries, and those of the "
    "documents 002 and 004 that judged's definitions come from, with their slips of arithmetic put right.",
    [
        Case(
            "worked/dcg-six-results",
            "Six results graded 3, 2, 3, 0, 1, 2; a 3 and a 2 are missed",
            "The ideal takes in what was missed: 3, 3, 3, 2, 2, 2.",
            [m("DCG", 6), m("IDCG", 6), m("nDCG", 6)],
            qrels={"1": SIX},
            run={"1": SIX_RUN},
            by_hand={"DCG@6": {"1": "3 + 2/log2(3) + 3/2 + 1/log2(6) + 2/log2(7)"}},
        ),
        Case(
            "worked/mrr-encyclopaedia",
            "First right answers at ranks 3, 2 and 1",
            "The example of Wikipedia's article on mean reciprocal rank.",
            [m("RR")],
            qrels={"cat": {"cats": 1}, "torus": {"tori": 1}, "virus": {"viruses": 1}},
            run={
                "cat": descending("catten", "cati", "cats"),
                "torus": descending("torii", "tori", "toruses"),
                "virus": descending("viruses", "virii", "viri"),
            },
            by_hand={"RR": {"all": "11/18"}},
            published={"RR": "0.61"},
            source="Wikipedia, Mean reciprocal rank",
        ),
        Case(
            "worked/two-systems",
            "Two systems, four relevant documents each",
            "System 1: R N R N N N N N R R; system 2: N R N N R R R N N N.",
            [m("AP"), m("Rprec"), m("P", 10), m("nDCG", 10)],
            qrels={"system-1": SYSTEM_1, "system-2": SYSTEM_2},
            run={"system-1": RUN_1, "system-2": RUN_2},
            by_hand={"AP": {"system-1": "(1 + 2/3 + 3/9 + 4/10)/4", "system-2": "(1/2 + 2/5 + 3/6 + 4/7)/4"}},
            source="an exercise of courses on information retrieval; the values are worked out here",
        ),
        Case(
            "worked/scikit-learn",
            "Grades 10, 0, 0, 1, 5 ranked by scores 0.1, 0.2, 0.3, 4, 70",
            "The example in the documentation of scikit-learn's `ndcg_score`.",
            [m("nDCG"), m("DCG")],
            qrels=SCIKIT,
            run={"1": {"a": 0.1, "b": 0.2, "c": 0.3, "d": 4.0, "e": 70.0}},
            by_hand={"nDCG": {"1": "(5 + 1/log2(3) + 10/log2(6)) / (10 + 5/log2(3) + 1/2)"}},
            published={"nDCG": "0.69"},
            source="scikit-learn, documentation of ndcg_score",
        ),
        Case(
            "worked/004-ndcg",
            "004 §3.2: retrieved grades 3, 0, 2, 1",
            "The document exchanges two discounts and prints 4.693 and 0.985.",
            [m("DCG", 4), m("IDCG", 4), m("nDCG", 4)],
            qrels={"1": NDCG_004},
            run={"1": NDCG_004_RUN},
            by_hand={
                "DCG@4": {"1": "3 + 2/2 + 1/log2(5)"},
                "nDCG@4": {"1": "(4 + 1/log2(5)) / (3 + 2/log2(3) + 1/2)"},
            },
            published={"DCG@4": "4.4307", "IDCG@4": "4.7619", "nDCG@4": "0.9305"},
            source="004 §3.2, corrected",
        ),
        Case(
            "worked/004-ap",
            "004 §3.4: relevant results at ranks 1, 3 and 5",
            "(1 + 2/3 + 3/5) / 3.",
            [m("AP", 5), m("P", 5), m("R", 5)],
            qrels={"1": AP_004},
            run={"1": AP_004_RUN},
            by_hand={"AP@5": {"1": "(1 + 2/3 + 3/5)/3"}},
            published={"AP@5": "0.756"},
            source="004 §3.4",
        ),
        Case(
            "worked/004-mrr",
            "002 and 004 §3.3: first relevant results at ranks 1 and 3, and none",
            "(1 + 1/3 + 0) / 3.",
            [m("RR")],
            qrels={query: {"r": 1} for query in FIRST_HITS},
            run=FIRST_HITS,
            by_hand={"RR": {"all": "4/9"}},
            published={"RR": "0.444"},
            source="002 and 004 §3.3",
        ),
        Case(
            "worked/004-case-1",
            "004 §7.1, case 1: perfect retrieval",
            "Both relevant documents come first.",
            [m("Success", 1), m("Success", 2), m("nDCG", 2), m("RR")],
            qrels={"1": {"doc1": 1, "doc2": 1}},
            run={"1": descending("doc1", "doc2", "doc3", "doc4")},
            published={"Success@1": "1.0", "Success@2": "1.0", "nDCG@2": "1.0", "RR": "1.0"},
            source="004 §7.1",
        ),
        Case(
            "worked/004-case-2",
            "004 §7.1, case 2: nothing relevant retrieved",
            "0 everywhere.",
            [m("Success", 10), m("nDCG", 10), m("RR")],
            qrels={"1": {"doc1": 1, "doc2": 1}},
            run={"1": descending("doc3", "doc4", "doc5", "doc6")},
            published={"Success@10": "0.0", "nDCG@10": "0.0", "RR": "0.0"},
            source="004 §7.1",
        ),
        Case(
            "worked/004-case-3",
            "004 §7.1, case 3: two of three relevant documents, at ranks 2 and 4",
            "The document prints 0.693 for NDCG@4.",
            [m("Success", 1), m("Success", 2), m("nDCG", 4), m("RR")],
            qrels=CASE_3,
            run={"1": descending("doc4", "doc1", "doc5", "doc2")},
            by_hand={"nDCG@4": {"1": "(1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 1/2)"}},
            published={"nDCG@4": "0.4982", "RR": "0.5"},
            source="004 §7.1, corrected",
        ),
        Case(
            "worked/002-recall-precision",
            "002: two relevant documents, at ranks 1 and 4 of five",
            "Recall@5 is 2/2 and Precision@5 is 2/5.",
            [m("R", 5), m("P", 5), m("R", 1)],
            qrels={"1": {"doc0": 1, "doc1": 1}},
            run={"1": descending("doc0", "doc5", "doc99", "doc1", "doc42")},
            by_hand={"R@5": {"1": "1"}, "P@5": {"1": "2/5"}},
            published={"R@5": "1.0", "P@5": "0.4"},
            source="002",
        ),
    ],
)
