"""For each kind a small file where it occurs, with its count and first place, and one where it does not."""

from __future__ import annotations

from dataclasses import dataclass

QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
RUN = b"q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d3 1 1.5 t\n"


@dataclass(frozen=True)
class Case:
    """A kind, judgments and a run that show it, and what is reported of it."""

    kind: str
    qrels: bytes
    run: bytes
    count: int
    places: tuple[str, ...]


def run(kind: str, text: bytes, count: int, *places: str) -> Case:
    """A case of a run."""
    return Case(kind, QRELS, text, count, places)


def qrels(kind: str, text: bytes, count: int, *places: str) -> Case:
    """A case of judgments."""
    return Case(kind, text, RUN, count, places)


FIVE = range(1, 6)
"""Queries of which each has four documents whose scores fall as their grades rise."""
INVERTED = "".join(f"q{q} 0 d{d} {d}\n" for q in FIVE for d in range(8)).encode()
UPSIDE_DOWN = "".join(f"q{q} Q0 d{d} {d + 1} {9 - d}.5 t\n" for q in FIVE for d in range(8)).encode()

CASES = (
    run("unreadable", b"q1 Q0 d1 1 3.0 t\rq1 Q0 d2 2 2.0 t\r", 1, "run"),
    qrels("empty", b"# nothing\n", 1, "judgments"),
    qrels("preferences", b"q1 ann 1 d1 2\nq1 ann 1 d2 1\n", 1, "judgments"),
    run("few-columns", b"q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2\n\nq1\nq2 Q0 d3 1 1.5 t\n", 2, "run:2", "run:4"),
    qrels("few-columns", b"q1 0 d1\nq1 0 d2 1\n", 1, "judgments:1"),
    run("malformed-line", b"query,document,score\nq1,d1,3\nq1,d2\n", 1, "run:3"),
    run("not-an-object", b'{"query": "q1", "document": "d1", "score": 2}\n[]\n', 1, "run:2"),
    run("missing-value", b'{"query": "q1", "document": "d1", "score": 2}\n{"query": "q1", "document": null, "score": 1}\n', 1, "run:2"),
    run("bad-id", b'{"query": "q1", "document": "d1", "score": 2}\n{"query": "q1", "document": 1.5, "score": 1}\n', 1, "run:2"),
    run("not-a-number", RUN + b"q2 Q0 d4 2 high t\nq2 Q0 d5 3 1_0 t\n", 2, "run:4", "run:5"),
    run("score-nan", RUN + b"q2 Q0 d4 2 nan t\n", 1, "run:4"),
    qrels("not-a-number", QRELS + b"q2 0 d4 good\n", 1, "judgments:4"),
    qrels("not-finite", QRELS + b"q2 0 d4 nan\nq2 0 d5 -inf\n", 2, "judgments:4", "judgments:5"),
    run("repeated-document", RUN + b"q2 Q0 d3 2 1.0 t\nq1 Q0 d1 9 0.5 t\n", 2, "run:4", "run:5"),
    qrels("repeated-document", QRELS + b"q1 0 d1 2.0\n", 1, "judgments:4"),
    qrels("conflicting-grades", QRELS + b"q1 0 d1 1\nq1 0 d1 2\n", 1, "judgments:4"),
    qrels("bad-weight", b"query,intent,document,grade,intent_weight\nq1,1,d1,1,0.5\nq1,1,d2,1,0.75\nq1,2,d2,1,-1\n", 2, "judgments:3", "judgments:4"),
    qrels("not-utf-8", QRELS + b"q1 0 d\xff 1\nq\xfe 0 d 1\n", 2, "judgments:4", "judgments:5"),
    Case("inverted-grades", INVERTED, UPSIDE_DOWN, 5, ("run",)),
    run("missing-queries", b"q1 Q0 d1 1 3.0 t\n", 1, "judgments:3"),
    run("unjudged-queries", RUN + b"q9 Q0 d1 1 3.0 t\nq9 Q0 d2 2 2.0 t\n", 1, "run:4"),
    run("ids-case", b"q1 Q0 D1 1 3.0 t\nQ2 Q0 d3 1 1.0 t\n", 2, "run:1", "run:2"),
    run("ids-white-space", b"query,document,score\nq1, d1,3\nq2,d3,1\n", 1, "run:2"),
    Case("ids-unicode", "q1 0 caf\u00e9 1\n".encode(), "q1 Q0 cafe\u0301 1 3.0 t\n".encode(), 1, ("run:1",)),
    run("not-utf-8", RUN + b"q2 Q0 d\xff 2 1.0 t\n", 1, "run:4"),
    run("score-infinite", RUN + b"q2 Q0 d4 2 -inf t\nq3 Q0 d 1 1e300 t\n", 2, "run:4", "run:5"),
    run("tied-scores", RUN + b"q2 Q0 d4 2 1.50000001 t\nq2 Q0 d5 3 -0.0 t\nq2 Q0 d6 4 0 t\n", 4, "run:3", "run:4", "run:5", "run:6"),
    run("rank-contradicts-score", b"q1 Q0 d2 2 3.0 t\nq1 Q0 d1 1 2.0 t\nq2 Q0 d3 1 1.5 t\n", 1, "run:1"),
    run("rank-not-a-number", RUN + b"q2 Q0 d4 - 1.0 t\n", 1, "run:4"),
    run("ranks-from-zero", b"q1 Q0 d1 0 3.0 t\nq1 Q0 d2 1 2.0 t\nq2 Q0 d3 1 1.5 t\n", 1, "run:1"),
    run("interleaved-queries", RUN + b"q1 Q0 d4 3 1.0 t\nq2 Q0 d4 2 1.0 t\nq1 Q0 d5 4 0.5 t\n", 2, "run:4", "run:5"),
    qrels("interleaved-queries", QRELS + b"q1 0 d9 1\n", 1, "judgments:4"),
    qrels("negative-grades", QRELS + b"q2 0 d4 -1\n", 1, "judgments:4"),
    qrels("fractional-grades", QRELS + b"q2 0 d4 0.5\n", 1, "judgments:4"),
    run("many-columns", RUN + b"q2 Q0 d4 2 1.0 t more\n", 1, "run:4"),
    qrels("many-columns", QRELS + b"q2 0 d4 1 more\n", 1, "judgments:4"),
    qrels("single-intent", b"query,intent,document,grade\nq1,1,d1,1\nq1,1,d2,0\nq2,1,d3,1\n", 1, "judgments"),
    qrels("intents-without-relevant", b"query,intent,document,grade\nq1,1,d1,1\nq1,2,d1,0\nq1,2,d2,0\nq2,1,d3,1\nq2,3,d3,-1\n", 2, "judgments:3", "judgments:6"),
    run("tag-changes", RUN + b"q2 Q0 d4 2 1.0 u\nq2 Q0 d5 3 0.9 t\n", 2, "run:4", "run:5"),
    run("comments", b"# made today\n" + RUN, 1, "run:1"),
    run("blank-lines", RUN + b"\n  \n", 2, "run:4", "run:5"),
    run("carriage-returns", RUN.replace(b"\n", b"\r\n"), 3, "run:1", "run:2", "run:3"),
    run("byte-order-mark", b"\xef\xbb\xbf" + RUN, 1, "run:1"),
)  # fmt: skip
