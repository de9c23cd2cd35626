"""Ids of queries and documents: hyphens, hashes, Unicode, case, NUL."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

USUAL = [m("nDCG", 10), m("AP"), m("RR")]

THEME = Theme(
    "ids",
    "Ids",
    "An id is a string of bytes (UTF-8) without white space. It is compared as it is: not folded, normalised, "
    "stripped, cut or read as a number.",
    [
        Case(
            "ids/hyphens",
            "Query ids with letters and hyphens",
            "Tools that take query ids for numbers fail, or score nothing.",
            [*USUAL, m("nDCG", 10, gain="exp"), m("ERR", 20, max_grade=4), m("Rprec")],
            qrels={"q-a1": {"a": 2, "b": 0}, "q-b1": {"a": 0, "b": 1}},
            run={"q-a1": {"a": 4.0, "b": 3.0}, "q-b1": {"a": 2.0, "b": 1.0}},
            by_hand={
                'nDCG(gain="exp")@10': {"all": "(1 + 1/log2(3))/2"},
                "ERR(max_grade=4)@20": {"q-a1": "3/16"},
            },
        ),
        Case(
            "ids/same-after-the-hyphen",
            "Query ids that differ before the hyphen only",
            "A tool that keeps what follows the hyphen merges both queries into one.",
            [*USUAL, m("ERR", 10, max_grade=4)],
            qrels={"10-1": {"a": 1}, "20-1": {"b": 1}},
            run={"10-1": descending("a", "x"), "20-1": descending("x", "b")},
            by_hand={"RR": {"10-1": "1", "20-1": "1/2"}, "ERR(max_grade=4)@10": {"all": "(1/16 + 1/32)/2"}},
        ),
        Case(
            "ids/hash",
            "Document ids with `#`",
            "As in MS MARCO's segments. What follows the sign is part of the id, not a comment.",
            USUAL,
            qrels={"1": {"doc#1": 1, "doc#2": 0, "doc#3": 2}},
            run={"1": descending("doc#2", "doc#1", "doc#3")},
            qrels_text="1 0 doc#1 1\n1 0 doc#2 0\n1 0 doc#3 2\n",
            run_text="1 Q0 doc#2 1 3.0 t\n1 Q0 doc#1 2 2.0 t\n1 Q0 doc#3 3 1.0 t\n",
            by_hand={"AP": {"1": "(1/2 + 2/3)/2"}},
        ),
        Case(
            "ids/unicode",
            "Ids beyond ASCII",
            "Accents, ideographs, and a letter written in two ways, which are two documents.",
            USUAL,
            qrels={"frage-ä": {"straße": 1, "文書": 2, "caf\u00e9": 0, "cafe\u0301": 1}},
            run={"frage-ä": descending("caf\u00e9", "文書", "cafe\u0301", "straße")},
            by_hand={"AP": {"frage-ä": "(1/2 + 2/3 + 3/4)/3"}},
        ),
        Case(
            "ids/unicode-ties",
            "Tied ids beyond the basic plane",
            "By bytes of UTF-8, U+10000 is greater than U+FFFD; by UTF-16 units it is less.",
            [m("RR"), m("nDCG", 10)],
            qrels={"1": {"\U00010000": 1}},
            run={"1": {"\ufffd": 1.0, "\U00010000": 1.0}},
            by_hand={"RR": {"1": "1"}},
        ),
        Case(
            "ids/case",
            "Ids that differ by case only",
            "`D1` and `d1` are two documents; of two tied ones `d1` is the greater.",
            USUAL,
            qrels={"Q": {"D1": 1, "d1": 0}, "q": {"d1": 1}},
            run={"Q": {"D1": 1.0, "d1": 1.0}, "q": {"D1": 2.0, "d1": 1.0}},
            by_hand={"RR": {"Q": "1/2", "q": "1/2"}},
        ),
        Case(
            "ids/nul",
            "Ids with a NUL byte",
            "Legal in a dict, and cut off by libraries that take strings to end there.",
            USUAL,
            qrels={"1": {"a\0x": 1, "a\0y": 0}},
            run={"1": {"a\0y": 2.0, "a\0x": 1.0}},
            by_hand={"RR": {"1": "1/2"}},
        ),
        Case(
            "ids/leading-zeros",
            "Ids that would be equal as numbers",
            "`1`, `01` and `1.0` are three queries, `7` and `07` two documents.",
            USUAL,
            qrels={"1": {"7": 1}, "01": {"07": 1}, "1.0": {"7": 1}},
            run={"1": descending("7"), "01": descending("7", "07"), "1.0": descending("07", "x", "7")},
            by_hand={"RR": {"1": "1", "01": "1/2", "1.0": "1/3"}},
        ),
        Case(
            "ids/long",
            "A document id of three hundred characters",
            "Two that differ in the last character only.",
            USUAL,
            qrels={"1": {"d" * 299 + "a": 1, "d" * 299 + "b": 0}},
            run={"1": {"d" * 299 + "b": 2.0, "d" * 299 + "a": 1.0}},
            by_hand={"RR": {"1": "1/2"}},
        ),
    ],
)
