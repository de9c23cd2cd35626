"""Preferences and several judges on the command line: what trec_eval prints, and `judged score`.

`recorded_preferences/` holds trec_eval's own output, each file with the version and the command that made it
(`recorded_preferences/record.py`). Two more tests compare with trec_eval itself where it is installed, and with its
own regression tests where they are at hand.
"""

from __future__ import annotations

import csv
import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judged.cli.main import judged

RECORDED = Path(__file__).parent / "recorded_preferences"
FILES = sorted(RECORDED.glob("trec_eval-*.txt"))
INSTALLED = shutil.which("trec_eval")


def run(command: str, *arguments: object) -> Result:
    """What `judged` does with a command and its arguments."""
    return CliRunner().invoke(judged, [command, *map(str, arguments)])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_prints_what_was_recorded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every byte of standard output is that of the version recorded."""
    head, _, expected = path.read_text().partition("\n")
    version, _, command = head.removeprefix("# trec_eval ").partition(": trec_eval ")
    monkeypatch.chdir(RECORDED)
    result = run("trec_eval", "--trec-version", version.partition(".")[0], *command.split())

    assert result.exit_code == 0, result.stderr
    assert result.stdout == expected


def test_recordings_are_there() -> None:
    """Both versions are recorded, with the same commands."""
    assert {path.name.split("-")[1] for path in FILES} == {"9.0.4", "10.0"}
    assert len(FILES) == 18


OWN_TESTS = {
    "out.test.prefs": "-m all_prefs -q -R prefs prefs.test prefs.results.test",
    "out.test.qrels_prefs": "-m all_prefs -q -R qrels_prefs qrels.test results.test",
    "out.test.qrels_jg": "-m qrels_jg -q -R qrels_jg qrels.123 results.test",
}
"""The commands of trec_eval's own `make quicktest`, for preferences and judges."""


@pytest.mark.parametrize("name", OWN_TESTS)
@pytest.mark.parametrize("version", ["9", "10"])
def test_passes_the_tests_of_trec_eval(
    version: str,
    name: str,
    shared_data: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The expected outputs that come with trec_eval, of both versions."""
    with tarfile.open(shared_data("trec_eval_tests") / "trec_eval_tests.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path / "v10" / "test")
    expected = (tmp_path / {"9": "v9.0.4", "10": "v10/test"}[version] / name).read_text()
    result = run("trec_eval", "--trec-version", version, *OWN_TESTS[name].split())

    assert result.exit_code == 0, result.stderr
    assert result.stdout == expected


@pytest.mark.skipif(INSTALLED is None, reason="no `trec_eval` on PATH")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["prefs", "qrels_prefs", "qrels_jg"])
def test_agrees_with_the_trec_eval_installed(kind: str, seed: int, tmp_path: Path) -> None:
    """Random preferences and runs with ties and gaps print the same, whichever version is installed."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    documents = [f"d{number}" for number in range(12)]
    rows, ranked = [], []
    for query in ("1", "2", "10"):
        for group in range(rng.randint(1, 3)):
            worth = {document: rng.choice([0, 0, 1, 2, 3]) for document in rng.sample(documents, 8)}
            parts = range(rng.randint(1, 3)) if kind == "prefs" else [0]
            for part in parts:
                named = f" s{part}" if kind == "prefs" else ""
                rows += [
                    f"{query} g{group}{named} {document} {worth[document]}"
                    for document in rng.sample(list(worth), 5)
                ]
        ranked += [
            f"{query} Q0 {document} 0 {rng.choice([1, 2, 2.5])} tag" for document in rng.sample(documents, 9)
        ]
    (tmp_path / "judgments").write_text("\n".join(rows) + "\n")
    (tmp_path / "run").write_text("\n".join(ranked) + "\n")
    measures = "qrels_jg" if kind == "qrels_jg" else "all_prefs"
    command = ["-R", kind, "-q", "-c", "-m", measures, str(tmp_path / "judgments"), str(tmp_path / "run")]
    about = subprocess.run([str(INSTALLED), "-v"], capture_output=True, text=True, check=False).stderr
    theirs = subprocess.run([str(INSTALLED), *command], capture_output=True, text=True, check=True)
    ours = run("trec_eval", "--trec-version", "10" if " 10" in about else "9", *command)

    assert ours.stdout == theirs.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "q u a d1 2\nq u a d1 2\nq u a d2 1\n",
            "prefs:2: document `d1` of group `u` on query `q` is twice in a sub-group",
        ),
        (
            "q u a d1 2\nq u a d2 1\nq u b d1 0\n",
            "prefs:3: document `d1` of group `u` on query `q` has level 0 here",
        ),
        (
            "q u a d1 2\nq u a d2 1\nq u b d2 2\nq u b d1 1\n",
            "group `u` on query `q`: its sub-groups prefer `d1` to `d2` and `d2` to `d1`",
        ),
        ("q u d1 2\nq u d2 1\n", "prefs:1: 4 columns, expected 5"),
        ("q u a d1 2 more\n", "1 line has more than 5 columns"),
        ("q u a d1 high\n", "prefs:1: level is `high`, expected a number"),
        ("q u a d1 nan\n", "prefs:1: level is nan, expected a finite number"),
        ("", "holds no preferences"),
    ],
)
def test_what_means_nothing_is_refused_with_its_line(content: str, message: str, tmp_path: Path) -> None:
    """trec_eval counts the first case twice, aborts at the third, and stops at the others without a line."""
    (tmp_path / "prefs").write_text(content)
    (tmp_path / "run").write_text("q Q0 d1 1 2.0 tag\n")
    result = run("trec_eval", "-R", "prefs", "-m", "all_prefs", tmp_path / "prefs", tmp_path / "run")

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_only_num_q_and_runid_need_no_measure(tmp_path: Path) -> None:
    """They are printed though nothing else is asked for."""
    (tmp_path / "prefs").write_text("q u a d1 2\nr u a d1 2\n")
    (tmp_path / "run").write_text("q Q0 d1 1 2.0 tag\n")
    files = tmp_path / "prefs", tmp_path / "run"
    result = run("trec_eval", "-R", "prefs", "-c", "-m", "num_q", "-m", "runid", *files)

    assert result.stdout == "runid                 \tall\ttag\nnum_q                 \tall\t2\n"


