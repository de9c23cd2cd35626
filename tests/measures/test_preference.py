"""Measures of preferences: worked examples, laws, and a second way to count."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.errors import BadInput, BadMeasure, WrongKind
from judged.kernels.examples import make_preferences
from judged.kernels.preferences import PreferenceView
from judged.measures.cards import Card, make_card
from judged.measures.groups import MEASURES, PREFERENCE_MEASURES
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure, parse_measures

EVERY = pytest.mark.parametrize("name", list(PREFERENCE_MEASURES))
SHARES = [name for name in PREFERENCE_MEASURES if "num_prefs" not in name]
QUICK = settings(max_examples=40, deadline=None)
NAMES = "abcdefg"

levels = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1, max_size=6)
people = st.dictionaries(st.sampled_from(["ann", "bob", "eve"]), levels, min_size=1, max_size=3)
rankings = st.lists(st.sampled_from(NAMES + "xyz"), unique=True, max_size=9)


def usable(name: str) -> Measure:
    """The measure, with a cutoff where it needs one."""
    return PREFERENCE_MEASURES[name] @ 3 if name == "P_avgjg" else PREFERENCE_MEASURES[name]


def value(name: str, view: PreferenceView) -> float:
    """What a measure makes of the only query."""
    (only,) = usable(name).per_query(view).tolist()
    return float(only)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({"u": {"1": 3, "2": 2, "3": 0, "4": 6, "5": 0, "6": 2}}, 13),
        ({"u": [{"1": 3, "2": 2, "3": 1}, {"1": 2, "2": 1, "4": 3}]}, 6),
        ({"u": {"1": 3, "2": 2}, "v": [{"1": 0, "3": 6, "4": 2}, {"1": 0, "2": 8}]}, 5),
        ({"u": [{"1": 3, "2": 2, "3": 1}, {"2": 5, "4": 4}]}, 5),
    ],
)
def test_counts_the_preferences_of_the_examples_of_trec_eval(
    levels: dict[str, object], expected: int
) -> None:
    """The worked examples of `trec_eval -h -R prefs`; of the second it says 5, forgetting that 4 > 1 > 3.

    trec_eval 9.0.4 and 10.0-rc3 themselves print 6 for it (`-R prefs -m prefs_num_prefs_poss`).
    """
    assert value("prefs_num_prefs_poss", make_preferences(([], levels))) == expected  # type: ignore[arg-type]


def test_what_follows_from_two_parts_is_counted_once() -> None:
    """A > b and b > c, in two sub-groups, make a > c; a longer chain makes all of its pairs."""
    assert (
        value("prefs_num_prefs_poss", make_preferences((["a"], {"u": [{"a": 1, "b": 0}, {"b": 5, "c": 4}]})))
        == 3
    )
    chain = [{"a": 2, "b": 1}, {"b": 2, "c": 1}, {"c": 2, "d": 1}, {"d": 2, "e": 1}]
    assert value("prefs_num_prefs_poss", make_preferences((["a"], {"u": chain}))) == 10


def slow(least: int, ranked: list[str], levels: dict[str, dict[str, int]]) -> dict[str, float]:
    """Preferences counted one by one, as the formulas on the cards say."""
    place = {document: at for at, document in enumerate(ranked)}
    far = len(ranked) + 1
    groups: list[tuple[int, int]] = []
    pairs: dict[frozenset[str], list[bool]] = {}
    for person in sorted(levels):
        obeyed = counted = 0
        for a, b in permutations(levels[person], 2):
            if levels[person][a] <= levels[person][b] or (a in place) + (b in place) < least:
                continue
            good = place.get(a, far) < place.get(b, far)
            obeyed, counted = obeyed + good, counted + 1
            pairs.setdefault(frozenset((a, b)), []).append(good)
        groups.append((obeyed, counted))
    total = sum(counted for _, counted in groups)
    return {
        "simp": sum(obeyed for obeyed, _ in groups) / total if total else 0.0,
        "avgjg": sum(obeyed / counted for obeyed, counted in groups if counted) / len(groups),
        "pair": sum(sum(kept) / len(kept) for kept in pairs.values()) / len(pairs) if pairs else 0.0,
    }


@pytest.mark.parametrize(("least", "suffix"), [(0, ""), (1, "_imp"), (2, "_ret")])
@QUICK
@given(ranked=rankings, levels=people)
def test_agrees_with_counting_one_by_one(
    least: int, suffix: str, ranked: list[str], levels: dict[str, dict[str, int]]
) -> None:
    """Each way to average, over all preferences, those spoken of, and those between retrieved documents."""
    view = make_preferences((ranked, levels))

    for way, expected in slow(least, ranked, levels).items():
        assert value(f"prefs_{way}{suffix}", view) == pytest.approx(expected, abs=1e-12)


@QUICK
@given(levels=people, ranked=rankings)
def test_a_whole_group_cut_into_pairs_says_the_same(
    ranked: list[str], levels: dict[str, dict[str, int]]
) -> None:
    """Sub-groups of two documents each, closed under what follows, count like the group they came from."""
    cut = {
        person: [
            {a: 2, b: 1} if worth[a] > worth[b] else {b: 2, a: 1}
            for a, b in combinations(worth, 2)
            if worth[a] != worth[b]
        ]
        for person, worth in levels.items()
    }
    if any(len(parts) < 2 for parts in cut.values()):
        return
    whole, parted = make_preferences((ranked, levels)), make_preferences((ranked, cut))

    for name in (
        "prefs_num_prefs_poss",
        "prefs_num_prefs_ful",
        "prefs_simp",
        "prefs_avgjg_ret",
        "prefs_pair_imp",
    ):
        assert value(name, parted) == pytest.approx(value(name, whole), abs=1e-12)


@EVERY
@QUICK
@given(levels=people, ranked=rankings)
def test_stays_within_its_bounds_and_is_whole_if_a_count(
    name: str, ranked: list[str], levels: dict[str, dict[str, int]]
) -> None:
    """No value falls outside the bounds that the measure declares."""
    low, high = PREFERENCE_MEASURES[name].bounds
    score = value(name, make_preferences((ranked, levels)))

    assert low <= score <= high + 1e-12
    assert Law.WHOLE not in PREFERENCE_MEASURES[name].laws or score == int(score)


@EVERY
@QUICK
@given(data=st.lists(st.tuples(rankings, people), min_size=2, max_size=4))
def test_does_not_depend_on_what_is_computed_with_it(
    name: str, data: list[tuple[list[str], dict[str, dict[str, int]]]]
) -> None:
    """A query scores the same alone and among others, to the last bit."""
    together = usable(name).per_query(make_preferences(*data)).tolist()

    assert together == [value(name, make_preferences(query)) for query in data]


@pytest.mark.parametrize("name", [name for name in PREFERENCE_MEASURES if name.startswith("prefs_")])
@QUICK
@given(levels=people, ranked=rankings)
def test_documents_nobody_speaks_of_do_not_matter(
    name: str, ranked: list[str], levels: dict[str, dict[str, int]]
) -> None:
    """Results that no group judged change nothing, wherever they stand."""
    padded = [padding for document in ranked for padding in (f"{document}-else", document)]

    assert value(name, make_preferences((padded, levels))) == value(name, make_preferences((ranked, levels)))


@pytest.mark.parametrize("name", [n for n in SHARES if n.startswith("prefs_") and "Rnonrel" not in n])
@QUICK
@given(worth=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=2, max_size=6))
def test_is_one_where_all_is_obeyed_and_zero_where_nothing_is(name: str, worth: dict[str, int]) -> None:
    """The best order earns 1 and its reverse 0, if there is anything to obey."""
    if len(set(worth.values())) < 2:
        return
    best = sorted(worth, key=lambda document: -worth[document])

    assert value(name, make_preferences((best, {"u": worth}))) == pytest.approx(1.0)
    assert value(name, make_preferences((best[::-1], {"u": worth}))) == 0.0


@pytest.mark.parametrize(
    ("name", "ranked_measure"), [("map_avgjg", "AP"), ("P_avgjg", "P"), ("Rprec_mult_avgjg", "Rprec")]
)
@QUICK
@given(levels=people, ranked=rankings.filter(bool))
def test_judges_are_averaged(
    name: str, ranked_measure: str, ranked: list[str], levels: dict[str, dict[str, int]]
) -> None:
    """The mean, over judges, of the plain measure by each one's grades alone."""
    run = {"q": {document: float(-at) for at, document in enumerate(ranked)}}
    plain = MEASURES[ranked_measure] @ 3 if ranked_measure == "P" else MEASURES[ranked_measure]
    alone = [judged.evaluate({"q": levels[person]}, run, plain)[plain] for person in levels]

    assert value(name, make_preferences((ranked, levels))) == pytest.approx(np.mean(alone), abs=1e-12)


