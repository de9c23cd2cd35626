"""The profile `msmarco` says what MS MARCO's script says, of a file whose ranks follow its rows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings

from profiles.inputs import Case, agrees, cases

script: Any = pytest.importorskip(
    "ir_measures.bin.msmarco_eval", reason="the script comes with ir_measures, which is not installed"
)


def number(document: str) -> str:
    """The script reads whole numbers only."""
    return document.removeprefix("d")


@settings(max_examples=30)
@given(case=cases())
def test_says_what_the_script_says(case: Case) -> None:
    """Rows rank, scores do not; every judged document is relevant, whatever its grade."""
    with TemporaryDirectory() as folder:
        qrels, run = Path(folder) / "qrels.tsv", Path(folder) / "run.tsv"
        judged = [(q, number(d), grade) for q, grades in case.qrels.items() for d, grade in grades.items()]
        qrels.write_text("".join(f"{q}\t0\t{d}\t{grade}\n" for q, d, grade in judged))
        ranked = [(q, number(d), i) for q, scores in case.run.items() for i, d in enumerate(scores, 1)]
        run.write_text("".join(f"{q}\t{d}\t{i}\n" for q, d, i in ranked))
        reference, found = script.load_reference(qrels), script.load_candidate(run)
    ranks = script.compute_metrics(reference, found)["MRR @10 by query"]
    queries = {query: ranks.get(int(query), 0.0) for query in case.qrels}

    agrees(case, "msmarco", "MRR@10", queries, sum(queries.values()) / len(queries))
