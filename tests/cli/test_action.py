"""The action for pull requests and the hook: their own scripts, run with stand-ins for the runner and for `gh`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOK: dict[str, Any] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
QRELS = "".join(f"q{n} 0 d 1\n" for n in range(30))
GOOD = "".join(f"q{n} Q0 d 1 2 good\nq{n} Q0 e 2 1 good\n" for n in range(30))
BAD = "".join(f"q{n} Q0 e 1 2 bad\nq{n} Q0 d 2 1 bad\n" for n in range(30))
GH = """#!/bin/sh
echo "$*" >> "$CALLS"
for argument; do case $argument in body=@*) cp "${argument#body=@}" "$COMMENT";; esac; done
case "$*" in *--paginate*) echo "$KNOWN";; esac
"""
"""Stands for GitHub's client: notes its arguments, keeps the comment, and knows at most one earlier comment."""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


@dataclass
class Ended:
    """What a run of the action left."""

    code: int
    summary: str
    outputs: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    comment: str = ""


def run_action(folder: Path, *, known: str = "", **inputs: str) -> Ended:
    """Run the steps of the action as a runner does, in a folder."""
    tools, temp = folder / "tools", folder / "temp"
    tools.mkdir(exist_ok=True)
    temp.mkdir(exist_ok=True)
    write_tool(tools / "gh", GH)
    write_tool(tools / "judged", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m judged "$@"\n')
    write_tool(tools / "python", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    values = {name: str(declared["default"]) for name, declared in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): text for name, text in inputs.items()}
    files = {name: temp / name for name in ("GITHUB_STEP_SUMMARY", "CALLS", "COMMENT")}
    outputs: dict[str, str] = {}
    code = 0
    for number, step in enumerate(ACTION["runs"]["steps"]):
        if "uses" in step or "pip install" in step["run"]:
            continue
        if "if" in step and values["comment"] != "true":
            continue
        own = temp / f"output-{number}"
        own.touch()
        github = {"GITHUB_OUTPUT": own, "RUNNER_TEMP": temp, "GITHUB_WORKFLOW": "ci", "GITHUB_JOB": "gate"}
        environment = {name: fill(text, values, outputs) for name, text in step["env"].items()}
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={
                **os.environ,
                **{name: str(path) for name, path in (github | files).items()},
                "KNOWN": known,
                "PATH": f"{tools}:{os.environ['PATH']}",
                **environment,
            },
            check=False,
            capture_output=True,
            text=True,
        )
        outputs |= dict(line.split("=", 1) for line in own.read_text().splitlines())
        if ended.returncode:
            code = ended.returncode
            break
    texts = {name: path.read_text() if path.exists() else "" for name, path in files.items()}
    return Ended(code, texts["GITHUB_STEP_SUMMARY"], outputs, texts["CALLS"].splitlines(), texts["COMMENT"])


def write_tool(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(text)
    path.chmod(0o755)


def fill(text: str, inputs: dict[str, str], outputs: dict[str, str]) -> str:
    """Return a text of the action with its expressions replaced."""
    github = {"token": "t", "repository": "o/r", "event.pull_request.number": "7"}

    def value(found: re.Match[str]) -> str:
        kind, _, name = found[1].strip().partition(".")
        known = {
            "inputs": inputs,
            "github": github,
            "steps": {f"gate.outputs.{key}": item for key, item in outputs.items()},
        }
        return known[kind].get(name, "")

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Judgments, a good run and a bad one."""
    for name, text in {"qrels.txt": QRELS, "good.run": GOOD, "bad.run": BAD}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_no_input_becomes_part_of_a_script() -> None:
    """Expressions are values of variables; in a script, they would run what a pull request says."""
    assert [step["run"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_a_run_that_holds_passes(files: Path) -> None:
    """Summary, outputs, and a comment that can be found again."""
    ended = run_action(files, qrels="qrels.txt", run="good.run", baseline="bad.run", measures="RR")

    assert (ended.code, ended.outputs["verdict"]) == (0, "pass")
    assert "RR" in ended.summary
    assert ended.comment.startswith("<!-- judged gate: ci/gate -->")
    assert ended.calls[-1].startswith("api --method POST repos/o/r/issues/7/comments")


def test_a_run_that_lost_fails_after_it_has_reported(files: Path) -> None:
    """The known comment is updated, not joined by another one."""
    ended = run_action(
        files, known="42", qrels="qrels.txt", run="bad.run", baseline="good.run", measures="RR"
    )

    assert (ended.code, ended.outputs["verdict"]) == (1, "fail")
    assert "fail" in ended.summary
    assert ended.calls[-1].startswith("api --method PATCH repos/o/r/issues/comments/42")


@pytest.mark.parametrize(
    "inputs",
    [
        {"run": "gone.run"},
        {"measures": "RR; touch injected"},
        {"measures": "$(touch injected)"},
        {"run": "--version"},
    ],
)
def test_what_cannot_be_scored_is_an_error_with_its_words(files: Path, inputs: dict[str, str]) -> None:
    """Exit code 2, the error in the summary; nothing that an input says is executed."""
    given = {"qrels": "qrels.txt", "run": "good.run", "baseline": "bad.run", **inputs}
    ended = run_action(files, comment="false", **given)

    assert (ended.code, ended.outputs["verdict"]) == (2, "error")
    assert "Error" in ended.summary
    assert ended.calls == []
    assert not (files / "injected").exists()


def test_the_hook_takes_changed_files_in_any_order(files: Path) -> None:
    """As pre-commit runs it: the entry, then the names that match its pattern."""
    names = [
        name for name in ("bad.run", "good.run", "some.qrels", "notes.md") if re.search(HOOK["files"], name)
    ]
    shutil.copy(files / "qrels.txt", files / "some.qrels")
    command = [sys.executable, "-m", *shlex.split(HOOK["entry"]), *names]
    clean = subprocess.run(command, cwd=files, check=False, capture_output=True, text=True)
    (files / "bad.run").write_text(BAD + "q1 Q0 d 3 nan bad\n")
    faulty = subprocess.run(command, cwd=files, check=False, capture_output=True, text=True)

    assert names == ["bad.run", "good.run", "some.qrels"]
    assert (clean.returncode, faulty.returncode) == (0, 2)
    assert "bad.run:61  score is `nan`" in faulty.stdout
