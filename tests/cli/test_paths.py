"""One meaning of paths: what is on disk is the same systems to every command, and to Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import judged
from judged.cli.main import judged as command
from tests.cli.conftest import Invoke

QRELS = "q1 0 d1 1\nq2 0 d1 0\nq2 0 d2 1\n"
GOOD = "q1 Q0 d1 1 2.0 tag\nq2 Q0 d2 1 1.0 tag\n"
BAD = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\nq2 Q0 d1 1 1.0 tag\n"
FIRST, SECOND = GOOD.splitlines(keepends=True)


def make_table(**columns: list[str]) -> pa.Table:
    """Return rows of a run, with further columns."""
    rows = {"query": ["q1", "q2", "q1"], "document": ["d1", "d2", "d2"], "score": [2.0, 1.0, 1.0]}
    return pa.table({**rows, **columns})


LAYOUTS: Mapping[str, tuple[Mapping[str, str | pa.Table], tuple[str, ...], tuple[str, ...]]] = {
    "files": ({"a.run": GOOD, "b.run": BAD}, ("a.run", "b.run"), ("a", "b")),
    "folder": ({"runs/a.run": GOOD, "runs/b.run": BAD}, ("runs",), ("a", "b")),
    "pattern": ({"runs/a.run": GOOD, "runs/b.run": BAD}, ("runs/*.run",), ("a", "b")),
    "folder in natural order": (
        {"runs/r10.run": GOOD, "runs/r9.run": BAD, "runs/README.md": "# Runs", "runs/qrels.txt": QRELS},
        ("runs",),
        ("r9", "r10"),
    ),
    "folder and file": ({"runs/a.run": GOOD, "b.run": BAD}, ("runs", "b.run"), ("a", "b")),
    "parts by name": (
        {"parts/1.run": FIRST, "parts/2.run": SECOND, "b.run": BAD},
        ("a=parts/*", "b.run"),
        ("a", "b"),
    ),
    "joined folders": (
        {"a/part-0.run": FIRST, "a/part-1.run": SECOND, "b/part-0.run": BAD},
        ("a", "b", "--join"),
        ("a", "b"),
    ),
    "tables": ({"runs/a.parquet": make_table(), "runs/b.parquet": make_table()}, ("runs",), ("a", "b")),
    "data sets": (
        {"a/part-0.parquet": make_table(), "b/0.parquet": make_table()},
        ("a", "b"),
        ("a", "b"),
    ),
    "column of systems": (
        {"all.parquet": make_table(system=["a", "a", "b"])},
        ("all.parquet",),
        ("a", "b"),
    ),
    "data set with a column of systems": (
        {"all/part-0.parquet": make_table(system=["a", "a", "b"])},
        ("all",),
        ("a", "b"),
    ),
    "folders by key": (
        {"all/system=a/0.parquet": make_table(), "all/system=b/0.parquet": make_table()},
        ("all",),
        ("a", "b"),
    ),
}
"""For each layout: the files, the arguments, and the systems that these are to every command."""


@pytest.fixture
def lay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[str, ...]]:
    """Return what writes a layout into the current folder, and returns its arguments."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)

    def write(name: str) -> tuple[str, ...]:
        files, arguments, _ = LAYOUTS[name]
        for path, content in files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                Path(path).write_text(content)
            else:
                pq.write_table(content, path)
        return arguments

    return write


def score(invoke: Invoke, arguments: tuple[str, ...]) -> list[str]:
    """Return the systems that `judged score` scores."""
    result = invoke("score", "qrels", *arguments, "-m", "RR", "--format", "csv", "-q")
    assert result.exit_code == 0, result.output
    return [line.split(",")[0] for line in result.stdout.splitlines()[1:]]


def compare(invoke: Invoke, arguments: tuple[str, ...]) -> list[str]:
    """Return the systems that `judged compare` compares."""
    result = invoke("compare", "qrels", *arguments, "-m", "RR", "--format", "json", "-q")
    assert result.exit_code == 0, result.output
    return list(json.loads(result.stdout)["systems"])


def gate(invoke: Invoke, arguments: tuple[str, ...]) -> list[str]:
    """Return the systems of the gates of `judged gate`, each argument by itself against a run of another name."""
    Path("old.run").write_text(BAD)
    join = tuple(argument for argument in arguments if argument == "--join")
    systems = []
    for argument in arguments:
        if argument != "--join":
            result = invoke(
                *("gate", "qrels", argument, "--baseline", "old.run", "-m", "RR", *join),
                *("--format", "json", "-q", "--inconclusive", "pass"),
            )
            assert result.exit_code in {0, 1}, result.output
            systems += [gate["run"] for gate in json.loads(result.stdout)["gates"]]
    return systems


def gate_file(invoke: Invoke, arguments: tuple[str, ...]) -> list[str]:
    """Return the systems of the gates that a file describes."""
    Path("old.run").write_text(BAD)
    join = str("--join" in arguments).lower()
    lines = [
        f"  - {{run: '{argument}', qrels: qrels, baseline: old.run, measures: RR, join: {join}}}"
        for argument in arguments
        if argument != "--join"
    ]
    Path("gates.yaml").write_text("\n".join(["gates:", *lines]))
    result = invoke("gate", "--config", "gates.yaml", "--format", "json", "-q", "--inconclusive", "pass")
    assert result.exit_code in {0, 1}, result.output
    return [gate["run"] for gate in json.loads(result.stdout)["gates"]]


