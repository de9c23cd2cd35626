"""The program as a whole: exit codes, errors in words, streams."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from judged import __version__
from judged.cli.main import COMMANDS, EXIT_CODES, judged
from judged.subject import Command

Invoke = Callable[..., Result]
Execute = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_version_is_that_of_the_package(invoke: Invoke) -> None:
    """`--version` names the program and its version."""
    result = invoke("--version")

    assert result.stdout == f"judged, version {__version__}\n"


def test_help_lists_commands_and_exit_codes(invoke: Invoke) -> None:
    """The first page lists every command and the meaning of exit codes."""
    result = invoke("--help")

    assert result.exit_code == 0
    assert all(f"  {name} " in result.stdout for name in COMMANDS)
    assert all(f"  {code} " in result.stdout for code in EXIT_CODES)


def test_an_unknown_command_is_an_error_that_says_what_was_meant(invoke: Invoke) -> None:
    """A slip of the pen gets a hint, on standard error, and exit code 2."""
    result = invoke("scroe")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: no command is called `scroe`\n\nhint: did you mean `score`?\n"


@pytest.mark.parametrize(
    "arguments", [("score",), ("score", "--nonsense"), ("score", "qrels.txt", "nowhere.run")]
)
def test_a_wrong_command_line_exits_with_two(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    """Missing arguments, unknown options and files that are not there are the user's to mend."""
    result = invoke(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr


def test_an_error_of_the_library_is_worded_without_traceback(invoke: Invoke) -> None:
    """An error of the library is printed with its message and its hint."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "nDGC@5")

    assert result.exit_code == 2
    assert result.stderr == "Error: no measure is called `nDGC`\n\nhint: did you mean `nDCG@5`?\n"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that fails in a way nobody foresaw."""

    @click.command("broken")
    def command() -> None:
        msg = "two\nlines"
        raise RuntimeError(msg)

    monkeypatch.setitem(COMMANDS._things, "broken", Command("judged.cli.broken:command", "Fails"))
    monkeypatch.setitem(sys.modules, "judged.cli.broken", type(sys)("judged.cli.broken"))
    monkeypatch.setattr(sys.modules["judged.cli.broken"], "command", command, raising=False)


@pytest.mark.usefixtures("broken")
def test_a_fault_of_our_own_asks_to_be_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what happened, another what to do; no traceback; exit code 70."""
    monkeypatch.delenv("JUDGED_DEBUG", raising=False)
    result = CliRunner().invoke(judged, ["broken"])

    assert result.exit_code == 70
    assert result.stderr.splitlines()[0] == "Error: judged failed unexpectedly: RuntimeError: two lines"
    assert "--debug" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(("arguments", "environment"), [(["--debug"], {}), ([], {"JUDGED_DEBUG": "1"})])
def test_the_traceback_is_there_for_those_who_ask(arguments: list[str], environment: dict[str, str]) -> None:
    """`--debug`, or JUDGED_DEBUG=1, shows it."""
    result = CliRunner().invoke(judged, [*arguments, "broken"], env=environment)

    assert result.exit_code == 70
    assert "Traceback" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(invoke: Invoke, shell: str) -> None:
    """Each shell gets a script that calls back the program."""
    result = invoke("completion", shell)

    assert result.exit_code == 0
    assert f"_JUDGED_COMPLETE={shell}_complete" in result.stdout


def test_the_shell_completes_commands_and_measures(execute: Execute) -> None:
    """What the script calls back answers with commands, options and measures."""
    environment = {"_JUDGED_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "judged sc"}
    commands = execute(env=environment)
    environment |= {"COMP_CWORD": "3", "COMP_WORDS": "judged score -m nD"}
    measures = execute(env=environment)

    assert commands.stdout == "plain,score\n"
    assert "plain,nDCG\n" in measures.stdout


def test_python_dash_m_is_the_same_program(execute: Execute) -> None:
    """`python -m judged` scores, prints the protocol on the other stream, and exits with 0."""
    result = execute("score", "qrels.txt", "bm25.run", "-m", "AP")

    assert result.returncode == 0
    assert result.stdout.splitlines()[0].split() == ["system", "AP"]
    assert result.stderr.startswith("Protocol: trec_eval-9 ")


def test_a_real_process_exits_with_the_codes_it_promises(execute: Execute) -> None:
    """Usage and input errors are 2 outside of tests, too."""
    assert execute("score").returncode == 2
    assert execute("score", "qrels.txt", "bm25.run", "-m", "no").returncode == 2


def test_a_reader_that_goes_away_is_no_occasion_for_noise(collection: Path) -> None:
    """`judged … | head -0` ends quietly, with the code of a closed pipe."""
    rows = "".join(f"q{number} Q0 d1 1 1.0 many\n" for number in range(20_000))
    (collection / "many.run").write_text(rows)
    (collection / "many.qrels").write_text("".join(f"q{number} 0 d1 1\n" for number in range(20_000)))
    command = [
        sys.executable,
        "-m",
        "judged",
        "score",
        "-q",
        "many.qrels",
        "many.run",
        "--per-query",
        "--format",
        "csv",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()  # type: ignore[union-attr]
        noise = process.stderr.read()  # type: ignore[union-attr]

    assert process.returncode == 141
    assert noise == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise on Windows")
@pytest.mark.usefixtures("collection")
def test_an_interrupt_exits_with_130() -> None:
    """Ctrl-C while waiting for standard input ends with a word and the customary code."""
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a parent may have ignored
        "from judged.cli.main import main; print('ready', flush=True); main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "score", "qrels.txt", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert errors.decode().strip() == "interrupted"
