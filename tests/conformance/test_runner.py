"""The runner: judged passes every case, and tools that fail, crash, hang or are missing have their own outcomes."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.__main__ import command
from conformance.cases import SUITE as FOLDER, Case, Measured, NotSupported, read_suite
from conformance.drivers import DRIVERS, Tool, find_tools
from conformance.examine import examine, judge
from conformance.page import render_json, render_markdown, render_table
from conformance.verdict import Answer, Results, Verdict, compare, summarise
from judged.errors import UnknownName, Unreadable
from judged.measures.groups import MEASURES
from judged.measures.parse import parse_measure

ROOT = Path(__file__).parents[2]
SUITE = read_suite()
PAGE = ROOT / "docs" / "compatibility.md"
ONE = next(case for case in SUITE if case.id == "layout/plain")


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case.id)
def test_judged_passes(case: Case) -> None:
    """Every value of judged is the exact one, and what is to be refused is refused by an error of its own."""
    from conformance.drivers import judged as driver

    for measure in case.measures:
        verdict = judge(driver, "", case, measure)
        assert verdict.outcome == ("refused" if case.refused else "equal"), verdict
        assert not case.refused or verdict.detail.startswith("BadInput: ")


def test_spellings_and_parameters_name_the_same_measure() -> None:
    """`measure` is how judged prints it, and `name` with `parameters` is the same."""
    for measure in (measure for case in SUITE for measure in case.measures):
        given = dict(measure.parameters)
        if "gains" in given:
            given["gains"] = {float(grade): gain for grade, gain in given["gains"].items()}
        assert parse_measure(measure.measure) == MEASURES[measure.name](**given)
        assert str(parse_measure(measure.measure)) == measure.measure


def test_judged_passes_through_the_process_of_a_tool() -> None:
    """The same by the way that other tools go, and nothing is left out."""
    verdicts = examine(Tool("judged"), SUITE)

    assert {verdict.outcome for verdict in verdicts} == {"equal", "refused"}
    assert len(verdicts) == sum(len(case.measures) for case in SUITE)


def test_the_column_of_judged_on_the_page_is_current() -> None:
    """The page of the documentation has every case, and for judged what comes out now."""
    results = Results("judged", tuple(examine(Tool("judged"), SUITE)))
    rows = re.findall(
        r"^\| ([a-z0-9-]+): (.*?) \| ([a-z ]+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = [(name, title, outcome) for name, title, outcome in rows]

    assert shown == [(case.id.partition("/")[2], case.title, summarise(results.of(case))) for case in SUITE]


def test_the_readme_has_the_summary_of_the_page() -> None:
    """The counts in the README are those of the page."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- conformance: begin -->\n")[2].partition("<!-- conformance: end -->")[0]

    assert f"\n{shown}\n" in PAGE.read_text(encoding="utf-8")
    assert f"{len(SUITE)} small cases" in readme


def test_every_driver_has_the_same_shape() -> None:
    """Each file of the drivers is listed, and has `version` and `answer`."""
    folder = FOLDER / "drivers"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}

    assert files == set(DRIVERS)
    for name in files:
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        assert "def answer(case: Case, measure: Measured, " in text
        assert '"version"' in text


FAULTY = """
import os, signal, sys, time

def version(program):
    return "1"

def answer(case, measure, program):
    if program == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if program == "leave":
        os._exit(3)
    if program == "hang":
        time.sleep(60)
    print("noise on standard output")
    raise ValueError("no such thing\\nand more")
"""


