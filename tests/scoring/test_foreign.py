"""Scores of other tools: compared, gated, shown and saved like judged's own, under the names that they have there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import judged
from judged.comparison.sources import find_own_family, open_sources
from judged.errors import BadInput, BadMeasure, BadProtocol, BadSample, UnknownName, Unreadable, WrongKind
from judged.measures.groups import SCOPES
from judged.result import load
from judged.scoring.foreign import ScoreProtocol, make_measure
from judged.tables.scores import ScoreKind

NEW = {"q1": 0.9, "q2": 0.8, "q3": 0.7, "q4": 0.9, "q5": 0.95, "q6": 0.6, "q7": 0.85, "q8": 0.7}
OLD = {"q1": 0.5, "q2": 0.7, "q3": 0.6, "q4": 0.8, "q5": 0.75, "q6": 0.55, "q7": 0.8, "q8": 0.5}
ODD = "Answer Relevancy (v2)@k=3"


def rows(values: dict[str, float | None], name: str = "faithfulness") -> dict[str, dict[str, float | None]]:
    """Return the scores of a system by query."""
    return {query: {name: value} for query, value in values.items()}


def test_differences_are_those_of_the_pairs() -> None:
    """The mean difference, and scipy's p-value of the paired t-test."""
    comparison = judged.compare(
        {"new": rows(NEW), "old": rows(OLD)},
        baseline="old",
        higher="faithfulness",
        test="t",
        correction="none",
    )
    contrast = comparison.contrast("new")
    oracle = stats.ttest_rel(list(NEW.values()), list(OLD.values()))

    assert contrast.difference == pytest.approx(np.mean(list(NEW.values())) - np.mean(list(OLD.values())))
    assert contrast.p == pytest.approx(oracle.pvalue)
    assert comparison.describe_answer().startswith("new has the highest faithfulness")


def test_without_a_direction_nothing_wins() -> None:
    """The difference and its interval are shown, and the gate is refused with what to say."""
    systems = {"new": rows(NEW), "old": rows(OLD)}
    comparison = judged.compare(systems, baseline="old")

    assert comparison.describe_answer() == (
        "Whether more or less of faithfulness is better is not known, so no system is best."
    )
    assert comparison.contrast("new").count is None
    assert comparison.beaten("new", "faithfulness") == []
    assert any(note.code == "no-direction" for note in comparison.notes)
    with pytest.raises(BadMeasure, match="faithfulness cannot be a gate: whether more or less") as caught:
        judged.gate(systems["new"], baseline=systems["old"])
    assert caught.value.hint == 'say `higher="faithfulness"` or `lower="faithfulness"`'


def test_a_direction_decides_what_wins() -> None:
    """Of a measure of which less is better, the lower mean is best, and a gate passes by falling."""
    systems = {"new": rows(NEW), "old": rows(OLD)}
    lower = judged.compare(systems, baseline="old", lower="faithfulness")
    passed = judged.gate(systems["new"], baseline=systems["old"], higher="faithfulness", min_delta=-0.02)
    failed = judged.gate(systems["new"], baseline=systems["old"], lower="faithfulness", min_delta=-0.02)

    assert lower.describe_answer().startswith("old has the lowest faithfulness")
    assert (passed.passed, failed.passed) == (True, False)


@pytest.mark.parametrize("name", [ODD, "map", "nDCG@10", "=1+1", "gm_AP", "a, b", "CG@3"])
def test_names_are_literal_in_every_verb(name: str, tmp_path: Path) -> None:
    """Those of judged's own measures too: a column `map` is that file's."""
    systems = {"new": rows(NEW, name), "old": rows(OLD, name)}
    comparison = judged.compare(systems, measures=[name], baseline="old", higher=name)
    report = judged.gate(
        systems["new"], measures=name, baseline=systems["old"], higher=[name], min_delta=-0.01
    )
    evaluation = judged.evaluate(None, judged.read_scores(systems["new"], name="new")["new"], [name])
    for result, file in (
        (comparison, "c.json"),
        (report, "g.json"),
        (evaluation, "e.json"),
        (comparison, "c.html"),
    ):
        result.save(tmp_path / file)
    again, once_more = load(tmp_path / "c.json"), load(tmp_path / "e.json")

    assert comparison.measures == (name,)
    assert comparison.mean("new", name).mean == evaluation[name] == pytest.approx(np.mean(list(NEW.values())))
    assert report[name].verdict == "pass"
    assert isinstance(again, judged.Comparison)
    assert repr(again) == repr(comparison)
    assert again.contrast("new", measure=name).difference == comparison.contrast("new").difference
    assert (
        judged.compare(again, baseline="old").contrast("new").difference
        == comparison.contrast("new").difference
    )
    assert isinstance(once_more, judged.Evaluation)
    assert once_more[name] == evaluation[name]
    assert (
        judged.evaluate_many(None, systems, protocol=ScoreProtocol()).sort(f"-{name}").first.system == "new"
    )
    assert repr(load(tmp_path / "g.json")) == repr(report)