def lint(invoke: Invoke, arguments: tuple[str, ...]) -> int:
    """Return how many runs `judged lint` checks, none of which has an error."""
    result = invoke("lint", "qrels", *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return len(json.loads(result.stdout)["tables"]["files"]) - 1


def view(arguments: tuple[str, ...]) -> list[str]:
    """Return the systems that `judged view` shows."""
    from judged.cli.view import _choose
    from judged.cli.viewing import ViewOptions
    from judged.comparison.settings import Settings
    from judged.profiles.profile import PROFILES

    join = "--join" in arguments
    paths = tuple(argument for argument in arguments if argument != "--join")
    options = ViewOptions(("RR",), (), None, Settings(), PROFILES["trec_eval-9"], join)
    live, _ = _choose(("qrels", *paths), options)
    (result,) = live.read("inputs").results
    return [evaluation.system for evaluation in result.evaluations()]


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_command_sees_the_same_systems(
    name: str, lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """In `score`, `compare`, gates, `lint`, `view` and `evaluate_many` alike."""
    arguments, expected = lay_out(name), list(LAYOUTS[name][2])
    paths = [argument for argument in arguments if argument != "--join" and "=" not in argument]

    assert score(invoke, arguments) == expected
    assert compare(invoke, arguments) == expected
    assert gate(invoke, arguments) == expected
    assert gate_file(invoke, arguments) == expected
    assert view(arguments) == expected
    assert lint(invoke, arguments) == len(expected)
    if len(paths) == len([argument for argument in arguments if argument != "--join"]):
        join = "--join" in arguments
        found = judged.evaluate_many("qrels", paths, "RR", join=join)
        assert list(found) == expected
        assert judged.compare("qrels", paths, "RR", join=join).systems == tuple(expected)


@pytest.mark.parametrize("name", [name for name, (_, arguments, _) in LAYOUTS.items() if len(arguments) == 1])
def test_explain_takes_one_system_and_names_those_that_are_there(
    name: str, lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """Of several it takes none by itself."""
    (argument,), systems = lay_out(name), LAYOUTS[name][2]
    result = invoke("explain", "qrels", argument, "-m", "RR", "--query", "q1")

    assert result.exit_code == 2
    assert f"holds 2 systems ({' and '.join(systems)}), expected one" in result.stderr


def test_explain_chooses_a_system_of_a_table_and_joins_parts(
    lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """By a name, or with `--join`."""
    lay_out("column of systems")
    lay_out("joined folders")
    for arguments, value in ((("b=all.parquet",), "0.0000"), (("a", "--join"), "1.0000")):
        result = invoke("explain", "qrels", *arguments, "-m", "RR", "--query", "q1")

        assert result.exit_code == 0, result.output
        assert f"RR of query q1 in {arguments[0].partition('=')[0]}: {value}" in result.stdout


@pytest.mark.parametrize("baseline", ["b", "runs/b.run", "./runs/b.run"])
def test_a_baseline_is_a_name_or_a_path_as_typed(
    baseline: str, lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """In `compare`, and in a gate of a folder, which then has no gate of the baseline against itself."""
    lay_out("folder")
    compared = invoke("compare", "qrels", "runs", "-m", "RR", "--baseline", baseline, "--format", "json")
    gated = invoke("gate", "qrels", "runs", "-m", "RR", "--baseline", baseline, "--format", "json")
    Path("gates.yaml").write_text(f"gates: [{{qrels: qrels, run: runs, baseline: {baseline}, name: all}}]")
    described = invoke("gate", "--config", "gates.yaml", "--format", "json")

    assert json.loads(compared.stdout)["baselines"] == ["b"]
    for result in (gated, described):
        (gate,) = json.loads(result.stdout)["gates"]
        assert (gate["run"], gate["baseline"]) == ("a", "b")


@pytest.mark.parametrize("baseline", ["b.run", "./b.run", "x=b.run"])
def test_a_baseline_may_be_a_file_that_is_not_listed(baseline: str, invoke: Invoke) -> None:
    """On the command line, and in Python with a path, whatever form the runs have."""
    for name, text in (("qrels", QRELS), ("a.run", GOOD), ("b.run", BAD)):
        Path(name).write_text(text)
    done = invoke("compare", "qrels", "a.run", "-m", "RR", "--baseline", baseline, "--format", "json")
    path = baseline.rpartition("=")[2]

    assert json.loads(done.stdout)["systems"] == ["a", "x" if "=" in baseline else "b"]
    for runs in ("a.run", ["a.run"], {"a": "a.run"}):
        compared = judged.compare("qrels", runs, "RR", baseline=path)
        assert (compared.systems, compared.baselines) == (("a", "b"), ("b",))
    assert judged.compare("qrels", ["a.run", "b.run"], "RR", baseline=path).systems == ("a", "b")
    assert judged.compare("qrels", "[ab].run", "RR", baseline=path).systems == ("a", "b")


def test_python_joins_files_where_commands_do(lay_out: Callable[[str], tuple[str, ...]]) -> None:
    """`gate` and `explain` take `join`, and scores that exist already refuse it."""
    lay_out("joined folders")
    for folder in (Path("a"), Path("b")):
        assert judged.explain("qrels", folder, "RR", query="q1", join=True).run == folder.name
    report = judged.gate("qrels", "a", "RR", baseline="a", join=True)
    evaluation = judged.evaluate("qrels", "a", "RR", join=True)

    assert report.verdict == "pass"
    with pytest.raises(judged.JudgedError, match="called like parts of one run"):
        judged.gate("qrels", "a", "RR", baseline="a")
    with pytest.raises(judged.JudgedError, match="called like parts of one run"):
        judged.explain("qrels", "a", "RR", query="q1")
    with pytest.raises(judged.JudgedError, match="`join` has no effect on scores"):
        judged.compare([evaluation, evaluation], join=True)
    with pytest.raises(judged.JudgedError, match="`join` has no effect on scores"):
        judged.gate(evaluation, baseline=evaluation, join=True)


def test_a_baseline_that_is_neither_is_refused(
    lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """With the systems that there are, or the file that is missing."""
    lay_out("folder")
    several = invoke("gate", "qrels", "runs", "--baseline", "c")
    single = invoke("gate", "qrels", "runs/a.run", "--baseline", "c.run")
    compared = invoke("compare", "qrels", "runs", "--baseline", "runs/c.run")

    assert "no file or system for the baseline is called `c`" in several.stderr
    assert "c.run does not exist" in single.stderr
    assert "no run is called `runs/c.run`" in compared.stderr
    assert {result.exit_code for result in (several, single, compared)} == {2}


def test_files_that_were_left_out_are_noted(
    lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """Once, however many systems there are."""
    lay_out("folder in natural order")
    result = invoke("score", "qrels", "runs")

    assert (
        result.stderr.count("left out of runs: 1 document (README.md); 1 file of judgments (qrels.txt)") == 1
    )


OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "score": ("qrels", "a.run"),
    "compare": ("qrels", "a.run", "b.run"),
    "gate": ("qrels", "a.run", "--baseline", "b.run"),
    "explain": ("qrels", "a.run", "--query", "q1"),
    "power": ("qrels", "a.run", "b.run", "--difference", "0.1"),
    "report": ("result.json",),
    "lint": ("qrels", "a.run", "--fix", "first"),
    "fuse": ("a.run", "b.run"),
    "agreement": ("qrels", "qrels"),
    "routing": ("qrels",),
    "sessions": ("trace.jsonl",),
    "label": ("trace.jsonl", "--endpoint", "http://localhost:9", "--model", "m"),
    "run": ("study.yaml",),
    "index": ("--dataset", "digits"),
    "answers": ("responses.jsonl", "--labels", "labels.jsonl"),
    "clicks": ("log.csv",),
    "interleave": ("a.run", "b.run"),
}
"""Arguments of every command that writes a file whose extension says its format."""


def test_every_command_with_outputs_is_listed() -> None:
    """A new one is added above."""
    context = click.Context(command)
    commands = {name: command.get_command(context, name) for name in command.list_commands(context)}
    writing = {
        name
        for name, known in commands.items()
        if known is not None and any("-o" in getattr(param, "opts", ()) for param in known.params)
    }

    # `-o` of the first is trec_eval's own flag, that of the second a folder
    assert writing - {"trec_eval", "questions"} == set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_unknown_extension_is_refused_before_any_work(
    name: str, lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """By every command that writes files, in words; nothing is written."""
    lay_out("files")
    judged.evaluate("qrels", "a.run", "AP").save("result.json")
    for path in ("trace.jsonl", "study.yaml", "labels.jsonl", "responses.jsonl", "log.csv"):
        Path(path).write_text("{}\n")
    result = invoke(name, *OUTPUTS[name], "-o", "out.docx")

    assert result.exit_code == 2, result.output
    assert "out.docx" in result.stderr
    assert ".docx" in result.stderr
    assert not Path("out.docx").exists()


@pytest.mark.parametrize("name", ["result.json.gz", "means.csv.gz", "page.HTML"])
def test_the_command_line_writes_what_save_writes(
    name: str, lay_out: Callable[[str], tuple[str, ...]], invoke: Invoke
) -> None:
    """Compressed, too, and in any case."""
    lay_out("files")
    result = invoke("score", "qrels", "a.run", "-m", "AP", "-o", name, "-q")

    assert result.exit_code == 0, result.output
    content = Path(name).read_bytes()
    assert content.startswith(b"\x1f\x8b") == name.endswith(".gz")
    if "json" in name:
        assert judged.load(name).kind == "evaluations"


def test_a_report_is_html() -> None:
    """`Result.report` refuses a name that promises something else."""
    with pytest.raises(judged.errors.UnknownName, match=r"no format of `report\.pdf`"):
        judged.evaluate(QRELS.encode(), GOOD.encode(), "AP").report("report.pdf")
