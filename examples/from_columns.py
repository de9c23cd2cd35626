"""Scores columns of numbers: integer ids, targets that several documents share, and a stricter threshold."""

from __future__ import annotations

import pyarrow as pa

import judged


def main() -> None:
    """Print the means and what was noticed."""
    qrels = pa.table(
        {
            "query": [7, 7, 7, 8],
            "document": [100, 101, 102, 200],
            "grade": [2, 2, 1, 1],
            "target": ["a", "a", "b", "c"],
        }
    )
    run = pa.table({"query": [7, 7, 7, 8], "document": [100, 101, 999, 200], "score": [3.0, 2.0, 1.0, 1.0]})
    ev = judged.evaluate(qrels, run, ["DR@3", "R@3", "P(rel=2)@2"])
    print(ev)
    for note in ev.notes:
        print(note)


if __name__ == "__main__":
    main()
