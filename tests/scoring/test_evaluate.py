"""`evaluate`: one answer however the inputs come, with its protocol and everything notable beside it."""

from __future__ import annotations

import copy
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import judged
from judged import AP, RR, P, R, nDCG
from judged.errors import BadInput, BadMeasure, MissingQueries, UnknownName

Nested = dict[str, dict[str, Any]]

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}, "q3": {"d9": 0}}
RUN = {"q1": {"d2": 3.0, "d1": 2.0, "x": 1.0}, "q3": {"d9": 1.0}, "q7": {"d1": 1.0}}

GRADES = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q4"]),
    st.dictionaries(st.sampled_from([f"d{i}" for i in range(12)]), st.integers(-2, 4), min_size=1),
    min_size=1,
)
SCORED = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "q5"]),
    st.dictionaries(st.sampled_from([f"d{i}" for i in range(12)]), st.integers(0, 4).map(float), min_size=1),
)
SOME = [nDCG @ 10, AP, RR, P @ 5, R @ 5, "Bpref", "infAP", "Rprec", "ERR@10", "RBP", "SetF", "gm_AP"]


def test_a_small_run_scores_by_hand() -> None:
    """q1: relevant d1 second of two, so AP 1/4 and RR 1/2; q2 is missing; q3 has nothing relevant."""
    ev = judged.evaluate(QRELS, RUN, [AP, RR, "recall_5"])

    assert ev.per_query().by_query("AP") == {"q1": 0.25, "q2": 0.0, "q3": 0.0}
    assert ev.mean() == {"AP": 0.25 / 3, "RR": 0.5 / 3, "recall_5": 0.5 / 3}
    assert ev["map"] == ev[AP] == ev["AP"] == 0.25 / 3


def test_everything_notable_is_counted_and_noted() -> None:
    """Missing, extra, without relevant documents, unjudged: in numbers and in words."""
    ev = judged.evaluate(QRELS, RUN, AP)
    seen = ev.counts

    assert (seen.queries, seen.missing, seen.unjudged_queries, seen.without_relevant) == (
        3,
        ("q2",),
        ("q7",),
        1,
    )
    assert seen.unjudged == 0.25
    assert list(map(str, ev.notes)) == [
        "1 query (q2) judged but missing from the run: scored as 0",
        "1 query (q7) in the run but never judged: not scored",
        "1 query without any relevant document",
        "25.0 % of the first ten results are unjudged",
    ]


def test_ties_are_noted_with_the_rule_that_ordered_them() -> None:
    """A judged document that shares its score is counted once, with its query."""
    ev = judged.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}}, RR)

    assert ev["RR"] == pytest.approx(1 / 3)
    assert (ev.counts.tied_documents, ev.counts.tied_queries) == (2, 1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ties": "document-descending"}, 1 / 3),
        ({"ties": "document-ascending"}, 1.0),
        ({"ties": "input-order"}, 1 / 2),
    ],
)
def test_the_tie_rule_decides_between_equals(changes: dict[str, str], expected: float) -> None:
    """Three tied documents, given in the order c, a, b: the relevant one, a, stands third, first or second."""
    ev = judged.evaluate(
        {"q": {"a": 1}}, {"q": {"c": 1.0, "a": 1.0, "b": 1.0}}, RR, protocol=judged.Protocol(**changes)
    )

    assert ev["RR"] == pytest.approx(expected)


def test_float32_ties_what_float64_distinguishes() -> None:
    """Two scores that differ in the ninth digit are equal to trec_eval 9 and different to trec_eval 10."""
    run = {"q": {"a": 1.000000001, "b": 1.0}}

    assert judged.evaluate({"q": {"a": 1}}, run, RR, protocol="trec_eval-9")["RR"] == 0.5
    assert judged.evaluate({"q": {"a": 1}}, run, RR, protocol="trec_eval-10")["RR"] == 1.0


