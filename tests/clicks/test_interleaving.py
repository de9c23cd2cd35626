"""Interleaved lists: every draft by brute force, properties of all lists, and outcomes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.clicks.protocol import ClickProtocol
from judged.errors import BadMeasure, BadSample

METHODS = ["team-draft", "probabilistic"]
lists = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


def draw_drafts(
    first: Sequence[str], second: Sequence[str], k: int
) -> dict[tuple[tuple[str, int], ...], float]:
    """Every list that team draft can make, with its probability."""
    found: dict[tuple[tuple[str, int], ...], float] = {}

    def go(shown: tuple[tuple[str, int], ...], chance: float) -> None:
        there = {document for document, _ in shown}
        rest = [[d for d in run if d not in there] for run in (first, second)]
        if len(shown) == k or not any(rest):
            found[shown] = found.get(shown, 0.0) + chance
            return
        sizes = [sum(team == own for _, own in shown) for team in (0, 1)]
        turns = [0, 1] if sizes[0] == sizes[1] else [int(sizes[1] < sizes[0])]
        for turn in turns:
            team = turn if rest[turn] else 1 - turn
            go((*shown, (rest[team][0], team)), chance / len(turns))

    go((), 1.0)
    return found


def draw_samples(
    first: Sequence[str], second: Sequence[str], k: int
) -> dict[tuple[tuple[str, int], ...], float]:
    """Every list that probabilistic interleaving can make, with its probability."""
    found: dict[tuple[tuple[str, int], ...], float] = {}

    def go(shown: tuple[tuple[str, int], ...], chance: float) -> None:
        there = {document for document, _ in shown}
        rest = [
            {d: (at + 1) ** -3.0 for at, d in enumerate(run) if d not in there} for run in (first, second)
        ]
        if len(shown) == k or not any(rest):
            found[shown] = found.get(shown, 0.0) + chance
            return
        for turn in (0, 1):
            team = turn if rest[turn] else 1 - turn
            for document, weight in rest[team].items():
                go((*shown, (document, team)), chance / 2 * weight / sum(rest[team].values()))

    go((), 1.0)
    return found


@pytest.mark.parametrize(("method", "draw"), list(zip(METHODS, (draw_drafts, draw_samples), strict=True)))
@pytest.mark.parametrize(("first", "second"), [("abc", "bca"), ("abcd", "abef"), ("a", "bc"), ("abc", "abc")])
def test_lists_have_the_frequencies_of_all_draws(method: str, draw: object, first: str, second: str) -> None:
    """Of 2,000 lists, by brute force."""
    expected = draw(first, second, 3)  # type: ignore[operator]
    made = judged.interleave(
        {"q": list(first)}, {"q": list(second)}, method, k=3, lists=2000, names=["one", "two"]
    )  # type: ignore[arg-type]
    by_list: dict[str, list[tuple[str, int]]] = {}
    for entry in made.entries:
        by_list.setdefault(entry.list, []).append((entry.document, ["one", "two"].index(entry.team)))
    counts = Counter(tuple(own) for own in by_list.values())

    assert set(counts) <= set(expected)
    assert sum(expected.values()) == pytest.approx(1)
    for shown, chance in expected.items():
        assert counts[shown] / 2000 == pytest.approx(
            chance, abs=5 * (chance * (1 - chance) / 2000) ** 0.5 + 1e-3
        )


@settings(deadline=None, max_examples=60)
@given(
    first=lists, second=lists, k=st.integers(1, 8), method=st.sampled_from(METHODS), seed=st.integers(0, 5)
)
def test_every_list_is_sound(first: list[str], second: list[str], k: int, method: str, seed: int) -> None:
    """No document twice, as long as there are documents, each from the run of its team; teams of a draft are even."""
    made = judged.interleave({"q": first}, {"q": second}, method, k=k, seed=seed, names=["one", "two"])  # type: ignore[arg-type]
    documents = [entry.document for entry in made.entries]

    assert len(set(documents)) == len(documents) == min(k, len({*first, *second}))
    assert all(entry.document in (first if entry.team == "one" else second) for entry in made.entries)
    common = list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    assert all(entry.document in dict(common) for entry in made.entries if entry.common)
    if method == "team-draft" and len(first) == len(second) and not common and k <= len(first):
        sizes = Counter(entry.team for entry in made.entries)
        assert abs(sizes["one"] - sizes["two"]) <= 1


def test_a_query_has_its_lists_whatever_others_there_are() -> None:
    """By the seed and the query alone."""
    runs = [{f"q{number}": list(order) for number in range(5)} for order in ("abcd", "dcba")]
    alone = judged.interleave(*({"q3": run["q3"]} for run in runs), names=["one", "two"])
    together = judged.interleave(*runs, names=["one", "two"])

    assert alone.entries == tuple(entry for entry in together.entries if entry.query == "q3")
    assert (
        alone.entries
        != judged.interleave(*({"q3": run["q3"]} for run in runs), seed=1, names=["one", "two"]).entries
    )


def make_log(made: judged.Result, rate: dict[str, float], seed: int = 0) -> list[dict[str, object]]:
    """Clicks on lists, each shown to one of forty users."""
    rng = np.random.default_rng(seed)
    shown = dict.fromkeys((row["query"], row["list"]) for row in made.rows())
    return [
        {
            "impression": number,
            "user": number % 40,
            "time": 86_400.0 * (number % 3),
            **{name: row[name] for name in ("query", "list", "document", "rank")},
            "click": int(rng.random() < rate[row["document"]]),
        }
        for number, key in enumerate(shown)
        for row in made.rows()
        if (row["query"], row["list"]) == key
    ]


def test_the_better_run_wins() -> None:
    """Its documents are clicked more, and the credit is by day as well."""
    made = judged.interleave({"q": list("abc")}, {"q": list("xyz")}, k=4, lists=150, names=["old", "new"])
    log = judged.read_clicks(
        make_log(made, {**dict.fromkeys("abc", 0.2), **dict.fromkeys("xyz", 0.5)}), lists=made
    )
    report = judged.evaluate_clicks(log)
    whole, *days = report.preferences

    assert (whole.first, whole.second) == ("new", "old")
    assert whole.credit > 0.2
    assert "people choose new over old" in repr(report)
    assert [row.day for row in days] == ["1970-01-01", "1970-01-02", "1970-01-03"]
    assert sum(row.impressions for row in days) == whole.impressions == 150
    assert judged.evaluate(None, log, "Interleaving")["Interleaving"] == pytest.approx(whole.credit)
    assert whole.draws == 40


def test_equal_runs_draw() -> None:
    """Clicks at random favour neither team: the interval has 0 in nearly all of 40 logs."""
    missed = 0
    for seed in range(40):
        made = judged.interleave(
            {"q": list("abcd")}, {"q": list("abcd")}, k=4, lists=60, seed=seed, names=["a", "b"]
        )
        report = judged.evaluate_clicks(
            judged.read_clicks(make_log(made, dict.fromkeys("abcd", 0.4), seed), lists=made), "Interleaving"
        )
        low, high = report.preferences[0].low, report.preferences[0].high
        missed += low is not None and high is not None and not low <= 0 <= high

    assert missed <= 7


def test_the_common_beginning() -> None:
    """Its clicks count for the team that placed them, unless they are ignored."""
    made = judged.interleave({"q": ["a", "b", "c"]}, {"q": ["a", "c", "b"]}, k=3, names=["one", "two"])
    team = next(entry.team for entry in made.entries if entry.document == "a")
    log = judged.read_clicks(
        [
            {
                "impression": 1,
                "query": "q",
                "document": e.document,
                "rank": e.rank,
                "click": int(e.document == "a"),
            }
            for e in made.entries
        ],
        lists=made,
    )
    counted, ignored = (
        judged.evaluate(None, log, "Interleaving", protocol=ClickProtocol(prefix=prefix))["Interleaving"]  # type: ignore[arg-type]
        for prefix in ("counted", "ignored")
    )

    assert counted == (1 if team == "one" else -1)
    assert ignored == 0


def test_what_is_wrong_is_named() -> None:
    """Queries of one run, teams of one name, more than two teams, and no prefix to ignore."""
    with pytest.raises(BadSample, match="no query in common"):
        judged.interleave({"q": ["a"]}, {"r": ["a"]})
    with pytest.raises(BadSample, match="both teams are called `x`"):
        judged.interleave({"q": ["a"]}, {"q": ["b"]}, names=["x", "x"])
    assert judged.interleave({"q": ["a"], "r": ["b"]}, {"q": ["b"]}).notes[0].code == "one-run"
    rows = [
        {"impression": 1, "query": "q", "document": team, "rank": rank, "click": 0, "team": team}
        for rank, team in enumerate("abc", start=1)
    ]
    with pytest.raises(BadSample, match="3 teams `a`, `b` and `c`, expected two"):
        judged.evaluate(None, judged.read_clicks(rows), "Interleaving")
    with pytest.raises(BadMeasure, match="cannot be ignored"):
        judged.evaluate(
            None, judged.read_clicks(rows[:2]), "Interleaving", protocol=ClickProtocol(prefix="ignored")
        )
