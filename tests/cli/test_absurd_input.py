"""Commands given the wrong file, or a number out of all range: refused in words, never an internal error."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Invoke

COMMANDS = {
    "score": ("score", "{}", "bm25.run"),
    "score run": ("score", "qrels.txt", "{}"),
    "score config": ("score", "qrels.txt", "bm25.run", "--config", "{}"),
    "compare": ("compare", "{}", "bm25.run", "dense.run"),
    "compare slices": ("compare", "qrels.txt", "bm25.run", "dense.run", "--slices", "{}"),
    "gate": ("gate", "qrels.txt", "{}", "--baseline", "dense.run"),
    "gate baseline": ("gate", "qrels.txt", "bm25.run", "--baseline", "{}"),
    "gate config": ("gate", "--config", "{}"),
    "sessions": ("sessions", "{}"),
    "run": ("run", "{}"),
    "fuse": ("fuse", "bm25.run", "{}"),
    "routing": ("routing", "{}"),
    "explain": ("explain", "qrels.txt", "{}", "-m", "AP", "--query", "q1"),
    "agreement": ("agreement", "{}", "qrels.txt"),
    "lint": ("lint", "{}", "bm25.run"),
    "report": ("report", "{}", "-o", "report.html"),
    "trec_eval": ("trec_eval", "qrels.txt", "{}"),
    "convert": ("convert", "{}", "out.csv"),
    "index": ("index", "--dataset", "{}"),
    "sweep": ("index", "--dataset", "digits", "--sweep", "{}"),
}
FILES = {
    "empty": b"",
    "binary": bytes(range(256)) * 8,
    "utf16": "q1 0 d1 1\n".encode("utf-16"),
    "broken": b'{"a": [[[',
    "recursive": b"a: &a [*a]\n",
    "long number": b"q1 0 d1 " + b"9" * 400 + b"\n",
    "archive": b"PK\3\4\x14\0\6\0",
}
NUMBERS = ("0", "-1", "99999999999999999999", "1e400", "1e-300", "nan", "inf", "9" * 400, "")
OPTIONS = {
    ("score", "qrels.txt", "bm25.run"): ("--depth", "--rel", "--threads", "--digits"),
    ("compare", "qrels.txt", "bm25.run", "dense.run"): ("--level", "--resamples", "--seed", "--depth"),
    ("gate", "qrels.txt", "bm25.run", "--baseline", "dense.run"): (
        "--alpha",
        "--min-delta",
        "--seed",
        "--depth",
    ),
    ("explain", "qrels.txt", "bm25.run", "-m", "AP", "--query", "q1"): ("--depth", "--rel", "--digits"),
    ("agreement", "qrels.txt", "qrels.txt"): ("--level", "--resamples", "--seed", "--threshold"),
    ("fuse", "bm25.run", "dense.run"): ("--depth", "--weight", "--set"),
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_wrong_file_is_refused_in_words(
    invoke: Invoke, collection: Path, arguments: tuple[str, ...], content: bytes
) -> None:
    """Whatever is in it; a few are read, and have nothing in them or something."""
    (collection / "wrong").write_bytes(content)
    result = invoke(*(argument.format("wrong") for argument in arguments))

    assert result.exit_code in {0, 2, 3}
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "path", ["folder", "missing", "loop", "missing*", "folder/*", "", "=", "nowhere://x", "a" * 5000]
)
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_path_of_no_file_is_refused_in_words(
    invoke: Invoke, collection: Path, arguments: tuple[str, ...], path: str
) -> None:
    """A folder, a loop of links, a pattern of nothing, a name that no file can have."""
    (collection / "folder").mkdir()
    (collection / "loop").symlink_to("loop")
    result = invoke(*(argument.format(path) for argument in arguments))

    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    ("base", "option"),
    [
        pytest.param(base, option, id=f"{base[0]} {option}")
        for base, options in OPTIONS.items()
        for option in options
    ],
)
def test_a_number_out_of_range_is_refused_in_words(
    invoke: Invoke, base: tuple[str, ...], option: str, number: str
) -> None:
    """Or makes sense; never more work than a reader waits for."""
    result = invoke(*base, f"{option}={number}")

    assert result.exit_code in {0, 2, 3}
    assert "Traceback" not in result.output
