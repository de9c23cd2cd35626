"""Scores: their precision, their range, and how recall points are rounded."""

from __future__ import annotations

from conformance.source.case import Case, Theme, descending, m

CLOSE = {"1": {"a": 1, "b": 0}}
CLOSE_RUN = {"1": {"a": 1.00000002, "b": 1.00000001}}
USUAL = [m("RR"), m("AP"), m("nDCG", 10)]
SEVEN = {"1": {f"r{n}": 1 for n in range(1, 8)}}
SEVEN_RUN = {"1": descending("r1", "x1", "r2", "x2", "x3", "r3", "r4", "x4", "x5", "x6", "r5")}

THEME = Theme(
    "scores",
    "Precision and range of scores, recall points",
    "trec_eval 9 compares scores as 32-bit floats, version 10 as 64-bit ones; a share of the relevant documents is "
    "⌊xR + 0.9⌋ of them in version 9 and xR rounded in version 10.",
    [
        Case(
            "scores/float32-tie",
            "Scores that differ in the ninth digit, as 32-bit floats",
            "They are tied, and b comes before a by its name.",
            USUAL,
            qrels=CLOSE,
            run=CLOSE_RUN,
            by_hand={"RR": {"1": "1/2"}},
        ),
        Case(
            "scores/float64-order",
            "The same scores as 64-bit floats",
            "They differ, and a comes first.",
            USUAL,
            qrels=CLOSE,
            run=CLOSE_RUN,
            protocol={"precision": "float64"},
            by_hand={"RR": {"1": "1"}},
        ),
        Case(
            "scores/large-whole-numbers",
            "Whole numbers above 2²⁴",
            "16777216 and 16777217 are one 32-bit float: scores that are row numbers tie there.",
            USUAL,
            qrels=CLOSE,
            run={"1": {"a": 16777217.0, "b": 16777216.0}},
            by_hand={"RR": {"1": "1/2"}},
        ),
        Case(
            "scores/negative",
            "Negative scores, as log-probabilities are",
            "−1 is higher than −2.",
            USUAL,
            qrels={"1": {"a": 1, "b": 0, "c": 1}},
            run={"1": {"a": -1.0, "b": -2.0, "c": -30.5}},
            by_hand={"AP": {"1": "(1 + 2/3)/2"}},
        ),
        Case(
            "scores/tiny",
            "Scores near the least positive number",
            "As 32-bit floats 1e-50 and 2e-50 are both 0, and tied.",
            USUAL,
            qrels=CLOSE,
            run={"1": {"a": 2e-50, "b": 1e-50}},
            by_hand={"RR": {"1": "1/2"}},
        ),
        Case(
            "scores/huge",
            "Scores beyond the range of 32-bit floats",
            "1e39 and 2e39 both become infinite, and tied.",
            USUAL,
            qrels=CLOSE,
            run={"1": {"a": 2e39, "b": 1e39, "c": 5.0}},
            by_hand={"RR": {"1": "1/2"}},
        ),
        Case(
            "scores/infinite",
            "An infinite score",
            "It is a number: the highest there is.",
            USUAL,
            qrels=CLOSE,
            run={"1": {"b": 3.0, "a": "Infinity", "c": "-Infinity"}},
            by_hand={"RR": {"1": "1"}},
        ),
        Case(
            "scores/recall-points-9",
            "Interpolated precision, recall points as in trec_eval 9",
            "Of seven relevant documents a share of 0.3 is ⌊2.1 + 0.9⌋ = 3 (or 2, where 2.1 + 0.9 is a little less "
            "than 3 in binary: the suite avoids such points); here 0.2 is ⌊1.4 + 0.9⌋ = 2.",
            [m("IPrec", recall=0.2), m("IPrec", recall=0.6)],
            qrels=SEVEN,
            run=SEVEN_RUN,
            by_hand={"IPrec@0.2": {"1": "2/3"}, "IPrec@0.6": {"1": "5/11"}},
        ),
        Case(
            "scores/recall-points-10",
            "The same, recall points as in trec_eval 10",
            "0.2 of seven is 1.4, rounded 1; 0.6 is 4.2, rounded 4.",
            [m("IPrec", recall=0.2), m("IPrec", recall=0.6)],
            qrels=SEVEN,
            run=SEVEN_RUN,
            protocol={"recall_points": "rounded"},
            by_hand={"IPrec@0.2": {"1": "1"}, "IPrec@0.6": {"1": "4/7"}},
        ),
        Case(
            "scores/eleven-points",
            "Eleven-point average, one relevant document",
            "Precision is 1/3 at every point of recall.",
            [m("AP11"), m("IPrec", recall=0.0), m("IPrec", recall=1.0)],
            qrels={"1": {"a": 1}},
            run={"1": descending("x", "y", "a")},
            by_hand={"AP11": {"1": "1/3"}},
        ),
    ],
)
