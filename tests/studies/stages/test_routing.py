"""Routers, skip policies and rerankers: their measures by hand, by slow definitions, compared, gated and saved like any other."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import judged
from judged.blocks import Display, Figure
from judged.errors import JudgedError, UnknownName, Unusable, WrongKind
from judged.measures.groups import SCOPES
from judged.result import load
from judged.stats.intervals import ratio_interval
from judged.studies.family import RoutingProtocol
from judged.studies.tables import Choices, Reranking, SkipDecisions, read_decisions

CHOICES = """query,chosen,optimal,ranked,quality:dense,quality:bm25,quality:none
q1,dense,dense,dense|bm25,0.9,0.2,0.0
q2,dense,bm25,dense|bm25|none,0.2,0.5,0.0
q3,bm25,bm25,bm25|dense,0.1,0.5,0.0
q4,bm25,none,bm25|dense,0.1,0.4,0.6
"""


# Routing, by hand.


def test_a_router_by_hand() -> None:
    """Two of four right; a third within the first two; 0.3 and 0.2 given away; two of three experts used equally."""
    found = judged.evaluate_routing(
        CHOICES.encode(), "Accuracy Accuracy@2 Regret Quality Entropy Balance", name="router"
    )["router"]

    assert found["Accuracy"] == 0.5
    assert found["Accuracy@2"] == 0.75
    assert found["Regret"] == pytest.approx((0 + 0.3 + 0 + 0.2) / 4)
    assert found["Quality"] == pytest.approx((0.9 + 0.2 + 0.5 + 0.4) / 4)
    assert found["Entropy"] == pytest.approx(1.0)
    assert found["Balance"] == pytest.approx(1 / math.log2(3))


def test_the_confusion_matrix_and_the_shares() -> None:
    """A row for each optimal expert, a column for each chosen one; drawn as a heat map."""
    report = judged.evaluate_routing(CHOICES.encode(), name="router")
    (confusion,) = report.confusions

    assert confusion.labels == ("bm25", "dense", "none")
    assert confusion.counts == ((1, 1, 0), (0, 1, 0), (1, 0, 0))
    assert confusion.shares == (0.5, 0.5, 0.0)
    assert [line.split() for line in repr(report).splitlines() if line.startswith(("optimal", "bm25"))] == [
        ["optimal", "bm25", "dense", "none"],
        ["bm25", "1", "1", "0"],
    ]
    (figure,) = (block for block in report.blocks(Display()) if isinstance(block, Figure))
    assert figure.name == "confusion-router"


def test_qualities_say_what_is_optimal() -> None:
    """Where no expert is named; of equally good ones each is right."""
    table = Choices.from_columns(
        ["q1", "q2"], ["a", "a"], quality={"a": [0.5, 0.1], "b": [0.5, 0.3]}, ranked=[["a", "b"], ["a", "b"]]
    )
    found = judged.evaluate(None, table, "Accuracy Accuracy@1 Accuracy@2 Regret")

    assert found.scores.by_query("Accuracy") == {"q1": 1.0, "q2": 0.0}
    assert (found["Accuracy@1"], found["Accuracy@2"]) == (0.5, 1.0)
    assert found.scores.by_query("Regret") == pytest.approx({"q1": 0.0, "q2": 0.2})


def test_regret_is_in_any_ranked_measure() -> None:
    """The runs of the experts are scored, and the best on each query is the optimal one."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {
        "good": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
        "bad": {"q1": {"b": 1.0}, "q2": {"b": 1.0}},
    }
    rows = [{"query": "q1", "chosen": "good"}, {"query": "q2", "chosen": "bad"}]
    table = Choices.from_columns(["q1", "q2"], ["good", "bad"], optimal=["good", "good"])
    found = judged.evaluate_routing(table, quality=judged.evaluate_many(qrels, runs, "RR"))["router"]

    assert found.scores.by_query("Regret") == {"q1": 0.0, "q2": 0.5}
    assert found["Accuracy"] == 0.5
    with pytest.raises(Unusable, match="names no optimal expert and no quality"):
        judged.evaluate_routing(rows)


