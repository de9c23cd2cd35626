"""`judged trec_eval` prints what trec_eval prints.

`recorded/` holds trec_eval's own output, each file with the version and the command that made it
(`recorded/record.py`). Two more tests compare with trec_eval itself where it is installed, and with its own
regression tests where they are at hand.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judged import PROFILES
from judged.cli.main import judged

RECORDED = Path(__file__).parent / "recorded"
FILES = sorted(RECORDED.glob("trec_eval-*.txt"))


def run(*arguments: object) -> Result:
    """What `judged trec_eval` does with these arguments."""
    return CliRunner().invoke(judged, ["trec_eval", *map(str, arguments)])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_prints_what_was_recorded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every byte of standard output is that of the version recorded."""
    head, _, expected = path.read_text().partition("\n")
    version, _, command = head.removeprefix("# trec_eval ").partition(": trec_eval ")
    monkeypatch.chdir(RECORDED)
    result = run("--trec-version", version.partition(".")[0], *command.split())

    assert result.exit_code == 0, result.stderr
    assert result.stdout == expected


def test_recordings_are_there() -> None:
    """Both versions are recorded."""
    assert {path.name.split("-")[1] for path in FILES} == {"9.0.4", "10.0"}
    assert len(FILES) == 20


def test_missing_queries_are_left_out_where_trec_eval_10_stops() -> None:
    """Without -c, 10.0 exits with 4 if a judged query has no results; here the others are averaged, with a note."""
    result = run("--trec-version", "10", "-m", "num_q", RECORDED / "qrels", RECORDED / "run")

    assert (result.exit_code, result.stdout) == (0, "num_q                 \tall\t3\n")
    assert "1 judged queries have no results and are left out" in result.stderr


def test_the_long_options_of_trec_eval_are_known() -> None:
    """Every flag may be written out as trec_eval has it."""
    options = "--query_eval_wanted --complete_rel_info_wanted --level_for_rel 2 --Judged_docs_only"
    options += " --Max_retrieved_per_topic 5 --measure map --Number_docs_in_coll 100"
    long = run(*options.split(), RECORDED / "qrels", RECORDED / "run")
    short = run("-qcJ", "-l2", "-M5", "-N100", "-mmap", RECORDED / "qrels", RECORDED / "run")

    assert long.exit_code == 0
    assert long.stdout == short.stdout


def test_no_summary_without_queries_prints_nothing() -> None:
    """`-n` alone leaves nothing to say."""
    result = run("-n", RECORDED / "qrels", RECORDED / "run")

    assert (result.exit_code, result.stdout) == (0, "")


def test_the_run_may_come_from_standard_input() -> None:
    """`-` is the run, tag and all."""
    run_bytes = (RECORDED / "run").read_bytes()
    arguments = ["trec_eval", "-m", "runid", "-m", "num_ret", str(RECORDED / "qrels"), "-"]
    result = CliRunner().invoke(judged, arguments, input=run_bytes)

    assert result.stdout == "runid                 \tall\trecorded\nnum_ret               \tall\t75\n"


def test_the_tag_is_that_of_the_last_line(tmp_path: Path) -> None:
    """As in trec_eval, the last line names the run; blank lines and comments do not count."""
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 2.0 first\nq Q0 e 2 1.0 last\n\n# not me\n")
    result = run("-m", "runid", tmp_path / "qrels", tmp_path / "run")

    assert result.stdout == "runid                 \tall\tlast\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "ndgc"], "no measure of trec_eval 9 is called `ndgc`"),
        (["-m", "prefs_simp"], "`prefs_simp`"),
        (["-R", "prefs"], "with `-R prefs`, ask for `-m prefs`"),
        (
            ["-R", "qrels_jg", "-m", "prefs"],
            "needs judgments of another kind: `-R prefs` or `-R qrels_prefs`",
        ),
        (["-R", "other"], "'other' is not one of"),
        (["-T", "other"], "`-T other` is not known here"),
        (["-Z", "scores"], "`-Z` is not known here"),
        (["-l", "-1"], "`rel` of a protocol is -1"),
        (["-M", "0"], "`depth` of a protocol is 0"),
    ],
)
def test_what_is_not_there_is_refused_in_words(arguments: list[str], message: str) -> None:
    """Measures and formats that are not known, and limits that mean nothing, exit with 2."""
    result = run(*arguments, RECORDED / "qrels", RECORDED / "run")

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_run_without_judged_queries_is_refused(tmp_path: Path) -> None:
    """Nothing in common is an error, as it is in trec_eval."""
    (tmp_path / "run").write_text("nowhere Q0 d 1 2.0 tag\n")
    result = run(RECORDED / "qrels", tmp_path / "run")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "none of them is judged" in result.stderr


