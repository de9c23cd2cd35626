"""`judged answers`, comparisons, gates, profiles and explanations; and how time grows with the size."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judged
from judged.answers.difference import explain_answers
from judged.answers.profiles import ANSWER_PROFILES
from judged.answers.result import AnswerReport
from judged.answers.subject import SUBJECT
from judged.cli.main import judged as program
from judged.errors import JudgedError

LABELS = ("support", "partial_support", "not_support")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSONL."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Answers of two systems to twelve questions, with labels of nuggets and citations."""
    answers, nuggets, support = [], [], []
    for system in ("old", "new"):
        for number in range(12):
            query = f"q{number}"
            good = (number + (system == "new")) % 3
            answers.append(
                {"query": query, "system": system, "answer": "One [1]. Two.", "references": ["d1"]}
            )
            support.append(
                {
                    "query": query,
                    "system": system,
                    "part": 1,
                    "document": "d1",
                    "label": ["full", "none", "partial"][good],
                }
            )
            nuggets += [
                {
                    "query": query,
                    "system": system,
                    "nugget": f"n{place}",
                    "importance": "vital",
                    "label": LABELS[(good + place) % 3 if system == "old" else 0],
                }
                for place in range(3)
            ]
    write(tmp_path / "answers.jsonl", answers)
    write(tmp_path / "nuggets.jsonl", nuggets)
    write(tmp_path / "support.jsonl", support)
    (tmp_path / "one.run").write_text("".join(f"q{number} Q0 d1 1 1 r\n" for number in range(12)))
    (tmp_path / "by.qrels").write_text("".join(f"q{number} n0 d1 1\n" for number in range(12)))
    return tmp_path


def run(files: Path, *arguments: str) -> Result:
    """Run `judged answers` on these files."""
    given = [str(files / text) if (files / text).exists() else text for text in arguments]
    return CliRunner().invoke(program, ["answers", str(files / "answers.jsonl"), *given])


def test_everything_in_one_command(files: Path) -> None:
    """Scores, comparison, gate, losses and a saved report; the new system passes."""
    report = files / "report.json"
    done = run(
        files,
        *(
            "--labels",
            "nuggets.jsonl",
            "--labels",
            "support.jsonl",
            "--baseline",
            "old",
            "--min-delta",
            "-0.5",
        ),
        *("--run", "one.run", "--judgments", "by.qrels", "-o", str(report)),
    )

    assert done.exit_code == 0, done.output
    assert "better retrieval could add at most" in done.output
    assert "pass" in done.output
    assert isinstance(judged.load(report), AnswerReport)


def test_a_gate_that_fails_has_its_exit_code(files: Path) -> None:
    """The old system is worse than the new one by more than the margin."""
    done = run(files, "--labels", "nuggets.jsonl", "--baseline", "new", "--min-delta", "-0.01")

    assert done.exit_code == 1, done.output


def test_csv_has_every_query(files: Path) -> None:
    """As of every command."""
    done = run(
        files, "--labels", "nuggets.jsonl", "-m", "NuggetRecall", "--per-query", "--format", "csv", "-q"
    )

    assert done.stdout.splitlines()[0] == "system,query,measure,value"
    assert len(done.stdout.splitlines()) == 1 + 2 * 12 * 2  # with words


def test_options_without_effect_are_refused(files: Path) -> None:
    """`--judgments` needs `--run`, `--against` one measure."""
    assert "--run" in run(files, "--judgments", "by.qrels").output
    assert (
        "explains one measure"
        in run(files, "--labels", "support.jsonl", "-m", "Cited Words", "--against", "alce").output
    )