EXPERTS = ("a", "b", "c")
ROUTED = st.lists(
    st.tuples(
        st.sampled_from(EXPERTS), st.permutations(EXPERTS), st.tuples(*[st.integers(0, 4).map(float)] * 3)
    ),
    min_size=1,
    max_size=12,
)


@given(rows=ROUTED, cutoff=st.integers(1, 3))
def test_measures_of_routing_equal_their_definitions(rows: list[Any], cutoff: int) -> None:
    """One query after the other, as the cards write them."""
    queries = [f"q{at}" for at in range(len(rows))]
    table = Choices.from_columns(
        queries,
        [chosen for chosen, _, _ in rows],
        ranked=[order for _, order, _ in rows],
        quality={one: [values[at] for _, _, values in rows] for at, one in enumerate(EXPERTS)},
    )
    found = judged.evaluate(None, table, f"Accuracy Accuracy@{cutoff} Regret Quality Entropy Balance").mean()
    worth = [dict(zip(EXPERTS, values, strict=True)) for _, _, values in rows]
    best = [max(of.values()) for of in worth]
    shares = [many / len(rows) for many in Counter(chosen for chosen, _, _ in rows).values()]
    entropy = -sum(share * math.log2(share) for share in shares)
    expected = {
        "Accuracy": np.mean([worth[at][row[0]] == best[at] for at, row in enumerate(rows)]),
        f"Accuracy@{cutoff}": np.mean(
            [any(worth[at][one] == best[at] for one in row[1][:cutoff]) for at, row in enumerate(rows)]
        ),
        "Regret": np.mean([best[at] - worth[at][row[0]] for at, row in enumerate(rows)]),
        "Quality": np.mean([worth[at][row[0]] for at, row in enumerate(rows)]),
        "Entropy": entropy,
        "Balance": entropy / math.log2(3),
    }

    assert found == pytest.approx(expected, abs=1e-12)
    assert found["Regret"] >= 0
    assert -1e-12 <= found["Balance"] <= 1 + 1e-12


# SkipPolicies.


def skips(skipped: list[int], needed: list[int]) -> SkipDecisions:
    """Return the decisions of a skip policy, with the quality that retrieval adds: 0.5 where it is needed."""
    queries = [f"q{at}" for at in range(len(skipped))]
    return SkipDecisions.from_columns(
        queries,
        [not one for one in skipped],
        needed=[bool(one) for one in needed],
        quality_retrieved=[0.75] * len(queries),
        quality_skipped=[0.25 if one else 0.75 for one in needed],
    )


def test_always_skipping_has_the_highest_efficiency_and_is_shown_for_what_it_is() -> None:
    """40 % against 35 % for a real policy on the same 20 queries, of which 12 need retrieval; precision tells them apart."""
    needed = [1] * 12 + [0] * 8
    real = judged.evaluate(None, skips([0] * 12 + [1] * 7 + [0], needed))
    always = judged.evaluate(None, skips([1] * 20, needed))

    assert (real["SkipEfficiency"], always["SkipEfficiency"]) == (pytest.approx(35), pytest.approx(40))
    assert (real["SkipPrecision"], always["SkipPrecision"]) == (1.0, 0.4)
    assert (real["SkipRecall"], always["SkipRecall"]) == (0.875, 1.0)
    assert (real["WrongSkips"], always["WrongSkips"]) == (0.0, pytest.approx(60))
    assert (real["QualityLost"], always["QualityLost"]) == (0.0, pytest.approx(0.5 * 12 / 20))


def test_efficiency_is_never_alone() -> None:
    """Asked for by itself, it brings its companions."""
    assert list(judged.evaluate(None, skips([1, 0], [0, 1]), "SkipEfficiency").mean()) == [
        "SkipEfficiency",
        "SkipPrecision",
        "SkipRecall",
        "WrongSkips",
        "QualityLost",
    ]


