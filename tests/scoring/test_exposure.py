"""Exposure: published examples, a plain implementation on short lists, properties, and wrong input."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import jensenshannon

import judged
from judged.errors import BadInput, BadMeasure, JudgedError, MissingQueries

DOCUMENTS = "abcdef"
GROUPS = {"a": "A", "b": "A", "c": "B", "d": "B"}
RUN = {"q": ["a", "b", "c", "d"]}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("AWRF", 0.9862),
        ("trec_AWRF", 0.9901),
        ('AWRF(discount="trec", base="e")', 0.9901),
        ('AWRF(discount="trec")', 0.9858),
        ("AWRF(discount=0.5)", 0.9269),
        ('AWRF(discount="trec", squared=False)', 0.8808),
    ],
)
def test_the_published_example_of_groups(measure: str, expected: float) -> None:
    """Four results A A B B against halves: the second is TREC's own code."""
    assert judged.evaluate(judged.read_groups(GROUPS), RUN, measure)[measure] == pytest.approx(
        expected, abs=5e-5
    )


def test_the_published_example_of_expected_exposure() -> None:
    """Two relevant documents below another, patience ½: worked by hand."""
    run = {"q": ["d3", "d1", "d2"]}
    result = judged.evaluate({"q": {"d1": 1, "d2": 1, "d3": 0}}, run, "EEL EED EER trec_EER")
    assert result.mean() == {"EEL": 0.875, "EED": 1.3125, "EER": 1.625, "trec_EER": 0.8125}


LISTS = st.lists(
    st.permutations(DOCUMENTS).flatmap(lambda p: st.integers(1, 6).map(lambda n: p[:n])),
    min_size=1,
    max_size=3,
)
SHARES = st.dictionaries(
    st.sampled_from(DOCUMENTS),
    st.sampled_from([{"A": 1.0}, {"B": 1.0}, {"C": 1.0}, {"A": 0.5, "B": 0.5}, {"A": 0.25, "C": 0.75}]),
    min_size=1,
)
GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1)