def test_gate_and_comparison_in_python(files: Path, tmp_path: Path) -> None:
    """Reports of one system each are compared and gated, saved or not; lengths are no gate unless named."""
    systems = {}
    for name in ("old", "new"):
        rows = [json.loads(line) for line in (files / "answers.jsonl").read_text().splitlines()]
        own = write(tmp_path / f"{name}.jsonl", [row for row in rows if row["system"] == name])
        systems[name] = judged.evaluate_answers(own, labels=files / "nuggets.jsonl")
    systems["old"].save(tmp_path / "old.json")
    verdict = judged.gate(systems["new"], baseline=str(tmp_path / "old.json"), min_delta=-0.03)

    assert verdict.verdict == "pass"
    assert any("not gated" in note.message and "Words" in note.message for note in verdict.notes)
    assert judged.compare(systems).rows("differences")[0]["difference"] > 0
    with pytest.raises(JudgedError, match="Words cannot be a gate"):
        judged.gate(systems["new"], measures="Words", baseline=systems["old"])


def test_the_testing_helper_takes_answers(files: Path) -> None:
    """`judged.testing` asserts what the gate says."""
    report = judged.evaluate_answers(
        files / "answers.jsonl", labels=files / "nuggets.jsonl", measures="NuggetRecall"
    )

    assert report["new"]["NuggetRecall"] == 1.0
    assert report.leaderboard()["old"]["NuggetRecall"] == pytest.approx(0.5)


@pytest.mark.parametrize("name", list(ANSWER_PROFILES))
def test_every_name_of_a_profile_is_a_measure(name: str) -> None:
    """And means what the tool says, by its own name and by ours without parameters."""
    profile = ANSWER_PROFILES[name]
    for text, measure in profile.names.items():
        assert profile.read(text) == profile.read(measure)
    with pytest.raises(JudgedError, match="has no measure"):
        profile.read("ExactMatch")


def test_a_profile_names_measures_as_its_tool(files: Path) -> None:
    """By default all of the tool's for which there are labels, under their own names."""
    report = judged.evaluate_answers(
        files / "answers.jsonl", labels=files / "nuggets.jsonl", protocol="nuggetizer"
    )
    labels = [measure.label for measure in report.systems.measures]

    assert labels == ["strict_vital_score", "all_score", "strict_all_score", "vital_score", "Words"]


def test_a_profile_leaves_out_what_has_no_labels(files: Path) -> None:
    """ALCE's citations need labels of citations, and its string recall needs references."""
    done = run(files, "--labels", "support.jsonl", "--profile", "alce", "-q")

    assert done.exit_code == 0, done.output
    assert "citation_rec" in done.output
    assert "str_em" not in done.output


def test_a_difference_is_explained() -> None:
    """Three sentences in four conventions: the causes sum to the difference. Values are those of the definitions."""
    parts = [
        {"query": "q1", "part": 1, "text": "One.", "citations": ["p1", "p2"]},
        {"query": "q1", "part": 2, "text": "Two.", "citations": ["p1"]},
        {"query": "q1", "part": 3, "text": "Three.", "citations": []},
    ]
    labels = [
        {"query": "q1", "part": part, "document": document, "label": label}
        for part, document, label in [(1, "p1", "partial"), (1, "p2", "full"), (2, "p1", "none")]
    ]
    precision = explain_answers({"bot": parts}, "CitationPrecision", against="open-rag-eval", labels=labels)
    alce = explain_answers(
        {"bot": parts}, "CitationRecall", protocol="open-rag-eval", against="alce", labels=labels
    )

    assert precision.values == pytest.approx((0.5, 0.625))
    assert [row["cause"] for row in precision.rows()] == ["over"]
    assert alce.values == pytest.approx((0.25, 1 / 3))
    assert sum(row["share"] for row in alce.rows()) == pytest.approx(1 / 3 - 0.25)


def test_vital_recall_differs_from_nuggetizer_by_one_convention() -> None:
    """A query without vital nuggets is skipped here and 0 there."""
    labels = [
        {"query": "q1", "nugget": "a", "importance": "vital", "label": "support"},
        {"query": "q2", "nugget": "b", "importance": "okay", "label": "support"},
    ]
    difference = explain_answers(
        {"bot": {"q1": "A.", "q2": "B."}},
        'NuggetRecall(importance="vital")',
        against="nuggetizer",
        labels=labels,
    )

    assert difference.values == (1.0, 0.5)
    assert [row["cause"] for row in difference.rows()] == ["no_vital"]