@given(rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=15))
def test_measures_of_gates_equal_their_definitions(rows: list[tuple[int, int]]) -> None:
    """By counting; what has nothing to divide by is undefined."""
    skipped, needed = ([row[at] for row in rows] for at in (0, 1))
    right = sum(s and not n for s, n in rows)
    wrong = sum(s and n for s, n in rows)
    found = judged.evaluate(None, skips(skipped, needed)).mean()
    expected = {
        "SkipEfficiency": 100 * right / len(rows),
        "SkipPrecision": right / sum(skipped) if sum(skipped) else math.nan,
        "SkipRecall": right / (len(rows) - sum(needed)) if len(rows) > sum(needed) else math.nan,
        "WrongSkips": 100 * wrong / len(rows),
        "QualityLost": 0.5 * wrong / len(rows),
    }

    assert found == pytest.approx(expected, nan_ok=True)


def test_need_follows_from_the_qualities() -> None:
    """Where retrieval raises the quality it was needed."""
    found = read_decisions(
        [
            {"query": "q1", "skipped": "yes", "quality_with": 0.5, "quality_without": 0.25},
            {"query": "q2", "skipped": "no", "quality_with": 0.5, "quality_without": 0.5},
        ]
    )
    assert isinstance(found, SkipDecisions)

    assert found.retrieved.tolist() == [False, True]
    assert found.needed.tolist() == [True, False]


# Reranking.


def test_improvement_is_the_ratio_of_means() -> None:
    """+2.2 % where the mean of ratios says +45 %, driven by one query near 0."""
    before, after = [0.9, 0.8, 0.1], [0.9, 0.7, 0.24]
    found = judged.evaluate(None, Reranking.from_columns(["q1", "q2", "q3"], before, after))

    assert found["Improvement"] == pytest.approx(100 * (1.84 - 1.8) / 1.8)
    assert round(found["Improvement"], 1) == 2.2
    assert np.mean([100 * (a - b) / b for a, b in zip(after, before, strict=True)]) > 40


def test_a_baseline_of_0_is_undefined() -> None:
    """Not infinite; the report says why."""
    report = judged.evaluate_routing([{"query": "q1", "before": 0.0, "after": 0.5}], name="mmr")

    assert math.isnan(report["mmr"]["Improvement"])
    assert repr(report).startswith("Improvement on 1 query: mmr undefined\n")
    assert "the mean before reranking is 0: the improvement is undefined" in map(str, report.notes)


