"""Files are read once and runs are scored once, whatever is shown of them."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import judged
from judged.cli.main import judged as command
from judged.io import open as opening
from judged.scoring import evaluate as evaluating, evaluator
from judged.studies.running.answers import AnswerLog


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """How often each file was opened to be read, each file was hashed, and each system was scored from its run."""
    found: Counter[tuple[str, str]] = Counter()

    def count(owner: Any, name: str, key: Callable[..., tuple[str, str]]) -> None:
        original = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            found[key(*args, **kwargs)] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    count(opening, "_open_content", lambda path, *_, **__: ("read", Path(path).name))
    count(hashlib, "file_digest", lambda file, *_: ("hash", Path(file.name).name))
    count(evaluator, "score", lambda *args, **_: ("score", args[3]))
    count(AnswerLog, "read", lambda log: ("answers", log.path.name))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments and two runs of twenty queries; a collection of three documents."""
    rng = random.Random(1)  # noqa: S311 - no secret
    queries, documents = [f"q{number}" for number in range(20)], [f"d{number}" for number in range(10)]
    rows = [f"{query} 0 {name} {rng.randint(0, 2)}\n" for query in queries for name in documents]
    (tmp_path / "qrels.txt").write_text("".join(rows))
    for system in ("old", "new"):
        rows = [f"{query} Q0 {name} 1 {rng.random()} x\n" for query in queries for name in documents]
        (tmp_path / f"{system}.run").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_report_of_a_comparison_reads_each_file_once(
    folder: Path, counts: Counter[tuple[str, str]]
) -> None:
    """Scores, ranked lists and curves come of one reading; each file is hashed once for its provenance."""
    files = [str(folder / name) for name in ("qrels.txt", "old.run", "new.run")]
    done = CliRunner().invoke(
        command, ["compare", *files, "-m", "nDCG@10", "-o", str(folder / "report.html")]
    )

    assert done.exit_code == 0, done.output
    assert counts == {
        ("read", "qrels.txt"): 1,
        ("read", "old.run"): 1,
        ("read", "new.run"): 1,
        ("hash", "qrels.txt"): 1,
        ("hash", "old.run"): 1,
        ("hash", "new.run"): 1,
        ("score", "old"): 1,
        ("score", "new"): 1,
    }
    assert '"adds":["nDCG@10"]' in (folder / "report.html").read_text()


def test_tables_are_not_kept_beyond_the_limit(
    folder: Path, counts: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the report reads the runs again."""
    monkeypatch.setattr(evaluating, "MOST_KEPT", 6_000)
    files = [str(folder / name) for name in ("qrels.txt", "old.run", "new.run")]
    done = CliRunner().invoke(
        command, ["compare", *files, "-m", "nDCG@10", "-o", str(folder / "report.html")]
    )

    assert done.exit_code == 0, done.output
    assert counts["read", "old.run"] > 1
    assert '"adds":["nDCG@10"]' in (folder / "report.html").read_text()


@pytest.mark.usefixtures("folder")
def test_a_comparison_keeps_its_evaluations() -> None:
    """Those of the runs that it scored; a saved one has none."""
    comparison = judged.compare("qrels.txt", {"old": "old.run", "new": "new.run"}, "AP")
    comparison.save("comparison.json")

    assert [one.system for one in comparison.evaluations()] == ["old", "new"]
    assert comparison.mean("new", "AP").mean == pytest.approx(comparison.evaluations()[1]["AP"])
    assert list(judged.load("comparison.json").evaluations()) == []


def test_a_study_reads_its_answers_once_and_hashes_each_input_once(
    folder: Path, counts: Counter[tuple[str, str]]
) -> None:
    """Planning reads the answers of an earlier run, of which there are none here; scoring reads those of this one."""
    pytest.importorskip("tantivy")
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t1\n")
    texts = {"corpus": {"a": "cats run", "b": "dogs bark"}, "queries": {"q1": "cats", "q2": "dogs"}}
    for name, by_id in texts.items():
        lines = [f'{{"_id": "{key}", "text": "{text}"}}\n' for key, text in by_id.items()]
        (folder / f"{name}.jsonl").write_text("".join(lines))
    (folder / "s.yaml").write_text(
        "collection: .\nmeasures: [AP]\nsystems:\n- {name: one, search: tantivy}\n"
        "- {name: two, search: tantivy, depth: 1}\n"
    )
    done = CliRunner().invoke(command, ["run", "s.yaml", "-o", "out"])

    assert done.exit_code == 0, done.output
    assert {count for (what, _), count in counts.items() if what == "hash"} == {1}
    assert {name: counts["read", name] for name in ("one.run", "two.run", "judgments.csv")} == {
        "one.run": 1,
        "two.run": 1,
        "judgments.csv": 1,
    }
    # once by the plan, before there is a file, and once by the scores
    assert [count for (what, _), count in counts.items() if what == "answers"] == [2, 2]


@pytest.mark.usefixtures("folder")
def test_pages_that_a_report_does_not_show_are_not_imported() -> None:
    """Nor are the subjects that they belong to."""
    code = (
        "import sys, judged\n"
        "judged.compare('qrels.txt', ['old.run', 'new.run'], 'AP').save('report.html')\n"
        "print(sorted(name for name in sys.modules if name.startswith('judged.') and name.endswith('page')))\n"
        "print('judged.agents.result' in sys.modules, 'judged.studies.result' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == ["['judged.report.page']", "False False"]