def test_a_direction_is_saved(tmp_path: Path) -> None:
    """With the range that is known, so that a loaded evaluation is gated like the one that was saved."""
    found = judged.evaluate(None, judged.read_scores(rows(NEW), name="new", higher="faithfulness")["new"])
    found.save(tmp_path / "new.json")
    report = judged.gate(tmp_path / "new.json", baseline=rows(OLD), min_delta=-0.02)

    assert load(tmp_path / "new.json").measures[0].higher_is_better is True  # type: ignore[attr-defined]
    assert report.passed


def test_missing_values_are_named_first_and_left_out() -> None:
    """Of the pair; the other reading counts them as 0, and says so in the protocol."""
    lacking = {**NEW, "q3": None}
    systems = {"new": rows(lacking), "old": rows(OLD)}
    skipped, zero = (judged.compare(systems, baseline="old", missing=missing) for missing in ("skip", "zero"))
    seven = [query for query in NEW if query != "q3"]

    assert repr(skipped).startswith("new: 1 query without a value of faithfulness (q3): left out\n")
    assert skipped.contrast("new").queries == 7
    assert skipped.contrast("new").difference == pytest.approx(np.mean([NEW[q] - OLD[q] for q in seven]))
    assert zero.contrast("new").queries == 8
    assert zero.mean("new").mean == pytest.approx(sum(NEW[q] for q in seven) / 8)
    assert "missing values count as 0" in str(zero.provenance.protocols[0].text)
    assert zero.provenance.protocols[0].fingerprint != skipped.provenance.protocols[0].fingerprint


def test_a_query_that_a_file_lacks_is_missing_as_well() -> None:
    """Left out of the pair, or counted as 0; a note names it."""
    fewer = {query: value for query, value in NEW.items() if query != "q3"}
    systems = {"new": rows(fewer), "old": rows(OLD)}
    skipped, zero = (judged.compare(systems, baseline="old", missing=missing) for missing in ("skip", "zero"))

    assert skipped.contrast("new").queries == 7
    assert "faithfulness: 1 query (q3) without a value in every system was left out" in map(
        str, skipped.notes
    )
    assert zero.mean("new").mean == pytest.approx(sum(fewer.values()) / 8)
    assert "new: 1 query that other systems have (q3): counted as 0" in map(str, zero.notes)


def test_queries_are_paired_by_text_where_ids_are_not_shared() -> None:
    """One file has ids and questions, the other questions alone; letter case and blanks make no difference."""
    one = [{"id": f"a{at}", "question": text, "x": at} for at, text in enumerate(["Who?", "What?", "Why?"])]
    two = [{"question": text, "x": at + 1} for at, text in ((2, "why? "), (0, "WHO?"), (1, "What?"))]
    comparison = judged.compare({"one": one, "two": two})

    assert comparison.contrasts[0].difference == pytest.approx(1.0)
    assert comparison.contrasts[0].queries == 3
    assert "queries paired by the text of the question: no id is shared" in map(str, comparison.notes)


def test_ids_that_number_other_rows_are_not_trusted() -> None:
    """The same numbers with other questions: text decides, and without text a warning does."""
    texts = ["Who?", "What?", "Why?"]
    one = [{"id": at, "question": text, "x": at} for at, text in enumerate(texts)]
    two = [{"id": at, "question": text, "x": texts.index(text)} for at, text in enumerate(reversed(texts))]
    by_text = judged.compare({"one": one, "two": two})
    bare = [[{key: row[key] for key in ("id", "x")} for row in system] for system in (one, two)]
    doubtful = judged.compare({"one": bare[0], "two": bare[1]})

    assert by_text.differences("two", "one") == {"who?": 0.0, "what?": 0.0, "why?": 0.0}
    assert any("the same id has different texts" in note.message for note in by_text.notes)
    assert any(
        note.severity == "warning" and "ids only number the rows" in note.message for note in doubtful.notes
    )


