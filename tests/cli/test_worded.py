"""Odd files end with a message and exit code 2, never as an internal error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from judged.cli.main import InternalError, judged

LONG = "d" * 70_000
DIGITS = "7" * 5_000


def not_utf8() -> pa.Array:
    """Return a text column whose bytes are no text."""
    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0")
    return pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"q\xff")])


def write_parquet(path: Path) -> None:
    """Write judgments with such a column."""
    table = pa.table({"query": not_utf8(), "document": ["d"], "grade": [1]})
    pyarrow.parquet.write_table(table, path)


CASES: dict[str, tuple[str | Callable[[Path], None], list[str]]] = {
    "long.run": (f"q1 Q0 d1 1 1 t\nq1 Q0 {LONG} 1 x t\n", ["score", "a.qrels", "long.run", "-m", "AP"]),
    "trec_eval.run": (f"q1 Q0 d1 1 1 t\nq1 Q0 {LONG} 1 x t\n", ["trec_eval", "a.qrels", "trec_eval.run"]),
    "long.qrels": (f"q1 0 d1 1\nq1 0 {LONG} x\n", ["score", "long.qrels", "a.run", "-m", "AP"]),
    "quotes.csv": (
        'query_id,doc,score\n,,0\n,,6\n,"é"0,0\n,,0',
        ["score", "a.qrels", "quotes.csv", "-m", "AP"],
    ),
    "bad.parquet": (write_parquet, ["score", "bad.parquet", "a.run", "-m", "AP"]),
    "huge.json": (f'{{"q1": {{"d1": {"9" * 401}}}}}', ["score", "a.qrels", "huge.json", "-m", "AP"]),
    "deep.yaml": ("a: " + "[" * 5_000, ["score", "a.qrels", "a.run", "--config", "deep.yaml"]),
    "date.yaml": ("a: 2001-13-45", ["gate", "--config", "date.yaml"]),
    "tools.yaml": ("a: " + "[" * 5_000, ["sessions", "a.jsonl", "--tools", "tools.yaml"]),
    "day.yaml": ("a: 2001-13-45", ["sessions", "a.jsonl", "--tools", "day.yaml"]),
}


@pytest.mark.parametrize("name", CASES)
def test_an_odd_file_is_refused_in_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the file; nothing asks the user to report it."""
    monkeypatch.chdir(tmp_path)
    Path("a.qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    Path("a.run").write_text("q1 Q0 d1 1 1 t\n", encoding="utf-8")
    Path("a.jsonl").write_text('{"query": "q", "results": []}\n', encoding="utf-8")
    content, arguments = CASES[name]
    if isinstance(content, str):
        Path(name).write_text(content, encoding="utf-8")
    else:
        content(Path(name))
    done = CliRunner().invoke(judged, arguments)

    assert done.exit_code == 2, done.output
    assert not isinstance(done.exception, InternalError)
    assert name in done.output


def test_ids_of_thousands_of_digits_are_ids(tmp_path: Path) -> None:
    """They are longer than the integers that Python converts."""
    (tmp_path / "a.qrels").write_text(f"q1 0 {DIGITS} 1\n", encoding="utf-8")
    (tmp_path / "a.json").write_text(f'{{"q1": {{"{DIGITS}": 1.5}}}}', encoding="utf-8")
    done = CliRunner().invoke(
        judged, ["score", str(tmp_path / "a.qrels"), str(tmp_path / "a.json"), "-m", "AP", "--format", "csv"]
    )

    assert done.exit_code == 0, done.output
    assert "1.0" in done.output
