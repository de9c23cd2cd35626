"""What `compare` and `gate` read: one file, several files, attributes of queries either way round; and short notes."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged.errors import BadInput, BadSample, WrongKind
from judged.problem import Note, group_notes

QUERIES = [f"q{number}" for number in range(8)]
KINDS = {query: "ab"[place % 2] for place, query in enumerate(QUERIES)}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of two systems in one file, and of one unnamed system in each of two files."""

    def rows(shift: float, system: str = "") -> str:
        return "".join(
            f"{system}{query},AP,{0.1 * place % 1 + shift:.2f}\n" for place, query in enumerate(QUERIES)
        )

    (tmp_path / "both.csv").write_text("system,query,measure,value\n" + rows(0, "one,") + rows(0.1, "two,"))
    for name, shift in (("a", 0.0), ("b", 0.2), ("old/scores", 0.0), ("new/scores", 0.1)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.csv").write_text("query,measure,value\n" + rows(shift))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("form", [str, Path])
def test_one_file_may_hold_several_systems(form: type) -> None:
    """By its column of systems, not by the letters of its name."""
    assert judged.compare(form("both.csv")).systems == ("one", "two")
    assert judged.compare([form("a.csv"), form("b.csv")]).systems == ("a", "b")
    assert judged.compare(["old/scores.csv", "new/scores.csv"]).systems == (
        "old/scores.csv",
        "new/scores.csv",
    )


def test_one_file_of_one_system_is_refused_in_words() -> None:
    """The error names the system, and what to do."""
    with pytest.raises(BadSample, match=r"1 system was given \(a\)") as caught:
        judged.compare("a.csv")

    assert "a column `system`" in str(caught.value)
    with pytest.raises(WrongKind, match="`results` is"):
        judged.comparison.api.compare_results("both.csv")  # type: ignore[attr-defined]


def test_a_single_name_is_not_its_letters() -> None:
    """Of an extra test, of a run in a path, of training queries."""
    qrels = {query: {"d": 1} for query in QUERIES}
    runs = [{query: {"d": 1.0, "e": 2.0} for query in QUERIES}, {query: {"d": 1.0} for query in QUERIES}]
    Path("a.run").write_text("".join(f"{query} Q0 d 1 1 t\n" for query in QUERIES))

    assert list(judged.compare("both.csv", also="anova").extra) == ["anova"]
    assert list(judged.evaluate_many(qrels, Path("a.run"), "AP")) == ["a"]
    assert judged.tune_fusion(qrels, runs, train="q1").folds[0].training_queries == 1
    assert len(judged.lint(qrels, ["a.run", Path("a.run")]).files) == 3


def test_a_gate_names_both_by_their_files() -> None:
    """Scores without a column of systems; and a file of several systems is not cut to the first."""
    report = judged.gate("b.csv", baseline="a.csv")
    alike = judged.gate("new/scores.csv", baseline="old/scores.csv")

    assert (report.run, report.baseline) == ("b", "a")
    assert (alike.run, alike.baseline) == ("scores", "scores (baseline)")
    assert judged.gate("both.csv", baseline="a.csv", run_name="two").run == "two"
    with pytest.raises(BadInput, match="holds scores of 2 runs"):
        judged.gate("both.csv", baseline="a.csv")


def test_slices_are_read_by_query_and_by_attribute() -> None:
    """Both dicts give the same slices, and the interactions that go with them."""
    by_query = judged.compare("both.csv", slices={query: {"kind": kind} for query, kind in KINDS.items()})
    by_attribute = judged.compare("both.csv", slices={"kind": KINDS})

    assert list(by_attribute.slices) == list(by_query.slices) == [("kind", "a"), ("kind", "b")]
    assert by_attribute.interactions == by_query.interactions


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ({"kind": {"other": "a"}}, "none of the queries that are compared"),
        ({"q1": {"q2": "a", "q3": "b"}}, "can be read in two ways"),
        (
            {"id": {query: query for query in QUERIES} | {f"z{at}": str(at) for at in range(30)}},
            "has 8 different values|38 different values",
        ),
    ],
)
def test_slices_that_fit_neither_or_both_ways_are_refused(
    slices: dict[str, dict[str, str]], message: str
) -> None:
    """In words, not as empty interactions."""
    with pytest.raises((BadSample, BadInput), match=message):
        judged.compare("both.csv", slices=slices)


def test_a_note_names_five_systems_and_counts_the_others() -> None:
    """Whether they share a message or a fact; all are named where that is asked for."""
    alike = [Note("tied", "info", "has ties", subject=f"s{number}") for number in range(143)]
    by_fact = [Note("hole", "info", "…", "unjudged", f"{number} %", f"s{number}") for number in range(7)]

    assert group_notes(alike) == [("info", "s0, s1, s2, s3, s4 and 138 more: has ties")]
    assert group_notes(by_fact) == [("info", "unjudged: s0 0 %, s1 1 %, s2 2 %, s3 3 %, s4 4 % and 2 more")]
    assert "s142: has ties" in group_notes(alike, most=None)[0][1]
    assert group_notes(alike[:5]) == [("info", "s0, s1, s2, s3, s4: has ties")]


def test_results_of_one_name_are_asked_for_others() -> None:
    """As those of arrays, which are all called `predictions`."""
    first, second = (
        judged.evaluate_arrays(scores, [1, 0, 0, 1], measures="RR", group_sizes=[2, 2])
        for scores in ([0.9, 0.1, 0.5, 0.2], [0.1, 0.9, 0.5, 0.2])
    )

    with pytest.raises(BadSample, match=r"2 systems are called `predictions`[^}]*\{\"first\": …"):
        judged.compare([first, second])
    named = judged.compare({"new": first, "old": second}, baseline="old")
    assert named.contrast("new").difference == 0.25