def test_nothing_in_common_is_refused() -> None:
    """With a query of each."""
    with pytest.raises(
        BadSample, match=r"`one` \(such as `a`\) and `two` \(such as `b`\) have no query in common"
    ):
        judged.compare({"one": {"a": {"x": 1}}, "two": {"b": {"x": 1}}})


def test_attempts_are_averaged_by_query() -> None:
    """The value of a query is the mean of its attempts, which are kept."""
    one = [
        {"id": "q1", "epoch": 1, "x": 0},
        {"id": "q1", "epoch": 2, "x": 1},
        {"id": "q2", "epoch": 1, "x": 1},
    ]
    evaluation = judged.evaluate(None, judged.read_scores(one, name="one")["one"])

    assert evaluation["x"] == pytest.approx(0.75)
    assert np.array_equal(evaluation.scores.repeats["x"], [[0, 1], [1, np.nan]], equal_nan=True)


def test_measures_that_are_not_shared_are_named() -> None:
    """And those that none share are refused with what each has."""
    one, two = {"q1": {"x": 1, "y": 1}}, {"q1": {"x": 2, "z": 1}}
    comparison = judged.compare({"one": one, "two": two}, resamples=10)

    assert comparison.measures == ("x",)
    assert "not compared, because only some systems have them: y and z" in map(str, comparison.notes)
    with pytest.raises(BadMeasure, match=r"no measure is shared by all systems \(one: y; two: z\)"):
        judged.compare({"one": {"q1": {"y": 1}}, "two": {"q1": {"z": 1}}})
    with pytest.raises(UnknownName, match="no measure of the system `two` is called `y`"):
        judged.compare({"one": one, "two": two}, measures="y")


def test_tools_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    """Until the user says which way is better."""
    for name, success in (("a", True), ("b", False)):
        metric = {"name": "Tone", "score": 0.9, "threshold": 0.5, "success": success}
        cases = [{"input": f"q{at}", "metricsData": [{**metric, "score": 0.9 + at / 100}]} for at in range(4)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"testCases": cases}))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    with pytest.raises(BadMeasure, match="more of Tone is better in a, and less in b"):
        judged.compare(files)

    assert judged.compare(files, higher="Tone").scores[0].higher_is_better is True


def test_what_is_not_of_this_family_is_refused() -> None:
    """Directions of runs that are scored now, and of judged's own measures."""
    qrels, runs = {"q1": {"a": 1}}, {"x": {"q1": {"a": 1.0}}, "y": {"q1": {"b": 1.0}}}
    evaluations = list(judged.evaluate_many(qrels, runs, "AP").values())
    with pytest.raises(BadProtocol, match="`higher` has no effect on runs that are scored now"):
        judged.compare(qrels, runs, "AP", higher="AP")
    with pytest.raises(BadProtocol, match="`lower` has no effect on scores that judged computed"):
        judged.compare(evaluations, lower="AP")
    with pytest.raises(UnknownName, match="no measure of these scores is called `x`"):
        judged.compare({"a": {"q": {"m": 1}}, "b": {"q": {"m": 2}}}, higher="x")
    with pytest.raises(BadProtocol, match="`missing` of a protocol of scores is `no`"):
        judged.compare({"a": {"q": {"m": 1}}, "b": {"q": {"m": 2}}}, missing="no")  # type: ignore[arg-type]
    with pytest.raises(WrongKind, match="a system is of type `int`"):
        judged.compare({"a": 1, "b": 2})  # type: ignore[dict-item]


def test_a_run_is_not_a_file_of_scores(tmp_path: Path) -> None:
    """It has no scores yet."""
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 d1 1 3.5 tag\n")
    with pytest.raises(
        Unreadable, match="is a run or judgments, and there are no judgments to score it with"
    ):
        judged.compare([path, path])


def test_files_that_name_the_same_system_are_called_by_their_files(tmp_path: Path) -> None:
    """Two versions of one system are two systems."""
    for name in ("old", "new"):
        (tmp_path / f"{name}.csv").write_text("system,id,x\nrag,q1,1\nrag,q2,2\n")

    assert judged.compare([tmp_path / "old.csv", tmp_path / "new.csv"]).systems == ("old", "new")


