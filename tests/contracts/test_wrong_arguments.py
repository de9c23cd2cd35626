"""Wrong input is refused in words: what is not meant is neither scored nor left to a raw Python error."""

from __future__ import annotations

import inspect
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import judged
from judged.cli.main import judged as program
from judged.errors import BadInput, BadProtocol, JudgedError, MissingQueries, UnknownName, WrongKind
from judged.io.open import name_files
from judged.io.read import read_judgments

QRELS = {"q1": {"a": 1, "b": 0}, "264014": {"c": 2}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "264014": {"x": 2.0, "c": 1.0}}
RUN_TEXT = "q1 Q0 a 1 3.5 bm25\nq1 Q0 b 2 2.5 bm25\n264014 Q0 c 1 1.5 bm25\n"
QRELS_TEXT = "q1 0 a 1\nq1 0 b 0\n264014 0 c 2\n"

GIVEN: dict[str, dict[str, object]] = {
    "evaluate": {"truth": QRELS, "system": RUN, "measures": "AP"},
    "evaluate_many": {"truth": QRELS, "systems": {"a": RUN}, "measures": "AP"},
    "compare": {"qrels": QRELS, "runs": {"a": RUN, "b": RUN}, "measures": "AP", "resamples": 50},
    "gate": {"qrels": QRELS, "run": RUN, "measures": "AP", "baseline": RUN},
    "plan_queries": {
        "qrels": QRELS,
        "runs": {"a": RUN, "b": {"q1": ["b", "a"]}},
        "measures": "AP",
        "difference": 0.1,
    },
    "explain": {"qrels": QRELS, "run": RUN, "measure": "AP", "query": "q1"},
}
"""Arguments with which functions work; of others, required ones are judgments."""
JUNK: list[object] = [
    *(
        None,
        3,
        -1.5,
        True,
        object(),
        b"x",
        "",
        "nope",
        [],
        [3],
        {},
        {"a": 1},
        (1, 2),
        [None],
        float("nan"),
        print,
    )
]
ELSEWHERE = {"progress", "threads", "destination", "path", "force", "cache", "client"}
"""Callbacks, and what would write files."""
FUNCTIONS = sorted(name for name in judged.__all__ if inspect.isfunction(getattr(judged, name)))


def _arguments(name: str) -> list[str]:
    kinds = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    parameters = inspect.signature(getattr(judged, name)).parameters
    return [each for each, found in parameters.items() if found.kind not in kinds and each not in ELSEWHERE]