def make_table(queries: int, systems: int, nuggets: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return answers of systems with the label of every nugget."""
    answers = {
        f"s{system}": {f"q{query}": "One. Two [1]." for query in range(queries)} for system in range(systems)
    }
    rows = [
        {
            "query": f"q{query}",
            "system": f"s{system}",
            "nugget": f"n{nugget}",
            "importance": "vital" if nugget % 2 else "okay",
            "label": LABELS[(query * system + nugget) % 3],
        }
        for system in range(systems)
        for query in range(queries)
        for nugget in range(nuggets)
    ]
    return answers, rows


def test_time_grows_with_the_number_of_labels() -> None:
    """Eight times the questions take no more than twelve times as long: the least of three rounds each."""

    def measure(queries: int) -> float:
        answers, rows = make_table(queries, 2, 10)
        rounds = []
        for _ in range(3):
            start = time.process_time()
            judged.evaluate_answers(answers, labels=rows)
            rounds.append(time.process_time() - start)
        return min(rounds)

    small, large = measure(25), measure(200)

    assert large < 12 * small


@pytest.mark.slow
def test_a_thousand_questions_of_ten_systems(tmp_path: Path) -> None:
    """1,000 questions, 10 systems and 20 nuggets each are scored, compared and reported in seconds of CPU."""
    answers, rows = make_table(1000, 10, 20)
    labels = write(tmp_path / "labels.jsonl", rows)
    start = time.process_time()
    report = judged.evaluate_answers(answers, labels=labels)
    scored = time.process_time() - start
    comparison = judged.compare(report)
    compared = time.process_time() - start - scored
    judged.Result.save(report, tmp_path / "report.html")

    assert (len(comparison.systems), scored < 20, compared < 60) == (10, True, True)
    assert time.process_time() - start < 120


@pytest.mark.parametrize(
    ("profile", "measure"),
    [("alce", "CitationRecall"), ("open-rag-eval", "CitationRecall"), ("ragas", "Faithfulness")],
)
def test_judged_explain_reads_answers(files: Path, profile: str, measure: str) -> None:
    """With labels, `judged explain` explains answers as `judged answers --against` does; a profile needs what it needs."""
    given = (str(files / "answers.jsonl"), "--labels", str(files / "support.jsonl"), "-m", measure)
    asked = (*given, "--system", "old", "--against", profile, "--quiet")
    here, there = (CliRunner().invoke(program, [command, *asked]) for command in ("explain", "answers"))

    assert (here.exit_code, here.stdout) == (there.exit_code, there.stdout)
    assert (here.exit_code == 0) == (measure == "CitationRecall")


@pytest.mark.parametrize("profile", ["nuggetizer", "ragchecker", "alce", "open-rag-eval", "ragas"])
def test_judged_explain_of_runs_points_to_answers(tmp_path: Path, profile: str) -> None:
    """Judgments and a run say nothing about answers, and the hint says what does."""
    qrels, ranked = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    qrels.write_text("q1 0 d1 1\n")
    ranked.write_text("q1 Q0 d1 1 2.0 bm25\n")
    done = CliRunner().invoke(program, ["explain", str(qrels), str(ranked), "--against", profile])

    assert done.exit_code == 2
    assert f"`judged explain RESPONSES --labels FILE -m MEASURE --against {profile}`" in done.stderr


def test_profiles_that_explain_answers_are_announced() -> None:
    """The manifest names every profile of answers, so that `judged explain` knows where they belong."""
    assert {word for word in SUBJECT.explains if not word.startswith("-")} == set(ANSWER_PROFILES)