@pytest.mark.parametrize(
    ("behaviour", "outcome", "detail"),
    [
        ("crash", "crash", "ended by SIGSEGV"),
        ("leave", "crash", "ended with exit code 3"),
        ("hang", "crash", "no answer within 2 seconds"),
        ("raise", "error", "ValueError: no such thing"),
    ],
)
def test_a_tool_that_fails_does_not_end_the_runner(
    behaviour: str, outcome: str, detail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash names its signal, an exit its code, a hang the limit, an error its message; the next case is asked."""
    import conformance.drivers as folder

    (tmp_path / "sitecustomize.py").write_text(
        f"import conformance.drivers as d\nd.__path__.append({str(tmp_path)!r})\n", encoding="utf-8"
    )
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    monkeypatch.setitem(DRIVERS, "faulty", "")
    paths = [str(tmp_path), str(FOLDER.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))

    verdicts = examine(Tool("faulty", behaviour), [ONE], limit=2 if behaviour == "hang" else 60)

    assert [(verdict.outcome, verdict.detail) for verdict in verdicts] == [(outcome, detail)] * len(
        ONE.measures
    )


MEASURE = Measured("RR", "RR", {}, "-m recip_rank", {"1": Fraction(1, 3)}, Fraction(1, 3), ())


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer({"1": 1 / 3}, 1 / 3), "equal"),
        (Answer({}, 0.3333, digits=4), "equal"),
        (Answer({"1": 0.3333}, 0.3333), "different"),
        (Answer({"1": float("nan")}, 1 / 3), "different"),
        (Answer({"1": 1 / 3, "2": 0.0}, 1 / 3), "different"),
        (Answer({}, None), "different"),
    ],
)
def test_answers_are_compared(answer: Answer, outcome: str) -> None:
    """To 1e-9, or to the printed digits; NaN, a query too many, and nothing at all are different."""
    assert compare(ONE, MEASURE, answer).outcome == outcome


def test_a_number_for_input_that_should_be_refused_is_reported() -> None:
    """It is no success."""
    case = next(case for case in SUITE if case.refused)

    assert compare(case, case.measures[0], Answer({}, 0.5)).outcome == "accepted"


def test_conventions_that_a_tool_cannot_be_asked_for_are_not_held_against_it() -> None:
    """Only where the value depends on them, and only if they are not the usual ones."""
    case = next(case for case in SUITE if case.id == "lengths/depth")

    with pytest.raises(NotSupported, match="cannot be asked for `depth`: 2"):
        case.must_follow(case.measures[0])
    case.must_follow(case.measures[0], depth={2})
    ONE.must_follow(ONE.measures[0])


def test_a_case_has_the_most_serious_outcome_of_its_measures() -> None:
    """A crash outweighs a difference, and a difference says how large it is."""
    equal, off = Verdict("a", "m", "equal"), Verdict("a", "n", "different", difference=0.25)

    assert summarise([equal, off]) == "different 1/2 by 0.2500"
    assert summarise([equal, off, Verdict("a", "o", "crash")]) == "crash 1/3"
    assert summarise([Verdict("a", "m", "not supported")]) == "–"


def test_results_have_three_formats() -> None:
    """Each names the tool, the case and what differed."""
    off = Verdict(ONE.id, "AP", "different", "0.1000 instead of 0.7500", difference=0.65)
    results = [Results("sloppy 2.0", (off,))]

    assert "layout/plain · sloppy 2.0: `AP` 0.1000 instead of 0.7500" in render_table([ONE], results)
    assert "| sloppy 2.0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 |" in render_markdown([ONE], results, "2026-01-01")
    assert json.loads(render_json([ONE], results))["results"][0]["verdicts"][0]["difference"] == 0.65


def run(*arguments: str) -> Any:
    """The command, in this process."""
    return CliRunner().invoke(command, list(arguments))


def test_the_command_exits_with_0_where_all_is_equal() -> None:
    """judged, on one theme."""
    result = run("--only", "ties", "--format", "json")

    assert result.exit_code == 0
    assert '"outcome": "equal"' in result.stdout


def test_a_tool_that_is_not_installed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do, and with an exit code that is not 0."""
    monkeypatch.setenv("TREC_EVAL", "no-such-program")
    result = run("--tool", "trec_eval", "--only", "ties")

    assert result.exit_code == 1
    assert "trec_eval is not installed: name the program in TREC_EVAL" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tool", "ranks"], "no tool is called `ranks`"),
        (["--cases", "nowhere"], "there are no conformance cases in `nowhere`"),
        (["--only", "nothing"], "no case begins with `nothing`"),
    ],
)
def test_mistakes_are_answered_in_words(arguments: list[str], words: str) -> None:
    """Without a traceback."""
    result = run(*arguments)

    assert result.exit_code == 1
    assert words in result.stderr


def test_mistakes_are_errors_of_judged(tmp_path: Path) -> None:
    """For those who call the functions."""
    (tmp_path / "odd.json").write_text("[]", encoding="utf-8")

    with pytest.raises(UnknownName, match="no tool"):
        find_tools("ranks")
    with pytest.raises(Unreadable, match="not a file of conformance cases"):
        read_suite(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DRIVERS if name not in {"judged", "trec_eval"}])
def test_peers_are_as_the_page_says(name: str) -> None:
    """A tool of the recorded version makes of every case what the page says."""
    tool = Tool(name)
    if tool.version() is None or f" {tool.label} |" not in PAGE.read_text(encoding="utf-8"):
        pytest.skip(f"{tool.label} is not installed, or not the version on the page")
    if name == "ir_measures" and find_spec("ranx") is None:
        pytest.skip("ir_measures asks ranx for some measures, and ranx is not installed")
    lines = [line.removesuffix(" |").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    column = next(line.index(tool.label) for line in lines if line[0] == "| case" and tool.label in line)
    shown = [line[column] for line in lines if re.match(r"\| [a-z0-9-]+: ", line[0])]
    results = Results(tool.label, tuple(examine(tool, SUITE)))

    assert shown == [summarise(results.of(case)) for case in SUITE]