@pytest.mark.parametrize(
    ("name", "argument"), [(name, each) for name in FUNCTIONS for each in _arguments(name)]
)
def test_no_argument_of_a_public_function_leads_to_a_raw_error(
    name: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kind of value is taken as meant, or refused with a `JudgedError`."""
    monkeypatch.chdir(tmp_path)
    function = getattr(judged, name)
    parameters = inspect.signature(function).parameters
    required = {
        each: QRELS for each in _arguments(name) if parameters[each].default is inspect.Parameter.empty
    }
    for junk in JUNK:
        with suppress(JudgedError):
            function(**{**required, **GIVEN.get(name, {}), argument: junk})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments and two runs."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS_TEXT)
    for name in ("a.run", "b.run"):
        Path(name).write_text(RUN_TEXT)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "command",
    [
        "score a.run b.run -m AP",
        "compare a.run a.run b.run -m AP",
        "gate a.run b.run --baseline a.run -m AP",
        "agreement a.run qrels.txt",
    ],
)
def test_a_run_is_not_taken_for_judgments(command: str) -> None:
    """Its ranks are no grades, wherever judgments are read."""
    done = CliRunner().invoke(program, command.split())

    assert done.exit_code != 0
    assert "six columns with a rank and a score are a run" in done.output + str(done.exception)


@pytest.mark.usefixtures("here")
def test_a_run_is_taken_for_judgments_by_force() -> None:
    """Naming the format, or keeping four columns, says that it is meant."""
    with pytest.raises(BadInput, match="cut -d") as caught:
        judged.evaluate("a.run", "b.run", "AP")

    assert 'format="trec"' in str(caught.value)
    assert len(read_judgments("a.run", format="trec")) == 3
    assert judged.evaluate("qrels.txt", "a.run", "AP")["AP"] == 1.0


@pytest.mark.parametrize(
    "text", ["q1 0 d1 1 x y\nq1 0 d2 1\n", "q1 0 d1 1 0.5 A\nq1 0 d2 1 0.25 A\n", "q1 0 d1 1 a b c d\n"]
)
def test_judgments_with_more_columns_stay_judgments(text: str) -> None:
    """Grades are shared by documents of a query, ranks are not."""
    assert len(read_judgments(text.encode())) == text.count("\n")


def test_nothing_in_common_is_an_error() -> None:
    """An empty run and one of other topics have no value, not one of 0."""
    with pytest.raises(MissingQueries, match="is empty"):
        judged.evaluate(QRELS, {}, "AP")
    with pytest.raises(MissingQueries, match="none of the 2 judged queries"):
        judged.evaluate(QRELS, {"z": {"a": 1.0}}, "AP")
    with pytest.raises(MissingQueries):
        judged.compare(QRELS, {"a": RUN, "b": {"z": {"a": 1.0}}}, "AP")


@pytest.mark.usefixtures("here")
def test_few_in_common_is_said_before_the_numbers() -> None:
    """Less than half of the judged queries: the first line says so."""
    Path("qrels.txt").write_text("".join(f"q{number} 0 a 1\n" for number in range(1, 9)))
    done = CliRunner().invoke(program, ["score", "qrels.txt", "a.run", "-m", "AP"])

    assert done.output.startswith("Warning: the run has results for only 1 of 8 judged queries")
    assert done.output.count("only 1 of 8") == 1


@pytest.mark.usefixtures("here")
def test_a_profile_that_takes_grade_0_for_relevant_says_so_first() -> None:
    """`msmarco` ignores grades, which is right only if all judged documents are relevant."""
    done = CliRunner().invoke(program, ["score", "qrels.txt", "a.run", "--profile", "msmarco"])

    assert done.output.startswith("Warning: 1 judgment of grade 0 counts as relevant")


def test_arguments_that_are_natural_work() -> None:
    """Mappings of conventions, numbers as queries, several measures in one text, no measures at all."""
    half = {"q1": RUN["q1"]}

    assert judged.evaluate(QRELS, half, "AP", protocol={"missing": "skip"})["AP"] == 1.0
    assert judged.explain(QRELS, RUN, "AP", query=264014).query == "264014"
    assert [str(each) for each in judged.evaluate(QRELS, RUN, ["nDCG@10, AP"]).measures] == ["nDCG@10", "AP"]
    assert judged.evaluate(QRELS, RUN, None).measures


@pytest.mark.usefixtures("here")
def test_lists_of_files_are_compared() -> None:
    """Systems are named for their files."""
    assert judged.compare("qrels.txt", ["a.run", "b.run"], "AP").systems == ("a", "b")


def test_wrong_values_are_named() -> None:
    """Each error says what is possible."""
    with pytest.raises(UnknownName, match="layout of scores"):
        judged.evaluate(QRELS, RUN, "AP").scores.to_pandas("wid")  # type: ignore[arg-type]
    with pytest.raises(BadProtocol, match="`rel` of a protocol is x, expected a number from 0"):
        judged.Protocol(rel="x")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="convention"):
        judged.evaluate(QRELS, RUN, "AP", protocol={"mising": "skip"})
    with pytest.raises(WrongKind, match=r"`resamples` is None \(NoneType\), expected a whole number"):
        judged.compare(QRELS, {"a": RUN, "b": RUN}, "AP", resamples=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [2, -2, "1"])
def test_a_margin_beyond_the_measure_is_refused(delta: Any) -> None:
    """2 of a measure between 0 and 1 was meant as 2 %."""
    with pytest.raises(BadProtocol, match="AP lies between 0 and 1"):
        judged.gate(QRELS, RUN, "AP", baseline=RUN, min_delta=delta)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["run.bm25.dl19", "run.bm25.dl20"], ["run.bm25.dl19", "run.bm25.dl20"]),
        (["v1.0", "v1.1"], ["v1.0", "v1.1"]),
        (["runs/bm25.run", "runs/dense.run.gz"], ["bm25", "dense"]),
        (["old/bm25.run", "new/bm25.run"], ["old/bm25.run", "new/bm25.run"]),
        (["bm25.run", "bm25.txt"], ["bm25.run", "bm25.txt"]),
    ],
)
def test_names_of_systems_distinguish_the_files(paths: list[str], names: list[str]) -> None:
    """The shortest that do: without extension, with it, then with folders."""
    assert name_files(paths) == names


@pytest.mark.usefixtures("here")
def test_the_command_line_and_python_name_systems_alike() -> None:
    """`run.bm25.dl19` and `run.bm25.dl20` are two systems in both."""
    files = ["run.bm25.dl19", "run.bm25.dl20"]
    for file in files:
        Path(file).write_text(RUN_TEXT)
    done = CliRunner().invoke(program, ["score", "qrels.txt", *files, "-m", "AP", "--format", "csv", "-q"])

    assert [line.split(",")[0] for line in done.output.splitlines()[1:]] == files
    assert judged.compare("qrels.txt", files, "AP").systems == tuple(files)
