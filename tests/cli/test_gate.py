"""`judged gate` in processes of its own: exit codes, outputs, files of gates, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import judged
from cli.conftest import Execute, Invoke


@pytest.fixture(autouse=True)
def runs(collection: Path) -> None:
    """Forty queries in `many.txt`; `old.run`, `new.run` nearly as good, `bad.run` worse, `odd.run` too noisy to say."""
    rng = random.Random(3)  # noqa: S311 - a fixed seed, not a secret
    lines: dict[str, list[str]] = {
        name: [] for name in ("many.txt", "old.run", "new.run", "bad.run", "odd.run")
    }
    for query in range(40):
        grades = {f"d{number}": rng.choice([0, 0, 1, 2]) for number in range(8)}
        lines["many.txt"] += [f"q{query} 0 {document} {grade}\n" for document, grade in grades.items()]
        scores = {document: grade + rng.gauss(0, 1) for document, grade in grades.items()}
        for name, noise in (("old.run", 0.0), ("new.run", 0.05), ("bad.run", 2.5), ("odd.run", 0.6)):
            lines[name] += [f"q{query} Q0 {d} 0 {s + rng.gauss(0, noise):.6f} t\n" for d, s in scores.items()]
    for name, content in lines.items():
        (collection / name).write_text("".join(content))


@pytest.mark.parametrize(
    ("run", "more", "code", "verdict"),
    [
        ("new.run", (), 0, "pass"),
        ("bad.run", (), 1, "fail"),
        ("odd.run", (), 3, "inconclusive"),
        ("odd.run", ("--inconclusive", "pass"), 0, "inconclusive"),
        ("odd.run", ("--inconclusive", "fail"), 1, "inconclusive"),
        ("odd.run", ("--inconclusive", "77"), 77, "inconclusive"),
        ("bad.run", ("--inconclusive", "pass"), 1, "fail"),
        ("old.run", ("--min-delta", "0"), 0, "pass"),
        ("new.run", ("--test", "randomisation"), 0, "pass"),
        ("bad.run", ("--test", "randomisation", "--seed", "4"), 1, "fail"),
    ],
)
def test_the_exit_code_is_the_verdict(
    execute: Execute, run: str, more: tuple[str, ...], code: int, verdict: str
) -> None:
    """0 pass, 1 regression, and what was chosen for the inconclusive."""
    done = execute("gate", "many.txt", run, "--baseline", "old.run", "-m", "nDCG@10", *more)

    assert done.returncode == code
    assert done.stdout.splitlines()[0].startswith(f"Verdict: {verdict} (")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("many.txt", "new.run"), "--baseline not given"),
        ((), "QRELS and RUN and --baseline not given"),
        (("many.txt", "none.run", "--baseline", "old.run"), "none.run does not exist"),
        (("many.txt", "new.run", "--baseline", "none.run"), "none.run does not exist"),
        (("many.txt", "new.run", "--baseline", "old.run", "--alpha", "2"), "`alpha` is 2.0, expected"),
        (("many.txt", "new.run", "--baseline", "old.run", "--alpha", "0"), "`alpha` is 0.0, expected"),
        (
            ("many.txt", "new.run", "--baseline", "old.run", "--min-delta", "x"),
            "`min_delta` is `x`, expected",
        ),
        (("many.txt", "new.run", "--baseline", "old.run", "-m", "nDGC@5"), "did you mean `nDCG@5`?"),
        (
            ("many.txt", "new.run", "--baseline", "old.run", "--inconclusive", "2"),
            "`2` is not `pass`, `fail`",
        ),
        (("many.txt", "new.run", "--baseline", "old.run", "--inconclusive", "256"), "`256` is not `pass`"),
        (
            ("many.txt", "new.run", "--baseline", "old.run", "-o", "gate.pdf"),
            "known extensions: .txt .md .xml .json",
        ),
        (("many.txt", "new.run", "--baseline", "old.run", "-o", "no/gate.md"), "`no` is not a folder"),
        (("-", "-", "--baseline", "old.run"), "only one input can be read from standard input"),
        (("many.txt", "-", "--baseline", "-"), "only one input can be read from standard input"),
        (("many.txt", "many.txt", "--baseline", "old.run"), "many.txt"),
    ],
)
def test_mistakes_exit_with_2_and_words(execute: Execute, arguments: tuple[str, ...], words: str) -> None:
    """On standard error, without a traceback."""
    done = execute("gate", *arguments)

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_outputs_are_written_in_the_formats_of_their_extensions(invoke: Invoke, collection: Path) -> None:
    """XML, Markdown, JSON and text; the printed format is one of them too."""
    names = ("gate.xml", "gate.md", "gate.json", "gate.txt")
    words = [word for name in names for word in ("-o", name)]
    done = invoke("gate", "many.txt", "bad.run", "--baseline", "old.run", *words, "--format", "json")
    document = json.loads((collection / "gate.json").read_text())
    xml = ET.fromstring((collection / "gate.xml").read_text())  # noqa: S314

    assert done.exit_code == 1
    assert json.loads(done.stdout) == document
    assert (document["schema"], judged.load(collection / "gate.json").kind) == ("judged.gates/1", "gates")
    assert (document["verdict"], document["exit_code"]) == ("fail", 1)
    assert document["gates"][0]["tables"]["measures"][0]["measure"] == "nDCG@10"
    assert xml.get("failures") == "1"
    assert (collection / "gate.md").read_text().startswith("## ❌ fail: bad against old\n")
    assert (collection / "gate.txt").read_text().startswith("Verdict: fail (")
    assert "Wrote: gate.xml" in done.stderr


def test_outputs_are_there_whatever_the_verdict_but_not_after_a_mistake(
    invoke: Invoke, collection: Path
) -> None:
    """A CI server collects them after a failure."""
    invoke("gate", "many.txt", "odd.run", "--baseline", "old.run", "-o", "odd.xml", "--inconclusive", "pass")
    invoke("gate", "many.txt", "odd.run", "--baseline", "old.run", "-o", "bad.xml", "--min-delta", "x")

    assert "<skipped" in (collection / "odd.xml").read_text()
    assert not (collection / "bad.xml").exists()


def test_a_baseline_is_stored_once_and_gated_on_later(invoke: Invoke) -> None:
    """The way of CI: scores of what is deployed are kept, runs come and go."""
    invoke("score", "many.txt", "old.run", "-m", "nDCG@10 AP", "--per-query", "-o", "scores.parquet")
    live, kept = (
        invoke("gate", "many.txt", "new.run", "--baseline", name, "-m", "nDCG@10 AP")
        for name in ("old.run", "scores.parquet")
    )
    other = invoke("gate", "many.txt", "new.run", "--baseline", "scores.parquet", "--ties", "input-order")
    allowed = invoke(
        "gate",
        "many.txt",
        "new.run",
        "--baseline",
        "scores.parquet",
        "--ties",
        "input-order",
        "--allow-other-protocol",
    )

    assert (live.exit_code, kept.exit_code, other.exit_code, allowed.exit_code) == (0, 0, 2, 0)
    assert live.stdout == kept.stdout
    assert "were made under protocol #ef9d040441c7, this run under custom protocol" in other.stderr
    assert "go on with `--allow-other-protocol`" in other.stderr


def test_runs_may_be_named_and_files_of_one_name_are_distinguished(invoke: Invoke, collection: Path) -> None:
    """As old and new copies of a file are, in two folders."""
    (collection / "before").mkdir()
    (collection / "before" / "new.run").write_text((collection / "old.run").read_text())
    plain = invoke("gate", "many.txt", "new.run", "--baseline", "before/new.run", "--format", "json")
    named = invoke("gate", "many.txt", "PR=new.run", "--baseline", "main=old.run", "--format", "json")

    assert json.loads(plain.stdout)["gates"][0]["name"] == "new against new (baseline)"
    assert json.loads(named.stdout)["gates"][0]["name"] == "PR against main"


def test_quiet_prints_the_verdict_only(invoke: Invoke) -> None:
    """Nothing on standard error."""
    done = invoke("gate", "many.txt", "new.run", "--baseline", "old.run", "-q")

    assert done.stderr == ""


# Files of gates

GATES = """\
defaults:
  qrels: many.txt
  baseline: old.run
