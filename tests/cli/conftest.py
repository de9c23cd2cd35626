"""A small collection with a tie, a missing query, an unjudged query and an unjudged document."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

QRELS = """\
q1 0 d1 2
q1 0 d2 0
q1 0 d3 1
q2 0 d1 1
q2 0 d5 0
q3 0 d9 1
"""
BM25 = """\
q1 Q0 d1 1 3.0 bm25
q1 Q0 d2 2 2.0 bm25
q1 Q0 d4 3 1.0 bm25
q2 Q0 d5 1 2.0 bm25
q2 Q0 d1 2 1.0 bm25
"""
DENSE = """\
q1 Q0 d2 1 3.0 dense
q1 Q0 d1 2 2.0 dense
q1 Q0 d3 3 2.0 dense
q2 Q0 d1 1 2.0 dense
q3 Q0 d1 1 2.0 dense
q9 Q0 d1 1 2.0 dense
"""


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, made the current one, with `qrels.txt`, `bm25.run` and `dense.run`."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(BM25)
    (tmp_path / "dense.run").write_text(DENSE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGED_DEBUG", raising=False)
    return tmp_path


Invoke = Callable[..., Result]


@pytest.fixture
def invoke(collection: Path) -> Invoke:  # noqa: ARG001 - it is made and made the current folder
    """Runs `judged` with some arguments in this process, in the folder of the collection."""
    from judged.cli.main import judged

    def run(*arguments: str, input: bytes | None = None) -> Result:  # noqa: A002 - click's word
        return CliRunner().invoke(judged, arguments, input=input)

    return run


Execute = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def execute(collection: Path) -> Execute:
    """Runs `judged` as a program of its own, in the folder of the collection."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **options.pop("env", {})}  # type: ignore[dict-item]
        return subprocess.run(
            [sys.executable, "-m", "judged", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=collection,
            env=environment,
            timeout=60,
            **options,  # type: ignore[call-overload]
        )

    return run
