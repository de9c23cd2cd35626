"""Input that has no meaning all readers would agree on."""

from __future__ import annotations

from conformance.source.case import Case, Theme, m

QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 1\n"


def refused(name: str, title: str, reason: str, *, run_text: str, qrels_text: str = QRELS) -> Case:
    """Return a case that no number should come out of."""
    return Case(
        f"refused/{name}",
        title,
        "Any number would depend on an unstated choice.",
        [m("nDCG", 10), m("AP")],
        refused=True,
        reason=reason,
        qrels_text=qrels_text,
        run_text=run_text,
    )


THEME = Theme(
    "refused",
    "Duplicates, NaN and other input to refuse",
    "The expected outcome is an error that says what is wrong; a number is a failure, and so is a crash.",
    [
        refused(
            "document-twice",
            "A document retrieved twice with different scores",
            "document `a` is retrieved twice for query 1",
            run_text="1 Q0 a 1 9.0 t\n1 Q0 b 2 5.0 t\n1 Q0 a 3 1.0 t\n",
        ),
        refused(
            "document-twice-alike",
            "A document retrieved twice with the same score",
            "document `a` is retrieved twice for query 1",
            run_text="1 Q0 a 1 9.0 t\n1 Q0 a 2 9.0 t\n1 Q0 b 3 5.0 t\n",
        ),
        refused(
            "unjudged-twice",
            "An unjudged document retrieved twice",
            "document `u` is retrieved twice for query 1; it pushes `a` down one rank too many",
            run_text="1 Q0 u 1 9.0 t\n1 Q0 u 2 8.0 t\n1 Q0 a 3 5.0 t\n",
        ),
        Case(
            "refused/nan",
            "A score that is not a number, on a relevant document",
            "NaN compares with nothing, so the order is whatever a sort makes of it.",
            [m("nDCG", 10), m("AP")],
            qrels={"1": {"a": 1, "b": 0, "c": 1}},
            run={"1": {"b": 2.0, "a": "NaN", "c": 1.0}},
            qrels_text=QRELS,
            run_text="1 Q0 b 1 2.0 t\n1 Q0 a 2 nan t\n1 Q0 c 3 1.0 t\n",
            refused=True,
            reason="the score of document `a` is NaN",
        ),
        Case(
            "refused/nan-unjudged",
            "A score that is not a number, on an unjudged document",
            "It still decides the order.",
            [m("nDCG", 10), m("AP")],
            qrels={"1": {"a": 1, "b": 0}},
            run={"1": {"u": "NaN", "a": 1.0, "b": 2.0}},
            refused=True,
            reason="the score of document `u` is NaN",
        ),
        refused(
            "score-is-a-word",
            "A score that is a word",
            "the score `abc` is no number; reading it as 0 changes the order in silence",
            run_text="1 Q0 a 1 abc t\n1 Q0 b 2 -1.0 t\n",
        ),
        refused(
            "judged-twice",
            "A document judged twice with different grades",
            "document `b` is judged 0 and 1 for query 1",
            qrels_text="1 0 a 1\n1 0 b 0\n1 0 b 1\n",
            run_text="1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n",
        ),
        refused(
            "columns-missing",
            "A row of a run without its score",
            "the second row has four columns where six are expected",
            run_text="1 Q0 a 1 2.0 t\n1 Q0 b 2\n",
        ),
    ],
)