gates:
  - name: strict
    run: new.run
    measures: [nDCG@10, AP]
    min_delta: -2%
  - name: loose
    run: NEW=new.run
    measures: RR
    alpha: 0.1
    min_delta: -0.5
    test: randomisation
    protocol:
      ties: input-order
"""


def test_several_gates_in_a_file_are_decided_together(execute: Execute, collection: Path) -> None:
    """Files are looked for beside the file that names them, wherever the command runs."""
    (collection / "gates.yaml").write_text(GATES)
    (collection / "elsewhere").mkdir()
    here = execute("gate", "--config", "gates.yaml", "--format", "json")
    there = execute("gate", "--config", str(collection / "gates.yaml"), "--format", "json")
    document, other = json.loads(here.stdout), json.loads(there.stdout)
    found = [
        (gate["name"], row["measure"], row["alpha"], row["min_delta"], row["test"], row["verdict"])
        for gate in document["gates"]
        for row in gate["tables"]["measures"]
    ]

    assert here.returncode == 0
    assert found == [
        ("strict", "nDCG@10", 0.05, "-2%", "t", "pass"),
        ("strict", "AP", 0.05, "-2%", "t", "pass"),
        ("loose", "RR", 0.1, "-0.5", "randomisation", "pass"),
    ]
    assert document["gates"][1]["run"] == "NEW"
    assert [gate["tables"] for gate in other["gates"]] == [gate["tables"] for gate in document["gates"]]


def test_the_worst_gate_of_a_file_decides(invoke: Invoke, collection: Path) -> None:
    """A fail among passes is a fail; an inconclusive one exits as the file says, or the command line before it."""
    (collection / "gates.yaml").write_text(f"{GATES}  - name: bad\n    run: bad.run\n")
    (collection / "odd.yaml").write_text(f"inconclusive: 9\n{GATES}  - name: odd\n    run: odd.run\n")

    assert invoke("gate", "--config", "gates.yaml").exit_code == 1
    assert invoke("gate", "--config", "odd.yaml").exit_code == 9
    assert invoke("gate", "--config", "odd.yaml", "--inconclusive", "pass").exit_code == 0


def test_a_gate_at_fault_exits_with_2_and_the_others_are_still_reported(
    invoke: Invoke, collection: Path
) -> None:
    """In the text, in XML as an error, in JSON."""
    (collection / "gates.yaml").write_text(f"{GATES}  - name: lost\n    run: none.run\n")
    done = invoke("gate", "--config", "gates.yaml", "-o", "gates.xml", "-o", "gates.json")
    document = json.loads((collection / "gates.json").read_text())
    xml = ET.fromstring((collection / "gates.xml").read_text())  # noqa: S314

    assert done.exit_code == 2
    assert "lost: error. none.run does not exist" in done.stdout
    assert [gate["verdict"] for gate in document["gates"]] == ["pass", "pass", "error"]
    assert xml.get("errors") == "1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("gates: []", "`gates` is not there, expected a list of one gate or more"),
        ("", "`gates` is not there, expected a list of one gate or more"),
        ("gates: {}", "`gates` is not there"),
        ("gate: []", "did you mean `gates`?"),
        ("gates: [{qrels: a, run: b}]", "`gates[0]`: object missing required field `baseline`"),
        ("gates: [7]", "`gates[0]`: expected `object`, got `int`"),
        ("gates: [{qrels: a, run: b, baseline: c, mesures: AP}]", "did you mean `gates[0].measures`?"),
        ("defaults: {min_detla: 0}\ngates: [{}]", "did you mean `defaults.min_delta`?"),
        (
            "gates: [{qrels: a, run: b, baseline: c, protocol: {tie: x}}]",
            "did you mean `gates[0].protocol.ties`?",
        ),
        ("gates: [{qrels: a, run: b, baseline: c, protocol: {ties: x}}]", "`ties` of a protocol is `x`"),
        ("gates: [{qrels: a, run: b, baseline: c, protocol: {profile: rnax}}]", "did you mean `ranx`?"),
        ("gates: [{qrels: a, run: b, baseline: c, alpha: 5}]", "`gates[0].alpha` is 5.0, expected"),
        (
            "gates: [{qrels: a, run: b, baseline: c, alpha: small}]",
            "`gates[0].alpha`: expected `float`, got `str`",
        ),
        ("gates: [{qrels: a, run: b, baseline: c, min_delta: small}]", "`min_delta` is `small`, expected"),
        ("gates: [{qrels: a, run: b, baseline: c, test: z}]", "`gates[0].test`: invalid enum value 'z'"),
        (
            "gates: [{qrels: a, run: b, baseline: c, name: x}, {qrels: a, run: b, baseline: c, name: x}]",
            "two gates are called `x`",
        ),
        (
            "inconclusive: maybe\ngates: [{qrels: a, run: b, baseline: c}]",
            "`inconclusive`: `maybe` is not `pass`",
        ),
        ("gates: [", "the file must be YAML"),
    ],
)
def test_a_problem_in_a_file_of_gates_is_reported_with_its_place(
    invoke: Invoke, collection: Path, content: str, words: str
) -> None:
    """Key by key, with what was meant."""
    (collection / "gates.yaml").write_text(content)
    done = invoke("gate", "--config", "gates.yaml")

    assert done.exit_code == 2
    assert words in done.stderr
    assert "gates.yaml" in done.stderr


def test_options_that_a_file_sets_are_refused_on_the_command_line(invoke: Invoke, collection: Path) -> None:
    """It would be unclear which gate it is meant for."""
    (collection / "gates.yaml").write_text(GATES)
    done = invoke(
        "gate", "many.txt", "--config", "gates.yaml", "-m", "AP", "--alpha", "0.1", "--ties", "input-order"
    )

    assert done.exit_code == 2
    assert "QRELS, --measure, --alpha, --ties cannot be combined with `--config`" in done.stderr


def test_looks_at_the_same_judgments_are_counted(execute: Execute, collection: Path) -> None:
    """By `--history`, for a gate and for each gate of a file; the exit code stays that of the verdict."""
    for number, (run, code) in enumerate((("new.run", 0), ("bad.run", 1), ("bad.run", 1)), 1):
        done = execute("gate", "many.txt", run, "--baseline", "old.run", "--history", "looks.jsonl")

        assert done.returncode == code
        assert ("decided about 2 runs" in " ".join(done.stdout.split())) == (number > 1)
    (collection / "gates.yaml").write_text(
        "gates:\n  - {qrels: many.txt, run: odd.run, baseline: old.run, measures: [nDCG@10]}\n"
    )
    done = execute("gate", "--config", "gates.yaml", "--history", "looks.jsonl", "--format", "json")

    assert json.loads(done.stdout)["gates"][0]["looks"] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("-", "new.run", "--baseline", "old.run", "--history", "looks.jsonl"),
            "no file to take a digest of",
        ),
        (
            ("many.txt", "new.run", "--baseline", "old.run", "--history", "many.txt"),
            "is not a decision of a gate",
        ),
        (("many.txt", "new.run", "--baseline", "old.run", "--history", "no/looks"), "cannot be written"),
    ],
)
def test_a_history_that_cannot_be_kept_exits_with_2(
    execute: Execute, collection: Path, arguments: tuple[str, ...], words: str
) -> None:
    """In words, without a verdict that was not counted; an input stays as it was."""
    before = (collection / "many.txt").read_text()
    done = execute("gate", *arguments, input=before if "-" in arguments else None)

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert (collection / "many.txt").read_text() == before