INSTALLED = shutil.which("trec_eval")


@pytest.mark.skipif(INSTALLED is None, reason="no `trec_eval` on PATH")
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_the_trec_eval_installed(seed: int, tmp_path: Path) -> None:
    """Random judgments and runs with ties and gaps print the same, whichever version is installed."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    documents = [f"d{number}" for number in range(30)]
    judgments, rows = [], []
    for query in ("1", "2", "10"):
        judgments += [
            f"{query} 0 {document} {rng.choice([0, 1, 2])}" for document in rng.sample(documents, 15)
        ]
        rows += [
            f"{query} Q0 {document} 0 {rng.choice([1, 2, 2.5])} tag" for document in rng.sample(documents, 20)
        ]
    (tmp_path / "qrels").write_text("\n".join(judgments) + "\n")
    (tmp_path / "run").write_text("\n".join(rows) + "\n")
    arguments = ["-q", "-c", "-l", str(1 + seed % 2), "-m", "official", "-m", "ndcg_cut", "-m", "set"]
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    about = subprocess.run([str(INSTALLED), "-v"], capture_output=True, text=True, check=False).stderr
    theirs = subprocess.run([str(INSTALLED), *arguments, *files], capture_output=True, text=True, check=True)
    ours = run("--trec-version", "10" if " 10" in about else "9", *arguments, *files)

    assert ours.stdout == theirs.stdout


def shared(name: str) -> Path | None:
    """A folder of the data that lies beside the project, if it does."""
    root = os.environ.get("JUDGED_SHARED_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data"
    folder = Path(root) / name
    return folder if folder.exists() else None


REGRESSION = shared("trec_eval_tests")
EDGE_CASES = shared("edge_cases")
OWN_TESTS = {
    "out.test": "qrels.test results.test",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-m all_trec -q qrels.test results.test",
    "out.test.aqc": "-m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM": "-m all_trec -q -c -M100 qrels.test results.trunc",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.meas_params": (
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35"
        " -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4"
        " -msuccess.2,5,20 qrels.test results.test"
    ),
}
"""The commands of trec_eval's own `make quicktest`, for the formats known here."""


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """trec_eval's own test files, unpacked."""
    folder = tmp_path_factory.mktemp("trec_eval")
    assert REGRESSION is not None
    with tarfile.open(REGRESSION / "trec_eval_tests.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.skipif(REGRESSION is None, reason="trec_eval's own tests are not at hand (JUDGED_SHARED_DATA)")
@pytest.mark.parametrize("name", OWN_TESTS)
@pytest.mark.parametrize("version", ["9", "10"])
def test_passes_the_tests_of_trec_eval(
    version: str, name: str, unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The expected outputs that come with trec_eval, of both versions; 10's undefined `rbp` on grades aside."""
    monkeypatch.chdir(unpacked / "v10" / "test")
    expected = (unpacked / {"9": "v9.0.4", "10": "v10/test"}[version] / name).read_text()
    result = run("--trec-version", version, *OWN_TESTS[name].split())

    assert result.exit_code == 0, result.stderr
    assert list(defined(result.stdout)) == list(defined(expected))


@pytest.mark.skipif(REGRESSION is None, reason="trec_eval's own tests are not at hand (JUDGED_SHARED_DATA)")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("qrels.test.with-comments results.test", "out.test"),
        ("qrels.comment.test results.comment.test", "out.comment.test"),
    ],
)
def test_comments_are_passed_over_as_in_trec_eval_10(
    command: str, name: str, unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that begins with `#` is a comment; a `#` in an id is part of it."""
    monkeypatch.chdir(unpacked / "v10" / "test")
    result = run("--trec-version", "10", *command.split())

    assert result.stdout == Path(name).read_text()


def edge_cases() -> Iterator[tuple[str, str, str]]:
    """Every recorded case: folder, version, which queries."""
    for folder in sorted(EDGE_CASES.iterdir()) if EDGE_CASES else ():
        for version in ("904", "10"):
            for queries in ("complete", "intersection"):
                if (folder / f"trec_eval_{version}.{queries}.txt").exists():
                    yield folder.name, version, queries


@pytest.mark.skipif(EDGE_CASES is None, reason="the edge cases are not at hand (JUDGED_SHARED_DATA)")
@pytest.mark.parametrize(("case", "version", "queries"), list(edge_cases()))
def test_edge_cases_print_the_same_or_are_refused(case: str, version: str, queries: str) -> None:
    """What trec_eval prints; what it refuses (a document twice) or should (NaN) is refused with 2."""
    assert EDGE_CASES is not None
    folder = EDGE_CASES / case
    expected = (folder / f"trec_eval_{version}.{queries}.txt").read_text()
    complete = ["-c"] if queries == "complete" else []
    arguments = ["--trec-version", version[:1].replace("1", "10"), "-q", *complete, "-m", "all_trec"]
    result = run(*arguments, folder / "qrels", folder / "run")

    if case in {"G", "K"}:
        assert result.exit_code == 2
    elif expected.startswith("EXIT"):
        assert (case, version, queries) == ("C1", "10", "intersection")
        assert "trec_eval 10.0 stops here" in result.stderr
    else:
        assert list(defined(result.stdout)) == list(defined(expected))


def defined(output: str) -> Iterator[str]:
    """The lines that do not depend on memory nobody has set: all but `rbp` of trec_eval 10."""
    return (line for line in output.splitlines() if not line.startswith("rbp "))


@pytest.mark.parametrize("version", ["9", "10"])
@pytest.mark.parametrize(
    ("arguments", "qrels", "line"),
    [
        # trec_eval 9.0.4 and 10.0 print `-nan` for these: an empty list after -J, and an ideal gain of 0
        (["-J", "-m", "11pt_avg"], "q 0 d1 1", "11pt_avg              \tall\t0.0000\n"),
        (["-l", "0", "-m", "Rndcg"], "q 0 x 0", "Rndcg                 \tall\t0.0000\n"),
    ],
)
def test_0_stands_where_trec_eval_divides_0_by_0(
    arguments: list[str], qrels: str, line: str, version: str, tmp_path: Path
) -> None:
    """Its `-nan` is not imitated, and both profiles say so."""
    (tmp_path / "qrels").write_text(f"{qrels}\n")
    (tmp_path / "run").write_text("q Q0 x 1 1 tag\n")
    result = run("--trec-version", version, *arguments, tmp_path / "qrels", tmp_path / "run")

    assert result.stdout == line
    assert any("`-nan`" in caveat for caveat in PROFILES[f"trec_eval-{version}"].caveats)


def test_conflicting_levels_are_refused_in_queries_that_are_not_in_the_run(tmp_path: Path) -> None:
    """trec_eval 9.0.4 prints prefs_simp 0.5000 here, since it never looks at q2; 10.0 stops with exit code 4."""
    (tmp_path / "prefs").write_text(
        "q1 0 1 d1 2\nq1 0 1 d2 1\nq2 0 1 d1 2\nq2 0 1 d2 3\nq2 0 2 d1 0\nq2 0 2 d2 3\n"
    )
    (tmp_path / "run").write_text("q1 Q0 d1 1 3 tag\nq1 Q0 d2 2 2 tag\n")
    result = run("-c", "-R", "prefs", "-m", "prefs_simp", tmp_path / "prefs", tmp_path / "run")

    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        "prefs:5: document `d1` of group `0` on query `q2` has level 0 here and more elsewhere"
        in result.stderr
    )
