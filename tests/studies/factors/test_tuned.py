"""Tuned settings: chosen on other queries than those that they are scored on, and never worse in training."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judged.errors import BadProtocol, UnknownName
from judged.studies.factors.settings import MOST_TRIALS, RangeSpec, TuneSettings
from judged.studies.fusion.tuning import split_queries
from judged.studies.running.run import open_study, run_study
from judged.studies.specification import read_study
from support.studies import QUERIES, own

pytest.importorskip("bm25s")
OWN = {"name": "own", "encoder": own(), "search": "exact"}
WORDS = {"name": "words", "search": "bm25"}
PLACES = {"search.k1": [0.1, 3.0], "search.b": [0.0, 0.5, 1.0]}


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path) -> None:
    """Every test has a folder of its own."""


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the small collection, by a measure that tells its systems apart."""
    return {
        "collection": "pets",
        "systems": list(systems),
        "measures": ["nDCG@2", "RR"],
        "depth": 3,
        **settings,
    }


def evaluate_grid() -> dict[tuple[float, ...], np.ndarray[Any, Any]]:
    """Return the values of every query under every setting, each run as a system of its own; `()` as it is written."""
    systems = [WORDS] + [
        {"name": f"words {k1} {b}", "search": {"type": "bm25", "k1": k1, "b": b}}
        for k1, b in product(*PLACES.values())
    ]
    found = run_study(study(*systems))
    points: list[tuple[float, ...]] = [(), *product(*PLACES.values())]
    return {
        point: np.array([found[system["name"]].scores.by_query("nDCG@2")[query] for query in QUERIES])
        for point, system in zip(points, systems, strict=True)
    }


def test_folds_are_those_of_a_search_by_hand() -> None:
    """Of each fold the settings with the best mean on the others, the first of equals; values on the fold itself."""
    values = evaluate_grid()
    found = run_study(study({**WORDS, "tune": {"settings": PLACES, "folds": 3}}))
    tuning = found.settings["words"]
    expected: dict[str, float] = {}
    for rows, held in split_queries(list(QUERIES), None, 3, 0):
        best = max(values, key=lambda point: float(values[point][rows].mean()))
        expected |= {list(QUERIES)[row]: float(values[best][row]) for row in held.tolist()}

    assert dict(zip(tuning.queries, tuning.tuned.tolist(), strict=True)) == pytest.approx(expected)
    assert found["words"].scores.by_query("nDCG@2") == pytest.approx(expected)
    written = dict(zip(QUERIES, values[()].tolist(), strict=True))
    assert dict(zip(tuning.queries, tuning.written.tolist(), strict=True)) == pytest.approx(written)
    assert tuning.trials == 7


def test_training_queries_choose_for_all_others() -> None:
    """One choice, on the training queries alone; they are not scored."""
    values = evaluate_grid()
    train = ["q1", "q3", "q5"]
    found = run_study(study({**WORDS, "tune": {"settings": PLACES}}, train=train))
    tuning = found.settings["words"]
    rows = [list(QUERIES).index(query) for query in train]
    best = max(values, key=lambda point: float(values[point][rows].mean()))

    assert tuple(tuning.settings.values()) == best
    assert tuning.training == pytest.approx(values[best][rows].mean())
    assert set(tuning.queries) == set(QUERIES) - set(train)
    assert tuning.gain.value == pytest.approx(float((values[best] - values[()])[[1, 3, 5]].mean()))


@pytest.mark.parametrize("search", ["random", "swarm"])
def test_settings_of_parts_weights_and_rerankers_are_tuned_together(search: str) -> None:
    """A particle swarm over weights, k1, b and the diversity of a reranker; never worse in training than as written."""
    hybrid = {
        "name": "hybrid",
        "encoder": own(),
        "fuse": {
            "of": ["words", "own"],
            "method": "wsum",
            "normalisation": "min-max",
            "weights": {"words": 1, "own": 1},
        },
        "rerank": {"type": "mmr", "diversity": 0.9},
        "tune": {
            "search": search,
            "settings": {
                "words.search.k1": {"from": 0.1, "to": 3.0},
                "words.search.b": {"from": 0.0, "to": 1.0},
                "fuse.weights.own": {"from": 0.0, "to": 2.0},
                "rerank.diversity": {"from": 0.0, "to": 0.9},
            },
            "trials": 6,
            "particles": 3,
            "iterations": 2,
            "folds": 2,
        },
    }
    found = run_study(study(WORDS, OWN, hybrid))
    tuning = found.settings["hybrid"]

    assert not found.failures
    assert set(tuning.settings) <= set(hybrid["tune"]["settings"])  # type: ignore[index]
    assert tuning.training >= float(tuning.written.mean()) - 0.5