def to_run(rankings: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Return several rankings of the query q as a run."""
    return {f"q.{number}": list(ranking) for number, ranking in enumerate(rankings, 1)}


def awrf(
    rankings: Any, groups: Mapping[str, Mapping[str, float]], discount: str, base: float, *, unknown: bool
) -> float:
    """Return AWRF document by document, with the distance of SciPy."""
    names = sorted({name for shares in groups.values() for name in shares})
    exposure = dict.fromkeys([*names, None], 0.0)
    for ranking in rankings:
        for place, document in enumerate(ranking):
            weight = {
                "log2": 1 / math.log2(place + 2),
                "trec": 1 / math.log2(max(place + 1, 2)),
                "0.5": 0.5**place,
            }[discount]
            for name, share in groups.get(document, {None: 1.0}).items():
                exposure[name] += weight * share
    if not unknown:
        del exposure[None]
    if not sum(exposure.values()):
        return 0.0
    found = list(exposure.values())
    return float(1 - jensenshannon(found, [1] * len(found), base=base) ** 2)


@settings(max_examples=60, deadline=None)
@given(LISTS, SHARES, st.sampled_from(["log2", "trec", "0.5"]), st.sampled_from([2, 10]), st.booleans())
def test_groups_agree_with_a_plain_implementation(
    rankings: Any, groups: Any, discount: str, base: int, unknown: bool
) -> None:
    """Up to three rankings of up to six documents."""
    written = discount if discount == "0.5" else f'"{discount}"'
    ending = ', unknown="group"' if unknown else ""
    measure = f"AWRF(discount={written}, base={base}{ending})"
    table = judged.read_groups(groups, judgments={"q": {"a": 1}})
    value = judged.evaluate(table, to_run(rankings), [measure]).mean()
    assert list(value.values()) == [
        pytest.approx(awrf(rankings, groups, discount, base, unknown=unknown), abs=1e-9)
    ]


@settings(max_examples=60, deadline=None)
@given(LISTS, GRADES, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_documents_agree_with_a_plain_implementation(rankings: Any, grades: Any, patience: float) -> None:
    """The target is the mean over every order of documents by grade, which ones of equal grade share."""
    names = sorted({*grades, *(name for ranking in rankings for name in ranking)})
    best = sorted((grades.get(name, 0) for name in names), reverse=True)
    target = {}
    for name in names:
        places = [place for place, grade in enumerate(best) if grade == grades.get(name, 0)]
        target[name] = sum(patience**place for place in places) / len(places)
    seen = dict.fromkeys(names, 0.0)
    for ranking in rankings:
        for place, name in enumerate(ranking):
            seen[name] += patience**place / len(rankings)
    measures = [f"{name}(patience={patience})" for name in ("EEL", "EED", "EER")]
    values = list(judged.evaluate({"q": grades}, to_run(rankings), measures).mean().values())
    assert values[0] == pytest.approx(sum((seen[n] - target[n]) ** 2 for n in names), abs=1e-9)
    assert values[1] == pytest.approx(sum(seen[n] ** 2 for n in names))
    assert values[2] == pytest.approx(2 * sum(seen[n] * target[n] for n in names))
    assert values[0] == pytest.approx(
        values[1] - values[2] + sum(share**2 for share in target.values()), abs=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(LISTS, SHARES, st.permutations("ABC"), st.sampled_from(["equal", "corpus"]))
def test_names_of_groups_do_not_matter(rankings: Any, groups: Any, names: Any, target: str) -> None:
    """Other names, in another order, give the same value."""
    renamed = {
        document: {names["ABC".index(name)]: share for name, share in shares.items()}
        for document, shares in groups.items()
    }
    values = [
        judged.evaluate(judged.read_groups(given, target=target), to_run(rankings), "AWRF").mean()["AWRF"]
        for given in (groups, dict(reversed(renamed.items())))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    assert 0 <= values[0] <= 1


def test_targets() -> None:
    """What is shown as the target asks is perfectly fair; `corpus` counts the documents of the file."""
    groups = {"a": "A", "b": "B", "c": "B", "d": "B"}
    only = {"q": ["a"]}
    wanted = judged.read_groups(groups, target={"A": 1.0, "B": 0.0})
    assert judged.evaluate(wanted, only, "AWRF")["AWRF"] == 1
    assert judged.read_groups(groups, target="corpus").target.tolist() == [0.25, 0.75]
    with_unknown = judged.read_groups({**groups, "e": ""}, target="corpus")
    assert with_unknown.target.tolist() == [0.25, 0.75]
    assert with_unknown.target_with_unknown.tolist() == [0.2, pytest.approx(0.6), 0.2]


def test_units_are_judged_queries() -> None:
    """A query without results scores 0, in `EEL` the loss of showing nothing; others than those judged are left out."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": ["a"], "other": ["a"]}
    table = judged.read_groups(GROUPS, judgments=qrels)
    result = judged.evaluate(table, run, "AWRF EEL EED EER")
    assert result.per_query().by_query("EEL") == {"q1": 0.0, "q2": 1.0}
    assert result.per_query().by_query("AWRF")["q2"] == 0
    notes = " ".join(note.message for note in result.notes)
    assert "1 query (q2) judged but missing from the run" in notes
    assert "1 query (other) in the run but never judged" in notes
    assert "squared targets" in notes
    skipped = judged.evaluate(table, run, "EEL", protocol={"missing": "skip"})
    assert skipped.per_query().by_query("EEL") == {"q1": 0.0}
    with pytest.raises(MissingQueries, match="no results for 1 judged quer"):
        judged.evaluate(table, run, "EEL", protocol={"missing": "error"})
    assert (
        judged.evaluate(judged.read_groups(GROUPS), run, "AWRF").per_query().by_query("AWRF").keys()
        == run.keys()
    )


def test_a_run_without_results_is_refused() -> None:
    """A mean over no query would say 0."""
    for run in ({}, {"q": []}):
        with pytest.raises(MissingQueries, match="is empty"):
            judged.evaluate(judged.read_groups(GROUPS), run, "AWRF")


def test_a_query_of_its_own_is_no_ranking_of_another() -> None:
    """`q.1` is a ranking of `q` unless the run has `q` itself, or `q.1` is judged."""
    qrels = {"q": {"a": 1}}
    several = judged.evaluate(qrels, {"q.1": ["a"], "q.2": ["b"]}, "EED")
    assert several["EED"] == 0.5
    assert "1 query has 2 rankings" in " ".join(note.message for note in several.notes)
    both = judged.evaluate(qrels, {"q": ["a"], "q.1": ["b"]}, "EED")
    assert both["EED"] == 1
    assert "1 query (q.1) in the run but never judged" in " ".join(note.message for note in both.notes)
    judged_too = judged.evaluate({**qrels, "q.1": {"b": 1}}, {"q": ["a"], "q.1": ["b"]}, "EED")
    assert judged_too.per_query().by_query("EED") == {"q": 1.0, "q.1": 1.0}


