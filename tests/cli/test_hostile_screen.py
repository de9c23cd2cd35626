"""Control characters and overlong words never reach a screen; outputs replace nothing by accident."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judged.store.files import replace_file, write_file
from judged.wording import to_message

EVIL = "extra\x1b]0;pwned\x07\x1b[31mRED\x9b2J"
CONTROLS = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n", "\t"}


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "judged", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Judgments and runs with ids that a terminal would obey."""
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text(f"q1 Q0 d1 1 2 t\n{EVIL} Q0 d 1 1 t\n", encoding="utf-8")
    (tmp_path / "twice.run").write_text(f"q1 Q0 {EVIL} 1 2 t\nq1 Q0 {EVIL} 2 1 t\n", encoding="utf-8")
    (tmp_path / "long.run").write_text(f"q1 Q0 d 1 2 t\nq1 Q0 e 1 {'x' * 64_000} t\n", encoding="utf-8")
    (tmp_path / "head.csv").write_text(f"query,{EVIL},score\nq,d,1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "a.qrels", "a.run", "-m", "AP"),
        ("score", "a.qrels", "twice.run", "-m", "AP"),
        ("score", "a.qrels", "long.run", "-m", "AP"),
        ("score", "a.qrels", "head.csv", "-m", "AP"),
        ("score", "a.qrels", f"missing{EVIL}.run", "-m", "AP"),
        ("score", "a.qrels", "a.run", "-m", f"AP{EVIL}"),
        ("score", "a.qrels", "a.run", f"--{EVIL}"),
        (f"sco{EVIL}",),
        ("lint", "a.qrels", "a.run", "twice.run", "long.run"),
        ("explain", "a.qrels", "a.run", "-m", "AP"),
        ("explain", "a.qrels", "a.run", "-m", "AP", "--query", EVIL),
        ("convert", "twice.run", "out.csv"),
    ],
)
def test_no_control_character_of_a_file_reaches_the_screen(files: Path, arguments: tuple[str, ...]) -> None:
    """Notes, errors, findings and explanations are escaped, and no word is longer than a few lines."""
    done = run(*arguments, cwd=files)
    shown = done.stdout + done.stderr

    assert done.returncode in {0, 1, 2}, done.stderr
    assert CONTROLS.isdisjoint(shown)
    assert max(map(len, shown.split()), default=0) < 1_000


def test_lines_stay_lines_and_tabs_become_blanks() -> None:
    """Only what a terminal would obey changes."""
    assert to_message("a\tb\n\u202ec\n") == "a       b\n\\u202ec\n"


@pytest.mark.parametrize("command", [["score"], ["compare"]])
def test_an_output_that_is_an_input_is_refused(files: Path, command: list[str]) -> None:
    """The run stays as it was."""
    (files / "in.csv").write_text("query,document,score\nq1,d1,1\nq2,d2,1\n", encoding="utf-8")
    (files / "link.csv").symlink_to("in.csv")
    for output in ("in.csv", "./in.csv", "link.csv"):
        done = run(*command, "a.qrels", "in.csv", "a.run", "-m", "AP", "-o", output, cwd=files)
        assert done.returncode == 2
        assert "is an input of this command" in done.stderr
    assert (files / "in.csv").read_text(encoding="utf-8").startswith("query,document")


def test_a_file_that_settings_name_is_an_input_too(tmp_path: Path) -> None:
    """Judgments of a study and scores of a gate are not overwritten by the output."""
    judgments, scores = '{"q1": {"d1": 1}}', '{"q1": {"d1": 1.0}}'
    (tmp_path / "qrels.json").write_text(judgments)
    (tmp_path / "a.json").write_text(scores)
    (tmp_path / "gates.yaml").write_text("gates: [{qrels: qrels.json, run: a.json, baseline: a.json}]\n")
    (tmp_path / "docs.jsonl").write_text('{"id": "d1", "text": "a cat"}\n')
    (tmp_path / "queries.tsv").write_text("q1\tcats\n")
    collection = "{documents: docs.jsonl, queries: queries.tsv, judgments: qrels.json}"
    (tmp_path / "study.yaml").write_text(f"collection: {collection}\nsystems: [{{name: w, search: bm25}}]\n")
    for command, output in (
        (["gate", "--config", "gates.yaml"], "a.json"),
        (["run", "study.yaml"], "qrels.json"),
    ):
        done = run(*command, "-o", output, cwd=tmp_path)

        assert done.returncode == 2
        assert f"`{output}` is an input of this command" in done.stderr
    assert (tmp_path / "qrels.json").read_text() == judgments
    assert (tmp_path / "a.json").read_text() == scores


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """A private file does not become readable to all; a new one follows the umask."""
    private, new = tmp_path / "private", tmp_path / "new"
    private.write_text("old", encoding="utf-8")
    private.chmod(0o600)
    write_file(private, "one")
    write_file(new, "two")
    umask = os.umask(0)
    os.umask(umask)

    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask
    assert (private.read_text(encoding="utf-8"), new.read_text(encoding="utf-8")) == ("one", "two")


def test_a_draft_follows_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a link with the very name of the draft is not written through."""
    victim, target = tmp_path / "victim", tmp_path / "scores.csv"
    victim.write_text("precious", encoding="utf-8")
    monkeypatch.setattr("judged.store.files.os.urandom", lambda _: bytes.fromhex("0123456789abcdef"))
    (tmp_path / ".scores.csv.0123456789abcdef.judged-draft").symlink_to(victim)

    with pytest.raises(FileExistsError):
        write_file(target, "new")
    assert victim.read_text(encoding="utf-8") == "precious"
    assert not target.exists()


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    """Whatever happens while a file is written."""
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(TypeError), replace_file(path) as file:
        file.writelines([b"half", 0])  # type: ignore[list-item]

    assert [found.name for found in tmp_path.iterdir()] == ["a"]
    assert path.read_text(encoding="utf-8") == "old"


SLOW = """
import sys, time
from pathlib import Path
import judged.__main__ as entry, judged.cli.main as main
from judged.store.files import replace_file
def work():
    with replace_file(Path("out.csv")) as file:
        file.write(b"half")
        print("ready", flush=True)
        time.sleep(60)
main.main = work
entry.main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of Unix")
def test_termination_leaves_no_draft(tmp_path: Path) -> None:
    """SIGTERM is still what ended the process, after the draft was removed."""
    with subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of Unix")
def test_a_draft_is_removed_once_its_writer_was_killed(tmp_path: Path) -> None:
    """Not before: another process that writes the same file keeps its draft, and so do files of other names."""
    others = {".out.csv.notes", ".other.csv.0123456789abcdef.judged-draft", ".out.csv.0.judged-draft"}
    for name in others:
        (tmp_path / name).touch()
    with subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        write_file(tmp_path / "out.csv", "first")
        during = {found.name for found in tmp_path.iterdir()} - others - {"out.csv"}
        process.kill()
        process.wait(20)
    write_file(tmp_path / "out.csv", "second")

    assert [name[:9] for name in during] == [".out.csv."]
    assert {found.name for found in tmp_path.iterdir()} == others | {"out.csv"}


def test_writers_at_once_never_take_each_other_s_drafts(tmp_path: Path) -> None:
    """Each is created, locked, and put in place while others look for abandoned ones."""
    path = tmp_path / "out.csv"

    def write(number: int) -> None:
        for _ in range(50):
            write_file(path, f"{number}" * 1000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))

    assert [found.name for found in tmp_path.iterdir()] == ["out.csv"]
    assert len(set(path.read_text())) == 1
