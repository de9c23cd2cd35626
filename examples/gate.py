"""Fails when a new run is worse than a stored one: a gate for continuous integration.

Usage: gate.py QRELS BASELINE CANDIDATE, with TREC files or any others that judged reads.
"""

from __future__ import annotations

import sys

import judged

MEASURE = "nDCG@10"
ALLOWED = 0.01
"""How much of the mean may be lost."""


def main(qrels: str, baseline: str, candidate: str) -> int:
    """Print both means; 0 if the candidate may pass, 1 if not, 2 if a file cannot be scored."""
    try:
        judgments = judged.read_judgments(qrels)
        before, after = (judged.evaluate(judgments, run, MEASURE)[MEASURE] for run in (baseline, candidate))
    except judged.JudgedError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    passed = after >= before - ALLOWED
    print(f"{MEASURE}: {before:.4f} → {after:.4f}, {'passed' if passed else 'failed'}")
    return 0 if passed else 1


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