def test_own_files_are_judged_s_own(tmp_path: Path) -> None:
    """Written by `--per-query`: directions, ranges and means of judged's measures; next to those of other tools as well."""
    qrels = {f"q{at}": {"a": 1} for at in range(4)}
    run = {f"q{at}": {"a": 1.0, "b": 0.5 + at % 2} for at in range(4)}
    evaluation = judged.evaluate(qrels, run, "RR Success@1", name="own")
    path = tmp_path / "own.csv"
    path.write_bytes(
        judged.Evaluations({"own": evaluation}).render("csv", judged.blocks.Display(per_query=True)).encode()
    )  # type: ignore[union-attr]
    mixed = judged.compare({"own": path, "other": {query: {"RR": 0.4} for query in qrels}})

    assert find_own_family(["RR", "Success@1"]) == "ranked"
    assert judged.compare({"a": path, "b": evaluation}).scores[0].higher_is_better is True
    assert mixed.measures == ("RR",)
    assert mixed.scores[0].higher_is_better is True


@given(st.sampled_from(sorted(SCOPES["ranked"])))
@settings(max_examples=30)
def test_a_measure_of_another_tool_is_not_judged_s(name: str) -> None:
    """Whatever it is called."""
    foreign, own = make_measure(name), SCOPES["ranked"][name]

    assert foreign != own
    assert str(foreign) == name
    assert (foreign.higher_is_better, foreign.bounds) == (None, (-np.inf, np.inf))


def test_an_evaluation_of_some_measures_has_their_notes_alone() -> None:
    """And the means of single attempts are not computed again."""
    scores = judged.read_scores({"q1": {"x": 1, "y": None}, "q2": {"x": 0.5, "y": 1}}, name="s")["s"]
    whole = judged.evaluate(None, scores)

    assert [note.code for note in whole.notes if note.severity == "warning"] == ["missing-values"]
    assert [note.code for note in whole.measure("x").notes if note.severity == "warning"] == []
    assert whole.measure("x").scores.kinds == {"x": ScoreKind()}


def test_the_report_shows_every_query(tmp_path: Path) -> None:
    """Leaderboard and queries, for scores that judged did not compute."""
    comparison = judged.compare({"new": rows(NEW, ODD), "old": rows(OLD, ODD)}, higher=ODD)
    comparison.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()

    assert ODD in page
    assert all(query in page for query in NEW)


def test_faults_of_a_file_are_of_that_file(tmp_path: Path) -> None:
    """The error names it and the line."""
    path: Any = tmp_path / "a.csv"
    path.write_text("id,x\nq1,1\nq1,2\n")
    with pytest.raises(BadInput, match=r"a.csv:3: query `q1` has a value of x already"):
        judged.gate(path, baseline=path, higher="x")


def test_tables_of_scores_keep_their_clusters_and_attempts() -> None:
    """Written by judged as Arrow, in each layout that has them."""
    scores = judged.Scores(
        pa.array(["q1", "q2", "q3"], pa.large_string()),
        {"RR": np.array([0.5, 0.75, 1.0])},
        repeats={"RR": np.array([[0.0, 1.0], [0.5, 1.0], [1.0, 1.0]])},
        clusters=pa.array(["a", "a", "b"], pa.large_string()),
    )
    (long,), (attempts,) = (open_sources({"s": scores.to_arrow(layout)}) for layout in ("long", "attempts"))

    assert getattr(long[1], "clusters", None) == {"q1": "a", "q2": "a", "q3": "b"}
    assert {query: row.tolist() for query, row in getattr(attempts[1], "repeats", {})["RR"].items()} == {
        "q1": [0, 1],
        "q2": [0.5, 1],
        "q3": [1, 1],
    }


def test_a_folder_or_a_pattern_is_several_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One a file, in natural order, without what is hidden; nothing there is refused."""
    monkeypatch.chdir(tmp_path)
    folder = Path("scores")
    folder.mkdir()
    for name, value in (("run10", 0.5), ("run2", 0.25), ("_log", 1.0), (".hidden", 1.0)):
        (folder / f"{name}.csv").write_text(f"question,helpful\na,{value}\nb,{value + 0.25}\n")

    for source in ("scores", "scores/*.csv", ["scores/run2.csv", "scores/run1*.csv"], Path("scores")):
        assert list(judged.compare(source).systems) == ["run2", "run10"]
    Path("empty").mkdir()
    with pytest.raises(Unreadable, match="empty holds no files"):
        judged.compare("empty")


def test_measures_of_scores_are_named_by_their_argument() -> None:
    """In its second place are the runs that judgments are for."""
    rows = {"q1": {"helpful": 0.5}, "q2": {"helpful": 0.25}}

    with pytest.raises(BadMeasure) as caught:
        judged.compare({"a": rows, "b": rows}, "helpful")
    assert caught.value.hint == "of scores, measures are chosen by name: `compare(scores, measures=…)`"