def test_missing_queries_may_be_skipped_or_refused() -> None:
    """`skip` averages over what was answered; `error` names what was not."""
    skipped = judged.evaluate(QRELS, RUN, AP, protocol=judged.Protocol(missing="skip"))

    assert skipped.per_query().queries.to_pylist() == ["q1", "q3"]
    assert skipped["AP"] == 0.125
    with pytest.raises(MissingQueries, match="no results for 1 judged queries: q2"):
        judged.evaluate(QRELS, RUN, AP, protocol=judged.Protocol(missing="error"))


def test_depth_and_removal_are_applied_before_ranks_are_counted() -> None:
    """Unjudged documents removed: d1 moves up; depth 1: it is gone."""
    qrels, run = {"q": {"d1": 1, "d2": 0}}, {"q": {"x": 3.0, "d2": 2.0, "d1": 1.0}}

    assert judged.evaluate(qrels, run, RR, protocol=judged.Protocol(unjudged="removed"))["RR"] == 0.5
    assert judged.evaluate(qrels, run, RR, protocol=judged.Protocol(depth=2))["RR"] == 0.0
    assert judged.evaluate(qrels, run, "NumRet", protocol=judged.Protocol(depth=2))["NumRet"] == 2


def test_the_threshold_is_the_protocols_unless_the_measure_sets_its_own() -> None:
    """`rel` of the protocol reaches every measure; `P(rel=1)` keeps its own."""
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}

    ev = judged.evaluate(qrels, run, ["P@2", "P(rel=1)@2"], protocol=judged.Protocol(rel=2))

    assert ev.mean() == {"P@2": 0.5, "P(rel=1)@2": 1.0}


@settings(max_examples=60, deadline=None)
@given(qrels=GRADES, run=SCORED, seed=st.randoms(use_true_random=False))
def test_order_of_dicts_changes_nothing_and_nothing_given_is_changed(
    qrels: Nested, run: Nested, seed: random.Random
) -> None:
    """Shuffled dicts give the same numbers to the last bit; the inputs stay as they were."""
    assume(any(run.get(query) for query in qrels))

    def shuffled(nested: Nested) -> Nested:
        outer = list(nested.items())
        seed.shuffle(outer)
        inner = {query: list(row.items()) for query, row in outer}
        for row in inner.values():
            seed.shuffle(row)
        return {query: dict(row) for query, row in inner.items()}

    before = copy.deepcopy((qrels, run))
    first = judged.evaluate(qrels, run, SOME)
    second = judged.evaluate(shuffled(qrels), shuffled(run), SOME)

    assert (qrels, run) == before
    assert first.mean() == second.mean()
    assert all((first.per_query()[m] == second.per_query()[m]).all() for m in first.per_query().values)