def test_what_settings_leave_as_it_is_is_asked_once(desk: Path) -> None:
    """Each query reaches the encoder once, however many settings of the fusion are tried."""
    fuse = {"of": ["words", "own"], "method": "rrf"}
    hybrid = {
        "name": "hybrid",
        "fuse": fuse,
        "tune": {"settings": {"fuse.parameters.k": {"from": 1, "to": 100, "whole": True}}, "steps": 8},
    }
    run_study(study(WORDS, OWN, hybrid, warmup=0))
    calls = (desk / "calls").read_text().splitlines()

    # documents, the text that finds out the dimensions, and each query: in the trials, and when it is answered
    assert calls.count("encode") <= 8 + 1 + 3 * len(QUERIES)


def test_a_finished_study_is_not_tuned_again(desk: Path) -> None:
    """What was chosen is kept with the answers, and shown again."""
    tuned = study({**WORDS, "tune": {"settings": PLACES, "folds": 2}})
    first = run_study(tuned, output=desk / "out")
    (kept,) = (desk / "out" / "answers").glob("*.tuning.json")
    before = kept.stat().st_mtime_ns
    second = run_study(tuned, output=desk / "out")

    assert kept.stat().st_mtime_ns == before
    assert second.settings["words"].tuned.tolist() == first.settings["words"].tuned.tolist()
    assert "gain" in str(second)
    changed = study({**WORDS, "tune": {"settings": PLACES, "folds": 3}})
    assert open_study(changed, desk / "out").done == 0


@pytest.mark.parametrize(
    ("tune", "message"),
    [
        ({"settings": {}}, "`settings` is empty"),
        ({"settings": {"search.k1": []}}, "`settings.search.k1` is empty"),
        ({"settings": {"search.k1": {"from": 2, "to": 1}}}, "goes from 2 to 1"),
        ({"settings": {"search.k1": {"from": 0, "to": 1, "scale": "log"}}}, "on a log scale"),
        ({"settings": {"search.k1": [-1.0]}}, "expected `float` >= 0.0"),
        ({"settings": {"rerank.diversity": [0.1]}}, "the system has no `rerank`"),
        (
            {"settings": {"search.k1": {"from": 0, "to": 1}, "search.b": {"from": 0, "to": 1}}, "steps": 80},
            "the grid has 6,400",
        ),
    ],
)
def test_faults_are_said_before_anything_runs(tune: dict[str, Any], message: str) -> None:
    """With the place in the study."""
    with pytest.raises(BadProtocol, match=message):
        read_study(study({**WORDS, "tune": tune}))


def test_an_unknown_setting_is_named() -> None:
    """Of the system, or of one that is no part of it."""
    for place in ("search.k2", "own.search.k1", "k1"):
        with pytest.raises((UnknownName, BadProtocol), match=r"k1|k2"):
            read_study(study(OWN, {**WORDS, "tune": {"settings": {place: [1.0]}}}))


def test_points_lie_within_their_range() -> None:
    """Ends included, whole numbers where they are asked for, evenly on a log scale."""
    assert [RangeSpec(low=1, high=100, scale="log").at(share) for share in (0, 0.5, 1)] == [1, 10, 100]
    assert RangeSpec(low=0, high=10, whole=True).at(0.26) == 3
    assert MOST_TRIALS == 5_000
    spec = TuneSettings(
        settings={"a": (1, 2, 3), "b": RangeSpec(low=0.0, high=1.0)}, search="random", trials=30
    )
    tried: list[tuple[Any, ...]] = []
    spec.find(lambda values: tried.append(values) or 0.0, seed=1)  # type: ignore[func-returns-value]

    assert tried[0] == ()
    assert len(set(tried)) == 31
    assert {values[0] for values in tried[1:]} == {1, 2, 3}


def test_rewritten_queries_are_each_asked_in_trials(desk: Path) -> None:
    """A part that trials leave as it is remembers a query by its words: the written settings score as without tuning."""
    (desk / "saying.py").write_text("def two(text):\n    return [text + ' cats', 'bread in the morning']\n")
    hybrid = {
        "name": "hybrid",
        "fuse": {"of": ["words", "own"], "method": "wsum", "weights": {"words": 1, "own": 1}},
        "rewrite": {"type": "function", "function": "saying:two"},
    }
    hybrid["fuse"] |= {"normalisation": "min-max"}
    tune = {"settings": {"fuse.weights.own": [0.5, 2.0]}, "folds": 3}
    found = run_study(study(WORDS, OWN, hybrid, {**hybrid, "name": "tuned", "tune": tune}))
    plain = found["hybrid"].scores.by_query("nDCG@2")
    tuning = found.settings["tuned"]
    held = [query for fold in tuning.folds for query in fold.queries]

    assert not found.failures
    assert tuning.written.tolist() == pytest.approx([plain[query] for query in held])
