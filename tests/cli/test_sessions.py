"""`judged sessions` as users call it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agents.conversations import conversation
from judged.cli.main import judged


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two systems on two tasks."""
    path = tmp_path / "traces.jsonl"
    lines = [
        conversation("a1", "x4 y0", "y0 z2", task="t1", system="old"),
        conversation("a2", "x2", task="t2", system="old"),
        conversation("b1", "x4 z2 x4", task="t1", system="new"),
        conversation("b2", "x2 w?", task="t2", system="new"),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def run(*arguments: object) -> Result:
    """The outcome of `judged sessions` with some arguments."""
    return CliRunner().invoke(judged, ["sessions", *map(str, arguments)])


def test_means_bounds_protocol_and_notes_are_shown(trace: Path) -> None:
    """Gains: old (6 + 2) / 2, new (6 + 2) / 2; the unlabelled result could add 4 to new."""
    outcome = run(trace, "-m", "CG SRR N")
    assert outcome.exit_code == 0, outcome.output
    rows = [line.split() for line in outcome.stdout.splitlines()]
    assert ["old", "2", "4.0000", "0.1250", "1.5000"] in rows
    assert ["new", "2", "4.0000", "0.1667", "1.0000"] in rows
    assert ["new", "75.0%", "4.0000–6.0000", "0.1667", "1.0000"] in rows
    assert "Protocol: sessions #" in outcome.stderr
    full = run(trace, "-m", "CG SRR N", "-v").stderr
    assert "Protocol: sessions (last turn, duplicates by document" in full
    assert "Warning: new: 1 of 4 unique results have no label" in outcome.stderr


def test_near_duplicates_are_a_share_of_their_words(trace: Path) -> None:
    """`--near` is a number between 0 and 1."""
    refused = run(trace, "--near", "2")

    assert "texts alike by 0.5" in run(trace, "--near", "0.5", "-v").stderr
    assert (
        "is 2.0, expected a number between 0 and 1"
        in str(refused.exception or refused.output) + refused.stderr
    )


def test_without_any_gain_only_counts_and_repeats_are_shown(tmp_path: Path) -> None:
    """A gain of 0 would be a statement; two of three results are different."""
    path = tmp_path / "trace.jsonl"
    path.write_text(json.dumps(conversation("c", "a? b?", "a?")))
    outcome = run(path)
    assert [line.split() for line in outcome.stdout.splitlines()[::2]] == [
        ["system", "sessions", "R@last", "UR@last", "Dup@last", "SRR@last", "N"],
        ["a", "1", "3.0000", "2.0000", "1.0000", "0.3333", "2.0000"],
    ]
    assert "Warning: no result has a gain" in outcome.stderr


def test_a_rate_is_never_shown_alone(trace: Path) -> None:
    """RG rises when an agent stops early, so that gain and length stand beside it."""
    columns = run(trace, "-m", "RG@2").stdout.splitlines()[0].split()
    assert columns == ["system", "sessions", "RG@2", "CG@2", "N"]


def test_iterations_for_all_good_results_has_its_flag(trace: Path) -> None:
    """`AllGoodReached` distinguishes 100 iterations from never."""
    wanted = 'IterationsForAllGoodResults(reference="given")'
    outcome = run(trace, "-m", wanted, "--reference", "union", "--format", "json")
    rows = json.loads(outcome.stdout)["tables"]["means"]
    assert {row["measure"]: row["value"] for row in rows if row["system"] == "old"} == {
        wanted: 1.5,
        'AllGoodReached(reference="given")': 1,
    }


def test_good_discount_and_beyond_hold_for_every_measure_that_has_them(trace: Path) -> None:
    """What a measure sets itself goes before."""
    outcome = run(trace, "-m", "DCG CG(good=2) N", "--good", 3, "--discount", "0.5", "--format", "json")
    rows = json.loads(outcome.stdout)["tables"]["means"]
    name, *others = (row["measure"] for row in rows if row["system"] == "old")
    assert (name, others) == ("DCG(good=3, discount=0.5)@last", ["CG(good=2)@last", "N"])


@pytest.mark.parametrize("kind", ["table", "csv", "tsv", "json", "jsonl", "markdown", "latex"])
@pytest.mark.parametrize(
    "asked", [(), ("--per-session",), ("--curve",), ("--stopping",), ("--overlap",), ("--baseline", "old")]
)
def test_everything_asked_for_comes_in_every_format(trace: Path, kind: str, asked: tuple[str, ...]) -> None:
    """No NaN, which neither JSON nor people read, in any of them."""
    outcome = run(trace, "--format", kind, *asked)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout
    assert re.search(r"\bnan\b", outcome.stdout.lower()) is None
    if kind == "json":
        json.loads(outcome.stdout)


def test_a_curve_is_written_as_a_picture(trace: Path, tmp_path: Path) -> None:
    """A line and a name for each system, and what each point means."""
    pytest.importorskip("vl_convert", reason="the extra `report` is not installed")
    picture = tmp_path / "curve.svg"
    assert run(trace, "-m", "CG", "--picture", picture).exit_code == 0
    drawn = picture.read_text()
    assert drawn.count('aria-roledescription="line mark"') == 2
    assert all(f">{name}</text>" in drawn for name in ("old", "new", "CG by iteration"))
    assert re.search(r'aria-label="old, iteration 1: [\d.]+; \d+ sessions? at work"', drawn)


def test_the_extension_of_a_picture_is_checked_before_any_work(trace: Path, tmp_path: Path) -> None:
    """The known ones are named."""
    outcome = run(trace, "-m", "CG", "--picture", tmp_path / "curve.bmp")
    assert outcome.exit_code == 2
    assert ".svg .png .pdf" in outcome.stderr


def test_a_baseline_gives_differences_on_tasks(trace: Path) -> None:
    """The statistics of `judged compare`, on tasks."""
    outcome = run(trace, "-m", "CG", "--baseline", "old", "--per-session", "--full")
    assert "Difference of new from old" in outcome.stdout
    assert "Tasks that changed most" in outcome.stdout


def test_every_decision_of_deduplication_is_listed(trace: Path) -> None:
    """Of the first session, the third result is the second again."""
    outcome = run(trace, "-m", "CG", "--explain", "--session", "a1")
    lines = [line.split(maxsplit=4) for line in outcome.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert [line[2] for line in lines] == ["x", "y", "y", "z"]
    assert lines[1][4] == "new: no earlier result shares a key with it"
    assert lines[2][4].startswith("a duplicate: group 1 (same generic id, confidence 0.6)")
    decisions = json.loads(run(trace, "-m", "CG", "--explain", "--format", "json").stdout)["tables"][
        "decisions"
    ]
    assert [decision["new"] for decision in decisions[:4]] == [True, True, False, True]


@pytest.mark.parametrize(
    ("gain", "delta", "code", "verdict"),
    [(2, "-0.5", 1, "fail"), (4, "-0.5", 0, "pass"), (4, "1", 1, "fail")],  # no spread: what is seen decides
)
def test_a_margin_makes_an_exit_code(tmp_path: Path, gain: int, delta: str, code: int, verdict: str) -> None:
    """On three tasks the old system has 4 each time, the new one 2 or 4."""
    path = tmp_path / "traces.jsonl"
    lines = [conversation(f"o{at}", "x4", task=f"t{at}", system="old") for at in range(3)]
    lines += [conversation(f"n{at}", f"x{gain}", task=f"t{at}", system="new") for at in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = run(path, "-m", "CG", "--baseline", "old", "--min-delta", delta)
    assert outcome.exit_code == code, outcome.output
    assert f"Verdict: {verdict}" in outcome.stdout
    assert "3 tasks" in outcome.stdout


def test_files_are_named_as_runs_are(trace: Path, tmp_path: Path) -> None:
    """NAME=FILE names the system, whatever the trace says; files of one table have the extension's format."""
    lines = trace.read_text().splitlines(keepends=True)
    (tmp_path / "one.jsonl").write_text("".join(lines[:2]))
    out = tmp_path / "scores.parquet"
    outcome = run(f"first={tmp_path / 'one.jsonl'}", "-m", "CG", "-o", out, "--format", "csv")
    assert outcome.stdout.splitlines()[1].startswith("first,CG@last,4.0,")
    assert out.stat().st_size


def test_labels_and_one_session_are_chosen(trace: Path, tmp_path: Path) -> None:
    """TREC judgments are labels too; `--session` takes one conversation."""
    labels = tmp_path / "labels.qrels"
    labels.write_text("t2 0 w 3\nt2 0 x 0\n")
    outcome = run(trace, "-m", "CG", "--labels", labels, "--session", "b2", "--format", "csv")
    assert outcome.stdout.splitlines()[1] == "new,CG@last,3.0,3.0,1,0,1.0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "nDCG@10,CG@x"), "not a measure of sessions"),
        (("--baseline", "newest"), "no system is called `newest`"),
        (("--session", "zz"), "no conversation of these traces is called `zz`"),
        (("--weight", "title"), "not a field and a number"),
        (("--without-url-rule", "nope"), "nope"),
        (("--overlap", "--reference", "qrels.txt"), "--reference union"),
        (("--unlabelled", "error"), "session `b2` of `new`: 1 of 2 unique results have no gain"),
        (("--trace-format", "nope"), "nope"),
        (("--min-delta", "-1%"), "needs one `--baseline NAME`"),
        (("--min-delta", "-1%", "--baseline", "old", "-m", "N"), "N cannot be a gate"),
        (("--weight", "colour=0.3"), "no field that results are compared by is called `colour`"),
        (("-m", "N", "--picture", "x.svg"), "has no curve to draw"),
    ],
)
def test_a_mistake_is_named(trace: Path, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, a message, no traceback."""
    outcome = run(trace, *arguments)
    assert outcome.exit_code == 2
    assert message in outcome.output
    assert "Traceback" not in outcome.output


def test_inspect_is_a_command_of_its_own(trace: Path) -> None:
    """`judged sessions inspect FILE` shows what was understood of a trace."""
    outcome = run("inspect", trace)
    assert outcome.exit_code == 0, outcome.output
    assert "4" in outcome.output