@pytest.mark.usefixtures("implementation")
@settings(max_examples=40, deadline=None)
@given(qrels=GRADES, run=SCORED)
def test_dicts_files_and_frames_agree_to_the_last_bit(
    qrels: Nested, run: Nested, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However the run is held, whichever scanner reads it, the scores are the same."""
    assume(any(run.get(query) for query in qrels))
    folder: Path = tmp_path_factory.mktemp("agree")
    (folder / "qrels").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, row in qrels.items() for d, g in row.items())
    )
    (folder / "run").write_text(
        "".join(f"{q} Q0 {d} 0 {s} t\n" for q, row in run.items() for d, s in row.items())
    )
    columns = (
        judged.Run.from_columns(
            [q for q, row in run.items() for _ in row],
            [d for row in run.values() for d in row],
            np.array([s for row in run.values() for s in row.values()], dtype=np.float64),
        )
        if run
        else run
    )

    expected = judged.evaluate(qrels, run, SOME).per_query()

    for held in (folder / "run", columns):
        got = judged.evaluate(folder / "qrels", held, SOME).per_query()
        assert got.queries.to_pylist() == expected.queries.to_pylist()
        assert all((got[m] == expected[m]).all() for m in expected.values)


def test_a_query_scores_the_same_alone_and_in_company() -> None:
    """Every measure gives a query the same bits whichever queries are scored with it."""
    rng = np.random.default_rng(3)
    qrels = {
        f"q{i}": {f"d{j}": int(rng.integers(0, 4)) for j in range(rng.integers(1, 60))} for i in range(40)
    }
    run = {q: {f"d{j}": float(rng.normal()) for j in rng.choice(80, 50, replace=False)} for q in qrels}
    names = [m for m in SOME if "ERR" not in str(m)]  # whose highest grade is the collection's
    together = judged.evaluate(qrels, run, names).per_query()

    for q, grades in qrels.items():
        alone = judged.evaluate({q: grades}, {q: run[q]}, names).per_query()
        for name, (value,) in alone.values.items():
            assert value == together.by_query(name)[q], name


def test_a_nan_score_is_refused_by_name() -> None:
    """NaN would make a rank meaningless; the message names the document."""
    with pytest.raises(BadInput, match="query `q`, document `b`: score is NaN"):
        judged.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": math.nan}}, AP)


def test_problems_of_a_file_are_reported_with_their_lines(tmp_path: Path) -> None:
    """All faults are counted, the first ones shown with file and line."""
    (tmp_path / "bad.run").write_text("q Q0 a 1 2 t\nq Q0 a 2 1 t\nq Q0 b 3 nan t\nq Q0 c 4\n")

    with pytest.raises(BadInput) as caught:
        judged.evaluate({"q": {"a": 1}}, tmp_path / "bad.run", AP)

    assert "repeated-document (1)" in str(caught.value)
    assert "bad.run:2: document `a` is retrieved again for its query, first at" in str(caught.value)
    assert "bad.run:3: score is `nan`, expected a number" in str(caught.value)
    assert "bad.run:4: 4 columns, expected 6" in str(caught.value)


def test_asking_for_what_was_not_scored_is_an_error() -> None:
    """The message lists the measures that were scored."""
    ev = judged.evaluate(QRELS, RUN, AP)

    with pytest.raises(UnknownName, match="RR"):
        ev["RR"]
    with pytest.raises(BadMeasure, match="no measure was named"):
        judged.evaluate(QRELS, RUN, [])
    with pytest.raises(UnknownName, match="did you mean `trec_eval-9`"):
        judged.evaluate(QRELS, RUN, AP, protocol="trec_eval9")


def test_threads_change_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread or four, few cuts or many: the same bits."""
    from judged.kernels.scan import align

    rng = np.random.default_rng(5)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(20)} for i in range(60)}
    lines = [f"q{i} Q0 d{j} 0 {rng.integers(0, 30)} t\n" for i in range(60) for j in rng.permutation(100)]
    (tmp_path / "run").write_text("".join(lines))
    expected = judged.evaluate(qrels, tmp_path / "run", SOME, threads=1).mean()

    for cut in (100, 1_000, 10_000):
        monkeypatch.setattr(align, "STRETCH_BYTES", cut)
        assert judged.evaluate(qrels, tmp_path / "run", SOME, threads=4).mean() == expected


@pytest.mark.usefixtures("implementation")
def test_strange_entries_of_a_dict_are_converted_or_refused_by_name() -> None:
    """An integer id deep in a dict is its decimal text, with a note; a score that is no number is named."""
    ev = judged.evaluate({"q": {"2": 1}}, {"q": {"d1": 1.0, 2: 3.0}}, RR)

    assert ev["RR"] == 1.0
    assert any("decimal text" in note.message for note in ev.notes)
    with pytest.raises(
        BadInput, match=r"query `q`, document `d2`: score is 'high' \(str\), expected a number"
    ):
        judged.evaluate({"q": {"d1": 1}}, {"q": {"d1": 1.0, "d2": "high"}}, RR)