def test_score_takes_preferences_where_the_measure_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """As trec_eval 9.0.4 (file 01) says for `prefs_simp` and the tie rule it has; a note counts ties."""
    monkeypatch.chdir(RECORDED)
    asked = ["-m", "prefs_simp", "--format", "csv", "--per-query", "--missing", "skip"]
    result = run("score", "prefs", "run", *asked, "--ties", "document-ascending")
    recorded = [line.split("\t") for line in (RECORDED / "trec_eval-9.0.4-01.txt").read_text().splitlines()]
    expected = {query: value for name, query, value in recorded[1:] if name.strip() == "prefs_simp"}
    scores = {row["query"]: float(row["value"]) for row in csv.DictReader(result.stdout.splitlines())}

    assert result.exit_code == 0, result.stderr
    assert {query: f"{score:.4f}" for query, score in scores.items()} == {
        query: value for query, value in expected.items() if query != "all"
    }
    assert "order ties by document id" not in result.stderr
    assert "trec_eval's `prefs_*` order ties" in run("score", "prefs", "run", "-m", "prefs_simp").stderr


def test_score_refuses_measures_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """One file cannot hold both."""
    monkeypatch.chdir(RECORDED)
    result = run("score", "prefs", "run", "-m", "prefs_simp AP")

    assert result.exit_code == 2
    assert "`prefs_simp` is a measure of preferences and `AP` of judgments" in result.stderr


def test_binary_grades_and_preferences_exclude_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting that cannot hold is refused, not passed over."""
    monkeypatch.chdir(RECORDED)
    (tmp_path / "settings.yaml").write_text("retrieval_metrics:\n  graded_relevance: false\n")
    result = run("score", "prefs", "run", "-m", "prefs_simp", "--config", tmp_path / "settings.yaml")

    assert result.exit_code == 2
    assert "`graded_relevance: false`" in result.stderr