def test_takes_no_queries_at_all() -> None:
    """Of no queries there are no values."""
    assert all(len(usable(name).per_query(make_preferences())) == 0 for name in PREFERENCE_MEASURES)


@EVERY
def test_no_part_of_a_card_is_missing(name: str) -> None:
    """Meaning, formula, symbols, conventions, agreement, example and references are all there."""
    it = make_card(name)
    optional = {"parameters", "spellings", "bounds"}

    assert [
        field.name for field in fields(Card) if field.name not in optional and not getattr(it, field.name)
    ] == []
    assert it.group == "preference"
    assert it.symbols.startswith("where")
    assert {parameter.name for parameter in it.parameters} == set(PREFERENCE_MEASURES[name].defaults)


def test_names_are_read_like_any_other() -> None:
    """Any case, cutoffs, trec_eval's sets; none is a measure of judgments too."""
    assert parse_measure("PREFS_simp") == PREFERENCE_MEASURES["prefs_simp"]
    assert [str(measure) for measure in parse_measures("P_avgjg_5,10 Rprec_mult_avgjg_0.5")] == [
        "P_avgjg@5",
        "P_avgjg@10",
        "Rprec_mult_avgjg@0.5",
    ]
    assert [measure.name for measure in parse_measures("all_prefs")] == list(PREFERENCE_MEASURES)[:14]
    assert not set(PREFERENCE_MEASURES) & set(MEASURES)