def test_the_interval_of_a_ratio_covers_it() -> None:
    """In about 95 of 100 samples of two means whose ratio is known: 0.2 / 0.5."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        base = rng.normal(0.5, 0.15, size=40)
        found = ratio_interval(0.4 * base + rng.normal(0, 0.1, size=40), base)
        hits += found.low <= 0.4 <= found.high  # type: ignore[union-attr]

    assert 0.92 <= hits / 400 <= 0.98


# The one machinery.

SEVERAL = [
    {"system": system, "query": f"q{at}", "chosen": "a" if at < many else "b", "optimal": "a"}
    for system, many in (("old/1", 10), ("new", 18))
    for at in range(20)
]


def test_routers_are_compared_and_gated() -> None:
    """By the statistics that runs are compared by; a slash in a name does no harm."""
    found = judged.evaluate_routing(SEVERAL, "Accuracy")
    comparison = judged.compare(list(found.evaluations()), baseline="old/1")

    assert comparison.contrast("new").difference == pytest.approx(0.4)
    assert judged.gate(found["new"], baseline=found["old/1"]).passed
    assert not judged.gate(found["old/1"], baseline=found["new"]).passed
    assert found["old/1"].scores.queries.to_pylist()[0] == "q0"


def test_every_kind_of_report_is_saved_and_loaded(tmp_path: Path) -> None:
    """With intervals, confusion matrices and notes."""
    for name, source in (
        ("routing", SEVERAL),
        ("skipping", skips([1, 0, 1], [0, 1, 1])),
        ("reranking", Reranking.from_columns(["q1", "q2"], [0.5, 0.25], [0.75, 0.5])),
    ):
        report = judged.evaluate_routing(source)
        report.save(tmp_path / f"{name}.json")
        again = load(tmp_path / f"{name}.json")

        assert report.subject == name
        assert repr(again) == repr(report)
        assert set(report.tables()) >= {"systems", "scores"}


def test_every_format_is_read(tmp_path: Path) -> None:
    """CSV, JSONL and Parquet hold the same choices; a list of experts may be one."""
    csv = tmp_path / "choices.csv"
    csv.write_text(CHOICES)
    rows = [{**row, "ranked": str(row["ranked"]).split("|")} for row in pyarrow.csv.read_csv(csv).to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "choices.parquet")
    expected = judged.evaluate_routing(csv, "Accuracy Accuracy@2 Regret", name="r")["r"].mean()

    for source in (tmp_path / "choices.parquet", rows):
        assert judged.evaluate_routing(source, "Accuracy Accuracy@2 Regret", name="r")["r"].mean() == expected


def test_scores_rank_the_experts() -> None:
    """Columns `score:NAME`, from the highest down."""
    found = read_decisions(b"query,chosen,optimal,score:a,score:b\nq1,b,a,0.2,0.7\n")
    assert isinstance(found, Choices)

    assert found.ranked == (("b", "a"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"query,answer\nq1,x\n", "neither `chosen`, nor `retrieved`, nor `before` and `after`"),
        (b"query,chosen,optimal\nq1,a,a\nq1,b,a\n", "query `q1` of .* has a row already"),
        (b"query,chosen,optimal,quality:a\nq1,b,a,0.5\n", "expert `b` was chosen and has no quality"),
        (b"query,chosen,quality:a\nq1,a,high\n", "quality of a is `high`, expected a finite number"),
        (b"query,retrieved,needed\nq1,perhaps,true\n", "retrieved is `perhaps`, expected true or false"),
        (b"query,retrieved\nq1,true\n", "neither whether retrieval was needed nor both qualities"),
        (b"query,before,after\nq1,0.5,\n", "after is missing, expected a number"),
        (b"chosen,optimal\na,b\n", "no query among them"),
    ],
)
def test_what_says_nothing_is_refused_in_words(text: bytes, message: str) -> None:
    """With the line, and what was expected."""
    with pytest.raises(Unusable, match=message):
        judged.evaluate_routing(text)


def test_tables_and_measures_of_other_kinds_are_refused() -> None:
    """Each family has its own."""
    with pytest.raises(WrongKind, match="expected choices of a router to add qualities to"):
        judged.evaluate_routing(
            skips([1], [0]), quality=judged.evaluate_many({"q": {"a": 1}}, {"x": {"q": {"a": 1.0}}}, "RR")
        )
    with pytest.raises(UnknownName, match="SkipEfficiency"):
        judged.evaluate(None, Choices.from_columns(["q"], ["a"], optimal=["a"]), "SkipEfficiency")
    with pytest.raises(WrongKind, match="expected choices"):
        judged.evaluate(None, skips([1], [0]), protocol=RoutingProtocol())
    with pytest.raises(JudgedError):
        judged.evaluate_routing(skips([1], [0]), "nDCG@10")


def test_no_measure_is_without_a_definition() -> None:
    """Those above, and the improvement, which is defined by hand."""
    found = {name for family in ("routing", "skipping", "reranking") for name in SCOPES[family]}

    assert found == {
        *("Accuracy", "Regret", "Quality", "Entropy", "Balance"),
        *("SkipEfficiency", "SkipPrecision", "SkipRecall", "WrongSkips", "QualityLost", "Improvement"),
    }