def test_the_protocol_applies() -> None:
    """The depth cuts lists, and tied documents are ordered as everywhere."""
    table = judged.read_groups(GROUPS)
    whole = judged.evaluate(table, {"q": ["a", "c"]}, "AWRF")["AWRF"]
    assert judged.evaluate(table, {"q": ["a", "c", "b"]}, "AWRF", protocol={"depth": 2})["AWRF"] == whole
    tied = judged.evaluate({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "EER")
    assert tied["EER"] == 2.5  # b first: 2 · (1 · 1 + ½ · ½)
    assert "2 documents tied with another" in " ".join(note.message for note in tied.notes)
    with pytest.raises(BadMeasure, match="cannot follow the convention `ties` expected"):
        judged.evaluate({"q": {"b": 1}}, {"q": ["a"]}, "EER", protocol={"ties": "expected"})


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ({"a": {"A": 0.5, "B": 0.6}}, {}, "shares of document `a` add up to 1.1, expected 1"),
        ({"a": {"A": 1.5, "B": -0.5}}, {}, "share is 1.5, expected a number from 0 to 1"),
        ([{"document": "a", "group": "A"}, {"document": "a", "group": "A"}], {}, "has group `A` twice"),
        ([{"document": "a", "colour": "A"}], {}, "none says the group of a document"),
        ({"a": ""}, {}, "holds no group"),
        ({}, {}, "groups"),
        ({"a": "A"}, {"target": {"B": 1.0}}, "has no share for group `A`"),
        ({"a": "A", "b": "B"}, {"target": {"A": 0.5, "B": 0.4}}, "shares add up to 0.9, expected 1"),
        ({"a": "A"}, {"target": {"A": "half"}}, "share of group `A` is half, expected a number"),
        ({"a": "A"}, {"target": "fair.csv"}, "fair.csv does not exist"),
    ],
)
def test_wrong_groups_are_refused(groups: Any, options: dict[str, Any], message: str) -> None:
    """Each with what is wrong and where."""
    with pytest.raises(JudgedError, match=message):
        judged.read_groups(groups, **options)


def test_what_a_measure_needs_is_said() -> None:
    """Groups without judgments, judgments without groups, bases and patiences that make no sense."""
    with pytest.raises(BadMeasure, match="AWRF needs the groups of documents"):
        judged.evaluate({"q": {"a": 1}}, RUN, "AWRF")
    with pytest.raises(BadMeasure, match="EEL looks at grades"):
        judged.evaluate(judged.read_groups(GROUPS), RUN, "EEL")
    with pytest.raises(JudgedError, match="measure of exposure"):
        judged.evaluate({"q": {"a": 1}}, RUN, "EEL AP")
    for wrong in ("AWRF(base=1)", "AWRF(discount=2)", "EEL(patience=2)", 'AWRF(distance="far")'):
        with pytest.raises(BadMeasure, match="must be"):
            judged.evaluate(judged.read_groups(GROUPS), RUN, wrong)


def test_files(tmp_path: Path) -> None:
    """Groups and targets of files of any format, whose rows are named in errors and files in results."""
    (tmp_path / "plain.tsv").write_text("document\tgroup\tshare\na\tA\t0.5\na\tB\t0.5\nb\tB\t1\n")
    (tmp_path / "groups.csv").write_text("docno,group\na,A\na,B\nb,B\nc,\n")
    (tmp_path / "target.csv").write_text("group,share\nA,0.5\nB,0.5\n")
    plain, table = (
        judged.read_groups(tmp_path / name, target=tmp_path / "target.csv")
        for name in ("plain.tsv", "groups.csv")
    )
    assert plain.share.tolist() == table.share.tolist()[:3] == [0.5, 0.5, 1]
    assert repr(table) == "Groups(groups: 3 documents in 2 groups)"
    result = judged.evaluate(table, {"q": ["a", "c"]}, "AWRF")
    assert result["AWRF"] == 1
    assert [file.role for file in result.provenance.inputs] == ["groups", "target"]
    assert "50.0 % of the ranked documents are of unknown group" in {note.message for note in result.notes}
    (tmp_path / "wrong.csv").write_text("document,group,share\na,A,0.5\nb,B,1\n")
    with pytest.raises(BadInput, match=r"wrong\.csv.*2.*add up to 0\.5"):
        judged.read_groups(tmp_path / "wrong.csv")