PREFERENCES = {"q1": {"ann": {"a": 2, "b": 1}, "bob": {"b": 2, "a": 1}}, "q2": {"ann": {"a": 1, "c": 0}}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 2.0, "x": 1.0}, "q3": {"a": 1.0}}


def test_evaluate_takes_preferences() -> None:
    """As a dict, a table, or a data frame; notes are kept."""
    table = judged.read_preferences(PREFERENCES)
    evaluation = judged.evaluate(PREFERENCES, RUN, "prefs_simp prefs_avgjg map_avgjg")

    assert evaluation.per_query().by_query("prefs_simp") == {"q1": 0.5, "q2": 0.0}
    assert evaluation["prefs_avgjg"] == 0.25
    assert evaluation["map_avgjg"] == pytest.approx((1.0 + 0.0) / 2)
    assert evaluation.counts.unjudged_queries == ("q3",)
    for source in (table, table.to_arrow()):
        assert judged.evaluate(source, RUN, "prefs_simp").mean() == {"prefs_simp": 0.25}


@pytest.mark.parametrize(("missing", "expected"), [("zero", 0.5 / 2), ("skip", 0.5)])
def test_missing_queries_follow_the_protocol(missing: str, expected: float) -> None:
    """A query without results scores 0 or is left out; what does not look at the run keeps its value."""
    protocol = judged.Protocol(missing=missing)  # type: ignore[arg-type]
    run = {"q1": RUN["q1"]}
    evaluation = judged.evaluate(PREFERENCES, run, "prefs_simp prefs_num_prefs_poss", protocol=protocol)

    assert evaluation["prefs_simp"] == expected
    assert evaluation["prefs_num_prefs_poss"] == (3 if missing == "zero" else 2)
    assert evaluation.counts.missing == ("q2",)


def test_ties_follow_the_protocol_and_are_noted() -> None:
    """By id descending as the profile says, ascending as trec_eval has it for preferences."""
    tied = {"q1": {"a": 1.0, "b": 1.0}, "q2": RUN["q2"]}
    only = {"q1": {"ann": {"a": 2, "b": 1}}}
    ascending = judged.Protocol(ties="document-ascending")
    by_default = judged.evaluate(only, tied, "prefs_simp")

    assert by_default["prefs_simp"] == 0.0
    assert any("document-ascending" in note.message for note in by_default.notes)
    assert judged.evaluate(only, tied, "prefs_simp", protocol=ascending)["prefs_simp"] == 1.0


def test_levels_are_compared_at_the_width_of_scores() -> None:
    """trec_eval 9 reads levels as 32-bit floats, 10 as 64-bit ones."""
    near = {"q": {"u": {"a": 1.0, "b": 1.0 + 1e-12}}}
    run = {"q": {"a": 1.0}}

    assert judged.evaluate(near, run, "prefs_num_prefs_poss")["prefs_num_prefs_poss"] == 0
    assert judged.evaluate(near, run, "prefs_num_prefs_poss", protocol="trec_eval-10").mean() == {
        "prefs_num_prefs_poss": 1.0
    }


def test_what_does_not_fit_is_refused_in_words() -> None:
    """Judgments for preferences, preferences for judgments, both at once, sub-groups as grades."""
    with pytest.raises(WrongKind, match="expected preferences"):
        judged.evaluate(judged.read_judgments({"q": {"a": 1}}), RUN, "prefs_simp")
    with pytest.raises(BadMeasure, match="`prefs_simp` is a measure of preferences and `AP` of judgments"):
        judged.evaluate(PREFERENCES, RUN, "prefs_simp AP")
    parted = judged.read_preferences(b"q u s1 a 1\nq u s2 a 2\nq u s2 b 1\n")
    with pytest.raises(BadInput, match="`map_avgjg`: takes levels as grades"):
        judged.evaluate(parted, {"q": {"a": 1.0}}, "map_avgjg prefs_simp")
